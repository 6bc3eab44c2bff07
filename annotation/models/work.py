"""Who has what to do: assignments, the plans that made them, time at work, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models.people import Rater
from annotation.models.scheme import Question, Section
from annotation.models.study import Column, Row, Study

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from annotation.models.people import User


class Plan(models.Model):
    """A design as it was applied: what was asked for, and the seed that makes it again."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="plans")
    request = models.JSONField()
    applied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    applied_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-applied_at"]

    def __str__(self) -> str:
        return f"{self.study} · {self.applied_at:%Y-%m-%d %H:%M}"


class AssignmentQuerySet(QuerySet["Assignment"]):
    def of_user(self, user: User | AnonymousUser) -> AssignmentQuerySet:
        return self.filter(rater__user=user.pk, rater__active=True).exclude(state=Assignment.State.WITHDRAWN)


class Assignment(models.Model):
    """One rater, one row, one repeat: the unit of work of people and judges."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        STARTED = "started", _("started")
        SUBMITTED = "submitted", _("submitted")
        FAILED = "failed", _("failed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    # `assignment_once` begins with the rater; plans and who has it instead have indexes of those that are.
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="assignments", db_index=False)
    row = models.ForeignKey(Row, models.CASCADE, related_name="assignments")
    repeat = models.PositiveSmallIntegerField(default=1)
    sections = models.JSONField(default=list, blank=True, help_text=_("Keys of the sections asked; empty means all."))
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    failure = models.TextField(blank=True, help_text=_("Why a judge could not label this row."))
    active_seconds = models.PositiveIntegerField(default=0, help_text=_("Time at work on it, pauses left out."))
    plan = models.ForeignKey("Plan", models.SET_NULL, null=True, blank=True, related_name="assignments", db_index=False)
    order = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Place in the rater's own order of a sheet; empty means the sheet's order.")
    )
    handed_to = models.ForeignKey(
        Rater,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text=_("Who has it instead."),
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["row__sheet", "row__position", "rater"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "row", "repeat"], name="assignment_once"),
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | (~Q(state="submitted") & Q(submitted_at=None)),
                name="assignment_submitted_has_its_time",
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(failure="")) | (~Q(state="failed") & Q(failure="")),
                name="assignment_failed_says_why",
            ),
            models.CheckConstraint(
                condition=Q(handed_to=None) | Q(state="withdrawn"), name="assignment_handed_on_is_withdrawn"
            ),
        ]
        indexes = [
            models.Index(fields=["plan"], name="assignment_planned", condition=Q(plan__isnull=False)),
            models.Index(fields=["handed_to"], name="assignment_handed_to", condition=Q(handed_to__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.rater} · {self.row}"

    def asks(self, section: Section) -> bool:
        return self.asks_key(section.key)

    def asks_key(self, section_key: str) -> bool:
        return not self.sections or section_key in self.sections


class Sitting(models.Model):
    """One document in one opened page of the grid: what the page has counted of active time so far.

    The page sends the whole count each time, so a count that comes twice or late does no harm.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="sittings")
    page = models.UUIDField(help_text=_("Made by the browser when it opens the page."))
    seconds = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(help_text=_("When the page was last heard of."))
    credited_at = models.DateTimeField(null=True, help_text=_("When time was last added for it."))

    class Meta:
        ordering = ["assignment", "beat_at"]
        constraints = [models.UniqueConstraint(fields=["assignment", "page"], name="sitting_once_a_page")]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.seconds} s"


class PastSubmission(models.Model):
    """A submission that was taken back: the assignment was submitted from `submitted_at` until `until`. Append-only;
    one that stands is in its assignment alone, so that submitting writes nothing here."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="past_submissions")
    submitted_at = models.DateTimeField()
    until = models.DateTimeField(help_text=_("When it was taken back."))

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.submitted_at:%Y-%m-%d %H:%M} – {self.until:%Y-%m-%d %H:%M}"


class NoteQuerySet(QuerySet["Note"]):
    def unanswered(self) -> NoteQuerySet:
        return self.filter(answered_at=None)

    def unread(self) -> NoteQuerySet:
        """Answered, and whoever asked has not looked at the answer yet."""
        return self.filter(answered_at__isnull=False, read_at=None)


class Note(models.Model):
    """What a rater asks the manager about a cell, and the answer. A cell has one open note at most."""

    MOST = 4000  # characters of a text or an answer

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="notes")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    text = models.TextField()
    # Whose account is erased is forgotten here too: the assignment has their code.
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)

    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "column", "question"], condition=Q(answered_at=None), name="note_open_once_a_cell"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="note_says_something"),
            models.CheckConstraint(
                condition=Q(answer="", answered_at=None, answered_by=None, read_at=None)
                | (~Q(answer="") & Q(answered_at__isnull=False, answered_by__isnull=False)),
                name="note_answer_has_its_time_and_author",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.text}"
