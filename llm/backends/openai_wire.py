"""One HTTP exchange with a server: bounded in time and size, and stopped at once when nobody waits for it any more.

The client runs in an event loop in a thread of its own, since only a task can be stopped wherever it is: in a body, or
in a header, that comes a byte at a time.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import threading
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

# A value of JSON takes many times its letters once it is read. Of a body as long as is read at all, one object or list
# in 20 bytes and one quotation mark or comma in 4 are as many as the densest lists of log-probabilities have.
_BYTES_A_GROUP, _BYTES_A_SMALL = 20, 4
_FEW_GROUPS, _FEW_SMALL = 50_000, 200_000  # that are read whatever the limit is
_MOST_OF_A_REFUSAL = 2**16  # bytes
_UNPACKED = ("", "identity")


class Overdue(Exception):
    """The answer was not whole in time."""


class TooLarge(Exception):
    """The answer has more bytes than are read, or more values than so many bytes of an answer have."""


class Unusable(Exception):
    """No client can be made on this machine; `str()` says why, in the words of who said so."""


class Closed(Exception):
    """The wire was closed; nobody waits for the answer."""


@cache
def _trusting(file: str | None, folder: str | None) -> ssl.SSLContext:
    """What certificates are held against, by what the variables name: it takes longer to read than a small answer."""
    return httpx.create_ssl_context()


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
        self._unusable: Unusable | None = None
        self._under_way: set[asyncio.Task[Any]] = set()

    def fetch(self, method: str, url: str, body: Mapping[str, Any] | None) -> Reply:
        """Raises httpx.RequestError, Overdue, TooLarge, Unusable, Closed."""
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
        if self._unusable is not None:
            raise self._unusable
        return self._running

    async def _serve(self, ready: threading.Event) -> None:
        self._running, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            self._client = httpx.AsyncClient(
                headers={**self._headers, "Accept-Encoding": "gzip"},
                verify=_trusting(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
                timeout=self._silence_s,
                limits=httpx.Limits(max_connections=self._connections),
                event_hooks={"response": [_leading_nowhere]},
            )
        except (ImportError, OSError, ValueError) as error:  # by variables that name proxies and certificates
            self._unusable = Unusable(f"{type(error).__name__}: {error}")
            return
        finally:
            ready.set()
        async with self._client:
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
                came = 0
                async for packed in response.aiter_raw():
                    came += len(packed)
                    part = unpack(packed, self._max_bytes - size + 1)
                    size += len(part)
                    parts.append(part)
                    if size > _MOST_OF_A_REFUSAL and not response.is_success:
                        break  # its first sentence is all that is read of it
                    if max(size, came) > self._max_bytes:
                        raise TooLarge
        except TimeoutError:
            raise Overdue from None
        whole = b"".join(parts)
        if self._has_too_many_values(whole):
            raise TooLarge
        return Reply(response.status_code, response.reason_phrase, response.headers, whole)

    def _has_too_many_values(self, body: bytes) -> bool:
        groups, small = body.count(b"{") + body.count(b"["), max(body.count(b'"'), body.count(b","))
        return groups > max(_FEW_GROUPS, self._max_bytes // _BYTES_A_GROUP) or small > max(
            _FEW_SMALL, self._max_bytes // _BYTES_A_SMALL
        )


async def _leading_nowhere(response: httpx.Response) -> None:
    """Redirects are not followed, nor is it read where they lead, which may be no address at all."""
    if "Location" in response.headers:
        del response.headers["Location"]


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
        if inflater.eof:
            raise httpx.DecodingError("more behind its end")
        try:
            return inflater.decompress(part, most)
        except zlib.error as error:
            raise httpx.DecodingError("no gzip") from error

    return unpack
