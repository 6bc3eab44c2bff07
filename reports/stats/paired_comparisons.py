"""Paired comparisons: somebody said which of two systems' texts is better, and systems are put in order by it.

A tie counts half for both. Comparisons of texts for one item are alike, so items are what varies: they are drawn by the
bootstrap, and sums of residuals go by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratings.arrays import NOTHING, Draws, Estimate, mean, slope
from reports.stats.spa import EVEN, Assessments, Spa, spa

_ROUNDS, _CLOSE = 200, 1e-9
_LONGEST_STEP = 3.0  # logits: far from the end a step may be too long
_AT_ONCE = 250  # draws
# Half a win for each of two that were compared: without it, who never lost would be infinitely strong.
_PRIOR = 0.5
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Comparisons:
    """left, right: the numbers of the two systems that stood there; value: 1 the left one is better, 0 the right one,
    0.5 a tie; item, rater: of whose texts, and who said it. All of shape (n,), one judgement each."""

    left: IntArray
    right: IntArray
    value: FloatArray
    item: IntArray
    rater: IntArray

    def only(self, chosen: np.ndarray) -> Comparisons:
        return Comparisons(*(of[chosen] for of in (self.left, self.right, self.value, self.item, self.rater)))

    @property
    def n(self) -> int:
        return int(self.value.size)

    def of_two(self, first: int, second: int) -> Spa:
        """How far the first of two systems is preferred to the second, whatever side it stood on."""
        return self._held(self._of_two(first, second))

    def shares_of_two(self, first: int, second: int) -> tuple[float, float, float]:
        """Shares of judgements in which the first of two systems wins, ties and loses; (n > 0)."""
        value = self._of_two(first, second)[0]
        return tuple(float(of.mean()) for of in (value > 0.5, value == 0.5, value < 0.5))  # type: ignore[return-value]

    def met(self, first: int, second: int) -> bool:
        return bool(self._of_two(first, second)[0].size)

    def of_left(self) -> Estimate:
        """How far the left side is preferred, whoever stood there: a half and the slope of the first system's winning
        on its standing left, over each two systems by themselves, so that it makes no difference if the better one was
        drawn left more often. NOTHING where each two always stood alike.

        >>> both_ways = np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0])
        >>> def said(*value: float) -> Estimate:
        ...     return Comparisons(*both_ways, np.array(value), np.arange(4), np.zeros(4, dtype=int)).of_left()
        >>> said(1, 0, 1, 0).value, said(1, 1, 1, 1).value  # always the system 0; always the left one
        (0.5, 1.0)
        """
        first = np.minimum(self.left, self.right)
        pair = np.unique(first * (self.n_systems + 1) + np.maximum(self.left, self.right), return_inverse=True)[1]
        on_left = np.where(self.left == first, 1.0, -1.0)
        wins = np.where(self.left == first, self.value, 1 - self.value)
        found = slope(_within(on_left, pair), _within(wins, pair), self.item)
        if found.value is None:
            return NOTHING
        low, high = (None if end is None else EVEN + end for end in (found.low, found.high))
        return Estimate(EVEN + found.value, low, high, self.n, found.n_clusters).within(0.0, 1.0)

    @property
    def n_systems(self) -> int:
        return int(max(self.left.max(initial=-1), self.right.max(initial=-1))) + 1

    def of_longer(self, words_left: FloatArray, words_right: FloatArray) -> Spa:
        """How far the text with more words is preferred, where they differ and are known; both of shape (n,)."""
        apart = ~np.isnan(words_left) & ~np.isnan(words_right) & (words_left != words_right)
        value = np.where(words_left > words_right, self.value, 1 - self.value)
        return self._held((value[apart], apart))

    def _of_two(self, first: int, second: int) -> tuple[FloatArray, np.ndarray]:
        there = (self.left == first) & (self.right == second)
        turned = (self.left == second) & (self.right == first)
        value = np.where(turned, 1 - self.value, self.value)
        return value[there | turned], there | turned

    def _held(self, of: tuple[FloatArray, np.ndarray]) -> Spa:
        value, chosen = of
        return spa(Assessments(value, self.item[chosen], self.rater[chosen]))


def _within(values: FloatArray, group: IntArray) -> FloatArray:
    """Without the means of groups."""
    means: FloatArray = np.bincount(group, weights=values) / np.bincount(group)
    return values - means[group]


@dataclass(frozen=True)
class Standing:
    """A system. share: in how many of its judgements it is preferred, ties half; strength: Bradley and Terry's, in
    logits around the mean of all, NOTHING where some systems are connected by no comparison; rank: by strength, from 1,
    by share where there is none; rank_low, rank_high: in 95 % of the draws, None where nothing was drawn; n:
    judgements."""

    system: int
    share: Estimate
    strength: Estimate
    rank: int
    rank_low: int | None
    rank_high: int | None
    n: int


def standings(of: Comparisons, k: int, draws: Draws) -> tuple[Standing, ...]:
    """The systems that were compared, the best first. `draws`: of the items.

    >>> value, nobody = np.array([1.0, 0.0, 0.5]), np.zeros(3, dtype=int)  # 0 beats 1, 1 beats 2, 0 and 2 tie
    >>> three = Comparisons(np.array([0, 2, 0]), np.array([1, 1, 2]), value, np.arange(3), nobody)
    >>> [(one.system, one.rank, one.share.value) for one in standings(three, 3, Draws.of(3, n_draws=0))]
    [(0, 1, 0.75), (1, 2, 0.5), (2, 3, 0.25)]
    """
    won = wins(of, k, draws.weights.shape[0])
    met = (won + won.transpose(0, 2, 1)).sum(axis=0) > 0
    there = np.flatnonzero(met.any(axis=1))
    shares = [_share(of, one) for one in range(k)]
    if not are_connected(met):
        by_share = np.array([share.value if share.value is not None else -np.inf for share in shares])
        return _in_order(there, shares, [NOTHING] * k, by_share[np.newaxis, :], of)
    logits = strengths(draws.drawn(won.reshape(won.shape[0], k * k)).reshape(-1, k, k))
    told = [draws.read(logits[:, one], n=share.n, n_clusters=share.n_clusters) for one, share in enumerate(shares)]
    return _in_order(there, shares, told, logits, of)


def _in_order(
    there: IntArray, shares: Sequence[Estimate], told: Sequence[Estimate], worth: FloatArray, of: Comparisons
) -> tuple[Standing, ...]:
    """`worth`: of each draw, the whole first, shape (1 + n_draws, k)."""
    own = worth[:, there]
    ranks = (own[:, :, np.newaxis] < own[:, np.newaxis, :] - _SAME).sum(axis=2) + 1
    made = []
    for place, system in enumerate(there.tolist()):
        ends = np.quantile(ranks[1:, place], [0.025, 0.975], method="nearest") if ranks.shape[0] > 1 else None
        made.append(
            Standing(
                system=system,
                share=shares[system],
                strength=told[system],
                rank=int(ranks[0, place]),
                rank_low=None if ends is None else int(ends[0]),
                rank_high=None if ends is None else int(ends[1]),
                n=shares[system].n,
            )
        )
    return tuple(sorted(made, key=lambda one: (one.rank, one.system)))


def _share(of: Comparisons, system: int) -> Estimate:
    left, right = of.left == system, of.right == system
    value = np.concatenate([of.value[left], 1 - of.value[right]])
    return mean(value, np.concatenate([of.item[left], of.item[right]])).within(0.0, 1.0)


def wins(of: Comparisons, k: int, n_items: int) -> FloatArray:
    """won[i, a, b]: how often a beat b in comparisons of the item i, ties half; shape (n_items, k, k)."""
    won = np.zeros((n_items, k, k))
    np.add.at(won, (of.item, of.left, of.right), of.value)
    np.add.at(won, (of.item, of.right, of.left), 1 - of.value)
    return won


def are_connected(met: np.ndarray) -> bool:
    """Whether comparisons lead from each of those that were compared to each other one. `met`: (k, k), symmetric."""
    there = np.flatnonzero(met.any(axis=1))
    if not there.size:
        return False
    reached, ahead = {int(there[0])}, [int(there[0])]
    while ahead:
        for other in np.flatnonzero(met[ahead.pop()]).tolist():
            if other not in reached:
                reached.add(other)
                ahead.append(other)
    return len(reached) == there.size


def strengths(won: FloatArray) -> FloatArray:
    """Bradley and Terry's strengths (1952) in logits around their mean, of each draw, by Newton's method: where few
    comparisons connect systems, or one hardly ever loses, it is there in some steps, and Hunter's algorithm is not in
    hundreds.

    Args:
        won: how often the one beat the other, ties half, shape (n_draws, k, k); the first draw, in which all are, says
            who met. Comparisons connect all systems that met any (`are_connected`).

    Returns:
        Shape (n_draws, k); 0 of systems that met none.
    """
    met = (won + won.transpose(0, 2, 1))[0] > 0
    there = np.flatnonzero(met.any(axis=1))
    found = np.zeros(won.shape[:2])
    if there.size:
        prior = _PRIOR * met[np.ix_(there, there)]
        for begin in range(0, won.shape[0], _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            found[some, there] = _fitted(won[some][:, there][:, :, there] + prior)
    return found


def _fitted(won: FloatArray) -> FloatArray:
    """Of systems that comparisons connect; shape (n_draws, k)."""
    total, of_each = won + won.transpose(0, 2, 1), won.sum(axis=2)
    k = won.shape[1]
    at = np.zeros(won.shape[:2])
    for _round in range(_ROUNDS):
        likely = 1 / (1 + np.exp(at[:, np.newaxis, :] - at[:, :, np.newaxis]))
        slope_of_each = of_each - (total * likely).sum(axis=2)
        # The curvature, whose rows sum to nothing: what is added to all of it keeps the mean where it is.
        curved = -total * likely * (1 - likely) + 1 / k
        curved[:, range(k), range(k)] -= curved.sum(axis=2) - 1
        step = np.linalg.solve(curved, slope_of_each[:, :, np.newaxis])[:, :, 0]
        at += step / np.maximum(np.abs(step).max(axis=1, keepdims=True) / _LONGEST_STEP, 1)
        if np.abs(step).max() < _CLOSE:
            break
    centred: FloatArray = at - at.mean(axis=1, keepdims=True)
    return centred


@dataclass(frozen=True)
class OrderedAlike:
    """alike: of `n` pairs of systems that both put in an order, those in which it is the same; tau: Kendall's τ_b of
    the two orders, None with fewer than two such systems or where one order has ties alone."""

    alike: int
    n: int
    tau: float | None


def ordered_alike(one: Sequence[Standing], other: Sequence[Standing]) -> OrderedAlike:
    """How far two raters put systems in the same order.

    >>> a = [Standing(s, NOTHING, NOTHING, r, None, None, 1) for s, r in ((0, 1), (1, 2), (2, 3))]
    >>> b = [Standing(s, NOTHING, NOTHING, r, None, None, 1) for s, r in ((0, 1), (1, 3), (2, 2))]
    >>> found = ordered_alike(a, b)
    >>> found.alike, found.n, round(found.tau, 3)
    (2, 3, 0.333)
    """
    first, second = ({of.system: of.rank for of in side} for side in (one, other))
    both = [(first[system], second[system]) for system in first if system in second]
    signs = np.array(
        [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for place, a in enumerate(both) for b in both[place + 1 :]]
    ).reshape(-1, 2)
    told = (signs != 0).all(axis=1)
    below = float(np.sqrt((signs[:, 0] != 0).sum() * (signs[:, 1] != 0).sum()))
    return OrderedAlike(
        alike=int((signs[told, 0] == signs[told, 1]).sum()),
        n=int(told.sum()),
        tau=float(signs.prod(axis=1).sum() / below) if below else None,
    )
