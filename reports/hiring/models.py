"""What hiring keeps: the split and who looked at its test part, certificates, and what was accepted under them."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Column, Plan, Question, Rater, Row, Study

SHORT = 12  # characters of a digest by which people name a certificate


class Split(models.Model):
    """The documents of a study in two parts: on development all is tried, on test the winner alone, once.

    Rows that came later have the part that `seed` gives them (`hiring.queries.parts_of`).
    """

    class Unit(models.TextChoices):
        ROW = "row", gettext_lazy("documents")
        ITEM = "item", gettext_lazy("items of which texts are compared")
        SHEET = "sheet", gettext_lazy("whole sheets")

    study = models.OneToOneField(Study, models.CASCADE, related_name="split")
    unit = models.CharField(max_length=5, choices=Unit.choices, default=Unit.ROW)
    share = models.PositiveSmallIntegerField(help_text=gettext_lazy("Per cent of the documents that are for the test."))
    seed = models.PositiveIntegerField()
    drawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(share__gte=1, share__lte=99), name="split_has_two_parts"),
            models.CheckConstraint(condition=Q(unit__in=["row", "item", "sheet"]), name="split_unit_known"),
        ]

    def __str__(self) -> str:
        return f"{self.study} · {self.share} %"


class SplitRow(models.Model):
    """The part of one row."""

    split = models.ForeignKey(Split, models.CASCADE, related_name="rows")
    row = models.OneToOneField(Row, models.CASCADE, related_name="part")
    test = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.row}: {'test' if self.test else 'development'}"


class TestLook(models.Model):
    """Somebody saw what judges are worth on the test part. `outcome`: of a test, its document."""

    __test__ = False  # no test of pytest's

    class What(models.TextChoices):
        TEST = "test", gettext_lazy("a judge was tested")
        REPORT = "report", gettext_lazy("the report was read")
        DOWNLOAD = "download", gettext_lazy("labels or the report were downloaded")

    study = models.ForeignKey(Study, models.CASCADE, related_name="test_looks")
    what = models.CharField(max_length=8, choices=What.choices)
    judge = models.CharField(max_length=80, blank=True)
    question = models.CharField(max_length=125, blank=True, help_text=gettext_lazy("section.question"))
    outcome = models.JSONField(default=dict, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "what", "by", "at"], name="test_look_by_whom")]
        constraints = [
            models.CheckConstraint(
                condition=Q(what="test") & ~Q(judge="") & ~Q(question="")
                | Q(what__in=["report", "download"], judge="", question=""),
                name="test_look_of_a_judge_says_which",
            )
        ]

    def __str__(self) -> str:
        return f"{self.study} · {self.get_what_display()}"


class FrozenCertificate(Exception):
    """Something was about to change a certificate."""


class CertificateQuerySet(QuerySet["Certificate"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise FrozenCertificate(_("A certificate is never changed; it can be revoked."))

    def standing(self) -> CertificateQuerySet:
        """Those that nobody and nothing has revoked; they may have expired."""
        return self.filter(revocation=None)


class Certificate(models.Model):
    """That at most so many of the cells which a judge accepts are wrong: a frozen document.

    `document` is canonical JSON, a function of `labels` (a packed `LabelTable`) and `request` alone
    (`hiring.documents`). `save`, the query set and a trigger of the database refuse a change.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="certificates")
    rater = models.ForeignKey(Rater, models.PROTECT, related_name="certificates")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    labels = models.BinaryField()
    request = models.JSONField()
    document = models.TextField()
    digest = models.CharField(max_length=64, unique=True, help_text=gettext_lazy("SHA-256 of the document."))
    data_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of the label table."))
    threshold = models.FloatField(help_text=gettext_lazy("A cell is accepted from this score on."))
    epsilon = models.FloatField(help_text=gettext_lazy("Share of accepted cells that may be wrong."))
    confidence = models.FloatField()
    until = models.DateField()
    look = models.OneToOneField(TestLook, models.PROTECT, related_name="certificate")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CertificateQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(epsilon__gt=0, epsilon__lt=1, confidence__gt=0, confidence__lt=1),
                name="certificate_claims_something",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise FrozenCertificate(_("A certificate is never changed; it can be revoked."))
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("reports:certificate", args=[self.study.slug, self.name])

    @property
    def name(self) -> str:
        """What people, exports and label tables call it."""
        return self.digest[:SHORT]


class Revocation(models.Model):
    """That a certificate does not hold any more, and why. Written once."""

    class Why(models.TextChoices):
        CHANGED = "changed", gettext_lazy("the judge or what it reads has changed")
        SUPERVISION = "supervision", gettext_lazy("supervision found too many wrong cells")
        HAND = "hand", gettext_lazy("by hand")

    certificate = models.OneToOneField(Certificate, models.PROTECT, related_name="revocation")
    why = models.CharField(max_length=12, choices=Why.choices)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="revocation_has_a_reason"),
            models.CheckConstraint(
                condition=Q(why__in=["changed", "supervision", "hand"]), name="revocation_why_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.certificate}: {self.get_why_display()}"


class Takeover(models.Model):
    """What a judge took over on one day under a certificate; the rest, and what is supervised, went to people.

    `share`: per cent of the documents with accepted cells that are drawn for people.
    """

    certificate = models.ForeignKey(Certificate, models.PROTECT, related_name="takeovers")
    plan = models.ForeignKey(Plan, models.SET_NULL, null=True, blank=True, related_name="+")
    share = models.PositiveSmallIntegerField()
    seed = models.PositiveIntegerField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=Q(share__lte=100), name="takeover_share_of_100")]

    def __str__(self) -> str:
        return f"{self.certificate} · {self.at:%Y-%m-%d}"


class TakeoverRow(models.Model):
    """One document of a takeover. `drawn`: chance gave it to people, to supervise the judge; `rest`: the judge was not
    sure of all of it, so that people have it. A document can be both."""

    takeover = models.ForeignKey(Takeover, models.CASCADE, related_name="rows")
    row = models.ForeignKey(Row, models.CASCADE, related_name="+")
    drawn = models.BooleanField(default=False)
    rest = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["takeover", "row"], name="takeover_row_once")]

    def __str__(self) -> str:
        return f"{self.takeover} · {self.row}"


class Accepted(models.Model):
    """A cell whose answer by the judge counts as its label, under a certificate."""

    takeover = models.ForeignKey(Takeover, models.CASCADE, related_name="cells")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="accepted")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    code = models.TextField(help_text=gettext_lazy("The answer as it was accepted."))
    score = models.FloatField()

    class Meta:
        verbose_name_plural = "accepted cells"
        constraints = [
            models.UniqueConstraint(
                fields=["takeover", "assignment", "column", "question"], name="accepted_once_a_takeover"
            ),
            models.CheckConstraint(condition=~Q(code=""), name="accepted_has_an_answer"),
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.code}"
