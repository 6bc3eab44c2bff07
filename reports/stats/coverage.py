"""How much of what a model generated is found in documents: Kvapil and Fajčík's Figures 1-4 and its Tables 2 and 6.

An *item* is a column of a sheet: a thing that is looked for. Answers to it lie in the cells of the sheet's documents.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from reports.stats.answers import Answers, IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio

NO_ITEM = "no item has an answer"


@dataclass(frozen=True, eq=False)
class ItemDocuments:
    """In how many documents each item was found; arrays of shape (n_items,), by sheet and item.

    n_documents: documents in which somebody answered for the item; n_found: those in which one of them found it.
    """

    sheet: IntArray
    item: IntArray
    n_documents: IntArray
    n_found: IntArray


def item_documents(answers: Answers, item: npt.ArrayLike, found: Collection[int]) -> ItemDocuments:
    """Count, for each item, its documents and those in which it was found.

    Args:
        item: the column that each answer belongs to, shape (n_answers,), numbered within its sheet or over all.
        found: the options that count as found. Where two people answered in one document, either will do.
    """
    items = np.asarray(item, dtype=np.int64)
    is_found = np.isin(answers.code, list(found))
    of_item, keys = _items(answers, items)
    documents, document = np.unique(answers.document, return_inverse=True)
    visits, visit = np.unique(of_item * max(documents.size, 1) + document, return_inverse=True)
    found_there = np.bincount(visit, is_found, minlength=visits.size) > 0
    item_of_visit = visits // max(documents.size, 1)
    return ItemDocuments(
        sheet=keys[0],
        item=keys[1],
        n_documents=np.bincount(item_of_visit, minlength=keys.shape[1]),
        n_found=np.bincount(item_of_visit[found_there], minlength=keys.shape[1]),
    )


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """The expected share of items found at least once in n documents drawn from those of their sheet.

    n, mean, low, high, n_sheets: shape (n_points,). mean: over sheets, each counting alike; low and high: between them
    lies the share `band` of the sheets; n_sheets: those with an item that has n documents. pooled: over items, each
    counting alike. by_sheet: shape (n_sheets, n_points), NaN beyond a sheet's documents; sheets: their numbers.
    """

    n: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    pooled: FloatArray
    n_sheets: IntArray
    sheets: IntArray
    by_sheet: FloatArray
    band: float
    n_items: int
    reason: str


def coverage_curve(counts: ItemDocuments, *, band: float = 0.8) -> CoverageCurve:
    """The curves of Figures 1-4, exactly.

    An item found in K of its N documents is missed by all of n drawn ones with the hypergeometric probability
    C(N - K, n) / C(N, n), so it is found in at least one of them with 1 minus that. An item counts at n where it has n
    documents or more.

    Args:
        band: 0.8 for the 10 and 90 percentiles of the sheets.
    """
    sheets, sheet = np.unique(counts.sheet, return_inverse=True)
    size = int(counts.n_documents.max(initial=0))
    n = np.arange(1, size + 1)
    # Once for each pair (N, K) that occurs.
    pairs, pair = np.unique(np.stack([counts.n_documents, counts.n_found]), axis=1, return_inverse=True)
    found = found_within(pairs[0], pairs[1], size)
    has = n[np.newaxis] <= pairs[0][:, np.newaxis]

    times = np.bincount(sheet * pairs.shape[1] + pair.ravel(), minlength=sheets.size * pairs.shape[1])
    times = times.reshape(sheets.size, pairs.shape[1]).astype(np.float64)
    items = times @ has
    sums = times @ np.where(has, found, 0.0)
    by_sheet = ratio(sums, items)
    tails = [(1 - band) / 2, (1 + band) / 2]
    # Every point has a sheet: the one with the most documents.
    low, high = np.nanquantile(by_sheet, tails, axis=0) if size else np.zeros((2, 0))
    return CoverageCurve(
        n=n,
        mean=np.nanmean(by_sheet, axis=0) if size else np.zeros(0),
        low=low,
        high=high,
        pooled=sums.sum(axis=0) / items.sum(axis=0),
        n_sheets=(items > 0).sum(axis=0),
        sheets=sheets,
        by_sheet=by_sheet,
        band=band,
        n_items=counts.item.size,
        reason="" if size else NO_ITEM,
    )


def found_within(n_documents: IntArray, n_found: IntArray, size: int) -> FloatArray:
    """The probability that an item is found in at least one of n documents drawn from its own, for n = 1 to `size`.

    Args:
        n_documents, n_found: of each item, shape (n_items,).
    Returns:
        shape (n_items, size); beyond an item's documents what it is with all of them.
    """
    # C(N - K, n) / C(N, n) = product over j < n of (N - K - j) / (N - j)
    total, left = n_documents[:, np.newaxis], (n_documents - n_found)[:, np.newaxis]
    drawn = np.arange(size)[np.newaxis]
    factors = np.maximum(left - drawn, 0) / np.maximum(total - drawn, 1)
    # With all documents drawn, only what is found in none of them is left.
    missed: FloatArray = np.cumprod(np.where(drawn < total, factors, 1.0), axis=1, dtype=np.float64)
    return 1 - missed


class Verdict(StrEnum):
    """What all documents together say of an item."""

    FOUND = "found"
    INEXACTLY = "found only inexactly"
    NEVER = "never found"


@dataclass(frozen=True)
class ItemVerdict:
    """One item. counts[option]: answers with it, over all documents and people; n_documents: documents answered for.

    inexact_documents: those in which somebody found it, but nobody exactly.
    """

    sheet: int
    item: int
    verdict: Verdict
    counts: tuple[int, ...]
    n_answers: int
    n_documents: int
    inexact_documents: int


@dataclass(frozen=True)
class Verdicts:
    """All items, by sheet and item. never_exact: those of Tables 2 and 6, nowhere found exactly."""

    rows: tuple[ItemVerdict, ...]

    @property
    def never_exact(self) -> tuple[ItemVerdict, ...]:
        return tuple(row for row in self.rows if row.verdict != Verdict.FOUND)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)

    def share(self, verdict: Verdict) -> float | None:
        return self.count(verdict) / len(self.rows) if self.rows else None


def item_verdicts(
    answers: Answers, item: npt.ArrayLike, *, exact: Collection[int], inexact: Collection[int]
) -> Verdicts:
    """Each item's verdict: found exactly somewhere by somebody, only inexactly, or never.

    Args:
        item: the column of each answer, as in `item_documents`.
        exact: options that mean found as it stands ("Found"); inexact: that mean found in another form ("Found (not
            perfect)"). Options in neither count as not found.

    Raises:
        ValueError: an option is in both.
    """
    if set(exact) & set(inexact):
        raise ValueError("an option cannot mean found exactly and found inexactly")
    items = np.asarray(item, dtype=np.int64)
    of_item, keys = _items(answers, items)
    k = answers.n_options
    counts = np.bincount(of_item * k + answers.code, minlength=keys.shape[1] * k).reshape(-1, k)
    exactly = item_documents(answers, items, exact)
    somehow = item_documents(answers, items, [*exact, *inexact])
    rows = []
    for sheet, number, row, n_documents, n_exact, n_somehow in zip(
        keys[0].tolist(),
        keys[1].tolist(),
        counts.tolist(),
        exactly.n_documents.tolist(),
        exactly.n_found.tolist(),
        somehow.n_found.tolist(),
        strict=True,
    ):
        verdict = Verdict.FOUND if n_exact else Verdict.INEXACTLY if n_somehow else Verdict.NEVER
        rows.append(
            ItemVerdict(
                sheet=sheet,
                item=number,
                verdict=verdict,
                counts=tuple(row),
                n_answers=sum(row),
                n_documents=n_documents,
                inexact_documents=n_somehow - n_exact,
            )
        )
    return Verdicts(tuple(rows))


def _items(answers: Answers, item: IntArray) -> tuple[IntArray, IntArray]:
    """The place of each answer's item, and the items as (sheet, item), shape (2, n_items)."""
    if item.shape != answers.sheet.shape:
        raise ValueError("one item for each answer is needed")
    sheets, sheet = np.unique(answers.sheet, return_inverse=True)
    numbers, number = np.unique(item, return_inverse=True)
    # One integer for both: much faster than unique columns.
    keys, place = np.unique(sheet * max(numbers.size, 1) + number, return_inverse=True)
    return place, np.stack([sheets[keys // max(numbers.size, 1)], numbers[keys % max(numbers.size, 1)]])
