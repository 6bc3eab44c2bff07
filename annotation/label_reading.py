"""Reading a file of labels against a study: every line becomes a row, a rater, a cell and an option, or a problem.

Each answer is kept as six integers in arrays, so that a large file costs little memory.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.imports import (
    COLUMNS_STAND,
    Imported,
    Sheets,
    Unresolved,
    add_columns,
    check_facets,
    check_length,
    column_name,
    find_section,
    is_worked_on,
)
from annotation.inference import whole_number
from annotation.models import Column, Option, Question, Rater, Row, Section, Sheet, Study
from annotation.records import MISSING, Headings, LabelRecord, label_headings, label_records
from annotation.scheme import Kind, SectionSpec
from annotation.sentences import gettext_noop
from annotation.tables import Problems, Table

_PSEUDONYM = re.compile(r"R[1-9]\d*")
_FLAG_WORDS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


@dataclass(frozen=True)
class LabelImport:
    """How a file of labels is to be read.

    Attributes:
        headings: {field: heading of the file} where recognition is not enough; "" says that the file has none.
        wide: one line an item, one column a rater.
        ignore: headings that are not read.
        create: make the sheets, rows, columns and raters that the study has not.
        pseudonyms: raters become R1, R2, … in the order of the file, and who was who is not kept.
        replace: an answer that differs from an imported one takes its place; else it is a problem.
        nominal: for a new study: numbers are names of options, not steps of a scale.
    """

    headings: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    ignore: tuple[str, ...] = ()
    create: bool = False
    pseudonyms: bool = False
    replace: bool = False
    nominal: bool = False

    def headings_of(self, table: Table) -> Headings:
        return label_headings(table.header, given=self.headings, wide=self.wide, ignore=self.ignore)


class Part:
    """A section with all that its answers are looked up by."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.spec: SectionSpec = section.spec
        self.questions = {question.key: question for question in section.questions.all()}
        self.options = {option.pk: option for q in self.questions.values() for option in q.options.all()}
        self._by_word = {question.pk: _words(question) for question in self.questions.values()}
        # With one question and no preset, no answer depends on another.
        self.has_rules = any(q.ask_unless or q.preset for q in self.spec.questions)

    def question(self, name: str | None) -> Question:
        if not name and len(self.questions) == 1:
            return next(iter(self.questions.values()))
        found = [question for question in self.questions.values() if name in (question.key, question.title)]
        if not found and not name:
            raise Unresolved(
                gettext_noop("“%(section)s” has several questions. A column “question” must say which: %(questions)s."),
                section=self.section.key,
                questions=", ".join(self.questions),
            )
        if not found:
            raise Unresolved(
                gettext_noop("“%(question)s” is no question of “%(section)s”; its questions are: %(questions)s."),
                question=name or "",
                section=self.section.key,
                questions=", ".join(self.questions),
            )
        return found[0]

    def options_of(self, question: Question) -> list[Option]:
        return list(question.options.all())

    def option(self, question: Question, answer: str) -> Option | None:
        """The option that `answer` names by key, label or number; None for another program's word for “nothing”."""
        words = self._by_word[question.pk]
        option = words.get(answer.casefold())
        if option is None and (number := whole_number(answer)) is not None:
            option = words.get(str(number))
        if option is None and answer not in MISSING:
            raise Unresolved(
                gettext_noop("“%(answer)s” is no answer to “%(question)s”; it takes: %(options)s."),
                answer=answer[:80],
                question=question.title,
                options=", ".join(option.label for option in question.options.all()),
            )
        return option


def _words(question: Question) -> dict[str, Option]:
    options = list(question.options.all())
    words: dict[str, Option] = {}
    if question.kind == Kind.FLAG:
        by_key = {option.key: option for option in options}
        words |= {word: by_key[key] for word, key in _FLAG_WORDS.items() if key in by_key}
    words |= {str(option.value): option for option in options if option.value is not None}
    words |= {option.label.casefold(): option for option in options}
    return words | {option.key: option for option in options}


class Cell(NamedTuple):
    column: Column
    question: Question
    part: Part

    def __str__(self) -> str:
        return f"{self.question.title}: {self.column.name}" if self.column.name else self.question.title


class Answers:
    """The answers of a file, found in the study or made for it; `problems` says what could not be."""

    def __init__(self, study: Study, table: Table, how: LabelImport) -> None:
        """Read the whole file. Sheets and columns that it needs are made on the way: roll back when there are problems.

        Raises:
            TableError: the file, or its headings, cannot be read.
        """
        self.study, self.table, self.how = study, table, how
        self.headings = how.headings_of(table)
        self.problems = Problems(table.name)
        self.imported = Imported(unread=self.headings.unread)
        self.sheets = Sheets(study, self.imported, create=how.create)
        sections = study.scheme.sections.prefetch_related("questions__options")
        self.sections = {section.key: section for section in sections}
        for section in self.sections.values():
            section.scheme = study.scheme  # parsed once
        self.parts = {key: Part(section) for key, section in self.sections.items()}

        known = list(study.raters.select_related("user"))
        self.known_raters = {rater.pk for rater in known}
        self.raters: list[Rater] = []
        self._raters = {rater.code: rater for rater in known}
        self._rater_index: dict[str, int] = {}
        self.pseudonyms: dict[str, str] = {}
        self.had_pseudonyms = any(_PSEUDONYM.fullmatch(rater.code) for rater in known)

        self.rows: list[Row] = []
        self._row_index: dict[tuple[int, str], int] = {}
        self._standing_rows: dict[int, dict[str, Row]] = {}
        self._row_positions: dict[int, int] = {}
        self.cells: list[Cell] = []
        self._cell_index: dict[tuple[object, ...], int] = {}
        self._columns: dict[tuple[int, str], list[Column]] = {}
        self._worked_on: dict[int, bool] = {}

        # Position i of each array is answer i; `rows`, `raters` and `cells` are what the small numbers mean.
        self.row_of, self.rater_of, self.repeat_of = array("i"), array("i"), array("i")
        self.cell_of, self.line_of, self.option_of = array("i"), array("i"), array("q")
        self.notes: dict[int, str] = {}
        self.presets: set[int] = set()
        self.exposed: set[int] = set()
        self._read()

    def __len__(self) -> int:
        return len(self.line_of)

    def _read(self) -> None:
        for record in label_records(self.table, self.headings, self.problems):
            if not record.answer:
                self.imported.empty += 1
                continue
            try:
                sheet = self.sheets.get(record.sheet)
                cell = self._cell(record, sheet)
                question = self.cells[cell].question
                option = self.cells[cell].part.option(question, record.answer)
                if option is None:
                    self.imported.empty += 1
                    continue
                row, rater = self._row(record, sheet), self._rater(record)
            except Unresolved as error:
                self.problems.add(record.line, error.template, **error.values)
                continue
            if record.note:
                self.notes[len(self)] = record.note
            if record.preset:
                self.presets.add(len(self))
            if record.exposed:
                self.exposed.add(len(self))
            self.row_of.append(row)
            self.rater_of.append(rater)
            self.repeat_of.append(record.repeat)
            self.cell_of.append(cell)
            self.option_of.append(option.pk)
            self.line_of.append(record.line)

    def _cell(self, record: LabelRecord, sheet: Sheet) -> int:
        key = (sheet.pk, *record[3:8])
        if (index := self._cell_index.get(key)) is not None:
            return index
        part = self.parts[find_section(self.sections, record.section).key]
        question = part.question(record.question)
        column = self._column(record, sheet, part)
        # Two ways to say the same cell (by name, by number) share its index: else they would not be seen as the same.
        own = (column.pk, question.pk)
        if own not in self._cell_index:
            self._cell_index[own] = len(self.cells)
            self.cells.append(Cell(column, question, part))
        self._cell_index[key] = self._cell_index[own]
        return self._cell_index[key]

    def _column(self, record: LabelRecord, sheet: Sheet, part: Part) -> Column:
        """The column that a line means: by its number, else by its name, else by its facets, else the only one."""
        columns = self._columns.get((sheet.pk, part.section.key))
        if columns is None:
            columns = list(Column.objects.filter(sheet=sheet, section=part.section).order_by("position"))
            self._columns[sheet.pk, part.section.key] = columns
        name, number = record.column, record.column_number
        facets = {facet: text for facet, text in record.facets or () if text}
        if name is None and facets:
            name = column_name(check_facets(facets, part.spec))
        numbered = [column for column in columns if number is None or column.position == number - 1]
        found = [column for column in numbered if name is None or column.name == name]
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            raise Unresolved(
                gettext_noop("“%(sheet)s” has %(n)s columns that this can be. A column “%(heading)s” must say which."),
                sheet=sheet.title,
                n=len(found),
                heading="column" if name is None else "column_number",
            )
        if number is not None and numbered and numbered[0].name:
            raise Unresolved(
                gettext_noop("Column %(number)s of “%(section)s” in “%(sheet)s” is “%(stands)s”, not “%(name)s”."),
                number=number,
                section=part.section.key,
                sheet=sheet.title,
                stands=numbered[0].name,
                name=name or "",
            )
        columns[:] = self._with_new_column(record, sheet, part, name or "", facets, columns)
        self.imported.columns += 1
        return columns[-1]

    def _with_new_column(
        self, record: LabelRecord, sheet: Sheet, part: Part, name: str, facets: Mapping[str, str], present: list[Column]
    ) -> list[Column]:
        if not self.how.create:
            raise Unresolved(
                gettext_noop("“%(sheet)s” has no column “%(column)s”. Correct the name, or let the import create it."),
                sheet=sheet.title,
                column=name,
            )
        if sheet.pk not in self._worked_on:
            self._worked_on[sheet.pk] = bool(is_worked_on([sheet]))
        if self._worked_on[sheet.pk]:
            raise Unresolved(COLUMNS_STAND, sheet=sheet.title, column=name)
        names = part.spec.column.facets
        if name and not facets and len(names) > 1:
            raise Unresolved(
                gettext_noop("To make the column “%(column)s”, the file needs these columns: %(headings)s."),
                column=name,
                headings=", ".join(f"facet_{facet}" for facet in names),
            )
        return add_columns(
            sheet=sheet,
            section=part.section,
            present=present,
            facets=[check_facets(facets or {names[0]: name}, part.spec)],
            positions=None if record.column_number is None else [record.column_number - 1],
            # A blank column that lines above this one answer stays.
            keep_blank=any(cell.column in present for cell in self.cells),
        )

    def _row(self, record: LabelRecord, sheet: Sheet) -> int:
        key = (sheet.pk, record.row)
        if (index := self._row_index.get(key)) is not None:
            return index
        standing = self._standing_rows.get(sheet.pk)
        if standing is None:
            standing = {row.name: row for row in Row.objects.filter(sheet=sheet).only("name", "position", "sheet_id")}
            self._standing_rows[sheet.pk] = standing
            self._row_positions[sheet.pk] = max((row.position for row in standing.values()), default=-1) + 1
        row = standing.get(record.row)
        if row is None:
            if not self.how.create:
                raise Unresolved(
                    gettext_noop("“%(sheet)s” has no row “%(row)s”. Correct the name, or let the import create it."),
                    sheet=sheet.title,
                    row=record.row,
                )
            check_length(record.row, 200)
            row = Row(sheet=sheet, name=record.row, position=self._row_positions[sheet.pk])
            self._row_positions[sheet.pk] += 1
        self._row_index[key] = len(self.rows)
        self.rows.append(row)
        return self._row_index[key]

    def _rater(self, record: LabelRecord) -> int:
        code = record.rater
        if self.how.pseudonyms and record.rater_kind in ("", Rater.Kind.PERSON):
            code = self.pseudonyms.setdefault(code, f"R{len(self.pseudonyms) + 1}")
        rater = self._raters.get(code)
        if rater is None:
            if not self.how.create:
                raise Unresolved(
                    gettext_noop("The study has no rater “%(rater)s”. Correct the name, or let the import create it."),
                    rater=code,
                )
            check_length(code, 80)
            kind = record.rater_kind or Rater.Kind.PERSON
            # Inactive: whoever cannot log in must not be offered new work by the planner.
            rater = Rater(study=self.study, kind=kind, code=code, simulated=bool(record.simulated), active=False)
            self._raters[code] = rater
        if record.rater_kind and rater.kind != record.rater_kind:
            raise Unresolved(
                gettext_noop("“%(rater)s” is of the kind “%(kind)s” already. Give one of the two another name."),
                rater=code,
                kind=str(rater.kind),
            )
        if record.simulated is not None and rater.simulated != record.simulated:
            raise Unresolved(
                gettext_noop("“%(rater)s” is both simulated and not. Give one of the two another name."), rater=code
            )
        if code not in self._rater_index:
            self._rater_index[code] = len(self.raters)
            self.raters.append(rater)
        return self._rater_index[code]
