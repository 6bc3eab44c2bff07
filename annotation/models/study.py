"""Studies with their sheets, rows and columns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.evidence.blocks import Block, blocks_from_json
from annotation.models.scheme import Scheme, Section

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser, AnonymousUser


class Role(models.TextChoices):
    """What somebody may do in a study; one person may have several."""

    ANNOTATOR = "annotator", _("annotator")
    MANAGER = "manager", _("manager")
    RESEARCHER = "researcher", _("researcher")


class StudyQuerySet(QuerySet["Study"]):
    def visible_to(self, user: AbstractUser | AnonymousUser) -> StudyQuerySet:
        """Studies in which `user` has any role; a superuser has them all. None that is being deleted."""
        there = self.filter(deleted_at=None)
        if user.is_superuser:
            return there
        return there.filter(memberships__user=user.pk).distinct()


class Study(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    scheme = models.ForeignKey(Scheme, models.PROTECT, related_name="studies")
    guideline = models.TextField(blank=True, help_text=_("Shown to raters before the guideline of the scheme."))
    hourly_rate = models.DecimalField(
        max_digits=9, decimal_places=2, null=True, blank=True, help_text=_("Pay per hour of active work.")
    )
    currency = models.CharField(max_length=8, blank=True)
    submit_complete = models.BooleanField(
        default=False, help_text=_("The last answer of a person's row submits it; a correction opens it again.")
    )
    shows_setup = models.BooleanField(
        default=True, help_text=_("Its first page lists the steps of setting it up, until they are done.")
    )
    consent = models.TextField(
        _("consent text"),
        blank=True,
        help_text=_("What annotators agree to before their first label. A text that is changed is asked for anew."),
    )
    background = models.TextField(
        _("background form"),
        blank=True,
        help_text=_("Questions about who labels, asked once before the first label: “questions:” as in a scheme file."),
    )
    licence = models.CharField(
        _("licence of the labels"),
        max_length=40,
        blank=True,
        validators=[RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9.+-]*$", _("Not an identifier such as CC-BY-4.0."))],
        help_text=_("An SPDX identifier such as CC-BY-4.0; the dataset card of downloads has it."),
    )
    publishes_texts = models.BooleanField(
        _("downloads have the texts"),
        default=False,
        help_text=_("Only where you have the right to pass the texts on; say in the scheme what holds for them."),
    )
    contact = models.CharField(
        _("contact"),
        max_length=200,
        blank=True,
        help_text=_("A person or a role that people of this study write to. Whoever has a link of it reads it."),
    )
    contact_address = models.CharField(
        _("address of the contact"),
        max_length=500,
        blank=True,
        help_text=_("An e-mail address, or a web address that begins with https://."),
    )
    publishes_contact = models.BooleanField(
        _("downloads name the contact"),
        default=False,
        help_text=_("The README and the dataset card of downloads name the contact."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text=_("Since then it stands on nobody's list, and nothing is changed in it.")
    )
    archived_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text=_("Since then a worker is deleting it, and nobody sees it.")
    )
    derived_from = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="derived", help_text=_("The study it was made of.")
    )
    derivation = models.JSONField(default=dict, blank=True, help_text=_("How it was made of that study."))

    objects = StudyQuerySet.as_manager()

    # What the person who looks may do here; set by annotation.people.access for the views, stored in memberships.
    roles: set[Role]

    class Meta:
        ordering = ["title"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    @property
    def contact_text(self) -> str:
        """Whom people of this study write to, in a line: the name, the address or both; "" where neither is set."""
        return ", ".join(filter(None, (self.contact, self.contact_address)))

    @property
    def contact_link(self) -> str:
        """Where the address of the contact leads: mailto: or https:; "" where there is none."""
        if not self.contact_address or self.contact_is_page:
            return self.contact_address
        return f"mailto:{quote(self.contact_address, safe='@')}"

    @property
    def contact_is_page(self) -> bool:
        """Whether the address of the contact is one of the web."""
        return "://" in self.contact_address

    @property
    def published_contact(self) -> str:
        """What downloads say of the contact; "" where they name none."""
        return self.contact_text if self.publishes_contact else ""

    @cached_property
    def has_simulated_raters(self) -> bool:
        """Whether any of its labels may be made up by a program; costs one query."""
        return self.raters.filter(simulated=True).exists()


class Sheet(models.Model):
    """One spreadsheet page: rows × columns."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="sheets")
    position = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    closed_at = models.DateTimeField(null=True, blank=True, help_text=_("Since then its people change nothing."))
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text=_("Since then it stands on nobody's list and in no new plan.")
    )
    shows_gold = models.BooleanField(
        default=False,
        help_text=_("Once it is closed, its people see where their answers differ from the gold, and why."),
    )

    class Meta:
        ordering = ["study", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="sheet_position_once_a_study"),
            models.UniqueConstraint(fields=["study", "title"], name="sheet_title_once_a_study"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def tells_gold(self) -> bool:
        return self.shows_gold and self.closed_at is not None and self.archived_at is None


class Row(models.Model):
    """What is looked at, with the evidence that people read and judges are prompted with."""

    sheet = models.ForeignKey(Sheet, models.CASCADE, related_name="rows")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200, help_text=_("Short and unique in the sheet, such as “Google 1”."))
    title = models.CharField(max_length=500, blank=True)
    url = models.URLField(max_length=2000, blank=True)
    language = models.CharField(max_length=12, blank=True)
    evidence = models.JSONField(default=list)
    facets = models.JSONField(default=dict, blank=True, help_text=_("What the scheme describes rows by."))
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawn_reason = models.TextField(blank=True, help_text=_("Why nobody else is asked to label it."))

    class Meta:
        ordering = ["sheet", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "position"], name="row_position_once_a_sheet"),
            models.UniqueConstraint(fields=["sheet", "name"], name="row_name_once_a_sheet"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def blocks(self) -> list[Block]:
        return blocks_from_json(self.evidence)


class Column(models.Model):
    """What is looked for in each row, described by the facets that the section declares."""

    sheet = models.ForeignKey(Sheet, models.CASCADE, related_name="columns")
    section = models.ForeignKey(Section, models.PROTECT, related_name="columns")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=400, help_text=_("The facets in the section's order, the empty ones left out."))
    facets = models.JSONField(default=dict)

    class Meta:
        ordering = ["sheet", "section__position", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "section", "position"], name="column_position_once_a_section"),
        ]

    def __str__(self) -> str:
        return self.name
