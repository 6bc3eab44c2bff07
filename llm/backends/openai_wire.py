"""One HTTP exchange with a server: bounded in time and size, and stopped at once when nobody waits for it any more.

The client runs in an event loop in a thread of its own, since only a task can be stopped wherever it is: in a body, or
in a header, that comes a byte at a time.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import httpx


class Overdue(Exception):
    """The answer was not whole in time."""


class TooLarge(Exception):
    """The answer has more bytes than are read."""


class Closed(Exception):
    """The wire was closed; nobody waits for the answer."""


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    reason: str
    headers: httpx.Headers
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400

    def json(self) -> Any:
        """Raises ValueError, RecursionError for what is no JSON."""
        return json.loads(self.body)


class Wire:
    """Exchanges of one call, several at a time.

    Args:
        silence_s: longest wait for a connection, and for each part of an answer.
        total_s: for one exchange, from the request to the last byte.
        max_bytes: of one answer, unpacked; no more is held than that and one part.
    """

    def __init__(
        self, headers: Mapping[str, str], *, silence_s: float, total_s: float, max_bytes: int, connections: int
    ) -> None:
        self._headers, self._silence_s, self._total_s = dict(headers), silence_s, total_s
        self._max_bytes, self._connections = max_bytes, connections
        self._changing = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._under_way: set[asyncio.Task[Any]] = set()

    def fetch(self, method: str, url: str, body: Mapping[str, Any] | None) -> Reply:
        """Raises httpx.RequestError, Overdue, TooLarge, Closed."""
        with self._changing:
            if self._closed:
                raise Closed
            if self._loop is None:
                self._loop = self._begin()
            future = asyncio.run_coroutine_threadsafe(self._fetch(method, url, body), self._loop)
        try:
            return future.result()
        except CancelledError:
            raise Closed from None

    def close(self) -> None:
        """Stop what is under way. Does not wait for it."""
        with self._changing:
            self._closed = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)
                self._loop = None

    def _begin(self) -> asyncio.AbstractEventLoop:
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), name="judge-wire", daemon=True).start()
        ready.wait()
        return self._running

    async def _serve(self, ready: threading.Event) -> None:
        self._running, self._stop = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        limits = httpx.Limits(max_connections=self._connections)
        async with httpx.AsyncClient(headers=self._headers, timeout=self._silence_s, limits=limits) as self._client:
            await self._stop.wait()
            # Theirs alone: what a task has begun itself, such as a connection, it must stop itself.
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _fetch(self, method: str, url: str, body: Mapping[str, Any] | None) -> Reply:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._total_s), self._client.stream(method, url, json=body) as response:
                async for part in response.aiter_bytes():
                    size += len(part)
                    if size > self._max_bytes:
                        raise TooLarge
                    parts.append(part)
        except TimeoutError:
            raise Overdue from None
        return Reply(response.status_code, response.reason_phrase, response.headers, b"".join(parts))
