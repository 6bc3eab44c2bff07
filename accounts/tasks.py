"""Celery is one more door: a task decides nothing."""

from __future__ import annotations

from celery import shared_task

from accounts import actions


@shared_task(name="accounts.tasks.clean_sessions", expires=3600)
def clean_sessions() -> None:
    actions.clean_sessions()
