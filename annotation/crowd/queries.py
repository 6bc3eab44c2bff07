"""Reads about links for a crowd: who came, how far they are, how their checks went, which rows have room."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.lens.lens import answered
from annotation.models import (
    Assignment,
    Column,
    CrowdLink,
    Label,
    Participant,
    Rater,
    Row,
    Section,
    Sheet,
    Skip,
    Study,
    User,
)
from annotation.queries import whole_scheme
from annotation.queries.codes import CODE
from annotation.scheme import rules
from annotation.scheme.spec import QuestionSpec

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
    for crowd_link, row in _checks([link for link in found if link.checks_each]).values_list("crowdlink", "row"):
        checks[crowd_link].add(row)
    told = []
    for link in found:
        given = [pair for sheet in link.sheets.all() for pair in of_sheet[sheet.pk]]
        counts = [n for row, n in given if row not in checks[link.pk]]
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
        rows = rows.exclude(pk__in=_checks([link]).values("row"))
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


# --- checks -----------------------------------------------------------------------------------------------------------
def _gold() -> QuerySet[Label]:
    """What the gold of any study says, but for what follows from a column by itself."""
    golden = Label.objects.filter(assignment__rater__kind=Rater.Kind.GOLD, preset=False)
    return golden.exclude(assignment__state=Assignment.State.WITHDRAWN).order_by()


def _checks(links: Collection[CrowdLink]) -> QuerySet[Any]:
    """The rows that links give as checks, each with its link: those that it was made with and that still have gold."""
    has_gold = Exists(_gold().filter(assignment__row=OuterRef("row")))
    return CrowdLink.check_rows.through.objects.filter(has_gold, crowdlink__in=links)


def checks_for(link: CrowdLink, rater: Rater | None) -> dict[int, list[int]]:
    """Of each sheet the rows that can be given as checks to `rater`, or to somebody new. One query."""
    found: dict[int, list[int]] = {}
    rows = _open_rows(link, rater).filter(pk__in=_checks([link]).values("row"))
    for sheet, row in rows.values_list("sheet", "pk"):
        found.setdefault(sheet, []).append(row)
    return found


class _GoldColumn:
    """A column that gold may have answered. Many rows have the same answers there: each is looked at once."""

    def __init__(self, pk: int, section: Section, facets: Mapping[str, str]) -> None:
        self.pk = pk
        self._section = section
        self._presets = section.spec.presets(facets)
        self._told: dict[frozenset[tuple[int, str]], tuple[bool, bool]] = {}

    def told(self, answers: Mapping[int, str]) -> tuple[bool, bool]:
        """Whether these answers, {question: code}, leave nothing open, and whether they say something."""
        key = frozenset(answers.items())
        if key not in self._told:
            self._told[key] = self._look(answers)
        return self._told[key]

    def _look(self, answers: Mapping[int, str]) -> tuple[bool, bool]:
        spec, presets = self._section.spec, self._presets
        codes = {key: answers[one.pk] for key, one in self._section.by_key.items() if one.pk in answers}
        left = rules.asked(spec, presets | codes) - presets.keys() - codes.keys()
        own = [(spec.question(key), code) for key, code in codes.items() if presets.get(key) != code]
        return not left, any(not _is_blank(question, code) for question, code in own)


def golden_rows(study: Study, sheets: Collection[Sheet]) -> dict[int, list[int]]:
    """Of each of some sheets the rows that can be checks, withdrawn ones left out: a gold rater has answered all that
    is asked of them, and not only that there is nothing to answer. Three queries."""
    golden = Assignment.objects.filter(
        rater__study=study, rater__kind=Rater.Kind.GOLD, row__sheet__in=sheets, row__withdrawn_at=None
    ).exclude(state=Assignment.State.WITHDRAWN)
    given = {pk: of for pk, *of in golden.order_by("row__position").values_list("pk", "row__sheet", "row")}
    said: dict[int, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))  # assignment: column: question
    labels = Label.objects.filter(assignment__in=golden.order_by()).order_by()
    for assignment, column, question, code in labels.values_list("assignment", "column", "question", CODE):
        said[assignment][column][question] = code
    sections = {section.pk: section for section in whole_scheme(study.scheme).sections.all()}
    columns: dict[int, list[_GoldColumn]] = defaultdict(list)
    of_sheets = Column.objects.filter(sheet__in={sheet for sheet, _row in given.values()}).order_by()
    for sheet, column, section, facets in of_sheets.values_list("sheet", "pk", "section", "facets"):
        columns[sheet].append(_GoldColumn(column, sections[section], facets))
    found: dict[int, list[int]] = {}
    for assignment, (sheet, row) in given.items():
        answers = [column.told(said[assignment].get(column.pk, {})) for column in columns[sheet]]
        if all(is_whole for is_whole, _says in answers) and any(says for _is_whole, says in answers):
            rows = found.setdefault(sheet, [])
            if row not in rows[-1:]:  # of two golds
                rows.append(row)
    return found


def _is_blank(question: QuestionSpec, code: str) -> bool:
    """Whether an answer says that there was nothing to answer."""
    return question.has_options and question.option(code).blank


@dataclass(frozen=True)
class Checked:
    """In how many of the cells of somebody's submitted checks the answer is the gold's. A cell counts where the gold
    says something and they answered, or said that they cannot tell, which is not right."""

    right: int = 0
    cells: int = 0

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Who gave the gold's answers least often comes first, and last those of whom nothing is known."""
        return not self.cells, self.right / max(self.cells, 1), -self.cells


def checked(study: Study, participants: Sequence[Participant]) -> Mapping[int, Checked]:
    """How the checks of each went, {participant: Checked}, by the gold as it is now; of several golds any will do.
    Three queries, none where nobody was given checks."""
    given = {(one.rater_id, row): one.pk for one in participants for row in one.checks}
    found = {one.pk: Checked() for one in participants}
    if not given:
        return found
    rows = {row for _rater, row in given}
    specs = {pk: spec for one in whole_scheme(study.scheme).sections.all() for pk, spec in one.specs.items()}
    golden: dict[tuple[int, int, int], set[str]] = defaultdict(set)
    cell = ("assignment__row", "column", "question")
    for row, column, question, code in _gold().filter(assignment__row__in=rows).values_list(*cell, CODE):
        if not _is_blank(specs[question], code):
            golden[row, column, question].add(answered(specs[question], code).key)
    right, cells = Counter[int](), Counter[int]()
    submitted = {
        "assignment__rater__in": {rater for rater, _row in given},
        "assignment__row__in": rows,
        "assignment__repeat": 1,
        "assignment__state": Assignment.State.SUBMITTED,
    }
    labels = Label.objects.filter(**submitted).order_by()
    for rater, row, column, question, code in labels.values_list("assignment__rater", *cell, CODE):
        if (rater, row) in given and (golds := golden.get((row, column, question))):
            cells[given[rater, row]] += 1
            right[given[rater, row]] += answered(specs[question], code).key in golds
    skips = Skip.objects.filter(**submitted).order_by()
    for rater, row, column, question in skips.values_list("assignment__rater", *cell):
        if (rater, row) in given and (row, column, question) in golden:
            cells[given[rater, row]] += 1
    return found | {pk: Checked(right[pk], n) for pk, n in cells.items()}
