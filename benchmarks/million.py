"""A study with a million labels: import, label table, report, ZIP; and the pages of large sheets, studies and boards.

    python -m benchmarks.million --database postgresql://user@127.0.0.1/empty [--rows 100000] [--only import,zip]
    python -m benchmarks.million --database sqlite:////tmp/million.sqlite3 --rows 10000

The database should be an empty one: its tables are made first, and the study stays in it. `--rows` are labelled by ten
of 500 raters each, with one of five options. Each part runs in a process of its own, so that its peak of memory is its
own. While the import runs, a second process writes: each time it saves a label in another study and changes the people
of the imported one; the longest of these writes is what the import made others wait. Prints seconds, seconds of CPU of
the process (the database's own are not in them), and MiB; exits with 1 when a limit is passed. The limits are of a
million labels and are held as they are, whatever `--rows` says.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import django

RATERS, SHEET_ROWS, SHEETS, PEOPLE = 500, 5000, 2000, 500
SLUG, BESIDE = "million", "beside"
# Seconds, by database where the goals differ; `wait`: of a writer beside the import.
LIMITS: dict[str, dict[str, float]] = {
    "postgresql": {"import": 120, "wait": 1, "table": 10, "report": 10, "zip": 60, "page": 0.3},
    "sqlite": {"import": 240, "wait": 1, "table": 25, "report": 25, "zip": 60, "page": 0.3},
}
ZIP_MEMORY = 400  # MiB


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--database", default=os.environ.get("DATABASE_URL", ""), help="its address")
    arguments.add_argument("--rows", type=int, default=100_000)
    arguments.add_argument("--only", default=",".join(PARTS), help="parts, with commas between them")
    arguments.add_argument("--part", choices=[*PARTS, "beside"], help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if not asked.database:
        raise SystemExit("Say which database: --database")
    os.environ |= {"PALATE_ENV": "test", "DATABASE_URL": asked.database, "DJANGO_SETTINGS_MODULE": "config.settings"}
    if asked.part:
        django.setup()
        return int(beside() if asked.part == "beside" else PARTS[asked.part](asked.rows))
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    failed = 0
    for part in asked.only.split(","):
        failed |= child(part, asked.rows).wait()
    return int(bool(failed))


def child(part: str, rows: int, **how: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.million", "--database", os.environ["DATABASE_URL"]]
    return subprocess.Popen([*command, "--part", part, "--rows", str(rows)], text=True, **how)


class Measured:
    """What a part takes: seconds, and of CPU."""

    def __enter__(self) -> Measured:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_error: object) -> None:
        self.seconds, self.cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu

    def told(self, what: str, limit: str, *, more: str = "") -> int:
        from django.db import connection

        most = LIMITS[connection.vendor][limit]
        late = "  TOO SLOW" if self.seconds > most else ""
        print(
            f"{what:42} {self.seconds:8.2f} s  CPU {self.cpu:7.2f} s  peak {peak():5} MiB{more}  of {most:g} s{late}",
            flush=True,
        )
        return int(bool(late))


def peak() -> int:
    """MiB that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# --- import ----------------------------------------------------------------------------------------------------------


def do_import(rows: int) -> int:
    from annotation.exchange.label_imports import import_labels
    from annotation.exchange.label_reading import LabelImport
    from annotation.exchange.new_studies import study_from_labels
    from annotation.exchange.tables import open_table
    from benchmarks.imports import RATERS_A_ROW, labels

    small = labels(10 * RATERS_A_ROW, 20)
    table = open_table(io.BytesIO(small), name="small.csv", max_bytes=len(small))
    study_from_labels(slug=BESIDE, title="Beside", table=table, how=LabelImport(), by=None)
    # The study is there before the file comes, so that others can work in it meanwhile.
    other, _imported = study_from_labels(slug=SLUG, title="A million", table=table, how=LabelImport(), by=None)
    data = labels(rows * RATERS_A_ROW, RATERS)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        writer = child("beside", rows, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        assert writer.stdout
        assert writer.stdin
        writer.stdout.readline()  # it has begun
        with Measured() as measured:
            table = open_table(file, name="labels.csv", max_bytes=len(data))
            imported = import_labels(study=other, table=table, how=LabelImport(create=True, replace=True))
        writer.stdin.close()
        waits = sorted(float(line) for line in writer.stdout.read().split())
        writer.wait()
    if imported.labels + imported.unchanged + imported.changed != rows * RATERS_A_ROW:
        raise SystemExit(f"{imported.labels:,} labels came of {rows * RATERS_A_ROW:,}")
    failed = measured.told(f"import of {imported.labels:,} labels", "import")
    late = waits[-1] > 1
    middle = waits[len(waits) // 2]
    print(
        f"  beside it {len(waits):,} writes: median {1000 * middle:.0f} ms, longest {waits[-1]:.2f} s of 1 s"
        f"{'  TOO SLOW' if late else ''}",
        flush=True,
    )
    return failed | late


def beside() -> int:
    """Write small things until nobody listens any more; prints how long each took."""
    import select

    from django.db import transaction

    from annotation import actions
    from annotation.models import Label, Study

    label = Label.objects.filter(assignment__rater__study__slug=BESIDE).first()
    assert label is not None
    study = Study.objects.get(slug=SLUG)
    waits: list[float] = []
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        start = time.perf_counter()
        with transaction.atomic():
            Label.objects.filter(pk=label.pk).update(note=f"{start}")
        with transaction.atomic():
            actions.lock_study(study.pk)
            Study.objects.filter(pk=study.pk).update(guideline=f"{start}")
        waits.append(time.perf_counter() - start)
    print("\n".join(map(str, waits)))
    return 0


# --- report ----------------------------------------------------------------------------------------------------------


def read_table(_rows: int) -> int:
    from reports import queries
    from reports.contents import contents_from
    from reports.data.arrays import Filters

    study = the_study()
    with Measured() as measured:
        table = queries.label_table(study, Filters())
    failed = measured.told(f"label table of {len(table.labels):,} labels", "table")
    with Measured() as whole:
        contents_from(table, Filters(), "en")
    print(f"  the report from it                       {whole.seconds:8.2f} s  CPU {whole.cpu:7.2f} s", flush=True)
    return failed


def show_report(_rows: int) -> int:
    """The report's first page, opened by somebody for the first time since a label changed, and once more."""
    from django.test import Client
    from django.urls import reverse

    from annotation.models import User

    owner, _made = User.objects.get_or_create(username="million-owner", defaults={"is_superuser": True})
    client = Client()
    client.force_login(owner)
    path = reverse("reports:report", args=[SLUG])
    client.get(reverse("reports:glossary", args=[SLUG]))  # what a process does once
    failed = 0
    for what, limit in (("the report, opened first", "report"), ("the report, opened again", "page")):
        with Measured() as measured:
            response = client.get(path)
        assert response.status_code == 200, response.status_code
        failed |= measured.told(what, limit)
    return failed


def make_zip(_rows: int) -> int:
    from reports.exports.making import make_file
    from reports.models import Export

    export = Export(study=the_study(), form=Export.Form.ZIP, filters={}, language="en")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.zip"
        with Measured() as measured:
            make_file(export, path, lambda done, step: None)
        size = path.stat().st_size // 2**20
    too_large = peak() > ZIP_MEMORY
    more = f" of {ZIP_MEMORY}{'  TOO LARGE' if too_large else ''}, file of {size} MiB"
    return measured.told("ZIP", "zip", more=more) | too_large


def the_study() -> Any:
    from annotation.models import Study

    return Study.objects.select_related("scheme").get(slug=SLUG)


# --- pages -----------------------------------------------------------------------------------------------------------


def show_pages(_rows: int) -> int:
    from django.test import Client
    from django.urls import reverse

    study = large_study()
    client = Client()
    client.force_login(study.memberships.filter(role="manager")[0].user)
    large = study.sheets.get(title="Large")
    pages = {
        "board of 500 people, 2,001 sheets": reverse("annotation:board", args=[study.slug]),
        "a study with 2,001 sheets": reverse("annotation:study", args=[study.slug]),
        "my work with 2,001 sheets": reverse("annotation:my-work"),
        "people, 500": reverse("annotation:people", args=[study.slug]),
        "a sheet of 5,000 rows, by its rater": reverse("annotation:sheet", args=[large.pk]),
        "the lens on 5,000 rows": reverse("annotation:lens", args=[large.pk]),
        "history of 5,000 rows": reverse("annotation:history", args=[large.pk]),
        "the plan": reverse("annotation:plan", args=[study.slug]),
        "reassigning work": reverse("annotation:replan", args=[study.slug]),
        "more raters": reverse("annotation:more-raters", args=[study.slug]),
        "starting from another's answers": reverse("annotation:drafts", args=[study.slug]),
        "the import page": reverse("annotation:import", args=[study.slug]),
    }
    return int(sum(page(what, partial(client.get, path)) for what, path in pages.items()) > 0)  # all are shown


def large_study() -> Any:
    """500 people, one of whom manages it and labels a sheet of 5,000 rows; 2,000 sheets of two rows, each labelled by
    two of the others."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation import actions
    from annotation.labels.batch import NewLabel, write_new
    from annotation.models import Assignment, Column, Option, Question, Rater, Role, Row, Sheet, Study, User
    from annotation.scheme.inference import infer_scheme
    from annotation.scheme.spec import load_scheme

    if found := Study.objects.select_related("scheme").filter(slug="large").first():
        return found
    now, key = timezone.now(), uuid.uuid4()
    with transaction.atomic():
        source = infer_scheme(iter("12345"), key="large", version=1, title="Large", question="Rating", nominal=False)
        scheme = actions.store_scheme(spec=load_scheme(source), source=source)
        users = User.objects.bulk_create(User(username=f"person-{n}", email=f"p{n}@localhost") for n in range(PEOPLE))
        study = actions.create_study(slug="large", title="Large", scheme=scheme, by=users[0])
        for user in users:
            actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
        raters = list(Rater.objects.filter(study=study).order_by("pk"))
        mine = next(rater for rater in raters if rater.user_id == users[0].pk)
        large = actions.add_sheet(study=study, title="Large", columns={})
        sheets = Sheet.objects.bulk_create(Sheet(study=study, position=n + 1, title=f"S{n}") for n in range(SHEETS))
        section, question = scheme.sections.get(), Question.objects.get(section__scheme=scheme)
        facets = dict.fromkeys(section.spec.column.facets, "")
        columns = Column.objects.bulk_create(
            Column(sheet=sheet, section=section, position=0, name="", facets=facets) for sheet in sheets
        )
        column_of = {column.sheet_id: column.pk for column in [*columns, large.columns.get()]}
        rows = Row.objects.bulk_create(
            [
                *(Row(sheet=large, position=n, name=f"Row {n}") for n in range(SHEET_ROWS)),
                *(Row(sheet=sheet, position=n, name=f"Row {n}") for sheet in sheets for n in range(2)),
            ]
        )
        others = [rater for rater in raters if rater != mine]
        work = []
        for n, row in enumerate(rows):
            of_row = [mine] if row.sheet_id == large.pk else [others[n % 499], others[(n + 7) % 499]]
            work += [
                Assignment(rater=rater, row=row, state="submitted", started_at=now, submitted_at=now)
                for rater in of_row
            ]
        for assignment in work[:SHEET_ROWS:2]:
            assignment.state, assignment.started_at, assignment.submitted_at = "open", None, None
        made = Assignment.objects.bulk_create(work)
        options = list(Option.objects.filter(question=question).values_list("pk", flat=True))
        write_new(
            [
                NewLabel(a.pk, column_of[a.row.sheet_id], question.pk, options[a.pk % len(options)], None)
                for a in made
                if a.state == "submitted"
            ],
            key=key,
            at=now,
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


def page(what: str, get: Callable[[], Any]) -> int:
    get()  # templates are compiled once a process
    gc.collect()
    gc.freeze()  # as the servers do (config/gunicorn.py)
    best = None
    for _time in range(3):
        with Measured() as measured:
            response = get()
        assert response.status_code == 200, (what, response.status_code)
        size = len(b"".join(response) if response.streaming else response.content)
        best = measured if best is None or measured.seconds < best.seconds else best
    assert best is not None
    return best.told(what, "page", more=f"  {size // 1024} KiB")


PARTS: dict[str, Callable[[int], int]] = {
    "import": do_import,
    "table": read_table,
    "report": show_report,
    "zip": make_zip,
    "pages": show_pages,
}

if __name__ == "__main__":
    sys.exit(main())
