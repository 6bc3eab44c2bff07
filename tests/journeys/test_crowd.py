"""One address for many: a manager opens it, somebody comes from a platform, labels, and takes a code back."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import CrowdLink, Label
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import look

pytestmark = pytest.mark.once


@pytest.mark.django_db(transaction=True)
def test_somebody_of_a_crowd_comes_labels_and_gets_the_code(browsing: Browsing) -> None:
    leases = builders.leases()
    builders.sheet(leases.study, "Crowd", duties=["Pay rent"], acts=[], n_rows=3)

    manager = browsing.person("mara")
    manager.goto(reverse("annotation:people", args=["leases"]))
    manager.get_by_role("link", name="links for a crowd").click()
    manager.get_by_label("Title").fill("May")
    manager.get_by_label("Lease", exact=True).uncheck()
    manager.get_by_label("Clauses for one person").fill("2")
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
    manager.get_by_text("1 person who came by a link for a crowd").click()
    expect(manager.get_by_text("crowd-")).to_have_count(1)
