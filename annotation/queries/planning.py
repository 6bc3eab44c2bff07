"""What can be given to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import (
    Assignment,
    Column,
    Rater,
    Row,
    Sheet,
    Study,
)


def _free() -> QuerySet[Row]:
    """Rows that nobody works on who is active and has a login."""
    at_work = Assignment.objects.filter(
        row=OuterRef("pk"), rater__kind=Rater.Kind.PERSON, rater__active=True, rater__user__isnull=False
    ).exclude(state=Assignment.State.WITHDRAWN)
    return Row.objects.filter(~Exists(at_work))


def sheets_to_plan(study: Study) -> QuerySet[Sheet]:
    """Sheets with free rows, with `n_rows` and `n_free`. One query."""

    def counted(rows: QuerySet[Row]) -> Coalesce:
        of_sheet = rows.filter(sheet=OuterRef("pk")).order_by().values("sheet").annotate(n=Count("pk"))
        return Coalesce(Subquery(of_sheet.values("n")), 0)

    return (
        study.sheets.annotate(n_rows=counted(Row.objects.all()), n_free=counted(_free()))
        .filter(n_free__gt=0)
        .order_by("position")
    )


def free_rows(sheets: Iterable[Sheet]) -> dict[int, list[int]]:
    """Sheet -> its free rows in their order, for sheets that have any. One query."""
    rows: dict[int, list[int]] = defaultdict(list)
    of_sheets = _free().filter(sheet__in=[sheet.pk for sheet in sheets]).order_by("sheet_id", "position")
    for sheet_id, pk in of_sheets.values_list("sheet_id", "pk"):
        rows[sheet_id].append(pk)
    return dict(rows)


def unfinished(study: Study) -> dict[int, int]:
    """User -> how many assignments removing them from the study withdraws. One query."""
    states = [Assignment.State.OPEN, Assignment.State.STARTED]
    counts = Assignment.objects.filter(rater__study=study, rater__user__isnull=False, state__in=states)
    return dict(counts.values_list("rater__user").annotate(n=Count("pk")).order_by())


def labels_a_row(sheets: Iterable[Sheet]) -> dict[int, int]:
    """Sheet -> how many cells one rater meets in one row of it. One query."""
    counts = (
        Column.objects.filter(sheet__in=[sheet.pk for sheet in sheets])
        .values_list("sheet")
        .annotate(n=Count("section__questions"))
        .order_by()
    )
    return dict(counts)
