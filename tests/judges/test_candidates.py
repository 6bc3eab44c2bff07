"""Candidates of the evidence in another order: what is read, and what an answer means then."""

from __future__ import annotations

import pytest

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.scheme.spec import QuestionSpec, load_scheme
from judges.methods.candidates import Candidates, detected
from judges.methods.prompting import PromptError, check_against, load_prompt
from tests import builders

BETTER = QuestionSpec.model_validate(
    {
        "key": "better",
        "title": "Better",
        "options": [
            {"key": "left", "label": "The left one"},
            {"key": "tie", "label": "Neither"},
            {"key": "right", "label": "The right one"},
        ],
    }
)
SIDES = Candidates(names=("Left", "Right"), until="The question", turn=1)
DOCUMENT = [
    Block(PARAGRAPH, "Two answers."),
    Block(HEADING, "left"),
    Block(PARAGRAPH, "one"),
    Block(HEADING, "Because"),
    Block(PARAGRAPH, "so"),
    Block(HEADING, "right"),
    Block(PARAGRAPH, "two"),
    Block(HEADING, "The question"),
    Block(PARAGRAPH, "Which?"),
]


def test_what_stands_below_the_headings_changes_places() -> None:
    texts = [block.text for block in SIDES.turned(DOCUMENT)]
    assert texts == ["Two answers.", "left", "two", "right", "one", "Because", "so", "The question", "Which?"]
    again = Candidates(names=SIDES.names, until=SIDES.until, turn=1)
    assert again.turned(SIDES.turned(DOCUMENT)) == DOCUMENT
    assert SIDES.model_copy(update={"turn": 2}).turned(DOCUMENT) == DOCUMENT


def test_kinds_of_evidence_change_places() -> None:
    three = Candidates(names=("a", "b", "c"), turn=1)
    blocks = [Block("a", "1"), Block("a", "2"), Block("b", "3"), Block(PARAGRAPH, "–"), Block("c", "4")]
    assert three.turned(blocks) == [
        Block("a", "3"),
        Block("b", "4"),
        Block(PARAGRAPH, "–"),
        Block("c", "1"),
        Block("c", "2"),
    ]


def test_an_answer_is_counted_for_what_stood_at_its_place() -> None:
    assert SIDES.meant("acts.better", BETTER) == {"left": "right", "right": "left"}
    assert SIDES.stood("acts.better", BETTER) == (("right", "left"),)
    assert dict(SIDES.facets({"side": "Left", "pair": "left or right"})) == {"side": "Right", "pair": "left or right"}
    graded = Candidates(names=("a", "b", "c"), options={"acts.better": (("right", "tie", "left"),)}, turn=1)
    # At the first place stands the second candidate now, at the last one the first.
    assert graded.meant("acts.better", BETTER) == {"right": "tie", "tie": "left", "left": "right"}
    assert dict(graded.facets({"of": "A"})) == {"of": "c"}
    assert SIDES.model_copy(update={"turn": 0}).meant("acts.better", BETTER) == {}


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (DOCUMENT[:5], "nothing that is called “Right”"),
        ([Block(HEADING, "left"), *DOCUMENT], "heads two parts"),
    ],
    ids=["one is missing", "one is there twice"],
)
def test_a_document_without_its_candidates_is_refused(blocks: list[Block], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SIDES.turned(blocks)


def test_candidates_are_found_by_what_documents_and_options_call_them() -> None:
    found = detected([DOCUMENT, DOCUMENT[1:]], {"acts.better": BETTER})
    assert found is not None
    assert (found.names, found.until) == (("left", "right"), "The question")
    assert found.options == {"acts.better": (("left", "right"),)}
    assert detected([DOCUMENT, DOCUMENT[:4]], {"acts.better": BETTER}) is None
    assert detected([], {"acts.better": BETTER}) is None
    labelled = [Block(HEADING, "The right one"), Block(PARAGRAPH, "x"), Block(HEADING, "The left one")]
    by_label = detected([labelled], {"acts.better": BETTER})
    assert by_label is not None
    assert by_label.options == {"acts.better": (("right", "left"),)}


PROMPT = """\
row: $evidence
questions:
  acts.strictness:
    rating: {criterion: STRICTNESS, wording: "How strictly must $facet_act be done?"}
candidates:
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("  names: [one, One]", "one place twice"),
        ("  names: [one]", "candidates.names"),
        ("  names: [one, two]\n  options: {acts.strictness: [[must]]}", "one option for each place"),
        ("  names: [one, two]\n  options: {acts.other: [[a, b]]}", "which the file does not ask"),
        ("  names: [one, two]\n  options: {acts.strictness: [[a, b]]}", "no option of that question"),
    ],
)
def test_candidates_that_cannot_be_are_refused(said: str, why: str) -> None:
    with pytest.raises(PromptError, match=why):
        check_against(load_prompt(PROMPT + said), load_scheme(builders.SCHEME), "rating")
