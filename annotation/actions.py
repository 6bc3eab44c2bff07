"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.evidence import Block, blocks_to_json
from annotation.models import (
    Assignment,
    Column,
    Label,
    LabelEvent,
    Membership,
    Option,
    Plan,
    Question,
    Rater,
    Role,
    Row,
    Scheme,
    Section,
    Sheet,
    Study,
    User,
)
from annotation.overlap import Design, OverlapRequest
from annotation.scheme import SchemeSpec, SectionSpec


class Refused(Exception):
    """What was asked for cannot be done; `str()` is the sentence for the person who asked."""


def lock_study(study_id: int) -> None:
    """Make others who change the make-up of this study (its people, sheets, rows, plans) wait for this transaction."""
    # Not the stronger lock: it would hold up everybody who adds something that refers to the study.
    Study.objects.select_for_update(no_key=True).values_list("pk").get(pk=study_id)


# --- schemes and studies --------------------------------------------------------------------------------------------


@transaction.atomic
def store_scheme(*, spec: SchemeSpec, source: str) -> Scheme:
    """Store a version of a scheme, or return the stored one when it is the same.

    Raises:
        Refused: that version is stored already and asks something else.
    """
    dumped = spec.model_dump(mode="json")
    stored = Scheme.objects.filter(slug=spec.key, version=spec.version).first()
    if stored is not None:
        if stored.spec != dumped:
            raise Refused(
                _("Version %(version)s of “%(key)s” is stored already and asks something else. Raise the version.")
                % {"version": spec.version, "key": spec.key}
            )
        return stored
    scheme = Scheme.objects.create(slug=spec.key, version=spec.version, title=spec.title, spec=dumped, source=source)
    for section_position, section_spec in enumerate(spec.sections):
        section = Section.objects.create(
            scheme=scheme, key=section_spec.key, title=section_spec.title, position=section_position
        )
        for position, question_spec in enumerate(section_spec.questions):
            question = Question.objects.create(
                section=section,
                key=question_spec.key,
                title=question_spec.title,
                kind=question_spec.kind,
                position=position,
            )
            Option.objects.bulk_create(
                Option(
                    question=question,
                    key=option.key,
                    label=option.label,
                    hotkey=option.hotkey,
                    value=option.value,
                    position=option_position,
                )
                for option_position, option in enumerate(question_spec.options)
            )
    return scheme


@transaction.atomic
def create_study(*, slug: str, title: str, scheme: Scheme, guideline: str = "", by: User | None) -> Study:
    """Create a study; `by` becomes its manager and researcher."""
    study = Study.objects.create(slug=slug, title=title, scheme=scheme, guideline=guideline)
    if by is not None:
        for role in (Role.MANAGER, Role.RESEARCHER):
            add_member(study=study, user=by, role=role)
    return study


@transaction.atomic
def add_member(*, study: Study, user: User, role: Role) -> Membership:
    """Give `user` a role.

    An annotator becomes a rater of the study under the next free code (A1, A2, …); one who left is that rater again.
    """
    lock_study(study.pk)
    membership, _created = Membership.objects.get_or_create(study=study, user=user, role=role)
    if role == Role.ANNOTATOR and not study.raters.filter(user=user).update(active=True):
        Rater.objects.create(study=study, kind=Rater.Kind.PERSON, user=user, code=queries.free_code(study, prefix="A"))
    return membership


@transaction.atomic
def remove_member(*, membership: Membership) -> int:
    """Take a role away. An annotator's rater is kept with its labels; what it has not submitted is withdrawn.

    Returns:
        How many assignments were withdrawn.
    """
    lock_study(membership.study_id)
    if membership.role == Role.MANAGER:
        managers = Membership.objects.filter(study=membership.study, role=Role.MANAGER)
        if managers.count() == 1:
            raise Refused(_("This is the last manager of the study. Make somebody else a manager first."))
    withdrawn = 0
    if membership.role == Role.ANNOTATOR:
        for rater in membership.study.raters.filter(user=membership.user):
            rater.active = False
            rater.save(update_fields=["active"])
            withdrawn += withdraw(rater=rater)
    membership.delete()
    return withdrawn


@transaction.atomic
def invite(*, study: Study, username: str, email: str, role: Role) -> tuple[User, bool]:
    """Give a role to an account, or to a new one without a password. Returns it and whether it is new."""
    username = User.normalize_username(username)
    user, created = User.objects.get_or_create(username=username, defaults={"email": email})
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    if Membership.objects.filter(study=study, user=user, role=role).exists():
        raise Refused(_("%(name)s has that role in this study already.") % {"name": username})
    add_member(study=study, user=user, role=role)
    return user, created


# --- sheets, rows, columns ------------------------------------------------------------------------------------------


@transaction.atomic
def add_sheet(*, study: Study, title: str, columns: Mapping[str, Sequence[Mapping[str, str]]]) -> Sheet:
    """Add a sheet with its columns: {section key: [facets, …]}.

    A section that is not named gets a single blank column: one form a row.
    """
    lock_study(study.pk)
    if Sheet.objects.filter(study=study, title=title).exists():
        raise Refused(_("The study has a sheet called “%(title)s” already.") % {"title": title})
    position = _next_position(Sheet.objects.filter(study=study))
    sheet = Sheet.objects.create(study=study, position=position, title=title)
    for section in study.scheme.sections.all():
        spec = section.spec
        for facets in columns.get(section.key) or [{}]:
            add_column(sheet=sheet, section=section, spec=spec, facets=facets)
    return sheet


def add_column(*, sheet: Sheet, section: Section, spec: SectionSpec, facets: Mapping[str, str]) -> Column:
    if unknown := set(facets) - set(spec.column.facets):
        raise Refused(
            _("The section “%(section)s” has no facet “%(facet)s”.") % {"section": section.title, "facet": min(unknown)}
        )
    whole = {facet: str(facets.get(facet) or "").strip() for facet in spec.column.facets}
    return Column.objects.create(
        sheet=sheet,
        section=section,
        position=_next_position(Column.objects.filter(sheet=sheet, section=section)),
        name=" · ".join(text for text in whole.values() if text)[:400],
        facets=whole,
    )


@transaction.atomic
def add_row(
    *, sheet: Sheet, name: str, evidence: Iterable[Block], title: str = "", url: str = "", language: str = ""
) -> Row:
    lock_study(sheet.study_id)
    if Row.objects.filter(sheet=sheet, name=name).exists():
        raise Refused(_("“%(sheet)s” has a row called “%(name)s” already.") % {"sheet": sheet.title, "name": name})
    return Row.objects.create(
        sheet=sheet,
        position=_next_position(Row.objects.filter(sheet=sheet)),
        name=name,
        title=title[:500],
        url=url if len(url) <= 2000 else "",
        language=language[:12],
        evidence=blocks_to_json(evidence),
    )


def _next_position(siblings: Any) -> int:
    last = siblings.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


# --- the plan -------------------------------------------------------------------------------------------------------


@transaction.atomic
def apply_design(
    *,
    study: Study,
    design: Design,
    request: OverlapRequest,
    raters: Sequence[Rater],
    sheets: Sequence[Sheet],
    by: User | None,
    rows: Sequence[Sequence[int]] | None = None,
) -> Plan:
    """Assign rows as the design says: its numbers are places in `sheets`, in a sheet's free rows, and in `raters`.

    `rows` are the numbers of the rows of each sheet that the design was drawn for; without them, those free now.

    Raises:
        Refused: other rows are free by now, or somebody is no rater any more. Nothing is changed then.
    """
    lock_study(study.pk)
    free = queries.free_rows(sheets)
    of_sheets = [free.get(sheet.pk, []) for sheet in sheets]
    drawn = of_sheets if rows is None else [list(of_sheet) for of_sheet in rows]
    present = study.raters.filter(pk__in=[rater.pk for rater in raters], active=True).count()
    if drawn != of_sheets or tuple(map(len, drawn)) != tuple(request.sheets) or present != len(raters):
        raise Refused(
            _("The study has changed since this plan was drawn. Nothing was assigned: look at it and apply it again.")
        )
    given: dict[int, list[int]] = {}
    for sheet, row, rater in design.assignments:
        given.setdefault(rater, []).append(drawn[sheet][row])
    for place, row_ids in given.items():
        _give(raters[place], row_ids)
    stored = {**asdict(request), "share_twice": str(request.share_twice)}
    stored["sheet_ids"] = [sheet.pk for sheet in sheets]
    stored["row_ids"] = drawn
    stored["rater_codes"] = [rater.code for rater in raters]
    return Plan.objects.create(study=study, request=stored, applied_by=by)


@transaction.atomic
def assign(*, rater: Rater, rows: Iterable[Row], sections: Sequence[str] = (), repeat: int = 1) -> list[Assignment]:
    """Give rows to a rater; rows that it has already are left as they are, withdrawn ones are given again."""
    rows = list(rows)
    _give(rater, [row.pk for row in rows], sections=sections, repeat=repeat)
    return list(rater.assignments.filter(repeat=repeat, row__in=rows))


def _give(rater: Rater, row_ids: Sequence[int], *, sections: Sequence[str] = (), repeat: int = 1) -> None:
    mine = rater.assignments.filter(repeat=repeat)
    withdrawn = mine.filter(row__in=row_ids, state=Assignment.State.WITHDRAWN)
    labelled = Exists(Label.objects.filter(assignment=OuterRef("pk")))
    withdrawn.filter(labelled).update(state=Assignment.State.STARTED, sections=list(sections))
    withdrawn.update(state=Assignment.State.OPEN, sections=list(sections))
    have = set(mine.filter(row__in=row_ids).values_list("row_id", flat=True))
    Assignment.objects.bulk_create(
        Assignment(rater=rater, row_id=pk, repeat=repeat, sections=list(sections)) for pk in row_ids if pk not in have
    )


@transaction.atomic
def withdraw(*, rater: Rater) -> int:
    """Take back what a rater has not submitted; its labels stay stored. Returns how many assignments that were."""
    unfinished = rater.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.STARTED])
    return unfinished.update(state=Assignment.State.WITHDRAWN)


# --- labels ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a rater says of one cell. `option` None clears it; `note` None leaves the note that stands there."""

    column: Column
    question: Question
    option: Option | None
    scores: Any = None
    note: str | None = None


@dataclass
class Recorded:
    """What `record` did: the labels that now stand in the touched columns, and the cells that changed."""

    changed: set[tuple[int, int]] = field(default_factory=set)  # (column, question)


@transaction.atomic
def record(*, assignment: Assignment, answers: Iterable[Answer], key: uuid.UUID) -> Recorded:
    """Write answers, the rules' consequences and the history, all or nothing.

    An answer that switches questions off clears their labels; a question that a column presets is filled in as soon as
    one of its column is answered. `key` names this change: the same change sent again is acknowledged and does nothing.

    Raises:
        Refused: the assignment is closed, or a cell is not one of its cells or not asked.
    """
    answers = list(answers)
    # The row's lock orders writers of one assignment; on SQLite the transaction itself is the lock.
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("row").get(pk=assignment.pk)
    if LabelEvent.objects.filter(assignment=assignment, key=key).exists():
        return Recorded()
    if assignment.state == Assignment.State.SUBMITTED:
        raise Refused(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})
    _refuse_withdrawn(assignment)

    writer = _Writer(assignment, answers, key)
    for answer in answers:
        writer.write(answer)
    writer.settle()
    writer.flush()

    if assignment.state == Assignment.State.OPEN and writer.recorded.changed:
        assignment.state = Assignment.State.STARTED
        assignment.started_at = assignment.started_at or timezone.now()
        assignment.save(update_fields=["state", "started_at"])
    return writer.recorded


def _refuse_withdrawn(assignment: Assignment) -> None:
    if assignment.state == Assignment.State.WITHDRAWN:
        raise Refused(_("“%(row)s” is no longer assigned to this rater.") % {"row": assignment.row.name})


class _Writer:
    """One transaction's worth of changes to the labels of one assignment.

    Holds the labels of the touched columns in memory, applies answers and rules to them, and writes the difference
    with a fixed number of statements, however many cells there are.
    """

    def __init__(self, assignment: Assignment, answers: Sequence[Answer], key: uuid.UUID) -> None:
        self.assignment = assignment
        self.key = key
        self.recorded = Recorded()
        self.columns = {answer.column.pk: answer.column for answer in answers}
        self.spoken_of = {(answer.column.pk, answer.question.pk) for answer in answers}
        section_ids = {column.section_id for column in self.columns.values()}
        self.sections = {
            section.pk: section
            for section in Section.objects.filter(pk__in=section_ids)
            .select_related("scheme")
            .prefetch_related("questions__options")
        }
        self.specs = {pk: section.spec for pk, section in self.sections.items()}
        self.questions = {
            section.pk: {question.key: question for question in section.questions.all()}
            for section in self.sections.values()
        }
        self.before: dict[tuple[int, int], Label] = {
            (label.column_id, label.question_id): label
            for label in Label.objects.filter(assignment=assignment, column_id__in=self.columns).select_related(
                "option"
            )
        }
        self.after: dict[tuple[int, int], Label | None] = {}

    def standing(self, column_id: int, question_id: int) -> Label | None:
        cell = (column_id, question_id)
        return self.after[cell] if cell in self.after else self.before.get(cell)

    def answers_of(self, column: Column) -> dict[str, str]:
        labels = (
            (key, self.standing(column.pk, question.pk)) for key, question in self.questions[column.section_id].items()
        )
        return {key: label.option.key for key, label in labels if label is not None}

    def write(self, answer: Answer) -> None:
        column, question, option = answer.column, answer.question, answer.option
        section = self.sections[column.section_id]
        if (
            column.sheet_id != self.assignment.row.sheet_id
            or question.section_id != column.section_id
            or not self.assignment.asks(section)
        ):
            raise Refused(_("That cell is not part of this assignment."))
        if option is None:
            self.after[column.pk, question.pk] = None
            return
        if option.question_id != question.pk:
            raise Refused(
                _("“%(option)s” is no answer to “%(question)s”.") % {"option": option.label, "question": question.title}
            )
        asked = {spec.key for spec in self.specs[section.pk].asked(self.answers_of(column))}
        if question.key not in asked:
            raise Refused(
                _("“%(question)s” is not asked of “%(column)s” here.")
                % {"question": question.title, "column": column.name}
            )
        standing = self.standing(column.pk, question.pk)
        self.after[column.pk, question.pk] = Label(
            assignment=self.assignment,
            column=column,
            question=question,
            option=option,
            scores=answer.scores,
            note=(standing.note if standing else "") if answer.note is None else answer.note,
        )

    def settle(self) -> None:
        """Bring each touched column in line with the rules of its section."""
        for column in self.columns.values():
            spec, questions = self.specs[column.section_id], self.questions[column.section_id]
            cleared = {
                key for key, question in questions.items() if self.after.get((column.pk, question.pk), 0) is None
            }
            answers = self.answers_of(column)
            presets = spec.presets(column.facets)
            if all(self._is_preset(column, questions[key]) for key in answers):
                # Nobody has answered this column, or nobody any more: what follows from answering it goes too.
                self.after |= {(column.pk, questions[key].pk): None for key in answers}
                presets = {}
            for key in presets.keys() - answers.keys() - cleared:
                question = questions[key]
                option = next(option for option in question.options.all() if option.key == presets[key])
                self.after[column.pk, question.pk] = Label(
                    assignment=self.assignment, column=column, question=question, option=option, preset=True
                )
            asked = {question.key for question in spec.asked(self.answers_of(column))}
            for key, question in questions.items():
                if key not in asked and self.standing(column.pk, question.pk) is not None:
                    self.after[column.pk, question.pk] = None

    def _is_preset(self, column: Column, question: Question) -> bool:
        label = self.standing(column.pk, question.pk)
        return label is not None and label.preset

    def flush(self) -> None:
        """Write what differs from before, and an event for each cell that was spoken of.

        Also for a choice of what stood there already, and for a clear of what was clear: the event's key is what makes
        a resend harmless.
        """
        inserts, updates, deletes, events = [], [], [], []
        for cell, label in self.after.items():
            old = self.before.get(cell)
            if old is None and label is None and cell not in self.spoken_of:
                continue  # a preset that a rule took back in the same breath
            events.append(
                LabelEvent(
                    assignment=self.assignment,
                    column_id=cell[0],
                    question_id=cell[1],
                    before=old.option if old else None,
                    after=label.option if label else None,
                    key=self.key,
                )
            )
            if old is None and label is None:
                continue
            self.recorded.changed.add(cell)
            if label is None:
                assert old is not None
                deletes.append(old.pk)
            elif old is None:
                inserts.append(label)
            else:
                label.pk, label.revision, label.updated_at = old.pk, old.revision + 1, timezone.now()
                updates.append(label)
        Label.objects.bulk_create(inserts)
        Label.objects.bulk_update(
            updates, ["option", "scores", "note", "preset", "revision", "updated_at"], batch_size=200
        )
        Label.objects.filter(pk__in=deletes).delete()
        LabelEvent.objects.bulk_create(events)


@transaction.atomic
def submit(*, assignment: Assignment, allow_open: bool = False) -> Assignment:
    """Close the work on a row.

    Raises:
        Refused: cells are still open; the sentence says how many. Judges pass `allow_open`: what their prompt does not
            ask stays open.
    """
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("row").get(pk=assignment.pk)
    if assignment.state == Assignment.State.SUBMITTED:
        return assignment
    _refuse_withdrawn(assignment)
    if not allow_open and (left := queries.open_cells(assignment)):
        raise Refused(
            ngettext(
                "%(count)s cell of “%(row)s” is still open: %(cells)s.",
                "%(count)s cells of “%(row)s” are still open, first %(cells)s.",
                len(left),
            )
            % {"count": len(left), "row": assignment.row.name, "cells": ", ".join(left[:3])}
        )
    assignment.state = Assignment.State.SUBMITTED
    assignment.submitted_at = timezone.now()
    assignment.failure = ""
    assignment.save(update_fields=["state", "submitted_at", "failure"])
    return assignment


@transaction.atomic
def reopen(*, assignment: Assignment) -> Assignment:
    """Take a submission back."""
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.STARTED, submitted_at=None
    )
    assignment.refresh_from_db()
    return assignment
