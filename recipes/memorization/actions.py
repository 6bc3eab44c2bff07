"""Writes of this pack: names of dishes become rows, verdicts are frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Row, Study, User
from recipes.memorization.models import FrozenVerdict
from recipes.memorization.names import DishName
from recipes.memorization.verdict import freezing, queries
from recipes.memorization.verdict.queries import Examination
from reports.data.arrays import Filters
from reports.frozen.versions import library_versions


@transaction.atomic
def add_names(*, study: Study, sheet: str, names: Sequence[DishName]) -> list[Row]:
    """Add dishes to a list, which is made where it is missing. A name that some list of the study has stays there.

    Raises:
        Refused: the study's rows have no region, or the list needs a title.
    """
    facets = set(study.scheme.parsed.row.keys)
    if any(each.region for each in names) and "region" not in facets:
        raise Refused(_("The scheme of this study has no region of rows."))
    if not sheet.strip():
        raise Refused(_("Give the list a title."))
    annotating.lock_study(study.pk)
    known = {name.casefold() for name in Row.objects.filter(sheet__study=study).values_list("name", flat=True)}
    new = [each for each in names if each.name.casefold() not in known]
    if not new:
        return []
    into = study.sheets.filter(title=sheet.strip()).first() or annotating.add_sheet(
        study=study, title=sheet.strip(), columns={}
    )
    return [
        annotating.add_row(
            sheet=into,
            name=each.name,
            title=each.name,  # what prompts of judges can name
            evidence=[],
            facets={"region": each.region} if each.region else {},
        )
        for each in new
    ]


@transaction.atomic
def freeze_verdict(
    *, study: Study, title: str, filters: Filters, examination: Examination | None, by: User | None
) -> FrozenVerdict:
    """Keep a verdict as it is now, with the labels behind it, what was said of sense, and where the recipes are from.

    Raises:
        Refused: no item has an answer.
    """
    verdict = queries.load(study, filters, examination)
    if not any(of.items for of in verdict.sections):
        raise Refused(_("No item has an answer yet, so there is no verdict to freeze."))
    table, language = verdict.data.table, get_language() or "en"
    beside = freezing.beside(verdict)
    contents = freezing.contents_from(table, beside, filters, language)
    return FrozenVerdict.objects.create(
        study=study,
        title=title,
        filters=filters.to_json(),
        language=language,
        labels=table.packed(),
        beside=beside,
        results=contents.content.decode(),
        data_digest=freezing.digest_of(table, beside),
        results_digest=hashlib.sha256(contents.content).hexdigest(),
        code_version=freezing.code_version(),
        libraries=library_versions(),
        created_by=by,
    )
