"""Answers that are values, from the request to the history: saved, refused, warned of, restored, decided."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import actions, queries
from annotation.actions import Refused
from annotation.labels import history
from annotation.labels.tables import warnings_of
from annotation.lens import lens
from annotation.models import Assignment, Decision, Label, LabelEvent
from tests.annotation.workshop import CUT, GLUE, LOOK, STOOL, Workshop, answer, codes, fill, workshop
from tests.builders import ClientOf


@pytest.fixture
def wood(db: None) -> Workshop:
    return workshop()


def test_every_kind_is_recorded_and_read_back(wood: Workshop) -> None:
    fill(wood.stool)

    assert codes(wood.stool) == STOOL
    stored = Label.objects.get(assignment=wood.stool, column__name=GLUE, question__key="change")
    assert stored.option is None
    assert stored.value == [{"from": ["seat", "foot"], "to": ["stool"]}, {"from": ["glue"], "to": []}]
    assert stored.code == STOOL[GLUE, "change"]


def test_a_value_is_stored_in_its_canonical_form(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "work"): "cut", (CUT, "input"): ': "plank ;  foot"', (CUT, "minutes"): ":2.50"})

    assert codes(wood.stool) == {
        (CUT, "work"): "cut",
        (CUT, "input"): ':"plank; foot"',
        (CUT, "minutes"): ":2.5",
    }


def test_what_is_no_answer_is_refused_and_nothing_is_written(wood: Workshop) -> None:
    with pytest.raises(Refused, match="from 0 to 60, not 61"):
        fill(wood.stool, {(CUT, "work"): "cut", (CUT, "minutes"): ":61"})

    assert codes(wood.stool) == {}
    assert not LabelEvent.objects.exists()


def test_an_option_is_no_answer_where_values_are_and_a_value_none_where_options_are(wood: Workshop) -> None:
    work, minutes = answer(wood.sheet, CUT, "work", "cut"), answer(wood.sheet, CUT, "minutes", ":3")
    swapped = [
        actions.Answer(minutes.column, minutes.question, work.option),
        actions.Answer(work.column, work.question, value="cut"),
    ]
    for one in swapped:
        with pytest.raises(Refused):
            actions.record(assignment=wood.stool, answers=[one], key=uuid.uuid4())


def test_a_special_value_switches_off_what_hangs_on_it(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "work"): "cut", (CUT, "input"): ':"plank"', (CUT, "minutes"): ":3"})

    fill(wood.stool, {(CUT, "input"): ':"na"'})

    assert codes(wood.stool) == {(CUT, "work"): "cut", (CUT, "input"): ':"NA"'}


def test_a_special_value_can_be_preset(wood: Workshop) -> None:
    blank = actions.add_column(
        sheet=wood.sheet,
        section=wood.study.scheme.sections.get(),
        spec=wood.study.scheme.parsed.section("steps"),
        facets={},
    )
    assert blank.name == ""

    fill(wood.stool, {("", "work"): "none"})

    assert codes(wood.stool) == {("", "work"): "none", ("", "remark"): '=:"NA"'}


def test_a_check_that_refuses_refuses_the_change_whole(wood: Workshop) -> None:
    fill(wood.stool, {(LOOK, "work"): "look", (LOOK, "input"): ':"plank"'})

    with pytest.raises(Refused, match="Look at it: Looking changes nothing."):
        fill(wood.stool, {(LOOK, "output"): ':"seat"', (LOOK, "remark"): ':"x"'})

    assert set(codes(wood.stool)) == {(LOOK, "work"), (LOOK, "input")}


def test_a_mistake_that_stood_there_before_keeps_nobody_from_answering_elsewhere(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "work"): "cut", (CUT, "output"): ':"seat"'})
    # As an import of another version of the scheme, or a program without checks, may have left it.
    Label.objects.filter(assignment=wood.stool, question__key="output").update(value="2 seats")

    fill(wood.stool, {(LOOK, "work"): "look"})

    assert codes(wood.stool)[LOOK, "work"] == "look"


def test_what_is_warned_of_comes_back_for_the_whole_table(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "work"): "cut", (CUT, "input"): ':"plank"', (CUT, "output"): ':"seat; rest"'})

    recorded = fill(wood.stool, {(GLUE, "input"): ':"seat; 3 nails"', (GLUE, "output"): ':"stool"'})

    names = dict(wood.sheet.columns.values_list("pk", "name"))
    keys = {question.pk: question.key for question in wood.study.scheme.sections.get().questions.all()}
    assert recorded.warnings is not None
    said = {names[c]: {keys[q]: texts for q, texts in of.items()} for c, of in recorded.warnings.items()}
    assert said == {
        CUT: {},
        GLUE: {
            "input": ["No numbers.", "This comes from nowhere: 3 nails."],
            "output": ["This was there before and is not taken along: rest."],
        },
        LOOK: {},
    }
    asked_again = {(names[c], keys[q]): texts for (c, q), texts in warnings_of(wood.stool).items()}
    assert asked_again == {(GLUE, key): texts for key, texts in said[GLUE].items()}


def test_a_facet_of_the_row_is_known_to_checks(wood: Workshop) -> None:
    assert wood.stool.row.facets == {"parts": ["plank", "foot", "glue"], "writer": "M1"}

    recorded = fill(wood.stool, {(GLUE, "work"): "join", (GLUE, "input"): ':"glue; foot"'})

    assert not any(of for of in (recorded.warnings or {}).values())
    with pytest.raises(Refused, match="no facet “maker”"):
        actions.add_row(sheet=wood.sheet, name="Shelf", evidence=[], facets={"maker": "M2"})


def save(client: Any, workshop: Workshop, *cells: tuple[str, str, str, str], key: str = "") -> Any:
    """What the grid's script posts: (column, question, value, seen) of the stool."""
    changes = []
    for column, question, value, seen in cells:
        of = answer(workshop.sheet, column, question, "")
        changes.append([workshop.stool.pk, of.column.pk, of.question.pk, value, seen])
    data = {"key": key or str(uuid.uuid4()), "changes": json.dumps(changes)}
    return client.post(reverse("annotation:record-cells", args=[workshop.sheet.pk]), data)


def test_the_grid_saves_values_as_codes(wood: Workshop, client_of: ClientOf) -> None:
    reply = save(client_of(wood.anna), wood, (CUT, "work", "cut", ""), (CUT, "minutes", ": 2.50", "")).json()

    [[assignment, _column, values]] = reply["columns"]
    assert assignment == wood.stool.pk
    assert set(values.values()) == {"cut", ":2.5"}
    assert {column for _assignment, column, _said in reply["warnings"]} == set(
        wood.sheet.columns.values_list("pk", flat=True)
    )
    assert codes(wood.stool) == {(CUT, "work"): "cut", (CUT, "minutes"): ":2.5"}


def test_the_grid_tells_what_there_is_before_the_first_step(wood: Workshop, client_of: ClientOf) -> None:
    change = answer(wood.sheet, CUT, "change", "").question
    fill(wood.stool, {(CUT, "change"): ':[{"from":["plank"],"to":["seat","rest"]},{"from":["glue"],"to":[]}]'})

    page = client_of(wood.anna).get(reverse("annotation:sheet", args=[wood.sheet.pk]))

    parts = ["plank", "foot", "glue"]
    assert page.context["beginnings"] == {wood.stool.pk: {change.pk: parts}, wood.bench.pk: {change.pk: parts}}
    assert ">plank → seat, rest\nglue → ∅</span></td>" in page.content.decode()  # in a table that is read downwards


def test_a_value_that_is_none_is_told(wood: Workshop, client_of: ClientOf) -> None:
    response = save(client_of(wood.anna), wood, (CUT, "minutes", ":61", ""))

    assert response.status_code == 409
    assert "not 61" in response.json()["message"]
    assert save(client_of(wood.anna), wood, (CUT, "minutes", ":{", "")).status_code == 409


def test_what_stands_there_by_now_is_a_conflict_by_its_code(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool, {(CUT, "minutes"): ":3"})
    anna = client_of(wood.anna)

    conflict = save(anna, wood, (CUT, "minutes", ":4", ":2")).json()
    assert [wanted for _cell, wanted in conflict["conflicts"]] == [":4"]
    # The same number, written otherwise by the page that showed it.
    assert save(anna, wood, (CUT, "minutes", ":4", ":3.0")).json()["conflicts"] == []
    assert codes(wood.stool) == {(CUT, "minutes"): ":4"}


def test_a_value_sent_again_does_nothing(wood: Workshop, client_of: ClientOf) -> None:
    anna, key = client_of(wood.anna), str(uuid.uuid4())

    for _ in range(2):
        save(anna, wood, (CUT, "remark", ':"mind it"', ""), key=key)

    assert LabelEvent.objects.count() == 1


def test_a_save_of_a_value_costs_few_queries(wood: Workshop) -> None:
    fill(wood.stool)

    with CaptureQueriesContext(
        connection,
    ) as captured:
        fill_minutes = answer(wood.sheet, CUT, "minutes", ":3")
        before = len(captured)
        actions.record(assignment=wood.stool, answers=[fill_minutes], key=uuid.uuid4())

    assert len(captured) - before <= 12


def test_history_and_restore_know_values(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "minutes"): ":3", (CUT, "work"): "cut"})
    then = timezone.now()
    fill(wood.stool, {(CUT, "minutes"): ":4", (CUT, "remark"): ':"x"'})

    steps = history.steps(wood.sheet, history.events(wood.sheet)[:2])
    assert {(*step.entries_before, "→", *step.entries_after) for step in steps} == {("3 min", "→", "4 min"), ("→", "x")}

    changes = history.changes(wood.sheet, to=then)
    restored = actions.restore(sheet=wood.sheet, to=then, shown=lens.digest(changes), by=wood.manager)

    assert restored == 2
    assert codes(wood.stool) == {(CUT, "minutes"): ":3", (CUT, "work"): "cut"}
    assert history.changes(wood.sheet, to=then) == []


def test_a_value_can_be_decided(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "minutes"): ":3"})
    of = answer(wood.sheet, CUT, "minutes", ":4")

    decision = actions.adjudicate(
        row=wood.stool.row, column=of.column, question=of.question, value="4.0", reason="Measured.", by=wood.manager
    )

    assert (decision.value, decision.code) == (4, ":4")
    assert codes(decision.assignment) == {(CUT, "minutes"): ":4"}
    with pytest.raises(Refused, match="not 99"):
        actions.adjudicate(
            row=wood.stool.row, column=of.column, question=of.question, value=99, reason="x", by=wood.manager
        )
    assert Decision.objects.count() == 1


def test_submitting_needs_every_cell_that_is_asked(wood: Workshop) -> None:
    fill(wood.stool, {cell: code for cell, code in STOOL.items() if cell != (GLUE, "change")})
    with pytest.raises(actions.Unanswered, match="Glue plank and foot \\(Change\\)"):
        actions.submit(assignment=wood.stool)

    fill(wood.stool, {(GLUE, "change"): STOOL[GLUE, "change"]})

    assert actions.submit(assignment=wood.stool).state == Assignment.State.SUBMITTED


def test_the_page_shows_values(wood: Workshop, client_of: ClientOf) -> None:
    fill(wood.stool)

    page = client_of(wood.anna).get(reverse("annotation:sheet", args=[wood.sheet.pk])).content.decode()

    assert "2.5 min" in page
    assert "plank → seat, rest" in page
    mine = Assignment.objects.filter(pk=wood.stool.pk)
    drawn = {cell.shown for cell in queries.grid(wood.sheet, mine).cells}
    assert {"Cut", "saw · plank", "mind\nyour fingers", "NA"} <= drawn


def test_a_label_holds_exactly_one_of_option_and_value(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "minutes"): ":3", (CUT, "work"): "cut"})
    labels = Label.objects.filter(assignment=wood.stool)

    for changed in ({"value": None}, {"option": labels.get(question__key="work").option}):
        with pytest.raises(IntegrityError), transaction.atomic():
            labels.filter(question__key="minutes").update(**changed)


def test_the_page_has_the_checks_and_the_facets_that_they_name(wood: Workshop, client_of: ClientOf) -> None:
    page = client_of(wood.anna).get(reverse("annotation:sheet", args=[wood.sheet.pk]))

    told = page.context["checks"]["steps"]
    assert [check["rule"] for check in told["checks"]] == [
        "contained-in",
        "carried",
        "equal-to",
        "no-number",
        "not-empty-if",
    ]
    assert told["rows"][wood.stool.pk] == {"parts": ["plank", "foot", "glue"]}
    assert list(told["columns"].values()) == [{"instruction": name} for name in (CUT, GLUE, LOOK)]
