"""Reading a file of labels against a study: every line becomes a row, a rater, a cell and an answer, or a problem.

Each answer is kept as six integers in arrays, and what is said again and again once, so that a large file costs little
memory.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from annotation import actions, doors
from annotation.actions import Refused
from annotation.answers import AnswerRefused, Value, kind_of, value_code
from annotation.answers.spans import SPANS, has_places
from annotation.exchange.arrivals import note_made
from annotation.exchange.marked.texts import Begins, begins_with, on_bare
from annotation.exchange.new_sheets import NewSheets
from annotation.exchange.records import (
    GOLD,
    MISSING,
    Headings,
    LabelRecord,
    QuestionPlace,
    fold_heading,
    label_headings,
    label_records,
)
from annotation.exchange.row_imports import (
    COLUMNS_STAND,
    Imported,
    Sheets,
    Unresolved,
    changed_meanwhile,
    check_address,
    check_facets,
    check_length,
    column_name,
    find_section,
    is_worked_on,
    more_columns,
)
from annotation.exchange.tables import FileTable, Problems, TableError
from annotation.models import Arrival, Column, Label, Option, Question, Rater, Row, Section, Sheet, Study
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec
from base.sentences import gettext_noop

_ROWS = 500  # of which the texts are compared at once
_ANOTHER_TEXT = gettext_noop(
    "The text of “%(row)s” is another one here, so its marked words may stand elsewhere. Import the text under a name "
    "of its own, or leave the line out."
)
_NO_TEXT = gettext_noop(
    "The study has no text of this row in which words could be marked. Import this file under “Rows” first "
    "(import_rows), then its labels."
)
_PSEUDONYM = re.compile(r"R[1-9]\d*")


@dataclass(frozen=True)
class LabelImport:
    """How a file of labels is to be read.

    Attributes:
        headings: {field: heading of the file} where recognition is not enough; "" says that the file has none.
        every: {field: what it is on each line}, for files that do not say who answered, or what question.
        wide: one line an item, one column a rater.
        ignore: headings that are not read.
        create: make the sheets, rows, columns and raters that the study has not.
        pseudonyms: raters become R1, R2, … in the order of the file, and who was who is not kept.
        replace: an answer that differs from an imported one takes its place; else it is a problem.
        nominal: for a new study: numbers are names of options, not steps of a scale.
    """

    headings: Mapping[str, str] = field(default_factory=dict)
    every: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    ignore: tuple[str, ...] = ()
    create: bool = False
    pseudonyms: bool = False
    replace: bool = False
    nominal: bool = False

    def headings_of(self, table: FileTable, scheme: SchemeSpec | None = None) -> Headings:
        """`scheme`: of the study, where there is one: its questions may have columns of their own."""
        questions = _questions_by_heading(scheme) if scheme else {}
        if table.needs_texts and not {"rater"} & {*table.header, *self.every, *self.headings}:
            raise TableError(
                gettext_noop(
                    "“%(file)s” does not say who marked its words. Name them: “Rater of all lines” (--every-rater)."
                ),
                file=table.name,
            )
        found = label_headings(
            table.header,
            given=self.headings,
            wide=self.wide,
            ignore=self.ignore,
            questions=questions,
            every=self.every,
        )
        return replace(found, unread=tuple(heading for heading in found.unread if heading not in table.silent))


def _questions_by_heading(scheme: SchemeSpec) -> dict[str, QuestionPlace]:
    """The questions of a scheme by the folded headings that mean one of them alone: its key or title, also behind its
    section's key."""
    found: dict[str, set[QuestionPlace]] = {}
    for section in scheme.sections:
        for question in section.questions:
            for name in (question.key, question.title, f"{section.key}__{question.key}"):
                found.setdefault(fold_heading(name), set()).add(QuestionPlace(section.key, question.key))
    return {heading: places.pop() for heading, places in found.items() if heading and len(places) == 1}


def _has_options(spec: QuestionSpec) -> bool:
    return bool(spec.options)


def _is_gold(code: str) -> bool:
    """A rater of this name is the gold, where a file says no kind."""
    return code.casefold() == GOLD


class Said(NamedTuple):
    """An answer of a file: an option or a value."""

    code: str
    option: Option | None
    value: Value | None
    shown: str


class Part:
    """A section with all that its answers are looked up by."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.spec: SectionSpec = section.spec
        self.questions = {question.key: question for question in section.questions.all()}
        self.options = {option.pk: option for q in self.questions.values() for option in q.options.all()}
        self.specs = {question.pk: self.spec.question(question.key) for question in self.questions.values()}
        self._by_key = {(option.question_id, option.key): option for option in self.options.values()}
        # With one question and no preset, no answer depends on another.
        self.has_rules = any(q.ask_unless or q.preset for q in self.spec.questions)

    def named(self, name: str | None) -> list[Question]:
        """The questions that a name can mean: by key or title, else by these as headings are read."""
        found = [question for question in self.questions.values() if name in (question.key, question.title)]
        if found or not name:
            return found
        folded = fold_heading(name)
        return [q for q in self.questions.values() if folded in (fold_heading(q.key), fold_heading(q.title))]

    def question(self, name: str | None) -> Question:
        if not name and len(self.questions) == 1:
            return next(iter(self.questions.values()))
        found = self.named(name)
        if not found and not name:
            raise Unresolved(
                gettext_noop("“%(section)s” has several questions. A column “question” must say which: %(questions)s."),
                section=self.section.key,
                questions=", ".join(self.questions),
            )
        if len(found) != 1:
            raise Unresolved(
                gettext_noop("“%(question)s” is no question of “%(section)s”; its questions are: %(questions)s."),
                question=name or "",
                section=self.section.key,
                questions=", ".join(self.questions),
            )
        return found[0]

    def said(
        self,
        question: Question,
        answer: str,
        table: FileTable,
        *,
        by_model: bool = False,
        missing: Collection[str] = MISSING,
    ) -> Said | None:
        """What an answer of `table` says; None for another program's word for “nothing”, one of `missing` where that
        could be a text. `by_model`: as in its `value`."""
        spec = self.specs[question.pk]
        kind = kind_of(spec)
        is_missing = answer in MISSING and not (spec.text and spec.text.special_of(answer))
        if is_missing and answer in missing and not spec.has_options:
            return None
        try:
            value = table.value(kind, spec, answer, by_model=by_model)
        except AnswerRefused as refused:
            if is_missing:
                return None
            raise Unresolved(refused.template, **refused.values) from refused
        return None if value is None else self.of_code(question, kind.code(spec, value))

    def of_code(self, question: Question, code: str) -> Said:
        spec = self.specs[question.pk]
        if spec.has_options:
            option = self._by_key[question.pk, code]
            return Said(code, option, None, option.label)
        value = kind_of(spec).value(spec, code)
        return Said(code, None, value, kind_of(spec).shown(spec, value))

    def answer(self, label: Label) -> Value:
        """The value of a label; of an option its key."""
        return self.options[label.option_id].key if label.option_id is not None else label.value

    def code(self, label: Label) -> str:
        """The code of a label whose option need not be loaded."""
        return self.options[label.option_id].key if label.option_id is not None else value_code(label.value)


class Cell(NamedTuple):
    column: Column
    question: Question
    part: Part

    def __str__(self) -> str:
        return f"{self.question.title}: {self.column.name}" if self.column.name else self.question.title


class Answers:
    """The answers of a file, found in the study or made for it; `problems` says what could not be."""

    def __init__(self, study: Study, table: FileTable, how: LabelImport, coming: NewSheets | None = None) -> None:
        """Read the whole file. Nothing is written: what it needs and the study has not is made by `make`. `coming`:
        sheets that are written before that.

        Raises:
            TableError: the file, or its headings, cannot be read.
        """
        self.study, self.table, self.how = study, table, how
        self.headings = how.headings_of(table, study.scheme.parsed)
        self.problems = Problems(table.name)
        self.imported = Imported(unread=self.headings.unread)
        if "rater" in self.headings.at:
            self.imported.raters_of_files = table.raters_of_files
        self.sheets = Sheets(study, self.imported, create=how.create)
        self._gone: list[Column] = []  # blank columns that make way
        sections = study.scheme.sections.prefetch_related("questions__options")
        self.sections = {section.key: section for section in sections}
        for section in self.sections.values():
            section.scheme = study.scheme  # parsed once
        self.parts = {key: Part(section) for key, section in self.sections.items()}

        known = list(study.raters.select_related("user"))
        self.known_raters = {rater.pk for rater in known}
        planned = study.raters.judges().filter(assignments__plan__isnull=False).values_list("pk", flat=True).distinct()
        # Whose labels come from here: people with a login, judges that run here or shall. A system whose labels came in
        # a file is no such judge, and the next file goes on with it.
        self.protected = {rater.pk for rater in known if rater.user_id is not None}
        self.protected |= {*planned, *doors.judges_at_work(study)}
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
        self._spoken_of: set[int] = set()  # columns
        self._columns: dict[tuple[int, str], list[Column]] = {}
        self._worked_on: dict[int, bool] = {}

        # Position i of each array is answer i; `rows`, `raters` and `cells` are what the small numbers mean.
        self.row_of, self.rater_of, self.repeat_of = array("i"), array("i"), array("i")
        self.cell_of, self.line_of, self.answer_of = array("i"), array("i"), array("i")
        self.answers: list[Said] = []
        self._answer_index: dict[tuple[int, str, bool], int | None] = {}
        # Of a row and a digest of its text in the file: the first line that says so.
        self._texts: dict[tuple[int, str], int] = {}
        self.notes: dict[int, str] = {}
        self.presets: set[int] = set()
        self.exposed: set[int] = set()
        # Answer -> the code in the file of whose answer it began as, and whether that was confirmed.
        self.drafts: dict[int, tuple[str, bool]] = {}
        self.drafters: dict[str, Rater] = {}
        self.coming = coming or NewSheets(study, ())
        for one in self.coming.all:
            self.sheets.by_title[one.sheet.title] = one.sheet
            self._columns |= {(one.sheet.pk, key): list(columns) for key, columns in one.columns.items()}
            self._standing_rows[one.sheet.pk], self._row_positions[one.sheet.pk] = {one.row.name: one.row}, 1
        self._read()
        self._check_texts()
        self._find_drafters()

    def __len__(self) -> int:
        return len(self.line_of)

    def _read(self) -> None:
        for record in label_records(self.table, self.headings, self.problems):
            if not record.answer:
                self.imported.empty += 1
                continue
            try:
                sheet = self.sheets.get(record.sheet)
                if not record.question and (kind := self.table.type_of(record.answer)):
                    record = self._asked(record, kind)
                cell = self._cell(record, sheet)
                answer = self._answer(self.cells[cell], record.answer, by_model=self._is_of_judge(record))
                if answer is None:
                    self.imported.empty += 1
                    continue
                row, rater = self._row(record, sheet), self._rater(record)
                if digest := self.table.text_digest(record.answer):
                    self._texts.setdefault((row, digest), record.line)
            except Unresolved as error:
                self.problems.add(record.line, error.template, **error.values)
                continue
            self.imported.unmarked += self.table.needs_texts and self.answers[answer].value == []
            if record.note:
                self.notes[len(self)] = record.note
            if record.preset:
                self.presets.add(len(self))
            if record.exposed:
                self.exposed.add(len(self))
            if record.drafted_from:
                self.drafts[len(self)] = (record.drafted_from, record.confirmed)
            self.row_of.append(row)
            self.rater_of.append(rater)
            self.repeat_of.append(record.repeat)
            self.cell_of.append(cell)
            self.answer_of.append(answer)
            self.line_of.append(record.line)

    def _asked(self, record: LabelRecord, kind: str) -> LabelRecord:
        """The record with its question, where the file says none: the only one that words can be marked for, or the
        only one with options."""
        fits = has_places if kind == SPANS else _has_options
        sections = [part for key, part in self.parts.items() if record.section in (None, "", key, part.section.title)]
        asked = [(part.section.key, spec) for part in sections for spec in part.spec.questions]
        found = [(section, spec.key) for section, spec in asked if fits(spec)]
        if len(asked) == 1:  # whether it takes that, it says itself
            return record
        if len(found) == 1:
            return record._replace(section=found[0][0], question=found[0][1])
        if found:
            raise Unresolved(
                gettext_noop(
                    "The file does not say which question this answers: “Question of all lines” (--every-question) is "
                    "one of %(questions)s."
                ),
                questions=", ".join(question for _section, question in found),
            )
        if kind == SPANS:
            raise Unresolved(
                gettext_noop(
                    "The study has no question for marked words: one of the kind “items” whose last field is a place."
                )
            )
        raise Unresolved(gettext_noop("The study has no question with options."))

    def _check_texts(self) -> None:
        """Words are marked in the text that the row has. A query for every 500 rows."""
        of_rows: dict[int | None, list[tuple[str, int, int]]] = {}
        for (place, digest), line in self._texts.items():
            of_rows.setdefault(self.rows[place].pk, []).append((digest, line, place))
        keys, bare = [pk for pk in of_rows if pk is not None], set[tuple[int, str]]()
        for start in range(0, len(keys), _ROWS):
            some = Row.objects.filter(pk__in=keys[start : start + _ROWS])
            for pk, evidence in some.values_list("pk", "evidence"):
                if not evidence:
                    continue
                blocks = [block["text"] for block in evidence]
                for digest, line, place in of_rows.pop(pk):
                    begins = begins_with(blocks, digest)
                    if begins is None:
                        self.problems.add(line, _ANOTHER_TEXT, row=self.rows[place].name)
                    elif begins is Begins.BARE:
                        bare.add((place, digest))
        self._move_to_bare(bare)
        if self.table.needs_texts:
            for line in sorted(line for without in of_rows.values() for _digest, line, _place in without):
                self.problems.add(line, _NO_TEXT)

    def _move_to_bare(self, bare: Collection[tuple[int, str]]) -> None:
        """Words of rows that came when lines lost the blanks that they begin with: their places are without these.
        `bare`: such rows, each with the digest of its text in the file."""
        if not bare:
            return
        said = {index: key for key, index in self._answer_index.items()}
        for number, place in enumerate(self.row_of):
            _question, text, by_model = said[self.answer_of[number]]
            if (place, self.table.text_digest(text)) not in bare:
                continue
            try:
                answer = self._answer(self.cells[self.cell_of[number]], on_bare(text), by_model=by_model)
            except Unresolved as error:
                self.problems.add(self.line_of[number], error.template, **error.values)
                continue
            assert answer is not None  # it marks words
            self.answer_of[number] = answer

    def _find_drafters(self) -> None:
        """Whose answers drafts are of: raters of the file, of the study, or new ones."""
        first: dict[str, int] = {}
        for place, (code, _confirmed) in self.drafts.items():
            first.setdefault(code, self.line_of[place])
        for code, line in first.items():
            try:
                self.drafters[code] = self._drafter(code)
            except Unresolved as error:
                self.problems.add(line, error.template, **error.values)

    def _drafter(self, code: str) -> Rater:
        if self.how.pseudonyms and (code in self.pseudonyms or code not in self._raters):
            code = self.pseudonyms.setdefault(code, f"R{len(self.pseudonyms) + 1}")
        return self._rater_of(self._called(code))

    def _called(self, code: str, kind: str = "") -> str:
        """The code of whom a file means: however “gold” is written, it is the one gold of a study."""
        if code in self._raters or kind not in ("", GOLD) or not _is_gold(code):
            return code
        golds = (known.code for known in self._raters.values() if known.kind == GOLD and _is_gold(known.code))
        return next(golds, GOLD)

    def _is_of_judge(self, record: LabelRecord) -> bool:
        standing = None if record.rater_kind else self._raters.get(record.rater)
        return (standing.kind if standing else record.rater_kind) == Rater.Kind.JUDGE

    def _answer(self, cell: Cell, text: str, *, by_model: bool) -> int | None:
        """The place of what is said in `answers`, None for nothing."""
        key = (cell.question.pk, text, by_model)
        if key not in self._answer_index:
            said = cell.part.said(cell.question, text, self.table, by_model=by_model, missing=self.headings.missing)
            if said is not None:
                self.answers.append(said)
            self._answer_index[key] = None if said is None else len(self.answers) - 1
        return self._answer_index[key]

    def columns_of(self, sheet_id: int, section: Section) -> list[Column]:
        """All columns of a section that answers of the file are about; no query."""
        return self._columns[sheet_id, section.key]

    def _cell(self, record: LabelRecord, sheet: Sheet) -> int:
        key = (sheet.pk, *record[3:8])
        if (index := self._cell_index.get(key)) is not None:
            return index
        part = self._part(record)
        # The control of another program's only question may have any name.
        alone = not record.section and self.table.names_controls and len(part.questions) == 1
        question = part.question(None if alone else record.question)
        column = self._column(record, sheet, part)
        # Two ways to say the same cell (by name, by number) share its index: else they would not be seen as the same.
        own = (column.pk, question.pk)
        if own not in self._cell_index:
            self._cell_index[own] = len(self.cells)
            self.cells.append(Cell(column, question, part))
            self._spoken_of.add(column.pk)
        self._cell_index[key] = self._cell_index[own]
        return self._cell_index[key]

    def _part(self, record: LabelRecord) -> Part:
        """The section that a line means: the one it names, else the only one that has its question."""
        if not record.section and record.question and len(self.parts) > 1:
            having = [part for part in self.parts.values() if part.named(record.question)]
            if len(having) == 1:
                return having[0]
        return self.parts[find_section(self.sections, record.section).key]

    def _column(self, record: LabelRecord, sheet: Sheet, part: Part) -> Column:
        """The column that a line means: by its number, else by its name, else by its facets, else the only one."""
        columns = self._columns.get((sheet.pk, part.section.key))
        if columns is None:
            columns = self._standing_columns(sheet, part)
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
        left, new, gone = more_columns(
            sheet=sheet,
            section=part.section,
            present=present,
            facets=[check_facets(facets or {names[0]: name}, part.spec)],
            positions=None if record.column_number is None else [record.column_number - 1],
            # A blank column that lines above this one answer stays.
            keep_blank=not self._spoken_of.isdisjoint(column.pk for column in present),
        )
        for column in new:
            column.pk = self.sheets.key()
        self._gone += gone
        return left + new

    def _standing_columns(self, sheet: Sheet, part: Part) -> list[Column]:
        """The columns of a section; of a sheet that is still to be made the blank one that it will have."""
        if sheet.pk > 0:
            return list(Column.objects.filter(sheet=sheet, section=part.section).order_by("position"))
        facets = dict.fromkeys(part.spec.column.facets, "")
        return [Column(pk=self.sheets.key(), sheet=sheet, section=part.section, position=0, name="", facets=facets)]

    def make(self, arrival: Arrival | None = None) -> None:
        """Make the sheets, columns and raters that are missing; only once there is no problem. What `arrival` is told
        of can be taken back."""
        sheets = self.sheets.planned
        keys: dict[int, int] = {}  # planned -> made
        blanks: dict[tuple[int, str], Column] = {}
        for sheet in sheets:
            made = actions.add_sheet(study=self.study, title=sheet.title, columns={})
            keys[sheet.pk] = made.pk
            sheet.pk, sheet.position = made.pk, made.position
            blanks |= {(made.pk, c.section.key): c for c in made.columns.select_related("section")}
        gone = [column for column in self._gone if column.pk > 0]
        new: list[Column] = []
        planned, self._columns = self._columns, {}
        for (sheet_pk, section), columns in planned.items():
            key = (keys.get(sheet_pk, sheet_pk), section)
            self._columns[key] = columns
            blank = blanks.get(key)
            for column in columns:
                if column.pk > 0:
                    continue
                column.sheet_id = key[0]
                if blank is not None and not column.name:
                    column.pk, blank = blank.pk, None
                    continue
                column.pk = None
                new.append(column)
            gone += [blank] if blank is not None else []
        standing = {column.sheet_id: column.sheet for column in new if column.sheet_id not in keys.values()}
        if is_worked_on(standing.values()):
            raise Refused(changed_meanwhile())
        Column.objects.filter(pk__in=[column.pk for column in gone]).delete()
        Column.objects.bulk_create(new)
        for row in self.rows:
            row.sheet_id = row.sheet.pk if row.pk is None else row.sheet_id
        by_code = {rater.code: rater for rater in (*self.raters, *self.drafters.values())}
        raters = [rater for rater in by_code.values() if rater.pk is None]
        Rater.objects.bulk_create(raters)
        self.imported.raters = len(raters)
        if arrival is not None:
            for kind, made_now in (("sheets", sheets), ("columns", new), ("raters", raters)):
                note_made(arrival, kind, sorted(one.pk for one in made_now))

    def _row(self, record: LabelRecord, sheet: Sheet) -> int:
        key = (sheet.pk, record.row)
        if (index := self._row_index.get(key)) is not None:
            return index
        standing = self._standing_rows.get(sheet.pk)
        if standing is None:
            standing = {
                row.name: row for row in Row.objects.filter(sheet=sheet).only("name", "position", "sheet_id", "facets")
            }
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
            check_length(record.row_title, 500)
            check_address(record.row_url)
            row = Row(
                sheet=sheet,
                name=record.row,
                title=record.row_title,
                url=record.row_url,
                position=self._row_positions[sheet.pk],
            )
            self._row_positions[sheet.pk] += 1
        self._row_index[key] = len(self.rows)
        self.rows.append(row)
        return self._row_index[key]

    def _rater(self, record: LabelRecord) -> int:
        code = self._called(record.rater, record.rater_kind)
        if self.how.pseudonyms and record.rater_kind in ("", Rater.Kind.PERSON) and not _is_gold(code):
            code = self.pseudonyms.setdefault(code, f"R{len(self.pseudonyms) + 1}")
        rater = self._rater_of(code, record.rater_kind, simulated=bool(record.simulated))
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

    def _rater_of(self, code: str, kind: str = "", *, simulated: bool = False) -> Rater:
        """The rater of a code, a new one where there is none and the import may make it."""
        rater = self._raters.get(code)
        if rater is None:
            if not self.how.create:
                raise Unresolved(
                    gettext_noop("The study has no rater “%(rater)s”. Correct the name, or let the import create it."),
                    rater=code,
                )
            check_length(code, 80)
            # Inactive: whoever cannot log in must not be offered new work by the planner.
            kind = kind or (Rater.Kind.GOLD if _is_gold(code) else Rater.Kind.PERSON)
            rater = Rater(study=self.study, kind=kind, code=code, simulated=simulated, active=False)
            self._raters[code] = rater
        return rater
