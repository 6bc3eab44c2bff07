"""Celery is one more door: a task decides nothing."""

from __future__ import annotations

from celery import shared_task

from annotation import actions
from annotation.exchange import arrivals, uploads
from annotation.webhooks import actions as webhooks


@shared_task(name="annotation.tasks.clean_uploads", expires=3600)
def clean_uploads() -> None:
    try:
        uploads.clean()
    finally:
        arrivals.clean()


@shared_task(name="annotation.tasks.clean_audit", expires=3600)
def clean_audit() -> None:
    actions.clean_audit()


@shared_task(name="annotation.tasks.clean_webhooks", expires=3600)
def clean_webhooks() -> None:
    webhooks.clean_webhooks()
