"""Bootstrap intervals: which sums a statistic needs for each document (or sheet), and which function of them it is.

All take `by` ("document" or "sheet"), `n_draws` and `seed`; the same ones give the same interval again. `paired`: of
agreement there is no interval where too few documents (or sheets) have a cell with two answers, however many have one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from reports.stats import coefficients
from reports.stats.agreement import macro_kappa
from reports.stats.among import default_weights
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import (
    MAXIMUM_COMPARISONS,
    MINIMUM_CLUSTERS,
    N_DRAWS,
    TOO_MANY_COMPARISONS,
    By,
    Interval,
    Resampling,
    cluster_keys,
    paired_clusters,
    resampling,
    resampling_of,
)
from reports.stats.cells import CellSums, cluster_sums
from reports.stats.coefficients import Level
from reports.stats.distinct import distinct
from reports.stats.judge import judged_cells
from reports.stats.pairs import FloatArray, PairTables, Weights, agreement_weights, disagreement_weights, pair_tables
from reports.stats.ratios import mean_of_defined, ratio
from reports.stats.small_sheets import corrected_kappas

_COMPARISONS_OF_PART = 500_000
# Sums of drawn documents for pairs of raters that are held at a time: bounds memory.
_SUMS_AT_ONCE = 8_000_000


def agreement_intervals(
    answers: Answers,
    *,
    level: Level = "nominal",
    values: Sequence[float] | None = None,
    weights: Weights | None = None,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
) -> dict[str, Interval]:
    """The intervals of `among.agreement_among(answers, ...)`, all of the same draws.

    Returns:
        by the coefficients' names: percent, percent_of_comparisons, cohen, scott, fleiss, alpha, ac1, pabak, for
        ordered questions also cohen_linear, cohen_quadratic and ac2; by "specific.<option>" and "kappa.<option>" those
        of the options.
    """
    draws = resampling(answers, by, n_draws=n_draws, seed=seed, expanded=expanded)
    ordered = level != "nominal"
    at = values if level == "interval" else None
    k = answers.n_options
    ac2 = agreement_weights(k, weights or default_weights(level), at)
    names = ["percent", "percent_of_comparisons", "scott", "fleiss", "alpha", "ac1", "pabak"]
    names += ["ac2"] if ordered else []
    names += [f"{name}.{option}" for name in ("specific", "kappa") for option in range(k)]
    of_pairs: dict[str, Weights | None] = {"cohen": None}
    if ordered:
        of_pairs |= {"cohen_linear": "linear", "cohen_quadratic": "quadratic"}
    if none := draws.refusal([answers], paired=paired):
        return dict.fromkeys((*names, *of_pairs), none)

    def statistics(features: FloatArray) -> FloatArray:
        sums = CellSums.unpacked(features, k)
        columns = [
            coefficients.percent(sums),
            coefficients.percent_of_comparisons(sums),
            coefficients.scott_pi(sums),
            coefficients.fleiss_kappa(sums),
            coefficients.krippendorff_alpha(sums, level, at),
            coefficients.gwet_ac(sums),
            coefficients.pabak(sums),
        ]
        columns += [coefficients.gwet_ac(sums, ac2)] if ordered else []
        columns += [*coefficients.specific_agreement(sums).T, *coefficients.category_kappas(sums).T]
        return np.stack(columns, axis=-1)

    drawn = draws.draw(cluster_sums(answers, draws.cluster_of(answers), draws.n_clusters).packed(), statistics)
    found = {name: draws.interval(drawn[:, column]) for column, name in enumerate(names)}
    if expanded and n_comparisons(answers) > MAXIMUM_COMPARISONS:
        return found | {name: draws.without_draws(TOO_MANY_COMPARISONS) for name in of_pairs}
    costs = [disagreement_weights(k, weighted, at) for weighted in of_pairs.values()]
    kappas = _mean_kappas(answers.in_sheets(np.zeros_like(answers.sheet)), answers, costs, draws)
    return found | dict(zip(of_pairs, kappas, strict=True))


@dataclass(frozen=True)
class MacroIntervals:
    """`corrected`: of `small_sheets.corrected_macro_kappa`."""

    kappa: Interval
    accuracy: Interval
    corrected: Interval


def macro_intervals(
    answers: Answers,
    weights: Weights | None = None,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
) -> MacroIntervals:
    """The intervals of `agreement.macro_kappa` and `agreement.macro_accuracy` (A_h), of the same draws.

    That of the corrected kappa lies around its value as the draws of the plain one do around their mean: to draw some
    of a few documents twice lowers both alike.

    A sheet-pair whose kappa is not defined in a draw, or that shares no drawn cell, is left out of that draw. Drawn by
    sheet, each sheet-pair keeps its kappa and its share, and only the sheets change.
    """
    return average_macro_intervals(
        [(answers, weights)], by=by, n_draws=n_draws, seed=seed, expanded=expanded, paired=paired
    )


def average_macro_intervals(
    questions: Sequence[tuple[Answers, Weights | None]],
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
) -> MacroIntervals:
    """The intervals of `agreement.average` of several questions' macro kappas and macro accuracies (footnote 9).

    Args:
        questions: the answers to each question with its weights; all are computed from the same drawn documents. A
            question that is not defined in a draw is left out of its average.
    """
    whole = distinct(np.concatenate([cluster_keys(answers, by) for answers, _ in questions]))
    draws = resampling_of(whole, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=by == "sheet")
    if none := draws.refusal([answers for answers, _weights in questions], paired=paired):
        return MacroIntervals(none, none, none)
    if expanded and by == "document" and any(n_comparisons(of) > MAXIMUM_COMPARISONS for of, _weights in questions):
        return MacroIntervals(*(draws.without_draws(TOO_MANY_COMPARISONS) for _of in range(3)))
    draw = _macros_of_sheets if by == "sheet" else _macros_of_documents
    drawn = [draw(answers, weights, draws) for answers, weights in questions]
    # Where one question is so large that fewer draws are made, the others' first ones are the same draws.
    n_values = min(values.shape[0] for values in drawn)
    made = replace(draws, n_draws=n_values - 1)
    n_sheets = np.unique(np.concatenate([answers.sheet for answers, _ in questions])).size if by == "document" else 1
    kappas = np.stack([values[:n_values, 0] for values in drawn], axis=-1)
    accuracies = np.stack([values[:n_values, 1] for values in drawn], axis=-1)
    corrected = np.stack([values[:n_values, 2] for values in drawn], axis=-1)
    return MacroIntervals(
        kappa=made.interval(mean_of_defined(kappas), centred=by == "document", n_sheets=n_sheets),
        accuracy=made.interval(mean_of_defined(accuracies), n_sheets=n_sheets),
        corrected=made.interval(mean_of_defined(corrected), centred=by == "document", n_sheets=n_sheets),
    )


def n_comparisons(answers: Answers) -> int:
    """Pairs of answers to one cell."""
    answered = np.bincount(answers.by_cell.index)
    return int((answered * (answered - 1) // 2).sum())


def sheet_kappa_intervals(
    answers: Answers,
    weights: Weights | None = None,
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
    rater: int | None = None,
) -> dict[int, Interval]:
    """For each sheet the interval of its mean kappa, drawn by document: that of `macro_intervals` of the sheet alone.

    Sheets with equally many documents are computed together. Nobody's answers have no sheet.

    Args:
        rater: the mean over the pairs of this one alone.
    """
    if not answers.cell.size:
        return {}
    draws = resampling(answers, n_draws=n_draws, seed=seed, expanded=expanded, group_many=False)
    sheets, of_answer = np.unique(answers.sheet, return_inverse=True)
    if expanded and n_comparisons(answers) > MAXIMUM_COMPARISONS:
        return {int(sheet): draws.without_draws(TOO_MANY_COMPARISONS) for sheet in sheets}
    k, cost = answers.n_options, disagreement_weights(answers.n_options, weights)
    width = 1 + 2 * k
    table, _ = _pair_sums(answers, answers, [cost], draws)
    entries = table.tocoo()
    of_document = np.zeros(draws.n_clusters, dtype=np.int64)
    of_document[draws.cluster_of(answers)] = of_answer
    tables = pair_tables(answers)
    of_group = np.searchsorted(sheets, tables.sheet)
    counted = np.ones(of_group.size, dtype=bool)
    if rater is not None:
        counted = (tables.rater_a == rater) | (tables.rater_b == rater)
    del tables
    n_documents = np.bincount(of_document, minlength=sheets.size)
    document = _place_within(of_document)
    has_pairs = np.isin(draws.clusters, paired_clusters([answers], "document"))
    n_paired = np.bincount(of_document[has_pairs], minlength=sheets.size)

    found: dict[int, Interval] = {}
    for documents in np.unique(n_documents).tolist():
        alone = resampling_of(
            np.arange(documents), "document", n_draws=n_draws, seed=seed, expanded=expanded, group_many=False
        )
        alike = np.flatnonzero(n_documents == documents)
        if alone.too_few:
            found |= {int(sheets[place]): alone.without_draws() for place in alike}
            continue
        # Those of one sheet stand together.
        groups = np.flatnonzero((n_documents[of_group] == documents) & counted)
        at = np.full(of_group.size, -1)
        at[groups] = np.arange(groups.size)
        mine = (n_documents[of_document[entries.row]] == documents) & counted[entries.col // width]
        place = at[entries.col[mine] // width] * width + entries.col[mine] % width
        sums = sparse.csr_array(
            (entries.data[mine], (place, document[entries.row[mine]])), shape=(groups.size * width, documents)
        )
        sheet = np.searchsorted(alike, of_group[groups])
        affordable = alone.within(sums.nnz) if expanded else alone
        drawn = _sheet_kappas(sums, sheet, alike.size, cost, affordable)
        for n, one in enumerate(alike):
            is_enough = not paired or not 0 < n_paired[one] < MINIMUM_CLUSTERS
            interval = (
                affordable.interval(drawn[n], centred=True) if is_enough else alone.without_paired(int(n_paired[one]))
            )
            found[int(sheets[one])] = interval
    return dict(sorted(found.items()))


def _sheet_kappas(
    sums: sparse.csr_array, sheet: IntArray, n_sheets: int, cost: FloatArray, draws: Resampling
) -> FloatArray:
    """The mean kappa of each sheet, of all its documents and of each draw, shape (n_sheets, 1 + n_draws).

    Args:
        sums: of each pair of raters and document, shape (n_pairs * width, n_documents): the paid cost, and how often
            the first and the second chose each option. sheet: of each pair, ascending, shape (n_pairs,).
    """
    k = cost.shape[0]
    width = 1 + 2 * k
    blocks = [np.zeros((n_sheets, 0))]
    for counts in itertools.chain([np.ones((sums.shape[1], 1))], draws.counts(width)):
        step = max(1, _SUMS_AT_ONCE // (counts.shape[1] * width))
        total, defined = np.zeros((2, n_sheets, counts.shape[1]))
        for start in range(0, sheet.size, step):
            some = sheet[start : start + step]
            drawn = (sums[start * width : (start + some.size) * width] @ counts).reshape(some.size, width, -1)
            margin_a, margin_b = drawn[:, 1 : 1 + k], drawn[:, 1 + k :]
            expected = ((cost @ margin_a) * margin_b).sum(axis=1)
            paid = drawn[:, 0] * margin_a.sum(axis=1)
            kappas = 1 - np.divide(paid, expected, out=np.ones(paid.shape), where=expected > 0)
            has = sparse.csr_array((np.ones(some.size), (some, np.arange(some.size))), shape=(n_sheets, some.size))
            total += has @ kappas
            defined += has @ (expected > 0).astype(np.float64)
        blocks.append(ratio(total, defined))
    return np.concatenate(blocks, axis=1)


def _place_within(group: IntArray) -> IntArray:
    """The place of each entry among those of its group, in the order of the entries."""
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    place = np.zeros(group.size, dtype=np.int64)
    place[order] = np.arange(group.size) - np.repeat(np.cumsum(size) - size, size)
    return place


def _macros_of_sheets(answers: Answers, weights: Weights | None, draws: Resampling) -> FloatArray:
    """Macro kappa, macro accuracy and corrected kappa of all sheets and of each draw, shape (1 + n_draws, 3)."""
    tables = pair_tables(answers)
    if not len(tables):
        return np.full((1 + draws.n_draws, 3), np.nan)
    place, n_places = _places(tables)
    rows = macro_kappa(tables, weights).rows
    kappas = np.array([np.nan if row.value is None else row.value for row in rows])
    sheet = np.searchsorted(draws.clusters, tables.sheet)
    of_kappas = []
    for values in (kappas, corrected_kappas(answers, tables, weights)):
        defined = ~np.isnan(values)
        of_kappas += [np.bincount(sheet[defined], values[defined], minlength=draws.n_clusters)]
        of_kappas += [np.bincount(sheet[defined], minlength=draws.n_clusters)]
    at, size = sheet * n_places + place, draws.n_clusters * n_places
    per_sheet = np.concatenate(
        [
            np.stack(of_kappas, axis=-1),
            np.bincount(at, tables.agreed / tables.n, minlength=size).reshape(draws.n_clusters, n_places),
            np.bincount(at, minlength=size).reshape(draws.n_clusters, n_places),
        ],
        axis=1,
    )

    def macros(features: FloatArray) -> FloatArray:
        accuracy = _mean_of_ratios(features[:, 4 : 4 + n_places], features[:, 4 + n_places :])
        kappa, corrected = (_mean_of_ratios(features[:, at : at + 1], features[:, at + 1 : at + 2]) for at in (0, 2))
        return np.stack([kappa, accuracy, corrected], axis=-1)

    return draws.draw(per_sheet, macros)


def _macros_of_documents(answers: Answers, weights: Weights | None, draws: Resampling) -> FloatArray:
    """Macro kappa, macro accuracy and corrected kappa of all documents and of each draw, shape (1 + n_draws, 3)."""
    tables = pair_tables(answers)
    if not len(tables):
        return np.full((1 + draws.n_draws, 3), np.nan)
    place, n_places = _places(tables)
    at_place = sparse.csr_array((np.ones(len(tables)), (np.arange(len(tables)), place)), shape=(len(tables), n_places))
    k = answers.n_options
    cost = disagreement_weights(k, weights)
    per_document, n_groups = _pair_sums(answers, answers, [cost, disagreement_weights(k)], draws)

    def macros(features: FloatArray) -> FloatArray:
        sums = features.reshape(features.shape[0], n_groups, 2 + 2 * k)
        margin_a, margin_b = sums[:, :, 2 : 2 + k], sums[:, :, 2 + k :]
        n = margin_a.sum(axis=-1)
        share = np.divide(n - sums[:, :, 1], n, out=np.zeros(n.shape), where=n > 0)
        accuracy = _mean_of_ratios(share @ at_place, (n > 0).astype(np.float64) @ at_place)
        return np.stack([_mean_of_kappas(sums[:, :, 0], margin_a, margin_b, n, cost), accuracy], axis=-1)

    drawn = draws.within(per_document.nnz).draw(per_document, macros)
    # The draws of the corrected kappa are those of the plain one, around its own value.
    moved = drawn[:, :1].copy()
    corrected = corrected_kappas(answers, tables, weights)
    if (~np.isnan(corrected)).any():
        moved[0] = np.nanmean(corrected)
        return np.concatenate([drawn, moved], axis=1)
    return np.concatenate([drawn, np.full(moved.shape, np.nan)], axis=1)


def _places(tables: PairTables) -> tuple[IntArray, int]:
    """The number of each pair's place in its sheet (1,2; 1,3; 2,3; ...), shape (n_pairs,), and how many there are."""
    places, place = np.unique(np.stack([tables.position_a, tables.position_b]), axis=1, return_inverse=True)
    return place.ravel(), places.shape[1]


def judge_accuracy_interval(
    people: Answers,
    judge: Answers,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> Interval:
    """The interval of `judge.judge_accuracy`, A_m."""
    draws = resampling(people, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=by == "sheet")
    of = judged_cells(people, judge)
    key = of.document if by == "document" else of.sheet
    return mean_of_sheets_interval(
        draws, key[of.labelled], of.sheet[of.labelled], of.right[of.labelled].astype(np.float64)
    )


def mean_of_sheets_interval(draws: Resampling, key: IntArray, sheet: IntArray, amount: FloatArray) -> Interval:
    """The interval of the mean over sheets of the mean amount of a sheet's cells.

    Args:
        key: the document, or sheet, that each cell is drawn with, shape (n_cells,), among `draws.clusters`; sheet:
            the sheet of each cell; amount: what is averaged.
    """
    cluster = np.searchsorted(draws.clusters, key)
    if draws.by == "sheet":
        sums = np.bincount(cluster, amount, minlength=draws.n_clusters)
        cells = np.bincount(cluster, minlength=draws.n_clusters)
        means = np.divide(sums, cells, out=np.zeros(sums.shape), where=cells > 0)
        return draws.bootstrap(
            np.stack([means, (cells > 0).astype(np.float64)], axis=-1),
            lambda features: _mean_of_ratios(features[:, :1], features[:, 1:]),
        )
    sheets, place = np.unique(sheet, return_inverse=True)
    shape, n_sheets = (draws.n_clusters, sheets.size), sheets.size
    sums_of = sparse.csr_array((amount, (cluster, place)), shape=shape)
    cells_of = sparse.csr_array((np.ones(amount.size), (cluster, place)), shape=shape)
    return draws.bootstrap(
        sparse.hstack([sums_of, cells_of]).tocsr(),
        lambda features: _mean_of_ratios(features[:, :n_sheets], features[:, n_sheets:]),
        n_sheets=n_sheets,
    )


def _mean_kappas(grouped: Answers, answers: Answers, costs: Sequence[FloatArray], draws: Resampling) -> list[Interval]:
    """For each cost the interval of the mean kappa of all groups (sheet of `grouped`, rater a, rater b)."""
    per_cluster, n_groups = _pair_sums(grouped, answers, costs, draws)
    k, n_costs = answers.n_options, len(costs)

    def statistic(features: FloatArray) -> FloatArray:
        sums = features.reshape(features.shape[0], n_groups, n_costs + 2 * k)
        margin_a, margin_b = sums[:, :, n_costs : n_costs + k], sums[:, :, n_costs + k :]
        n = margin_a.sum(axis=-1)
        return np.stack(
            [_mean_of_kappas(sums[:, :, place], margin_a, margin_b, n, cost) for place, cost in enumerate(costs)],
            axis=-1,
        )

    affordable = draws.within(per_cluster.nnz)
    drawn = affordable.draw(per_cluster, statistic)
    return [affordable.interval(column, centred=True) for column in drawn.T]


def _pair_sums(
    grouped: Answers, answers: Answers, costs: Sequence[FloatArray], draws: Resampling
) -> tuple[sparse.csr_array, int]:
    """The sums that kappas need, for each cluster and each group (sheet of `grouped`, rater a, rater b): the weighted
    disagreement under each cost, and how often a and b chose each option.

    Returns:
        shape (n_clusters, n_groups x (n_costs + 2 n_options)), and n_groups; groups in the order of
        `pair_tables(grouped)`.
    """
    tables = pair_tables(grouped)
    raters = np.unique(answers.rater)

    def group_key(sheet: IntArray, rater_a: IntArray, rater_b: IntArray) -> IntArray:
        place_a, place_b = np.searchsorted(raters, rater_a), np.searchsorted(raters, rater_b)
        key: IntArray = (sheet * raters.size + place_a) * raters.size + place_b
        return key

    groups = group_key(tables.sheet, tables.rater_a, tables.rater_b)
    k, n_costs = answers.n_options, len(costs)
    width = n_costs + 2 * k
    cluster = draws.cluster_of(answers)
    sheet_of = np.zeros(draws.n_clusters, dtype=np.int64)
    sheet_of[cluster] = grouped.sheet
    by_cluster = answers.in_sheets(cluster)
    parts = []
    for cells in _parts(answers):
        # The tables of each cluster, counted as if it were a sheet; each lies in one sheet of `grouped`.
        part = pair_tables(by_cluster.where(cells))
        group = np.searchsorted(groups, group_key(sheet_of[part.sheet], part.rater_a, part.rater_b))
        start, row = group[part.pair] * width, part.sheet[part.pair]
        columns = [start + place for place in range(n_costs)]
        amounts = [part.count * cost[part.option_a, part.option_b] for cost in costs]
        columns += [start + n_costs + part.option_a, start + n_costs + k + part.option_b]
        amounts += [part.count.astype(np.float64)] * 2
        amount = np.concatenate(amounts)
        some = amount != 0
        parts.append(
            (
                amount[some],
                np.tile(row, len(columns))[some].astype(np.int32),
                np.concatenate(columns)[some].astype(np.int32),
            )
        )
    amounts_of, rows_of, columns_of = zip(*parts, strict=True)
    del parts
    entries = (np.concatenate(rows_of), np.concatenate(columns_of))
    shape = (draws.n_clusters, groups.size * width)
    return sparse.csr_array((np.concatenate(amounts_of), entries), shape=shape), groups.size


def _parts(answers: Answers) -> Iterator[npt.NDArray[np.bool_]]:
    """The answers in parts of whole cells, each with about `_COMPARISONS_OF_PART` comparisons: bounds memory."""
    cell = answers.by_cell.index
    size = np.bincount(cell)
    part = np.cumsum(size * (size - 1) // 2) // _COMPARISONS_OF_PART
    for number in np.unique(part):
        yield (part == number)[cell]


def _mean_of_kappas(
    paid: FloatArray, margin_a: FloatArray, margin_b: FloatArray, n: FloatArray, cost: FloatArray
) -> FloatArray:
    """The mean kappa of each draw: paid and n have shape (n_draws, n_groups), the margins one axis of options more."""
    expected = ((margin_a @ cost) * margin_b).sum(axis=-1)
    return mean_of_defined(1 - ratio(paid * n, expected))


def _mean_of_ratios(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    return mean_of_defined(ratio(tops, bottoms))
