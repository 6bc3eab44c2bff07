"""Posting to the server of somebody, which may be slow, endless, hostile, or somewhere it should not be. Pure.

As where pages are fetched, the connection goes to the very address that was checked, and time and size are bounded,
whatever the server does. No redirect is followed: it would be another address, to which nobody has agreed.
"""

from __future__ import annotations

import http
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

import httpcore
import httpx

from base.sentences import gettext as _
from base.text import storable
from base.web import addresses
from base.web.addresses import AddressRefused, HostUnknown, Resolve
from base.web.connections import NoAnswer, TooSlow, ask

SECONDS, SILENCE = 10.0, 8.0  # for all of a call, and for a connection or a part of an answer
_READ = 2048  # bytes of an answer; what follows is not waited for
_SAID = 160  # characters of it that are kept


class NotPosted(Exception):
    """Nobody was called, or nobody answered; `str()` is a sentence that says why. `permanent`: it stays so."""

    def __init__(self, sentence: str, *, permanent: bool = False) -> None:
        self.permanent = permanent
        super().__init__(sentence)


@dataclass(frozen=True)
class Answer:
    """`said`: the beginning of its body, on one line."""

    status: int
    said: str

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def sentence(self) -> str:
        """What went wrong."""
        try:
            told = f"{self.status} {http.HTTPStatus(self.status).phrase}"
        except ValueError:
            told = str(self.status)
        if 300 <= self.status < 400:
            return _("The server answered %(status)s: it leads elsewhere, and nobody follows.") % {"status": told}
        said = f" “{self.said}”" if self.said else ""
        return _("The server answered %(status)s.") % {"status": told} + said


def readable(text: str, *, inside: Collection[str]) -> httpx.URL:
    """An address that may be called, as far as can be told without looking its host up.

    Args:
        inside: hosts of the own network, which the operator lets be called: over plain HTTP, and on any port.
    Raises:
        AddressRefused: it may not.
    """
    url = addresses.web_address(text)
    if url.host in inside:
        return url
    if url.scheme != "https":
        raise AddressRefused(_("The address begins with https://."))
    if url.fragment:
        raise AddressRefused(_("What follows a # is never sent: leave it out."))
    if addresses.is_number(url.host):
        try:
            addresses.checked(url, allow_loopback=False)
        except HostUnknown:  # of a network card that is not here
            raise AddressRefused(_("This is no valid address.")) from None
    return url


def post(
    text: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    inside: Collection[str],
    beat: Callable[[], None] = lambda: None,
    resolve: Resolve = addresses.resolve,
    seconds: float = SECONDS,
) -> Answer:
    """Post JSON to an address, once.

    Args:
        inside: as `readable` has it; any other host has public addresses alone.
        beat: called every few moments; may raise to give up.
    Raises:
        NotPosted: there is no answer.
    """
    told = [
        (b"User-Agent", b"Palate-Webhooks/1"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", str(len(body)).encode()),
        (b"Accept-Encoding", b"identity"),
        *((name.encode(), value.encode()) for name, value in headers.items()),
    ]
    deadline = time.monotonic() + seconds
    try:
        url = readable(text, inside=inside)
        look = (
            partial(resolve, url.host, addresses.port_of(url))
            if url.host in inside
            else partial(addresses.checked, url, allow_loopback=False, resolve=resolve)
        )
        asked = ask("POST", url, told, content=body, look=look, deadline=deadline, silence=SILENCE, beat=beat)
        with asked as (response, _ip):
            return Answer(response.status, "" if 200 <= response.status < 300 else _beginning(response))
    except AddressRefused as refused:
        raise NotPosted(str(refused), permanent=True) from None
    except NoAnswer as none:
        raise NotPosted(str(none)) from None


def _beginning(response: httpcore.Response) -> str:
    """What a body begins with. That it breaks off says nothing of the status, which is there."""
    read = bytearray()
    try:
        for chunk in response.iter_stream():
            read += chunk
            if len(read) >= _READ:
                break
    except (TooSlow, httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
        pass
    text = storable(bytes(read[:_READ]).decode("utf-8", "replace"))
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= _SAID else line[:_SAID] + "…"
