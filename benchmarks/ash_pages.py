"""Pages of a benchmark of the ASH paper's size: 4,800 recipes, rated by nine judges three times and by five people.

    python -m benchmarks.ash_pages --database sqlite:///var/ash.sqlite3

The database should be an empty one: its tables and the two studies are made first, and stay in it. Recipes are made up,
ratings simulated (`recipes.cuisine_transfer.simulation`): 388,800 of judges, 3,600 of people. Each page is asked for
four times by one process; the least of the last three is told, in seconds of CPU of the process and by the clock, with
the size of the page. `first` is what a page of the report takes where nothing of it is kept yet. Exits with 1 when a
page takes more than 0.3 s of CPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import django

from benchmarks.ash import PACK, recipe_lines

LIMIT = 0.3
SLUG = "ash"
# What each change of a number fetches, without the page around it.
PREVIEW = "a plan of recipes drawn by cuisine to ± 0.5: preview"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--database", required=True, help="its address")
    asked = arguments.parse_args()
    os.environ |= {"PALATE_ENV": "test", "DATABASE_URL": asked.database, "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    study = the_study()
    client = Client()
    client.force_login(study.memberships.filter(role="manager")[0].user)
    rater = Client()
    rater.force_login(study.raters.filter(code="P1")[0].user)
    late = [what for what, who, path in pages_of(study, client, rater) if page(what, who, path) > LIMIT]
    print(f"{len(late)} pages take more than {LIMIT:g} s of CPU{': ' if late else ''}{', '.join(late)}")
    return int(bool(late))


def pages_of(study: Any, manager: Any, rater: Any) -> Iterator[tuple[str, Any, str]]:
    from django.urls import reverse

    of_study = [study.slug]
    source = study.derived_from
    sheet = study.sheets.order_by("position")[0]
    run = source.generation_runs.order_by("pk")[0]
    yield "overview of the study", manager, reverse("annotation:study", args=of_study)
    yield "instructions", manager, reverse("benchmark:instructions", args=[source.slug])
    yield "texts: runs", manager, reverse("judges:generations", args=[source.slug])
    yield "texts: a run", manager, run.get_absolute_url()
    yield "texts: all of a run", manager, reverse("judges:generated-texts", args=[source.slug, run.pk])
    yield "texts: new", manager, reverse("judges:new-generation", args=[source.slug])
    yield "judges", manager, reverse("judges:runs", args=of_study)
    yield "the plan", manager, reverse("annotation:plan", args=of_study)
    drawn = reverse("annotation:plan", args=of_study) + "?" + urlencode(drawn_plan(study), doseq=True)
    yield PREVIEW, manager, drawn
    yield "the plan with that preview, opened anew", manager, drawn
    yield "the board", manager, reverse("annotation:board", args=of_study)
    yield "my work, of a person", rater, reverse("annotation:my-work")
    yield "a sheet, by its rater", rater, reverse("annotation:sheet", args=[sheet.pk])
    yield "the lens of a cuisine", manager, reverse("annotation:lens", args=[sheet.pk])
    yield "history of a cuisine", manager, reverse("annotation:history", args=[sheet.pk])
    yield "words of a cuisine", manager, reverse("benchmark:words", args=of_study)
    yield "words of all", manager, reverse("benchmark:words", args=of_study) + "?facet=&word="
    yield "report: first page", manager, reverse("reports:report", args=of_study)
    for name in ("questions", "judges", "people", "coverage", "methods", "whole"):
        yield f"report: {name}", manager, reverse(f"reports:{name}", args=of_study)
    for key in ("transfer.benchmark", "transfer.authenticity"):
        yield f"report: {key}", manager, reverse("reports:question", args=[study.slug, key])


def drawn_plan(study: Any) -> dict[str, Any]:
    """What the planner is asked for: of each cuisine as many recipes as let its mean be known, one person each."""
    return {
        "raters": list(study.raters.plannable().values_list("pk", flat=True)),
        "sheets": list(study.sheets.values_list("pk", flat=True)),
        "raters_per_sheet": 1,
        "share_twice": 0,
        "within": "0.5",
        "each": "each",
        "by": "cuisine",
        "seed": 1,
    }


def page(what: str, client: Any, path: str) -> float:
    """Seconds of CPU; prints a line."""
    taken = []
    for _time in range(4):
        wall, cpu = time.perf_counter(), time.process_time()
        response = client.get(path, headers={"HX-Request": "true"} if what == PREVIEW else None)
        size = len(b"".join(response) if response.streaming else response.content)
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
        if response.status_code != 200:
            print(f"{what:54} {response.status_code} {response.get('Location', '')}", flush=True)
            return 0.0
    first, best = taken[0][0], min(taken[1:])
    late = "  TOO SLOW" if best[0] > LIMIT else ""
    took = f"{best[0]:6.3f} s of CPU  {best[1]:6.3f} by the clock  first {first:6.2f}"
    print(f"{what:54} {took}  {size // 1024:5} KiB{late}", flush=True)
    return best[0]


def the_study() -> Any:
    from annotation.models import Row, Study

    if found := Study.objects.select_related("scheme", "derived_from").filter(slug=SLUG).first():
        return found
    source, table, instructions = written()
    study = rated(source, table)
    n_rows = Row.objects.filter(sheet__study=study).count()
    print(f"{n_rows:,} recipes of {len(instructions)} instructions, {len(table.labels):,} ratings", flush=True)
    return study


def written() -> tuple[Any, Any, Any]:
    """The study of instructions, to each of which six models wrote a recipe; and the simulated ratings."""
    from django.utils import timezone

    from annotation import actions
    from annotation.models import User
    from annotation.scheme.spec import load_scheme
    from judges.generating import actions as generating
    from judges.generating.planning import Wanted
    from judges.models import GenerationItem, GenerationRun
    from llm import actions as llm
    from llm.generating import wordings
    from llm.models import Generation
    from recipes.benchmark.actions import add_instructions
    from recipes.benchmark.instructions import read_instructions
    from recipes.cuisine_transfer.simulation import GENERATORS, simulate
    from work.states import ItemState, RunState

    text = (PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8")
    spec = load_scheme(text)
    scheme = actions.store_scheme(spec=spec, source=text)
    manager = User.objects.create_user("manager", "manager@localhost")
    source = actions.create_study(slug=f"{SLUG}-instructions", title="ASH: instructions", scheme=scheme, by=manager)
    instructions = read_instructions((PACK / "instructions.yaml").read_text(encoding="utf-8"), spec)
    add_instructions(study=source, instructions=instructions)
    asked = (PACK / "prompts" / "generation" / "transfer.yaml").read_text(encoding="utf-8")
    types = wordings.read(asked, known={"dish", "cuisine", "name"}, named_by=("dish", "cuisine"))
    models = [llm.store_model(name=name, location=f"/models/{n}", device="cuda") for n, name in enumerate(GENERATORS)]
    wanted = Wanted(tuple(types), per_type=1, temperature=0.7, max_new_tokens=600)
    generating.start(study=source, models=models, wanted=wanted, by=manager, enqueue=False)
    now = timezone.now()
    generations = list(Generation.objects.all())
    for number, generation in enumerate(generations):
        generation.text = "\n".join(recipe_lines(number))
        generation.finish, generation.tokens, generation.seconds, generation.written_at = "stop", 220, 9.0, now
    Generation.objects.bulk_update(generations, ["text", "finish", "tokens", "seconds", "written_at"], batch_size=100)
    GenerationItem.objects.update(state=ItemState.DONE, done_at=now, seconds=9.0)
    GenerationRun.objects.update(state=RunState.FINISHED, ended_at=now)
    table, _truth = simulate(spec, instructions)
    return source, table, instructions


def rated(source: Any, table: Any) -> Any:
    """The study of texts, with the simulated ratings at the rows of their instruction and generator."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation import actions
    from annotation.deriving.actions import derive_study
    from annotation.labels.batch import NewLabel, write_new
    from annotation.models import Assignment, Column, Option, Question, Rater, Role, Row, User
    from recipes.benchmark import deriver

    manager = source.memberships.filter(role="manager")[0].user
    study = derive_study(
        source=source, deriver=deriver.KEY, scheme=source.scheme, slug=SLUG, title="ASH",
        settings={"texts": ["all"], "seed": ["1"]}, by=manager,
    )  # fmt: skip
    now = timezone.now()

    def named(facets: Any) -> tuple[str, str, str]:
        return facets["cuisine"], facets["dish"], facets["generator"]

    rows = {named(facets): pk for pk, facets in Row.objects.filter(sheet__study=study).values_list("pk", "facets")}
    sheets = dict(Row.objects.filter(sheet__study=study).values_list("pk", "sheet_id"))
    columns = dict(Column.objects.filter(sheet__study=study).values_list("sheet_id", "pk"))
    with transaction.atomic():
        raters = []
        for entry in table.raters:
            if entry.kind == "person":
                user = User.objects.create_user(entry.code, f"{entry.code}@localhost")
                actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
                rater = Rater.objects.get(study=study, user=user)
                Rater.objects.filter(pk=rater.pk).update(code=entry.code)
            else:
                rater = Rater.objects.create(study=study, kind=entry.kind, code=entry.code, simulated=True)
            raters.append(rater)
        place = [rows[named(row.facets)] for row in table.rows]
        given = Assignment.objects.bulk_create(
            (
                Assignment(
                    rater=raters[entry.rater], row_id=place[entry.row], repeat=entry.repeat, state="submitted",
                    started_at=now, submitted_at=now,
                )
                for entry in table.assignments
            ),
            batch_size=5000,
        )  # fmt: skip
        questions = {
            number: Question.objects.get(section__scheme=study.scheme, section__key=section.key, key=question.key)
            for number, (section, question) in enumerate(table.questions)
        }
        options = {
            number: list(Option.objects.filter(question=question).order_by("position").values_list("pk", flat=True))
            for number, question in questions.items()
        }
        lines = table.labels.tolist()
        for start in range(0, len(lines), 50_000):
            write_new(
                [
                    NewLabel(
                        given[a].pk, columns[sheets[given[a].row_id]], questions[q].pk, options[q][answer], None,
                        "Its spices suit the dish." if table.raters[table.assignments[a].rater].kind == "judge" else "",
                    )
                    for a, _column, q, answer, *_rest in lines[start : start + 50_000]
                ],
                key=uuid.uuid4(),
                at=now,
            )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


if __name__ == "__main__":
    sys.exit(main())
