"""Imports of files that are too large for a page to wait for: a worker does them, all or nothing as everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.exchange import uploads
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import Imported, ImportRefused, import_rows, translated
from annotation.exchange.tables import TableError, open_table
from annotation.models import Import, ImportPart, Study, User
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import ItemFailed
from work.states import SHORT_WORK_PRIORITY

# An import is one transaction: its lease cannot be renewed where others would see it.
_LONGEST = timedelta(hours=2)


def is_large(files: Mapping[str, UploadedFile[bytes] | None]) -> bool:
    """Whether a page would have to wait for long. What is too large altogether is refused at once."""
    sizes = [file.size or 0 for file in files.values() if file]
    return sum(sizes) > settings.PALATE_IMPORT_AT_ONCE and max(sizes) <= settings.PALATE_MAX_IMPORT_BYTES


def start_import(
    *, study: Study, files: Mapping[str, UploadedFile[bytes] | None], by: User | None, how: LabelImport | None = None
) -> Import:
    """Let a worker import files: under “rows” and “columns”, or under “labels” with `how` these are read."""
    kept = {part: (file.name or "", uploads.keep(file)) for part, file in files.items() if file}
    try:
        with transaction.atomic():
            made = Import.objects.create(
                study=study,
                what=Import.What.LABELS if how else Import.What.ROWS,
                files=kept,
                how=asdict(how) if how else {},
                language=get_language() or "en",
                started_by=by,
            )
            work.start(made, [ImportPart(run=made)])
    except BaseException:
        uploads.forget(stored for _own, stored in kept.values())
        raise
    return made


@transaction.atomic
def cancel_import(*, run: Import) -> None:
    """Import nothing after all. A worker that is at it stops, and nothing of the file stays."""
    work.cancel(run)


@transaction.atomic
def resume_import(*, run: Import) -> None:
    """Try an import again that was cancelled or refused.

    Raises:
        Refused: it is done.
    """
    if not work.resume(run):
        raise Refused(_("It is done already."))
    Import.objects.filter(pk=run.pk).update(outcome={})


def percent_read(run: Import) -> int | None:
    """How much of the file has been read, where one is being read."""
    return next((n for _own, stored in run.files.values() if (n := uploads.read_percent(stored)) is not None), None)


def _import(held: Held[ImportPart]) -> None:
    """What a worker does: the import and the end of its item are one transaction."""
    run = held.item.run
    held.hold(_LONGEST)
    with translation.override(run.language):
        try:
            with transaction.atomic():
                imported = _read(run, held)
                with held.finishing():
                    outcome = {"sentences": imported.sentences(), "nothing_new": imported.nothing_new}
                    Import.objects.filter(pk=run.pk).update(outcome=outcome)
        except FileNotFoundError as error:
            raise ItemFailed(_("The file is not kept any more. Import it again.")) from error
        except ImportRefused as refused:
            _note_problems(run, refused)
            raise ItemFailed(str(refused)) from refused
        except TableError as error:
            raise ItemFailed(translated(error.sentence)) from error
        except Refused as refused:
            raise ItemFailed(str(refused)) from refused
    uploads.forget(stored for _own, stored in run.files.values())


def _read(run: Import, held: Held[ImportPart]) -> Imported:
    with ExitStack() as stack:

        def opened(part: str, how: Any) -> Any:
            if part not in run.files:
                return None
            own, stored = run.files[part]
            stream = stack.enter_context(uploads.open_watched(stored, held.look))
            return how(stream, name=own, max_bytes=settings.PALATE_MAX_IMPORT_BYTES)

        if run.what == Import.What.LABELS:
            how = LabelImport(**{**run.how, "ignore": tuple(run.how["ignore"])})
            return import_labels(study=run.study, table=opened("labels", open_labels), how=how)
        return import_rows(study=run.study, rows=opened("rows", open_table), columns=opened("columns", open_table))


def _note_problems(run: Import, refused: ImportRefused) -> None:
    Import.objects.filter(pk=run.pk).update(outcome={"problems": refused.problems, "left": refused.left})


IMPORTING = Kind(
    ImportPart,
    _import,
    name=lambda part: f"Import {part.run_id}",
    related=("run__study__scheme",),
    priority=SHORT_WORK_PRIORITY,
    fails_the_run=True,
)
