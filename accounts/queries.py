"""Reads about accounts."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q, QuerySet

from annotation.models import Membership, Role, Study, User


def has_second_factor(user: User) -> bool:
    """One query."""
    from allauth.mfa.models import Authenticator

    own = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=own).exists())


def lacks_confirmation(user: User) -> bool:
    """Whether they have still to show that their e-mail address is theirs. One query at most."""
    from allauth.account.models import EmailAddress

    if not settings.PALATE_CONFIRM_EMAIL or not user.email:
        return False
    return not EmailAddress.objects.filter(user_id=user.pk, verified=True).exists()


def addresses_of(user: User) -> dict[str, bool]:
    """The e-mail addresses of an account, with whether they have shown that it is theirs. One query."""
    from allauth.account.models import EmailAddress

    known = EmailAddress.objects.filter(user_id=user.pk).values_list("email", "verified")
    return {address: verified for address, verified in ((user.email, False), *known) if address}


def contact_of(user: User) -> QuerySet[Study]:
    """The studies whose contact they are, by an e-mail address of theirs. One that they have not shown to be theirs
    counts where they may change the contact anyway, as a manager: anybody may give somebody else's. Two queries."""
    managed = list(user.memberships.filter(role=Role.MANAGER).values_list("study", flat=True))
    theirs = Q(pk__in=[])
    for address, verified in addresses_of(user).items():
        theirs |= Q(contact_address__iexact=address) & (Q() if verified else Q(pk__in=managed))
    return Study.objects.filter(theirs)


def others_own(*users: User) -> bool:
    """Whether anybody else looks after the installation. One query."""
    theirs = [user.pk for user in users]
    return User.objects.filter(is_superuser=True, is_active=True).exclude(pk__in=theirs).exists()


def needs_second_factor(user: User) -> bool:
    """Whether a role of theirs is one of `PALATE_SECOND_FACTOR`. One query at most."""
    asked: list[str] = settings.PALATE_SECOND_FACTOR
    if not asked:
        return False
    if user.is_superuser and "owner" in asked:
        return True
    return Membership.objects.filter(user_id=user.pk, role__in=asked).exists()
