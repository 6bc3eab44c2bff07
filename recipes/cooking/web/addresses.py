"""When two addresses name one page."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

from base.web.addresses import PORTS, AddressRefused, web_address

_TRACKING = re.compile(r"utm_\w+|[gm]clid|fbclid|msclkid|dclid|yclid|igshid|mc_[ce]id|_ga|amp;.*", re.IGNORECASE)


def canonical(text: str) -> str:
    """What two addresses of one page have in common; "" for what is no address of the web.

    Scheme, www., a default port, the fragment, the last slash, and what campaigns append do not count, nor does the
    order of what is asked.

    >>> canonical("http://WWW.cakes.example:80/plain/?utm_source=x&b=2&a=1#top")
    'cakes.example/plain?a=1&b=2'
    """
    try:
        url = web_address(text)
    except AddressRefused:
        return ""
    host = url.host.rstrip(".").removeprefix("www.")
    port = "" if url.port is None or url.port in PORTS.values() else f":{url.port}"
    asked = sorted(
        (key, value)
        for key, value in parse_qsl(url.query.decode("ascii", "replace"), keep_blank_values=True)
        if not _TRACKING.fullmatch(key)
    )
    return f"{host}{port}{url.path.rstrip('/')}" + (f"?{urlencode(asked)}" if asked else "")
