"""What an owner reads of the queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import actions, owner_queries
from annotation.actions import Refused
from annotation.models import AuditEvent, Import, ImportPart, Study
from judges.actions import create_extractor, create_judge
from judges.generating import actions as generating
from llm.actions import store_model
from llm.models import LanguageModel, Prompt
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import ClientOf
from tests.judges import extractors, generations, helpers
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
    assert "no worker has taken any" not in owner.get(page).content.decode()
    Import.objects.update(started_at=timezone.now() - timedelta(minutes=12))
    said = "Work waits on the queue “cpu” (items: 1), and no worker has taken any for 12 min."
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


def a_judge(model: LanguageModel) -> object:
    return create_judge(name="reader", method="cloze", model=model, prompt_text=helpers.CLOZE)


def an_extractor(model: LanguageModel) -> object:
    return create_extractor(name="taker", model=model, prompt_text=extractors.PROMPT, chat_template=True)


def texts(model: LanguageModel) -> object:
    study = Study.objects.filter(slug="dishes").first() or generations.dishes()
    return generating.start(study=study, models=[model], wanted=generations.wanted(), by=None, enqueue=False)


MADE = pytest.mark.parametrize("make", [a_judge, an_extractor, texts])


@MADE
def test_of_a_model_that_somebody_has_just_deleted_nothing_is_made(
    make: Callable[[LanguageModel], object],
) -> None:
    model = store_model(location="lab/gone", device="cuda")
    gone = LanguageModel.objects.get(pk=model.pk)
    olga = builders.user("olga", superuser=True)
    actions.delete_model(model=model, by=olga)
    with pytest.raises(Refused, match=f"“{gone.name}” is deleted"):
        make(gone)
    with pytest.raises(Refused, match=f"“{gone.name}” is deleted"):
        actions.delete_model(model=gone, by=olga)


@postgresql
@MADE
@pytest.mark.django_db(transaction=True)
def test_a_model_is_deleted_or_something_is_made_of_it_and_whoever_is_second_is_told(
    make: Callable[[LanguageModel], object],
) -> None:
    """It ended in an error of the database, which looks for what a row refers to at the very end."""
    olga = builders.user("olga", superuser=True)
    generations.dishes()
    said: list[object] = []
    model = store_model(location="lab/first", device="cuda")
    with transaction.atomic():
        make(model)
        deleting = in_another_connection(lambda: actions.delete_model(model=model, by=olga), said)
        deleting.join(timeout=1)
        assert not said  # it waits
    deleting.join()
    assert [str(one) for one in said] == [f"“{model.name}” is used: judges, extractors or texts are of it."]

    other = store_model(location="lab/second", device="cuda")
    gone = LanguageModel.objects.get(pk=other.pk)
    said.clear()
    with transaction.atomic():
        actions.delete_model(model=other, by=olga)
        making = in_another_connection(lambda: make(gone), said)
        making.join(timeout=1)
        assert not said
    making.join()
    assert [str(one) for one in said] == [f"“{gone.name}” is deleted."]
