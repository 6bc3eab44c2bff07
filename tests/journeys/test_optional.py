"""A form a row with a remark that nobody has to make, by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Sheet, Study
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid, until

pytestmark = pytest.mark.once

SCHEME = """\
key: mails
version: 1
title: Mails
words: {sheet: batch, sheets: batches, row: mail, rows: mails}
sections:
  - key: mail
    title: The mail
    questions:
      - {key: urgent, title: Urgent, kind: flag}
      - {key: quality, title: Quality, kind: scale, min: 1, max: 5}
      - {key: remark, title: Remark, kind: text, optional: true, text: {lines: true}}
"""


def mails(*, submits: bool = False) -> Sheet:
    study = builders.study("mails", of=builders.scheme(SCHEME))
    Study.objects.filter(pk=study.pk).update(submit_complete=submits)
    sheet = actions.add_sheet(study=study, title="Monday", columns={})
    for n in (1, 2):
        actions.add_row(sheet=sheet, name=f"Mail {n}", evidence=[Block("paragraph", "It came late.")])
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return sheet


def states(sheet: Sheet) -> list[str]:
    return list(Assignment.objects.filter(row__sheet=sheet).order_by("row__position").values_list("state", flat=True))


@pytest.mark.parametrize("submits", [False, True])
def test_a_mail_is_submitted_with_a_remark_or_without(browsing: Browsing, submits: bool) -> None:
    """Where the last answer submits, a remark that is still to come is not cut off."""
    sheet = mails(submits=submits)
    grid = Grid(browsing.person("anna"), sheet).open()
    expect(grid.page.locator("#cells-left")).to_have_text("4 of 4 cells left")
    grid.keys("1", "4")
    expect(grid.page.locator("#where")).to_contain_text("complete: s submits it")
    expect(grid.page.locator("#cells-left")).to_have_text("2 of 4 cells left")
    until(lambda: Label.objects.count() == 2, "the answers are not saved")
    assert states(sheet)[0] == "started"
    grid.keys("s")
    until(lambda: states(sheet)[0] == "submitted", "it is not submitted")

    grid.keys("2", "5", "ArrowDown")
    expect(grid.page.locator("#where")).to_contain_text("Remark")
    expect(grid.page.locator("#where")).to_contain_text("optional")
    grid.page.keyboard.type("Rude.")
    grid.keys("Control+Enter")
    if not submits:
        expect(grid.page.locator("#where")).to_contain_text("complete: Alt+S submits it")
        grid.keys("Alt+s")
    until(lambda: states(sheet) == ["submitted", "submitted"], "they are not both submitted")
    assert [label.value for label in Label.objects.filter(question__key="remark")] == ["Rude."]


def test_where_the_last_answer_submits_what_has_no_remark_is_submitted_once_it_is_left(browsing: Browsing) -> None:
    """It waited for `s`, which nobody presses in such a study, and stayed as it was."""
    sheet = mails(submits=True)
    grid = Grid(browsing.person("anna"), sheet).open()
    grid.keys("1", "4")
    grid.settle()
    assert states(sheet) == ["started", "open"]
    grid.keys("Control+ArrowRight")
    expect(grid.page.locator("#where")).to_contain_text("Mail 2")
    until(lambda: states(sheet)[0] == "submitted", "it is left and not submitted")
    grid.expect_refusal("“Mail 1” is submitted.")

    grid.keys("2", "5")
    grid.settle()
    assert states(sheet) == ["submitted", "started"]
    grid.keys("p")
    until(lambda: states(sheet) == ["submitted", "submitted"], "the last one is left and not submitted")
    expect(grid.page.locator("#sheet-done")).to_be_visible()


def test_who_leaves_the_page_has_left_the_mail(browsing: Browsing) -> None:
    sheet = mails(submits=True)
    grid = Grid(browsing.person("anna"), sheet).open()
    grid.keys("1", "4")
    grid.settle()
    assert states(sheet)[0] == "started"
    grid.page.goto("about:blank")
    until(lambda: states(sheet)[0] == "submitted", "it is not submitted")
