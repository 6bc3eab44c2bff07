"""Importing labels that were made elsewhere, into a study or into a new one. All or nothing, in one transaction.

The answers of a file are sorted, so that those of one assignment lie together; the assignments are checked, then
written, a few hundred at a time.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.imports import Imported, ImportRefused, one_import
from annotation.inference import infer_scheme
from annotation.label_reading import Answers, Cell, LabelImport
from annotation.models import Assignment, Label, LabelEvent, Rater, Row, Scheme, Study, User
from annotation.records import label_records
from annotation.scheme import load_scheme
from annotation.sentences import gettext_noop
from annotation.tables import Problems, Table

_CHUNK = 400  # assignments checked and written together; SQLite takes 999 values a query


def import_labels(*, study: Study, table: Table, how: LabelImport) -> Imported:
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
    *, slug: str, title: str, table: Table, how: LabelImport, by: User | None
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
            yield record.answer

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
    updates: list[tuple[int | None, Label]] = field(default_factory=list)  # (option before, the label as it will be)
    clears: list[Label] = field(default_factory=list)
    presets: int = 0
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
            cell, option, note = of.cells[of.cell_of[i]], of.option_of[i], of.notes.get(i, "")
            old = standing.get((cell.column.pk, cell.question.pk))
            if old is None:
                label = Label(assignment=work.assignment, column=cell.column, question=cell.question, note=note)
                label.option_id, label.preset, label.exposed = option, i in of.presets, i in of.exposed
                work.inserts.append(label)
            elif old.option_id == option and note in ("", old.note):
                work.unchanged += 1
            elif may_replace:
                work.updates.append((old.option_id, old))
                old.option_id, old.note, old.scores, old.preset = option, note or old.note, None, i in of.presets
                if "exposed" in of.headings.at:
                    old.exposed = i in of.exposed
            else:
                self.problems.add(
                    of.line_of[i],
                    gettext_noop(
                        "“%(rater)s” has answered “%(cell)s” of “%(row)s” with “%(before)s”%(note)s; the file says "
                        "“%(after)s”. A finished answer is kept: correct the line, or let the import replace answers."
                    ),
                    rater=of.raters[group.rater].code,
                    cell=str(cell),
                    row=of.rows[group.row].name,
                    before=cell.part.options[old.option_id].label,
                    note=f" ({old.note})" if old.note else "",
                    after=cell.part.options[option].label,
                )

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
            said = {key: part.options[label.option_id].key for key, label in before.items()}
            said |= {key: part.options[of.option_of[i]].key for key, i in in_file.items()}
            presets = {key: option for key, option in part.spec.presets(column.facets).items() if key not in said}
            if "preset" in of.headings.at:
                presets = {}  # the file says itself which were filled in; what it leaves out was cleared by somebody
            asked = {question.key for question in part.spec.asked(said | presets)}
            for key in presets.keys() & asked:
                question = part.questions[key]
                label = Label(assignment=work.assignment, column=column, question=question, preset=True)
                label.option = next(option for option in part.options_of(question) if option.key == presets[key])
                work.inserts.append(label)
                work.presets += 1
            for key in said.keys() - asked:
                if key in in_file or not of.how.replace:
                    line = of.line_of[in_file.get(key, answers[0])]
                    self._refuse_unasked(line, Cell(column, part.questions[key], part), said)
                else:
                    work.clears.append(before[key])

    def _refuse_unasked(self, line: int, cell: Cell, said: Mapping[str, str]) -> None:
        rule = cell.part.spec.question(cell.question.key).ask_unless
        reason = next((key for key, options in rule.items() if said.get(key) in options), next(iter(rule)))
        other = cell.part.spec.question(reason)
        if reason in said:
            template = gettext_noop("“%(cell)s” is not asked when “%(other)s” is “%(answer)s”.")
        else:
            template = gettext_noop("“%(cell)s” is not asked when “%(other)s” is not.")
        answer = other.option(said[reason]).label if reason in said else ""
        self.problems.add(line, template, cell=str(cell), other=other.title, answer=answer)

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
        elif not all(assignment.asks(section) for section in sections):
            template = gettext_noop("“%(rater)s” was asked only some sections of “%(row)s”, and not this one.")
        else:
            return
        self.problems.add(of.line_of[group.answers[0]], template, rater=rater.code, row=of.rows[group.row].name)

    # --- writing ---

    def write(self) -> None:
        """Write what differs; only after `check` has found no problem."""
        of = self.all
        new_raters = [rater for rater in of.raters if rater.pk is None]
        new_rows = [row for row in of.rows if row.pk is None]
        Rater.objects.bulk_create(new_raters)
        Row.objects.bulk_create(new_rows, batch_size=1000)
        of.imported.raters, of.imported.rows = len(new_raters), len(new_rows)
        key = uuid.uuid4()
        for chunk in self._chunks() if self._changes else ():
            self._write(list(self._works(chunk)), key)

    def _write(self, works: Sequence[_Work], key: uuid.UUID) -> None:
        now = timezone.now()
        new = [work.assignment for work in works if work.assignment.pk is None]
        for assignment in new:
            assignment.state, assignment.started_at, assignment.submitted_at = Assignment.State.SUBMITTED, now, now
        Assignment.objects.bulk_create(new)
        inserts = [label for work in works for label in work.inserts]
        updates = [update for work in works for update in work.updates]
        clears = [label for work in works for label in work.clears]
        for _before, label in updates:
            label.revision, label.updated_at = label.revision + 1, now
        LabelEvent.objects.bulk_create(
            [
                *(_event(label, None, label.option_id, key, now) for label in inserts),
                *(_event(label, before, label.option_id, key, now) for before, label in updates),
                *(_event(label, label.option_id, None, key, now) for label in clears),
            ]
        )
        Label.objects.bulk_create(inserts)
        Label.objects.bulk_update(
            [label for _before, label in updates],
            ["option", "scores", "note", "preset", "exposed", "revision", "updated_at"],
        )
        Label.objects.filter(pk__in=[label.pk for label in clears]).delete()
        counts, presets = self.all.imported, sum(work.presets for work in works)
        counts.labels += len(inserts) - presets
        counts.presets += presets
        counts.changed += len(updates)
        counts.cleared += len(clears)


def _is_protected(answers: Answers, rater: Rater) -> bool:
    """Whether the labels of a rater come from here: of a person with a login, of a judge that the study has."""
    return rater.pk in answers.known_raters and (rater.user_id is not None or rater.kind == Rater.Kind.JUDGE)


def _event(label: Label, before: int | None, after: int | None, key: uuid.UUID, at: datetime) -> LabelEvent:
    return LabelEvent(
        assignment=label.assignment,
        column_id=label.column_id,
        question_id=label.question_id,
        before_id=before,
        after_id=after,
        note="" if after is None else label.note,
        preset=after is not None and label.preset,
        key=key,
        at=at,
    )
