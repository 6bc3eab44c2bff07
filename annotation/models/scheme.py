"""What is asked: schemes with their sections, questions and options."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.scheme.spec import OptionSpec, QuestionSpec, SchemeSpec, SectionSpec


class Scheme(models.Model):
    """What is asked. That never changes, as labels refer to its options. Under answers its wording may, which makes it
    the next version, and of what it said a `SchemeRevision`."""

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

    @cached_property
    def earlier(self) -> list[tuple[int, datetime]]:
        """Versions of its earlier wordings, each with its end, the first first; none where it never changed. One
        query."""
        return list(self.revisions.order_by("until", "pk").values_list("version", "until"))


class SchemeRevision(models.Model):
    """What a scheme said until its wording was changed under answers. `read_by`: who has read what it said next."""

    scheme = models.ForeignKey(Scheme, models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    spec = models.JSONField()
    source = models.TextField()
    until = models.DateTimeField(auto_now_add=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(max_length=500, help_text=_("Why the wording was changed, as raters are told."))
    read_by = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")

    class Meta:
        ordering = ["scheme", "-version"]
        constraints = [models.UniqueConstraint(fields=["scheme", "version"], name="scheme_revision_once")]

    def __str__(self) -> str:
        return _("%(title)s (version %(version)s)") % {"title": self.scheme.title, "version": self.version}

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

    @cached_property
    def by_key(self) -> dict[str, Question]:
        """Its questions by their keys; a scheme that was reworded is read anew."""
        return {question.key: question for question in self.questions.all()}

    @cached_property
    def specs(self) -> dict[int, QuestionSpec]:
        """What the scheme says of its questions, by their numbers."""
        return {question.pk: self.spec.question(question.key) for question in self.by_key.values()}

    @cached_property
    def options(self) -> dict[int, Option]:
        """The options of all its questions, by their numbers."""
        return {option.pk: option for question in self.by_key.values() for option in question.by_key.values()}


class Question(models.Model):
    section = models.ForeignKey(Section, models.CASCADE, related_name="questions")
    key = models.SlugField(max_length=60)
    title = models.CharField(max_length=120)
    kind = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["section__position", "position"]
        constraints = [models.UniqueConstraint(fields=["section", "key"], name="question_key_once_a_section")]

    def __str__(self) -> str:
        return self.title

    @property
    def spec(self) -> QuestionSpec:
        return self.section.spec.question(self.key)

    @property
    def full_title(self) -> str:
        """As `SchemeSpec.title_of` calls it."""
        return self.section.scheme.parsed.title_of(self.section.key, self.key)

    @cached_property
    def by_key(self) -> dict[str, Option]:
        """Its options by their keys; a scheme that was reworded is read anew."""
        return {option.key: option for option in self.options.all()}


class Option(models.Model):
    """One of the answers that a question offers; a question that is answered by a value has none."""

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
