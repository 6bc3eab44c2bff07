"""All writes of reports."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import time
from datetime import timedelta
from functools import partial

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.models import Study, User
from reports import queries
from reports.arrays import Filters
from reports.contents import contents_from
from reports.exporting import ENDINGS, make_file
from reports.models import Export, Report
from reports.versions import code_version, library_versions

logger = logging.getLogger(__name__)

_A_DAY, _GIVEN_UP_AFTER = 86_400, 3_600  # seconds


@transaction.atomic
def freeze(*, study: Study, title: str, filters: Filters, by: User | None) -> Report:
    """Keep a report as it is now, with the labels behind it.

    Raises:
        Refused: there is no label to report on, or a judge's labels cannot be chosen anew.
    """
    table = queries.label_table(study, filters, notes=True)
    if not len(table.labels):
        raise Refused(_("There is no label that fits these filters, so there is nothing to freeze."))
    language = get_language() or "en"
    contents = contents_from(table, filters, language)
    return Report.objects.create(
        study=study,
        title=title,
        filters=filters.to_json(),
        language=language,
        labels=table.packed(),
        results=contents.content.decode(),
        data_digest=table.digest,
        results_digest=hashlib.sha256(contents.content).hexdigest(),
        code_version=code_version(),
        libraries=library_versions(),
        seeds=filters.seeds(),
        created_by=by,
    )


# --- downloads that are made in the background -----------------------------------------------------------------------

TASK = "reports.tasks.make_export"


@transaction.atomic
def ask_for_export(
    *, study: Study, form: str, filters: Filters, by: User | None, report: Report | None = None
) -> Export:
    """Have a download made by a worker: of a frozen report, or of the study as it stands under the filters."""
    export = Export.objects.create(
        study=study,
        report=report,
        form=form,
        filters=report.filters if report else filters.to_json(),
        language=report.language if report else get_language() or "en",
        asked_by=by,
    )
    transaction.on_commit(partial(_publish, export.pk))
    return export


def _publish(export_id: int) -> None:
    try:
        current_app.send_task(TASK, args=[export_id])
    except Exception:  # each broker has its own
        logger.exception("The queue cannot be reached")
        Export.objects.filter(pk=export_id).update(
            state=Export.State.FAILED, error=_("The queue cannot be reached. Ask for it again later.")
        )


def make_export(*, export_id: int) -> None:
    """Make a download that waits. A second worker at the same one finds nothing to do.

    Not one transaction: how far it has come is to be seen meanwhile.
    """
    mine = Export.objects.filter(pk=export_id)
    if not mine.filter(state=Export.State.WAITING).update(state=Export.State.WORKING):
        return
    export = mine.select_related("study__scheme", "report").get()
    path = settings.PALATE_EXPORTS / f"{export.pk}-{secrets.token_hex(8)}.{ENDINGS[Export.Form(export.form)]}"

    def progress(done: int, step: str) -> None:
        mine.update(done=done, step=step)

    try:
        make_file(export, path, progress)
    except Exception as error:
        with contextlib.suppress(OSError):
            path.unlink()
        logger.exception("The download %s failed", export.pk)
        said = str(error) if isinstance(error, Refused) else _("It could not be made; the log says why. Try it again.")
        mine.update(state=Export.State.FAILED, error=said, ended_at=timezone.now())
        return
    mine.update(
        state=Export.State.READY, file=path.name, size=path.stat().st_size, done=100, step="", ended_at=timezone.now()
    )


def clean_exports() -> int:
    """Delete downloads that are older than `PALATE_EXPORT_DAYS`, with their files, and files that belong to none; give
    up those whose worker was killed, or never came. Returns how many were deleted.
    """
    lost = Export.objects.filter(
        state__in=[Export.State.WAITING, Export.State.WORKING],
        asked_at__lt=timezone.now() - timedelta(seconds=_GIVEN_UP_AFTER),
    )
    lost.update(
        state=Export.State.FAILED,
        error=_("No worker has finished it in an hour. Is one running? Ask for it again."),
        ended_at=timezone.now(),
    )
    old = Export.objects.filter(asked_at__lt=timezone.now() - timedelta(days=settings.PALATE_EXPORT_DAYS))
    n_old, _of_each = old.delete()
    known = set(Export.objects.exclude(file="").values_list("file", flat=True))
    young = time.time() - _A_DAY  # what is being written has no row that names it yet
    for path in settings.PALATE_EXPORTS.glob("*-*.*"):
        if path.name not in known and path.stat().st_mtime < young:
            path.unlink(missing_ok=True)
    return n_old
