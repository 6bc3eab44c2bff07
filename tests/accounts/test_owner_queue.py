"""What an owner reads of the queue."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import owner_queries
from annotation.models import AuditEvent, Import, ImportPart
from judges.actions import create_judge
from llm.actions import store_model
from llm.models import LanguageModel, Prompt
from tests import builders
from tests.builders import ClientOf
from tests.judges import helpers
from work import kinds

pytestmark = pytest.mark.django_db


def test_runs_are_called_as_people_call_them(client_of: ClientOf) -> None:
    Import.objects.create(
        study=builders.study(by=builders.user("mara")), what=Import.What.PAGES, files={}, language="en"
    )

    assert [(run.kind, run.n) for run in owner_queries.queue()] == [("Imports", 1)]
    shown = client_of(builders.user("olga", superuser=True)).get(reverse("accounts:owner")).content.decode()
    assert "Imports" in shown


def test_a_queue_that_nobody_reads_is_told_of(client_of: ClientOf) -> None:
    """A run stood there as running, and nothing said that no worker is there to do it."""
    owner = client_of(builders.user("olga", superuser=True))
    run = Import.objects.create(
        study=builders.study(by=builders.user("mara")), what=Import.What.PAGES, files={}, language="en"
    )
    ImportPart.objects.create(run=run)
    page = reverse("accounts:owner")
    assert "no worker has taken one" not in owner.get(page).content.decode()
    Import.objects.update(started_at=timezone.now() - timedelta(minutes=12))
    said = "On the queue “cpu” 1 pieces of work wait, and for 12 minutes no worker has taken one."
    assert said in owner.get(page).content.decode()


def test_the_page_says_how_many_prompts_it_shows(client_of: ClientOf) -> None:
    owner = client_of(builders.user("olga", superuser=True))
    for n in range(52):
        Prompt.objects.create(name=f"p{n}", text=f"Say {n}.", digest=f"{n:064}")
    assert "The last 50 of 52." in owner.get(reverse("accounts:owner")).content.decode()


def test_a_file_that_goes_while_the_storage_is_counted_is_none(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker takes messages out of the folder that is a queue; the whole page failed then."""
    settings.VAR_DIR = settings.PALATE_UPLOADS = settings.PALATE_EXPORTS = tmp_path
    (tmp_path / "stays").write_text("four")
    (tmp_path / "message").write_text("gone")
    real = Path.is_file

    def taken(path: Path) -> bool:
        found = real(path)
        if path.name == "message":
            path.unlink()
        return found

    monkeypatch.setattr(Path, "is_file", taken)
    [folder] = owner_queries.storage()["folders"]  # type: ignore[misc]
    assert (folder.files, folder.bytes) == (1, 4)


def test_every_kind_that_ships_has_a_name() -> None:
    shipped = {kind.run._meta.label for kind in kinds.every() if not kind.run.__module__.startswith("tests.")}
    assert shipped == set(owner_queries._RUNS)


def test_a_model_that_nothing_uses_is_deleted_and_another_one_stays(client_of: ClientOf) -> None:
    unused, used = (store_model(location=name) for name in ("lab/never-worked", "lab/works"))
    create_judge(name="reader", method="cloze", model=used, prompt_text=helpers.CLOZE)
    olga = builders.user("olga", superuser=True)
    owner = client_of(olga)
    shown = owner.get(reverse("accounts:owner")).content.decode()
    of_unused, of_used = (reverse("accounts:owner-delete-model", args=[model.pk]) for model in (unused, used))
    assert (of_unused in shown, of_used in shown) == (True, False)
    assert f'Delete<span class="vh"> {unused.name}</span>' in shown  # of several buttons each says which model it is

    assert f"“{unused.name}” is deleted." in owner.post(of_unused, follow=True).content.decode()
    assert "judges, extractors or texts are of it" in owner.post(of_used, follow=True).content.decode()
    assert list(LanguageModel.objects.all()) == [used]
    assert [event.what for event in AuditEvent.objects.filter(kind="deletion", by=olga.pk)] == [f"model {unused.name}"]
