"""The verdict at the end of a chain, in lines and as files."""

from __future__ import annotations

import io
from collections.abc import Iterator

from annotation.models import Study
from recipes.memorization.chain.settings import ChainSettings, Step
from recipes.memorization.verdict import contents as says
from recipes.memorization.verdict import queries
from recipes.memorization.verdict.queries import VerdictData
from reports.data.arrays import Filters, voice_of
from reports.exports.archive import write_archive
from reports.exports.making import origin_of


def verdict_of(settings: ChainSettings, judge: str) -> VerdictData:
    """What was found by one judge, and called nonsense by the chain's examiner."""
    study = Study.objects.get(slug=settings.study(Step.VERDICT))
    examined = Study.objects.filter(slug=settings.study(Step.EXAMINE)).first()
    known = examined is not None and examined.raters.filter(code=settings.examiner).exists()
    examination = (
        queries.examination(examined, rater=settings.examiner if known else "") if examined is not None else None
    )
    return queries.load(study, Filters(voices=(voice_of(judge),)), examination)


def lines(verdict: VerdictData) -> Iterator[str]:
    for of in says.told(verdict):
        yield from of.sentences
    if not verdict.sections:
        yield "No item has an answer yet."


def archive(verdict: VerdictData) -> bytes:
    """Everything of a verdict in one ZIP: tables, figures, LaTeX, labels."""
    contents, out = says.contents_of(verdict), io.BytesIO()
    table = verdict.data.table
    write_archive(out, contents, table, origin_of(None, table, contents, Filters()))
    return out.getvalue()
