"""All writes of reports."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import secrets
import time
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, transaction
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.actions import Refused, lock_study, lock_to_resume, note, refuse_while_shown
from annotation.models import AuditEvent, Study, User
from annotation.webhooks.outbox import Event, tell
from base import files
from reports import queries
from reports.contents import contents_from
from reports.data.arrays import Filters
from reports.data.label_table import canonical_json
from reports.digests import study_digest
from reports.exports.making import ENDINGS, make_file, path_of
from reports.exports.marked import has_any, has_spans
from reports.frozen.versions import code_version, library_versions
from reports.models import Export, ExportPart, Report
from work import actions as work
from work.actions import Held
from work.outcomes import ItemFailed, Outcome

logger = logging.getLogger(__name__)

_A_DAY = 86_400  # seconds
# Within this what is asked for again is what is there: whoever has not heard the answer asks once more.
_AGAIN = timedelta(minutes=10)
_FILE = re.compile(r"\d+-[0-9a-f]{16}\.\w+")  # as `make_part` names it
# Between two steps of a download, such as two of its files.
_LONGEST_STEP = timedelta(minutes=30)


@transaction.atomic
def freeze(*, study: Study, title: str, filters: Filters, by: User | None) -> Report:
    """Keep a report as it is now, with the labels behind it. One that the same person froze in the last minutes, equal
    but for its day, is given instead of another.

    Raises:
        Refused: there is no label to report on, a judge's labels cannot be chosen anew, or an import is being shown.
    """
    refuse_while_shown(study.pk)
    table = queries.label_table(study, filters, notes=True, frequent=True)
    if not len(table.labels):
        raise Refused(_("There is no label that fits these filters, so there is nothing to freeze."))
    language = get_language() or "en"
    contents = contents_from(table, filters, language)
    lock_study(study.pk)  # of two that are sent at once one waits, and finds the other
    told: dict[str, Any] = {
        "title": title,
        "filters": filters.to_json(),
        "language": language,
        "data_digest": table.digest,
        "results_digest": hashlib.sha256(contents.content).hexdigest(),
        "code_version": code_version(),
        "created_by": by,
    }
    before = study.reports.filter(**told, created_at__gt=timezone.now() - _AGAIN).first() if by else None
    if before is not None:
        return before
    made = Report.objects.create(
        study=study,
        labels=table.packed(),
        results=contents.content.decode(),
        libraries=library_versions(),
        seeds=filters.seeds(),
        **told,
    )
    tell(Event.REPORT_FROZEN, study, name="api:frozen-report", args=[study.slug, made.pk], data={"report": made.pk})
    return made


# --- downloads that are made in the background -----------------------------------------------------------------------


@transaction.atomic
def ask_for_export(
    *, study: Study, form: str, filters: Filters, by: User | None, report: Report | None = None
) -> Export:
    """Have a download made by a worker: of a frozen report, or of the study as it stands under the filters.

    One that the same person asked for in the last minutes, of the same data, is given instead of another.

    Raises:
        Refused: for one of the programs that mark words, where downloads do not have the texts, or no question is about
            anything that it knows.
    """
    if form in (Export.Form.DOCCANO, Export.Form.PRODIGY, Export.Form.INCEPTION, Export.Form.CONLL):
        questions = [spec for section in study.scheme.parsed.sections for spec in section.questions]
        if not study.publishes_texts:
            raise Refused(
                _(
                    "Programs that mark words take labels with their texts. Let downloads have these first, under "
                    "“Settings”."
                )
            )
        if form in (Export.Form.INCEPTION, Export.Form.CONLL) and not has_spans(questions):
            raise Refused(_("INCEpTION and CoNLL know marked words; this study asks for none."))
        if not has_any(questions):
            raise Refused(_("doccano and Prodigy know marked words and options; this study asks for neither."))
    lock_study(study.pk)
    told: dict[str, Any] = {
        "report": report,
        "form": form,
        "filters": report.filters if report else filters.to_json(),
        "language": report.language if report else get_language() or "en",
        "started_by": by,
    }
    of = report.pk if report else study_digest(study)
    says = [study.licence, study.publishes_texts, study.published_contact]
    asked = [of, *says, form, told["filters"], told["language"], by and by.pk]
    key = f"export-{hashlib.sha256(canonical_json(asked)).hexdigest()}"
    vain = (Export.State.FAILED, Export.State.CANCELLED)
    there = study.exports.filter(**told).exclude(state__in=vain)
    before = there.filter(pk=caches["reports"].get(key)).first() if by else None
    if before is not None:
        return before
    export = Export.objects.create(study=study, **told)
    work.start(export, [ExportPart(run=export)])
    note(AuditEvent.Kind.EXPORT, by=by, study=study, what=form)
    caches["reports"].set(key, export.pk, _AGAIN.total_seconds())
    return export


@transaction.atomic
def cancel_export(*, run: Export) -> None:
    """Have no download made after all. A worker that is at it stops at its next step."""
    work.cancel(run)


@transaction.atomic
def resume_export(*, run: Export) -> None:
    """Have a download made that was cancelled or failed, from its beginning.

    Raises:
        Refused: it is ready, or being made.
    """
    lock_to_resume(run)
    if not work.resume(run):
        raise Refused(_("It is ready already."))


def make_export(*, export_id: int) -> None:
    """Make a download in this process, if it waits for somebody."""
    work.take_up(Export.objects.get(pk=export_id))


def make_part(held: Held[ExportPart]) -> None:
    """What a worker does: the file first, under a name that nobody knows; then the row that names it."""
    export = held.item.run
    path = settings.PALATE_EXPORTS / f"{export.pk}-{secrets.token_hex(8)}.{ENDINGS[Export.Form(export.form)]}"

    def progress(percent: int, step: str) -> None:
        held.hold(_LONGEST_STEP, percent=percent, step=step)

    try:
        progress(0, "")
        make_file(export, path, progress)
        files.sync(path)
        with held.finishing(percent=100, step=""):
            ready = Export.objects.filter(pk=export.pk)
            ready.update(state=Export.State.FINISHED, ended_at=timezone.now(), file=path.name, size=path.stat().st_size)
    except DatabaseError:  # whether the row names the file is not known
        raise
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, Refused):
            raise ItemFailed(str(error)) from error
        if isinstance(error, Outcome) or not isinstance(error, Exception):
            raise
        logger.exception("The download %s failed", export.pk)
        with translation.override(export.language):
            raise ItemFailed(_("It could not be made; the log says why. Try it again.")) from error


@transaction.atomic
def forget_backgrounds(studies: Iterable[Study]) -> None:
    """Delete the downloads that hold what raters of these studies told about themselves, with their files."""
    Export.objects.filter(study__in=studies, report=None, form=Export.Form.ZIP).delete()


@transaction.atomic
def forget_contacts(studies: Iterable[Study]) -> None:
    """Delete the downloads that may name the contact of these studies, with their files."""
    Export.objects.filter(study__in=studies, form=Export.Form.ZIP).delete()


def forget_file(export: Export) -> None:
    """A download is deleted, with its study or by itself: its file goes with it."""
    if export.file:
        transaction.on_commit(partial(path_of(export).unlink, missing_ok=True), robust=True)


def clean_exports() -> int:
    """Delete downloads that are older than `PALATE_EXPORT_DAYS`, with their files, and files that belong to none.
    Returns how many were deleted.
    """
    old = Export.objects.filter(started_at__lt=timezone.now() - timedelta(days=settings.PALATE_EXPORT_DAYS))
    n_old = old.count()
    old.delete()
    known = set(Export.objects.exclude(file="").values_list("file", flat=True))
    young = time.time() - _A_DAY  # what is being written has no row that names it yet
    for path in settings.PALATE_EXPORTS.glob("*-*.*"):
        if _FILE.fullmatch(path.name) and path.name not in known and path.stat().st_mtime < young:
            path.unlink(missing_ok=True)
    return n_old
