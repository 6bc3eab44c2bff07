"""A researcher's visit: read the report, ask for a part of it, take it along; and what is closed to a researcher."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from annotation.models import Label, Study
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw

pytestmark = pytest.mark.once


def download(page: Page, link: str) -> Path:
    with page.expect_download() as caught:
        page.get_by_role("link", name=link).click()
    return Path(caught.value.path())


def test_the_report_is_read_filtered_and_taken_along(demo: Study, browsing: Browsing) -> None:
    page = browsing.person("researcher")
    page.goto("/studies/")
    page.get_by_role("link", name=demo.title, exact=True).click()
    page.get_by_role("navigation", name="Study").get_by_role("link", name="Report").click()
    figures = page.locator(".figures").first
    expect(figures).to_contain_text(f"{Label.objects.count():,}")
    expect(page.get_by_text("simulated").first).to_be_visible()

    page.get_by_role("checkbox", name="Chili").check()
    page.get_by_role("button", name="Show").click()
    of_chili = Label.objects.filter(assignment__row__sheet__title="Chili").count()
    expect(figures).to_contain_text(f"{of_chili:,}")
    expect(page.get_by_role("checkbox", name="Chili")).to_be_checked()

    # The downloads are of the same part.
    with download(page, "Labels (CSV)").open(encoding="utf-8-sig", newline="") as file:
        labels = list(csv.DictReader(file))
    assert {"Chili"} == {line["sheet"] for line in labels}
    assert len([line for line in labels if line["answer"]]) == of_chili
    report = download(page, "Report (CSV)").read_text(encoding="utf-8-sig")
    assert len(list(csv.reader(io.StringIO(report)))) > 10
    book = load_workbook(io.BytesIO(download(page, "Report (XLSX)").read_bytes()))
    assert len(book.sheetnames) > 1
    first_sheet = book[book.sheetnames[0]]
    assert first_sheet.max_row > 1


def test_what_is_not_for_a_researcher_says_for_whom_it_is(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("status of 403")
    page = browsing.person("rene")
    page.goto("/studies/slaw/")
    expect(page.get_by_role("navigation", name="Study").get_by_role("link")).to_have_text(
        ["Overview", "Steps", "Documents", "Search", "Judges", "Hiring", "Verdict", "Report"]
    )
    response = page.goto("/studies/slaw/plan/")
    assert response is not None
    assert response.status == 403
    expect(page.get_by_role("heading", name="This page is not for you")).to_be_visible()
    expect(page.get_by_text("This page of “Slaw” is for: manager.")).to_be_visible()
    page.get_by_role("link", name="Back to the first page").click()
    expect(page).to_have_url(re.compile(r"/studies/"))


def test_a_researcher_sees_documents_and_runs_but_changes_nothing(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("rene")
    for tab in ("documents", "judges"):
        page.goto(f"/studies/slaw/{tab}/")
        assert page.locator("main form").count() == 0
