"""Addresses: which of them a program may visit for its users."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import TypeAlias

import httpx

from base.sentences import gettext as _

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]

PORTS = {"http": 80, "https": 443}
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class AddressRefused(Exception):
    """This address is not visited; `str()` is a sentence that says why."""


class HostUnknown(Exception):
    """No server has this name; `passing`: the name servers did not answer."""

    def __init__(self, *, passing: bool) -> None:
        self.passing = passing
        super().__init__()


def web_address(text: str) -> httpx.URL:
    """The address of a web page, read once: what is checked is what is connected to.

    Raises:
        AddressRefused: it is none, or carries a name and password.
    """
    try:
        url = httpx.URL(text.strip())
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise AddressRefused(_("This is no valid address.")) from None
    if url.scheme not in PORTS or not url.host:
        raise AddressRefused(_("This is no address of a web page: it does not begin with http:// or https://."))
    if url.userinfo:
        raise AddressRefused(_("The address carries a name or a password."))
    return url


def port_of(url: httpx.URL) -> int:
    return url.port or PORTS[url.scheme]


def origin(url: httpx.URL) -> str:
    """Scheme, host and port: what a robots.txt speaks for."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them; `0x7f.1`, `2130706433` and the like are read as it reads them.

    Raises:
        HostUnknown: it has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise HostUnknown(passing=error.errno == socket.EAI_AGAIN) from None
    except (UnicodeError, ValueError):
        raise HostUnknown(passing=False) from None
    return list(dict.fromkeys(str(at[0]) for *_kind, at in found))


def checked(url: httpx.URL, *, allow_loopback: bool, resolve: Resolve = resolve) -> list[str]:
    """The addresses at which the host of `url` may be connected to, all of them checked.

    Args:
        allow_loopback: let this machine itself be visited, on any port; for a demo and for tests.
    Raises:
        AddressRefused: one of them is not public, or the port is none of the web's.
        HostUnknown: the host has none.
    """
    port = port_of(url)
    ips = [ipaddress.ip_address(address) for address in resolve(url.host, port)]
    if not ips:
        raise HostUnknown(passing=False)
    if allow_loopback and all(_unmapped(ip).is_loopback for ip in ips):
        return [str(ip) for ip in ips]
    if not all(map(is_public, ips)):
        raise AddressRefused(_("The address leads to a machine that is not public."))
    if port not in PORTS.values():
        raise AddressRefused(_("The address names port %(port)s, which is none of the web's.") % {"port": port})
    return [str(ip) for ip in ips]


def is_number(host: str) -> bool:
    """Whether a host is an address of a machine, and no name; some systems read more forms than these as one.

    >>> is_number("10.0.0.1"), is_number("::1"), is_number("cakes.example")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_public(ip: IPAddress) -> bool:
    """Whether an address is one of the public internet: not of this machine, a local network, or one reserved.

    >>> [is_public(ipaddress.ip_address(ip)) for ip in ("93.184.216.34", "100.64.0.1", "::ffff:10.0.0.1")]
    [True, False, False]
    """
    ip = _unmapped(ip)
    if isinstance(ip, ipaddress.IPv6Address):
        # Of a relay that wraps IPv4, the wrapped one counts. All that is global and no multicast lies in 2000::/3.
        if ip.sixtofour is not None:
            return is_public(ip.sixtofour)
        return ip.is_global and ip in _GLOBAL_UNICAST and ip.scope_id is None
    return ip.is_global and not ip.is_multicast


def _unmapped(ip: IPAddress) -> IPAddress:
    return ip.ipv4_mapped or ip if isinstance(ip, ipaddress.IPv6Address) else ip
