"""A run that waits says behind what: on its page, in the lists and to programs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import actions as annotating
from annotation.models import Import, ImportPart, Role, User
from judges import actions, trying
from judges.models import Run, Trial
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.judges import helpers
from tests.judges.helpers import claim, items, later
from work import actions as machine

HTMX = {"HTTP_HX_REQUEST": "true"}


@dataclass
class Queue:
    """A worker is at the first run, of another study; the second one and the third, which waits, are of one study."""

    other: Run
    own: Run
    waits: Run
    manager: User
    manager_of_both: User
    researcher: User


@pytest.fixture
def queue(db: None) -> Queue:
    manager, both, researcher = builders.user("mara"), builders.user("milos"), builders.user("rene")
    studies = [helpers.study_of_leases(slug="others"), helpers.study_of_leases()]
    for study, user, role in (
        (studies[0], both, Role.MANAGER),
        (studies[1], manager, Role.MANAGER),
        (studies[1], both, Role.MANAGER),
        (studies[1], researcher, Role.RESEARCHER),
    ):
        annotating.add_member(study=study, user=user, role=role)
    judges = [helpers.lexical_judge(name) for name in ("first", "second", "third")]
    runs = [
        actions.start_run(study=study, judge=judge, by=None)
        for study, judge in zip([studies[0], studies[1], studies[1]], judges, strict=True)
    ]
    for n, run in enumerate(runs):
        later(run, 60 - n)
    done, at_work, _left = items(runs[0])
    runs[0].items.filter(pk=done.pk).update(state="done", done_at=timezone.now(), seconds=30)
    claim(at_work)
    runs[0].items.filter(pk=at_work.pk).update(lease_until=timezone.now() + timedelta(seconds=60))
    return Queue(*runs, manager, both, researcher)


def numbers(run: Run, client: Any) -> str:
    """What the page fetches again every two seconds."""
    return " ".join(client.get(run.get_absolute_url(), **HTMX).content.decode().split())


def test_the_page_names_what_the_reader_may_see_and_counts_the_rest(queue: Queue, client_of: ClientOf) -> None:
    """One of three done in 30 s: two are left, a minute. Of the second run nothing is known."""
    page = numbers(queue.waits, client_of(queue.manager))
    own = f'<a href="{queue.own.get_absolute_url()}">second</a> (0 of 3 done)'
    assert f"Waits behind 2 other runs: {own}, and 1 more. At their pace it begins in 0:01:00 at the earliest." in page
    assert "<strong>Waiting</strong>" in page
    page = numbers(queue.waits, client_of(queue.manager_of_both))
    other = f'<a href="{queue.other.get_absolute_url()}">first</a> · Others (1 of 3 done)'
    assert f"Waits behind 2 other runs: {other}, {own}." in page


def test_the_page_says_when_its_turn_comes_where_all_before_it_have_a_pace(queue: Queue, client_of: ClientOf) -> None:
    page = numbers(queue.own, client_of(queue.manager))
    assert "Waits behind 1 other run. At their pace it begins in about 0:01:00." in page
    queue.other.items.filter(state="done").update(state="failed")
    page = numbers(queue.own, client_of(queue.manager))
    assert "Waits behind 1 other run." in page
    assert "At their pace" not in page


def test_a_researcher_is_told_no_names_of_imports(queue: Queue, client_of: ClientOf) -> None:
    study = queue.waits.study
    files = {"rows": ["secret.csv", "1"]}
    run = Import.objects.create(study=study, what=Import.What.ROWS, files=files, language="en")
    machine.start(run, [ImportPart(run=run)])
    assert f'<a href="{run.get_absolute_url()}">secret.csv</a>, ' in numbers(queue.waits, client_of(queue.manager))
    page = numbers(queue.waits, client_of(queue.researcher))
    assert "Waits behind 3 other runs:" in page
    assert "second</a> (0 of 3 done), and 2 more." in page
    assert "secret" not in page


def test_a_run_that_no_worker_takes_up_still_says_so(queue: Queue, client_of: ClientOf) -> None:
    queue.other.items.filter(state="claimed").update(lease_until=timezone.now() - timedelta(seconds=40))
    queue.other.items.filter(state="done").update(done_at=timezone.now() - timedelta(seconds=40))
    page = numbers(queue.waits, client_of(queue.manager))
    assert "no worker has taken one up for 0:00:" in page
    assert "Waits behind" not in page


def test_lists_of_runs_say_which_one_waits(queue: Queue, client_of: ClientOf) -> None:
    client, study = client_of(queue.manager), queue.waits.study
    page = client.get(f"/studies/{study.slug}/judges/").content.decode()
    assert [page.count(f"waits behind {n} other run") for n in (1, 2, 3)] == [1, 1, 0]
    board = client.get(f"/studies/{study.slug}/judges/board/", **HTMX).content.decode()
    assert "Waits behind 1 other run" in board
    assert "Waits behind 2 other runs" in board


def test_the_board_asks_no_more_for_many_runs_that_wait(queue: Queue, client_of: ClientOf) -> None:
    client, study, asked = client_of(queue.manager), queue.waits.study, []
    for n in (0, 1, 4):  # the first time, what is kept is read
        for number in range(n):
            judge = helpers.lexical_judge(f"waits-{n}-{number}")
            later(actions.start_run(study=study, judge=judge, by=None), 50)
        with CaptureQueriesContext(connection) as queries:
            board = client.get(f"/studies/{study.slug}/judges/board/", **HTMX).content.decode()
        asked.append(len(queries))
    assert board.count("Waits behind ") == 7
    assert asked[1] == asked[2]


def test_programs_are_told_the_place(queue: Queue, api_of: ApiOf) -> None:
    at = f"/api/v1/studies/{queue.waits.study.slug}/runs/{queue.waits.pk}/"
    said = api_of(queue.researcher).get(at).json()["progress"]
    assert (said["waits_behind"], said["seconds_until_turn"], said["waits_longer"]) == (2, 60.0, True)
    machine.cancel(queue.other)
    machine.cancel(queue.own)
    said = api_of(queue.researcher).get(at).json()["progress"]
    assert (said["waits_behind"], said["seconds_until_turn"], said["waits_longer"]) == (0, None, False)


def test_a_run_from_before_there_were_places_gets_the_one_it_had(queue: Queue, client_of: ClientOf) -> None:
    Run.objects.filter(pk=queue.own.pk).update(state="cancelled", ended_at=timezone.now())
    Run.objects.update(queued_at=None)
    page = numbers(queue.waits, client_of(queue.manager))
    assert "Waits behind" not in page
    migration = importlib.import_module("judges.migrations.0023_places_of_runs_at_work")
    for _twice in range(2):
        migration.give_places(apps, None)
    places = [Run.objects.get(pk=run.pk) for run in (queue.other, queue.own, queue.waits)]
    assert [run.queued_at for run in places] == [places[0].enqueued_at, None, places[2].enqueued_at]
    page = numbers(queue.waits, client_of(queue.manager))
    assert "Waits behind 1 other run." in page


def test_a_trial_says_behind_what_it_waits(queue: Queue, client_of: ClientOf, tmp_path: Path) -> None:
    """Behind what a worker is at, not behind what only waits."""
    judge, study = helpers.cloze_judge(helpers.save_tiny_model(tmp_path)), queue.waits.study
    row = study.sheets.get().rows.earliest("position")
    described = trying.described_as_stored(judge)
    trial = actions.start_trial(study=study, described=described, row=row, cell=None, by=queue.manager)
    ago = timezone.now() - timedelta(seconds=5)
    Trial.objects.update(queued_at=ago, started_at=ago)
    page = client_of(queue.manager).get(trial.get_absolute_url(), **HTMX).content.decode()
    assert "Waits behind 1 other run. At their pace it begins in about 0:01:00." in page
