"""How long other writers wait while a worker brings in a file of tables, of graphs, or of rows and columns.

    DATABASE_URL=sqlite:////tmp/waits.sqlite3 python -m benchmarks.import_waits TABLES.jsonl.gz [--tables 744]
    DATABASE_URL=sqlite:////tmp/waits.sqlite3 python -m benchmarks.import_waits --graphs 300
    DATABASE_URL=sqlite:////tmp/waits.sqlite3 python -m benchmarks.import_waits --rows 20000 [--sheets 100]

TABLES is a file of PizzaCommonsense; `--graphs N` makes so many recipes of twelve steps, each with two graphs; `--rows
N` a file of so many documents of 1,200 characters on `--sheets` sheets, with a file of ten columns for each. One
process does the import as a worker does, all of it, from the file that was uploaded; another saves an answer of another
study as fast as it can. The database, which should be an empty one, gets its tables first. Prints the seconds of the
import, and of the saves during it how many there were, the median, the 99th of a hundred and the longest.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import multiprocessing
import os
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import django
import numpy as np

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from annotation.models import Assignment, Study

RECIPES = Path(__file__).resolve().parents[1] / "recipes"
ASKED = """\
key: waits
version: 1
title: Waits
sections:
  - key: one
    title: One
    column: {title: What, facets: [what]}
    questions:
      - key: found
        title: Found
        options: [{key: yes-it-is, label: It is}, {key: no-it-is-not, label: It is not}]
"""
STEPS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--tables", type=int, default=744)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--sheets", type=int, default=100)
    asked = parser.parse_args()
    if sum(map(bool, (asked.file, asked.graphs, asked.rows))) != 1:
        parser.error("Name a file of tables, or say how many --graphs or --rows.")
    os.environ.setdefault("PALATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    with tempfile.TemporaryDirectory() as uploads:
        settings.PALATE_UPLOADS = Path(uploads)
        call_command("migrate", verbosity=0)
        saving = somebody()
        run, what = brought(asked)
        connections.close_all()
        # Its own interpreter: one that is forked would share the connection, and threads would share one interpreter.
        of = multiprocessing.get_context("spawn")
        ready, go = of.Event(), of.Event()
        worker = of.Process(target=importing, args=(run, uploads, ready, go))
        worker.start()
        ready.wait()
        took: list[float] = []
        go.set()
        start = time.perf_counter()
        while worker.is_alive():
            took.append(save(saving, len(took)))
            time.sleep(0.005)
        seconds = time.perf_counter() - start
    if worker.exitcode:
        raise SystemExit("The import has failed.")
    median, late = np.percentile(took, [50, 99])
    print(
        f"{what}: {seconds:.1f} s; {len(took)} saves meanwhile, median {median * 1000:.0f} ms, "
        f"99th of a hundred {late * 1000:.0f} ms, longest {max(took):.2f} s"
    )


def brought(asked: argparse.Namespace) -> tuple[int, str]:
    """The import that waits to be taken up, and what it brings."""
    if asked.graphs:
        return graphs(asked.graphs), f"{asked.graphs} recipes with graphs"
    if asked.rows:
        return rows(asked.rows, asked.sheets), f"{asked.rows} rows on {asked.sheets} sheets"
    return tables(asked.file, asked.tables), f"{asked.tables} tables"


def somebody() -> Assignment:
    """Who saves: a person with one row of a study of their own."""
    from annotation import actions
    from annotation.models import Role, User

    study = stored("waits", ASKED)
    user = User.objects.create_user(f"w-{uuid.uuid4().hex[:8]}")
    actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
    sheet = actions.add_sheet(study=study, title="One", columns={"one": [{"what": "it"}]})
    row = actions.add_row(sheet=sheet, name="row", evidence=[])
    [assignment] = actions.assign(rater=study.raters.get(user=user), rows=[row])
    return assignment


def save(assignment: Assignment, n: int) -> float:
    """Seconds."""
    from annotation import actions
    from annotation.models import Option

    start = time.perf_counter()
    column = assignment.row.sheet.columns.get()
    option = Option.objects.select_related("question__section__scheme").order_by("position")
    said = option.filter(question__section=column.section_id)[n % 2]
    answer = actions.Answer(column=column, question=said.question, option=said)
    actions.record(assignment=assignment, answers=[answer], key=uuid.uuid4())
    return time.perf_counter() - start


def stored(slug: str, source: str) -> Study:
    from annotation import actions
    from annotation.scheme.spec import load_scheme

    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    return actions.create_study(slug=f"{slug}-{uuid.uuid4().hex[:8]}", title=slug, scheme=scheme, by=None)


def tables(file: Path, n: int) -> int:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from recipes.pizza_commonsense import exchange

    study = stored("pizza", (RECIPES / "pizza_commonsense/schemes/pizza-commonsense.yaml").read_text(encoding="utf-8"))
    with gzip.open(file, "rb") as lines:
        data = b"".join(itertools.islice(lines, n))
    how = {"rater": "gold", "kind": "gold", "example": True, "replace": False}
    return int(exchange.start(study=study, file=SimpleUploadedFile("tables.jsonl", data), how=how, by=None).pk)


def graphs(n: int) -> int:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from recipes.ingredient_states import exchange

    [scheme] = (RECIPES / "ingredient_states/schemes").glob("*states.yaml")
    study = stored("states", scheme.read_text(encoding="utf-8"))
    # Each step makes of what was there before, so that every graph is a chain.
    chain = [f"dough {step}" if step else "dough" for step in range(STEPS + 1)]
    answers = [[{"from": [before], "to": [after]}] for before, after in itertools.pairwise(chain)]
    told = [
        {
            "title": f"Bread {number}",
            "ingredients": ["dough"],
            "steps": [f"Knead the dough, {step}." for step in range(STEPS)],
            "graphs": [{"rater": rater, "kind": "person", "transitions": answers} for rater in ("R1", "R2")],
        }
        for number in range(n)
    ]
    file = SimpleUploadedFile("graphs.json", json.dumps({"recipes": told}).encode())
    return int(exchange.start(study=study, files=[file], replace=False, by=None).pk)


def rows(n: int, sheets: int) -> int:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from annotation.exchange import background

    text = "It is stirred until it is smooth. " * 36
    lines = (f"Sheet {k % sheets},Document {k},Title {k},{text}{k}\n" for k in range(n))
    columns = (f"Sheet {sheet},{what}\n" for sheet in range(sheets) for what in range(10))
    files = {
        "rows": SimpleUploadedFile("rows.csv", ("sheet,row,title,evidence\n" + "".join(lines)).encode()),
        "columns": SimpleUploadedFile("columns.csv", ("sheet,what\n" + "".join(columns)).encode()),
    }
    return int(background.start_import(study=stored("rows", ASKED), files=files, by=None).pk)


def importing(run: int, uploads: str, ready: Event, go: Event) -> None:
    """What the worker's process does: the import from its beginning to its end."""
    django.setup()
    from django.conf import settings

    from annotation.models import Import
    from work import actions as work

    settings.PALATE_UPLOADS = Path(uploads)
    found = Import.objects.get(pk=run)
    ready.set()
    go.wait()
    work.take_up(found)
    found.refresh_from_db()
    if found.state != "finished":
        raise SystemExit(f"{found.state}: {found.items.get().error} {found.error} {found.outcome}")


if __name__ == "__main__":
    main()
