"""How many documents have to be labelled to certify a judge, before they are paid for.

Studies are made with the error rate, the correlation within documents and the number of cells that are expected, and
certified as `certificate` would: the answer is the number of documents from which the asked share of them succeeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from reports.stats import distributions as stats
from reports.stats.answers import IntArray
from reports.stats.hiring.betting import STAKES, chosen_stake, mixed_path
from reports.stats.hiring.certificate import (
    DELTA,
    EPSILON,
    N_STEPS,
    NO_DEVELOPMENT,
    NO_THRESHOLD,
    Point,
    development_points,
    sequence_of,
)
from reports.stats.hiring.clusters import Judged, Totals, intraclass_correlation, totals
from reports.stats.pairs import FloatArray

PlanMethod = Literal["betting", "design"]

POWER = 0.8
# Where nothing tells how alike the errors of one document are.
ICC = 0.2
LARGEST = 2_000
DEVELOPMENT = 60
_STUDIES = 600
# Numbers of documents at which success is looked up, in even ratios: 200 up to 2,000 are 4 % apart.
_LOOKS = 200
_KNOWN = 20_000
_AT_ONCE = 2_000_000

ERROR_TOO_HIGH = "the expected error is not below what is asked: no number of documents would show it"
TOO_MANY = "more documents would be needed than were tried"


@dataclass(frozen=True)
class Needed:
    """What a certificate costs.

    n_documents: test documents from which the share `power` of the studies succeeds, None with a `reason`; n_labels:
    cells in them that people have to label if they label whole documents, n_accepted: if only those that the judge
    accepts; reached: the share that succeeded at n_documents. error, icc, cells, coverage: what was assumed.
    """

    n_documents: int | None
    n_labels: int | None
    n_accepted: int | None
    reached: float | None
    reason: str
    epsilon: float
    delta: float
    method: PlanMethod
    power: float
    error: float
    icc: float
    cells: float
    coverage: float


def documents_needed(
    *,
    error: float,
    cells: float,
    icc: float = ICC,
    coverage: float = 1.0,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    power: float = POWER,
    method: PlanMethod = "design",
    most: int | None = None,
    n_development: int = DEVELOPMENT,
    largest: int = LARGEST,
    n_studies: int = _STUDIES,
    seed: int = 0,
) -> Needed:
    """Simulate studies of one threshold until enough of them succeed.

    In each document Binomial(cells, coverage) cells are accepted, and of these a beta-binomial number is wrong, with
    mean `error` and correlation `icc`. The stake is taken to be known from development documents.

    Args:
        error: expected among accepted cells; cells: of a document; coverage: share of them that is accepted.
        most: cells in the largest document, as in `certify`; when left out `cells`, rounded up.
        n_development: documents from which the design effect is known beforehand.
        largest: documents that are tried at most.

    Raises:
        ValueError: a share outside 0 to 1, or no cell.
    """
    if not (0 < epsilon < 1 and 0 < delta < 0.5 and 0 < power < 1 and 0 <= error <= 1 and 0 <= icc <= 1):
        raise ValueError("rates and shares lie between 0 and 1")
    if cells < 1 or not 0 < coverage <= 1:
        raise ValueError("a document has a cell at least, and a share of the cells is accepted")
    size = int(np.ceil(cells)) if most is None else most
    if size < cells:
        raise ValueError("a document has more cells than the most that were said")

    def needed(n: int | None, reached: float | None, reason: str) -> Needed:
        return Needed(
            n_documents=n,
            n_labels=None if n is None else round(n * cells),
            n_accepted=None if n is None else round(n * cells * coverage),
            reached=reached,
            reason=reason,
            epsilon=epsilon,
            delta=delta,
            method=method,
            power=power,
            error=error,
            icc=icc,
            cells=cells,
            coverage=coverage,
        )

    if error >= epsilon:
        return needed(None, None, ERROR_TOO_HIGH)
    rng = np.random.default_rng(seed)
    stake = chosen_stake(_documents(rng, (_KNOWN,), error, icc, cells, coverage), epsilon, most=size)
    tried = 64
    while True:
        tried = min(tried, largest)
        looks = np.unique(np.geomspace(1, tried, _LOOKS).round().astype(np.int64))
        succeeded = np.zeros(looks.size)
        done = 0
        while done < n_studies:
            batch = min(n_studies - done, max(_AT_ONCE // (tried * STAKES.size), 1))
            counts = _documents(rng, (batch, tried), error, icc, cells, coverage)
            before = _effects(_documents(rng, (batch, n_development), error, icc, cells, coverage))
            succeeded += _succeeds(counts, epsilon, delta, method, size, stake, before, looks).sum(axis=0)
            done += batch
        share = succeeded / n_studies
        below = np.flatnonzero(share < power)
        place = int(below[-1]) + 1 if below.size else 0
        # Well inside what was tried, so that the last count is no lucky one.
        if place < looks.size and (looks[place] <= tried * 0.95 or tried == largest):
            return needed(int(looks[place]), float(share[place]), "")
        if tried == largest:
            return needed(None, float(share[-1]), TOO_MANY)
        tried *= 2


def _documents(
    rng: np.random.Generator, shape: tuple[int, ...], error: float, icc: float, cells: float, coverage: float
) -> Totals:
    """Wrong and accepted cells of made documents; a number of cells with a fraction is made of the two next to it."""
    size = int(cells) + (rng.random(shape) < cells - int(cells))
    accepted = np.asarray(rng.binomial(size, coverage), dtype=np.int64)
    rate = np.full(shape, error, dtype=np.float64)
    if 0 < icc < 1 and 0 < error < 1:
        rate = rng.beta(error * (1 - icc) / icc, (1 - error) * (1 - icc) / icc, shape)
    elif icc >= 1:
        rate = (rng.random(shape) < error).astype(np.float64)
    return Totals(np.asarray(rng.binomial(accepted, rate), dtype=np.float64), accepted.astype(np.float64))


def _succeeds(
    counts: Totals,
    epsilon: float,
    delta: float,
    method: PlanMethod,
    most: int,
    stake: float,
    before: FloatArray,
    looks: IntArray,
) -> FloatArray:
    """Whether the first g documents of each study would certify, for each g in `looks`, shape (n_studies, n_looks).

    Args:
        before: the design effect of each study's development documents, NaN where it is not known.
    """
    if method == "betting":
        wealth = mixed_path(counts, epsilon, most=most, stake=stake)[..., looks - 1]
        rich: FloatArray = (wealth >= -np.log(delta)).astype(np.float64)
        return rich

    def first(values: FloatArray) -> FloatArray:
        sums: FloatArray = np.cumsum(values, axis=-1)[..., looks - 1]
        return sums

    wrong, accepted = first(counts.wrong), first(counts.accepted)
    clusters = np.maximum(first((counts.accepted > 0).astype(np.float64)), 1)
    effect = _effect(
        wrong,
        accepted,
        clusters,
        first(counts.wrong**2),
        first(counts.wrong * counts.accepted),
        first(counts.accepted**2),
    )
    known = np.fmax(effect, before[:, np.newaxis])
    worth = np.where(np.isnan(known), clusters, accepted / np.fmax(known, 1.0))
    rate = wrong / np.maximum(accepted, 1)
    # Student's t of many degrees of freedom is the normal distribution's, to a thousandth.
    quantiles = stats.t.ppf(1 - delta, np.arange(1, 1_001))
    few = [quantiles[np.clip(number - 2, 0, 999).astype(np.int64)] for number in (accepted, clusters)]
    worth = worth * (few[0] / few[1]) ** 2
    below = special.betainc(np.maximum(worth - rate * worth, 1e-9), rate * worth + 1, 1 - epsilon)
    enough: FloatArray = ((below <= delta) & (clusters > 1)).astype(np.float64)
    return enough


def _effects(counts: Totals) -> FloatArray:
    """`clusters.design_effect` of each study, shape (n_studies,), NaN where it is not defined."""
    wrong, accepted = counts.wrong, counts.accepted
    return _effect(
        wrong.sum(axis=-1),
        accepted.sum(axis=-1),
        (accepted > 0).sum(axis=-1).astype(np.float64),
        (wrong**2).sum(axis=-1),
        (wrong * accepted).sum(axis=-1),
        (accepted**2).sum(axis=-1),
    )


def _effect(
    wrong: FloatArray,
    accepted: FloatArray,
    clusters: FloatArray,
    wrong_squares: FloatArray,
    products: FloatArray,
    accepted_squares: FloatArray,
) -> FloatArray:
    """From sums over clusters."""
    rate = wrong / np.maximum(accepted, 1)
    squares = wrong_squares - 2 * rate * products + rate**2 * accepted_squares
    binomial = accepted * rate * (1 - rate)
    defined = (binomial > 0) & (clusters > 1)
    effect: FloatArray = np.where(
        defined,
        squares * clusters / np.maximum(clusters - 1, 1) / np.where(defined, binomial, 1.0),
        np.nan,
    )
    return effect


@dataclass(frozen=True)
class Option:
    """A threshold and what it would cost to certify it. point: as on the development documents; error and icc: what is
    expected of it; needed: by `documents_needed`."""

    point: Point
    error: float
    icc: float
    needed: Needed


@dataclass(frozen=True)
class Plan:
    """The thresholds that `certify` would try, from the safest on. reason: why there are none."""

    options: tuple[Option, ...]
    reason: str


def plan(
    development: Judged,
    *,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    power: float = POWER,
    method: PlanMethod = "design",
    most: int | None = None,
    largest: int = LARGEST,
    n_steps: int = N_STEPS,
    seed: int = 0,
) -> Plan:
    """The cost of each threshold, from what development documents tell of its error.

    The error that is expected is (wrong + 1/2) / (accepted + 1): none wrong of few does not mean none. The correlation
    is the estimate of `clusters.intraclass_correlation`, 0.2 where it cannot be told.
    """
    if not development.wrong.size:
        return Plan((), NO_DEVELOPMENT)
    size = max(development.most, most or 0)
    cells = development.wrong.size / development.n_clusters
    points = development_points(development, epsilon=epsilon, most=size, n_clusters=development.n_clusters)
    options = []
    for point in sequence_of(points, epsilon, n_steps):
        counts = totals(development, point.threshold)
        error = (float(counts.wrong.sum()) + 0.5) / (point.n_accepted + 1)
        told = intraclass_correlation(counts)
        icc = ICC if told is None else told
        needed = documents_needed(
            error=error,
            cells=cells,
            icc=icc,
            coverage=point.coverage,
            epsilon=epsilon,
            delta=delta,
            power=power,
            method=method,
            most=size,
            n_development=development.n_clusters,
            largest=largest,
            seed=seed,
        )
        options.append(Option(point, error, icc, needed))
    return Plan(tuple(options), "" if options else NO_THRESHOLD)
