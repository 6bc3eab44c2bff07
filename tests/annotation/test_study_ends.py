"""A study that is put by, and one that is deleted for good: who may, what stands in the way, what goes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation import actions, doors, queries
from annotation.actions import Refused, deleting
from annotation.exchange import background
from annotation.models import (
    Arrival,
    AuditEvent,
    Deletion,
    DeletionPart,
    Label,
    LabelEvent,
    Membership,
    Role,
    Row,
    Sheet,
    Study,
    User,
)
from annotation.queries import undoing
from judges import actions as judging
from judges.models import Judge
from recipes.ingredient_states import demo_study as soups
from recipes.memorization import demo_study as slaws
from reports import actions as reporting
from reports.data.arrays import Filters
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.judges.helpers import LEXICAL
from work import actions as work
from work.actions import Held
from work.states import RunState


def an_empty_study(leases: Leases) -> Study:
    """A mistake: a study of the manager's with a sheet, and no label."""
    study = builders.study("mistake", of=leases.study.scheme, by=leases.manager)
    builders.sheet(study, n_rows=3)
    return study


def test_an_archived_study_leaves_the_lists_of_everybody(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    manager, anna = client_of(leases.manager), client_of(leases.anna)
    manager.post(reverse("annotation:archive-study", args=["leases"]))

    page = manager.get(reverse("annotation:studies")).content.decode()
    assert "Archived: 1" in page
    assert page.index("Archived: 1") < page.index(reverse("annotation:study", args=["leases"]))
    assert leases.sheet.title not in anna.get(reverse("annotation:my-work")).content.decode()
    assert leases.sheet.title not in anna.get(reverse("annotation:home")).content.decode()
    assert api_of(leases.manager).get(reverse("api:studies")).json() == []
    assert doors.next_in(Study.objects.get(slug="leases"), leases.manager) is None
    assert queries.next_sheet(leases.anna, builders.sheet(an_empty_study(leases), "Other")) is None
    assert "nothing is changed in it" in manager.get(reverse("annotation:study", args=["leases"])).content.decode()


def test_nothing_is_changed_in_an_archived_study(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    manager = client_of(leases.manager)
    title = {"title": "Other", "slug": "other"}
    refused = manager.post(reverse("annotation:settings", args=["leases"]), title)
    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in (page := refused.content.decode())
    assert reverse("annotation:archive-study", args=["leases"]) in page  # with the button that brings it back
    assert "This page is not for you" not in page
    assert manager.post(reverse("annotation:lens-accept", args=[leases.sheet.pk]), {}).status_code == 403
    api = api_of(leases.manager)
    assert api.post(reverse("api:decisions", args=[leases.sheet.pk]), {}, format="json").status_code == 403
    assert api.post(reverse("api:drafts", args=["leases"]), {}, format="json").status_code == 403
    with pytest.raises(Refused, match="is closed"):
        builders.label(leases.annas[0])
    assert not Label.objects.exists()


def test_nobody_joins_an_archived_study(leases: Leases, client_of: ClientOf) -> None:
    invite, token = actions.invite(study=leases.study, role=Role.MANAGER, by=leases.manager)
    actions.archive_study(study=leases.study, by=leases.manager)
    otto, url = client_of(builders.user("otto")), reverse("annotation:join", args=[token])
    for answer in (otto.get(url), otto.post(url), Client().get(url)):
        assert answer.status_code == 403
        assert "is archived, and nobody can join it" in (page := answer.content.decode())
        assert "Make it and join" not in page
        assert "Join as" not in page
    with pytest.raises(Refused, match="is archived"):
        actions.sign_up(invite=invite, username="newcomer", password="a long enough one")
    assert not User.objects.filter(username="newcomer").exists()
    actions.unarchive_study(study=leases.study, by=leases.manager)
    assert otto.post(url).status_code == 302


def test_sheets_of_an_archived_study_are_not_offered_to_be_opened(leases: Leases, client_of: ClientOf) -> None:
    manager, opened = client_of(leases.manager), reverse("annotation:open-sheet", args=["leases", leases.sheet.pk])
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)
    assert opened in manager.get(reverse("annotation:study", args=["leases"])).content.decode()
    actions.archive_study(study=leases.study, by=leases.manager)
    assert opened not in manager.get(reverse("annotation:study", args=["leases"])).content.decode()


def test_a_program_archives_a_study_reads_all_of_it_and_brings_it_back(leases: Leases, api_of: ApiOf) -> None:
    builders.label(leases.annas[0])
    frozen = reporting.freeze(study=leases.study, title="First", filters=Filters(), by=None)
    api = api_of(leases.manager)

    archived = api.post(reverse("api:archive-study", args=["leases"])).json()

    assert archived["archived_at"] == api.get(reverse("api:study", args=["leases"])).json()["archived_at"] is not None
    made = api.post(reverse("api:exports", args=["leases"]), {"form": "jsonl"}, format="json")
    assert made.status_code == 202
    assert api.post(reverse("api:cancel-export", args=["leases", made.json()["id"]])).status_code == 200
    assert api.post(reverse("api:recompute-report", args=["leases", frozen.pk])).json()["equal"]
    assert api.post(reverse("api:reports", args=["leases"]), {"title": "Second"}).status_code == 403
    assert api.post(reverse("api:bring-study-back", args=["leases"])).json()["archived_at"] is None
    builders.label(leases.annas[1])


@pytest.mark.parametrize(
    "command",
    [
        ["import_rows", "leases", "FILE"],
        ["import_labels", "leases", "FILE"],
        ["judge", "leases", "words"],
        ["retrieve", "leases"],
        ["graphs", "leases", "--bring", "FILE"],
        ["pizza_tables", "import", "leases", "TABLES", "--rater", "gold"],
    ],
    ids=lambda command: command[0],
)
def test_no_command_changes_an_archived_study(leases: Leases, tmp_path: Path, command: list[str]) -> None:
    judging.create_judge(name="words", method=Judge.Method.LEXICAL, prompt_text=LEXICAL)
    actions.archive_study(study=leases.study, by=leases.manager)
    (tmp_path / "FILE").write_text("row,label\nLease 9,yes\n", encoding="utf-8")
    (tmp_path / "TABLES").write_text("", encoding="utf-8")
    before = Row.objects.count(), Label.objects.count(), leases.study.raters.count()
    asked = [str(tmp_path / each) if each.isupper() else each for each in command]
    with pytest.raises(CommandError, match="is archived: nothing is changed in it"):
        call_command(*asked)
    assert (Row.objects.count(), Label.objects.count(), leases.study.raters.count()) == before


def test_an_archived_study_comes_back_as_it_was(leases: Leases, client_of: ClientOf) -> None:
    """A sheet that was closed before stays closed."""
    before = builders.sheet(leases.study, "Finished")
    actions.close_sheet(sheet=before, by=leases.manager)
    manager = client_of(leases.manager)
    manager.post(reverse("annotation:archive-study", args=["leases"]))
    assert not leases.study.sheets.filter(closed_at=None).exists()
    manager.post(reverse("annotation:archive-study", args=["leases"]))
    assert [sheet.title for sheet in leases.study.sheets.filter(closed_at=None)] == [leases.sheet.title]
    builders.label(leases.annas[0])
    told = AuditEvent.objects.filter(study=leases.study, kind=AuditEvent.Kind.ADMIN).order_by("pk")
    assert [event.what for event in told] == ["study archived", "study brought back"]


def test_an_empty_study_says_what_goes_and_goes_when_its_address_is_typed(leases: Leases, client_of: ClientOf) -> None:
    study, manager = an_empty_study(leases), client_of(leases.manager)
    address = reverse("annotation:delete-study", args=["mistake"])
    assert address in manager.get(reverse("annotation:settings", args=["mistake"])).content.decode()
    assert "rows: 3" in manager.get(address).content.decode()
    wrong = manager.post(address, {"address": "leases"}).content.decode()
    assert "not the address of this study" in wrong
    assert Study.objects.filter(pk=study.pk).exists()

    manager.post(address, {"address": "mistake"})
    assert not Study.objects.filter(pk=study.pk).exists()
    assert not Sheet.objects.filter(study=study.pk).exists()
    assert not Membership.objects.filter(study=study.pk).exists()
    assert Study.objects.get() == leases.study
    event = AuditEvent.objects.get(kind=AuditEvent.Kind.DELETION)
    assert event.by == leases.manager.pk
    assert event.what.startswith("study mistake: ")


def test_a_labelled_study_is_deleted_by_an_owner_alone(leases: Leases, client_of: ClientOf) -> None:
    for assignment in leases.annas:
        builders.label(assignment)
    address, typed = reverse("annotation:delete-study", args=["leases"]), {"address": "leases"}
    manager = client_of(leases.manager)
    assert "labels: 12" in manager.get(address).content.decode()
    assert "it was labelled" in manager.post(address, typed).content.decode()
    assert Study.objects.exists()

    owner = client_of(builders.user("olga", superuser=True))
    assert "labels: 12" in owner.get(address).content.decode()
    owner.post(address, typed)
    assert not Study.objects.exists()
    assert not Label.objects.exists()


def test_an_import_that_a_command_makes_holds_a_study_up(leases: Leases) -> None:
    Arrival.objects.create(study=leases.study, beat_at=timezone.now())
    owner = builders.user("otto", superuser=True)
    with pytest.raises(Refused, match="is being imported"):
        actions.archive_study(study=leases.study, by=owner)
    with pytest.raises(Refused, match="is being imported"):
        actions.delete_study(study=leases.study, by=owner)


def test_a_study_with_a_frozen_report_is_deleted_by_nobody(leases: Leases, client_of: ClientOf) -> None:
    for assignment in leases.annas:
        builders.label(assignment)
    reporting.freeze(study=leases.study, title="For the paper", filters=Filters(), by=leases.manager)
    owner = client_of(builders.user("olga", superuser=True))
    address = reverse("annotation:delete-study", args=["leases"])
    assert "frozen reports: 1" in owner.get(address).content.decode()
    assert "stays with its study" in owner.post(address, {"address": "leases"}).content.decode()
    assert Study.objects.exists()


def test_what_is_at_work_holds_a_study_up(leases: Leases, client_of: ClientOf, django_assert_num_queries: Any) -> None:
    judge = judging.create_judge(name="J", method=Judge.Method.LEXICAL, prompt_text=LEXICAL)
    builders.plan_for_judge(leases, "J", [row.pk for row in leases.sheet.rows.all()])
    run = judging.start_run(study=leases.study, judge=judge, by=leases.manager)
    found = undoing.runs_of(leases.study)
    assert found == [run]
    with django_assert_num_queries(0):
        assert found[0].maker == "J"
    owner = builders.user("olga", superuser=True)
    for deed in (actions.archive_study, actions.delete_study):
        with pytest.raises(Refused, match="is at work in this study"):
            deed(study=leases.study, by=owner)
    page = client_of(owner).get(reverse("annotation:delete-study", args=["leases"])).content.decode()
    assert run.get_absolute_url() in page
    judging.cancel_run(run=run)
    actions.delete_study(study=leases.study, by=owner)
    assert not Row.objects.exists()


@pytest.mark.parametrize("by_parts", [False, True], ids=["at once", "by parts"])
@pytest.mark.parametrize("demo", [slaws, soups], ids=["slaws", "soups"])
@pytest.mark.sample(2)
def test_a_whole_study_can_go(db: None, demo: object, by_parts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With judges' runs, pages, notes, graphs and all that packs keep: nothing but what is frozen holds it."""
    monkeypatch.setattr(deleting, "AT_ONCE", 0 if by_parts else 10**9)
    monkeypatch.setattr(deleting, "_FEW", 7)
    study = demo.build()  # type: ignore[attr-defined]
    owner = builders.user("olga", superuser=True)
    for run in undoing.runs_of(study):
        judging.cancel_run(run=run)  # type: ignore[arg-type]
    deletion = actions.delete_study(study=study, by=owner)
    assert (deletion is not None) == by_parts
    if deletion is not None:
        assert work.take_up(deletion)
    assert not Study.objects.filter(pk=study.pk).exists()


@pytest.mark.parametrize("by_parts", [False, True], ids=["at once", "by parts"])
def test_files_of_a_study_go_with_it(
    leases: Leases,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    by_parts: bool,
) -> None:
    """A download lay there for a day more, and what an import that was cancelled had brought for a week."""
    settings.PALATE_EXPORTS, settings.PALATE_UPLOADS = tmp_path / "exports", tmp_path / "uploads"
    monkeypatch.setattr(deleting, "AT_ONCE", 0 if by_parts else 10**9)
    builders.label(leases.annas[0])
    export = reporting.ask_for_export(study=leases.study, form="jsonl", filters=Filters(), by=None)
    reporting.make_export(export_id=export.pk)
    rows = SimpleUploadedFile("rows.csv", b"sheet,row")
    background.cancel_import(run=background.start_import(study=leases.study, files={"rows": rows}, by=None))
    assert [len(list(folder.iterdir())) for folder in tmp_path.iterdir()] == [1, 1]

    with django_capture_on_commit_callbacks(execute=True):
        deletion = actions.delete_study(study=leases.study, by=builders.user("olga", superuser=True))
        if deletion is not None:
            assert work.take_up(deletion)

    assert [list(folder.iterdir()) for folder in tmp_path.iterdir()] == [[], []]


# --- a large study --------------------------------------------------------------------------------------------------


@pytest.fixture
def large(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> Leases:
    """A labelled study that is too large for a page, and of which a worker deletes four rows of a table at once."""
    monkeypatch.setattr(deleting, "AT_ONCE", 20)
    monkeypatch.setattr(deleting, "_FEW", 4)
    for assignment in leases.annas:
        builders.label(assignment)
    return leases


def deleted_by_page(large: Leases, client_of: ClientOf) -> tuple[Client, Deletion]:
    owner = client_of(builders.user("olga", superuser=True))
    address = reverse("annotation:delete-study", args=["leases"])
    assert owner.post(address, {"address": "leases"})["Location"] == reverse("annotation:studies")
    return owner, Deletion.objects.get()


def test_a_large_study_is_gone_at_once_and_deleted_by_a_worker(
    large: Leases, client_of: ClientOf, api_of: ApiOf
) -> None:
    owner, deletion = deleted_by_page(large, client_of)
    assert Label.objects.count() == 12  # the page waited for nothing
    study = Study.objects.get(pk=large.study.pk)
    for who in (owner, client_of(large.manager), client_of(large.anna)):
        for slug in ("leases", study.slug):
            assert who.get(reverse("annotation:study", args=[slug])).status_code == 404
        assert who.get(reverse("annotation:sheet", args=[large.sheet.pk])).status_code == 404
        assert study.slug not in who.get(reverse("annotation:studies")).content.decode()
    assert large.sheet.title not in client_of(large.anna).get(reverse("annotation:my-work")).content.decode()
    root = User.objects.get(username="olga")
    assert api_of(root).get("/api/v1/studies/").json() == []
    assert api_of(root).get(f"/api/v1/studies/{study.slug}/").status_code == 404
    said = "“Leases” is large: a worker is deleting it. Nobody sees it any more, and it cannot be brought back."
    assert said in owner.get(reverse("annotation:studies")).content.decode()
    assert said not in client_of(large.manager).get(reverse("annotation:studies")).content.decode()
    builders.study("leases", of=large.study.scheme, by=root)  # its address is free

    assert work.take_up(deletion)
    deletion.refresh_from_db()
    assert (deletion.state, deletion.study) == (RunState.FINISHED, None)
    assert not Study.objects.filter(pk=large.study.pk).exists()
    assert not Label.objects.exists()
    assert said not in owner.get(reverse("annotation:studies")).content.decode()
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.DELETION).what.startswith("study leases: ")


def test_a_worker_that_dies_half_way_leaves_the_rest_to_another(
    large: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    _owner, deletion = deleted_by_page(large, client_of)
    there = LabelEvent.objects.count() + Label.objects.count()

    def killed(_held: Held[DeletionPart]) -> None:
        if LabelEvent.objects.count() + Label.objects.count() <= there - 8:
            raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(Held, "beat", killed)
        with pytest.raises(SystemExit):
            work.take_up(deletion)
    assert 0 < LabelEvent.objects.count() + Label.objects.count() < there
    # As it is after a SIGKILL, once the lease is over.
    part = deletion.items.get()
    now = timezone.now()
    DeletionPart.objects.filter(pk=part.pk).update(
        state="claimed", token=uuid.uuid4(), worker="elsewhere:1", lease_until=now, not_before=None, attempts=1
    )
    work.recover()
    assert work.take_up(deletion)
    deletion.refresh_from_db()
    assert deletion.state == RunState.FINISHED
    assert not Study.objects.exists()


def test_a_deletion_that_failed_says_why_and_goes_on(
    large: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, deletion = deleted_by_page(large, client_of)

    def broken(_study: Study) -> Iterator[QuerySet[Any]]:
        yield LabelEvent.objects.all()
        raise ValueError("out of order")

    with monkeypatch.context() as wrong:
        wrong.setattr(deleting, "_many", broken)
        work.take_up(deletion)
    page = owner.get(reverse("annotation:studies")).content.decode()
    assert "“Leases” is not deleted in full: A mistake in Palate: ValueError: out of order" in page
    address = reverse("annotation:resume-deletion", args=[deletion.pk])
    assert address in page
    assert client_of(large.manager).post(address).status_code == 404
    assert owner.post(address)["Location"] == reverse("annotation:studies")
    assert "It is at work already." in owner.post(address, follow=True).content.decode()
    deletion.refresh_from_db()
    assert work.take_up(deletion)
    assert not Study.objects.exists()
