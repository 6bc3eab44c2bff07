"""Pages and doors of a study of 4,000 rows × 20 columns, which 20 people and three judges label: 289,500 labels.

    python -m benchmarks.wide --database sqlite:////tmp/wide.sqlite3 [--only board,plan] [--profile FOLDER]

The database should be an empty one: its tables and the study are made first, and stay in it. A quarter of the rows are
labelled by two people, the rest by one; each judge, simulated, labels four fifths of them. Answers are made up here:
people err in one cell of ten, judges in two. Each page is asked for by one process, so often as `--times` says; told
are seconds of CPU of the first and the least of the others, queries, and KiB. `--profile` writes what cProfile says of
one more visit of each page. Exits with 1 when a page takes more than a second of CPU, the first time or again.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import os
import pstats
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django

LIMIT = 1.0  # seconds of CPU
SLUG = "wide"
SHEETS, ROWS, COLUMNS, PEOPLE, JUDGES = 40, 100, 20, 20, 3
TWICE, OF_JUDGE = 4, 5  # each fourth row has two people; each judge leaves out each fifth row
KNOWN = {"person": 0.9, "judge": 0.8}

SCHEME = """\
key: wide
version: 1
title: Claims in reports
row:
  facets: [{key: outlet, title: Outlet}]
sections:
  - key: claims
    title: Claims
    column: {title: Claim, facets: [claim]}
    questions:
      - key: stated
        title: Stated
        about: claim
        options:
          - {key: stated, label: Stated, definition: The report says so.}
          - {key: implied, label: Implied, definition: The report takes it for granted.}
          - {key: absent, label: Absent, sign: "–"}
"""
PROMPT = """\
questions:
  claims.stated:
    lexical: {in: [paragraph], same: stated, part: implied, none: absent}
"""
_SENTENCE = "The council said on Monday that a new bridge over the river will be opened for all traffic in spring."


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--database", required=True, help="its address")
    arguments.add_argument("--only", default="", help="parts of names of pages, with commas between them")
    arguments.add_argument("--times", type=int, default=3)
    arguments.add_argument("--profile", type=Path, help="a folder")
    asked = arguments.parse_args()
    os.environ |= {"PALATE_ENV": "test", "DATABASE_URL": asked.database, "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    study = the_study()
    only = [part for part in asked.only.split(",") if part]
    late = []
    for what, get in pages_of(study):
        if (not only or any(part in what for part in only)) and page(what, get, asked.times, asked.profile) > LIMIT:
            late.append(what)
    print(f"{len(late)} take more than {LIMIT:g} s of CPU{': ' if late else ''}{', '.join(late)}")
    return int(bool(late))


def page(what: str, get: Callable[[], Any], times: int, folder: Path | None) -> float:
    """The most seconds of CPU that a visit took, of the first and the best of the others; prints a line."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    taken, size = [], 0
    for _time in range(max(times, 1)):
        wall, cpu = time.perf_counter(), time.process_time()
        response = get()
        size = len(b"".join(response) if response.streaming else response.content)
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
        if response.status_code != 200:
            print(f"{what:52} {response.status_code} {response.get('Location', '')}", flush=True)
            return 0.0
    with CaptureQueriesContext(connection) as captured:
        if folder is not None:
            profiled(get, folder / f"{what.replace('/', ' ')}.txt")
        elif times > 1:
            get()
    again = min(taken[1:], default=taken[0])
    late = "  TOO SLOW" if max(taken[0][0], again[0]) > LIMIT else ""
    took = f"first {taken[0][0]:6.2f}  again {again[0]:6.3f} s of CPU ({again[1]:6.2f} by the clock)"
    print(f"{what:52} {took}  {len(captured):3} queries  {size // 1024:6} KiB{late}", flush=True)
    return max(taken[0][0], again[0])


def profiled(get: Callable[[], Any], path: Path) -> None:
    profile, told = cProfile.Profile(), io.StringIO()
    profile.runcall(lambda: sum(map(len, get())))  # what is streamed is made while it is read
    for order in ("cumulative", "tottime"):
        pstats.Stats(profile, stream=told).sort_stats(order).print_stats(45)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told.getvalue(), encoding="utf-8")


# --- pages -----------------------------------------------------------------------------------------------------------


def pages_of(study: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Those of a manager, of a researcher and of an annotator, and what pages fetch afterwards."""
    from django.test import Client
    from django.urls import reverse
    from rest_framework.test import APIClient

    from annotation.models import Assignment, Column, Question, Row
    from judges.models import Judge, Run

    manager, annotator, token = Client(), Client(), APIClient()
    user = study.memberships.filter(role="manager")[0].user
    manager.force_login(user)
    token.force_authenticate(user)
    person = study.raters.filter(kind="person").order_by("pk")[0]
    annotator.force_login(person.user)
    assignment = Assignment.objects.filter(rater=person).order_by("pk")[0]
    sheet = Row.objects.get(pk=assignment.row_id).sheet
    column = Column.objects.filter(sheet=sheet)[0]
    question = Question.objects.get(section__scheme=study.scheme)

    def of(client: Any, name: str, *more: Any, htmx: bool = False, **query: Any) -> Callable[[], Any]:
        by_sheet = name.split(":")[1] in OF_SHEET
        path = reverse(name, args=[*([] if by_sheet or name in BARE else [study.slug]), *more])
        path += f"?{urlencode(query, doseq=True)}" if query else ""
        return lambda: client.get(path, headers={"HX-Request": "true"} if htmx else None)

    for name in ("studies", "my-work"):
        yield f"manager: {name}", of(manager, f"annotation:{name}")
    for name in OF_STUDY:
        yield f"manager: {name}", of(manager, f"annotation:{name}")
    yield "manager: sheet-settings", of(manager, "annotation:sheet-settings", sheet.pk)
    people = list(study.raters.filter(kind="person").values_list("pk", flat=True))
    sheets = list(study.sheets.values_list("pk", flat=True))
    plan = {"raters": people, "sheets": sheets, "raters_per_sheet": 5, "share_twice": 25, "kappa": 0.7, "seed": 1}
    yield "manager: a plan's preview, nothing free", of(manager, "annotation:plan", htmx=True, **plan)
    leaving = {"leaving": people[:1], "takers": people[1:], "seed": 1}
    yield "manager: reassigning, preview", of(manager, "annotation:replan", htmx=True, **leaving)
    yield "manager: levelling, preview", of(manager, "annotation:replan", htmx=True, takers=people, level="on", seed=1)
    more = {"takers": people, "sheets": sheets, "seed": 1}
    for n in (2, 3, 10):
        asked = more | {"people": n}
        yield f"manager: more raters, {n} a row, preview", of(manager, "annotation:more-raters", htmx=True, **asked)
    yield (
        "manager: drafts of another",
        of(manager, "annotation:drafts", source=people[1], target=people[0], rater=people[0]),
    )
    for name in ("lens", "history"):
        yield f"manager: {name}", of(manager, f"annotation:{name}", sheet.pk)
    cell: dict[str, Any] = {"row": assignment.row_id, "column": column.pk, "question": question.pk}
    yield "manager: lens-cell", of(manager, "annotation:lens-cell", sheet.pk, **cell)
    for name in ("runs", "help", "stack", "generations"):
        yield f"manager: judges: {name}", of(manager, f"judges:{name}")
    for judge in Judge.objects.all()[:1]:
        yield "manager: judges: judge", of(manager, "judges:judge", judge.pk)
    for run in Run.objects.all()[:1]:
        yield "manager: judges: run", partial(manager.get, run.get_absolute_url())
    for name in REPORTS:
        yield f"researcher: report: {name}", of(manager, f"reports:{name}")
    yield "researcher: report: question", of(manager, "reports:question", "claims.stated")
    yield "researcher: report: judges-on", of(manager, "reports:judges-on", "claims.stated")
    some = list(study.sheets.values_list("pk", flat=True)[:4])
    yield "researcher: report: a tenth", of(manager, "reports:report", sheet=some)
    yield "researcher: report: a tenth, xlsx", of(manager, "reports:xlsx", sheet=some, by="document")
    yield "researcher: report: a tenth, labels", of(manager, "reports:labels", sheet=some)
    for name in HIRING:
        yield f"researcher: hiring: {name}", of(manager, f"reports:{name}")
    yield "annotator: my-work", of(annotator, "annotation:my-work")
    yield "annotator: studies", of(annotator, "annotation:studies")
    for name in ("sheet", "spreadsheet", "spreadsheet-file"):
        yield f"annotator: {name}", of(annotator, f"annotation:{name}", sheet.pk)
    yield "annotator: evidence", of(annotator, "annotation:evidence", assignment.pk)
    yield from api_doors(study, token)


OF_SHEET = {"lens", "history", "lens-cell", "sheet", "spreadsheet", "spreadsheet-file", "evidence"}
BARE = {"annotation:studies", "annotation:my-work"}
OF_STUDY = (
    "study", "follows", "settings", "change-scheme", "delete-study", "lineage", "board", "warnings", "plan",
    "replan", "more-raters", "drafts", "people", "audit-log", "consent", "background", "background-csv", "notes",
    "time", "import",
)  # fmt: skip
HIRING = (
    "hiring", "hiring-board", "hiring-split", "choose-judge", "suggestions", "suggestions-panel", "certify",
)  # fmt: skip
REPORTS = (
    "report", "questions", "judges", "people", "coverage", "methods", "glossary", "whole", "compare-live", "board",
    "csv", "xlsx", "labels", "frozen-list",
)  # fmt: skip


def api_doors(study: Any, client: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every address of the API that is read and wants the study alone."""
    from drf_spectacular.generators import SchemaGenerator

    schema: Any = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    for path, doors in sorted(schema["paths"].items()):
        wanted = [one for one in path.split("/") if one.startswith("{")]
        if "get" in doors and wanted in ([], ["{study}"], ["{slug}"], ["{study_slug}"]):
            address = path
            for name in wanted:
                address = address.replace(name, study.slug)
            yield f"API: {path}", partial(client.get, address)


# --- the study -------------------------------------------------------------------------------------------------------


def the_study() -> Any:
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation import actions
    from annotation.evidence.blocks import Block, blocks_to_json
    from annotation.models import Assignment, Column, Option, Question, Rater, Role, Row, Sheet, Study, User
    from annotation.scheme.spec import load_scheme
    from judges.actions import create_judge, start_run
    from judges.models import Judge, Run, WorkItem
    from work.states import ItemState, RunState

    if found := Study.objects.select_related("scheme").filter(slug=SLUG).first():
        return found
    now, rng, words = timezone.now(), random.Random(5), _SENTENCE.split()
    with transaction.atomic():
        scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
        manager = User.objects.create_user("manager", "manager@localhost")
        study = actions.create_study(slug=SLUG, title="Wide", scheme=scheme, by=manager)
        for n in range(PEOPLE):
            user = User.objects.create_user(f"person-{n}", f"p{n}@localhost")
            actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
        people = list(Rater.objects.filter(study=study, kind="person").exclude(user=manager).order_by("pk"))
        sheets = Sheet.objects.bulk_create(
            Sheet(study=study, position=n, title=f"Sheet {n + 1}") for n in range(SHEETS)
        )
        section, question = scheme.sections.get(), Question.objects.get(section__scheme=scheme)
        Column.objects.bulk_create(
            Column(sheet=sheet, section=section, position=n, name=f"claim {n}", facets={"claim": f"claim {n}"})
            for sheet in sheets
            for n in range(COLUMNS)
        )
        Row.objects.bulk_create(
            [
                Row(
                    sheet=sheet,
                    position=n,
                    name=f"Report {n + 1}",
                    title=f"Report {n + 1} of {sheet.title}",
                    facets={"outlet": f"outlet {n % 7}"},
                    evidence=blocks_to_json(
                        [Block("paragraph", " ".join(rng.choices(words, k=40))) for _paragraph in range(6)]
                    ),
                )
                for sheet in sheets
                for n in range(ROWS)
            ],
            batch_size=500,
        )
        options = list(Option.objects.filter(question=question).values_list("pk", flat=True))
        rows = list(Row.objects.filter(sheet__study=study).order_by("pk").values_list("pk", "sheet_id"))
        truth = {row: rng.choices(options, weights=(5, 2, 3), k=COLUMNS) for row, _sheet in rows}
        seats = []
        for place, (row, _sheet) in enumerate(rows):
            first = people[place % PEOPLE]
            seats.append((first, row))
            if place % TWICE == 0:
                seats.append((people[(place + 1 + place // PEOPLE % (PEOPLE - 1)) % PEOPLE], row))
        work = Assignment.objects.bulk_create(
            (
                Assignment(rater=rater, row_id=row, state="submitted", started_at=now, submitted_at=now)
                if n % 40
                else Assignment(rater=rater, row_id=row)
                for n, (rater, row) in enumerate(seats)
            ),
            batch_size=2000,
        )
    for n in range(JUDGES):
        judge = create_judge(name=f"words-{n}", method=Judge.Method.LEXICAL, prompt_text=PROMPT + "\n" * n)
        start_run(study=study, judge=judge, by=manager, enqueue=False)
    judged = Assignment.objects.filter(rater__study=study, rater__kind="judge").order_by("pk").select_related("rater")
    left = [a.pk for n, a in enumerate(judged) if n % OF_JUDGE == 0]
    with transaction.atomic():
        WorkItem.objects.update(state=ItemState.DONE, done_at=now, seconds=0.1)
        Run.objects.update(state=RunState.FINISHED, ended_at=now)
        for start in range(0, len(left), 500):
            WorkItem.objects.filter(assignment__in=left[start : start + 500]).delete()
            Assignment.objects.filter(pk__in=left[start : start + 500]).delete()
        Assignment.objects.filter(rater__study=study, rater__kind="judge").update(
            state="submitted", started_at=now, submitted_at=now
        )
        done = [a for a in work if a.state == "submitted"]
        done += Assignment.objects.filter(rater__study=study, rater__kind="judge").select_related("rater")
        write_answers(done, truth, dict(rows), question, options, rng, now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


def write_answers(
    done: list[Any], truth: dict[int, list[int]], sheet_of: dict[int, int], question: Any, options: list[int],
    rng: random.Random, now: Any,
) -> None:  # fmt: skip
    from annotation.labels.batch import NewLabel, write_new
    from annotation.models import Column

    columns: dict[int, list[int]] = {}
    for sheet, pk in Column.objects.order_by("position").values_list("sheet_id", "pk"):
        columns.setdefault(sheet, []).append(pk)
    n = 0
    for start in range(0, len(done), 2000):
        labels = [
            NewLabel(
                a.pk, column, question.pk, right if rng.random() < KNOWN[a.rater.kind] else rng.choice(options), None
            )
            for a in done[start : start + 2000]
            for column, right in zip(columns[sheet_of[a.row_id]], truth[a.row_id], strict=True)
        ]
        write_new(labels, key=uuid.uuid4(), at=now)
        n += len(labels)
    print(f"{n:,} labels", flush=True)


if __name__ == "__main__":
    sys.exit(main())
