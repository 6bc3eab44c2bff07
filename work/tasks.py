"""Celery is one more door to the actions: a task fetches, calls an action, and decides nothing else."""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import shared_task
from celery.signals import worker_init, worker_ready

from work import actions, kinds
from work.actions.runs import TASK


@shared_task(name=TASK)
def do_items(kind: str, item_ids: list[int]) -> None:
    called = kinds.called(kind)
    actions.do_items(kind=called, item_ids=actions.shared_out(called, item_ids), gives_way=True)


@shared_task(name="work.tasks.recover", expires=60)
def recover(at_start: bool = False) -> None:
    actions.recover(at_start=at_start)


@worker_init.connect
def _keep_libraries_out_of_the_log(**_kwargs: Any) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # else a line a request
    os.environ.setdefault("TQDM_DISABLE", "1")  # heeded when tqdm is imported, which is with the first model


@worker_ready.connect
def _recover_at_start(sender: Any, **_kwargs: Any) -> None:
    # To a queue that this worker reads: a GPU worker may be the only one.
    for queue in sender.app.amqp.queues.consume_from:
        recover.apply_async(kwargs={"at_start": True}, queue=queue, expires=86_400)
