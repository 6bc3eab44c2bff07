"""Two raters' lists, entry by entry: counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.answers.aligning import aligned
from annotation.scheme.values import ItemsSpec
from reports.stats.answers import Answers
from reports.stats.bootstrap import EVERY_DRAW_THE_SAME
from reports.stats.items import Edit, items_agreement

OWN = ItemsSpec.model_validate(
    {
        "fields": [
            {"key": "task"},
            {"key": "tool"},
            {"key": "ingredients", "list": True},
            {"key": "words", "place": True},
        ]
    }
)


def task(text: str) -> dict[str, Any]:
    name, tool, ingredients = [*text.split("|"), "", ""][:3]
    listed = [one.strip() for one in ingredients.split(",") if one.strip()]
    return {"task": name.strip(), "tool": tool.strip(), "ingredients": listed, "words": ""}


def tasks(*texts: str) -> list[dict[str, Any]]:
    return [task(text) for text in texts]


# One recipe, by two people. The same: whisk. Changed: pour (another tool), stir (another verb, one ingredient more).
# Dropped by the second: preheat. Added by the second: serve.
FIRST = tasks("preheat|oven", "whisk|bowl|eggs, milk", "stir|bowl|flour", "pour into|pan|batter", "bake")
SECOND = tasks("Whisk|bowl|milk, eggs", "stir in|bowl|flour, salt", "pour into||batter", "bake", "serve||cake, cream")


def test_entries_are_the_same_changed_dropped_and_added() -> None:
    found = aligned(OWN, FIRST, SECOND)
    assert found.same == ((1, 0), (4, 3))
    assert found.changed == ((2, 1), (3, 2))
    assert found.dropped == (0,)
    assert found.added == (4,)
    assert (found.n_edits, found.n_entries) == (4, 6)


def test_places_and_order_do_not_count_and_repeats_are_paired_once_each() -> None:
    one = tasks("add||flour", "add||milk", "add||flour")
    other = [{**record, "words": "0:0-3"} for record in reversed(one)]
    assert aligned(OWN, one, other).n_edits == 0
    found = aligned(OWN, one, tasks("add||flour"))
    assert (len(found.same), len(found.dropped)) == (1, 2)
    # Of equally alike entries the nearest: the first to the first.
    assert aligned(OWN, tasks("mix", "mix"), tasks("mix")).same == ((0, 0),)


def test_what_has_less_than_half_in_common_is_no_pair() -> None:
    found = aligned(OWN, tasks("preheat|oven"), tasks("preheat|grill|coals"))
    assert (found.changed, found.dropped, found.added) == ((), (0,), (0,))
    assert aligned(OWN, tasks("preheat|oven"), tasks("preheat|grill")).changed == ((0, 0),)
    assert aligned(OWN, [], []).n_entries == 0


def _answers(codes: list[int], *, cells: list[int] | None = None) -> Answers:
    cells = list(range(len(codes))) if cells is None else cells
    return Answers.from_long(rater=[0] * len(codes), cell=cells, sheet=[0] * len(codes), code=codes, n_options=3)


def test_counts_of_two_raters_over_lists() -> None:
    """Two lists are shared: the one above, and one that is equal. Entries: 5 + 5 and 1 + 1."""
    values = [FIRST, SECOND, tasks("bake")]
    found = items_agreement(_answers([0, 2, 0]), _answers([1, 2], cells=[0, 1]), OWN, values, raters=(0, 1))
    assert found is not None
    assert (found.n_lists, found.n_equal, found.n_a, found.n_b) == (2, 1, 6, 6)
    assert (found.same, found.changed, found.dropped, found.added) == (3, 2, 1, 1)
    assert found.f_same == pytest.approx(2 * 3 / 12)
    assert found.f_matched == pytest.approx(2 * 5 / 12)
    assert found.edit_rate == pytest.approx(4 / 7)
    # Of five pairs: four have the same task, four the same tool, four the same ingredients.
    assert found.fields == pytest.approx((4 / 5, 4 / 5, 4 / 5))
    assert [(edit.n, _verb(edit)) for edit in found.edits] == [
        (1, ("pour into", "pour into")),
        (1, ("stir", "stir in")),
        (1, ("preheat", None)),
        (1, (None, "serve")),
    ]
    assert found.intervals == {}


def _verb(edit: Edit) -> tuple[str | None, str | None]:
    return (edit.before and edit.before["task"], edit.after and edit.after["task"])


def test_raters_who_share_no_list() -> None:
    assert items_agreement(_answers([0]), _answers([0], cells=[7]), OWN, [FIRST], raters=(0, 1)) is None


def test_intervals_draw_whole_documents() -> None:
    """Every document is alike but for its number, so that every draw has the value itself."""
    values = [FIRST, SECOND]
    found = items_agreement(
        _answers([0] * 12), _answers([1] * 12), OWN, values, raters=(0, 1), by="document", n_draws=200
    )
    assert found is not None
    between = found.intervals["edit_rate"]
    assert (between.n_clusters, between.low, between.reason) == (12, None, EVERY_DRAW_THE_SAME)
    mixed = items_agreement(
        _answers([0] * 12), _answers([0, 1] * 6), OWN, values, raters=(0, 1), by="document", n_draws=400
    )
    assert mixed is not None
    between = mixed.intervals["edit_rate"]
    assert between.low is not None
    assert between.high is not None
    assert mixed.edit_rate == pytest.approx(6 * 4 / (6 * 5 + 6 * 6))
    assert between.low < mixed.edit_rate < between.high
    few = items_agreement(_answers([0]), _answers([1]), OWN, values, raters=(0, 1), by="document", n_draws=50)
    assert few is not None
    assert few.intervals["edit_rate"].low is None
