"""From a decision with its reason to whom it is of use: the manager shows it, the sheet closes, its rater reads it."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation import actions
from annotation.models import Label, Row, User
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw
from tests.journeys.test_looks import look

pytestmark = pytest.mark.once


def test_a_rater_learns_from_what_was_decided(slaw: Coleslaw, browsing: Browsing) -> None:
    """By the pages alone, from the settings of the sheet to the cell itself."""
    row = Row.objects.get(sheet=slaw.sheet, name="Google 1")
    said = Label.objects.filter(assignment=slaw.assignment("boris", "Google 1"), question__key="presence").first()
    assert said is not None
    other = said.question.options.exclude(pk=said.option_id).first()
    of_cell = {"row": row, "column": said.column, "question": said.question}
    actions.adjudicate(
        **of_cell, option=other, reason="It stands in the dressing.", by=User.objects.get(username="mara")
    )

    manager = browsing.person("mara")
    manager.goto(reverse("annotation:sheet-settings", args=["slaw", slaw.sheet.pk]))
    manager.get_by_label("Show its people the right answers once it is closed").check()
    manager.get_by_role("button", name="Save").click()
    expect(manager.get_by_text("Saved.")).to_be_visible()
    boris = browsing.person("boris")
    boris.goto(reverse("annotation:my-work"))
    expect(boris.get_by_role("link", name="Right answers")).to_have_count(0)
    actions.close_sheet(sheet=slaw.sheet, by=User.objects.get(username="mara"))

    boris.reload()
    boris.get_by_role("link", name="Right answers: Coleslaw").click()
    line = boris.get_by_role("row", name="Google 1")
    expect(line).to_contain_text("It stands in the dressing.")
    look(boris, "right-answers", dark_too=True)
    line.get_by_role("link", name="Google 1").click()
    expect(boris.locator("td:focus")).to_have_id(
        f"c-{slaw.assignment('boris', 'Google 1').pk}-{said.column_id}-{said.question_id}"
    )
