"""One HTTP exchange with a server: bounded in time and size, and stopped at once when nobody waits for it any more.

The client runs in an event loop in a thread of its own, since only a task can be stopped wherever it is: in a body, or
in a header, that comes a byte at a time.
"""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import httpx

# A value of JSON takes many times its letters once it is read. Of a body as long as is read at all, one object or list
# in 20 bytes and one quotation mark in 4 are as many as the densest lists of log-probabilities have.
_BYTES_A_GROUP, _BYTES_A_QUOTE = 20, 4
_FEW_GROUPS, _FEW_QUOTES = 50_000, 200_000  # that are read whatever the limit is
_UNPACKED = ("", "identity")


class Overdue(Exception):
    """The answer was not whole in time."""


class TooLarge(Exception):
    """The answer has more bytes than are read, or more values than so many bytes of an answer have."""


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
        max_bytes: of one answer, unpacked; no more is held than that and one part. What is unpacked stops there too,
            however much would come of a few bytes. Of the ways to pack, gzip alone is read.
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
        headers = {**self._headers, "Accept-Encoding": "gzip"}
        async with httpx.AsyncClient(headers=headers, timeout=self._silence_s, limits=limits) as self._client:
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
                unpack = _unpacking(response.headers.get("Content-Encoding", ""))
                async for packed in response.aiter_raw():
                    part = unpack(packed, self._max_bytes - size + 1)
                    size += len(part)
                    if size > self._max_bytes:
                        raise TooLarge
                    parts.append(part)
        except TimeoutError:
            raise Overdue from None
        whole = b"".join(parts)
        if self._has_too_many_values(whole):
            raise TooLarge
        return Reply(response.status_code, response.reason_phrase, response.headers, whole)

    def _has_too_many_values(self, body: bytes) -> bool:
        groups, quotes = body.count(b"{") + body.count(b"["), body.count(b'"')
        return groups > max(_FEW_GROUPS, self._max_bytes // _BYTES_A_GROUP) or quotes > max(
            _FEW_QUOTES, self._max_bytes // _BYTES_A_QUOTE
        )


def _unpacking(encoding: str) -> Callable[[bytes, int], bytes]:
    """What makes of a part of a body that part unpacked, and no more of it than so many bytes.

    Raises httpx.DecodingError, now or then.
    """
    named = encoding.strip().lower()
    if named in _UNPACKED:
        return lambda part, _most: part
    if named != "gzip":
        raise httpx.DecodingError("packed in a way that was not asked for")
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def unpack(part: bytes, most: int) -> bytes:
        try:
            return inflater.decompress(part, most)
        except zlib.error as error:
            raise httpx.DecodingError("no gzip") from error

    return unpack
