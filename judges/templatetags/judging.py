from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django import template
from django.utils.formats import number_format

from judges.generating import signs_told
from judges.spending import queries as spending
from judges.spending.models import SpendingRun
from llm.prices import Spent

register = template.Library()


@register.filter
def sign_told(sign: str) -> str:
    return str(signs_told.told(sign))


@register.filter
def about(number: int) -> int:
    """To two figures, which is all that an estimate says."""
    digits = len(str(abs(int(number))))
    return round(int(number), 2 - digits) if digits > 2 else int(number)


@register.filter
def as_time(seconds: float) -> str:
    """Seconds below two minutes, else hours and minutes."""
    if seconds < 1:
        return "1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


@register.filter
def as_money(cost: Decimal) -> str:
    """To two places; of less than that to the first figure that is not 0."""
    places = 2 if cost == 0 or cost >= Decimal("0.01") else -cost.adjusted()
    return number_format(cost.quantize(Decimal(1).scaleb(-places)))


@register.filter
def proposed_limits(run: SpendingRun, used: Spent) -> spending.Limits:
    return spending.proposed(run, used)


@register.filter
def as_percent(share: float | None) -> str:
    """A share in whole percent; a dash for none."""
    return "–" if share is None else f"{100 * share:.0f} %"


@dataclass(frozen=True)
class Fed:
    """How a worker's model is fed where it takes no tree, and the engine's reason, in English. `rescuing`: what is
    scored again in more digits, alone."""

    branches: bool
    reason: str
    rescuing: bool


@register.filter
def fed_slowly(worker: Mapping[str, str]) -> list[Fed]:
    """What a run's record says of slower ways to feed a model; empty where it takes a tree, or batches."""
    found = []
    for name, rescuing in (("mode", False), ("rescued_mode", True)):
        way, _colon, reason = worker.get(name, "").partition(": ")
        if way not in ("", "tree", "batches"):
            found.append(Fed(way == "branch by branch", reason, rescuing))
    return found
