"""Everything one says about how far a set of raters agrees on one question: all coefficients, and what to read them by.

`agreement_among(answers)` for the numbers, `intervals.agreement_intervals(answers)` for their intervals. Options that
do not count (merged away, or meaning that there was nothing to decide) are taken out before, by `answers.only(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from reports.stats import coefficients
from reports.stats.agreement import ALWAYS_THE_SAME, NO_PAIR_DEFINED, NO_TWO_ANSWERS, alpha
from reports.stats.answers import Answers, IntArray
from reports.stats.cells import CellSums, cell_sums
from reports.stats.coefficients import MISSING_RULES, Level
from reports.stats.pairs import (
    FloatArray,
    PairTables,
    Weights,
    agreement_weights,
    disagreement_weights,
    lines,
    pair_tables,
)
from reports.stats.ratios import ratio

ONE_OPTION = "there is only one option"
NEVER_CHOSEN = "nobody chose this option in a cell with two answers"


@dataclass(frozen=True)
class Coefficient:
    """One coefficient; `value` is None where it is not defined, and `reason` then says why.

    key: its name in `MISSING_RULES` and in `agreement_intervals`; weights: of the options' distances, None:
    all disagreements alike; n_cells and n_comparisons: cells with two answers or more, and pairs of answers in them;
    missing: its rule for missing answers.
    """

    key: str
    value: float | None
    reason: str
    weights: Weights | None
    n_cells: int
    n_comparisons: int
    missing: str


@dataclass(frozen=True)
class OptionAgreement:
    """One option: how often it was chosen, and how far raters agree on it.

    n: answers with it; share: the mean over answered cells of the share of its answers; n_comparisons: pairs of
    answers to a cell in which somebody chose it; specific: the share of agreement among them (`specific_agreement`);
    kappa: Fleiss' kappa of it against all others. None where not defined.
    """

    option: int
    n: int
    share: float | None
    n_comparisons: int
    specific: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters over the n cells that both answered, on all sheets together; None where not defined.

    cohen_linear and cohen_quadratic weigh by the options' distances, so they mean something for ordered options only.
    """

    rater_a: int
    rater_b: int
    n: int
    percent: float
    cohen: float | None
    cohen_linear: float | None
    cohen_quadratic: float | None
    scott: float | None
    ac1: float | None
    pabak: float | None

    def kappa(self, *, weighted: bool) -> float | None:
        """Cohen's kappa, with quadratic weights where options stand in an order."""
        return self.cohen_quadratic if weighted else self.cohen


@dataclass(frozen=True)
class Prevalence:
    """What makes a kappa low or high whatever the raters do; to be shown beside every kappa, with AC1.

    majority_option: the most frequent option of all answers (of equally frequent ones the first), None without answers;
    majority_share: its share of them: how often a rater who always gives it would match an answer.
    imbalance: 0 where all options are equally frequent, 1 where one has all answers:
    (k sum of squared shares - 1) / (k - 1). cohen_maximum: the greatest kappa that two raters with these margins can
    reach, None unless there are exactly two.
    """

    majority_option: int | None
    majority_share: float | None
    imbalance: float | None
    cohen_maximum: float | None


@dataclass(frozen=True)
class AgreementAmong:
    """All coefficients of one question. n_answers: answers in all; n_answered: cells with an answer; n_shared: cells
    with two or more; overlap: n_shared / n_answered.

    The weighted coefficients (cohen_linear, cohen_quadratic, ac2) are None for a nominal question.
    """

    level: Level
    n_raters: int
    n_answers: int
    n_answered: int
    n_shared: int
    n_comparisons: int
    overlap: float | None
    percent: Coefficient
    percent_of_comparisons: Coefficient
    cohen: Coefficient
    cohen_linear: Coefficient | None
    cohen_quadratic: Coefficient | None
    scott: Coefficient
    fleiss: Coefficient
    alpha: Coefficient
    ac1: Coefficient
    ac2: Coefficient | None
    pabak: Coefficient
    prevalence: Prevalence
    options: tuple[OptionAgreement, ...]
    pairs: tuple[RaterPair, ...]

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """Those that this question has, in the order of printing."""
        all_of_them = (
            *(self.percent, self.percent_of_comparisons, self.cohen, self.cohen_linear, self.cohen_quadratic),
            *(self.scott, self.fleiss, self.alpha, self.ac1, self.ac2, self.pabak),
        )
        return tuple(coefficient for coefficient in all_of_them if coefficient is not None)


def agreement_among(
    answers: Answers, *, level: Level = "nominal", values: Sequence[float] | None = None, weights: Weights | None = None
) -> AgreementAmong:
    """All coefficients of all raters in `answers`, with what to read them by.

    Args:
        level: how the options relate: only as different, in order, or at distances.
        values: what the options stand for at the interval level, shape (n_options,); 0, 1, 2, ... when left out.
        weights: of AC2; when left out "ordinal" for ordinal questions and "quadratic" for interval ones.
    """
    ordered = level != "nominal"
    at = values if level == "interval" else None
    of_alpha = alpha(answers, level, at)  # takes much room, and the tables as much
    sums = cell_sums(answers)
    tables = pairs_of_raters(answers)
    n_shared, n_comparisons = tables.n_shared_cells, tables.n_comparisons
    of_ac2 = weights or default_weights(level)

    def coefficient(key: str, value: float | None, reason: str, of: Weights | None = None) -> Coefficient:
        return Coefficient(
            key=key,
            value=value,
            reason="" if value is not None else reason,
            weights=of,
            n_cells=n_shared,
            n_comparisons=n_comparisons,
            missing=MISSING_RULES[key],
        )

    def of_sums(key: str, compute: Callable[[CellSums], FloatArray], of: Weights | None = None) -> Coefficient:
        one_option = key in ("ac1", "ac2", "pabak") and answers.n_options < 2
        reason = ONE_OPTION if one_option else ALWAYS_THE_SAME if n_shared else NO_TWO_ANSWERS
        return coefficient(key, _defined(compute(sums)), reason, of)

    def of_pairs(key: str, tables: PairTables, of: Weights | None) -> Coefficient:
        value = _mean_defined(pair_kappas(tables, of, at))
        one_pair = ALWAYS_THE_SAME if len(tables) == 1 else NO_PAIR_DEFINED
        return coefficient(key, value, one_pair if len(tables) else NO_TWO_ANSWERS, of)

    ac2_weights = agreement_weights(answers.n_options, of_ac2, at)
    cohen = of_pairs("cohen", tables, None)
    cohen_linear = of_pairs("cohen_linear", tables, "linear") if ordered else None
    cohen_quadratic = of_pairs("cohen_quadratic", tables, "quadratic") if ordered else None
    n_answered, overlap, prevalence = tables.n_answered_cells, tables.overlap, _prevalence(answers, tables)
    numbers = _of_pairs(tables, at)
    del tables  # as large as the answers; what follows makes a row for each pair
    return AgreementAmong(
        level=level,
        n_raters=np.unique(answers.rater).size,
        n_answers=answers.rater.size,
        n_answered=n_answered,
        n_shared=n_shared,
        n_comparisons=n_comparisons,
        overlap=overlap,
        percent=of_sums("percent", coefficients.percent),
        percent_of_comparisons=of_sums("percent_of_comparisons", coefficients.percent_of_comparisons),
        cohen=cohen,
        cohen_linear=cohen_linear,
        cohen_quadratic=cohen_quadratic,
        scott=of_sums("scott", coefficients.scott_pi),
        fleiss=of_sums("fleiss", coefficients.fleiss_kappa),
        alpha=coefficient("alpha", of_alpha.value, of_alpha.reason),
        ac1=of_sums("ac1", coefficients.gwet_ac),
        ac2=of_sums("ac2", lambda of: coefficients.gwet_ac(of, ac2_weights), of_ac2) if ordered else None,
        pabak=of_sums("pabak", coefficients.pabak),
        prevalence=prevalence,
        options=_options(answers, sums),
        pairs=_rows(*numbers),
    )


def default_weights(level: Level) -> Weights | None:
    """The weights of AC2 where none are chosen."""
    of_level: dict[Level, Weights | None] = {"nominal": None, "ordinal": "ordinal", "interval": "quadratic"}
    return of_level[level]


def pairs_of_raters(answers: Answers) -> PairTables:
    """One table for each two raters who share a cell, all sheets together."""
    return pair_tables(replace(answers, sheet=np.broadcast_to(np.int64(0), answers.sheet.shape)))


def pair_kappas(
    tables: PairTables, weights: Weights | None = None, values: Sequence[float] | None = None
) -> FloatArray:
    """Cohen's kappa of each table, shape (n_pairs,), NaN where both always chose the same one option."""
    paid, expected = tables.paid(disagreement_weights(tables.n_options, weights, values))
    return 1 - ratio(paid, expected)


def rater_pairs(tables: PairTables) -> tuple[RaterPair, ...]:
    """Each two raters with the coefficients of two, for a matrix rater x rater."""
    return _rows(*_of_pairs(tables, None))


def _of_pairs(tables: PairTables, values: Sequence[float] | None) -> tuple[IntArray, FloatArray]:
    """Of each pair its two raters and its comparisons, shape (n_pairs, 3); and the share of equal answers with the
    coefficients, in the order of `RaterPair`, shape (n_pairs, 7)."""
    k, n = tables.n_options, tables.n
    margin_a, margin_b = tables.margins()
    agree = tables.agreed / n
    shares = (margin_a + margin_b) / (2 * n[:, np.newaxis])
    same_by_chance = (shares**2).sum(axis=1)
    undefined = np.full(len(tables), np.nan)
    ac1 = coefficients.corrected(agree, (1 - same_by_chance) / (k - 1)) if k > 1 else undefined
    columns = (
        agree,
        pair_kappas(tables),
        pair_kappas(tables, "linear", values),
        pair_kappas(tables, "quadratic", values),
        coefficients.corrected(agree, same_by_chance),
        ac1,
        coefficients.corrected(agree, np.full(len(tables), 1 / k)) if k > 1 else undefined,
    )
    return np.stack([tables.rater_a, tables.rater_b, n], axis=-1), np.stack(columns, axis=-1)


def _rows(whole: IntArray, shares: FloatArray) -> tuple[RaterPair, ...]:
    return tuple(
        RaterPair(a, b, n, share, *(None if isnan(value) else value for value in values_of_pair))
        for (a, b, n), (share, *values_of_pair) in zip(lines(whole), lines(shares), strict=True)
    )


def _prevalence(answers: Answers, tables: PairTables) -> Prevalence:
    k = answers.n_options
    chosen = np.bincount(answers.code, minlength=k)
    n = int(chosen.sum())
    two_raters = len(tables) == 1 and np.unique(answers.rater).size == 2
    cohen_maximum = None
    if two_raters:
        margin_a, margin_b = (margin[0] / tables.n[0] for margin in tables.margins())
        best = coefficients.corrected(np.minimum(margin_a, margin_b).sum(), (margin_a * margin_b).sum())
        cohen_maximum = _defined(best)
    return Prevalence(
        majority_option=int(chosen.argmax()) if n else None,
        majority_share=float(chosen.max() / n) if n else None,
        imbalance=float((k * ((chosen / n) ** 2).sum() - 1) / (k - 1)) if n and k > 1 else None,
        cohen_maximum=cohen_maximum,
    )


def _options(answers: Answers, sums: CellSums) -> tuple[OptionAgreement, ...]:
    chosen = np.bincount(answers.code, minlength=answers.n_options)
    shares = coefficients.option_shares(sums)
    specific = coefficients.specific_agreement(sums)
    kappas = coefficients.category_kappas(sums)
    # Ordered pairs that hold the option somewhere, each pair of answers once: row + column - diagonal, halved.
    diagonal = np.diagonal(sums.comparisons)
    involved = (2 * sums.comparisons.sum(axis=-1) - diagonal) / 2
    return tuple(
        OptionAgreement(
            option=option,
            n=int(chosen[option]),
            share=_defined(shares[option]),
            n_comparisons=round(float(involved[option])),
            specific=_defined(specific[option]),
            kappa=_defined(kappas[option]),
        )
        for option in range(answers.n_options)
    )


def _defined(value: FloatArray) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number


def _mean_defined(values: FloatArray) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None
