"""Who is in a study, and as what."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import Refused, lock_study
from annotation.actions.plan import withdraw
from annotation.models import (
    Membership,
    Rater,
    Role,
    Study,
    User,
)


@transaction.atomic
def add_member(*, study: Study, user: User, role: Role) -> Membership:
    """Give `user` a role.

    An annotator becomes a rater of the study under the next free code (A1, A2, …); one who left is that rater again.
    """
    lock_study(study.pk)
    membership, _created = Membership.objects.get_or_create(study=study, user=user, role=role)
    if role == Role.ANNOTATOR and not study.raters.filter(user=user).update(active=True):
        Rater.objects.create(study=study, kind=Rater.Kind.PERSON, user=user, code=queries.free_code(study, prefix="A"))
    return membership


@transaction.atomic
def remove_member(*, membership: Membership) -> int:
    """Take a role away. An annotator's rater is kept with its labels; what it has not submitted is withdrawn.

    Returns:
        How many assignments were withdrawn.
    """
    lock_study(membership.study_id)
    if membership.role == Role.MANAGER:
        managers = Membership.objects.filter(study=membership.study, role=Role.MANAGER)
        if managers.count() == 1:
            raise Refused(_("This is the last manager of the study. Make somebody else a manager first."))
    withdrawn = 0
    if membership.role == Role.ANNOTATOR:
        for rater in membership.study.raters.filter(user=membership.user):
            rater.active = False
            rater.save(update_fields=["active"])
            withdrawn += withdraw(rater=rater)
    membership.delete()
    return withdrawn


@transaction.atomic
def invite(*, study: Study, username: str, email: str, role: Role) -> tuple[User, bool]:
    """Give a role to an account, or to a new one without a password. Returns it and whether it is new."""
    username = User.normalize_username(username)
    user, created = User.objects.get_or_create(username=username, defaults={"email": email})
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    if Membership.objects.filter(study=study, user=user, role=role).exists():
        raise Refused(_("%(name)s has that role in this study already.") % {"name": username})
    add_member(study=study, user=user, role=role)
    return user, created
