"""How the work of a study's people goes, and when it will be done at this pace."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone

from annotation.models import Assignment, LabelEvent, Note, Rater, Sheet, Sitting, Study

State = Assignment.State
# The pace is taken from the last week, weekends included.
WINDOW = timedelta(days=7)


@dataclass(frozen=True)
class States:
    """Rows by how far they are."""

    done: int = 0
    started: int = 0
    open: int = 0

    @property
    def rows(self) -> int:
        return self.done + self.started + self.open

    @property
    def left(self) -> int:
        return self.started + self.open

    def __add__(self, other: States) -> States:
        return States(self.done + other.done, self.started + other.started, self.open + other.open)


@dataclass(frozen=True)
class BoardLine:
    """One person. `pace`: rows submitted a day over the last week, or since the first label where that is less.

    A simulated rater has none: a program made its labels up in one go.
    """

    rater: Rater
    by_sheet: tuple[States, ...]
    total: States
    pace: float
    last_at: datetime | None
    seconds: int
    finish: date | None  # at this pace; None without one, or with nothing left

    @property
    def hours(self) -> float:
        return self.seconds / 3600


@dataclass(frozen=True)
class Board:
    sheets: tuple[Sheet, ...]
    lines: tuple[BoardLine, ...]
    by_sheet: tuple[States, ...]
    total: States
    open_notes: int

    @property
    def table(self) -> list[tuple[Sheet, list[States], States]]:
        """A line a sheet, with the states of each rater in the order of `lines`, and their sum."""
        return [
            (sheet, [line.by_sheet[n] for line in self.lines], self.by_sheet[n]) for n, sheet in enumerate(self.sheets)
        ]

    @property
    def simulated(self) -> States:
        """What of the total simulated raters have."""
        return sum((line.total for line in self.lines if line.rater.simulated), States())

    @property
    def finish(self) -> date | None:
        """When the last of those who have a pace is done."""
        return max((line.finish for line in self.lines if line.finish), default=None)

    @property
    def without_pace(self) -> list[Rater]:
        """Who has work left and submitted nothing in the last week, simulated raters included."""
        return [line.rater for line in self.lines if line.total.left and not line.pace]


def board(study: Study, *, now: datetime | None = None) -> Board:
    """Six queries. Judges are not in it."""
    now = now or timezone.now()
    sheets = tuple(study.sheets.order_by("position"))
    people = Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.PERSON)
    given: dict[int, dict[int, States]] = defaultdict(dict)
    lately: dict[int, int] = defaultdict(int)
    first: dict[int, datetime] = {}
    live = people.exclude(state=State.WITHDRAWN)
    counted = live.values_list("rater", "row__sheet").annotate(
        done=Count("pk", filter=Q(state=State.SUBMITTED)),
        started=Count("pk", filter=Q(state=State.STARTED)),
        open=Count("pk", filter=Q(state=State.OPEN)),
        lately=Count("pk", filter=Q(submitted_at__gt=now - WINDOW)),
        first=Min("started_at"),
    )
    for rater_id, sheet_id, done, started, open_, recent, begun in counted.order_by():
        given[rater_id][sheet_id] = States(done, started, open_)
        lately[rater_id] += recent
        if begun is not None:
            first[rater_id] = min(begun, first.get(rater_id, begun))
    seconds = dict(people.values_list("rater").annotate(s=Sum("active_seconds")).order_by())
    last = dict(
        LabelEvent.objects.filter(assignment__in=people)
        .values_list("assignment__rater")
        .annotate(last=Max("at"))
        .order_by()
    )
    for rater_id, beat in (
        Sitting.objects.filter(assignment__in=people)
        .values_list("assignment__rater")
        .annotate(last=Max("beat_at"))
        .order_by()
    ):
        last[rater_id] = max(beat, last.get(rater_id, beat))
    lines = []
    for rater in sorted(study.raters.people().select_related("user"), key=lambda rater: (len(rater.code), rater.code)):
        by_sheet = tuple(given[rater.pk].get(sheet.pk, States()) for sheet in sheets)
        total = sum(by_sheet, States())
        if not total.rows and not rater.active:
            continue
        days = min(WINDOW, max(timedelta(days=1), now - first.get(rater.pk, now))) / timedelta(days=1)
        pace = 0.0 if rater.simulated else lately[rater.pk] / days
        lines.append(
            BoardLine(
                rater=rater,
                by_sheet=by_sheet,
                total=total,
                pace=pace,
                last_at=last.get(rater.pk),
                seconds=seconds.get(rater.pk, 0),
                finish=(now + timedelta(days=math.ceil(total.left / pace))).date() if pace and total.left else None,
            )
        )
    sums = tuple(sum((line.by_sheet[n] for line in lines), States()) for n in range(len(sheets)))
    return Board(
        sheets=sheets,
        lines=tuple(lines),
        by_sheet=sums,
        total=sum(sums, States()),
        open_notes=Note.objects.unanswered().filter(assignment__rater__study=study).count(),
    )
