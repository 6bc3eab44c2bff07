"""A request to an address that was checked, bounded as a whole, whatever the server does."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpcore
import httpx

from base.sentences import gettext as _
from base.web.addresses import HostUnknown, port_of


class NoAnswer(Exception):
    """Nobody was asked, or nobody answered; `str()` is a sentence that says why.

    `passing`: another time somebody may. `late`: the time for all of it was over.
    """

    def __init__(self, sentence: str, *, passing: bool = True, late: bool = False) -> None:
        self.passing, self.late = passing, late
        super().__init__(sentence)


@contextmanager
def ask(
    method: str,
    url: httpx.URL,
    headers: Sequence[tuple[bytes, bytes]],
    *,
    look: Callable[[], list[str]],
    deadline: float,
    silence: float,
    beat: Callable[[], None],
    content: bytes | None = None,
) -> Iterator[tuple[httpcore.Response, str]]:
    """The answer to one request, whose body is not read yet, and where it comes from. No redirect is followed.

    Args:
        headers: besides Host and Connection.
        look: looks the host up, such as `addresses.checked`.
        deadline: of all of it, the reading of the body included, as `time.monotonic` has it.
        silence: seconds for a connection, and for each part of an answer.
        beat: called every few moments; may raise to give up.
    Raises:
        NoAnswer, also while the body is read; and what `look` raises but `HostUnknown`.
    """
    try:
        backend = Checked(looked_up(look, deadline), deadline, silence, beat)
    except HostUnknown as unknown:
        if unknown.passing:
            raise NoAnswer(_("The name of the server could not be looked up.")) from None
        raise NoAnswer(_("There is no server of this name."), passing=False) from None
    to = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=port_of(url), target=url.raw_path or b"/")
    told = [(b"Host", url.netloc), *headers, (b"Connection", b"close")]
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls(), network_backend=backend, retries=0) as pool,
            pool.stream(method, to, headers=told, content=content) as response,
        ):
            yield response, backend.ip
    except (TooSlow, httpcore.ConnectTimeout, httpcore.ReadTimeout, httpcore.WriteTimeout):
        late = time.monotonic() >= deadline
        raise NoAnswer(_("The server did not answer in time."), late=late) from None
    except httpcore.ConnectError as error:
        if isinstance(error.__cause__, ssl.SSLError) or isinstance(error.__context__, ssl.SSLError):
            sentence = _("The server could not prove who it is: its certificate is not valid.")
            raise NoAnswer(sentence, passing=False) from None
        raise NoAnswer(_("The server could not be connected to.")) from None
    except (httpcore.NetworkError, httpcore.ProtocolError):
        raise NoAnswer(_("The server broke off in the middle of its answer.")) from None


def looked_up(look: Callable[[], list[str]], deadline: float) -> list[str]:
    """What looks a host up, such as `addresses.checked`, by a moment of `time.monotonic`. Name servers have a time-out
    of their own; ours may be shorter: such a name is unknown in passing.

    Raises:
        HostUnknown, and what `look` raises.
    """
    executor = ThreadPoolExecutor(1, thread_name_prefix="resolve")
    try:
        return executor.submit(look).result(timeout=max(0.0, deadline - time.monotonic()))
    except TookTooLong:
        raise HostUnknown(passing=True) from None
    finally:
        executor.shutdown(wait=False)


@cache
def tls() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


class TooSlow(Exception):
    """The time for the whole answer is over."""


class Checked(httpcore.NetworkBackend):
    """Connects to one of the given addresses, whatever the host of the request is called by now."""

    def __init__(self, ips: list[str], deadline: float, silence: float, beat: Callable[[], None]) -> None:
        self._ips, self._deadline, self._silence, self._beat = ips, deadline, silence, beat
        self._real = httpcore.SyncBackend()
        self.ip = ""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        last: Exception | None = None
        for ip in self._ips:
            try:
                stream = self._real.connect_tcp(ip, port, timeout=_left(self._deadline, self._silence))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
                continue
            self.ip = ip
            return _Bounded(stream, self._deadline, self._silence, self._beat)
        assert last is not None
        raise last

    def connect_unix_socket(self, path: str, *_args: Any, **_kwargs: Any) -> httpcore.NetworkStream:
        raise NotImplementedError


class _Bounded(httpcore.NetworkStream):
    """A connection that ends at a moment. A server that sends a byte now and then keeps no single read waiting."""

    def __init__(
        self, stream: httpcore.NetworkStream, deadline: float, silence: float, beat: Callable[[], None]
    ) -> None:
        self._stream, self._deadline, self._silence, self._beat = stream, deadline, silence, beat

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._beat()
        return self._stream.read(max_bytes, timeout=_left(self._deadline, self._silence))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_left(self._deadline, self._silence))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        timeout = _left(self._deadline, self._silence)
        stream = self._stream.start_tls(ssl_context, server_hostname=server_hostname, timeout=timeout)
        return _Bounded(stream, self._deadline, self._silence, self._beat)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float, silence: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TooSlow
    return min(left, silence)
