"""One address for many: a manager opens it, somebody comes from a platform, labels, and takes a code back."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation import actions as annotating
from annotation.crowd import actions as crowd
from annotation.models import CrowdLink, Label, Rater
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import look

pytestmark = pytest.mark.once


@pytest.mark.django_db(transaction=True)
def test_somebody_of_a_crowd_comes_labels_and_gets_the_code(browsing: Browsing) -> None:
    leases = builders.leases()
    sheet = builders.sheet(leases.study, "Crowd", duties=["Pay rent"], acts=[], n_rows=3)
    gold = Rater.objects.create(study=leases.study, kind=Rater.Kind.GOLD, code="gold")
    [known] = annotating.assign(rater=gold, rows=sheet.rows.all()[:1])
    builders.label(known, {("Pay rent", "stated"): "stated", ("", "act"): "found", ("", "strictness"): "2"})

    manager = browsing.person("mara")
    manager.goto(reverse("annotation:people", args=["leases"]))
    manager.get_by_role("link", name="links for a crowd").click()
    manager.get_by_label("Title").fill("May")
    manager.get_by_label("Lease", exact=True).uncheck()
    manager.get_by_label("Clauses for one person").fill("2")
    manager.get_by_label("Checks for one person").fill("1")
    manager.get_by_label("Places").fill("5")
    manager.get_by_label("Completion code").fill("CK7H2Q")
    manager.get_by_role("button", name="Make the link").click()
    address = manager.locator("code").first.inner_text()
    look(manager, "crowd")
    assert address.endswith(f"{CrowdLink.objects.get().token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}")

    came = browsing.person()
    came.goto(address.replace("{{%PROLIFIC_PID%}}", "worker-17"))
    look(came, "take-part")
    came.get_by_role("button", name="Begin").dblclick()  # goes on with the one account that it made
    came.wait_for_url("**/sheets/*/")
    for _row in range(2):
        for key in ("1", "1", "1", "1", "s"):
            came.keyboard.press(key)
            came.wait_for_timeout(150)
    came.get_by_role("link", name="Finish and get the code").click()
    expect(came.get_by_text("CK7H2Q")).to_be_visible()
    look(came, "crowd-done")
    assert Label.objects.filter(assignment__rater__participations__link__title="May").exists()

    manager.reload()
    expect(manager.get_by_text("1 finished")).to_be_visible()
    manager.goto(reverse("annotation:people", args=["leases"]))
    look(manager, "people")
    manager.get_by_role("link", name="how far they are, and payment").click()
    expect(manager.get_by_role("row", name=re.compile("completed"))).to_contain_text("2 of 2")
    manager.get_by_role("link", name="Checks").click()
    expect(manager.get_by_role("row", name=re.compile("completed"))).to_contain_text("2 of 3")
    look(manager, "crowd-people")


@pytest.mark.django_db(transaction=True)
def test_somebody_whose_sheet_is_closed_is_told_while_they_work_and_gets_the_early_code(browsing: Browsing) -> None:
    leases = builders.leases()
    sheet = builders.sheet(leases.study, "Crowd", duties=["Pay rent"], acts=[], n_rows=3)
    link = crowd.make_link(
        study=leases.study, title="May", sheets=[sheet], rows_each=3, people_per_row=2, most_people=5, hours=3,
        asks_for="PROLIFIC_PID", completion_code="CK7H2Q", completion_url="", ended_code="EARLY1", by=leases.manager,
    )  # fmt: skip
    came = browsing.person()
    came.goto(f"{reverse('annotation:take-part', args=[link.token])}?PROLIFIC_PID={'a1' * 12}")
    came.get_by_role("button", name="Begin").click()
    came.wait_for_url("**/sheets/*/")
    for key in ("1", "1", "1", "1", "s"):
        came.keyboard.press(key)
        came.wait_for_timeout(150)
    expect(came.locator("#n-submitted")).to_have_text("1")
    annotating.close_sheet(sheet=sheet, by=leases.manager)
    came.keyboard.press("1")
    told = came.locator("#closed-since")
    expect(told).to_be_visible()
    look(came, "crowd-closed")
    told.get_by_role("link", name="See what comes next").click()
    look(came, "crowd-my-work")
    came.get_by_role("link", name="Finish and get the code").click()
    expect(came.get_by_text("you have submitted 1 of 3 clauses")).to_be_visible()
    look(came, "crowd-early")
    came.get_by_role("button", name="Finish and get the code").click()
    expect(came.get_by_text("EARLY1")).to_be_visible()
    look(came, "crowd-early-code")

    manager = browsing.person("mara")
    manager.goto(reverse("annotation:crowd-people", args=["leases", link.pk]))
    expect(manager.get_by_role("row", name=re.compile("ended early"))).to_contain_text("1 of 3")
