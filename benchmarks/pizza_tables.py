"""Tables of recipes filled by a model, freely and bound to a grammar: what is unreadable, its time, what is right.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.pizza_tables TABLES.jsonl.gz --tables 20 \
        --model qwen-1.5b --model-folder MODELS --prompts pizza-writing,pizza-writing-bound --kept kept.jsonl

TABLES is a file of PizzaCommonsense. The product's own runs ask the shipped prompts, in the chat form and greedily;
with `--server URL` a server that has the model under this name, else a model that is loaded here. A table is a run of
its own, asked with one prompt after the other, so that what is done so far compares them; `--kept` keeps each in a
file, and what stands there is not asked again. Each figure is of all cells that have an answer in the file, a cell that
could not be read being an empty text; the interval of a mean draws tables. Shown are
the tables that all prompts were asked about.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import writing
from reports.stats.text.metrics import DEFAULT, metric_of
from reports.stats.text.pairs import Pairs

if TYPE_CHECKING:
    from annotation.models import Study

QUESTIONS = ("input", "action", "output")
DRAWS = 2000


@dataclass(frozen=True)
class Cell:
    """What people wrote in a cell, and what the model did; None: nothing that could be read, for the reason `why`."""

    question: str
    true: str
    said: str | None
    why: str


@dataclass(frozen=True)
class Filled:
    """One table filled with one prompt, in so many seconds."""

    prompt: str
    table: str
    seconds: float
    cells: tuple[Cell, ...]


def filled(study: Study, truth: writing.Truth, prompt: Path, location: str, options: argparse.Namespace) -> Filled:
    from annotation.answers import kind_of
    from annotation.models import Label
    from judges.models import UnreadableAnswer

    started = time.perf_counter()
    run = writing.run_of(
        study, prompt, f"{options.model}-{prompt.stem}", location, "chat", options,
        served_name=options.model if options.server else "",
    )  # fmt: skip
    seconds = time.perf_counter() - started
    mine = Label.objects.filter(assignment__rater=run.rater).select_related("column__sheet", "question", "option")
    said = {(label.column.sheet.title, label.column.position, label.question.key): label.code for label in mine}
    unread = {
        (one.column.sheet.title, one.column.position, one.question.key): one.detail or one.get_why_display()
        for one in UnreadableAnswer.objects.filter(assignment__rater=run.rater).select_related(
            "column__sheet", "question"
        )
    }
    section, cells = study.scheme.parsed.section("steps"), []
    for place, true in truth.items():
        spec = section.question(place[2])
        of = {
            name: kind_of(spec).value(spec, code) for name, code in (("true", true), ("said", said.get(place))) if code
        }
        cells.append(
            Cell(place[2], str(of["true"]), None if "said" not in of else str(of["said"]), unread.get(place, ""))
        )
    return Filled(prompt.stem, next(iter(truth))[0], seconds, tuple(cells))


def figures(of: Sequence[Filled]) -> Iterator[str]:
    """A line of a table for each question."""
    seconds = f"{np.mean([one.seconds for one in of]):.0f}"
    for question in QUESTIONS:
        cells = [[cell for cell in one.cells if cell.question == question] for one in of]
        every = [cell for table in cells for cell in table]
        unread = sum(cell.said is None for cell in every)
        pairs = Pairs.of([cell.said or "" for cell in every], [[cell.true] for cell in every])
        table_of = np.repeat(np.arange(len(cells)), [len(table) for table in cells])
        drawn = np.random.default_rng(1).multinomial(len(cells), [1 / len(cells)] * len(cells), size=DRAWS)
        shown = []
        for key in DEFAULT:
            metric = metric_of(key, separator=";")
            sums = metric.of(pairs)
            by_table = np.stack([sums[table_of == place].sum(axis=0) for place in range(len(cells))])
            low, high = np.nanquantile(metric.figure(drawn @ by_table), [0.025, 0.975])
            shown.append(f"{metric.figure(sums.sum(axis=0)):.2f} ({low:.2f}–{high:.2f})")
        yield (
            f"| {of[0].prompt} | {question} | {len(of)} | {len(every)} | {unread} ({unread / len(every):.0%}) | "
            f"{' | '.join(shown)} | {seconds} |"
        )


def read(kept: Path | None) -> list[Filled]:
    if kept is None or not kept.exists():
        return []
    told = map(json.loads, kept.read_text(encoding="utf-8").splitlines())
    return [Filled(**{**one, "cells": tuple(Cell(**cell) for cell in one["cells"])}) for one in told]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--model-folder", type=Path)
    parser.add_argument("--server", default="")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--prompts", default="pizza-writing,pizza-writing-bound")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--show", action="store_true", help="only the figures of what is kept")
    options = parser.parse_args()

    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    if "memory" not in str(connection.settings_dict["NAME"]):
        raise SystemExit("Run this with DATABASE_URL=sqlite:///:memory:, or it writes into your database.")
    call_command("migrate", verbosity=0)
    location = options.server or writing.SHORT_NAMES.get(options.model, options.model)
    if options.model_folder is not None:
        location = str(options.model_folder / f"{options.model}.gguf")
    folder = writing.RECIPES / "pizza_commonsense" / "prompts"
    names = options.prompts.split(",")
    done = read(options.kept)
    for number in range(0 if options.show else options.tables):
        study, truth = writing.tables(options.file, 1, first=number)
        for name in names:
            if any((one.prompt, one.table) == (name, next(iter(truth))[0]) for one in done):
                continue
            done.append(filled(study, truth, folder / f"{name}.yaml", location, options))
            print(f"{name}, {done[-1].table}: {done[-1].seconds:.0f} s", flush=True)
            if options.kept is not None:
                with options.kept.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(asdict(done[-1]), ensure_ascii=False) + "\n")
    print(f"{options.model}, at most {options.max_new_tokens} tokens an answer")
    heads = ["prompt", "question", "tables", "cells", "unreadable", *DEFAULT, "seconds a table"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    both = set.intersection(*({one.table for one in done if one.prompt == name} for name in names))
    for name in names if both else ():
        print("\n".join(figures([one for one in done if one.prompt == name and one.table in both])))


if __name__ == "__main__":
    main()
