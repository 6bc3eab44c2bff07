"""Marked words held against each other: counted by hand, and by trying everything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.scheme.values import ItemsSpec
from reports.stats import places
from reports.stats.answers import Answers
from reports.stats.bootstrap import TOO_FEW_CLUSTERS
from reports.stats.places import (
    NO_SPANS,
    Counted,
    SpansAgreement,
    marked,
    overlapping,
    spans_agreement,
    ways_of,
)

OWN = ItemsSpec.model_validate(
    {
        "fields": [
            {"key": "words"},
            {"key": "type", "options": ["person", "location"]},
            {"key": "at", "place": True},
        ]
    }
)
PLACES, WITH_TYPE, PERSON, LOCATION = ways_of(OWN)

Record = dict[str, Any]


def entry(at: str, of_type: str = "location") -> Record:
    return {"words": "any", "type": of_type, "at": at}


def answers(codes: Sequence[int], *, cells: Sequence[int] | None = None, rater: int = 0) -> Answers:
    cells = range(len(codes)) if cells is None else cells
    return Answers.from_long(
        rater=[rater] * len(codes),
        cell=list(cells),
        sheet=[0] * len(codes),
        code=list(codes),
        n_options=max([*codes, 0]) + 1,
    )


def agreement(
    a: Sequence[Sequence[Record]], b: Sequence[Sequence[Record]], counted: Counted = PLACES, **arguments: Any
) -> SpansAgreement:
    """Of two raters who both made these lists."""
    lists = [marked(OWN, records, counted) for records in (*a, *b)]
    pair = answers(range(len(a))), answers(range(len(a), len(a) + len(b)))
    found = spans_agreement([pair], lists, **arguments)
    assert found is not None
    return found


def f1s(found: SpansAgreement) -> tuple[float | None, ...]:
    return found.exact.f1, found.overlap.f1, found.characters.f1


# "Lech Walesa flew from Gdansk to New York." One: Lech Walesa (0-11), Gdansk (22-28), New York (32-40). The other:
# Walesa (5-11) as a location, Gdansk, and York (36-40).
ONE = [entry("0:0-11", "person"), entry("0:22-28"), entry("0:32-40")]
OTHER = [entry("0:5-11"), entry("0:22-28"), entry("0:36-40")]


def test_places_alone() -> None:
    """One span is the same of 3 + 3, all three overlap; of 25 and 16 characters 16 are the same."""
    found = agreement([ONE], [OTHER])
    assert (found.n_lists, found.n_a, found.n_b) == (1, 3, 3)
    assert f1s(found) == pytest.approx((2 / 6, 6 / 6, 2 * 16 / 41))
    assert (found.characters.precision, found.characters.recall) == pytest.approx((16 / 25, 1))


def test_places_with_options() -> None:
    """Walesa is a person to the one and a location to the other: 2 of 3 + 3 overlap, 10 of 25 + 16 characters."""
    assert f1s(agreement([ONE], [OTHER], WITH_TYPE)) == pytest.approx((2 / 6, 4 / 6, 20 / 41))


def test_each_option_for_itself() -> None:
    """Locations: 2 of the one, 3 of the other. Persons: one alone has any."""
    assert f1s(agreement([ONE], [OTHER], LOCATION)) == pytest.approx((2 / 5, 4 / 5, 20 / 30))
    of_persons = agreement([ONE], [OTHER], PERSON)
    assert f1s(of_persons) == (0, 0, 0)
    assert (of_persons.exact.precision, of_persons.exact.recall) == (0, None)
    assert of_persons.because == ""


def test_precision_is_of_the_one_and_recall_of_the_other() -> None:
    found = agreement([ONE], [[entry("0:22-28")]])
    assert (found.exact.precision, found.exact.recall, found.exact.f1) == pytest.approx((1 / 3, 1, 1 / 2))


def test_blocks_are_told_apart() -> None:
    assert f1s(agreement([[entry("0:0-4")]], [[entry("1:0-4")]])) == (0, 0, 0)


def test_two_entries_of_one_place_are_two_spans_and_their_characters_count_once() -> None:
    found = agreement([[entry("0:0-4"), entry("0:0-4", "person")]], [[entry("0:0-4")]])
    assert f1s(found) == pytest.approx((2 / 3, 2 / 3, 1))


def test_each_stretch_of_an_entry_is_a_span() -> None:
    found = agreement([[entry("0:0-4 0:8-9")]], [[entry("0:8-9")]])
    assert (found.n_a, found.n_b) == (2, 1)
    assert f1s(found) == pytest.approx((2 / 3, 2 / 3, 2 / 6))


def test_entries_without_a_place_are_left_out_and_counted() -> None:
    found = agreement([[*ONE, entry(""), entry("", "person")]], [[*ONE, entry("")]])
    assert (found.n_a, found.n_b, found.without_a, found.without_b) == (3, 3, 2, 1)
    assert f1s(found) == (1, 1, 1)
    of_persons = agreement([[*ONE, entry(""), entry("", "person")]], [ONE], PERSON)
    assert (of_persons.without_a, of_persons.without_b) == (1, 0)


def test_an_empty_list_was_answered() -> None:
    """What the other marked there is missed; where both lists are empty nothing is added."""
    found = agreement([ONE, [], []], [ONE, [entry("0:0-1")], []])
    assert (found.n_lists, found.n_a, found.n_b) == (3, 3, 4)
    assert found.exact.f1 == pytest.approx(6 / 7)


def test_cells_of_one_rater_alone_do_not_count() -> None:
    lists = [marked(OWN, records, PLACES) for records in (ONE, OTHER)]
    found = spans_agreement([(answers([0, 1], cells=[0, 5]), answers([0], cells=[0]))], lists)
    assert found is not None
    assert (found.n_lists, found.exact.f1) == (1, 1)
    assert spans_agreement([(answers([0], cells=[0]), answers([0], cells=[5]))], lists) is None


def test_without_any_span_it_is_not_defined() -> None:
    found = agreement([[], [entry("")]], [[], []])
    assert f1s(found) == (None, None, None)
    assert (found.because, found.n_lists, found.without_a) == (NO_SPANS, 2, 1)


def test_the_mean_is_over_pairs_that_have_a_span() -> None:
    """1 of the first pair, 1/3 of the second; the third marked nothing."""
    lists = [marked(OWN, records, PLACES) for records in (ONE, OTHER, [])]
    found = spans_agreement([(answers([x]), answers([y])) for x, y in ((0, 0), (0, 1), (2, 2))], lists)
    assert found is not None
    assert (found.n_pairs, found.n_marked_pairs, found.n_a, found.n_b) == (3, 2, 6, 6)
    assert found.exact.f1 == pytest.approx((1 + 1 / 3) / 2)


def test_options_of_a_list_are_equal_in_any_order() -> None:
    own = ItemsSpec.model_validate(
        {"fields": [{"key": "words"}, {"key": "of", "list": True, "options": ["a", "b"]}, {"key": "at", "place": True}]}
    )
    _places, with_words, of_a, _of_b = ways_of(own)
    one, other = ([{"words": "x", "of": of, "at": "0:0-1"}] for of in (["a", "b"], ["b", "a"]))
    assert marked(own, one, with_words) == marked(own, other, with_words)
    assert marked(own, one, of_a).n == 1
    assert marked(own, [{"words": "x", "of": ["b"], "at": "0:0-1"}], of_a).n == 0


def test_a_long_span_is_paired_once() -> None:
    assert overlapping([(0, 100)], [(0, 10), (20, 30)]) == 1


def test_the_pairing_is_for_the_most_shared_characters() -> None:
    """One pair shares 9 characters, where two would share 4 + 1. Then one would share 4, and two share 2 + 2."""
    assert overlapping([(0, 10), (5, 9)], [(0, 9), (9, 12)]) == 1
    assert overlapping([(0, 4), (0, 2)], [(0, 4), (2, 9)]) == 2


def test_too_many_spans_in_one_place_are_paired_greedily(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_TOGETHER", 1)
    assert overlapping([(0, 10), (5, 15)], [(0, 10), (8, 20)]) == 2


def test_intervals_draw_whole_documents() -> None:
    found = agreement([ONE] * 12, [ONE, OTHER] * 6, by="document", n_draws=300)
    for figure in (found.exact, found.overlap, found.characters):
        assert figure.interval is not None
        assert figure.interval.n_clusters == 12
    exact = found.exact.interval
    assert exact is not None
    assert found.exact.f1 is not None
    assert exact.low is not None
    assert exact.high is not None
    assert found.exact.f1 == pytest.approx((6 * 6 + 6 * 2) / 72)
    assert exact.low < found.exact.f1 < exact.high
    few = agreement([ONE], [OTHER], by="document", n_draws=50).exact.interval
    assert few is not None
    assert (few.low, few.reason) == (None, TOO_FEW_CLUSTERS)


def test_documents_of_all_pairs_are_drawn_together() -> None:
    """Two pairs over six documents each, of which two are in both: ten documents. Draws that leave a pair out have the
    mean of the other."""
    lists = [marked(OWN, records, PLACES) for records in (ONE, OTHER)]
    first = answers([0] * 6), answers([0, 1] * 3)
    second = answers([0] * 6, cells=range(4, 10)), answers([1, 0] * 3, cells=range(4, 10))
    found = spans_agreement([first, second], lists, by="document", n_draws=200)
    assert found is not None
    assert found.exact.interval is not None
    assert (found.exact.interval.n_clusters, found.exact.interval.n_undefined) == (10, 0)
    assert found.exact.interval.low is not None


def test_an_option_has_intervals_of_the_documents_in_which_it_is_marked() -> None:
    """It had none. Two of forty-two documents, where nobody marked a person, tell nothing of persons."""
    ones, others = [ONE] * 40 + [[]] * 2, [ONE, OTHER] * 20 + [[]] * 2
    found = agreement(ones, others, PERSON, by="document", n_draws=300, of_option=True)
    every = agreement(ones, others, PERSON)
    assert (found.n_lists, found.n_pairs, found.n_a, found.n_b) == (42, 1, 40, 20)
    assert f1s(found) == f1s(every)
    for figure in (found.exact, found.overlap, found.characters):
        assert figure.interval is not None
        assert (figure.interval.n_clusters, figure.interval.n_undefined) == (40, 0)
        assert figure.interval.low is not None
        assert figure.f1 is not None
        assert figure.interval.low < figure.f1 == pytest.approx(2 * 20 / 60)


def test_an_option_that_few_documents_have_gets_no_interval() -> None:
    """Ends drawn from three documents would say more than they know."""
    ones = [ONE] * 3 + [[entry("0:22-28")]] * 40
    found = agreement(ones, ones, PERSON, by="document", n_draws=50, of_option=True)
    assert found.exact.interval is not None
    assert (found.exact.interval.low, found.exact.interval.reason, found.exact.interval.n_clusters) == (
        None,
        TOO_FEW_CLUSTERS,
        3,
    )
    nobody = agreement([[]] * 20, [[]] * 20, PERSON, by="document", n_draws=50, of_option=True)
    assert (nobody.exact.interval, nobody.because) == (None, NO_SPANS)


# --- against other ways of counting -----------------------------------------------------------------------------------

span = st.tuples(st.integers(0, 8), st.integers(1, 5)).map(lambda of: (of[0], of[0] + of[1]))
spans = st.lists(span, max_size=4)
entries = st.lists(
    st.builds(
        lambda block, of, of_type: entry(f"{block}:{of[0]}-{of[1]}", of_type),
        st.integers(0, 1),
        span,
        st.sampled_from(["person", "location"]),
    ),
    max_size=5,
)


def _tried(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    """Pairs of the best of all pairings."""
    if len(a) > len(b):
        a, b = b, a
    best = (0, 0)
    for chosen in permutations(b, len(a)):
        shared = [max(min(x[1], y[1]) - max(x[0], y[0]), 0) for x, y in zip(a, chosen, strict=True)]
        best = max(best, (sum(shared), sum(of > 0 for of in shared)))
    return best[1]


@given(spans, spans)
def test_pairs_are_those_of_the_best_of_all_pairings(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    assert overlapping(a, b) == _tried(a, b)
    assert overlapping(b, a) == overlapping(a, b)


def _keys(records: Sequence[Record], counted: Counted) -> list[tuple[Any, ...]]:
    """Block, from, to, and the type where it has to be equal."""
    kept = [one for one in records if not counted.option or one["type"] == counted.option]
    cut = [tuple(map(int, one["at"].replace(":", "-").split("-"))) for one in kept]
    return [(*at, one["type"] if counted == WITH_TYPE else "") for at, one in zip(cut, kept, strict=True)]


@given(st.lists(st.tuples(entries, entries), min_size=1, max_size=3), st.sampled_from(ways_of(OWN)))
def test_figures_are_those_of_sets(lists: list[tuple[list[Record], list[Record]]], counted: Counted) -> None:
    exact = [0, 0]
    characters = [0, 0]
    for one, other in lists:
        a, b = _keys(one, counted), _keys(other, counted)
        left = list(b)
        for key in a:
            if key in left:
                left.remove(key)
                exact[0] += 1
        exact[1] += len(a) + len(b)
        of_a, of_b = ({(k[0], k[3], at) for k in keys for at in range(k[1], k[2])} for keys in (a, b))
        characters[0] += len(of_a & of_b)
        characters[1] += len(of_a) + len(of_b)
    found = agreement([one for one, _other in lists], [other for _one, other in lists], counted)
    for figure, (common, both) in ((found.exact, exact), (found.characters, characters)):
        assert figure.f1 == (pytest.approx(2 * common / both) if both else None)
    back = agreement([other for _one, other in lists], [one for one, _other in lists], counted)
    assert f1s(back) == pytest.approx(f1s(found)) if found.exact.f1 is not None else back.because == NO_SPANS
    assert (back.exact.precision, back.exact.recall) == (found.exact.recall, found.exact.precision)


@given(st.sets(st.integers(0, 30), max_size=8), st.sets(st.integers(0, 30), max_size=8))
def test_exact_f1_is_scikit_learns(a: set[int], b: set[int]) -> None:
    """Each of 31 places is marked or not."""
    from sklearn.metrics import f1_score

    one, other = ([entry(f"{at // 10}:{3 * at}-{3 * at + 2}") for at in sorted(of)] for of in (a, b))
    found = agreement([one], [other])
    if not a | b:
        assert found.exact.f1 is None
        return
    said = [np.isin(np.arange(31), sorted(of)).astype(int) for of in (b, a)]
    assert found.exact.f1 == pytest.approx(f1_score(*said))
    assert found.exact == found.overlap == found.characters
