"""Who is in a study, with which role, and how somebody new comes in."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import Refused, lock_study
from annotation.actions.plan import withdraw
from annotation.actions.trust import note
from annotation.models import (
    AuditEvent,
    Invite,
    Membership,
    Rater,
    Role,
    Study,
    User,
)


@transaction.atomic
def add_member(*, study: Study, user: User, role: Role, by: User | None = None) -> Membership:
    """Give `user` a role.

    An annotator becomes a rater of the study under the next free code (A1, A2, …); one who left is that rater again.
    """
    lock_study(study.pk)
    membership, created = Membership.objects.get_or_create(study=study, user=user, role=role)
    if created:
        note(AuditEvent.Kind.ROLE, by=by, of=user, study=study, what=f"+{Role(role).value}")
    if role == Role.ANNOTATOR and not study.raters.filter(user=user).update(
        active=True, paused_at=None, paused_by=None
    ):
        Rater.objects.create(study=study, kind=Rater.Kind.PERSON, user=user, code=queries.free_code(study, prefix="A"))
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, by: User | None = None) -> int:
    """Take a role away. An annotator's rater is kept with its labels; what it has not submitted is withdrawn. Open
    invitations that a manager has made are taken back: they might come back by them.

    Returns:
        How many assignments were withdrawn.
    """
    lock_study(membership.study_id)
    if membership.role == Role.MANAGER:
        managers = Membership.objects.filter(study=membership.study, role=Role.MANAGER)
        if managers.count() == 1:
            raise Refused(_("This is the last manager of the study. Make somebody else a manager first."))
        revoke_invites(queries.links(membership.study).filter(created_by=membership.user), by=by)
    withdrawn = 0
    if membership.role == Role.ANNOTATOR:
        for rater in membership.study.raters.filter(user=membership.user):
            rater.active = False
            rater.save(update_fields=["active"])
            withdrawn += withdraw(rater=rater)
    note(AuditEvent.Kind.ROLE, by=by, of=membership.user, study=membership.study, what=f"-{membership.role}")
    membership.delete()
    return withdrawn


@transaction.atomic
def invite(
    *, study: Study, role: Role, by: User | None, email: str = "", days: int = 7, bound: bool = False
) -> tuple[Invite, str]:
    """Make a link that lets one person in. Returns it and its secret, which is stored nowhere.

    `bound`: only who shows that `email` is theirs may use it.
    """
    token = secrets.token_urlsafe(32)
    made = Invite.objects.create(
        study=study,
        role=role,
        digest=token_digest(token),
        email=email,
        bound=bound,
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    note(AuditEvent.Kind.INVITE, by=by, study=study, what=f"+{role.value} #{made.pk}")
    return made, token


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def join(*, invite: Invite, user: User, shown: bool = False) -> Membership:
    """Let `user` in by an invitation, which is used up by that.

    `shown`: they have shown that the address to which the invitation may be bound is theirs.

    Raises:
        Refused: it was used, revoked or is too old, is bound to an address, or gives a role that the user has; the
            study is archived.
    """
    if refusal := why_nobody_joins(invite):
        raise Refused(refusal)
    if invite.bound and not shown:
        raise Refused(_("This invitation is for one address. Show first that it is yours."))
    if Membership.objects.filter(study=invite.study, user=user, role=invite.role).exists():
        raise Refused(_("You have that role in this study already. The link can still let somebody else in."))
    # Of two who follow the link at once, one changes the row, and the other none.
    if not Invite.objects.open().filter(pk=invite.pk).update(used_at=timezone.now(), used_by=user):
        raise Refused(_("This link was used already, taken back, or is too old. Ask for a new one."))
    return add_member(study=invite.study, user=user, role=Role(invite.role), by=user)


def why_nobody_joins(invite: Invite) -> str:
    """What is said of an invitation to a study that is archived by now; "" of others."""
    study = Study.objects.filter(pk=invite.study_id).exclude(archived_at=None).first()
    if study is None:
        return ""
    said = _("“%(study)s” is archived, and nobody can join it.") % {"study": study.title}
    if study.contact_text:
        return said  # the page of the invitation names it
    ask = _("Ask whoever gave you the link.")
    return f"{said} {ask}"


@transaction.atomic
def sign_up(*, invite: Invite, username: str, password: str, shown: bool = False) -> User:
    """Make an account for somebody who was invited, and let it in; raises what `join` does, and then makes none."""
    user = User.objects.create_user(username, email=invite.email, password=password)
    note(AuditEvent.Kind.ACCOUNT, by=user, of=user, study=invite.study, what=f"made by invitation #{invite.pk}")
    join(invite=invite, user=user, shown=shown)
    return user


@transaction.atomic
def revoke_invite(*, invite: Invite, by: User | None) -> bool:
    """Take a link back that nobody has used. Returns whether it was there to be taken back."""
    open_ones = Invite.objects.filter(pk=invite.pk, used_at=None, revoked_at=None)
    revoked = bool(open_ones.update(revoked_at=timezone.now(), revoked_by=by))
    if revoked:
        note(AuditEvent.Kind.INVITE, by=by, study=invite.study, what=f"-{invite.role} #{invite.pk}")
    return revoked


def why_not_revoked(invite: Invite) -> str:
    """Of a link that was not there to be taken back."""
    invite.refresh_from_db(fields=["revoked_at"])
    if invite.revoked_at is not None:
        return _("The link was taken back already.")
    return _("Somebody has used the link already; take the role away from them instead.")


@transaction.atomic
def revoke_invites(invites: QuerySet[Invite], *, by: User | None) -> int:
    """Take links back. Returns how many nobody had used."""
    return sum(revoke_invite(invite=invite, by=by) for invite in invites.select_related("study"))
