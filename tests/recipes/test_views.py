"""The page of recipes and documents: what people are told of their uploads."""

from __future__ import annotations

import io
import lzma
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.messages import get_messages
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import reverse
from pytest_django import Settings

from annotation import actions as annotating
from annotation import doors
from annotation.exchange.background import cancel_import
from annotation.models import Import, Role, Sheet, Study, User
from recipes.cooking import actions, rows
from recipes.cooking.actions import documents
from recipes.cooking.parsing import parse_recipe
from recipes.memorization.demo_study import paper_scheme
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.recipes.test_actions import SLAW
from tests.recipes.test_documents import SHOWN, page
from work import actions as work


@pytest.fixture
def manager(db: None) -> User:
    return builders.user("mara")


@pytest.fixture
def sheet(manager: User) -> Sheet:
    study = annotating.create_study(slug="slaw", title="Slaw", scheme=paper_scheme(), by=manager)
    return actions.add_recipe(study=study, recipe=parse_recipe(SLAW))


def told_after(client: Client, sheet: Sheet, files: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """(level, sentence) of what the manager is told after importing these files."""
    response = client.post(
        reverse("recipes:import-documents", args=["slaw"]),
        {"sheet": sheet.pk, "pages": [SimpleUploadedFile(name, data) for name, data in files]},
    )
    assert response.status_code == 302, response.content.decode()
    return [(message.level_tag, str(message)) for message in get_messages(response.wsgi_request)]


def test_an_import_into_a_new_sheet_says_what_is_in(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    told = told_after(client_of(manager), sheet, [("a.html", page(SHOWN))])

    assert told == [("success", "1 document added to “Slaw”.")]


def test_an_import_into_a_planned_sheet_says_that_nobody_has_the_new_documents(
    sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    builders.row(sheet, "Google 1")
    builders.assignments(builders.rater(sheet.study, builders.user("anna")), sheet)

    told = told_after(client_of(manager), sheet, [("a.html", page(SHOWN)), ("b.html", page(SHOWN + "<p>2</p>"))])

    assert told == [
        ("success", "2 documents added to “Slaw”."),
        ("warning", "“Slaw” was planned before: nobody is assigned to its new documents yet. Do so under “Plan”."),
    ]


def test_an_empty_file_is_refused_by_its_name_and_the_others_go_in(
    sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    told = told_after(client_of(manager), sheet, [("empty.html", b""), ("a.html", page(SHOWN))])

    assert told == [("success", "1 document added to “Slaw”."), ("error", "empty.html is empty.")]


def at_one_address(text: str) -> bytes:
    return page(SHOWN + text, head='<link rel="canonical" href="https://corrie.example/slaw">')


def test_a_page_whose_address_a_row_has_is_named(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    told_after(client_of(manager), sheet, [("a.html", at_one_address(""))])

    told = told_after(client_of(manager), sheet, [("b.html", at_one_address("<p>2</p>")), ("c.html", page(SHOWN))])

    assert [row.name for row in sheet.rows.all()] == ["corrie.example", "corrie.example (2)", "c"]
    assert told == [
        ("success", "2 documents added to “Slaw”."),
        (
            "warning",
            "“corrie.example (2)” has the address of “corrie.example”. It is in as a row of its own; withdraw one of "
            "them under “Plan”.",
        ),
    ]


def test_a_study_of_another_scheme_is_not_told_to_add_a_recipe(leases: Leases, client_of: ClientOf) -> None:
    empty = builders.study("empty", of=leases.study.scheme, by=leases.manager)
    manager = client_of(leases.manager)
    for name in ("recipes:searches", "recipes:search-items", "recipes:documents", "annotation:study"):
        shown = manager.get(reverse(name, args=[empty.slug])).content.decode()
        assert "dd a recipe" not in shown, name
    assert "First bring in the contracts" in manager.get(reverse("recipes:searches", args=["empty"])).content.decode()


def test_search_calls_the_rows_of_another_scheme_as_it_does(
    leases: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = client_of(leases.manager).get(reverse("recipes:searches", args=[leases.study.slug])).content.decode()
    assert all(words in shown for words in ("Search for clauses", "Clauses and hits", "No clause"))
    assert "No recipe" not in shown
    assert "documents of the pages" not in shown
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")
    asked = client_of(leases.manager).get(reverse("recipes:new-search", args=[leases.study.slug])).content.decode()
    assert "Clauses per engine" in asked
    hits = reverse("recipes:hits", args=[leases.study.slug, leases.sheet.pk])
    assert "No clause" in client_of(leases.manager).get(hits).content.decode()


def test_a_study_of_recipes_is_told_to_add_one(manager: User, client_of: ClientOf) -> None:
    annotating.create_study(slug="slaw", title="Slaw", scheme=paper_scheme(), by=manager)
    for name in ("recipes:searches", "annotation:study"):
        assert "dd a recipe" in client_of(manager).get(reverse(name, args=["slaw"])).content.decode()


def test_documents_come_before_the_import_of_tables_in_a_study_of_recipes(manager: User, client_of: ClientOf) -> None:
    annotating.create_study(slug="slaw", title="Slaw", scheme=paper_scheme(), by=manager)
    steps = client_of(manager).get(reverse("annotation:study", args=["slaw"])).context["setup"]
    assert [(str(one.step.label), one.next, one.optional) for one in steps[:2]] == [
        ("Documents", True, False),
        ("Import", False, True),
    ]


def test_the_documents_that_come_next_are_meant_for_the_recipe_that_was_just_added(
    sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    client = client_of(manager)

    def chosen(answer: Any) -> str:
        return str(re.findall(r'<option value="\d+" selected>([^<]+)', answer.content.decode())[0])

    told_after(client, sheet, [("a.html", page(SHOWN))])
    adding = {"file": SimpleUploadedFile("soup.yaml", SLAW.replace("Slaw", "Soup").encode())}
    assert chosen(client.post(reverse("recipes:add-recipe", args=["slaw"]), adding, follow=True)) == "Soup"
    # Of several, the first that has none yet; after an import, what it brought documents to.
    assert chosen(client.get(reverse("recipes:documents", args=["slaw"]))) == "Soup"
    more = {"sheet": sheet.pk, "pages": [SimpleUploadedFile("b.html", page(SHOWN + "<p>2</p>"))]}
    assert chosen(client.post(reverse("recipes:import-documents", args=["slaw"]), more, follow=True)) == "Slaw"


def test_a_document_is_withdrawn_and_brought_back_on_its_own_page(
    sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    client, row = client_of(manager), builders.row(sheet, "Google 1")
    address = reverse("recipes:document", args=["slaw", row.pk])
    assert 'name="reason"' in client.get(address).content.decode()
    data = {"row": row.pk, "reason": "The page is gone", "back": address}
    assert client.post(reverse("annotation:withdraw-row", args=["slaw"]), data).headers["Location"] == address

    shown = [address, reverse("recipes:documents", args=["slaw"]), reverse("annotation:lens", args=[sheet.pk])]
    for url in (*shown, reverse("annotation:row-evidence", args=[row.pk])):
        page = client.get(url).content.decode()
        if url != shown[2] or row.name in page:
            assert "The page is gone" in page, url

    client.post(reverse("annotation:restore-row", args=["slaw", row.pk]), {"back": address})
    row.refresh_from_db()
    assert row.withdrawn_at is None
    assert "The page is gone" not in client.get(shown[1]).content.decode()


def test_a_withdrawal_leads_to_no_other_site(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    row = builders.row(sheet, "Google 1")
    data = {"row": row.pk, "reason": "Gone", "back": "https://elsewhere.example/"}
    sent = client_of(manager).post(reverse("annotation:withdraw-row", args=["slaw"]), data)
    assert sent.headers["Location"] == reverse("annotation:plan", args=["slaw"])


def test_a_judge_is_no_plan(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    builders.row(sheet, "Google 1")
    builders.assignments(builders.judge(sheet.study), sheet)

    told = told_after(client_of(manager), sheet, [("a.html", page(SHOWN))])

    assert [level for level, _sentence in told] == ["success"]


def damaged_zip() -> bytes:
    """A ZIP packed with LZMA, of which a few packed bytes are lost."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("page.html", page(SHOWN))
    data = bytearray(target.getvalue())
    # 30 bytes of header, 9 of the name, 9 of LZMA's properties; then the packed page.
    data[48:80] = b"\xff" * 32
    with pytest.raises(lzma.LZMAError), zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.read("page.html")
    return bytes(data)


def test_a_file_that_breaks_the_reader_does_not_stop_the_others(
    sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    told = told_after(client_of(manager), sheet, [("damaged.zip", damaged_zip()), ("a.html", page(SHOWN))])

    assert ("success", "1 document added to “Slaw”.") in told
    [refused] = [sentence for level, sentence in told if level == "error"]
    assert "damaged.zip" in refused


def import_by_worker(client: Client, sheet: Sheet, files: Iterable[tuple[str, bytes]]) -> Import:
    response = client.post(
        reverse("recipes:import-documents", args=["slaw"]),
        {"sheet": sheet.pk, "pages": [SimpleUploadedFile(name, data) for name, data in files]},
    )
    run = Import.objects.get()
    assert response.headers["Location"] == run.get_absolute_url()
    return run


def zipped(pages: Iterable[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in pages:
            archive.writestr(name, data)
    return packed.getvalue()


def twelve() -> list[tuple[str, bytes]]:
    return [(f"{n:02}.html", page(SHOWN + f"<p>{n}</p>")) for n in range(12)]


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PALATE_UPLOADS = tmp_path
    return tmp_path


def test_more_than_five_hundred_files_are_a_run(sheet: Sheet, manager: User, client_of: ClientOf, folder: Path) -> None:
    files = [(f"{n}.txt", b"no page") for n in range(500)] + [("a.html", page(SHOWN))]

    run = import_by_worker(client_of(manager), sheet, files)
    assert run.names == "0.txt, 1.txt, 2.txt and 498 more"
    work.take_up(run)

    shown = client_of(manager).get(run.get_absolute_url()).content.decode()
    assert "1 document added to “Slaw”." in shown
    assert "0.txt" in shown
    assert "… and 300 more." in shown
    assert sheet.rows.count() == 1


def test_pages_of_many_documents_are_a_run_which_goes_on_where_it_was(
    sheet: Sheet, manager: User, client_of: ClientOf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, taken = client_of(manager), actions.import_documents
    run = import_by_worker(client, sheet, [("pages.zip", zipped([*twelve(), ("x.html", b"<p>no recipe</p>")]))])
    assert "It waits for a worker." in client.get(run.get_absolute_url()).content.decode()
    assert "pages.zip" in client.get(reverse("recipes:documents", args=["slaw"])).content.decode()

    def until_cancelled(**what: Any) -> Any:
        if sheet.rows.count() == 5:
            cancel_import(run=run)
        return taken(**what)

    monkeypatch.setattr(actions, "import_documents", until_cancelled)
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.outcome["read"], sheet.rows.count()) == ("cancelled", 6, 6)
    assert "6 pages had come in by then" in client.get(run.get_absolute_url()).content.decode()

    monkeypatch.setattr(actions, "import_documents", taken)
    client.post(run.get_absolute_url() + "resume/")
    work.take_up(run)
    run.refresh_from_db()
    shown = client.get(run.get_absolute_url()).content.decode()
    assert (run.state, run.outcome["added"], sheet.rows.count()) == ("finished", 12, 12)
    assert "12 documents added to “Slaw”." in shown
    assert len(run.outcome["refused"]) == 1  # the page without a recipe, and none that was in already
    assert list(folder.iterdir()) == []


# --- the same for programs


def test_a_program_brings_pages_as_the_page_takes_them(sheet: Sheet, manager: User, api_of: ApiOf) -> None:
    api, address = api_of(manager), reverse("api:import-documents", args=["slaw"])
    files = [("a.html", at_one_address("")), ("b.html", at_one_address("<p>2</p>")), ("c.html", b"no page")]
    sent = {"sheet": sheet.pk, "pages": [SimpleUploadedFile(name, data) for name, data in files]}

    answer = api.post(address, sent, format="multipart")

    assert answer.status_code == 201
    first, second = sheet.rows.order_by("pk")
    assert answer.json() == {
        "rows": [first.pk, second.pk],
        "refused": ["c.html is not HTML: it holds plain text without markup."],
        "again": [
            "“corrie.example (2)” has the address of “corrie.example”. It is in as a row of its own; withdraw one of "
            "them under “Plan”."
        ],
        "said": ["2 documents added to “Slaw”."],
    }
    bad = api.post(address, {"sheet": sheet.pk}, format="multipart")
    assert (bad.status_code, list(bad.json())) == (400, ["pages"])


def test_many_pages_of_a_program_are_a_run_that_says_which_are_not_in(
    sheet: Sheet, manager: User, api_of: ApiOf, folder: Path
) -> None:
    api, packed = api_of(manager), zipped([*twelve(), ("x.html", b"<p>no recipe</p>")])
    sent = {"sheet": sheet.pk, "pages": [SimpleUploadedFile("pages.zip", packed)]}

    answer = api.post(reverse("api:import-documents", args=["slaw"]), sent, format="multipart")

    assert answer.status_code == 202
    work.take_up(Import.objects.get())
    followed = api.get(answer["Location"]).json()
    assert (followed["state"], followed["said"]) == ("finished", ["12 documents added to “Slaw”."])
    [refused] = followed["refused"]
    assert refused.startswith("x.html holds no recipe")


def test_a_command_brings_pages_into_a_sheet(sheet: Sheet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.html").write_bytes(page(SHOWN))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "b.html").write_bytes(page(SHOWN + "<p>2</p>"))
    (tmp_path / "pages" / "note.txt").write_text("passed over")
    with pytest.raises(CommandError, match="There is no sheet “Soup”. Sheets: Slaw."):
        call_command("import_pages", "slaw", "Soup", tmp_path / "a.html")
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_pages", "slaw", "Slaw", tmp_path / "a.html", tmp_path / "none.html")
    assert sheet.rows.count() == 0
    call_command("import_pages", "slaw", "Slaw", tmp_path / "a.html", tmp_path / "pages")
    assert capsys.readouterr().out == "2 documents added to “Slaw”.\n"
    call_command("import_pages", "slaw", "Slaw", tmp_path / "a.html")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("No page was added.\n", "  a.html is the same page as “a” of this sheet.\n")


def test_a_passing_fault_drops_no_page(
    sheet: Sheet, manager: User, client_of: ClientOf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that is locked for a moment says nothing of the page that met it: the run goes on there later."""
    run = import_by_worker(client_of(manager), sheet, twelve())
    added = documents.add_document
    met: list[str] = []

    def locked_once(**what: Any) -> Any:
        if sheet.rows.count() == 5 and not met:
            met.append(what["page"].source)
            raise OperationalError("database is locked")
        return added(**what)

    monkeypatch.setattr(documents, "add_document", locked_once)
    work.take_up(run)
    run.refresh_from_db()
    item = run.items.get()
    assert (run.state, item.state, run.outcome["added"], run.outcome["refused"]) == ("running", "queued", 5, [])
    assert "database is locked" in item.error

    run.items.update(not_before=None)
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.outcome["added"], run.outcome["refused"], len(met)) == ("finished", 12, [], 1)


def test_a_sheet_that_is_deleted_meanwhile_ends_its_import(
    sheet: Sheet, manager: User, client_of: ClientOf, folder: Path
) -> None:
    run = import_by_worker(client_of(manager), sheet, twelve())
    sheet.delete()
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "The sheet that the pages were for is there no more.")


@override_settings(DATA_UPLOAD_MAX_NUMBER_FILES=2)
def test_too_many_files_are_refused_with_advice(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    files = [SimpleUploadedFile(f"{n}.html", page(SHOWN)) for n in range(3)]

    response = client_of(manager).post(
        reverse("recipes:import-documents", args=["slaw"]), {"sheet": sheet.pk, "pages": files}
    )

    assert response.status_code == 400
    assert "send them as one ZIP" in response.content.decode()
    assert not sheet.rows.exists()


@pytest.mark.parametrize("template", ["400.html", "403.html", "403_csrf.html", "404.html", "429.html", "500.html"])
def test_the_page_of_an_error_leads_to_where_anybody_begins(template: str) -> None:
    """It led managers to the work of annotators."""
    drawn = render_to_string(template)
    assert re.search(r'<a href="/">\w', drawn)
    assert "Back to my work" not in drawn


@pytest.mark.parametrize("template", ["400.html", "500.html"])
def test_the_page_of_an_error_needs_no_request_and_finds_its_style_sheet(template: str) -> None:
    """By the plain name of the file: the page must be drawn also when the table of hashed names is what broke."""
    drawn = render_to_string(template)

    [address] = re.findall(r'<link rel="stylesheet" href="([^"]+)"', drawn)
    assert address.startswith(settings.STATIC_URL)
    assert finders.find(address.removeprefix(settings.STATIC_URL)) is not None
    assert "<style" not in drawn
    assert 'style="' not in drawn


def test_a_recipe_file_that_is_a_bomb_is_told_as_a_sentence(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    file = SimpleUploadedFile("bomb.yaml", b"name: x\ningredients: " + b"[" * 3000)

    response = client_of(manager).post(reverse("recipes:add-recipe", args=["slaw"]), {"file": file})

    assert response.status_code == 200
    assert "nested too deep" in response.content.decode()


def test_a_study_of_something_else_is_not_asked_to_mend_recipes(leases: Leases, client_of: ClientOf) -> None:
    manager, row = client_of(leases.manager), leases.annas[0].row
    page = manager.get(reverse("recipes:document", args=["leases", row.pk])).content.decode()
    assert reverse("recipes:mend", args=["leases", row.pk]) not in page
    listed = manager.get(reverse("recipes:documents", args=["leases"])).content.decode()
    assert "come from a table" in listed
    assert "Add a recipe" not in listed


@pytest.mark.django_db
def test_only_studies_of_web_pages_have_a_search_and_documents(leases: Leases, client_of: ClientOf) -> None:
    """Names, candidates, tables, graphs and contracts are no web pages of recipes, and had both tabs."""
    found = {
        slug
        for slug, file in doors.shipped_schemes().items()
        for study in [Study(scheme=builders.scheme(file.read_text(encoding="utf-8")))]
        if rows.are_pages(study)
    }
    assert found == {"recipe-memorization"}
    leases.study.roles = frozenset({Role.MANAGER})
    assert not {"Search", "Documents"} & {str(tab.label) for tab in doors.tabs_for(leases.study)}
    # A user's own scheme may ask about such pages: *Import* leads there.
    page = client_of(leases.manager).get(reverse("annotation:import", args=["leases"])).content.decode()
    assert f'href="{reverse("recipes:documents", args=["leases"])}"' in page
    source = builders.SCHEME.replace("title: Duties\n", "title: Duties\n    evidence: [ingredient]\n")
    looking = builders.scheme(source.replace("key: contracts", "key: looking"))
    assert rows.are_pages(Study(scheme=looking))
