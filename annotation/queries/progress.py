"""How far people are, and how long they were at work."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.answers.codes import SKIP
from annotation.models import (
    Assignment,
    Column,
    Label,
    Note,
    Rater,
    Row,
    Sheet,
    Sitting,
    Skip,
    Study,
    User,
)
from annotation.queries.arriving import arriving
from annotation.queries.codes import CODE
from annotation.scheme import rules

# What a person has labelled: no draft of somebody else's, nor what came with it, which a label of one's own has too.
_OWN = Q(preset=False) & (Q(drafted_from=None) | Q(confirmed_at__isnull=False))


@dataclass(frozen=True)
class SheetProgress:
    """How far a person is with a sheet. `cells` are those asked of them so far, `left` those of them still open;
    `untouched` rows nobody has looked at, which owe nothing where all of their questions are optional."""

    sheet: Sheet
    rows: int
    submitted: int
    started: int
    untouched: int
    labels: int
    cells: int
    left: int
    seconds: int  # of active work
    touched_at: datetime | None
    new_answers: tuple[Note, ...]  # to what the person asked, not read yet
    waiting: int  # questions that nobody has answered yet


def my_sheets(user: User) -> list[SheetProgress]:
    """The sheets on which `user` has work, by study and position. Nine queries."""
    assignments = Assignment.objects.of_user(user)
    mine: dict[int, list[Assignment]] = defaultdict(list)
    counted = ("state", "sections", "active_seconds", "started_at", "row__sheet")
    for assignment in assignments.order_by().select_related("row").only(*counted):
        mine[assignment.row.sheet_id].append(assignment)
    sheets = list(
        Sheet.objects.filter(pk__in=mine, archived_at=None, study__archived_at=None).order_by(
            "study__title", "position"
        )
    )
    # One object a study, so that its scheme is read and checked once, however many sheets it has.
    studies = Study.objects.select_related("scheme").in_bulk({sheet.study_id for sheet in sheets})
    for sheet in sheets:
        sheet.study = studies[sheet.study_id]
    labels = {
        sheet_id: (n, last)
        for sheet_id, n, last in Label.objects.filter(assignment__in=assignments)
        .values_list("assignment__row__sheet")
        .annotate(n=Count("pk"), last=Max("updated_at", filter=_OWN))
        .order_by()
    }
    beats = dict(
        Sitting.objects.filter(assignment__in=assignments)
        .values_list("assignment__row__sheet")
        .annotate(last=Max("beat_at"))
        .order_by()
    )
    notes: dict[int, list[Note]] = defaultdict(list)
    for note in Note.objects.filter(assignment__in=assignments, read_at=None).select_related("column"):
        notes[note.column.sheet_id].append(note)
    counts = _cells_and_left(sheets, mine)
    return [
        SheetProgress(
            sheet=sheet,
            rows=len(mine[sheet.pk]),
            submitted=sum(a.state == Assignment.State.SUBMITTED for a in mine[sheet.pk]),
            started=sum(a.state == Assignment.State.STARTED and a.started_at is not None for a in mine[sheet.pk]),
            untouched=sum(a.state == Assignment.State.OPEN for a in mine[sheet.pk]),
            labels=labels.get(sheet.pk, (0, None))[0],
            cells=counts[sheet.pk][0],
            left=counts[sheet.pk][1],
            seconds=sum(a.active_seconds for a in mine[sheet.pk]),
            touched_at=max(
                (at for at in (labels.get(sheet.pk, (0, None))[1], beats.get(sheet.pk)) if at is not None), default=None
            ),
            new_answers=tuple(note for note in notes[sheet.pk] if note.answered_at is not None),
            waiting=sum(note.answered_at is None for note in notes[sheet.pk]),
        )
        for sheet in sheets
    ]


def _cells_and_left(sheets: Sequence[Sheet], mine: dict[int, list[Assignment]]) -> dict[int, tuple[int, int]]:
    """Sheet -> the cells that its assignments owe, and those of them that are open. Three queries.

    Only what was touched is looked at cell by cell: an untouched column asks what it asks of an empty one.
    """
    n_columns: dict[int, list[tuple[str, int]]] = defaultdict(list)
    counted = Column.objects.filter(sheet__in=sheets).values_list("sheet", "section__key").annotate(n=Count("pk"))
    for sheet_id, section, n in counted.order_by():
        n_columns[sheet_id].append((section, n))
    # {assignment: {(column, section): {question: code}}}
    touched: dict[int, dict[tuple[int, str], dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    cell = ("assignment_id", "column_id", "column__section__key", "question__key")
    at_work = [a.pk for of_sheet in mine.values() for a in of_sheet if a.state != Assignment.State.OPEN]
    labels, skips = Label.objects.filter(assignment__in=at_work), Skip.objects.filter(assignment__in=at_work)
    for assignment_id, column_id, section, question, code in labels.order_by().values_list(*cell, CODE):
        touched[assignment_id][column_id, section][question] = code
    for assignment_id, column_id, section, question in skips.order_by().values_list(*cell):
        touched[assignment_id][column_id, section][question] = SKIP
    counts: dict[int, tuple[int, int]] = {}
    for sheet in sheets:
        specs = {section.key: section for section in sheet.study.scheme.parsed.sections}
        untouched = {key: len(rules.owed(spec, {})) for key, spec in specs.items()}
        cells = left = 0
        for assignment in mine[sheet.pk]:
            asked = sum(n * untouched[key] for key, n in n_columns[sheet.pk] if assignment.asks_key(key))
            done = 0
            for (_column, key), answers in touched[assignment.pk].items():
                asks = rules.owed(specs[key], answers)
                asked += len(asks) - untouched[key]
                done += len(asks & answers.keys())
            cells += asked
            left += asked - done
        counts[sheet.pk] = (cells, left)
    return counts


@dataclass(frozen=True)
class NextSheet:
    pk: int
    title: str
    n_left: int  # of its rows, those that are not submitted


def next_sheet(user: User, after: Sheet) -> NextSheet | None:
    """The sheet on which `user` goes on: of the same study those after it, then those before it, then of other studies.
    One query."""
    open_work = Assignment.objects.of_user(user).exclude(state=Assignment.State.SUBMITTED)
    of_sheets = open_work.filter(row__sheet__closed_at=None).exclude(row__sheet=after).order_by()
    place = [f"row__sheet__{name}" for name in ("study", "position", "study__title", "pk", "title")]
    found = sorted(
        of_sheets.values_list(*place).annotate(n=Count("pk")),
        key=lambda one: (
            one[0] != after.study_id,
            one[0] == after.study_id and one[1] < after.position,
            one[2],
            one[1],
        ),
    )
    return NextSheet(pk=found[0][3], title=found[0][4], n_left=found[0][5]) if found else None


@dataclass(frozen=True)
class RaterProgress:
    rater: Rater
    rows: int
    submitted: int
    failed: int
    labels: int


def rater_progress(study: Study) -> list[RaterProgress]:
    """How far each rater is, people first. Three queries."""
    raters = list(study.raters.order_by("-kind", "code"))
    mine = [rater.pk for rater in raters]
    labels = dict(
        Label.objects.filter(assignment__rater__in=mine)
        .exclude(arriving("assignment"))
        .values_list("assignment__rater")
        .annotate(n=Count("pk"))
        .order_by()
    )
    states: dict[int, Counter[str]] = defaultdict(Counter)
    given = Assignment.objects.filter(rater__in=mine).exclude(state=Assignment.State.WITHDRAWN)
    counted = given.values_list("rater", "state").annotate(n=Count("pk"))
    for rater_id, state, n in counted.order_by():
        states[rater_id][state] = n
    return [
        RaterProgress(
            rater=rater,
            rows=states[rater.pk].total(),
            submitted=states[rater.pk][Assignment.State.SUBMITTED],
            failed=states[rater.pk][Assignment.State.FAILED],
            labels=labels.get(rater.pk, 0),
        )
        for rater in raters
    ]


@dataclass(frozen=True)
class RaterTime:
    """A person's active time, in seconds, by sheet in the order of the sheets, and what it is paid."""

    rater: Rater
    by_sheet: tuple[int, ...]
    seconds: int
    rows: int  # on which any time was spent
    pay: Decimal | None

    @property
    def seconds_a_row(self) -> float:
        return self.seconds / self.rows


@dataclass(frozen=True)
class ActiveTime:
    """The active time of a study's people: `by_sheet` and `seconds` are sums over the raters."""

    sheets: tuple[Sheet, ...]
    raters: tuple[RaterTime, ...]
    by_sheet: tuple[int, ...]
    seconds: int
    pay: Decimal | None

    @property
    def seconds_a_row(self) -> float:
        return self.seconds / sum(time.rows for time in self.raters)


def active_time(study: Study) -> ActiveTime:
    """How long whom was at work on which sheet; withdrawn work counts, since it was done. Three queries."""
    sheets = tuple(study.sheets.order_by("position"))
    spent: dict[tuple[int, int], int] = {}
    rows: Counter[int] = Counter()
    timed = Assignment.objects.filter(rater__study=study, active_seconds__gt=0).values_list("rater", "row__sheet")
    for rater_id, sheet_id, seconds, n in timed.annotate(s=Sum("active_seconds"), n=Count("pk")).order_by():
        spent[rater_id, sheet_id] = seconds
        rows[rater_id] += n

    def pay(seconds: int) -> Decimal | None:
        if study.hourly_rate is None:
            return None
        return (study.hourly_rate * seconds / 3600).quantize(Decimal("0.01"))

    raters = []
    for rater in study.raters.people().filter(pk__in=rows).order_by("code"):
        by_sheet = tuple(spent.get((rater.pk, sheet.pk), 0) for sheet in sheets)
        raters.append(RaterTime(rater, by_sheet, sum(by_sheet), rows[rater.pk], pay(sum(by_sheet))))
    sums = tuple(sum(time.by_sheet[i] for time in raters) for i in range(len(sheets)))
    return ActiveTime(sheets, tuple(raters), sums, sum(sums), pay(sum(sums)))


def sheets_with_counts(study: Study) -> QuerySet[Sheet]:
    """Sheets with `n_rows` (not withdrawn), `n_columns`, `n_people` (assigned) and `n_unsubmitted` (their work). One
    query."""

    # Each is asked of one sheet: counted over a join, the page of 50 sheets would count those of all 2,000.
    def counted(found: QuerySet[Any], of: str, what: Count) -> Coalesce:
        of_sheet = found.filter(**{of: OuterRef("pk")}).order_by().values(of).annotate(n=what)
        return Coalesce(Subquery(of_sheet.values("n")), 0)

    of_people = Assignment.objects.filter(rater__kind=Rater.Kind.PERSON)
    given = of_people.exclude(state=Assignment.State.WITHDRAWN)
    left = of_people.filter(state__in=[Assignment.State.OPEN, Assignment.State.STARTED])
    return study.sheets.annotate(
        n_people=counted(given, "row__sheet", Count("rater", distinct=True)),
        n_unsubmitted=counted(left, "row__sheet", Count("pk")),
        n_rows=counted(Row.objects.filter(withdrawn_at=None), "sheet", Count("pk")),
        n_columns=counted(Column.objects.all(), "sheet", Count("pk")),
    ).order_by("position")
