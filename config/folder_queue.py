"""The queue in a folder, for files that a power cut has left empty or by halves, and for processes that are killed.

Kombu writes files without a sync. A table of queues that cannot be read would let no worker start ever again, and a
message that cannot be read would stop the one that takes it; what a message asked for is in the database, and the
recovery asks for it again.

A worker that waits for Kombu's own has one pipe for all processes of its pool, and a lock that the idle one holds:
killed then, as by the kernel when memory runs out, it takes the lock with it, and nothing is ever done again. One that
looks into the folder between other things gives each process a pipe of its own, as it does with Redis.

Kombu's own takes messages in the order of their files' names, which begin with the time since the machine was started,
and knows no priorities. Here the priority comes first, as with Redis, and the time of day after it.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps, loads


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

    def _put(self, queue: str, payload: Any, **_kwargs: Any) -> None:  # type: ignore[override]  # as Kombu's own
        folder = Path(self.data_folder_out)
        priority = self._get_message_priority(payload)
        name = f"{priority}_{time.time_ns():020d}_{uuid.uuid4()}"
        unfinished = folder / f"{name}.{queue}.part"  # whoever takes a message finds a whole one
        try:
            unfinished.write_text(dumps(payload), encoding="utf-8")
            unfinished.rename(folder / f"{name}.{queue}.msg")
        except OSError as error:
            raise ChannelError(f"No message can be written to {folder}") from error

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
    implements = filesystem.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        def look() -> None:
            with suppress(TimeoutError):  # there is nothing more, or no process that could take it
                while True:
                    self.drain_events(connection, timeout=0)

        loop.call_repeatedly(self.polling_interval, look)
