"""What is stored with a judge's labels has the shape that its method declares."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from annotation.models import Label
from judges import actions
from judges.methods import Method, answers, cloze, shapes
from judges.models import Judge
from judges.runs import labelling
from tests.judges import helpers
from tests.judges.helpers import ScriptedBackend, work

WRITTEN = answers.Scores(answer="OUTPUT: dough", cut=False)
OPTION = {"logprob": -1.5, "n_tokens": 2, "n_characters": 5, "unconditional": None}
SCORED = {"options": {"yes": OPTION}, "normalisation": "none", "margin_nats": 0.5, "tie": False, "unsure": False}


def test_each_method_declares_its_shape() -> None:
    assert set(shapes.SHAPES) == set(Method)


@pytest.mark.parametrize(
    ("method", "scores"),
    [(Method.CLOZE, cloze.Scores.model_validate(SCORED)), (Method.WRITING, WRITTEN), (Method.RATING, WRITTEN)],
)
def test_what_is_stored_is_read_as_it_was(method: Method, scores: Any) -> None:
    assert shapes.read(method, shapes.stored(method, scores)) == scores


@pytest.mark.parametrize(
    ("method", "scores"),
    [(Method.CLOZE, WRITTEN), (Method.WRITING, {"answer": "x", "cut": False}), (Method.LEXICAL, WRITTEN),
     (Method.RATING, None)],
)  # fmt: skip
def test_another_shape_is_not_stored(method: Method, scores: Any) -> None:
    with pytest.raises(TypeError, match=str(method)):
        shapes.stored(method, scores)


@pytest.mark.parametrize("wrong", [None, {}, {**SCORED, "more": 1}, {**SCORED, "margin_nats": "wide"}])
def test_another_shape_is_not_read(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        shapes.read(Method.CLOZE, wrong)


@pytest.mark.django_db
def test_the_labels_of_every_method_have_its_shape(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    study = helpers.study_of_leases(n_rows=1)
    judges = [helpers.cloze_judge(helpers.save_tiny_model(tmp_path)), helpers.lexical_judge()]
    for judge in judges:
        work(actions.start_run(study=study, judge=judge, by=None, enqueue=False))
    monkeypatch.setattr(labelling, "backend_of", lambda judge: ScriptedBackend(" 3\nReason: It says so."))
    judges.append(helpers.rating_judge("nobody/model"))
    work(actions.start_run(study=study, judge=judges[-1], by=None, enqueue=False))
    for judge in Judge.objects.all():
        labels = Label.objects.filter(assignment__rater__code=judge.name, preset=False)
        assert labels.exists()
        for label in labels:
            read = shapes.read(Method(judge.method), label.scores)
            assert shapes.stored(Method(judge.method), read) == label.scores
