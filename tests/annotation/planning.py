"""What a manager does in the planner, and what it offers and gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation import actions, queries
from annotation.models import Assignment, Plan, Rater, Sheet, Study
from annotation.planning import OverlapRequest, balanced_design
from tests.builders import Leases

CHANGED = "This plan has changed since it was drawn; look at it and apply it again."


def plan_url(leases: Leases) -> str:
    return reverse("annotation:plan", args=[leases.study.slug])


def numbers(leases: Leases, *sheets: Sheet, raters: Sequence[Rater] = (), **changed: object) -> dict[str, Any]:
    """What the form sends; without `raters` all that the planner offers."""
    chosen = raters or leases.study.raters.people().filter(active=True, user__isnull=False)
    data: dict[str, Any] = {
        "raters": [rater.pk for rater in chosen],
        "sheets": [sheet.pk for sheet in sheets],
        "sections": ["duties", "acts"],
        "raters_per_sheet": 2,
        "share_twice": 50,
        "seed": 1,
    }
    return data | changed


def draw(client: Client, leases: Leases, data: dict[str, Any]) -> dict[str, Any]:
    """The numbers with the digest of the plan that was drawn for them, as the browser has them."""
    preview = client.get(plan_url(leases), data, headers={"HX-Request": "true"})
    return {**data, "drawn": preview.context["preview"]["digest"]}


def offered(client: Client, leases: Leases) -> list[str]:
    field = client.get(plan_url(leases)).context["form"]["sheets"]
    return [str(widget.data["label"]) for widget in field.subwidgets]


def rows_of(rater: Rater) -> list[tuple[str, str, str]]:
    live = rater.assignments.exclude(state=Assignment.State.WITHDRAWN)
    return sorted(live.values_list("row__sheet__title", "row__name", "state"))


def apply(study: Study, sheet: Sheet, rater: Rater) -> Plan:
    """All free rows of a sheet to one rater."""
    rows = queries.free_rows([sheet]).get(sheet.pk, [])
    request = OverlapRequest(raters=1, sheets=(len(rows),), raters_per_sheet=1, share_twice=0, seed=1)
    return actions.apply_design(
        study=study,
        design=balanced_design(request),
        request=request,
        raters=[rater],
        sheets=[sheet],
        by=None,
        rows=[rows],
    )


def apply_sections(leases: Leases, sheet: Sheet, rater: Rater, sections: list[str]) -> None:
    rows = queries.free_rows([sheet], sections).get(sheet.pk, [])
    request = OverlapRequest(raters=1, sheets=(len(rows),), raters_per_sheet=1, share_twice=0, seed=1)
    actions.apply_design(
        study=leases.study,
        design=balanced_design(request),
        request=request,
        raters=[rater],
        sheets=[sheet],
        by=None,
        sections=sections,
    )
