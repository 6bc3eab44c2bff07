"""Real workers, killed with -9 and cut off from their database: nothing is lost, nothing is done twice."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from django.db import connection

from tests.workers import OwnRedis, PostgreSQLSite, Site, SQLiteSite

pytestmark = pytest.mark.services


def assert_all_is_done_once(site: Site, n: int) -> None:
    said = site.report()
    assert (said["state"], said["items"]) == ("finished", {"done": n})
    assert said["written"] == list(range(1, n + 1))


def test_a_killed_worker_and_a_queue_that_lost_everything(site: Site) -> None:
    site.setup(rows=4, slow=1)
    worker = site.start_worker()
    site.wait_for("claimed")
    site.kill(worker)
    for message in site.messages.glob("*.msg"):
        message.unlink()
    site.start_worker()
    site.wait_for("done", 4)
    time.sleep(0.5)
    assert_all_is_done_once(site, 4)


@pytest.mark.slow
def test_two_workers_and_fifteen_kills_in_one_run(site: Site) -> None:
    """At any moment: while a worker starts, does an item, writes, or rests between two."""
    site.setup(rows=120, slow=1)
    killed_at_work = site.killed_at_work(15, rest=0.2, life=(0.1, 2), seed=15)
    assert killed_at_work >= 3, "most kills met nobody at work"
    site.start_worker()
    site.wait_for("done", 120)
    time.sleep(0.5)
    assert_all_is_done_once(site, 120)


@pytest.mark.slow
def test_a_process_of_the_pool_that_is_killed_alone(site: Site) -> None:
    """As by the kernel, when memory runs out. The worker's main process lives on and starts another one."""
    site.setup(rows=4, slow=2)
    site.start_worker()
    site.wait_for("claimed")
    ((name,),) = site.query("SELECT worker FROM toy_piece WHERE state = 'claimed'")
    os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
    site.wait_for("done", 4)
    time.sleep(0.5)
    assert_all_is_done_once(site, 4)


@pytest.mark.slow
def test_a_process_of_the_pool_that_is_killed_while_it_waits_for_work(site: Site) -> None:
    site.setup(rows=1)
    site.start_worker()
    site.wait_for("done")
    ((name,),) = site.query("SELECT worker FROM toy_piece")
    waiting = int(name.rpartition(":")[2])
    time.sleep(2)  # until it waits again
    os.kill(waiting, signal.SIGKILL)
    site.setup(rows=3)
    site.wait_for("done", 4)
    time.sleep(0.5)
    assert site.query("SELECT number FROM toy_written ORDER BY number") == [(1,), (1,), (2,), (3,)]


@pytest.mark.slow
def test_two_workers_with_the_same_messages(site: Site) -> None:
    """Each worker sends all work once more when it starts, so that every item is on the queue three times."""
    site.setup(rows=12, slow=0.5)
    site.start_worker(processes=2)
    site.start_worker(processes=2)
    site.wait_for("done", 12)
    time.sleep(1)
    assert_all_is_done_once(site, 12)
    assert site.report()["workers"] > 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nobody restarts SQLite")
@pytest.mark.slow
def test_a_database_that_goes_away_under_a_worker_gets_its_item_back(site: Site) -> None:
    """The worker had said that it would be silent for an hour, as when it loads a model; nobody waits for that hour."""
    assert isinstance(site, PostgreSQLSite)
    site.setup(rows=2, slow=4, quiet="3600")
    site.start_worker()
    site.wait_for("claimed")
    time.sleep(1)
    with site.away():
        time.sleep(6)
        assert "The database is away or locked" in site.log.read_text()
    site.wait_for("queued", 1)
    assert site.report()["errors"] != [""]
    site.wait_for("done", 2)
    time.sleep(0.5)
    assert_all_is_done_once(site, 2)


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="Redis is not installed here")
def test_a_queue_that_is_emptied_goes_away_and_comes_back_with_old_data(tmp_path: Path) -> None:
    """What the queue forgets is sent again, and what it remembers wrongly is done once all the same."""
    redis = OwnRedis(tmp_path)
    site = SQLiteSite(tmp_path, redis.url)
    site.program, site.table = "tests.work.site", "toy_piece"
    try:
        site.setup(rows=14, slow=0.7)
        redis.save()  # all messages are there
        site.start_worker()
        site.wait_for("done", 3)
        redis.empty()
        site.wait_for("done", 7)
        redis.kill()
        time.sleep(3)
        redis.start(old=True)
        site.wait_for("done", 14)
        time.sleep(1)
        assert_all_is_done_once(site, 14)
    finally:
        site.close()
        redis.close()
