"""The server of the journeys itself."""

from __future__ import annotations

import socket
import struct
from urllib.parse import urlsplit

import pytest

from tests.journeys.conftest import Site

pytestmark = pytest.mark.once


def test_a_request_whose_browser_went_away_is_not_waited_for(site: Site, transactional_db: None) -> None:
    """Django's server reads what was not read of it before it says that it is over, which then it never says."""
    at = urlsplit(site.server.url)
    for _ in range(3):
        with socket.create_connection((at.hostname, at.port)) as client:
            client.sendall(b"POST /sheets/1/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nquestion=")
            assert client.recv(12) == b"HTTP/1.1 403"
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
    site.rest()
