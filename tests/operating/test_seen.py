"""What an operator sees: lines of the log, metrics, health, the alarm, and what goes to Sentry."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import sentry_sdk
from celery.app.trace import LOG_RECEIVED, LOG_SUCCESS
from django.core import mail
from django.core.cache import cache
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, Settings

from annotation import actions as annotating
from annotation.models import LabelEvent, Role
from base import logs
from judges import actions as judging
from judges.models import Run, WorkItem
from operating import actions, metrics, queries, sentry
from tests.builders import ApiOf, ClientOf, Leases, label
from tests.judges.helpers import lexical_judge, study_of_leases
from tests.work import toy
from tests.work.models import Batch, Piece
from work import queries as work
from work.actions import take_up

SECRET = "Simmer the crêpes of Anna Nováková"


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logs.JsonLines())
        self.found: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


# --- the log ---------------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_no_text_stands_in_a_line(lines: Lines, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("judges.actions.work", "celery.worker"):
        caplog.set_level(logging.INFO, name)
    log = logging.getLogger("judges.actions.work")
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        log.exception("%s could not be done: %s", SECRET, error)
    log.info("%(name)s: %(n)d cells, %(s).1f s", {"name": "stated", "n": 3, "s": 0.25})
    logging.getLogger("django.request").warning("Not Found: %s", "/studies/1/")
    logging.getLogger("celery.worker").info("Task %(name)s raised: %(exc)s", {"name": "work.tasks.x", "exc": SECRET})

    told = ("redis://:**@redis:6379/0", OSError(SECRET), SECRET)
    logging.getLogger("celery.worker").error("Cannot connect to %s: %s.\n%s", *told)
    logging.getLogger("django.request").error("%s: %s", "Service Unavailable", "/readyz")

    assert [line["message"] for line in lines.found] == [
        "… could not be done: builtins.ValueError",
        "…: 3 cells, 0.2 s",
        "Not Found: …",
        "Task work.tasks.x raised: …",
        "Cannot connect to redis://:**@redis:6379/0: builtins.OSError.\n…",
        "Service Unavailable: …",
    ]
    crooked = logging.LogRecord("work", logging.INFO, "", 0, "%d of %s", ("three", SECRET), None)
    assert logs.message_of(crooked) == "… of …"
    first = lines.found[0]
    assert (first["level"], first["logger"], first["error"]) == ("ERROR", "judges.actions.work", "builtins.ValueError")
    assert "test_seen.py" in first["places"][0]
    assert "crêpes" not in json.dumps(lines.found, ensure_ascii=False)


def test_a_request_has_a_number_and_its_line_no_address(leases: Leases, client_of: ClientOf, lines: Lines) -> None:
    client = client_of(leases.manager)
    answer = client.get("/", {"q": SECRET}, headers={"X-Request-ID": "from-the-proxy-1"})
    made = client.get("/nowhere", headers={"X-Request-ID": "no\nline"})

    assert answer.headers["X-Request-ID"] == "from-the-proxy-1"
    assert len(made.headers["X-Request-ID"]) == 32
    [first, second] = [line for line in lines.found if line["logger"] == "palate.requests"]
    assert first["request"] == "from-the-proxy-1"
    assert (first["method"], first["route"], first["status"]) == ("GET", "annotation:home", answer.status_code)
    assert (second["request"], second["route"], second["status"]) == (made.headers["X-Request-ID"], "none", 404)
    assert "crêpes" not in json.dumps(lines.found, ensure_ascii=False)


def test_the_text_form_says_of_which_request_too(leases: Leases, client_of: ClientOf) -> None:
    """Each line of a request was the word “request”."""
    said = StringIO()
    handler, log = logging.StreamHandler(said), logging.getLogger("palate.requests")
    handler.setFormatter(logs.TextLines("{name}: {message}", style="{"))
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    client_of(leases.manager).get("/nowhere", headers={"X-Request-ID": "from-the-proxy-1"})
    log.setLevel(level)
    log.removeHandler(handler)

    told = "palate.requests: request request=from-the-proxy-1 method=GET route=none status=404 ms="
    assert said.getvalue().startswith(told)


def test_no_secret_of_an_address_stands_in_a_line(leases: Leases, lines: Lines) -> None:
    """The framework says the address of what it refuses; an invitation's can still be used by who reads the log."""
    _invite, token = annotating.invite(study=leases.study, role=Role.MANAGER, by=leases.manager)
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("annotation:join", args=[token]), {}).status_code == 403
    assert client.get("/password/reset/key/1-c0ffee/").status_code == 404
    assert client.get(f"/join/{token}/more/").status_code == 404

    assert token not in json.dumps(lines.found)
    assert "c0ffee" not in json.dumps(lines.found)
    [refused] = [line for line in lines.found if line["logger"] == "django.security.csrf"]
    assert refused["message"] == "Forbidden (CSRF cookie not set.): annotation:join"


def test_a_line_says_why_a_form_was_not_taken_and_of_an_address_its_host_alone(
    leases: Leases, lines: Lines, settings: Settings
) -> None:
    """A log-in that is refused because of what the operator has set was “Forbidden (…)”, and nothing else."""
    settings.ALLOWED_HOSTS = ["palate.example.org"]
    _invite, token = annotating.invite(study=leases.study, role=Role.MANAGER, by=leases.manager)
    client = Client(enforce_csrf_checks=True, headers={"host": "palate.example.org"})
    client.get(reverse("login"), secure=True)
    origin, referer = (
        {"Origin": "https://palate.example.org:8443"},
        {"Referer": f"https://u:pw@elsewhere.org/join/{token}/"},
    )
    for sent in (origin, referer):
        assert client.post(reverse("login"), {}, secure=True, headers=sent).status_code == 403

    first, second = (line["message"] for line in lines.found if line["logger"] == "django.security.csrf")
    assert "Origin checking failed - https://palate.example.org:8443 does not match" in first
    assert "Referer checking failed - https://elsewhere.org does not match" in second
    assert token not in json.dumps(lines.found)


@pytest.mark.once
def test_of_what_comes_round_every_few_seconds_only_what_goes_wrong_is_told(lines: Lines) -> None:
    """By Celery's own messages, whose arguments are a tuple or a mapping."""
    for task in ("work.tasks.recover", "judges.tasks.work"):
        name = {"name": task, "id": "4711", "runtime": 0.1, "return_value": "None"}
        logging.getLogger("celery.beat").info("Scheduler: Sending due task %s (%s)", "recover", task)
        logging.getLogger("celery.worker.strategy").info(LOG_RECEIVED, name)
        logging.getLogger("celery.app.trace").info(LOG_SUCCESS, name)
        logging.getLogger("celery.app.trace").error("Task %(name)s[%(id)s] raised unexpected", name)
    said = [line["message"] for line in lines.found]
    assert len(said) == 5
    assert [message for message in said if "work.tasks.recover" in message] == [
        "Task work.tasks.recover[4711] raised unexpected"
    ]


def test_what_a_worker_logs_says_of_which_run(db: None, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    run = toy.started(1)

    def failing(held: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(toy, "meanwhile", [failing])
    take_up(run)

    [line] = [line for line in lines.found if line["logger"] == "work.actions.doing"]
    assert (line["kind"], line["run"], line["item"]) == ("toy.piece", str(run.pk), str(run.items.get().pk))
    assert line["error"] == "builtins.RuntimeError"
    assert "crêpes" not in json.dumps(line, ensure_ascii=False)
    assert logs.now_about() == {}


# --- metrics and health ----------------------------------------------------------------------------------------------


def measured(answer: Any) -> dict[tuple[str, ...], float]:
    assert answer.status_code == 200
    return {
        (sample.name, *(value for _name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_metrics_count_requests_work_and_saves(leases: Leases) -> None:
    client = Client()
    before = measured(client.get("/metrics"))
    label(leases.annas[0])
    run = toy.started(3)
    client.get("/healthz")
    client.get("/healthz")

    found = measured(client.get("/metrics"))

    asked = ("palate_requests_total", "GET", "healthz", "200")
    assert found[asked] - before.get(asked, 0) == 2
    assert found[("palate_label_events_total",)] == LabelEvent.objects.latest("pk").pk
    assert found[("palate_items", "toy.piece", run.queue, "waiting")] == 3
    assert found[("palate_runs", "toy.piece", "running")] == 1
    assert found[("palate_queue_silent_seconds", "gpu")] == 0
    assert found[("palate_tokens_total", "judging")] == 0
    assert found[("palate_request_seconds_count", "read")] >= 2


def test_what_rows_took_that_have_left_a_run_is_counted_for_all_that(db: None) -> None:
    run = judging.start_run(study=study_of_leases(), judge=lexical_judge(), by=None)
    Run.objects.filter(pk=run.pk).update(left_tokens=7)
    WorkItem.objects.filter(pk=run.items.first().pk).update(tokens=4)
    assert measured(Client().get("/metrics"))[("palate_tokens_total", "judging")] == 11


def test_metrics_are_for_this_machine_or_who_has_the_token(db: None, settings: Settings) -> None:
    client = Client()
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 404
    assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 404  # a proxy's word
    settings.PALATE_METRICS_TOKEN = "of-sixteen-letters"
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    allowed = {"Authorization": "Bearer of-sixteen-letters"}
    assert client.get("/metrics", headers=allowed, REMOTE_ADDR="192.0.2.7").status_code == 200


def test_a_process_lives_without_its_database_and_is_not_ready(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    assert client.get("/readyz").json() == {"ready": True}

    class Away:
        def cursor(self) -> None:
            raise OperationalError("away")

    monkeypatch.setattr(queries, "connection", Away())
    assert client.get("/healthz").content == b"ok"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "missing": "database"})


def test_what_programs_ask_needs_no_session_and_no_host_of_people(
    leases: Leases,
    client_of: ClientOf,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """With the database away a browser that is logged in was answered 500, and with a host of its own curl 400."""
    settings.ALLOWED_HOSTS = ["palate.example.org"]
    client = client_of(leases.manager)
    here = {"Host": "127.0.0.1:8000"}
    with django_assert_num_queries(0):
        answer = client.get("/healthz", headers=here)
    assert (answer.status_code, answer.content) == (200, b"ok")
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert client.get("/readyz", headers=here).json() == {"ready": True}
    assert client.post("/readyz", headers=here).status_code == 405
    assert client.get("/login/", headers=here).status_code == 400

    def away(_self: object) -> Iterator[Any]:
        raise OperationalError("away")

    assert ("palate_version",) in {name[:1] for name in measured(client.get("/metrics", headers=here))}
    monkeypatch.setattr(metrics._Database, "collect", away)
    found = measured(client.get("/metrics", headers=here))
    assert ("palate_requests_total", "GET", "healthz", "200") in found
    assert ("palate_version",) not in {name[:1] for name in found}
    with django_assert_num_queries(0):
        refused = client.get("/metrics", headers=here, REMOTE_ADDR="192.0.2.7")
    assert refused.status_code == 404


def test_who_lacks_a_migration_is_not_ready(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db.migrations.recorder import MigrationRecorder

    monkeypatch.setattr(queries, "_migrated", False)
    one_by_one = MigrationRecorder.Migration.objects.filter(app="judges").exclude(name__contains="_squashed_")
    one_by_one.latest("pk").delete()
    assert Client().get("/readyz").json() == {"ready": False, "missing": "migrations"}


# --- the alarm -------------------------------------------------------------------------------------------------------


def ago(run: Batch, **time: float) -> None:
    then = timezone.now() - timedelta(**time)
    Batch.objects.filter(pk=run.pk).update(started_at=then, queued_at=then, enqueued_at=then)


def test_a_queue_stands_still_when_work_waits_and_nobody_is_at_any(db: None) -> None:
    run, other = toy.started(3), toy.started(2)
    ago(run, minutes=30)
    ago(other, minutes=20)
    [queue] = work.standing()
    assert (queue.name, queue.waiting, round(queue.silent.total_seconds() / 60)) == ("cpu", 5, 20)

    # What the recovery has sent again is no sign of a worker; it waits longer each time.
    Batch.objects.update(enqueued_at=timezone.now(), enqueued_times=5)
    assert work.standing()[0].silent > timedelta(minutes=9)

    # A worker at one of them: nothing stands still; a dead one's work waits.
    piece = Piece.objects.filter(run=run).earliest("pk")
    lease = {"state": "claimed", "token": "0" * 32, "lease_until": timezone.now() + timedelta(minutes=1)}
    Piece.objects.filter(pk=piece.pk).update(**lease)
    assert work.standing() == []
    Piece.objects.filter(pk=piece.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    assert (work.standing()[0].waiting, round(work.standing()[0].silent.total_seconds() / 60)) == (5, 1)

    # A run that rests, because a server is away, says so itself.
    Batch.objects.update(rest_until=timezone.now() + timedelta(minutes=1))
    assert work.standing() == []


def test_the_alarm_is_logged_each_time_and_mailed_once(
    db: None, settings: Settings, lines: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.clear()
    settings.PALATE_ALARM_EMAIL, settings.ALLOWED_HOSTS = ["ops@example.org"], ["*", ".palate.example.org"]
    run = toy.started(3)
    ago(run, minutes=9)
    call_command("watch_queues")  # not yet
    assert mail.outbox == []
    ago(run, minutes=11)
    for _time in range(2):
        with pytest.raises(SystemExit) as ended:
            call_command("watch_queues")
        assert ended.value.code == 1
    assert (
        "Work waits on the queue “cpu” (items: 3), and no worker has taken any for 11 min." in capsys.readouterr().out
    )
    [sent] = mail.outbox
    assert (sent.to, "11 min." in sent.body) == (["ops@example.org"], True)
    assert sent.subject == "Palate on palate.example.org: a queue stands still"
    said = [line for line in lines.found if line["logger"] == "operating.actions"]
    assert [(line["level"], line["queue"]) for line in said] == [("ERROR", "cpu")] * 2
    # It moves, and stands still again: that is another alarm.
    take_up(run)
    assert actions.watch_queues() == []
    Piece.objects.update(done_at=None)
    ago(run, minutes=11)
    assert len(actions.watch_queues()) == 1
    assert len(mail.outbox) == 2


def test_the_alarm_is_mailed_once_the_mail_server_is_there(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    settings.PALATE_ALARM_EMAIL = ["ops@example.org", "more@example.org"]
    ago(toy.started(3), minutes=11)
    answers = iter([False, False, False, True])
    asked: list[str] = []

    def send(*, to: str, **_mail: object) -> bool:
        asked.append(to)
        return next(answers)

    monkeypatch.setattr(actions.mail, "send", send)
    for _time in range(3):  # nobody is told, then one is, and that counts
        actions.watch_queues()
    assert asked == settings.PALATE_ALARM_EMAIL * 2


# --- Sentry ----------------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_an_error_goes_to_sentry_without_text() -> None:
    sent: list[bytes] = []

    class Kept(sentry_sdk.Transport):
        def capture_envelope(self, envelope: Any) -> None:
            sent.append(envelope.serialize())

    options = sentry.options("https://key@example.org/1", environment="test")
    client = sentry_sdk.Client(**options, transport=Kept, default_integrations=False)
    with sentry_sdk.isolation_scope() as scope, logs.about(request="number-1"):
        scope.set_client(client)
        sentry_sdk.add_breadcrumb(message=SECRET)
        sentry_sdk.set_extra("row", SECRET)
        try:
            local = SECRET
            raise ValueError(local)
        except ValueError:
            sentry_sdk.capture_exception(sys.exc_info()[1])
    client.close()

    [envelope] = sent
    text = envelope.decode()
    assert "ValueError" in text
    assert "number-1" in text
    assert "test_an_error_goes_to_sentry_without_text" in text
    assert "Simmer" not in text


def test_a_body_that_is_too_large_is_told_how_large_it_may_be(
    leases: Leases, api_of: ApiOf, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100 * 1024
    address = reverse("api:assignment-labels", args=[leases.annas[0].pk])
    response = api_of(leases.anna).post(address, {"key": "x" * 200_000}, format="json")

    sentence = "It is too large: a body has at most 100.0\N{NO-BREAK SPACE}KB, but for files."
    assert (response.status_code, response.json()) == (400, {"detail": sentence})
