"""Ratios of arrays, some of which have nothing below the line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# A difference of large sums that is smaller than this is their rounding.
LEAST = 1e-12


def ratio(top: npt.ArrayLike, bottom: npt.ArrayLike, *, above: float = 0.0) -> FloatArray:
    """top / bottom, NaN where the bottom is not above a number. Shapes that NumPy broadcasts, to their common one.

    >>> ratio([1.0, 2.0], [4, 0]).tolist()
    [0.25, nan]
    """
    over, under = np.broadcast_arrays(np.asarray(top, np.float64), np.asarray(bottom, np.float64))
    found: FloatArray = np.divide(over, under, out=np.full(under.shape, np.nan), where=under > above)
    return found


def signed_ratio(top: npt.ArrayLike, bottom: npt.ArrayLike) -> FloatArray:
    """The same where the bottom may be below 0 too: NaN where it is within `LEAST` of 0."""
    over, under = np.broadcast_arrays(np.asarray(top, np.float64), np.asarray(bottom, np.float64))
    found: FloatArray = np.divide(over, under, out=np.full(under.shape, np.nan), where=np.abs(under) > LEAST)
    return found


def mean_of_defined(values: FloatArray) -> FloatArray:
    """The means over the last axis of what is not NaN, NaN where nothing is left."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0).sum(axis=-1), defined.sum(axis=-1))
