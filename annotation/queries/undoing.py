"""What would go along if something were taken away, and what was built on it by now."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib.admin.utils import NestedObjects
from django.db.models import (
    CASCADE,
    PROTECT,
    Count,
    Exists,
    ForeignKey,
    ManyToOneRel,
    Model,
    OuterRef,
    Q,
    QuerySet,
)
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import doors
from annotation.models import (
    Assignment,
    Column,
    Decision,
    Label,
    LabelEvent,
    Note,
    PastSubmission,
    Plan,
    Rater,
    Row,
    Sheet,
    Sitting,
    Skip,
    Study,
    User,
)
from annotation.queries.codes import CODE
from work import kinds
from work.models import Run
from work.queries import with_makers

NAMES: dict[type[Model], Promise] = {
    Sheet: _("sheets"),
    Rater: _("raters"),
    Row: _("rows"),
    Column: _("columns"),
    Assignment: _("assignments"),
    Label: _("labels"),
    LabelEvent: _("changes of labels"),
    Skip: _("skipped cells"),
    Note: _("questions to the manager"),
    Decision: _("decisions"),
    Sitting: _("times at work"),
    PastSubmission: _("submissions that were taken back"),
}


def _name(model: type[Model]) -> str:
    return str(NAMES.get(model, model._meta.verbose_name_plural))


@dataclass(frozen=True)
class Along:
    """`goes`: (what, how many) of each kind that would be gone too; `built`: the same of what people, judges and
    decisions have made of it. Nothing is deleted that has any of these."""

    goes: tuple[tuple[str, int], ...]
    built: tuple[tuple[str, int], ...]

    @property
    def may_go(self) -> bool:
        return not self.built


def along(roots: Iterable[Model]) -> Along:
    """What the database would delete with `roots`. Everything that hangs on somebody's work counts as built on it."""
    roots = list(roots)
    collector = NestedObjects(using="default")
    collector.collect(roots)
    goes: Counter[str] = Counter()
    built: Counter[str] = Counter()
    found = cast("dict[type[Model], set[Any]]", collector.model_objs)  # its types say that the keys are names
    for model, objects in found.items():
        if model._meta.auto_created:  # what ties two of these together, such as a sheet to a link for a crowd
            continue
        if model is Assignment:
            begun = sum(one.state not in (Assignment.State.OPEN, Assignment.State.WITHDRAWN) for one in objects)
            if begun:
                built[_name(model)] += begun
        if _hangs_on_work(model):
            built[_name(model)] += len(objects)
        else:
            goes[_name(model)] += len(objects)
    for root in roots:
        goes[_name(type(root))] -= 1
    return Along(*(tuple((name, n) for name, n in sorted(counts.items()) if n) for counts in (goes, built)))


def _hangs_on_work(model: type[Model]) -> bool:
    """It is deleted with an assignment: a label, a note, an item of a judge's run."""
    keys = [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return any(key.related_model is Assignment and key.remote_field.on_delete is CASCADE for key in keys)


def of_sheet(sheet: Sheet) -> Along:
    """The same of a sheet. One that has labels is only counted: it may have millions."""
    events = LabelEvent.objects.filter(assignment__row__sheet=sheet)
    if not events.exists():
        return along([sheet])
    labels = Label.objects.filter(assignment__row__sheet=sheet).count()
    decisions = Decision.objects.filter(assignment__row__sheet=sheet).count()
    counts = ((Label, labels), (Decision, decisions), (LabelEvent, events.count()))
    return Along((), tuple((_name(model), n) for model, n in counts if n))


@dataclass(frozen=True)
class StudyAlong:
    """What stands between a study and its end, each as (what, how many).

    Attributes:
        goes: what would be gone with it.
        built: what people and judges have made of it; with any, an owner of the installation alone deletes it.
        frozen: what is never changed, and stays with its study; with any, nobody does.
        runs: what is at work in it.
    """

    goes: tuple[tuple[str, int], ...]
    built: tuple[tuple[str, int], ...]
    frozen: tuple[tuple[str, int], ...]
    runs: tuple[Run, ...]

    def may_go(self, user: User) -> bool:
        """Whether `user`, who manages the study, may delete it now."""
        return not self.frozen and not self.runs and (not self.built or user.is_superuser)


def of_study(study: Study) -> StudyAlong:
    """The same of a study, counted: it may have millions of labels. A query for each thing that is named."""
    things = _counted(
        (Sheet, study.sheets.count()),
        (Row, Row.objects.filter(sheet__study=study).count()),
        (Column, Column.objects.filter(sheet__study=study).count()),
        (Rater, study.raters.count()),
    )
    work = _counted(
        (Label, Label.objects.filter(column__sheet__study=study).count()),
        (LabelEvent, LabelEvent.objects.filter(column__sheet__study=study).count()),
        (Skip, Skip.objects.filter(column__sheet__study=study).count()),
        (Decision, Decision.objects.filter(column__sheet__study=study).count()),
        (Note, Note.objects.filter(column__sheet__study=study).count()),
    )
    frozen = _counted(*((model, model._default_manager.filter(study=study).count()) for model in _holding_a_study()))
    return StudyAlong(things, work, frozen, tuple(runs_of(study)))


def _counted(*counts: tuple[type[Model], int]) -> tuple[tuple[str, int], ...]:
    return tuple((_name(model), n) for model, n in counts if n)


def _holding_a_study() -> list[type[Model]]:
    """What the floors above keep for good: it holds its study."""
    relations = [one for one in Study._meta.related_objects if isinstance(one, ManyToOneRel)]
    return [one.related_model for one in relations if one.on_delete is PROTECT]


def runs_of(study: Study) -> list[Run]:
    """What is at work in a study. A query for each kind of work."""
    of_studies = [kind.run for kind in kinds.every() if kind.awaited]
    tables = [run for run in of_studies if any(field.name == "study" for field in run._meta.fields)]
    mine: dict[str, Any] = {"study": study, "state": Run.State.RUNNING}
    return [run for table in tables for run in with_makers(table._default_manager.filter(**mine))]


@dataclass(frozen=True)
class AppliedPlan:
    """A plan as it was applied. `n`: assignments that are still its own; `goes_with`: what else is taken back."""

    plan: Plan
    n: int
    may_undo: bool
    goes_with: Sequence[str] = ()


def applied_plans(plans: Sequence[Plan]) -> list[AppliedPlan]:
    """Some plans as they were applied. Two queries, and one of each floor above, however many plans."""
    of_plans = Assignment.objects.filter(plan__in=plans).order_by().values_list("plan")
    counts = {pk: (n, begun) for pk, n, begun in of_plans.annotate(n=Count("pk"), begun=Count("pk", filter=_begun()))}
    unbegun = [
        plan.pk
        for plan in plans
        if not plan.request.get("extended", 1) and plan.pk in counts and not counts[plan.pk][1]
    ]
    built_on = set(of_plans.filter(_has_something(), plan__in=unbegun).values_list("plan", flat=True).distinct())
    undoable = set(unbegun) - built_on
    goes_with = doors.goes_with(undoable) if undoable else {}
    return [
        AppliedPlan(plan, counts.get(plan.pk, (0, 0))[0], plan.pk in undoable, goes_with.get(plan.pk, ()))
        for plan in plans
    ]


def may_undo(plan: Plan) -> bool:
    """Whether nobody has begun what a plan gave, or has got it from whom it was given to; and it added to nobody's
    earlier work."""
    [applied] = applied_plans([plan])
    return applied.may_undo


def _begun() -> Q:
    """Of a plan's assignments: begun, or handed on. What was taken back since, with its row, its sheet or its person,
    was not."""
    taken_back = Q(state=Assignment.State.WITHDRAWN, handed_to=None, started_at=None)
    return ~(Q(state=Assignment.State.OPEN) | taken_back)


def _has_something() -> Q:
    """Of assignments: that anything hangs on them, as `along` would count it. Asked of the database, since a plan may
    have ten thousand of them and its page asks it of several plans."""
    relations = [one for one in Assignment._meta.related_objects if isinstance(one, ManyToOneRel)]
    found = Q()
    for one in relations:
        if one.on_delete is CASCADE:
            of_it = {one.field.name: OuterRef("pk")}
            found |= Q(Exists(one.related_model._default_manager.filter(**of_it)))
    return found


def accepted(sheet: Sheet) -> list[tuple[str, list[Decision]]]:
    """What was accepted at once on a sheet, the latest first: (its number, decisions that still stand). Two queries.

    A decision stands while it is the last one of its cell and the gold says so: a rule may have cleared it since, or an
    import put another answer in its place.
    """
    latest: dict[tuple[int, int, int], Decision] = {}
    of_sheet = Decision.objects.filter(assignment__row__sheet=sheet).select_related("by").order_by("-pk")
    for decision in of_sheet:
        latest.setdefault((decision.assignment_id, decision.column_id, decision.question_id), decision)
    gold = Label.objects.filter(assignment__in={cell[0] for cell in latest}).order_by()
    now = {tuple(cell): code for *cell, code in gold.values_list("assignment_id", "column_id", "question_id", CODE)}
    batches: dict[str, list[Decision]] = {}
    for cell, decision in latest.items():
        if decision.batch is not None and decision.code and now.get(cell) == decision.code:
            batches.setdefault(str(decision.batch), []).append(decision)
    return list(batches.items())


# --- gold of an import ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoldImport:
    """What one import said of the gold. `n`: answers; `as_they_came`: those that nobody has touched since."""

    key: uuid.UUID
    at: datetime
    n: int
    as_they_came: int
    sheets: tuple[str, ...]


def _imported_gold(study: Study) -> QuerySet[LabelEvent]:
    """What people decide has their name in the history; what a file says has none."""
    golden = LabelEvent.objects.filter(assignment__rater__study=study, assignment__rater__kind=Rater.Kind.GOLD, by=None)
    return golden.exclude(assignment__state=Assignment.State.WITHDRAWN).order_by()


def has_imported_gold(study: Study, key: uuid.UUID | None = None) -> bool:
    """From any import, or from that of `key`. One query."""
    gold = _imported_gold(study)
    return (gold if key is None else gold.filter(key=key)).exists()


def gold_imports(study: Study) -> list[GoldImport]:
    """The latest first. Two queries, of which one reads the history of the gold: for each change of a cell whether
    another one followed is a question that databases are slow to answer."""
    mine = set(_imported_gold(study).values_list("key", flat=True).distinct())
    golden = Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.GOLD)
    events = LabelEvent.objects.filter(assignment__in=golden.exclude(state=Assignment.State.WITHDRAWN)).order_by("pk")
    told = events.values_list(
        *("key", "at", "assignment__row__sheet__title", "preset", "after", "value_after"),
        *("assignment", "column", "question"),
    )
    ats: dict[uuid.UUID, datetime] = {}
    sheets: dict[uuid.UUID, dict[str, None]] = {}
    counts, standing = Counter[uuid.UUID](), dict[tuple[int, int, int], uuid.UUID]()
    for key, at, sheet, preset, option, value, *cell in told.iterator(chunk_size=2000):
        is_answer = not preset and (option is not None or value is not None)
        standing.pop(tuple(cell), None)
        if key not in mine or not is_answer:
            continue
        standing[tuple(cell)] = key
        ats[key] = at
        sheets.setdefault(key, {})[sheet] = None
        counts[key] += 1
    left = Counter(standing.values())
    found = [GoldImport(key, at, counts[key], left[key], tuple(sheets[key])) for key, at in ats.items()]
    return sorted(found, key=lambda one: one.at, reverse=True)


@dataclass(frozen=True)
class GoldCell:
    """A cell that is as an import left it by `event`. `then`: what was said of it before, None where nothing was."""

    assignment_id: int
    column_id: int
    question_id: int
    event: int
    then: LabelEvent | None

    def __str__(self) -> str:
        """For a digest."""
        return f"{self.event} {self.then and self.then.pk}"


@dataclass(frozen=True)
class TakenBack:
    """What comes of taking the gold of an import back.

    Attributes:
        cells: that change; presets and what the import cleared among them.
        undecided, before: answers that go, by what is left: nothing, or what stood there before.
        stay: answers that stay, as these or others, since somebody has changed them.
    """

    cells: tuple[GoldCell, ...]
    undecided: int
    before: int
    stay: int

    @property
    def goes(self) -> int:
        return self.undecided + self.before


def gold_of_import(study: Study, key: uuid.UUID) -> TakenBack:
    """Where answers depend on each other a column goes as a whole, or stays. Two queries, and those of the scheme."""
    of_import = _imported_gold(study).filter(key=key).values("assignment")
    dependent = set()
    for section in study.scheme.sections.prefetch_related("questions"):
        if any(question.ask_unless or question.preset for question in section.spec.questions):
            dependent |= {question.pk for question in section.questions.all()}
    # Of each cell, and of each group of cells that go together: what the import said, and what came before and after.
    said: dict[tuple[int, int, int], LabelEvent] = {}
    then: dict[tuple[int, int, int], LabelEvent] = {}
    last: dict[tuple[int, int, int], LabelEvent] = {}
    first: dict[tuple[int, int, int], int] = {}
    touched: set[tuple[int, int, int]] = set()
    events = LabelEvent.objects.filter(assignment__in=of_import).select_related("after").order_by("pk")
    for event in events:
        cell = (event.assignment_id, event.column_id, event.question_id)
        together = (*cell[:2], 0) if event.question_id in dependent else cell
        last[cell] = event
        if event.key == key:
            said[cell] = event
            first.setdefault(together, event.pk)
        elif together in first:
            touched.add(together)
        if cell not in said:
            then[cell] = event
    cells, counts = [], Counter[str]()
    for cell, event in said.items():
        together = (*cell[:2], 0) if cell[2] in dependent else cell
        is_answer = bool(event.code_after) and not event.preset
        before = then.get(cell)
        if together in touched:
            counts["stay"] += is_answer and bool(last[cell].code_after)
            continue
        cells.append(GoldCell(*cell, event.pk, before))
        if before is not None and before.code_after:
            counts["before"] += not before.preset
        else:
            counts["undecided"] += is_answer
    return TakenBack(tuple(cells), counts["undecided"], counts["before"], counts["stay"])
