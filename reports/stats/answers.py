"""The answers to one question as arrays, the common input of all statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

MISSING = -1


@dataclass(frozen=True, eq=False)
class Cells:
    """The answered cells, ascending. cell and first: the number of each cell and the place of its first answer, shape
    (n_cells,); index: the place in `cell` of each answer's cell, shape (n_answers,).
    """

    cell: IntArray
    first: IntArray
    index: IntArray

    @property
    def size(self) -> int:
        return self.cell.size


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to one question: rater[i] gave the cell cell[i] of the sheet sheet[i] the option code[i].

    Made by `from_long`: entries are sorted by cell and rater, each rater answers a cell once, a cell
    lies in one sheet and in one document (a row of a sheet). All arrays have shape (n_answers,). Raters are ordered by
    their number wherever their order matters. assigned: sheet and rater of those who are to answer there, shape
    (n_assigned, 2): raters have their places in a sheet among them and those who answered.
    """

    rater: IntArray
    cell: IntArray
    sheet: IntArray
    code: IntArray
    document: IntArray
    n_options: int
    assigned: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    @classmethod
    def from_long(
        cls,
        *,
        rater: npt.ArrayLike,
        cell: npt.ArrayLike,
        sheet: npt.ArrayLike,
        code: npt.ArrayLike,
        n_options: int,
        document: npt.ArrayLike | None = None,
        assigned: npt.ArrayLike | None = None,
    ) -> Answers:
        """Answers from arrays of shape (n_labels,).

        Entries with a negative code (`MISSING`, or a reason why a cell is empty) are no answers and are dropped.
        Without `document`, each cell is a document of its own.

        Raises:
            ValueError: arrays of different lengths, a code of n_options or more, a rater with two answers to a cell, a
            cell in two sheets or in two documents.
        """
        documents_given = cell if document is None else document
        columns = [np.asarray(column, dtype=np.int64) for column in (rater, cell, sheet, code, documents_given)]
        if any(column.shape != (columns[0].size,) for column in columns):
            raise ValueError("rater, cell, sheet, code and document must be one-dimensional and of the same length")
        answered = columns[3] >= 0
        if not answered.all():
            columns = [column[answered] for column in columns]
        if columns[3].size and columns[3].max() >= n_options:
            raise ValueError(f"code {columns[3].max()} is none of the {n_options} options")
        if not _in_order(columns[1], columns[0]):  # they come in order as a rule, and a copy of millions is spared
            order = np.lexsort((columns[0], columns[1]))
            for place in range(len(columns)):
                columns[place] = columns[place][order]
            del order
        raters, cells, sheets, codes, documents = columns
        same_cell = cells[1:] == cells[:-1]
        if np.any(same_cell & (raters[1:] == raters[:-1])):
            raise ValueError("a rater has two answers to the same cell: choose one repeat first")
        if np.any(same_cell & (sheets[1:] != sheets[:-1])):
            raise ValueError("a cell lies in two sheets")
        if np.any(same_cell & (documents[1:] != documents[:-1])):
            raise ValueError("a cell lies in two documents")
        return cls(
            rater=raters,
            cell=cells,
            sheet=sheets,
            code=codes,
            document=documents,
            n_options=n_options,
            assigned=np.asarray([] if assigned is None else assigned, dtype=np.int64).reshape(-1, 2),
        )

    def merged(self, mapping: Mapping[int, int]) -> Answers:
        """The same answers with options counted as others, e.g. "Implied" as "Not found"."""
        return replace(self, code=merge(self.code, mapping, n_options=self.n_options))

    def only(self, options: Sequence[int]) -> Answers:
        """The answers with these options, which become 0, 1, 2, ... in the order given; other answers are left out.

        For coefficients that count the options there are (AC1, AC2, PABAK) or their distances (weights): options that
        a merge has emptied, or that mean that nothing was to be decided, must not count as options.
        """
        if [*options] == [*range(self.n_options)]:
            return self
        new = np.full(self.n_options, MISSING)
        new[np.asarray(options, dtype=np.int64)] = np.arange(len(options))
        kept = self.where(new[self.code] >= 0)
        return replace(kept, code=new[kept.code], n_options=len(options))

    def in_sheets(self, sheet: IntArray) -> Answers:
        """The same answers counted as of other sheets, shape (n_answers,), in which nobody else is to answer."""
        return replace(self, sheet=sheet, assigned=np.zeros((0, 2), dtype=np.int64))

    def where(self, chosen: npt.NDArray[np.bool_]) -> Answers:
        """The entries for which `chosen`, shape (n_answers,), is true."""
        return replace(
            self,
            rater=self.rater[chosen],
            cell=self.cell[chosen],
            sheet=self.sheet[chosen],
            code=self.code[chosen],
            document=self.document[chosen],
        )

    def value_counts(self) -> IntArray:
        """How many raters gave each cell each option: shape (n_answered_cells, n_options), cells in ascending order."""
        cells = self.by_cell
        keys = cells.index * self.n_options + self.code
        return np.bincount(keys, minlength=cells.size * self.n_options).reshape(cells.size, self.n_options)

    @cached_property
    def by_cell(self) -> Cells:
        """The answered cells; found once, without sorting, as the answers are sorted by cell."""
        starts = np.diff(self.cell, prepend=self.cell[:1] - 1) != 0
        first = np.flatnonzero(starts)
        return Cells(cell=self.cell[first], first=first, index=np.cumsum(starts) - 1)


def _in_order(first: IntArray, second: IntArray) -> bool:
    """Whether they ascend by the first, and where it is the same by the second; equal ones may follow each other."""
    same = first[1:] == first[:-1]
    return bool(((first[1:] > first[:-1]) | (same & (second[1:] >= second[:-1]))).all())


def merge(codes: npt.ArrayLike, mapping: Mapping[int, int], *, n_options: int) -> IntArray:
    """Codes with each option of `mapping` replaced by another one, in their shape; negative codes and the numbering
    stay."""
    target = np.arange(n_options)
    for option, counted_as in mapping.items():
        if not (0 <= option < n_options and 0 <= counted_as < n_options):
            raise ValueError(f"cannot count option {option} as {counted_as}: the options are 0 to {n_options - 1}")
        target[option] = counted_as
    array = np.asarray(codes, dtype=np.int64)
    return np.where(array >= 0, target[np.maximum(array, 0)], array)
