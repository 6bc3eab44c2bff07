"""A manager makes a webhook, tries it, sees what went wrong, and sends again; by the keyboard too."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation import actions as annotating
from annotation.models import Webhook
from annotation.webhooks import actions
from tests import builders
from tests.annotation.receiving import deliver, receiver
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import look

pytestmark = pytest.mark.once


@pytest.mark.django_db(transaction=True)
def test_a_webhook_is_made_tried_and_sent_again(browsing: Browsing) -> None:
    leases = builders.leases()
    manager = browsing.person("mara")
    manager.goto(reverse("annotation:settings", args=["leases"]))
    manager.get_by_role("link", name="Webhooks of this study").click()
    look(manager, "webhooks-none")
    with receiver() as heard:
        heard.statuses, heard.says = [503, 200], b"<h1>Down for maintenance until noon</h1>"
        manager.get_by_label("Address").fill("http://10.0.0.7/pay")
        manager.keyboard.press("Enter")
        expect(manager.get_by_text("The address begins with https://.")).to_be_visible()
        manager.get_by_label("Address").fill(f"{heard.address}/university/payments/palate")
        manager.get_by_label("A judge's run paused at its limit").uncheck()
        manager.get_by_label("Address").press("Enter")
        expect(manager.get_by_text("whsec_")).to_be_visible()
        look(manager, "webhook-secret")
        manager.get_by_role("button", name="Try it").focus()
        manager.keyboard.press("Enter")
        expect(manager.get_by_text("on its way")).to_be_visible()
        expect(manager.get_by_text("whsec_")).to_have_count(0)
        deliver(then=False)
        expect(manager.get_by_text("The server answered 503")).to_be_visible()  # the page asks again by itself
        for assignment in leases.annas:
            builders.label(assignment)
            annotating.submit(assignment=assignment)
        deliver()
        manager.reload()
        expect(manager.get_by_text("delivered")).to_have_count(2)
        manager.get_by_text("What is sent").first.click()
        expect(manager.get_by_text('"rater": "A1"').first).to_be_visible()
        look(manager, "webhook-calls")
        manager.get_by_role("button", name="Send again").first.click()
        deliver(then=False)
        expect(manager.get_by_text("on its way")).to_have_count(0)
        assert len(heard.calls) == 4
        heard.statuses = [410]
        actions.try_webhook(hook=Webhook.objects.get())
        deliver()
    manager.reload()
    expect(manager.get_by_text("it wants no more calls")).to_be_visible()
    look(manager, "webhook-off")
    manager.goto(reverse("annotation:study", args=["leases"]))
    expect(manager.get_by_text("Palate has switched a webhook off")).to_be_visible()
    look(manager, "webhook-off-study")
    manager.get_by_role("link", name="Webhooks").click()
    look(manager, "webhooks")
    manager.get_by_role("link", name="How calls look and are verified").click()
    expect(manager.get_by_text("def verified")).to_be_visible()
    look(manager, "webhooks-help")
    manager.go_back()
    manager.get_by_role("link", name="/university/payments/palate").click()
    manager.get_by_role("button", name="Switch on").click()
    expect(manager.get_by_text("The webhook is on.")).to_be_visible()
