"""Importing labels that were made elsewhere, into a study or into a new one. All or nothing, in one transaction.

The answers of a file are sorted, so that those of one assignment lie together; the assignments are checked, then
written, a few hundred at a time.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.answers import shown_code
from annotation.exchange.label_reading import Answers, Cell, LabelImport, Part, Said
from annotation.exchange.records import label_records
from annotation.exchange.row_imports import Imported, ImportRefused, one_import
from annotation.exchange.tables import FileTable, Problems
from annotation.labels.batch import Batch
from annotation.models import Assignment, Column, Label, Rater, Row, Scheme, Study, User
from annotation.scheme import rules
from annotation.scheme.checks import Finding, findings
from annotation.scheme.inference import infer_scheme
from annotation.scheme.spec import Level, load_scheme
from base.sentences import gettext_noop

_CHUNK = 400  # assignments checked and written together; SQLite takes 999 values a query


def import_labels(*, study: Study, table: FileTable, how: LabelImport) -> Imported:
    """Add the labels of a file. Their assignments are submitted; the history is written as for any label.

    Raises:
        ImportRefused: with every problem of the file; nothing is changed then.
        TableError: the file, or its headings, cannot be read; nothing is changed then.
        Refused: somebody else changed the same things meanwhile.
    """
    with one_import(study) as locked:
        answers = Answers(locked, table, how)
        importer = _Importer(answers)
        importer.check()
        if answers.problems.total:
            raise ImportRefused(answers.problems)
        importer.write()
    return answers.imported


@transaction.atomic
def study_from_labels(
    *, slug: str, title: str, table: FileTable, how: LabelImport, by: User | None
) -> tuple[Study, Imported]:
    """Make a study of one question, whose options are the answers of the file, and import the file into it.

    Raises:
        Refused: the address is taken or none, or the file answers several questions.
        ImportRefused, TableError: as from `import_labels` and `infer_scheme`. Nothing is made in any of these cases.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,59}", slug):
        raise Refused(_("“%(slug)s” is no address: small letters, digits and hyphens make one.") % {"slug": slug})
    if Study.objects.filter(slug=slug).exists():
        raise Refused(_("There is a study “%(slug)s” already. Choose another address.") % {"slug": slug})
    headings = how.headings_of(table)
    asked: set[tuple[str, str]] = set()

    def answers() -> Iterator[str]:
        # What is wrong with single lines is told by the import itself, which reads them again.
        for record in label_records(table, headings, Problems(table.name)):
            asked.add((record.section or "", record.question or ""))
            yield table.in_words(record.answer)

    answer_heading = table.header[headings.at["answer"]] if "answer" in headings.at else ""
    question = re.sub(r"\W+", " ", answer_heading).strip().capitalize()[:120] or _("Answer")
    last = Scheme.objects.filter(slug=slug).aggregate(last=Max("version"))["last"] or 0
    source = infer_scheme(answers(), key=slug, version=last + 1, title=title, question=question, nominal=how.nominal)
    if len(asked) > 1:
        raise Refused(_("The file answers several questions. Make the study from a scheme file, then import into it."))
    study = actions.create_study(
        slug=slug, title=title, scheme=actions.store_scheme(spec=load_scheme(source), source=source), by=by
    )
    # Section, question and facets of the file are those of the scheme that it comes from; the new one has its own.
    own = replace(
        how,
        headings={**how.headings, "section": "", "question": ""},
        ignore=(*how.ignore, *(table.header[i] for i in headings.facets.values())),
        create=True,
    )
    return study, import_labels(study=study, table=table, how=own)


@dataclass
class _Work:
    """What the file changes in one assignment."""

    assignment: Assignment
    inserts: list[Label] = field(default_factory=list)
    updates: list[tuple[Label, Label]] = field(default_factory=list)  # (the label before, as it will be)
    clears: list[Label] = field(default_factory=list)
    presets: int = 0
    warned: int = 0
    unchanged: int = 0


class _Group(NamedTuple):
    """The answers of the file that are of one assignment: positions in the importer's arrays."""

    row: int
    rater: int
    repeat: int
    answers: list[int]


class _Importer:
    def __init__(self, answers: Answers) -> None:
        self.all = answers
        self.problems = answers.problems
        self._changes = 0
        self._now = timezone.now()

    @cached_property
    def _order(self) -> list[int]:
        """Positions of the answers, those of one assignment together, those of one cell by line."""
        of = self.all
        keys = (of.line_of, of.cell_of, of.repeat_of, of.rater_of, of.row_of)
        order: list[int] = np.lexsort([np.array(key, dtype=np.int32) for key in keys]).tolist()
        return order

    def _chunks(self) -> Iterator[list[_Group]]:
        of = self.all
        groups: list[_Group] = []
        for i in self._order:
            key = (of.row_of[i], of.rater_of[i], of.repeat_of[i])
            if groups and groups[-1][:3] == key:
                groups[-1].answers.append(i)
                continue
            if len(groups) == _CHUNK:
                yield groups
                groups = []
            groups.append(_Group(*key, [i]))
        if groups:
            yield groups

    # --- checking ---

    def check(self) -> None:
        """Find all that speaks against writing: answers given twice, rules of the scheme, what stands in the study."""
        for chunk in self._chunks():
            for group in chunk:
                self._check_twice(group)
            for work in self._works(chunk):
                self.all.imported.unchanged += work.unchanged
                self.all.imported.warned += work.warned
                self._changes += len(work.inserts) + len(work.updates)
        if self._changes and self.all.pseudonyms and self.all.had_pseudonyms:
            self.problems.add(
                0,
                gettext_noop(
                    "The study has raters R1, R2, … already, and who they are was not kept: R1 of this file may be "
                    "somebody else. Import all files without pseudonyms, or all in one."
                ),
            )

    def _check_twice(self, group: _Group) -> None:
        of = self.all
        for before, here in zip(group.answers, group.answers[1:], strict=False):
            if of.cell_of[before] == of.cell_of[here]:
                self.problems.add(
                    of.line_of[here],
                    gettext_noop("“%(rater)s” answers “%(cell)s” of “%(row)s” on line %(first)s already."),
                    rater=of.raters[group.rater].code,
                    cell=str(of.cells[of.cell_of[here]]),
                    row=of.rows[group.row].name,
                    first=of.line_of[before],
                )

    def _works(self, chunk: Sequence[_Group]) -> Iterator[_Work]:
        """What each group changes, compared with what stands in the study; adds to the problems."""
        assignments, labels = self._standing(chunk)
        for group in chunk:
            rater, row = self.all.raters[group.rater], self.all.rows[group.row]
            assignment = assignments.get((rater.pk, row.pk, group.repeat))
            standing = labels.get(assignment.pk, {}) if assignment else {}
            work = _Work(assignment or Assignment(rater=rater, row=row, repeat=group.repeat))
            self._compare(work, group, standing)
            self._apply_rules(work, group, standing)
            self._check_tables(work, group, standing)
            if work.inserts or work.updates or work.clears:
                self._check_open_to_files(work, group)
            yield work

    def _standing(
        self, chunk: Sequence[_Group]
    ) -> tuple[dict[tuple[int, int, int], Assignment], dict[int, dict[tuple[int, int], Label]]]:
        """What the study has of these assignments, and their labels by (column, question). Two queries, or none."""
        raters = {self.all.raters[group.rater].pk for group in chunk} & self.all.known_raters
        if not raters:
            return {}, {}
        rows = {pk for group in chunk if (pk := self.all.rows[group.row].pk) is not None}
        found = list(Assignment.objects.filter(rater__in=raters, row__in=rows))
        assignments = {(a.rater_id, a.row_id, a.repeat): a for a in found}
        labels: dict[int, dict[tuple[int, int], Label]] = {}
        for label in Label.objects.filter(assignment__rater__in=raters, assignment__row__in=rows).defer("scores"):
            labels.setdefault(label.assignment_id, {})[label.column_id, label.question_id] = label
        return assignments, labels

    def _compare(self, work: _Work, group: _Group, standing: Mapping[tuple[int, int], Label]) -> None:
        of = self.all
        # What differs from a protected rater's labels is refused as a whole, by `_check_open_to_files`.
        may_replace = of.how.replace or _is_protected(of, of.raters[group.rater])
        for i in group.answers:
            cell, said, note = of.cells[of.cell_of[i]], of.answers[of.answer_of[i]], of.notes.get(i, "")
            old = standing.get((cell.column.pk, cell.question.pk))
            before = "" if old is None else cell.part.code(old)
            if old is not None and before == said.code and note in ("", old.note):
                work.unchanged += 1
                continue
            if old is not None and not may_replace:
                self.problems.add(
                    of.line_of[i],
                    gettext_noop(
                        "“%(rater)s” has answered “%(cell)s” of “%(row)s” with “%(before)s”%(note)s; the file says "
                        "“%(after)s”. A finished answer is kept: correct the line, or let the import replace answers."
                    ),
                    rater=of.raters[group.rater].code,
                    cell=str(cell),
                    row=of.rows[group.row].name,
                    before=cell.part.of_code(cell.question, before).shown,
                    note=f" ({old.note})" if old.note else "",
                    after=said.shown,
                )
                continue
            label = _label(work.assignment, cell, said)
            label.note, label.preset, label.exposed = note, i in of.presets, i in of.exposed
            if of.drafts:
                self._say_draft(label, i)
            if old is None:
                work.inserts.append(label)
                continue
            label.note = note or old.note
            if "exposed" not in of.headings.at:
                label.exposed = old.exposed
            work.updates.append((old, label))

    def _say_draft(self, label: Label, i: int) -> None:
        """Whose answer it began as, and whether it was confirmed, as the file says."""
        if (draft := self.all.drafts.get(i)) is not None and (rater := self.all.drafters.get(draft[0])) is not None:
            label.drafted_from = rater
            label.confirmed_at = self._now if draft[1] else None

    def _apply_rules(self, work: _Work, group: _Group, standing: Mapping[tuple[int, int], Label]) -> None:
        """Bring changed columns in line with their section: fill in presets; refuse, or clear, what is not asked."""
        of = self.all
        changed = {label.column_id for label in (*work.inserts, *(label for _before, label in work.updates))}
        by_column: dict[int, list[int]] = {}
        for i in group.answers:
            cell = of.cells[of.cell_of[i]]
            if cell.part.has_rules and cell.column.pk in changed:
                by_column.setdefault(cell.column.pk, []).append(i)
        for answers in by_column.values():
            column, _question, part = of.cells[of.cell_of[answers[0]]]
            in_file = {of.cells[of.cell_of[i]].question.key: i for i in answers}
            before = {key: label for key, q in part.questions.items() if (label := standing.get((column.pk, q.pk)))}
            said = {key: part.code(label) for key, label in before.items()}
            said |= {key: of.answers[of.answer_of[i]].code for key, i in in_file.items()}
            presets = rules.presets(part.spec, column.facets, said)
            if "preset" in of.headings.at:
                presets = {}  # the file says itself which were filled in; what it leaves out was cleared by somebody
            for key, code in presets.items():
                cell = Cell(column, part.questions[key], part)
                label = _label(work.assignment, cell, part.of_code(cell.question, code))
                label.preset = True
                work.inserts.append(label)
                work.presets += 1
            for key in said.keys() - rules.asked(part.spec, said | presets):
                if key in in_file or not of.how.replace:
                    line = of.line_of[in_file.get(key, answers[0])]
                    self._refuse_unasked(line, Cell(column, part.questions[key], part), said)
                else:
                    work.clears.append(before[key])

    def _refuse_unasked(self, line: int, cell: Cell, said: Mapping[str, str]) -> None:
        words = rules.words(cell.part.spec, said)
        rule = cell.part.spec.question(cell.question.key).ask_unless
        reason = next((key for key, named in rule.items() if words.get(key) in named), next(iter(rule)))
        other = cell.part.spec.question(reason)
        if reason in said:
            template = gettext_noop("“%(cell)s” is not asked when “%(other)s” is “%(answer)s”.")
        else:
            template = gettext_noop("“%(cell)s” is not asked when “%(other)s” is not.")
        answer = shown_code(other, said[reason]) if reason in said else ""
        self.problems.add(line, template, cell=str(cell), other=other.title, answer=answer)

    def _check_tables(self, work: _Work, group: _Group, standing: Mapping[tuple[int, int], Label]) -> None:
        """Hold what the file changes against the checks of its sections."""
        of = self.all
        parts = {id(part): part for i in group.answers if (part := of.cells[of.cell_of[i]].part).spec.checks}
        if not parts or not (work.inserts or work.updates or work.clears):
            return
        row = of.rows[group.row]
        cells = [of.cells[of.cell_of[i]] for i in group.answers]
        lines = {(c.column.pk, c.question.pk): of.line_of[i] for c, i in zip(cells, group.answers, strict=True)}
        gone = {(label.column_id, label.question_id) for label in work.clears}
        after = {cell: label for cell, label in standing.items() if cell not in gone}
        for label in (*work.inserts, *(label for _before, label in work.updates)):
            after[label.column_id, label.question_id] = label
        for part in parts.values():
            columns = {column.pk: column for column in of.columns_of(row.sheet_id, part.section)}
            now = _found(part, columns, row, after)
            refused = {finding for finding in now if finding.level == Level.REFUSE}
            work.warned += len(now - refused)
            for finding in sorted(refused - _found(part, columns, row, standing) if refused else ()):
                column = next(column for column in columns.values() if column.position == finding.position)
                cell = Cell(column, part.questions[finding.question], part)
                self.problems.add(
                    lines.get((column.pk, cell.question.pk), of.line_of[group.answers[0]]),
                    gettext_noop("“%(cell)s” of “%(row)s”: %(message)s"),
                    cell=str(cell),
                    row=row.name,
                    message=finding.message,
                )

    def _check_open_to_files(self, work: _Work, group: _Group) -> None:
        of = self.all
        rater, assignment = of.raters[group.rater], work.assignment
        sections = {of.cells[of.cell_of[i]].part.section for i in group.answers}
        if _is_protected(of, rater) and rater.user_id is not None:
            template = gettext_noop(
                "“%(rater)s” labels here with a login, and a file does not speak for that person (“%(row)s”). "
                "Give the rater of the file another name."
            )
        elif _is_protected(of, rater):
            template = gettext_noop(
                "“%(rater)s” is a judge of this study already, and a file does not add to it (“%(row)s”). "
                "Give the judge of the file another name."
            )
        elif assignment.pk is not None and assignment.state != Assignment.State.SUBMITTED:
            template = gettext_noop(
                "“%(rater)s” has “%(row)s” assigned and not submitted, and a file adds only to finished work. "
                "Give the rater of the file another name."
            )
        elif assignment.pk is not None and any(not of.drafts[i][1] for i in group.answers if i in of.drafts):
            template = gettext_noop(
                "“%(rater)s” has submitted “%(row)s” here, and in the file drafts wait in it. Confirm them first."
            )
        elif not all(assignment.asks(section) for section in sections):
            template = gettext_noop("“%(rater)s” was asked only some sections of “%(row)s”, and not this one.")
        else:
            return
        self.problems.add(of.line_of[group.answers[0]], template, rater=rater.code, row=of.rows[group.row].name)

    # --- writing ---

    def write(self) -> None:
        """Write what differs; only after `check` has found no problem."""
        of = self.all
        by_code = {rater.code: rater for rater in (*of.raters, *of.drafters.values())}
        new_raters = [rater for rater in by_code.values() if rater.pk is None]
        new_rows = [row for row in of.rows if row.pk is None]
        Rater.objects.bulk_create(new_raters)
        Row.objects.bulk_create(new_rows, batch_size=1000)
        of.imported.raters, of.imported.rows = len(new_raters), len(new_rows)
        key = uuid.uuid4()
        for chunk in self._chunks() if self._changes else ():
            self._write(list(self._works(chunk)), key)

    def _write(self, works: Sequence[_Work], key: uuid.UUID) -> None:
        batch = Batch(key)
        new = [work.assignment for work in works if work.assignment.pk is None]
        drafted = works if self.all.drafts else ()
        waiting = {id(work.assignment) for work in drafted if any(label.is_draft for label in work.inserts)}
        for assignment in new:
            assignment.started_at = batch.at
            if id(assignment) in waiting:
                assignment.state = Assignment.State.STARTED  # as here: what holds a draft is not submitted
            else:
                assignment.state, assignment.submitted_at = Assignment.State.SUBMITTED, batch.at
        Assignment.objects.bulk_create(new)
        counts = self.all.imported
        for work in works:
            for label in work.inserts:
                batch.put(work.assignment, label.column_id, label.question_id, None, label)
            for before, label in work.updates:
                batch.put(work.assignment, label.column_id, label.question_id, before, label)
            for label in work.clears:
                batch.put(work.assignment, label.column_id, label.question_id, label, None)
            counts.labels += len(work.inserts) - work.presets
            counts.presets += work.presets
            counts.changed += len(work.updates)
            counts.cleared += len(work.clears)
        batch.flush()


def _found(
    part: Part, columns: Mapping[int, Column], row: Row, labels: Mapping[tuple[int, int], Label]
) -> set[Finding]:
    """What the checks of a section find in the labels of one assignment."""
    keys = {question.pk: key for key, question in part.questions.items()}
    values = {(columns[c].position, keys[q]): part.answer(label) for (c, q), label in labels.items() if c in columns}
    facets = {column.position: column.facets for column in columns.values()}
    return set(findings(part.spec, values, row=row.facets, columns=facets))


def _label(assignment: Assignment, cell: Cell, said: Said) -> Label:
    label = Label(assignment=assignment, column=cell.column, question=cell.question, value=said.value)
    label.option_id = said.option.pk if said.option is not None else None
    return label


def _is_protected(answers: Answers, rater: Rater) -> bool:
    """Whether the labels of a rater come from here: of a person with a login, of a judge that the study has."""
    return rater.pk in answers.known_raters and (rater.user_id is not None or rater.kind == Rater.Kind.JUDGE)
