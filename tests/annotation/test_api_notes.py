"""Who labels by a program asks the manager about cells, and a program of the manager answers, as on the pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Look, Note, Study
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.test_notes import ask, marks
from tests.builders import ApiOf, Leases


@pytest.fixture
def anna(leases: Leases, api_of: ApiOf) -> APIClient:
    return api_of(leases.anna)


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def post(program: APIClient, name: str, *args: object, **body: object) -> Any:
    return program.post(reverse(f"api:{name}", args=args), body, format="json")


def rent(leases: Leases) -> dict[str, object]:
    return {"column": leases.sheet.columns.get(name="Pay rent").pk, "question": "stated"}


def test_a_question_goes_to_the_manager_and_the_answer_comes_back(
    leases: Leases, anna: APIClient, program: APIClient
) -> None:
    mine = leases.annas[0]

    asked = post(anna, "assignment-notes", mine.pk, text=" Is rent in kind a rent? ", **rent(leases))

    note = Note.objects.get()
    assert (asked.status_code, asked.json()["id"], note.author) == (200, note.pk, leases.anna)
    assert marks(leases) == ["open"]
    [told] = program.get(reverse("api:notes", args=["leases"])).json()
    expected = {
        "id": note.pk, "rater": "A1", "sheet_title": "Lease", "row": mine.row_id, "column": note.column_id,
        "section": "duties", "question": "stated", "text": "Is rent in kind a rent?", "answer": "", "answered_at": None,
        "option": None, "value": None, "skip": "",
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected
    answered = post(program, "answer-note", "leases", note.pk, answer="Yes, take it as one.")
    assert (answered.status_code, answered.json()["answer"]) == (200, "Yes, take it as one.")
    assert marks(leases) == ["answered"]
    [thread] = anna.get(reverse("api:assignment-notes", args=[mine.pk])).json()
    assert (thread["text"], thread["answer"]) == ("Is rent in kind a rent?", "Yes, take it as one.")
    assert leases.manager.username not in str(thread)
    assert thread["read_at"] is None
    assert post(anna, "read-notes", mine.pk, **rent(leases)).json() == {"read": 1}
    assert post(anna, "read-notes", mine.pk, **rent(leases)).json() == {"read": 0}
    assert marks(leases) == ["read"]
    # Another answer is new again.
    assert post(program, "answer-note", "leases", note.pk, answer="No.").json()["read_at"] is None


def test_asked_again_an_open_question_has_the_new_words(leases: Leases, anna: APIClient) -> None:
    first = post(anna, "assignment-notes", leases.annas[0].pk, text="Is it?", **rent(leases)).json()
    again = post(anna, "assignment-notes", leases.annas[0].pk, text="Is it really?", **rent(leases)).json()
    assert (again["id"], Note.objects.get().text) == (first["id"], "Is it really?")


def test_a_question_is_taken_back_until_it_is_answered(leases: Leases, anna: APIClient) -> None:
    note, other = ask(leases.annas[0], by=leases.anna), ask(leases.annas[0], "Insure", by=leases.anna)
    assert post(anna, "withdraw-note", note.pk).status_code == 204
    assert post(anna, "withdraw-note", note.pk).status_code == 404
    actions.answer_note(note=other, answer="Yes.", by=leases.manager)

    refused = post(anna, "withdraw-note", other.pk)

    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("The manager has answered meanwhile.")
    assert list(Note.objects.all()) == [other]


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"text": "  "}, "text", "may not be blank"),
        ({"text": "x" * (Note.MOST + 1)}, "text", "no more than 4000 characters"),
        ({"column": 99999}, "column", "This sheet has no column 99999."),
        ({"question": "act"}, "question", "Its section has no question “act”."),
        ({"question": "no question"}, "question", "Enter a valid"),
    ],
)
def test_what_is_no_question_is_refused(
    leases: Leases, anna: APIClient, change: dict[str, object], field: str, sentence: str
) -> None:
    body = {"text": "Is it?", **rent(leases), **change}

    refused = post(anna, "assignment-notes", leases.annas[0].pk, **body)

    assert (refused.status_code, list(refused.json())) == (400, [field])
    assert sentence in refused.json()[field][0]
    assert not Note.objects.exists()


def test_a_cell_that_the_assignment_does_not_ask_is_refused(leases: Leases, anna: APIClient) -> None:
    type(leases.annas[0]).objects.filter(pk=leases.annas[0].pk).update(sections=["acts"])
    refused = post(anna, "assignment-notes", leases.annas[0].pk, text="Is it?", **rent(leases))
    assert (refused.status_code, refused.json()) == (409, {"detail": "That cell is not part of this assignment."})


def test_another_persons_notes_do_not_exist(leases: Leases, anna: APIClient) -> None:
    note = ask(leases.boriss[0], text="zebra", by=leases.boris)
    theirs = leases.boriss[0].pk
    for answer in (
        anna.get(reverse("api:assignment-notes", args=[theirs])),
        post(anna, "assignment-notes", theirs, text="Is it?", **rent(leases)),
        post(anna, "read-notes", theirs, **rent(leases)),
        post(anna, "withdraw-note", note.pk),
    ):
        assert answer.status_code == 404
    assert anna.get(reverse("api:notes", args=["leases"])).status_code == 403
    assert post(anna, "answer-note", "leases", note.pk, answer="Yes.").status_code == 403
    note.refresh_from_db()
    assert note.answer == ""


def test_the_label_beside_a_question_is_a_look(leases: Leases, program: APIClient) -> None:
    ask(leases.annas[0], by=leases.anna)
    program.get(reverse("api:notes", args=["leases"]))
    assert not Look.objects.exists()
    builders.label(leases.annas[0], {("Pay rent", "stated"): "implied"})

    [told] = program.get(reverse("api:notes", args=["leases"])).json()

    assert told["option"] == "implied"
    assert Look.objects.get().user == leases.manager


def test_nothing_is_asked_or_answered_in_an_archived_study(leases: Leases, anna: APIClient, program: APIClient) -> None:
    note = ask(leases.annas[0], by=leases.anna)
    actions.archive_study(study=Study.objects.get(pk=leases.study.pk), by=leases.manager)

    for refused in (
        post(anna, "assignment-notes", leases.annas[1].pk, text="Is it?", **rent(leases)),
        post(anna, "withdraw-note", note.pk),
        post(program, "answer-note", "leases", note.pk, answer="Yes."),
    ):
        assert refused.status_code == 403
        assert "is archived: nothing is changed in it" in refused.json()["detail"]
    assert [(one.text, one.answer) for one in Note.objects.all()] == [("Is it?", "")]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_question_that_is_being_answered_is_not_taken_back(leases: Leases, anna: APIClient) -> None:
    note = ask(leases.annas[0], by=leases.anna)
    said: list[object] = []
    with transaction.atomic():
        actions.answer_note(note=note, answer="Yes.", by=leases.manager)
        other = in_another_connection(lambda: post(anna, "withdraw-note", note.pk).status_code, said)
        other.join(1)
        assert said == []
    other.join(20)

    assert said == [409]
    assert Note.objects.get().answer == "Yes."
