"""What a run does to one row: it is labelled, or its item says why not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Assignment
from annotation.webhooks.outbox import Event, tell
from judges.actions import spending
from judges.methods import Method
from judges.models import Judge, UnreadableAnswer, WorkItem
from judges.models import Run as JudgeRun
from judges.runs import labelling, together
from judges.runs.hearing import Overheard
from llm.backends.base import Backend, BackendError, Unavailable, another_model
from llm.engine.prompt import OnProgress
from work.actions import Held, is_last_attempt
from work.kinds import Kind
from work.models import Run
from work.outcomes import Away, ItemFailed, NotWanted, RunFailed, TryAgain
from work.states import ItemState, RunState

log = logging.getLogger(__name__)

# What another run of this judge has labelled since, or was withdrawn, is not this run's any more.
CLOSED = (Assignment.State.SUBMITTED, Assignment.State.WITHDRAWN)


def label(held: Held[WorkItem]) -> None:
    """Label the row of an item, in one transaction."""
    item = held.item
    judge, assignment = item.run.judge, item.assignment
    if assignment.state == Assignment.State.SUBMITTED:  # an earlier run was still writing it when this one was started
        with held.finishing():
            return
    if assignment.state == Assignment.State.WITHDRAWN or assignment.row.withdrawn_at:
        raise NotWanted
    spending.pause_if_spent(item.run)
    with telling_of_backends(held):
        backend: Backend | None = None
        if judge.model is not None:
            backend = labelling.backend_of(judge)
            identity = loaded(held, backend) | binding_of(held, judge, backend)
        else:
            identity = labelling.identity_without_model(judge)
        held.note_worker(identity)
        try:
            with spending.counted(held) as beat:
                found = held.found if isinstance(held.found, together.Found) else None
                heard = None if backend is None else Overheard(backend if found is None else found.beside(backend))
                labelled = labelling.label_row(
                    judge, assignment, heard, beat, item.run.corrected, before=found.asked if found else None
                )
                beat.counted(labelled.written)
                _finish(held, beat, labelled, sorted(set(heard.digests)) if heard else [])
        except (labelling.RowFailed, Refused) as failure:
            if Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.WITHDRAWN).exists():
                raise NotWanted from failure  # since it was taken up
            raise ItemFailed(str(failure)) from failure
    fed = f", {labelled.tokens:,} tokens" if backend is not None else ""
    log.info("%s: %s cells%s, %.1f s", name_of(item), len(labelled.answers), fed, held.seconds)


def _finish(
    held: Held[WorkItem], counter: spending.Counter, labelled: labelling.Labelled, asked: Sequence[str]
) -> None:
    assignment = held.item.assignment
    with held.finishing(
        cells=len(labelled.answers),
        unreadable=len(labelled.unread),
        speaks=labelled.speaks[:500],
        asked=asked,
        **counter.added,
    ):
        # One attempt's labels can be written once only.
        annotating.record_and_submit(assignment=assignment, answers=labelled.answers, key=held.key)
        # Those of an earlier, unfinished attempt go.
        UnreadableAnswer.objects.filter(assignment=assignment).delete()
        UnreadableAnswer.objects.bulk_create(
            UnreadableAnswer(
                assignment=assignment,
                column=one.column,
                question=one.question,
                why=one.why,
                raw=one.raw,
                detail=one.detail,
            )
            for one in labelled.unread
        )


def ask_together(helds: Sequence[Held[WorkItem]]) -> Iterator[None]:
    """Ask for the answers of several rows of a run in one call, and leave each with its item. Scoring goes on beside
    this thread after the `yield`; what writes is done when it is asked for."""
    first = helds[0]
    judge = first.item.run.judge
    due = [held for held in helds if held.item.assignment.state not in CLOSED]
    backend = labelling.backend_of(judge)
    loaded(first, backend)
    assignments, corrected = [held.item.assignment for held in due], first.item.run.corrected
    if Method(judge.method) == Method.CLOZE:
        scoring = together.Scoring(judge, assignments, backend, corrected=corrected)
        try:
            yield
        except GeneratorExit:
            scoring.stop()
            raise
        with spending.counted(first) as beat:
            found = scoring.end(beat)
    else:
        with spending.counted(first) as beat:
            found = together.answers(judge, assignments, backend, beat, corrected=corrected)
    for held, of_row in zip(due, found, strict=True):
        held.found = of_row


def loaded(held: Held[Any], backend: Backend) -> dict[str, str]:
    """The identity of a backend, which loads it, where it is not loaded yet. Of one that asks outside it is asked once
    a run and process."""
    if backend.asks_outside:
        return _once(held, "identity", backend, backend.identity_told)
    with _loading(held, backend):
        return backend.identity()


def binding_of(held: Held[Any], judge: Judge, backend: Backend) -> dict[str, str]:
    """How the answers of a judge are bound to a grammar, for its record; nothing where they are not."""
    if judge.method not in (Method.RATING, Method.WRITING) or not judge.prompt_spec.grammar:
        return {}
    if backend.asks_outside:
        return _once(held, "binding", backend, lambda on_progress: {"grammar": backend.binding_told(on_progress)})
    with _loading(held, backend):
        return {"grammar": backend.binding()}


def _loading(held: Held[Any], backend: Backend) -> AbstractContextManager[None]:
    """While a backend says what it is. One that is loaded takes no time for it: the lease is renewed when it is due."""
    if not backend.is_loaded:
        return held.loading()
    held.beat()
    return nullcontext()


class _Told(NamedTuple):
    """What a backend said in a run, and when the run's work had been put on the queue; `is_old`: it has said something
    else of its model in another run since."""

    said: dict[str, str]
    enqueued_at: datetime | None
    is_old: bool = False


# What was asked of whom in which run; the first of them go.
_told: dict[tuple[object, ...], _Told] = {}
_MOST_TOLD = 64


def _once(held: Held[Any], what: str, backend: Backend, ask: Callable[[OnProgress], dict[str, str]]) -> dict[str, str]:
    """What is asked of a backend in the first row of a run, and whenever its work was put on the queue anew: of one
    that was resumed, or whose server was away for long. Raises as `Held.beat`.

    Raises:
        BackendError: of a run that was not resumed it is another model by now.
    """
    run = held.item.run
    key = (what, type(run), run.pk, run.started_at, backend)
    before = _told.get(key, _Told({}, None))
    is_same = before.enqueued_at == run.enqueued_at  # nobody has resumed it
    if before.said and is_same and not before.is_old:
        return before.said
    held.hold()
    try:
        said = ask(held.beat)
        if is_same or run.enqueued_times > 1:  # its work was sent again, by nobody who resumed it
            _refuse_another(run, before.said, said)
    except BackendError as error:
        error.of_prompt = False  # no row was asked about yet
        if error.permanent:
            _told.pop(key, None)
        raise
    while len(_told) >= _MOST_TOLD:
        del _told[next(iter(_told))]
    for other, told in _told.items():
        if (other[0], other[-1]) == (what, backend) and told.said.get("served_model") != said.get("served_model"):
            _told[other] = told._replace(is_old=True)
    _told[key] = _Told(said, run.enqueued_at)
    return said


def _refuse_another(run: Run, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Of a run that nobody has resumed a server has the model that it had, or one that the run's record has.

    Raises BackendError: it has another.
    """
    of_record = [worker.get("served_model") for worker in run.provenance.get("workers", [])]
    then, model = before.get("served_model"), now.get("served_model")
    if then and model and model not in (then, *of_record):
        raise another_model(now["server"], now=model, then=then)


# Where so many items have failed and none is done, the next one's failing backend will not do any.
_FAILED_IN_VAIN = 10


@contextmanager
def telling_of_backends(held: Held[Any]) -> Iterator[None]:
    """What a model that is missing, broken or away means for the work."""
    try:
        yield
    except Unavailable as error:
        raise Away(str(error)) from error
    except BackendError as error:
        of_all = error.permanent and not error.of_prompt
        is_last = error.permanent or is_last_attempt(held.item)
        if of_all or (is_last and _all_in_vain(held.item.run)):
            raise RunFailed(str(error)) from error
        raise (ItemFailed if error.permanent else TryAgain)(str(error)) from error


def _all_in_vain(run: Run) -> bool:
    failed = run.items.filter(state=ItemState.FAILED).count() + 1
    return failed >= _FAILED_IN_VAIN and not run.items.filter(state=ItemState.DONE).exists()


def _fail_assignment(item: WorkItem, error: str) -> None:
    Assignment.objects.filter(pk=item.assignment_id).exclude(state__in=CLOSED).update(
        state=Assignment.State.FAILED, failure=error
    )


# A run that pauses is cancelled until it is resumed.
_EVENTS = {
    RunState.FINISHED: Event.RUN_FINISHED,
    RunState.FAILED: Event.RUN_FAILED,
    RunState.CANCELLED: Event.RUN_PAUSED,
}


def _tell_end(run: JudgeRun, state: RunState) -> None:
    args = [run.study.slug, run.pk]
    tell(_EVENTS[state], run.study, name="api:run", args=args, data={"run": run.pk, "judge": run.judge.name})


def name_of(item: WorkItem) -> str:
    row, repeat = item.assignment.row, item.assignment.repeat
    return f"{row.sheet.title} · {row.name}" + (f" · {repeat}" if repeat > 1 else "")


JUDGING = Kind(
    WorkItem,
    label,
    name=name_of,
    order=("attempts", "assignment__row__sheet__position", "assignment__row__position", "assignment__repeat"),
    related=("run__judge__model", "run__judge__prompt", "assignment__row__sheet", "assignment__rater"),
    batch=4,
    together=together.rows_of,
    groups=together.groups_of,
    ahead=ask_together,
    died=gettext_lazy("%(n)s workers died at this row, or fell silent."),
    is_void=Q(assignment__state__in=CLOSED) | Q(assignment__row__withdrawn_at__isnull=False),
    leaving=spending.keep,
    failed=_fail_assignment,
    ended=_tell_end,
)
