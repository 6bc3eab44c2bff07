"""Fixtures for judges: what they work at, runs, servers that they ask, and sites with workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotation.models import Study
from judges import actions
from judges.models import Judge, Run
from judges.runs import labelling
from llm.backends import openai_http, openai_memory
from llm.backends import transformers as transformers_backend
from llm.backends.base import BackendError
from tests.databases import made_once
from tests.judges import helpers
from tests.judges.helpers import FailingBackend
from tests.judges.serving import Running, start
from tests.workers import Site


@made_once
def study() -> Study:
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
    openai_memory._memories.clear()
    openai_http._pace.cache_clear()


@pytest.fixture(scope="session")
def tiny_server() -> Iterator[Running]:
    """One for all tests, since it loads torch first; a test that kills its server starts its own."""
    with start() as running:
        yield running


@pytest.fixture
def server(tiny_server: Running, servers_forgotten: None) -> Running:
    """It behaves as usual, whatever it was told in the test before, and nobody has asked it yet."""
    tiny_server.tell()
    return tiny_server


@pytest.fixture
def site(bare_site: Site) -> Site:
    bare_site.program, bare_site.table = "tests.judges.site", "judges_workitem"
    return bare_site
