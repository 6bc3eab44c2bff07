"""Tokens by which programs use the API."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ApiTokenQuerySet(QuerySet["ApiToken"]):
    def live(self) -> ApiTokenQuerySet:
        unexpired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, withdrawn_at=None)


class ApiToken(models.Model):
    """Lets a program do what its user may. Only the digest of the key is stored; the key is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    beginning = models.CharField(max_length=8, help_text=_("The first characters of the key, to tell keys apart."))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text=_("To the hour."))
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.user} · {self.name}"

    @property
    def state(self) -> str:
        if self.withdrawn_at:
            return "withdrawn"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "live"
