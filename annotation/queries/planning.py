"""What can be given to whom, and what is given. A *seat* is one person's place at a row, for some sections or all."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Count, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Column, Rater, Row, Sheet, Study
from annotation.planning.sampling import Described, RowChoice, Sample, drawn_rows
from annotation.queries.people import rater_ids
from annotation.scheme.spec import facet_word
from base.text import natural

State = Assignment.State


def asks(sections: Collection[str], section: str) -> bool:
    """Whether an assignment of these sections asks one; none named means all."""
    return not sections or section in sections


# The sections of an assignment as text. Nearly all are the same few lists: reading each as JSON was a third of the
# plan's page.
_SECTIONS = Cast("sections", TextField())


@lru_cache(maxsize=1000)
def _sections(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _at_work() -> QuerySet[Assignment]:
    """Work of active people with a login."""
    work = Assignment.objects.filter(rater__kind=Rater.Kind.PERSON, rater__active=True, rater__user__isnull=False)
    return work.exclude(state=State.WITHDRAWN)


def free_rows(
    sheets: Iterable[Sheet], sections: Collection[str] = (), *, among: Collection[int] | None = None
) -> dict[int, list[int]]:
    """Sheet -> its rows that nobody at work has for any of the sections, in their order, for sheets that have any.

    `among`: no other rows. Two queries.
    """
    ids = [sheet.pk for sheet in sheets]
    taken = {
        row_id
        for row_id, text in _at_work().filter(row__sheet__in=ids).order_by().values_list("row_id", _SECTIONS)
        if not (has := _sections(text)) or not sections or set(has) & set(sections)
    }
    rows: dict[int, list[int]] = defaultdict(list)
    of_sheets = Row.objects.filter(sheet__in=ids, withdrawn_at=None, sheet__closed_at=None)
    for sheet_id, pk in of_sheets.order_by("sheet_id", "position").values_list("sheet_id", "pk"):
        if pk not in taken and (among is None or pk in among):
            rows[sheet_id].append(pk)
    return dict(rows)


MOST_WORDS = 300
MOST_OWN_WORDS = 12


def facet_words(rows: QuerySet[Row], facets: Iterable[str]) -> dict[str, list[str]]:
    """By their keys the words of those facets that have several among some rows, "" where a row has none. Not of facets
    with more than `MOST_WORDS`, such as the number of a text: each names a row or two, and nobody chooses among them.
    Nor of those with more than `MOST_OWN_WORDS` of which each names one row alone, such as a list of what it is about.
    One query, where there are facets.
    """
    found: dict[str, list[str]] = {}
    if not (keys := list(facets)):
        return found
    # As text: read whole, since SQLite gives the text "0.50" of a facet as the number that it looks like.
    texts = rows.order_by().annotate(said=Cast("facets", TextField())).values_list("said").annotate(n=Count("pk"))
    said = [(json.loads(text), n) for text, n in texts]
    for facet in keys:
        words: Counter[str] = Counter()
        for each, n in said:
            words[facet_word(each.get(facet, ""))] += n
        is_own = len(words) > MOST_OWN_WORDS and all(n == 1 for word, n in words.items() if word)
        if 1 < len(words) <= MOST_WORDS and not is_own:
            found[facet] = sorted(words, key=natural)
    return found


def _words(facets: Mapping[str, object]) -> dict[str, str]:
    return {name: facet_word(said) for name, said in facets.items()}


def sample(sheets: Iterable[Sheet], choice: RowChoice) -> Sample:
    """The rows of some sheets that a choice draws, of all that can still be labelled, free or not. One query.

    What is drawn does not depend on who has what, so a plan that is asked for again gives nobody anything new, unless
    a row was withdrawn or the choice is larger.
    """
    rows = Row.objects.filter(sheet__in=[sheet.pk for sheet in sheets], withdrawn_at=None, sheet__closed_at=None)
    described = rows.order_by("sheet__position", "position").values_list("pk", "sheet__title", "facets")
    return drawn_rows([Described(pk, title, _words(facets)) for pk, title, facets in described], choice)


class Given(NamedTuple):
    """A seat as it is stored, or as a plan would make it. `began`: started or submitted."""

    row_id: int
    rater_id: int
    sections: tuple[str, ...] = ()
    began: bool = False


@dataclass(frozen=True)
class StudyRows:
    """`sheets`: in their order. `sheet_of`: of every row, in their order in each. `to_label`: rows that can still be
    labelled, neither withdrawn nor of a sheet that is closed."""

    sheets: tuple[int, ...]
    closed: Collection[int]  # sheets
    sheet_of: Mapping[int, int]
    withdrawn: Collection[int]
    to_label: Collection[int]


def study_rows(study: Study) -> StudyRows:
    """Two queries."""
    sheets = dict(study.sheets.order_by("position").values_list("pk", "closed_at"))
    of_study = all_rows(study, sheets).order_by("sheet_id", "position")
    rows = list(of_study.values_list("pk", "sheet_id", "withdrawn_at"))
    sheet_of = {pk: sheet_id for pk, sheet_id, _at in rows}
    withdrawn = {pk for pk, _sheet_id, at in rows if at is not None}
    closed = {pk for pk, at in sheets.items() if at is not None}
    to_label = sheet_of.keys() - withdrawn
    if closed:
        to_label = {pk for pk in to_label if sheet_of[pk] not in closed}
    return StudyRows(tuple(sheets), closed, sheet_of, withdrawn, to_label)


def all_rows(study: Study, sheets: Collection[int]) -> QuerySet[Row]:
    """The rows of a study, of which these are all sheets."""
    # The first and the last sheet tell PostgreSQL how many rows there are: of the study alone it takes each sheet to
    # have as many as sheets have on average, and reads the whole table for a small study beside a large one.
    first, last = min(sheets, default=0), max(sheets, default=0)
    return Row.objects.filter(sheet__study=study, sheet__gte=first, sheet__lte=last)


@dataclass(frozen=True)
class SheetToPlan:
    """`rows`: that can still be labelled; `free`: of which at least one section has nobody at work."""

    rows: int
    free: int


@dataclass(frozen=True)
class WorkGiven:
    """What people have of a study: all that its plan's page counts, read once.

    `seats`: live ones, those of simulated people and of those who left included. `any_lost`: whether any were withdrawn
    and handed on to nobody. `sheets`: those with rows that can still be labelled, in their order.
    """

    rows: StudyRows
    seats: list[Given]
    any_lost: bool
    sheets: Mapping[int, SheetToPlan]


def seats(study: Study) -> list[Given]:
    """The live seats of all people, simulated ones and those who left included. Two queries."""
    given = Assignment.objects.filter(rater__in=rater_ids(study, Rater.Kind.PERSON), repeat=1).order_by()
    return [
        Given(row_id, rater_id, _sections(text), state != State.OPEN)
        for row_id, rater_id, text, state in given.exclude(state=State.WITHDRAWN).values_list(
            "row_id", "rater_id", _SECTIONS, "state"
        )
    ]


def work_given(study: Study) -> WorkGiven:
    """Four queries."""
    people: dict[int, bool] = {  # whether they are at work
        pk: active and user_id is not None
        for pk, active, user_id in study.raters.people().order_by().values_list("pk", "active", "user_id")
    }
    once: list[Given] = []
    again: list[Given] = []
    any_lost = False
    is_open, is_withdrawn = State.OPEN.value, State.WITHDRAWN.value  # looked up once: there are as many as seats
    given = Assignment.objects.filter(rater__in=list(people), handed_to=None).order_by()
    for row_id, rater_id, text, state, repeat in given.values_list("row_id", "rater_id", _SECTIONS, "state", "repeat"):
        if state == is_withdrawn:
            any_lost |= repeat == 1
        else:
            (once if repeat == 1 else again).append(Given(row_id, rater_id, _sections(text), state != is_open))
    rows = study_rows(study)
    every = {section.key for section in study.scheme.parsed.sections}
    covered = _covered((seat for seat in itertools.chain(once, again) if people[seat.rater_id]), every)
    n_rows = Counter(map(rows.sheet_of.__getitem__, rows.to_label))
    n_covered = Counter(map(rows.sheet_of.__getitem__, covered.intersection(rows.to_label)))
    sheets = {pk: SheetToPlan(n, n - n_covered[pk]) for pk in rows.sheets if (n := n_rows[pk])}
    return WorkGiven(rows, once, any_lost, sheets)


def _covered(seats: Iterable[Given], every: Collection[str]) -> set[int]:
    """Rows of which some seats have all the sections."""
    covered: set[int] = set()
    of_some: dict[int, set[str]] = defaultdict(set)
    for row_id, _rater_id, sections, _began in seats:
        if sections:
            of_some[row_id].update(sections)
        else:
            covered.add(row_id)
    return covered.union(row_id for row_id, has in of_some.items() if has.issuperset(every))


def rows_of_judges(study: Study, sections: Collection[str] = ()) -> dict[str, set[int]]:
    """Code -> the rows that the judge has for all of the sections, done or not; withdrawn rows are left out. One query.

    Looking up a judge that has none gives an empty set.
    """
    rows: dict[str, set[int]] = defaultdict(set)
    for code, row_id, text in _of_judges(study).values_list("rater__code", "row_id", _SECTIONS):
        if all(asks(_sections(text), section) for section in sections):
            rows[code].add(row_id)
    return rows


def given_to_judges(study: Study) -> list[tuple[str, tuple[str, ...], int]]:
    """(code, sections, rows that the judge has for them), added up by the database; as `rows_of_judges`. One query."""
    given = _of_judges(study).order_by().values_list("rater__code", _SECTIONS).annotate(n=Count("pk"))
    return [(code, _sections(text), n) for code, text, n in given]


def _of_judges(study: Study) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        rater__study=study, rater__kind=Rater.Kind.JUDGE, row__withdrawn_at=None, row__sheet__closed_at=None, repeat=1
    ).exclude(state=State.WITHDRAWN)


def columns_by_section(study: Study) -> Counter[tuple[int, str]]:
    """(sheet, section key) -> how many columns. One query."""
    of_sheets = Column.objects.filter(sheet__study=study)
    return Counter(of_sheets.order_by().values_list("sheet_id", "section__key"))


def seats_after(standing: Iterable[Given], new: Iterable[Given]) -> list[Given]:
    """The seats once new ones are given: one seat for each rater at a row, which asks the sections of both."""
    found = {(seat.row_id, seat.rater_id): seat for seat in standing}
    for seat in new:
        place = seat.row_id, seat.rater_id
        if (had := found.get(place)) is None:
            found[place] = seat
        else:
            asked = tuple(sorted({*had.sections, *seat.sections})) if had.sections and seat.sections else ()
            found[place] = had._replace(sections=asked)
    return list(found.values())


def unfinished(study: Study, users: Collection[int | None]) -> dict[int, int]:
    """User -> how many assignments removing them from the study withdraws, of these users. One query."""
    counts = Assignment.objects.filter(rater__study=study, rater__user__in=users, state__in=[State.OPEN, State.STARTED])
    return dict(counts.values_list("rater__user").annotate(n=Count("pk")).order_by())


def rows_to_label(sheets: Iterable[Sheet]) -> list[int]:
    """The rows of some sheets that can still be labelled, in their order. One query."""
    rows = Row.objects.filter(sheet__in=[sheet.pk for sheet in sheets], withdrawn_at=None, sheet__closed_at=None)
    return list(rows.order_by("sheet__position", "position").values_list("pk", flat=True))
