"""A study out of a file of labels alone: what is asked in it is what the file answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.answers.spans import SPANS
from annotation.exchange.json_tables import open_rows
from annotation.exchange.label_imports import import_labels, is_large
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.records import Headings, label_records
from annotation.exchange.row_imports import Imported, ImportRefused
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import FileTable, Problems
from annotation.models import Scheme, Study, User
from annotation.scheme.inference import infer_scheme, infer_spans
from annotation.scheme.spec import load_scheme


def study_from_labels(
    *, slug: str, title: str, table: FileTable, how: LabelImport, by: User | None
) -> tuple[Study, Imported]:
    """Make a study of one question, whose options are the answers of the file, and import the file into it. Of marked
    words the question is a list of these, each with one of the labels of the file, and their texts come in as rows.

    Raises:
        Refused: the address is taken or none, or the file answers several questions.
        ImportRefused, TableError: as from `import_labels` and `infer_scheme`. Nothing is made in any of these cases.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,59}", slug):
        raise Refused(_("“%(slug)s” is no address: small letters, digits and hyphens make one.") % {"slug": slug})
    if Study.objects.filter(slug=slug).exists():
        raise Refused(_("There is a study “%(slug)s” already. Choose another address.") % {"slug": slug})
    headings = how.headings_of(table)
    last = Scheme.objects.filter(slug=slug).aggregate(last=Max("version"))["last"] or 0
    source = _scheme_of(table, headings, how, key=slug, version=last + 1, title=title)
    # Section, question and facets of the file are those of the scheme that it comes from; the new one has its own.
    own = replace(
        how,
        headings={**how.headings, "section": "", "question": ""},
        ignore=(*how.ignore, *(table.header[i] for i in headings.facets.values())),
        create=True,
    )
    with ExitStack() as stack:
        if not is_large(table) or table.needs_texts:
            stack.enter_context(transaction.atomic())
        with transaction.atomic():
            scheme = actions.store_scheme(spec=load_scheme(source), source=source)
            study = actions.create_study(slug=slug, title=title, scheme=scheme, by=by)
        texts = Imported()
        if table.needs_texts:
            rows = open_rows(table.stream, name=table.name, max_bytes=settings.PALATE_MAX_IMPORT_BYTES)
            texts = import_rows(study=study, rows=rows)
        imported = import_labels(study=study, table=table, how=own, new_study=True)
        return study, replace(imported, rows=imported.rows + texts.rows, sheets=imported.sheets + texts.sheets)


def _scheme_of(table: FileTable, headings: Headings, how: LabelImport, *, key: str, version: int, title: str) -> str:
    """The YAML of a scheme that asks what the file answers."""
    asked: set[tuple[str, str, str]] = set()
    labels: set[str] = set()  # of marked words

    problems = Problems(table.name)  # with single lines; as a rule the import tells them, which reads the file again

    def answers() -> Iterator[str]:
        for record in label_records(table, headings, problems):
            if record.answer or not table.needs_texts:
                asked.add((record.section or "", record.question or "", table.type_of(record.answer)))
            labels.update(table.labels_of(record.answer))
            yield table.in_words(record.answer)

    # Whether words are marked is seen once all is read.
    words = list(answers()) if table.needs_texts else answers()
    if table.needs_texts and problems.total:
        raise ImportRefused(problems)
    if any(kind == SPANS for _section, _question, kind in asked):
        source = infer_spans(labels, key=key, version=version, title=title, question=_("Marked words"))
    else:
        heading = table.header[headings.at["answer"]] if "answer" in headings.at else ""
        question = re.sub(r"\W+", " ", heading).strip().capitalize()[:120] or _("Answer")
        source = infer_scheme(
            words,
            key=key,
            version=version,
            title=title,
            question=question,
            nominal=how.nominal,
            missing=headings.missing,
        )
    if len(asked) > 1:
        raise Refused(_("The file answers several questions. Make the study from a scheme file, then import into it."))
    return source
