"""An installation of real processes for `benchmarks.faults`, and what is done to them.

Web processes (gunicorn), workers (Celery), a cluster of PostgreSQL's or a file of SQLite's, a server of Redis's or a
folder for the queue: all of them in one folder, at ports of their own. Where this process may mount, what they keep
lies on a small disk of its own (`benchmarks.fault_disk`), which is filled and has its power cut; where there is a
compiler of C, the clock of web processes and workers jumps.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.fault_disk import Disk

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """Processes that a process has started, and theirs (Linux)."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):  # it has ended
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(folder.name))
    found, todo = [], [pid]
    while todo:
        more = parents.get(todo.pop(), [])
        found += more
        todo += more
    return found


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Installation:
    """The processes; `database`: “sqlite” or “postgresql”."""

    def __init__(
        self, folder: Path, database: str, *, workers: int = 2, web: int = 3, lease: int = 20, redis: bool = True
    ) -> None:
        self.folder, self.database, self.n_workers, self.n_web = folder, database, workers, web
        self.log = (folder / "processes.log").open("ab")
        self.device = Disk(folder)
        self.disk = self.device.at
        self.clock, self.clock_library = folder / "clock", folder / "clock.so"
        self.clock.write_bytes(bytes(8))
        if compiler := shutil.which("cc"):
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(self.clock_library)]
            subprocess.run([*command, str(ROOT / "benchmarks" / "fault_clock.c"), "-ldl"], check=True)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.web_port, self.lease = free_port(), lease
        self.has_redis = redis and shutil.which("redis-server") is not None
        self.redis_port, self.pg_port = free_port(), free_port()
        self.url = f"sqlite:///{self.disk / 'palate.sqlite3'}"
        self.broker = f"redis://127.0.0.1:{self.redis_port}/0" if self.has_redis else "filesystem://localhost//"
        if database == "postgresql":
            self.url = f"postgres://postgres@127.0.0.1:{self.pg_port}/palate"
            self._make_cluster()

    # --- what runs ---

    def _as_postgres(self) -> dict[str, Any]:
        return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}

    def _pg(self, program: str) -> str:
        found = shutil.which(program) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")), default="")
        if not found:
            raise SystemExit(f"{program} of PostgreSQL is not installed here.")
        return found

    def _make_cluster(self) -> None:
        self.cluster = self.disk / "cluster"
        self.cluster.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.cluster, "postgres", "postgres")
            for parent in (self.folder, *self.folder.parents):
                if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                    parent.chmod(parent.stat().st_mode | 0o011)
        command = [self._pg("initdb"), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--wal-segsize=4", "--no-sync"]
        subprocess.run([*command, "-D", self.cluster], check=True, stdout=self.log, cwd="/", **self._as_postgres())
        self.start_postgresql()
        self.sql("CREATE DATABASE palate", "postgres")

    def start_postgresql(self) -> None:
        """Until it answers; after a crash it repairs itself first, and needs room on the disk for that."""
        settings = {
            "port": self.pg_port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": 80,
            "max_wal_size": "64MB",
            "min_wal_size": "16MB",
            "shared_buffers": "64MB",
            "restart_after_crash": "on",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        for _attempt in range(600):
            process = self.processes.get("postgresql")
            if process is None or process.poll() is not None:
                self.processes["postgresql"] = subprocess.Popen(
                    [self._pg("postgres"), "-D", self.cluster, *options],
                    stdout=self.log, stderr=self.log, cwd="/", start_new_session=True, **self._as_postgres(),
                )  # fmt: skip
            with contextlib.suppress(Exception):
                self.sql("SELECT 1", "postgres")
                return
            time.sleep(0.1)
        raise TimeoutError("PostgreSQL did not come back")

    def sql(self, statement: str, name: str = "palate") -> None:
        import psycopg

        address = {"host": "127.0.0.1", "port": self.pg_port, "user": "postgres", "connect_timeout": 5}
        with psycopg.connect(dbname=name, autocommit=True, **address) as connection:  # type: ignore[arg-type]
            connection.execute(statement.encode())

    def environment(self) -> dict[str, str]:
        """Of web processes and workers."""
        ours = {
            "DATABASE_URL": self.url,
            "CELERY_BROKER_URL": self.broker,
            "PALATE_LEASE_SECONDS": str(self.lease),
            "PALATE_IMPORT_AT_ONCE": "1500",
            "WEB_CONCURRENCY": str(self.n_web),
            "LOG_LEVEL": "WARNING",
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(self.folder),
        }
        if self.clock_library.exists():
            ours |= {"LD_PRELOAD": str(self.clock_library), "FAULT_CLOCK": str(self.clock)}
        return {**os.environ, **ours}

    def start_redis(self) -> None:
        if self.has_redis:
            command = ["redis-server", "--port", str(self.redis_port), "--dir", str(self.folder), "--save", "1 1"]
            self._start("redis", [*command, "--appendonly", "no", "--bind", "127.0.0.1"], {**os.environ})

    def start_web(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py"]
        command += ["--bind", f"127.0.0.1:{self.web_port}", "--log-level", "critical"]
        self._start("web", command, self.environment())

    def start_worker(self, number: int) -> None:
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "-Q", "cpu", "-c", "1"]
        command += ["-n", f"w{number}@%h", "-l", "warning", "-s", str(self.disk / f"beat{number}")]
        self._start(f"worker {number}", command, self.environment())

    def _start(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.processes[name] = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def start(self) -> None:
        if self.device.forgets:
            self.device.sync()  # what was made before the first process is there; from now on each is on its own
        self.start_redis()
        self.start_web()
        for number in range(self.n_workers):
            self.start_worker(number)
        self.wait_for_web()

    def wait_for_web(self) -> None:
        for _attempt in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}/healthz", timeout=5).close()
                return
            if self.processes["web"].poll() is not None:
                self.start_web()
            time.sleep(0.1)
        raise TimeoutError("The web processes do not answer")

    def set_clock(self, seconds: int) -> None:
        """So many seconds ahead of the true time, for web processes and workers."""
        with self.clock.open("r+b") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))

    def all_of(self, name: str) -> list[int]:
        process = self.processes[name]
        return [process.pid, *children(process.pid)] if process.poll() is None else []

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """All processes of that name at once: none finishes what it has begun."""
        send(self.all_of(name), number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.processes[name].wait(30)

    def workers(self) -> list[str]:
        return [name for name in self.processes if name.startswith("worker")]

    def mend(self) -> None:
        """Everything runs, with room on the disk and at the right time."""
        self.set_clock(0)
        (self.disk / "ballast").unlink(missing_ok=True)
        for name in self.processes:
            send(self.all_of(name), signal.SIGCONT)
        if self.database == "postgresql":
            self.start_postgresql()
        if self.has_redis and self.processes["redis"].poll() is not None:
            self.start_redis()
        if self.processes["web"].poll() is not None:
            self.start_web()
        for name in self.workers():
            if self.processes[name].poll() is not None:
                self.start_worker(int(name.split()[1]))
        self.wait_for_web()

    def close(self) -> None:
        for name in sorted(self.processes, key=lambda name: name in ("postgresql", "redis")):
            self.kill(name)
        self.device.close()
        self.log.close()


class Nemesis:
    """Does one thing after the other to an installation, and tells `note(what, begin, end)` of each."""

    def __init__(
        self,
        site: Installation,
        rng: random.Random,
        note: Callable[[str, float, float], None],
        *,
        longest: float = 1,
        only: str = "",
    ) -> None:
        self.site, self.rng, self.note, self.longest, self.only = site, rng, note, longest, only
        self.old = site.folder / "old.rdb"
        self._later: list[threading.Thread] = []
        self._is_redis_away, self._of_redis = False, threading.Lock()

    def faults(self) -> dict[str, Callable[[], None]]:
        """By names; what this machine has not the means for is not among them."""
        some: dict[str, Callable[[], None]] = {
            "a web process killed": self.web_process_killed,
            "all web processes killed": self.web_killed,
            "a web process paused": self.web_paused,
            "a worker killed": self.worker_killed,
            "a process of a worker's pool killed": self.worker_process_killed,
            "a worker paused": self.worker_paused,
            "a worker paused for longer than its lease": self.worker_paused_for_long,
            "web processes and workers killed at once": self.all_killed,
        }
        if self.site.database == "postgresql":
            some |= {
                "PostgreSQL killed": self.postgresql_killed,
                "PostgreSQL shut down at once": self.postgresql_quits,
                "a server process of PostgreSQL killed": self.server_process_killed,
                "all connections to PostgreSQL cut": self.connections_cut,
                "PostgreSQL paused": self.postgresql_paused,
            }
        if self.site.has_redis:
            some |= {
                "Redis killed": self.redis_killed,
                "Redis emptied": self.redis_emptied,
                "Redis paused": self.redis_paused,
                "Redis back with old data": self.redis_back_with_old_data,
                "Redis away": self.redis_away,
            }
        if self.site.device.is_mounted:
            some["the disk full"] = self.disk_full
        if self.site.device.forgets:
            some["the power cut"] = self.power_cut
        if self.site.clock_library.exists():
            some["the clock jumps"] = self.clock_jumps
        return {name: do for name, do in some.items() if self.only in name}

    def run(self, until: float, *, most: int, rest: tuple[float, float]) -> None:
        """Each kind of fault in turn, in a new order each time, until `until` (time.monotonic)."""
        if not self.faults():
            raise SystemExit(f"No fault here is called “{self.only}”.")
        done = 0
        while done < most:
            for name, do in self._shuffled():
                if time.monotonic() > until or done >= most:
                    break
                if "Redis" in name and self._is_redis_away:
                    continue
                begin = time.monotonic()
                do()
                self.note(name, begin, time.monotonic())
                done += 1
                time.sleep(self.rng.uniform(*rest))
            else:
                continue
            break
        for thread in self._later:
            thread.join()
        self.site.mend()

    def _shuffled(self) -> Iterator[tuple[str, Callable[[], None]]]:
        some = list(self.faults().items())
        self.rng.shuffle(some)
        return iter(some)

    def _pause(self) -> None:
        time.sleep(self.rng.uniform(0.3, 3) * self.longest)

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        def wait() -> None:
            time.sleep(seconds)
            do()

        thread = threading.Thread(target=wait)
        thread.start()
        self._later.append(thread)

    # --- web processes ---

    def web_process_killed(self) -> None:
        if mine := children(self.site.processes["web"].pid):
            send([self.rng.choice(mine)], signal.SIGKILL)

    def web_killed(self) -> None:
        self.site.kill("web")
        self.site.start_web()
        self.site.wait_for_web()

    def web_paused(self) -> None:
        if mine := children(self.site.processes["web"].pid):
            self._paused([self.rng.choice(mine)])

    def _paused(self, pids: list[int]) -> None:
        send(pids, signal.SIGSTOP)
        self._pause()
        send(pids, signal.SIGCONT)

    # --- workers ---

    def worker_killed(self) -> None:
        name = self.rng.choice(self.site.workers())
        self.site.kill(name)
        self._pause()
        self.site.start_worker(int(name.split()[1]))

    def worker_process_killed(self) -> None:
        name = self.rng.choice(self.site.workers())
        if mine := children(self.site.processes[name].pid):
            send([self.rng.choice(mine)], signal.SIGKILL)

    def worker_paused(self) -> None:
        self._paused(self.site.all_of(self.rng.choice(self.site.workers())))

    def worker_paused_for_long(self) -> None:
        pids = self.site.all_of(self.rng.choice(self.site.workers()))
        send(pids, signal.SIGSTOP)
        self._after((self.site.lease + 5) * self.longest, lambda: send(pids, signal.SIGCONT))

    def all_killed(self) -> None:
        pids = [pid for name in ("web", *self.site.workers()) for pid in self.site.all_of(name)]
        send(pids, signal.SIGKILL)
        for name in ("web", *self.site.workers()):
            self.site.processes[name].wait(30)
        self._pause()
        self.site.start_web()
        for name in self.site.workers():
            self.site.start_worker(int(name.split()[1]))
        self.site.wait_for_web()

    # --- PostgreSQL ---

    def postgresql_killed(self) -> None:
        """What it had in memory and not yet given to the system is lost."""
        self.site.kill("postgresql")
        self._pause()
        self.site.start_postgresql()

    def postgresql_quits(self) -> None:
        self.site.processes["postgresql"].send_signal(signal.SIGQUIT)
        self.site.processes["postgresql"].wait(60)
        self.site.start_postgresql()

    def server_process_killed(self) -> None:
        """The others then forget all and start anew."""
        if mine := children(self.site.processes["postgresql"].pid):
            send([self.rng.choice(mine)], signal.SIGKILL)
        self.site.start_postgresql()

    def connections_cut(self) -> None:
        with contextlib.suppress(Exception):
            self.site.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'palate'", "postgres")

    def postgresql_paused(self) -> None:
        self._paused(self.site.all_of("postgresql"))

    # --- Redis ---

    def redis_killed(self) -> None:
        self.site.kill("redis")
        self._pause()
        self.site.start_redis()

    def redis_emptied(self) -> None:
        subprocess.run(
            ["redis-cli", "-p", str(self.site.redis_port), "FLUSHALL"], check=False, capture_output=True, timeout=20
        )

    def redis_paused(self) -> None:
        self._paused(self.site.all_of("redis"))

    def redis_back_with_old_data(self) -> None:
        kept = self.site.folder / "dump.rdb"
        self.site.kill("redis")
        if self.old.exists():
            shutil.copy(self.old, kept)
        elif kept.exists():
            shutil.copy(kept, self.old)
        self.site.start_redis()
        if kept.exists():
            shutil.copy(kept, self.old)

    def redis_away(self) -> None:
        """For a minute, while other things go wrong too."""
        self.site.kill("redis")
        self._is_redis_away = True
        self._after(60 * self.longest, self._redis_comes_back)

    def _redis_comes_back(self) -> None:
        with self._of_redis:
            self.site.start_redis()
            self._is_redis_away = False

    # --- disk and clock ---

    def disk_full(self) -> None:
        ballast = self.site.disk / "ballast"
        room = os.statvfs(self.site.disk)
        with ballast.open("wb") as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize)
        with ballast.open("ab") as file, contextlib.suppress(OSError):
            while True:
                os.write(file.fileno(), b"\0" * 4096)
        self._pause()
        ballast.unlink()
        if self.site.database == "postgresql":
            self.site.start_postgresql()

    def power_cut(self) -> None:
        """All processes stand still at one moment, and what was not synced until then is gone."""
        stopped: set[int] = set()
        with self._of_redis:  # else it may come back between the cut and the end of all
            while more := {pid for name in self.site.processes for pid in self.site.all_of(name)} - stopped:
                send([*more], signal.SIGSTOP)  # again, for what these had started meanwhile
                stopped |= more
            self.site.device.cut()
            send([*stopped], signal.SIGKILL)
            for process in self.site.processes.values():
                process.wait(30)
            self.site.device.mount_again()
            if not self._is_redis_away:
                self.site.start_redis()
        if self.site.database == "postgresql":
            self.site.start_postgresql()
        self.site.start_web()
        for name in self.site.workers():
            self.site.start_worker(int(name.split()[1]))
        self.site.wait_for_web()

    def clock_jumps(self) -> None:
        self.site.set_clock(self.rng.choice([-3600, -60, -5, 5, 60, 3600, 86400]))
        self._pause()
        time.sleep(1)
        self.site.set_clock(0)
