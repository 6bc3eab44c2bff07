"""Macro kappa without the bias that small sheets give it.

Cohen's kappa takes chance from the raters' own margins. In a sheet of few documents both raters' margins move with the
same documents, so that chance is put too high and kappa too low: by some hundredths where a pair shares three of them,
by nothing where it shares a hundred. A mean over many small sheets keeps that bias however many sheets there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reports.stats.agreement import NO_PAIR_DEFINED, NO_TWO_ANSWERS
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import MAXIMUM_COMPARISONS, TOO_MANY_COMPARISONS
from reports.stats.distinct import distinct
from reports.stats.pairs import FloatArray, PairTables, Weights, disagreement_weights, pair_tables

ONE_DOCUMENT = "no pair of raters has a defined value over two documents of a sheet"

_COMPARISONS_AT_ONCE = 100_000  # a document has a table for each pair of its raters


@dataclass(frozen=True)
class CorrectedKappa:
    """Macro kappa with chance taken between different documents. bias: of the plain one, over the same pairs.

    n_pairs: sheet-pairs in the mean; n_left_out: others, that share one document only, or whose kappa is not defined.
    """

    value: float | None
    bias: float | None
    reason: str
    n_pairs: int
    n_left_out: int


def corrected_macro_kappa(answers: Answers, tables: PairTables, weights: Weights | None = None) -> CorrectedKappa:
    """The mean of `corrected_kappas`.

    Args:
        tables: `pair_tables(answers)`.
    """
    if tables.n_comparisons > MAXIMUM_COMPARISONS:
        return CorrectedKappa(None, None, TOO_MANY_COMPARISONS, 0, len(tables))
    kappas = corrected_kappas(answers, tables, weights)
    defined = ~np.isnan(kappas)
    if not defined.any():
        reason = NO_TWO_ANSWERS
        if len(tables):
            observed, expected = tables.disagreements(weights)
            reason = ONE_DOCUMENT if (expected > 0).any() else NO_PAIR_DEFINED
        return CorrectedKappa(None, None, reason, 0, len(tables))
    observed, expected = (sums[defined] for sums in tables.disagreements(weights))
    value = float(kappas[defined].mean())
    plain = float((1 - observed / expected).mean())
    return CorrectedKappa(value, plain - value, "", int(defined.sum()), int((~defined).sum()))


def corrected_kappas(answers: Answers, tables: PairTables, weights: Weights | None = None) -> FloatArray:
    """Kappa of each pair of `tables`, shape (n_pairs,), NaN where it shares one document only or kappa has no value.

    1 - observed / expected disagreement, where expected is the mean cost of what rater a said in one document and rater
    b in another: over all ordered pairs of different documents, an unbiased estimate of what chance gives where
    documents are drawn independently (a U-statistic; Hoeffding 1948).
    """
    if not len(tables):
        return np.zeros(0)
    cost = disagreement_weights(answers.n_options, weights)
    margin_a, margin_b = tables.margins()
    crossed = ((margin_a @ cost) * margin_b).sum(axis=1)
    pairs = tables.n.astype(np.float64) ** 2

    observed, _expected = tables.disagreements(weights)
    if distinct(answers.document).size == answers.by_cell.first.size:
        # Of one cell in each document, what a pair says in the same document is what it says in the same cell.
        return _corrected(observed, tables, crossed - observed, pairs - tables.n)
    size, raters = len(tables), distinct(answers.rater)
    known = _keys(tables.sheet, tables, raters)
    for some in _of_some_documents(answers):
        documents, of_document = np.unique(some.document, return_inverse=True)
        sheet_of = np.zeros(documents.size, dtype=np.int64)
        sheet_of[of_document] = some.sheet
        within = pair_tables(some.in_sheets(of_document))
        in_a, in_b = within.margins()
        group = np.searchsorted(known, _keys(sheet_of[within.sheet], within, raters))
        crossed -= np.bincount(group, ((in_a @ cost) * in_b).sum(axis=1), minlength=size)
        pairs -= np.bincount(group, within.n.astype(np.float64) ** 2, minlength=size)
    return _corrected(observed, tables, crossed, pairs)


def _corrected(observed: FloatArray, tables: PairTables, crossed: FloatArray, pairs: FloatArray) -> FloatArray:
    """Kappas, where `crossed` is the summed cost over `pairs` of different documents, all of shape (n_pairs,)."""
    expected = np.divide(crossed, pairs, out=np.full(len(tables), np.nan), where=(pairs > 0) & (crossed > 0))
    kappas: FloatArray = 1 - observed / tables.n / expected
    return kappas


def _of_some_documents(answers: Answers) -> Iterator[Answers]:
    """The answers in parts of whole documents, of about `_COMPARISONS_AT_ONCE` comparisons each. Every sum over them is
    one of whole numbers, so that it is the same however they are parted."""
    documents = distinct(answers.document)
    of_document = np.searchsorted(documents, answers.document).astype(np.int32)
    sizes = np.bincount(answers.by_cell.index)
    of_cells = np.bincount(of_document[answers.by_cell.first], sizes * (sizes - 1) // 2, minlength=documents.size)
    part = (np.cumsum(of_cells) // _COMPARISONS_AT_ONCE).astype(np.int32)[of_document]
    del of_document
    if part.max(initial=0) == 0:
        yield answers
        return
    for number in np.unique(part).tolist():
        yield answers.where(part == number)


def _keys(sheet: IntArray, tables: PairTables, raters: IntArray) -> IntArray:
    """One ascending number for (sheet, rater a, rater b)."""
    a, b = np.searchsorted(raters, tables.rater_a), np.searchsorted(raters, tables.rater_b)
    key: IntArray = (sheet * raters.size + a) * raters.size + b
    return key
