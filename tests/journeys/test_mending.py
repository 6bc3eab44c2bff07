"""A manager mends what the reader took out of a page, with the keyboard alone, beside the page itself."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation import actions
from annotation.models import User
from recipes.cooking import actions as recipes
from recipes.cooking.models import Mending
from recipes.cooking.pages import read_page
from recipes.memorization import demo_study
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.recipes.test_documents import LINES, STEPS, items, page

pytestmark = pytest.mark.once


def test_lines_are_split_joined_moved_and_dropped_by_keys(browsing: Browsing) -> None:
    pages.person("mara")
    tab = browsing.person("mara")
    study = actions.create_study(
        slug="dishes", title="Dishes", scheme=demo_study.paper_scheme(), by=User.objects.get(username="mara")
    )
    sheet = recipes.add_recipe(study=study, recipe=demo_study.demo_recipe("chili"))
    run_together = " ".join(STEPS)
    body = (
        f"<h2>Ingredients</h2>{items(['flour', 'Our best cakes', 'eggs', 'salt'])}<h2>Method</h2><p>{run_together}</p>"
    )
    [row] = recipes.import_documents(sheet=sheet, pages=[read_page("a.html", page(body))]).added
    tab.goto(reverse("recipes:documents", args=["dishes"]))
    expect(tab.get_by_text("1 reading is doubtful")).to_be_visible()
    tab.get_by_role("link", name=row.name, exact=True).click()
    tab.get_by_role("link", name="Compare with the page, and mend").click()
    texts = tab.get_by_role("textbox", name="Text of the line")
    expect(texts).to_have_count(7)
    expect(tab.frame_locator("iframe").get_by_text("Our best cakes")).to_be_visible()
    tab.wait_for_load_state()  # its script is there, too
    texts.nth(2).focus()
    tab.keyboard.press("Alt+Delete")
    expect(texts).to_have_count(6)
    tab.get_by_role("button", name="Bring it back").click()
    expect(texts).to_have_count(7)
    tab.keyboard.press("Alt+Delete")
    texts.nth(1).fill(LINES[0])
    tab.keyboard.press("ArrowDown")  # to "eggs"
    tab.keyboard.press("Alt+ArrowDown")
    expect(texts.nth(3)).to_have_value("eggs")
    tab.keyboard.press("Alt+ArrowUp")
    texts.nth(5).evaluate(f"area => area.setSelectionRange({len(STEPS[0]) + 1}, {len(STEPS[0]) + 1})")
    texts.nth(5).press("Enter")
    expect(texts).to_have_count(7)
    expect(texts.nth(6)).to_have_value(STEPS[1])
    texts.nth(6).press("Control+Enter")
    expect(tab.get_by_text("The lines are mended.")).to_be_visible()
    row.refresh_from_db()
    assert [block.text for block in row.blocks if block.kind == "step"] == list(STEPS)
    assert [block.text for block in row.blocks if block.kind == "ingredient"] == [LINES[0], "eggs", "salt"]
    entry = Mending.objects.get()
    assert (entry.n_added, entry.n_dropped, entry.n_moved, entry.n_changed) == (1, 1, 0, 2)
    expect(tab.get_by_text("“Our best cakes”")).to_be_visible()
