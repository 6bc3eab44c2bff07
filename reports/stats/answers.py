"""The answers to one question as arrays, the common input of all statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

MISSING = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to one question: rater[i] gave the cell cell[i] of the sheet sheet[i] the option code[i].

    Made by `from_long`: entries are sorted by cell and rater, each rater answers a cell once, a cell
    lies in one sheet. All arrays have shape (n_answers,). Raters are ordered by their number wherever their order
    matters.
    """

    rater: IntArray
    cell: IntArray
    sheet: IntArray
    code: IntArray
    n_options: int

    @classmethod
    def from_long(
        cls, *, rater: npt.ArrayLike, cell: npt.ArrayLike, sheet: npt.ArrayLike, code: npt.ArrayLike, n_options: int
    ) -> Answers:
        """Answers from four arrays of shape (n_labels,).

        Entries with a negative code (`MISSING`, or a reason why a cell is empty) are no answers and are dropped.

        Raises:
            ValueError: arrays of different lengths, a code of n_options or more, a rater with two answers to a cell, a
            cell in two sheets.
        """
        columns = [np.asarray(column, dtype=np.int64) for column in (rater, cell, sheet, code)]
        if any(column.shape != (columns[0].size,) for column in columns):
            raise ValueError("rater, cell, sheet and code must be one-dimensional and of the same length")
        answered = columns[3] >= 0
        raters, cells, sheets, codes = (column[answered] for column in columns)
        if codes.size and codes.max() >= n_options:
            raise ValueError(f"code {codes.max()} is none of the {n_options} options")
        order = np.lexsort((raters, cells))
        raters, cells, sheets, codes = raters[order], cells[order], sheets[order], codes[order]
        same_cell = cells[1:] == cells[:-1]
        if np.any(same_cell & (raters[1:] == raters[:-1])):
            raise ValueError("a rater has two answers to the same cell: choose one repeat first")
        if np.any(same_cell & (sheets[1:] != sheets[:-1])):
            raise ValueError("a cell lies in two sheets")
        return cls(rater=raters, cell=cells, sheet=sheets, code=codes, n_options=n_options)

    def merged(self, mapping: Mapping[int, int]) -> Answers:
        """The same answers with options counted as others, e.g. "Implied" as "Not found"."""
        return Answers(
            rater=self.rater,
            cell=self.cell,
            sheet=self.sheet,
            code=merge(self.code, mapping, n_options=self.n_options),
            n_options=self.n_options,
        )

    def value_counts(self) -> IntArray:
        """How many raters gave each cell each option: shape (n_answered_cells, n_options), cells in ascending order."""
        cells, index = np.unique(self.cell, return_inverse=True)
        keys = index * self.n_options + self.code
        return np.bincount(keys, minlength=cells.size * self.n_options).reshape(cells.size, self.n_options)


def merge(codes: npt.ArrayLike, mapping: Mapping[int, int], *, n_options: int) -> IntArray:
    """Codes with each option of `mapping` replaced by another one; negative codes and the numbering stay."""
    target = np.arange(n_options)
    for option, counted_as in mapping.items():
        if not (0 <= option < n_options and 0 <= counted_as < n_options):
            raise ValueError(f"cannot count option {option} as {counted_as}: the options are 0 to {n_options - 1}")
        target[option] = counted_as
    array = np.asarray(codes, dtype=np.int64)
    return np.where(array >= 0, target[np.maximum(array, 0)], array)
