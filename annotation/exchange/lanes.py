"""Parts of an import that are written side by side, where the database can: each in a transaction of its own.

PostgreSQL looks up each foreign key of each row, which is half of what an import of labels takes, and does it in the
one process that a connection has. SQLite has one writer.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Queue
from threading import Thread

from django.db import connection
from django.utils import translation

# More would leave nothing of a small database server to whoever saves meanwhile.
MOST = 2


class Lanes:
    """Threads with a connection each, for jobs that need no order.

        with Lanes() as lanes:
            for part in parts:
                lanes.do(partial(write, part))

    As many jobs wait as are at work, so that little is held in memory. All have ended when the block is left, also when
    it is left by an error. What a job raises is raised by the next `do`, or at the end; none is begun after it.
    """

    def __init__(self) -> None:
        self._jobs: Queue[Callable[[], None] | None] = Queue(MOST)
        self._failed: list[BaseException] = []
        self._threads: list[Thread] = []

    def __enter__(self) -> Lanes:
        if connection.vendor == "postgresql":
            language = translation.get_language()
            self._threads = [
                Thread(target=self._work, args=(language,), name=f"import-{n}", daemon=True) for n in range(MOST)
            ]
            for thread in self._threads:
                thread.start()
        return self

    def do(self, job: Callable[[], None]) -> None:
        if not self._threads:
            job()
            return
        if self._failed:
            raise self._failed[0]
        self._jobs.put(job)

    def __exit__(self, kind: type[BaseException] | None, *_of_it: object) -> None:
        if kind is not None:
            self._failed.append(_Left())
        for _thread in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
        if kind is None and self._failed:
            raise self._failed[0]

    def _work(self, language: str | None) -> None:
        try:
            with translation.override(language):
                while (job := self._jobs.get()) is not None:
                    if not self._failed:
                        self._try(job)
        finally:
            connection.close()

    def _try(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            self._failed.append(error)


class _Left(Exception):
    """The block was left by an error of its own."""
