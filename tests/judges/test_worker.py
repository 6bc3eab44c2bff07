"""Real Celery workers, killed with -9: nothing is lost, nothing is doubled.

The installation is one of its own (tests.judges.site): a database and a queue that only these processes use. They are
SQLite and a folder, or, where the tests run on PostgreSQL (`DATABASE_URL`) and Redis (`CELERY_BROKER_URL`), those.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from tests.judges import helpers

pytestmark = pytest.mark.services

ROOT = Path(__file__).resolve().parents[2]
# One of the last four of the usual sixteen; tests that run side by side get different ones.
REDIS_DATABASE = 12 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4
PATIENCE_SECONDS = 120  # of a machine that is busy with other things


class Site:
    """An installation in a folder, and its workers."""

    def __init__(self, folder: Path, database_url: str, broker_url: str) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self.log = folder / "worker.log"
        self.messages = folder / "var" / "queue" / "messages"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PALATE_ENV": "test",
            "PALATE_VAR": str(folder / "var"),
            "PALATE_LEASE_SECONDS": "20",
            "DATABASE_URL": database_url,
            "CELERY_BROKER_URL": broker_url,
            "LOG_LEVEL": "INFO",
            "OMP_NUM_THREADS": "1",
            "OMP_WAIT_POLICY": "passive",
        }

    def call(self, command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.judges.site", command], cwd=ROOT, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def setup(self, *, judge: str = "lexical", rows: int, slow: float = 0) -> None:
        self.env |= {"SITE_JUDGE": judge, "SITE_ROWS": str(rows), "SITE_SLOW": str(slow)}
        self.call("setup")

    def report(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.call("report"))
        return said

    def start_worker(self, *, processes: int = 1) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "tests.judges.site",
            "worker",
            "-B",
            "-P",
            "prefork",
            "-Q",
            "cpu",
            "-l",
            "info",
        ]
        with self.log.open("ab") as log:
            worker = subprocess.Popen(
                [*command, "-c", str(processes)],
                cwd=ROOT,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.workers.append(worker)
        return worker

    def wait_for(self, state: str, at_least: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.count(state) < at_least:
            assert time.monotonic() < deadline, f"no {state}\n{self.log.read_text()[-4000:]}"
            assert self.workers[-1].poll() is None, self.log.read_text()[-4000:]
            time.sleep(0.05)

    def count(self, state: str) -> int:
        ((number,),) = self.query(f"SELECT count(*) FROM judges_workitem WHERE state = '{state}'")
        return int(number)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)


class SQLiteSite(Site):
    def __init__(self, folder: Path, broker_url: str) -> None:
        self.file = folder / "site.sqlite3"
        super().__init__(folder, f"sqlite:///{self.file}", broker_url)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        import sqlite3

        connection = sqlite3.connect(self.file, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


class PostgreSQLSite(Site):
    def __init__(self, folder: Path, broker_url: str) -> None:
        import psycopg

        at = settings.DATABASES["default"]
        server = {"host": at["HOST"], "port": at["PORT"], "user": at["USER"], "password": at["PASSWORD"]}
        self.name = f"palate_site_{uuid.uuid4().hex[:12]}"
        self.server = psycopg.connect(dbname="postgres", autocommit=True, **server)
        self.server.execute(f'CREATE DATABASE "{self.name}"')
        self.connection = psycopg.connect(dbname=self.name, autocommit=True, **server)
        url = f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{self.name}"
        super().__init__(folder, url, broker_url)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()  # type: ignore[arg-type]

    def close(self) -> None:
        super().close()
        self.connection.close()
        self.server.execute(f'DROP DATABASE "{self.name}" WITH (FORCE)')
        self.server.close()


@pytest.fixture
def broker_url() -> Iterator[str]:
    if not settings.CELERY_BROKER_URL.startswith("redis"):
        yield "filesystem://localhost//"
        return
    import redis

    url = f"{settings.CELERY_BROKER_URL.rsplit('/', 1)[0]}/{REDIS_DATABASE}"
    client = redis.Redis.from_url(url)
    if client.dbsize():
        pytest.skip(f"Redis database {REDIS_DATABASE} is in use")
    yield url
    client.flushdb()
    client.close()


@pytest.fixture
def site(tmp_path: Path, broker_url: str) -> Iterator[Site]:
    is_sqlite = connection.vendor == "sqlite"
    made = SQLiteSite(tmp_path, broker_url) if is_sqlite else PostgreSQLSite(tmp_path, broker_url)
    yield made
    made.close()


def lexical_labels(rows: int) -> list[list[str]]:
    return sorted(
        [f"Clause {n}", *cell, option] for n in range(1, rows + 1) for cell, option in helpers.LEXICAL_SAYS.items()
    )


def assert_all_is_there_once(study: dict[str, Any], rows: int) -> None:
    assert (study["state"], study["items"]) == ("finished", {"done": rows})
    assert study["labels"] == lexical_labels(rows)
    assert study["changes"] == rows * len(helpers.LEXICAL_SAYS)


def test_a_killed_worker_and_a_queue_that_lost_everything(site: Site) -> None:
    site.setup(rows=4, slow=1)
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
@pytest.mark.parametrize("processes", [1, 2])
def test_workers_that_are_killed_again_and_again(site: Site, processes: int) -> None:
    rng = random.Random(processes)
    site.setup(rows=8, slow=1)
    for _ in range(3):
        worker = site.start_worker(processes=processes)
        if site.count("claimed"):  # of the worker before, until this one has looked
            site.wait_for("done", site.count("done") + 1)
        else:
            site.wait_for("claimed")
        time.sleep(rng.uniform(0, 1.2))
        site.kill(worker)
    site.start_worker(processes=processes)
    site.wait_for("done", 8)
    time.sleep(0.5)
    assert_all_is_there_once(site.report()["leases"], 8)


@pytest.mark.slow
def test_a_process_of_the_pool_that_is_killed_alone(site: Site) -> None:
    """As by the kernel, when memory runs out. The worker's main process lives on and starts another one."""
    site.setup(rows=4, slow=2)
    site.start_worker()
    site.wait_for("claimed")
    ((name,),) = site.query("SELECT worker FROM judges_workitem WHERE state = 'claimed'")
    os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
    site.wait_for("done", 4)
    time.sleep(0.5)
    assert_all_is_there_once(site.report()["leases"], 4)


@pytest.mark.slow
def test_two_workers_with_the_same_messages(site: Site) -> None:
    """Each worker sends all work once more when it starts, so that every row is on the queue three times."""
    site.setup(rows=12, slow=0.5)
    site.start_worker(processes=2)
    site.start_worker(processes=2)
    site.wait_for("done", 12)
    time.sleep(1)
    study = site.report()["leases"]
    assert_all_is_there_once(study, 12)
    assert study["workers"] > 1


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


# Rows enough that there is work left at the twentieth kill, and how long a worker is let live.
@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize(
    ("judge", "rows", "slow", "life"), [("lexical", 90, 0.5, (0.3, 6)), ("smollm2", 90, 0.3, (2, 10))]
)
def test_two_workers_and_twenty_kills_in_one_run(
    site: Site, judge: str, rows: int, slow: float, life: tuple[float, float]
) -> None:
    """At any moment: while a worker starts, loads a model, scores, writes, or rests between two rows."""
    rng = random.Random(20)
    site.setup(judge=judge, rows=rows, slow=slow)
    workers = [site.start_worker(), site.start_worker()]
    killed_at_work = 0
    for _ in range(20):
        time.sleep(rng.uniform(*life))
        victim = rng.randrange(2)
        before = site.count("claimed")
        site.kill(workers[victim])
        killed_at_work += before > 0
        workers[victim] = site.start_worker()
    assert site.count("done") < rows, "the run was over before the last kill"
    assert killed_at_work >= 5, "most kills met nobody at work"
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
