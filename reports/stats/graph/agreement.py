"""Node F1 and Edge F1 of two graphs of one document, and their means over documents with intervals.

Source: Toyooka, Aizawa and Yamakata, Appendix B, equations (4) to (6); docs/statistics.md names the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.bootstrap import By, Interval, resampling_of
from reports.stats.graph.matching import maximum_matching
from reports.stats.graph.states import GIVEN, Drawn
from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio

THRESHOLDS = (0.80, 0.85, 0.90)
MEASURES = ("nodes", "matched", "all")
NO_GRAPH = "no two of them drew the same document"


@dataclass(frozen=True)
class Counts:
    """Two graphs under one threshold.

    nodes: |V1|, |V2|, nodes that steps made; n_matched: |M1| = |M2|. edges: |E1|, |E2|; inner: |E1^M|, |E2^M|, edges
    between matched or given nodes; shared: |E1^M ∩ E2^M|.
    """

    nodes: tuple[int, int]
    n_matched: int
    edges: tuple[int, int]
    inner: tuple[int, int]
    shared: int

    @property
    def numerators(self) -> tuple[int, int, int]:
        """In the order of `MEASURES`."""
        return 2 * self.n_matched, 2 * self.shared, 2 * self.shared

    @property
    def denominators(self) -> tuple[int, int, int]:
        return sum(self.nodes), sum(self.inner), sum(self.edges)

    @property
    def values(self) -> tuple[float, float, float]:
        """Node F1, Edge F1 (matched), Edge F1 (all).

        Two graphs of which neither has a node, or an edge, agree: 1. Where both have edges and neither one between
        matched nodes, Edge F1 (matched) is not defined: NaN.
        """
        tops, bottoms = self.numerators, self.denominators
        found = [top / bottom if bottom else 1.0 for top, bottom in zip(tops, bottoms, strict=True)]
        if not bottoms[1] and bottoms[2]:
            found[1] = float("nan")
        return found[0], found[1], found[2]

    @property
    def is_empty(self) -> bool:
        """Neither has anything, so that the values are 1 by convention."""
        return not sum(self.nodes) and not sum(self.edges)


def compare(first: Drawn, second: Drawn, similarity: FloatArray, threshold: float) -> Counts:
    """
    Args:
        similarity: cosines of the nodes' texts, shape (nodes of the first, nodes of the second).
    """
    partner = np.full(len(first.texts), -1, dtype=np.int64)
    for step in np.intersect1d(first.step[first.step > GIVEN], second.step[second.step > GIVEN]).tolist():
        of_first, of_second = np.flatnonzero(first.step == step), np.flatnonzero(second.step == step)
        pairs = maximum_matching(similarity[np.ix_(of_first, of_second)], threshold)
        partner[of_first[pairs[:, 0]]] = of_second[pairs[:, 1]]
    n_matched = int((partner >= 0).sum())
    given = {second.texts[at].casefold(): at for at in np.flatnonzero(second.step == GIVEN).tolist()}
    for at in np.flatnonzero(first.step == GIVEN).tolist():
        partner[at] = given.get(first.texts[at].casefold(), -1)

    mapped = partner[first.edges]
    inside = (mapped >= 0).all(axis=1)
    reached = np.zeros(len(second.texts), dtype=bool)
    reached[partner[partner >= 0]] = True
    inner = int(inside.sum()), int(reached[second.edges].all(axis=1).sum())
    n = max(len(second.texts), 1)
    shared = np.intersect1d(mapped[inside] @ [n, 1], second.edges @ [n, 1]).size if inside.any() else 0
    return Counts(
        nodes=(first.n_made, second.n_made),
        n_matched=n_matched,
        edges=(len(first.edges), len(second.edges)),
        inner=inner,
        shared=int(shared),
    )


@dataclass(frozen=True)
class Mean:
    """The mean over documents of one measure at one threshold. pooled: all documents' counts put together. n:
    documents in which it is defined; n_undefined: those in which it is not, which are left out."""

    value: float | None
    pooled: float | None
    interval: Interval | None
    n: int
    n_undefined: int


@dataclass(frozen=True)
class GraphAgreement:
    """means: by threshold and measure. n_compared: documents; n_empty: of them, those where neither made anything,
    which count as 1. precision, recall: of nodes, by threshold, the mean over documents; the second graph is the right
    one."""

    means: Mapping[tuple[float, str], Mean]
    precision: Mapping[float, float | None]
    recall: Mapping[float, float | None]
    n_compared: int
    n_empty: int
    reason: str


def mean_agreement(
    compared: Sequence[tuple[int, int, Mapping[float, Counts]]], how: Mapping[str, Any]
) -> GraphAgreement:
    """The mean over documents; of a document that several pairs of raters drew, first the mean over its pairs.

    Args:
        compared: (document, sheet, counts by threshold), one a document and pair of raters.
        how: `by`, `n_draws`, `seed` and `expanded` of the intervals; nothing for none.
    """
    document = np.array([of[0] for of in compared], dtype=np.int64)
    sheet = np.array([of[1] for of in compared], dtype=np.int64)
    documents, place = np.unique(document, return_inverse=True)
    sheets = np.zeros(documents.size, dtype=np.int64)
    sheets[place] = sheet
    means: dict[tuple[float, str], Mean] = {}
    precision: dict[float, float | None] = {}
    recall: dict[float, float | None] = {}
    for threshold in compared[0][2] if compared else ():
        counts = [of[2][threshold] for of in compared]
        values = np.array([of.values for of in counts])
        tops, bottoms = np.array([of.numerators for of in counts]), np.array([of.denominators for of in counts])
        for column, measure in enumerate(MEASURES):
            means[threshold, measure] = _mean(
                values[:, column], place, sheets, _ratio(tops[:, column], bottoms[:, column]), documents, how
            )
        for into, side in ((precision, 0), (recall, 1)):
            shares = np.array([of.n_matched / of.nodes[side] if of.nodes[side] else np.nan for of in counts])
            of_document = _by_document(shares, place, documents.size)
            into[threshold] = None if np.isnan(of_document).all() else float(np.nanmean(of_document))
    first = [next(iter(of[2].values())) for of in compared]
    empty = {int(at) for at, of in zip(place, first, strict=True) if of.is_empty}
    return GraphAgreement(means, precision, recall, documents.size, len(empty), "" if compared else NO_GRAPH)


def _mean(
    values: FloatArray,
    place: IntArray,
    sheets: IntArray,
    pooled: float | None,
    documents: IntArray,
    how: Mapping[str, Any],
) -> Mean:
    of_document = _by_document(values, place, documents.size)
    defined = ~np.isnan(of_document)
    value = float(of_document[defined].mean()) if defined.any() else None
    interval = _interval(of_document, documents if how["by"] == "document" else sheets, **how) if how else None
    return Mean(value, pooled, interval, int(defined.sum()), int((~defined).sum()))


def _by_document(values: FloatArray, place: IntArray, n: int) -> FloatArray:
    """The mean of what is defined in each document, NaN where nothing is."""
    defined = ~np.isnan(values)
    sums = np.bincount(place[defined], values[defined], minlength=n)
    numbers = np.bincount(place[defined], minlength=n)
    return ratio(sums, numbers)


def _interval(of_document: FloatArray, key: IntArray, *, by: By, n_draws: int, seed: int, expanded: bool) -> Interval:
    clusters, place = np.unique(key, return_inverse=True)
    draws = resampling_of(clusters, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=True)
    defined = ~np.isnan(of_document)
    sums = np.zeros((clusters.size, 2))
    np.add.at(sums, place[defined], np.stack([of_document[defined], np.ones(int(defined.sum()))], axis=-1))

    def mean(features: FloatArray) -> FloatArray:
        return ratio(features[:, 0], features[:, 1])

    return draws.bootstrap(sums, mean)


def _ratio(tops: IntArray, bottoms: IntArray) -> float | None:
    return float(tops.sum() / bottoms.sum()) if bottoms.sum() else None
