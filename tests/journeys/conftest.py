"""A real Chromium against a real server: what the journeys need, and what every one of them is held to.

The database is a file, since the in-memory SQLite of the other tests is one connection, which requests that come at the
same time would share. A page may log no error and break no rule of the content security policy, in any test.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread, current_thread
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.signals import request_finished, request_started
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

from annotation.models import Sheet, Study, User
from recipes.memorization import demo_study
from tests.browser import FLAGS, system_chromium
from tests.journeys import pages
from tests.journeys.pages import Coleslaw, until

WIDE: ViewportSize = {"width": 1280, "height": 800}
HERE = Path(__file__).parent
# How long a state is waited for. Long, since what comes at last is right and a busy machine is no mistake of the page;
# what never comes costs it once.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(tryfirst=True)  # before the plugins that read these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All journeys are marked, and use transactions."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.no_cover)  # as in `tests.conftest`
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[_failed] = report.failed
    return report


_failed = pytest.StashKey[bool]()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, which Django takes for a reason to refuse its database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="package")
def database_file(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Let the default connection, and those of the server's threads, use a file instead of the memory."""
    if connection.vendor != "sqlite" or "memory" not in str(connection.settings_dict["NAME"]):
        yield
        return
    with django_db_blocker.unblock():
        connection.ensure_connection()
    memory, name = connection.connection, connection.settings_dict["NAME"]
    path = tmp_path_factory.mktemp("journeys") / "palate.sqlite3"
    with sqlite3.connect(path) as file:
        memory.backup(file)
    file.close()
    connection.connection, connection.settings_dict["NAME"] = None, str(path)
    yield
    with django_db_blocker.unblock():
        connection.close()
    connection.connection, connection.settings_dict["NAME"] = memory, name


class Site:
    """The running server, and what it is busy with."""

    def __init__(self) -> None:
        # By their threads: a request whose browser went away in the middle ends without a word, and its thread with it.
        self._busy: set[Thread] = set()
        request_started.connect(self._started)
        request_finished.connect(self._finished)
        self.server = LiveServer("localhost")

    def _started(self, **_kwargs: object) -> None:
        self._busy.add(current_thread())

    def _finished(self, **_kwargs: object) -> None:
        self._busy.discard(current_thread())

    def rest(self) -> None:
        """Wait until no request is under way: the database is emptied after each test."""
        until(lambda: not self._at_work(), "the server still works at a request")

    def _at_work(self) -> list[Thread]:
        return [thread for thread in self._busy.copy() if thread.is_alive() and thread is not current_thread()]

    def stop(self) -> None:
        self.server.stop()
        request_started.disconnect(self._started)
        request_finished.disconnect(self._finished)


@pytest.fixture(scope="package")
def site(database_file: None, browser: Browser) -> Iterator[Site]:
    made = Site()
    yield made
    made.stop()


@pytest.fixture(scope="package", autouse=True)
def _queue_in_memory() -> Iterator[None]:
    """Work for judges is put on a queue that nobody reads; the tests that want a worker are one themselves."""
    before = {name: current_app.conf[name] for name in ("broker_url", "broker_transport_options")}

    def use(broker: dict[str, Any]) -> None:
        current_app.conf.update(broker)
        for holder in ("_pool", "amqp"):  # of connections to the broker before
            current_app.__dict__.pop(holder, None)

    use({"broker_url": "memory://", "broker_transport_options": {}})
    yield
    use(before)


# --- browsing -------------------------------------------------------------------------------------------------------


# What htmx says of a part that was still loading when its page was left. What fails otherwise has other names.
LEFT = r"^htmx:(afterRequest|sendAbort)\b"


@dataclass
class Browsing:
    """Opens browsers of people, one context each, and keeps what their pages complain about."""

    browser: Browser
    site: Site
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def person(self, name: str | None = None, **options: Any) -> Page:
        """A page in a browser of its own, in which `name` is logged in."""
        context = self.browser.new_context(**{"base_url": self.site.server.url, "viewport": WIDE, **options})
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(
            "document.addEventListener('securitypolicyviolation',"
            " (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`))"
        )
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.contexts.append(context)
        if name is not None:
            self.log_in(context, name)
        return context.new_page()

    def log_in(self, context: BrowserContext, name: str) -> None:
        client = Client()
        client.force_login(User.objects.get(username=name))
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": self.site.server.url}])

    def expect(self, *patterns: str) -> None:
        """Complaints that belong to the test: a refusal is a 409, a cut network an error."""
        self.expected.extend(patterns)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def unexpected(self) -> list[str]:
        patterns = (LEFT, *self.expected)
        return [text for text in self.complaints if not any(re.search(pattern, text) for pattern in patterns)]


@pytest.fixture
def browsing(
    request: pytest.FixtureRequest, browser: Browser, site: Site, transactional_db: None, tmp_path: Path
) -> Iterator[Browsing]:
    made = Browsing(browser, site)
    yield made
    failed = request.node.stash.get(_failed, False)
    if failed:
        for number, page in enumerate(page for context in made.contexts for page in context.pages):
            page.screenshot(path=tmp_path / f"failed-{number}.png")
    heard = made.unexpected()  # before the end cuts off what is still asked of the server, of which htmx complains
    for context in made.contexts:
        context.close()
    site.rest()
    assert failed or heard == []


# --- studies --------------------------------------------------------------------------------------------------------


class Kept:
    """Builds studies; after the first time, on SQLite, by copying the database as it was then."""

    def __init__(self) -> None:
        self.copies: dict[str, sqlite3.Connection] = {}

    def build(self, name: str, make: Callable[[], object]) -> None:
        if connection.vendor != "sqlite":
            make()
            return
        connection.ensure_connection()
        if name in self.copies:
            self.copies[name].backup(connection.connection)
            ContentType.objects.clear_cache()
        else:
            make()
            self.copies[name] = sqlite3.connect(":memory:")
            connection.connection.backup(self.copies[name])


@pytest.fixture(scope="package")
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    for copy in made.copies.values():
        copy.close()


@pytest.fixture
def demo(site: Site, transactional_db: None, kept: Kept) -> Study:
    """The demo study: three recipes × six documents, one annotator, two simulated raters, three judges."""
    kept.build("demo", demo_study.build)
    return Study.objects.get(slug=demo_study.SLUG)


@pytest.fixture
def slaw(site: Site, transactional_db: None, kept: Kept) -> Coleslaw:
    """One recipe × three documents that Anna has still to label; see `pages`."""
    kept.build("slaw", pages.build_coleslaw)
    return Coleslaw(Study.objects.get(slug="slaw"), Sheet.objects.get(title="Coleslaw"))
