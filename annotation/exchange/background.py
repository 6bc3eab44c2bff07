"""Imports of files that are too large for a page to wait for: a worker does them.

Tables go in all or nothing, as everywhere. What else a pack brings (`doors.register_importer`) goes in as that says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation import doors
from annotation.actions import Refused, lock_study, lock_to_resume
from annotation.exchange import arrivals, uploads
from annotation.exchange.json_tables import open_columns, open_labels, open_rows
from annotation.exchange.label_imports import Doing, import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import Imported, ImportRefused, translated
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import TableError
from annotation.exchange.zips import size_unpacked
from annotation.models import Import, ImportPart, Study, User
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import ItemFailed, NotYet
from work.states import SHORT_WORK_PRIORITY

# How often an importer tells how far it is.
EVERY_S = 1.0


def is_large(files: Mapping[str, UploadedFile[bytes] | None]) -> bool:
    """Whether a page would have to wait for long. What is too large altogether is refused at once."""
    given = [file for file in files.values() if file]
    sizes = [file.size or 0 for file in given]
    if max(sizes, default=0) > settings.PALATE_MAX_IMPORT_BYTES:
        return False
    at_once = settings.PALATE_IMPORT_AT_ONCE
    # A large ZIP is not looked into here: the list of its files may take longer than the import of a small one.
    return sum(sizes) > at_once or sum(size_unpacked(cast(BinaryIO, file)) for file in given) > at_once


def start_import(
    *, study: Study, files: Mapping[str, UploadedFile[bytes] | None], by: User | None, how: LabelImport | None = None
) -> Import:
    """Let a worker import files: under “rows” and “columns”, or under “labels” with `how` these are read."""
    what = Import.What.LABELS if how else Import.What.ROWS
    return start(study=study, what=what, files=files, how=asdict(how) if how else {}, by=by)


def start(
    *,
    study: Study,
    what: Import.What,
    files: Mapping[str, UploadedFile[bytes] | None],
    how: Mapping[str, Any],
    by: User | None,
) -> Import:
    """Let a worker import files, of which each has a name of its own; `how` is for who reads them."""
    kept: dict[str, tuple[str, str]] = {}
    try:
        for part, file in files.items():
            if file:
                kept[part] = file.name or "", uploads.keep(file)
        with transaction.atomic():
            lock_study(study.pk)
            made = Import.objects.create(
                study=study,
                what=what,
                files=kept,
                how=dict(how),
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
    """Import no more. A worker that is at it stops; of a table nothing stays, of pages those that are in."""
    work.cancel(run)


@transaction.atomic
def resume_import(*, run: Import) -> None:
    """Try an import again that was cancelled or refused.

    Raises:
        Refused: it is done, or at work.
    """
    lock_to_resume(run)
    if not work.resume(run):
        raise Refused(_("It is done already."))
    importer = doors.importer(run.what)
    if importer is None or importer.whole:  # else it goes on where it was
        Import.objects.filter(pk=run.pk).update(outcome={})


def percent_read(run: Import) -> int | None:
    """How far an import is: as its importer tells (`telling`), else how much of the files has been read, in bytes
    of all of them, where one is being read."""
    if (told := uploads.read_percent(_progress(run))) is not None:
        return told
    names = [stored for _own, stored in run.files.values()]
    for n, name in enumerate(names):
        percent = uploads.read_percent(name)
        if percent is not None:
            sizes = [uploads.size(one) for one in names]
            return int((100 * sum(sizes[:n]) + percent * sizes[n]) / max(1, sum(sizes)))
    return None


def _progress(run: Import) -> str:
    return f"import-{run.pk}"


def telling(run: Import, look: Callable[[], None]) -> Callable[[int, int], None]:
    """What an importer is to call with how many it has written, of how many: seen by everybody at once, though nothing
    that it writes is before its end. `look` may raise to stop."""
    name = _progress(run)
    last = float("-inf")

    def tell(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY_S:
            last = time.monotonic()
            uploads.note_percent(name, int(100 * done / max(1, of)))
            look()

    return tell


def _owner(run: Import) -> str:
    return f"import {run.pk}"


def doing(run: Import, held: Held[ImportPart]) -> Doing:
    """Who imports, for what writes in parts (`import_labels`): says how far it is, and keeps the lease between them."""
    return Doing(owner=_owner(run), beat=held.beat, told=telling(run, held.beat))


def forget_files(instance: Import, **_signal: Any) -> None:
    """An import is deleted, with its study or by itself: its files go with it."""
    names = [stored for _own, stored in instance.files.values()]
    transaction.on_commit(partial(uploads.forget, names), robust=True)


def _import(held: Held[ImportPart]) -> None:
    """What a worker does: the end of its item and what makes the import seen are one transaction."""
    run = held.item.run
    with translation.override(run.language):
        try:
            _read(run, held)
        except FileNotFoundError as error:
            raise ItemFailed(_("The file is not kept any more. Import it again.")) from error
        except ImportRefused as refused:
            _note_problems(run, refused)
            raise ItemFailed(str(refused)) from refused
        except TableError as error:
            raise ItemFailed(translated(error.sentence)) from error
        except arrivals.Coming as coming:
            raise NotYet(str(coming)) from coming
        except Refused as refused:
            raise ItemFailed(str(refused)) from refused
        finally:
            uploads.forget([_progress(run)])
    uploads.forget(stored for _own, stored in run.files.values())


def _read(run: Import, held: Held[ImportPart]) -> None:
    if importer := doors.importer(run.what):
        if importer.whole:  # what an earlier attempt left is not of the study
            arrivals.tidy(run.study, owner=_owner(run))
        importer.read(held, _one_by_one(run, held))
        return

    def finish(imported: Imported) -> None:
        with held.finishing():
            said = imported.sentences(run.study.scheme.parsed.words)
            outcome = {"sentences": said, "nothing_new": imported.nothing_new}
            Import.objects.filter(pk=run.pk).update(outcome=outcome)

    by = replace(doing(run, held), at_end=finish)
    with ExitStack() as stack:

        def opened(part: str, how: Any) -> Any:
            if part not in run.files:
                return None
            own, stored = run.files[part]
            stream = stack.enter_context(uploads.open_watched(stored, held.beat))
            return how(stream, name=own, max_bytes=settings.PALATE_MAX_IMPORT_BYTES)

        if run.what == Import.What.LABELS:
            how = LabelImport(**{**run.how, "ignore": tuple(run.how["ignore"])})
            import_labels(study=run.study, table=opened("labels", open_labels), how=how, doing=by)
            return
        rows, columns = opened("rows", open_rows), opened("columns", open_columns)
        import_rows(study=run.study, rows=rows, columns=columns, doing=by)


def _one_by_one(run: Import, held: Held[ImportPart]) -> Iterator[tuple[str, BinaryIO]]:
    """The files with their own names, in the order of the upload; each is open while it is read."""
    for _part, (own, stored) in sorted(run.files.items(), key=lambda item: int(item[0])):
        with uploads.open_watched(stored, held.beat) as stream:
            yield own, stream


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
