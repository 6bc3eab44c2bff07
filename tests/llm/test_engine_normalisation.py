from __future__ import annotations

import math

import pytest

from llm.engine.normalisation import Normalisation, choose, normalise
from llm.engine.prompt import OptionScore

# "Found" and "Found (not perfect)": the longer sum is lower, its mean over tokens and characters higher.
SHORT = OptionScore(logprob=-4.0, n_tokens=2, n_characters=5, unconditional=-3.0)
LONG = OptionScore(logprob=-6.0, n_tokens=6, n_characters=19, unconditional=-8.0)


@pytest.mark.parametrize(
    ("normalisation", "values", "index"),
    [
        ("none", (-4.0, -6.0), 0),
        ("token", (-4 / 2, -6 / 6), 1),
        ("character", (-4 / 5, -6 / 19), 1),
        ("pmi", (-4.0 + 3.0, -6.0 + 8.0), 1),
    ],
)
def test_each_normalisation(normalisation: Normalisation, values: tuple[float, float], index: int) -> None:
    assert normalise([SHORT, LONG], normalisation) == pytest.approx(values)
    assert choose([SHORT, LONG], normalisation).index == index


def test_the_margin_is_in_nats_of_a_sum_whatever_the_normalisation() -> None:
    # token: -2 against -1, so SHORT needs 1 x 2 tokens = 2 nats more; LONG would have to lose 1 x 6.
    assert choose([SHORT, LONG], "token").margin_nats == pytest.approx(2.0)
    assert choose([SHORT, LONG], "none").margin_nats == pytest.approx(2.0)
    # character: 4/5 - 6/19 = 46/95 a character, x 5 characters = 46/19.
    assert choose([SHORT, LONG], "character").margin_nats == pytest.approx(46 / 19)


@pytest.mark.parametrize(("lead", "unsure"), [(0.25, True), (0.5, False)])
def test_a_lead_under_half_a_nat_is_unsure(lead: float, unsure: bool) -> None:
    scores = [OptionScore(-2.0, 1, 1, None), OptionScore(-2.0 - lead, 1, 1, None)]
    assert choose(scores, "none").unsure is unsure


def test_an_exact_tie_goes_to_the_first_and_says_so() -> None:
    scores = [OptionScore(-3.0, 1, 1, None), OptionScore(-2.0, 1, 1, None), OptionScore(-2.0, 1, 1, None)]
    choice = choose(scores, "none")
    assert (choice.index, choice.tie, choice.unsure, choice.margin_nats) == (1, True, True, 0.0)


def test_pmi_needs_scores_without_evidence() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        normalise([OptionScore(-1.0, 1, 1, None)], "pmi")


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="Cannot choose"):
        choose([OptionScore(math.nan, 1, 1, None), SHORT], "none")
