"""How often each option was chosen, and why the other cells are empty: Kvapil and Fajčík's Tables 1, 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt


class Empty(IntEnum):
    """Why a cell has no option, as a code beside the options' 0..n_options-1."""

    NOT_REACHED = -1
    NOT_ASKED = -2
    SKIPPED = -3
    LEFT_OPEN = -5  # -4 is of `reports.data.cells`


@dataclass(frozen=True)
class SelectionRow:
    """An option (code >= 0) or a reason of `Empty` (code < 0) with its count and its share of all cells, 0 to 1."""

    code: int
    count: int
    share: float | None


@dataclass(frozen=True)
class SelectionSummary:
    """One question's selections. The counts of `options` and `not_filled` together make n.

    options: a row for each option that counts as filled in, chosen or not; not_filled: "Not filled in" by its parts,
    the options that the caller counts as such first, then the reasons that occur; completeness: n_filled / n, None when
    there are no cells.
    """

    options: tuple[SelectionRow, ...]
    not_filled: tuple[SelectionRow, ...]
    n: int
    n_filled: int
    completeness: float | None

    @property
    def n_not_filled(self) -> int:
        return self.n - self.n_filled

    @property
    def share_not_filled(self) -> float | None:
        return self.n_not_filled / self.n if self.n else None


def selection_summary(
    codes: npt.ArrayLike, *, n_options: int, not_filled_options: Collection[int] = ()
) -> SelectionSummary:
    """Count the selections of one question.

    Args:
        codes: one entry for each cell a rater was to fill, shape (n,): an option 0..n_options-1, or the reason why it
            is empty (`Empty`).
        n_options: number of options of the question, used or not.
        not_filled_options: options that the table counts as "Not filled in", as the paper does with "No Tool Involved"
            in Table 4.
    Raises:
        ValueError: a code that is neither an option nor a reason.
    """
    array = np.asarray(codes, dtype=np.int64)
    found = dict(zip(*(part.tolist() for part in np.unique(array, return_counts=True)), strict=True))
    reasons = [reason.value for reason in Empty]
    unknown = [code for code in found if code not in reasons and not 0 <= code < n_options]
    if unknown:
        raise ValueError(f"code {unknown[0]} is neither one of the {n_options} options nor a reason")
    n = array.size

    def row(code: int) -> SelectionRow:
        count = found.get(code, 0)
        return SelectionRow(code=code, count=count, share=count / n if n else None)

    options = tuple(row(code) for code in range(n_options) if code not in not_filled_options)
    n_filled = sum(option.count for option in options)
    return SelectionSummary(
        options=options,
        not_filled=(
            *(row(code) for code in sorted(not_filled_options)),
            *(row(code) for code in reasons if code in found),
        ),
        n=n,
        n_filled=n_filled,
        completeness=n_filled / n if n else None,
    )
