"""Reads about links for a crowd: who came, how far they are, which rows have room."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import Assignment, CrowdLink, Participant, Rater, Row, Study, User

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
    they submitted the last one, None while one is left or all were taken from them."""

    participant: Participant
    rows: int
    submitted: int
    seconds: int
    finished_at: datetime | None

    @property
    def is_done(self) -> bool:
        return self.finished_at is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left for them: their place was given to others, or all their rows were taken back."""
        return self.participant.freed_at is not None or not self.rows

    @property
    def left(self) -> int:
        return self.rows - self.submitted

    @property
    def state(self) -> str:
        if self.participant.is_removed:
            return "removed"
        if self.is_done:
            return "finished"
        if self.participant.freed_at is not None:
            return "freed"
        return "late" if self.participant.until < timezone.now() else "working"


def places(participants: Sequence[Participant]) -> list[Place]:
    """One query."""
    raters = {participant.rater_id for participant in participants}
    told = Assignment.objects.filter(rater__in=raters, repeat=1).exclude(state=Assignment.State.WITHDRAWN)
    had: dict[tuple[int, int], tuple[str, datetime | None, int]] = {
        (rater, row): (state, at, seconds)
        for rater, row, state, at, seconds in told.values_list(
            "rater", "row", "state", "submitted_at", "active_seconds"
        )
    }
    found = []
    for one in participants:
        mine = [had[one.rater_id, row] for row in one.rows if (one.rater_id, row) in had]
        done = [at for state, at, _seconds in mine if state == Assignment.State.SUBMITTED and at is not None]
        is_done = bool(mine) and len(done) == len(mine) and one.freed_at is None
        found.append(
            Place(one, len(mine), len(done), sum(seconds for *_rest, seconds in mine), max(done) if is_done else None)
        )
    return found


def place_of(participant: Participant) -> Place:
    """One query."""
    return places([participant])[0]


def of_user(user: User) -> list[Place]:
    """Where somebody takes part by a link; two queries, one where they do nowhere."""
    mine = Participant.objects.filter(user=user.pk, rater__active=True, link__study__archived_at=None)
    found = list(mine.select_related("link__study").order_by("-pk"))
    return places(found) if found else []


@dataclass(frozen=True)
class LinkCounts:
    """`places`: of those who came. `taken`: places that count against the most people. `rows`: of its sheets, and how
    many of them have as many people as are wanted, with submitted work alone."""

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


def links(study: Study) -> list[LinkCounts]:
    """The links of a study, the last one first. Five queries."""
    found = list(study.crowd_links.prefetch_related("sheets").select_related("created_by"))
    came: dict[int, list[Participant]] = defaultdict(list)
    everybody = list(Participant.objects.filter(link__in=found).select_related("link", "rater").order_by("pk"))
    for one in everybody:
        came[one.link_id].append(one)
    by_participant = {place.participant.pk: place for place in places(everybody)}
    sheets = {sheet.pk for link in found for sheet in link.sheets.all()}
    submitted = Count("assignments", filter=_of_people(Q(assignments__state=Assignment.State.SUBMITTED)))
    rows = Row.objects.filter(sheet__in=sheets, withdrawn_at=None).order_by().annotate(n=submitted)
    of_sheet: dict[int, list[int]] = defaultdict(list)
    for sheet, n in rows.values_list("sheet", "n"):
        of_sheet[sheet].append(n)
    told = []
    for link in found:
        counts = [n for sheet in link.sheets.all() for n in of_sheet[sheet.pk]]
        full = sum(n >= link.people_per_row for n in counts)
        told.append(LinkCounts(link, [by_participant[one.pk] for one in came[link.pk]], len(counts), full))
    return told


def _of_people(more: Q) -> Q:
    """Who came by a link and was removed counts no more, with what they submitted either."""
    removed = Q(assignments__rater__in=Participant.objects.removed().values("rater"))
    return more & ~removed & Q(assignments__repeat=1, assignments__rater__kind=Rater.Kind.PERSON)


def rows_with_room(link: CrowdLink, rater: Rater | None) -> dict[int, dict[int, int]]:
    """Of each sheet the rows that fewer people have than are wanted, with how many do: {sheet: {row: people}}; none
    that `rater` has, or had. One query."""
    have = Count("assignments", filter=_of_people(~Q(assignments__state=Assignment.State.WITHDRAWN)))
    rows = Row.objects.filter(
        sheet__crowd_links=link, withdrawn_at=None, sheet__closed_at=None, sheet__archived_at=None
    ).order_by("sheet__position", "position")
    if rater is not None:
        rows = rows.exclude(Exists(Assignment.objects.filter(row=OuterRef("pk"), rater=rater)))
    found: dict[int, dict[int, int]] = {}
    for sheet, row, n in rows.annotate(n=have).filter(n__lt=link.people_per_row).values_list("sheet", "pk", "n"):
        found.setdefault(sheet, {})[row] = n
    return found
