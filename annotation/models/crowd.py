"""Links for a crowd, and who came by them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.people import Rater
from annotation.models.study import Row, Sheet, Study

NAMES = r"^[A-Za-z][A-Za-z0-9_-]*$"


class CrowdLink(models.Model):
    """A link that lets many people in, each of whom gets some rows. It is given to a crowd, so it is no secret, and can
    be read again."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="crowd_links")
    title = models.CharField(_("title"), max_length=80)
    token = models.CharField(max_length=64, unique=True)
    sheets = models.ManyToManyField(Sheet, related_name="crowd_links")
    rows_each = models.PositiveSmallIntegerField()
    checks_each = models.PositiveSmallIntegerField(
        default=0, help_text=_("So many of them are checks: rows with gold, drawn for each person.")
    )
    check_rows = models.ManyToManyField(
        Row, related_name="+", help_text=_("The rows that had gold when it was made, where it gives checks.")
    )
    people_per_row = models.PositiveSmallIntegerField(help_text=_("In all, whoever comes otherwise included."))
    most_people = models.PositiveIntegerField()
    hours = models.PositiveSmallIntegerField(help_text=_("After so long without the end, a place is given to others."))
    asks_for = models.CharField(
        max_length=40,
        blank=True,
        validators=[RegexValidator(NAMES)],
        help_text=_("The parameter of the address by which the platform says who comes; empty: nobody does."),
    )
    completion_code = models.CharField(max_length=80, blank=True)
    completion_url = models.URLField(max_length=500, blank=True)
    ended_code = models.CharField(
        max_length=80, blank=True, help_text=_("For who had begun when the work was closed; empty: they get none.")
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True, help_text=_("Since then nobody new comes by it."))

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(checks_each__lt=F("rows_each")), name="crowd_link_asks_more_than_checks")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def end(self) -> str:
        """What the button says that leads who is done to the end."""
        return str(_("Finish and get the code") if self.completion_code or self.completion_url else _("Finish"))

    @property
    def early_end(self) -> str:
        """The same of who could not go on to the end."""
        return str(_("Finish and get the code") if self.ended_code else _("Finish"))


class ParticipantQuerySet(models.QuerySet["Participant"]):
    def removed(self) -> ParticipantQuerySet:
        """Whose role was taken away; who had their account erased is not among them."""
        return self.filter(rater__active=False, user__isnull=False)

    def there(self) -> ParticipantQuerySet:
        """Who counts against the most people."""
        return self.filter(freed_at=None, ended_at=None).exclude(rater__active=False, user__isnull=False)


class Participant(models.Model):
    """Somebody who came by a link. `number`: what the platform knows them by, which no export has."""

    link = models.ForeignKey(CrowdLink, models.CASCADE, related_name="participants")
    number = models.CharField(max_length=120)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="participations")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="participations")
    rows = models.JSONField(help_text=_("The rows that they were given, by their numbers."))
    checks = models.JSONField(default=list, blank=True, help_text=_("Those of them that were checks."))
    came_at = models.DateTimeField(auto_now_add=True)
    freed_at = models.DateTimeField(null=True, blank=True, help_text=_("When their place was given to others."))
    ended_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When they were through with what had been closed while they were at work.")
    )

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["link", "number"], name="participant_once_a_link"),
            models.CheckConstraint(condition=~Q(number=""), name="participant_has_number"),
        ]

    def __str__(self) -> str:
        return f"{self.link} · {self.rater}"

    @property
    def is_removed(self) -> bool:
        return self.user_id is not None and not self.rater.active

    @property
    def is_there(self) -> bool:
        """Whether they count against the most people."""
        return self.freed_at is None and self.ended_at is None and not self.is_removed

    @property
    def until(self) -> datetime:
        """When their time is over."""
        return self.came_at + timedelta(hours=self.link.hours)
