"""Sheets that a pack's file brings, each with one row: planned and checked first, then written in bulk, whole sheets at
a time. Their keys are set aside before, so that labels of the same file are checked before anything is written."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Max, Model
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.actions.studies import column_of, row_of
from annotation.evidence.blocks import Block
from annotation.exchange.arrivals import note_made, still
from annotation.models import Arrival, Column, Row, Sheet, Study
from annotation.plain_sql import reserved

# Sheets that one transaction writes.
AT_ONCE = 50


@dataclass(frozen=True)
class NewSheet:
    """A sheet that the study has not, with its one row.

    Attributes:
        columns: {section key: [facets, …]}; a section that is not named gets a single blank one.
        row: its name; `row_title`, `url`, `language`, `evidence` and `facets` are the row's.
        beside: of the row, what the pack keeps with it, not written.
    """

    title: str
    columns: Mapping[str, Sequence[Mapping[str, str]]]
    row: str
    row_title: str = ""
    url: str = ""
    language: str = ""
    evidence: Sequence[Block] = ()
    facets: Mapping[str, object] = field(default_factory=dict)
    beside: Callable[[Row], Model | None] = lambda _row: None


@dataclass(frozen=True)
class _Planned:
    sheet: Sheet
    columns: Mapping[str, list[Column]]  # by the section's key
    row: Row
    beside: Callable[[Row], Model | None]


class NewSheets:
    """Sheets, columns and rows as they will stand in a study, with their keys."""

    def __init__(self, study: Study, new: Sequence[NewSheet], arrival: Arrival | None = None) -> None:
        """Check them and set their keys aside, in the transaction of the caller. What `arrival` is told of can be taken
        back.

        Raises:
            Refused: a title stands in the study or comes twice; the scheme has no such facet. Nothing is written.
        """
        self.study = study
        self._now = timezone.now()
        taken = set(study.sheets.values_list("title", flat=True)) if new else set()
        sections = [(section, section.spec) for section in study.scheme.sections.all()] if new else []
        self.all: list[_Planned] = []
        for one in new:
            if one.title in taken:
                raise Refused(_("The study has a sheet called “%(title)s” already.") % {"title": one.title})
            taken.add(one.title)
            sheet = Sheet(study=study, title=one.title)
            columns = {}
            for section, spec in sections:
                columns[section.key] = [
                    column_of(sheet=sheet, section=section, spec=spec, facets=facets)
                    for facets in one.columns.get(section.key) or [{}]
                ]
                for position, column in enumerate(columns[section.key]):
                    column.position = position
            row = row_of(
                sheet=sheet,
                name=one.row,
                title=one.row_title,
                url=one.url,
                language=one.language,
                evidence=one.evidence,
                facets=one.facets,
            )
            self.all.append(_Planned(sheet, columns, row, one.beside))
        if self.all:
            self._take_keys(arrival)
        self.rows = {one.row.pk for one in self.all}

    def __len__(self) -> int:
        return len(self.all)

    def _take_keys(self, arrival: Arrival | None) -> None:
        if arrival is not None:
            still(arrival)
        sheets, rows = reserved(Sheet, len(self.all)), reserved(Row, len(self.all))
        for one, sheet_key, row_key in zip(self.all, sheets, rows, strict=True):
            one.sheet.pk, one.row.pk = sheet_key, row_key
        columns = [column for one in self.all for of in one.columns.values() for column in of]
        for column, key in zip(columns, reserved(Column, len(columns)), strict=True):
            column.pk = key
        for one in self.all:  # again: it had no key before
            one.row.sheet = one.sheet
            for column in itertools.chain.from_iterable(one.columns.values()):
                column.sheet = one.sheet
        if arrival is not None:  # columns go with their sheets
            note_made(arrival, "sheets", sheets)
            note_made(arrival, "rows", rows)

    def parts(self) -> Iterator[Sequence[_Planned]]:
        for start in range(0, len(self.all), AT_ONCE):
            yield self.all[start : start + AT_ONCE]

    def write(self, some: Sequence[_Planned], *, hidden: bool) -> None:
        """Write whole sheets behind those that stand, in the transaction of the caller; `hidden`: their rows are
        withdrawn until the import shows them.

        Raises:
            IntegrityError: somebody has made a sheet of one of these titles meanwhile.
        """
        if not some:
            return
        actions.lock_study(self.study.pk)
        last = Sheet.objects.filter(study=self.study).aggregate(last=Max("position"))["last"]
        first = 0 if last is None else last + 1
        gone: tuple[datetime | None, str] = (self._now, _("It is being imported.")) if hidden else (None, "")
        for position, one in enumerate(some, start=first):
            one.sheet.position = position
            one.row.withdrawn_at, one.row.withdrawn_reason = gone
        Sheet.objects.bulk_create([one.sheet for one in some])
        Column.objects.bulk_create([column for one in some for of in one.columns.values() for column in of])
        Row.objects.bulk_create([one.row for one in some])
        beside: dict[type[Model], list[Model]] = {}
        for one in some:
            if (kept := one.beside(one.row)) is not None:
                beside.setdefault(type(kept), []).append(kept)
        for model, of_model in beside.items():
            model._default_manager.bulk_create(of_model)
