"""Tables of recipes filled by a model, freely and bound to a grammar: what is unreadable, its time, what is right.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.pizza_tables TABLES.jsonl.gz \
        --model qwen-1.5b --model-folder MODELS --tables 2 --prompts pizza-writing,pizza-writing-bound

TABLES is a file of PizzaCommonsense. The product's own runs ask the shipped prompts, a line after the other, in the
chat form and greedily. Exact is of all cells that have an answer in the file, a cell that could not be read being
wrong: strict is the same text but for case and blanks, sets is the same parts in any order.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import writing

if TYPE_CHECKING:
    from annotation.models import Study
    from judges.models import Run

QUESTIONS = ("input", "action", "output")


@dataclass(frozen=True)
class Figures:
    prompt: str
    question: str
    cells: int
    unreadable: int
    strict: float
    sets: float
    seconds: float

    def line(self) -> str:
        share = f"{self.unreadable} ({self.unreadable / self.cells:.0%})"
        return (
            f"| {self.prompt} | {self.question} | {self.cells} | {share} | {self.strict:.2f} | {self.sets:.2f} "
            f"| {self.seconds:.0f} |"
        )


def figures(run: Run, study: Study, truth: writing.Truth, prompt: str, seconds: float) -> Iterator[Figures]:
    from annotation.answers import kind_of
    from annotation.models import Label
    from judges.models import UnreadableAnswer

    said = {
        (label.column.sheet.title, label.column.position, label.question.key): label.code
        for label in Label.objects.filter(assignment__rater=run.rater).select_related(
            "column__sheet", "question", "option"
        )
    }
    unread = list(UnreadableAnswer.objects.filter(assignment__rater=run.rater).values_list("question__key", flat=True))
    for key in QUESTIONS:
        spec = study.scheme.parsed.section("steps").question(key)
        kind = kind_of(spec)
        pairs = [(said.get(place), true) for place, true in truth.items() if place[2] == key]
        read = [(kind.value(spec, mine), kind.value(spec, true)) for mine, true in pairs if mine is not None]
        yield Figures(
            prompt,
            key,
            cells=unread.count(key) + sum(place[2] == key for place in said),
            unreadable=unread.count(key),
            strict=sum(str(mine).casefold() == str(true).casefold() for mine, true in read) / len(pairs),
            sets=sum(kind.same(spec, mine, true) for mine, true in read) / len(pairs),
            seconds=seconds,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--model-folder", type=Path)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--prompts", default="pizza-writing,pizza-writing-bound")
    options = parser.parse_args()

    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    if "memory" not in str(connection.settings_dict["NAME"]):
        raise SystemExit("Run this with DATABASE_URL=sqlite:///:memory:, or it writes into your database.")
    call_command("migrate", verbosity=0)
    study, truth = writing.tables(options.file, options.tables)
    location = writing.SHORT_NAMES.get(options.model, options.model)
    if options.model_folder is not None:
        location = str(options.model_folder / f"{options.model}.gguf")
    print(f"{options.model}, {options.tables} tables, at most {options.max_new_tokens} tokens an answer")
    print(
        "| prompt | question | cells | unreadable | strict | sets | seconds |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    folder = writing.RECIPES / "pizza_commonsense" / "prompts"
    for name in options.prompts.split(","):
        started = time.perf_counter()
        run = writing.run_of(study, folder / f"{name}.yaml", f"{options.model}-{name}", location, "chat", options)
        for one in figures(run, study, truth, name, time.perf_counter() - started):
            print(one.line(), flush=True)


if __name__ == "__main__":
    main()
