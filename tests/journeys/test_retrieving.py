"""From a recipe's name to its documents in the browser, against a search engine and sites of this machine."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from annotation import actions
from annotation.models import Sheet, User
from benchmarks.recipe_web import RecipeWeb
from recipes.cooking import actions as recipes
from recipes.cooking.models import Retrieval
from recipes.memorization import demo_study
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import WIDE, Browsing
from tests.journeys.test_looks import SIDEWAYS, UNSEEN_FOCUS, fits_when_zoomed, look
from tests.recipes.test_retrieving import PAGES, done, free_port

pytestmark = pytest.mark.once


def seen(page: Page, name: str) -> None:
    """What every page is held to."""
    look(page, name)
    assert page.evaluate(UNSEEN_FOCUS) == [], name
    page.set_viewport_size({"width": 1024, "height": 800})
    assert page.evaluate(SIDEWAYS) == [], name
    fits_when_zoomed(page, name)
    page.set_viewport_size(WIDE)


def test_from_a_name_to_documents_and_from_a_missing_item_to_more(
    browsing: Browsing, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PALATE_FETCH_LOOPBACK = True
    settings.PALATE_FETCH_PAUSE = 0.0
    settings.PALATE_FETCH_SECONDS = 5.0
    mara = pages.person("mara")
    study = actions.create_study(slug="dishes", title="Dishes", scheme=demo_study.paper_scheme(), by=mara)
    builders.rater(study, User.objects.create_user("anna"))
    page = browsing.person("mara")
    page.goto("/studies/dishes/search/")
    expect(page.get_by_text("There is nothing to search for yet.")).to_be_visible()
    recipes.add_recipe(study=study, recipe=demo_study.demo_recipe("chili"))
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    page.reload()
    expect(page.get_by_text("No search engine is set up here.")).to_be_visible()

    with RecipeWeb(PAGES, free_port(), pause=0.1).running() as web:
        monkeypatch.setenv("SEARXNG_URL", web.searxng)
        page.get_by_role("link", name="Search for documents").click()
        outlook = page.locator("#outlook")
        expect(outlook).to_contain_text("6 more documents")
        page.get_by_label("Documents per engine").fill("5")
        page.get_by_label("Query").fill("how to cook {name}")
        expect(outlook).to_contain_text("5 more documents")
        expect(outlook).to_contain_text("how to cook Chili")
        seen(page, "new-search")
        page.get_by_role("button", name="Search and fetch").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        run = Retrieval.objects.get()
        done(run)
        expect(page.locator("#progress")).to_contain_text("Finished")
        expect(page.locator("#progress")).to_contain_text("5 new documents")
        seen(page, "retrieval")

        page.get_by_role("link", name="Chili").first.click()
        expect(page.get_by_role("row").filter(has_text="forbidden")).to_contain_text("robots.txt asks programs")
        row = page.locator(".hits tbody tr").first
        row.get_by_role("button", name="No recipe").click()
        expect(row).to_contain_text("Not accepted as a document.")
        row.get_by_role("button", name="A recipe").click()
        expect(row).to_contain_text("SearXNG 1")
        seen(page, "hits")
        row.get_by_role("link", name="SearXNG 1").click()
        expect(page.get_by_text("rank 1")).to_be_visible()
        seen(page, "fetched-document")

        page.get_by_role("link", name="Search", exact=True).click()
        seen(page, "searches")
        page.get_by_role("link", name="Search for single items").click()
        seen(page, "choose-items")
        page.get_by_label("olive oil", exact=True).check()
        page.get_by_role("button", name="Go on").click()
        page.get_by_label("A1").check()
        seen(page, "search-items")
        page.get_by_role("button", name="Search and fetch").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        done(Retrieval.objects.exclude(pk=run.pk).get())
        expect(page.locator("#progress")).to_contain_text("Finished")
    assert Sheet.objects.get().rows.count() > 5
    assert study.raters.get(user__username="anna").assignments.count() == Sheet.objects.get().rows.count() - 5
