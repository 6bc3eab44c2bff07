"""How far a judge answers as people do: accuracy by Kvapil and Fajčík's rule, its baseline, and the confusion table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reports.stats.agreement import MacroAccuracy, macro_accuracy
from reports.stats.answers import MISSING, Answers, IntArray
from reports.stats.pairs import pair_tables

BoolArray = npt.NDArray[np.bool_]

# Reasons for a missing value, shown to people as they are or translated.
NO_COMMON_CELL = "the judge has no label in a cell that a person answered"
NO_PEOPLE = "no person has answered a cell"


@dataclass(frozen=True)
class SheetAccuracy:
    """One sheet: the judge agrees with a person in `correct` of `total` cells and has no label in `unlabelled` ones."""

    sheet: int
    value: float | None
    correct: int
    total: int
    unlabelled: int


@dataclass(frozen=True)
class JudgeAccuracy:
    """The mean over sheets of the share of cells in which the judge agrees with a person.

    n_sheets: sheets in the mean, those with a cell to count; n_cells: cells counted (the T_i summed); n_unlabelled:
    cells that people answered and the judge has no label for, left out. `value` is None where nothing can be compared,
    and `reason` then says so.
    """

    value: float | None
    reason: str
    n_sheets: int
    n_cells: int
    n_unlabelled: int
    rows: tuple[SheetAccuracy, ...]


@dataclass(frozen=True)
class Baseline:
    """What always answering people's most frequent option would reach under the same rule on the same cells."""

    option: int | None
    accuracy: JudgeAccuracy


@dataclass(frozen=True, eq=False)
class Confusion:
    """table[x, y]: a person chose x where the judge chose y, every person's answer counted, shape (n_options,
    n_options).

    unlabelled[x]: a person chose x where the judge has no label, shape (n_options,).
    """

    table: IntArray
    unlabelled: IntArray
    n_comparisons: int
    n_unlabelled: int


@dataclass(frozen=True, eq=False)
class JudgedCells:
    """The cells that people answered, all arrays of shape (n_cells,), cells ascending.

    labelled: the judge has a label there; right: and it is what one of the people chose.
    """

    cell: IntArray
    sheet: IntArray
    document: IntArray
    labelled: BoolArray
    right: BoolArray


def judged_cells(people: Answers, judge: Answers) -> JudgedCells:
    """Each cell of people once, right where the judge agrees with any of them (Kvapil and Fajčík's section 7)."""
    chosen = judge_codes(people, judge)
    cells, first, index = people.by_cell.cell, people.by_cell.first, people.by_cell.index
    return JudgedCells(
        cell=cells,
        sheet=people.sheet[first],
        document=people.document[first],
        labelled=chosen[first] != MISSING,
        right=np.bincount(index, chosen == people.code, minlength=cells.size) > 0,
    )


def judge_accuracy(people: Answers, judge: Answers) -> JudgeAccuracy:
    """Kvapil and Fajčík's judge accuracy (section 7): A_m = 1/m sum_i S_i / T_i over the m sheets.

    T_i counts each cell that people answered once, however many of them did; it is right when the judge agrees with
    any of them. A cell without a label of the judge (it failed or was not asked) is left out of T_i, as the paper does
    with its three documents that were no longer online.

    Args:
        people: all people's answers.
        judge: the answers of one judge, numbered by the same cells and options.
    """
    of = judged_cells(people, judge)
    sheets, sheet = np.unique(of.sheet, return_inverse=True)
    correct = np.bincount(sheet[of.right], minlength=sheets.size)
    total = np.bincount(sheet[of.labelled], minlength=sheets.size)
    unlabelled = np.bincount(sheet[~of.labelled], minlength=sheets.size)
    rows = tuple(
        SheetAccuracy(sheet=i, value=s / t if t else None, correct=s, total=t, unlabelled=u)
        for i, s, t, u in zip(sheets.tolist(), correct.tolist(), total.tolist(), unlabelled.tolist(), strict=True)
    )
    shares = [row.value for row in rows if row.value is not None]
    return JudgeAccuracy(
        value=sum(shares) / len(shares) if shares else None,
        reason="" if shares else (NO_COMMON_CELL if rows else NO_PEOPLE),
        n_sheets=len(shares),
        n_cells=int(total.sum()),
        n_unlabelled=int(unlabelled.sum()),
        rows=rows,
    )


def judge_pair_accuracy(people: Answers, judge: Answers) -> MacroAccuracy:
    """A_m as A_h is counted: the mean over people's places of the mean over sheets of the share of cells in which the
    judge and that person chose the same. To be held against `agreement.macro_accuracy` of the same people; A_m itself
    takes any of several people and is higher by that.
    """
    together, number = with_judge(people, judge)
    return macro_accuracy(pair_tables(together).of_rater(number))


def with_judge(people: Answers, judge: Answers) -> tuple[Answers, int]:
    """People's answers and the judge's in the cells that people answered, and the judge's number among the raters."""
    number = int(max(people.rater.max(initial=0), people.assigned[:, 1].max(initial=0))) + 1
    cells, first = people.by_cell.cell, people.by_cell.first
    at = np.minimum(np.searchsorted(cells, judge.cell), max(cells.size - 1, 0))
    both = cells[at] == judge.cell if cells.size else np.zeros(judge.cell.size, dtype=bool)
    shared = first[at[both]]
    together = Answers.from_long(
        rater=np.concatenate([people.rater, np.full(shared.size, number)]),
        cell=np.concatenate([people.cell, judge.cell[both]]),
        sheet=np.concatenate([people.sheet, people.sheet[shared]]),
        code=np.concatenate([people.code, judge.code[both]]),
        document=np.concatenate([people.document, people.document[shared]]),
        n_options=people.n_options,
        assigned=people.assigned,
    )
    return together, number


def majority_baseline(people: Answers, judge: Answers) -> Baseline:
    """The accuracy of a judge that always answers people's most frequent option: what a judge has to beat.

    It is measured on the cells that `judge_accuracy` counts, and the option is the most frequent
    one of people's answers in these cells (of equally frequent ones the first).
    """
    compared = judge_codes(people, judge) != MISSING
    if not compared.any():
        return Baseline(option=None, accuracy=judge_accuracy(people, judge))
    option = int(np.bincount(people.code[compared], minlength=people.n_options).argmax())
    shared = people.where(compared).by_cell
    always = Answers.from_long(
        rater=np.zeros(shared.size),
        cell=shared.cell,
        sheet=people.sheet[compared][shared.first],
        code=np.full(shared.size, option),
        n_options=people.n_options,
    )
    return Baseline(option=option, accuracy=judge_accuracy(people, always))


def confusion(people: Answers, judge: Answers) -> Confusion:
    """Which option the judge chose where people chose which; each person's answer is one comparison."""
    chosen = judge_codes(people, judge)
    labelled = chosen != MISSING
    n = people.n_options
    return Confusion(
        table=np.bincount(people.code[labelled] * n + chosen[labelled], minlength=n * n).reshape(n, n),
        unlabelled=np.bincount(people.code[~labelled], minlength=n),
        n_comparisons=int(labelled.sum()),
        n_unlabelled=int((~labelled).sum()),
    )


def judge_codes(people: Answers, judge: Answers) -> IntArray:
    """The judge's option in the cell of each answer of people, or `MISSING`; shape of people's arrays."""
    if judge.n_options != people.n_options:
        raise ValueError("people and judge must answer the same options")
    if np.any(judge.cell[1:] == judge.cell[:-1]):
        raise ValueError("several answers of judges to one cell: compare one judge and one repeat at a time")
    if not judge.cell.size:
        return np.full(people.cell.size, MISSING)
    at = np.minimum(np.searchsorted(judge.cell, people.cell), judge.cell.size - 1)
    return np.where(judge.cell[at] == people.cell, judge.code[at], MISSING)
