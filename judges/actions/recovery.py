"""The work of dead workers, given to living ones."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from judges import processes, queries
from judges.actions.claims import held
from judges.actions.runs import finish_run, put_on_queue, send_items
from judges.actions.work import fail, name_of
from judges.models import Run, WorkItem

log = logging.getLogger(__name__)

# A row at which workers die is taken up more often than a failing one, since few deaths are the row's fault: machines
# are switched off, workers are killed.
MAX_DEATHS = 5


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
                put_on_queue(run)
            else:
                due = run.items.filter(state=WorkItem.State.QUEUED, not_before__lte=now)
                send_items(run, due)
                due.update(not_before=None)


def _take_from_the_dead(item: WorkItem) -> None:
    assert item.lease_until is not None
    if item.lease_until > timezone.now() and not processes.is_dead(item.worker):
        return
    log.warning("%s: its worker %s is gone", name_of(item), item.worker)
    if item.attempts >= MAX_DEATHS and item.run.state == Run.State.RUNNING:
        fail(item, _("%(n)s workers died at this row, or fell silent.") % {"n": item.attempts})
    else:
        # The lease as it was read: a worker that has renewed it meanwhile is alive.
        held(item).filter(lease_until=item.lease_until).update(
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
