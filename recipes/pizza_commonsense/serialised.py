"""Tables as the text that models read and write (Appendix E of the paper), with some or all cells masked. Pure.

    instructions <s> input <s> actions <s> output <n>
    mix the flour and the water . <s> <in 0> <s> mix <s> <out 0>

What is masked is also written as a text of its own: `<in 0> (flour; water) <out 0> dough`. T5 has masks of its own,
its sentinels: `<extra_id_0> (flour; water) <extra_id_1> dough`.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import Indel

from base.sentences import gettext as _
from judges.methods.answers import behind_answer
from llm.engine.thoughts import without_thoughts
from recipes.pizza_commonsense.records import CELLS, Cells, Place, Table, TablesRefused, plain, written

HEAD = "instructions <s> input <s> actions <s> output <n>"
MASKED = {"input": "in", "output": "out", "action": "act"}
SENTINELS = 100  # that T5 knows
_MASK = re.compile(r"<\s*(?:(in|out|act)\s*(\d{1,3})|extra_id_(\d{1,2}))\s*>", re.IGNORECASE)
_CELL_OF = {"in": "input", "out": "output", "act": "action"}
_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"^\s*\(?\d{1,3}(?:[.):]+(?!\d)|\s*$)")
_HEAD_WORDS = ("instructions",)
_ALIKE = 0.8  # share of their characters that two spellings of one instruction have in common, at least
_MOST_ROWS = 1_000  # of one text; a model that goes round in circles writes more


def mask(table: Table, cells: Collection[str] = ("input", "output")) -> frozenset[Place]:
    """All cells of these kinds."""
    return frozenset((line, cell) for line in range(len(table.instructions)) for cell in cells)


def some(table: Table, n: int, *, seed: int, cells: Collection[str] = ("input", "output")) -> frozenset[Place]:
    """`n` cells of these kinds, drawn: the same ones for the same table and seed. All, where there are no more."""
    known = sorted(place for place in mask(table, cells) if place in table.cells or not table.cells)
    return frozenset(random.Random(f"{seed}:{table.id}:{table.title}").sample(known, min(n, len(known))))  # noqa: S311


def mask_of(line: int, cell: str, *, sentinels: bool = False) -> str:
    """What stands for a cell. Sentinels are counted over inputs and outputs from the top, whichever of them are masked:
    each says so which cell it is, and of a whole table they are in T5's order.

    >>> mask_of(1, "input"), mask_of(1, "input", sentinels=True), mask_of(1, "output", sentinels=True)
    ('<in 1>', '<extra_id_2>', '<extra_id_3>')
    """
    return f"<extra_id_{2 * line + (cell == 'output')}>" if sentinels else f"<{MASKED[cell]} {line}>"


def serialise(table: Table, masked: Collection[Place] = (), *, sentinels: bool = False) -> str:
    """A table in the form above, a line an instruction."""
    lines = [HEAD]
    for line, instruction in enumerate(table.instructions):
        shown = [
            mask_of(line, cell, sentinels=sentinels) if (line, cell) in masked else written(table.said(line, cell))
            for cell in CELLS
        ]
        lines.append(" <s> ".join([instruction, *shown]))
    return "\n".join(lines)


def target(table: Table, masked: Collection[Place], *, sentinels: bool = False) -> str:
    """What stands behind each mask, in the order of the table."""
    places = [(line, cell) for line in range(len(table.instructions)) for cell in CELLS if (line, cell) in masked]
    return " ".join(
        f"{mask_of(line, cell, sentinels=sentinels)} {written(table.said(line, cell))}".rstrip()
        for line, cell in places
    )


@dataclass(frozen=True)
class Reading:
    """What a text has of a table. Of a text in rows: `rowless`, the lines that no row is about; `strays`, how many rows
    are about no line; `broken`, how many have not four cells. Of one with texts behind masks: `masked`, the lines that
    these are of, whether the table has them or not; `beyond`, how many are of lines that it has not."""

    cells: Cells
    rowless: frozenset[int] = frozenset()
    strays: int = 0
    broken: int = 0
    masked: frozenset[int] = frozenset()
    beyond: int = 0


def read(text: str, table: Table) -> Reading:
    """The cells that a model wrote of a table: as the whole table, or as the texts behind the masks. What it thought
    before, in “<think>” or above a line ANSWER, is no part of them.

    What it left masked or empty, or wrote of lines that the table has not, is left out. That may be all that it wrote.

    Raises:
        TablesRefused: neither form is in the text.
    """
    text = without_thoughts(text)
    text = behind_answer(text) or text
    rows, broken = _rows(text, table)
    found = _of_rows(rows, table, broken)
    if {cell for _line, cell in found.cells} <= {"action"}:
        # There are no rows, or the masked table was written again, and then what its masks stand for.
        beside = "\n".join(line for line in text.splitlines() if "<s>" not in line) if rows else text
        if behind := _of_masks(beside):
            n = len(table.instructions)
            cells = {place: answer for place, answer in behind.items() if place[0] < n}
            found = Reading(cells, broken=broken) if cells else found
            masked = frozenset(line for line, _cell in behind)
            found = replace(found, masked=masked, beyond=len(behind) - len(cells))
    if not found.cells and not found.beyond:
        raise TablesRefused(_("Nothing of the table of “%(title)s” can be read there.") % {"title": table.title})
    return found


def _rows(text: str, table: Table) -> tuple[list[list[str]], int]:
    """The rows of a text, four cells each and without the head, and how many have not four cells.

    Rows that lost the break between them are told apart where the text of an instruction says where one ends (Appendix
    L of the paper has such a line).
    """
    known = [_HEAD_WORDS, *(_words(instruction) for instruction in table.instructions)]
    rows: list[list[str]] = []
    broken = 0
    for line in text.replace("<n>", "\n").splitlines():
        cells = [cell.strip() for cell in line.split("<s>")]
        told = _told_apart(cells, known) if len(cells) % 3 == 1 else []
        broken += max(1, len(cells) // 3) if len(cells) > 1 and not told else 0
        rows += told
    return [row for row in rows if _words(row[0]) not in (_HEAD_WORDS, ("instruction",))][:_MOST_ROWS], broken


def _told_apart(cells: Sequence[str], known: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """The rows of a line of a text, one as a rule; none where it is not clear where one of them ends."""
    rows: list[list[str]] = []
    instruction = cells[0]
    for place in range(1, len(cells), 3):
        before, action, after = cells[place : place + 3]
        following = ""
        if place + 3 < len(cells):
            words = list(_WORD.finditer(after))
            said = tuple(word[0].casefold() for word in words)
            ending = {one for one in known if one and said[-len(one) :] == one}
            next_ones = {two for one, two in itertools.pairwise(known) if one == _words(instruction)}
            (start,) = ending & next_ones if len(ending & next_ones) == 1 else ending if len(ending) == 1 else ((),)
            if not start:
                return []
            cut = words[-len(start)].start()
            after, following = after[:cut].strip(), after[cut:]
        rows.append([instruction, before, action, after])
        instruction = following
    return rows


def _of_rows(rows: Sequence[Sequence[str]], table: Table, broken: int) -> Reading:
    """The cells of rows, each on the line with its instruction; where no row has one they are in the order of the
    lines."""
    said, lines = [_words(row[0]) for row in rows], [_words(text) for text in table.instructions]
    if any(said):
        at = aligned([" ".join(words) for words in said], [" ".join(words) for words in lines])
    else:
        at = {place: place for place in range(min(len(rows), len(lines)))}
    found: dict[Place, str] = {}
    for place, line in at.items():
        for cell, part in zip(CELLS, rows[place][1:], strict=True):
            if not _MASK.fullmatch(part) and (answer := plain(part)):
                found[line, cell] = answer
    return Reading(found, frozenset(range(len(lines))) - set(at.values()), len(rows) - len(at), broken)


def aligned(rows: Sequence[str], lines: Sequence[str]) -> dict[int, int]:
    """The line of each row that has one, in the order of both: a global alignment in which nothing that is left out
    costs anything, and two texts count as much as they are alike. Of lines that are the same the first gets the row.

    >>> aligned(["mix", "serve it hot", "bake it"], ["heat the oven", "mix", "bake it.", "bake it."])
    {0: 1, 2: 2}

    Source: Needleman and Wunsch (1970), A general method applicable to the search for similarities in the amino acid
    sequence of two proteins.
    """
    alike = [[Indel.normalized_similarity(row, line, score_cutoff=_ALIKE) for line in lines] for row in rows]
    # best[r][l]: of the rows from r on, and the lines from l on
    best = [[0.0] * (len(lines) + 1) for _row in range(len(rows) + 1)]
    for row, line in itertools.product(reversed(range(len(rows))), reversed(range(len(lines)))):
        both = best[row + 1][line + 1] + alike[row][line]
        best[row][line] = max(both, best[row + 1][line], best[row][line + 1])
    found: dict[int, int] = {}
    row = line = 0
    while row < len(rows) and line < len(lines):
        if alike[row][line] and best[row][line] == best[row + 1][line + 1] + alike[row][line]:
            found[row] = line
            row, line = row + 1, line + 1
        elif best[row][line] == best[row + 1][line]:
            row += 1
        else:
            line += 1
    return found


def _words(instruction: str) -> tuple[str, ...]:
    """What two spellings of an instruction have in common: its words in lower case, without the number before a line of
    a list; none where a mask or nothing stands there."""
    text = "" if _MASK.fullmatch(instruction.strip()) else _NUMBERED.sub("", instruction)
    return tuple(word[0].casefold() for word in _WORD.finditer(text))


def _of_masks(text: str) -> dict[Place, str]:
    found: dict[Place, str] = {}
    heads = list(_MASK.finditer(text))
    for head, following in itertools.zip_longest(heads, heads[1:]):
        said = text[head.end() : following.start() if following else len(text)]
        said = said.strip().strip("-").strip().removeprefix(":").strip()
        place = _place_of(head)
        if place not in found and (answer := plain(said.split("\n")[0])):
            found[place] = answer
    return found


def _place_of(mask: re.Match[str]) -> Place:
    if mask[1]:
        return int(mask[2]), _CELL_OF[mask[1].casefold()]
    line, is_output = divmod(int(mask[3]), 2)
    return line, "output" if is_output else "input"
