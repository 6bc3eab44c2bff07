"""Each migration that changes data meets data that it changes.

A new one is named here by the test that fails, unless the old database has what it is for: put that in by `PUT`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, migrations
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from annotation.models import Import, Look, Note
from judges.models import ExtractionRun, Judge, Origin, Run
from recipes.cooking.models import Retrieval
from reports.models import Export
from tests.upgrade import facts
from work import kinds

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# What these do is no row's: they tell PostgreSQL's planner how many raters to remember.
ON_POSTGRESQL = {("annotation", "0010_background"), ("annotation", "0014_statistics_of_raters")}
ASKED = "Does a pinch count?"
EXAMPLES = "# Examples: of documents a to b of the study %s, seed 1, labels of gold\nquestions: {}\n"
ROWS = "# Examples: of documents 7, 8 of the study memorization, seed 1, labels abc\nquestions: {}\n"
OURS = {path.name for path in settings.BASE_DIR.iterdir() if path.is_dir()}
changed: set[tuple[str, str]] = set()


def with_examples(apps: Any) -> None:
    """Judges that say in their prompts of which study their examples are; of one nobody knows the study any more."""
    for name, study in (("of-memorization", "memorization"), ("of-nothing", "gone")):
        _judge(apps, name, EXAMPLES % study)


def with_an_erased_account(apps: Any) -> None:
    """Somebody whose account was erased while their questions and looks still said who they had been."""
    users, notes = apps.get_model("annotation", "User").objects, apps.get_model("annotation", "Note").objects
    user = users.create(username="leaving", is_active=False)
    users.filter(pk=user.pk).update(username=f"erased-{user.pk}")
    label = apps.get_model("annotation", "Label").objects.earliest("pk")
    cell = {"assignment_id": label.assignment_id, "column_id": label.column_id, "question_id": label.question_id}
    notes.filter(**cell).delete()
    notes.create(**cell, text=ASKED, author_id=user.pk)
    sheet = apps.get_model("annotation", "Sheet").objects.earliest("pk")
    apps.get_model("annotation", "Look").objects.create(sheet_id=sheet.pk, user_id=user.pk)


def with_origins(apps: Any) -> None:
    """Judges that say in their prompts of which rows their examples are; a copy, and one that says no rows."""
    origins, judges = apps.get_model("judges", "Origin").objects, apps.get_model("judges", "Judge").objects
    parent = judges.get(name="words")
    for name, how in (("shown", "examples"), ("copied", "copy"), ("weighed", "stacker")):
        _judge(apps, f"rows-{name}", ROWS if how == "examples" else f"# {name}\nquestions: {{}}\n")
        of = None if how == "stacker" else parent.pk
        origins.create(judge_id=judges.get(name=f"rows-{name}").pk, parent_id=of, how=how)


def with_an_import_at_work(apps: Any) -> None:
    """Somebody's files are being imported, and others wait for a worker."""
    study, now = apps.get_model("annotation", "Study").objects.earliest("pk"), timezone.now()
    for state in ("claimed", "queued"):
        run = apps.get_model("annotation", "Import").objects.create(study=study, what="rows", files={}, enqueued_at=now)
        held = {"token": uuid.uuid4(), "lease_until": now} if state == "claimed" else {}
        apps.get_model("annotation", "ImportPart").objects.create(run=run, state=state, **held)


def with_a_download_at_work(apps: Any) -> None:
    study = apps.get_model("annotation", "Study").objects.earliest("pk")
    run = apps.get_model("reports", "Export").objects.create(study=study, form="zip", enqueued_at=timezone.now())
    apps.get_model("reports", "ExportPart").objects.create(run=run)


def with_a_search_at_work(apps: Any) -> None:
    """Nobody has noted when it was sent."""
    sheet = apps.get_model("annotation", "Sheet").objects.earliest("pk")
    run = apps.get_model("recipes", "Retrieval").objects.create(study_id=sheet.study_id, documents=1)
    search = apps.get_model("recipes", "Search").objects.create(sheet_id=sheet.pk, engine="paper", query="pancakes")
    apps.get_model("recipes", "Visit").objects.create(run=run, search=search)


def _judge(apps: Any, name: str, text: str) -> None:
    prompts, judges = apps.get_model("llm", "Prompt").objects, apps.get_model("judges", "Judge").objects
    like = judges.filter(name="words").select_related("prompt").get()
    prompt = prompts.create(**{**_fields(like.prompt), "text": text, "digest": name.ljust(64, "0")})
    judges.create(**{**_fields(like), "name": name, "prompt_id": prompt.pk})


def _fields(of: Any) -> dict[str, Any]:
    return {field.attname: getattr(of, field.attname) for field in of._meta.concrete_fields if not field.primary_key}


PUT: dict[tuple[str, str], Callable[[Any], None] | None] = {
    # All that one squashed migration replaces is there, and half of what another one does.
    ("reports", "0004_hiring"): None,
    ("recipes", "0004_written_lines"): None,
    ("judges", "0013_examples_stay_in_their_study"): with_examples,
    ("annotation", "0015_fewer_indexes"): with_an_erased_account,
    ("judges", "0017_rows_that_judges_were_fitted_to"): with_origins,
    ("annotation", "0024_place_on_the_queue"): with_an_import_at_work,
    ("reports", "0005_place_on_the_queue"): with_a_download_at_work,
    ("recipes", "0005_place_on_the_queue"): with_a_search_at_work,
}


@pytest.fixture(scope="module")
def watched() -> Iterator[None]:
    """Which functions of migrations changed something."""
    before = migrations.RunPython.database_forwards
    changed.clear()

    def noted(self: migrations.RunPython, app_label: str, *args: Any) -> None:
        def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            done = execute(sql, params, many, context)
            if sql.startswith(("INSERT", "UPDATE", "DELETE", "ALTER")) and context["cursor"].cursor.rowcount != 0:
                changed.add((app_label, self.code.__module__.rsplit(".", 1)[1]))
            return done

        with connection.execute_wrapper(look):
            before(self, app_label, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations.RunPython, "database_forwards", noted)
        yield


def test_each_migration_of_data_changed_some() -> None:
    ours = {
        (app, name)
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if not migration.replaces  # for new databases
        and Path(str(migration.__module__).replace(".", "/")).parts[0] in OURS
        and any(isinstance(operation, migrations.RunPython) for operation in migration.operations)
    }
    if connection.vendor != "postgresql":
        ours -= ON_POSTGRESQL

    assert len(ours) >= 5
    assert ours - changed == set()


def test_who_stopped_half_way_has_the_tables_of_a_new_database(new: tuple[set[str], set[tuple[str, str]]]) -> None:
    assert (facts.schema(), facts.migrations()) == new


def test_runs_know_the_queue_of_their_models_device() -> None:
    """The old database has some of both."""
    devices = {"cuda": "gpu", "cpu": "cpu", None: "cpu"}
    runs = [*Run.objects.values_list("judge__model__device", "queue")]
    runs += ExtractionRun.objects.values_list("extractor__model__device", "queue")

    assert {queue for _device, queue in runs} == {"cpu", "gpu"}
    assert [queue for _device, queue in runs] == [devices[device] for device, _queue in runs]


def test_judges_with_examples_are_confined_to_the_study_that_they_name() -> None:
    confined = dict(Judge.objects.filter(name__startswith="of-").values_list("name", "study__slug"))
    assert confined == {"of-memorization": "memorization", "of-nothing": None}


def test_judges_know_the_rows_that_their_prompts_name() -> None:
    known = dict(Origin.objects.filter(judge__name__startswith="rows-").values_list("judge__name", "rows"))
    assert known == {"rows-shown": [7, 8], "rows-copied": [], "rows-weighed": None}


def test_what_an_erased_account_left_names_it_no_more() -> None:
    assert Note.objects.get(text=ASKED).author is None
    assert not Look.objects.filter(user__username__startswith="erased-").exists()


def test_runs_at_work_have_the_places_that_they_had() -> None:
    """Of one of which nobody noted when it was sent it is when it was started."""
    runs = [run for kind in kinds.every() if kind.awaited for run in kind.run._default_manager.all()]
    at_work = [run for run in runs if run.is_running]
    assert {type(run) for run in at_work} >= {Run, Import, Export, Retrieval}
    assert [run.queued_at for run in at_work] == [run.enqueued_at or run.started_at for run in at_work]
    assert not any(run.queued_at for run in runs if not run.is_running)
