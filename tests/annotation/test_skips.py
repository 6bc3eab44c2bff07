"""Skipping: the rater cannot tell, and says why."""

from __future__ import annotations

import uuid

import pytest
from django.db import transaction
from django.urls import reverse

from annotation import actions, queries
from annotation.actions import Answer, Refused, Unanswered
from annotation.exchange import exports
from annotation.models import Assignment, LabelEvent
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import COMPLETE, ClientOf, Leases, label, standing

RENT = ("Pay rent", "stated")
NOTICE = "Give notice · tenant"


def skip(
    assignment: Assignment, *cells: tuple[str, str], reason: str = "Cut off.", key: uuid.UUID | None = None
) -> actions.Recorded:
    sheet = assignment.row.sheet
    answers = [builders.answer(sheet, column, question, None) for column, question in cells]
    answers = [Answer(answer.column, answer.question, None, skip=reason) for answer in answers]
    return actions.record(assignment=assignment, answers=answers, key=key or uuid.uuid4())


def skipped(assignment: Assignment) -> dict[tuple[str, str], str]:
    return {(s.column.name, s.question.key): s.reason for s in assignment.skips.select_related("column", "question")}


def history(assignment: Assignment) -> list[tuple[str | None, str | None, str, str]]:
    """(label before, after, skip before, after) of each event, oldest first."""
    events = LabelEvent.objects.filter(assignment=assignment).select_related("before", "after")
    return [
        (e.before.key if e.before else None, e.after.key if e.after else None, e.skip_before, e.skip_after)
        for e in events
    ]


def test_a_skip_takes_the_place_of_a_label_and_a_label_that_of_a_skip(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {RENT: "stated"})

    skip(assignment, RENT)
    assert (standing(assignment), skipped(assignment)) == ({}, {RENT: "Cut off."})
    skip(assignment, RENT, reason="Two readings.")
    assert skipped(assignment) == {RENT: "Two readings."}
    label(assignment, {RENT: "absent"})
    assert (standing(assignment), skipped(assignment)) == ({RENT: "absent"}, {})

    assert history(assignment) == [
        (None, "stated", "", ""),
        ("stated", None, "", "Cut off."),
        (None, None, "Cut off.", "Two readings."),
        (None, "absent", "Two readings.", ""),
    ]


def test_a_skip_is_taken_back_by_a_clear(leases: Leases) -> None:
    skip(leases.annas[0], RENT)
    label(leases.annas[0], {RENT: None})
    assert skipped(leases.annas[0]) == {}
    assert history(leases.annas[0])[-1] == (None, None, "Cut off.", "")


def test_a_skip_that_is_sent_again_changes_nothing(leases: Leases) -> None:
    key = uuid.uuid4()
    skip(leases.annas[0], RENT, key=key)
    label(leases.annas[0], {RENT: "stated"})

    skip(leases.annas[0], RENT, key=key)

    assert standing(leases.annas[0]) == {RENT: "stated"}
    assert len(history(leases.annas[0])) == 2


def test_a_skip_starts_the_document(leases: Leases) -> None:
    skip(leases.annas[0], RENT)
    leases.annas[0].refresh_from_db()
    assert leases.annas[0].state == Assignment.State.STARTED


def test_skipped_cells_follow_the_rules_of_the_scheme(leases: Leases) -> None:
    assignment = leases.annas[0]

    # What the column presets is filled in as by any answer.
    skip(assignment, ("Inspect", "act"))
    assert standing(assignment) == {("Inspect", "party"): "no-party"}
    # A question that is switched off loses its skip, and cannot get one.
    skip(assignment, (NOTICE, "party"))
    label(assignment, {(NOTICE, "act"): "absent"})
    assert skipped(assignment) == {("Inspect", "act"): "Cut off."}
    with pytest.raises(Refused, match="not asked"):
        skip(assignment, (NOTICE, "party"))
    # The last skip of a column takes the preset with it.
    label(assignment, {("Inspect", "act"): None})
    assert standing(assignment) == {(NOTICE, "act"): "absent"}


def test_a_document_with_skips_can_be_submitted(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {cell: option for cell, option in COMPLETE.items() if cell != RENT})
    with pytest.raises(Unanswered) as refused:
        actions.submit(assignment=assignment)
    assert [cell.name for cell in refused.value.cells] == ["Pay rent"]

    skip(assignment, RENT)
    assert actions.submit(assignment=assignment).state == Assignment.State.SUBMITTED


def test_my_work_counts_a_skipped_cell_as_done(leases: Leases) -> None:
    # Two rows × (2 duties + 2 acts × 3 questions) = 16 cells.
    skip(leases.annas[0], RENT)
    label(leases.annas[0], {(NOTICE, "act"): "absent"})  # switches two cells off
    label(leases.annas[1], {("Inspect", "act"): "found"})  # brings a preset

    [progress] = queries.my_sheets(leases.anna)

    # 16 − 2 are asked; of these the skip, "absent", "found" and its preset are done.
    assert (progress.cells, progress.left) == (14, 10)
    grid = queries.grid(leases.sheet, Assignment.objects.filter(rater=leases.annas[0].rater))
    assert sum(cell.asked for cell in grid.cells) == 14
    assert sum(cell.open for cell in grid.cells) == 10


def test_the_grid_shows_a_skip_with_its_reason(leases: Leases, client_of: ClientOf) -> None:
    skip(leases.annas[0], RENT, reason='"A" & B')
    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    assert 'data-skip="&quot;A&quot; &amp; B"' in page
    assert "cannot tell: &quot;A&quot; &amp; B" in page


def test_an_export_has_the_skipped_cells_after_the_labels(leases: Leases) -> None:
    label(leases.annas[1], {RENT: "stated"})
    skip(leases.annas[0], RENT)

    at = {name: exports.COLUMNS.index(name) for name in ("row", "column", "answer", "state", "skipped")}
    lines = [{name: line[i] for name, i in at.items()} for line in exports.exported_labels(leases.study)]

    assert lines == [
        {"row": "Clause 2", "column": "Pay rent", "answer": "stated", "state": "started", "skipped": ""},
        {"row": "Clause 1", "column": "Pay rent", "answer": "", "state": "started", "skipped": "Cut off."},
    ]


def test_the_api_skips(leases: Leases, client_of: ClientOf) -> None:
    answer = builders.answer(leases.sheet, *RENT, None)
    url = reverse("api:assignment-labels", args=[leases.annas[0].pk])
    asked = {"column": answer.column.pk, "question": "stated", "option": None, "skip": "Cut off."}
    client = client_of(leases.anna)

    done = client.post(url, {"key": str(uuid.uuid4()), "answers": [asked]}, content_type="application/json")
    assert done.json()["cells"][0] | {"column": 0} == {
        "column": 0,
        "question": "stated",
        "option": None,
        "value": None,
        "asked": True,
        "skip": "Cut off.",
    }
    both = client.post(
        url, {"key": str(uuid.uuid4()), "answers": [asked | {"option": "stated"}]}, content_type="application/json"
    )
    assert both.status_code == 400
    assert skipped(leases.annas[0]) == {RENT: "Cut off."}


# --- closed sheets --------------------------------------------------------------------------------------------------


def test_people_change_nothing_on_a_closed_sheet_and_judges_do(leases: Leases) -> None:
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])
    label(leases.annas[1], {RENT: "stated"})
    leases.annas[1].refresh_from_db()
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    for change in (
        lambda: label(leases.annas[1], {RENT: "absent"}),
        lambda: skip(leases.annas[1], RENT),
        lambda: actions.submit(assignment=leases.annas[1]),
        lambda: actions.reopen(assignment=leases.annas[0]),
    ):
        with pytest.raises(Refused, match="“Lease” is closed"):
            change()
    label(leases.judges[0], {RENT: "implied"})
    assert standing(leases.annas[1]) == {RENT: "stated"}

    actions.open_sheet(sheet=leases.sheet)
    assert actions.reopen(assignment=leases.annas[0]).state == Assignment.State.STARTED


def test_the_manager_closes_a_sheet_and_is_told_what_was_not_submitted(leases: Leases, client_of: ClientOf) -> None:
    client = client_of(leases.manager)
    url = reverse("annotation:close-sheet", args=[leases.study.slug, leases.sheet.pk])

    page = client.post(url, follow=True).content.decode()

    assert "“Lease” is closed. 4 assignments are not submitted; what was labelled in them is kept." in page
    assert "Open again" in page
    sheet = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    assert sheet.count('aria-readonly="true"') == 16
    assert "This sheet is closed" in sheet
    assert 'id="open-skip" data-command="x" aria-keyshortcuts="x" hidden' in sheet
    again = client.post(
        reverse("annotation:open-sheet", args=[leases.study.slug, leases.sheet.pk]), follow=True
    ).content.decode()
    assert "“Lease” is open again" in again


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_label_that_waited_for_a_skip_of_its_cell_takes_its_place(leases: Leases) -> None:
    """Two pages of one person: the second change was asked for when the first was not visible yet."""
    assignment = leases.annas[0]
    said: list[object] = []
    with transaction.atomic():
        skip(assignment, RENT)
        other = in_another_connection(lambda: label(assignment, {RENT: "stated"}), said)
        other.join(1)
        assert said == []
    other.join(20)

    assert len(said) == 1
    assert (standing(assignment), skipped(assignment)) == ({RENT: "stated"}, {})


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_label_that_waited_for_a_look_is_exposed(leases: Leases) -> None:
    assignment = leases.annas[0]
    said: list[object] = []
    with transaction.atomic():
        Assignment.objects.select_for_update().get(pk=assignment.pk)
        other = in_another_connection(lambda: label(assignment, {RENT: "stated"}), said)
        other.join(1)
        actions.note_look(sheet=leases.sheet, user=leases.anna)
    other.join(20)

    assert assignment.labels.get().exposed
