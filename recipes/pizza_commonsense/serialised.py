"""Tables as the text that models read and write (Appendix E of the paper), with some or all cells masked. Pure.

    instructions <s> input <s> actions <s> output <n>
    mix the flour and the water . <s> <in 0> <s> mix <s> <out 0>

What is masked is also written as a text of its own: `<in 0> (flour; water) <out 0> dough`.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection, Sequence

from base.sentences import gettext as _
from recipes.pizza_commonsense.records import CELLS, Place, Table, TablesRefused, plain, written

HEAD = "instructions <s> input <s> actions <s> output <n>"
MASKED = {"input": "in", "output": "out", "action": "act"}
_MASK = re.compile(r"<\s*(in|out|act)\s*(\d{1,3})\s*>", re.IGNORECASE)
_CELL_OF = {"in": "input", "out": "output", "act": "action"}


def mask(table: Table, cells: Collection[str] = ("input", "output")) -> frozenset[Place]:
    """All cells of these kinds."""
    return frozenset((line, cell) for line in range(len(table.instructions)) for cell in cells)


def some(table: Table, n: int, *, seed: int, cells: Collection[str] = ("input", "output")) -> frozenset[Place]:
    """`n` cells of these kinds, drawn: the same ones for the same table and seed. All, where there are no more."""
    known = sorted(place for place in mask(table, cells) if place in table.cells or not table.cells)
    return frozenset(random.Random(f"{seed}:{table.id}:{table.title}").sample(known, min(n, len(known))))  # noqa: S311


def serialise(table: Table, masked: Collection[Place] = ()) -> str:
    """A table in the form above, a line an instruction."""
    lines = [HEAD]
    for line, instruction in enumerate(table.instructions):
        shown = [
            f"<{MASKED[cell]} {line}>" if (line, cell) in masked else written(table.said(line, cell)) for cell in CELLS
        ]
        lines.append(" <s> ".join([instruction, *shown]))
    return "\n".join(lines)


def target(table: Table, masked: Collection[Place]) -> str:
    """What stands behind each mask, in the order of the table."""
    places = [(line, cell) for line in range(len(table.instructions)) for cell in CELLS if (line, cell) in masked]
    return " ".join(f"<{MASKED[cell]} {line}> {written(table.said(line, cell))}".rstrip() for line, cell in places)


def read(text: str, table: Table) -> dict[Place, str]:
    """The cells that a model wrote of a table: as the whole table, or as the texts behind the masks.

    What it left masked or empty, or wrote of lines that the table has not, is left out.

    Raises:
        TablesRefused: neither form is in the text.
    """
    rows = [line for line in text.replace("<n>", "\n").splitlines() if line.count("<s>") == 3]
    rows = [row for row in rows if row.partition("<s>")[0].strip() != "instructions"]
    found = _of_rows(rows, table) if rows else _of_masks(text, len(table.instructions))
    if not found:
        raise TablesRefused(_("Nothing of the table of “%(title)s” can be read there.") % {"title": table.title})
    return found


def _of_rows(rows: Sequence[str], table: Table) -> dict[Place, str]:
    found: dict[Place, str] = {}
    for line, row in enumerate(rows[: len(table.instructions)]):
        _instruction, *parts = (part.strip() for part in row.split("<s>"))
        for cell, part in zip(CELLS, parts, strict=True):
            if not _MASK.fullmatch(part) and (answer := plain(part)):
                found[line, cell] = answer
    return found


def _of_masks(text: str, n_lines: int) -> dict[Place, str]:
    found: dict[Place, str] = {}
    heads = list(_MASK.finditer(text))
    for head, following in itertools.zip_longest(heads, heads[1:]):
        said = text[head.end() : following.start() if following else len(text)]
        said = said.strip().strip("-").strip().removeprefix(":").strip()
        place = int(head[2]), _CELL_OF[head[1].casefold()]
        if place[0] < n_lines and place not in found and (answer := plain(said.split("\n")[0])):
            found[place] = answer
    return found
