"""A database that version ff10cfd made is migrated, and nothing in it is lost or works otherwise than it did.

`make_data` says what is in it. A migration that moves or rewrites what stands there says so here, in one line.
"""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from rest_framework.test import APIClient

from annotation.labels import history
from annotation.models import Assignment, Label, LabelEvent, Sheet, Study
from judges import actions as judging
from judges.models import Extraction, ExtractionRun, Run
from reports.models import Export, Report
from tests.judges import extractors
from tests.upgrade import facts
from work import actions as work

pytestmark = pytest.mark.django_db

# What later migrations did on purpose: old table -> its name now; (old table, column) -> the column's name now, or why
# there is none; old columns whose values are written otherwise now, and how.
TABLES: dict[str, str] = {"judges_languagemodel": "llm_languagemodel", "judges_prompt": "llm_prompt"}
COLUMNS: dict[tuple[str, str], str] = {
    ("judges_extractionrun", "sent_at"): "enqueued_at",
    ("reports_export", "asked_at"): "started_at",
    ("reports_export", "asked_by_id"): "started_by_id",
}
GONE: dict[tuple[str, str], str] = {
    ("reports_export", "done"): "how far a download is stands in its item of work",
    ("reports_export", "step"): "likewise",
}
# Tables whose rows went elsewhere: why, and where they are now.
EMPTIED: dict[str, tuple[str, str]] = {"authtoken_token": ("digests of the keys are kept alone", "accounts_apitoken")}
REWRITTEN: dict[tuple[str, str], str] = {("reports_export", "state"): "a download is a run of work, and has its states"}


def test_nothing_is_lost(then: dict[str, Any]) -> None:
    now = facts.tables()
    lost = []
    for name, was in then["tables"].items():
        table = now.get(TABLES.get(name, name), {"rows": None, "columns": {}})
        if name in EMPTIED:
            assert (table["rows"], now[EMPTIED[name][1]]["rows"]) == (0, was["rows"])
            continue
        if table["rows"] != was["rows"]:
            lost.append(f"{name}: {was['rows']} rows, now {table['rows']}")
        for column, digest in was["columns"].items():
            if (name, column) in GONE or (name, column) in REWRITTEN:
                continue
            if table["columns"].get(COLUMNS.get((name, column), column)) != digest:
                lost.append(f"{name}.{column}")
    assert not lost
    assert sum(was["rows"] for was in then["tables"].values()) > 3000


@pytest.mark.parametrize("slug", ["memorization", "transfer"])
def test_the_labels_are_exported_as_they_were_line_by_line(then: dict[str, Any], slug: str) -> None:
    """Columns have come since: about drafts, empty for what was labelled before, and about rows. Gold that was decided
    in the lens is exposed since."""
    heads, *lines = csv.reader(facts.export(Study.objects.get(slug=slug)))
    old, *then_lines = csv.reader(then["exports"][slug])
    of_drafts = [heads.index("drafted_from"), heads.index("confirmed")]
    new = {*of_drafts, heads.index("row_title"), heads.index("row_url")}

    assert {line[at] for line in lines for at in of_drafts} == {""}
    kept = [[cell for at, cell in enumerate(line) if at not in new] for line in (heads, *lines)]
    kind, exposed = old.index("rater_kind"), old.index("exposed")
    for line in then_lines:
        if line[kind] == "gold":
            line[exposed] = "yes"
    assert kept == [old, *then_lines]


def test_the_history_is_as_it_was_event_by_event(then: dict[str, Any]) -> None:
    assert facts.history() == then["history"]


def test_what_was_restored_stands_and_can_be_restored_again() -> None:
    """Nothing of Anna's pancakes has changed since a moment of them was restored."""
    [event] = LabelEvent.objects.exclude(restored_to=None).order_by("-pk")[:1]
    sheet, anna = event.assignment.row.sheet, event.assignment.rater

    assert event.restored_to is not None
    assert history.changes(sheet, to=event.at, rater=anna) == []
    assert history.changes(sheet, to=event.restored_to, rater=anna) == []
    first = LabelEvent.objects.filter(assignment__rater=anna, assignment__row__sheet=sheet).earliest("pk")
    cells = {(label.assignment_id, label.column_id, label.question_id) for label in _labels_of(anna.code, sheet)}
    changed = history.changes(sheet, to=first.at, rater=anna)
    assert {(one.assignment.pk, one.column.pk, one.question.pk) for one in changed} >= cells - {_cell(first)}


def _labels_of(code: str, sheet: Sheet) -> list[Label]:
    return list(Label.objects.filter(assignment__rater__code=code, assignment__row__sheet=sheet))


def _cell(of: Label | LabelEvent) -> tuple[int, int, int]:
    return of.assignment_id, of.column_id, of.question_id


@pytest.mark.parametrize("title", ["For the paper", "Pancakes · two classes", "Transfer"])
def test_frozen_reports_are_computed_again_to_the_same_bytes(then: dict[str, Any], title: str) -> None:
    report, out = Report.objects.get(title=title), io.StringIO()
    call_command("recompute_report", report.pk, stdout=out)

    assert "Equal: all" in out.getvalue()
    assert then["reports"][str(report.pk)] in out.getvalue()


# --- work that was in the middle -------------------------------------------------------------------------------------


def test_a_run_in_the_middle_goes_on_and_ends_right() -> None:
    """The same words were asked before by a run that had finished: so it is known what must come out."""
    run = Run.objects.get(judge__name="words-again")
    assert Counter(run.items.values_list("state", flat=True)) == {"done": 4, "claimed": 1, "queued": 6}
    done = dict(run.rater.assignments.filter(state="submitted").values_list("pk", "submitted_at"))
    said = set(_answers("words-again"))

    work.recover()
    assert Counter(run.items.values_list("state", flat=True)) == {"done": 4, "queued": 7}
    call_command("judge", "memorization", "words-again", stdout=io.StringIO(), stderr=io.StringIO())

    run.refresh_from_db()
    assert (run.state, set(run.items.values_list("state", flat=True))) == ("finished", {"done"})
    now = _answers("words-again")
    assert set(now.values()) == {1}
    assert said < set(now)
    assert set(_answers("words")) < set(now)
    assert run.rater.assignments.filter(state="submitted").count() == 11  # and one page is gone
    assert {pk: run.rater.assignments.get(pk=pk).submitted_at for pk in done} == done


def _answers(code: str) -> Counter[tuple[str, str, int, str, str]]:
    """(row, column, its place, question, option) of each label of a rater."""
    labels = Label.objects.filter(assignment__rater__code=code, assignment__rater__study__slug="memorization")
    return Counter(
        labels.values_list(
            "assignment__row__document__source", "column__name", "column__position", "question__key", "option__key"
        )
    )


def test_an_extraction_in_the_middle_goes_on_and_ends_right(monkeypatch: pytest.MonkeyPatch) -> None:
    run = ExtractionRun.objects.get(extractor__name="writer")
    assert Counter(run.items.values_list("state", flat=True)) == {"done": 4, "claimed": 1, "queued": 7}
    taken = set(Extraction.objects.filter(extractor=run.extractor).values_list("pk", "raw"))
    extractors.writes(monkeypatch, "<ingredients><ingredient>2 eggs</ingredient></ingredients>")

    call_command("extract", "memorization", "writer", stdout=io.StringIO(), stderr=io.StringIO())

    run.refresh_from_db()
    assert (run.state, set(run.items.values_list("state", flat=True))) == ("finished", {"done"})
    now = Extraction.objects.filter(extractor=run.extractor)
    assert now.count() == 11 * 2  # one document was withdrawn, and has left the run
    assert taken < set(now.values_list("pk", "raw"))


@pytest.mark.slow
def test_downloads_are_ready_or_wait_as_they_did_and_are_made(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path
    ready, waiting = Export.objects.order_by("pk")
    assert (ready.shown, ready.part.percent, ready.ended_at is not None) == ("ready", 100, True)
    assert (waiting.shown, waiting.part.percent, waiting.ended_at) == ("waiting", 0, None)

    work.take_up(waiting)

    waiting.refresh_from_db()
    assert (waiting.state, waiting.size) == ("finished", (tmp_path / waiting.file).stat().st_size)


def test_a_run_that_had_finished_is_started_again_for_what_it_lacks() -> None:
    """The plan gave it pancakes; now it gets chili as well."""
    chili = Sheet.objects.get(position=1, study__slug="memorization")
    study = chili.study
    judge = Run.objects.get(judge__name="words").judge

    run = judging.start_run(study=study, judge=judge, by=None, enqueue=False)
    while work.take_up(run):
        pass

    assert {item.assignment.row.sheet_id for item in run.items.all()} == {chili.pk}
    assert set(_answers("words").values()) == {1}


# --- people ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def anna(then: dict[str, Any]) -> Client:
    """The browser in which Anna was logged in."""
    client = Client()
    client.cookies[django_settings.SESSION_COOKIE_NAME] = then["secrets"]["session"]
    return client


def _post(client: Client, assignment: Assignment, cell: Label | LabelEvent, value: str, seen: str, key: str) -> Any:
    changes = [[assignment.pk, cell.column_id, cell.question_id, value, seen]]
    return client.post(
        reverse("annotation:record-cells", args=[assignment.row.sheet_id]),
        {"key": key, "restore": "", "changes": json.dumps(changes)},
    ).json()


def test_a_label_is_recorded_in_the_browser_that_was_open(anna: Client) -> None:
    label = Label.objects.filter(
        assignment__rater__code="A1", assignment__state="started", question__key="presence", option__key="found"
    )[0]
    events = LabelEvent.objects.count()

    said = _post(anna, label.assignment, label, "implied", "found", str(uuid.uuid4()))

    assert said["columns"] == [[label.assignment_id, label.column_id, {str(label.question_id): "implied"}]]
    assert (said["refused"], said["conflicts"]) == ([], [])
    assert Label.objects.get(pk=label.pk).option.key == "implied"
    assert LabelEvent.objects.count() == events + 1


def test_a_change_that_was_acknowledged_then_is_known_when_it_comes_again(anna: Client) -> None:
    event = LabelEvent.objects.filter(
        assignment__rater__code="A1", assignment__state="started", restored_to=None, after__isnull=False
    ).latest("pk")
    events = LabelEvent.objects.count()
    assert event.after is not None

    said = _post(anna, event.assignment, event, event.after.key, "", str(event.key))

    assert (said["key"], said["refused"], said["conflicts"]) == (str(event.key), [], [])
    assert LabelEvent.objects.count() == events


def test_a_link_of_an_invitation_and_a_token_of_a_program_are_still_good(then: dict[str, Any]) -> None:
    page = Client().get(reverse("annotation:join", args=[then["secrets"]["invitation"]]))
    assert "Recipe memorization" in page.content.decode()

    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {then['secrets']['token']}")
    assert [study["slug"] for study in program.get(reverse("api:studies")).json()] == ["memorization"]


PAGES = ["annotation:study", "annotation:board", "annotation:plan", "annotation:people", "annotation:notes"]
PAGES += ["judges:runs", "reports:report", "reports:whole", "reports:frozen-list"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_study_open(page: str, client: Client) -> None:
    study = Study.objects.get(slug="memorization")
    client.force_login(study.memberships.filter(role="manager")[0].user)

    assert client.get(reverse(page, args=[study.slug])).status_code == 200


@pytest.mark.parametrize("page", ["lens", "history"])
def test_pages_of_a_sheet_open(page: str, client: Client) -> None:
    sheet = Sheet.objects.get(position=0, study__slug="memorization")
    client.force_login(sheet.study.memberships.filter(role="manager")[0].user)

    assert client.get(reverse(f"annotation:{page}", args=[sheet.pk])).status_code == 200


# --- the tables ------------------------------------------------------------------------------------------------------


def test_the_tables_are_those_of_a_new_database(new: tuple[set[str], set[tuple[str, str]]]) -> None:
    """Squashed migrations made the new one, and what they replace this one."""
    assert facts.schema() == new[0]
    assert len(new[0]) > 1000


def test_migrations_are_recorded_as_in_a_new_database(new: tuple[set[str], set[tuple[str, str]]]) -> None:
    """So does who had applied them all before they were squashed, and nothing is done anew there."""
    assert facts.migrations() == new[1]
    squashed = MigrationExecutor(connection).loader.replacements
    for app, name in squashed:
        MigrationRecorder(connection).record_unapplied(app, name)

    executor = MigrationExecutor(connection)

    executor.loader.check_consistent_history(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    executor.check_replacements()
    assert facts.migrations() == new[1]
    assert len(squashed) >= 4


def test_the_models_need_no_other_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
