"""Whether a judge of two texts likes the one that stands first: its arm is made on its page, started, and the report
says how often the verdict changes. What the judge writes is scripted, and is there at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation import actions as annotating
from annotation.models import Role
from judges import actions
from judges.models import Judge, Run
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import fits_when_zoomed, look
from tests.reports import test_candidate_arms as pairs


def start(page: Page, judge: str) -> None:
    """Start a judge on its page, and be its worker."""
    page.goto(f"/studies/answers/judges/{Judge.objects.get(name=judge).pk}/")
    page.get_by_role("button", name="Start", exact=True).click()
    run = Run.objects.get(judge__name=judge)
    expect(page.locator("#progress")).to_contain_text(f"0 of {pairs.N_ROWS} pairs")
    assert actions.score_items(item_ids=list(run.items.values_list("pk", flat=True))) == pairs.N_ROWS
    expect(page.locator("#progress")).to_contain_text("Finished")


@pytest.mark.once
def test_arms_are_made_run_and_told(browsing: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    study = pairs.study_of_pairs(monkeypatch)
    judge = pairs.liking_judge()
    pairs.run(study, judge)
    root = builders.user("root", superuser=True)
    annotating.add_member(study=study, user=root, role=Role.MANAGER)
    page = browsing.person("root")
    page.goto(f"/studies/answers/judges/{judge.pk}/")
    expect(page.get_by_text("Candidates in the documents: first, second.")).to_be_visible()
    page.get_by_role("button", name="Make an arm with the candidates in the other order").click()
    expect(page.get_by_text("1 arm is made. Start it.")).to_be_visible()
    expect(page.get_by_text("the first candidate stands last")).to_be_visible()
    look(page, "arms-of-a-judge")
    start(page, "likes-candidates-1")

    page.goto(f"/studies/answers/judges/{judge.pk}/")
    page.get_by_role("button", name="Make a judge of their average").click()
    start(page, "likes-average")

    liked = sum(map(pairs.likes_the_first, range(pairs.N_ROWS))) / pairs.N_ROWS
    for width, height in ((1440, 900), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/studies/answers/report/judges/pair.better/")
        flips = page.get_by_role("row", name="likes-candidates-1 the candidates: the first stands last")
        expect(flips).to_contain_text(f"{100 * liked:.2f} %")
        won = page.get_by_role("row", name="whoever stood first won, a tie counting half")
        expect(won).to_contain_text(f"{50 + 50 * liked:.2f} %")
        flips.scroll_into_view_if_needed()
        look(page, f"arms-{width}")
    fits_when_zoomed(page, "arms")
