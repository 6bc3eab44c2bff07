"""The lens: who says what, in what way a cell stands out, decisions, looks, and what is exposed by them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions
from annotation.actions import Answer, Refused
from annotation.exchange.exports import exported_labels, label_header
from annotation.lens import lens
from annotation.lens.lens import Kind, Lens, LensCell
from annotation.models import Assignment, Decision, Label, LabelEvent, Look, Question, Role
from tests import builders
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases, label

RENT, INSURE = ("Pay rent", "stated"), ("Insure", "stated")
NOTICE, PARTY = ("Give notice · tenant", "act"), ("Give notice · tenant", "party")


def seen(leases: Leases) -> Lens:
    return lens.of_sheet(leases.sheet)


def cell(whole: Lens, row: str, of: tuple[str, str]) -> LensCell:
    """A cell by the names of its row, column and question."""
    (found,) = (
        cell
        for table in whole.tables
        for line in table.lines
        if line.row.name == row and line.question.key == of[1]
        for column, cell in zip(table.columns, line.cells, strict=True)
        if column.name == of[0]
    )
    return found


def judged(leases: Leases, options: Mapping[tuple[str, str], str], *, margin: float = 3.0) -> None:
    """J1 answers the first row; `margin` is by how much it was sure."""
    answers = []
    for (column, question), option in options.items():
        plain = builders.answer(leases.sheet, column, question, option)
        answers.append(Answer(plain.column, plain.question, plain.option, scores={"margin_nats": margin}))
    actions.record(assignment=leases.judges[0], answers=answers, key=uuid.uuid4())


def decide(leases: Leases, of: tuple[str, str], option: str | None, *, reason: str = "", row: int = 0) -> Decision:
    answer = builders.answer(leases.sheet, of[0], of[1], option)
    return actions.adjudicate(
        row=leases.annas[row].row,
        column=answer.column,
        question=answer.question,
        option=answer.option,
        reason=reason,
        by=leases.manager,
    )


def gold(leases: Leases) -> dict[tuple[str, str, str], str]:
    labels = Label.objects.filter(assignment__rater__kind="gold").order_by("pk")
    return {
        (row, column, question): option
        for row, column, question, option in labels.values_list(
            "assignment__row__name", "column__name", "question__key", "option__key"
        )
    }


# --- who says what --------------------------------------------------------------------------------------------------


def test_a_cell_holds_what_everybody_says(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    label(leases.boriss[0], {RENT: "implied"})
    judged(leases, {RENT: "absent"})

    found = cell(seen(leases), "Clause 1", RENT)

    assert found.labels == {"A1": "stated", "A2": "implied", "J1": "absent"}
    assert [said.code for said in found.people] == ["A1", "A2"]
    assert [said.code for said in found.judges] == ["J1"]


def test_repeats_are_raters_of_their_own(leases: Leases) -> None:
    (again,) = actions.assign(rater=leases.annas[0].rater, rows=[leases.annas[0].row], repeat=2)
    label(leases.annas[0], {RENT: "stated"})
    label(again, {RENT: "absent"})

    assert cell(seen(leases), "Clause 1", RENT).labels == {"A1": "stated", "A1 (2)": "absent"}


def test_withdrawn_work_is_left_out(leases: Leases) -> None:
    label(leases.boriss[0], {RENT: "absent"})
    actions.withdraw(rater=leases.boriss[0].rater)

    found = cell(seen(leases), "Clause 1", RENT)

    assert [said.code for said in found.people] == ["A1"]


def test_a_question_that_own_answers_switch_off_is_not_asked(leases: Leases) -> None:
    label(leases.annas[0], {NOTICE: "absent"})
    label(leases.boriss[0], {NOTICE: "found"})

    found = cell(seen(leases), "Clause 1", PARTY)

    assert [said.asked for said in found.people] == [False, True]


# what Anna, Boris and J1 say of the cell -> its kinds
KINDS = {
    "nobody": (None, None, None, ()),
    "one person": ("stated", None, None, ()),
    "all the same": ("stated", "stated", "stated", ()),
    "people differ": ("stated", "absent", None, (Kind.PEOPLE,)),
    "people differ, and the judge is with one": ("stated", "absent", "absent", (Kind.PEOPLE,)),
    "people agree, the judge differs": ("stated", "stated", "absent", (Kind.JUDGE,)),
    "one person, and the judge differs": ("stated", None, "absent", (Kind.JUDGE,)),
    "the judge alone": (None, None, "absent", ()),
}


@pytest.mark.parametrize(("anna", "boris", "judge", "kinds"), KINDS.values(), ids=KINDS.keys())
def test_kinds(leases: Leases, anna: str | None, boris: str | None, judge: str | None, kinds: tuple[Kind]) -> None:
    for assignment, option in ((leases.annas[0], anna), (leases.boriss[0], boris)):
        if option:
            label(assignment, {RENT: option})
    if judge:
        judged(leases, {RENT: judge})

    assert cell(seen(leases), "Clause 1", RENT).kinds == kinds


@pytest.mark.parametrize(("margin", "unsure"), [(0.49, True), (0.5, False), (2.0, False)])
def test_a_judge_is_unsure_under_half_a_nat(leases: Leases, margin: float, unsure: bool) -> None:
    judged(leases, {RENT: "stated"}, margin=margin)

    assert (Kind.UNSURE in cell(seen(leases), "Clause 1", RENT).kinds) is unsure


def test_noted_is_what_people_noted_asked_or_skipped_and_no_judges_grounds(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"}, note="see line 2")
    insure = builders.answer(leases.sheet, *INSURE, None)
    actions.ask(assignment=leases.boriss[0], column=insure.column, question=insure.question, text="?", by=leases.boris)
    notice = builders.answer(leases.sheet, *NOTICE, None)
    skip = Answer(notice.column, notice.question, None, skip="torn page")
    actions.record(assignment=leases.annas[0], answers=[skip], key=uuid.uuid4())
    label(leases.judges[0], {PARTY: "same"}, note="the lexical judge always says where")

    whole = seen(leases)

    noted = [found for found in whole.cells if Kind.NOTED in found.kinds]
    assert noted == [cell(whole, "Clause 1", of) for of in (RENT, INSURE, NOTICE)]
    assert [said.skipped for said in cell(whole, "Clause 1", NOTICE).people] == [True, False]


def test_counts_by_question_and_kind(leases: Leases) -> None:
    label(leases.annas[0], COMPLETE)
    label(leases.boriss[0], {**COMPLETE, RENT: "absent", INSURE: "absent", ("Inspect", "act"): "found"})
    judged(leases, {RENT: "absent"}, margin=0.1)

    counts = {question.key: dict(of) for _table, question, of in seen(leases).counts()}

    # two duties and two acts in each of two rows; Inspect is absent for Anna alone, so its party is still asked
    assert counts["stated"] == {"cells": 4, "people": 2, "unsure": 1}
    assert counts["act"] == {"cells": 4, "people": 1}
    assert counts["party"] == {"cells": 4}


def test_the_lens_costs_the_same_for_few_cells_and_many(leases: Leases, client_of: ClientOf) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=9)
    for rater in (leases.annas[0].rater, leases.boriss[0].rater, leases.judges[0].rater):
        for assignment in builders.assignments(rater, wide):
            label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(30)})
    client = client_of(leases.researcher)

    costs = []
    for sheet in (leases.sheet, wide):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(reverse("annotation:lens", args=[sheet.pk]))
        costs.append((page.content.count(b"<td"), len(captured)))

    (few, cost_of_few), (many, cost_of_many) = costs
    assert many - few == 324 - 16  # 9 rows × (30 + 2 × 3) cells against 2 rows × (2 + 2 × 3)
    # Session, user, sheet with scheme, roles, the look in its transaction (3), the ten of the lens, the sheets beside,
    # simulated raters, the size of the sheet.
    assert cost_of_few == cost_of_many
    assert cost_of_many <= 21


# --- looks and exposure ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["annotation:lens", "annotation:history"])
def test_each_look_is_recorded(leases: Leases, client_of: ClientOf, name: str) -> None:
    client = client_of(leases.researcher)

    for _time in range(2):
        client.get(reverse(name, args=[leases.sheet.pk]))

    assert list(Look.objects.values_list("sheet", "user")) == [(leases.sheet.pk, leases.researcher.pk)] * 2


def test_labels_after_a_look_are_exposed(leases: Leases) -> None:
    actions.add_member(study=leases.study, user=leases.anna, role=Role.RESEARCHER)
    label(leases.annas[0], {RENT: "stated", INSURE: "stated"})
    actions.note_look(sheet=leases.sheet, user=leases.anna)

    label(leases.annas[0], {RENT: "absent", NOTICE: "found"})
    label(leases.boriss[0], {RENT: "absent"})

    exposed = Label.objects.filter(exposed=True).values_list("assignment__rater__code", "column__name")
    assert sorted(exposed) == [("A1", "Give notice · tenant"), ("A1", "Pay rent")]


def test_an_answer_of_before_the_look_stays_unexposed_when_it_is_given_again(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    actions.note_look(sheet=leases.sheet, user=leases.anna)

    label(leases.annas[0], {RENT: "stated"}, note="still")

    assert not Label.objects.get().exposed


def test_a_look_at_another_sheet_exposes_nothing(leases: Leases) -> None:
    loan = builders.sheet(leases.study, "Loan")
    actions.note_look(sheet=loan, user=leases.anna)

    label(leases.annas[0], {RENT: "stated"})

    assert not Label.objects.get().exposed


def test_exports_say_what_is_exposed(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    actions.note_look(sheet=leases.sheet, user=leases.anna)
    label(leases.annas[0], {INSURE: "stated"})

    place = label_header(leases.study).index("exposed")

    assert [line[place] for line in exported_labels(leases.study)] == ["no", "yes"]


# --- deciding -------------------------------------------------------------------------------------------------------


def test_a_decision_is_a_label_of_the_gold_rater(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    label(leases.boriss[0], {RENT: "absent"})
    judged(leases, {RENT: "implied"})

    decision = decide(leases, RENT, "implied", reason="between the two")

    assert gold(leases) == {("Clause 1", *RENT): "implied"}
    assert (decision.assignment.rater.kind, decision.assignment.rater.code) == ("gold", "gold")
    assert (decision.reason, decision.by, decision.seen) == (
        "between the two",
        leases.manager,
        {"A1": "stated", "A2": "absent", "J1": "implied"},
    )
    event = LabelEvent.objects.get(assignment=decision.assignment)
    assert (event.by, event.note) == (leases.manager, "between the two")
    assert cell(seen(leases), "Clause 1", RENT).gold is not None


def test_gold_counts_as_submitted_work(leases: Leases) -> None:
    """Reports over submitted rows alone must not lose the gold, though most of a row may be undecided."""
    decide(leases, RENT, "stated")

    assert Assignment.objects.get(rater__kind="gold").state == Assignment.State.SUBMITTED


def test_decisions_that_are_overruled_or_taken_back_are_kept(leases: Leases) -> None:
    decide(leases, RENT, "stated")
    decide(leases, RENT, "absent", reason="read it again")
    decide(leases, RENT, None, reason="not sure")

    assert gold(leases) == {}
    assert [(d.option.key if d.option else None, d.reason) for d in Decision.objects.all()] == [
        (None, "not sure"),
        ("absent", "read it again"),
        ("stated", ""),
    ]


def test_to_overrule_all_people_a_reason_is_needed(leases: Leases) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        label(assignment, {RENT: "stated"})

    with pytest.raises(Refused, match="All people who answered say something else here"):
        decide(leases, RENT, "absent", reason="  ")

    assert not Decision.objects.exists()
    assert decide(leases, RENT, "stated").reason == ""
    assert decide(leases, RENT, "absent", reason="the annex repeals it").pk


def test_nothing_is_taken_back_where_nothing_is_decided(leases: Leases) -> None:
    with pytest.raises(Refused, match="no decision here"):
        decide(leases, RENT, None)


def test_gold_follows_the_rules_of_the_scheme(leases: Leases) -> None:
    decide(leases, NOTICE, "found")
    decide(leases, PARTY, "same")

    decide(leases, NOTICE, "absent")

    assert gold(leases) == {("Clause 1", *NOTICE): "absent"}
    with pytest.raises(Refused, match="is not asked of"):
        decide(leases, PARTY, "same")


def test_imported_gold_is_the_gold_that_is_overruled(leases: Leases) -> None:
    imported = leases.study.raters.create(kind="gold", code="gold")
    (assignment,) = actions.assign(rater=imported, rows=[leases.annas[0].row])
    label(assignment, {RENT: "stated", INSURE: "stated"})
    actions.submit(assignment=assignment, allow_open=True)

    decide(leases, RENT, "absent")

    assert gold(leases) == {("Clause 1", *RENT): "absent", ("Clause 1", *INSURE): "stated"}


def accept(leases: Leases, *, judges: bool) -> int:
    shown = lens.digest(lens.agreed(seen(leases), judges=judges))
    return actions.accept_agreed(sheet=leases.sheet, judges=judges, shown=shown, by=leases.manager)


def test_accept_agreed_takes_what_two_people_say_alike(leases: Leases) -> None:
    label(leases.annas[0], COMPLETE)
    label(leases.boriss[0], {**COMPLETE, RENT: "absent"})
    label(leases.annas[1], {RENT: "stated"})  # of the second row one person speaks

    n = accept(leases, judges=True)

    expected = {("Clause 1", *of): option for of, option in COMPLETE.items() if of != RENT}
    assert (n, gold(leases)) == (5, expected)
    decision = Decision.objects.get(column__name="Insure")
    assert (decision.seen, decision.reason, decision.by) == ({"A1": "implied", "A2": "implied"}, "", leases.manager)


def test_a_draft_that_waits_is_no_second_opinion(leases: Leases) -> None:
    """Boris starts from Anna's answers: until he confirms one, she is alone with it."""
    anna, boris = leases.annas[0], leases.boriss[0]
    label(anna, COMPLETE)
    actions.submit(assignment=anna)
    actions.draft(assignment=boris, rater=anna.rater, key=uuid.uuid4())

    assert accept(leases, judges=False) == 0
    label(boris, {RENT: COMPLETE[RENT], INSURE: "stated"})
    found = seen(leases)
    assert cell(found, "Clause 1", INSURE).by_people == {COMPLETE[INSURE], "stated"}
    assert cell(found, "Clause 1", NOTICE).by_people == {COMPLETE[NOTICE]}
    assert accept(leases, judges=False) == 1
    assert gold(leases) == {("Clause 1", *RENT): COMPLETE[RENT]}


def test_one_person_who_labelled_twice_is_no_two_people(leases: Leases) -> None:
    anna = leases.annas[0]
    again = Assignment.objects.create(rater=anna.rater, row=anna.row, repeat=2)
    for assignment in (anna, again):
        label(assignment, {RENT: "stated"})

    assert accept(leases, judges=False) == 0
    label(leases.boriss[0], {RENT: "stated"})
    assert accept(leases, judges=False) == 1


@pytest.mark.parametrize(("judges", "n"), [(True, 1), (False, 2)])
def test_accept_agreed_minds_judges_when_asked(leases: Leases, judges: bool, n: int) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        label(assignment, {RENT: "stated", INSURE: "stated"})
    judged(leases, {RENT: "absent"})

    assert accept(leases, judges=judges) == n


def test_accept_agreed_leaves_decisions_and_what_they_switch_off(leases: Leases) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        label(assignment, {NOTICE: "found", PARTY: "same"})
    decide(leases, NOTICE, "absent", reason="it is another notice")

    assert accept(leases, judges=True) == 0
    assert gold(leases) == {("Clause 1", *NOTICE): "absent"}


def test_accept_agreed_does_only_what_was_shown(leases: Leases) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        label(assignment, {RENT: "stated"})
    shown = lens.digest(lens.agreed(seen(leases), judges=True))
    label(leases.boriss[0], {RENT: "absent"})

    with pytest.raises(Refused, match="have changed since you looked"):
        actions.accept_agreed(sheet=leases.sheet, judges=True, shown=shown, by=leases.manager)

    assert not Decision.objects.exists()


# --- the pages ------------------------------------------------------------------------------------------------------


def cell_data(leases: Leases, of: tuple[str, str], **more: str) -> dict[str, str]:
    column = leases.sheet.columns.get(name=of[0])
    question = Question.objects.get(section=column.section_id, key=of[1])
    return {"row": str(leases.annas[0].row_id), "column": str(column.pk), "question": str(question.pk), **more}


def test_the_page_draws_letters_by_pseudonym_alone(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "stated"})
    label(leases.boriss[0], {RENT: "absent"})

    page = client_of(leases.researcher).get(reverse("annotation:lens", args=[leases.sheet.pk])).content.decode()

    assert '<td data-f="people"><i class="t-green">S</i> <i class="t-red">–</i><s></s>·</td>' in page
    assert "<code>A1</code> <code>A2</code>" in page
    assert "anna" not in page
    assert "boris" not in page


def test_the_detail_tells_labels_notes_decisions_and_history(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "stated"}, note="see line 2")
    label(leases.boriss[0], {RENT: "absent"})
    option = {"n_tokens": 2, "n_characters": 6, "unconditional": None}
    plain = builders.answer(leases.sheet, *RENT, "stated")
    # exp(-0.1) : exp(-0.4) : exp(-3) = 0.905 : 0.670 : 0.050, that is 56, 41 and 3 per cent
    logprobs = {"stated": -0.1, "implied": -0.4, "absent": -3.0}
    scores = {"options": {key: {"logprob": p, **option} for key, p in logprobs.items()}, "margin_nats": 0.3}
    judge = Answer(plain.column, plain.question, plain.option, scores=scores)
    actions.record(assignment=leases.judges[0], answers=[judge], key=uuid.uuid4())
    decide(leases, RENT, "stated", reason="the annex says so")

    response = client_of(leases.researcher).get(
        reverse("annotation:lens-cell", args=[leases.sheet.pk]), cell_data(leases, RENT)
    )

    page = " ".join(response.content.decode().split())
    for told in ("see line 2", "56 %", "41 %", "margin 0.30 nat", "unsure", "the annex says so", "mara: ", "<code>A2"):
        assert told in page
    assert "anna" not in page
    assert Look.objects.filter(user=leases.researcher).count() == 1


def test_deciding_draws_the_column_again(leases: Leases, client_of: ClientOf) -> None:
    client = client_of(leases.manager)
    url = reverse("annotation:lens-decide", args=[leases.sheet.pk])

    response = client.post(url, cell_data(leases, NOTICE, option="absent"))

    drawn = [html for *_cell, html in response.json()["cells"]]
    assert [html[:24] for html in drawn] == ['<td class="t-red" data-f', "<td>· ·<s></s>·</td>", "<td>· ·<s></s>·</td>"]


@pytest.mark.parametrize(
    ("of", "option", "sentence"),
    [(RENT, "found", "“found” is no answer to “Stated”."), (PARTY, "same", "is not asked of")],
    ids=["an option of another question", "switched off by the gold"],
)
def test_a_refused_decision_says_why(
    leases: Leases, client_of: ClientOf, of: tuple[str, str], option: str, sentence: str
) -> None:
    decide(leases, NOTICE, "absent")

    response = client_of(leases.manager).post(
        reverse("annotation:lens-decide", args=[leases.sheet.pk]), cell_data(leases, of, option=option)
    )

    assert response.status_code == 409
    assert sentence in response.json()["message"]


def test_accepting_shows_the_number_first(leases: Leases, client_of: ClientOf) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        label(assignment, {RENT: "stated", INSURE: "stated"})
    judged(leases, {RENT: "absent"})
    client, url = client_of(leases.manager), reverse("annotation:lens-accept", args=[leases.sheet.pk])

    page = client.get(url)
    (with_judges, without) = page.context["choices"]
    client.post(url, {"shown": with_judges["shown"], "judges": "on"})

    assert (with_judges["n"], without["n"]) == (1, 2)
    assert "Accept 1 cell<" in page.content.decode()
    assert gold(leases) == {("Clause 1", *INSURE): "stated"}


# --- the API --------------------------------------------------------------------------------------------------------


def test_the_api_has_the_lens_and_its_filters(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {RENT: "stated", INSURE: "stated"})
    label(leases.boriss[0], {RENT: "stated", INSURE: "absent"})
    judged(leases, {RENT: "absent"}, margin=0.2)
    client, url = api_of(leases.researcher), reverse("api:lens", args=[leases.sheet.pk])

    def found(**asked: str) -> list[tuple[int, str]]:
        return [(found["row"], found["kinds"]) for found in client.get(url, asked).json()["cells"]]

    row = leases.annas[0].row_id
    assert found(kind="people") == [(row, ["people"])]
    assert found(judge="J1") == found(kind="unsure") == [(row, ["judge", "unsure"])]
    assert found(judge="J1", kind="people") == found(kind="people", question="acts.act") == []
    for asked in ({"judge": "J2"}, {"rater": "NOPE"}, {"question": "nope"}):
        refused = client.get(url, asked)
        assert (refused.status_code, list(refused.json())) == (400, list(asked))
    assert len(found(question="stated")) == 4
    (cell,) = client.get(url, {"kind": "judge"}).json()["cells"]
    assert (cell["people"], cell["judges"], cell["gold"]) == ({"A1": "stated", "A2": "stated"}, {"J1": "absent"}, None)
    assert client.get(url, {"kind": "strange"}).status_code == 400
    assert Look.objects.filter(user=leases.researcher).exists()


def test_the_api_decides_and_tells_decisions_and_history(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {RENT: "stated"})
    client = api_of(leases.manager)
    url = reverse("api:decisions", args=[leases.sheet.pk])
    asked = {
        "row": leases.annas[0].row_id,
        "column": leases.sheet.columns.get(name="Pay rent").pk,
        "question": "stated",
        "option": "absent",
    }

    assert client.post(url, asked, format="json").status_code == 409  # it overrules all people: no reason is given
    made = client.post(url, {**asked, "reason": "the annex"}, format="json")
    assert made.status_code == 201
    client.post(url, {**asked, "option": None}, format="json")

    assert [(d["option"], d["reason"], d["by"], d["seen"]) for d in client.get(url).json()] == [
        (None, "", "mara", {"A1": "stated"}),
        ("absent", "the annex", "mara", {"A1": "stated"}),
    ]
    to_history = reverse("api:history", args=[leases.sheet.pk])
    for named in ({"rater": "NOPE"}, {"question": "acts.stated"}, {"row": 99999}, {"column": 99999}):
        refused = client.get(to_history, named)
        assert (refused.status_code, list(refused.json())) == (400, list(named))
    assert client.get(to_history, {"question": "duties.stated"}).json()["count"] == 3
    events = client.get(to_history, {"rater": "gold"}).json()
    assert [(e["before"], e["after"], e["by"]) for e in events["results"]] == [
        ("absent", None, "mara"),
        (None, "absent", "mara"),
    ]


@pytest.mark.parametrize(
    ("field", "value"), [("row", 999), ("column", 999), ("question", "act"), ("option", "found")], ids=str
)
def test_the_api_says_what_is_wrong_with_a_decision(
    leases: Leases, api_of: ApiOf, field: str, value: int | str
) -> None:
    column = leases.sheet.columns.get(name="Pay rent").pk
    asked = {"row": leases.annas[0].row_id, "column": column, "question": "stated", "option": "absent", field: value}

    response = api_of(leases.manager).post(reverse("api:decisions", args=[leases.sheet.pk]), asked, format="json")

    assert (response.status_code, list(response.json())) == (400, [field])


@pytest.mark.parametrize("cells", ["labels", "skips"])
def test_who_labels_too_is_exposed_by_the_labels_of_the_api(leases: Leases, api_of: ApiOf, cells: str) -> None:
    actions.add_member(study=leases.study, user=leases.anna, role=Role.RESEARCHER)
    label(leases.boriss[0], {INSURE: "stated"})
    cannot_tell = replace(builders.answer(leases.sheet, *RENT, None), skip="It is cut off.")
    actions.record(assignment=leases.boriss[0], answers=[cannot_tell], key=uuid.uuid4())

    for user in (leases.anna, leases.researcher):
        api_of(user).get(reverse(f"api:{cells}", args=[leases.study.slug]))

    assert list(Look.objects.values_list("sheet", "user")) == [(leases.sheet.pk, leases.anna.pk)]


def test_a_withdrawn_row_is_marked_with_its_reason_and_raters_are_not_told(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    row = leases.annas[0].row
    actions.withdraw_row(row=row, reason="The clause is void", by=leases.manager)
    manager, anna = client_of(leases.manager), client_of(leases.anna)
    assert 'title="The clause is void"' in manager.get(f"/sheets/{leases.sheet.pk}/lens/").content.decode()
    assert "The clause is void" in manager.get(f"/rows/{row.pk}/evidence/").content.decode()
    assert "The clause is void" not in anna.get(f"/assignments/{leases.annas[0].pk}/evidence/").content.decode()
