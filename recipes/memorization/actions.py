"""Writes of this pack: names of dishes become rows."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Row, Study
from recipes.memorization.names import DishName

SCHEME = "recipe-names"


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
