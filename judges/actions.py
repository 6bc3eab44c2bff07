"""All writes of the judges' floor: judges, runs, and the state of the work between them and the workers."""

from __future__ import annotations

import logging
import platform
import time
import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions as annotation
from annotation.actions import Refused
from annotation.models import Assignment, Rater, Row, Sheet, Study, User
from judges import labelling, processes, prompting, queries
from judges.backends.base import Backend, BackendError, Unavailable
from judges.models import Judge, LanguageModel, Prompt, Run, WorkItem

log = logging.getLogger(__name__)

# A backend that fails in passing is asked this often for a row.
MAX_ATTEMPTS = 3
# A row at which workers die is taken up more often than a failing one, since few deaths are the row's fault: machines
# are switched off, workers are killed.
MAX_DEATHS = 5
ROWS_A_TASK = 4
TASK = "judges.tasks.score_items"
# What workers died at comes last: the others are done then, whatever is wrong with it.
_ORDER = ("attempts", "assignment__row__sheet__position", "assignment__row__position")
# A worker says nothing while it loads a model, or fetches it from the hub.
LOADING = timedelta(minutes=30)


# --- judges ---------------------------------------------------------------------------------------------------------


def store_prompt(*, name: str, text: str) -> Prompt:
    """Store a prompt file, or return the stored one with the same text.

    Raises:
        PromptError: it is no prompt file.
    """
    prompting.load_prompt(text)
    # What comes from a browser has other ends of lines than a file.
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    prompt, _created = Prompt.objects.get_or_create(
        digest=prompting.digest(text), defaults={"name": name, "text": text}
    )
    return prompt


@transaction.atomic
def create_judge(
    *,
    name: str,
    method: str,
    normalisation: str = Judge.Normalisation.NONE,
    chat_template: bool = False,
    model: LanguageModel | None = None,
    backend: str = LanguageModel.Backend.TRANSFORMERS,
    location: str = "",
    revision: str = "",
    device: str = LanguageModel.Device.CPU,
    served_name: str = "",
    api_key_env: str = "",
    requests_per_minute: int | None = None,
    prompt: Prompt | None = None,
    prompt_text: str = "",
) -> Judge:
    """Create a judge, with its model when `location` names a new one, and its prompt when only the text is given.

    Raises:
        Refused: its model is on a server, and it could not work there.
        PromptError: the text is no prompt file.
    """
    if location:
        model = _model(
            backend=backend,
            location=location,
            revision=revision,
            device=device,
            served_name=served_name,
            api_key_env=api_key_env,
            requests_per_minute=requests_per_minute,
        )
    if model is not None and model.is_served:
        try:
            labelling.check_server(model, chat_template=chat_template)
        except BackendError as error:
            raise Refused(str(error)) from error
    return Judge.objects.create(
        name=name,
        method=method,
        model=model,
        prompt=prompt or store_prompt(name=name, text=prompt_text),
        normalisation=normalisation,
        chat_template=chat_template,
    )


def _model(**named: Any) -> LanguageModel:
    """The stored model of these fields, or a new one."""
    known = LanguageModel.objects.filter(**named).first()
    if known is not None:
        return known
    made = LanguageModel(**named)
    said = (made.served_name, made.location) if made.is_served else (made.location, made.revision, made.device)
    # The end of a long path says more than its beginning.
    base = " ".join(filter(None, said))[-90:]
    taken = LanguageModel.objects.filter(name__startswith=base).count()
    made.name = f"{base} ({taken + 1})" if taken else base
    made.save()
    return made


# --- runs -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def start_run(
    *, study: Study, judge: Judge, by: User | None, sheets: Iterable[Sheet] | None = None, enqueue: bool = True
) -> Run:
    """Let a judge label all rows of the study, or of some sheets, that it has not labelled yet.

    `enqueue` False leaves the work to the caller (`take_up`); workers take it over if that goes silent.

    Raises:
        Refused: it is at work already, nothing is left for it, its prompt does not fit, or its model is missing.
    """
    try:
        prompting.check_against(
            judge.prompt.parsed, study.scheme.parsed, judge.method, normalisation=judge.normalisation
        )
        if judge.model is not None:
            labelling.check_model(judge.model, chat_template=judge.chat_template)
    except (prompting.PromptError, BackendError) as error:
        raise Refused(str(error)) from error
    rater = _only_run_of(_rater_of(study, judge))
    rows = Row.objects.filter(sheet__study=study)
    if sheets is not None:
        rows = rows.filter(sheet__in=list(sheets))
    if not rows.exists():
        raise Refused(_("There is nothing to label here yet. Import documents first."))
    rows = rows.exclude(assignments__in=rater.assignments.filter(state=Assignment.State.SUBMITTED))
    # Without the evidence, which is large.
    assignments = annotation.assign(rater=rater, rows=rows.only("pk"), sections=labelling.sections_of(judge))
    if not assignments:
        raise Refused(_("“%(judge)s” has labelled everything already.") % {"judge": judge.name})
    _forget_failures(assignments)
    run = Run.objects.create(
        study=study,
        judge=judge,
        rater=rater,
        started_by=by,
        provenance={
            "prompt": judge.prompt.text,
            "prompt_sha256": judge.prompt.digest,
            "method": judge.method,
            "normalisation": judge.normalisation,
            "chat_template": judge.chat_template,
            "workers": [],
        },
    )
    WorkItem.objects.bulk_create(WorkItem(run=run, assignment=assignment) for assignment in assignments)
    _enqueue(run, send=enqueue)
    return run


def _rater_of(study: Study, judge: Judge) -> Rater:
    Study.objects.select_for_update().get(pk=study.pk)  # of two starts at once, the second waits, and sees the first
    rater = Rater.objects.filter(study=study, kind=Rater.Kind.JUDGE, code=judge.name).first()
    if rater is None:
        if study.raters.filter(code=judge.name).exists():
            raise Refused(_("Another rater of this study has the code “%(code)s”.") % {"code": judge.name})
        rater = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=judge.name)
    elif rater.assignments.exists() and not rater.runs.exists():
        # Reports would take labels of two origins for one judge's.
        raise Refused(
            _(
                "“%(judge)s” has labels in this study that came from a file; those of a run would mix with them. "
                "Create a judge of another name and start that."
            )
            % {"judge": judge.name}
        )
    return rater


def _only_run_of(rater: Rater) -> Rater:
    if rater.runs.filter(state=Run.State.RUNNING).exists():
        raise Refused(_("“%(judge)s” is at work in this study already.") % {"judge": rater.code})
    return rater


def _forget_failures(assignments: Iterable[Assignment]) -> None:
    Assignment.objects.filter(
        pk__in=[assignment.pk for assignment in assignments], state=Assignment.State.FAILED
    ).update(state=Assignment.State.OPEN, failure="")


@transaction.atomic
def cancel_run(*, run: Run) -> None:
    """Stop a run. Rows that are done stay; a worker gives up its row at its next look, within seconds."""
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(state=Run.State.CANCELLED, ended_at=timezone.now())


@transaction.atomic
def resume_run(*, run: Run, enqueue: bool = True) -> None:
    """Go on with what has no label yet, failed rows included. `enqueue`: as for `start_run`.

    Raises:
        Refused: nothing is left, or another run of the judge is at work.
    """
    _only_run_of(_rater_of(run.study, run.judge))
    # Locked, so that the last word of a worker which was still writing is seen here.
    items = run.items.select_for_update(of=("self",)).exclude(state=WorkItem.State.DONE)
    left = {item.pk: item.assignment for item in items.select_related("assignment")}
    # What another run of this judge has labelled since is not this run's any more.
    theirs = [pk for pk, assignment in left.items() if assignment.state == Assignment.State.SUBMITTED]
    if len(theirs) == len(left):
        raise Refused(_("Nothing is left to do in this run."))
    run.items.filter(pk__in=theirs).delete()
    run.items.filter(pk__in=left.keys() - set(theirs)).update(
        state=WorkItem.State.QUEUED, attempts=0, error="", token=None, lease_until=None, not_before=None, done_at=None
    )
    _forget_failures(left.values())
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.RUNNING, ended_at=None, error="", enqueued_times=0, rests=0, rest_until=None
    )
    _enqueue(run, send=enqueue)


def _enqueue(run: Run, *, send: bool = True) -> None:
    """Put all queued items of a run on the queue, once this transaction is through."""
    Run.objects.filter(pk=run.pk).update(enqueued_at=timezone.now(), enqueued_times=F("enqueued_times") + 1)
    if send:
        _send(run, run.items.filter(state=WorkItem.State.QUEUED))


def _send(run: Run, items: QuerySet[WorkItem]) -> None:
    pks = list(items.order_by(*_ORDER).values_list("pk", flat=True))
    batches = [pks[start : start + ROWS_A_TASK] for start in range(0, len(pks), ROWS_A_TASK)]
    transaction.on_commit(partial(_publish, queue=run.judge.queue, batches=batches))


def _publish(*, queue: str, batches: Sequence[Sequence[int]]) -> None:
    for batch in batches:
        try:
            current_app.send_task(TASK, args=[batch], queue=queue)
        except Exception:  # each broker has its own
            # The run is there all the same, and recover_runs sends its work later.
            log.exception("The queue cannot be reached")
            return


# --- the work of one task -------------------------------------------------------------------------------------------


class _GiveUp(Exception):
    """The run was cancelled, or the item belongs to another worker now."""


def score_items(*, item_ids: Sequence[int]) -> int:
    """Label the rows of some work items, one transaction a row. Items that somebody else has are passed over.

    Returns how many rows were labelled. What goes wrong with a row is written to its item, and a mistake of ours to the
    log as well; the other rows go on.
    """
    done = 0
    for pk in item_ids:
        if (item := _claim(pk)) is None:
            continue
        done += _work_at(item)
        finish_run(run_id=item.run_id)
    return done


def take_up(*, run: Run) -> bool:
    """Label the next row of a run in this process; False when no row is to be had at the moment."""
    now = timezone.now()
    free = run.items.filter(state=WorkItem.State.QUEUED).filter(Q(not_before=None) | Q(not_before__lte=now))
    pk = free.order_by(*_ORDER).values_list("pk", flat=True).first()
    if pk is None:
        return False
    score_items(item_ids=[pk])
    return True


def _work_at(item: WorkItem) -> bool:
    """Label the row of a claimed item. True: it is done; False: its item says why not."""
    try:
        _label(item)
    except _GiveUp:
        _release(item)
    except (labelling.RowFailed, Refused) as failure:
        _fail(item, str(failure))
    except Unavailable as error:
        _rest(item, str(error))
    except BackendError as error:
        if error.permanent:
            _release(item)
            _end(item.run, Run.State.FAILED, error=str(error))
        else:
            _retry(item, str(error))
    except OperationalError as error:  # a database that is locked or away
        log.warning("%s: %s", _name(item), error)
        _retry(item, _("The database did not answer: %(error)s") % {"error": error})
    except Exception as error:
        log.exception("%s could not be labelled", _name(item))
        _fail(item, _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"})
    except BaseException:  # this process is told to stop
        _release(item)
        raise
    else:
        return True
    return False


def _claim(pk: int) -> WorkItem | None:
    """Take an item, if it is free; a conditional UPDATE decides between workers."""
    now, token = timezone.now(), uuid.uuid4()
    claimed = (
        WorkItem.objects.filter(pk=pk, state=WorkItem.State.QUEUED, run__in=_running())
        .filter(Q(not_before=None) | Q(not_before__lte=now))
        .update(
            state=WorkItem.State.CLAIMED,
            token=token,
            worker=processes.this_process(),
            lease_until=now + _lease(),
            not_before=None,
            attempts=F("attempts") + 1,
        )
    )
    if not claimed:
        return None
    found = WorkItem.objects.filter(pk=pk, token=token)
    return found.select_related(
        "run__judge__model", "run__judge__prompt", "assignment__row__sheet", "assignment__rater"
    ).first()


def _label(item: WorkItem) -> None:
    judge, assignment = item.run.judge, item.assignment
    if assignment.state == Assignment.State.SUBMITTED:  # an earlier run was still writing it when this one was started
        _mine(item).update(state=WorkItem.State.DONE, lease_until=None, done_at=timezone.now(), error="")
        return
    backend: Backend | None = None
    if judge.model is not None:
        _hold(item, LOADING)
        backend = labelling.backend_of(judge)
        identity = backend.identity()  # loads it, where it is not loaded yet
        _hold(item, _lease())
    else:
        identity = labelling.lexical_identity()
    _note_worker(item.run, identity)
    started = renewed = time.monotonic()

    def heartbeat(_tokens: int, _cells: int) -> None:
        """Renew the lease, at most once a second; notice a cancelled run."""
        nonlocal renewed
        if time.monotonic() - renewed >= 1:
            renewed = time.monotonic()
            _hold(item, _lease())

    labelled = labelling.label_row(judge, assignment, backend, heartbeat)
    seconds = time.monotonic() - started
    with transaction.atomic():
        mine = _still_mine(item).update(
            state=WorkItem.State.DONE,
            lease_until=None,
            done_at=timezone.now(),
            error="",
            cells=len(labelled.answers),
            tokens=labelled.tokens,
            seconds=seconds,
        )
        if not mine:
            raise _GiveUp
        # The token is the key of the change: one attempt's labels can be written once only.
        assert item.token is not None
        annotation.record(assignment=assignment, answers=labelled.answers, key=item.token)
        annotation.submit(assignment=assignment, allow_open=True)
    if item.run.rests:
        Run.objects.filter(pk=item.run_id).update(rests=0, rest_until=None)
    fed = f", {labelled.tokens:,} tokens" if backend is not None else ""
    log.info("%s: %s cells%s, %.1f s", _name(item), len(labelled.answers), fed, seconds)


def _hold(item: WorkItem, lease: timedelta) -> None:
    if not _still_mine(item).update(lease_until=timezone.now() + lease):
        raise _GiveUp


# The conditions of these stand in the UPDATE itself (a join would move them into a subquery): PostgreSQL then looks at
# them again when another worker changed the row while this one waited for it.


def _mine(item: WorkItem) -> QuerySet[WorkItem]:
    return WorkItem.objects.filter(pk=item.pk, token=item.token, state=WorkItem.State.CLAIMED)


def _still_mine(item: WorkItem) -> QuerySet[WorkItem]:
    return _mine(item).filter(run__in=_running())


def _running() -> QuerySet[Run]:
    return Run.objects.filter(state=Run.State.RUNNING)


def _release(item: WorkItem) -> None:
    """Put an item back as if it had not been taken; recover_runs sends it again."""
    _mine(item).update(
        state=WorkItem.State.QUEUED, lease_until=None, not_before=timezone.now(), attempts=F("attempts") - 1
    )


def _retry(item: WorkItem, error: str) -> None:
    """Try again later, at growing distances; the third failure is the last. recover_runs sends it when it is due."""
    if item.attempts >= MAX_ATTEMPTS:
        _fail(item, error)
        return
    wait = timedelta(seconds=10 * 2**item.attempts)
    _mine(item).update(state=WorkItem.State.QUEUED, lease_until=None, error=error, not_before=timezone.now() + wait)


def _rest(item: WorkItem, error: str) -> None:
    """Nobody is there, which is no row's fault: the whole run waits, at growing distances; the third time it fails."""
    run, now = Run.objects.get(pk=item.run_id), timezone.now()
    until = run.rest_until
    if until is None or until <= now:
        if run.rests + 1 >= MAX_ATTEMPTS:
            _release(item)
            _end(run, Run.State.FAILED, error=error)
            return
        until = now + timedelta(seconds=10 * 2 ** (run.rests + 1))
        # Of several workers that find nobody at the same time one counts.
        Run.objects.filter(pk=run.pk, rests=run.rests).update(rests=F("rests") + 1, rest_until=until)
    _mine(item).update(
        state=WorkItem.State.QUEUED, lease_until=None, error=error, not_before=until, attempts=F("attempts") - 1
    )
    waiting = WorkItem.objects.filter(run=run, state=WorkItem.State.QUEUED)
    waiting.filter(Q(not_before=None) | Q(not_before__lt=until)).update(not_before=until)


@transaction.atomic
def _fail(item: WorkItem, error: str) -> None:
    if _mine(item).update(state=WorkItem.State.FAILED, lease_until=None, error=error, done_at=timezone.now()):
        Assignment.objects.filter(pk=item.assignment_id).exclude(state=Assignment.State.SUBMITTED).update(
            state=Assignment.State.FAILED, failure=error
        )


@transaction.atomic
def _note_worker(run: Run, identity: dict[str, str]) -> None:
    """Add a worker's model and libraries to the run's record, once for all workers that are alike."""
    whole = {**identity, "python": platform.python_version()}
    if whole in run.provenance["workers"]:
        return
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if whole not in locked.provenance["workers"]:
        locked.provenance["workers"].append(whole)
        locked.save(update_fields=["provenance"])
    run.provenance = locked.provenance


def _end(run: Run, state: Run.State, *, error: str = "") -> None:
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(state=state, ended_at=timezone.now(), error=error)


def finish_run(*, run_id: int) -> None:
    """End a run in which nothing is left to do; whoever finishes last does it."""
    if queries.has_unfinished(run_id):
        return
    with transaction.atomic():
        # Locked and looked at again: it may have been cancelled and resumed in between.
        run = Run.objects.select_for_update().filter(pk=run_id, state=Run.State.RUNNING).first()
        if run is not None and not queries.has_unfinished(run_id):
            _end(run, Run.State.FINISHED)


# --- recovery -------------------------------------------------------------------------------------------------------


def recover_runs(*, at_start: bool = False) -> None:
    """Give the work of dead workers to living ones; runs at the start of each worker, and every few seconds.

    - An item whose lease ran out, or whose process on this host is gone, is queued again, a few times.
    - Items whose time to be tried again has come are sent.
    - A run that has queued work but shows no sign of life is sent once more: some queues lose what a killed worker had
      taken. At the start of a worker this is done at once.
    - A run whose last worker died between its last row and the end is ended.

    All this is harmless when it comes too early, or twice, since items are claimed.
    """
    for item in (
        WorkItem.objects.filter(state=WorkItem.State.CLAIMED)
        .select_related("run", "assignment__row__sheet")
        .defer("assignment__row__evidence")
    ):
        _take_from_the_dead(item)
    for run in Run.objects.filter(state=Run.State.RUNNING).select_related("judge__model"):
        finish_run(run_id=run.pk)
        with transaction.atomic():
            now = timezone.now()
            if queries.is_waiting(run, now=now) and (at_start or _is_quiet(run)):
                _enqueue(run)
            else:
                due = run.items.filter(state=WorkItem.State.QUEUED, not_before__lte=now)
                _send(run, due)
                due.update(not_before=None)


def _take_from_the_dead(item: WorkItem) -> None:
    assert item.lease_until is not None
    if item.lease_until > timezone.now() and not processes.is_dead(item.worker):
        return
    log.warning("%s: its worker %s is gone", _name(item), item.worker)
    if item.attempts >= MAX_DEATHS and item.run.state == Run.State.RUNNING:
        _fail(item, _("%(n)s workers died at this row, or fell silent.") % {"n": item.attempts})
    else:
        # The lease as it was read: a worker that has renewed it meanwhile is alive.
        _mine(item).filter(lease_until=item.lease_until).update(
            state=WorkItem.State.QUEUED, lease_until=None, not_before=timezone.now()
        )


def _is_quiet(run: Run) -> bool:
    """No worker has it, and the queue has had its time: longer each time, lest a long queue fills with copies."""
    assert run.enqueued_at is not None
    if run.items.filter(state=WorkItem.State.CLAIMED).exists():
        return False
    last = run.items.aggregate(last=Max("done_at"))["last"] or run.enqueued_at
    # Work that was done since the last sending says that the queue is read: from then on the patience is short again.
    times = 1 if last > run.enqueued_at else run.enqueued_times
    return timezone.now() - max(last, run.enqueued_at) > timedelta(seconds=20 * 2 ** min(times, 7))


def _lease() -> timedelta:
    return timedelta(seconds=settings.PALATE_LEASE_SECONDS)


def _name(item: WorkItem) -> str:
    return f"{item.assignment.row.sheet.title} · {item.assignment.row.name}"
