"""The queue in a folder, for files that a power cut has left empty or by halves.

Kombu writes them without a sync. A table of queues that cannot be read would let no worker start ever again, and a
message that cannot be read would stop the one that takes it; what a message asked for is in the database, and the
recovery asks for it again.
"""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import loads


class Channel(filesystem.Channel):
    def get_table(self, exchange: str) -> Any:
        try:
            return super().get_table(exchange)
        except ValueError:
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except ValueError:
            _make_readable(self._exchange_file(exchange))  # type: ignore[attr-defined]  # the stubs leave it out
            super()._queue_bind(exchange, routing_key, pattern, queue)

    def _get(self, queue: str) -> Any:  # type: ignore[override]  # as Kombu's own
        try:
            return super()._get(queue)
        except ValueError:  # it is taken from the folder already
            raise Empty from None


def _make_readable(table: Path) -> None:
    """Empty a table that nobody can read; another worker may have written a whole one by now, which stays."""
    with table.open("rb+", buffering=0) as file:
        filesystem.lock(file, filesystem.LOCK_EX)  # type: ignore[attr-defined]  # the stubs leave it out
        try:
            loads(file.read().decode())
        except ValueError:
            file.seek(0)
            file.truncate()
            file.write(b"[]")
        finally:
            filesystem.unlock(file)


class Transport(filesystem.Transport):
    Channel = Channel
