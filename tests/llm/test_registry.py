"""A backend is a class and its dotted path: nothing else names one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.actions import Refused
from judges import actions
from judges.forms import JudgeForm
from judges.models import Judge, Run
from llm import registry
from llm.backends.base import BackendError, Place, Use
from llm.models import LanguageModel
from tests.judges import helpers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ruler(settings: Any) -> str:
    settings.PALATE_BACKENDS = {"ruler": "tests.llm.toy.Shortest"}
    return "ruler"


@pytest.mark.django_db
def test_a_backend_of_the_installation_labels(ruler: str) -> None:
    study = helpers.study_of_leases(n_rows=1)
    judge = helpers.cloze_judge("a-ruler", backend=ruler, revision="2")
    run = actions.start_run(study=study, judge=judge, by=None)
    assert helpers.work(run) == 1
    assert judge.queue == "gpu"
    # The shortest options; a party that the column has not is preset.
    assert set(helpers.labels_of(run.rater).values()) == {"stated", "found", "same", "no-party"}
    assert Run.objects.get(pk=run.pk).provenance["workers"][0]["model"] == "a-ruler@2"


@pytest.mark.django_db
def test_it_can_be_chosen_on_the_page(ruler: str) -> None:
    study = helpers.study_of_leases(n_rows=1)
    choices = dict(JudgeForm(study=study).fields["backend"].choices)  # type: ignore[attr-defined]
    assert choices[ruler] == "by a ruler"
    assert list(choices)[:2] == ["transformers", "openai"]


def test_what_it_cannot_do_is_refused(ruler: str) -> None:
    model = LanguageModel(backend=ruler, location="a-ruler", revision="2")
    with pytest.raises(BackendError, match="by a ruler cannot write"):
        registry.check(model, Use.GENERATE, chat_template=False)
    with pytest.raises(BackendError, match="takes plain prompts"):
        registry.check(model, Use.SCORE, chat_template=True)
    registry.check(model, Use.SCORE, chat_template=False)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [({"revision": "2", "served_name": "x"}, "no use for: served name"), ({}, "cannot be had without: revision")],
)
def test_a_model_has_the_fields_that_its_backend_takes(ruler: str, fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        LanguageModel(backend=ruler, location="a-ruler", **fields).clean()


def test_a_backend_that_is_not_installed_is_told() -> None:
    model = LanguageModel(backend="gone", location="x")
    with pytest.raises(BackendError, match="no backend “gone”. It has: transformers, openai"):
        registry.check(model, Use.SCORE, chat_template=False)
    assert model.queue == "cpu"  # some worker has to say so
    assert model.described == [("Model", "x")]


@pytest.mark.parametrize(
    ("path", "sentence"), [("lab.nowhere.Backend", "lab"), ("llm.backends.base.Place", "no subclass")]
)
def test_a_path_that_leads_to_no_backend_stops_the_start(settings: Any, path: str, sentence: str) -> None:
    settings.PALATE_BACKENDS = {"mine": path}
    (problem,) = registry.problems(None)
    assert sentence in problem.msg
    assert problem.is_serious()


@pytest.mark.django_db
@pytest.mark.parametrize("kind", list(registry.SHIPPED))
def test_the_database_and_the_class_say_the_same_of_a_shipped_backend(kind: str) -> None:
    backend = registry.class_of(kind)
    given = {"revision": "r", "gguf_file": "g", "dtype": "float32", "device": "cuda", "served_name": "s",
             "api_key_env": "LAB_API_KEY", "requests_per_minute": 1}  # fmt: skip
    assert given.keys() == set(Place.__dataclass_fields__) - {"location"}
    needed = {name: given[name] for name in backend.requires}
    for name in given.keys() - backend.requires:
        fields = {**needed, name: given[name]}
        with transaction.atomic():
            if name in backend.takes:
                LanguageModel.objects.create(name=name, backend=kind, location="x", **fields)
            else:
                with pytest.raises(IntegrityError):
                    LanguageModel.objects.create(name=name, backend=kind, location="x", **fields)
    for name in backend.requires:
        with pytest.raises(IntegrityError), transaction.atomic():
            LanguageModel.objects.create(
                name=name, backend=kind, location="x", **{key: needed[key] for key in needed if key != name}
            )


def test_no_code_asks_for_a_kind_of_backend() -> None:
    asked = re.compile(r"is_served|backend\s*[!=]=\s*[\"'](?:openai|transformers)|TransformersBackend|OpenAIBackend")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("annotation", "config", "judges", "recipes", "reports", "templates", "work")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".html") and "migrations" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if asked.search(line)
    ]
    assert found == []


@pytest.mark.django_db
def test_what_a_judge_cannot_do_is_refused_when_it_is_made(ruler: str) -> None:
    with pytest.raises(Refused, match="cannot write"):
        helpers.rating_judge("a-ruler", backend=ruler, revision="2")
    assert not Judge.objects.exists()
