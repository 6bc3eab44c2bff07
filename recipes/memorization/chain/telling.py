"""The verdict at the end of a chain, in lines and as files."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone

from annotation.models import Study, User
from recipes.memorization.actions import freeze_verdict
from recipes.memorization.chain.settings import ChainSettings, Step
from recipes.memorization.models import FrozenVerdict
from recipes.memorization.verdict import contents as says
from recipes.memorization.verdict import files, queries
from recipes.memorization.verdict.queries import Examination, VerdictData
from reports.data.arrays import Filters, voice_of
from reports.exports.making import origin_of
from reports.queries import rows_about


def verdict_of(settings: ChainSettings, judge: str) -> VerdictData:
    """What was found by one judge, and called nonsense by the chain's examiner."""
    return queries.load(_study(settings), _filters(judge), _examination(settings))


def freeze(settings: ChainSettings, judge: str, *, by: User | None) -> FrozenVerdict:
    """Raises `annotation.actions.Refused` where no item has an answer."""
    title = f"By {judge}, {timezone.localdate().isoformat()}"
    return freeze_verdict(
        study=_study(settings), title=title, filters=_filters(judge), examination=_examination(settings), by=by
    )


def _study(settings: ChainSettings) -> Study:
    return Study.objects.get(slug=settings.study(Step.VERDICT))


def _filters(judge: str) -> Filters:
    return Filters(voices=(voice_of(judge),))


def _examination(settings: ChainSettings) -> Examination | None:
    examined = Study.objects.filter(slug=settings.study(Step.EXAMINE)).first()
    known = examined is not None and examined.raters.filter(code=settings.examiner).exists()
    return queries.examination(examined, rater=settings.examiner if known else "") if examined is not None else None


def lines(verdict: VerdictData) -> Iterator[str]:
    for of in says.told(verdict):
        yield from of.sentences
    if not verdict.sections:
        yield "No item has an answer yet."


def archive(verdict: VerdictData) -> bytes:
    """Everything of a verdict in one ZIP: tables, figures, LaTeX, labels."""
    contents, table = says.contents_of(verdict), verdict.data.table
    about = rows_about(Study.objects.get(slug=table.slug), table)
    made = files.content("zip", contents, table, origin_of(None, table, contents, Filters()), about)
    assert isinstance(made, bytes)
    return made
