"""Celery is one more door to the actions."""

from __future__ import annotations

from celery import shared_task

from operating import actions


@shared_task(name="operating.tasks.watch_queues", expires=60)
def watch_queues() -> None:
    actions.watch_queues()
