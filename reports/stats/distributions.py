"""SciPy's distributions and tests, loaded when the first of them is needed: 58 MiB that most reports do without."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import stats

    return getattr(stats, name)
