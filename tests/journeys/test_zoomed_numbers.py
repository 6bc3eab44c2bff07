"""Every page that shows numbers, at 200 and 400 % of 1280 pixels and in a window of 1280 × 800: the report, hiring with
its certificates and experiments, comparisons, and the pages of the installation. Nothing is wider than the window or
cut off, and what sticks leaves room to read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from annotation import actions
from annotation.models import Role, User
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.hiring import actions as hiring
from reports.hiring.queries import work_to_do
from reports.models import Revocation
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import SIDEWAYS, WIDER
from tests.reports.hiring import simulated

pytestmark = pytest.mark.once

WINDOWS = ((1280, 800), (640, 512), (320, 256))
# Texts that a box cuts off without a way to scroll to the rest; and how much of the window is covered by what sticks.
CUT_OFF = """() => [...document.body.querySelectorAll("*")]
    .filter((element) => {
        const style = getComputedStyle(element);
        if (element.closest("svg, select, .vh, [hidden]") || style.display === "inline") return false;
        if (!element.checkVisibility({ visibilityProperty: true })) return false;
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        const hides = (value) => value === "hidden" || value === "clip";
        return own && ((hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
            || (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1));
    })
    .map((element) => element.outerHTML.slice(0, 120))"""
STUCK = """() => {
    const stuck = [...document.body.querySelectorAll("*")].filter((element) =>
        ["sticky", "fixed"].includes(getComputedStyle(element).position) && !element.closest(".scroll, dialog, .vh")
        && element.checkVisibility({ visibilityProperty: true }));
    const boxes = stuck.map((element) => element.getBoundingClientRect());
    const inside = boxes.filter((box) => box.width > innerWidth / 2 && box.top < innerHeight && box.bottom > 0);
    return Math.max(0, ...inside.map((box) => Math.min(box.bottom, innerHeight) - Math.max(box.top, 0))) / innerHeight;
}"""


def held(page: Page, title: str, url: str) -> list[str]:
    """What is wrong with a page in any of the windows."""
    found = []
    page.set_viewport_size({"width": WINDOWS[0][0], "height": WINDOWS[0][1]})
    page.goto(url)
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        if folder := os.environ.get("PALATE_SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{title}-{width}.png", animations="disabled", full_page=width > 320)
        if wider := page.evaluate(WIDER):
            found.append(f"{title}, {width} px: wider by {wider} px: {page.evaluate(SIDEWAYS)[:3]}")
        found += [f"{title}, {width} px: cut off: {element}" for element in page.evaluate(CUT_OFF)[:3]]
        if width < 1280 and page.evaluate(STUCK) > 0.5:
            found.append(f"{title}, {width} px: more than half of the window is covered")
    return found


# Those that `test_looks` does not open at these sizes; all are walked by the slow test.
ELSEWHERE = ("report", "question", "judges-on", "methods", "glossary", "compare-live", "whole", "cells", "evidence",
             "frozen-list", "frozen", "compare", "hiring", "choose-judge", "certify", "take-over", "plan", "board",
             "owner", "owner-people", "owner-person", "owner-log")  # fmt: skip


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "all"])
def test_pages_of_numbers_fit_when_zoomed(browsing: Browsing, every: bool) -> None:
    world = simulated.world(unsure=0.4)
    study, boris = world.study, world.people[1]
    hiring.draw_split(study=study, unit="row", share=60, seed=3, by=world.manager)
    certificate = simulated.bare_certificate(study, world.rater, world.question)
    todo = work_to_do(certificate, share=50, seed=1)
    hiring.take_over(certificate=certificate, raters=[boris], share=50, seed=1, shown=todo.digest, by=world.manager)
    actions.draw_experiment(study=study, judge=world.rater, raters=[boris], seed=3, by=world.manager)
    frozen = [reporting.freeze(study=study, title=title, filters=Filters(), by=None) for title in ("Before", "After")]
    builders.user("root", superuser=True)
    actions.add_member(study=study, user=User.objects.get(username="root"), role=Role.MANAGER)
    at, question = f"/studies/{study.slug}/", "claims.made"
    pages = {
        "report": f"{at}report/?now=1",
        "questions": f"{at}report/questions/",
        "question": f"{at}report/questions/{question}/",
        "judges": f"{at}report/judges/",
        "judges-on": f"{at}report/judges/{question}/",
        "people": f"{at}report/people/",
        "coverage": f"{at}report/coverage/",
        "methods": f"{at}report/methods/",
        "glossary": f"{at}report/glossary/",
        "whole": f"{at}report/whole/",
        "compare-live": f"{at}report/compare/?a-person=anna&b-person=boris",
        "cells": f"{at}report/cells/?cell.question={question}&cell.judge=scorer&cell.person=made&cell.chosen=made",
        "evidence": f"{at}report/evidence/{world.rows[0].pk}/",
        "frozen-list": f"{at}report/frozen/",
        "frozen": f"{at}report/frozen/{frozen[0].pk}/",
        "compare": f"{at}report/frozen/{frozen[0].pk}/compare/?other={frozen[1].pk}",
        "hiring": f"{at}hiring/",
        "choose-judge": f"{at}hiring/choose/?epsilon=10",
        "suggestions": f"{at}hiring/suggestions/",
        "certify": f"{at}hiring/certify/?judge=scorer&question={world.question.pk}&epsilon=10",
        "certificate": f"{at}hiring/certificates/{certificate.name}/",
        "take-over": f"{at}hiring/certificates/{certificate.name}/work/?share=50&seed=1&raters={boris.pk}",
        "judge": f"{at}judges/{world.judge.pk}/",
        "plan": f"{at}plan/",
        "board": f"{at}board/",
        "owner": "/owner/",
        "owner-people": "/owner/people/",
        "owner-person": f"/owner/people/{world.manager.pk}/",
        "owner-log": "/owner/log/",
    }
    page = browsing.person("root")
    walked = {title: url for title, url in pages.items() if every or title not in ELSEWHERE}
    assert len(walked) > 5
    wrong = [line for title, url in walked.items() for line in held(page, title, url)]
    hiring.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="The model was changed.", by=world.manager)
    wrong += held(page, "revoked", pages["certificate"]) + held(page, "report-revoked", pages["report"])
    assert wrong == []
