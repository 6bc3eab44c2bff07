"""Answers and what follows from them, for the labels of one assignment."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from django.utils.translation import gettext as _

from annotation import queries
from annotation.answers import AnswerRefused, bare, kind_of, skip_code, wire
from annotation.answers.codes import DRAFT, PRESET
from annotation.labels.answer import Answer
from annotation.labels.batch import Batch
from annotation.labels.refusals import Refused
from annotation.labels.tables import TableChecks
from annotation.models import Assignment, Column, Label, LabelEvent, Question, Skip, User
from annotation.scheme import rules

CellKey: TypeAlias = tuple[int, int]  # column, question
Standing: TypeAlias = Label | Skip


@dataclass
class Recorded:
    """What was recorded: the cells (column, question) that changed, and those left out because of what stood there.

    `values` is {column: {question: value}} of the touched columns, as `queries.cell_values` says it; `warnings` is
    {column: {question: sentences}} of those of them that a warning can be about, and of all columns of a table that has
    checks. Both are None after a resend, which looks at nothing.
    """

    changed: set[CellKey] = field(default_factory=set)
    conflicts: set[CellKey] = field(default_factory=set)
    values: dict[int, dict[int, str]] | None = None
    warnings: dict[int, dict[int, list[str]]] | None = None
    state: str = ""

    def of_columns(self, columns: Set[int]) -> Recorded:
        """The part that is about some columns."""
        return Recorded(
            changed={cell for cell in self.changed if cell[0] in columns},
            conflicts={cell for cell in self.conflicts if cell[0] in columns},
            values={column: of for column, of in (self.values or {}).items() if column in columns},
            warnings={column: of for column, of in (self.warnings or {}).items() if column in columns},
            state=self.state,
        )


def code_of(standing: Standing | None) -> str:
    if isinstance(standing, Label):
        return standing.code
    return skip_code(standing.reason) if standing is not None else ""


def wire_of(standing: Standing | None) -> str:
    """The code with the prefix that says how it came about."""
    if isinstance(standing, Label):
        return (PRESET if standing.preset else DRAFT if standing.is_draft else "") + standing.code
    return code_of(standing)


class Writer:
    """One transaction's worth of changes to the labels of one assignment.

    Holds the labels of the touched columns in memory, applies answers and rules to them, and leaves the difference to
    a `Batch`, which writes it with a fixed number of statements, however many cells there are.
    """

    def __init__(
        self,
        assignment: Assignment,
        answers: Iterable[Answer],
        batch: Batch,
        *,
        exposed: bool,
        has_skips: bool,
    ) -> None:
        self.assignment = assignment
        self.batch = batch
        self.exposed = exposed
        self.recorded = Recorded()
        answers = list(answers)
        self.columns = {answer.column.pk: answer.column for answer in answers}
        self.spoken_of = {(answer.column.pk, answer.question.pk) for answer in answers}
        self.sections = queries.whole_sections(self.columns.values())
        self.specs = {pk: section.spec for pk, section in self.sections.items()}
        self.questions = {section.pk: section.by_key for section in self.sections.values()}
        labels = {
            (label.column_id, label.question_id): label for label in queries.labels_of_columns(assignment, self.columns)
        }
        for label in labels.values():
            if label.option_id is not None:
                label.option = self.sections[self.columns[label.column_id].section_id].options[label.option_id]
        self.before: dict[CellKey, Standing] = dict(labels)
        if has_skips:
            self.before |= {
                (skip.column_id, skip.question_id): skip
                for skip in Skip.objects.filter(assignment=assignment, column_id__in=self.columns).order_by()
            }
        self.after: dict[CellKey, Standing | None] = {}

    def standing(self, column_id: int, question_id: int) -> Standing | None:
        cell = (column_id, question_id)
        return self.after[cell] if cell in self.after else self.before.get(cell)

    def codes_of(self, column: Column) -> dict[str, str]:
        """What stands in a column, as the rules read it."""
        return {
            key: wire_of(standing)
            for key, question in self.questions[column.section_id].items()
            if (standing := self.standing(column.pk, question.pk)) is not None
        }

    def write(self, answer: Answer) -> None:
        """Take an answer.

        Raises:
            Refused: the cell is none of the assignment or not asked, or the question has no such answer.
        """
        column, question = answer.column, answer.question
        section = self.sections[column.section_id]
        if (
            column.sheet_id != self.assignment.row.sheet_id
            or question.section_id != column.section_id
            or not self.assignment.asks(section)
        ):
            raise Refused(_("That cell is not part of this assignment."))
        if not answer.is_empty:
            answer = self._checked(answer)
        cell = (column.pk, question.pk)
        before = self.before.get(cell)
        if answer.seen is not None and code_of(before) not in {bare(answer.seen), answer.code}:
            self.recorded.conflicts.add(cell)
            return
        how = (isinstance(before, Label) and before.preset, isinstance(before, Label) and before.is_draft)
        if (
            answer.seen is not None
            and bare(answer.seen) == answer.code == code_of(before)
            and answer.note is None
            and (answer.preset, answer.draft) == how
        ):
            return  # it stands there as it was seen: nothing to write, and nothing for the history
        if answer.is_empty and not answer.skip:
            self.after[cell] = None
            return
        if question.key not in rules.asked(self.specs[section.pk], self.codes_of(column)):
            raise Refused(
                _("“%(question)s” is not asked of “%(column)s” here.")
                % {"question": question.title, "column": column.name}
            )
        if answer.is_empty:
            self.after[cell] = Skip(assignment=self.assignment, column=column, question=question, reason=answer.skip)
        else:
            self.after[cell] = self._label(answer)

    def _checked(self, answer: Answer) -> Answer:
        """The answer as it can be stored, with a value in its canonical form."""
        question = answer.question
        spec = self.specs[answer.column.section_id].question(question.key)
        if answer.option is not None and (answer.option.question_id != question.pk or answer.value is not None):
            raise Refused(
                _("“%(option)s” is no answer to “%(question)s”.")
                % {"option": answer.option.label, "question": question.title}
            )
        if answer.option is not None:
            return answer
        if spec.has_options:
            raise Refused(_("“%(question)s” is answered by one of its options.") % {"question": question.title})
        try:
            value = kind_of(spec).canonical(spec, answer.value)
        except AnswerRefused as refused:
            raise Refused(str(refused)) from refused
        return answer if value is answer.value else replace(answer, value=value)

    def _label(self, answer: Answer) -> Label:
        column, question = answer.column, answer.question
        standing = self.standing(column.pk, question.pk)
        label = standing if isinstance(standing, Label) else None
        same = label is not None and label.code == answer.code
        presets = self.specs[column.section_id].presets(column.facets) if answer.preset else {}
        made = Label(
            assignment=self.assignment,
            column=column,
            question=question,
            option=answer.option,
            value=answer.value,
            scores=answer.scores,
            note=(label.note if label else "") if answer.note is None else answer.note,
            preset=presets.get(question.key) == answer.code if answer.preset else False,
            # What was chosen before its rater saw the others' labels stays so when it is chosen again.
            exposed=label.exposed if label is not None and same else self.exposed,
        )
        if label is not None and label.drafted_from_id is not None:
            made.drafted_from_id = label.drafted_from_id
        elif answer.draft:
            made.drafted_from_id = self._was_drafted_from(column.pk, question.pk)
        if made.drafted_from_id is not None:
            made.exposed = True
            made.confirmed_at = None if answer.draft else self.batch.at
        return made

    def _was_drafted_from(self, column_id: int, question_id: int) -> int | None:
        """Whose answer a cell began as, that was cleared since and is brought back by an undo."""
        drafted = LabelEvent.objects.filter(
            assignment=self.assignment, column=column_id, question=question_id, drafted_from__isnull=False
        )
        return drafted.order_by("-pk").values_list("drafted_from_id", flat=True).first()

    def put(self, column: Column, question: Question, new: Standing | None) -> None:
        """Let something stand in a cell as it is, without a look at the rules: a restore, a draft."""
        self.after[column.pk, question.pk] = new

    def settle(self) -> None:
        """Bring each touched column in line with the rules of its section."""
        for column in self.columns.values():
            questions = self.questions[column.section_id]
            cleared = {
                key for key, question in questions.items() if self.after.get((column.pk, question.pk), 0) is None
            }
            settled = rules.settle(self.specs[column.section_id], column.facets, self.codes_of(column), cleared)
            for key, code in settled.items():
                question = questions[key]
                self.after[column.pk, question.pk] = self._preset(column, question, code) if code else None

    def _preset(self, column: Column, question: Question, code: str) -> Label:
        spec = self.specs[column.section_id].question(question.key)
        answer = Answer.of_code(column, question, wire(code).code, spec=spec)
        return Label(
            assignment=self.assignment,
            column=column,
            question=question,
            option=answer.option,
            value=answer.value,
            preset=True,
        )

    def check(self) -> None:
        """Hold the touched tables against the checks of their sections, and tell what they warn of.

        Raises:
            Refused: a check that refuses finds what it did not find before.
        """
        warnings: dict[int, dict[int, list[str]]] = {}
        for pk, spec in self.specs.items():
            if spec.never_warns:
                continue
            columns = [column for column in self.columns.values() if column.section_id == pk]
            for column in columns:
                warnings[column.pk] = {}
                for key, question in self.questions[pk].items():
                    standing = self.standing(column.pk, question.pk)
                    if isinstance(standing, Label) and standing.value is not None:
                        asked = spec.question(key)
                        if said := kind_of(asked).warnings(asked, standing.value):
                            warnings[column.pk][question.pk] = said
            if spec.checks:
                table = TableChecks(self.assignment, self.sections[pk], self.columns)
                refused, found = table.changed(self.before, {**self.before, **self.after})
                if refused:
                    raise Refused(" ".join(refused))
                for (column_id, question_id), sentences in found.items():
                    warnings.setdefault(column_id, {}).setdefault(question_id, []).extend(sentences)
                for column_id in table.columns:
                    warnings.setdefault(column_id, {})
        self.recorded.warnings = warnings

    def values(self) -> dict[int, dict[int, str]]:
        values: dict[int, dict[int, str]] = {column_id: {} for column_id in self.columns}
        for (column_id, question_id), standing in (self.before | self.after).items():
            if standing is not None:
                values[column_id][question_id] = wire_of(standing)
        return values

    def leave(self, keys: Mapping[int, uuid.UUID] | None = None) -> None:
        """Leave to the batch what differs from before, and an event for each cell that was spoken of.

        Also for a choice of what stood there already, and for a clear of what was clear: the event's key is what makes
        a resend harmless. `keys`: {column: key} where it is not the batch's.
        """
        for cell, new in self.after.items():
            old = self.before.get(cell)
            if old is None and new is None and cell not in self.spoken_of:
                continue  # a preset that a rule took back in the same breath
            self.batch.put(self.assignment, *cell, old, new, (keys or {}).get(cell[0]))
            if old is not None or new is not None:
                self.recorded.changed.add(cell)


def write(
    assignment: Assignment,
    answers: Sequence[Answer],
    key: uuid.UUID,
    *,
    by: User | None,
    exposed: bool,
    has_skips: bool,
    keys: Mapping[int, uuid.UUID] | None = None,
) -> Recorded:
    """Answers and what follows from them, all or nothing; in the caller's transaction.

    `keys`: {column: key} where several changes are written together, each with columns of its own.

    Raises:
        Refused: see `Writer.write` and `Writer.check`.
    """
    batch = Batch(key, by=by)
    writer = Writer(assignment, answers, batch, exposed=exposed, has_skips=has_skips)
    for answer in answers:
        writer.write(answer)
    writer.settle()
    writer.check()
    writer.leave(keys)
    batch.flush()
    writer.recorded.values = writer.values()
    return writer.recorded
