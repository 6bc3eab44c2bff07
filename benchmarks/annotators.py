"""Many annotators at once: how long a save takes, what it costs, and that none is lost or doubled.

    python -m benchmarks.annotators [--database URL] [--annotators 1 10 50] [--seconds 15] [--json FILE]

Each annotator saves one choice every 0.2 s on documents of their own, through gunicorn as the Dockerfile starts it,
in a fresh database: SQLite in a temporary folder, or the empty one that `--database` names. One save in fifty is
sent once more with its key, as after a lost answer. Prints a table and exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.grid import INGREDIENTS, ROOT, Figure, prepare

EVERY = 0.2  # seconds between two saves of one annotator
DOCUMENTS = 40
CSRF = "a" * 32
# Annotators -> most that p95 may be, in ms; and least saves a second.
P95 = {10: 40.0, 50: 250.0}
RATE = {50: 150.0}
CPU = 6.0  # ms a save


@dataclass(frozen=True)
class Cell:
    assignment: int
    column: int
    question: int


@dataclass
class Annotator:
    """One browser: its session, the cells it goes through, and what the server acknowledged in each."""

    session: str
    cells: list[Cell]
    acknowledged: dict[Cell, str] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)  # seconds, in the order of the saves
    errors: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="URL of an empty database; SQLite in a temporary folder without it")
    parser.add_argument("--annotators", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="palate-annotators-") as folder:
        prepare(Path(folder), args.database)
        from django.db import connection, connections

        for n in args.annotators:
            sheet, options, annotators = make(n)
            connections.close_all()
            with gunicorn() as (port, pid):
                warm_up(port, sheet, annotators, options)
                before = cpu_of(pid)
                start = time.perf_counter()
                asyncio.run(work(port, sheet, annotators, options, args.seconds))
                seconds = time.perf_counter() - start
                cpu = cpu_of(pid) - before
            for figure in told(f"{connection.vendor}, {n}", n, annotators, seconds, cpu):
                figures.append(figure)
                print(figure, flush=True)
    if args.json:
        args.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n", encoding="utf-8")
    return int(any(figure.missed for figure in figures))


# --- what they work on ----------------------------------------------------------------------------------------------


def make(n: int) -> tuple[int, Sequence[str], list[Annotator]]:
    """A study of `n` annotators on one sheet; its id, the keys of the options, and the annotators."""
    from django.conf import settings
    from django.test import Client

    from annotation import actions
    from annotation.evidence.blocks import Block
    from annotation.models import Column, Option, Role, User
    from recipes.cooking import actions as recipes
    from recipes.cooking.parsing import parse_recipe
    from recipes.cooking.vocabulary import INGREDIENT
    from recipes.memorization.demo_study import paper_scheme

    study = actions.create_study(slug=f"many-{n}", title=f"{n} annotators", scheme=paper_scheme(), by=None)
    recipe = parse_recipe(f"name: Slaw\ningredients: {list(INGREDIENTS)}\ntasks: [{{task: mix}}]\n")
    sheet = recipes.add_recipe(study=study, recipe=recipe)
    for number in range(DOCUMENTS):
        evidence = [Block(INGREDIENT, name) for name in INGREDIENTS]
        actions.add_row(sheet=sheet, name=f"Google {number + 1}", evidence=evidence)
    columns = list(Column.objects.filter(sheet=sheet, section__key="ingredients"))
    options = list(Option.objects.filter(question__section=columns[0].section_id).order_by("position"))
    annotators = []
    for number in range(n):
        user = User.objects.create_user(f"annotator-{n}-{number}")
        actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
        assignments = actions.assign(rater=study.raters.get(user=user), rows=sheet.rows.all())
        cells = [Cell(a.pk, column.pk, options[0].question_id) for a in assignments for column in columns]
        client = Client()
        client.force_login(user)
        annotators.append(Annotator(client.cookies[settings.SESSION_COOKIE_NAME].value, cells))
    return sheet.pk, [option.key for option in options], annotators


@contextmanager
def gunicorn() -> Iterator[tuple[int, int]]:
    """The server as the Dockerfile starts it; its port and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "--bind", f"127.0.0.1:{port}"]
    command += ["--log-level", "warning"]
    server = subprocess.Popen(command, cwd=ROOT)
    try:
        for _attempt in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(20)


def cpu_of(pid: int) -> float:
    """Seconds of CPU of a process and those that it started (Linux)."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if pid in (int(folder.name), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# --- the browsers ---------------------------------------------------------------------------------------------------


def warm_up(port: int, sheet: int, annotators: Sequence[Annotator], options: Sequence[str]) -> None:
    """Each worker of the server has answered before anything is measured."""
    asyncio.run(work(port, sheet, [annotators[0]] * 6, options, 1))
    for annotator in annotators:
        annotator.latencies.clear()


async def work(port: int, sheet: int, annotators: Sequence[Annotator], options: Sequence[str], seconds: float) -> None:
    until = time.perf_counter() + seconds
    draw = random.Random(0)
    starts = [draw.uniform(0, EVERY) for _ in annotators]
    await asyncio.gather(
        *(label(port, sheet, one, options, start, until) for one, start in zip(annotators, starts, strict=True))
    )


async def label(
    port: int, sheet: int, annotator: Annotator, options: Sequence[str], start: float, until: float
) -> None:
    """One save after the other, each at its time or, when the one before took longer, at once."""
    connection = await asyncio.open_connection("127.0.0.1", port)
    due = time.perf_counter() + start
    number = 0
    while (now := time.perf_counter()) < until:
        if due > now:
            await asyncio.sleep(due - now)
        cell = annotator.cells[number % len(annotator.cells)]
        value = options[(number + number // len(annotator.cells)) % len(options)]
        body = urllib.parse.urlencode(
            {
                "key": str(uuid.uuid4()),
                "changes": json.dumps(
                    [[cell.assignment, cell.column, cell.question, value, annotator.acknowledged.get(cell, "")]]
                ),
            }
        ).encode()
        begin = time.perf_counter()
        for _time in range(2 if number % 50 == 25 else 1):
            connection, status, said = await post(connection, port, sheet, annotator.session, body)
        annotator.latencies.append(time.perf_counter() - begin)
        if status == 200 and not json.loads(said)["refused"] and not json.loads(said)["conflicts"]:
            annotator.acknowledged[cell] = value
        else:
            annotator.errors.append(f"{status} {said[:200]!r}")
        number += 1
        due = max(due + EVERY, begin)
    connection[1].close()


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def post(
    connection: Connection, port: int, sheet: int, session: str, body: bytes
) -> tuple[Connection, int, bytes]:
    """Send a save, on the same connection as the one before where the server left it open."""
    head = (
        f"POST /sheets/{sheet}/record/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Cookie: sessionid={session}; csrftoken={CSRF}\r\nX-CSRFToken: {CSRF}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    for _attempt in range(2):
        reader, writer = connection
        try:
            writer.write(head + body)
            await writer.drain()
            status = (await reader.readuntil(b"\r\n")).split()[1]
            fields = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            length = next(int(text.partition(":")[2]) for text in fields if text.startswith("content-length:"))
            said = await reader.readexactly(length)
            if "connection: close" in fields:
                writer.close()
                connection = await asyncio.open_connection("127.0.0.1", port)
            return connection, int(status), said
        except (OSError, asyncio.IncompleteReadError):  # the server closed a connection that was idle
            connection = await asyncio.open_connection("127.0.0.1", port)
    return connection, 0, b"no answer"


# --- what came of it ------------------------------------------------------------------------------------------------


def told(section: str, n: int, annotators: Sequence[Annotator], seconds: float, cpu: float) -> Iterator[Figure]:
    latencies = [1000 * latency for annotator in annotators for latency in annotator.latencies]
    errors = [error for annotator in annotators for error in annotator.errors]
    for error in errors[:3]:
        print(error, file=sys.stderr)
    yield Figure(section, "saves a second", len(latencies) / seconds, "saves/s", least=RATE.get(n))
    yield Figure(section, "a save, median", median(latencies), "ms")
    yield Figure(section, "a save, 95 %", quantiles(latencies, n=20)[-1], "ms", target=P95.get(n))
    yield Figure(section, "a save, slowest", max(latencies), "ms")
    yield Figure(section, "CPU of the server a save", 1000 * cpu / len(latencies), "ms", target=CPU)
    thirds = [[1000 * latency for annotator in annotators for latency in part(annotator, k)] for k in (0, 2)]
    yield Figure(section, "median of the last third, as a share of the first's", ratio(thirds), "", target=1.5)
    yield Figure(section, "errors", len(errors), "", target=0)
    yield Figure(section, "acknowledged choices that are lost or other ones", lost(annotators), "", target=0)
    yield Figure(section, "changes in the history beyond one a save", doubled(annotators), "", target=0)


def part(annotator: Annotator, third: int) -> list[float]:
    size = len(annotator.latencies) // 3
    return annotator.latencies[third * size : (third + 1) * size]


def ratio(thirds: Sequence[Sequence[float]]) -> float:
    first, last = (median(third) for third in thirds)
    return last / first


def lost(annotators: Sequence[Annotator]) -> int:
    from annotation.models import Label

    assignments = {cell.assignment for annotator in annotators for cell in annotator.cells}
    labels = Label.objects.filter(assignment__in=assignments)
    standing: dict[Any, str] = {
        Cell(*where): key
        for *where, key in labels.values_list("assignment_id", "column_id", "question_id", "option__key")
    }
    acknowledged = {cell: key for annotator in annotators for cell, key in annotator.acknowledged.items()}
    return sum(standing.get(cell) != key for cell, key in acknowledged.items())


def doubled(annotators: Sequence[Annotator]) -> int:
    """Events with the key of another one, and events that no revision of a label stands for."""
    from django.db.models import Count, Sum

    from annotation.models import Label, LabelEvent

    assignments = {cell.assignment for annotator in annotators for cell in annotator.cells}
    events = LabelEvent.objects.filter(assignment__in=assignments)
    revisions: int = Label.objects.filter(assignment__in=assignments).aggregate(n=Sum("revision"))["n"] or 0
    keys: int = events.aggregate(n=Count("key", distinct=True))["n"]
    return abs(events.count() - revisions) + abs(events.count() - keys)


if __name__ == "__main__":
    sys.exit(main())
