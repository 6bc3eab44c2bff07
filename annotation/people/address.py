"""From where somebody asks: the address that is counted and logged."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

_NETWORK = 64  # bits of an IPv6 address that one customer has


def client_address(request: HttpRequest | None) -> str | None:
    """The address that the outermost of our proxies has seen, never one that the client claims.

    Each proxy appends whom it has seen to `X-Forwarded-For`, some with a port; `PALATE_PROXIES` says how many are ours.
    Without any, where fewer entries stand there than proxies, or where the entry is no address, it is who connected.
    """
    if request is None:
        return None
    connected = _address(request.META.get("REMOTE_ADDR", ""))
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    if 0 < settings.PALATE_PROXIES <= len(forwarded):
        return _address(forwarded[-settings.PALATE_PROXIES]) or connected
    return connected


def _address(text: str) -> str | None:
    """Of 192.0.2.1, 192.0.2.1:80, 2001:db8::1 and [2001:db8::1]:80 the address; ::ffff:192.0.2.1, as a socket that
    listens to both has it, is 192.0.2.1: in IPv6 all of IPv4 would be one network."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None  # a socket of this machine, or nonsense
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)


def network_of(address: str) -> str:
    """An address as limits take it: of an IPv6 address its network, of which one person has all addresses.

    >>> network_of("2001:db8::5:1"), network_of("192.0.2.1")
    ('2001:db8::', '192.0.2.1')
    """
    if isinstance(ip_address(address), IPv6Address):
        return str(ip_network(f"{address}/{_NETWORK}", strict=False).network_address)
    return address


def counted_address(request: HttpRequest | None) -> str:
    """The network of `client_address`, "" where none is known."""
    found = client_address(request)
    return network_of(found) if found else ""
