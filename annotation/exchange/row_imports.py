"""Importing rows and columns from tables, and what all imports share. A file with a problem changes nothing at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import actions
from annotation.actions import Refused
from annotation.evidence import kinds
from annotation.evidence.blocks import blocks_to_json
from annotation.exchange import arrivals
from annotation.exchange.records import RowHeadings, RowRecord, column_records, row_headings, row_records
from annotation.exchange.tables import MAX_PROBLEMS_SHOWN, FileTable, Lines, Problems
from annotation.models import Assignment, Column, Label, Rater, Row, Section, Sheet, Study
from annotation.scheme.spec import RowSpec, SectionSpec, facet_word
from base.sentences import Sentence, gettext_noop

_BATCH = 500  # rows held in memory at once, with their evidence


class ImportRefused(Refused):
    """Nothing was written.

    Attributes:
        problems: the first `MAX_PROBLEMS_SHOWN` sentences, each with its file and its lines.
        total: how many problems there are, one a line.
        left: how many of them no sentence of `problems` covers.
    """

    def __init__(self, *found: Problems) -> None:
        self.total = sum(problems.total for problems in found)
        shown = [
            (problems.file, sentence, lines)
            for problems in found
            for sentence, lines in sorted(problems.shown.items(), key=lambda item: min(item[1].first))
        ][:MAX_PROBLEMS_SHOWN]
        self.problems = [_named(*item) for item in shown]
        self.left = self.total - sum(lines.total for _file, _sentence, lines in shown)
        super().__init__(
            ngettext(
                "The import has %(n)s problem, so nothing was changed.",
                "The import has %(n)s problems, so nothing was changed.",
                self.total,
            )
            % {"n": self.total}
        )


def problems_text(refused: ImportRefused) -> str:
    """The refusal as lines of text."""
    left = [_("… and %(n)s more.") % {"n": refused.left}] if refused.left else []
    return "\n".join([str(refused), *refused.problems, *left])


def _named(file: str, sentence: Sentence, lines: Lines) -> str:
    numbers = ", ".join(str(line) for line in sorted(lines.first))
    values = {"file": file, "sentence": translated(sentence), "line": numbers, "n": lines.total}
    if lines.first == [0]:
        return _("%(file)s: %(sentence)s") % values
    if lines.total == 1:
        return _("%(file)s, line %(line)s: %(sentence)s") % values
    if lines.total == len(lines.first):
        return _("%(file)s, lines %(line)s: %(sentence)s") % values
    return _("%(file)s, %(n)s lines (%(line)s, …): %(sentence)s") % values


def translated(sentence: Sentence) -> str:
    return _(sentence.template) % dict(sentence.numbers)


class Unresolved(Exception):
    """A line names something that the study has not; the caller knows the line."""

    def __init__(self, template: str, **values: int | str) -> None:
        self.template, self.values = template, values


@dataclass
class Imported:
    """What an import did, in counts."""

    sheets: int = 0
    rows: int = 0
    columns: int = 0
    raters: int = 0
    labels: int = 0
    presets: int = 0  # answers that the scheme's rules filled in beside those of the file
    changed: int = 0
    cleared: int = 0  # answers that a changed one switched off
    warned: int = 0  # answers that a check of the scheme warns of
    unchanged: int = 0  # what the file says and the study had already
    empty: int = 0  # cells of the file without an answer
    unread: tuple[str, ...] = field(default=())  # headings that mean nothing here

    @property
    def nothing_new(self) -> bool:
        return not (
            self.sheets or self.rows or self.columns or self.raters or self.labels or self.presets or self.changed
        )

    def sentences(self) -> list[str]:
        """What happened, for the person who imported."""
        new = [
            ngettext("%(n)s sheet", "%(n)s sheets", self.sheets) % {"n": self.sheets} if self.sheets else "",
            ngettext("%(n)s row", "%(n)s rows", self.rows) % {"n": self.rows} if self.rows else "",
            ngettext("%(n)s column", "%(n)s columns", self.columns) % {"n": self.columns} if self.columns else "",
            ngettext("%(n)s rater", "%(n)s raters", self.raters) % {"n": self.raters} if self.raters else "",
            ngettext("%(n)s label", "%(n)s labels", self.labels) % {"n": self.labels} if self.labels else "",
        ]
        said = []
        if self.nothing_new:
            said.append(_("Nothing new: all that the file says is in the study already."))
        elif listed := ", ".join(part for part in new if part):
            said.append(_("New: %(list)s.") % {"list": listed})
        for n, sentence in (
            (self.presets, _("Filled in by the rules of the scheme: %(n)s.")),
            (self.changed, _("Labels changed: %(n)s.")),
            (self.warned, _("Labels that a check of the scheme warns of: %(n)s.")),
            (self.cleared, _("Labels cleared, because they are not asked any more: %(n)s.")),
            (self.unchanged if not self.nothing_new else 0, _("In the study already: %(n)s.")),
            (self.empty, _("Cells without an answer: %(n)s.")),
        ):
            if n:
                said.append(sentence % {"n": n})
        if self.unread:
            said.append(_("Not read: %(headings)s.") % {"headings": ", ".join(self.unread)})
        return said


@contextmanager
def one_import(study: Study) -> Iterator[Study]:
    """One transaction, in which no other import writes to this study; yields it with its scheme.

    Raises:
        Refused: another import is at it.
    """
    try:
        with transaction.atomic():
            actions.lock_study(study.pk)
            arrivals.refuse_if_coming(study.pk)
            yield Study.objects.select_related("scheme").get(pk=study.pk)
    except IntegrityError as error:
        raise Refused(changed_meanwhile()) from error


def changed_meanwhile() -> str:
    return _("Somebody else changed the study during the import. Nothing of the file was written; import it again.")


# --- sheets and columns, as all imports find or make them -----------------------------------------------------------


class Sheets:
    """The sheets of a study by title, made when missing if `create`."""

    def __init__(self, study: Study, imported: Imported, *, create: bool) -> None:
        self.study, self.imported, self.create = study, imported, create
        self.by_title = {sheet.title: sheet for sheet in study.sheets.order_by("position")}

    def get(self, title: str | None) -> Sheet:
        """The sheet called `title`; None, where the file does not say, is the only one, or one named after the study.

        Raises:
            Unresolved: there is none and `create` is off, or it is not clear which.
        """
        if title is None:
            title = next(iter(self.by_title)) if len(self.by_title) == 1 else self.study.title
            if len(self.by_title) > 1 and title not in self.by_title:
                raise Unresolved(
                    gettext_noop("The study has %(n)s sheets. Add a column “sheet” to the file."), n=len(self.by_title)
                )
        if sheet := self.by_title.get(title):
            return sheet
        if not title:
            raise Unresolved(gettext_noop("This line names no sheet."))
        if not self.create:
            raise Unresolved(
                gettext_noop("The study has no sheet “%(sheet)s”. Correct the name, or let the import create it."),
                sheet=title,
            )
        check_length(title, 200)
        self.by_title[title] = sheet = self._added(title)
        self.imported.sheets += 1
        return sheet

    def _added(self, title: str) -> Sheet:
        return actions.add_sheet(study=self.study, title=title, columns={})


def check_length(text: str, limit: int) -> None:
    if len(text) > limit:
        raise Unresolved(
            gettext_noop("“%(start)s…” is too long: at most %(limit)s characters fit."), start=text[:40], limit=limit
        )


def check_facets(facets: Mapping[str, str], spec: SectionSpec) -> dict[str, str]:
    """`facets` with all facets of the section.

    Raises:
        Unresolved: the section has not one of them, or none says anything.
    """
    if unknown := [name for name, text in facets.items() if text and name not in spec.column.facets]:
        raise Unresolved(
            gettext_noop("The section “%(section)s” has no facet “%(facet)s”; it has: %(facets)s."),
            section=spec.key,
            facet=unknown[0],
            facets=", ".join(spec.column.facets),
        )
    whole = {name: facets.get(name, "") for name in spec.column.facets}
    if not any(whole.values()):
        raise Unresolved(
            gettext_noop("This line says nothing for the section “%(section)s”; its facets are: %(facets)s."),
            section=spec.key,
            facets=", ".join(spec.column.facets),
        )
    check_length(column_name(whole), 400)
    return whole


def column_name(facets: Mapping[str, str]) -> str:
    return " · ".join(text for text in facets.values() if text)


def add_columns(
    *,
    sheet: Sheet,
    section: Section,
    present: Sequence[Column],
    facets: Sequence[Mapping[str, str]],
    positions: Sequence[int] | None = None,
    keep_blank: bool = False,
) -> list[Column]:
    """Append columns to the ones `present` in a section of a sheet, and return all; the new ones are last.

    The single blank column that a section has while nothing is looked for makes way, unless it is labelled or kept.
    """
    left, new, gone = more_columns(
        sheet=sheet, section=section, present=present, facets=facets, positions=positions, keep_blank=keep_blank
    )
    Column.objects.filter(pk__in=[column.pk for column in gone]).delete()
    return left + Column.objects.bulk_create(new)


def more_columns(
    *,
    sheet: Sheet,
    section: Section,
    present: Sequence[Column],
    facets: Sequence[Mapping[str, str]],
    positions: Sequence[int] | None = None,
    keep_blank: bool = False,
) -> tuple[list[Column], list[Column], list[Column]]:
    """What `add_columns` would do: the columns that stay, those that come, those that go. Writes nothing."""
    left, gone = list(present), []
    if len(left) == 1 and not left[0].name and not keep_blank and not Label.objects.filter(column=left[0].pk).exists():
        gone.append(left.pop())
    if positions is None:
        first = max((column.position for column in left), default=-1) + 1
        positions = range(first, first + len(facets))
    new = [
        Column(sheet=sheet, section=section, position=position, name=column_name(whole), facets=dict(whole))
        for position, whole in zip(positions, facets, strict=True)
    ]
    return left, new, gone


# --- rows and columns of a file -------------------------------------------------------------------------------------


def import_rows(*, study: Study, rows: FileTable | None, columns: FileTable | None = None) -> Imported:
    """Add the rows and columns of two files; sheets that they name and the study has not are made.

    What stands in the study already, word for word, is left as it is. Columns of a file without a column “sheet” go to
    each sheet that the file of rows names.

    Raises:
        ImportRefused: with the problems of both files; nothing is changed then.
        TableError: a file, or its headings, cannot be read; nothing is changed then.
    """
    imported = Imported()
    found = [Problems(table.name) for table in (rows, columns) if table]
    with one_import(study) as locked:
        sheets = Sheets(locked, imported, create=True)
        named: dict[str, Sheet] = {}
        if rows is not None:
            headings = row_headings(
                rows.header, kinds.known(locked.scheme.parsed.block_kinds), locked.scheme.parsed.row.keys
            )
            imported.unread = headings.unread
            named = _import_rows(rows, headings, sheets, found[0], imported)
        if columns is not None:
            _import_columns(columns, sheets, named, found[-1], imported)
        if any(problems.total for problems in found):
            raise ImportRefused(*found)
    return imported


def _import_rows(
    table: FileTable, headings: RowHeadings, sheets: Sheets, problems: Problems, imported: Imported
) -> dict[str, Sheet]:
    """Write the rows in batches; the caller rolls back if there were problems. Returns the sheets named in the file."""
    named: dict[str, Sheet] = {}
    seen: dict[tuple[int, str], int] = {}
    records = row_records(table, headings, problems)
    while batch := list(itertools.islice(records, _BATCH)):
        checked = []
        for record in batch:
            try:
                sheet = sheets.get(record.sheet)
                _check_row(record)
            except Unresolved as error:
                problems.add(record.line, error.template, **error.values)
                continue
            named[sheet.title] = sheet
            first = seen.setdefault((sheet.pk, record.name), record.line)
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
        _write_rows(checked, sheets.study.scheme.parsed.row, problems, imported)
    return named


_url = URLValidator(schemes=["http", "https"])


def _check_row(record: RowRecord) -> None:
    check_length(record.name, 200)
    check_length(record.title, 500)
    check_length(record.url, 2000)
    check_length(record.language, 12)
    if record.url:
        try:
            _url(record.url)
        except ValidationError:
            raise Unresolved(
                gettext_noop("“%(url)s” is no address of a web page (https://…)."), url=record.url[:100]
            ) from None


def _write_rows(
    checked: Sequence[tuple[Sheet, RowRecord]], spec: RowSpec, problems: Problems, imported: Imported
) -> None:
    of_sheets = {sheet.pk for sheet, _record in checked}
    standing = {
        (row.sheet_id, row.name): row
        for row in Row.objects.filter(sheet__in=of_sheets, name__in=[record.name for _sheet, record in checked])
    }
    last = Row.objects.filter(sheet__in=of_sheets).order_by().values_list("sheet").annotate(last=Max("position"))
    positions = dict.fromkeys(of_sheets, 0) | {pk: position + 1 for pk, position in last}
    new = []
    for sheet, record in checked:
        row = Row(
            sheet=sheet,
            name=record.name,
            title=record.title,
            url=record.url,
            language=record.language,
            evidence=blocks_to_json(record.blocks),
            facets=spec.facets_of(record.facets),
        )
        old = standing.get((sheet.pk, record.name))
        if old is None:
            row.position = positions[sheet.pk]
            positions[sheet.pk] += 1
            new.append(row)
        elif all(getattr(old, name) == getattr(row, name) for name in ("title", "url", "language", "evidence")) and all(
            facet_word(old.facets.get(facet, "")) == row.facets.get(facet, "") for facet in record.facets
        ):
            imported.unchanged += 1
        else:
            problems.add(
                record.line,
                gettext_noop("“%(sheet)s” has a row “%(row)s” with another text. Give this one a name of its own."),
                sheet=sheet.title,
                row=record.name,
            )
    Row.objects.bulk_create(new)
    imported.rows += len(new)


def _import_columns(
    table: FileTable, sheets: Sheets, named: Mapping[str, Sheet], problems: Problems, imported: Imported
) -> None:
    sections = {section.key: section for section in sheets.study.scheme.sections.all()}
    wanted: dict[tuple[Sheet, str], dict[tuple[str, ...], tuple[int, dict[str, str]]]] = {}
    for record in column_records(table, problems):
        try:
            section = find_section(sections, record.section)
            facets = check_facets(dict(record.facets), section.spec)
            into = list(named.values()) if record.sheet is None and named else [sheets.get(record.sheet)]
        except Unresolved as error:
            problems.add(record.line, error.template, **error.values)
            continue
        for sheet in into:
            there = wanted.setdefault((sheet, section.key), {})
            first, _facets = there.setdefault(tuple(facets.values()), (record.line, facets))
            if first != record.line:
                problems.add(
                    record.line,
                    gettext_noop("“%(sheet)s” has the column “%(column)s” on line %(first)s already."),
                    sheet=sheet.title,
                    column=column_name(facets),
                    first=first,
                )
    for (sheet, key), of_section in wanted.items():
        present = list(Column.objects.filter(sheet=sheet, section=sections[key]))
        standing = [column.facets for column in present]
        new = {line: facets for line, facets in of_section.values() if facets not in standing}
        imported.unchanged += len(of_section) - len(new)
        if not new:
            continue
        if Assignment.objects.filter(row__sheet=sheet).exists():
            for line, facets in new.items():
                problems.add(line, COLUMNS_STAND, sheet=sheet.title, column=column_name(facets))
        else:
            add_columns(sheet=sheet, section=sections[key], present=present, facets=list(new.values()))
            imported.columns += len(new)


COLUMNS_STAND = gettext_noop(
    "“%(sheet)s” is being labelled, so its columns stay as they are, and “%(column)s” is none of them. "
    "Correct the name, or use another sheet."
)


def find_section(sections: Mapping[str, Section], key: str | None) -> Section:
    """The section `key`, or called so; the only one where the file has no such column.

    Raises:
        Unresolved: there is none of that name, or several to choose from.
    """
    if not key and len(sections) == 1:
        return next(iter(sections.values()))
    found = [section for section in sections.values() if key in (section.key, section.title)]
    if not found and not key:
        raise Unresolved(
            gettext_noop("The study has several sections, and a column “section” must say which: %(sections)s."),
            sections=", ".join(sections),
        )
    if not found:
        raise Unresolved(
            gettext_noop("“%(section)s” is no section of this study; its sections are: %(sections)s."),
            section=key or "",
            sections=", ".join(sections),
        )
    return found[0]


def is_worked_on(sheets: Iterable[Sheet]) -> set[int]:
    """Those of `sheets` (by number) that people with a login, or judges, have assignments on. One query."""
    here = Assignment.objects.filter(
        Q(rater__kind=Rater.Kind.JUDGE) | Q(rater__user__isnull=False), row__sheet__in=[sheet.pk for sheet in sheets]
    )
    return set(here.order_by().values_list("row__sheet", flat=True).distinct())
