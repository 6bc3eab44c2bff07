"""A checked history: many clients at work while everything under them is killed, paused, filled and set back.

    python -m benchmarks.faults [--database sqlite|postgresql] [--operations 100000] [--faults 200] [--seconds 1800]
                                [--tabs 16] [--pause 0.3] [--history FILE] [--json FILE] [--no-sync] [--into FOLDER]
    python -m benchmarks.faults --check FILE...

Annotators save, undo, read, submit and take back in two tabs each; managers import rows and labels, plan, restore and
start judges. All go over HTTP to gunicorn, with Celery workers, a cluster of PostgreSQL's (or SQLite) and a Redis of
their own, while one fault after the other befalls these. What each client was told is written to the history; when all
is quiet, what the database has is written behind it, and the two are compared: `benchmarks.fault_history` says what
counts as an anomaly. Ends with 1 where there is one, or where a run of work has not ended.

`--check` reads such files again and says the same of them without any server, and whether the figures that lie beside
them (the same name with .json) are theirs.

`--into FOLDER` adds a run of at most so many seconds to those that are kept there, each on an installation of its own
and checked by itself: its history, compressed, and its figures. It is called until all of them together have the
operations and the faults, and says what there is; what is stopped in the middle leaves nothing.

`--no-sync` lets PostgreSQL acknowledge what it has not written yet, and SQLite what it has not synced: the check is
then expected to find what is lost. Needs Linux; as root with a loop device it fills a disk of its own and cuts its
power as well, and with a compiler of C it sets the clock.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fault_clients import Browser, Desk, History, Manager, Tab, expected_of
from benchmarks.fault_history import Event, Final, check
from benchmarks.fault_record import Incomplete, compressed, figures, load, write_end
from benchmarks.fault_site import Installation, Nemesis
from benchmarks.grid import prepare

NUMBERS = """\
key: numbers
version: 1
title: Numbers
words: {sheet: sheet, sheets: sheets, row: row, rows: rows}
sections:
  - key: all
    title: All
    column: {title: Column, facets: [name]}
    questions:
      - {key: n, title: Number, kind: number, number: {min: 0, max: 1000000000, step: 1}}
"""
DUTIES = """\
key: duties
version: 1
title: Duties
words: {sheet: contract, sheets: contracts, row: clause, rows: clauses}
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    questions:
      - key: stated
        title: Stated
        about: duty
        options: [{key: stated, label: Stated}, {key: implied, label: Implied}, {key: absent, label: Not stated}]
"""
PROMPT = """\
questions:
  duties.stated:
    lexical: {in: [paragraph], same: stated, part: implied, none: absent}
"""
ROWS, COLUMNS = 12, 4
QUIET_SECONDS = 600  # for which no work that is left may come to its end when nothing goes wrong any more


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--tabs", type=int, default=16)
    parser.add_argument("--pause", type=float, default=0.3, help="mean seconds between two requests of a tab")
    parser.add_argument("--rest", type=float, default=2.0, help="mean seconds between two faults")
    parser.add_argument("--longest", type=float, default=1.0, help="by how much the pauses of faults are longer")
    parser.add_argument("--web", type=int, default=3, help="web processes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--history", type=Path, help="keep the history here")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="add a run to those that are kept here")
    parser.add_argument("--only", default="", metavar="WORDS", help="faults with these words in their names alone")
    parser.add_argument("--queue", choices=["redis", "folder"], default="redis", help="redis: where it is installed")
    parser.add_argument("--no-sync", action="store_true")
    parser.add_argument("--begin-with", type=Path, metavar="FILE", help="a migrated SQLite database to begin with")
    parser.add_argument("--check", type=Path, nargs="+", metavar="FILE", help="check kept histories again")
    asked = parser.parse_args(arguments)
    if asked.check:
        return max([check_again(path) for path in asked.check])
    if asked.into:
        return add_to(asked.into, asked)
    with tempfile.TemporaryDirectory(prefix="palate-faults-") as folder:
        told = run(Path(folder), asked)
    say(told)
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return int(bool(told["anomalies"]))


def say(told: dict[str, Any]) -> None:
    for name, value in told.items():
        if name != "sentences":
            print(f"{name}: {value}")
    for sentence in told["sentences"][:50]:
        print(sentence)


def check_again(path: Path) -> int:
    """What a file says, read anew; 1 where there is an anomaly, or where the figures beside it say something else."""
    try:
        record = load(path)
    except Incomplete as error:
        print(f"{path}: {error}")
        return 1
    told = figures(record, check(record.operations, record.final))
    print(path)
    say(told)
    beside = path.with_name(path.name.partition(".")[0] + ".json")
    if beside.exists() and (other := json.loads(beside.read_text(encoding="utf-8"))) != told:
        print(f"{beside} says otherwise:", *sorted(name for name in other | told if other.get(name) != told.get(name)))
        return 1
    return int(bool(told["anomalies"]))


def add_to(kept: Path, asked: argparse.Namespace) -> int:
    """One more run, unless those of the folder have enough; 1 where any of them has an anomaly."""
    kept.mkdir(parents=True, exist_ok=True)
    whole = together(kept)
    if whole["operations"] < asked.operations or whole["faults"] < asked.faults:
        number = len(whole["runs"]) + 1
        asked.seed += number
        asked.operations = max(asked.operations - whole["operations"], 0)
        with tempfile.TemporaryDirectory(prefix="palate-faults-") as folder:
            asked.history = Path(folder) / "history.jsonl"
            told = run(Path(folder), asked)
            history = asked.history.read_bytes()
        (kept / f"{number:03}.jsonl.xz").write_bytes(compressed(history))
        (kept / f"{number:03}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        whole = together(kept)
    print(json.dumps(whole, indent=1))
    return int(bool(whole["anomalies"]))


def together(kept: Path) -> dict[str, Any]:
    """The figures of all runs of a folder, added up."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(kept.glob("[0-9]*.json"))]
    added = ("seconds", "operations", "sent again", "changes in the history", "faults", "anomalies")
    counted = ("of which", "ended as", "kinds of fault", "kinds of anomaly")
    return {
        **{name: sum(run[name] for run in runs) for name in added},
        **{name: dict(sum((Counter(run[name]) for run in runs), Counter[str]()).most_common()) for name in counted},
        "sentences": [sentence for run in runs for sentence in run["sentences"]],
        "runs": [{name: run[name] for name in ("seed", *added, "sha256")} for run in runs],
    }


def run(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """The figures, of what was read back from the file of the history."""
    site = Installation(folder, asked.database, workers=asked.workers, web=asked.web, redis=asked.queue == "redis")
    try:
        print(
            "On this disk a file that was not synced was gone after a power cut, and one that was synced was whole."
            if site.device.forgets
            else f"No power is cut: {site.device.why}.",
            file=sys.stderr,
        )
        os.environ |= {"CELERY_BROKER_URL": site.broker, "LOG_FORMAT": "text"}
        if asked.no_sync:
            os.environ["SQLITE_SYNCHRONOUS"] = "NORMAL"
        if asked.begin_with:
            shutil.copy(asked.begin_with, site.disk / "palate.sqlite3")
        prepare(site.disk, site.url)
        if asked.no_sync and asked.database == "postgresql":
            site.sql("ALTER SYSTEM SET synchronous_commit = off")
            site.sql("ALTER SYSTEM SET wal_writer_delay = '10s'")
            site.sql("SELECT pg_reload_conf()")
        desks, managers, planned, judges = make(asked.tabs)
        site.start()
        path = asked.history or folder / "history.jsonl"
        begin = time.monotonic()
        with path.open("w", encoding="utf-8") as file:
            work(site, History(file), asked, (desks, managers, planned, judges))
            about = {"database": asked.database, "seed": asked.seed, "seconds": round(time.monotonic() - begin)}
            write_end(file, read(unfinished=wait_until_quiet()), about)
        record = load(path)
        return figures(record, check(record.operations, record.final))
    finally:
        site.close()


def work(site: Installation, history: History, asked: argparse.Namespace, world: tuple[Any, ...]) -> None:
    desks, managers, planned, judges = world
    deadline = time.monotonic() + asked.seconds
    over = threading.Event()

    broken: list[BaseException] = []
    threads = []

    def start(do: Callable[[Callable[[], bool], float], None], pause: float) -> None:
        def run() -> None:
            try:
                do(over.is_set, pause)
            except BaseException as error:  # a mistake of ours: said at the end, and nothing is believed
                broken.append(error)
                raise

        threads.append(threading.Thread(target=run))

    for number in range(asked.tabs):
        rng = random.Random(f"{asked.seed} tab {number}")
        desk = desks[number // 2]
        browser = Browser(site.web_port, desk.session, rng)
        tab = Tab(f"tab {number}", number, desk, browser, history, rng)
        start(tab.run, asked.pause)
    for number, session in enumerate(managers):
        rng = random.Random(f"{asked.seed} manager {number}")
        browser = Browser(site.web_port, session, rng)
        manager = Manager(f"M{number}", browser, history, rng, desks, planned, judges)
        start(manager.run, 4 * asked.pause)
    for thread in threads:
        thread.start()

    def note(what: str, begin: float, end: float) -> None:
        history.add(op="fault", what=what, invoked=round(begin, 5), ended=round(end, 5), outcome="ok")
        print(f"{len(history):>8,} operations, {what}, {end - begin:.1f} s", file=sys.stderr, flush=True)

    nemesis = Nemesis(site, random.Random(asked.seed), note, longest=asked.longest, only=asked.only)
    try:
        nemesis.run(deadline, most=asked.faults, rest=(0, 2 * asked.rest))
        while len(history) < asked.operations and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        over.set()
        for thread in threads:
            thread.join()
        site.mend()
    if broken:
        raise broken[0]


# --- what they work on, and what came of it -------------------------------------------------------------------------


def make(tabs: int) -> tuple[list[Desk], list[str], list[int], list[int]]:
    """The studies; the annotators' desks, the sessions of managers, raters to plan for, and judges."""
    from django.conf import settings
    from django.db import connections
    from django.test import Client

    from annotation import actions
    from annotation.models import Role, User
    from annotation.scheme.spec import load_scheme
    from judges import actions as judging

    def session(user: User) -> str:
        client = Client()
        client.force_login(user)
        return str(client.cookies[settings.SESSION_COOKIE_NAME].value)

    schemes = [actions.store_scheme(spec=load_scheme(text), source=text) for text in (NUMBERS, DUTIES)]
    cells, desk, labels = (
        actions.create_study(slug=slug, title=slug, scheme=scheme, by=None)
        for slug, scheme in (("cells", schemes[0]), ("desk", schemes[1]), ("labels", schemes[1]))
    )
    managers = []
    for number in range(2):
        user = User.objects.create_user(f"manager{number}")
        for study in (cells, desk, labels):
            actions.add_member(study=study, user=user, role=Role.MANAGER)
        managers.append(session(user))
    desks = []
    for number in range((tabs + 1) // 2):
        user = User.objects.create_user(f"annotator{number}")
        actions.add_member(study=cells, user=user, role=Role.ANNOTATOR)
        sheet = actions.add_sheet(
            study=cells, title=f"S{number}", columns={"all": [{"name": f"C{n}"} for n in range(COLUMNS)]}
        )
        for n in range(ROWS):
            actions.add_row(sheet=sheet, name=f"Row {n + 1}", evidence=[])
        rater = cells.raters.get(user=user)
        question = schemes[0].sections.get().questions.get().pk
        columns = list(sheet.columns.values_list("pk", flat=True))
        given = actions.assign(rater=rater, rows=sheet.rows.all())
        of = {one.pk: [(one.pk, column, question) for column in columns] for one in given}
        desks.append(Desk(session(user), rater.code, rater.pk, sheet.pk, of))
    for number in range(3):
        actions.add_member(study=desk, user=User.objects.create_user(f"planned{number}"), role=Role.ANNOTATOR)
    planned = list(desk.raters.values_list("pk", flat=True))
    judges = [judging.create_judge(name=f"words{n}", method="lexical", prompt_text=PROMPT).pk for n in range(2)]
    connections.close_all()
    return desks, managers, planned, judges


def wait_until_quiet() -> int:
    """Wait for the work that is left; how many runs have not ended."""
    from django.db import connections

    from work import kinds
    from work.states import RunState

    left, deadline = -1, math.inf
    while left and time.monotonic() < deadline:
        still = sum(kind.run._default_manager.filter(state=RunState.RUNNING).count() for kind in kinds.every())
        connections.close_all()
        if still != left:  # a slow machine is no anomaly
            left, deadline = still, time.monotonic() + QUIET_SECONDS
        time.sleep(0.5)
    return left


def read(*, unfinished: int) -> Final:
    """The database as it is at the end."""
    from annotation.models import Assignment, Label, LabelEvent, Plan, Rater, Row
    from judges.models import Run

    cell = ("assignment_id", "column_id", "question_id")
    of_cells = LabelEvent.objects.filter(assignment__rater__study__slug="cells").select_related("before", "after")
    events = [
        Event(
            event.pk,
            (event.assignment_id, event.column_id, event.question_id),
            event.code_before,
            event.code_after,
            str(event.key),
            event.at.timestamp(),
            event.restored_to.isoformat() if event.restored_to else "",
            event.restored_to.timestamp() if event.restored_to else 0,
        )
        for event in of_cells.order_by("pk").iterator()
    ]
    labels = {
        (label.assignment_id, label.column_id, label.question_id): (label.code, label.revision)
        for label in Label.objects.filter(assignment__rater__study__slug="cells").only(*cell, "value", "revision")
    }
    rows: dict[str, Counter[str]] = {}
    desk = Row.objects.filter(sheet__study__slug="desk")
    for sheet, name in desk.values_list("sheet__title", "name"):
        rows.setdefault(sheet, Counter())[name] += 1
    labelled: dict[str, dict[tuple[str, str], str]] = {}
    for sheet, rater, row, answer in Label.objects.filter(assignment__rater__study__slug="labels").values_list(
        "assignment__row__sheet__title", "assignment__rater__code", "assignment__row__name", "option__key"
    ):
        labelled.setdefault(sheet, {})[rater, row] = answer
    people: dict[str, list[tuple[str, str]]] = {}
    of_people = Assignment.objects.filter(rater__study__slug="desk", rater__kind=Rater.Kind.PERSON)
    for sheet, rater, row in of_people.values_list("row__sheet__title", "rater__code", "row__name"):
        people.setdefault(sheet, []).append((rater, row))
    plans = Counter[str]()
    for (title,) in Plan.objects.filter(study__slug="desk").values_list("assignments__row__sheet__title").distinct():
        plans[title] = Plan.objects.filter(assignments__row__sheet__title=title).distinct().count()
    judged: dict[tuple[str, str], list[str]] = {}
    for run in Run.objects.select_related("rater"):
        for row in run.items.values_list("assignment__row__name", flat=True):
            judged.setdefault((run.rater.code, row), [])
    of_judges = LabelEvent.objects.filter(assignment__rater__kind=Rater.Kind.JUDGE)
    for judge, row, answer in of_judges.values_list("assignment__rater__code", "assignment__row__name", "after__key"):
        judged.setdefault((judge, row), []).append(answer)
    submitted = Assignment.objects.filter(rater__study__slug="cells", state="submitted").values_list("pk", flat=True)
    return Final(
        events=events,
        labels=labels,
        submitted=frozenset(submitted),
        rows=rows,
        labelled=labelled,
        planned=people,
        plans=plans,
        runs=dict(Run.objects.values_list("pk", "state")),
        judged=judged,
        expected={row: expected_of(row) for _judge, row in judged},
        unfinished=unfinished,
    )


if __name__ == "__main__":
    sys.exit(main())
