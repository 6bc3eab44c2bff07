"""What other libraries tell: who came and went, and which second factors were made. It goes into the audit log."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth import signals as auth
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models.signals import post_save
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import actions
from annotation.actions import note
from annotation.models import AuditEvent, User

Kind = AuditEvent.Kind


def connect() -> None:
    auth.user_logged_in.connect(_logged_in)
    auth.user_logged_out.connect(_logged_out)
    auth.user_login_failed.connect(_failed)
    post_save.connect(_administered, sender=LogEntry)
    post_save.connect(_began_as_owner, sender=User)
    from allauth.account import signals as account
    from allauth.mfa import signals as mfa
    from allauth.socialaccount import signals as social

    for signal, what in (
        (mfa.authenticator_added, "+{type}"),
        (mfa.authenticator_removed, "-{type}"),
        (mfa.authenticator_reset, "new {type}"),
        (mfa.authentication_failed, "wrong code"),
    ):
        signal.connect(_factor(what), weak=False)
    mfa.authenticator_added.connect(_protected)
    account.password_reset.connect(_new_password("reset by e-mail"), weak=False)
    account.password_set.connect(_new_password("set"), weak=False)
    account.email_confirmed.connect(_confirmed)
    for signal, what in (
        (account.email_added, "+e-mail"),
        (account.email_changed, "e-mail changed"),
        (account.email_removed, "-e-mail"),
    ):
        signal.connect(_account(Kind.ACCOUNT, what), weak=False)
    social.social_account_added.connect(_account(Kind.ACCOUNT, "+single sign-on"), weak=False)
    social.social_account_removed.connect(_account(Kind.ACCOUNT, "-single sign-on"), weak=False)


def to_our_login(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """The administration's log-in: ours, which asks for a second factor too."""
    if request.user.is_authenticated:
        raise PermissionDenied(_("The administration is for owners of the installation."))
    return redirect_to_login(request.GET.get("next", request.get_full_path()))


def _logged_in(request: HttpRequest | None, user: User, **_signal: Any) -> None:
    if request is None or not request.META.get("REMOTE_ADDR"):
        return  # a test's client, or a program of ours, without a request
    from allauth.usersessions.models import UserSession

    # From this moment on, whatever is stored in it later: Django counts anew each time.
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))
    UserSession.objects.create_from_request(request)
    note(Kind.LOGIN, by=user)


def _logged_out(user: User | None, request: HttpRequest | None = None, **_signal: Any) -> None:
    key = request.session.session_key if request is not None and hasattr(request, "session") else None
    if key:
        actions.session_ended(key=key)
    if user is not None:
        note(Kind.LOGOUT, by=user)


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_signal: Any) -> None:
    """Of which account, where there is one; what was typed is not kept: it may be a password.

    A password that was not looked at, since there were too many, is noted where that is found out.
    """
    if getattr(request, "wait_to_log_in", 0):
        return
    name = credentials.get("username")
    of = User.objects.filter(username=name).first() if isinstance(name, str) and "\0" not in name else None
    note(Kind.LOGIN_FAILED, of=of)


def _factor(what: str) -> Any:
    def noted(user: User, authenticator: Any, **_signal: Any) -> None:
        note(Kind.SECOND_FACTOR, by=user, of=user, what=what.format(type=authenticator.type))

    return noted


def _protected(user: User, **_signal: Any) -> None:
    """The password alone opens nothing from now on, and neither does what programs got for it."""
    actions.withdraw_by_password(user=user, by=user)


def _account(kind: AuditEvent.Kind, what: str) -> Any:
    def noted(user: User | None = None, socialaccount: Any = None, sociallogin: Any = None, **_signal: Any) -> None:
        of = user or getattr(socialaccount or sociallogin, "user", None)
        note(kind, by=of, of=of, what=what)

    return noted


def _new_password(what: str) -> Any:
    def noted(user: User, **_signal: Any) -> None:
        actions.password_changed(user=user, what=what)

    return noted


def _confirmed(email_address: Any, **_signal: Any) -> None:
    note(Kind.ACCOUNT, by=email_address.user, of=email_address.user, what="e-mail confirmed")


def _began_as_owner(instance: User, created: bool, **_signal: Any) -> None:
    """`manage.py createsuperuser` alone makes such an account; no page does."""
    if created and instance.is_superuser:
        note(Kind.ROLE, of=instance, what="+owner")


def _administered(instance: LogEntry, created: bool, **_signal: Any) -> None:
    """What was done in Django's administration."""
    if created:
        kind = Kind.DELETION if instance.action_flag == DELETION else Kind.ADMIN
        what = f"{instance.content_type} #{instance.object_id}: {instance.get_action_flag_display()}"
        note(kind, by=instance.user, what=what)
