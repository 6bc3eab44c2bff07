"""All writes of reports."""

from __future__ import annotations

import hashlib

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.models import Study, User
from reports import queries
from reports.arrays import Filters
from reports.contents import contents_from
from reports.models import Report
from reports.versions import code_version, library_versions


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
