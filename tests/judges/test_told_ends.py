"""The end of a judge's run, as the webhooks of its study are told of it."""

from __future__ import annotations

import pytest
from django.db import transaction

from annotation.models import Delivery, Study
from judges import actions
from judges.models import Judge, Run
from judges.runs import labelling
from llm.backends.base import BackendError
from tests.annotation.receiving import ORIGIN, deliver, made_hook, receiver
from tests.judges.helpers import fresh, work


def told() -> list[str]:
    return list(Delivery.objects.order_by("pk").values_list("event", flat=True))


def test_a_run_that_finishes_is_told_once_with_its_address(study: Study, judge: Judge, run: Run) -> None:
    with receiver() as heard:
        made_hook(study, heard.address)
        assert work(run) == 3
        assert told() == ["run.finished"]  # and none of its rows
        deliver()
        [call] = heard.told
    assert call["url"] == f"{ORIGIN}/api/v1/studies/{study.slug}/runs/{run.pk}/"
    assert call["data"] == {"run": run.pk, "judge": judge.name}


def test_a_run_that_fails_is_told_and_one_that_is_cancelled_is_not(
    study: Study, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_named: object) -> None:
        raise BackendError("The model is gone.", permanent=True)

    made_hook(study, "https://hooks.example")
    actions.cancel_run(run=run)
    assert told() == []
    actions.resume_run(run=fresh(run))
    with monkeypatch.context() as patched:
        patched.setattr(labelling, "label_row", broken)
        work(run)
    assert fresh(run).state == Run.State.FAILED
    assert told() == ["run.failed"]
    actions.resume_run(run=fresh(run))
    with transaction.atomic():
        work(run)
    assert told() == ["run.failed", "run.finished"]
