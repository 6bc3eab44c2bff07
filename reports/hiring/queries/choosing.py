"""The judges that could be hired, compared on development documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import OuterRef, Subquery

from annotation.models import Rater, Study
from base.text import natural
from judges.methods import WITHOUT_LENGTHS
from judges.models import Judge, Run
from reports.hiring.cells import judge_cells, normalisations_of, part_of, score_kind
from reports.hiring.documents import clusters_of, judged_of
from reports.hiring.queries.labels import study_table
from reports.hiring.queries.splitting import left_out_names, shown_names, test_names
from reports.models import Split


@dataclass(frozen=True)
class Candidate:
    """A judge under a normalisation on one question, on development documents alone.

    agreement: share of cells with people's answer, agreement_low and _high its 95 % interval by documents, None where
    there is one; baseline: what always the most frequent right answer reaches in the same cells. coverage, error: of
    the cells over the threshold that a certificate for `epsilon` would begin with, None where no threshold keeps to it.
    own: it labels by this normalisation, so that it can be hired as it is. examples: documents that its prompt shows
    it with their answers, which are not among `documents`.
    """

    judge: str
    question: str
    title: str
    normalisation: str
    own: bool
    score: str
    documents: int
    examples: int
    cells: int
    agreement: float | None
    agreement_low: float | None
    agreement_high: float | None
    baseline: float | None
    threshold: float | None
    coverage: float | None
    error: float | None


def candidates(study: Study, *, epsilon: float) -> list[Candidate]:
    """Every judge of the study × question × normalisation that its scores allow, on development documents: each on
    those that its prompt does not show it."""
    from reports.stats.hiring.certificate import development_points
    from reports.stats.hiring.means import clustered_mean

    table = study_table(study)
    test = test_names(study)
    left_out = left_out_names(study)
    behind = _judges_behind(study)
    found = []
    for entry in table.raters:
        if entry.kind != Rater.Kind.JUDGE:
            continue
        judge = behind.get(entry.code)
        one_way = judge is not None and judge.method in WITHOUT_LENGTHS
        shown = shown_names(study, judge)
        outside = test | left_out | shown
        for section, spec in table.questions:
            name = f"{section.key}.{spec.key}"
            kind = score_kind(table, entry.code, name)
            normalisations = normalisations_of(table, entry.code, name) or ("",)
            # A calibration holds for the scores that it was fitted to; similarities are the same by any length.
            if normalisations != ("",) and (entry.normalisation.endswith(", calibrated") or one_way):
                normalisations = (entry.normalisation,)
            for normalisation in normalisations:
                own = normalisation in ("", entry.normalisation)
                made = judge_cells(table, entry.code, name, normalisation="" if own else normalisation)
                if not made.row.size:
                    continue
                kept = made.at(made.known & ~part_of(made.row, table, outside))
                right = clustered_mean(1 - kept.wrong, clusters_of(kept, Split.Unit.ITEM))
                candidate = Candidate(
                    judge=entry.code,
                    question=name,
                    title=table.scheme.title_of(section.key, spec.key),
                    normalisation=normalisation,
                    own=own,
                    score=kind,
                    documents=int(np.unique(kept.row).size),
                    examples=len(shown),
                    cells=int(kept.row.size),
                    agreement=right.value,
                    agreement_low=right.low,
                    agreement_high=right.high,
                    baseline=float(kept.right.mean(axis=0).max()) if kept.row.size else None,
                    threshold=None,
                    coverage=None,
                    error=None,
                )
                judged = judged_of(kept, Split.Unit.ITEM)  # rows, where they are of no items
                points = development_points(
                    judged, epsilon=epsilon, most=max(judged.most, 1), n_clusters=max(judged.n_clusters, 1)
                )
                good = [point for point in points if point.error is not None and point.error <= epsilon]
                if good:
                    best = max(good, key=lambda point: point.coverage)
                    candidate = replace(candidate, threshold=best.threshold, coverage=best.coverage, error=best.error)
                found.append(candidate)
    return found


def _judges_behind(study: Study) -> dict[str, Judge]:
    """The judge of each rater's last run, by the rater's code. Two queries."""
    last = Run.objects.filter(rater=OuterRef("pk")).order_by("-started_at").values("judge")[:1]
    chosen = dict(study.raters.judges().annotate(last=Subquery(last)).values_list("code", "last"))
    judges = Judge.objects.select_related("prompt").in_bulk(pk for pk in chosen.values() if pk is not None)
    return {code: judges[pk] for code, pk in chosen.items() if pk is not None}


SORTS = ("agreement", "coverage", "error", "cells", "judge", "question")


def in_order(found: list[Candidate], sort: str) -> list[Candidate]:
    """By a column of the page, the best first; what is not known last."""

    def by(candidate: Candidate) -> tuple[Any, ...]:
        tail = (natural(candidate.judge), candidate.question, candidate.normalisation)
        value = getattr(candidate, sort)
        if sort in ("judge", "question"):
            return (natural(str(value)), *tail)
        return (value is None, (value if sort == "error" else -value) if value is not None else 0, *tail)

    return sorted(found, key=by)
