"""The rules of the pizza tables held against published ones: how many cells are refused, and of how many a rule warns.

    PALATE_ENV=test python -m benchmarks.pizza_rules TABLES.jsonl.gz [TABLES.jsonl.gz ...] [--show 3]

Every cell is read as an import reads it. A cell that two rules warn of counts at each.
"""

from __future__ import annotations

import argparse
import gzip
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from annotation.answers import AnswerRefused, kind_of
from annotation.answers.table import warnings
from annotation.scheme.spec import SectionSpec, load_scheme
from recipes.pizza_commonsense.records import CELLS, Table, names, read_json_lines

SCHEME = Path(__file__).resolve().parents[1] / "recipes" / "pizza_commonsense" / "schemes" / "pizza-commonsense.yaml"


@dataclass
class Counts:
    """`refused`, `warned`: cells by (question, sentence), with some of each in `examples`."""

    tables: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    warned: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))


def section() -> SectionSpec:
    return load_scheme(SCHEME.read_text(encoding="utf-8")).section("steps")


def count(tables: Iterable[Table]) -> Counts:
    spec, counts = section(), Counts()
    for table in tables:
        counts.tables += 1
        answers = {}
        for line in range(len(table.instructions)):
            for cell in CELLS:
                question, said = spec.question(cell), table.said(line, cell)
                counts.cells[cell] += 1
                if not said:
                    counts.open[cell] += 1
                    continue
                try:
                    answers[line, cell] = kind_of(question).canonical(question, said)
                except AnswerRefused as refused:
                    counts.refused[cell, str(refused)] += 1
                    counts.examples[cell, str(refused)].append(said)
        columns = {line: {"instruction": text} for line, text in enumerate(table.instructions)}
        found = warnings(spec, answers, row={"ingredients": names(table.ingredients)}, columns=columns)
        for (line, cell), sentences in found.items():
            for sentence in sentences:
                counts.warned[cell, sentence] += 1
                counts.examples[cell, sentence].append(f"{table.instructions[line]} ⇒ {answers[line, cell]}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=0, help="print so many examples of each")
    options = parser.parse_args()
    for file in options.files:
        with gzip.open(file, "rt", encoding="utf-8") as text:
            counts = count(read_json_lines(text.read()))
        n_open = ", ".join(f"{cell} {counts.open[cell]}" for cell in CELLS)
        print(f"{file.name}: {counts.tables} tables, {counts.cells['input']} lines; left open: {n_open}")
        print("| | cell | rule | cells | share |\n|---|---|---|---|---|")
        for what, found in (("refused", counts.refused), ("warned", counts.warned)):
            for (cell, sentence), n in sorted(found.items(), key=lambda one: (one[0][0], -one[1])):
                print(f"| {what} | {cell} | {sentence} | {n} | {n / counts.cells[cell]:.1%} |")
                for example in counts.examples[cell, sentence][: options.show]:
                    print(f"      {example}")


if __name__ == "__main__":
    main()
