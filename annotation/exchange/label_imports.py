"""Importing labels that were made elsewhere, into a study or into a new one. All or nothing.

A small file is one transaction; of a large one each part is, and all of them are seen at the end.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from django.db import connection, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.exchange import arrivals
from annotation.exchange.arrivals import Span
from annotation.exchange.label_importer import Importer
from annotation.exchange.label_reading import Answers, LabelImport
from annotation.exchange.new_sheets import NewSheet, NewSheets
from annotation.exchange.records import label_records
from annotation.exchange.row_imports import Imported, ImportRefused, in_parts, one_import
from annotation.exchange.tables import FileTable, Problems
from annotation.models import (
    Assignment,
    Column,
    Label,
    LabelEvent,
    Rater,
    Row,
    Scheme,
    Sheet,
    Study,
    User,
)
from annotation.plain_sql import counted_anew
from annotation.scheme.inference import infer_scheme
from annotation.scheme.spec import load_scheme

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
    return table.stream.seek(0, io.SEEK_END) > LARGE


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
    source = infer_scheme(
        answers(),
        key=slug,
        version=last + 1,
        title=title,
        question=question,
        nominal=how.nominal,
        missing=headings.missing,
    )
    if len(asked) > 1:
        raise Refused(_("The file answers several questions. Make the study from a scheme file, then import into it."))
    # Section, question and facets of the file are those of the scheme that it comes from; the new one has its own.
    own = replace(
        how,
        headings={**how.headings, "section": "", "question": ""},
        ignore=(*how.ignore, *(table.header[i] for i in headings.facets.values())),
        create=True,
    )
    with ExitStack() as stack:
        if not is_large(table):
            stack.enter_context(transaction.atomic())
        with transaction.atomic():
            scheme = actions.store_scheme(spec=load_scheme(source), source=source)
            study = actions.create_study(slug=slug, title=title, scheme=scheme, by=by)
        return study, import_labels(study=study, table=table, how=own, new_study=True)
