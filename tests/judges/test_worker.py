"""Real Celery workers, killed with -9: nothing is lost, nothing is doubled, for judges, for extractors and for texts.

What the machine under both does by itself is in tests/work/test_killed.py, on each database; so these are not among
what `make test-services` runs again.
"""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from tests.judges import helpers
from tests.workers import Site


def lexical_labels(rows: int) -> list[list[str]]:
    return sorted(
        [f"Clause {n}", *cell, option] for n in range(1, rows + 1) for cell, option in helpers.LEXICAL_SAYS.items()
    )


def assert_all_is_there_once(study: dict[str, Any], rows: int) -> None:
    assert (study["state"], study["items"]) == ("finished", {"done": rows})
    assert study["labels"] == lexical_labels(rows)
    assert study["changes"] == rows * len(helpers.LEXICAL_SAYS)


@pytest.mark.slow  # `tests/work/test_killed.py` has the same of any work
def test_a_killed_worker_and_a_queue_that_lost_everything(site: Site) -> None:
    site.setup(judge="lexical", rows=4, slow=1)
    worker = site.start_worker()
    site.wait_for("claimed")
    site.kill(worker)
    for message in site.messages.glob("*.msg"):
        message.unlink()
    site.start_worker()
    site.wait_for("done", 4)
    assert_all_is_there_once(site.report()["leases"], 4)
    assert "Lease · Clause 1: 5 cells, " in site.log.read_text()


@pytest.mark.slow
@pytest.mark.model
def test_a_language_model_killed_at_any_moment_says_what_it_says_undisturbed(site: Site) -> None:
    rng = random.Random(0)
    site.setup(judge="smollm2", rows=2)
    for _ in range(3):
        worker = site.start_worker()
        time.sleep(rng.uniform(2, 12))  # while it starts, loads, or scores
        site.kill(worker)
    site.start_worker()
    site.wait_for("done", 2)
    time.sleep(0.5)
    site.call("still")
    said = site.report()
    disturbed, undisturbed = said["leases"], said["still"]
    assert disturbed["state"] == undisturbed["state"] == "finished"
    assert len(disturbed["labels"]) >= 8  # two rows of two duties and two acts, and some parties
    assert disturbed["labels"] == undisturbed["labels"]
    assert disturbed["changes"] == len(disturbed["labels"])
    assert len(disturbed["logprobs"]) == len(disturbed["labels"])
    for one, other in zip(disturbed["logprobs"], undisturbed["logprobs"], strict=True):
        assert one == pytest.approx(other, abs=1e-4)


# Rows enough that there is work left at the twentieth kill; how long a worker rests at each, and how long it is between
# two kills. In starts of a worker: on a machine on which these take long, all takes as much longer.
@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize(
    ("judge", "rows", "rest", "life"), [("lexical", 90, 0.4, (0.1, 2)), ("smollm2", 90, 0.4, (0.3, 2))]
)
def test_two_workers_and_twenty_kills_in_one_run(
    site: Site, judge: str, rows: int, rest: float, life: tuple[float, float]
) -> None:
    """At any moment: while a worker starts, loads a model, scores, writes, or rests between two rows."""
    site.setup(judge=judge, rows=rows, slow=1)
    killed_at_work = site.killed_at_work(20, rest=rest, life=life, seed=20)
    assert site.count("done") < rows, "the run was over before the last kill"
    assert killed_at_work >= 5, "most kills met nobody at work"
    site.start_worker()
    site.wait_for("done", rows)
    time.sleep(0.5)
    site.call("still")
    said = site.report()
    disturbed, undisturbed = said["leases"], said["still"]
    assert (disturbed["state"], disturbed["items"]) == ("finished", {"done": rows})
    assert disturbed["labels"] == undisturbed["labels"]
    assert disturbed["changes"] == len(disturbed["labels"])
    for one, other in zip(disturbed["logprobs"], undisturbed["logprobs"], strict=True):
        assert one == pytest.approx(other, abs=1e-4)


# --- documents being taken apart --------------------------------------------------------------------------------------


def assert_each_document_was_taken_apart_once(site: Site, rows: int) -> None:
    site.call("still")
    said = site.report()
    disturbed, undisturbed = said["leases"], said["still"]
    assert (disturbed["state"], disturbed["items"]) == ("finished", {"done": rows})
    assert len(disturbed["taken"]) == rows
    assert disturbed["taken"] == undisturbed["taken"]


@pytest.mark.slow
def test_a_killed_extraction_and_a_queue_that_lost_everything(site: Site) -> None:
    site.table = "judges_extractionitem"
    site.setup(judge="parser", rows=4, slow=1)
    worker = site.start_worker()
    site.wait_for("claimed")
    site.kill(worker)
    for message in site.messages.glob("*.msg"):
        message.unlink()
    site.start_worker()
    site.wait_for("done", 4)
    assert_each_document_was_taken_apart_once(site, 4)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("extractor", ["parser", "writer"])
def test_an_extraction_by_two_workers_with_ten_kills(site: Site, extractor: str) -> None:
    """At any moment: while a worker starts, loads the model, or is at a document."""
    rows = 60
    site.table = "judges_extractionitem"
    site.setup(judge=extractor, rows=rows, slow=1)
    killed_at_work = site.killed_at_work(10, rest=0.4, life=(0.3, 2), seed=10)
    assert site.count("done") < rows, "the run was over before the last kill"
    assert killed_at_work >= 3, "most kills met nobody at work"
    site.start_worker()
    site.wait_for("done", rows)
    time.sleep(0.5)
    assert_each_document_was_taken_apart_once(site, rows)


# --- texts being written ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.model
def test_texts_by_two_workers_with_kills_are_those_of_an_undisturbed_run(site: Site) -> None:
    """At any moment: while a worker starts, loads the model, draws words, or stores the text."""
    rows = 24
    site.table = "judges_generationitem"
    site.setup(judge="texts", rows=rows, slow=0.5)
    killed_at_work = site.killed_at_work(6, rest=0.4, life=(0.5, 2), seed=4)
    assert site.count("done") < rows, "the run was over before the last kill"
    assert killed_at_work >= 2, "most kills met nobody at work"
    site.start_worker()
    site.wait_for("done", rows)
    time.sleep(0.5)
    site.call("still")
    said = site.report()
    disturbed, undisturbed = said["leases"], said["still"]
    assert (disturbed["state"], disturbed["items"]) == ("finished", {"done": rows})
    assert disturbed["texts"] == undisturbed["texts"]
    assert all(text for _name, text in disturbed["texts"])
