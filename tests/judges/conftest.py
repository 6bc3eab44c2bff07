"""Fixtures for judges: what they work at, runs, servers that they ask, and sites with workers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from annotation.models import Study
from judges import actions, labelling
from judges.backends import openai_http
from judges.backends import transformers as transformers_backend
from judges.backends.base import BackendError
from judges.models import Judge, Run
from tests.judges import helpers
from tests.judges.helpers import FailingBackend
from tests.judges.serving import Running, start
from tests.judges.workers import PostgreSQLSite, Site, SQLiteSite

# One of the last four of the usual sixteen; tests that run side by side get different ones.
REDIS_DATABASE = 12 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4


@pytest.fixture
def study(db: None) -> Study:
    return helpers.study_of_leases()


@pytest.fixture
def judge(db: None) -> Judge:
    return helpers.lexical_judge()


@pytest.fixture
def run(study: Study, judge: Judge) -> Run:
    return actions.start_run(study=study, judge=judge, by=None)


@pytest.fixture
def failing_run(study: Study, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose backend runs out of memory each time."""
    passing = BackendError("Out of memory on the GPU.", permanent=False)
    monkeypatch.setattr(labelling, "backend_of", lambda judge: FailingBackend(passing))
    return actions.start_run(study=study, judge=helpers.gpu_judge("/models/large"), by=None)


@pytest.fixture
def model_forgotten() -> Iterator[None]:
    """The model that was loaded last does not stay in this process."""
    yield
    transformers_backend._loaded = None


@pytest.fixture
def servers_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered of servers, and no proxy is asked."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    openai_http._memory.cache_clear()
    openai_http._pace.cache_clear()


@pytest.fixture(scope="module")
def tiny_server() -> Iterator[Running]:
    with start() as running:
        yield running


@pytest.fixture
def server(tiny_server: Running) -> Running:
    tiny_server.tell()
    return tiny_server


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
