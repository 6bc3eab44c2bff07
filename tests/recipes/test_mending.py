"""A person mends what the reader found: what was done is told, kept and counted, and labels stay."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.models import Label, Role, Row, Sheet, User
from recipes.cooking import actions
from recipes.cooking import mending_queries as queries
from recipes.cooking.models import Mending
from recipes.cooking.pages import READER, read_page
from recipes.cooking.pages.mending import Change, Line, changes
from tests import builders
from tests.builders import Leases
from tests.recipes.test_actions import new_sheet
from tests.recipes.test_documents import SHOWN, STEPS, page, recipe, script

BEFORE = [Block("ingredient", text) for text in "abcd"]


def lines(order: str) -> list[Line]:
    """ "ba" is the second line, then the first; a capital letter is a new one."""
    return [Line(Block("ingredient", letter), None if letter.isupper() else "abcd".index(letter)) for letter in order]


@pytest.mark.parametrize(
    ("order", "done"),
    [
        ("abcd", []),
        ("abXcd", [("added", "X")]),
        ("acd", [("dropped", "b")]),
        ("bcda", [("moved", "a")]),
        ("dabc", [("moved", "d")]),
        ("Xdc", [("added", "X"), ("moved", "d"), ("dropped", "a"), ("dropped", "b")]),
    ],
)
def test_changes_are_the_fewest(order: str, done: list[tuple[str, str]]) -> None:
    assert [(change.what, change.text) for change in changes(BEFORE, lines(order))] == done


def test_another_text_is_a_change_and_another_kind_a_move() -> None:
    assert changes(BEFORE[:1], [Line(Block("ingredient", "z"), 0)]) == [Change("changed", "ingredient", "z", "a")]
    assert changes(BEFORE[:1], [Line(Block("step", "a"), 0)]) == [Change("moved", "step", "a")]


@pytest.mark.parametrize("origins", [(0, 0), (4,), (-1,)])
def test_lines_come_from_different_lines_of_the_document(origins: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="different lines"):
        changes(BEFORE, [Line(Block("ingredient", "a"), origin) for origin in origins])


# --- stored


@pytest.fixture
def sheet(db: None) -> Sheet:
    return new_sheet()


@pytest.fixture
def row(sheet: Sheet) -> Row:
    body = SHOWN.replace("<li>250 g flour</li>", "<li>Cakes and pies</li><li>250 g flour</li>")
    head = '<link rel="canonical" href="https://cakes.example/plain">'
    return actions.import_documents(sheet=sheet, pages=[read_page("a.html", page(body, head=head))]).added[0]


@pytest.fixture
def mara(db: None) -> User:
    return builders.user("mara")


def standing(row: Row) -> list[Line]:
    return [Line(block, i) for i, block in enumerate(row.blocks)]


def without_the_second(row: Row) -> list[Line]:
    return [line for line in standing(row) if line.origin != 1]


def mend(row: Row, to: list[Line], by: User, seen: str | None = None) -> Mending:
    row.refresh_from_db()
    return actions.mend(row=row, lines=to, seen=queries.digest_of(row) if seen is None else seen, by=by)


def test_mended_lines_are_the_evidence_and_the_old_ones_are_kept(row: Row, mara: User) -> None:
    before = list(row.evidence)
    entry = mend(row, [*without_the_second(row), Line(Block("step", "  Eat\u00ad  it. "))], mara)
    row.refresh_from_db()
    assert [block.text for block in row.blocks][1] == "250 g flour"
    assert row.blocks[-1] == Block("step", "Eat it.")
    assert (entry.by, entry.before, entry.after) == (mara, before, row.evidence)
    assert (entry.n_added, entry.n_dropped, entry.n_moved, entry.n_changed) == (1, 1, 0, 0)


def test_history_is_only_added_to(row: Row, mara: User) -> None:
    entry = mend(row, without_the_second(row), mara)
    with pytest.raises(TypeError, match="not changed"):
        entry.save()


def test_lines_can_be_put_back(row: Row, mara: User) -> None:
    before = list(row.evidence)
    entry = mend(row, without_the_second(row), mara)
    row.refresh_from_db()
    again = actions.put_back(entry=entry, seen=queries.digest_of(row), by=mara)
    row.refresh_from_db()
    assert row.evidence == before
    assert (again.n_added, again.n_dropped, again.n_moved) == (1, 0, 0)
    assert [each.pk for each in queries.history(row)] == [again.pk, entry.pk]


def test_who_comes_second_is_told(row: Row, mara: User) -> None:
    seen = queries.digest_of(row)
    mend(row, without_the_second(row), mara, seen)
    with pytest.raises(Refused, match="in the meantime"):
        mend(row, standing(row), mara, seen)
    assert Mending.objects.count() == 1


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ([], "At least one line"),
        ([Line(Block("heading", "Steps"))], "At least one line"),
        ([Line(Block("ingredient", " \u200b "))], "At least one line"),
        ([Line(Block("secret", "x"))], "of a kind"),
        ([Line(Block("step", "x" * 10_001))], "at most"),
        ([Line(Block("step", "x"), 99)], "do not fit"),
    ],
)
def test_bad_lines_are_refused_and_nothing_is_written(row: Row, mara: User, to: list[Line], why: str) -> None:
    before = list(row.evidence)
    with pytest.raises(Refused, match=why):
        mend(row, to, mara)
    row.refresh_from_db()
    assert (row.evidence, Mending.objects.count()) == (before, 0)


def test_how_often_people_mend_is_counted_by_reader_and_by_site(row: Row, sheet: Sheet, mara: User) -> None:
    other = read_page("b.html", page(SHOWN.replace(STEPS[1], "Bake."), head='<base href="https://pies.example/">'))
    [second] = actions.import_documents(sheet=sheet, pages=[other]).added
    mend(row, without_the_second(row), mara)
    mend(second, standing(second), mara)  # it is right
    readers, hosts = queries.shares(sheet.study)
    assert [(s.name, s.documents, s.looked_at, s.mended, s.dropped) for s in readers] == [(READER, 2, 2, 1, 1)]
    assert [(s.name, s.looked_at, s.mended) for s in hosts] == [("cakes.example", 1, 1), ("pies.example", 1, 0)]


def test_labels_that_stand_are_not_touched(db: None) -> None:
    leases: Leases = builders.leases()
    builders.label(leases.annas[0])
    row = leases.annas[0].row
    before = list(Label.objects.order_by("pk").values())
    assert before
    mend(row, [*standing(row), Line(Block("paragraph", "One more."))], leases.manager)
    assert list(Label.objects.order_by("pk").values()) == before


# --- pages and programs


@pytest.fixture
def client_of_mara(client: Client, sheet: Sheet, mara: User) -> Client:
    annotating.add_member(study=sheet.study, user=mara, role=Role.MANAGER)
    client.force_login(mara)
    return client


def test_marks_are_on_the_table_on_the_page_and_in_the_api(client_of_mara: Client, sheet: Sheet) -> None:
    head = script(recipe(recipeIngredient=["flour", "eggs", "salt"]))
    odd = read_page("b.html", page("", head=head))
    assert odd.doubts == ("no-amounts",)
    [row] = actions.import_documents(sheet=sheet, pages=[odd]).added
    slug = sheet.study.slug
    sentence = "Hardly any ingredient has an amount."
    for url in (reverse("recipes:documents", args=[slug]), reverse("recipes:document", args=[slug, row.pk])):
        assert sentence in client_of_mara.get(url).content.decode()
    [found] = client_of_mara.get(reverse("api:documents", args=[slug])).json()["results"]
    assert (found["doubts"], found["sentences"], found["mendings"]) == (["no-amounts"], [sentence], 0)


def test_lines_are_mended_on_the_page(client_of_mara: Client, sheet: Sheet, row: Row) -> None:
    url = reverse("recipes:mend", args=[sheet.study.slug, row.pk])
    assert client_of_mara.get(url).status_code == 200
    kept = without_the_second(row)
    data: dict[str, Any] = {
        "seen": queries.digest_of(row),
        "kind": [line.block.kind for line in kept],
        "text": [line.block.text for line in kept],
        "origin": [line.origin for line in kept],
    }
    assert client_of_mara.post(url, data).status_code == 302
    late = client_of_mara.post(url, data)
    assert (late.status_code, "in the meantime" in late.content.decode()) == (409, True)
    assert client_of_mara.post(url, {**data, "kind": []}).status_code == 409
    shown = client_of_mara.get(reverse("recipes:document", args=[sheet.study.slug, row.pk])).content.decode()
    assert "“<bdi>Cakes and pies</bdi>”" in shown
    assert "mara" in shown


@pytest.mark.parametrize("name", ["documents", "mendings", "hits"])
def test_a_long_list_comes_in_pages_of_at_most_a_thousand(
    client_of_mara: Client, sheet: Sheet, row: Row, name: str
) -> None:
    address = reverse(f"api:{name}", args=[sheet.study.slug])
    assert client_of_mara.get(address, {"limit": 1000}).status_code == 200
    for wrong in ({"limit": 1001}, {"limit": "x"}, {"offset": -1}):
        refused = client_of_mara.get(address, wrong)
        assert (refused.status_code, list(refused.json())) == (400, list(wrong))


def test_a_program_puts_lines_back(client_of_mara: Client, sheet: Sheet, row: Row, mara: User) -> None:
    slug, before = sheet.study.slug, row.evidence
    entry = actions.mend(row=row, lines=without_the_second(row), seen=queries.digest_of(row), by=mara)
    url, stale = reverse("api:put-mending-back", args=[slug, entry.pk]), queries.digest_of(row)
    row.refresh_from_db()

    late = client_of_mara.post(url, {"digest": stale}, content_type="application/json")
    assert (late.status_code, "in the meantime" in late.json()["detail"]) == (409, True)
    [found] = client_of_mara.get(reverse("api:documents", args=[slug])).json()["results"]
    answer = client_of_mara.post(url, {"digest": found["digest"]}, content_type="application/json")

    assert (answer.status_code, [c["what"] for c in answer.json()["changes"]]) == (201, ["added"])
    row.refresh_from_db()
    assert row.evidence == before


def test_lines_are_mended_by_a_program(client_of_mara: Client, sheet: Sheet, row: Row) -> None:
    slug = sheet.study.slug
    [found] = client_of_mara.get(reverse("api:documents", args=[slug])).json()["results"]
    sent = [
        {"kind": line.block.kind, "text": line.block.text, "origin": line.origin} for line in without_the_second(row)
    ]
    url = reverse("api:mend-document", args=[slug, row.pk])
    answer = client_of_mara.post(url, {"digest": found["digest"], "lines": sent}, content_type="application/json")
    assert (answer.status_code, [c["what"] for c in answer.json()["changes"]]) == (201, ["dropped"])
    again = client_of_mara.post(url, {"digest": found["digest"], "lines": sent}, content_type="application/json")
    assert (again.status_code, "in the meantime" in again.json()["detail"]) == (409, True)
    [entry] = client_of_mara.get(reverse("api:mendings", args=[slug])).json()["results"]
    assert (entry["by"], entry["row"]) == ("mara", row.pk)
