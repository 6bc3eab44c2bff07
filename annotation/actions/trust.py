"""The audit log, limits of tries, and consent."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import timedelta
from typing import Protocol

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Attempt, AuditEvent, Consent, Study, User
from annotation.people.address import network_of

# A year: what the database lets nobody delete (`annotation.people.guards`).
AUDIT_DAYS = 365
WINDOW = timedelta(minutes=15)
KNOWN_DAYS = 90  # how long an address from which somebody logged in is known as theirs

# From where the request that this thread answers comes; set by a middleware (`accounts.middleware`).
asked_from: ContextVar[str | None] = ContextVar("asked_from", default=None)


def note(
    kind: AuditEvent.Kind,
    *,
    by: User | None = None,
    of: User | None = None,
    study: Study | None = None,
    what: str = "",
) -> AuditEvent:
    """Write an event into the audit log."""
    longest = AuditEvent._meta.get_field("what").max_length or 0
    return AuditEvent.objects.create(
        kind=kind,
        by=by.pk if by is not None else None,
        of=of.pk if of is not None else None,
        study=study,
        what=what[:longest],
        address=asked_from.get(),
    )


def note_export(*, by: User | None, study: Study, what: str, more: bool = False) -> None:
    """Write down that something of a study is taken along. `more`: it is another part of it, which belongs to an export
    that was written down in `WINDOW`, if there is one."""
    if more:
        lately = AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, study=study, at__gt=timezone.now() - WINDOW)
        if lately.filter(by=by.pk if by is not None else None, what=what).exists():
            return
    note(AuditEvent.Kind.EXPORT, by=by, study=study, what=what)


class _Keyed(Protocol):
    name: str
    api_key_env: str


def note_key(*, model: _Keyed | None, study: Study, by: User | None) -> None:
    """Write down that a run uses the key of a model's server, by the name of its variable; where it has one."""
    if model is not None and model.api_key_env:
        note(AuditEvent.Kind.KEY, by=by, study=study, what=f"{model.api_key_env}: {model.name}")


def clean_audit() -> int:
    """Delete events that are older than a year, and counted tries that are over. Returns how many events."""
    Attempt.objects.filter(at__lt=timezone.now() - timedelta(days=1)).delete()
    # A day later than the database allows, so that clocks need not agree.
    old = AuditEvent.objects.filter(at__lt=timezone.now() - timedelta(days=AUDIT_DAYS + 1))
    return old.delete()[0]


# --- tries ----------------------------------------------------------------------------------------------------------


def _digest(what: str) -> str:
    return hmac.digest(settings.SECRET_KEY.encode(), f"attempt:{what}".encode(), "sha256").hex()


def _wait_for_turn(keys: Iterable[str]) -> None:
    """Until this transaction is over, nobody else counts under these keys. In one order, so that nobody waits for who
    waits for them. On SQLite the transaction itself is the lock."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for key in sorted(keys):
                number = int.from_bytes(bytes.fromhex(key[:16]), signed=True)
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


@transaction.atomic
def try_allowed(limits: Iterable[tuple[str, int]]) -> int:
    """Count a try under each name, with how many are allowed in `WINDOW`; those over a limit are not counted.

    Of many processes that come at once no more than the limit pass: those that count the same wait for each other.

    Returns:
        0, or in how many seconds the next one is allowed.
    """
    of_keys = {_digest(name): limit for name, limit in limits}
    _wait_for_turn(of_keys)
    now = timezone.now()
    made = []
    wait = 0
    for key, limit in of_keys.items():
        mine = Attempt.objects.create(key=key, at=now)
        made.append(mine.pk)
        recent = Attempt.objects.filter(key=key, at__gt=now - WINDOW)
        if recent.filter(pk__lte=mine.pk).count() > limit:
            freeing = list(recent.order_by("-pk").exclude(pk=mine.pk).values_list("at", flat=True)[limit - 1 : limit])
            until = (freeing[0] if freeing else now) + WINDOW
            wait = max(wait, int((until - now).total_seconds()) + 1)
    if wait:
        Attempt.objects.filter(pk__in=made).delete()
    return wait


def tries(name: str) -> int:
    """How often it was tried in `WINDOW`. One query."""
    return Attempt.objects.filter(key=_digest(name), at__gt=timezone.now() - WINDOW).count()


def logged_in_lately(username: str, address: str) -> bool:
    """Whether this account was logged in to in the last `KNOWN_DAYS` from this address, as `counted_address` has it:
    of IPv6 from the same network. Two queries at most."""
    if not address or "\0" in username:
        return False
    users = User.objects.filter(username__iexact=username).values_list("pk", flat=True)[:10]
    since = timezone.now() - timedelta(days=KNOWN_DAYS)
    logins = AuditEvent.objects.filter(kind=AuditEvent.Kind.LOGIN, address__isnull=False, at__gt=since)
    known = logins.filter(by__in=list(users)).order_by().values_list("address", flat=True).distinct()
    return any(network_of(one) == address for one in known if one)


def forget_tries(*names: str, one: Iterable[str] = ()) -> None:
    """It was the right password: all tries under these names are forgotten, and of each in `one` the last."""
    Attempt.objects.filter(key__in=[_digest(name) for name in names]).delete()
    for name in one:
        last = Attempt.objects.filter(key=_digest(name)).order_by("-pk").values("pk")[:1]
        Attempt.objects.filter(pk__in=list(last.values_list("pk", flat=True))).delete()


def note_limited(*names: str, of: User | None = None, what: str = "") -> None:
    """Write down that a limit stopped a try: once in `WINDOW` for each of the names, however many are stopped."""
    if not try_allowed([(f"noted:{name}", 1) for name in names]):
        note(AuditEvent.Kind.LOGIN_LIMITED, of=of, what=what)


# --- consent --------------------------------------------------------------------------------------------------------


def has_agreed(*, study: Study, user: User) -> bool:
    """Whether the study asks for no consent, or has this person's to the text as it stands. One query at most."""
    if not study.consent.strip():
        return True
    return Consent.objects.filter(study=study, user=user, text=study.consent, withdrawn_at=None).exists()


@transaction.atomic
def agree(*, study: Study, user: User) -> Consent:
    """Record that somebody agreed to the text as it stands; an older agreement ends with it.

    Of two requests at once the second finds what the first has recorded.
    """
    User.objects.select_for_update(no_key=True).values_list("pk").get(pk=user.pk)
    standing = Consent.objects.filter(study=study, user=user, withdrawn_at=None)
    if (found := standing.filter(text=study.consent).first()) is not None:
        return found
    standing.update(withdrawn_at=timezone.now())
    note(AuditEvent.Kind.CONSENT, by=user, study=study, what="agreed")
    return Consent.objects.create(study=study, user=user, text=study.consent)
