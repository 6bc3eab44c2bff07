"""How far raters agree on one question: Cohen's kappa, macro accuracy, percent agreement, Krippendorff's alpha.

Statistics of pairs of raters start from `pair_tables(answers)`; Krippendorff's alpha from the answers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import krippendorff
import numpy as np
import numpy.typing as npt

from reports.stats.answers import Answers
from reports.stats.pairs import PairTables, Weights, disagreement_weights, lines

Level = Literal["nominal", "ordinal", "interval"]

# Reasons of `UndefinedStatistic`, shown to people as they are or translated.
NO_TWO_ANSWERS = "no cell has two answers"
ALWAYS_THE_SAME = "everyone always chose the same option"
NO_PAIR_DEFINED = "no pair of raters has a defined value"
NO_QUESTION_DEFINED = "no question has a defined value"


class UndefinedStatistic(Exception):
    """The data do not allow an answer; the message says why."""


# --- Cohen's kappa --------------------------------------------------------------------------------------------------


def cohen_kappa(table: npt.ArrayLike, weights: Weights | None = None) -> float:
    """Cohen's kappa of two raters.

    Args:
        table: counts, shape (n_options, n_options); table[x, y] cells got x from the first and y from the second rater.
        weights: None counts every disagreement alike; "linear" and "quadratic" by the distance of the options'
            positions.
    Returns:
        kappa, at most 1. 1 = full agreement, 0 = as the two raters' own habits would give by chance, < 0 = less than
        that.
    Raises:
        UndefinedStatistic: the table is empty, or both raters always chose the same one option.

    Sources: Cohen (1960); Cohen (1968) for the weighted kappa, 1 - (weighted observed / weighted expected
    disagreement).
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.sum() == 0:
        raise UndefinedStatistic(NO_TWO_ANSWERS)
    cost = disagreement_weights(counts.shape[0], weights)
    expected = float(counts.sum(axis=1) @ cost @ counts.sum(axis=0) / counts.sum())
    if expected == 0:
        raise UndefinedStatistic(ALWAYS_THE_SAME)
    return 1 - float((counts * cost).sum()) / expected


@dataclass(frozen=True)
class Statistic:
    """One number over all sheets. `value` is None where it is not defined, and `reason` then says why.

    n_cells: cells with two answers or more; n_comparisons: pairs of answers to one cell; overlap: n_cells as a share
    of the answered cells.
    """

    value: float | None
    reason: str
    n_cells: int
    n_comparisons: int
    overlap: float | None


@dataclass(frozen=True, slots=True)
class PairKappa:
    """Cohen's kappa of two raters on one sheet over the n cells that both answered, `agreed` of them alike."""

    sheet: int
    rater_a: int
    rater_b: int
    value: float | None
    reason: str
    agreed: int
    n: int


@dataclass(frozen=True)
class MacroKappa:
    """The mean of the kappas of all sheet-pairs (a sheet and two of its raters), and the pooled kappa beside it.

    n_pairs: sheet-pairs in the mean; n_undefined: left out because kappa is not defined (`rows` says why);
    n_unshared: pairs of raters of a sheet that share no cell there, so that there is nothing to compare.
    """

    value: float | None
    reason: str
    n_pairs: int
    n_undefined: int
    n_unshared: int
    n_cells: int
    n_comparisons: int
    overlap: float | None
    pooled: Statistic
    rows: tuple[PairKappa, ...]


def macro_kappa(tables: PairTables, weights: Weights | None = None) -> MacroKappa:
    """Sum of the kappas of every sheet-pair, divided by the number of sheet-pairs (Kvapil and Fajčík's footnote 8).

    A sheet-pair whose kappa is not defined has no number to add: it is left out of the sum and of the divisor,
    counted, and listed.
    """
    observed, expected = tables.disagreements(weights)
    defined = expected > 0
    kappas = 1 - observed[defined] / expected[defined]
    values: list[float | None] = [None] * len(tables)
    for i, kappa in zip(np.flatnonzero(defined), kappas, strict=True):
        values[i] = float(kappa)
    rows = tuple(
        PairKappa(
            sheet=sheet,
            rater_a=rater_a,
            rater_b=rater_b,
            value=value,
            reason="" if value is not None else ALWAYS_THE_SAME,
            agreed=agreed,
            n=n,
        )
        for value, (sheet, rater_a, rater_b, agreed, n) in zip(
            values,
            lines(np.stack([tables.sheet, tables.rater_a, tables.rater_b, tables.agreed, tables.n], axis=-1)),
            strict=True,
        )
    )
    return MacroKappa(
        value=float(kappas.mean()) if kappas.size else None,
        reason="" if kappas.size else (NO_PAIR_DEFINED if rows else NO_TWO_ANSWERS),
        n_pairs=kappas.size,
        n_undefined=len(tables) - kappas.size,
        n_unshared=tables.n_unshared,
        n_cells=tables.n_shared_cells,
        n_comparisons=tables.n_comparisons,
        overlap=tables.overlap,
        pooled=pooled_kappa(tables, weights),
        rows=rows,
    )


def pooled_kappa(tables: PairTables, weights: Weights | None = None) -> Statistic:
    """Kappa of one table that holds every comparison of every sheet, each entered both ways round.

    Who is "first" and who "second" has no meaning once different pairs are put together; entered both ways, the value
    does not depend on the order of the raters. (Both seats then have the same margins, so this is Scott's pi of all
    comparisons.)
    """
    table = np.zeros((tables.n_options, tables.n_options), dtype=np.int64)
    np.add.at(table, (tables.option_a, tables.option_b), tables.count)
    value, reason = _or_reason(lambda: cohen_kappa(table + table.T, weights))
    return Statistic(value, reason, tables.n_shared_cells, tables.n_comparisons, tables.overlap)


# --- Macro accuracy -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """Two raters of one sheet: they chose the same option in `agreed` of the `shared` cells that both answered.

    `position`: which two of the sheet's raters they are, from 1, in the order of the rater numbers.
    """

    sheet: int
    position: tuple[int, int]
    rater_a: int
    rater_b: int
    agreed: int
    shared: int


@dataclass(frozen=True)
class MacroAccuracy:
    """Mean over pair positions of the mean over sheets of the share of equal answers.

    n_pairs: sheet-pairs in the mean; n_positions: pair positions in the outer mean; n_unshared: pairs left out for
    sharing no cell.
    """

    value: float | None
    reason: str
    n_pairs: int
    n_positions: int
    n_unshared: int
    n_cells: int
    n_comparisons: int
    overlap: float | None
    rows: tuple[PairAccuracy, ...]


def macro_accuracy(tables: PairTables) -> MacroAccuracy:
    """Kvapil and Fajčík's macro accuracy between annotators (section 6.1): A_h = 1/m sum_j 1/n sum_i S_ij / T_ij.

    j runs over the pairs of annotators "of 3 annotators (1,2; 1,3; 2,3)". The paper has seven annotators and three a
    sheet, so these are places within a sheet, not persons: those who are to answer in a sheet are numbered in the
    order of their rater number, whether they have answered or not. Where a pair shares no cell of a sheet, S/T does
    not exist; it is left out, and n is the number of sheets left for that place.
    """
    agreed, shared = tables.agreed, tables.n
    places, place = np.unique(np.stack([tables.position_a, tables.position_b]), axis=1, return_inverse=True)
    sums = np.bincount(place, agreed / shared, minlength=places.shape[1])
    sheets = np.bincount(place, minlength=places.shape[1])
    positions = (tables.position_a + 1, tables.position_b + 1)
    columns = (tables.sheet, *positions, tables.rater_a, tables.rater_b, agreed, shared)
    rows = tuple(
        PairAccuracy(sheet=sheet, position=(first, second), rater_a=a, rater_b=b, agreed=s, shared=t)
        for sheet, first, second, a, b, s, t in lines(np.stack(columns, axis=-1))
    )
    return MacroAccuracy(
        value=float((sums / sheets).mean()) if rows else None,
        reason="" if rows else NO_TWO_ANSWERS,
        n_pairs=len(tables),
        n_positions=places.shape[1],
        n_unshared=tables.n_unshared,
        n_cells=tables.n_shared_cells,
        n_comparisons=tables.n_comparisons,
        overlap=tables.overlap,
        rows=rows,
    )


@dataclass(frozen=True)
class Average:
    """The mean of one statistic over several questions, all counting alike; undefined ones are left out and counted."""

    value: float | None
    reason: str
    n_questions: int
    n_undefined: int


def average(results: Sequence[MacroKappa] | Sequence[MacroAccuracy]) -> Average:
    """One figure for several questions, as the paper gives for the questions of a section (footnote 9)."""
    values = [result.value for result in results if result.value is not None]
    return Average(
        value=sum(values) / len(values) if values else None,
        reason="" if values else NO_QUESTION_DEFINED,
        n_questions=len(values),
        n_undefined=len(results) - len(values),
    )


# --- All raters at once ---------------------------------------------------------------------------------------------


def percent_agreement(tables: PairTables) -> Statistic:
    """Share of all comparisons in which both raters chose the same option, 0 to 1.

    A cell with k answers makes k(k-1)/2 comparisons.
    """
    n = tables.n_comparisons
    return Statistic(
        value=int(tables.agreed.sum()) / n if n else None,
        reason="" if n else NO_TWO_ANSWERS,
        n_cells=tables.n_shared_cells,
        n_comparisons=n,
        overlap=tables.overlap,
    )


def krippendorff_alpha(
    value_counts: npt.ArrayLike, level: Level = "nominal", values: Sequence[float] | None = None
) -> float:
    """Krippendorff's alpha of any number of raters, with answers missing anywhere.

    Args:
        value_counts: raters that gave each cell each option, shape (n_cells, n_options). Cells with fewer than two
            answers do not count.
        level: "nominal", or, where the options are in order, "ordinal" or "interval".
        values: what the options stand for at the interval level, shape (n_options,); 0, 1, 2, ... when left out.
    Returns:
        alpha, at most 1. 1 = full agreement, 0 = as chance would give, < 0 = systematic disagreement.
    Raises:
        UndefinedStatistic: no cell has two answers, or everyone always chose the same one option.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; computed by the krippendorff package.
    """
    counts = np.asarray(value_counts, dtype=np.int64)
    pairable = counts[counts.sum(axis=1) >= 2]
    used = pairable.any(axis=0)
    if pairable.size == 0:
        raise UndefinedStatistic(NO_TWO_ANSWERS)
    if used.sum() == 1:
        raise UndefinedStatistic(ALWAYS_THE_SAME)
    # Options that nobody chose do not change alpha at any level, only the memory the package takes.
    domain = np.arange(counts.shape[1]) if values is None else np.asarray(values, dtype=np.float64)
    return float(
        krippendorff.alpha(value_counts=pairable[:, used], value_domain=domain[used], level_of_measurement=level)
    )


def alpha(answers: Answers, level: Level = "nominal", values: Sequence[float] | None = None) -> Statistic:
    """`krippendorff_alpha` of all answers to a question, with the numbers behind it."""
    counts = answers.value_counts()
    per_cell = counts.sum(axis=1)
    shared = int((per_cell >= 2).sum())
    value, reason = _or_reason(lambda: krippendorff_alpha(counts, level, values))
    return Statistic(
        value=value,
        reason=reason,
        n_cells=shared,
        n_comparisons=int((per_cell * (per_cell - 1) // 2).sum()),
        overlap=shared / per_cell.size if per_cell.size else None,
    )


def _or_reason(compute: Callable[[], float]) -> tuple[float | None, str]:
    """The value with an empty reason, or None with the reason why it is not defined."""
    try:
        return compute(), ""
    except UndefinedStatistic as undefined:
        return None, str(undefined)
