"""Tables of the core. A person and a model are the same thing here: a `Rater`.

    Scheme ─< Section ─< Question ─< Option
      │
    Study ─< Sheet ─< Row ─< Assignment >─ Rater >─ Study
               └──< Column
                       Assignment × Column × Question ─ Label, and its history in LabelEvent

What must be true is a constraint. All writes are in `annotation.actions`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.evidence import Block, blocks_from_json
from annotation.scheme import OptionSpec, QuestionSpec, SchemeSpec, SectionSpec

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class User(AbstractUser):
    """Somebody with a login. What a user may do in a study is a `Membership`; their labels belong to a `Rater`."""


class Scheme(models.Model):
    """What is asked. A stored version never changes: labels refer to its options."""

    slug = models.SlugField(max_length=60)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    spec = models.JSONField()
    source = models.TextField(help_text=_("The YAML file as it was read."))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "-version"]
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="scheme_version_once")]

    def __str__(self) -> str:
        return _("%(title)s (version %(version)s)") % {"title": self.title, "version": self.version}

    @cached_property
    def parsed(self) -> SchemeSpec:
        return SchemeSpec.model_validate(self.spec)


class Section(models.Model):
    scheme = models.ForeignKey(Scheme, models.CASCADE, related_name="sections")
    key = models.SlugField(max_length=60)
    title = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["scheme", "position"]
        constraints = [models.UniqueConstraint(fields=["scheme", "key"], name="section_key_once_a_scheme")]

    def __str__(self) -> str:
        return self.title

    @property
    def spec(self) -> SectionSpec:
        return self.scheme.parsed.section(self.key)


class Question(models.Model):
    section = models.ForeignKey(Section, models.CASCADE, related_name="questions")
    key = models.SlugField(max_length=60)
    title = models.CharField(max_length=120)
    kind = models.CharField(max_length=12)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["section__position", "position"]
        constraints = [models.UniqueConstraint(fields=["section", "key"], name="question_key_once_a_section")]

    def __str__(self) -> str:
        return self.title

    @property
    def spec(self) -> QuestionSpec:
        return self.section.spec.question(self.key)


class Option(models.Model):
    question = models.ForeignKey(Question, models.CASCADE, related_name="options")
    key = models.SlugField(max_length=60)
    label = models.CharField(max_length=80)
    hotkey = models.CharField(max_length=1)
    value = models.IntegerField(null=True, help_text=_("The number on a scale; empty for the options of a choice."))
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["question", "position"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="option_key_once_a_question"),
            models.UniqueConstraint(fields=["question", "hotkey"], name="option_hotkey_once_a_question"),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def spec(self) -> OptionSpec:
        return self.question.spec.option(self.key)


class StudyQuerySet(QuerySet["Study"]):
    def visible_to(self, user: User | AnonymousUser) -> StudyQuerySet:
        """Studies in which `user` has any role; a superuser has them all."""
        if user.is_superuser:
            return self.all()
        return self.filter(memberships__user=user.pk).distinct()


class Study(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    scheme = models.ForeignKey(Scheme, models.PROTECT, related_name="studies")
    guideline = models.TextField(blank=True, help_text=_("Shown to raters before the guideline of the scheme."))
    hourly_rate = models.DecimalField(
        max_digits=9, decimal_places=2, null=True, blank=True, help_text=_("What an hour of active work is paid.")
    )
    currency = models.CharField(max_length=8, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StudyQuerySet.as_manager()

    # What the person who looks may do here; set by annotation.access for the views, stored in memberships.
    roles: set[Role]

    class Meta:
        ordering = ["title"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    @cached_property
    def has_simulated_raters(self) -> bool:
        """Whether any of its labels may be made up by a program; costs one query."""
        return self.raters.filter(simulated=True).exists()


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("annotator")
    MANAGER = "manager", _("manager")
    RESEARCHER = "researcher", _("researcher")


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


class Sheet(models.Model):
    """One spreadsheet page: rows × columns."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="sheets")
    position = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    closed_at = models.DateTimeField(null=True, blank=True, help_text=_("Since then its people change nothing."))
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["study", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="sheet_position_once_a_study"),
            models.UniqueConstraint(fields=["study", "title"], name="sheet_title_once_a_study"),
        ]

    def __str__(self) -> str:
        return self.title


class Row(models.Model):
    """What is looked at, with the evidence that people read and judges are prompted with."""

    sheet = models.ForeignKey(Sheet, models.CASCADE, related_name="rows")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200, help_text=_("Short and unique in the sheet, such as “Google 1”."))
    title = models.CharField(max_length=500, blank=True)
    url = models.URLField(max_length=2000, blank=True)
    language = models.CharField(max_length=12, blank=True)
    evidence = models.JSONField(default=list)
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


class RaterQuerySet(QuerySet["Rater"]):
    def people(self) -> RaterQuerySet:
        return self.filter(kind=Rater.Kind.PERSON)

    def judges(self) -> RaterQuerySet:
        return self.filter(kind=Rater.Kind.JUDGE)

    def plannable(self) -> RaterQuerySet:
        """People who can be given work: here, with a login, not paused."""
        return self.people().filter(active=True, simulated=False, user__isnull=False, paused_at=None)


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

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="assignments")
    row = models.ForeignKey(Row, models.CASCADE, related_name="assignments")
    repeat = models.PositiveSmallIntegerField(default=1)
    sections = models.JSONField(default=list, blank=True, help_text=_("Keys of the sections asked; empty means all."))
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    failure = models.TextField(blank=True, help_text=_("Why a judge could not label this row."))
    active_seconds = models.PositiveIntegerField(default=0, help_text=_("Time at work on it, pauses left out."))
    plan = models.ForeignKey("Plan", models.SET_NULL, null=True, blank=True, related_name="assignments")
    order = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Place in the rater's own order of a sheet; empty means the sheet's order.")
    )
    handed_to = models.ForeignKey(
        Rater, models.SET_NULL, null=True, blank=True, related_name="+", help_text=_("Who has it instead.")
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

    def __str__(self) -> str:
        return f"{self.rater} · {self.row}"

    def asks(self, section: Section) -> bool:
        return self.asks_key(section.key)

    def asks_key(self, section_key: str) -> bool:
        return not self.sections or section_key in self.sections


class Label(models.Model):
    """The answer of one assignment to one cell. A clear deletes it; what was there stays in the events."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="labels")
    column = models.ForeignKey(Column, models.CASCADE, related_name="labels")
    question = models.ForeignKey(Question, models.PROTECT, related_name="labels")
    option = models.ForeignKey(Option, models.PROTECT, related_name="labels")
    scores = models.JSONField(null=True, blank=True, help_text=_("A judge's log-probabilities of all options."))
    note = models.TextField(blank=True)
    preset = models.BooleanField(default=False, help_text=_("Follows from the column; nobody chose it."))
    exposed = models.BooleanField(
        default=False, help_text=_("Its rater had seen other raters' labels of this sheet before.")
    )
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["assignment", "column", "question"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question"], name="label_once_a_cell"),
        ]
        indexes = [models.Index(fields=["question", "option"], name="label_by_option")]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.option}"


class LabelEvent(models.Model):
    """The append-only history of labels, written in the transaction that changes them.

    `key` is made by whoever sends the change; the same key for the same assignment a second time is a resend and
    changes nothing. `note` and `preset` are those of the label after it, so that the cell can be restored.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="events")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    before = models.ForeignKey(Option, models.PROTECT, null=True, related_name="+")
    after = models.ForeignKey(Option, models.PROTECT, null=True, related_name="+")
    skip_before = models.CharField(max_length=500, blank=True, help_text=_("Reason of the skip; empty means none."))
    skip_after = models.CharField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    preset = models.BooleanField(default=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
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
        ]
        # Few events are of a restore, and each page of a rater looks for them.
        indexes = [
            models.Index(fields=["assignment"], name="label_event_restored", condition=Q(restored_to__isnull=False))
        ]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.before} → {self.after}"


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
    reason = models.TextField(blank=True)
    seen = models.JSONField(default=dict, help_text=_("Rater → option key of all labels of the cell at that time."))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="decisions")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["assignment", "column", "question"], name="decision_by_cell")]

    def __str__(self) -> str:
        return f"{self.column} · {self.question}: {self.option}"


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
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
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


class InviteQuerySet(QuerySet["Invite"]):
    def open(self) -> InviteQuerySet:
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


class Invite(models.Model):
    """A link that lets one person into a study. Only the digest of its secret is stored; it is shown once."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="invites")
    role = models.CharField(max_length=12, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
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
