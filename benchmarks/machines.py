"""Two web machines behind a pooler: what must be shared is shared.

    python -m benchmarks.machines [--server postgresql://postgres@127.0.0.1:5432] [--redis redis://127.0.0.1:6379/9]

Makes a database, starts PgBouncer (transaction mode, a pool of 8) before it and two gunicorns of two processes each,
which have folders of their own as two machines would, and share PostgreSQL and Redis alone. Each browser's requests go
to the machines in turn. Prints what was tried and what came of it, exits with 1 where anything was not shared, and
drops the database. The number of Redis is emptied before and after.
"""

from __future__ import annotations

import argparse
import html
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MACHINES, PROCESSES, POOL = 2, 2, 8
PASSWORD = "correct horse battery"
SAVES, ANNOTATORS, GUESSES = 20, 8, 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="postgresql://postgres@127.0.0.1:5432")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/9")
    asked = parser.parse_args()
    import psycopg
    import redis

    name = f"palate_machines_{uuid.uuid4().hex[:8]}"
    store = redis.Redis.from_url(asked.redis)
    store.flushdb()
    with psycopg.connect(f"{asked.server}/postgres", autocommit=True) as server, ExitStack() as stack:
        server.execute(f"CREATE DATABASE {name}")
        stack.callback(lambda: server.execute(f"DROP DATABASE {name} WITH (FORCE)"))
        stack.callback(store.flushdb)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="palate-machines-")))
        folder.chmod(0o755)
        pooler = stack.enter_context(pgbouncer(folder, asked.server, name))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PALATE_ENV": "production",
            "SECRET_KEY": uuid.uuid4().hex,
            "ALLOWED_HOSTS": "127.0.0.1",
            "HTTPS": "false",
            "LOG_LEVEL": "ERROR",
            "DATABASE_URL": f"{asked.server}/{name}",
            "CELERY_BROKER_URL": asked.redis,
            "PALATE_VAR": str(folder / "here"),
        }
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("collectstatic", verbosity=0, interactive=False)
        call_command("migrate", verbosity=0)
        study = make()
        connections.close_all()
        os.environ |= {"DATABASE_URL": f"postgresql://postgres@127.0.0.1:{pooler}/{name}", "DATABASE_POOLED": "1"}
        ports = [stack.enter_context(machine(folder / f"machine-{n}")) for n in range(MACHINES)]
        failed = 0
        for what, check in CHECKS.items():
            problem = check(ports, study, name, pooler)
            failed += bool(problem)
            print(f"{what:64} {'NOT SHARED: ' + problem if problem else 'holds'}", flush=True)
    return int(bool(failed))


# --- what is started ------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def pgbouncer(folder: Path, server: str, name: str) -> Iterator[int]:
    port, at = free_port(), urllib.parse.urlsplit(server)
    users, settings = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"{at.username}" "{at.password or ""}"\n')
    settings.write_text(f"""[databases]
{name} = host={at.hostname} port={at.port or 5432} user={at.username}{f" password={at.password}" if at.password else ""}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
auth_file = {users}
admin_users = {at.username}
pool_mode = transaction
default_pool_size = {POOL}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
""")
    command = ["pgbouncer", "-q", str(settings)]
    if os.geteuid() == 0:  # it refuses to run as root
        command[1:1] = ["-u", "nobody"]
    process = subprocess.Popen(command)
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def machine(folder: Path) -> Iterator[int]:
    """A web server with nothing of its own but a folder; the port it listens on."""
    port = free_port()
    environment = os.environ | {"PALATE_VAR": str(folder), "WEB_CONCURRENCY": str(PROCESSES)}
    command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "--bind", f"127.0.0.1:{port}"]
    server = subprocess.Popen([*command, "--log-level", "warning"], cwd=ROOT, env=environment)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def wait_for(port: int) -> None:
    for _attempt in range(1200):
        with socket.socket() as tried:
            if not tried.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise SystemExit(f"Nothing listens on port {port}.")


def make() -> str:
    """A study with two options and a row an annotator; the name of its address."""
    from annotation import actions
    from annotation.models import Role, User
    from annotation.scheme.inference import infer_scheme
    from annotation.scheme.spec import load_scheme

    source = infer_scheme(iter("12"), key="shared", version=1, title="Shared", question="Rating", nominal=True)
    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    manager = User.objects.create_user("manager", password=PASSWORD)
    study = actions.create_study(slug="shared", title="Shared", scheme=scheme, by=manager)
    actions.add_member(study=study, user=manager, role=Role.RESEARCHER)
    sheet = actions.add_sheet(study=study, title="One", columns={})
    rows = [actions.add_row(sheet=sheet, name=f"Row {n}", evidence=[]) for n in range(10)]
    for n in range(ANNOTATORS):
        user = User.objects.create_user(f"annotator-{n}", password=PASSWORD)
        actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
        actions.assign(rater=study.raters.get(user=user), rows=rows)
    return str(study.slug)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Browser:
    """Its requests go to the machines in turn; cookies know no port."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.jar = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar), _Stay)
        self.turn = itertools.cycle(ports)

    def ask(self, path: str, data: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Status, where it leads, and what it says."""
        port = next(self.turn)
        headers = {"Referer": f"http://127.0.0.1:{port}{path}"}
        body = None
        if data is not None:
            token = next((cookie.value for cookie in self.jar if cookie.name == "csrftoken"), "") or ""
            headers["X-CSRFToken"] = token
            body = urllib.parse.urlencode(data).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers=headers)
        try:
            answer: HTTPResponse = self.opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error  # type: ignore[assignment]
        with answer:
            return answer.status, answer.headers.get("Location", ""), answer.read().decode("utf-8", "replace")

    def log_in(self, name: str, password: str = PASSWORD) -> int:
        self.ask("/login/")
        return self.ask("/login/", {"username": name, "password": password})[0]


# --- what is tried --------------------------------------------------------------------------------------------------


def sessions(ports: Sequence[int], study: str, *_: object) -> str:
    """Each step of it at the other machine."""
    browser = Browser(ports)
    if browser.log_in("annotator-0") != 302:
        return "no log-in over two machines"
    seen = [browser.ask("/")[0] for _time in range(4)]
    browser.ask("/logout/", {})
    after = [browser.ask("/")[:2] for _time in range(4)]
    if seen != [200] * 4:
        return f"logged in here, not there: {seen}"
    return "" if all(status == 302 and "/login" in where for status, where in after) else f"still logged in: {after}"


def limits(ports: Sequence[int], study: str, *_: object) -> str:
    """Guesses at one password come at once at all processes; ten are looked at."""
    from annotation.models import AuditEvent

    browsers = [Browser([ports[n % 2]]) for n in range(GUESSES)]
    with ThreadPoolExecutor(GUESSES) as pool:
        list(pool.map(lambda browser: browser.log_in("annotator-1", "wrong"), browsers))
    looked_at = AuditEvent.objects.filter(kind="login-failed").count()
    late = [Browser([port]).log_in("annotator-1") for port in ports]
    if looked_at > 10:
        return f"{looked_at} of {GUESSES} wrong passwords were looked at"
    return "" if late == [200] * len(ports) else f"the right password was let in after them: {late}"


def saves(ports: Sequence[int], study: str, *_: object) -> str:
    """Saves of all annotators at the machines in turn, each key sent to both."""
    from annotation.models import Assignment, Label, LabelEvent, Option

    options = list(Option.objects.order_by("position"))

    def work(n: int) -> tuple[dict[int, str], int, list[str]]:
        mine = list(Assignment.objects.filter(rater__user__username=f"annotator-{n}").order_by("pk"))
        column = mine[0].row.sheet.columns.get()
        browser, stands, changes, problems = Browser(ports), dict[int, str](), 0, list[str]()
        browser.log_in(f"annotator-{n}")
        path = f"/sheets/{mine[0].row.sheet_id}/record/"
        for turn in range(SAVES):
            place, value = mine[turn % len(mine)].pk, options[(turn // len(mine)) % 2].key
            change = [place, column.pk, options[0].question_id, value, stands.get(place, "")]
            data = {"key": str(uuid.uuid4()), "changes": json.dumps([change])}
            for _again in range(2):
                status, _where, said = browser.ask(path, data)
                if status != 200:
                    problems.append(f"{status} {said[:80]}")
            changes += stands.get(place) != value
            stands[place] = value
        return stands, changes, problems

    people = [n for n in range(ANNOTATORS) if n != 1]  # of whom too many passwords were guessed
    with ThreadPoolExecutor(len(people)) as pool:
        done = list(pool.map(work, people))
    if problems := [problem for _stands, _changes, found in done for problem in found]:
        return f"{len(problems)} refused, such as {problems[0]}"
    wanted = {place: value for stands, _changes, _found in done for place, value in stands.items()}
    there = dict(Label.objects.values_list("assignment", "option__key"))
    if there != wanted:
        return f"{sum(there.get(place) != value for place, value in wanted.items())} labels are not what was saved last"
    events, changes = LabelEvent.objects.count(), sum(changes for _stands, changes, _found in done)
    return "" if events == changes else f"{events} events of {changes} changes"


def reports(ports: Sequence[int], study: str, *_: object) -> str:
    """A report kept by one machine is not shown once the labels are others; a figure is drawn by whichever is asked."""
    from annotation.models import Label, Option

    here, there = Browser(ports[:1]), Browser(ports[1:])
    for browser in here, there:
        browser.log_in("manager")
    path = f"/studies/{study}/report/whole/"

    def figures(browser: Browser) -> list[str]:
        """Where the figures of the page are drawn; each address has the digest of what is drawn."""
        status, _where, page = browser.ask(path)
        found = re.findall(r'"(/studies/[^"]+/figures/[^"]+)"', page)
        return [f"status {status}"] if status != 200 else sorted({html.unescape(address) for address in found})

    before = figures(here), figures(there)
    if before[0] != before[1] or not before[0] or not all("v=" in address for address in before[0]):
        return f"two machines show two reports: {before}"
    drawn = Counter(there.ask(figure)[0] for figure in before[0])
    if set(drawn) != {200}:
        return f"figures of the one machine at the other: {dict(drawn)}"
    label = Label.objects.filter(assignment__rater__user__username="annotator-0").select_related("option").first()
    assert label is not None
    assert label.option is not None
    other = Option.objects.exclude(pk=label.option.pk).earliest("position").key
    change = [label.assignment_id, label.column_id, label.question_id, other, label.option.key]
    annotator = Browser(ports[:1])
    annotator.log_in("annotator-0")
    data = {"key": str(uuid.uuid4()), "changes": json.dumps([change])}
    saved = annotator.ask(f"/sheets/{label.assignment.row.sheet_id}/record/", data)[0]
    after = figures(here), figures(there)
    if saved != 200 or after[0] != after[1] or after[0] == before[0]:
        return f"a report that is out of date is still shown (the change was answered by {saved})"
    return ""


def roles(ports: Sequence[int], study: str, *_: object) -> str:
    """Who loses the role at one machine is refused by all processes at once."""
    from annotation import actions
    from annotation.models import Membership

    browser = Browser(ports)
    browser.log_in("annotator-2")
    sheet = Membership.objects.get(user__username="annotator-2").study.sheets.get().pk
    before = [browser.ask(f"/sheets/{sheet}/")[0] for _time in range(2 * MACHINES * PROCESSES)]
    actions.remove_member(membership=Membership.objects.get(user__username="annotator-2"))
    after = [browser.ask(f"/sheets/{sheet}/")[0] for _time in range(2 * MACHINES * PROCESSES)]
    return "" if set(before) == {200} and set(after) == {404} else f"{before}, then {after}"


def pooled(ports: Sequence[int], study: str, name: str, pooler: int) -> str:
    """All of it went over the few connections of the pool."""
    import psycopg

    address = f"postgresql://postgres@127.0.0.1:{pooler}/pgbouncer"
    with psycopg.connect(address, autocommit=True, cursor_factory=psycopg.ClientCursor) as admin:

        def shown(what: str) -> list[dict[str, Any]]:
            cursor = admin.execute(f"SHOW {what}")  # a word of ours
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        clients = sum(one["database"] == name for one in shown("CLIENTS"))
        servers = sum(one["database"] == name for one in shown("SERVERS"))
        transactions = sum(one["xact_count"] for one in shown("STATS_TOTALS") if one["database"] == name)
    print(f"  {transactions:,} transactions of {clients} connections over {servers} to the server")
    return "" if 0 < servers <= POOL < clients else f"{clients} connections over {servers}"


CHECKS: dict[str, Callable[..., str]] = {
    "sessions: in and out, each step at another machine": sessions,
    f"limits: of {GUESSES} passwords guessed at once ten are looked at": limits,
    f"saves: {SAVES} of {ANNOTATORS - 1} people, each sent to both machines": saves,
    "reports and figures: made by one machine, shown by the other": reports,
    "roles: taken away at one machine": roles,
    f"pooler: in transaction mode, {POOL} connections": pooled,
}

if __name__ == "__main__":
    sys.exit(main())
