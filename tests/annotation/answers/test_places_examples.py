"""Places and proposals by the tables of examples that the scripts are held to as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.answers import AnswerRefused, kind_of
from annotation.answers.carrying import carried, proposals
from annotation.answers.places import found_places, read_places, words_at, written_places
from annotation.scheme.values import ItemsSpec
from tests.annotation.answers.specs import question

RULES = Path(__file__).parents[2] / "rules"
PLACES = json.loads((RULES / "places.json").read_text(encoding="utf-8"))
CARRYING = json.loads((RULES / "carrying.json").read_text(encoding="utf-8"))
FIELDS = CARRYING["scheme"]["fields"]


@pytest.mark.parametrize("example", PLACES["read"], ids=lambda one: one["text"])
def test_places_are_read_in_one_spelling(example: dict[str, Any]) -> None:
    if example["written"] is None:
        with pytest.raises(ValueError, match=r".*"):
            read_places(example["text"])
    else:
        assert written_places(read_places(example["text"])) == example["written"]


@pytest.mark.parametrize("example", PLACES["words"], ids=lambda one: one["place"])
def test_words_at_places(example: dict[str, Any]) -> None:
    assert words_at(example["texts"], read_places(example["place"])) == example["words"]


@pytest.mark.parametrize("example", PLACES["found"], ids=lambda one: one["says"])
def test_words_of_entries_are_found(example: dict[str, Any]) -> None:
    own = ItemsSpec.model_validate(PLACES["questions"][example["question"]]["scheme"])
    assert found_places(own, example["records"], example["texts"]) == example["found"]


def _records(lines: list[list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(("task", "tool", "ingredients"), line, strict=True)) for line in lines]


@pytest.mark.parametrize("example", CARRYING["examples"], ids=lambda one: one["says"])
def test_what_earlier_entries_propose(example: dict[str, Any]) -> None:
    own = ItemsSpec.model_validate(CARRYING["scheme"])
    records = _records(example["records"])
    found = [proposals(own, records, at, example["words"]) for at in range(len(records))]
    assert found == example["proposed"]


def test_all_proposals_are_taken_one_after_the_other() -> None:
    own = ItemsSpec.model_validate(CARRYING["scheme"])
    records = _records([["mix", "bowl", ["flour", "water"]], ["knead", "", []], ["bake", "", []]])
    assert carried(own, records) == _records(
        [["mix", "bowl", ["flour", "water"]], ["knead", "bowl", ["mixture"]], ["bake", "bowl", ["mixture"]]]
    )


TIED = question("items", items={"fields": FIELDS})
WHISK = {"task": "whisk", "tool": "bowl", "ingredients": ["eggs"], "words": "0:0-14"}


def test_the_place_is_kept_with_the_answer_and_is_no_part_of_what_it_says() -> None:
    kind = kind_of(TIED)
    value = kind.canonical(TIED, [WHISK])
    elsewhere = kind.canonical(TIED, [{**WHISK, "words": "3:4-9  3:4-9"}])
    assert value == [WHISK]
    assert elsewhere == [{**WHISK, "words": "3:4-9"}]
    assert kind.same(TIED, value, elsewhere)
    assert kind.distance(TIED, value, elsewhere) == 0
    assert kind.shown(TIED, value) == "whisk · bowl · eggs"
    assert kind.written(TIED, value) == "whisk | bowl | eggs | 0:0-14"
    assert kind.read(TIED, kind.written(TIED, value)) == value
    assert kind.canonical(TIED, [{"words": "0:0-14"}, WHISK]) == [WHISK]  # a place alone says nothing
    with pytest.raises(AnswerRefused, match="“somewhere” is no place in the document"):
        kind.canonical(TIED, [{**WHISK, "words": "somewhere"}])


def test_a_model_need_not_write_places() -> None:
    kind = kind_of(TIED)
    wrote = "| Task | Tool | Ingredients |\n|---|---|---|\n| whisk | bowl | eggs |"
    assert kind.from_judge(TIED, wrote) == [{**WHISK, "words": ""}]


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ([{"key": "a", "place": True}], "behind others"),
        ([{"key": "a"}, {"key": "b", "place": True}, {"key": "c"}], "the last"),
        ([{"key": "a"}, {"key": "b", "place": True, "required": True}], "not required"),
        ([{"key": "a", "carried": True}, {"key": "b"}], "first field"),
        ([{"key": "a"}, {"key": "b", "sums": ["mixture"]}], "of a field that is carried"),
        ([{"key": "a"}, {"key": "b", "carried": True, "sums": ["mixture"]}], "sums are of a list"),
    ],
)
def test_fields_that_cannot_be(fields: list[dict[str, Any]], refused: str) -> None:
    with pytest.raises(ValueError, match=refused):
        ItemsSpec.model_validate({"fields": fields})
