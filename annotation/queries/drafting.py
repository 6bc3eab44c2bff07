"""Whose work could start from whose answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Assignment, Label, Rater, Sheet, Study

State = Assignment.State


@dataclass(frozen=True)
class Startable:
    """An assignment that can start from another rater's answers. `answers`: how many that rater gave of its row;
    `own`: how many cells of it are answered already and stay."""

    assignment: Assignment
    answers: int
    own: int

    @property
    def is_begun(self) -> bool:
        return self.assignment.state == State.STARTED


def draftable(rater: Rater, source: Rater, sheets: Iterable[Sheet]) -> list[Startable]:
    """Work of `rater` that is not submitted, of rows that `source` has submitted, in the order of the sheets.

    Three queries. The answers counted are those of the round that `actions.draft` takes, where they are asked.
    """
    left = Assignment.objects.filter(
        rater=rater, row__sheet__in=[sheet.pk for sheet in sheets], state__in=[State.OPEN, State.STARTED]
    ).filter(row__withdrawn_at=None, row__sheet__closed_at=None)
    mine = (
        left.select_related("row__sheet")
        .defer("row__evidence")
        .order_by("row__sheet__position", "row__position", "repeat")
    )
    own = dict(Label.objects.filter(assignment__in=left).values_list("assignment").annotate(n=Count("pk")).order_by())
    submitted = Label.objects.filter(
        assignment__rater=source, assignment__state=State.SUBMITTED, assignment__row__in=left.order_by().values("row")
    )
    counted = submitted.values_list("assignment__row", "assignment__repeat", "question__section__key").annotate(
        n=Count("pk", filter=Q(preset=False))
    )
    rounds: dict[int, dict[int, dict[str, int]]] = {}
    for row, repeat, section, n in counted.order_by():
        rounds.setdefault(row, {}).setdefault(repeat, {})[section] = n
    found = []
    for assignment in mine:
        if of_row := rounds.get(assignment.row_id):
            last = of_row[max(of_row)]
            answers = sum(n for section, n in last.items() if assignment.asks_key(section))
            if answers:
                found.append(Startable(assignment, answers, own.get(assignment.pk, 0)))
    return found


def sources(study: Study) -> QuerySet[Rater]:
    """Who has submitted anything."""
    # Of each rater: a list of all who have, of all studies, is read through anew by SQLite each time it is asked.
    submitted = Assignment.objects.filter(rater=OuterRef("pk"), state=State.SUBMITTED)
    return study.raters.filter(Exists(submitted)).order_by("-kind", "code")
