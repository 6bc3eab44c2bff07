"""How quick the lens is: seven people and two judges on the sheets of `benchmarks.grid`.

    python -m benchmarks.lens [--database URL] [--json FILE]

Every rater has answered every cell of both sheets: 9 × 5,280 labels on the large one. Of people's answers three in a
hundred stray, of judges' one in five. CPU is of the web process. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.grid import Figure, _cpu, make_sheets, prepare

PEOPLE, JUDGES = 7, 2
STRAY = {"person": 0.03, "judge": 0.2}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="URL of an empty database; SQLite in a temporary folder without it")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), args.database)
        figures = []
        for title, pk in make_sheets().items():
            fill(pk)
            for figure in measured(title, pk):
                print(figure, flush=True)
                figures.append(figure)
    if args.json:
        args.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")
    return int(any(figure.missed for figure in figures))


def fill(pk: int) -> None:
    """All labels of the sheet by all raters, and their history."""
    from annotation.models import Assignment, Label, LabelEvent, Question, Rater, Sheet

    rng = random.Random(7)
    sheet = Sheet.objects.get(pk=pk)
    cells = [
        (column, question, list(question.options.all()))
        for column in sheet.columns.all()
        for question in Question.objects.filter(section=column.section_id).prefetch_related("options")
    ]
    Label.objects.filter(column__sheet=sheet).delete()
    truth = {(row.pk, *cell[:2]): rng.choice(cell[2]) for row in sheet.rows.all() for cell in cells}
    for kind, n_raters in (("person", PEOPLE), ("judge", JUDGES)):
        for n in range(n_raters):
            rater, _made = Rater.objects.get_or_create(study=sheet.study, code=f"{kind[0].upper()}{n + 1}", kind=kind)
            Assignment.objects.bulk_create(
                Assignment(rater=rater, row=row, state=Assignment.State.STARTED) for row in sheet.rows.all()
            )
            labels = [
                Label(
                    assignment=assignment,
                    column=column,
                    question=question,
                    option=rng.choice(options)
                    if rng.random() < STRAY[kind]
                    else truth[assignment.row_id, column, question],
                    scores={"margin_nats": rng.random() * 4, "options": {}} if kind == "judge" else None,
                )
                for assignment in rater.assignments.filter(row__sheet=sheet)
                for column, question, options in cells
            ]
            Label.objects.bulk_create(labels, batch_size=500)
            LabelEvent.objects.bulk_create(
                [
                    LabelEvent(
                        assignment_id=label.assignment_id,
                        column_id=label.column_id,
                        question_id=label.question_id,
                        after_id=label.option_id,
                        key=uuid.uuid4(),
                    )
                    for label in labels
                ],
                batch_size=500,
            )


def measured(title: str, pk: int) -> Iterator[Figure]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from annotation import actions
    from annotation.lens import lens
    from annotation.models import Role, Sheet, User

    sheet = Sheet.objects.select_related("study__scheme").get(pk=pk)
    manager, _made = User.objects.get_or_create(username="manager")
    actions.add_member(study=sheet.study, user=manager, role=Role.MANAGER)
    client = Client()
    client.force_login(manager)
    row, column = sheet.rows.earliest("position"), sheet.columns.earliest("section__position", "position")
    cell = f"?row={row.pk}&column={column.pk}&question={column.section.questions.earliest('position').pk}"
    for what, address, target in (
        ("the lens", reverse("annotation:lens", args=[pk]), 1000),
        ("what is said of a cell", reverse("annotation:lens-cell", args=[pk]) + cell, 100),
        ("the history", reverse("annotation:history", args=[pk]), 200),
    ):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address).content
        yield Figure("server", f"{title}: {what}, queries", len(captured), "queries", target=25)
        seconds = _cpu(lambda address=address: client.get(address))  # type: ignore[misc]
        yield Figure("server", f"{title}: {what}, CPU", 1000 * seconds, "ms", target=target)
        yield Figure("server", f"{title}: {what}", len(page) / 1024, "KiB")
        yield Figure("server", f"{title}: {what} as it travels, gzip", len(gzip.compress(page, 6)) / 1024, "KiB")
    shown = lens.digest(lens.agreed(lens.of_sheet(sheet), judges=True))
    start = time.process_time()
    n = actions.accept_agreed(sheet=sheet, judges=True, shown=shown, by=manager)
    yield Figure("server", f"{title}: accepting {n} cells", time.process_time() - start, "s")


if __name__ == "__main__":
    sys.exit(main())
