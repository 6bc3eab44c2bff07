"""Writes of this pack: names of dishes become rows, verdicts are frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block, blocks_to_json
from annotation.evidence.kinds import PARAGRAPH
from annotation.exchange import arrivals
from annotation.models import Role, Row, Study, User
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
        Refused: the study's rows have no region, the list needs a title, or a file is being imported.
    """
    facets = set(study.scheme.parsed.row.keys)
    if any(each.region for each in names) and "region" not in facets:
        raise Refused(_("The scheme of this study has no region of rows."))
    if not sheet.strip():
        raise Refused(_("Give the list a title."))
    annotating.lock_study(study.pk)
    arrivals.refuse_if_coming(study.pk)  # it may bring these names, or be taken back
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


def hidden_facets(study: Study) -> set[str]:
    """What a study's rows say and nobody who labels is shown."""
    return {facet.key for facet in study.scheme.parsed.row.facets if facet.hidden}


@transaction.atomic
def add_text(*, study: Study, sheet: str, text: str, written_by: str = "", prompt: str = "") -> Row:
    """Add a recipe that was written elsewhere, by a person or a model, behind those of its dish; a dish that is not
    there yet becomes a sheet.

    `written_by`, `prompt`: whose it is and how it was asked for, as far as `hidden_facets` has them.

    Raises:
        Refused: no dish, no words in the text, the dish has this text already, or the scheme hides from nobody whose it
            is.
    """
    title, lines = sheet.strip(), [line.strip() for line in text.splitlines() if line.strip()]
    if not title:
        raise Refused(_("Name the dish."))
    if not lines:
        raise Refused(_("Paste the recipe's text."))
    said = {key: words for key, words in (("generator", written_by.strip()), ("prompt", prompt.strip())) if words}
    if not said.keys() <= hidden_facets(study):
        raise Refused(
            _("The scheme of this study has no hidden facets for who wrote a recipe and how it was asked for.")
        )
    annotating.lock_study(study.pk)
    into = study.sheets.filter(title=title).first() or annotating.add_sheet(study=study, title=title, columns={})
    evidence = [Block(PARAGRAPH, line) for line in lines]
    there = list(into.rows.order_by("position"))
    if same := next((row for row in there if row.evidence == blocks_to_json(evidence)), None):
        raise Refused(_("“%(dish)s” has this text already: %(row)s.") % {"dish": title, "row": same.name})
    number = 1 + max((int(row.name) for row in there if row.name.isdecimal()), default=0)
    return annotating.add_row(
        sheet=into,
        name=str(number),
        title=title,
        evidence=evidence,
        facets=said,
    )


@transaction.atomic
def label_yourself(*, study: Study, by: User) -> int:
    """Make somebody who manages a study its annotator too, with all rows that are there; returns how many rows.

    Raises:
        Refused: the study has no rows, or an import is arriving with work of this rater.
    """
    annotating.lock_study(study.pk)
    rows = list(
        Row.objects.filter(
            sheet__study=study, sheet__closed_at=None, sheet__archived_at=None, withdrawn_at=None
        ).order_by("sheet__position", "position")
    )
    if not rows:
        raise Refused(_("There is nothing to label in this study yet."))
    annotating.add_member(study=study, user=by, role=Role.ANNOTATOR, by=by)
    annotating.assign(rater=study.raters.get(user=by), rows=rows)
    return len(rows)


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
