"""A real worker that is killed with -9 while it fetches: no page is lost, none comes in twice.

That an item is claimed and done once is held on each database by tests/work/test_killed.py; so this is not among what
`make test-services` runs again.
"""

from __future__ import annotations

import time

import pytest

from benchmarks import recipe_web
from benchmarks.recipe_web import RecipeWeb
from tests.recipes.test_retrieving import N_CHILI, PAGES, free_port
from tests.workers import Site


@pytest.mark.slow
def test_a_worker_is_killed_in_the_middle_of_a_page(bare_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site = bare_site
    site.program, site.table = "tests.recipes.site", "recipes_visit"
    page = recipe_web._Handler._page

    def slowly(handler: recipe_web._Handler, parts: list[str]) -> None:
        time.sleep(0.7)
        page(handler, parts)

    monkeypatch.setattr(recipe_web._Handler, "_page", slowly)
    with RecipeWeb(PAGES, free_port(), hard=False).running() as web:
        site.env |= {"SEARXNG_URL": web.searxng, "PALATE_FETCH_LOOPBACK": "1", "PALATE_FETCH_PAUSE": "0"}
        site.setup(rows=N_CHILI)
        worker = site.start_worker()
        site.wait_for("done", 2)  # the engine, and a page
        site.wait_for("claimed")
        site.kill(worker)
        assert site.query("SELECT state FROM recipes_retrieval") == [("running",)]
        site.start_worker()
        site.wait_for("done", N_CHILI + 1)
        time.sleep(0.5)
        said = site.report()
        assert sorted(said["rows"]) == sorted(web.url("chili", n) for n in range(1, N_CHILI + 1))
    assert (said["state"], said["items"], said["hits"]) == (
        "finished",
        {"done": N_CHILI + 1},
        {"document": N_CHILI},
    )
