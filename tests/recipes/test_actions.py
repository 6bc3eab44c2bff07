"""What comes of an import: rows, and a sentence for each page that is none. No page costs another one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection, transaction

from annotation import actions as annotating
from annotation.models import Row, Sheet
from recipes.cooking import actions
from recipes.cooking.models import Document
from recipes.cooking.pages import Page, PageRefused, read_page
from recipes.cooking.parsing import parse_recipe
from recipes.memorization.demo_study import paper_scheme
from tests.recipes.test_documents import LINES, SHOWN, page, recipe, script
from tests.translations import speaking_german

SLAW = "Slaw\nIngredients\n- cabbage\nTasks\nshred | knife | cabbage\n"
GOOD = read_page("good.html", page(SHOWN))
# json.dumps writes it as the six characters \ud83d, as careless sites do.
HALF = "\ud83d"


@pytest.fixture
def sheet(db: None) -> Sheet:
    return new_sheet()


def new_sheet() -> Sheet:
    study = annotating.create_study(slug="slaw", title="Slaw", scheme=paper_scheme(), by=None)
    return actions.add_recipe(study=study, recipe=parse_recipe(SLAW))


def imported(sheet: Sheet, *pages: Page | PageRefused) -> actions.Import:
    return actions.import_documents(sheet=sheet, pages=pages)


# --- odd pages --------------------------------------------------------------------------------------------------------


def test_lines_are_stored_without_signs_that_nobody_sees(sheet: Sheet) -> None:
    """A site that hyphenates its words by itself has other lines than it shows, and no word of them would be found."""
    [row] = imported(sheet, replace(GOOD, ingredients=("250 g flo\u00adur", "\ufeff2 eggs", "\u200b"))).added
    assert [block.text for block in row.blocks if block.kind == "ingredient"] == ["250 g flour", "2 eggs"]


@pytest.mark.parametrize("odd", [HALF, "\0", "\x1b"], ids=["half a surrogate pair", "NUL", "a control character"])
def test_a_page_is_stored_without_what_no_database_holds(sheet: Sheet, odd: str) -> None:
    stated = recipe(
        name=f"Plain{odd} cake",
        recipeIngredient=[f"250 g{odd} flour", *LINES[1:], odd],
        url=f"https://cakes.example/{odd}plain",
        inLanguage=f"en{odd}",
    )
    html = page("", head=script(stated), lang="")

    result = imported(sheet, read_page("odd.html", html), GOOD)

    assert result.refused == []
    row = Row.objects.get(pk=result.added[0].pk)
    assert (row.title, row.url) == ("Plain cake", "https://cakes.example/plain")
    assert [block.text for block in row.blocks if block.kind == "ingredient"] == list(LINES)
    assert [row.name for row in result.added] == ["cakes.example", "good"]


def test_every_text_of_a_page_is_made_storable(sheet: Sheet) -> None:
    """Whatever route found it: the lines of a site's own scraper are not folded."""
    odd = replace(
        GOOD,
        source=f"a{HALF}.html",
        url=f"https://c.example/{HALF}",
        host=f"c{HALF}.example",
        title=f"T{HALF}",
        language=f"en{HALF}",
        ingredients=(f"1 egg{HALF}", HALF, "flour"),
        steps=(f"\0Stir{HALF}.",),
    )

    [row] = imported(sheet, odd).added

    stored = Document.objects.get(row=row)
    assert (stored.source, stored.host) == ("a.html", "c.example")
    assert (row.name, row.url, row.title, row.language) == ("c.example", "https://c.example/", "T", "en")
    assert [block.text for block in row.blocks] == ["Ingredients", "1 egg", "flour", "Steps", "Stir."]


def test_a_page_that_cannot_be_stored_is_named_and_the_others_are_in(
    sheet: Sheet, caplog: pytest.LogCaptureFixture
) -> None:
    # Something that nobody foresaw, and that is found only when the row is written already.
    broken = replace(GOOD, source="broken.html", html=page(SHOWN + "<p>2</p>"), parser=None)  # type: ignore[arg-type]
    last = replace(GOOD, source="last.html", html=page(SHOWN + "<p>3</p>"))

    result = imported(sheet, GOOD, broken, last)

    assert result.refused == ["broken.html could not be stored; the other pages are in. The error was logged."]
    assert [row.name for row in result.added] == ["good", "last"]
    assert list(sheet.rows.values_list("name", flat=True)) == ["good", "last"]
    assert "broken.html" in caplog.text
    assert "Traceback" in caplog.text


def test_a_page_that_is_refused_does_not_stop_the_others(sheet: Sheet) -> None:
    result = imported(sheet, PageRefused(f"a{HALF}.html", "is empty."), GOOD)

    assert (result.refused, len(result.added)) == (["a.html is empty."], 1)


# --- the same import twice --------------------------------------------------------------------------------------------


def test_the_same_page_is_in_once(sheet: Sheet) -> None:
    result = imported(sheet, GOOD, replace(GOOD, source="again.html"))

    assert [row.name for row in result.added] == ["good"]
    assert result.refused == ["again.html is the same page as “good” of this sheet."]


def test_a_page_that_another_import_adds_meanwhile_is_the_same_page(sheet: Sheet) -> None:
    others = actions.Import()

    def pages() -> Iterator[Page]:
        # The import has begun; another one is through before its first page.
        others.added += imported(sheet, GOOD).added
        yield GOOD

    result = actions.import_documents(sheet=sheet, pages=pages())

    assert len(others.added) == 1
    assert (result.added, result.refused) == ([], ["good.html is the same page as “good” of this sheet."])


def test_a_row_of_that_name_that_another_import_adds_meanwhile_is_left_alone(sheet: Sheet) -> None:
    def pages() -> Iterator[Page]:
        imported(sheet, GOOD)
        yield replace(GOOD, html=page(SHOWN + "<p>2</p>"))

    [row] = actions.import_documents(sheet=sheet, pages=pages()).added

    assert row.name == "good (2)"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_two_imports_at_the_same_moment_the_second_waits() -> None:
    sheet = new_sheet()
    results: list[actions.Import] = []

    def second() -> None:
        try:
            results.append(imported(sheet, GOOD))
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        imported(sheet, GOOD)
        thread.start()
        thread.join(1)
        assert thread.is_alive()
    thread.join(10)

    [result] = results
    assert (result.added, result.refused) == ([], ["good.html is the same page as “good” of this sheet."])


# --- what is data -----------------------------------------------------------------------------------------------------


def test_headings_of_the_evidence_are_the_same_in_every_language(tmp_path: Path) -> None:
    with speaking_german(tmp_path, {"Ingredients": "Zutaten", "Steps": "Schritte"}):
        headings = [block.text for block in actions.evidence_of(GOOD) if block.kind == "heading"]

    assert headings == ["Ingredients", "Steps"]
