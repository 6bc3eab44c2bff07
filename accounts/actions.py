"""All writes of accounts."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth import SESSION_KEY
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import CharField, ProtectedError, Q, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import ApiToken
from accounts.queries import addresses_of, contact_of, lacks_confirmation, others_own
from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import (
    AuditEvent,
    Background,
    Consent,
    Invite,
    Look,
    Membership,
    Note,
    Participant,
    Rater,
    Role,
    SchemeRevision,
    User,
)
from llm.models import LanguageModel

MOST_TOKENS = 20  # of one person
BY_PASSWORD_DAYS = 90  # how long a token lasts that a program gets for a password
_BY_LOGIN = "by password"  # the name of such
_USED_EVERY = timedelta(hours=1)  # a token's last use is written no more often
_AT_ONCE = 500  # sessions that one statement deletes
LAST_OWNER = gettext_lazy("This is the last owner of the installation. Make somebody else an owner first.")


def digest_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


@transaction.atomic
def make_token(*, user: User, name: str, days: int | None) -> tuple[ApiToken, str]:
    """Make a token that lasts for `days`, or until it is withdrawn. Returns it and its key, which is stored nowhere.

    Raises:
        Refused: there are `MOST_TOKENS` already, or their e-mail address is still to be confirmed.
    """
    if lacks_confirmation(user):
        raise Refused(_("Confirm your e-mail address first: log in, and follow the link that is mailed to you."))
    if ApiToken.objects.live().filter(user=user).count() >= MOST_TOKENS:
        raise Refused(_("You have %(n)s tokens. Withdraw one first.") % {"n": MOST_TOKENS})
    key = secrets.token_hex(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest_of(key),
        beginning=key[:6],
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    annotating.note(AuditEvent.Kind.TOKEN, by=user, of=user, what=f"+{token.beginning}…")
    return token, key


@transaction.atomic
def make_token_by_password(*, user: User) -> str:
    """Make a token for a program that sent a password; of more than `MOST_TOKENS` the oldest such goes."""
    older = ApiToken.objects.live().filter(user=user, name=_BY_LOGIN).order_by("-pk")
    for token in older[MOST_TOKENS // 2 - 1 :]:
        withdraw_token(token=token, by=user)
    return make_token(user=user, name=_BY_LOGIN, days=BY_PASSWORD_DAYS)[1]


@transaction.atomic
def withdraw_token(*, token: ApiToken, by: User | None) -> None:
    """From now on the token opens nothing."""
    if ApiToken.objects.filter(pk=token.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
        annotating.note(AuditEvent.Kind.TOKEN, by=by, of=token.user, what=f"-{token.beginning}…")


@transaction.atomic
def password_changed(*, user: User, what: str, sessions: tuple[str, str] | None = None) -> None:
    """Somebody has a new password: the tokens that the old one made open nothing any more.

    Args:
        what: how it came about, for the audit log.
        sessions: the key that the session had in which it was changed, and the one that it has since.
    """
    if sessions is not None:
        from allauth.usersessions.models import UserSession

        UserSession.objects.filter(user=user, session_key=sessions[0]).update(session_key=sessions[1])
    withdraw_by_password(user=user, by=user)
    annotating.note(AuditEvent.Kind.PASSWORD, by=user, of=user, what=what)


def withdraw_by_password(*, user: User, by: User | None) -> None:
    """The tokens that programs got for a password open nothing any more."""
    for token in ApiToken.objects.live().filter(user=user, name=_BY_LOGIN):
        withdraw_token(token=token, by=by)


def token_used(*, token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - _USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


# --- leaving ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def erase(*, user: User, by: User | None) -> None:
    """Forget who somebody is. Their labels stay, under the codes that exports name them by anyway.

    The account is emptied and closed: name, address, password, second factors, connections to single sign-on, tokens,
    sessions, roles and looks go, and the contact of studies where it is they; raters, questions about
    cells and used invitations lose their link to it. What it did in the audit log stays under its number for a year,
    and what it did as a manager with the study.

    Raises:
        Refused: it is the last manager of a study, or the last owner.
    """
    if user.is_superuser:
        leaves_an_owner(user)
    _forget_contacts(user=user, by=by)  # by their roles, too
    for membership in Membership.objects.filter(user=user).select_related("study", "user"):
        annotating.remove_member(membership=membership, by=by)
    Rater.objects.filter(user=user).update(user=None, active=False)
    Note.objects.filter(author=user).update(author=None)
    Look.objects.filter(user=user).delete()
    shut_out(user=user, by=by)
    _forget_invites(user=user, by=by)
    for related in ("api_tokens", "emailaddress_set", "socialaccount_set", "authenticator_set"):
        getattr(user, related).all().delete()
    from django.contrib.admin.models import LogEntry
    from rest_framework.authtoken.models import Token

    Token.objects.filter(user=user).delete()
    LogEntry.objects.filter(user=user).delete()
    here = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=here, object_id=str(user.pk)).update(object_repr="", change_message="")
    Consent.objects.filter(user=user, withdrawn_at=None).update(withdrawn_at=timezone.now())
    _forget_backgrounds(user)
    # By what a platform knows them; no two of a link have the same, and nobody comes with such a one.
    number = Concat(Value("erased "), Cast("pk", CharField()))
    Participant.objects.filter(user=user).update(user=None, number=number)
    SchemeRevision.read_by.through.objects.filter(user=user).delete()
    user.username, user.email, user.first_name, user.last_name = f"erased-{user.pk}", "", "", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()
    annotating.note(AuditEvent.Kind.DELETION, by=by, of=user, what="account erased")


def _forget_backgrounds(user: User) -> None:
    """What they told about themselves goes, and downloads that were made with it."""
    from reports.actions import forget_backgrounds

    told = Background.objects.filter(user=user).select_related("study")
    forget_backgrounds([one.study for one in told])
    told.delete()


def _forget_contacts(*, user: User, by: User | None) -> None:
    """Studies whose contact they are have none any more, nor have downloads that wait."""
    from reports.actions import forget_contacts

    studies = list(contact_of(user))
    for study in studies:
        annotating.change_study(study=study, contact="", contact_address="", publishes_contact=False)
        annotating.note(AuditEvent.Kind.DELETION, by=by, of=user, study=study, what="contact")
    forget_contacts(studies)


def _forget_invites(*, user: User, by: User | None) -> None:
    """Addresses of theirs go from invitations; those that still wait for them are withdrawn first."""
    theirs = Q(used_by=user)
    for address in addresses_of(user):
        theirs |= Q(email__iexact=address)
    invites = Invite.objects.filter(theirs).exclude(email="")
    invites.filter(used_at=None, revoked_at=None).update(revoked_at=timezone.now(), revoked_by=by)
    invites.update(email="", bound=False)
    Invite.objects.filter(used_by=user).update(used_by=None)


def end_sessions(*, user: User) -> None:
    """Log somebody out everywhere. Reads all sessions of whose people nothing is known: it is rare."""
    from allauth.usersessions.models import UserSession

    sessions = UserSession.objects.filter(user=user)
    theirs = list(sessions.values_list("session_key", flat=True))
    others = Session.objects.filter(expire_date__gt=timezone.now()).exclude(
        session_key__in=UserSession.objects.values("session_key")
    )
    theirs += [
        session.session_key for session in others.iterator() if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    for begin in range(0, len(theirs), _AT_ONCE):
        Session.objects.filter(session_key__in=theirs[begin : begin + _AT_ONCE]).delete()
    sessions.delete()


def shut_out(*, user: User, by: User | None) -> None:
    """What somebody whose account is closed might come in by is over: sessions, and links that they made and nobody
    has used."""
    end_sessions(user=user)
    annotating.revoke_invites(Invite.objects.open().filter(created_by=user), by=by)


def session_ended(*, key: str) -> None:
    """Somebody has logged out: from where they had come is not kept."""
    from allauth.usersessions.models import UserSession

    UserSession.objects.filter(session_key=key).delete()


def clean_sessions() -> int:
    """Delete sessions that are over, and from where those came that have ended. Returns how many sessions."""
    from allauth.usersessions.models import UserSession

    over = Session.objects.filter(expire_date__lte=timezone.now())
    deleted = over.delete()[0]
    # A young one may be of a log-in that is not through yet.
    known = UserSession.objects.filter(created_at__lt=timezone.now() - timedelta(hours=1))
    known.exclude(session_key__in=Session.objects.values("session_key")).delete()
    return deleted


@transaction.atomic
def make_owner(*, user: User, owner: bool, by: User) -> None:
    """Let somebody look after the installation, or no more; then open invitations of theirs are taken back but to
    studies that they manage.

    Raises:
        Refused: nobody would.
    """
    if not owner:
        leaves_an_owner(user)
    user.is_superuser = user.is_staff = owner
    user.save(update_fields=["is_superuser", "is_staff"])
    owner_made(user=user, by=by)


def leaves_an_owner(*users: User) -> None:
    """Refuse where nobody looks after the installation without them. Of the last two who go at once, one waits here for
    the other, so it is asked within the transaction in which they go."""
    list(User.objects.filter(is_superuser=True, is_active=True).order_by("pk").select_for_update())
    if not others_own(*users):
        raise Refused(LAST_OWNER)


def owner_made(*, user: User, by: User) -> None:
    """Somebody looks after the installation since now, or no more: what comes with it."""
    annotating.note(AuditEvent.Kind.ROLE, by=by, of=user, what="+owner" if user.is_superuser else "-owner")
    if not user.is_superuser:
        managed = Membership.objects.filter(user=user, role=Role.MANAGER).values("study")
        annotating.revoke_invites(Invite.objects.open().filter(created_by=user).exclude(study__in=managed), by=by)


@transaction.atomic
def set_active(*, user: User, active: bool, by: User) -> None:
    """Close an account, which ends its sessions and takes its open invitations back, or open it again.

    Raises:
        Refused: it is one's own, or the last owner's.
    """
    if user.pk == by.pk:
        raise Refused(_("Nobody closes their own account here."))
    if not active and user.is_superuser:
        leaves_an_owner(user)
    user.is_active = active
    user.save(update_fields=["is_active"])
    account_opened(user=user, by=by)


def account_opened(*, user: User, by: User) -> None:
    """An account is open since now, or closed: what comes with it."""
    if not user.is_active:
        shut_out(user=user, by=by)
    annotating.note(AuditEvent.Kind.ACCOUNT, by=by, of=user, what="opened" if user.is_active else "closed")


@transaction.atomic
def delete_model(*, model: LanguageModel, by: User) -> None:
    """Delete a stored model that nothing uses, such as one that never worked.

    Raises:
        Refused: a judge, an extractor or texts are of it, or it is deleted.
    """
    held = LanguageModel.objects.select_for_update().filter(pk=model.pk).first()  # whoever makes one holds it too
    if held is None:
        raise Refused(_("“%(name)s” is deleted.") % {"name": model.name})
    annotating.note(AuditEvent.Kind.DELETION, by=by, what=f"model {model.name}")
    try:
        held.delete()
    except ProtectedError as error:
        raise Refused(
            _("“%(model)s” is used: judges, extractors or texts are of it.") % {"model": model.name}
        ) from error


@transaction.atomic
def reset_factors(*, user: User, by: User) -> None:
    """Take the second factors of somebody away who has lost them; they log in by password and set up new ones."""
    from allauth.mfa.models import Authenticator

    Authenticator.objects.filter(user=user).delete()
    end_sessions(user=user)
    withdraw_by_password(user=user, by=by)
    annotating.note(AuditEvent.Kind.SECOND_FACTOR, by=by, of=user, what="all taken away")
