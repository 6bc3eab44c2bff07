from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from benchmarks.accuracy_cells import Cell, ask, is_absent, named_in, near_forms
from benchmarks.judge_accuracy import Verdict, interval, verdict
from llm.engine.prompt import OptionScore

KEYS = ("found", "found-not-perfect", "not-found", "implied")


@dataclass(frozen=True)
class Page:
    source: str
    title: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...] = ()


def scores(*logprobs: float) -> tuple[OptionScore, ...]:
    return tuple(OptionScore(logprob, n_tokens=1, n_characters=1, unconditional=None) for logprob in logprobs)


# --- cells ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("2 cups (240g) all-purpose flour, sifted", {"all purpose flour"}),
        ("Salt and freshly ground black pepper to taste", {"salt", "freshly ground black pepper"}),
        ("½ tsp. Confectioners’ sugar", {"confectioners' sugar"}),
        ("3 peanut butter cups", set()),  # a name inside other words is no name
        ("1 cup butter crackers", set()),
    ],
)
def test_named_in_takes_a_name_with_nothing_but_amounts_before_it(line: str, names: set[str]) -> None:
    assert set(named_in([line])) == names


def test_near_forms_are_the_other_names_of_the_family() -> None:
    page = Page("a/1", "Cake", ("1 cup butter",))
    assert near_forms(page, named_in(page.ingredients)) == [
        Cell("unsalted butter", "found-not-perfect", "1 cup butter"),
    ]


def test_near_forms_take_no_form_that_the_steps_have_word_for_word() -> None:
    page = Page("a/1", "Cake", ("1 cup unsalted butter",), ("Melt the butter.",))
    assert near_forms(page, named_in(page.ingredients)) == []


def test_near_forms_take_a_form_that_stands_only_inside_a_longer_one() -> None:
    page = Page("a/1", "Cake", ("1 cup unsalted butter",), ("Melt the unsalted butter.",))
    assert [cell.ingredient for cell in near_forms(page, named_in(page.ingredients))] == ["butter"]


@pytest.mark.parametrize(
    ("name", "text", "absent"),
    [
        ("blueberries", "One blueberry will do.", False),
        ("minced beef", "Our best beef recipes", False),
        ("scallions", "Chop the green onions.", False),  # another form of the same thing
        ("scallions", "Chop the parsley.", True),
    ],
)
def test_is_absent_only_where_no_word_of_any_form_is(name: str, text: str, absent: bool) -> None:
    assert is_absent(name, text) is absent


def test_ask_gives_as_many_cells_of_each_truth_and_the_same_ones_again() -> None:
    cake = Page("cakes/1", "Cake", ("1 cup butter", "2 eggs", "1 tsp salt"))
    chili = Page("chili/1", "Chili", ("500 g ground beef", "1 onion", "2 tsp cumin"))
    shown = [(page, " ".join((page.title, *page.ingredients))) for page in (cake, chili)]
    asked = ask(shown, each=2, seed=7)
    assert asked == ask(shown, each=2, seed=7)
    by_page = {each.page.source: Counter(cell.truth for cell in each.cells) for each in asked}
    # Near forms of the cake: unsalted butter, one of salt's; of the chili: one each of ground beef, onion, cumin.
    assert by_page == {source: dict.fromkeys(Counter(cells), 2) for source, cells in by_page.items()}
    assert {sum(cells.values()) for cells in by_page.values()} == {6}


def test_ask_looks_in_vain_only_for_what_another_dish_has() -> None:
    cakes = [Page(f"cakes/{n}", "Cake", ("1 cup butter", extra)) for n, extra in enumerate(("2 eggs", "1 tsp cumin"))]
    assert ask([(page, " ".join(page.ingredients)) for page in cakes], each=1, seed=0) == []


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_verdict_counts_implied_as_not_found() -> None:
    assert verdict([scores(-3.0, -4.0, -5.0, -1.0)], KEYS, "none").answer == "not-found"


def test_verdict_of_presence_sums_the_two_options_for_it() -> None:
    # P(found) + P(found-not-perfect) = P(not-found) + P(implied), so their log ratio is 0.
    assert verdict([scores(-2.0, -1.0, -1.0, -2.0)], KEYS, "none").presence == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("there", "same", "answer"),
    [
        ((-1.0, -2.0), (-1.0, -2.0), "found"),
        ((-1.0, -2.0), (-2.0, -1.0), "found-not-perfect"),
        ((-2.0, -1.0), (-1.0, -2.0), "not-found"),
    ],
)
def test_verdict_in_two_steps(there: tuple[float, float], same: tuple[float, float], answer: str) -> None:
    assert verdict([scores(*there), scores(*same)], KEYS, "none") == Verdict(answer, there[0] - there[1])  # type: ignore[arg-type]


def test_interval_of_pages_that_are_all_right_or_all_wrong_is_wider_than_of_mixed_ones() -> None:
    # Two pages of two cells, one right in each: every draw of pages is right in 1 of 2 cells. All right and all wrong:
    # a draw of two pages is 0, 1/2 or 1.
    assert interval([2, 2], [True, False, False, True]) == (0.5, 0.5)
    assert interval([2, 2], [True, True, False, False]) == (0.0, 1.0)
