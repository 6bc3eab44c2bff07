from __future__ import annotations

import time

import pytest

from judges.methods.rating import Criterion, Unreadable, Verdict, Why, opening, read, request

AUTHENTICITY = Criterion("AUTHENTICITY", "How much of the dish is left?", dict.fromkeys(range(1, 6), ""))
OTHERS = ("SENSITIVITY", "HARMONY")


def of(answer: str, *, cut: bool = False) -> Verdict | Unreadable:
    return read(answer, AUTHENTICITY, others=OTHERS, cut=cut)


@pytest.mark.parametrize(
    ("answer", "rating", "reason"),
    [
        pytest.param("AUTHENTICITY: 4\nReason: The layers stay.", 4, "The layers stay.", id="as asked"),
        pytest.param("authenticity: 4\nreason: The layers stay.", 4, "The layers stay.", id="small letters"),
        pytest.param("  AUTHENTICITY : 4 \r\n  Reason :  so  ", 4, "so", id="spaces and other line ends"),
        pytest.param("**AUTHENTICITY:** 4\n**Reason:** Layers.", 4, "Layers.", id="bold name"),
        pytest.param("**AUTHENTICITY**: **4**\n\n*Reason*: Layers.", 4, "Layers.", id="bold name and number"),
        pytest.param("__AUTHENTICITY__: `4`", 4, "", id="underlined and code"),
        pytest.param("### Authenticity: 4", 4, "", id="heading"),
        pytest.param("**AUTHENTICITY**\nRating: 4\nReason: Layers.", 4, "Layers.", id="rating under a heading"),
        pytest.param("AUTHENTICITY:\n\n4\n\nLayers.", 4, "Layers.", id="number on a line of its own"),
        pytest.param("1. AUTHENTICITY: 4 - Layers.", 4, "Layers.", id="numbered list"),
        pytest.param("- AUTHENTICITY: 4", 4, "", id="list"),
        pytest.param("> AUTHENTICITY: 4", 4, "", id="quotation"),
        pytest.param("| AUTHENTICITY | 4 | Layers. |\n| SENSITIVITY | 2 | No. |", 4, "Layers.", id="table row"),
        pytest.param("| Criterion | Rating |\n|---|---|\n| **AUTHENTICITY** | **4** |", 4, "", id="bold table"),
        pytest.param("AUTHENTICITY | 4 | Layers.", 4, "Layers.", id="table row without edges"),
        pytest.param("AUTHENTICITY - 4", 4, "", id="hyphen"),
        pytest.param("AUTHENTICITY – 4 – Layers.", 4, "Layers.", id="dashes"),
        pytest.param("AUTHENTICITY = 4", 4, "", id="equals"),
        pytest.param("AUTHENTICITY -> 4", 4, "", id="arrow"),
        pytest.param("AUTHENTICITY 4", 4, "", id="space alone"),
        pytest.param("AUTHENTICITY: [4]", 4, "", id="square brackets"),
        pytest.param("AUTHENTICITY: <4>", 4, "", id="the format's own brackets"),
        pytest.param("AUTHENTICITY (4): Layers.", 4, "Layers.", id="round brackets"),
        pytest.param("AUTHENTICITY (1-5): 4", 4, "", id="the scale beside the name"),
        pytest.param("AUTHENTICITY: Rating: 4", 4, "", id="the word rating behind"),
        pytest.param("Rating for AUTHENTICITY: 4", 4, "", id="the word rating in front"),
        pytest.param("AUTHENTICITY score: 4", 4, "", id="the word score"),
        pytest.param('{"AUTHENTICITY": 4, "Reason": "Layers."}', 4, "Layers.", id="JSON"),
        pytest.param("AUTHENTICITY: 4. It keeps 5 layers.", 4, "It keeps 5 layers.", id="reason on the same line"),
        pytest.param("AUTHENTICITY: 4 Reason: Layers.", 4, "Layers.", id="the word reason on the same line"),
        pytest.param("AUTHENTICITY: 4 (good)", 4, "(good)", id="a remark behind"),
        pytest.param("AUTHENTICITY: 4\nExplanation: Layers.", 4, "Layers.", id="explanation"),
        pytest.param("AUTHENTICITY: 4\nReason: Layers\nand oven.\n\nEnjoy!", 4, "Layers and oven.", id="one paragraph"),
        pytest.param("AUTHENTICITY: 4, SENSITIVITY: 5, HARMONY: 3", 4, "", id="all on one line"),
        pytest.param("HARMONY: 1\nAUTHENTICITY: 4\nReason: a\nSENSITIVITY: 5\nReason: b", 4, "a", id="one answer"),
        pytest.param("AUTHENTICITY: 2\nHm, no.\nAUTHENTICITY: 4\nReason: b", 4, "b", id="the last one counts"),
        pytest.param("AUTHENTICITY: 4\nReason: a\nAUTHENTICITY: <rating>", 4, "a", id="the last valid one counts"),
        pytest.param("AUTHENTICITY: 4\nAUTHENTICITY: 4/5", 4, "", id="a valid one before an ambiguous one"),
        pytest.param("AUTHENTICITY: <rating>\nReason: <reason>\nAUTHENTICITY: 4", 4, "", id="behind the format"),
        pytest.param("<think>AUTHENTICITY: 2?</think>\nAUTHENTICITY: 4", 4, "", id="behind thoughts"),
        pytest.param("Well, 2?\n</think>\nAUTHENTICITY: 4", 4, "", id="behind thoughts that the prompt began"),
    ],
)  # fmt: skip
def test_a_verdict_is_read(answer: str, rating: int, reason: str) -> None:
    assert of(answer) == Verdict(rating, reason)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param("", Why.EMPTY, id="nothing"),
        pytest.param(" \n ", Why.EMPTY, id="white space"),
        pytest.param("What a nice recipe! 4", Why.NO_VERDICT, id="no criterion"),
        pytest.param("Authenticity is kept in 4 ways.", Why.NO_VERDICT, id="the criterion in a sentence"),
        pytest.param("INAUTHENTICITY: 4", Why.NO_VERDICT, id="the end of another word"),
        pytest.param("AUTHENTICITY OF TASTE: 4", Why.NO_VERDICT, id="the beginning of another name"),
        pytest.param("Rating: 4", Why.NO_VERDICT, id="a rating of nothing"),
        pytest.param("SENSITIVITY: 4\nReason: x", Why.OTHER_CRITERION, id="another criterion"),
        pytest.param("AUTHENTICITY: 0", Why.NOT_OFFERED, id="0"),
        pytest.param("AUTHENTICITY: 6", Why.NOT_OFFERED, id="6"),
        pytest.param("AUTHENTICITY: 45", Why.NOT_OFFERED, id="45"),
        pytest.param("AUTHENTICITY: 04", Why.NOT_OFFERED, id="04"),
        pytest.param("AUTHENTICITY: -4", Why.NOT_OFFERED, id="-4"),
        pytest.param("AUTHENTICITY: −4", Why.NOT_OFFERED, id="a real minus"),
        pytest.param("AUTHENTICITY: 4/5", Why.AMBIGUOUS, id="4/5"),
        pytest.param("AUTHENTICITY: 4 / 5", Why.AMBIGUOUS, id="4 / 5"),
        pytest.param("**AUTHENTICITY:** **4**/5", Why.AMBIGUOUS, id="bold 4/5"),
        pytest.param("AUTHENTICITY: 4 out of 5", Why.AMBIGUOUS, id="4 out of 5"),
        pytest.param("AUTHENTICITY: 4 (out of 5)", Why.AMBIGUOUS, id="4 (out of 5)"),
        pytest.param("AUTHENTICITY: 3-4", Why.AMBIGUOUS, id="3-4"),
        pytest.param("AUTHENTICITY: 3 – 4", Why.AMBIGUOUS, id="3 – 4"),
        pytest.param("AUTHENTICITY: 3 to 4", Why.AMBIGUOUS, id="3 to 4"),
        pytest.param("AUTHENTICITY: 3 or 4", Why.AMBIGUOUS, id="3 or 4"),
        pytest.param("AUTHENTICITY: 3, 4", Why.AMBIGUOUS, id="3, 4"),
        pytest.param("AUTHENTICITY: 3.5", Why.AMBIGUOUS, id="3.5"),
        pytest.param("AUTHENTICITY: 3,5", Why.AMBIGUOUS, id="3,5"),
        pytest.param("AUTHENTICITY: 3½", Why.AMBIGUOUS, id="3½"),
        pytest.param("AUTHENTICITY: 4%", Why.AMBIGUOUS, id="4%"),
        pytest.param("AUTHENTICITY: 4+", Why.AMBIGUOUS, id="4+"),
        pytest.param("AUTHENTICITY: <1-5>", Why.AMBIGUOUS, id="the scale itself"),
        pytest.param("| AUTHENTICITY | 4 | 5 |", Why.AMBIGUOUS, id="a row of two ratings"),
        pytest.param("AUTHENTICITY: <rating>\nReason: <brief reason>", Why.NO_NUMBER, id="the format itself"),
        pytest.param("AUTHENTICITY: four", Why.NO_NUMBER, id="a word"),
        pytest.param("AUTHENTICITY: N/A", Why.NO_NUMBER, id="n/a"),
        pytest.param("AUTHENTICITY: ★★★★", Why.NO_NUMBER, id="stars"),
        pytest.param("AUTHENTICITY: 4 ingredients are missing", Why.NO_NUMBER, id="a number of something"),
        pytest.param("AUTHENTICITY:\nReason: 4 layers", Why.NO_NUMBER, id="a reason without a rating"),
        pytest.param("| AUTHENTICITY | HARMONY |\n|---|---|\n| 4 | 5 |", Why.NO_NUMBER, id="a table on its side"),
        pytest.param("AUTHENTICITY: 6\nReason: x\nAUTHENTICITY: 4/5", Why.AMBIGUOUS, id="the last mention says why"),
    ],
)  # fmt: skip
def test_what_is_no_verdict_says_why(answer: str, why: Why) -> None:
    assert of(answer) == Unreadable(why)


@pytest.mark.parametrize(
    ("answer", "read_as"),
    [
        pytest.param("AUTHENTICITY: 4\nReason: The lay", Verdict(4, "The lay"), id="in the reason"),
        pytest.param("AUTHENTICITY: 4", Unreadable(Why.CUT_OFF), id="at the number"),
        pytest.param("AUTHENTICITY: 4 -", Unreadable(Why.CUT_OFF), id="in what may be a range"),
        pytest.param("AUTHENTICITY: ", Unreadable(Why.CUT_OFF), id="before the number"),
        pytest.param("First I look at the", Unreadable(Why.CUT_OFF), id="before the verdict"),
        pytest.param("", Unreadable(Why.CUT_OFF), id="before anything"),
        pytest.param("<think>AUTHENTICITY: 2\nor not", Unreadable(Why.CUT_OFF), id="in thoughts"),
        pytest.param("SENSITIVITY: 4\nReason: x", Unreadable(Why.CUT_OFF), id="behind another criterion"),
        pytest.param("AUTHENTICITY: 3\nReason: x\nAUTHENTICITY: 4", Verdict(3, "x"), id="at a second number"),
        pytest.param("AUTHENTICITY: 6\nReason: x", Unreadable(Why.NOT_OFFERED), id="behind one that is not offered"),
    ],
)
def test_an_answer_that_was_cut_is_not_trusted_at_its_end(answer: str, read_as: Verdict | Unreadable) -> None:
    assert of(answer, cut=True) == read_as


def test_the_scale_is_whatever_is_offered() -> None:
    signed = Criterion("TASTE", "Better or worse?", {-1: "worse", 0: "the same", 1: "better"})
    assert read("TASTE: -1", signed) == Verdict(-1, "")
    assert read("TASTE: −1", signed) == Verdict(-1, "")
    assert read("TASTE - 1", signed) == Verdict(1, "")
    assert read("TASTE: 2", signed) == Unreadable(Why.NOT_OFFERED)
    assert read("TASTE: 10", Criterion("TASTE", "?", dict.fromkeys(range(1, 11), ""))) == Verdict(10, "")


def test_names_of_several_words_and_names_in_names() -> None:
    harmony = Criterion("Harmony of taste", "?", {1: "", 2: ""})
    assert read("**Harmony  of Taste**: 2", harmony, others=["Harmony"]) == Verdict(2, "")
    assert read("Harmony: 2", harmony, others=["Harmony"]) == Unreadable(Why.OTHER_CRITERION)
    assert read("Harmony of taste: 2", Criterion("Harmony", "?", {1: "", 2: ""})) == Unreadable(Why.NO_VERDICT)


@pytest.mark.no_cover
def test_a_long_answer_is_read_quickly() -> None:
    started = time.process_time()
    for filling in ("-", " ", "|", "AUTHENTICITY ", ", ", "(", "*", "<think>", "1. "):
        of("AUTHENTICITY" + filling * 20_000)
    assert time.process_time() - started < 5


# --- the request ------------------------------------------------------------------------------------------------------


def test_the_request_has_criterion_scale_and_form() -> None:
    assert request(AUTHENTICITY) == (
        "Rate one criterion, AUTHENTICITY, with a whole number from 1 to 5, and give a brief reason.\n"
        "How much of the dish is left?\n"
        "\n"
        "Write your answer in this form:\n"
        "AUTHENTICITY: <rating>\n"
        "Reason: <brief reason>"
    )
    assert opening(AUTHENTICITY) == "AUTHENTICITY:"


def test_numbers_that_mean_something_say_what() -> None:
    said = request(Criterion("TASTE", "?", {1: "bad", 3: "", 5: "good"}))
    assert "a whole number out of 1, 3, 5" in said
    assert "\n?\n1 = bad\n5 = good\n" in said


def test_the_request_is_no_verdict_itself() -> None:
    """Models repeat it."""
    assert of(request(AUTHENTICITY)) == Unreadable(Why.NO_NUMBER)


@pytest.mark.parametrize("signs", [" ", "\t", "\u00a0", "_", "\n", "\r", "*", "> "])
def test_marks_without_end_are_read_in_passing(signs: str) -> None:
    """Five seconds for 16,000 spaces behind a name, and 22 minutes for the 260,000 that a server may send: all that a
    process does stands still meanwhile."""
    many = signs * (100_000 // len(signs))
    began = time.process_time()
    for answer in (f"AUTHENTICITY{many}x", f"AUTHENTICITY: 4{many}x", f"{many}AUTHENTICITY: 4"):
        of(answer)
    assert time.process_time() - began < 5
    assert of(f"AUTHENTICITY:{' ' * 100_000}4") == Verdict(4, "")
