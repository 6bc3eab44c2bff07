"""What a threshold on a judge's scores buys: precision against recall, accuracy against coverage, error by doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.proportions import wilson_interval
from reports.stats import distributions as stats
from reports.stats.calibration import N_BINS, Scored
from reports.stats.hiring.means import ShareBounds, bounds_by_clusters
from reports.stats.pairs import FloatArray

NO_CELL = "there is no scored cell that a person answered"
NO_POSITIVE = "nobody chose this option in a scored cell"
NEVER_REACHED = "no threshold reaches it"
ALL_RIGHT_OR_WRONG = "the judge is right everywhere, or nowhere"


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One option found by "its score is at least t", for every score t that occurs, from the highest down.

    thresholds, precision, recall: shape (n_thresholds,). A comparison is one person's answer in a scored cell:
    precision is the share of those in found cells that are this option, recall the share of those with this option that
    are in found cells. average_precision: sum of precision x gain in recall, without interpolation. n_positive:
    comparisons with this option, of n.
    """

    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray
    average_precision: float | None
    reason: str
    n_positive: int
    n: int


def precision_recall(score: npt.ArrayLike, positive: npt.ArrayLike, negative: npt.ArrayLike) -> PrecisionRecall:
    """The curve of one option.

    Args:
        score: the option's probability (or any score) in each cell, shape (n_cells,).
        positive, negative: how many people chose this option there, and another one, shape (n_cells,).
    """
    values = np.asarray(score, dtype=np.float64)
    hits, misses = np.asarray(positive, dtype=np.int64), np.asarray(negative, dtype=np.int64)
    n_positive, n = int(hits.sum()), int(hits.sum() + misses.sum())
    order = np.argsort(-values, kind="stable")
    # The last place of each run of equal scores: cells of one score are found together.
    last = np.flatnonzero(np.diff(values[order], append=-np.inf))
    found_hits, found_misses = np.cumsum(hits[order])[last], np.cumsum(misses[order])[last]
    found = found_hits + found_misses
    precision = np.divide(found_hits, found, out=np.zeros(found.size), where=found > 0)
    recall = found_hits / max(n_positive, 1)
    return PrecisionRecall(
        thresholds=values[order][last],
        precision=precision,
        recall=recall,
        average_precision=float((np.diff(recall, prepend=0.0) * precision).sum()) if n_positive else None,
        reason="" if n_positive else (NO_POSITIVE if n else NO_CELL),
        n_positive=n_positive,
        n=n,
    )


def option_precision_recall(scored: Scored, option: int) -> PrecisionRecall:
    """`precision_recall` of one option of a judge."""
    positive = scored.people[:, option]
    return precision_recall(scored.probabilities[:, option], positive, scored.people.sum(axis=1) - positive)


@dataclass(frozen=True)
class OperatingPoint:
    """The threshold with the highest recall whose precision is at least `asked`; None where no threshold reaches it."""

    asked: float
    threshold: float | None
    precision: float | None
    recall: float | None
    reason: str


def recall_at_precision(curve: PrecisionRecall, precision: float) -> OperatingPoint:
    """The paper's next step: set a precision, report the recall."""
    enough = np.flatnonzero(curve.precision >= precision)
    if not enough.size or not curve.n_positive:
        return OperatingPoint(precision, None, None, None, curve.reason or NEVER_REACHED)
    best = enough[np.argmax(curve.recall[enough])]
    return OperatingPoint(
        asked=precision,
        threshold=float(curve.thresholds[best]),
        precision=float(curve.precision[best]),
        recall=float(curve.recall[best]),
        reason="",
    )


@dataclass(frozen=True, eq=False)
class SelectiveAccuracy:
    """What happens when the judge keeps the cells of which it is at least t sure and people get the others.

    For every confidence t that occurs, from the highest down, all of shape (n_thresholds,): kept: share of the
    cells that the judge keeps; accuracy: share of these that is right. risk_area: mean over cells of the error rate up
    to them (area under the risk-coverage curve, 0 is best); n: cells.
    """

    thresholds: FloatArray
    kept: FloatArray
    accuracy: FloatArray
    risk_area: float | None
    reason: str
    n: int


def selective_accuracy(confidence: npt.ArrayLike, right: npt.ArrayLike) -> SelectiveAccuracy:
    """Accuracy at every coverage; cells of equal confidence are kept or given away together.

    Args:
        confidence: any measure of how sure the judge is, higher is surer, shape (n_cells,).
        right: shape (n_cells,).

    Source: selective classification, El-Yaniv and Wiener (2010); area: Geifman and El-Yaniv (2017).
    """
    sure, is_right = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    n = sure.size
    order = np.argsort(-sure, kind="stable")
    last = np.flatnonzero(np.diff(sure[order], append=-np.inf))
    kept, hits = last + 1, np.cumsum(is_right[order])[last]
    accuracy = hits / kept
    return SelectiveAccuracy(
        thresholds=sure[order][last],
        kept=kept / max(n, 1),
        accuracy=accuracy,
        risk_area=float(((1 - accuracy) * np.diff(kept, prepend=0)).sum() / n) if n else None,
        reason="" if n else NO_CELL,
        n=n,
    )


@dataclass(frozen=True)
class DoubtBin:
    """Cells with doubt from `low` to `high`: their mean doubt, the share that is wrong, its 95 % interval."""

    low: float
    high: float
    n: int
    doubt: float
    error: float
    error_low: float
    error_high: float


@dataclass(frozen=True)
class ErrorByDoubt:
    """Whether doubt (entropy, or 1 - margin) tells where the judge is wrong.

    area: the probability that a wrong cell has more doubt than a right one, ties counting half (area under the ROC
    curve): 0.5 is no better than chance. None where the judge is right, or wrong, everywhere.
    """

    area: float | None
    bins: tuple[DoubtBin, ...]
    reason: str
    n: int
    n_wrong: int


def error_by_doubt(
    doubt: npt.ArrayLike,
    right: npt.ArrayLike,
    document: npt.ArrayLike | None = None,
    *,
    n_bins: int = N_BINS,
    bounds: ShareBounds = ShareBounds.LATEST,
) -> ErrorByDoubt:
    """The judge's error rate in bins of equal number of cells, from the least doubt to the most; intervals as in
    `calibration.calibration`.

    Args:
        doubt: of the judge in each cell, in any unit, shape (n_cells,).
        right: whether it was right there, same shape.
        document: of each cell, same shape; left out where cells are independent.
    """
    doubts, is_right = np.asarray(doubt, dtype=np.float64), np.asarray(right, dtype=bool)
    n, n_wrong = doubts.size, int((~is_right).sum())
    ranks = stats.rankdata(doubts) if n else np.zeros(0)
    area = None
    if 0 < n_wrong < n:
        # Mann and Whitney's U of the wrong cells, by the number of pairs.
        area = float((ranks[~is_right].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * (n - n_wrong)))
    bin_of = np.minimum(((ranks - 0.5) * n_bins / max(n, 1)).astype(np.int64), n_bins - 1)
    bins = []
    for number in np.unique(bin_of).tolist():
        inside = bin_of == number
        size, wrong = int(inside.sum()), int((~is_right[inside]).sum())
        low, high = float(doubts[inside].min()), float(doubts[inside].max())
        ends = (
            wilson_interval(wrong, size)
            if document is None
            else bounds_by_clusters(~is_right[inside], np.asarray(document)[inside], bounds=bounds)
        )
        bins.append(DoubtBin(low, high, size, float(doubts[inside].mean()), wrong / size, *ends))
    reason = "" if area is not None else (ALL_RIGHT_OR_WRONG if n else NO_CELL)
    return ErrorByDoubt(area=area, bins=tuple(bins), reason=reason, n=n, n_wrong=n_wrong)
