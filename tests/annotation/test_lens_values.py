"""The lens, decisions and the history where answers are values: texts, numbers, records, transitions."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import actions
from annotation.actions import Refused
from annotation.lens import lens
from annotation.lens.lens import Kind, LensCell
from annotation.models import Decision, Label
from tests.annotation.workshop import CUT, GLUE, LOOK, Workshop, answer, codes, fill, workshop
from tests.builders import ApiOf, ClientOf

WORK, INPUT, MINUTES = (CUT, "work"), (CUT, "input"), (CUT, "minutes")
TOOLS, CHANGE, REMARK = (CUT, "tools"), (CUT, "change"), (CUT, "remark")


@pytest.fixture
def wood(db: None) -> Workshop:
    return workshop()


def cell(wood: Workshop, of: tuple[str, str]) -> LensCell:
    """A cell of the stool."""
    (found,) = (
        cell
        for table in lens.of_sheet(wood.sheet, rows=[wood.stool.row_id]).tables
        for line in table.lines
        if line.question.key == of[1]
        for column, cell in zip(table.columns, line.cells, strict=True)
        if column.name == of[0]
    )
    return found


def place(wood: Workshop, of: tuple[str, str], **more: str) -> dict[str, str]:
    asked = answer(wood.sheet, *of, "")
    return {
        "row": str(wood.stool.row_id),
        "column": str(asked.column.pk),
        "question": str(asked.question.pk),
        **more,
    }


def decide(wood: Workshop, of: tuple[str, str], value: Any, *, reason: str = "") -> Decision:
    asked = answer(wood.sheet, *of, "")
    return actions.adjudicate(
        row=wood.stool.row, column=asked.column, question=asked.question, value=value, reason=reason, by=wood.manager
    )


def gold(wood: Workshop) -> dict[tuple[str, str], str]:
    labels = Label.objects.filter(assignment__rater__kind="gold").select_related("column", "question", "option")
    return {(label.column.name, label.question.key): label.code for label in labels}


# --- the same, and not ----------------------------------------------------------------------------------------------


# a question, what Anna, Boris and J1 answer, and in what way they differ
DIFFERENCES = {
    "numbers": (MINUTES, ":3", ":3.5", None, (Kind.PEOPLE,)),
    "a number written otherwise": (MINUTES, ":3", ": 3.0", None, ()),
    "lists in another order": (INPUT, ':"plank; foot"', ':"Foot; plank"', None, ()),
    "lists of other things": (INPUT, ':"plank; foot"', ':"plank"', None, (Kind.PEOPLE,)),
    "a special value": (INPUT, ':"plank"', ':"NA"', None, (Kind.PEOPLE,)),
    "texts in capitals, and the judge differs": (REMARK, ':"slowly"', ':"Slowly"', ':"fast"', (Kind.JUDGE,)),
    "the judge agrees in small letters": (REMARK, ':"Slowly"', None, ':"slowly"', ()),
    "records": (TOOLS, ':[{"tool":"saw","parts":[]}]', ':[{"tool":"axe","parts":[]}]', None, (Kind.PEOPLE,)),
    "transitions": (CHANGE, ':[{"from":["plank"],"to":["seat"]}]', ":[]", None, (Kind.PEOPLE,)),
}


@pytest.mark.parametrize(("of", "anna", "boris", "judge", "kinds"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_whether_values_differ_is_asked_of_their_question(
    wood: Workshop, of: tuple[str, str], anna: str, boris: str | None, judge: str | None, kinds: tuple[Kind, ...]
) -> None:
    for assignment, code in ((wood.stool, anna), (wood.boriss_stool, boris), (wood.judges_stool, judge)):
        if code:
            fill(assignment, {of: code})

    assert cell(wood, of).kinds == kinds


def test_a_special_value_switches_questions_off_in_the_lens(wood: Workshop) -> None:
    fill(wood.stool, {INPUT: ':"NA"'})
    fill(wood.boriss_stool, {INPUT: ':"plank"'})

    assert [said.asked for said in cell(wood, MINUTES).people] == [False, True]


def test_the_page_draws_texts_and_numbers_as_they_are(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {MINUTES: ":2.5", REMARK: ':"<b>slowly"', TOOLS: ':[{"tool":"saw","parts":[]}]'})
    fill(wood.boriss_stool, {MINUTES: ":12.5", REMARK: ':"<b>SLOWLY"'})
    fill(wood.judges_stool, {MINUTES: ":30"})

    page = client_of(wood.manager).get(reverse("annotation:lens", args=[wood.sheet.pk])).content.decode()

    assert '<td data-f="people"><i class="t-grey">2.5</i> <i class="t-grey">12.5</i><s></s>30</td>' in page
    # A text stands there whole: how much of it is seen the room says.
    assert "<td><div><span>&lt;b&gt;slowly</span> <span>&lt;b&gt;SLOWLY</span><s></s>·</div></td>" in page
    assert "<td>1× ·<s></s>·</td>" in page


def test_what_runs_from_right_to_left_keeps_its_place_in_the_lens(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {REMARK: ':"ببطء."'})
    fill(wood.boriss_stool, {REMARK: ':"no"'})

    page = client_of(wood.manager).get(reverse("annotation:lens", args=[wood.sheet.pk])).content.decode()

    assert "<bdi>ببطء.</bdi>" in page


# --- what is said of a cell -----------------------------------------------------------------------------------------


def test_the_detail_shows_values_in_full_and_numbers_them(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {REMARK: ':"mind\\nyour <fingers>"'})
    fill(wood.boriss_stool, {REMARK: ':"slowly"'})
    fill(wood.judges_stool, {REMARK: ':"slowly"'})
    decide(wood, REMARK, "slowly")

    page = client_of(wood.manager).get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place(wood, REMARK))

    html = page.content.decode()
    assert '<span class="value" dir="auto">mind\nyour &lt;fingers&gt;</span>' in html
    assert 'data-take="1" data-written="mind\nyour &lt;fingers&gt;"' in html
    assert html.count('data-take="2" data-written="slowly"') == 2  # Boris and the judge write the same
    assert 'data-take="3"' not in html
    assert "mind / your &lt;fingers&gt;" in html  # what the decider saw
    steps = html[html.index("<details>") :]
    assert steps.count('<span class="quiet">empty</span> → <span class="value" dir="auto">slowly</span>') == 3


def test_the_detail_of_a_number_has_its_unit(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {MINUTES: ":2.5"})

    page = client_of(wood.manager).get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place(wood, MINUTES))

    shown = 'data-written="2.5" data-shown="2.5 min">1</span> <span class="value" dir="auto">2.5 min</span>'
    assert shown in page.content.decode()


def test_the_detail_shows_answers_with_parts_as_small_lists(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {TOOLS: ':[{"tool":"saw","parts":["plank","foot"]},{"tool":"<b>","parts":[]}]'})

    page = client_of(wood.manager).get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place(wood, TOOLS))

    html = page.content.decode()
    shown = '<ol class="value entries" dir="auto"><li>saw · plank, foot</li><li>&lt;b&gt;</li></ol>'
    assert f'data-shown="saw · plank, foot; &lt;b&gt;">1</span> {shown}' in html
    assert f'<span class="quiet">empty</span> → {shown}' in html


def test_a_value_that_the_scheme_has_no_more_is_shown_as_it_stands(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {MINUTES: ":3"})
    Label.objects.filter(assignment=wood.stool).update(value=99)

    page = client_of(wood.manager).get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place(wood, MINUTES))

    assert '<span class="value" dir="auto">:99</span>' in page.content.decode()
    assert "data-take" not in page.content.decode()
    assert cell(wood, MINUTES).labels == {"A1": ":99"}


# --- deciding -------------------------------------------------------------------------------------------------------


# a question, what is typed, and the code of the decision
TYPED = {
    "number": (MINUTES, " 3.50 ", ":3.5"),
    "text": (INPUT, "plank ;foot", ':"plank; foot"'),
    "records": (
        TOOLS,
        "saw | plank, foot\naxe",
        ':[{"tool":"saw","parts":["plank","foot"]},{"tool":"axe","parts":[]}]',
    ),
    "transitions": (CHANGE, "plank -> seat, rest", ':[{"from":["plank"],"to":["seat","rest"]}]'),
}


@pytest.mark.parametrize(("of", "typed", "code"), TYPED.values(), ids=TYPED.keys())
def test_what_is_typed_is_decided(
    wood: Workshop, client_of: ClientOf, of: tuple[str, str], typed: str, code: str
) -> None:
    url = reverse("annotation:lens-decide", args=[wood.sheet.pk])

    response = client_of(wood.manager).post(url, place(wood, of, text=typed))

    assert response.status_code == 200
    assert gold(wood) == {of: code}
    drawn = [html for *_cell, html in response.json()["cells"]]
    assert sum('data-f="decided"' in html and "<b>" in html for html in drawn) == 1


def test_a_decision_that_is_no_answer_is_refused_with_a_sentence(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {MINUTES: ":3"})
    client, url = client_of(wood.manager), reverse("annotation:lens-decide", args=[wood.sheet.pk])

    refused = {text: client.post(url, place(wood, MINUTES, text=text)) for text in ("61", "three", "4", "")}

    assert [response.status_code for response in refused.values()] == [409] * 4
    said = [response.json()["message"] for response in refused.values()]
    for part, sentence in zip(
        ("from 0 to 60, not 61", "“three” is no number", "Give a reason", "no decision here"), said, strict=True
    ):
        assert part in sentence
    assert not Decision.objects.exists()


def test_a_value_decided_is_taken_back_by_nothing(wood: Workshop, client_of: ClientOf) -> None:
    decide(wood, MINUTES, 3)

    client_of(wood.manager).post(
        reverse("annotation:lens-decide", args=[wood.sheet.pk]), place(wood, MINUTES, reason="unclear")
    )

    assert gold(wood) == {}
    assert [(made.value, made.reason) for made in Decision.objects.all()] == [(None, "unclear"), (3, "")]


def test_no_reason_is_needed_for_what_all_say_in_other_words(wood: Workshop) -> None:
    for assignment in (wood.stool, wood.boriss_stool):
        fill(assignment, {INPUT: ':"plank; foot"'})

    with pytest.raises(Refused, match="All people who answered say something else here"):
        decide(wood, INPUT, "plank")

    assert decide(wood, INPUT, "Foot; Plank").code == ':"Foot; Plank"'


def test_accept_agreed_compares_as_the_question_does(wood: Workshop) -> None:
    """Of what is the same, most people's spelling is taken, else that of the first of them."""
    fill(wood.stool, {WORK: "cut", INPUT: ':"plank; foot"', MINUTES: ":3", REMARK: ':"x"'})
    fill(wood.boriss_stool, {WORK: "cut", INPUT: ':"Foot; plank"', MINUTES: ":4", REMARK: ':"X"'})
    (again,) = actions.assign(rater=wood.boriss_stool.rater, rows=[wood.stool.row], repeat=2)
    fill(again, {REMARK: ':"X"'})
    fill(wood.judges_stool, {WORK: "cut", INPUT: ':"PLANK; foot"'})

    found = lens.agreed(lens.of_sheet(wood.sheet), judges=True)
    actions.accept_agreed(sheet=wood.sheet, judges=True, shown=lens.digest(found), by=wood.manager)

    assert gold(wood) == {WORK: "cut", INPUT: ':"plank; foot"', REMARK: ':"X"'}
    seen = Decision.objects.get(question__key="input").seen
    assert seen == {"A1": ':"plank; foot"', "A2": ':"Foot; plank"', "J1": ':"PLANK; foot"'}


def test_accept_agreed_leaves_what_a_special_value_switches_off(wood: Workshop) -> None:
    for assignment in (wood.stool, wood.boriss_stool):
        fill(assignment, {INPUT: ':"plank"', MINUTES: ":3"})
    decide(wood, INPUT, "NA", reason="the plank is cut already")

    assert lens.agreed(lens.of_sheet(wood.sheet), judges=True) == []


# --- history and restoring ------------------------------------------------------------------------------------------


def test_history_and_restore_show_values_before_and_after(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {MINUTES: ":3", (GLUE, "minutes"): ":1"})
    then = timezone.now()
    fill(wood.stool, {MINUTES: ":4", (LOOK, "remark"): ':"<i>"'})
    column, question = (answer(wood.sheet, *MINUTES, "").column, answer(wood.sheet, *MINUTES, "").question)
    skip = actions.Answer(column, question, skip="torn page")
    actions.record(assignment=wood.stool, answers=[skip], key=uuid.uuid4())
    client = client_of(wood.manager)

    history = client.get(reverse("annotation:history", args=[wood.sheet.pk])).content.decode()
    moment = {"moment": then.isoformat(), "rater": str(wood.stool.rater_id)}
    preview = client.get(reverse("annotation:restore", args=[wood.sheet.pk]), moment).content.decode()

    for change in (
        '<span class="value" dir="auto">3 min</span> → <span class="value" dir="auto">4 min</span>',
        '<span class="value" dir="auto">4 min</span> → <span class="chip t-grey">?</span> torn page',
        '<span class="quiet">empty</span> → <span class="value" dir="auto">&lt;i&gt;</span>',
    ):
        assert change in history
    assert '<span class="chip t-grey">?</span> torn page → <span class="value" dir="auto">3 min</span>' in preview
    assert '<span class="value" dir="auto">&lt;i&gt;</span> → <span class="quiet">empty</span>' in preview
    assert codes(wood.stool)[GLUE, "minutes"] == ":1"


# --- the API --------------------------------------------------------------------------------------------------------


def test_the_api_tells_and_decides_values(wood: Workshop, api_of: ApiOf) -> None:
    fill(wood.stool, {MINUTES: ":3"})
    fill(wood.boriss_stool, {MINUTES: ":4"})
    client = api_of(wood.manager)
    of = place(wood, MINUTES, question="minutes")
    decisions = reverse("api:decisions", args=[wood.sheet.pk])

    made = client.post(decisions, {**of, "value": 4.0}, format="json")
    refused = client.post(decisions, {**of, "value": [1]}, format="json")
    neither = client.post(decisions, of, format="json")
    (told,) = client.get(reverse("api:lens", args=[wood.sheet.pk]), {"kind": "people"}).json()["cells"]
    events = client.get(reverse("api:history", args=[wood.sheet.pk]), {"rater": "gold"}).json()["results"]

    assert (made.status_code, made.json()["option"], made.json()["value"]) == (201, None, 4)
    assert made.json()["seen"] == {"A1": ":3", "A2": ":4"}
    assert (refused.status_code, neither.status_code, list(neither.json())) == (409, 400, ["option"])
    assert (told["people"], told["gold"]) == ({"A1": ":3", "A2": ":4"}, ":4")
    assert [(event["value_before"], event["value_after"], event["after"]) for event in events] == [(None, 4, None)]
