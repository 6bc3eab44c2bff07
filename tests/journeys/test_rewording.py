"""From a rater's question to a definition that answers it: mended under answers, shown before, read by its raters."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation import actions
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import look

pytestmark = pytest.mark.once


@pytest.mark.django_db(transaction=True)
def test_a_manager_mends_a_definition_and_the_rater_reads_it(browsing: Browsing) -> None:
    leases = builders.leases()
    builders.label(leases.annas[0])
    long = builders.sheet(leases.study, "Long", n_rows=9)
    builders.assignments(leases.annas[0].rater, long)
    at_work = browsing.person("anna")
    at_work.goto(reverse("annotation:sheet", args=[long.pk]))
    expect(at_work.locator("#evidence article")).to_be_visible()

    manager = browsing.person("mara")
    manager.goto(reverse("annotation:settings", args=["leases"]))
    manager.get_by_role("link", name="its wording can change").click()
    text = manager.get_by_label("The scheme")
    was = text.input_value()
    assert "version: 2" in was
    text.fill(was.replace("label: Implied}", "label: Implied, definition: It follows from what is said.}", 1))
    manager.get_by_role("button", name="See what changes").click()
    expect(manager.get_by_role("rowheader", name="Duties › Stated › Implied › definition")).to_be_visible()
    look(manager, "reword")
    manager.get_by_label("Why").fill("Anna asked what “implied” means.")
    manager.get_by_role("button", name="Change the wording").click()
    expect(manager.get_by_role("heading", name="Version 2")).to_be_visible()
    look(manager, "wordings")

    # Who has the page open hears of it with a document that is fetched then.
    since = at_work.get_by_role("status").filter(has_text="since this page was opened")
    expect(since).to_be_hidden()
    for _row in range(6):
        at_work.keyboard.press("ArrowDown")
    expect(since).to_be_visible()
    look(at_work, "reworded-since")
    since.get_by_role("link", name="Load the page again").click()
    expect(at_work.get_by_role("note").filter(has_text="worded otherwise")).to_be_visible()
    expect(since).to_be_hidden()

    anna = browsing.person("anna")
    anna.goto(reverse("annotation:sheet", args=[leases.sheet.pk]))
    told = anna.get_by_role("note").filter(has_text="worded otherwise")
    expect(told).to_contain_text("Anna asked what “implied” means.")
    told.get_by_text("1 change").click()
    expect(told.get_by_text("It follows from what is said.")).to_be_visible()
    look(anna, "reworded")
    told.get_by_role("button", name="I have read this").click()
    expect(told).to_have_count(0)


@pytest.mark.django_db(transaction=True)
def test_a_researcher_reads_how_far_people_agreed_before_and_since(browsing: Browsing) -> None:
    leases = builders.leases()
    raters = [of[0].rater for of in (leases.annas, leases.boriss)]
    stated = builders.COMPLETE.keys()
    for title, as_boris in (("Before", 2), ("Since", 6)):
        sheet = builders.sheet(leases.study, title, n_rows=12)
        for rater in raters:
            for number, assignment in enumerate(builders.assignments(rater, sheet)):
                alike = rater == raters[0] or number % as_boris
                other = {key: "absent" if key[1] in ("stated", "act") else None for key in stated}
                builders.label(assignment, builders.COMPLETE if alike else other)
        if title == "Before":
            source = builders.SCHEME.replace("version: 1", "version: 2").replace("label: Implied", "label: Hinted")
            actions.reword_scheme(
                study=leases.study, spec=load_scheme(source), source=source, reason="Plainer.", by=leases.manager
            )

    page = browsing.person("rene")
    page.goto(reverse("reports:report", args=["leases"]))
    page.get_by_text("are from before the last change").wait_for()
    look(page, "report-reworded")
    page.get_by_role("link", name="Wordings", exact=True).click()
    look(page, "wordings-with-reports")
    page.get_by_role("link", name="Report of the labels before").click()
    expect(page.get_by_text("Labels that count here: only those given before version 2")).to_be_visible()
    expect(page.locator(".pending span")).to_have_count(0)  # its intervals have come
    look(page, "report-before")
    page.get_by_role("link", name="All labels").click()
    page.get_by_role("link", name="Agreement before and since").click()
    expect(page.get_by_role("columnheader", name="before version 2").first).to_be_visible()
    look(page, "before-and-since")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_text("What goes in").first.click()
    chosen = page.get_by_label("Labels by the wording of what is asked").first
    expect(chosen).to_have_value("before-2")
    look(page, "before-and-since-filters")
