"""Fixtures of tests of judges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.judges.workers import PostgreSQLSite, Site, SQLiteSite

# One of the last four of the usual sixteen; tests that run side by side get different ones.
REDIS_DATABASE = 12 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4


@pytest.fixture
def broker_url() -> Iterator[str]:
    if not settings.CELERY_BROKER_URL.startswith("redis"):
        yield "filesystem://localhost//"
        return
    import redis

    url = f"{settings.CELERY_BROKER_URL.rsplit('/', 1)[0]}/{REDIS_DATABASE}"
    client = redis.Redis.from_url(url)
    if client.dbsize():
        pytest.skip(f"Redis database {REDIS_DATABASE} is in use")
    yield url
    client.flushdb()
    client.close()


@pytest.fixture
def site(tmp_path: Path, broker_url: str) -> Iterator[Site]:
    is_sqlite = connection.vendor == "sqlite"
    made = SQLiteSite(tmp_path, broker_url) if is_sqlite else PostgreSQLSite(tmp_path, broker_url)
    yield made
    made.close()
