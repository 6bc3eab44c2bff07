"""Celery is one more door to the actions."""

from __future__ import annotations

from celery import shared_task

from reports import actions
from reports.hiring import actions as hiring


@shared_task(name="reports.tasks.clean_exports", expires=3600)
def clean_exports() -> None:
    actions.clean_exports()


@shared_task(name="reports.tasks.watch_certificates", expires=300)
def watch_certificates() -> None:
    hiring.watch()
