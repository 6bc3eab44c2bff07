"""People's share of a benchmark: a sample is planned by what is to be known, and rated by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Assignment, Label, Role, Row, Study
from judges.runs import labelling
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid
from tests.journeys.test_looks import UNSEEN_FOCUS, look
from tests.judges.generations import writes
from tests.recipes.test_benchmark import explained, files_of_the_docs

pytestmark = pytest.mark.once

NUMBERS = {"correctness": 7, "clarity": 10, "fit": 0, "brevity": 9}


@pytest.fixture
def study(browsing: Browsing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """The docs' explanations: six instructions, two generators, a judge; Anna has nothing yet."""
    backend = writes(monkeypatch, explained)
    monkeypatch.setattr(labelling, "backend_of", lambda _judge: backend)
    pages.person("mara")
    file = files_of_the_docs(tmp_path) / "explanations-bench.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "manager: mara\n", encoding="utf-8")
    call_command("run_benchmark", str(file), no_report=True, verbosity=0)
    made = Study.objects.get(slug="explanations")
    actions.add_member(study=made, user=pages.person("anna"), role=Role.ANNOTATOR)
    return made


def seen(page: Page, name: str) -> None:
    look(page, name)
    assert page.evaluate(UNSEEN_FOCUS) == [], name


def test_a_sample_is_planned_by_its_interval_and_rated_by_keys(study: Study, browsing: Browsing) -> None:
    manager = browsing.person("mara")
    manager.goto("/studies/explanations/plan/")
    manager.get_by_text("Only some of the explanations").click()
    manager.get_by_label("as many as let the mean rating be known").fill("2")
    manager.get_by_label("So many").select_option("of each group")
    manager.get_by_role("group", name="Groups").get_by_label("For whom").check()
    preview = manager.locator("#preview")
    # Of 0 to 10 used alike the deviation is √10: (1.96 · √10 / 2)² = 9.6; of six 9.6 / (1 + 9.6 / 6) = 3.7.
    expect(preview).to_contain_text("8 of 12 explanations that fit are drawn")
    expect(preview).to_contain_text("the mean rating of each group is known to ± 2")
    seen(manager, "ratings-plan")
    manager.get_by_role("button", name="Apply this plan").click()
    expect(manager.locator(".message.success")).to_be_visible()
    given = Assignment.objects.filter(rater__user__username="anna")
    assert sorted(given.values_list("row__facets__audience", flat=True)) == ["a child"] * 4 + ["an engineer"] * 4

    first = given.order_by("row__sheet__position").first()
    assert first is not None
    sheet = first.row.sheet
    page = browsing.person("anna")
    page.set_viewport_size({"width": 1440, "height": 900})
    grid = Grid(page, sheet).open()
    expect(page.locator("#evidence")).to_contain_text("This is the first sentence")
    expect(page.locator("#evidence")).not_to_contain_text("No match found")  # the one line has no words to look for
    assert page.locator("th.corner .quiet").evaluate("(one) => one.clientHeight") < 20  # “Part” is one line
    for key, number in NUMBERS.items():
        grid.keys("-" if number == 10 else str(number))
        page.keyboard.type(f"why {number}")
        grid.keys("Enter" if key == "brevity" else "Tab")
    seen(page, "ratings-form")
    page.set_viewport_size({"width": 1280, "height": 800})
    seen(page, "ratings-form-small")
    grid.keys("Alt+s")
    grid.settle()
    pages.until(lambda: given.filter(state="submitted").count() == 1, "nothing was submitted")
    done = given.get(state="submitted")
    labels = Label.objects.filter(assignment=done)
    assert {label.question.key: label.option.value for label in labels if label.option} == NUMBERS
    assert {label.question.key: label.value for label in labels if not label.option} == {
        f"{key}-reason": f"why {number}" for key, number in NUMBERS.items()
    }
    # Who wrote it is nowhere on her page.
    assert "smol" not in page.content()
    assert Row.objects.filter(pk=done.row_id, facets__model__startswith="smol").exists()
