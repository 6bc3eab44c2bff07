"""Estimates in tables: a value with the ends of its interval, in three columns."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.stats.ratings.arrays import Estimate
from reports.stats.spa import Spa
from reports.tables.base import Head, Value


def three_heads(key: str, title: str) -> tuple[Head, Head, Head]:
    return (
        Head(key, _("Value"), "number", title),
        Head(f"{key}_low", _("from"), "number", title),
        Head(f"{key}_high", _("to"), "number", title),
    )


def three(estimate: Estimate | None) -> tuple[Value, Value, Value]:
    """What stands below these heads."""
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def of_spa(found: Spa) -> Estimate:
    """How far the first system is preferred, with the interval by inputs."""
    low, high = (found.clustered.low, found.clustered.high) if found.clustered else (None, None)
    return Estimate(found.probability, low, high, found.n, found.n_inputs)
