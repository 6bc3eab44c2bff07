"""Saving what was changed in the grid: one choice or a range, conflicts, undoing."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions
from annotation.models import Assignment, Label, Option, Question, Sheet
from tests import builders
from tests.builders import ClientOf, Leases, label, standing

RENT, INSURE = ("Pay rent", "stated"), ("Insure", "stated")
NOTICE_ACT, NOTICE_PARTY = ("Give notice · tenant", "act"), ("Give notice · tenant", "party")
INSPECT_ACT, INSPECT_PARTY = ("Inspect", "act"), ("Inspect", "party")
Cell = tuple[Assignment, tuple[str, str], str, str]  # assignment, (column, question), value, what was seen there


def change(*cells: Cell, key: uuid.UUID | None = None, restore: bool = False) -> dict[str, str]:
    """What the grid's script posts."""
    changes = []
    for assignment, (column, question), value, seen in cells:
        answer = builders.answer(assignment.row.sheet, column, question, None)
        changes.append([assignment.pk, answer.column.pk, answer.question.pk, value, seen])
    return {"key": str(key or uuid.uuid4()), "restore": "1" if restore else "", "changes": json.dumps(changes)}


def save(client: Client, sheet: Sheet, data: dict[str, str]) -> Any:
    return client.post(reverse("annotation:record-cells", args=[sheet.pk]), data)


@pytest.fixture
def anna(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.anna)


# --- changes that travel together -----------------------------------------------------------------------------------


def together(client: Client, sheet: Sheet, *edits: dict[str, Any]) -> Any:
    wire = [{**edit, "restore": bool(edit["restore"]), "changes": json.loads(edit["changes"])} for edit in edits]
    return save(client, sheet, {"edits": json.dumps(wire)})


def test_changes_that_travel_together_are_taken_in_their_order_each_by_itself(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    edits = [
        change((mine, RENT, "stated", "")),
        change((mine, RENT, "absent", "stated")),
        change((mine, RENT, "nonsense", "absent")),
        change((mine, INSURE, "stated", "")),
    ]

    response = together(anna, leases.sheet, *edits)

    assert response.status_code == 200
    answers = response.json()["answers"]
    assert [answer["key"] for answer in answers] == [edit["key"] for edit in edits]
    assert [answer.get("message", "") != "" for answer in answers] == [False, False, True, False]
    assert standing(mine) == {RENT: "absent", INSURE: "stated"}
    # Sent again, since the answer was lost on its way: nothing is done twice.
    again = together(anna, leases.sheet, *edits).json()["answers"]
    assert [answer["key"] for answer in again] == [edit["key"] for edit in edits]
    assert mine.events.count() == 3


def test_answers_that_travel_together_become_what_each_becomes_alone(leases: Leases, anna: Client) -> None:
    """Rules, presets and a conflict included; sent again with more behind it, nothing is done twice."""
    alone, mine = leases.annas
    for one in (alone, mine):
        label(one, {INSURE: "stated", NOTICE_ACT: "found"})
    made = {
        one.pk: [
            change((one, RENT, "stated", "")),
            change((one, INSURE, "absent", "")),  # something else stands there
            change((one, INSPECT_ACT, "found", "")),  # which presets the party
            change((one, NOTICE_ACT, "absent", "found")),
        ]
        for one in (alone, mine)
    }

    each = [save(anna, leases.sheet, edit).json() for edit in made[alone.pk]]
    answers = together(anna, leases.sheet, *made[mine.pk][:3]).json()["answers"]
    answers += together(anna, leases.sheet, *made[mine.pk]).json()["answers"][3:]

    assert standing(mine) == standing(alone)
    for one, other in zip(answers, each, strict=True):
        assert [values for *_, values in one["columns"]] == [values for *_, values in other["columns"]]
        assert [wanted for _, wanted in one["conflicts"]] == [wanted for _, wanted in other["conflicts"]]
        assert list(one["states"].values()) == ["started"]
    keys = [{str(key) for key in one.events.values_list("key", flat=True)} for one in (alone, mine)]
    keys = [[edit["key"] in of_one for edit in made[one.pk]] for one, of_one in zip((alone, mine), keys, strict=True)]
    assert keys[0] == keys[1] == [True, False, True, True]
    assert mine.events.count() == alone.events.count()


def test_a_change_that_is_sent_again_is_answered_before_the_one_behind_it(leases: Leases, anna: Client) -> None:
    """What it has become is what it became: undo takes back the step that put it there."""
    mine = leases.annas[1]
    edits = [change((mine, RENT, "stated", "")), change((mine, RENT, "absent", "stated"))]
    save(anna, leases.sheet, edits[0])  # the answer to it is lost

    answers = together(anna, leases.sheet, *edits).json()["answers"]

    columns = [values for answer in answers for *_, values in answer["columns"]]
    assert [list(values.values()) for values in columns] == [["stated"], ["absent"]]


def test_many_answers_cost_as_many_statements_as_two(leases: Leases, anna: Client) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=2)
    label(leases.annas[0])  # the scheme is read then
    costs = []
    for assignment, n_answers in zip(builders.assignments(leases.annas[0].rater, wide), (2, 30), strict=True):
        edits = [change((assignment, (f"Duty {n}", "stated"), "stated", "")) for n in range(n_answers)]
        with CaptureQueriesContext(connection) as captured:
            assert together(anna, wide, *edits).status_code == 200
        assert assignment.events.values("key").distinct().count() == n_answers
        costs.append(len(captured))
    assert costs[0] == costs[1]


@pytest.mark.parametrize("edits", ["", "no JSON", "{}", "[]", "[1]", json.dumps([{}] * 201)])
def test_what_is_no_list_of_edits_is_refused(leases: Leases, anna: Client, edits: str) -> None:
    response = save(anna, leases.sheet, {"edits": edits})
    assert response.status_code == 409
    assert response.json()["message"] == "This is no list of changes. Nothing was saved; reload the page."


def test_an_edit_without_key_or_changes_is_refused_and_its_neighbour_is_taken(leases: Leases, anna: Client) -> None:
    good = change((leases.annas[0], RENT, "stated", ""))
    wire = [{"key": 7}, {**good, "changes": json.loads(good["changes"])}, {"key": good["key"], "changes": {"a": []}}]
    answers = save(anna, leases.sheet, {"edits": json.dumps(wire)}).json()["answers"]
    assert ["message" in answer for answer in answers] == [True, False, True]
    assert standing(leases.annas[0]) == {RENT: "stated"}


def with_submission(client: Client, sheet: Sheet, mine: Assignment, *edits: dict[str, Any], seen: object = None) -> Any:
    wire = [{**edit, "restore": bool(edit["restore"]), "changes": json.loads(edit["changes"])} for edit in edits]
    data = {"edits": json.dumps(wire), "submit": str(mine.pk)}
    return save(client, sheet, data | ({} if seen is None else {"seen": json.dumps(seen)})).json()


def test_a_row_is_submitted_behind_the_answers_that_it_waits_for(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    label(mine)
    answer = with_submission(anna, leases.sheet, mine, change((mine, RENT, "absent", "stated")))

    assert answer["submitted"] == {"state": "submitted"}
    assert answer["answers"][0]["states"] == {str(mine.pk): "submitted"}
    mine.refresh_from_db()
    assert mine.state == Assignment.State.SUBMITTED
    assert standing(mine)[RENT] == "absent"


def test_what_is_not_taken_whole_submits_nothing(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    label(mine)
    answer = with_submission(
        anna, leases.sheet, mine, change((mine, RENT, "absent", "")), change((mine, INSURE, "stated", "implied"))
    )

    assert answer["answers"][0]["conflicts"]
    assert "submitted" not in answer
    mine.refresh_from_db()
    assert mine.state == Assignment.State.STARTED


def test_behind_its_answers_a_row_is_refused_as_it_is_alone(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    edit = change((mine, RENT, "absent", ""))
    answer = with_submission(anna, leases.sheet, mine, edit)

    assert answer["answers"][0]["key"] == edit["key"]
    assert answer["answers"][0]["states"] == {str(mine.pk): "started"}
    assert "still open" in answer["submitted"]["message"]
    assert answer["submitted"]["open"]
    assert standing(mine) == {RENT: "absent"}
    # Other answers than the page shows.
    label(mine)
    answer = with_submission(anna, leases.sheet, mine, change((mine, RENT, "stated", "stated")), seen=[])
    assert "was changed elsewhere" in answer["submitted"]["message"]


def test_nobody_submits_what_is_another_raters(leases: Leases, anna: Client) -> None:
    mine, other = leases.annas[0], leases.boriss[0]
    label(other)
    wire = [
        {**change((mine, RENT, "absent", "")), "changes": json.loads(change((mine, RENT, "absent", ""))["changes"])}
    ]
    response = save(anna, leases.sheet, {"edits": json.dumps(wire), "submit": str(other.pk)})
    assert response.status_code == 404
    other.refresh_from_db()
    assert other.state == Assignment.State.STARTED


# --- one cell -------------------------------------------------------------------------------------------------------


def test_one_choice_is_saved_and_acknowledged_by_its_key(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    data = change((mine, RENT, "stated", ""))

    answer = save(anna, leases.sheet, data).json()

    _, column, question, *_ = json.loads(data["changes"])[0]
    assert answer == {
        "key": data["key"],
        "columns": [[mine.pk, column, {str(question): "stated"}]],
        "states": {str(mine.pk): "started"},
        "refused": [],
        "held": [],
        "closed": False,
        "warnings": [],
        "conflicts": [],
    }
    assert standing(mine) == {RENT: "stated"}


def test_the_answer_tells_what_followed_in_the_column(leases: Leases, anna: Client) -> None:
    """A preset is told as one, with "=" before it; what was switched off is not there any more."""
    answer = save(anna, leases.sheet, change((leases.annas[0], INSPECT_ACT, "found", ""))).json()
    assert sorted(answer["columns"][0][2].values()) == ["=no-party", "found"]

    answer = save(anna, leases.sheet, change((leases.annas[0], INSPECT_ACT, "absent", "found"))).json()
    assert list(answer["columns"][0][2].values()) == ["absent"]


def test_a_clear(leases: Leases, anna: Client) -> None:
    label(leases.annas[0], {RENT: "stated"})

    assert save(anna, leases.sheet, change((leases.annas[0], RENT, "", "stated"))).json()["columns"][0][2] == {}
    assert standing(leases.annas[0]) == {}


def test_a_conflict_whose_answer_was_lost_is_told_when_the_change_is_sent_again(leases: Leases, anna: Client) -> None:
    """Else the browser would take the whole change for saved, and show another answer without a word."""
    mine = leases.annas[0]
    save(anna, leases.sheet, change((mine, INSURE, "absent", "")))
    data = change((mine, RENT, "stated", ""), (mine, INSURE, "implied", ""))
    first = save(anna, leases.sheet, data).json()
    again = save(anna, leases.sheet, data).json()

    assert len(first["conflicts"]) == 1
    assert again["conflicts"] == first["conflicts"]
    assert sorted(again["columns"], key=str) == sorted(first["columns"], key=str)
    assert standing(mine) == {RENT: "stated", INSURE: "absent"}

    save(anna, leases.sheet, change((mine, INSURE, "implied", "absent")))
    assert save(anna, leases.sheet, data).json()["conflicts"] == []  # what they wanted stands there by now


def test_what_was_chosen_where_it_stood_already_is_no_conflict_when_it_is_sent_again(
    leases: Leases, anna: Client
) -> None:
    """It was taken, though the history has nothing of it; what its rater has answered there since is their own."""
    mine = leases.annas[0]
    save(anna, leases.sheet, change((mine, INSURE, "absent", "")))
    data = change((mine, RENT, "stated", ""), (mine, INSURE, "absent", "absent"))
    assert save(anna, leases.sheet, data).json()["conflicts"] == []
    save(anna, leases.sheet, change((mine, INSURE, "implied", "absent")))

    again = save(anna, leases.sheet, data).json()

    assert again["conflicts"] == []
    assert standing(mine) == {RENT: "stated", INSURE: "implied"}


def test_the_same_key_again_is_acknowledged_and_does_nothing(leases: Leases, anna: Client) -> None:
    data = change((leases.annas[0], RENT, "stated", ""))
    first = save(anna, leases.sheet, data).json()

    assert save(anna, leases.sheet, data).json() == first
    assert leases.annas[0].events.count() == 1


def test_a_cell_that_is_not_asked_is_refused_with_a_sentence(leases: Leases, anna: Client) -> None:
    label(leases.annas[0], {NOTICE_ACT: "absent"})

    answer = save(anna, leases.sheet, change((leases.annas[0], NOTICE_PARTY, "same", ""))).json()

    assert answer["refused"] == ["“Party” is not asked of “Give notice · tenant” here."]
    assert list(answer["columns"][0][2].values()) == ["absent"]  # what the page goes back to


def test_somebody_elses_row_is_refused(leases: Leases, anna: Client) -> None:
    response = save(anna, leases.sheet, change((leases.boriss[0], RENT, "stated", "")))

    assert response.status_code == 409
    assert response.json()["message"].startswith("This row is not assigned to you any more.")
    assert standing(leases.boriss[0]) == {}


def test_of_a_range_over_a_row_that_was_taken_away_the_rest_goes_in_and_it_is_said(
    leases: Leases, anna: Client
) -> None:
    data = change((leases.annas[0], RENT, "stated", ""), (leases.boriss[1], RENT, "stated", ""))

    assert save(anna, leases.sheet, {**data, "restore": "1"}).status_code == 409  # an undo is whole
    assert standing(leases.annas[0]) == {}

    (said,) = save(anna, leases.sheet, data).json()["refused"]
    assert said.startswith("This row is not assigned to you any more.")
    assert (standing(leases.annas[0]), standing(leases.boriss[1])) == ({RENT: "stated"}, {})


def test_a_page_that_was_made_for_somebody_else_is_kept_waiting(leases: Leases, anna: Client) -> None:
    url = reverse("annotation:record-cells", args=[leases.sheet.pk])
    data = change((leases.annas[0], RENT, "stated", ""))

    response = anna.post(url, data, headers={"X-Palate-User": str(leases.boris.pk)})

    assert response.status_code == 403
    assert standing(leases.annas[0]) == {}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"key": ""}, "required"),
        ({"key": "no-key"}, "UUID"),
        ({"changes": "no json"}, "JSON"),
        ({"changes": "[]"}, "required"),
        ({"changes": '{"1": 2}'}, "This is no list of changes."),
        ({"changes": "[[1, 2, 3]]"}, "This is no list of changes."),
        ({"changes": '[[true, 2, 3, "", ""]]'}, "This is no list of changes."),
        ({"changes": '[["1", 2, 3, "", ""]]'}, "This is no list of changes."),
        ({"changes": '[[10000000000000000000, 2, 3, "", ""]]'}, "This is no list of changes."),
        ({"changes": '[[1, 2, 3, "!half a pair \\ud83d", ""]]'}, "This is no list of changes."),
        ({"changes": '[[1, 2, 3, "!zero \\u0000", ""]]'}, "This is no list of changes."),
        ({"changes": f'[[{"9" * 5000}, 2, 3, "", ""]]'}, "JSON"),
        ({"changes": "[" * 100_000}, "JSON"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_change_is_refused(leases: Leases, anna: Client, wrong: dict[str, str], sentence: str) -> None:
    response = save(anna, leases.sheet, change((leases.annas[0], RENT, "stated", "")) | wrong)

    assert response.status_code == 409
    assert sentence in response.json()["message"]
    assert not Label.objects.exists()


def test_an_option_of_another_question_is_refused(leases: Leases, anna: Client) -> None:
    data = change((leases.annas[0], RENT, "found", ""))
    response = save(anna, leases.sheet, data)

    assert response.status_code == 409
    assert response.json() == {"key": data["key"], "message": "“found” is no answer to “Stated”.", "held": []}


def test_a_column_of_another_sheet_is_refused(leases: Leases, anna: Client) -> None:
    other = builders.sheet(leases.study, "Other")
    data = change((leases.annas[0], RENT, "stated", ""))
    [[assignment, _, question, *rest]] = json.loads(data["changes"])
    data["changes"] = json.dumps([[assignment, other.columns.get(name="Pay rent").pk, question, *rest]])

    assert save(anna, leases.sheet, data).status_code == 409
    assert not Label.objects.exists()


# --- a range --------------------------------------------------------------------------------------------------------


def test_a_range_over_two_rows_is_one_change(leases: Leases, anna: Client) -> None:
    first, second = leases.annas
    data = change(
        (first, RENT, "stated", ""),
        (first, INSURE, "stated", ""),
        (second, RENT, "stated", ""),
        (second, NOTICE_PARTY, "same", ""),  # before the question that it depends on
        (second, NOTICE_ACT, "found", ""),
    )

    assert save(anna, leases.sheet, data).json()["refused"] == []
    assert standing(first) == {RENT: "stated", INSURE: "stated"}
    assert standing(second) == {RENT: "stated", NOTICE_ACT: "found", NOTICE_PARTY: "same"}
    assert {str(e.key) for a in leases.annas for e in a.events.all()} == {data["key"]}


def test_of_a_range_the_rows_that_are_closed_are_left_out(leases: Leases, anna: Client) -> None:
    first, second = leases.annas
    actions.submit(assignment=first, allow_open=True)

    answer = save(anna, leases.sheet, change((first, RENT, "stated", ""), (second, RENT, "stated", ""))).json()

    assert answer["refused"] == ["“Clause 1” is submitted; take it back first to change it."]
    assert answer["states"] == {str(first.pk): "submitted", str(second.pk): "started"}
    assert (standing(first), standing(second)) == ({}, {RENT: "stated"})


def test_one_wrong_cell_keeps_its_whole_row_out(leases: Leases, anna: Client) -> None:
    first, second = leases.annas
    label(first, {NOTICE_ACT: "absent"})

    save(
        anna,
        leases.sheet,
        change((first, RENT, "stated", ""), (first, NOTICE_PARTY, "same", ""), (second, RENT, "stated", "")),
    )

    assert standing(first) == {NOTICE_ACT: "absent"}
    assert standing(second) == {RENT: "stated"}


# --- changed from elsewhere -----------------------------------------------------------------------------------------


def test_a_cell_that_was_changed_elsewhere_is_left_and_told(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    label(mine, {RENT: "implied"})  # from another browser; this page has seen an empty cell

    data = change((mine, RENT, "absent", ""), (mine, INSURE, "stated", ""))
    answer = save(anna, leases.sheet, data).json()

    _, column, question, *_ = json.loads(data["changes"])[0]
    assert answer["conflicts"] == [[f"c-{mine.pk}-{column}-{question}", "absent"]]
    assert [mine.pk, column, {str(question): "implied"}] in answer["columns"]
    assert standing(mine) == {RENT: "implied", INSURE: "stated"}  # the rest goes in


def test_the_same_choice_from_elsewhere_is_no_conflict(leases: Leases, anna: Client) -> None:
    label(leases.annas[0], {RENT: "stated"})

    answer = save(anna, leases.sheet, change((leases.annas[0], RENT, "stated", ""))).json()

    assert answer["conflicts"] == []
    assert list(answer["columns"][0][2].values()) == ["stated"]


# --- a page that was open before what it asks was changed -----------------------------------------------------------


def test_the_same_file_is_the_same_scheme_whatever_was_filled_in_when_it_was_stored(leases: Leases) -> None:
    """A scheme from before stands with the signs that options got then, and its file was refused to a second study."""
    stored = leases.study.scheme
    stored.spec["sections"][0]["questions"][0]["options"][0]["sign"] = "X"
    stored.save()

    assert builders.scheme(builders.SCHEME) == stored


def test_what_is_asked_is_never_changed_under_an_open_page(leases: Leases, client_of: ClientOf) -> None:
    """With an option less or a check more it is another version, and no study moves to one."""
    without = builders.SCHEME.replace("          - {key: implied, label: Implied}\n", "")
    assert without != builders.SCHEME

    with pytest.raises(actions.Refused, match="Raise the version"):
        builders.scheme(without)
    newer = builders.scheme(without.replace("version: 1", "version: 2"))
    admin = client_of(builders.user("root", superuser=True))
    study = leases.study
    admin.post(f"/admin/annotation/study/{study.pk}/change/", {"title": "New", "guideline": "", "scheme": newer.pk})
    for model, pk in (("scheme", study.scheme_id), ("option", Option.objects.first().pk)):  # type: ignore[union-attr]
        for what in ("change", "delete"):
            answer = admin.post(f"/admin/annotation/{model}/{pk}/{what}/", {"label": "Other", "post": "yes"})
            assert answer.status_code == 403

    before = study.scheme_id
    study.refresh_from_db()
    assert (study.title, study.scheme_id) == ("New", before)


def test_answers_to_what_is_asked_in_another_version_are_refused_and_kept_by_the_page(
    leases: Leases, anna: Client
) -> None:
    builders.scheme(builders.SCHEME.replace("version: 1", "version: 2"))
    first, second = leases.annas
    elsewhere = Question.objects.get(section__scheme__version=2, key="stated")
    stale, good = change((first, RENT, "stated", "")), change((second, RENT, "stated", ""))
    [cell] = json.loads(stale["changes"])
    stale["changes"] = json.dumps([cell, [*cell[:2], elsewhere.pk, *cell[3:]]])

    alone = save(anna, leases.sheet, stale)
    answers = together(anna, leases.sheet, stale, good).json()["answers"]

    assert alone.status_code == 409
    for told in (alone.json(), answers[0]):
        assert told["message"] == "This sheet has other columns by now. Reload the page."
        assert told["held"] == [first.pk]  # the browser keeps what it could not save
    assert "message" not in answers[1]
    assert standing(first) == {}
    assert standing(second) == {RENT: "stated"}


def test_an_option_that_is_not_there_is_refused_in_a_sentence(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    label(mine, {RENT: "implied"})

    answer = save(anna, leases.sheet, change((mine, RENT, "left-out", "implied"), (mine, INSURE, "stated", "")))

    assert (answer.status_code, "left-out" in answer.json()["message"]) == (409, True)
    assert standing(mine) == {RENT: "implied"}


# --- undoing --------------------------------------------------------------------------------------------------------


def test_undoing_brings_back_what_a_rule_cleared_and_what_was_preset(leases: Leases, anna: Client) -> None:
    mine = leases.annas[0]
    label(mine, {INSPECT_ACT: "found"})  # presets the party
    label(mine, {INSPECT_ACT: "absent"})  # switches it off

    save(
        anna,
        leases.sheet,
        change((mine, INSPECT_ACT, "found", "absent"), (mine, INSPECT_PARTY, "=no-party", ""), restore=True),
    )

    assert standing(mine) == {INSPECT_ACT: "found", INSPECT_PARTY: "no-party"}
    assert mine.labels.get(question__key="party").preset


def test_what_is_not_the_preset_is_never_stored_as_one(leases: Leases, anna: Client) -> None:
    save(
        anna,
        leases.sheet,
        change((leases.annas[0], INSPECT_ACT, "=found", ""), (leases.annas[0], INSPECT_PARTY, "=same", "")),
    )

    assert not leases.annas[0].labels.filter(preset=True).exists()


def test_an_undo_goes_in_whole_or_not_at_all(leases: Leases, anna: Client) -> None:
    first, second = leases.annas
    label(first, {RENT: "stated"})
    label(second, {RENT: "absent"})  # the step had put "stated" there; somebody has changed it since

    answer = save(
        anna, leases.sheet, change((first, RENT, "", "stated"), (second, RENT, "", "stated"), restore=True)
    ).json()

    assert len(answer["conflicts"]) == 1
    assert (standing(first), standing(second)) == ({RENT: "stated"}, {RENT: "absent"})
    assert sorted(next(iter(values.values())) for *_, values in answer["columns"]) == ["absent", "stated"]


# --- what it costs --------------------------------------------------------------------------------------------------


def test_a_save_costs_the_same_on_a_wide_sheet(leases: Leases, anna: Client) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=1)
    [assignment] = builders.assignments(leases.annas[0].rater, wide)
    label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(29)})
    label(leases.annas[0], {INSURE: "stated"})  # both are started then

    costs = []
    for sheet, data in (
        (leases.sheet, change((leases.annas[0], RENT, "stated", ""))),
        (wide, change((assignment, ("Duty 29", "stated"), "stated", ""))),
        (wide, change(*[(assignment, (f"Duty {n}", "stated"), "absent", "stated") for n in range(30)])),
    ):
        with CaptureQueriesContext(connection) as captured:
            assert save(anna, sheet, data).status_code == 200
        costs.append(len(captured))

    # Session, user, assignment, columns; then in one transaction: the lock, the key, labels, a write, the events.
    # pytest's own transaction makes ours a savepoint, which are two more statements.
    assert costs == [11, 11, 11]
