"""Downloads as runs of work: cancelled, resumed, and made anew when their worker is killed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.urls import reverse
from pytest_django import Settings

from annotation.actions import Refused
from reports import actions
from reports.data.arrays import Filters
from reports.models import Export
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.workers import Site
from work import actions as work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PALATE_EXPORTS = tmp_path / "exports"
    return settings.PALATE_EXPORTS


@pytest.fixture
def asked(leases: Leases) -> Export:
    builders.label(leases.annas[0])
    return actions.ask_for_export(study=leases.study, form="zip", filters=Filters(), by=leases.researcher)


def test_how_far_it_is_can_be_seen(asked: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, str]] = []
    hold = work.Held.hold

    def watched(held: Any, *args: Any, **told: Any) -> None:
        hold(held, *args, **told)
        now = Export.objects.get()
        seen.append((now.shown, now.part.percent, now.part.step))

    monkeypatch.setattr(work.Held, "hold", watched)
    assert asked.shown == "waiting"
    actions.make_export(export_id=asked.pk)
    assert {shown for shown, _percent, _step in seen} == {"working"}
    assert [percent for _shown, percent, _step in seen] == sorted(percent for _shown, percent, _step in seen)
    assert {"tables", "labels"} <= {step for _shown, _percent, step in seen}
    made = Export.objects.get()
    assert (made.shown, made.part.percent, made.part.step) == ("ready", 100, "")


def test_cancelled_in_the_middle_and_resumed(
    leases: Leases, asked: Export, client_of: ClientOf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, make_file = client_of(leases.researcher), actions.make_file

    def cancelled(export: Export, path: Path, progress: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
        client.post(asked.get_absolute_url() + "cancel/")
        make_file(export, path, progress)

    with monkeypatch.context() as patch:
        patch.setattr(actions, "make_file", cancelled)
        actions.make_export(export_id=asked.pk)
    assert Export.objects.get().shown == "cancelled"
    assert list(folder.iterdir()) == []
    page = client.get(asked.get_absolute_url()).content.decode()
    assert "It was cancelled." in page
    assert ">Resume</button>" in page
    client.post(asked.get_absolute_url() + "resume/")
    actions.make_export(export_id=asked.pk)
    assert "It is ready" in client.get(asked.get_absolute_url()).content.decode()
    assert "It is ready already." in client.post(asked.get_absolute_url() + "resume/", follow=True).content.decode()


def test_a_download_at_work_cannot_be_resumed(asked: Export) -> None:
    with pytest.raises(Refused, match="at work already"):
        actions.resume_export(run=asked)


def test_the_same_over_the_api(leases: Leases, asked: Export, api_of: ApiOf) -> None:
    api = api_of(leases.researcher)
    names = [leases.study.slug, asked.pk]
    assert api.post(reverse("api:cancel-export", args=names)).json()["state"] == "cancelled"
    assert api.post(reverse("api:resume-export", args=names)).json()["state"] == "waiting"
    actions.make_export(export_id=asked.pk)
    assert api.get(reverse("api:export", args=names)).json()["done"] == 100
    assert api.post(reverse("api:resume-export", args=names)).status_code == 409


def test_its_file_is_a_whole_address(leases: Leases, asked: Export, api_of: ApiOf) -> None:
    """It was a path, where `next` of a list is an address that a program asks as it is."""
    api, names = api_of(leases.researcher), [leases.study.slug, asked.pk]
    assert api.get(reverse("api:export", args=names)).json()["file"] is None
    actions.make_export(export_id=asked.pk)
    told = api.get(reverse("api:export", args=names)).json()
    assert told["file"] == f"http://testserver{reverse('api:export-file', args=names)}"
    assert api.get(told["file"]).getvalue().startswith(b"PK")
    [listed] = api.get(reverse("api:exports", args=names[:1])).json()
    assert listed == told


def test_what_is_no_kind_of_download_is_told_what_there_is(leases: Leases, api_of: ApiOf) -> None:
    """“"csv" is not a valid choice.” left a program to guess."""
    refused = api_of(leases.researcher).post(reverse("api:exports", args=[leases.study.slug]), {"form": "csv"})
    assert refused.status_code == 400
    there = "zip, jsonl, label-studio, doccano, prodigy, inception, conll, wide"
    assert refused.json() == {"form": [f"“csv” is no kind of download; there are: {there}."]}


def test_a_database_that_is_locked_is_asked_again_later(asked: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_args: Any) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(actions, "make_file", locked)
        actions.make_export(export_id=asked.pk)
    assert (Export.objects.get().shown, asked.items.get().attempts) == ("waiting", 1)
    asked.items.update(not_before=None)
    actions.make_export(export_id=asked.pk)
    assert Export.objects.get().shown == "ready"


@pytest.mark.slow
def test_a_worker_that_is_killed_over_a_download_is_followed_by_another(bare_site: Site) -> None:
    bare_site.program, bare_site.table = "tests.reports.site", "reports_exportpart"
    bare_site.setup(rows=0, slow=3)
    worker = bare_site.start_worker()
    bare_site.wait_for("claimed")
    time.sleep(1)
    bare_site.kill(worker)
    bare_site.start_worker()
    bare_site.wait_for("done")
    said = bare_site.report()
    assert (said["state"], said["size"]) == ("ready", said["files"][said["file"]])
