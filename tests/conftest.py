"""Fixtures for all. `DATABASE_URL` decides on which database the tests run; none of them knows which one it is."""

from __future__ import annotations

import gc
import os
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client, TransactionTestCase, override_settings
from django.utils import translation
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.test import APIClient
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from accounts import actions as accounts
from annotation.models import User
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.databases import SIDE_BY_SIDE, MadeOnce, Template, begins_with, made_once
from tests.workers import PostgreSQLSite, Site, SQLiteSite

# How long an example takes depends on what else the machine does, and is no property of the code. CI tries the same
# examples each time, so that a submission is judged by what it changes; whoever runs the tests by hand seeks new ones.
hypothesis.settings.register_profile("all", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("all"), max_examples=40)

# One of the last four of the usual sixteen; tests that run side by side get different ones.
REDIS_DATABASE = 12 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4

# Not that of tests: it stays the connection's where no test that is to run asks for a database.
OWN_DATABASE = settings.DATABASES["default"]["NAME"]

# Of the short runs through faults (`tests/test_faults.py`): other faults and operations each day, and the same again
# where it is given. Kept for the workers of pytest, which are started from here.
FAULT_SEED = int(os.environ.setdefault("FAULT_SEED", f"{datetime.now(UTC):%Y%m%d}"))


class BegunFirst:
    """The order in which tests are begun by several processes. pytest-django puts what commits behind all else: one
    worker would be at the journeys when the others are done."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=begun_first)


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("quick" if "not slow" in config.option.markexpr else "all")
    if SIDE_BY_SIDE:
        config.pluginmanager.register(BegunFirst())


def pytest_report_header() -> str:
    return f"short runs through faults: FAULT_SEED={FAULT_SEED} repeats them"


# What stays on one worker where there are several: two browsers would only slow each other, and what the others are
# tried on (a copy of the project, databases of versions before, a model, a history) would be made once a worker.
TOGETHER = (
    "tests/journeys/", "tests/operating/test_backup.py", "tests/test_hostile_queries.py", "tests/upgrade/",
    "tests/test_kept_histories.py", "tests/api/test_schema.py", "tests/work/test_killed.py", "tests/contributing/",
    "tests/judges/test_injection.py", "tests/accounts/test_client.py",
)  # fmt: skip
# The same, of what asks the one server of tiny models, whose start takes longer than most of it.
SERVED = (
    "tests/judges/test_served.py", "tests/judges/test_server_", "tests/judges/test_backends_openai",
    "tests/judges/test_hostile_servers.py", "tests/judges/test_generating.py::test_thoughts_that_a_server",
    "tests/judges/test_rating.py::test_a_server", "tests/judges/test_pictures.py",
)  # fmt: skip
# By themselves, and long.
LONG = ("tests/test_faults.py", "tests/api/test_walk.py", "tests/test_fuzzed_forms.py", "tests/test_settings.py")


class Together(LoadScopeScheduling):
    """Each test where there is room, but for those that stay together. By their names: with pytest 9.2 the plugin's own
    groups are silently none."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def scope_of(nodeid: str) -> str:
    if nodeid.startswith(SERVED):
        return "served"
    return next((begin for begin in TOGETHER if nodeid.startswith(begin)), nodeid)


def begun_first(item: pytest.Item) -> int:
    """What takes long is begun before the rest: else one worker is at it when the others are done."""
    first = (TOGETHER[0], "served", *TOGETHER[1:])
    scope = scope_of(item.nodeid)
    return first.index(scope) if scope in first else len(first) + (not item.nodeid.startswith(LONG))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    config.option.loadscopereorder = False  # by the number of tests, which says little of how long they take
    return Together(config, log)


@pytest.hookimpl(tryfirst=True)  # before marks are chosen by
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the database can make a difference to, so that it alone is run again on another one.

    What runs a model is not counted in the branch coverage: it is slow enough, and quicker tests reach the same lines.
    """
    examples: Counter[str] = Counter()
    for item in items:
        if sample := item.get_closest_marker("sample"):
            examples[of := item.nodeid.partition("[")[0]] += 1
            if examples[of] > sample.args[0]:
                item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("model"):
            item.add_marker(pytest.mark.no_cover)
        if item.get_closest_marker("once"):
            continue
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"db", "transactional_db"} or item.get_closest_marker("django_db"):
            item.add_marker(pytest.mark.services)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """All modules are loaded by now, and stay: else Python looks for garbage in their million objects again and again,
    which took a tenth of the tests' time. What tests leave is looked for less often: another twentieth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes by their length: what is packed has the second of its packing in it, and workers that collect in different
    seconds would have different tests."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_up_when_asked_for() -> Iterator[None]:
    """Else each new client reads the folders of all static files, and warns that none were collected."""
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(autouse=True)
def _no_language_is_left_behind() -> Iterator[None]:
    """The test client answers in this thread, which keeps the language of its last answer."""
    yield
    translation.deactivate()


@pytest.fixture
def over_wsgi(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request over WSGI would close the connection and the test's transaction: not here, as in Django's client."""
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda _self: None)


KEPT = pytest.StashKey[MadeOnce]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    MadeOnce.wanted = _wanted(item)
    if KEPT in item.config.stash:
        item.config.stash[KEPT].fit()


def _wanted(item: pytest.Item) -> Callable[[], Any] | None:
    fixtures = set(getattr(item, "fixturenames", ()))
    of_database = item.get_closest_marker("django_db")
    commits = fixtures & {"transactional_db", "live_server"} or (of_database and of_database.kwargs.get("transaction"))
    return None if commits or "furnished" in fixtures else begins_with(item)


@pytest.fixture(scope="session")
def kept_for_tests(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[MadeOnce]:
    kept = request.config.stash[KEPT] = MadeOnce(django_db_blocker)
    kept.fit()
    yield kept
    kept.undo()


leases = made_once(builders.leases)  # a small study with one person in each role


@pytest.fixture
def client_of() -> ClientOf:
    """A browser in which that user is logged in."""

    def logged_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return logged_in


@pytest.fixture
def api_of() -> ApiOf:
    """A program that has that user's token."""

    def with_token(user: User) -> APIClient:
        client = APIClient()
        token, key = accounts.make_token(user=user, name="a program", days=1)
        accounts.token_used(token=token)  # which is written once an hour, and not while queries are counted
        client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
        return client

    return with_token


@pytest.fixture
def broker_url() -> Iterator[str]:
    """A queue of the test's own: in its site's folder, or where the tests run on Redis, one of its databases."""
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


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template | None:
    """Where several processes run tests side by side, what the first of them migrated."""
    return Template(tmp_path_factory.getbasetemp().parent) if SIDE_BY_SIDE else None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, template: Template | None) -> Iterator[None]:
    with template.copied() if template else nullcontext():
        yield


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, template: Template | None, django_db_blocker: DjangoDbBlocker
) -> Iterator[sqlite3.Connection | None]:
    """The database as the migrations leave it is kept beside: where a test has committed what it did, it is put back.
    Emptying each table, and having the tables of permissions filled anew, takes twenty times as long; on PostgreSQL,
    which makes new files for each table and index, a hundred times. On SQLite the copy is handed on."""
    if connection.settings_dict["NAME"] == OWN_DATABASE:
        if template is not None:
            template.let_go()
        yield None
        return
    with django_db_blocker.unblock():
        if template is not None:
            template.keep()
        connection.ensure_connection()
        if connection.vendor == "sqlite":
            pristine = sqlite3.connect(":memory:")
            connection.connection.backup(pristine)
            put_back = partial(_copied_back, pristine)
        else:
            pristine = None
            put_back = partial(_written_back, _rows_of_all_tables())

    def put_back_instead(_test: object) -> None:
        connection.ensure_connection()
        put_back()
        ContentType.objects.clear_cache()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", put_back_instead)
        yield pristine
    if pristine is not None:
        pristine.close()
    if template is not None:
        with django_db_blocker.unblock():
            template.drop()


def _copied_back(pristine: sqlite3.Connection) -> None:
    until = time.monotonic() + 60

    def watch(*_pages: int) -> None:  # else it would wait for ever for a thread that reads and does not end
        assert time.monotonic() < until, "somebody still reads the database of a test that is over"

    pristine.backup(connection.connection, progress=watch)


def _tables_with_rows() -> list[str]:
    each = [
        f"SELECT '{table}' WHERE EXISTS (SELECT FROM \"{table}\")" for table in connection.introspection.table_names()
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(each))
        return [table for (table,) in cursor.fetchall() if table != "django_migrations"]


def _rows_of_all_tables() -> dict[str, bytes]:
    rows = {}
    with connection.cursor() as cursor:
        for table in _tables_with_rows():
            with cursor.copy(f'COPY "{table}" TO STDOUT') as out:
                rows[table] = b"".join(bytes(part) for part in out)
    return rows


def _written_back(rows: Mapping[str, bytes]) -> None:
    """In one transaction, which checks foreign keys when all is done: the order does not matter. Sequences go on."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '60s'")  # else it would wait for ever for a thread that does not end
        cursor.execute("SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal")
        guarded = {table for (table,) in cursor.fetchall()}  # by triggers that let nobody delete
        full = _tables_with_rows()
        for table in guarded.intersection(full):
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
        for table in full:
            cursor.execute(f'DELETE FROM "{table}"')
        for table, lines in rows.items():
            with cursor.copy(f'COPY "{table}" FROM STDIN') as into:
                into.write(lines)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table whose keys are still to be checked cannot be altered
        for table in guarded.intersection(full):
            cursor.execute(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')


@pytest.fixture(scope="session")
def migrated(
    django_db_setup: sqlite3.Connection | None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path | str]:
    """A database as the migrations leave it: a file of SQLite, or the name of one of PostgreSQL's; "" where a thread of
    an earlier test still uses what would be copied, and where no test that is to run asks for a database."""
    if connection.settings_dict["NAME"] == OWN_DATABASE:
        yield ""
        return
    if django_db_setup is not None:
        path = tmp_path_factory.mktemp("migrated") / "site.sqlite3"
        with closing(sqlite3.connect(path)) as file:
            django_db_setup.backup(file)
        yield path
        return
    with django_db_blocker.unblock():
        name, kept = str(connection.settings_dict["NAME"]), f"palate_migrated_{uuid.uuid4().hex[:12]}"
        connection.close()  # a database that is used is no template
        try:
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'CREATE DATABASE "{kept}" TEMPLATE "{name}"')
        except OperationalError:
            yield ""
            return
    yield kept
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{kept}"')


@pytest.fixture
def bare_site(tmp_path: Path, broker_url: str, migrated: Path | str) -> Iterator[Site]:
    """An installation for real workers; who uses it says which `program` they run, and which `table` is watched."""
    if connection.vendor == "sqlite":
        made: Site = SQLiteSite(tmp_path, broker_url, Path(migrated) if migrated else None)
    else:
        made = PostgreSQLSite(tmp_path, broker_url, str(migrated))
    yield made
    made.close()
