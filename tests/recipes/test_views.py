"""The page of recipes and documents: what people are told of their uploads."""

from __future__ import annotations

import io
import lzma
import re
import zipfile
from collections.abc import Iterable

import pytest
from django.conf import settings
from django.contrib.messages import get_messages
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import reverse

from annotation import actions as annotating
from annotation.models import Sheet, User
from recipes.cooking import actions
from recipes.cooking.parsing import parse_recipe
from recipes.memorization.demo_study import paper_scheme
from tests import builders
from tests.builders import ClientOf
from tests.recipes.test_actions import SLAW
from tests.recipes.test_documents import SHOWN, page


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


def test_more_than_five_hundred_files_go_in_at_once(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    files = [(f"{n}.txt", b"no page") for n in range(500)] + [("a.html", page(SHOWN))]

    told = told_after(client_of(manager), sheet, files)

    assert len(told) == 501


@override_settings(DATA_UPLOAD_MAX_NUMBER_FILES=2)
def test_too_many_files_are_refused_with_advice(sheet: Sheet, manager: User, client_of: ClientOf) -> None:
    files = [SimpleUploadedFile(f"{n}.html", page(SHOWN)) for n in range(3)]

    response = client_of(manager).post(
        reverse("recipes:import-documents", args=["slaw"]), {"sheet": sheet.pk, "pages": files}
    )

    assert response.status_code == 400
    assert "send them as one ZIP" in response.content.decode()
    assert not sheet.rows.exists()


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
