"""Reads about links for a crowd: who came, how far they are, which rows have room."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.crowd.checks import given_as_checks
from annotation.models import (
    Assignment,
    CrowdLink,
    Participant,
    Rater,
    Row,
    Study,
    User,
)

# Prolific's ids and UUIDs, which nobody guesses. Others, such as names and numbers of a register, let nobody in from
# another browser.
_NOT_GUESSED = re.compile(r"[0-9a-f]{24,64}", re.IGNORECASE)


def lets_in(number: str) -> bool:
    """Whether an id shows by itself who comes.

    >>> lets_in("5f3c2a1b9d8e7f6a5b4c3d2e"), lets_in("student.name@university.example"), lets_in("17")
    (True, False, False)
    """
    return _NOT_GUESSED.fullmatch(number.replace("-", "")) is not None


@dataclass(frozen=True)
class Place:
    """How far somebody is with the rows that they were given. `rows`: those that are theirs now. `finished_at`: when
    they submitted the last one, None while one is left or all were taken from them. `stopped_at`: since when they can
    do nothing of what is left, since its sheet was closed or the row taken back; None where they can, or are done."""

    participant: Participant
    rows: int
    submitted: int
    seconds: int
    finished_at: datetime | None
    stopped_at: datetime | None

    @property
    def is_done(self) -> bool:
        return self.finished_at is not None

    @cached_property
    def is_ended(self) -> bool:
        """Whether they could not go on to the end, through no fault of theirs: it was within their time."""
        one = self.participant
        if one.is_removed or self.is_done:
            return False
        if one.ended_at is not None:
            return True
        return one.freed_at is None and self.stopped_at is not None and self.stopped_at <= one.until

    @property
    def is_over(self) -> bool:
        """Whether nothing is left for them: their place was given to others, or all their rows were taken back."""
        return self.participant.freed_at is not None or not self.rows

    @property
    def outcome(self) -> str:
        """What they are to be paid for."""
        said = _OUTCOMES.get(self.state, self.state)
        return said if self.is_done else f"{said} ({self.submitted} of {self.given} rows)"

    @property
    def given(self) -> int:
        return len(self.participant.rows)

    @property
    def left(self) -> int:
        return self.rows - self.submitted

    @cached_property
    def state(self) -> str:
        if self.participant.is_removed:
            return "removed"
        if self.is_done:
            return "finished"
        if self.is_ended:
            return "ended"
        if self.participant.freed_at is not None:
            return "freed"
        return "late" if self.participant.until < timezone.now() else "working"


# What somebody's state can be, as it is called, and in the order in which it can be chosen.
STATES = {
    "finished": gettext_lazy("completed"),
    "ended": gettext_lazy("ended early"),
    "working": gettext_lazy("at work"),
    "late": gettext_lazy("late"),
    "freed": gettext_lazy("left: gave way to others"),
    "removed": gettext_lazy("removed"),
}
# For the file of participants, which programs read.
_OUTCOMES = {"finished": "completed", "ended": "ended early", "working": "at work", "late": "left", "freed": "left"}


# Looked up once: there are as many as rows that a crowd has.
_SUBMITTED, _WITHDRAWN = Assignment.State.SUBMITTED.value, Assignment.State.WITHDRAWN.value
_STOPS, _NEVER = ("withdrawn_at", "sheet__closed_at", "sheet__archived_at"), (None, None, None)


def places(participants: Sequence[Participant]) -> list[Place]:
    """One query, another one where somebody has not submitted all."""
    raters = {participant.rater_id for participant in participants}
    told = Assignment.objects.filter(rater__in=raters, repeat=1)
    had = {
        (rater, row): (state, at, seconds, handed_to)
        for rater, row, state, at, seconds, handed_to in told.values_list(
            "rater", "row", "state", "submitted_at", "active_seconds", "handed_to"
        )
    }
    is_whole = all(state == _SUBMITTED for state, *_others in had.values())
    stops = {} if is_whole else _stops(told.exclude(state=_SUBMITTED))
    return [_place(one, had, stops) for one in participants]


_When = tuple[datetime | None, datetime | None, datetime | None]


def _stops(given: QuerySet[Assignment]) -> dict[int, _When]:
    """Of rows that were given: those that were withdrawn, and those of closed sheets, with when the one and the other
    was, and when the sheet was archived. One query."""
    stopped = Q(withdrawn_at__isnull=False) | Q(sheet__closed_at__isnull=False)
    rows = Row.objects.filter(stopped, pk__in=given.values("row")).order_by()
    return {pk: (withdrawn, closed, archived) for pk, withdrawn, closed, archived in rows.values_list("pk", *_STOPS)}


def _place(
    one: Participant,
    had: Mapping[tuple[int, int], tuple[str, datetime | None, int, int | None]],
    stops: Mapping[int, _When],
) -> Place:
    n, spent = 0, 0
    done: list[datetime] = []
    left: list[datetime | None] = []  # since when they cannot go on with each that is not submitted
    lost: list[datetime] = []  # when each was taken from them; of what a plan takes back nobody knows it
    for row in one.rows:
        if (found := had.get((one.rater_id, row))) is None:
            continue
        state, submitted_at, seconds, handed_to = found
        if state == _WITHDRAWN:
            withdrawn, _closed, archived = stops.get(row, _NEVER)
            if withdrawn is None and archived is not None and handed_to is None:
                left.append(archived)  # taken back with its sheet, which nobody had finished
            else:
                lost.append(withdrawn or one.came_at)
            continue
        n, spent = n + 1, spent + seconds
        if state == _SUBMITTED and submitted_at is not None:
            done.append(submitted_at)
        else:
            left.append(stops.get(row, _NEVER)[1])
    is_done = bool(n) and not left and one.freed_at is None and one.ended_at is None
    stopped = [at for at in left if at is not None] if n or left else lost or [one.came_at]
    return Place(
        participant=one,
        rows=n,
        submitted=len(done),
        seconds=spent,
        finished_at=max(done) if is_done else None,
        stopped_at=max(stopped) if stopped and len(stopped) >= len(left) else None,
    )


def place_of(participant: Participant) -> Place:
    """One query."""
    return places([participant])[0]


def of_user(user: User) -> list[Place]:
    """Where somebody takes part by a link, of archived studies where they have not heard of the end; two queries, one
    where they do nowhere."""
    mine = Participant.objects.filter(user=user.pk, rater__active=True, link__study__deleted_at=None)
    mine = mine.exclude(link__study__archived_at__isnull=False, ended_at__isnull=False)
    found = list(mine.select_related("link__study__scheme", "rater").order_by("-pk"))
    told = places(found) if found else []
    return [place for place in told if place.is_ended or place.participant.link.study.archived_at is None]


@dataclass(frozen=True)
class LinkCounts:
    """`places`: of those who came. `taken`: places that count against the most people. `rows`: of its sheets, and how
    many of them have as many people as are wanted, with submitted work alone; rows that are given as checks are left
    out."""

    link: CrowdLink
    places: Sequence[Place]
    n_rows: int
    n_full: int

    @property
    def states(self) -> Mapping[str, int]:
        return Counter(place.state for place in self.places)

    @property
    def taken(self) -> int:
        return sum(place.participant.is_there for place in self.places)


def links(study: Study, *, pk: int | None = None) -> list[LinkCounts]:
    """The links of a study, or that one of them, the last one first. Five queries, six where one gives checks."""
    of_study = study.crowd_links.prefetch_related("sheets").select_related("created_by")
    found = list(of_study if pk is None else of_study.filter(pk=pk))
    came: dict[int, list[Participant]] = defaultdict(list)
    everybody = list(Participant.objects.filter(link__in=found).select_related("link", "rater").order_by("pk"))
    for one in everybody:
        came[one.link_id].append(one)
    by_participant = {place.participant.pk: place for place in places(everybody)}
    sheets = {sheet.pk for link in found for sheet in link.sheets.all()}
    submitted = Count("assignments", filter=_of_people(Q(assignments__state=Assignment.State.SUBMITTED)))
    rows = Row.objects.filter(sheet__in=sheets, withdrawn_at=None).order_by().annotate(n=submitted)
    of_sheet: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for sheet, row, n in rows.values_list("sheet", "pk", "n"):
        of_sheet[sheet].append((row, n))
    checks: dict[int, set[int]] = defaultdict(set)
    for crowd_link, row in given_as_checks([link for link in found if link.checks_each]).values_list(
        "crowdlink", "row"
    ):
        checks[crowd_link].add(row)
    told = []
    for link in found:
        of_link = [pair for sheet in link.sheets.all() for pair in of_sheet[sheet.pk]]
        counts = [n for row, n in of_link if row not in checks[link.pk]]
        full = sum(n >= link.people_per_row for n in counts)
        told.append(LinkCounts(link, [by_participant[one.pk] for one in came[link.pk]], len(counts), full))
    return told


def _of_people(more: Q) -> Q:
    """Who came by a link and was removed counts no more, with what they submitted either."""
    removed = Q(assignments__rater__in=Participant.objects.removed().values("rater"))
    return more & ~removed & Q(assignments__repeat=1, assignments__rater__kind=Rater.Kind.PERSON)


def rows_with_room(link: CrowdLink, rater: Rater | None) -> dict[int, dict[int, int]]:
    """Of each sheet the rows that fewer people have than are wanted, with how many do: {sheet: {row: people}}; none
    that `rater` has, or had, and none that is given as a check. One query."""
    have = Count("assignments", filter=_of_people(~Q(assignments__state=Assignment.State.WITHDRAWN)))
    rows = _open_rows(link, rater)
    if link.checks_each:
        rows = rows.exclude(pk__in=given_as_checks([link]).values("row"))
    found: dict[int, dict[int, int]] = {}
    for sheet, row, n in rows.annotate(n=have).filter(n__lt=link.people_per_row).values_list("sheet", "pk", "n"):
        found.setdefault(sheet, {})[row] = n
    return found


def _open_rows(link: CrowdLink, rater: Rater | None) -> QuerySet[Row]:
    """Rows that can be given to `rater`, or to somebody new, in the order of the study; none that they have, or had."""
    rows = Row.objects.filter(
        sheet__crowd_links=link, withdrawn_at=None, sheet__closed_at=None, sheet__archived_at=None
    ).order_by("sheet__position", "position")
    if rater is not None:
        rows = rows.exclude(Exists(Assignment.objects.filter(row=OuterRef("pk"), rater=rater)))
    return rows


def checks_for(link: CrowdLink, rater: Rater | None) -> dict[int, list[int]]:
    """Of each sheet the rows that can be given as checks to `rater`, or to somebody new. One query."""
    found: dict[int, list[int]] = {}
    rows = _open_rows(link, rater).filter(pk__in=given_as_checks([link]).values("row"))
    for sheet, row in rows.values_list("sheet", "pk"):
        found.setdefault(sheet, []).append(row)
    return found
