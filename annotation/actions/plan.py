"""Who labels what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import Refused, lock_study
from annotation.models import (
    Assignment,
    Label,
    Plan,
    Rater,
    Row,
    Sheet,
    Study,
    User,
)
from annotation.overlap import Design, OverlapRequest


@transaction.atomic
def apply_design(
    *,
    study: Study,
    design: Design,
    request: OverlapRequest,
    raters: Sequence[Rater],
    sheets: Sequence[Sheet],
    by: User | None,
    rows: Sequence[Sequence[int]] | None = None,
) -> Plan:
    """Assign rows as the design says: its numbers are places in `sheets`, in a sheet's free rows, and in `raters`.

    `rows` are the numbers of the rows of each sheet that the design was drawn for; without them, those free now.

    Raises:
        Refused: other rows are free by now, or somebody is no rater any more. Nothing is changed then.
    """
    lock_study(study.pk)
    free = queries.free_rows(sheets)
    of_sheets = [free.get(sheet.pk, []) for sheet in sheets]
    drawn = of_sheets if rows is None else [list(of_sheet) for of_sheet in rows]
    present = study.raters.filter(pk__in=[rater.pk for rater in raters], active=True).count()
    if drawn != of_sheets or tuple(map(len, drawn)) != tuple(request.sheets) or present != len(raters):
        raise Refused(
            _("The study has changed since this plan was drawn. Nothing was assigned: look at it and apply it again.")
        )
    given: dict[int, list[int]] = {}
    for sheet, row, rater in design.assignments:
        given.setdefault(rater, []).append(drawn[sheet][row])
    for place, row_ids in given.items():
        _give(raters[place], row_ids)
    stored = {**asdict(request), "share_twice": str(request.share_twice)}
    stored["sheet_ids"] = [sheet.pk for sheet in sheets]
    stored["row_ids"] = drawn
    stored["rater_codes"] = [rater.code for rater in raters]
    return Plan.objects.create(study=study, request=stored, applied_by=by)


@transaction.atomic
def assign(*, rater: Rater, rows: Iterable[Row], sections: Sequence[str] = (), repeat: int = 1) -> list[Assignment]:
    """Give rows to a rater; rows that it has already are left as they are, withdrawn ones are given again."""
    rows = list(rows)
    _give(rater, [row.pk for row in rows], sections=sections, repeat=repeat)
    return list(rater.assignments.filter(repeat=repeat, row__in=rows))


def _give(rater: Rater, row_ids: Sequence[int], *, sections: Sequence[str] = (), repeat: int = 1) -> None:
    mine = rater.assignments.filter(repeat=repeat)
    withdrawn = mine.filter(row__in=row_ids, state=Assignment.State.WITHDRAWN)
    labelled = Exists(Label.objects.filter(assignment=OuterRef("pk")))
    withdrawn.filter(labelled).update(state=Assignment.State.STARTED, sections=list(sections))
    withdrawn.update(state=Assignment.State.OPEN, sections=list(sections))
    have = set(mine.filter(row__in=row_ids).values_list("row_id", flat=True))
    Assignment.objects.bulk_create(
        Assignment(rater=rater, row_id=pk, repeat=repeat, sections=list(sections)) for pk in row_ids if pk not in have
    )


@transaction.atomic
def withdraw(*, rater: Rater) -> int:
    """Take back what a rater has not submitted; its labels stay stored. Returns how many assignments that were."""
    unfinished = rater.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.STARTED])
    return unfinished.update(state=Assignment.State.WITHDRAWN)
