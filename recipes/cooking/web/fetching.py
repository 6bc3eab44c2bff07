"""Fetching one page from a stranger's server, which may be slow, endless, hostile, or somewhere it should not be.

Each step of the way there is checked by itself: a redirect is a new address. The connection goes to the very address
that was checked, so that a name which means another machine a moment later changes nothing. Time, size and steps are
bounded, whatever the server does.
"""

from __future__ import annotations

import http
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import NamedTuple

import httpx

from base.sentences import gettext as _
from base.web import addresses
from base.web.addresses import AddressRefused, Resolve
from base.web.connections import NoAnswer, ask

Headers = list[tuple[str, str]]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 402, 403, 407, 451})
_HTML = ("text/html", "application/xhtml+xml", "text/plain", "")
_ENCODINGS = {"": None, "identity": None, "gzip": 47, "x-gzip": 47, "deflate": 47}  # zlib's window: find it out


class Fate(StrEnum):
    """Why there is no page. `PASSING`: another time there may be one."""

    DEAD = "dead"
    REFUSED = "refused"
    PASSING = "passing"


class NotFetched(Exception):
    """There is no page; `str()` is a sentence that says why."""

    def __init__(self, fate: Fate, sentence: str) -> None:
        self.fate = fate
        super().__init__(sentence)


@dataclass(frozen=True)
class Visitor:
    """Who visits, and within which bounds.

    Attributes:
        user_agent: what a site is told; it names the program and where to complain.
        seconds: for one page with all redirects, from its first byte to its last.
        silence: seconds for a connection, and for each part of an answer.
        max_bytes: of a page, as it is sent and as it is unpacked.
        redirects: how many are followed.
        allow_loopback: see `addresses.checked`.
    """

    user_agent: str
    seconds: float = 30.0
    silence: float = 10.0
    max_bytes: int = 8 * 2**20
    redirects: int = 5
    allow_loopback: bool = False
    resolve: Resolve = addresses.resolve

    @property
    def name(self) -> str:
        """What a robots.txt would call it."""
        return self.user_agent.split("/")[0].strip()


class Hop(NamedTuple):
    """An answer that led elsewhere."""

    url: str
    status: int


@dataclass(frozen=True)
class Answer:
    """What a server answered.

    Attributes:
        url: the last one, after all redirects.
        ip: where the answer came from.
        sent: the body as it was sent, chunks put together; `body`: the same unpacked.
        hops: the redirects that led there.
    """

    url: str
    ip: str
    status: int
    headers: Headers
    sent: bytes
    body: bytes
    hops: list[Hop] = field(default_factory=list)

    def header(self, name: str) -> str:
        """All values of a header, "" where there is none."""
        return ", ".join(value for key, value in self.headers if key.casefold() == name)


def fetch(
    text: str,
    visitor: Visitor,
    *,
    before: Callable[[httpx.URL], None],
    beat: Callable[[], None] = lambda: None,
) -> Answer:
    """Fetch the page at an address.

    Args:
        before: called with each address before it is visited; waits for its turn, and raises where a robots.txt says
            no. What it waits does not count.
        beat: called every few moments; may raise to give up.
    Raises:
        NotFetched: there is no HTML page there.
    """
    hops: list[Hop] = []
    left = visitor.seconds
    at = text
    while True:
        url = _readable(at)
        before(url)
        began = time.monotonic()
        answer = get(url, visitor, seconds=left, beat=beat)
        left -= time.monotonic() - began
        if answer.status not in _REDIRECTS or not (location := answer.header("location")):
            _check_status(answer.status)
            return Answer(answer.url, answer.ip, answer.status, answer.headers, answer.sent, answer.body, hops)
        hops.append(Hop(str(url), answer.status))
        if len(hops) > visitor.redirects:
            raise NotFetched(
                Fate.DEAD,
                _("The address leads from one to the next, more than %(n)s times.") % {"n": visitor.redirects},
            )
        try:
            at = str(url.join(location))
        except (httpx.InvalidURL, UnicodeError, ValueError):
            raise NotFetched(Fate.DEAD, _("The address leads on to one that is not valid.")) from None


def get(
    url: httpx.URL,
    visitor: Visitor,
    *,
    seconds: float,
    beat: Callable[[], None] = lambda: None,
    any_kind: bool = False,
) -> Answer:
    """One request, whatever its status; no redirect is followed. `any_kind`: it need not be a page.

    Raises:
        NotFetched: there is no answer, or not one of a size and encoding that is taken.
    """
    deadline = time.monotonic() + seconds
    look = partial(addresses.checked, url, allow_loopback=visitor.allow_loopback, resolve=visitor.resolve)
    told = [
        (b"User-Agent", visitor.user_agent.encode("ascii", "replace")),
        (b"Accept", b"text/html,application/xhtml+xml,*/*;q=0.1"),
        (b"Accept-Encoding", b"gzip, deflate"),
    ]
    try:
        with ask("GET", url, told, look=look, deadline=deadline, silence=visitor.silence, beat=beat) as (response, ip):
            headers = [(_text(key), _text(value)) for key, value in response.headers]
            answer = Answer(str(url), ip, response.status, headers, b"", b"")
            if response.status in _REDIRECTS or not 200 <= response.status < 300:
                return answer
            if not any_kind:
                _check_kind(answer)
            sent, body = _read(response.iter_stream(), answer, visitor.max_bytes)
    except AddressRefused as refused:
        raise NotFetched(Fate.REFUSED, str(refused)) from None
    except NoAnswer as none:
        if none.late:
            sentence = _("The server was too slow: the page was not there after %(n)s seconds.")
            raise NotFetched(Fate.DEAD, sentence % {"n": round(visitor.seconds)}) from None
        raise NotFetched(Fate.PASSING if none.passing else Fate.DEAD, str(none)) from None
    return Answer(answer.url, answer.ip, answer.status, headers, sent, body)


def _text(header: bytes) -> str:
    """Headers are ASCII, and what is not is UTF-8 more often than what the standard had in mind."""
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        return header.decode("latin-1")


def _readable(text: str) -> httpx.URL:
    try:
        return addresses.web_address(text)
    except AddressRefused as refused:
        raise NotFetched(Fate.REFUSED, str(refused)) from None


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    try:
        said = f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    if status in _REFUSED:
        raise NotFetched(Fate.REFUSED, _("The site refused: %(said)s.") % {"said": said})
    raise NotFetched(
        Fate.PASSING if status in _PASSING else Fate.DEAD, _("The site answered: %(said)s.") % {"said": said}
    )


def _check_kind(answer: Answer) -> None:
    kind = answer.header("content-type").split(";")[0].split(",")[0].strip().casefold()
    if kind not in _HTML:
        raise NotFetched(Fate.REFUSED, _("This is no web page but %(kind)s.") % {"kind": kind[:80]})


def _read(chunks: Iterable[bytes], answer: Answer, max_bytes: int) -> tuple[bytes, bytes]:
    """The body as it was sent and unpacked; nothing is read beyond the limit, and nothing unpacked beyond it."""
    encoding = answer.header("content-encoding").strip().casefold()
    if encoding not in _ENCODINGS:
        raise NotFetched(
            Fate.REFUSED,
            _("The page is packed in a way that nobody asked for (%(encoding)s).") % {"encoding": encoding[:40]},
        )
    stated = answer.header("content-length")
    if stated.isdecimal() and int(stated) > max_bytes:
        raise _too_large(max_bytes)
    sent = bytearray()
    for chunk in chunks:
        sent += chunk
        if len(sent) > max_bytes:
            raise _too_large(max_bytes)
    window = _ENCODINGS[encoding]
    return bytes(sent), bytes(sent) if window is None else _unpacked(bytes(sent), window, max_bytes)


def _unpacked(sent: bytes, window: int, max_bytes: int) -> bytes:
    """Raises NotFetched for what is damaged, or larger than it may be."""
    for bits in (window, -zlib.MAX_WBITS):  # some servers send deflate without its header
        unpacker = zlib.decompressobj(bits)
        try:
            body = unpacker.decompress(sent, max_bytes + 1)
        except zlib.error:
            continue
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        # Some servers never end their packing; a page that does not end either was cut off.
        if not unpacker.eof and b"</html" not in body[-4096:].lower():
            raise NotFetched(Fate.PASSING, _("The server broke off in the middle of its answer."))
        return body
    raise NotFetched(Fate.DEAD, _("The page is packed, and damaged."))


def _too_large(max_bytes: int) -> NotFetched:
    return NotFetched(Fate.REFUSED, _("The page is larger than %(n)s MB.") % {"n": max_bytes // 2**20 or 1})
