"""Notes: what raters ask about cells, and what the manager answers."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotation import actions, queries
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Look, Note, Question, User
from tests import builders
from tests.builders import ClientOf, Leases


def ask(
    assignment: Assignment, column: str = "Pay rent", question: str = "stated", *, text: str = "Is it?", by: User
) -> Note:
    cell = builders.answer(assignment.row.sheet, column, question, None)
    return actions.ask(assignment=assignment, column=cell.column, question=cell.question, text=text, by=by)


def url_of(note: Note) -> str:
    return reverse("annotation:notes-of-cell", args=[note.assignment_id, note.column_id, note.question_id])


def marks(leases: Leases) -> list[str]:
    mine = Assignment.objects.filter(rater=leases.annas[0].rater)
    return [cell.note for cell in queries.grid(leases.sheet, mine).cells if cell.note]


def test_a_question_goes_to_the_manager_and_the_answer_comes_back(leases: Leases, client_of: ClientOf) -> None:
    note = ask(leases.annas[0], text="Is rent in kind a rent?", by=leases.anna)
    anna, manager = client_of(leases.anna), client_of(leases.manager)
    assert marks(leases) == ["open"]
    assert [item.waiting for item in queries.my_sheets(leases.anna)] == [1]

    page = manager.get(reverse("annotation:notes", args=[leases.study.slug])).content.decode()
    assert "Lease › Clause 1 › Pay rent" in page
    assert "Is rent in kind a rent?" in page
    assert leases.anna.username not in page  # raters go by their codes
    answer = reverse("annotation:answer-note", args=[leases.study.slug, note.pk])
    manager.post(answer, {"answer": "Yes, take it as one."})

    assert marks(leases) == ["answered"]
    assert "1 new answer" in anna.get(reverse("annotation:my-work")).content.decode()
    thread = anna.get(url_of(note)).content.decode()
    assert "Yes, take it as one." in thread
    assert leases.manager.username not in thread
    anna.post(f"{url_of(note)}read/")
    assert marks(leases) == ["read"]
    assert "new answer" not in anna.get(reverse("annotation:my-work")).content.decode()
    # Another answer is new again.
    manager.post(answer, {"answer": "No, after all."})
    assert marks(leases) == ["answered"]


def test_asking_again_changes_the_open_question_and_follows_the_answered_one(leases: Leases) -> None:
    first = ask(leases.annas[0], text="Is it?", by=leases.anna)
    assert ask(leases.annas[0], text="Is it really?", by=leases.anna) == first
    actions.answer_note(note=first, answer="Yes.", by=leases.manager)

    second = ask(leases.annas[0], text="And now?", by=leases.anna)

    assert [(n.text, n.answer) for n in Note.objects.order_by("pk")] == [("Is it really?", "Yes."), ("And now?", "")]
    assert marks(leases) == ["open"]
    assert [one.note for one in queries.notes(leases.study)] == [second, first]


def test_a_question_is_taken_back_until_it_is_answered(leases: Leases, client_of: ClientOf) -> None:
    note, other = ask(leases.annas[0], by=leases.anna), ask(leases.annas[0], "Insure", by=leases.anna)
    client = client_of(leases.anna)
    assert client.post(reverse("annotation:withdraw-note", args=[note.pk])).status_code == 204
    with pytest.raises(Refused, match="taken back meanwhile"):
        actions.answer_note(note=note, answer="Yes.", by=leases.manager)

    actions.answer_note(note=other, answer="Yes.", by=leases.manager)
    refused = client.post(reverse("annotation:withdraw-note", args=[other.pk]))

    assert refused.status_code == 409
    assert "The manager has answered meanwhile" in refused.json()["message"]
    assert list(Note.objects.all()) == [other]


@pytest.mark.parametrize("text", ["", "  \n "])
def test_a_question_says_something(leases: Leases, text: str) -> None:
    with pytest.raises(Refused, match="Write what you want to ask"):
        ask(leases.annas[0], text=text, by=leases.anna)


def test_nothing_is_asked_or_taken_back_in_an_archived_study(leases: Leases, client_of: ClientOf) -> None:
    note = ask(leases.annas[0], by=leases.anna)
    actions.archive_study(study=leases.study, by=leases.manager)
    client = client_of(leases.anna)

    for refused in (
        client.post(url_of(note), {"text": "And now?"}),
        client.post(reverse("annotation:withdraw-note", args=[note.pk])),
    ):
        assert refused.status_code == 409
        assert "is archived: nothing is changed in it" in refused.json()["message"]
    assert [one.text for one in Note.objects.all()] == ["Is it?"]
    assert "Is it?" in client.get(url_of(note)).content.decode()


def test_another_persons_notes_do_not_exist(leases: Leases, client_of: ClientOf) -> None:
    note = ask(leases.boriss[0], text="zebra", by=leases.boris)
    client = client_of(leases.anna)
    for response in (
        client.get(url_of(note)),
        client.post(url_of(note), {"text": "x"}),
        client.post(f"{url_of(note)}read/"),
        client.post(reverse("annotation:withdraw-note", args=[note.pk])),
    ):
        assert response.status_code == 404
    assert "zebra" not in client.get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    assert marks(leases) == []


def test_a_manager_who_sees_the_label_beside_the_question_is_recorded_as_having_looked(
    leases: Leases, client_of: ClientOf
) -> None:
    ask(leases.annas[0], by=leases.anna)
    client = client_of(leases.manager)
    client.get(reverse("annotation:notes", args=[leases.study.slug]))
    assert not Look.objects.exists()

    builders.label(leases.annas[0], {("Pay rent", "stated"): "implied"})
    page = client.get(reverse("annotation:notes", args=[leases.study.slug])).content.decode()

    assert "Implied" in page
    assert Look.objects.get().user == leases.manager


def test_a_typed_answer_stands_beside_the_question_with_the_rows_text_and_the_way_to_its_cell(
    leases: Leases, client_of: ClientOf
) -> None:
    text = """\
key: reviews
version: 1
title: Reviews
sections:
  - key: review
    title: Review
    questions:
      - {key: price, title: Price, kind: number, number: {unit: €}}
      - {key: reason, title: Reason, kind: text, text: {longest: 300}}
      - {key: claims, title: Claims, kind: items, items: {fields: [{key: claim}]}}
"""
    study = builders.study("reviews", of=builders.scheme(text), by=leases.manager)
    sheet = actions.add_sheet(study=study, title="Shop", columns={})
    row = actions.add_row(sheet=sheet, name="r1", evidence=[Block(PARAGRAPH, "It broke after a week. " * 20)])
    (mine,) = builders.assignments(builders.rater(study, leases.anna), sheet)
    said = {"price": ":39.9", "reason": ':"Plainly <so>"', "claims": ':[{"claim":"broke"}]'}
    builders.label(mine, {("", question): code for question, code in said.items()})
    for question in said:
        ask(mine, "", question, by=leases.anna)

    page = client_of(leases.manager).get(reverse("annotation:notes", args=[study.slug])).content.decode()

    shown = re.findall(r'<header>.*?<span dir="auto">(.*?)</span>', page, re.DOTALL)
    assert shown == ["39.9 €", "Plainly &lt;so&gt;", "broke"]
    assert page.count('<p class="quiet" dir="auto">It broke after a week. It broke') == 3
    lens = reverse("annotation:lens", args=[sheet.pk])
    column, question = sheet.columns.get(), Question.objects.get(section__scheme=study.scheme, key="price")
    assert f"{lens}?row={row.pk}#c-{row.pk}-{column.pk}-{question.pk}" in page
