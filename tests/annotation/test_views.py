"""The annotator's pages: the grid, saving a cell, the evidence, submitting; and that they show nobody else's labels."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, Label, Option, Question, User
from tests import builders
from tests.builders import Leases, label, standing

ClientOf = Callable[[User], Client]
RENT = ("Pay rent", "stated")
# Words that stand nowhere else: whoever finds them has seen another rater's label.
NOTE_OF_BORIS = "zebra-note-of-boris"
NOTE_OF_JUDGE = "walrus-note-of-judge"


def cell_data(
    leases: Leases, assignment: Assignment, cell: tuple[str, str], option: str, *, key: uuid.UUID | None = None
) -> dict[str, str]:
    column = leases.sheet.columns.get(name=cell[0])
    question = Question.objects.get(section=column.section_id, key=cell[1])
    return {
        "assignment": str(assignment.pk),
        "column": str(column.pk),
        "question": str(question.pk),
        "option": option,
        "key": str(key or uuid.uuid4()),
    }


def record_url(leases: Leases) -> str:
    return reverse("annotation:record-cell", args=[leases.sheet.pk])


# --- the grid -------------------------------------------------------------------------------------------------------


def test_sheet_shows_my_cells(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "implied"})

    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()

    # 2 rows × (2 duties + 2 acts × 3 questions)
    assert page.count('role="gridcell"') == 16
    assert page.count('data-option="implied"') == 1
    assert "Clause 2" in page
    assert "Give notice" in page


def test_sheet_does_not_exist_for_who_has_no_work_on_it(leases: Leases, client_of: ClientOf) -> None:
    assert client_of(leases.researcher).get(reverse("annotation:sheet", args=[leases.sheet.pk])).status_code == 404


def test_sheet_costs_the_same_for_few_cells_and_many(leases: Leases, client_of: ClientOf) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=9)
    for assignment in builders.assignments(leases.annas[0].rater, wide):
        label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(30)})
    client = client_of(leases.anna)

    costs = []
    for sheet in (leases.sheet, wide):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(reverse("annotation:sheet", args=[sheet.pk]))
        costs.append((page.content.count(b'role="gridcell"'), len(captured)))

    # 2 rows × (2 + 2 × 3) cells; 9 rows × (30 + 2 × 3) cells.
    # Session, user, sheet with scheme, the six of the grid, whether anything is simulated.
    assert costs == [(16, 10), (324, 10)]


def test_my_work_counts_my_rows(leases: Leases, client_of: ClientOf) -> None:
    label(leases.boriss[0])

    page = client_of(leases.anna).get(reverse("annotation:my-work"))

    [progress] = page.context["progress"]
    assert (progress.rows, progress.started, progress.labels) == (2, 0, 0)


# --- saving a cell --------------------------------------------------------------------------------------------------


def test_record_cell_saves_and_acknowledges_by_key(leases: Leases, client_of: ClientOf) -> None:
    data = cell_data(leases, leases.annas[0], RENT, "stated")

    response = client_of(leases.anna).post(record_url(leases), data)

    assert response.status_code == 200
    assert response["X-Palate-Saved"] == data["key"]
    assert 'data-option="stated"' in response.content.decode()
    assert standing(leases.annas[0]) == {RENT: "stated"}


def test_record_cell_draws_the_whole_column_again(leases: Leases, client_of: ClientOf) -> None:
    """A choice can switch other questions of its column off, and fill a preset in."""
    response = client_of(leases.anna).post(
        record_url(leases), cell_data(leases, leases.annas[0], ("Inspect", "act"), "found")
    )

    assert response.content.decode().count('role="gridcell"') == 3
    assert 'data-option="no-party"' in response.content.decode()


def test_record_cell_clears(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "stated"})

    client_of(leases.anna).post(record_url(leases), cell_data(leases, leases.annas[0], RENT, ""))

    assert standing(leases.annas[0]) == {}


def test_record_cell_twice_with_one_key_is_one_change(leases: Leases, client_of: ClientOf) -> None:
    data = cell_data(leases, leases.annas[0], RENT, "stated")
    client = client_of(leases.anna)
    client.post(record_url(leases), data)

    again = client.post(record_url(leases), data)

    assert again["X-Palate-Saved"] == data["key"]
    assert leases.annas[0].events.count() == 1


def test_record_cell_answers_a_refusal_with_its_sentence(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {("Give notice · tenant", "act"): "absent"})

    response = client_of(leases.anna).post(
        record_url(leases), cell_data(leases, leases.annas[0], ("Give notice · tenant", "party"), "same")
    )

    assert response.status_code == 409
    assert response.json() == {"message": "“Party” is not asked of “Give notice · tenant” here."}
    assert "X-Palate-Saved" not in response


def test_record_cell_refuses_an_option_of_another_question(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).post(record_url(leases), cell_data(leases, leases.annas[0], RENT, "found"))

    assert response.status_code == 409
    assert response.json() == {"message": "“found” is no answer to “Stated”."}


def test_record_cell_refuses_another_persons_assignment(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).post(record_url(leases), cell_data(leases, leases.boriss[0], RENT, "stated"))

    assert response.status_code == 409
    assert standing(leases.boriss[0]) == {}


def test_record_cell_refuses_a_request_without_key(leases: Leases, client_of: ClientOf) -> None:
    data = cell_data(leases, leases.annas[0], RENT, "stated")
    del data["key"]

    assert client_of(leases.anna).post(record_url(leases), data).status_code == 409
    assert standing(leases.annas[0]) == {}


def test_record_cell_costs_the_same_on_a_wide_sheet(leases: Leases, client_of: ClientOf) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=1)
    [assignment] = builders.assignments(leases.annas[0].rater, wide)
    label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(29)})
    label(leases.annas[0], {("Insure", "stated"): "stated"})  # both are started then
    client = client_of(leases.anna)
    small = cell_data(leases, leases.annas[0], RENT, "stated")
    column = wide.columns.get(name="Duty 29")
    large = small | {"assignment": str(assignment.pk), "column": str(column.pk), "key": str(uuid.uuid4())}

    costs = []
    for sheet, data in ((leases.sheet, small), (wide, large)):
        with CaptureQueriesContext(connection) as captured:
            response = client.post(reverse("annotation:record-cell", args=[sheet.pk]), data)
        assert response.status_code == 200
        costs.append(len(captured))

    assert costs[0] == costs[1]


# --- evidence, submitting -------------------------------------------------------------------------------------------


def test_evidence_shows_the_text_and_finds_the_words(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).get(reverse("annotation:evidence", args=[leases.annas[0].pk]))

    assert "The tenant pays the rent monthly" in response.content.decode()
    rent = leases.sheet.columns.get(name="Pay rent")
    # Block 1 is the paragraph, "The tenant pays the rent …": "pays" stands at 11 to 15, "rent" at 20 to 24.
    assert response.context["hits"][rent.pk]["duty"] == [(1, 11, 15, "exact", 1.0), (1, 20, 24, "exact", 1.0)]


def test_evidence_of_another_persons_assignment_does_not_exist(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:evidence", args=[leases.boriss[0].pk])

    assert client_of(leases.anna).get(url).status_code == 404


def test_submit_and_reopen(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0])
    client, assignment = client_of(leases.anna), leases.annas[0]

    submitted = client.post(reverse("annotation:submit", args=[assignment.pk]))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    assert 'aria-readonly="true"' in submitted.content.decode()

    client.post(reverse("annotation:reopen", args=[assignment.pk]))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.STARTED


def test_submit_with_open_cells_is_refused_with_a_sentence(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).post(reverse("annotation:submit", args=[leases.annas[0].pk]))

    assert response.status_code == 409
    assert "8 cells of “Clause 1” are still open" in response.json()["message"]


def test_submit_of_another_persons_row_does_not_exist(leases: Leases, client_of: ClientOf) -> None:
    label(leases.boriss[0])

    assert client_of(leases.anna).post(reverse("annotation:submit", args=[leases.boriss[0].pk])).status_code == 404
    leases.boriss[0].refresh_from_db()
    assert leases.boriss[0].state == Assignment.State.STARTED


# --- blindness ------------------------------------------------------------------------------------------------------


def test_an_annotator_sees_no_label_of_others_on_any_page(leases: Leases, client_of: ClientOf) -> None:
    """Boris and the judge choose "implied" and leave notes; Anna, who has chosen nothing, must meet none of it."""
    for assignments, note in ((leases.boriss, NOTE_OF_BORIS), (leases.judges, NOTE_OF_JUDGE)):
        for assignment in assignments:
            label(assignment, {RENT: "implied", ("Insure", "stated"): "implied"}, note=note)
    implied = Option.objects.get(question__key="stated", key="implied")
    assert Label.objects.filter(option=implied).count() == 8
    client = client_of(leases.anna)

    pages = [
        client.get(reverse("annotation:my-work")),
        client.get(reverse("annotation:studies")),
        client.get(reverse("annotation:study", args=[leases.study.slug])),
        client.get(reverse("annotation:sheet", args=[leases.sheet.pk])),
        client.get(reverse("annotation:evidence", args=[leases.annas[0].pk])),
        client.post(record_url(leases), cell_data(leases, leases.annas[0], ("Insure", "stated"), "absent")),
        client.post(reverse("annotation:submit", args=[leases.annas[0].pk])),
    ]

    assert [page.status_code for page in pages] == [200, 200, 200, 200, 200, 200, 409]
    for page in pages:
        text = page.content.decode()
        assert NOTE_OF_BORIS not in text
        assert NOTE_OF_JUDGE not in text
        assert 'data-option="implied"' not in text
        assert "boris" not in text
        assert "J1" not in text
