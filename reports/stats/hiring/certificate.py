"""A certificate: at most epsilon of the cells that a judge accepts are wrong, with confidence 1 - delta, by clusters.

The threshold is chosen on development documents, the error is shown on test documents that no choice has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from reports.stats import distributions as stats
from reports.stats.hiring.betting import chosen_stake, evidence_below, log_wealth_below, upper_bound
from reports.stats.hiring.clusters import Judged, Totals, design_effect, intraclass_correlation, totals

Method = Literal["betting", "design", "binomial"]

EPSILON, DELTA = 0.05, 0.1
# Thresholds that are looked at on the development documents, at even steps of coverage.
N_THRESHOLDS = 20
# Thresholds that may be tested one after the other.
N_STEPS = 5

NO_DEVELOPMENT = "no development document has a cell to choose a threshold on"
NO_TEST = "no test document has a cell"
NO_THRESHOLD = "on the development documents no threshold keeps the error at or below what is asked"
NOTHING_ACCEPTED = "the judge accepts no cell of the test documents"
TOO_FEW_CLUSTERS = "too few test documents: even without a wrong cell they could not show it"
TOO_MANY_WRONG = "more of the accepted cells are wrong than is asked"
NOT_SHOWN = "so few are wrong in the test documents, but they are too few to show it"


@dataclass(frozen=True)
class Point:
    """A threshold on the development documents. evidence: the logarithm of the wealth that as many test documents would
    bring if they were like these; error: of the accepted cells, None where none is accepted."""

    threshold: float
    coverage: float
    error: float | None
    n_accepted: int
    evidence: float


@dataclass(frozen=True)
class Step:
    """A threshold on the test documents.

    n_wrong: of n_accepted cells, in n_clusters documents with an accepted cell; upper: the bound by the chosen method,
    betting, design, binomial: by each. evidence: the logarithm of the wealth won against "more than epsilon is wrong";
    holds: the bound is at most epsilon.
    """

    threshold: float
    coverage: float
    n_accepted: int
    n_clusters: int
    n_wrong: float
    error: float | None
    upper: float
    betting: float
    design: float
    binomial: float
    evidence: float
    holds: bool


@dataclass(frozen=True)
class Certificate:
    """What was shown of one judge.

    holds: of the cells with a score of `threshold` or more at most `epsilon` are wrong, with confidence 1 - delta;
    `reason` says why not. threshold: None where none was tested; where nothing holds it is the first one tested.
    coverage: share of the n_cells test cells that is accepted; n_clusters: test documents; error: wrong of accepted;
    upper: its bound by `method`. betting, design, binomial: the three bounds, for comparison (the last takes cells as
    independent). icc: correlation of errors within test documents. most: cells a document could have had accepted.
    points: development; steps: what was tested, in order.
    """

    holds: bool
    reason: str
    epsilon: float
    delta: float
    method: Method
    threshold: float | None
    coverage: float
    n_cells: int
    n_accepted: int
    n_clusters: int
    n_wrong: float
    error: float | None
    upper: float
    betting: float
    design: float
    binomial: float
    icc: float | None
    most: int
    n_development: int
    points: tuple[Point, ...]
    steps: tuple[Step, ...]


def binomial_bound(wrong: float, accepted: float, delta: float) -> float:
    """The upper bound of Clopper and Pearson (1934): exact where cells are independent, which those of one document are
    not."""
    if accepted <= 0 or wrong >= accepted:
        return 1.0
    return float(stats.beta.ppf(1 - delta, wrong + 1, accepted - wrong))


def design_bound(counts: Totals, delta: float, *, effect: float | None = None) -> float:
    """Clopper and Pearson's bound for as many independent cells as the clusters are worth.

    n / d cells, d the greater of the estimated design effect and `effect` (that of the development documents) and at
    least 1, times (t_{n-1} / t_{G-1})^2 for an effect known from G clusters only. Where neither tells the effect, a
    cluster counts as one cell. Approximate; see `certify` for what it was tried on.

    Source: Korn and Graubard (1998), Survey Methodology 24.
    """
    n, n_clusters = float(counts.accepted.sum()), int((counts.accepted > 0).sum())
    rate = counts.error
    if rate is None or n_clusters < 2:
        return 1.0
    known = [value for value in (design_effect(counts), effect) if value is not None]
    worth = n / max(*known, 1.0) if known else float(n_clusters)
    if n > 1:
        few = stats.t.ppf(1 - delta, n - 1) / stats.t.ppf(1 - delta, n_clusters - 1)
        worth *= float(few) ** 2
    return binomial_bound(rate * worth, worth, delta)


def certify(
    development: Judged,
    test: Judged,
    *,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    method: Method = "design",
    most: int | None = None,
    n_steps: int = N_STEPS,
) -> Certificate:
    """Choose on the development documents, show it on the test documents.

    The thresholds form a fixed sequence: the first is the one with the most evidence on the development documents, each
    following one accepts more, as long as their error there is at most epsilon. Each is tested at delta, and the first
    that fails ends it; the last that held is the certificate's. So several are tested and the whole errs with
    probability delta at most (fixed-sequence testing; Angelopoulos, Bates, Candes, Jordan and Lei 2021, Learn then
    test). With `n_steps` = 1 the choice is made on the development documents alone.

    The null hypothesis is that in clusters drawn like the test's the expected number of wrong accepted cells is at
    least epsilon times that of accepted cells: the rate over cells, a cluster of more cells counting more.

    Args:
        most: the most cells of a document that could be accepted, known without the labels: of all documents that the
            judge will work on. When left out, cells in the largest document here.
        method: "design" counts cells for what they are worth among others of their document: an approximation, with
            which at most 10 % of 1,000 simulated studies were certified wrongly for every correlation and number of
            documents that was tried; up to 23 % where 3 % of the documents were wrong throughout, and documents few or
            very unequal. "betting" is exact whatever the correlation, and so has to reckon with documents
            that are wrong throughout: it asks for two to four times as many. "binomial" takes cells as independent;
            it is for comparison, and certifies up to four times as many wrongly as it says.

    Raises:
        ValueError: epsilon not between 0 and 1 or delta not below 1/2, no step allowed, a document of both parts or
            with more cells than `most`.
    """
    if not (0 < epsilon < 1 and 0 < delta < 0.5):
        raise ValueError("the error rate lies between 0 and 1, the risk between 0 and 1/2")
    if np.intersect1d(development.cluster, test.cluster).size:
        raise ValueError("a document is for development or for the test")
    if n_steps < 1:
        raise ValueError("at least one threshold has to be tested")
    largest = max(development.most, test.most, 1)
    if most is not None and most < largest:
        raise ValueError("a document has more cells than the most that were said")
    cells = largest if most is None else most
    n_clusters = test.n_clusters
    points = development_points(development, epsilon=epsilon, most=cells, n_clusters=n_clusters)
    sequence = sequence_of(points, epsilon, n_steps)
    reason = ""
    if not development.wrong.size:
        reason = NO_DEVELOPMENT
    elif not n_clusters:
        reason = NO_TEST
    elif not sequence:
        reason = NO_THRESHOLD
    steps: list[Step] = []
    for point in [] if reason else sequence:
        step = _tested(development, test, point.threshold, epsilon=epsilon, delta=delta, method=method, most=cells)
        steps.append(step)
        if not step.holds:
            break
    held = [step for step in steps if step.holds]
    told = held[-1] if held else steps[0] if steps else None
    if told is None:
        return Certificate(
            False, reason, epsilon, delta, method, None, 0.0, test.wrong.size, 0, n_clusters, 0.0, None, 1.0, 1.0, 1.0,
            1.0, None, cells, development.n_clusters, points, (),
        )  # fmt: skip
    counts = totals(test, told.threshold)
    return Certificate(
        holds=told.holds,
        reason="" if told.holds else _why_not(told, counts, development, epsilon, delta, method, cells),
        epsilon=epsilon,
        delta=delta,
        method=method,
        threshold=told.threshold,
        coverage=told.coverage,
        n_cells=test.wrong.size,
        n_accepted=told.n_accepted,
        n_clusters=n_clusters,
        n_wrong=told.n_wrong,
        error=told.error,
        upper=told.upper,
        betting=told.betting,
        design=told.design,
        binomial=told.binomial,
        icc=intraclass_correlation(counts),
        most=cells,
        n_development=development.n_clusters,
        points=points,
        steps=tuple(steps),
    )


def development_points(
    development: Judged, *, epsilon: float, most: int, n_clusters: int, n_thresholds: int = N_THRESHOLDS
) -> tuple[Point, ...]:
    """Thresholds at even steps of coverage, from the highest down, with what the development documents say of each.

    Args:
        n_clusters: of the test, for the evidence that it can be expected to bring.
    """
    if not development.wrong.size:
        return ()
    shares = np.arange(1, n_thresholds + 1) / n_thresholds
    places = np.ceil(shares * development.score.size).astype(np.int64) - 1
    thresholds = np.unique(-np.sort(-development.score)[places])[::-1]
    points = []
    for threshold in thresholds.tolist():
        counts = totals(development, threshold)
        stake = chosen_stake(counts, epsilon, most=most)
        growth = float(log_wealth_below(counts, epsilon, most=most, stakes=[stake])[0]) / counts.wrong.size
        n = int(counts.accepted.sum())
        points.append(Point(threshold, n / development.wrong.size, counts.error, n, growth * n_clusters))
    return tuple(points)


def sequence_of(points: tuple[Point, ...], epsilon: float, n_steps: int) -> list[Point]:
    """The thresholds that are tested one after the other, each accepting more than the one before."""
    possible = [point for point in points if point.error is not None and point.error <= epsilon and point.evidence > 0]
    if not possible:
        return []
    first = max(possible, key=lambda point: point.evidence)
    following = [point for point in possible if point.threshold <= first.threshold]
    if n_steps >= len(following):
        return following
    # Even steps, the first and the last among them.
    places = np.unique(np.linspace(0, len(following) - 1, n_steps).round().astype(np.int64)) if n_steps > 1 else [0]
    return [following[int(place)] for place in places]


def _tested(
    development: Judged, test: Judged, threshold: float, *, epsilon: float, delta: float, method: Method, most: int
) -> Step:
    before, counts = totals(development, threshold), totals(test, threshold)
    stake = chosen_stake(before, epsilon, most=most)
    n, n_wrong = int(counts.accepted.sum()), float(counts.wrong.sum())
    bounds = {
        "betting": upper_bound(counts, delta=delta, most=most, stake=stake),
        "design": design_bound(counts, delta, effect=design_effect(before)),
        "binomial": binomial_bound(n_wrong, n, delta),
    }
    return Step(
        threshold=threshold,
        coverage=n / max(test.wrong.size, 1),
        n_accepted=n,
        n_clusters=int((counts.accepted > 0).sum()),
        n_wrong=n_wrong,
        error=counts.error,
        upper=bounds[method],
        betting=bounds["betting"],
        design=bounds["design"],
        binomial=bounds["binomial"],
        evidence=evidence_below(counts, epsilon, most=most, stake=stake),
        holds=bounds[method] <= epsilon,
    )


def _why_not(
    step: Step, counts: Totals, development: Judged, epsilon: float, delta: float, method: Method, most: int
) -> str:
    if step.error is None:
        return NOTHING_ACCEPTED
    if step.error > epsilon:
        return TOO_MANY_WRONG
    spotless = Totals(np.zeros_like(counts.wrong), counts.accepted)
    best = {
        "betting": upper_bound(spotless, delta=delta, most=most, stake=0.95),
        "design": design_bound(spotless, delta, effect=design_effect(totals(development, step.threshold))),
        "binomial": binomial_bound(0.0, step.n_accepted, delta),
    }
    return TOO_FEW_CLUSTERS if best[method] > epsilon else NOT_SHOWN
