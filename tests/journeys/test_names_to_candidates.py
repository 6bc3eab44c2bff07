"""A researcher's first afternoon with a dish: names, texts that a model writes, candidates, which one is the best.

The model writes what it is told, at once; what SmolLM2 writes is read in tests/judges/test_generating.py.
"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Label, Rater, Role, Row, Study
from judges.models import GenerationRun
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import until
from tests.judges import generations

pytestmark = pytest.mark.once

RECIPE = """{prompt}

Ingredients:
- 2 cucumbers
- 1 cup of yogurt
- 1 clove of garlic

1. Grate the cucumbers and press the water out of them.
2. Stir everything, number {seed}.
"""


@pytest.fixture
def manager(browsing: Browsing) -> Page:
    """Mara's browser; she may make studies."""
    mara = pages.person("mara")
    mara.user_permissions.set(Permission.objects.filter(codename="add_study"))
    generations.model()
    return browsing.person("mara")


def test_from_pasted_names_to_the_best_candidate(
    manager: Page, browsing: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    generations.writes(
        monkeypatch,
        lambda prompt, seed: (
            "I'm sorry, but I can't help with that." if seed == 2 else RECIPE.format(prompt=prompt, seed=seed)
        ),
    )
    page = manager
    page.goto("/studies/")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title").fill("Dishes")
    page.get_by_label("Address").fill("dishes")
    page.locator("select[name=scheme]").select_option(label="Names of dishes")
    page.get_by_role("button", name="Create the study").click()

    # Names, pasted out of a spreadsheet.
    page.get_by_role("navigation", name="Study").get_by_role("link", name="Names").click()
    page.locator("textarea[name=text]").fill("Tzatziki\tGreece\nKoshari\tEgypt")
    page.get_by_role("button", name="Add the dishes").click()
    expect(page.get_by_text("2 dishes added.")).to_be_visible()
    expect(page.get_by_role("row", name="Koshari Egypt")).to_be_visible()

    # Texts: what they take is said before anything starts.
    page.get_by_role("navigation", name="Study").get_by_role("link", name="Texts").click()
    page.get_by_role("link", name="Have texts written").click()
    expect(page.locator("#estimate")).to_contain_text("50 texts: 2 (dishes) × 5 (types of prompts)")
    for other in ("More detail", "Less detail", "Include origin"):
        page.get_by_label(other, exact=True).uncheck()
    page.get_by_label("Texts of each type (K)").fill("2")
    expect(page.locator("#estimate")).to_contain_text("8 texts: 2 (dishes) × 2 (types of prompts)")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Waiting · 0 of 8 texts")).to_be_visible()
    generations.work(GenerationRun.objects.get())
    expect(page.get_by_text("8 of 8 texts")).to_be_visible()
    expect(page.get_by_role("link", name="Read all texts")).to_be_visible()
    page.get_by_role("row", name="Tzatziki general 2").get_by_role("link").click()
    expect(page.get_by_text("Refusal: “I'm sorry, but I can't”")).to_be_visible()
    page.get_by_role("link", name="the one before").click()
    page.get_by_role("button", name="Write it again").click()
    generations.work(GenerationRun.objects.order_by("-pk")[0])
    page.reload()
    expect(page.get_by_text("the same text", exact=True)).to_be_visible()

    # Candidates, without the refusals.
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="Make a study of this one").click()
    page.get_by_role("link", name="Written texts become candidates").click()
    page.get_by_label("Title").fill("Candidates")
    page.get_by_label("Address").fill("candidates")
    page.locator("select[name=scheme]").select_option(label="Candidates of recipes")
    page.locator("select[name=set_texts]").select_option(label="those without a sign that came to their end")
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_role("heading", name="Candidates")).to_be_visible()
    study = Study.objects.get(slug="candidates")
    assert Row.objects.filter(sheet__study=study).count() == 4

    # Anna says what is wrong, how right it is and how she likes it, on the keys; nothing tells her who wrote it.
    anna = pages.person("anna")
    actions.add_member(study=study, user=anna, role=Role.ANNOTATOR)
    rater = Rater.objects.get(study=study, user=anna)
    for sheet in study.sheets.all():
        actions.assign(rater=rater, rows=sheet.rows.all())
    desk = browsing.person("anna")
    desk.goto("/")
    desk.get_by_role("link", name="Start").first.click()
    desk.wait_for_selector("td:focus")
    expect(desk.get_by_role("complementary")).to_contain_text("2 cucumbers")
    assert "writer" not in desk.content()
    desk.keyboard.type("2 cucumbers")
    desk.keyboard.press("Tab")
    desk.keyboard.type("four are needed")
    desk.keyboard.press("Control+Enter")
    expect(desk.locator("#save-state")).to_have_attribute("data-state", "saved")
    until(lambda: Label.objects.filter(assignment__rater=rater).exists(), "nothing was saved")
    assert Label.objects.get(assignment__rater=rater).value == [{"words": "2 cucumbers", "reason": "four are needed"}]
    with desk.expect_popup() as opened:
        desk.get_by_role("link", name="Side by side").click()
    beside = opened.value
    expect(beside.locator("mark", has_text="2 cucumbers").first).to_be_visible()
    expect(beside.get_by_role("heading", level=2)).to_have_count(2)
