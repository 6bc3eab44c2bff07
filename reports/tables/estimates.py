"""Estimates in tables: a value with the ends of its interval, in three columns."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.stats.ratings.arrays import Estimate
from reports.stats.spa import Spa
from reports.tables.base import Head, Value


def three_heads(key: str, title: str, *, group: str = "") -> tuple[Head, Head, Head]:
    """`group`: what stands above them, where it is not the title itself."""
    over = group or title
    return (
        Head(key, _("Value") if over == title else title, "number", over),
        Head(f"{key}_low", _("from"), "number", over),
        Head(f"{key}_high", _("to"), "number", over),
    )


def three(estimate: Estimate | None) -> tuple[Value, Value, Value]:
    """What stands below these heads."""
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def of_spa(found: Spa) -> Estimate:
    """How far the first system is preferred, with the interval by inputs."""
    low, high = (found.clustered.low, found.clustered.high) if found.clustered else (None, None)
    return Estimate(found.probability, low, high, found.n, found.n_inputs)
