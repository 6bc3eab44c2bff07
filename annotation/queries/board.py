"""How the work of a study's people goes, and when it will be done at this pace."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from annotation.models import Assignment, LabelEvent, Note, Rater, Sheet, Sitting, Study
from base.text import natural

State = Assignment.State
# The pace is taken from the last week, weekends included.
WINDOW = timedelta(days=7)


@dataclass(frozen=True)
class States:
    """Rows by how far they are. `closed`: how many of those begun and open are of closed sheets: nobody goes on with
    them."""

    done: int = 0
    started: int = 0
    open: int = 0
    closed: int = 0

    @property
    def rows(self) -> int:
        return self.done + self.started + self.open

    @property
    def left(self) -> int:
        return self.started + self.open - self.closed

    def __add__(self, other: States) -> States:
        return States(
            self.done + other.done, self.started + other.started, self.open + other.open, self.closed + other.closed
        )


@dataclass(frozen=True)
class BoardLine:
    """One person. `pace`: rows submitted a day over the last week, or since the first label where that is less.

    A simulated rater has none, since a program made its labels up in one go, nor has one of an imported file.
    """

    rater: Rater
    of_sheets: Mapping[int, States]  # by the key of the sheet; those where the person has rows
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
    of_sheets: Mapping[int, States]
    total: States
    open_notes: int

    def table(self, sheets: Iterable[Sheet], lines: Sequence[BoardLine]) -> list[tuple[Sheet, list[States], States]]:
        """A line a sheet, with the states of each of these raters in their order, and the sum of all raters."""
        none = States()
        return [
            (sheet, [line.of_sheets.get(sheet.pk, none) for line in lines], self.of_sheets.get(sheet.pk, none))
            for sheet in sheets
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
    """Six queries. Judges are not in it, and not when somebody was last seen: see `seen`."""
    now = now or timezone.now()
    sheets = tuple(study.sheets.order_by("position"))
    closed = {sheet.pk for sheet in sheets if sheet.closed_at is not None}
    raters = sorted(study.raters.people().select_related("user"), key=lambda rater: natural(rater.code))
    people = Assignment.objects.filter(rater__in=[rater.pk for rater in raters])
    given: dict[int, dict[int, States]] = defaultdict(dict)
    lately: dict[int, int] = defaultdict(int)
    first: dict[int, datetime] = {}
    live = people.exclude(state=State.WITHDRAWN)
    counted = live.values_list("rater", "row__sheet").annotate(
        done=Count("pk", filter=Q(state=State.SUBMITTED)),
        # What somebody else has drafted its person has not begun.
        started=Count("pk", filter=Q(state=State.STARTED, started_at__isnull=False)),
        open=Count("pk", filter=Q(state=State.OPEN) | Q(state=State.STARTED, started_at=None)),
        lately=Count("pk", filter=Q(submitted_at__gt=now - WINDOW)),
        first=Min("started_at"),
    )
    for rater_id, sheet_id, done, started, open_, recent, begun in counted.order_by():
        given[rater_id][sheet_id] = States(done, started, open_, started + open_ if sheet_id in closed else 0)
        lately[rater_id] += recent
        if begun is not None:
            first[rater_id] = min(begun, first.get(rater_id, begun))
    seconds = dict(people.values_list("rater").annotate(s=Sum("active_seconds")).order_by())
    lines = []
    for rater in raters:
        of_sheets = given[rater.pk]
        total = sum(of_sheets.values(), States())
        if not total.rows and not rater.active:
            continue
        days = min(WINDOW, max(timedelta(days=1), now - first.get(rater.pk, now))) / timedelta(days=1)
        pace = 0.0 if rater.simulated or rater.user_id is None else lately[rater.pk] / days
        lines.append(
            BoardLine(
                rater=rater,
                of_sheets=of_sheets,
                total=total,
                pace=pace,
                last_at=None,
                seconds=seconds.get(rater.pk, 0),
                finish=(now + timedelta(days=math.ceil(total.left / pace))).date() if pace and total.left else None,
            )
        )
    sums: dict[int, States] = {}
    for line in lines:
        for sheet_id, states in line.of_sheets.items():
            sums[sheet_id] = sums.get(sheet_id, States()) + states
    return Board(
        sheets=sheets,
        lines=tuple(lines),
        of_sheets=sums,
        total=sum(sums.values(), States()),
        open_notes=Note.objects.unanswered().filter(assignment__rater__study=study).count(),
    )


def seen(lines: Iterable[BoardLine]) -> list[BoardLine]:
    """Some lines with when each person was last seen: at work, or changing a label. Two queries.

    Asked rater by rater, and for those of a page: the events of all are a table of millions.
    """
    lines = list(lines)
    ids = [line.rater.pk for line in lines]

    def latest(of: QuerySet[Any], field: str) -> dict[int, datetime | None]:
        mine = of.filter(assignment__rater=OuterRef("pk")).order_by().values("assignment__rater").annotate(m=Max(field))
        found = Rater.objects.filter(pk__in=ids).order_by().annotate(last=Subquery(mine.values("m")))
        return dict(found.values_list("pk", "last"))

    # What others changed in their name, as a manager does who drafts, does not show them.
    own = LabelEvent.objects.filter(Q(by=None) | Q(by=F("assignment__rater__user")))
    changed, beaten = latest(own, "at"), latest(Sitting.objects.all(), "beat_at")
    return [
        replace(line, last_at=max(filter(None, (changed[line.rater.pk], beaten[line.rater.pk])), default=None))
        for line in lines
    ]
