"""Reports as a study stands, made once: kept under a digest of all that they are made of.

What is kept can be out of use and never out of date: another label, filter, language or version of the code has another
key. The digest is taken before the labels are read and again after it: what came in between would be kept under a wrong
key. What could not be computed for lack of a model or its data is tried again each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.core.cache import caches
from django.utils import translation
from django.utils.translation import get_language

from annotation import queries as planning
from annotation.models import Row, Study
from llm import encoders
from reports import doors, queries
from reports.answer_figures import answer_figures
from reports.answers import Answers, answers_of
from reports.contents import Contents, contents_of
from reports.data.arrays import LEAVE_OUT, Filters
from reports.data.label_table import canonical_json
from reports.digests import study_digest
from reports.figures.base import digest_of
from reports.frozen.versions import code_version
from reports.numbers.report import StudyReport, compute
from reports.tables.overview import by_wording, seen_by


@dataclass(frozen=True)
class LiveReport:
    """What the pages of a report show. `answers_in`: the answers by language, of which a paper may need another;
    `figures`: the digests of its figures, by their keys; `seen`: which judges have seen how many of the rows that
    count; `wording`: of labels by which wording it is, where it is not of all; `simulated`: the codes of simulated
    raters; `stands`: it is all that can be said of the labels under its key, so that its pages may be kept too."""

    contents: Contents
    answers: Answers
    answers_in: Mapping[str, Answers]
    figures: Mapping[str, str]
    n_sheets: int
    n_people: int
    n_judges: int
    n_labels: int
    seen: str
    wording: str
    simulated: tuple[str, ...]
    stands: bool


class Live:
    """The live reports of a study at one moment. One digest, however many reports are asked for."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.digest = study_digest(study)

    def facet_words(self) -> Mapping[str, Sequence[str]]:
        """As `facet_words`, kept."""
        if not self.study.scheme.parsed.row.facets:
            return {}
        key = f"facets-{self.digest}-{code_version()}"
        found: Mapping[str, Sequence[str]] | None = caches["reports"].get(key)
        if found is None:
            found = facet_words(self.study)
            if study_digest(self.study) == self.digest:
                caches["reports"].set(key, found)
        return found

    def key(self, filters: Filters) -> str:
        # The name of an encoder may stand for another folder or layer tomorrow.
        encoder = encoders.place_of(filters.encoder)
        parts = [self.digest, filters.to_json(), get_language(), code_version(), doors.registered(), encoder]
        return hashlib.sha256(canonical_json(parts)).hexdigest()

    def kept(self, filters: Filters) -> LiveReport | None:
        found = caches["reports"].get(self.key(filters))
        return found if isinstance(found, LiveReport) else None

    def made(self, filters: Filters) -> LiveReport:
        """The report, out of the cache or made now.

        Raises:
            Refused: a judge's labels cannot be chosen anew.
        """
        found = self.kept(filters)
        if found is None:
            data = queries.load(self.study, filters, frequent=True)
            as_it_stood = study_digest(self.study) == self.digest
            report = compute(data, filters)
            contents, answers = contents_of(report), answers_of(report)
            found = LiveReport(
                contents=contents,
                answers=answers,
                answers_in={language: _answers_in(language, report) for language, _name in settings.LANGUAGES},
                figures={figure.key: digest_of(figure) for figure in [*contents.figures, *answer_figures(answers)]},
                n_sheets=len(data.sheets),
                n_people=len(data.people),
                n_judges=len(data.judges),
                n_labels=data.n_labels,
                seen=seen_by(data.table) if filters.seen != LEAVE_OUT else "",
                wording=by_wording(report),
                simulated=tuple(rater.code for rater in data.simulated),
                stands=as_it_stood and not report.lacks,
            )
            if found.stands:
                caches["reports"].set(self.key(filters), found)
        return found


def _answers_in(language: str, report: StudyReport) -> Answers:
    with translation.override(language):
        return answers_of(report)


def facet_words(study: Study) -> dict[str, list[str]]:
    """What can be chosen of the facets of a study's rows, by their keys: as `annotation.queries.facet_words`."""
    keys = [facet.key for facet in study.scheme.parsed.row.facets]
    return planning.facet_words(Row.objects.filter(sheet__study=study), keys)


def without_intervals(filters: Filters) -> Filters:
    return replace(filters, by="")
