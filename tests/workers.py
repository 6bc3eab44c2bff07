"""An installation of its own for tests of real workers, and how they are started and killed.

A database and a queue that only these processes use: SQLite and a folder, or, where the tests run on PostgreSQL
(`DATABASE_URL`) and Redis (`CELERY_BROKER_URL`), those.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 120  # of a machine that is busy with other things


class Site:
    """An installation in a folder, and its workers."""

    program = ""  # a module: `python -m` it with the commands setup, worker and report
    table = ""  # of the items whose states are watched
    queue = "cpu"  # of the workers

    def __init__(self, folder: Path, database_url: str, broker_url: str) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self.log = folder / "worker.log"
        self.messages = folder / "var" / "queue" / "messages"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
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
            [sys.executable, "-m", self.program, command], cwd=ROOT, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def setup(self, *, rows: int, slow: float = 0, **told: str) -> None:
        """Migrate, and start a run of so many items; `slow`: seconds that a worker rests at each."""
        self.env |= {"SITE_ROWS": str(rows), "SITE_SLOW": str(slow)}
        self.env |= {f"SITE_{name.upper()}": value for name, value in told.items()}
        self.call("setup")

    def report(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.call("report"))
        return said

    def start_worker(self, *, processes: int = 1) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            self.program,
            "worker",
            "-B",
            "-P",
            "prefork",
            "-Q",
            self.queue,
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

    def measure_start(self) -> float:
        """Seconds until the first of two workers that start together has claimed something, on this machine as busy as
        it is. They are killed."""
        began = time.monotonic()
        workers = [self.start_worker(), self.start_worker()]
        self.wait_for("claimed")
        taken = time.monotonic() - began
        for worker in workers:
            self.kill(worker)
        return taken

    def killed_at_work(self, times: int, *, rest: float, life: tuple[float, float], seed: int) -> int:
        """Two workers, of which one is killed again and again, and starts anew. How many were at something then.

        Args:
            rest: how long they rest at each thing, in starts of a worker as `measure_start` has it; afterwards nobody
                who starts rests.
            life: from how many starts to how many it is from one kill to the next.
        """
        start, rng, killed_at_work = self.measure_start(), random.Random(seed), 0
        self.env["SITE_SLOW"] = str(rest * start)
        workers = [self.start_worker(), self.start_worker()]
        for _ in range(times):
            time.sleep(rng.uniform(*life) * start)
            victim = rng.randrange(2)
            killed_at_work += self.is_at_work(workers[victim])
            self.kill(workers[victim])
            workers[victim] = self.start_worker()
        self.env["SITE_SLOW"] = "0"
        return killed_at_work

    def count(self, state: str) -> int:
        ((number,),) = self.query(f"SELECT count(*) FROM {self.table} WHERE state = '{state}'")
        return int(number)

    def is_at_work(self, worker: subprocess.Popen[bytes]) -> bool:
        """Whether a process of this worker has claimed something. What a killed one had stays claimed for a while."""
        claimed = self.query(f"SELECT worker FROM {self.table} WHERE state = 'claimed'")
        return any(_group_of(int(name.rpartition(":")[2])) == worker.pid for (name,) in claimed)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)


def _group_of(process: int) -> int | None:
    """The process group; None where there is no such process any more."""
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return None


class SQLiteSite(Site):
    def __init__(self, folder: Path, broker_url: str, migrated: Path | None = None) -> None:
        """`migrated`: a database to begin with, in which all migrations are done; each takes a while by itself."""
        self.file = folder / "site.sqlite3"
        if migrated is not None:
            shutil.copy(migrated, self.file)
        super().__init__(folder, f"sqlite:///{self.file}", broker_url)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        import sqlite3

        connection = sqlite3.connect(self.file, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


class PostgreSQLSite(Site):
    def __init__(self, folder: Path, broker_url: str, migrated: str = "") -> None:
        """`migrated`: the name of a database to begin with, which nobody uses meanwhile."""
        import psycopg

        at = settings.DATABASES["default"]
        server = {"host": at["HOST"], "port": at["PORT"], "user": at["USER"], "password": at["PASSWORD"]}
        self.name = f"palate_site_{uuid.uuid4().hex[:12]}"
        self._connected = partial(psycopg.connect, dbname=self.name, autocommit=True, **server)
        self.server = psycopg.connect(dbname="postgres", autocommit=True, **server)
        template = f' TEMPLATE "{migrated}"' if migrated else ""
        self.server.execute(f'CREATE DATABASE "{self.name}"{template}')
        self.connection = self._connected()
        url = f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{self.name}"
        super().__init__(folder, url, broker_url)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()  # type: ignore[arg-type]

    @contextmanager
    def away(self) -> Iterator[None]:
        """The server throws everybody out of the database, and lets nobody in: as while it is restarted."""
        self.connection.close()
        self.server.execute(f'ALTER DATABASE "{self.name}" ALLOW_CONNECTIONS false')
        self.server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [self.name])
        try:
            yield
        finally:
            self.server.execute(f'ALTER DATABASE "{self.name}" ALLOW_CONNECTIONS true')
            self.connection = self._connected()

    def close(self) -> None:
        super().close()
        self.connection.close()
        self.server.execute(f'DROP DATABASE "{self.name}" WITH (FORCE)')
        self.server.close()


class OwnRedis:
    """A Redis of a test's own, which can be emptied, killed, and started again with what it once held."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.folder, self._kept = folder, folder / "kept.rdb"
        self.start()

    def start(self, *, old: bool = False) -> None:
        """`old`: with what it held at the time of `save`."""
        import redis

        if old:
            shutil.copy(self._kept, self.folder / "dump.rdb")
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        self.process = subprocess.Popen([*command, "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
        self._client = redis.Redis(port=self.port)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._client.ping()
                return
            except redis.ConnectionError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def save(self) -> None:
        self._client.save()
        shutil.copy(self.folder / "dump.rdb", self._kept)

    def empty(self) -> None:
        self._client.flushall()

    def kill(self) -> None:
        self._client.close()
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
