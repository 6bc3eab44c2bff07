"""Importing labels that were made elsewhere into a study. All or nothing.

A small file is one transaction; of a large one each part is, and all of them are seen at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import connection, transaction

from annotation import actions
from annotation.exchange import arrivals
from annotation.exchange.arrivals import Span
from annotation.exchange.label_importer import Importer
from annotation.exchange.label_reading import Answers, LabelImport
from annotation.exchange.new_sheets import NewSheet, NewSheets
from annotation.exchange.row_imports import Imported, ImportRefused, in_parts, one_import
from annotation.exchange.tables import FileTable
from annotation.exchange.zips import size_unpacked
from annotation.models import (
    Assignment,
    Column,
    Label,
    LabelEvent,
    Rater,
    Row,
    Sheet,
    Study,
)
from annotation.plain_sql import counted_anew

# Bytes of a file from which on it is written in parts. A smaller one is one transaction, of a second at most.
LARGE = 2**18
# From so many labels on, what PostgreSQL knows of its tables is no longer true of them.
_MANY = 20_000


@dataclass(frozen=True)
class Doing:
    """Who lets a file be imported, where that is a run: a worker that renews its lease, and may be told to stop.

    Attributes:
        owner: by which name what an earlier attempt left is taken back.
        beat: called now and then outside of long transactions; may raise to stop.
        at_end: called in the transaction that makes the labels seen.
        told: called with how much is written, of how much.
    """

    owner: str
    beat: Callable[[], None]
    at_end: Callable[[Imported], None] = lambda _imported: None
    told: Callable[[int, int], None] = lambda _done, _of: None


def import_labels(
    *,
    study: Study,
    table: FileTable,
    how: LabelImport,
    doing: Doing | None = None,
    new_study: bool = False,
    sheets: Sequence[NewSheet] = (),
) -> Imported:
    """Add the labels of a file. Their assignments are submitted; the history is written as for any label.

    A large file is written in parts that nobody sees (`annotation.exchange.arrivals`), unless the caller has begun a
    transaction. `new_study`: was made for this file, and goes if the file does not come in. `sheets`: come with it, and
    may be what its labels are about; they are not counted.

    Raises:
        ImportRefused: with every problem of the file; nothing is changed then.
        TableError: the file, or its headings, cannot be read; nothing is changed then.
        Refused: somebody else changed the same things meanwhile, or imports into the study.
    """
    large = doing is not None or is_large(table)
    if large and not connection.in_atomic_block:
        return _import_in_parts(study, table, how, doing, new_study=new_study, sheets=sheets)
    with one_import(study) as locked:
        importer = _checked(Answers(locked, table, how, NewSheets(locked, sheets)))
        importer.all.coming.write(importer.all.coming.all, hidden=False)
        importer.all.make()
        importer.write()
        if doing is not None:
            doing.at_end(importer.all.imported)
    return importer.all.imported


def is_large(table: FileTable) -> bool:
    return size_unpacked(table.stream) > LARGE


def _checked(answers: Answers, beat: Callable[[], None] = lambda: None) -> Importer:
    importer = Importer(answers, beat)
    importer.check()
    if answers.problems.total:
        raise ImportRefused(answers.problems)
    return importer


def _import_in_parts(
    study: Study,
    table: FileTable,
    how: LabelImport,
    doing: Doing | None,
    *,
    new_study: bool,
    sheets: Sequence[NewSheet],
) -> Imported:
    beat = doing.beat if doing else lambda: None
    made: dict[str, list[Span]] = {"study": []} if new_study else {}
    arrival = arrivals.begin(study, owner=doing.owner if doing else "", made=made)
    with in_parts(arrival):
        locked = Study.objects.select_related("scheme").get(pk=study.pk)
        with transaction.atomic():
            coming = NewSheets(locked, sheets, arrival)
        importer = _checked(Answers(locked, table, how, coming), partial(arrivals.beat, arrival, beat))
        if doing is not None:
            importer.told = doing.told
        importer.write_in_parts(arrival)
        with transaction.atomic():
            arrivals.show(arrival)
            actions.lock_study(study.pk)
            importer.write_standing()
            if doing is not None:
                doing.at_end(importer.all.imported)
    if importer.all.imported.labels >= _MANY:
        counted_anew(Rater, Sheet, Column, Row, Assignment, Label, LabelEvent)
    return importer.all.imported
