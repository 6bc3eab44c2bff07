"""How far people agree, and how far a judge agrees with them, in each sheet by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reports.stats.agreement import macro_kappa
from reports.stats.answers import Answers
from reports.stats.bootstrap import MAXIMUM_COMPARISONS, Interval
from reports.stats.hiring.means import Mean, ShareBounds, clustered_mean
from reports.stats.intervals import n_comparisons, sheet_kappa_intervals
from reports.stats.judge import with_judge
from reports.stats.pairs import Weights, pair_tables


@dataclass(frozen=True)
class OfSheet:
    """One sheet. kappa: the mean of its pairs' kappas, None where none is defined; interval: of it, by documents, None
    where none was asked for; alike: the share of equal answers over all its comparisons, by documents."""

    kappa: float | None
    interval: Interval | None
    alike: Mean


def people_by_sheet(
    people: Answers,
    intervals: Mapping[int, Interval],
    weights: Weights | None = None,
    *,
    bounds: ShareBounds = ShareBounds.LATEST,
) -> dict[int, OfSheet]:
    """Of each sheet in which two people share a cell. `intervals`: those of `sheet_kappa_intervals`. Empty where the
    comparisons are too many (`MAXIMUM_COMPARISONS`). `bounds`: see `clustered_mean`."""
    return _by_sheet(people, None, intervals, weights, bounds)


def judge_by_sheet(
    people: Answers,
    judge: Answers,
    weights: Weights | None = None,
    *,
    n_draws: int,
    seed: int,
    paired: bool = True,
    bounds: ShareBounds = ShareBounds.LATEST,
) -> dict[int, OfSheet]:
    """A judge held against each person by itself, as people are held against each other. No intervals of kappa with 0
    draws. `bounds`: see `clustered_mean`."""
    together, number = with_judge(people, judge)
    intervals = (
        sheet_kappa_intervals(together, weights, n_draws=n_draws, seed=seed, paired=paired, rater=number)
        if n_draws
        else {}
    )
    return _by_sheet(together, number, intervals, weights, bounds)


def _by_sheet(
    answers: Answers, rater: int | None, intervals: Mapping[int, Interval], weights: Weights | None, bounds: ShareBounds
) -> dict[int, OfSheet]:
    if not answers.cell.size or n_comparisons(answers) > MAXIMUM_COMPARISONS:
        return {}
    tables, by_document = pair_tables(answers), pair_tables(answers.in_sheets(answers.document))
    if rater is not None:
        tables, by_document = tables.of_rater(rater), by_document.of_rater(rater)
    kappas: dict[int, list[float]] = {sheet: [] for sheet in np.unique(tables.sheet).tolist()}
    for row in macro_kappa(tables, weights).rows:
        kappas[row.sheet] += [] if row.value is None else [row.value]
    documents, first = np.unique(answers.document, return_index=True)
    sheet_of = answers.sheet[first][np.searchsorted(documents, by_document.sheet)]
    found = {}
    for sheet, own in kappas.items():
        mine = sheet_of == sheet
        agreed, n, document = by_document.agreed[mine], by_document.n[mine], by_document.sheet[mine]
        alike = np.repeat(np.tile([1.0, 0.0], n.size), np.stack([agreed, n - agreed], axis=1).ravel())
        found[sheet] = OfSheet(
            sum(own) / len(own) if own else None,
            intervals.get(sheet),
            clustered_mean(alike, np.repeat(document, n), bounds=bounds),
        )
    return found
