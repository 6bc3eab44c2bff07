"""The values of an array, each once."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", bound=np.generic)


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The values that there are, ascending, shape (n_distinct,): as `numpy.unique` gives them, of numbers that are
    no NaN.

    NumPy hashes them since 2.3, which for a million different ones takes sixteen times as long as sorting.
    """
    ordered: npt.NDArray[Any] = np.sort(values, axis=None)
    return ordered[is_first(ordered)]


def is_first(ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Of each value of an ascending array whether it is the first of its kind, shape (n,)."""
    first = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def among(values: npt.NDArray[Number], ordered: npt.NDArray[Number]) -> npt.NDArray[np.bool_]:
    """Of each value whether it is one of an ascending array, shape of `values`: as `numpy.isin` says it, which hashes
    or sorts both."""
    if not ordered.size:
        return np.zeros(values.shape, dtype=bool)
    place = np.searchsorted(ordered, values).clip(max=ordered.size - 1)
    found: npt.NDArray[np.bool_] = ordered[place] == values
    return found
