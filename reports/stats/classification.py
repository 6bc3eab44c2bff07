"""A judge against people, cell by cell: what it finds and misses, its kappa with each person, what a person reaches.

A comparison is one person's answer in a cell that the judge labelled; `judge.confusion` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from reports.stats.among import RaterPair, rater_pairs
from reports.stats.answers import MISSING, Answers, IntArray
from reports.stats.bootstrap import N_DRAWS, By, Interval, resampling, resampling_of
from reports.stats.distinct import distinct
from reports.stats.judge import judge_codes
from reports.stats.pairs import FloatArray, Weights, disagreement_weights, pair_tables
from reports.stats.ratios import mean_of_defined, ratio

NO_COMPARISON = "the judge has no label in a cell that a person answered"
NO_THIRD_ANSWER = "no cell has the judge's label and two people's answers"

# Where a person is held against more others than this, one of them agrees with nearly any answer: what people and
# judges reach is then counted person by person.
MOST_OTHERS = 2.0


@dataclass(frozen=True)
class OptionScores:
    """One option: precision = people chose it / the judge chose it, recall = the judge chose it / people chose it.

    f1: their harmonic mean, 2 both / (people + judge), 0 where neither ever chose it in the same cell. n_people and
    n_judge: comparisons in which people, and the judge, chose it; n_both: in which both did. precision is None where
    the judge never chose it, recall where people never did, f1 where nobody did.
    """

    option: int
    precision: float | None
    recall: float | None
    f1: float | None
    n_people: int
    n_judge: int
    n_both: int


@dataclass(frozen=True)
class Classification:
    """A confusion table read as classification, people's answers as the truth.

    accuracy: comparisons with equal options, as a share; macro_f1: the mean F1 of the options that people or the judge
    chose (as scikit-learn's macro average); macro_recall: the mean recall of the options that people chose (balanced
    accuracy); kappa: Cohen's kappa of the table, None where both always chose the same option.
    """

    options: tuple[OptionScores, ...]
    accuracy: float | None
    macro_f1: float | None
    macro_recall: float | None
    kappa: float | None
    reason: str
    n: int


def classification(table: npt.ArrayLike, weights: Weights | None = None) -> Classification:
    """Precision, recall and F1 of each option, and their means.

    Args:
        table: counts, shape (n_options, n_options); table[x, y]: a person chose x where the judge chose y.
        weights: of disagreements, for kappa alone.
    """
    counts = np.asarray(table, dtype=np.int64)
    both, of_people, of_judge = np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0)
    options = tuple(
        OptionScores(
            option=option,
            precision=b / j if j else None,
            recall=b / p if p else None,
            f1=2 * b / (p + j) if p + j else None,
            n_people=p,
            n_judge=j,
            n_both=b,
        )
        for option, (b, p, j) in enumerate(zip(both.tolist(), of_people.tolist(), of_judge.tolist(), strict=True))
    )
    n = int(counts.sum())
    figures = _accuracy_f1_kappa(counts[np.newaxis].astype(np.float64), weights)[0]
    accuracy, macro_f1, macro_recall, kappa = (None if np.isnan(figure) else float(figure) for figure in figures)
    return Classification(options, accuracy, macro_f1, macro_recall, kappa, "" if n else NO_COMPARISON, n)


@dataclass(frozen=True)
class ClassificationIntervals:
    accuracy: Interval
    macro_f1: Interval
    macro_recall: Interval
    kappa: Interval


def classification_intervals(
    people: Answers,
    judge: Answers,
    weights: Weights | None = None,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> ClassificationIntervals:
    """The intervals of `classification(confusion(people, judge).table, weights)`, of the draws of
    `judge_accuracy_interval`."""
    draws = resampling(people, by, n_draws=n_draws, seed=seed, expanded=expanded)
    if draws.too_few:
        return ClassificationIntervals(*[draws.without_draws()] * 4)
    chosen = judge_codes(people, judge)
    labelled = chosen != MISSING
    k = people.n_options
    keys = (draws.cluster_of(people)[labelled] * k + people.code[labelled]) * k + chosen[labelled]
    tables = np.bincount(keys, minlength=draws.n_clusters * k * k).reshape(draws.n_clusters, k * k)
    drawn = draws.draw(
        tables.astype(np.float64), lambda features: _accuracy_f1_kappa(features.reshape(-1, k, k), weights)
    )
    return ClassificationIntervals(*(draws.interval(column) for column in drawn.T))


def kappas_with_people(people: Answers, judge: Answers) -> tuple[RaterPair, ...]:
    """The judge with each person, over the cells that both answered: `rater_a` is the person, `rater_b` the judge.

    One entry for each person who shares a cell with the judge, in the order of the rater numbers.
    """
    judge_codes(people, judge)  # refuses several judges, or other options
    number = int(people.rater.max(initial=-1)) + 1
    both = Answers.from_long(
        rater=np.concatenate([people.rater, np.full(judge.rater.size, number)]),
        cell=np.concatenate([people.cell, judge.cell]),
        sheet=np.zeros(people.cell.size + judge.cell.size),
        code=np.concatenate([people.code, judge.code]),
        n_options=people.n_options,
    )
    return tuple(
        replace(pair, rater_b=int(judge.rater[0])) for pair in rater_pairs(pair_tables(both)) if pair.rater_b == number
    )


@dataclass(frozen=True)
class Left:
    """One person left out, on the n cells that they, the judge and somebody else answered.

    person: share of these cells, mean over sheets, in which the person chose what one of the others chose; judge: the
    same of the judge, against the same others.
    """

    rater: int
    person: float
    judge: float
    n: int


@dataclass(frozen=True)
class Ceiling:
    """What people reach under the judge's rule on the judge's cells: the means over the people left out.

    person: the human ceiling; judge: the judge on the same cells against the same people, so one answer fewer in each
    cell than in A_m. `rows`: each person; n_people: how many; n_cells: cells with the judge's label and two people, in
    n_documents. others: the mean number of people that a person is held against in a cell.
    """

    person: float | None
    judge: float | None
    reason: str
    n_people: int
    n_cells: int
    rows: tuple[Left, ...]
    others: float = 0.0
    n_documents: int = 0


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Each person's answer in a cell that the judge and somebody else answered, arrays of shape (n_answers,).

    place: of the answer among people's; rater, sheet: their places among `raters` and `sheets`, which are numbers;
    others: how many other people answered; person, judge: whether, or in which share, one of them chose the same.
    """

    place: IntArray
    cell: IntArray
    raters: IntArray
    rater: IntArray
    sheets: IntArray
    sheet: IntArray
    others: IntArray
    person: FloatArray
    judge: FloatArray
    each: bool


def left_out(people: Answers, judge: Answers, *, each: bool = False) -> LeftOut:
    """What `human_ceiling`, its intervals and its baseline are made of.

    Args:
        each: a cell is right in the share of the others who chose the same, so that it says as much where a cell has
            many answers; any of many people agrees with nearly everything. Else it is right where any of them did.
    """
    chosen = judge_codes(people, judge)
    counts = people.value_counts()
    cell = people.by_cell.index
    others = counts.sum(axis=1)[cell] - 1
    usable = np.flatnonzero((chosen != MISSING) & (others > 0))
    code, of_judge, where = people.code[usable], chosen[usable], cell[usable]
    person_right: FloatArray = (counts[where, code] - 1).astype(np.float64)
    judge_right: FloatArray = (counts[where, of_judge] - (code == of_judge)).astype(np.float64)
    person_right, judge_right = (_share(right, others[usable], each=each) for right in (person_right, judge_right))
    raters, rater = np.unique(people.rater[usable], return_inverse=True)
    sheets, sheet = np.unique(people.sheet[usable], return_inverse=True)
    return LeftOut(usable, where, raters, rater, sheets, sheet, others[usable], person_right, judge_right, each)


def _share(right: FloatArray, others: IntArray, *, each: bool) -> FloatArray:
    """Of how many others chose the same: in which share, or whether any did."""
    return ratio(right, others.astype(np.float64)) if each else np.minimum(right, 1.0)


def _mean_shares(left: LeftOut, right: FloatArray) -> tuple[FloatArray, IntArray]:
    """Of each person the mean over sheets, and the number of answers."""
    at, shape = left.rater * left.sheets.size + left.sheet, (left.raters.size, left.sheets.size)
    n = np.bincount(at, minlength=left.raters.size * left.sheets.size).reshape(shape)
    sums = np.bincount(at, right, minlength=n.size).reshape(shape)
    return (sums / np.maximum(n, 1)).sum(axis=1) / (n > 0).sum(axis=1), n.sum(axis=1)


def human_ceiling(people: Answers, left: LeftOut) -> Ceiling:
    """Leave each person out in turn, and let them and the judge be measured by the others as `judge_accuracy` does.

    A cell counts for a person where they, the judge and at least one other person answered; it is right where one of
    the others chose the same, or in the share of them who did (`left.each`). Shares are means over sheets, the ceiling
    is the mean over people.

    Args:
        people: those of whom `left` was made.
        left: what `left_out` returns of people and the judge.
    """
    (of_people, n), (of_judges, _n) = (_mean_shares(left, right) for right in (left.person, left.judge))
    rows = tuple(
        Left(*row) for row in zip(left.raters.tolist(), of_people.tolist(), of_judges.tolist(), n.tolist(), strict=True)
    )
    return Ceiling(
        person=float(of_people.mean()) if rows else None,
        judge=float(of_judges.mean()) if rows else None,
        reason="" if rows else NO_THIRD_ANSWER,
        n_people=len(rows),
        n_cells=distinct(left.cell).size,
        rows=rows,
        others=float(left.others.mean()) if rows else 0.0,
        n_documents=distinct(people.document[left.place]).size,
    )


def ceiling_baseline(people: Answers, left: LeftOut) -> float | None:
    """What always answering people's most frequent option reaches where `human_ceiling` measures the judge, by the same
    rule; None where it measures nothing. Of equally frequent options the first."""
    if not left.place.size:
        return None
    code = people.code[left.place]
    option = int(np.bincount(code, minlength=people.n_options).argmax())
    right: FloatArray = (people.value_counts()[left.cell, option] - (code == option)).astype(np.float64)
    return float(_mean_shares(left, _share(right, left.others, each=left.each))[0].mean())


@dataclass(frozen=True)
class CeilingIntervals:
    """Of `Ceiling.person` and `.judge`, of the same draws."""

    person: Interval
    judge: Interval


def ceiling_intervals(
    people: Answers,
    left: LeftOut,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> CeilingIntervals:
    """The intervals of `human_ceiling`: documents (or sheets) are drawn of those alone that have a cell for it, and
    whoever has no cell in a draw is not among its people."""
    key = (people.document if by == "document" else people.sheet)[left.place]
    draws = resampling_of(distinct(key), by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=False)
    if draws.too_few:
        return CeilingIntervals(*[draws.without_draws()] * 2)
    # Of each person and sheet that have cells the number of these and the two sums, by cluster.
    pairs, pair = np.unique(left.rater * left.sheets.size + left.sheet, return_inverse=True)
    starts = np.flatnonzero(np.diff(pairs // left.sheets.size, prepend=-1))
    cluster, shape = np.searchsorted(draws.clusters, key), (draws.n_clusters, pairs.size)
    sums = [
        sparse.csr_array((of, (cluster, pair)), shape=shape) for of in (np.ones(pair.size), left.person, left.judge)
    ]
    features = sparse.hstack(sums).tocsr()
    k = pairs.size

    def means(drawn: FloatArray) -> FloatArray:
        n = drawn[:, :k]
        in_sheets = np.add.reduceat((n > 0).astype(np.float64), starts, axis=1)
        found = [
            mean_of_defined(ratio(np.add.reduceat(np.nan_to_num(ratio(of, n)), starts, axis=1), in_sheets))
            for of in (drawn[:, k : 2 * k], drawn[:, 2 * k :])
        ]
        return np.stack(found, axis=-1)

    draws = draws.within(features.nnz)
    drawn = draws.draw(features, means)
    n_sheets = left.sheets.size if by == "document" else 1
    return CeilingIntervals(*(draws.interval(column, n_sheets=n_sheets) for column in drawn.T))


def _accuracy_f1_kappa(tables: FloatArray, weights: Weights | None) -> FloatArray:
    """Accuracy, macro F1, macro recall and kappa of each table, shape (n_tables, 4)."""
    both = np.diagonal(tables, axis1=1, axis2=2)
    of_people, of_judge, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    f1 = ratio(2 * both, of_people + of_judge)
    recall = ratio(both, of_people)
    accuracy = ratio(both.sum(axis=1), n)
    if weights is None:
        by_chance = (of_people * of_judge).sum(axis=1)
        # (po - pe) / (1 - pe) times n^2, in whole numbers: exactly 0 below where both always chose the same option.
        kappa = ratio(both.sum(axis=1) * n - by_chance, n**2 - by_chance)
    else:
        cost = disagreement_weights(tables.shape[1], weights)
        kappa = 1 - ratio((tables * cost).sum(axis=(1, 2)) * n, ((of_people @ cost) * of_judge).sum(axis=1))
    return np.stack([accuracy, mean_of_defined(f1), mean_of_defined(recall), kappa], axis=-1)
