"""The language switch: chosen by keyboard, kept, and heard in pages, scripts and refusals alike."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import FilePayload, Page, expect

from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw

pytestmark = pytest.mark.once

WITHOUT_SECTIONS = FilePayload(
    name="leases.yaml", mimeType="text/yaml", buffer=b"key: leases\nversion: one\ntitle: Leases\n"
)


def choose(page: Page, language: str) -> None:
    """As with the keyboard alone."""
    page.get_by_role("button", name=language).focus()
    page.keyboard.press("Enter")


def test_a_manager_goes_on_in_czech_and_back(browsing: Browsing) -> None:
    pages.person("mara").user_permissions.set(Permission.objects.filter(codename="add_study"))
    page = browsing.person()

    page.goto("/studies/new/")  # leads to the login, and from there to where one wanted to go
    choose(page, "Česky")
    expect(page.get_by_role("heading", name="Přihlásit se")).to_be_visible()
    page.get_by_label("Uživatelské jméno").fill("mara")
    page.get_by_label("Heslo").fill(pages.PASSWORD)
    page.get_by_role("button", name="Přihlásit se").click()

    expect(page.get_by_role("heading", name="Nová studie")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "cs")
    expect(page.get_by_role("button", name="Česky")).to_have_attribute("aria-current", "true")
    page.get_by_label("Název").fill("Nájmy")
    page.get_by_label("Adresa").fill("najmy")
    page.get_by_label("Soubor se schématem").set_input_files(WITHOUT_SECTIONS)
    page.get_by_role("button", name="Vytvořit studii").click()
    expect(page.locator(".errorlist")).to_contain_text("sections: tento klíč chybí")

    page.goto("/studies/")
    choose(page, "English")
    expect(page).to_have_url(f"{browsing.site.server.url}/studies/")
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_the_grid_speaks_the_language_of_the_browser(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person("anna", locale="cs-CZ")
    page.goto(f"/sheets/{slaw.sheet.pk}/")
    page.wait_for_selector("td:focus")

    page.keyboard.press("1")
    expect(page.locator("#save-state")).to_have_text("Uloženo")
    expect(page.locator("#cells-left")).to_contain_text("buněk")
    page.keyboard.press("s")
    expect(page.locator("#still-open-title")).to_contain_text("je ještě otevřeno")
