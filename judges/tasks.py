"""Celery is one more door to the actions: a task fetches, calls an action, and decides nothing else."""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import shared_task
from celery.signals import worker_init, worker_ready

from judges import actions


@shared_task(name=actions.TASK)
def score_items(item_ids: list[int]) -> None:
    actions.score_items(item_ids=item_ids)


@shared_task(name=actions.EXTRACTION_TASK)
def extract_next(run_id: int) -> None:
    actions.extract_next(run_id=run_id, send_on=True)


@shared_task(name="judges.tasks.recover_runs", expires=60)
def recover_runs(at_start: bool = False) -> None:
    actions.recover_runs(at_start=at_start)
    actions.recover_extractions(at_start=at_start)


@worker_init.connect
def _keep_libraries_out_of_the_log(**_kwargs: Any) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # else a line a request
    os.environ.setdefault("TQDM_DISABLE", "1")  # heeded when tqdm is imported, which is with the first model


@worker_ready.connect
def _recover_at_start(sender: Any, **_kwargs: Any) -> None:
    # To a queue that this worker reads: a GPU worker may be the only one.
    for queue in sender.app.amqp.queues.consume_from:
        recover_runs.apply_async(kwargs={"at_start": True}, queue=queue, expires=86_400)
