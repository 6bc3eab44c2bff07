"""What a worker does with a call of a webhook: it is posted, tried again for a day, given up."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Delivery, Membership, Role, Webhook
from annotation.people import mail
from annotation.webhooks import posting, signing
from base import ciphers
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import ItemFailed, NotWanted, TryAgain
from work.states import SHORT_WORK_PRIORITY, ItemState, RunState

# A call is tried again after so long each time, a day in all.
WAITS = (
    timedelta(seconds=20),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    *(timedelta(hours=n) for n in (1, 2, 4, 8, 8)),
)
GIVEN_UP_AFTER = timedelta(days=1)
# An address to which nothing has got through for so long is called no more.
OFF_AFTER = timedelta(days=3)
# After so many failures one after the other the webhook rests, twice as long each time, with all that waits: a server
# that is away, and is waited for each time, would keep workers from everything else.
_PATIENT, _FIRST_REST, _LONGEST_REST = 3, timedelta(seconds=30), timedelta(minutes=30)
_GONE = 410  # by which a server says that it wants no more
_HELD = timedelta(seconds=posting.SECONDS + 50)


def body_of(delivery: Delivery) -> bytes:
    """The same in each attempt."""
    return json.dumps(delivery.body, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def deliver(held: Held[Delivery]) -> None:
    """Call out what has happened. Who dies between the call and its end has called, and it is called again."""
    delivery, hook = held.item, held.item.run
    if hook.study.archived_at is not None:
        raise NotWanted
    held.hold(_HELD)
    try:
        secrets = [signing.unlocked(hook.secret)]
        if hook.signs_twice:
            secrets.append(signing.unlocked(hook.earlier_secret))
    except ciphers.Unreadable:
        sentence = _("The webhook's secret cannot be read any more: make a new one.")
        raise _failed(held, sentence, permanent=True) from None
    body, now = body_of(delivery), timezone.now()
    headers = signing.headers(secrets, number=str(delivery.number), seconds=int(now.timestamp()), body=body)
    try:
        answer = posting.post(hook.address, body, headers, inside=settings.PALATE_WEBHOOK_HOSTS, beat=held.beat)
    except posting.NotPosted as failure:
        raise _failed(held, str(failure), permanent=failure.permanent) from None
    if not answer.is_good:
        raise _failed(held, answer.sentence, status=answer.status)
    with held.finishing(status=answer.status, tried_at=now):
        pass
    # By itself: the webhook is locked before its calls, as where it is deleted. If this is lost, the next call does it.
    if hook.rests or hook.failing_since is not None:
        _recovered(hook, now)


@transaction.atomic
def _recovered(hook: Webhook, now: datetime) -> None:
    """What has waited for the webhook alone goes at once."""
    Webhook.objects.filter(pk=hook.pk).update(rests=0, rest_until=None, failing_since=None)
    hook.items.filter(state=ItemState.QUEUED, attempts=0, not_before__gt=now).update(not_before=now)


@transaction.atomic
def _failed(
    held: Held[Delivery], sentence: str, *, status: int | None = None, permanent: bool = False
) -> ItemFailed | TryAgain:
    """Write down that a call has failed, and say what becomes of it."""
    now = timezone.now()
    hook = Webhook.objects.select_for_update(no_key=True).get(pk=held.item.run_id)
    held.hold(status=status, tried_at=now)
    rests = min(hook.rests + 1, 1000)
    told: dict[str, Any] = {"rests": rests, "failing_since": hook.failing_since or now}
    waiting = hook.items.filter(state=ItemState.QUEUED)
    if rests >= _PATIENT:
        told["rest_until"] = now + min(_FIRST_REST * 2 ** min(rests - _PATIENT, 9), _LONGEST_REST)
        waiting.exclude(not_before__gt=told["rest_until"]).update(not_before=told["rest_until"])
    Webhook.objects.filter(pk=hook.pk).update(**told)
    too_old = {"state": ItemState.FAILED, "error": sentence, "done_at": now}
    waiting.filter(wanted_at__lt=now - GIVEN_UP_AFTER).update(**too_old)
    if status == _GONE:
        work.end(hook, RunState.FAILED, error=_("The server answered 410: it wants no more calls."))
    if permanent or status == _GONE or now - held.item.wanted_at >= GIVEN_UP_AFTER:
        return ItemFailed(sentence)
    return TryAgain(sentence)


def _given_up(delivery: Delivery, error: str) -> None:
    """Nothing has got through for days: nobody is called any more."""
    hook = Webhook.objects.get(pk=delivery.run_id)
    if hook.failing_since is not None and hook.failing_since <= timezone.now() - OFF_AFTER:
        days = {"n": OFF_AFTER.days, "error": error}
        work.end(hook, RunState.FAILED, error=_("No call has got through for %(n)s days. %(error)s") % days)


def _ended(hook: Webhook, state: RunState) -> None:
    if state == RunState.FAILED:
        transaction.on_commit(partial(_tell_managers, hook.pk), robust=True)


def _tell_managers(pk: int) -> None:
    """Where mail is set up; the study's page tells them as well."""
    if not mail.is_set_up():
        return
    hook = Webhook.objects.select_related("study").get(pk=pk)
    text = _(
        "The webhook of “%(study)s” that calls %(address)s was switched off. %(error)s\n\n"
        "What happens from now on is not sent. Switch it on again here:\n\n%(link)s"
    ) % {
        "study": hook.study.title,
        "address": hook.address,
        "error": hook.error,
        "link": hook.origin + hook.get_absolute_url(),
    }
    subject = _("A webhook of “%(study)s” was switched off") % {"study": hook.study.title}
    managers = Membership.objects.filter(study=hook.study_id, role=Role.MANAGER, user__is_active=True)
    for to in managers.exclude(user__email="").values_list("user__email", flat=True):
        mail.send(subject=subject, text=text, to=to)


DELIVERING = Kind(
    Delivery,
    deliver,
    name=str,
    order=("attempts", "pk"),
    related=("run__study",),
    batch=10,
    died=gettext_lazy("%(n)s workers died at this call, or fell silent."),
    failed=_given_up,
    ended=_ended,
    waits=WAITS,
    awaited=False,
    priority=SHORT_WORK_PRIORITY,
)
