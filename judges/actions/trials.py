"""Trials of judges at one cell. They leave no label."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import Refused, note_key
from annotation.models import Row, Study, User
from judges import retracing, trying
from judges.actions.work import binding_of, loaded, telling_of_backends
from judges.models import Trial, TrialItem
from judges.runs import labelling
from judges.runs.asking import RowFailed
from llm.backends.base import Backend
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import GiveUp, ItemFailed
from work.states import SHORT_WORK_PRIORITY

_KEPT = timedelta(days=1)
_NOTED_EVERY = timedelta(seconds=5)


def start_trial(
    *, study: Study, described: Mapping[str, Any], row: Row, cell: trying.Cell | None, by: User | None
) -> Trial:
    """Try a judge that `trying.described` describes on a cell of a row, the first that it would answer if none is
    given: at once where it needs no model, else in a worker. Another of the same person's is stopped, and trials of
    yesterday go.

    Raises:
        Refused: it answers no such cell.
    """
    judge = trying.judge_of(described)
    asked = trying.cells_of(judge, row)
    chosen = next((each for each in asked if cell is None or each.key == cell), None)
    if chosen is None:
        raise Refused(_("The judge's prompt does not ask about this cell."))
    with transaction.atomic():
        Trial.objects.filter(started_at__lt=timezone.now() - _KEPT).delete()
        if by is not None:
            _stop(Trial.objects.filter(started_by=by), _("Another trial was started after this one."))
        trial = Trial.objects.create(
            study=study,
            row=row,
            column=chosen.column,
            question=chosen.question,
            judge=dict(described),
            started_by=by,
        )
        note_key(model=judge.model, study=study, by=by)
        work.start(trial, [TrialItem(run=trial)], enqueue=judge.model is not None)
    if judge.model is None:
        work.take_up(trial)
    return trial


def cancel_trial(trial: Trial) -> None:
    """A worker gives it up at its next look, within seconds."""
    _stop(Trial.objects.filter(pk=trial.pk), _("It was cancelled."))


def _stop(trials: QuerySet[Trial], why: str) -> None:
    trials.filter(state=Trial.State.RUNNING).update(state=Trial.State.CANCELLED, ended_at=timezone.now(), error=why)


def note_asked(trial: Trial) -> None:
    """Somebody waits for it: written down every few seconds."""
    if trial.is_running and timezone.now() - trial.asked_at > _NOTED_EVERY:
        Trial.objects.filter(pk=trial.pk).update(asked_at=timezone.now())


def do_trial(held: Held[TrialItem]) -> None:
    """Ask the judge about the cell, and write down what came back; not where nobody waits for it any more."""
    try:
        held.hold()
        _do_trial(held)
    except GiveUp:
        unasked = Trial.objects.filter(pk=held.item.run_id).exclude(Trial.lets_end())
        _stop(unasked, _("Nobody waited for its answer any more."))
        raise


def _do_trial(held: Held[TrialItem]) -> None:
    trial = held.item.run
    judge = trying.judge_of(trial.judge)
    with telling_of_backends(held):
        backend: Backend | None = None
        if judge.model is not None:
            backend = labelling.backend_of(judge)
            held.note_worker(loaded(held, backend) | binding_of(held, judge, backend))
        cell = (trial.column_id, trial.question.key)
        given = None
        if "again" in trial.judge:
            answered = retracing.work_at(trial.study, trial.judge["again"])
            if answered is None:
                raise ItemFailed(_("No judge with a model has answered here."))
            given = retracing.given_to(answered, cell)
        try:
            found = trying.try_cell(judge, trial.row, cell, backend, held.beat, given)
        except RowFailed as failure:
            raise ItemFailed(str(failure)) from failure
    with held.finishing(found=found):
        pass


TRYING = Kind(
    TrialItem,
    do_trial,
    related=("run__study__scheme", "run__row__sheet__study__scheme", "run__column__section", "run__question"),
    fails_the_run=True,
    priority=SHORT_WORK_PRIORITY,
)
