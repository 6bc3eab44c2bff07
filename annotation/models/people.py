"""Who works in a study: logins with their roles, the raters that label, invitations."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Role, Study


class User(AbstractUser):
    """Somebody with a login. What a user may do in a study is a `Membership`; their labels belong to a `Rater`."""


class Membership(models.Model):
    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)

    class Meta:
        ordering = ["study", "user", "role"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "role"], name="membership_role_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()} · {self.study}"


class RaterQuerySet(QuerySet["Rater"]):
    def people(self) -> RaterQuerySet:
        return self.filter(kind=Rater.Kind.PERSON)

    def judges(self) -> RaterQuerySet:
        return self.filter(kind=Rater.Kind.JUDGE)

    def present(self) -> RaterQuerySet:
        """People who are in the study, with a login: not those who left, nor those of a file or of a program."""
        return self.people().filter(active=True, user__isnull=False)

    def plannable(self) -> RaterQuerySet:
        """People who can be given work: here, with a login that is open, not paused."""
        return self.people().filter(active=True, simulated=False, user__is_active=True, paused_at=None)

    def of_no_crowd(self) -> RaterQuerySet:
        """Those who did not come by a link for a crowd."""
        return self.filter(participations=None)

    def given_more(self) -> RaterQuerySet:
        """Raters of any kind who may be given more: here, not paused, and of no account that was closed."""
        return self.filter(active=True, paused_at=None).exclude(user__is_active=False)


class Rater(models.Model):
    """Who labels. Exports and reports name a rater by `code`, never by the user behind it."""

    class Kind(models.TextChoices):
        PERSON = "person", _("person")
        JUDGE = "judge", _("judge")
        GOLD = "gold", _("gold")

    study = models.ForeignKey(Study, models.CASCADE, related_name="raters")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    code = models.CharField(max_length=80)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="raters")
    simulated = models.BooleanField(default=False, help_text=_("A program made these labels up."))
    active = models.BooleanField(default=True, help_text=_("Gets new assignments."))
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text=_("Keeps the work it has and gets none until it goes on.")
    )
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = RaterQuerySet.as_manager()

    class Meta:
        ordering = ["study", "kind", "code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="rater_code_once_a_study"),
            models.UniqueConstraint(fields=["study", "user"], name="rater_user_once_a_study"),
            models.CheckConstraint(condition=Q(kind__in=["person", "judge", "gold"]), name="rater_kind_known"),
            models.CheckConstraint(condition=Q(kind="person") | Q(user=None), name="rater_user_is_a_person"),
        ]

    def __str__(self) -> str:
        return self.code


class InviteQuerySet(QuerySet["Invite"]):
    def open(self) -> InviteQuerySet:
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


class Invite(models.Model):
    """A link that lets one person into a study. Only the digest of its secret is stored; it is shown once."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="invites")
    role = models.CharField(max_length=12, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
    bound = models.BooleanField(default=False, help_text=_("Only who shows that the address is theirs may use it."))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InviteQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invite_role_known"),
            models.CheckConstraint(condition=Q(used_at=None) | Q(revoked_at=None), name="invite_used_or_revoked"),
            models.CheckConstraint(condition=Q(bound=False) | ~Q(email=""), name="invite_bound_has_address"),
        ]

    def __str__(self) -> str:
        return f"{self.study} · {self.get_role_display()} · {self.created_at:%Y-%m-%d}"

    @property
    def state(self) -> str:
        if self.used_at:
            return "used"
        if self.revoked_at:
            return "revoked"
        return "open" if self.expires_at > timezone.now() else "expired"
