"""Lines on which systems go wrong, side by side with what is right (Table 5 of the paper). Pure.

The paper chose its four lines by hand and does not say how; here they are drawn, so that nobody's favourites are shown.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.exchange.tables import safe_cell
from recipes.pizza_commonsense.records import Table

ANY, ALL, OPEN = "any", "all", "open"
CELLS = ("input", "output")


@dataclass(frozen=True)
class Said:
    """What one system has in the two cells of a line; `wrong`: those of them that are not as in the truth."""

    system: str
    input: str
    output: str
    wrong: frozenset[str]


@dataclass(frozen=True)
class Line:
    """`number`: of the line in its table, from 1 on."""

    title: str
    id: str
    number: int
    instruction: str
    input: str
    output: str
    said: tuple[Said, ...]


def lines(truth: Sequence[Table], systems: Mapping[str, Sequence[Table]], *, which: str = ANY) -> list[Line]:
    """The lines that have an answer in `truth` and on which systems are wrong: `any` of them, `all` of them, or `open`,
    those where one left a cell open that has an answer.

    An answer is right if it has the same parts, in any order and case; an open cell is not. The tables of all are in
    one order; a system that answered nothing of a table was not asked of it, and is left out of its lines.

    >>> table = Table("Pizza", "", ("Mix",), {(0, "input"): "flour; water", (0, "output"): "dough"})
    >>> other = table.with_cells({(0, "input"): "Water; flour", (0, "output"): "paste"})
    >>> [sorted(said.wrong) for line in lines([table], {"t5": [other]}) for said in line.said]
    [['output']]
    """
    found = []
    for place, table in enumerate(truth):
        for number, instruction in enumerate(table.instructions):
            right = {cell: table.said(number, cell) for cell in CELLS}
            if not all(right.values()):
                continue
            said = tuple(_said(code, of[place], number, right) for code, of in systems.items() if of[place].cells)
            if said and _wanted(said, which):
                found.append(
                    Line(table.title, table.id, number + 1, instruction, right["input"], right["output"], said)
                )
    return found


def drawn(found: Sequence[Line], n: int, *, seed: int) -> list[Line]:
    """`n` of the lines, the same ones of the same seed, in the order of the tables."""
    places = sorted(random.Random(seed).sample(range(len(found)), min(n, len(found))))  # noqa: S311 nothing secret
    return [found[place] for place in places]


def as_csv(found: Sequence[Line]) -> bytes:
    """A row a system and line, and one for the truth before them."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["recipe", "id", "line", "instruction", "system", "input", "output", "wrong"])
    for line in found:
        of = [line.title, line.id, line.number, line.instruction]
        writer.writerow([safe_cell(str(cell)) for cell in (*of, "", line.input, line.output, "")])
        for said in line.said:
            told = (*of, said.system, said.input, said.output, " ".join(sorted(said.wrong)))
            writer.writerow([safe_cell(str(cell)) for cell in told])
    return out.getvalue().encode()


def _said(code: str, table: Table, number: int, right: Mapping[str, str]) -> Said:
    told = {cell: table.said(number, cell) for cell in CELLS}
    wrong = frozenset(cell for cell in CELLS if _parts(told[cell]) != _parts(right[cell]))
    return Said(code, told["input"], told["output"], wrong)


def _wanted(said: Sequence[Said], which: str) -> bool:
    if which == ALL:
        return all(one.wrong for one in said)
    if which == OPEN:
        return any(not one.input or not one.output for one in said)
    return any(one.wrong for one in said)


def _parts(text: str) -> frozenset[str]:
    return frozenset(" ".join(part.split()).casefold() for part in text.split(";")) - {""}
