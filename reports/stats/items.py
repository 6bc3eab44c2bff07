"""Agreement on lists of records: entries that two raters share, and by how much the one list is edited into the other.

A list is seldom the same as another's as a whole; `annotation.answers.aligning` says which of its entries are. Counts
are summed over the lists that both raters made, so that long lists weigh more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.answers.aligning import Alignment, aligned, same_fields
from annotation.scheme.values import ItemsSpec
from reports.stats.answers import Answers
from reports.stats.bootstrap import N_DRAWS, By, Interval, resampling
from reports.stats.pairs import FloatArray

SHOWN_EDITS = 15  # of each kind, the most frequent


@dataclass(frozen=True)
class Edit:
    """`before` of the first rater, `after` of the second; None where an entry is added, or dropped. `n`: how often."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    n: int


@dataclass(frozen=True)
class ItemsAgreement:
    """Two raters' lists of the same cells.

    n_lists: cells that both answered, n_equal those with the same entries in any order; n_a, n_b: entries. same,
    changed: pairs of entries; dropped: of the first rater alone, added: of the second. f_same, f_matched: Dice's
    coefficient of entries that are the same, or paired at all, 2 n / (n_a + n_b). edit_rate: changed, dropped and added
    of the entries of both together, a pair once. fields: of each field the share of pairs that say the same in it.
    None where not defined; intervals of f_same, f_matched and edit_rate, empty where none were asked for.
    """

    a: int
    b: int
    n_lists: int
    n_equal: int
    n_a: int
    n_b: int
    same: int
    changed: int
    dropped: int
    added: int
    f_same: float | None
    f_matched: float | None
    edit_rate: float | None
    fields: tuple[float | None, ...]
    edits: tuple[Edit, ...]
    intervals: Mapping[str, Interval]


# Of each list: entries of a and b, those that are the same, changed, dropped, added.
_A, _B, _SAME, _CHANGED, _DROPPED, _ADDED = range(6)


def items_agreement(
    a: Answers,
    b: Answers,
    own: ItemsSpec,
    values: Sequence[Sequence[Mapping[str, Any]]],
    *,
    raters: tuple[int, int],
    by: By | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> ItemsAgreement | None:
    """
    Args:
        a, b: one rater's answers each, a list a cell.
        values: the list that each code stands for.
        raters: their numbers, for whoever reads it.
        by: what intervals draw; None makes none.

    Returns:
        None where they share no cell.
    """
    _cells, of_a, of_b = np.intersect1d(a.cell, b.cell, return_indices=True)
    if not of_a.size:
        return None
    pairs = [(values[a.code[x]], values[b.code[y]]) for x, y in zip(of_a, of_b, strict=True)]
    found = [aligned(own, one, other) for one, other in pairs]
    sums = np.array(
        [
            [len(one), len(other), len(at.same), len(at.changed), len(at.dropped), len(at.added)]
            for (one, other), at in zip(pairs, found, strict=True)
        ],
        dtype=np.float64,
    )
    shared = a.where(np.isin(np.arange(a.cell.size), of_a))
    total = sums.sum(axis=0)
    f_same, f_matched, rate = _rates(total[np.newaxis])[0].tolist()
    n = [int(count) for count in total]
    return ItemsAgreement(
        a=raters[0],
        b=raters[1],
        n_lists=len(pairs),
        n_equal=sum(not at.n_edits for at in found),
        n_a=n[_A],
        n_b=n[_B],
        same=n[_SAME],
        changed=n[_CHANGED],
        dropped=n[_DROPPED],
        added=n[_ADDED],
        f_same=_defined(f_same),
        f_matched=_defined(f_matched),
        edit_rate=_defined(rate),
        fields=_fields(own, pairs, found),
        edits=_edits(own, pairs, found),
        intervals=_intervals(shared, sums, by=by, n_draws=n_draws, seed=seed, expanded=expanded) if by else {},
    )


Lists = tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]


def _rates(sums: FloatArray) -> FloatArray:
    """f_same, f_matched and edit_rate of each line of sums, shape (n, 3); NaN where there are no entries."""
    entries = sums[:, _A] + sums[:, _B]
    edits = sums[:, _CHANGED] + sums[:, _DROPPED] + sums[:, _ADDED]
    matched = sums[:, _SAME] + sums[:, _CHANGED]
    together = sums[:, _SAME] + edits
    with np.errstate(divide="ignore", invalid="ignore"):
        rates: FloatArray = np.stack([2 * sums[:, _SAME] / entries, 2 * matched / entries, edits / together], axis=-1)
    return rates


def _intervals(
    shared: Answers, sums: FloatArray, *, by: By, n_draws: int, seed: int, expanded: bool
) -> dict[str, Interval]:
    """All of the same draws; `shared` has the cells in the order of `sums`."""
    names = ("f_same", "f_matched", "edit_rate")
    draws = resampling(shared, by, n_draws=n_draws, seed=seed, expanded=expanded)
    if draws.too_few:
        return {name: draws.without_draws() for name in names}
    per_cluster = np.zeros((draws.n_clusters, sums.shape[1]))
    np.add.at(per_cluster, draws.cluster_of(shared), sums)
    drawn = draws.draw(per_cluster, _rates)
    return {name: draws.interval(drawn[:, column]) for column, name in enumerate(names)}


def _fields(own: ItemsSpec, pairs: Sequence[Lists], found: Sequence[Alignment]) -> tuple[float | None, ...]:
    alike = [
        same_fields(own, one[x], other[y])
        for (one, other), at in zip(pairs, found, strict=True)
        for x, y in (*at.same, *at.changed)
    ]
    if not alike:
        return (None,) * len(own.said)
    return tuple(np.array(alike, dtype=np.float64).mean(axis=0).tolist())


def _edits(own: ItemsSpec, pairs: Sequence[Lists], found: Sequence[Alignment]) -> tuple[Edit, ...]:
    """The most frequent edits: what was changed, then what was dropped, then what was added."""
    kinds: tuple[Counter[tuple[Any, Any]], ...] = (Counter(), Counter(), Counter())
    for (one, other), at in zip(pairs, found, strict=True):
        kinds[0].update((_key(own, one[x]), _key(own, other[y])) for x, y in at.changed)
        kinds[1].update((_key(own, one[x]), None) for x in at.dropped)
        kinds[2].update((None, _key(own, other[y])) for y in at.added)
    return tuple(
        Edit(_record(own, before), _record(own, after), n)
        for kind in kinds
        for (before, after), n in sorted(kind.items(), key=lambda each: (-each[1], repr(each[0])))[:SHOWN_EDITS]
    )


def _key(own: ItemsSpec, record: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        value if isinstance(value, str) else tuple(value) for value in (record.get(field.key, "") for field in own.said)
    )


def _record(own: ItemsSpec, key: tuple[Any, ...] | None) -> dict[str, Any] | None:
    return None if key is None else dict(zip((field.key for field in own.said), key, strict=True))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else value
