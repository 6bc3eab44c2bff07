"""Paired comparisons against other ways of computing them: a logistic regression, and a regression with a pair's own
means."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from reports.stats.paired_comparisons import Comparisons, are_connected, standings, strengths, wins
from reports.stats.ratings.arrays import Draws


def drawn(seed: int, *, k: int = 4, n_items: int = 60, place: float = 0.0) -> Comparisons:
    """Each two systems for each item, sides drawn; by strengths, and by a liking for the left side in logits."""
    random = np.random.default_rng(seed)
    worth = random.normal(size=k)
    left, right, value, item = [], [], [], []
    for of_item in range(n_items):
        for a, b in itertools.combinations(range(k), 2):
            first, second = (a, b) if random.random() < 0.5 else (b, a)
            wins_left = random.random() < 1 / (1 + np.exp(-(worth[first] - worth[second] + place)))
            left.append(first)
            right.append(second)
            value.append(0.5 if random.random() < 0.2 else float(wins_left))
            item.append(of_item)
    n = len(item)
    return Comparisons(np.array(left), np.array(right), np.array(value), np.array(item), np.zeros(n, dtype=np.int64))


@pytest.mark.parametrize("seed", range(4))
def test_strengths_are_those_of_a_logistic_regression(seed: int) -> None:
    """Bradley and Terry's model is a logistic regression on which of two stood there, a tie being half of both; half a
    win for each two that met is a pseudo-count on both sides."""
    of, k = drawn(seed), 4
    rows, said, weights = [], [], []

    def add(a: int, b: int, value: float, weight: float) -> None:
        line = np.zeros(k)
        line[a], line[b] = 1, -1
        for outcome, share in ((1, value), (0, 1 - value)):
            rows.append(line)
            said.append(outcome)
            weights.append(weight * share)

    for a, b, value in zip(of.left, of.right, of.value, strict=True):
        add(int(a), int(b), float(value), 1.0)
    for a, b in itertools.combinations(range(k), 2):
        add(a, b, 0.5, 1.0)
    fitted = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10, max_iter=10_000)
    fitted.fit(np.array(rows), np.array(said), sample_weight=np.array(weights))
    expected = fitted.coef_[0] - fitted.coef_[0].mean()

    found = strengths(wins(of, k, 60).sum(axis=0)[np.newaxis])[0]

    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("place", [0.0, 1.5])
def test_a_place_is_liked_or_not_whoever_stood_there(place: float) -> None:
    of = drawn(3, place=place)
    found = of.of_left()
    # By hand: of each two systems how often the first wins standing left, less how often it does standing right.
    total = weight = 0.0
    for a, b in itertools.combinations(range(4), 2):
        there = ((of.left == a) & (of.right == b), (of.left == b) & (of.right == a))
        on_left, on_right = of.value[there[0]].mean(), (1 - of.value[there[1]]).mean()
        n_left, n_right = there[0].sum(), there[1].sum()
        own = n_left * n_right / (n_left + n_right)
        total, weight = total + own * (on_left - on_right), weight + own
    assert found.value == pytest.approx(0.5 + total / weight / 2)
    assert found.low is not None
    assert found.high is not None
    assert (found.low > 0.5) == (place > 0)
    assert found.low < found.value < found.high  # type: ignore[operator]


def test_intervals_of_strengths_hold_what_they_promise() -> None:
    """Of 60 draws of judgements from known strengths, the interval has the true difference of the first two in about
    95 % of them."""
    worth = np.random.default_rng(5).normal(size=3)
    worth -= worth.mean()
    held = 0
    for seed in range(60):
        random = np.random.default_rng(100 + seed)
        pairs = [(i, a, b) for i in range(60) for a, b in itertools.combinations(range(3), 2)]
        item, left, right = (np.array(of) for of in zip(*pairs, strict=True))
        value = (random.random(len(pairs)) < 1 / (1 + np.exp(worth[right] - worth[left]))).astype(float)
        of = Comparisons(left, right, value, item, np.zeros(len(pairs), dtype=np.int64))
        told = {one.system: one.strength for one in standings(of, 3, Draws.of(60, n_draws=200))}
        held += told[0].low <= worth[0] <= told[0].high  # type: ignore[operator]
    assert 52 <= held <= 60


def test_whom_comparisons_connect() -> None:
    met = np.zeros((4, 4), dtype=bool)
    met[0, 1] = met[1, 0] = True
    assert are_connected(met)  # systems that nobody compared are none of it
    met[2, 3] = met[3, 2] = True
    assert not are_connected(met)
    met[1, 2] = met[2, 1] = True
    assert are_connected(met)
    assert not are_connected(np.zeros((2, 2), dtype=bool))


def test_who_never_lost_is_strong_but_not_without_end() -> None:
    n = 20
    of = Comparisons(
        np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64), np.ones(n), np.arange(n), np.zeros(n, dtype=np.int64)
    )
    first, second = standings(of, 2, Draws.of(n, n_draws=100))
    assert (first.system, first.rank, first.share.value, second.share.value) == (0, 1, 1.0, 0.0)
    assert first.strength.value == pytest.approx(np.log(20.5 / 0.5) / 2)
    assert of.of_left().value is None  # the first always stood left: nothing is known of the place


def test_strengths_along_a_chain_are_those_of_each_link_by_itself() -> None:
    """Twelve systems, each held against the next alone, 25 wins to none: a link's difference is log((25 + ½) / ½). Far
    apart as the ends are, the fit gets there."""
    won = np.zeros((1, 13, 13))
    won[0, range(11), range(1, 12)] = 25.0
    found = strengths(won)[0]
    assert -np.diff(found[:12]) == pytest.approx(np.full(11, np.log(25.5 / 0.5)), abs=1e-6)
    assert found[12] == 0.0  # nobody met it
    assert found.sum() == pytest.approx(0.0, abs=1e-6)
