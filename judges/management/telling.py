"""What the commands of judges and extractors share."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db.models import Model, QuerySet
from django.utils.text import capfirst

from annotation.actions import Refused
from annotation.models import Study
from judges.spending.models import SpendingRun

M = TypeVar("M", bound=Model)


@contextmanager
def refusals_told() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        raise CommandError(str(refused)) from refused


def one_called(name: str, among: QuerySet[M], *, key: str = "name") -> M:
    found = among.filter(**{key: name}).first()
    if found is None:
        what, several = among.model._meta.verbose_name, capfirst(among.model._meta.verbose_name_plural)
        known = ", ".join(among.values_list(key, flat=True)) or "none yet"
        raise CommandError(f"There is no {what} “{name}”. {several}: {known}.")
    return found


def study_called(slug: str) -> Study:
    return one_called(slug, Study.objects.select_related("scheme"), key="slug")


def add_limits(parser: ArgumentParser) -> None:
    parser.add_argument("--most-tokens", type=int, metavar="N", help="pause the run at so many tokens")
    parser.add_argument("--most-cost", metavar="MONEY", help="pause the run at this cost, by its model's prices")


def limits_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `add_limits` reads, as the actions take it; to resume a run changes only what is given.

    Raises:
        CommandError: the cost is no number.
    """
    cost = options["most_cost"]
    try:
        most = None if cost is None else Decimal(cost)
    except InvalidOperation:
        most = Decimal("NaN")
    if most is not None and not most.is_finite():
        raise CommandError(f"--most-cost is a number, and “{cost}” is none.")
    return {"most_tokens": options["most_tokens"], "most_cost": most}


def refuse_new_limits(run: SpendingRun, limits: Mapping[str, Any]) -> None:
    """Raises CommandError where limits are given for a run that is at work."""
    if any(limit is not None for limit in limits.values()):
        raise CommandError(f"Run {run.pk} is at work with the limits it has. Cancel it to resume it with others.")
