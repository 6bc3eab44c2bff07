"""What an installation keeps to be trusted: the audit log, tries at passwords, and who agreed to take part."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study


class AuditEvent(models.Model):
    """Something that matters to safety has happened. The database refuses to change an event, or to delete a young one.

    Who did it, to whom and in which study are numbers without a constraint: an event outlives what it names. A name
    that was only typed, such as that of a failed log-in, is not kept, since people type passwords there.
    """

    class Kind(models.TextChoices):
        LOGIN = "login", _("log-in")
        LOGIN_FAILED = "login-failed", _("failed log-in")
        LOGIN_LIMITED = "login-limited", _("too many log-ins")
        LOGOUT = "logout", _("log-out")
        PASSWORD = "password", _("password")
        SECOND_FACTOR = "second-factor", _("second factor")
        ACCOUNT = "account", _("account")
        ROLE = "role", _("role")
        INVITE = "invite", _("invitation")
        CONSENT = "consent", _("consent")
        EXPORT = "export", _("export")
        TOKEN = "token", _("API token")
        KEY = "key", _("API key used")
        DELETION = "deletion", _("deletion")
        ADMIN = "admin", _("administration")

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    by = models.BigIntegerField(null=True, help_text=_("The number of the account that did it."))
    of = models.BigIntegerField(null=True, help_text=_("The number of the account that it was done to."))
    study = models.ForeignKey(Study, models.DO_NOTHING, null=True, db_constraint=False, related_name="audit_events")
    what = models.CharField(max_length=300, blank=True)
    address = models.GenericIPAddressField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "-id"], name="audit_event_of_study")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.kind} {self.what}"


class Attempt(models.Model):
    """A try at a password or a code, which all processes count. `key`: a keyed digest of the account or the address."""

    key = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="attempt_of_key")]

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.at:%Y-%m-%d %H:%M}"


class Consent(models.Model):
    """Somebody agreed to take part in a study, by the text that stood there then."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="consents")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="consents")
    text = models.TextField()
    agreed_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "agreed_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(withdrawn_at=None), name="consent_stands_once_a_study"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.study} · {self.agreed_at:%Y-%m-%d}"


class Background(models.Model):
    """What somebody told a study about themselves; goes with their account, and is exported under their code."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="backgrounds")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="backgrounds")
    answers = models.JSONField(default=dict, help_text=_("{question: option or value}"))
    told_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "pk"]
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="background_once_a_study")]

    def __str__(self) -> str:
        return f"{self.user} · {self.study} · {self.told_at:%Y-%m-%d}"
