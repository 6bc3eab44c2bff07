"""Answers: labels, their history, what was decided about them, and cells that were skipped."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.answers.codes import value_code
from annotation.models.fields import ValueField
from annotation.models.people import Rater
from annotation.models.scheme import Option, Question
from annotation.models.study import Column, Sheet
from annotation.models.work import Assignment


def code_of(option: Option | None, value: Any) -> str:
    """The code of an option or of a value, of which at most one is given; "" for neither."""
    return option.key if option is not None else "" if value is None else value_code(value)


class Label(models.Model):
    """The answer of one assignment to one cell: an option or a value.

    A clear deletes it; what was there stays in the events.
    """

    # Without an index of their own where another one begins with the same column: each is written at every save.
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="labels", db_index=False)
    column = models.ForeignKey(Column, models.CASCADE, related_name="labels")
    question = models.ForeignKey(Question, models.PROTECT, related_name="labels", db_index=False)
    option = models.ForeignKey(Option, models.PROTECT, null=True, blank=True, related_name="labels")
    value = ValueField(null=True, blank=True, help_text=_("The answer to a question without options."))
    scores = models.JSONField(null=True, blank=True, help_text=_("A judge's log-probabilities of all options."))
    note = models.TextField(blank=True)
    preset = models.BooleanField(default=False, help_text=_("Follows from the column; nobody chose it."))
    exposed = models.BooleanField(
        default=False, help_text=_("Its rater had seen other raters' labels of this sheet before.")
    )
    drafted_from = models.ForeignKey(
        Rater,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text=_("Whose answer it began as."),
    )
    confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When its rater changed or confirmed the drafted answer.")
    )
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["assignment", "column", "question"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question"], name="label_once_a_cell"),
            models.CheckConstraint(
                condition=Q(option__isnull=False, value=None) | Q(option=None, value__isnull=False),
                name="label_option_xor_value",
            ),
        ]
        indexes = [
            models.Index(fields=["question", "option"], name="label_by_option"),
            models.Index(fields=["drafted_from"], name="label_drafted", condition=Q(drafted_from__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.option or self.code}"

    @property
    def code(self) -> str:
        """What its answer is known by; costs a query where the option is not loaded."""
        return code_of(self.option, self.value)

    @property
    def is_draft(self) -> bool:
        """It began as another rater's answer, and its own has neither changed nor confirmed it."""
        return self.drafted_from_id is not None and self.confirmed_at is None


class Skip(models.Model):
    """The rater cannot tell, and says why. A cell has a label or a skip or neither; the history is in `LabelEvent`."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="skips")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["assignment", "column", "question"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question"], name="skip_once_a_cell"),
            models.CheckConstraint(condition=~Q(reason=""), name="skip_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.reason}"


class LabelEvent(models.Model):
    """The append-only history of labels, written in the transaction that changes them.

    `key` is made by whoever sends the change; the same key for the same assignment a second time is a resend and
    changes nothing. `note`, `preset`, `drafted_from` and `confirmed_at` are those of the label after it, so that the
    cell can be restored.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="events", db_index=False)
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    before = models.ForeignKey(Option, models.PROTECT, null=True, related_name="+", db_index=False)
    after = models.ForeignKey(Option, models.PROTECT, null=True, related_name="+")
    value_before = ValueField(null=True)
    value_after = ValueField(null=True)
    skip_before = models.CharField(max_length=500, blank=True, help_text=_("Reason of the skip; empty means none."))
    skip_after = models.CharField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    preset = models.BooleanField(default=False)
    drafted_from = models.ForeignKey(Rater, models.SET_NULL, null=True, related_name="+", db_index=False)
    confirmed_at = models.DateTimeField(null=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text=_("Who changed it, where that was somebody other than the rater."),
    )
    restored_to = models.DateTimeField(
        null=True, help_text=_("The moment that was restored, where the change was a restore.")
    )
    at = models.DateTimeField(default=timezone.now)
    key = models.UUIDField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question", "key"], name="label_event_key_once"),
            models.CheckConstraint(
                condition=(Q(before=None) | Q(value_before=None)) & (Q(after=None) | Q(value_after=None)),
                name="label_event_option_or_value",
            ),
        ]
        # Few events are of a restore, and each page of a rater looks for them. Few change a label, or are another's.
        indexes = [
            models.Index(fields=["assignment"], name="label_event_restored", condition=Q(restored_to__isnull=False)),
            models.Index(fields=["before"], name="label_event_before", condition=Q(before__isnull=False)),
            models.Index(fields=["by"], name="label_event_by", condition=Q(by__isnull=False)),
            models.Index(fields=["drafted_from"], name="label_event_drafted", condition=Q(drafted_from__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.code_before} → {self.code_after}"

    @property
    def code_before(self) -> str:
        """The code of the label before; "" for a skip or nothing. Costs a query where the option is not loaded."""
        return code_of(self.before, self.value_before)

    @property
    def code_after(self) -> str:
        return code_of(self.after, self.value_after)


class Decision(models.Model):
    """What somebody decided about a cell, and what they saw. The latest counts; the earlier ones are kept.

    The gold label itself is a `Label` of `assignment`, which is one of the study's gold rater.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    option = models.ForeignKey(
        Option, models.PROTECT, null=True, related_name="+", help_text=_("Empty where a decision was withdrawn.")
    )
    value = ValueField(null=True, help_text=_("What was decided of a question without options."))
    reason = models.TextField(blank=True)
    seen = models.JSONField(default=dict, help_text=_("Rater → code of all labels of the cell at that time."))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="decisions")
    at = models.DateTimeField(auto_now_add=True)
    batch = models.UUIDField(null=True, editable=False, help_text=_("The same for all that were accepted at once."))

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(option=None) | Q(value=None), name="decision_option_or_value"),
        ]
        indexes = [models.Index(fields=["assignment", "column", "question"], name="decision_by_cell")]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.code}"

    @property
    def code(self) -> str:
        """The code of what was decided; "" where a decision was withdrawn."""
        return code_of(self.option, self.value)


class Look(models.Model):
    """Somebody saw other raters' labels of a sheet. What they label there themselves from then on is `exposed`."""

    sheet = models.ForeignKey(Sheet, models.CASCADE, related_name="looks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="looks")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["sheet", "user", "at"], name="look_by_user")]

    def __str__(self) -> str:
        return f"{self.user} · {self.sheet} · {self.at:%Y-%m-%d %H:%M}"
