"""What becomes of figures of pizza tables where brackets and spellings are kept, as the published tables have them.

    PALATE_ENV=test python -m benchmarks.pizza_brackets val.jsonl.gz

An import takes the brackets off a list, puts blanks for “_” and NA for “na” and “n/a”; all figures of a report are of
such answers. Here the same answers are scored in four spellings: as they are stored; with brackets around lists, on
both sides; against the gold as it is published, lists of the system in brackets, or bare. The systems need no model:
the gold itself, and one that says the output of the line above as input, and the input as output (NA where there is
none).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recipes.pizza_commonsense.records import Table, key_of, plain, read_json_lines, written
from reports.stats.text.metrics import DEFAULT, metric_of
from reports.stats.text.pairs import Pairs

GOLD, CARRIED = "the gold", "carried on"
CELLS = ("input", "output")


@dataclass(frozen=True)
class Cell:
    """`published`: what stands in the file; `true`: the answer that it is; `said`: what the system has."""

    published: str
    true: str
    said: str


# Of a cell the text of the system and that of the gold.
SPELLINGS: dict[str, Callable[[Cell], tuple[str, str]]] = {
    "as stored": lambda one: (one.said, one.true),
    "lists in brackets": lambda one: (written(one.said), written(one.true)),
    "gold as published": lambda one: (written(one.said), one.published),
    "the same, lists bare": lambda one: (one.said, one.published),
}


def cells(tables: Sequence[Table], system: str, cell: str) -> Iterator[Cell]:
    """The cells with an answer in the file."""
    for table in tables:
        for line, row in enumerate(json.loads(table.source)["table"]):
            true = table.said(line, cell)
            if not true:
                continue
            before = table.said(line - 1, "output") if cell == "input" else table.said(line, "input")
            yield Cell(row[key_of(row, cell)], true, true if system == GOLD else before or "NA")


def figures(of: Sequence[Cell], spelling: str) -> list[float]:
    pairs = [SPELLINGS[spelling](one) for one in of]
    scored = Pairs.of([said for said, _true in pairs], [[true] for _said, true in pairs])
    metrics = [metric_of(key, separator=";") for key in DEFAULT]
    return [float(metric.figure(metric.of(scored).sum(axis=0))) for metric in metrics]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    tables = read_json_lines(gzip.decompress(options.file.read_bytes()).decode())
    for cell in CELLS:
        of = list(cells(tables, GOLD, cell))
        assert all(plain(one.published) == one.true for one in of)
        other = sum(one.published != one.true for one in of)
        lists = sum(one.published.strip().startswith("(") for one in of)
        blanks = sum("_" in one.published for one in of)
        print(f"{cell}: {len(of)} cells; {other} are stored otherwise: {lists} begin with a bracket, {blanks} have “_”")
    print(f"| system | cell | answers and gold | {' | '.join(DEFAULT)} |\n|{'---|' * (3 + len(DEFAULT))}")
    for system in (GOLD, CARRIED):
        for cell in CELLS:
            of = list(cells(tables, system, cell))
            for spelling in SPELLINGS:
                print(
                    f"| {system} | {cell} | {spelling} | {' | '.join(f'{one:.2f}' for one in figures(of, spelling))} |"
                )


if __name__ == "__main__":
    main()
