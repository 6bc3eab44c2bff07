"""Celery is one more door to the actions."""

from __future__ import annotations

from celery import shared_task

from reports import actions


@shared_task(name=actions.TASK)
def make_export(export_id: int) -> None:
    actions.make_export(export_id=export_id)


@shared_task(name="reports.tasks.clean_exports", expires=3600)
def clean_exports() -> None:
    actions.clean_exports()
