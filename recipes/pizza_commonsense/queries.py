"""Reads of this pack: the tables of a study with the answers of a rater, and who has answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.cache import caches
from django.db.models import Count, QuerySet

from annotation.doors import judges_at_work
from annotation.evidence.lines import without_gaps
from annotation.models import Assignment, Column, Label, Rater, Row, Sheet, Study
from annotation.queries.warnings import warned
from recipes.cooking.vocabulary import INGREDIENT
from recipes.pizza_commonsense.models import SourceTable
from recipes.pizza_commonsense.records import EXAMPLE, SCHEME, Cells, Table
from reports.digests import study_digest
from reports.frozen.versions import code_version


def tables_of(study: Study, *, rater: str = "", sheets: Iterable[int] | None = None) -> list[Table]:
    """The tables of a study in its order, with what one rater answers; of none named without answers. Four queries.

    Of several rounds of a rater the last counts. Drafted answers count once their rater has confirmed them.
    """
    found = study.sheets.order_by("position").prefetch_related("columns", "rows")
    if sheets is not None:
        found = found.filter(pk__in=list(sheets))
    sources = {source.row_id: source for source in SourceTable.objects.filter(row__sheet__study=study)}
    said = _answers(study, rater) if rater else {}
    tables = []
    for sheet in found:
        columns = sorted(sheet.columns.all(), key=lambda column: column.position)
        for row in sorted(sheet.rows.all(), key=lambda row: row.position):
            if row.withdrawn_at is not None:
                continue
            source = sources.get(row.pk)
            tables.append(
                Table(
                    title=row.title or sheet.title,
                    id=source.published_id if source else "",
                    instructions=tuple(column.facets.get("instruction", "") for column in columns),
                    cells=said.get(row.pk, {}),
                    ingredients=_texts(row, INGREDIENT),
                    recipe=tuple(block.text for block in without_gaps(row.blocks) if block.kind != INGREDIENT),
                    source=source.record if source else "",
                )
            )
    return tables


def _texts(row: Row, kind: str) -> tuple[str, ...]:
    listed = tuple(block.text for block in without_gaps(row.blocks) if block.kind == kind)
    if listed:
        return listed
    named = row.facets.get("ingredients", [])
    return tuple(named) if isinstance(named, list) else (named,)


def _answers(study: Study, rater: str) -> dict[int, Cells]:
    labels = (
        Label.objects.filter(assignment__rater__study=study, assignment__rater__code=rater)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .exclude(drafted_from__isnull=False, confirmed_at=None)
        .order_by("assignment__repeat")
        .values_list("assignment__row_id", "column__position", "question__key", "value")
    )
    found: dict[int, dict[tuple[int, str], str]] = {}
    for row, position, question, value in labels:
        found.setdefault(row, {})[position, question] = str(value)
    return dict(found)


def systems(study: Study) -> QuerySet[Rater]:
    """Raters whose answers came in files: judges that neither ran here nor are to."""
    judges = study.raters.filter(kind=Rater.Kind.JUDGE).exclude(pk__in=judges_at_work(study))
    return judges.exclude(assignments__plan__isnull=False)


@dataclass(frozen=True)
class WhoAnswered:
    """A rater, of how many cells there is an answer, and in how many of them a rule warns; `is_system`: as `systems`
    has them."""

    rater: Rater
    answers: int
    warned: int | None
    is_system: bool

    @property
    def share(self) -> float | None:
        return None if self.warned is None or not self.answers else self.warned / self.answers


def who_answered(study: Study) -> list[WhoAnswered]:
    """The raters with answers: the gold, then people and judges. What the rules warn of is kept while the study and the
    code are the same: of the published tables by some systems it takes seconds."""
    counts = dict(
        Label.objects.filter(assignment__rater__study=study)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .values_list("assignment__rater")
        .annotate(n=Count("pk"))
        .order_by()
    )
    of = _warned(study)
    raters = [rater for rater in study.raters.order_by("kind", "code") if rater.pk in counts]
    from_files = set(systems(study).values_list("pk", flat=True))
    return [WhoAnswered(rater, counts[rater.pk], of.get(rater.pk), rater.pk in from_files) for rater in raters]


def examples_apart(study: Study) -> list[str]:
    """The rater from whom people start, as `annotation.doors.RatersApart`; one of its name that has run is a judge."""
    if study.scheme.slug != SCHEME:
        return []
    return list(study.raters.judges().filter(code=EXAMPLE, runs=None).values_list("code", flat=True))


def _warned(study: Study) -> dict[int, int]:
    """{rater: in how many cells a rule warns}"""
    digest = study_digest(study)
    key = f"pizza-warned-{hashlib.sha256(f'{digest} {code_version()}'.encode()).hexdigest()}"
    found = caches["reports"].get(key)
    if isinstance(found, dict):
        return found
    made = {one.rater.pk: one.cells for one in warned(study)}
    if study_digest(study) == digest:
        caches["reports"].set(key, made)
    return made


@dataclass(frozen=True)
class RecipeLine:
    """A recipe of a study. `pk`: of its sheet."""

    pk: int
    title: str
    lines: int
    ingredients: int


def recipes(sheets: Sequence[Sheet]) -> list[RecipeLine]:
    """The recipes of some sheets, in their order. Two queries."""
    rows = dict(Row.objects.filter(sheet__in=sheets).values_list("sheet", "facets"))
    lines = dict(Column.objects.filter(sheet__in=sheets).order_by().values_list("sheet").annotate(n=Count("pk")))
    return [
        RecipeLine(sheet.pk, sheet.title, lines.get(sheet.pk, 0), len(rows.get(sheet.pk, {}).get("ingredients", [])))
        for sheet in sheets
    ]
