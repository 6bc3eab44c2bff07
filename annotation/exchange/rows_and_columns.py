"""Importing rows and columns from tables: checked as a whole, then written; a large file in parts, so that nobody waits
(`annotation.exchange.arrivals`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.actions.studies import column_of
from annotation.answers.spans import as_kept
from annotation.evidence import kinds
from annotation.evidence.blocks import blocks_to_json
from annotation.exchange import arrivals
from annotation.exchange.label_imports import Doing, is_large
from annotation.exchange.row_imports import (
    COLUMNS_STAND,
    Imported,
    ImportRefused,
    Sheets,
    Unresolved,
    add_columns,
    changed_meanwhile,
    check_address,
    check_facets,
    check_length,
    column_name,
    find_section,
    in_parts,
    not_an_address,
    one_import,
)
from annotation.exchange.row_records import RowRecord, column_records, row_headings, row_records, told_apart
from annotation.exchange.tables import FileTable, Problems
from annotation.models import Arrival, Assignment, Column, Row, Sheet, Study
from annotation.plain_sql import reserved
from annotation.scheme.spec import facet_word
from base.sentences import gettext_noop

T = TypeVar("T")

# Rows held in memory at once, with their evidence, and written in one transaction.
_BATCH = 500
# Sheets that one transaction writes, or gives columns to.
_SHEETS = 50


def import_rows(
    *, study: Study, rows: FileTable | None, columns: FileTable | None = None, doing: Doing | None = None
) -> Imported:
    """Add the rows and columns of two files; sheets that they name and the study has not are made.

    What stands in the study already, word for word, is left as it is. Columns of a file without a column “sheet” go to
    each sheet that the file of rows names. Large files are written in parts, and their rows seen at the end, unless the
    caller has begun a transaction.

    Raises:
        ImportRefused: with the problems of both files; nothing is changed then.
        TableError: a file, or its headings, cannot be read; nothing is changed then.
        Refused: somebody else changed the same things meanwhile, or imports into the study.
    """
    large = doing is not None or any(is_large(table) for table in (rows, columns) if table)
    if large and not connection.in_atomic_block:
        return _import_in_parts(study, rows, columns, doing or Doing(owner="", beat=lambda: None))
    with one_import(study) as locked:
        files = _Files(locked, rows, columns)
        files.check()
        files.write()
        if doing is not None:
            doing.at_end(files.imported)
    return files.imported


def _import_in_parts(study: Study, rows: FileTable | None, columns: FileTable | None, doing: Doing) -> Imported:
    arrival = arrivals.begin(study, owner=doing.owner)
    with in_parts(arrival):
        files = _Files(Study.objects.select_related("scheme").get(pk=study.pk), rows, columns)
        files.check(partial(arrivals.beat, arrival, doing.beat))
        files.write(arrival, doing.told)
        with transaction.atomic():
            arrivals.show(arrival)
            doing.at_end(files.imported)
    return files.imported


@dataclass
class _Wanted:
    """The columns that a section of a sheet is to get: {facets' words: (line, facets)}; `new` are those it has not."""

    sheet: Sheet
    section: str
    said: dict[tuple[str, ...], tuple[int, dict[str, str]]] = field(default_factory=dict)
    new: dict[int, dict[str, str]] = field(default_factory=dict)


class _Files:
    """A file of rows and one of columns, either of which may be missing, for a study."""

    def __init__(self, study: Study, rows: FileTable | None, columns: FileTable | None) -> None:
        self.study, self.rows, self.columns = study, rows, columns
        self.spec = study.scheme.parsed.row
        self.imported = Imported()
        self.sheets = Sheets(study, self.imported, create=True)
        self.sections = {section.key: section for section in study.scheme.sections.all()}
        for section in self.sections.values():
            section.scheme = study.scheme  # parsed once
        # By the title of the sheet and the section's key; and the sheets that the file of rows names.
        self._wanted: dict[tuple[str, str], _Wanted] = {}
        self._named: dict[str, Sheet] = {}
        if rows is not None:
            known = kinds.known(study.scheme.parsed.block_kinds)
            self._headings = told_apart(rows, row_headings(rows.header, known, self.spec.keys))
            self.imported.unread = tuple(one for one in self._headings.unread if one not in rows.silent)
            self.imported.textless = bool(self._headings.unread) and not self._headings.blocks

    # --- checking; nothing is written ---

    def check(self, beat: Callable[[], None] = lambda: None) -> None:
        """Read both files whole, and plan what is written. `beat` is called now and then.

        Raises:
            ImportRefused, TableError: as `import_rows`.
        """
        found = []
        if self.rows is not None:
            found.append(Problems(self.rows.name))
            self._check_rows(self.rows, found[-1], beat)
        if self.columns is not None:
            found.append(Problems(self.columns.name))
            self._check_columns(self.columns, found[-1], beat)
        if any(problems.total for problems in found):
            raise ImportRefused(*found)

    def _check_rows(self, table: FileTable, problems: Problems, beat: Callable[[], None]) -> None:
        seen: dict[tuple[str, str], int] = {}
        for batch in self._batches(table, problems):
            checked = []
            for record in batch:
                try:
                    sheet = self.sheets.get(record.sheet)
                    _check_row(record)
                except Unresolved as error:
                    problems.add(record.line, error.template, **error.values)
                    continue
                self._named[sheet.title] = sheet
                first = seen.setdefault((sheet.title, record.name), record.line)
                if first == record.line:
                    checked.append((sheet, record))
                else:
                    problems.add(
                        record.line,
                        gettext_noop("“%(sheet)s” has the row “%(row)s” on line %(first)s already."),
                        sheet=sheet.title,
                        row=record.name,
                        first=first,
                    )
            new, filled, other = self._new_rows(checked)
            self.imported.rows += len(new)
            self.imported.filled += len(filled)
            self.imported.unchanged += len(checked) - len(new) - len(filled) - len(other)
            for sheet, record, what in other:
                problems.add(
                    record.line,
                    gettext_noop(
                        "“%(sheet)s” has a row “%(row)s” that differs in: %(what)s. Give this one a name of its own."
                    ),
                    sheet=sheet.title,
                    row=record.name,
                    what=", ".join(what),
                )
            beat()

    def _batches(self, table: FileTable, problems: Problems) -> Iterator[list[RowRecord]]:
        records = row_records(table, self._headings, problems)
        while batch := list(itertools.islice(records, _BATCH)):
            yield batch

    def _new_rows(
        self, records: Sequence[tuple[Sheet, RowRecord]]
    ) -> tuple[list[Row], list[Row], list[tuple[Sheet, RowRecord, list[str]]]]:
        """The rows that the study has not, without a position; those that it has, with what they lacked; and the
        records of which it has another, each with what differs."""
        names = [record.name for _sheet, record in records]
        of_sheets = {sheet.pk for sheet, _record in records if sheet.pk > 0}
        standing = {(row.sheet_id, row.name): row for row in Row.objects.filter(sheet__in=of_sheets, name__in=names)}
        new, filled, other = [], [], []
        for sheet, record in records:
            row = Row(
                sheet=sheet,
                name=record.name,
                title=record.title,
                url=record.url,
                language=record.language,
                evidence=blocks_to_json(as_kept(self.study.scheme.parsed, record.blocks)),
                facets=self.spec.facets_of(record.facets),
            )
            old = standing.get((sheet.pk, record.name))
            if old is None:
                new.append(row)
                continue
            said = _said(old, row, record)
            if differing := [name for name, before, now in said if before and before != now]:
                other.append((sheet, record, differing))
            elif any(before != now for _name, before, now in said):
                filled.append(_filled(old, row))
        return new, filled, other

    def _check_columns(self, table: FileTable, problems: Problems, beat: Callable[[], None]) -> None:
        for record in column_records(table, problems):
            try:
                section = find_section(self.sections, record.section)
                facets = check_facets(dict(record.facets), section.spec)
                every = record.sheet is None and self._named
                into = list(self._named.values()) if every else [self.sheets.get(record.sheet)]
            except Unresolved as error:
                problems.add(record.line, error.template, **error.values)
                continue
            for sheet in into:
                there = self._wanted.setdefault((sheet.title, section.key), _Wanted(sheet, section.key))
                first, _facets = there.said.setdefault(tuple(facets.values()), (record.line, facets))
                if first != record.line:
                    problems.add(
                        record.line,
                        gettext_noop("“%(sheet)s” has the column “%(column)s” on line %(first)s already."),
                        sheet=sheet.title,
                        column=column_name(facets),
                        first=first,
                    )
        for wanted in self._wanted.values():
            standing = [column.facets for column in self._present(wanted)]
            wanted.new = {line: facets for line, facets in wanted.said.values() if facets not in standing}
            self.imported.unchanged += len(wanted.said) - len(wanted.new)
            self.imported.columns += len(wanted.new)
            _refuse_labelled(wanted, problems)
            beat()

    def _present(self, wanted: _Wanted) -> list[Column]:
        if wanted.sheet.pk < 0:
            return []
        return list(Column.objects.filter(sheet=wanted.sheet, section=self.sections[wanted.section]))

    # --- writing; only after `check` has found no problem ---

    def write(self, arrival: Arrival | None = None, told: Callable[[int, int], None] = lambda _done, _of: None) -> None:
        """Write what is new: in the transaction of the caller, or for `arrival` in parts, the rows hidden. `told` hears
        how much is written, of how much.

        Raises:
            Refused: somebody has changed the same things meanwhile.
        """
        new, standing = self.sheets.planned, [one for one in self._wanted.values() if one.new and one.sheet.pk > 0]
        of, done = len(new) + len(standing) + self.imported.rows + self.imported.filled, 0
        for some in _in_parts(new, _SHEETS):
            with self._part(arrival):
                self._write_sheets(some, arrival)
            done += len(some)
            told(done, of)
        for some_wanted in _in_parts(standing, _SHEETS):
            with self._part(arrival):
                self._write_columns(some_wanted, arrival)
            done += len(some_wanted)
            told(done, of)
        if self.rows is None or not (self.imported.rows or self.imported.filled):
            return
        with self._part(arrival):
            reserved_keys = reserved(Row, self.imported.rows)
            if arrival is not None:
                arrivals.note_made(arrival, "rows", reserved_keys)
        keys, gone, n_filled = iter(reserved_keys), timezone.now() if arrival is not None else None, 0
        for batch in self._batches(self.rows, Problems(self.rows.name)):
            rows, filled, other = self._new_rows([(self.sheets.get(record.sheet), record) for record in batch])
            n_filled += len(filled)
            if other or n_filled > self.imported.filled:  # one that was not there when all was checked
                raise Refused(changed_meanwhile())
            with self._part(arrival):
                self._write_rows(rows, keys, gone)
                Row.objects.bulk_update(filled, [*_OF_TEXTS, "facets"])
            done += len(rows) + len(filled)
            told(done, of)

    @contextmanager
    def _part(self, arrival: Arrival | None) -> Iterator[None]:
        if arrival is None:  # all is one transaction
            yield
            return
        with transaction.atomic():
            arrivals.still(arrival)
            actions.lock_study(self.study.pk)
            yield

    def _write_sheets(self, some: Sequence[Sheet], arrival: Arrival | None) -> None:
        """Whole sheets behind those that stand, with their columns."""
        last = Sheet.objects.filter(study=self.study).aggregate(last=Max("position"))["last"]
        keys = reserved(Sheet, len(some))
        if arrival is not None:  # their columns go with them
            arrivals.note_made(arrival, "sheets", keys)
        columns = []
        for sheet, key, position in zip(some, keys, itertools.count(0 if last is None else last + 1), strict=False):
            sheet.pk, sheet.position = key, position
            for section in self.sections.values():
                wanted = self._wanted.get((sheet.title, section.key))
                for place, facets in enumerate(wanted.new.values() if wanted else [{}]):
                    column = column_of(sheet=sheet, section=section, spec=section.spec, facets=facets)
                    column.position = place
                    columns.append(column)
        Sheet.objects.bulk_create(some)
        Column.objects.bulk_create(columns)

    def _write_columns(self, some: Sequence[_Wanted], arrival: Arrival | None) -> None:
        """Columns of sheets that stand.

        Raises:
            Refused: somebody labels one of them by now.
        """
        problems = Problems("")
        made: list[int] = []
        for wanted in some:
            _refuse_labelled(wanted, problems)
            if problems.total:
                raise Refused(changed_meanwhile())
            section, new = self.sections[wanted.section], list(wanted.new.values())
            columns = add_columns(sheet=wanted.sheet, section=section, present=self._present(wanted), facets=new)
            made += [column.pk for column in columns[-len(new) :]]
        if arrival is not None:
            arrivals.note_made(arrival, "columns", sorted(made))

    def _write_rows(self, rows: Sequence[Row], keys: Iterator[int], gone: datetime | None) -> None:
        of_sheets = {row.sheet_id for row in rows}
        last = Row.objects.filter(sheet__in=of_sheets).order_by().values_list("sheet").annotate(last=Max("position"))
        positions = dict.fromkeys(of_sheets, 0) | {pk: position + 1 for pk, position in last}
        for row in rows:
            key = next(keys, None)
            if key is None:  # a row that was there when all was checked is there no more
                raise Refused(changed_meanwhile())
            row.pk, row.position = key, positions[row.sheet_id]
            positions[row.sheet_id] += 1
            if gone is not None:
                row.withdrawn_at, row.withdrawn_reason = gone, _("It is being imported.")
        Row.objects.bulk_create(rows)


# Fields of a row, and which of a record has each.
_OF_TEXTS = {"title": "title", "url": "url", "language": "language", "evidence": "blocks"}

_url = URLValidator(schemes=["http", "https"])


def _check_row(record: RowRecord) -> None:
    check_length(record.name, 200)
    check_length(record.title, 500)
    check_address(record.url)
    check_length(record.language, 12)
    if record.url:
        try:
            _url(record.url)
        except ValidationError:
            raise not_an_address(record.url) from None


def _said(old: Row, new: Row, record: RowRecord) -> list[tuple[str, Any, Any]]:
    """What the file has a column for, by its name: what the row that stands says of it, and what the file says."""
    of_texts = [
        (name, _compared(getattr(old, name)), _compared(getattr(new, name)))
        for name, of in _OF_TEXTS.items()
        if of in record.given
    ]
    of_facets = [(key, facet_word(old.facets.get(key, "")), new.facets.get(key, "")) for key in record.facets]
    return [("text" if name == "evidence" else name, before, now) for name, before, now in [*of_texts, *of_facets]]


def _compared(said: Any) -> Any:
    """Without the blanks that lines of a text begin with, which rows of earlier imports have not."""
    return [{**block, "text": block["text"].strip()} for block in said] if isinstance(said, list) else said


def _filled(old: Row, new: Row) -> Row:
    """The row that stands, with what only the file says of it."""
    for name in _OF_TEXTS:
        setattr(old, name, getattr(old, name) or getattr(new, name))
    old.facets = {**new.facets, **old.facets}
    return old


def _refuse_labelled(wanted: _Wanted, problems: Problems) -> None:
    """Columns that a sheet has not are a problem where somebody has work on it."""
    if wanted.sheet.pk < 0 or not wanted.new or not Assignment.objects.filter(row__sheet=wanted.sheet).exists():
        return
    for line, facets in wanted.new.items():
        problems.add(line, COLUMNS_STAND, sheet=wanted.sheet.title, column=column_name(facets))


def _in_parts(of: Sequence[T], n: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(of), n):
        yield of[start : start + n]
