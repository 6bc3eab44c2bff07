"""The order of generators: by means, by Bradley-Terry; what length and place have to do with ratings; how much would
have been enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratings.arrays import (
    NOTHING,
    Draws,
    Estimate,
    Ratings,
    column_means,
    difference,
    mean,
    slope,
)
from reports.stats.ratings.judges import corrected, own_texts

_ROUNDS = 500
# Half a win for each of two that were compared: without it, who never lost would be infinitely strong.
_PRIOR = 0.5
# By how much more instructions a difference is found with a power of 80 %, and not of 50 %: ((z.975 + z.80) / z.975)².
_POWER = ((1.959964 + 0.841621) / 1.959964) ** 2


@dataclass(frozen=True)
class Ranked:
    """A generator. mean: over all judges; fair: of ratings corrected for leniency and spread, without judges of its own
    family; strength: Bradley and Terry's, in logits around the mean of all; rank: by mean, from 1; rank_low, rank_high:
    in 95 % of the draws, None where nothing was drawn."""

    generator: int
    mean: Estimate
    fair: Estimate
    strength: Estimate
    rank: int
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True)
class Compared:
    """Two generators on the same instructions. known: the interval leaves nothing out; needed: how many instructions
    would be enough to know four times of five (once in two where no power was asked for), if the difference is what it
    seems; None where it seems to be none."""

    first: int
    second: int
    difference: Estimate
    known: bool
    needed: int | None


@dataclass(frozen=True)
class Ranking:
    ranked: tuple[Ranked, ...]  # by their means, the best first
    compared: tuple[Compared, ...]


def ranking(
    ratings: Ratings,
    judges: Sequence[str],
    generators: Sequence[str],
    draws: Draws,
    *,
    family_of: Sequence[str],
    power: bool = True,
    exact: bool = True,
) -> Ranking:
    """
    Args:
        judges: the family of each judge; family_of: of each generator, in the order of `generators`; power: whether
            what is needed is enough four times of five, or one time of two, and judges that nothing connects have no
            corrected means: both from methods 5 on; exact: as of `judges.additive`.
    """
    k = len(generators)
    y, g, cluster = ratings.item_means, ratings.generator, ratings.cluster
    own = own_texts(ratings, judges, family_of)
    fair = corrected(ratings, own, connected=power, exact=exact)
    fair_of = column_means(np.where(own, np.nan, fair))
    means = [mean(y[g == one], cluster[g == one]).within(*ratings.ends) for one in range(k)]
    drawn = _drawn_means(y, g, cluster, k, draws)
    ranks = _ranks(drawn)
    strengths = bradley_terry(ratings, k, draws)
    whole = ranks[0]
    ranked = []
    for one in range(k):
        ends = np.quantile(ranks[1:, one], [0.025, 0.975], method="nearest") if ranks.shape[0] > 1 else None
        ranked.append(
            Ranked(
                generator=one,
                mean=means[one],
                fair=mean(fair_of[g == one], cluster[g == one]).within(*ratings.ends),
                strength=strengths[one],
                rank=int(whole[one]),
                rank_low=int(ends[0]) if ends is not None else None,
                rank_high=int(ends[1]) if ends is not None else None,
            )
        )
    ranked.sort(key=lambda one: (one.rank, one.generator))
    compared = []
    for place, first in enumerate(ranked):
        for second in ranked[place + 1 :]:
            a, b = g == first.generator, g == second.generator
            of = difference(y[a], y[b], cluster[a], cluster[b])
            found = _compared(first.generator, second.generator, of, power=power)
            compared.append(replace(found, difference=of.within(-ratings.width, ratings.width)))
    return Ranking(tuple(ranked), tuple(compared))


def _compared(first: int, second: int, of: Estimate, *, power: bool = True) -> Compared:
    known = of.low is not None and of.high is not None and (of.low > 0 or of.high < 0)
    needed = None
    if of.value is not None and of.half_width and abs(of.value) > 1e-9:
        clusters = of.n_clusters * _POWER if power else of.n_clusters
        needed = max(2, math.ceil(clusters * (of.half_width / abs(of.value)) ** 2))
    return Compared(first, second, of, known, needed)


def _drawn_means(y: FloatArray, g: IntArray, cluster: IntArray, k: int, draws: Draws) -> FloatArray:
    known = ~np.isnan(y)
    columns = [np.where(known & (g == one), y, 0.0) for one in range(k)]
    columns += [(known & (g == one)).astype(np.float64) for one in range(k)]
    sums = draws.sums(np.column_stack([np.nan_to_num(column) for column in columns]), cluster)
    n = sums[:, k:]
    means: FloatArray = np.divide(sums[:, :k], n, out=np.full(n.shape, -np.inf), where=n > 0)
    return means


def _ranks(means: FloatArray) -> IntArray:
    """1 for the highest of each line; equal ones share the best place."""
    ranks: IntArray = (means[:, :, np.newaxis] < means[:, np.newaxis, :] - 1e-12).sum(axis=2) + 1
    return ranks


def bradley_terry(ratings: Ratings, k: int, draws: Draws) -> list[Estimate]:
    """Strengths in logits around their mean: each judge's means of repeats of two texts for one instruction are a
    comparison, a tie counts half for both (Bradley and Terry 1952; fitted by Hunter's MM algorithm, 2004)."""
    wins, clusters = _wins(ratings, k)
    if not clusters.size:
        return [NOTHING] * k
    sums = draws.sums(wins, clusters).reshape(-1, k, k)
    met = (sums + sums.transpose(0, 2, 1))[0] > 0
    won = sums + _PRIOR * met
    total = won + won.transpose(0, 2, 1)
    of_each = won.sum(axis=2)
    p = np.ones((won.shape[0], k))
    for _round in range(_ROUNDS):
        new = of_each / np.maximum((total / (p[:, :, np.newaxis] + p[:, np.newaxis, :])).sum(axis=2), 1e-12)
        new = np.maximum(new, 1e-12)
        new /= np.exp(np.log(new).mean(axis=1, keepdims=True))
        if np.abs(new - p).max() < 1e-8:
            break
        p = new
    logits = np.log(np.maximum(p, 1e-12))
    logits -= logits.mean(axis=1, keepdims=True)
    n, n_clusters = round(float(sums[0].sum())), int(np.unique(clusters).size)
    alone = ~met.any(axis=1)
    return [NOTHING if alone[one] else draws.read(logits[:, one], n=n, n_clusters=n_clusters) for one in range(k)]


def _wins(ratings: Ratings, k: int) -> tuple[FloatArray, IntArray]:
    """wins[i, a·k + b]: by how many judges a beat b at the instruction `clusters[i]`."""
    table = np.full((len(ratings.raters), ratings.n_clusters, k), np.nan)
    written = ratings.generator >= 0
    table[:, ratings.cluster[written], ratings.generator[written]] = ratings.means[:, written]
    a, b = table[:, :, :, np.newaxis], table[:, :, np.newaxis, :]
    won = np.where(np.isnan(a) | np.isnan(b), 0.0, (a > b + 1e-9) + 0.5 * (np.abs(a - b) <= 1e-9))
    won[:, :, np.arange(k), np.arange(k)] = 0
    return won.sum(axis=0).reshape(ratings.n_clusters, k * k), np.arange(ratings.n_clusters)


# --- what has nothing to do with the text's worth ---------------------------------------------------------------------


@dataclass(frozen=True)
class Effects:
    """length: by how much a text twice as long is rated higher, of the same instruction, generators' own lengths and
    worth taken out; position: by how much each place further back among the texts of its instruction. None where it is
    not known, or the same everywhere."""

    length: Estimate | None
    position: Estimate | None


def effects(y: FloatArray, ratings: Ratings) -> Effects:
    """`y`: a rating of each text, shape (n_items,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        doubled = np.where(ratings.words > 0, np.log2(ratings.words), np.nan)
    return Effects(_within(doubled, y, ratings), _within(ratings.position, y, ratings))


def _within(x: FloatArray, y: FloatArray, ratings: Ratings) -> Estimate | None:
    known = ~np.isnan(x) & ~np.isnan(y)
    if known.sum() < 3:
        return None
    cluster, generator = ratings.cluster[known], ratings.generator[known]
    u, v = (_without(values[known], cluster, generator) for values in (x, y))
    found = slope(u, v, cluster)
    return None if found.value is None else found


def _without(x: FloatArray, cluster: IntArray, generator: IntArray) -> FloatArray:
    """Without the means of instructions and of generators, taken out in turns."""
    left: FloatArray = x - x.mean()
    for _round in range(_ROUNDS):
        before = left
        for group in (cluster, generator + 1):
            n = np.bincount(group)
            left = left - np.divide(np.bincount(group, weights=left), n, out=np.zeros(n.size), where=n > 0)[group]
        if np.abs(left - before).max() < 1e-9:
            break
    return left


def reliability(single: float, n: int) -> float:
    """Of the mean of n ratings, of which one has the reliability `single` (Spearman and Brown)."""
    return n * single / (1 + (n - 1) * single)


def ratings_needed(single: float | None, wanted: float) -> int | None:
    """How many ratings make a mean of the reliability `wanted`; None where no number would."""
    if single is None or single <= 0:
        return None
    if single >= 1:
        return 1
    return max(1, math.ceil(round(wanted * (1 - single) / (single * (1 - wanted)), 9)))
