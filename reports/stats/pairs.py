"""The answers of each two raters to the cells that both answered, counted per sheet: the stuff of pairwise statistics.

Nothing here loops in Python over pairs of raters times cells: answers are sorted by cell, the answers to each cell are
expanded to pairs at once, and the pairs are counted by (sheet, rater a, rater b, option a, option b). A *comparison*
is one such pair: two raters' answers to one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reports.stats.answers import Answers, IntArray
from reports.stats.distinct import distinct, is_first

FloatArray = npt.NDArray[np.float64]
SmallArray = npt.NDArray[np.int32]
Options = npt.NDArray[np.signedinteger[Any]]
Weights = Literal["linear", "quadratic", "ordinal"]

# Comparisons expanded at a time: bounds memory where many raters answered the same cells.
_COMPARISONS_AT_ONCE = 200_000
# Pairs that are summed at a time: numbers of a quarter of the room are made as large as those that are computed with.
_PAIRS_AT_ONCE = 20_000
# Up to so many possible keys of a comparison each has a place of its own to be counted in, where the comparisons are
# not few beside them; else those that occur are sorted.
_COUNTED_AT_ONCE = 16_000_000
_LINES_AT_ONCE = 1000
_FEW = 16


@dataclass(frozen=True, eq=False)
class PairTable:
    """The answers of two raters to the cells of one sheet that both answered; table[x, y]: a chose x and b chose y."""

    sheet: int
    rater_a: int
    rater_b: int
    table: IntArray
    n: int


@dataclass(frozen=True, eq=False)
class PairTables:
    """One table per sheet and pair of raters (a < b) that share a cell there; iterate to get each as a `PairTable`.

    The tables are kept sparsely: count[e] comparisons of the pair number pair[e] chose option_a[e] and option_b[e], in
    the order of the pairs. In small numbers, as there are as many of them as answers and more.
    """

    n_options: int
    sheet: IntArray  # (n_pairs,)
    rater_a: IntArray  # (n_pairs,)
    rater_b: IntArray  # (n_pairs,)
    position_a: IntArray  # (n_pairs,) place of rater a among those who are to answer in the sheet, from 0
    position_b: IntArray  # (n_pairs,)
    pair: SmallArray  # (n_entries,)
    option_a: Options  # (n_entries,)
    option_b: Options  # (n_entries,)
    count: SmallArray  # (n_entries,)
    n_unshared: int  # pairs of raters that work on one sheet and share no cell
    n_answered_cells: int
    n_shared_cells: int  # cells with two answers or more

    def __len__(self) -> int:
        return self.sheet.size

    def __iter__(self) -> Iterator[PairTable]:
        bounds = np.searchsorted(self.pair, np.arange(len(self) + 1))
        for i in range(len(self)):
            entries = slice(bounds[i], bounds[i + 1])
            table = np.zeros((self.n_options, self.n_options), dtype=np.int64)
            table[self.option_a[entries], self.option_b[entries]] = self.count[entries]
            yield PairTable(
                sheet=int(self.sheet[i]),
                rater_a=int(self.rater_a[i]),
                rater_b=int(self.rater_b[i]),
                table=table,
                n=int(table.sum()),
            )

    def of_rater(self, rater: int) -> PairTables:
        """The pairs of one rater alone."""
        mine = (self.rater_a == rater) | (self.rater_b == rater)
        entries = mine[self.pair]
        return replace(
            self,
            **{name: getattr(self, name)[mine] for name in ("sheet", "rater_a", "rater_b", "position_a", "position_b")},
            **{name: getattr(self, name)[entries] for name in ("option_a", "option_b", "count")},
            pair=(np.cumsum(mine, dtype=np.int32) - 1)[self.pair[entries]],
        )

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        """Some pairs, and their entries, after the other: what is computed of all at once takes several times the room
        of the tables. No pair is in two parts, so that its sum is that of all at once to the last digit."""
        for first in range(0, len(self), _PAIRS_AT_ONCE):
            last = min(first + _PAIRS_AT_ONCE, len(self))
            bounds = np.array([first, last], dtype=self.pair.dtype)  # of another type, all would be copied
            yield slice(first, last), slice(*np.searchsorted(self.pair, bounds).tolist())

    def summed(self, amount: Callable[[slice], npt.NDArray[Any]]) -> FloatArray:
        """The sum over the entries of each pair, shape (n_pairs,); `amount` of each of some entries."""
        found = np.zeros(len(self))
        for pairs, entries in self._parts():
            place = self.pair[entries] - pairs.start
            found[pairs] = np.bincount(place, amount(entries), minlength=pairs.stop - pairs.start)
        return found

    @property
    def n(self) -> IntArray:
        """Comparisons of each pair, shape (n_pairs,)."""
        return self.summed(lambda some: self.count[some]).astype(np.int64)

    @property
    def agreed(self) -> IntArray:
        """Comparisons of each pair in which both chose the same option, shape (n_pairs,)."""
        return self.summed(
            lambda some: np.where(self.option_a[some] == self.option_b[some], self.count[some], 0)
        ).astype(np.int64)

    @property
    def n_comparisons(self) -> int:
        return int(self.count.sum())

    @property
    def overlap(self) -> float | None:
        """Share of the answered cells that have two answers or more."""
        return self.n_shared_cells / self.n_answered_cells if self.n_answered_cells else None

    def disagreements(self, weights: Weights | None) -> tuple[FloatArray, FloatArray]:
        """Summed observed and expected weighted disagreement of each pair, both of shape (n_pairs,)."""
        return self.paid(disagreement_weights(self.n_options, weights))

    def paid(self, cost: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Summed observed cost and that expected by chance of each pair, both of shape (n_pairs,); cost[x, y] of who
        chooses x beside y, shape (n_options, n_options)."""
        observed = self.summed(lambda some: self.count[some] * cost[self.option_a[some], self.option_b[some]])
        margin_a, margin_b = self.margins()
        expected: FloatArray = ((margin_a @ cost) * margin_b).sum(axis=1) / self.n
        return observed, expected

    def margins(self) -> tuple[IntArray, IntArray]:
        """How often rater a, and rater b, of each pair chose each option, both of shape (n_pairs, n_options)."""
        return self._margin(self.option_a), self._margin(self.option_b)

    def _margin(self, option: Options) -> IntArray:
        k = self.n_options
        found = np.zeros((len(self), k), dtype=np.int64)
        for pairs, entries in self._parts():
            n = pairs.stop - pairs.start
            place = (self.pair[entries] - pairs.start).astype(np.int64) * k + option[entries]
            found[pairs] = np.bincount(place, self.count[entries], minlength=n * k).reshape(n, k)
        return found


def pair_tables(answers: Answers) -> PairTables:
    """Every pair of raters that share a cell, in every sheet, with the table of their answers."""
    raters, rater = _numbered(answers.rater)
    sheets, sheet = _numbered(answers.sheet)
    n_raters, n_options = max(raters.size, 1), answers.n_options
    starts, sizes = answers.by_cell.first, np.bincount(answers.by_cell.index)

    # One integer per comparison: ((sheet, rater a, rater b), option a, option b) in mixed radix. Counted block by
    # block.
    def blocks() -> Iterator[IntArray]:
        for size in np.unique(sizes[sizes >= 2]):
            first, second = np.triu_indices(int(size), k=1)
            rows = starts[sizes == size]
            step = max(1, _COMPARISONS_AT_ONCE // first.size)
            for block in range(0, rows.size, step):
                a = (rows[block : block + step, np.newaxis] + first).ravel()
                b = (rows[block : block + step, np.newaxis] + second).ravel()
                pair = (sheet[a].astype(np.int64) * n_raters + rater[a]) * n_raters + rater[b]
                yield (pair * n_options + answers.code[a]) * n_options + answers.code[b]

    possible = sheets.size * n_raters**2 * n_options**2
    keys, counts = _counted(blocks(), possible, int((sizes * (sizes - 1) // 2).sum()))
    small: type[np.signedinteger[Any]] = np.int16 if n_options <= np.iinfo(np.int16).max else np.int32
    option_a = (keys // n_options % n_options).astype(small)
    option_b = (keys % n_options).astype(small)
    keys //= n_options**2
    new = is_first(keys)
    pair_keys, pair = keys[new], np.cumsum(new, dtype=np.int32) - 1
    del keys, new
    of_sheet, of_a, of_b = pair_keys // n_raters**2, pair_keys // n_raters % n_raters, pair_keys % n_raters

    present = distinct(sheet.astype(np.int64) * n_raters + rater)
    raters_of_sheet = np.bincount(present // n_raters, minlength=sheets.size)

    # Those who are to answer in a sheet stand next to each other among the sorted (sheet, rater) keys; a place is the
    # distance to the first of them.
    everybody = np.union1d(raters, answers.assigned[:, 1])
    of_these = answers.assigned[np.isin(answers.assigned[:, 0], sheets)]
    assigned = np.searchsorted(sheets, of_these[:, 0]) * everybody.size + np.searchsorted(everybody, of_these[:, 1])
    answered = present // n_raters * everybody.size + np.searchsorted(everybody, raters[present % n_raters])
    places = np.union1d(assigned, answered)
    first_place = np.searchsorted(places, np.arange(sheets.size) * everybody.size)

    def position(of_rater: IntArray) -> IntArray:
        key = of_sheet * everybody.size + np.searchsorted(everybody, raters[of_rater])
        place: IntArray = np.searchsorted(places, key) - first_place[of_sheet]
        return place

    return PairTables(
        n_options=n_options,
        sheet=sheets[of_sheet],
        rater_a=raters[of_a],
        rater_b=raters[of_b],
        position_a=position(of_a),
        position_b=position(of_b),
        pair=pair,
        option_a=option_a,
        option_b=option_b,
        count=counts,
        n_unshared=int((raters_of_sheet * (raters_of_sheet - 1) // 2).sum()) - pair_keys.size,
        n_answered_cells=sizes.size,
        n_shared_cells=int((sizes >= 2).sum()),
    )


def lines(array: npt.NDArray[Any]) -> Iterator[list[Any]]:
    """The lines of an array one by one: as one list they would be there twice. Equal whole numbers are one object, as
    there are few of them and who is given the lines keeps them."""
    if array.dtype.kind == "i":
        there = distinct(array)
        array = there.astype(object)[np.searchsorted(there, array)]
    for start in range(0, len(array), _LINES_AT_ONCE):
        yield from array[start : start + _LINES_AT_ONCE].tolist()


def _numbered(values: IntArray) -> tuple[IntArray, SmallArray]:
    """The values that there are, ascending, and of each its place among them."""
    there = distinct(values)
    if there.size == 1:
        return there, np.broadcast_to(np.int32(0), values.shape)  # without room of its own
    place: SmallArray = np.searchsorted(there, values).astype(np.int32)
    return there, place


def _counted(blocks: Iterator[IntArray], possible: int, n: int) -> tuple[IntArray, SmallArray]:
    """The numbers that occur in the blocks, n of them below `possible`, ascending; and how often each does."""
    if possible <= min(_COUNTED_AT_ONCE, _FEW * n):
        often = np.zeros(possible, dtype=np.int32)
        for block in blocks:
            np.add.at(often, block, np.int32(1))  # of another type it would take forty times as long
        found: IntArray = np.flatnonzero(often)
        return found, often[found]
    counted = [np.unique(block, return_counts=True) for block in blocks]
    if len(counted) == 1:
        return counted[0][0], counted[0][1].astype(np.int32)
    all_keys = np.concatenate([keys for keys, _ in counted] or [np.zeros(0, dtype=np.int64)])
    all_counts = np.concatenate([counts for _, counts in counted] or [np.zeros(0, dtype=np.int64)])
    del counted
    keys, index = np.unique(all_keys, return_inverse=True)
    return keys, np.bincount(index, all_counts, minlength=keys.size).astype(np.int32)


def disagreement_weights(
    n_options: int, weights: Weights | None = None, values: Sequence[float] | None = None
) -> FloatArray:
    """What it costs to choose x and y, shape (n_options, n_options); zero on the diagonal.

    Args:
        weights: None: every disagreement costs 1; "linear" and "quadratic": the distance and its square; "ordinal"
            (Gwet 2014): d(d + 1) / 2, the number of pairs of options that lie between and upon options d places apart.
        values: what the options stand for, shape (n_options,), for linear and quadratic weights; their places 0, 1,
            2, ... when left out.
    """
    place = np.arange(n_options)
    at = place if values is None or weights == "ordinal" else np.asarray(values, dtype=np.float64)
    distance = np.abs(np.subtract.outer(at, at)).astype(np.float64)
    if weights is None:
        return np.not_equal.outer(place, place).astype(np.float64)
    if weights == "ordinal":
        return distance * (distance + 1) / 2
    return distance if weights == "linear" else distance**2


def agreement_weights(
    n_options: int, weights: Weights | None = None, values: Sequence[float] | None = None
) -> FloatArray:
    """How much x and y agree, 0 to 1, shape (n_options, n_options): 1 - cost / greatest cost."""
    cost = disagreement_weights(n_options, weights, values)
    return 1 - cost / max(float(cost.max(initial=0.0)), np.finfo(np.float64).tiny)
