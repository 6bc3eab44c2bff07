"""What a row of a run costs beside the model, in statements, so that it stays."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judges import actions
from judges.models import Judge, Run
from judges.runs import labelling
from llm.backends.transformers import TransformersBackend
from tests.judges import helpers
from tests.judges.helpers import states
from work.actions import doing, holding

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(db: None, tmp_path: Path, model_forgotten: None) -> Judge:
    return helpers.cloze_judge(helpers.save_tiny_model(tmp_path))


@pytest.fixture(autouse=True)
def within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are renewed once a second at most, and strays looked for every 15, however slow this machine is."""
    monkeypatch.setattr(holding, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(doing, "_STRAYS_EVERY", math.inf)


@pytest.fixture
def words(db: None) -> Judge:
    return helpers.lexical_judge()


def started(judge: Judge, n_rows: int) -> Run:
    return actions.start_run(
        study=helpers.study_of_leases(n_rows=n_rows, slug=f"leases-{n_rows}"), judge=judge, by=None, enqueue=False
    )


def statements(judge: Judge, *, n_rows: int) -> int:
    """Of a worker that gets all rows of a run in one message."""
    run = started(judge, n_rows)
    with CaptureQueriesContext(connection) as asked:
        assert helpers.work(run) == n_rows
    return len(asked)


# Its columns; and, in one transaction, which is a savepoint here (set and released): the item, the assignment locked,
# what else is known of it, what stands there, labels, history, the assignment, answers that could not be read.
A_ROW = 1 + 2 + 8


@pytest.mark.parametrize(
    ("together", "of_twelve"),
    [
        pytest.param(1, 12 * (2 + A_ROW), id="alone: it is claimed and read"),
        # The first and the eleven others are claimed and read; whether one was tried before, twice; the columns.
        pytest.param(12, 12 * A_ROW + 2 + 2 + 2 + 1, id="together"),
    ],
)
def test_twelve_rows_more_take_so_many_statements_more(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, together: int, of_twelve: int
) -> None:
    monkeypatch.setattr(TransformersBackend, "scored_together", lambda place: together)
    statements(judge, n_rows=3)  # what is read once a process
    few, many = statements(judge, n_rows=24), statements(judge, n_rows=36)
    assert many - few == of_twelve


def test_a_judge_without_a_model_takes_as_many(words: Judge) -> None:
    statements(words, n_rows=3)
    few, many = statements(words, n_rows=24), statements(words, n_rows=36)
    assert many - few == 12 * (2 + A_ROW)


def test_a_thread_keeps_the_lease_while_a_model_is_loaded_and_none_afterwards(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    start = threading.Thread.start

    def starts(thread: threading.Thread) -> None:
        begun.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starts)
    run = started(judge, 3)
    backend = labelling.backend_of(judge)
    assert not backend.is_loaded
    helpers.work(run)
    assert backend.is_loaded
    assert sum("_beat_beside" in name for name in begun) == 1
    assert states(run) == {"done": 3}


def test_another_model_and_one_that_was_not_tried_out_are_not_loaded(judge: Judge, tmp_path: Path) -> None:
    scores = labelling.backend_of(judge)
    scores.identity()
    writes = labelling.backend_of(helpers.rating_judge(str(tmp_path)))
    assert (scores.is_loaded, writes.is_loaded) == (True, False)  # one model, and how it writes is not known yet
    writes.identity()
    assert (scores.is_loaded, writes.is_loaded) == (True, True)
    (tmp_path / "other").mkdir()
    labelling.backend_of(helpers.cloze_judge(helpers.save_tiny_model(tmp_path / "other"), name="other")).identity()
    assert (scores.is_loaded, writes.is_loaded) == (False, False)
