"""Entries that are tied to words, as Label Studio has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers import AnswerRefused, kind_of
from annotation.answers.spans import from_spans, labels_of, places_of, starts_of, to_spans
from annotation.exchange.marked.texts import MarkedText
from annotation.scheme.spec import QuestionSpec

TEXTS = ("In Gdansk, Lech\nspoke.", "Nobody  heard.", "")
NAMES = QuestionSpec.model_validate(
    {
        "key": "names",
        "title": "Names",
        "kind": "items",
        "items": {
            "fields": [
                {"key": "words", "required": True},
                {"key": "type", "completions": ["person", "place"]},
                {"key": "at", "place": True},
            ]
        },
    }
)
GDANSK = {"words": "Gdansk", "type": "place", "at": "0:3-9"}


def back(results: list[dict[str, Any]], spec: QuestionSpec = NAMES, texts: tuple[str, ...] = TEXTS) -> Any:
    """As an import puts the results of a control together."""
    text = MarkedText("\n".join(texts), starts_of(texts))
    spans = [{**one["value"], **one.get("meta", {})} for one in results]
    value = text.result(spans)
    return kind_of(spec).from_label_studio(spec, {"type": "labels", "value": value})


def test_a_stretch_has_its_words_and_a_label() -> None:
    told = [GDANSK, {"words": "who spoke", "type": "", "at": "0:11-15 1:0-6"}]
    assert [(one["value"], one["meta"]) for one in to_spans(NAMES, told, TEXTS)] == [
        ({"start": 3, "end": 9, "text": "Gdansk", "labels": ["place"]}, {"entry": 0, "fields": {}}),
        *(
            (
                {"start": start, "end": start + len(words), "text": words, "labels": ["Names"]},
                {"entry": 1, "fields": {"words": "who spoke"}},
            )
            for start, words in ((11, "Lech"), (23, "Nobody"))
        ),
    ]


@pytest.mark.parametrize(
    "told", [[], [{**GDANSK, "at": ""}], [GDANSK, {**GDANSK, "at": "0:3-99"}], [{**GDANSK, "at": "3:0-1"}]]
)
def test_an_answer_that_marks_cannot_say_has_none(told: list[dict[str, str]]) -> None:
    assert to_spans(NAMES, told, TEXTS) == []


WORDS = st.sampled_from(["Gdansk", "Lech", "Names", "=1", "a | b"])
STRETCHES = st.sampled_from(["0:3-9", "0:11-15", "0:0-2", "1:0-6", "1:8-13", "0:11-22", "0:3-9 1:0-6"])
RECORD = st.fixed_dictionaries(
    {"words": WORDS, "type": st.sampled_from(["", "person", "Names", "other"]), "at": STRETCHES}
)


@given(st.lists(RECORD, min_size=1, max_size=5))
def test_what_is_marked_comes_back(told: list[dict[str, str]]) -> None:
    results = to_spans(NAMES, told, TEXTS)
    assert back(results) == told
    whole = "\n".join(TEXTS)
    assert all(whole[one["value"]["start"] : one["value"]["end"]] == one["value"]["text"] for one in results)


def test_what_is_changed_and_marked_there_comes_in() -> None:
    """The stretch moved, its label another, a second label of it, and a new one over two blocks."""
    [first] = to_spans(NAMES, [GDANSK], TEXTS)
    first["value"] |= {"start": 0, "text": "In Gdansk", "labels": ["person", "place"]}
    new = {"value": {"start": 16, "end": 29, "text": "spoke.\nNobody", "labels": []}}
    assert back([first, new]) == [
        {"words": "In Gdansk", "type": "person", "at": "0:0-9"},
        {"words": "In Gdansk", "type": "place", "at": "0:0-9"},
        {"words": "spoke. Nobody", "type": "", "at": "0:16-22 1:0-6"},
    ]


@pytest.mark.parametrize(
    "value", [{"start": 4, "end": 4}, {"start": 1.5, "end": 2}, {"text": "x"}, {"start": -1, "end": 2}]
)
def test_what_is_no_stretch_of_a_text_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(AnswerRefused, match="is no place"):
        from_spans(NAMES, {"spans": [{**value, "places": places_of(value, [(0, 99)])}]})


def test_the_labels_are_those_that_are_offered_and_those_that_were_given() -> None:
    assert labels_of(NAMES, [[GDANSK, {**GDANSK, "type": "ship"}], []]) == ["person", "place", "Names", "ship"]


@pytest.mark.parametrize(("required", "labels"), [(False, ["town", "person", "Names"]), (True, ["town", "person"])])
def test_the_options_of_a_field_are_all_labels_there_are(required: bool, labels: list[str]) -> None:
    own = NAMES.items
    assert own is not None
    fields = [
        field.model_copy(update={"completions": (), "options": ("town", "person"), "required": required})
        if field.key == "type"
        else field
        for field in own.fields
    ]
    closed = NAMES.model_copy(update={"items": own.model_copy(update={"fields": tuple(fields)})})
    assert labels_of(closed, [[{**GDANSK, "type": "town"}]]) == labels


def test_a_list_without_a_place_takes_marked_words_too() -> None:
    spec = QuestionSpec.model_validate(
        {"key": "names", "title": "Names", "kind": "items", "items": {"fields": [{"key": "words"}]}}
    )
    assert to_spans(spec, [{"words": "Lech"}], TEXTS) == []
    assert back([{"value": {"start": 11, "end": 15, "text": "Lech", "labels": ["Names"]}}], spec) == [{"words": "Lech"}]
