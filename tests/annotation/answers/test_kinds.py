"""Answers of every kind, by tables of examples."""

from __future__ import annotations

import time
from typing import Any

import pytest

from annotation.answers import (
    KINDS,
    AnswerRefused,
    Wire,
    canonical_code,
    digest,
    entries_of_code,
    kind_of,
    shown_code,
    value_code,
    wire,
)
from annotation.answers.transitions import after, start
from annotation.scheme.spec import Kind, QuestionSpec
from tests.annotation.answers.specs import (
    ALL,
    ANY_NUMBER,
    CHOICE,
    FLAG,
    ITEMS,
    LONG_TEXT,
    NAMED,
    NUMBER,
    PLAIN_TEXT,
    SCALE,
    TEXT,
    TRANSITIONS,
    question,
)

MIX = {"task": "mix", "tool": "", "ingredients": ["flour", "water"]}
DOUGH = {"from": ["flour", "water"], "to": ["dough"]}
EGG = {"from": ["egg"], "to": ["yolk", "white"]}
SHELL = {"from": ["shell"], "to": []}


def test_every_kind_of_the_scheme_has_its_answers() -> None:
    assert set(KINDS) == set(Kind)


CANONICAL = {
    "an option by its key": (CHOICE, "not-found", "not-found"),
    "an option by its label": (CHOICE, " not  FOUND ", "not-found"),
    "a key before a word for it": (CHOICE, "no", "no"),
    "a step": (SCALE, 2, "2"),
    "a step below zero": (SCALE, "-1", "minus-1"),
    "a step with decimals": (SCALE, "2.0", "2"),
    "true": (FLAG, True, "yes"),
    "a word for no": (FLAG, "False", "no"),
    "a number": (NUMBER, 2.5, 2.5),
    "a whole number": (NUMBER, 3.0, 3),
    "a number in words": (NUMBER, " 2.50 ", 2.5),
    "a number with its unit": (NUMBER, "250 g", 250),
    "another sign for minus": (ANY_NUMBER, "−3", -3),
    "a number with an exponent": (ANY_NUMBER, "1e-7", 1e-7),
    "a text": (PLAIN_TEXT, " a  b\n c ", "a b c"),
    "a text of two letters for one": (PLAIN_TEXT, "cafe\u0301", "café"),
    "a text with lines": (LONG_TEXT, "\n a  b \r\n\n\n\n c ", "a b\n\nc"),
    "a number as text": (PLAIN_TEXT, 7, "7"),
    "a list": (TEXT, "flour ;water;; ", "flour; water"),
    "a special value": (TEXT, " na", "NA"),
    "a special value that is longer": (TEXT, "No Change", "no change"),
    "records": (ITEMS, [{"ingredients": "flour, water", "task": " mix "}], [MIX]),
    "records without the empty ones": (ITEMS, [MIX, {}, {"tool": ""}], [MIX]),
    "no records": (ITEMS, [], []),
    "records as text": (ITEMS, "mix | | flour, water", [MIX]),
    "transitions": (TRANSITIONS, [{"to": ["dough"], "from": ["flour", " water"]}, SHELL], [DOUGH, SHELL]),
    "transitions as text": (TRANSITIONS, "flour, water -> dough\negg → yolk, white", [DOUGH, EGG]),
    "nothing changes": (TRANSITIONS, [], []),
    # The list of a recipe may name an ingredient at greater length than a state is to be named.
    "a long name that is there": (
        TRANSITIONS,
        [{"from": ["x" * 84], "to": ["dough", "X" * 84]}],
        [{"from": ["x" * 84], "to": ["dough", "X" * 84]}],
    ),
}


@pytest.mark.parametrize(("spec", "raw", "value"), CANONICAL.values(), ids=CANONICAL.keys())
def test_canonical(spec: QuestionSpec, raw: Any, value: Any) -> None:
    found = kind_of(spec).canonical(spec, raw)

    assert found == value
    assert type(found) is type(value)


REFUSED = {
    "no option": (CHOICE, "gone", "it takes: Found, Not found, Neither"),
    "a list for an option": (CHOICE, ["found"], "is no answer to “Asked”"),
    "no step": (SCALE, 4, "is no answer"),
    "no number": (NUMBER, "some", "“some” is no number"),
    "true for a number": (NUMBER, True, "is no number"),
    "another unit": (NUMBER, "3 kg", "is no number"),
    "too little": (NUMBER, -0.5, "from 0 to 500, not -0.5"),
    "too much": (NUMBER, 500.5, "from 0 to 500, not 500.5"),
    "between two steps": (NUMBER, 0.7, "in steps of 0.5 from 0; 0.7 lies between"),
    "endless": (ANY_NUMBER, float("inf"), "is no number"),
    "not a number": (ANY_NUMBER, float("nan"), "is no number"),
    "beyond all bounds": (ANY_NUMBER, 10**400, "is no number"),
    "an empty text": (PLAIN_TEXT, " \n", "this is empty"),
    "a text of separators": (TEXT, " ; ;", "this is empty"),
    "too long": (TEXT, "x" * 31, "at most 30 characters; these are 31"),
    "a pattern": (TEXT, "<b>", "No tags."),
    "a list for a text": (TEXT, ["a"], "takes a text"),
    "an unknown field": (ITEMS, [{"job": "mix"}], "has no field “job”; its fields are: task, tool, ingredients"),
    "too many records": (ITEMS, [MIX] * 4, "from 0 to 3 entries; these are 4"),
    "too few records": (NAMED, [], "from 1 to 100 entries; these are 0"),
    "a required field": (NAMED, [{"name": "a"}, {"why": "x"}], "Entry 2 of “Asked” has no “Name”"),
    "a record for records": (ITEMS, MIX, "takes a list of records"),
    "a list for a field": (ITEMS, [{"task": ["mix"]}], "has a list where it takes a text"),
    "a number for a list": (ITEMS, [{"ingredients": 3}], "has a text where it takes a list"),
    "too many fields": (ITEMS, "a|b|c|d", "more than the 3 fields"),
    "several of several": (TRANSITIONS, [{"from": ["a", "b"], "to": ["c", "d"]}], "“a, b -> c, d” makes several"),
    "no arrow": (TRANSITIONS, "flour", "“flour” is no transition"),
    "two arrows": (TRANSITIONS, "a -> b -> c", "is no transition"),
    "another side": (TRANSITIONS, [{"from": ["a"], "by": ["b"]}], "each with “from” and “to”"),
    "too long a thing": (TRANSITIONS, [{"from": ["x" * 84], "to": ["y" * 21]}], "at most 20 characters; these are 21"),
    "what is there, beyond any list": (TRANSITIONS, [{"from": ["x" * 2001], "to": []}], "at most 2000 characters"),
    "too many transitions": (TRANSITIONS, [SHELL] * 4, "at most 3 transitions; these are 4"),
}


@pytest.mark.parametrize(("spec", "raw", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_canonical_refuses(spec: QuestionSpec, raw: Any, sentence: str) -> None:
    with pytest.raises(AnswerRefused) as caught:
        kind_of(spec).canonical(spec, raw)

    assert sentence in str(caught.value)


FORMS = {
    # id: (question, value, its code, what a cell shows, its sign, its text form)
    "choice": (CHOICE, "not-found", "not-found", "Not found", "–", "not-found"),
    "scale": (SCALE, "minus-1", "minus-1", "-1", "-1", "minus-1"),
    "flag": (FLAG, "yes", "yes", "Yes", "✓", "yes"),
    "number": (NUMBER, 2.5, ":2.5", "2.5 g", "2.5", "2.5"),
    "long number": (ANY_NUMBER, 1234567, ":1234567", "1234567", "1234567", "1234567"),
    "small number": (ANY_NUMBER, 1e-7, ":0.0000001", "0.0000001", "0.00000…", "0.0000001"),
    "text": (TEXT, "flour; water", ':"flour; water"', "flour; water", "fl…", "flour; water"),
    "special": (TEXT, "NA", ':"NA"', "NA", "NA", "NA"),
    "accents": (PLAIN_TEXT, "café “x”", ':"café “x”"', "café “x”", "ca…", "café “x”"),
    "lines": (LONG_TEXT, "a\n\nb", r':"a\n\nb"', "a / b", "a …", "a\n\nb"),
    "items": (
        ITEMS,
        [MIX, {"task": "a|b", "tool": "oven", "ingredients": ["salt, fine"]}],
        ':[{"task":"mix","tool":"","ingredients":["flour","water"]},'
        '{"task":"a|b","tool":"oven","ingredients":["salt, fine"]}]',
        "mix · flour, water; a|b · oven · salt, fine",
        "2×",
        "mix |  | flour, water\na\\|b | oven | salt\\, fine",
    ),
    "no items": (ITEMS, [], ":[]", "–", "0×", "|"),
    "transitions": (
        TRANSITIONS,
        [DOUGH, EGG, SHELL],
        ':[{"from":["flour","water"],"to":["dough"]},{"from":["egg"],"to":["yolk","white"]},{"from":["shell"],"to":[]}]',
        "flour, water → dough; egg → yolk, white; shell → ∅",
        "3→",
        "flour, water -> dough\negg -> yolk, white\nshell ->",
    ),
    "no transitions": (TRANSITIONS, [], ":[]", "–", "0→", "->"),
}


@pytest.mark.parametrize(("spec", "value", "code", "shown", "sign", "written"), FORMS.values(), ids=FORMS.keys())
def test_forms(spec: QuestionSpec, value: Any, code: str, shown: str, sign: str, written: str) -> None:
    kind = kind_of(spec)

    assert kind.code(spec, value) == code
    assert kind.value(spec, code) == value
    assert kind.shown(spec, value) == shown == shown_code(spec, code)
    assert kind.sign(spec, value) == sign
    assert kind.written(spec, value) == written
    assert kind.read(spec, written) == value
    assert kind.from_label_studio(spec, kind.to_label_studio(spec, value)) == value


@pytest.mark.parametrize("spec", ALL.values(), ids=ALL.keys())
def test_no_text_is_no_answer(spec: QuestionSpec) -> None:
    assert kind_of(spec).read(spec, " \n ") is None


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (CHOICE, "gone"),
        (CHOICE, ':"found"'),
        (NUMBER, "3"),
        (NUMBER, ":three"),
        (TEXT, ":" + "[" * 100_000),
        (ITEMS, ""),
    ],
    ids=["no option", "a value for an option", "no value", "no JSON", "nested for ever", "nothing"],
)
def test_value_refuses_what_is_no_code(spec: QuestionSpec, code: str) -> None:
    with pytest.raises(AnswerRefused):
        kind_of(spec).value(spec, code)


def test_a_code_that_is_written_otherwise_becomes_canonical() -> None:
    given = ': [{"ingredients": ["flour", "water"], "task": "mix"}]'

    assert canonical_code(ITEMS, given) == ':[{"task":"mix","tool":"","ingredients":["flour","water"]}]'


SAME = {
    "parts in another order": (TEXT, "flour; Water", "water; flour; flour", True),
    "other parts": (TEXT, "flour; water", "flour", False),
    "a special value is no part": (TEXT, "NA", "no change", False),
    "another case": (PLAIN_TEXT, "Dough", "dough", True),
    "numbers": (NUMBER, 3, 3.5, False),
    "records in another order": (ITEMS, [MIX, {**MIX, "task": "bake"}], [{**MIX, "task": "bake"}, MIX], False),
    "records in another case": (ITEMS, [MIX], [{**MIX, "task": "Mix"}], True),
    "transitions in another order": (TRANSITIONS, [DOUGH, EGG], [EGG, {**DOUGH, "from": ["water", "flour"]}], True),
    "other transitions": (TRANSITIONS, [DOUGH], [DOUGH, EGG], False),
}


@pytest.mark.parametrize(("spec", "a", "b", "same"), SAME.values(), ids=SAME.keys())
def test_same(spec: QuestionSpec, a: Any, b: Any, same: bool) -> None:
    assert kind_of(spec).same(spec, a, b) is same


DISTANCES = {
    "another option": (CHOICE, "found", "no", 1),
    "one of four steps": (SCALE, "1", "2", 1 / 4),
    "from end to end": (SCALE, "minus-1", "3", 1),
    "50 of 500": (NUMBER, 100, 150, 1 / 10),
    "a number without range": (ANY_NUMBER, 1, 2, 1),
    "one letter of five": (PLAIN_TEXT, "flour", "floor", 1 / 5),
    "one part of three": (TEXT, "flour; water", "water; flour; salt", 1 / 3),
    "a special value": (TEXT, "NA", "flour", 1),
    "one record of two": (ITEMS, [MIX], [MIX, {**MIX, "task": "bake"}], 1 / 2),
    "no records": (ITEMS, [], [], 0),
    "two transitions of three": (TRANSITIONS, [DOUGH, EGG], [EGG, SHELL, {"from": ["a"], "to": ["b"]}], 2 / 3),
}


@pytest.mark.parametrize(("spec", "a", "b", "distance"), DISTANCES.values(), ids=DISTANCES.keys())
def test_distance(spec: QuestionSpec, a: Any, b: Any, distance: float) -> None:
    assert kind_of(spec).distance(spec, a, b) == pytest.approx(distance)


def test_warnings() -> None:
    assert kind_of(TEXT).warnings(TEXT, "3 eggs") == ["No numbers."]
    assert kind_of(TEXT).warnings(TEXT, "eggs") == []
    assert kind_of(TRANSITIONS).warnings(TRANSITIONS, [DOUGH, {"from": ["Flour"], "to": ["paste"]}]) == [
        "“flour” becomes something twice."
    ]
    part_stays = {"from": ["Flour"], "to": ["flour"]}
    assert kind_of(TRANSITIONS).warnings(TRANSITIONS, [DOUGH, part_stays]) == []
    assert after(["flour", "water"], [DOUGH, part_stays]) == ["dough", "flour"]


JUDGED = {
    "an option": (CHOICE, "Found", "found"),
    "with a label before it": (CHOICE, "**Answer:** not found.", "not-found"),
    "in a sentence": (CHOICE, "The duty is not found in the text.", "not-found"),
    "in quotes": (CHOICE, "“Neither”", "no"),
    "with reasons behind": (CHOICE, "Found\n\nThe clause names it.", "found"),
    "a step": (SCALE, "Rating: I would say 3", "3"),
    "a flag": (FLAG, "Yes, it does.", "yes"),
    "a number": (NUMBER, "The answer is 250 g.", 250),
    "a number in a sentence": (NUMBER, "It weighs about 1,5 pounds, no: 2.5", None),
    "a number with a comma": (ANY_NUMBER, "0,55", 0.55),
    "thousands alone": (ANY_NUMBER, "1,200", 1200),
    "a number of thousands": (ANY_NUMBER, "There are 1,200 of them", 1200),
    "a text in a fence": (TEXT, "```\nflour; water\n```", "flour; water"),
    "a text with the title": (TEXT, "Asked: flour", "flour"),
    "a list of quoted parts": (TEXT, "'flour'; “water”", "flour; water"),
    "a list with wide signs": (TEXT, "小麦粉；水", "小麦粉; 水"),
    "an empty text": (TEXT, "Answer:", None),
    "a refused text": (TEXT, "<p>", None),
    "records as JSON": (
        ITEMS,
        'Here it is:\n```json\n[{"task": "mix", "ingredients": ["flour", "water"]}]\n```',
        [MIX],
    ),
    "records as JSON between words": (ITEMS, 'Sure! [{"task": "mix", "ingredients": "flour, water"}] Enjoy.', [MIX]),
    "one record": (ITEMS, '{"task": "mix", "ingredients": ["flour", "water"]}', [MIX]),
    "records as text": (ITEMS, "mix | | flour, water", [MIX]),
    "transitions as text": (TRANSITIONS, "flour, water -> dough", [DOUGH]),
    "two options": (CHOICE, "found or neither", None),
    "no option": (CHOICE, "I cannot say.", None),
    "no number": (NUMBER, "a lot", None),
}


@pytest.mark.parametrize(("spec", "text", "value"), JUDGED.values(), ids=JUDGED.keys())
def test_from_judge(spec: QuestionSpec, text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(AnswerRefused):
            kind_of(spec).from_judge(spec, text)
    else:
        assert kind_of(spec).from_judge(spec, text) == value


def test_a_number_of_a_judge_that_is_too_large_is_told() -> None:
    with pytest.raises(AnswerRefused, match="“99999999999999999999999999” is no number"):
        kind_of(ANY_NUMBER).from_judge(ANY_NUMBER, "About 99,999,999,999,999,999,999,999,999 of them")


def test_label_studio_of_another_type_is_refused() -> None:
    with pytest.raises(AnswerRefused, match="of the type “choices”"):
        kind_of(NUMBER).from_label_studio(NUMBER, {"type": "choices", "value": {"choices": ["3"]}})
    with pytest.raises(AnswerRefused, match="takes one answer"):
        kind_of(CHOICE).from_label_studio(CHOICE, {"type": "choices", "value": {"choices": ["Found", "Neither"]}})
    assert kind_of(TEXT).from_label_studio(TEXT, {"type": "textarea", "value": {"text": []}}) is None


def test_what_there_is_after_a_step() -> None:
    things = ["Flour", "water", "egg", "salt", "shell"]

    assert after(things, [DOUGH, EGG, SHELL]) == ["salt", "dough", "yolk", "white"]
    assert after(things, []) == things


START = {
    "a list, as it is": (["flour, white", " water "], ["flour, white", "water"]),
    "a text with semicolons": ("flour; water, cold;", ["flour", "water, cold"]),
    "a text with commas, and one thing twice": ("flour, salt, flour", ["flour", "salt"]),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("facet", "things"), START.values(), ids=START.keys())
def test_what_there_is_before_the_first_step_is_what_the_row_says(facet: str | list[str], things: list[str]) -> None:
    spec = question("transitions", transitions={"start": ["made_of", "missing"]})

    assert start(spec, {"made_of": facet, "other": "x"}) == things


def test_answers_with_parts_are_small_lists() -> None:
    assert entries_of_code(TRANSITIONS, value_code([DOUGH, SHELL])) == ["flour, water → dough", "shell → ∅"]
    assert entries_of_code(ITEMS, value_code([MIX, MIX])) == ["mix · flour, water"] * 2
    assert entries_of_code(ITEMS, ":[]") == ["–"]
    assert entries_of_code(NUMBER, ":3") == ["3 g"]
    assert entries_of_code(NUMBER, ':"no number any more"') == [':"no number any more"']


def test_a_code_on_the_wire_is_taken_apart() -> None:
    assert wire("found") == Wire("found")
    assert wire("=found") == Wire("found", preset=True)
    assert wire('~:"flour"') == Wire(':"flour"', draft=True)
    assert wire("!cannot tell") == Wire(skip="cannot tell")
    assert [str(wire(text)) for text in ("=a", "~:3", "!why", "", ":3")] == ["=a", "~:3", "!why", "", ":3"]


def test_a_digest_is_short_and_of_the_code_alone() -> None:
    assert digest(':"flour"') == digest(':"flour"') != digest(':"flower"')
    assert len(digest("x" * 10_000)) == 16


def test_what_a_scheme_offers() -> None:
    assert kind_of(CHOICE).choices(CHOICE) == ["Found", "Not found", "Neither"]
    assert kind_of(TEXT).choices(TEXT) == ["NA", "no change", "salt", "water"]
    assert kind_of(NUMBER).choices(NUMBER) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("<b> 3 ;dough", ["No tags.", "No numbers."]), ("x" * 31, ["“Asked” takes at most 30 characters; these are 31."])],
)
def test_what_a_model_wrote_elsewhere_is_taken_and_warned_of(text: str, said: list[str]) -> None:
    kind = kind_of(TEXT)
    value = kind.taken(TEXT, text)
    assert value == {"<b> 3 ;dough": "<b> 3; dough"}.get(text, text)
    assert kind.warnings(TEXT, value) == said
    assert kind.value(TEXT, kind.code(TEXT, value)) == value  # it stands, so it can be shown
    with pytest.raises(AnswerRefused):
        kind.canonical(TEXT, value)
    assert kind.taken(TEXT, " ") is None
    assert kind.taken(TEXT, "na") == "NA"
    with pytest.raises(AnswerRefused):
        kind_of(NUMBER).taken(NUMBER, "seven hundred")  # no answer to such a question at all


def test_a_pattern_that_takes_for_ever_is_given_up() -> None:
    """Each further letter doubles the time of this one, which a manager may well write: words, and nothing else."""
    spec = question("text", text={"patterns": [{"pattern": r"^(\w+\s?)+$", "message": "No words.", "level": "refuse"}]})
    begin = time.process_time()

    assert kind_of(spec).canonical(spec, "a" * 60 + "!") == "a" * 60 + "!"
    assert time.process_time() - begin < 2
    with pytest.raises(AnswerRefused, match=r"No words\."):
        kind_of(spec).canonical(spec, "two words")
