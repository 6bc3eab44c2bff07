"""The labels of one file, checked and written: assignment by assignment, in parts or at once.

The answers are sorted, so that those of one assignment lie together; its assignments are checked, then written.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.answers import Value, shown_code
from annotation.answers.table import warnings_alone
from annotation.exchange import arrivals
from annotation.exchange.label_reading import Answers, Cell, Part, Said
from annotation.exchange.lanes import Lanes
from annotation.exchange.row_imports import ImportRefused
from annotation.labels.batch import Batch, NewLabel, write_new
from annotation.models import (
    Arrival,
    Assignment,
    Column,
    Decision,
    Label,
    Rater,
    Row,
)
from annotation.plain_sql import Insert, reserved
from annotation.scheme import rules
from annotation.scheme.checks import Finding, findings
from annotation.scheme.spec import Level
from base.sentences import gettext_noop

IntArray = npt.NDArray[np.intp]

_insert_rows = Insert(
    Row,
    *("id", "sheet", "position", "name", "title", "url", "language", "evidence", "facets"),
    *("withdrawn_at", "withdrawn_reason"),
)
_ALL_SECTIONS: list[str] = []  # one for all, which is written as JSON once
_insert_work = Insert(
    Assignment,
    *("id", "rater", "row", "repeat", "sections", "state", "started_at", "submitted_at", "failure", "active_seconds"),
    "handed_to",
)

_CHUNK = 400  # assignments checked and written together; SQLite takes 999 values a query
# Answers in one part.
_PART = 4000
# Those that are not plain take longer, as each has to be an object.
_CHECKED = 1000


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


class Importer:
    def __init__(self, answers: Answers, beat: Callable[[], None] = lambda: None) -> None:
        self.all = answers
        self.problems = answers.problems
        self._beat = beat
        self.told: Callable[[int, int], None] = lambda _done, _of: None
        self._changes = 0
        self._now = timezone.now()
        self._key = uuid.uuid4()
        self._n_new = 0  # assignments that the study has not
        self._keys: Iterator[int] = iter(())  # theirs
        self._standing_groups: list[_Group] = []  # what changes in assignments that the study has
        self._waiting: list[int] = []  # keys of hidden assignments that hold drafts, so are not submitted

    @cached_property
    def _order(self) -> IntArray:
        """Positions of the answers, those of one assignment together, those of one cell by line."""
        of = self.all
        keys = (of.line_of, of.cell_of, of.repeat_of, of.rater_of, of.row_of)
        order: IntArray = np.lexsort([np.frombuffer(key, dtype=np.intc) for key in keys])
        return order

    @cached_property
    def _starts(self) -> IntArray:
        """Where in `_order` an assignment begins, and the end of all."""
        of = self.all
        n = len(self._order)
        changed = np.ones(n + 1, dtype=bool)
        if n:
            same = [np.frombuffer(key, dtype=np.intc)[self._order] for key in (of.row_of, of.rater_of, of.repeat_of)]
            changed[1:n] = np.logical_or.reduce([key[1:] != key[:-1] for key in same])
        starts: IntArray = np.flatnonzero(changed)
        return starts

    @cached_property
    def _is_plain(self) -> npt.NDArray[np.bool_]:
        """Of each assignment whether all that the file says of it is simply new: nothing stands there, nothing depends
        on another answer, and nothing has to be checked. Most are; they need no objects."""
        of, starts, order = self.all, self._starts[:-1], self._order
        if not starts.size or of.drafts:
            return np.zeros(starts.size, dtype=bool)
        plain_cell = np.array([not cell.part.has_rules and not cell.part.spec.checks for cell in of.cells])
        new_rater = np.array([rater.pk not in of.known_raters for rater in of.raters])
        guarded = np.array([rater.pk in of.protected for rater in of.raters])
        new_row = np.array([row.pk is None or row.pk in of.coming.rows for row in of.rows])
        cells = plain_cell[np.frombuffer(of.cell_of, dtype=np.intc)[order]]
        rater = np.frombuffer(of.rater_of, dtype=np.intc)[order[starts]]
        row = np.frombuffer(of.row_of, dtype=np.intc)[order[starts]]
        plain: npt.NDArray[np.bool_] = np.logical_and.reduceat(cells, starts)
        plain &= (new_rater[rater] | new_row[row]) & ~guarded[rater]
        return plain

    def _chunks(self) -> Iterator[list[_Group]]:
        """The assignments that are not plain, a few hundred at a time, or some thousand answers."""
        of, groups, n = self.all, list[_Group](), 0
        for place in np.flatnonzero(~self._is_plain).tolist():
            answers = self._order[self._starts[place] : self._starts[place + 1]].tolist()
            if groups and (len(groups) == _CHUNK or n + len(answers) > _CHECKED):
                yield groups
                groups, n = [], 0
            first = answers[0]
            groups.append(_Group(of.row_of[first], of.rater_of[first], of.repeat_of[first], answers))
            n += len(answers)
        if groups:
            yield groups

    # --- checking ---

    def check(self) -> None:
        """Find all that speaks against writing: answers given twice, rules of the scheme, what stands in the study."""
        self._check_twice()
        sizes = np.diff(self._starts)
        self._changes = int(sizes[self._is_plain].sum())
        self._n_new = int(self._is_plain.sum())
        for chunk in self._chunks():
            for work in self._works(chunk):
                self.all.imported.unchanged += work.unchanged
                self.all.imported.warned += work.warned
                self._changes += len(work.inserts) + len(work.updates)
                self._n_new += work.assignment.pk is None
            self._beat()
        if self._changes and self.all.pseudonyms and self.all.had_pseudonyms:
            self.problems.add(
                0,
                gettext_noop(
                    "The study has raters R1, R2, … already, and who they are was not kept: R1 of this file may be "
                    "somebody else. Import all files without pseudonyms, or all in one."
                ),
            )

    def _check_twice(self) -> None:
        of = self.all
        cell = np.frombuffer(of.cell_of, dtype=np.intc)[self._order]
        again = np.zeros(len(cell), dtype=bool)
        again[1:] = cell[1:] == cell[:-1]
        again[self._starts[:-1]] = False
        for place in np.flatnonzero(again).tolist():
            before, here = self._order[place - 1 : place + 1].tolist()
            self.problems.add(
                of.line_of[here],
                gettext_noop("“%(rater)s” answers “%(cell)s” of “%(row)s” on line %(first)s already."),
                rater=of.raters[of.rater_of[here]].code,
                cell=str(of.cells[of.cell_of[here]]),
                row=of.rows[of.row_of[here]].name,
                first=of.line_of[before],
            )

    def _works(self, chunk: Sequence[_Group]) -> Iterator[_Work]:
        """What each group changes, compared with what stands in the study; adds to the problems."""
        assignments, labels = self._standing(chunk)
        decided = self._decided(chunk, assignments.values())
        for group in chunk:
            rater, row = self.all.raters[group.rater], self.all.rows[group.row]
            assignment = assignments.get((rater.pk, row.pk, group.repeat))
            standing = labels.get(assignment.pk, {}) if assignment else {}
            work = _Work(assignment or Assignment(rater=rater, row=row, repeat=group.repeat))
            self._compare(work, group, standing)
            self._apply_rules(work, group, standing)
            self._check_decided(work, group, decided)
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
        standing = Label.objects.filter(assignment__rater__in=raters, assignment__row__in=rows)
        # Only what replaces an answer has a use for its scores.
        for label in standing if self.all.how.replace else standing.defer("scores"):
            labels.setdefault(label.assignment_id, {})[label.column_id, label.question_id] = label
        return assignments, labels

    def _decided(
        self, chunk: Sequence[_Group], assignments: Iterable[Assignment]
    ) -> dict[tuple[int, int, int], tuple[str, str]]:
        """{(assignment, column, question): (code, who)} of what was decided here of the gold among them, by the last
        decision of each cell: no code where that was taken back, or accepted at once with others. One query."""
        kinds = {rater.pk: rater.kind for rater in (self.all.raters[group.rater] for group in chunk)}
        gold = [one.pk for one in assignments if kinds.get(one.rater_id) == Rater.Kind.GOLD]
        if not gold:
            return {}
        found = Decision.objects.filter(assignment__in=gold).select_related("option", "by").order_by("pk")
        return {
            (one.assignment_id, one.column_id, one.question_id): ("" if one.batch else one.code, one.by.username)
            for one in found
        }

    def _check_decided(
        self, work: _Work, group: _Group, decided: Mapping[tuple[int, int, int], tuple[str, str]]
    ) -> None:
        """Gold that somebody decided here is theirs to take back, and no file's."""
        if not decided:
            return
        of = self.all
        cells = [of.cells[of.cell_of[i]] for i in group.answers]
        lines = {(c.column.pk, c.question.pk): of.line_of[i] for c, i in zip(cells, group.answers, strict=True)}
        for label in (*(before for before, _after in work.updates), *work.clears):
            code, who = decided.get((label.assignment_id, label.column_id, label.question_id), ("", ""))
            if not code:
                continue
            cell = Cell(label.column, label.question, cells[0].part)
            self.problems.add(
                lines.get((label.column_id, label.question_id), of.line_of[group.answers[0]]),
                gettext_noop(
                    "“%(cell)s” of “%(row)s” was decided here by %(who)s, and a file does not decide it anew. "
                    "Decide it on the page, or leave the line out."
                ),
                cell=str(cell),
                row=of.rows[group.row].name,
                who=who,
            )

    def _compare(self, work: _Work, group: _Group, standing: Mapping[tuple[int, int], Label]) -> None:
        of = self.all
        # What differs from a protected rater's labels is refused as a whole, by `_check_open_to_files`.
        may_replace = of.how.replace or of.raters[group.rater].pk in of.protected
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
            if of.how.replace and before == said.code:
                label.scores = old.scores
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
            alone = warnings_alone(part.spec, _values(part, columns, after))
            work.warned += len({(finding.position, finding.question) for finding in now} | alone.keys())
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
        if rater.pk in of.protected and rater.user_id is not None:
            template = gettext_noop(
                "“%(rater)s” labels here with a login, and a file does not speak for that person (“%(row)s”). "
                "Give the rater of the file another name."
            )
        elif rater.pk in of.protected:
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

    # --- writing; only after `check` has found no problem, and `Answers.make` has made what is missing ---

    def write(self) -> None:
        """Write what differs, in the transaction of the caller."""
        self._reserve(None)
        self._write_rows(self._new_rows)
        if not self._changes:
            return
        for places in self._plain_parts():
            self._write_plain(*self._plain(places, hidden=False))
        for chunk in self._chunks():
            self._write(list(self._works(chunk)))

    def write_in_parts(self, arrival: Arrival) -> None:
        """Write what is new, so that nobody sees it; each part is a transaction. `told` hears how much is written."""
        coming, counts = self.all.coming, self.all.imported
        of, n_sheets = len(coming) + self._changes, 0
        for sheets in coming.parts():
            with self._part(arrival):
                coming.write(sheets, hidden=True)
            n_sheets += len(sheets)
            self.told(n_sheets, of)
        with transaction.atomic():
            arrivals.still(arrival)
            self.all.make(arrival)
        rows = self._new_rows
        with transaction.atomic():
            arrivals.still(arrival)
            self._reserve(arrival)
        for start in range(0, len(rows), _PART):
            with self._part(arrival):
                self._write_rows(rows[start : start + _PART], hidden=True)
        if not self._changes:
            return
        with Lanes() as lanes:
            for places in self._plain_parts():
                self._beat()
                lanes.do(partial(self._write_plain, *self._plain(places, hidden=True), arrival))
                self.told(n_sheets + counts.labels, of)
        for chunk in self._chunks():
            works = list(self._works(chunk))
            if self.problems.total:
                raise ImportRefused(self.problems)
            self._standing_groups += [
                group
                for group, work in zip(chunk, works, strict=True)
                if work.assignment.pk is not None and (work.inserts or work.updates or work.clears)
            ]
            with self._part(arrival):
                self._write([work for work in works if work.assignment.pk is None], hidden=True)
            self.told(n_sheets + counts.labels + counts.presets, of)

    def write_standing(self) -> None:
        """After all parts, and in the transaction that shows them: what changes where somebody has labels already.

        Raises:
            ImportRefused: what stands there has changed since it was checked.
        """
        for start in range(0, len(self._waiting), 900):
            waiting = Assignment.objects.filter(pk__in=self._waiting[start : start + 900])
            waiting.update(state=Assignment.State.STARTED, submitted_at=None, handed_to=None)
        for start in range(0, len(self._standing_groups), _CHUNK):
            works = list(self._works(self._standing_groups[start : start + _CHUNK]))
            if self.problems.total:
                raise ImportRefused(self.problems)
            self._write(works)

    @contextmanager
    def _part(self, arrival: Arrival) -> Iterator[None]:
        self._beat()
        with arrivals.part(arrival):
            yield

    @cached_property
    def _new_rows(self) -> list[Row]:
        return [row for row in self.all.rows if row.pk is None]

    def _reserve(self, arrival: Arrival | None) -> None:
        """Set keys aside for new rows and assignments."""
        rows = self._new_rows
        for_rows, for_assignments = reserved(Row, len(rows)), reserved(Assignment, self._n_new if self._changes else 0)
        for row, key in zip(rows, for_rows, strict=True):
            row.pk = key
        self._keys = iter(for_assignments)
        self.all.imported.rows = len(rows)
        if arrival is not None:
            arrivals.note_made(arrival, "rows", for_rows)
            arrivals.note_made(arrival, "assignments", for_assignments)

    def _write_rows(self, rows: Sequence[Row], *, hidden: bool = False) -> None:
        gone, why = (self._now, _("It is being imported.")) if hidden else (None, "")
        _insert_rows(
            [(row.pk, row.sheet_id, row.position, row.name, row.title, row.url, "", [], {}, gone, why) for row in rows]
        )

    def _plain_parts(self) -> Iterator[list[int]]:
        """Places of plain assignments, as many as have some thousand answers together."""
        places = np.flatnonzero(self._is_plain)
        sizes = np.cumsum(np.diff(self._starts)[places])
        cuts = (
            np.searchsorted(sizes, np.arange(_PART, (sizes[-1] if sizes.size else 0) + _PART, _PART), side="left") + 1
        )
        for some in np.split(places, np.unique(cuts)):
            if some.size:
                yield some.tolist()

    def _plain(self, places: Sequence[int], *, hidden: bool) -> tuple[list[tuple[Any, ...]], list[NewLabel]]:
        """The assignments in these places, in the order of `_insert_work`, and their labels."""
        of, order, starts = self.all, self._order, self._starts
        work: list[tuple[Any, ...]] = []
        labels: list[NewLabel] = []
        cells = [(cell.column.pk, cell.question.pk) for cell in of.cells] if len(of.cells) < _PART else None
        for place in places:
            key = next(self._keys)
            answers = order[starts[place] : starts[place + 1]].tolist()
            first = answers[0]
            rater = of.raters[of.rater_of[first]].pk
            work.append(self._new_work(key, rater, of.rows[of.row_of[first]].pk, of.repeat_of[first], hidden=hidden))
            for i in answers:
                at = of.cell_of[i]
                cell = cells[at] if cells else (of.cells[at].column.pk, of.cells[at].question.pk)
                said = of.answers[of.answer_of[i]]
                option = said.option.pk if said.option is not None else None
                note, preset, exposed = of.notes.get(i, ""), i in of.presets, i in of.exposed
                labels.append(NewLabel(key, cell[0], cell[1], option, said.value, note, preset, exposed))
        of.imported.labels += len(labels)
        return work, labels

    def _write_plain(
        self, work: Sequence[tuple[Any, ...]], labels: Sequence[NewLabel], arrival: Arrival | None = None
    ) -> None:
        """In the transaction of the caller; or, of a file that is coming, in one of its own, in any thread."""
        if arrival is None:
            _insert_work(work)
            write_new(labels, key=self._key, at=self._now)
            return
        with arrivals.part(arrival):
            self._write_plain(work, labels)

    def _new_work(
        self, key: int, rater: int, row: int, repeat: int, *, hidden: bool, waits: bool = False
    ) -> tuple[Any, ...]:
        """An assignment that an import makes, in the order of `_insert_work`."""
        state = Assignment.State.STARTED if waits else Assignment.State.SUBMITTED
        if hidden:
            state = Assignment.State.WITHDRAWN
        submitted = self._now if state == Assignment.State.SUBMITTED else None
        return (
            key,
            rater,
            row,
            repeat,
            _ALL_SECTIONS,
            state.value,
            self._now,
            submitted,
            "",
            0,
            rater if hidden else None,
        )

    def _write(self, works: Sequence[_Work], *, hidden: bool = False) -> None:
        batch = Batch(self._key)
        new = [work.assignment for work in works if work.assignment.pk is None]
        drafted = works if self.all.drafts else ()
        # As here: what holds a draft is not submitted.
        waiting = {id(work.assignment) for work in drafted if any(label.is_draft for label in work.inserts)}
        made = []
        for assignment in new:
            assignment.pk = next(self._keys)
            waits = id(assignment) in waiting
            whose = (assignment.pk, assignment.rater_id, assignment.row_id, assignment.repeat)
            made.append(self._new_work(*whose, hidden=hidden, waits=waits))
            if hidden:
                self._waiting += [assignment.pk] if waits else []
        _insert_work(made)
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
    values = _values(part, columns, labels)
    facets = {column.position: column.facets for column in columns.values()}
    return set(findings(part.spec, values, row=row.facets, columns=facets))


def _values(
    part: Part, columns: Mapping[int, Column], labels: Mapping[tuple[int, int], Label]
) -> dict[tuple[int, str], Value]:
    keys = {question.pk: key for key, question in part.questions.items()}
    return {(columns[c].position, keys[q]): part.answer(label) for (c, q), label in labels.items() if c in columns}


def _label(assignment: Assignment, cell: Cell, said: Said) -> Label:
    label = Label(assignment=assignment, column=cell.column, question=cell.question, value=said.value)
    label.option_id = said.option.pk if said.option is not None else None
    return label
