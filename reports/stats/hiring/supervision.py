"""A judge at work: a confidence sequence of its error rate that may be looked at after every document, with an alarm.

Some accepted cells go back to people, blind. Each document with an audited cell that a person could judge is one step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reports.stats.hiring.betting import STAKES
from reports.stats.hiring.certificate import DELTA, EPSILON
from reports.stats.hiring.clusters import Totals, cluster_sums
from reports.stats.pairs import FloatArray

# A new bet begins at every tenth document: against a judge that was good for long and is no more.
RESTART = 10
# Error rates that the bounds are sought among.
RATES = np.unique(np.concatenate([np.linspace(0.001, 0.2, 200), np.linspace(0.205, 0.995, 159)]))

NO_AUDIT = "no document with audited cells is answered yet"


@dataclass(frozen=True, eq=False)
class Watch:
    """What audited cells say of the judge.

    alarm: the error has been shown to be above epsilon; alarm_at: after how many documents, None without. A judge whose
    expected share of wrong cells never exceeds epsilon gets an alarm ever with a probability of at most delta.
    evidence: logarithm of the wealth won against "never above epsilon", its maximum so far; an alarm at log(1 / delta).
    error: wrong of audited cells. low: the error was at some time above it; high: a steady judge's error lies below it
    (each by itself with confidence 1 - delta at all times).
    n_clusters, n_cells, n_wrong: documents with a cell that was judged, these cells, and what of them is wrong.
    n_finished: documents, those without such a cell too. n_unjudged: cells that nobody could judge, which are in none
    of the figures above.
    """

    alarm: bool
    alarm_at: int | None
    evidence: float
    error: float | None
    low: float
    high: float
    reason: str
    epsilon: float
    delta: float
    n_clusters: int
    n_cells: int
    n_wrong: float
    n_finished: int
    n_unjudged: int

    @property
    def error_at_most(self) -> float | None:
        """`error` if each cell that nobody could judge were wrong; None without a cell."""
        n = self.n_cells + self.n_unjudged
        return (self.n_wrong + self.n_unjudged) / n if n else None


def watch(
    wrong: npt.ArrayLike,
    cluster: npt.ArrayLike,
    *,
    most: int,
    epsilon: float = EPSILON,
    delta: float = DELTA,
) -> Watch:
    """The sequence over all audited cells so far; computed again from the first with each new document.

    A wealth is bet against "the error never exceeds r": for each stake c the product over documents of
    1 + c (W - r A) / (r M). Half of it begins with the first document, the other half is held back for beginnings at
    every tenth one, 1 / (j (j + 1)) of it for the j-th, so that an error that begins late is found. The wealth is a
    mixture of martingales, so it reaches 1 / delta ever with a probability of at most delta (Ville).

    A cell that nobody could judge is left out, and a document without any other is no step. The error is then that of
    cells that can be judged; the bound holds as long as what is left out does not depend on the judge's answer.

    Args:
        wrong: of each audited cell, 0 to 1, NaN where nobody could judge it; cluster: its document. Documents stand in
            the order in which they were completed, a document that is not finished is left out.
        most: the most audited cells that a document can have, decided beforehand.

    Sources: Waudby-Smith and Ramdas (2024), JRSS B 86; mixtures over beginnings: Shin, Ramdas and Rinaldo (2024),
    E-detectors, New England Journal of Statistics in Data Science 2.

    Raises:
        ValueError: a document with more cells than `most`, rates outside 0 to 1, arrays that differ in shape.
    """
    counts = _in_order(wrong, cluster)
    if not (0 < epsilon < 1 and 0 < delta < 1):
        raise ValueError("the error rate and the risk lie between 0 and 1")
    if counts.accepted.max(initial=0) > most:
        raise ValueError("a document has more cells than the most that were said")
    n = counts.wrong.size
    enough = -np.log(delta)
    rates = np.append(RATES, epsilon)
    above = _above(counts, rates, most)
    found = np.flatnonzero(above[:, -1] >= enough)
    refuted = above[:, :-1] >= enough
    # The wealth falls as the rate rises: the refuted rates are the first ones.
    lows = np.maximum.accumulate(np.where(refuted.any(axis=1), RATES[np.maximum(refuted.sum(axis=1) - 1, 0)], 0.0))
    kept = (_below(counts, RATES, most) >= enough).sum(axis=1)
    highs = np.minimum.accumulate(np.where(kept > 0, RATES[RATES.size - np.maximum(kept, 1)], 1.0))
    n_cells, n_wrong = float(counts.accepted.sum()), float(counts.wrong.sum())
    return Watch(
        alarm=bool(found.size),
        alarm_at=int(found[0]) + 1 if found.size else None,
        evidence=float(above[:, -1].max(initial=0.0)),
        error=n_wrong / n_cells if n_cells else None,
        low=float(lows[-1]) if n else 0.0,
        high=float(highs[-1]) if n else 1.0,
        reason="" if n else NO_AUDIT,
        epsilon=epsilon,
        delta=delta,
        n_clusters=n,
        n_cells=int(n_cells),
        n_wrong=n_wrong,
        n_finished=int(np.unique(np.asarray(cluster)).size),
        n_unjudged=int(np.isnan(np.asarray(wrong, dtype=np.float64)).sum()),
    )


def first_alarm(
    wrong: npt.ArrayLike, cluster: npt.ArrayLike, *, most: int, epsilon: float = EPSILON, delta: float = DELTA
) -> int | None:
    """`Watch.alarm_at` alone, without the bounds: for simulations."""
    evidence = _above(_in_order(wrong, cluster), np.array([epsilon]), most)[:, 0]
    found = np.flatnonzero(evidence >= -np.log(delta))
    return int(found[0]) + 1 if found.size else None


def _in_order(wrong: npt.ArrayLike, cluster: npt.ArrayLike) -> Totals:
    errors, clusters = np.asarray(wrong, dtype=np.float64).ravel(), np.asarray(cluster, dtype=np.int64).ravel()
    if errors.shape != clusters.shape:
        raise ValueError("wrong and cluster need one entry for each cell")
    judged = ~np.isnan(errors)
    errors, clusters = errors[judged], clusters[judged]
    if errors.size and not (errors.min() >= 0 and errors.max() <= 1):
        raise ValueError("wrong lies between 0 and 1")
    _, first, place = np.unique(clusters, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    at = order[place] if errors.size else place
    return Totals(cluster_sums(at, errors, first.size), cluster_sums(at, np.ones(at.size), first.size))


def _above(counts: Totals, rates: FloatArray, most: int) -> FloatArray:
    """The logarithm of the wealth against "never above r" after each document, shape (n_documents, n_rates)."""
    running = np.full((STAKES.size, rates.size), np.log(0.5))
    path = np.empty((counts.wrong.size, rates.size))
    waiting = 0.5
    for step, (wrong, accepted) in enumerate(zip(counts.wrong.tolist(), counts.accepted.tolist(), strict=True)):
        if step % RESTART == 0:
            beginning = step // RESTART + 1
            part = 0.5 / (beginning * (beginning + 1))
            waiting -= part
            running = np.logaddexp(running, np.log(part))
        running += np.log1p(np.multiply.outer(STAKES, (wrong - rates * accepted) / (rates * most)))
        together = np.logaddexp.reduce(running, axis=0) - np.log(STAKES.size)
        path[step] = np.logaddexp(together, np.log(waiting))
    return path


def _below(counts: Totals, rates: FloatArray, most: int) -> FloatArray:
    """The logarithm of the wealth against "never below r", shape (n_documents, n_rates)."""
    running = np.zeros((STAKES.size, rates.size))
    path = np.empty((counts.wrong.size, rates.size))
    for step, (wrong, accepted) in enumerate(zip(counts.wrong.tolist(), counts.accepted.tolist(), strict=True)):
        running += np.log1p(-np.multiply.outer(STAKES, (wrong - rates * accepted) / ((1 - rates) * most)))
        path[step] = np.logaddexp.reduce(running, axis=0) - np.log(STAKES.size)
    return path
