"""Webhooks: made, changed, switched, tried, deleted; calls sent again, and old ones deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import Refused, lock_study, note
from annotation.models import AuditEvent, Delivery, Study, User, Webhook
from annotation.webhooks import outbox, signing
from annotation.webhooks.delivering import GIVEN_UP_AFTER
from work import actions as work
from work.states import ItemState

MOST = 10  # of a study
KEPT_DAYS = 30  # for which calls that are over stand in the list
# For so long the earlier secret signs too, once there is a new one.
BOTH_SIGN = timedelta(hours=24)

State = Webhook.State


@transaction.atomic
def make_webhook(
    *, study: Study, address: str, events: Sequence[str], origin: str, by: User | None
) -> tuple[Webhook, str]:
    """A webhook and its secret, which nobody is shown again. `origin`: where this installation is, as those who are
    called will ask it.

    Raises:
        Refused: there are `MOST` already.
    """
    lock_study(study.pk)
    if study.webhooks.count() >= MOST:
        raise Refused(_("A study has at most %(n)s webhooks. Delete one first.") % {"n": MOST})
    secret = signing.new_secret()
    made = Webhook.objects.create(
        study=study,
        address=address,
        events=list(events),
        origin=origin,
        secret=signing.locked_up(secret),
        started_by=by,
        state=State.FINISHED,
        ended_at=timezone.now(),
    )
    _note(made, by, "+")
    return made, secret


@transaction.atomic
def change_webhook(*, hook: Webhook, address: str, events: Sequence[str], origin: str, by: User | None) -> None:
    """What waits goes to the new address."""
    Webhook.objects.filter(pk=hook.pk).update(address=address, events=list(events), origin=origin)
    hook.refresh_from_db(fields=["address", "events", "origin"])
    _note(hook, by, "~")


@transaction.atomic
def make_secret(*, hook: Webhook, by: User | None) -> str:
    """Another secret. The one before signs too for `BOTH_SIGN`, so that no call is lost while it is taken over."""
    locked = Webhook.objects.select_for_update(no_key=True).get(pk=hook.pk)
    secret = signing.new_secret()
    locked.earlier_secret, locked.earlier_until = locked.secret, timezone.now() + BOTH_SIGN
    locked.secret = signing.locked_up(secret)
    locked.save(update_fields=["secret", "earlier_secret", "earlier_until"])
    _note(locked, by, "new secret of ")
    return secret


@transaction.atomic
def switch(*, hook: Webhook, on: bool, by: User | None) -> None:
    """Call nobody any more, or again. What happens meanwhile is never sent; what waited is, if it is younger than a
    day."""
    locked = Webhook.objects.select_for_update(no_key=True).get(pk=hook.pk)
    if locked.is_on == on:
        return
    now = timezone.now()
    if not on:
        Webhook.objects.filter(pk=hook.pk).update(state=State.CANCELLED, ended_at=now)
    else:
        waiting = locked.items.filter(state=ItemState.QUEUED)
        too_old = {"state": ItemState.FAILED, "error": _("The webhook was switched off."), "done_at": now}
        waiting.filter(wanted_at__lt=now - GIVEN_UP_AFTER).update(**too_old)
        waiting.update(not_before=now)
        # It is ended by the recovery where nothing waits.
        anew = {"error": "", "rests": 0, "rest_until": None, "failing_since": None, "queued_at": None}
        Webhook.objects.filter(pk=hook.pk).update(
            state=State.RUNNING, ended_at=None, enqueued_at=now, enqueued_times=0, **anew
        )
    _note(locked, by, "on: " if on else "off: ")


@transaction.atomic
def delete_webhook(*, hook: Webhook, by: User | None) -> None:
    """With its calls. One that a worker is at may still go out."""
    # Locked before its calls are, as by a worker whose call has failed.
    locked = Webhook.objects.select_for_update().get(pk=hook.pk)
    _note(locked, by, "-")
    locked.delete()


@transaction.atomic
def try_webhook(*, hook: Webhook) -> Delivery:
    """Send a ping, at once.

    Raises:
        Refused: it is switched off.
    """
    locked = _on(hook)
    now = timezone.now()
    ping = outbox.delivery(locked, Webhook.PING, reverse("api:study", args=[locked.study.slug]), {}, now=now)
    ping.not_before = None  # whether it rests or not
    outbox.wake([locked], now)
    work.add(locked, [ping])
    return ping


@transaction.atomic
def send_again(*, delivery: Delivery) -> None:
    """Call once more, at once, and try it for a day. Its number is the same: who has heard it can tell.

    Raises:
        Refused: the webhook is switched off.
    """
    locked = _on(delivery.run)
    now = timezone.now()
    free = locked.items.filter(pk=delivery.pk).exclude(state=ItemState.CLAIMED)  # else it is on its way
    if free.update(state=ItemState.QUEUED, attempts=0, wanted_at=now, not_before=None, error="", done_at=None):
        outbox.wake([locked], now)
        work.send_items(locked, locked.items.filter(pk=delivery.pk))


def _on(hook: Webhook) -> Webhook:
    locked = Webhook.objects.select_related("study").select_for_update(no_key=True, of=("self",)).get(pk=hook.pk)
    if not locked.is_on:
        raise Refused(_("This webhook is switched off. Switch it on first."))
    return locked


def clean_webhooks() -> int:
    """Delete calls that were over, or waited in vain, `KEPT_DAYS` ago. Returns how many."""
    before = timezone.now() - timedelta(days=KEPT_DAYS)
    old = Delivery.objects.filter(wanted_at__lt=before).exclude(state=ItemState.CLAIMED)
    return old.delete()[0]


def _note(hook: Webhook, by: User | None, done: str) -> None:
    note(AuditEvent.Kind.ADMIN, by=by, study=hook.study, what=f"{done}webhook #{hook.pk} {hook}")
