"""The history of a sheet's labels, and what restoring a moment of it would change. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TypeAlias

from django.db.models import Count, Max, QuerySet

from annotation.answers import entries_of_code
from annotation.models import Assignment, Column, Label, LabelEvent, Question, Rater, Sheet, Skip, User
from annotation.plain_sql import Shape, Statement
from annotation.queries.arriving import arriving
from annotation.scheme.spec import OptionSpec

CellKey: TypeAlias = tuple[int, int, int]  # assignment, column, question


@dataclass(frozen=True)
class Step:
    """One line of the history, with the options as they are drawn and the values as small lists."""

    event: LabelEvent
    before: OptionSpec | None
    after: OptionSpec | None
    entries_before: Sequence[str] = ()
    entries_after: Sequence[str] = ()

    @property
    def is_same(self) -> bool:
        """Whether what stood there was said again, perhaps with another note."""
        event = self.event
        return (event.before_id, event.value_before, event.skip_before) == (
            event.after_id,
            event.value_after,
            event.skip_after,
        )


def events(sheet: Sheet) -> QuerySet[LabelEvent]:
    """The history of a sheet, the last change first."""
    return (
        LabelEvent.objects.filter(assignment__row__sheet=sheet)
        .exclude(arriving("assignment"))
        .select_related("assignment__rater", "assignment__row", "column", "question__section")
        .select_related("before", "after", "by", "drafted_from")
        .defer("assignment__row__evidence")
        .order_by("-pk")
    )


def steps(sheet: Sheet, of: Iterable[LabelEvent]) -> list[Step]:
    questions = {
        (section.key, question.key): question
        for section in sheet.study.scheme.parsed.sections
        for question in section.questions
    }
    steps = []
    for event in of:
        spec = questions[event.question.section.key, event.question.key]
        before, after = event.before, event.after
        steps.append(
            Step(
                event,
                spec.option(before.key) if before else None,
                spec.option(after.key) if after else None,
                entries_of_code(spec, code) if (code := event.code_before) else (),
                entries_of_code(spec, code) if (code := event.code_after) else (),
            )
        )
    return steps


# --- restoring ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A cell that is not now as it was `then`: an event, or None where there was nothing yet. `given_at`: when what
    stood there was given, which may have been chosen again since without a change."""

    assignment: Assignment
    column: Column
    question: Question
    now: Label | Skip | None
    then: LabelEvent | None
    given_at: datetime | None = None

    @property
    def is_submitted(self) -> bool:
        return self.assignment.state == Assignment.State.SUBMITTED

    def __str__(self) -> str:
        """What it is about and what changes, for a digest."""
        now: object = self.now.reason if isinstance(self.now, Skip) else None
        if isinstance(self.now, Label):
            now = self.now.option_id if self.now.value is None else self.now.code
        then = self.then.pk if self.then else None
        submitted = self.is_submitted
        return f"{self.assignment.pk} {self.column.pk} {self.question.pk} {submitted} {now!r} {then!r}"


def changes(sheet: Sheet, *, to: datetime, rater: Rater | None = None) -> list[Change]:
    """What differs from how people's labels of a sheet were at a moment, row by row. Five queries.

    Withdrawn work is left out, and so are judges, whose labels are made again by a run, and the gold, whose decisions
    are withdrawn one by one.
    """
    work = Assignment.objects.filter(row__sheet=sheet, rater__kind=Rater.Kind.PERSON).exclude(
        state=Assignment.State.WITHDRAWN
    )
    if rater is not None:
        work = work.filter(rater=rater)
    since = LabelEvent.objects.filter(assignment__in=work, at__gt=to)
    touched = set(since.order_by().values_list("assignment_id", "column_id", "question_id").distinct())
    assignments = {
        assignment.pk: assignment
        for assignment in work.filter(pk__in={cell[0] for cell in touched})
        .select_related("rater", "row")
        .defer("row__evidence")
    }
    before = LabelEvent.objects.filter(assignment__in=assignments, at__lte=to).order_by("pk")
    then: dict[CellKey, LabelEvent] = {}  # the last of each cell
    given_at: dict[CellKey, datetime] = {}
    for event in before.select_related("after"):
        if (cell := _cell(event)) in touched:
            last = then.get(cell)
            if last is None or last.code_after != event.code_after:
                given_at[cell] = event.at
            then[cell] = event
    now: dict[CellKey, Label | Skip] = {
        _cell(label): label for label in Label.objects.filter(assignment__in=assignments).select_related("option")
    }
    now |= {_cell(skip): skip for skip in Skip.objects.filter(assignment__in=assignments)}
    columns = sheet.columns.in_bulk()
    questions = Question.objects.select_related("section").in_bulk({cell[2] for cell in touched})
    found = [
        Change(
            assignments[cell[0]],
            columns[cell[1]],
            questions[cell[2]],
            now.get(cell),
            then.get(cell),
            given_at.get(cell),
        )
        for cell in touched
        if not _is_same(now.get(cell), then.get(cell))
    ]
    return sorted(
        found,
        key=lambda change: (
            change.assignment.rater.code,
            change.assignment.row.position,
            change.assignment.repeat,
            change.column.section_id,
            change.column.position,
            change.question.position,
        ),
    )


@dataclass(frozen=True)
class OfRater:
    """What restoring changes of one rater's. `rows`: their pieces of work in which `cells` change; `left`: cells that
    stay as they are, since their rows are submitted."""

    rater: Rater
    rows: int
    cells: int
    left: int


@dataclass(frozen=True)
class Preview:
    """What restoring would do. `left`: cells that stay as they are; `taken_back`: rows that are submitted no more."""

    done: Sequence[Change]
    left: int
    taken_back: int
    raters: Sequence[OfRater]


def preview(changes: Iterable[Change], *, submitted: bool) -> Preview:
    """Of what differs: what is done, in rows that are `submitted` as well or not."""
    done: list[Change] = []
    cells, left, rows = Counter[Rater](), Counter[Rater](), Counter[Rater]()
    for change in changes:
        if submitted or not change.is_submitted:
            done.append(change)
            cells[change.assignment.rater] += 1
        else:
            left[change.assignment.rater] += 1
    for rater in {change.assignment.pk: change.assignment.rater for change in done}.values():
        rows[rater] += 1
    return Preview(
        done=done,
        left=left.total(),
        taken_back=len({change.assignment.pk for change in done if change.is_submitted}),
        raters=[
            OfRater(rater, rows[rater], cells[rater], left[rater])
            for rater in sorted({*cells, *left}, key=attrgetter("code"))
        ],
    )


def to_come(change: Change) -> LabelEvent:
    """A change as an event of the history that is still to come."""
    then, now = change.then, change.now
    return LabelEvent(
        assignment=change.assignment,
        column=change.column,
        question=change.question,
        before=getattr(now, "option", None),
        after=then.after if then else None,
        value_before=getattr(now, "value", None),
        value_after=then.value_after if then else None,
        skip_before=getattr(now, "reason", ""),
        skip_after=then.skip_after if then else "",
        note=then.note if then else "",
    )


def restorable(sheet: Sheet) -> QuerySet[Rater]:
    """The people whose labels of a sheet can be restored."""
    return sheet.study.raters.people().filter(assignments__row__sheet=sheet).distinct().order_by("code")


@dataclass(frozen=True)
class Restored:
    """A restore as its rater is told of it; `cells` are those of this rater."""

    key: str
    sheet_id: int
    sheet: str
    to: datetime
    by: str
    at: datetime
    cells: int


def last_restores(user: User, *, sheet: Sheet | None = None) -> list[Restored]:
    """Of each sheet, or of one, the last restore by somebody else that changed the user's labels.

    One query where there was none, which is nearly always; two where there was.
    """
    if not any(_restored(user.pk, user.pk)):
        return []
    events = LabelEvent.objects.filter(assignment__in=Assignment.objects.of_user(user), restored_to__isnull=False)
    if sheet is not None:
        events = events.filter(assignment__row__sheet=sheet)
    found = (
        events.exclude(by=user)
        .order_by()
        .values_list("key", "assignment__row__sheet", "assignment__row__sheet__title", "restored_to", "by__username")
        .annotate(last=Max("at"), cells=Count("pk"))
        .order_by("last")
    )
    return list({sheet_id: Restored(str(key), sheet_id, *rest) for key, sheet_id, *rest in found}.values())


# Whether anything of somebody's was ever restored by somebody else: each visit to a sheet asks it.
_restored = Statement(
    "SELECT 1 FROM {event.table} JOIN {assignment.table} ON {assignment.id} = {event.assignment}"
    " JOIN {rater.table} ON {rater.id} = {assignment.rater}"
    " WHERE {rater.user} = %s AND {event.restored_to} IS NOT NULL "
    " AND ({event.by} IS NULL OR {event.by} <> %s) LIMIT 1",
    event=Shape(LabelEvent),
    assignment=Shape(Assignment),
    rater=Shape(Rater),
)


def n_withdrawn(sheet: Sheet, *, to: datetime, rater: Rater | None = None) -> int:
    """How many cells of withdrawn work were touched since a moment, which restoring leaves as they are. One query."""
    since = LabelEvent.objects.filter(
        assignment__row__sheet=sheet,
        assignment__rater__kind=Rater.Kind.PERSON,
        assignment__state=Assignment.State.WITHDRAWN,
        at__gt=to,
    ).exclude(arriving("assignment"))
    if rater is not None:
        since = since.filter(assignment__rater=rater)
    return since.order_by().values("assignment_id", "column_id", "question_id").distinct().count()


def _cell(of: Label | Skip | LabelEvent) -> CellKey:
    return of.assignment_id, of.column_id, of.question_id


def _is_same(now: Label | Skip | None, then: LabelEvent | None) -> bool:
    if isinstance(now, Label):
        return then is not None and (now.option_id, now.value, now.note, now.is_draft) == (
            then.after_id,
            then.value_after,
            then.note,
            then.drafted_from_id is not None and then.confirmed_at is None,
        )
    was = (None, None, "") if then is None else (then.after_id, then.value_after, then.skip_after)
    return was == (None, None, now.reason if now else "")
