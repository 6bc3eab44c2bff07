"""Agreement on graphs: against counts by hand, and against a matcher that tries everything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.answers.states import graph_of
from reports.data.graphs import drawn as as_arrays
from reports.stats.graph.agreement import Counts, compare, mean_agreement
from reports.stats.graph.matching import maximum_matching
from reports.stats.graph.states import GIVEN, UNKNOWN, Drawn

NONE: dict[str, object] = {}


def state_graph(given: list[str], steps: list[list[dict[str, list[str]]]]) -> Drawn:
    return as_arrays(graph_of(given, steps))


def change(of: str, to: str) -> dict[str, list[str]]:
    return {"from": of.split(), "to": to.split()}


def alike(a: Drawn, b: Drawn, also: dict[tuple[str, str], float] | None = None) -> np.ndarray:
    """1 for equal names, else what `also` says, else 0."""
    known = {**(also or {})}
    return np.array([[1.0 if x == y else known.get((x, y), 0.0) for y in b.texts] for x in a.texts]).reshape(
        len(a.texts), len(b.texts)
    )


# --- graphs ---------------------------------------------------------------------------------------------------------


def test_a_part_that_stays_is_no_new_node_and_lives_on() -> None:
    graph = state_graph(
        ["flour", "water"],
        [
            [change("flour water", "dough"), change("flour", "flour")],
            [change("flour dough", "loaf")],
        ],
    )
    assert graph.texts == ("flour", "water", "dough", "loaf")
    assert graph.edges.tolist() == [[0, 2], [0, 3], [1, 2], [2, 3]]
    assert graph.step.tolist() == [GIVEN, GIVEN, 1, 2]
    split = state_graph(["flour"], [[change("flour", "Flour dough")], [change("flour", "dust")]])
    assert split.edges.tolist() == [[0, 1], [0, 2]]


def test_one_name_in_two_steps_is_two_nodes() -> None:
    graph = state_graph(
        ["egg"], [[change("egg", "batter")], [change("batter", "batter2")], [change("batter2", "batter")]]
    )
    assert graph.texts == ("egg", "batter", "batter2", "batter")
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_what_is_thrown_away_makes_nothing_and_what_is_not_there_is_unknown() -> None:
    graph = state_graph(
        ["egg"], [[change("egg", "yolk white")], [change("white", "")], [change("white yolk", "cream")]]
    )
    assert graph.n_made == 3
    assert graph.texts[-1] == "white"
    assert graph.step.tolist() == [GIVEN, 1, 1, 3, UNKNOWN]
    assert [4, 3] in graph.edges.tolist()


def test_several_become_one_of_the_name_of_one_of_them() -> None:
    graph = state_graph(["sauce", "salt"], [[change("sauce salt", "sauce")]])
    assert graph.texts == ("sauce", "salt", "sauce")
    assert graph.edges.tolist() == [[0, 2], [1, 2]]


# --- matching -------------------------------------------------------------------------------------------------------


def brute_force(similarity: np.ndarray, threshold: float) -> tuple[int, float]:
    """The most pairs that can be, and the largest sum of similarities of as many."""
    rows, columns = similarity.shape
    if rows > columns:
        return brute_force(similarity.T, threshold)
    best = (0, 0.0)
    for places in itertools.permutations(range(columns), rows):
        of = [similarity[row, column] for row, column in enumerate(places) if similarity[row, column] >= threshold]
        best = max(best, (len(of), float(sum(of))))
    return best


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 5),
    st.integers(0, 5),
    st.integers(0, 2**20),
    st.sampled_from([0.3, 0.5, 0.8]),
)
def test_matching_is_the_best_of_all_that_can_be(rows: int, columns: int, seed: int, threshold: float) -> None:
    similarity = np.random.default_rng(seed).integers(0, 11, size=(rows, columns)) / 10
    pairs = maximum_matching(similarity, threshold)
    assert len(set(pairs[:, 0].tolist())) == len(set(pairs[:, 1].tolist())) == len(pairs)
    values = similarity[pairs[:, 0], pairs[:, 1]]
    assert (values >= threshold).all()
    expected = brute_force(similarity, threshold) if similarity.size else (0, 0.0)
    assert (len(pairs), float(values.sum())) == (expected[0], pytest.approx(expected[1]))


def test_more_matches_count_before_better_ones() -> None:
    """Assigning first and cutting afterwards finds one here."""
    similarity = np.array([[1.0, 0.81], [0.82, 0.0]])
    assert maximum_matching(similarity, 0.8).tolist() == [[0, 1], [1, 0]]


# --- F1 by hand -----------------------------------------------------------------------------------------------------


def two_omelettes() -> tuple[Drawn, Drawn]:
    """Of two annotators; the second peels nothing, has another name for the onion, and adds the salt a step later."""
    given_ = ["egg", "onion", "salt", "butter"]
    first = state_graph(
        given_,
        [
            [change("egg salt", "beaten-egg"), change("onion", "chopped-onion peel")],
            [change("chopped-onion butter", "fried-onion")],
            [change("fried-onion beaten-egg", "omelette")],
        ],
    )
    second = state_graph(
        given_,
        [
            [change("egg", "beaten-egg"), change("onion", "onion-cubes")],
            [change("onion-cubes butter", "fried-onion")],
            [change("fried-onion beaten-egg salt", "omelette")],
        ],
    )
    return first, second


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        # The cubes are the chopped onion: M = beaten-egg, onion, fried-onion, omelette. First: 5 nodes, 8 edges, of
        # which onion -> peel is none of matched nodes; second: 4 nodes, 7 edges. Shared: egg -> beaten, onion ->
        # chopped, chopped -> fried, butter -> fried, fried -> omelette, beaten -> omelette.
        (0.80, Counts((5, 4), 4, (8, 7), (7, 7), 6)),
        # They are not: onion -> chopped and chopped -> fried drop out on both sides.
        (0.90, Counts((5, 4), 3, (8, 7), (5, 5), 4)),
    ],
)
def test_f1_equals_counts_by_hand(threshold: float, expected: Counts) -> None:
    first, second = two_omelettes()
    similarity = alike(first, second, {("chopped-onion", "onion-cubes"): 0.85})
    found = compare(first, second, similarity, threshold)
    assert found == expected
    node, matched, every = found.values
    assert node == pytest.approx(2 * expected.n_matched / 9)
    assert matched == pytest.approx(2 * expected.shared / sum(expected.inner))
    assert every == pytest.approx(2 * expected.shared / 15)
    turned = compare(second, first, similarity.T, threshold)
    assert turned.values == found.values


def test_nodes_are_matched_within_their_step_only() -> None:
    first = state_graph(["egg"], [[change("egg", "foam")], []])
    second = state_graph(["egg"], [[], [change("egg", "foam")]])
    found = compare(first, second, alike(first, second), 0.8)
    assert found.n_matched == 0
    assert found.values[0] == 0.0
    assert np.isnan(found.values[1])
    assert found.values[2] == 0.0


def test_nothing_on_both_sides_agrees_and_nothing_on_one_side_does_not() -> None:
    nothing, something = state_graph(["egg"], [[]]), state_graph(["egg"], [[change("egg", "foam")]])
    both = compare(nothing, nothing, alike(nothing, nothing), 0.8)
    assert both.values == (1.0, 1.0, 1.0)
    assert both.is_empty
    one = compare(nothing, something, alike(nothing, something), 0.8)
    assert one.values[0] == one.values[2] == 0.0
    assert not one.is_empty


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20))
def test_f1_equals_an_independent_count(seed: int) -> None:
    """Sets of names and steps, a matching by trying all, edges by lookup: another way to the same numbers."""
    rng = np.random.default_rng(seed)
    first, second = drawn(rng), drawn(rng)
    similarity = np.round(rng.random((len(first.texts), len(second.texts))), 3)
    found = compare(first, second, similarity, 0.5)
    assert found.n_matched == sum(
        brute_force(similarity[np.ix_(first.step == step, second.step == step)], 0.5)[0]
        for step in range(1, 5)
        if (first.step == step).any() and (second.step == step).any()
    )
    pairs = {}
    for step in range(1, 5):
        a, b = np.flatnonzero(first.step == step), np.flatnonzero(second.step == step)
        pairs |= {int(a[i]): int(b[j]) for i, j in maximum_matching(similarity[np.ix_(a, b)], 0.5)}
    pairs |= {at: at for at in range(4)}  # both were given the same four things
    back = set(pairs.values())
    e1, e2 = {tuple(e) for e in first.edges.tolist()}, {tuple(e) for e in second.edges.tolist()}
    inner1 = {e for e in e1 if e[0] in pairs and e[1] in pairs}
    inner2 = {e for e in e2 if e[0] in back and e[1] in back}
    shared = {(pairs[a], pairs[b]) for a, b in inner1} & inner2
    assert found.inner == (len(inner1), len(inner2))
    assert found.shared == len(shared)


def drawn(rng: np.random.Generator) -> Drawn:
    there = ["a", "b", "c", "d"]
    steps = []
    for step in range(1, 5):
        changes, left = [], list(there)
        for n in range(int(rng.integers(0, 3))):
            if len(left) < 1:
                break
            of = [left.pop(int(rng.integers(len(left)))) for _ in range(min(len(left), int(rng.integers(1, 3))))]
            several = int(rng.integers(1, 3)) if len(of) == 1 else 1
            to = [f"n{step}{n}{k}" for k in range(several)]
            changes.append({"from": of, "to": to})
            there = [name for name in there if name not in of] + to
        steps.append(changes)
    return state_graph(["a", "b", "c", "d"], steps)


# --- means ----------------------------------------------------------------------------------------------------------


def recipe(node: tuple[int, int, int], edge: tuple[int, int, int, int, int]) -> Counts:
    return Counts((node[0], node[1]), node[2], (edge[0], edge[1]), (edge[2], edge[3]), edge[4])


def test_the_mean_is_over_pairs_then_recipes_and_pooled_beside_it() -> None:
    compared = [
        (0, 0, {0.8: recipe((2, 2, 2), (2, 2, 2, 2, 2))}),
        (0, 0, {0.8: recipe((2, 2, 1), (2, 2, 1, 1, 1))}),
        (1, 1, {0.8: recipe((4, 4, 0), (4, 4, 0, 0, 0))}),
    ]
    found = mean_agreement(compared, NONE)
    node, matched, every = (found.means[0.8, name] for name in ("nodes", "matched", "all"))
    assert node.value == pytest.approx((0.75 + 0) / 2)
    assert node.pooled == pytest.approx(6 / 16)
    assert (matched.value, matched.n, matched.n_undefined) == (1.0, 1, 1)
    assert every.value == pytest.approx((0.75 + 0) / 2)
    assert found.n_compared == 2


def test_intervals_draw_recipes() -> None:
    rng = np.random.default_rng(5)
    compared = [
        (of, of // 2, {0.8: recipe((10, 10, int(rng.integers(3, 11))), (9, 9, 8, 8, int(rng.integers(2, 9))))})
        for of in range(40)
    ]
    how = {"by": "document", "n_draws": 500, "seed": 1, "expanded": True}
    mean = mean_agreement(compared, how).means[0.8, "nodes"]
    assert mean.interval is not None
    assert mean.value is not None
    assert mean.interval.n_clusters == 40
    assert mean.interval.low is not None
    assert mean.interval.high is not None
    assert mean.interval.low < mean.value < mean.interval.high
    spread = np.array([of[2][0.8].values[0] for of in compared]).std(ddof=1) / np.sqrt(40)
    assert mean.interval.standard_error == pytest.approx(spread, rel=0.12)
    of_sheets = mean_agreement(compared, {**how, "by": "sheet"}).means[0.8, "nodes"].interval
    assert of_sheets is not None
    assert of_sheets.n_clusters == 20
    few: Sequence[tuple[int, int, dict[float, Counts]]] = compared[:5]
    interval = mean_agreement(few, how).means[0.8, "nodes"].interval
    assert interval is not None
    assert interval.low is None
    assert interval.reason
