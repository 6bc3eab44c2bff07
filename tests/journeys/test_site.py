"""The server of the journeys itself."""

from __future__ import annotations

import socket
import struct
import time
from urllib.parse import urlsplit

from tests.journeys.conftest import Site


def test_a_request_whose_browser_went_away_is_not_waited_for(site: Site, transactional_db: None) -> None:
    host, port = urlsplit(site.server.url).netloc.split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nusername=a")
            time.sleep(0.05)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
    begun = time.monotonic()
    site.rest()
    assert time.monotonic() - begun < 10
