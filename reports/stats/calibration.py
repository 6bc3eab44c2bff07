"""How sure a judge is, and whether it may be: its options' scores as probabilities, held against people's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from base.proportions import wilson_interval
from reports.stats.answers import Answers, IntArray
from reports.stats.hiring.means import ShareBounds, bounds_by_clusters
from reports.stats.judge import judge_codes
from reports.stats.pairs import FloatArray

BoolArray = npt.NDArray[np.bool_]

N_BINS = 10

NO_SCORES = "the judge has no scores in a cell that a person answered"


def option_probabilities(log_probabilities: npt.ArrayLike) -> FloatArray:
    """The options' probabilities: the softmax of their log-probabilities, as the judge's normalisation left them.

    Args:
        log_probabilities: natural logs, shape (n_cells, n_options); NaN or -inf for an option that was not scored.
    Returns:
        shape (n_cells, n_options), rows sum to 1; an option that was not scored has 0, a row without any score NaN.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    logs = np.where(np.isnan(logs), -np.inf, logs)
    scored = np.isfinite(logs).any(axis=1)
    result = np.full(logs.shape, np.nan)
    result[scored] = special.softmax(logs[scored], axis=1)
    return result


def merged_probabilities(probabilities: FloatArray, mapping: Mapping[int, int]) -> FloatArray:
    """With each option of `mapping` counted as another one, its probability goes to that one. Shape of both:
    (n_cells, n_options)."""
    merged = probabilities.copy()
    for option, counted_as in mapping.items():
        if option != counted_as:
            merged[:, counted_as] += probabilities[:, option]
            merged[:, option] -= probabilities[:, option]
    return merged


@dataclass(frozen=True, eq=False)
class Scored:
    """Cells that people answered and that have a label and scores of the judge; arrays of shape (n_cells, ...).

    probabilities and people: what the judge gave each option and how many people chose it, shape (n_cells, n_options);
    chosen: the judge's option; right: one of the people chose it too; confidence: its probability.
    n_without_people: scored cells that nobody answered, left out.
    """

    cell: IntArray
    sheet: IntArray
    document: IntArray
    probabilities: FloatArray
    people: IntArray
    chosen: IntArray
    n_without_people: int

    @property
    def right(self) -> BoolArray:
        chosen_by: BoolArray = self.people[np.arange(self.cell.size), self.chosen] > 0
        return chosen_by

    @property
    def confidence(self) -> FloatArray:
        of_chosen: FloatArray = self.probabilities[np.arange(self.cell.size), self.chosen]
        return of_chosen


def scored_cells(people: Answers, judge: Answers, cell: npt.ArrayLike, probabilities: FloatArray) -> Scored:
    """Match a judge's probabilities to people's answers.

    Args:
        judge: its labels, under the same merge as people's answers.
        cell: the cell of each row of `probabilities`, shape (n_scored,), each once; rows of NaN count as no scores.
        probabilities: `option_probabilities`, merged as the answers are, shape (n_scored, n_options).
    """
    cells, first = people.by_cell.cell, people.by_cell.first
    scored = np.asarray(cell, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(probabilities).any(axis=1))
    known = known[np.argsort(scored[known], kind="stable")]
    at = np.minimum(np.searchsorted(cells, scored[known]), max(cells.size - 1, 0))
    answered = cells[at] == scored[known] if cells.size else np.zeros(known.size, dtype=bool)
    row, place = known[answered], at[answered]
    chosen = judge_codes(people, judge)[first[place]]
    labelled = chosen >= 0
    row, place, chosen = row[labelled], place[labelled], chosen[labelled]
    return Scored(
        cell=cells[place],
        sheet=people.sheet[first[place]],
        document=people.document[first[place]],
        probabilities=probabilities[row],
        people=people.value_counts()[place],
        chosen=chosen,
        n_without_people=int((~answered).sum()),
    )


@dataclass(frozen=True)
class ReliabilityBin:
    """Cells with confidence from `low` to `high`: mean confidence, share that is right, its 95 % interval."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float


@dataclass(frozen=True)
class Calibration:
    """Confidence beside accuracy. With gaps |accuracy - confidence| of the bins: expected_error (ECE) is their mean
    weighted by cells.

    brier: the mean of (confidence - right)^2. All 0 to 1, 0 is best. `bins`: those with cells, the reliability curve.
    """

    expected_error: float | None
    brier: float | None
    mean_confidence: float | None
    accuracy: float | None
    bins: tuple[ReliabilityBin, ...]
    reason: str
    n: int


def calibration(
    confidence: npt.ArrayLike,
    right: npt.ArrayLike,
    document: npt.ArrayLike | None = None,
    *,
    n_bins: int = N_BINS,
    bounds: ShareBounds = ShareBounds.LATEST,
) -> Calibration:
    """Whether cells of which the judge is p sure are right in p of the cases. Bins have equal numbers of cells; cells
    of equal confidence stay together.

    Args:
        confidence: the probability of the judge's option, shape (n_cells,).
        right: whether it is what a person chose, shape (n_cells,).
        document: of each cell, shape (n_cells,): bins have Korn and Graubard's intervals by documents
            (`hiring.means`), and where it is left out Wilson's, as if cells were independent.

    Sources: ECE: Naeini et al. (2015), Guo et al. (2017); bins of equal number: Nixon et al. (2019).
    """
    sure, is_right = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    n = sure.size
    if not n:
        return Calibration(None, None, None, None, (), NO_SCORES, 0)
    _, of_value, times = np.unique(sure, return_inverse=True, return_counts=True)
    middle = np.cumsum(times) - times / 2
    bin_of = np.minimum((middle * n_bins / n).astype(np.int64), n_bins - 1)[of_value]
    bins = []
    for number in np.unique(bin_of).tolist():
        inside = bin_of == number
        size, hits = int(inside.sum()), int(is_right[inside].sum())
        low, high = (
            wilson_interval(hits, size)
            if document is None
            else bounds_by_clusters(is_right[inside], np.asarray(document)[inside], bounds=bounds)
        )
        edges = float(sure[inside].min()), float(sure[inside].max())
        bins.append(ReliabilityBin(*edges, size, float(sure[inside].mean()), hits / size, low, high))
    gaps = np.array([abs(part.accuracy - part.confidence) for part in bins])
    weights = np.array([part.n / n for part in bins])
    return Calibration(
        expected_error=float(weights @ gaps),
        brier=float(((sure - is_right) ** 2).mean()),
        mean_confidence=float(sure.mean()),
        accuracy=float(is_right.mean()),
        bins=tuple(bins),
        reason="",
        n=n,
    )


def entropy(probabilities: FloatArray) -> FloatArray:
    """Of each cell, as a share of the greatest possible, 0 (sure) to 1 (all options alike); shape (n_cells,)."""
    k = probabilities.shape[1]
    if k < 2:
        return np.zeros(probabilities.shape[0])
    found: FloatArray = special.entr(probabilities).sum(axis=1) / np.log(k)
    return found


def margin(probabilities: FloatArray) -> FloatArray:
    """The highest probability less the second highest, 0 to 1; shape (n_cells,)."""
    if probabilities.shape[1] < 2:
        return np.ones(probabilities.shape[0])
    ordered = np.sort(probabilities, axis=1)
    gap: FloatArray = ordered[:, -1] - ordered[:, -2]
    return gap
