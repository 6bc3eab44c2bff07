"""Answers from a table as one writes it on paper."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reports.stats.answers import Answers


def answers_of(codes: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, n_options: int) -> Answers:
    """Codes of shape (n_raters, n_cells), `MISSING` where there is none; the sheet of each cell, or one for all."""
    table = np.asarray(codes, dtype=np.int64)
    sheets = np.zeros(table.shape[1], dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    rater, cell = np.indices(table.shape)
    return Answers.from_long(
        rater=rater.ravel(), cell=cell.ravel(), sheet=sheets[cell].ravel(), code=table.ravel(), n_options=n_options
    )
