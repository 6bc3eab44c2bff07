"""What a judge that writes is asked, and what is read in its answers."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.scheme.spec import QuestionSpec
from judges.methods import writing
from judges.methods.writing import Asking, Unreadable, Why, Written, read

OUTPUT = {"key": "output", "title": "Output", "kind": "text", "text": {"longest": 40, "special": ["NA"]}}
WEIGHT = {"key": "weight", "title": "Weight", "kind": "number", "number": {"min": 0, "max": 500, "unit": "g"}}
CHANGE = {"key": "change", "title": "Change", "kind": "transitions"}
TASKS = {
    "key": "parts", "title": "Parts", "kind": "items",
    "items": {"fields": [{"key": "task"}, {"key": "tool"}, {"key": "ingredients", "list": True}]},
}  # fmt: skip
NAMES = {
    "key": "names", "title": "Names", "kind": "items",
    "items": {"fields": [
        {"key": "words", "required": True}, {"key": "type", "options": ["person", "location"]},
        {"key": "roles", "list": True, "options": ["buyer", "seller"]}, {"key": "place", "place": True},
    ]},
}  # fmt: skip
TYPES = {**NAMES, "items": {"fields": [{"key": "type", "options": ["person", "location"]}]}}
VERDICT = {
    "key": "verdict", "title": "Verdict",
    "options": [{"key": "fine", "label": "Fine", "sign": "F"}, {"key": "nonsense", "label": "Nonsense", "sign": "N"}],
}  # fmt: skip


def asking(spec: dict[str, Any], name: str, *, reason: bool = False) -> Asking:
    made = QuestionSpec.model_validate(spec)
    return Asking(name, f"What about {name.lower()}?", writing.form_of(made), made, reason)


def one(answer: str, spec: dict[str, Any], name: str = "OUTPUT", **how: Any) -> Written | Unreadable:
    (found,) = read(answer, [asking(spec, name, reason=True)], **how)
    return found


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (VERDICT, "one of: Fine, Nonsense"),
        (WEIGHT, "a number from 0 to 500 in g, without the unit"),
        (OUTPUT, "a text of at most 40 characters, on one line; or only NA"),
        (TASKS, "a list, one a line: task | tool | ingredients (with commas)"),
        (
            NAMES,
            "a list, one a line: words | type (one of: person, location) | roles (with commas; each one of: buyer, "
            "seller)",
        ),
        (TYPES, "a list, one type a line, each one of: person, location"),
        (CHANGE, "one change a line, as “A, B -> C” or “A -> B, C”; nothing behind the arrow for what is thrown away"),
    ],
)
def test_what_an_answer_looks_like_follows_from_the_kind(spec: dict[str, Any], form: str) -> None:
    assert writing.form_of(QuestionSpec.model_validate(spec)) == form


def test_a_model_keeps_to_the_options_of_a_field() -> None:
    """Any word was taken for a type; its spelling is the scheme's now, and another word no answer."""
    kept = one("NAMES:\nAnna | PERSON | Buyer\nGdansk | location |", NAMES, "NAMES")
    assert isinstance(kept, Written)
    assert [(record["type"], record["roles"]) for record in kept.value] == [  # type: ignore[index, call-overload, union-attr]
        ("person", ["buyer"]),
        ("location", []),
    ]
    in_json = one('NAMES:\n[{"words": "Anna", "type": "Person"}]', NAMES, "NAMES")
    assert isinstance(in_json, Written)
    refused = one("NAMES:\nAnna | PER |", NAMES, "NAMES")
    assert isinstance(refused, Unreadable)
    assert refused.why == Why.REFUSED
    assert refused.detail == "“Type” of “Names” is one of these, not “PER”: person, location."


def test_the_form_of_one_answer_to_two_questions() -> None:
    asked = writing.request([asking(OUTPUT, "OUTPUT"), asking(CHANGE, "CHANGE", reason=True)])
    assert asked.startswith("Answer 2 questions.\n\nOUTPUT\nWhat about output?\nThe answer is a text of")
    assert asked.endswith("OUTPUT: <answer>\nCHANGE:\n<answer>\nReason: <brief reason>")


@pytest.mark.parametrize(
    ("answer", "spec", "value"),
    [
        ("OUTPUT: dough", OUTPUT, "dough"),
        ("dough", OUTPUT, "dough"),
        ("**Output:** dough\n\nReason: It was kneaded.", OUTPUT, "dough"),
        ("Sure! Here it is.\n\nOUTPUT: dough", OUTPUT, "dough"),
        ("OUTPUT: <answer>\n\nOUTPUT: dough", OUTPUT, "dough"),
        ("<think>OUTPUT: water</think>OUTPUT: dough", OUTPUT, "dough"),
        ('{"output": "dough", "reason": "kneaded"}', OUTPUT, "dough"),
        ("OUTPUT: na", OUTPUT, "NA"),
        ("OUTPUT: 12.5", WEIGHT, 12.5),
        ("OUTPUT:\nflour, water -> dough\nshell ->", CHANGE,
         [{"from": ["flour", "water"], "to": ["dough"]}, {"from": ["shell"], "to": []}]),
        ("OUTPUT:\nmix | bowl | flour, water\nbake | oven | dough", TASKS,
         [{"task": "mix", "tool": "bowl", "ingredients": ["flour", "water"]},
          {"task": "bake", "tool": "oven", "ingredients": ["dough"]}]),
        ('OUTPUT: [{"task": "mix", "tool": "", "ingredients": ["flour"]}]', TASKS,
         [{"task": "mix", "tool": "", "ingredients": ["flour"]}]),
        ("OUTPUT: nonsense\nReason: Eggs do not melt.", VERDICT, "nonsense"),
    ],
)  # fmt: skip
def test_an_answer_is_read_by_its_kind(answer: str, spec: dict[str, Any], value: Any) -> None:
    found = one(answer, spec)
    assert isinstance(found, Written), found
    assert found.value == value


def test_what_a_model_thinks_first_is_no_answer() -> None:
    asked = [asking(OUTPUT, "OUTPUT")]
    told = writing.request(asked, thinking="Think step by step first. ")
    assert told.endswith(
        "Think step by step first. Then write the word ANSWER on a line of its own, and below it your answer in this "
        "form, and nothing else:\nOUTPUT: <answer>"
    )
    thoughts = "Flour is there.\nOUTPUT: flour, so far. Then it is kneaded."

    def read(answer: str, *, cut: bool = False) -> Written | Unreadable:
        return writing.read(answer, asked, cut=cut, thinking=True)[0]

    for below in ("ANSWER\nOUTPUT: dough", "**Answer:**\n\nOUTPUT: dough", "answer\nwater\nANSWER\ndough"):
        assert read(f"{thoughts}\n{below}") == Written("dough", "")
    # Without the line what has the question's name counts, and never all that was thought.
    assert read("Flour first.\nOUTPUT: dough") == Written("dough", "")
    assert read("It is dough.") == Unreadable(Why.NO_VERDICT)
    assert read(thoughts, cut=True) == Unreadable(Why.CUT_OFF)
    assert read("ANSWER") == Unreadable(Why.EMPTY)


def test_the_reason_is_apart() -> None:
    found = one("OUTPUT: nonsense\nReason: Eggs do\nnot melt.", VERDICT)
    assert found == Written("nonsense", "Eggs do not melt.")


@pytest.mark.parametrize(
    ("answer", "cut", "why"),
    [
        ("", False, Why.EMPTY),
        ("  ", True, Why.CUT_OFF),
        ("<think>well", True, Why.CUT_OFF),
        ("OUTPUT:", False, Why.EMPTY),
        ("OUTPUT: the dou", True, Why.CUT_OFF),
        (f"OUTPUT: {'x' * 41}", False, Why.REFUSED),
    ],
)
def test_what_cannot_be_read_has_its_reason(answer: str, cut: bool, why: Why) -> None:
    found = one(answer, OUTPUT, cut=cut)
    assert isinstance(found, Unreadable)
    assert found.why == why


def test_a_refused_answer_says_what_the_question_takes() -> None:
    found = one("OUTPUT: 700", WEIGHT)
    assert isinstance(found, Unreadable)
    assert "500" in found.detail


def test_each_part_of_an_answer_is_read_by_its_name() -> None:
    asked = [asking(OUTPUT, "OUTPUT"), asking(WEIGHT, "WEIGHT"), asking(VERDICT, "VERDICT", reason=True)]
    found = read("OUTPUT: dough\nWEIGHT: much\nVERDICT: Fine\nReason: Good.", asked)
    assert found[0] == Written("dough", "")
    assert isinstance(found[1], Unreadable)
    assert found[1].why == Why.REFUSED
    assert found[2] == Written("fine", "Good.")


def test_a_part_that_is_missing_does_not_take_another_ones_answer() -> None:
    asked = [asking(OUTPUT, "OUTPUT"), asking(VERDICT, "VERDICT")]
    assert read("VERDICT: Fine", asked) == [Unreadable(Why.OTHER_CRITERION), Written("fine", "")]
    assert read("dough", asked) == [Unreadable(Why.NO_VERDICT)] * 2


def test_only_the_last_part_of_an_unfinished_answer_is_cut_off() -> None:
    asked = [asking(OUTPUT, "OUTPUT"), asking(VERDICT, "VERDICT"), asking(WEIGHT, "WEIGHT")]
    found = read("OUTPUT: dough\nVERDICT: Fi", asked, cut=True)
    assert found == [Written("dough", ""), Unreadable(Why.CUT_OFF), Unreadable(Why.CUT_OFF)]


def test_in_plain_form_a_model_goes_on_and_its_first_answer_counts() -> None:
    found = one("OUTPUT: dough\n\nINPUT: egg\nOUTPUT: yolk", OUTPUT, opened=True, cut=True)
    assert found == Written("dough", "")


def test_what_stands_above_is_told_line_by_line() -> None:
    told = writing.above([("Mix flour", [("Output", "dough")]), ("Bake", [("Output", "bread")])])
    assert told == "The lines above:\n1. Mix flour\n   Output – dough\n2. Bake\n   Output – bread\n\n"


LINES = {"key": "foods", "title": "Foods", "kind": "text", "text": {"separator": ";", "special": ["NA"]}}


@pytest.mark.parametrize(
    ("answer", "spec", "value"),
    [
        ("OUTPUT:\n- flour\n- water", LINES, "flour; water"),
        ("OUTPUT: - dough", OUTPUT, "dough"),
        ("OUTPUT: dough\n\nOUTPUT: <answer>", OUTPUT, "dough"),
        ("OUTPUT:\n1. mix | bowl | flour\n2. bake | oven |", TASKS,
         [{"task": "mix", "tool": "bowl", "ingredients": ["flour"]},
          {"task": "bake", "tool": "oven", "ingredients": []}]),
        ("OUTPUT:\n| Task | Tool | Ingredients |\n|---|:---:|---|\n| mix | bowl | flour, water |", TASKS,
         [{"task": "mix", "tool": "bowl", "ingredients": ["flour", "water"]}]),
        ("OUTPUT:\n* flour, water => dough\n* egg → yolk, white", CHANGE,
         [{"from": ["flour", "water"], "to": ["dough"]}, {"from": ["egg"], "to": ["yolk", "white"]}]),
        ("OUTPUT: 2. half", OUTPUT, "2. half"),
    ],
)  # fmt: skip
def test_the_signs_of_a_list_or_a_table_are_no_part_of_an_answer(answer: str, spec: dict[str, Any], value: Any) -> None:
    found = one(answer, spec)
    assert isinstance(found, Written), found
    assert found.value == value


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("OUTPUT: <answer>", Why.NO_VERDICT),
        ("OUTPUT:\n<answer>\nReason: <brief reason>", Why.NO_VERDICT),
        ('{"output": "<answer>"}', Why.NO_VERDICT),
    ],
)
def test_the_form_written_again_is_no_answer(answer: str, why: Why) -> None:
    assert one(answer, OUTPUT) == Unreadable(why)
