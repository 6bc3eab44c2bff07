"""Judges, and their runs over studies. A run's labels are the labels of its rater, as everybody's."""

from __future__ import annotations

from functools import cached_property, lru_cache

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Column, Question, Rater, Study
from judges.calibrations.models import FittedCalibration
from judges.extraction.models import Correction, Extraction, ExtractionItem, ExtractionRun, Extractor
from judges.generating.models import GenerationItem, GenerationRun
from judges.lineage.models import Origin
from judges.methods import WRITES
from judges.methods.answers import Why
from judges.methods.prompting import PromptSpec, load_prompt
from judges.spending.models import SpendingItem, SpendingRun, spending_constraints
from judges.trial_models import Trial, TrialItem
from llm.models import LanguageModel, Prompt
from work import models as work

__all__ = [
    "Correction",
    "Extraction",
    "ExtractionItem",
    "ExtractionRun",
    "Extractor",
    "FittedCalibration",
    "GenerationItem",
    "GenerationRun",
    "Judge",
    "Origin",
    "Run",
    "Trial",
    "TrialItem",
    "UnreadableAnswer",
    "WorkItem",
]


@lru_cache(maxsize=64)
def _stored_prompt(text: str) -> PromptSpec:
    """A stored prompt never changes; a worker reads it at each row."""
    return load_prompt(text)


class JudgeQuerySet(models.QuerySet["Judge"]):
    def known_in(self, study: Study) -> JudgeQuerySet:
        """Those that may be seen and started in a study: all but what has lines of another study's documents."""
        return self.filter(Q(study=None) | Q(study=study))


class Judge(models.Model):
    """A model, or none, with a method, a prompt and a normalisation: a rater in waiting."""

    class Method(models.TextChoices):
        CLOZE = "cloze", _("cloze: the most probable option")
        RATING = "rating", _("rating: a number and a reason in the model's own words")
        WRITING = "writing", _("writing: any kind of answer in the model's own words")
        LEXICAL = "lexical", _("lexical: words in common, no model")
        EMBEDDING = "embedding", _("embedding: the nearest line by a sentence encoder")
        STACKER = "stacker", _("stacker: other judges of the study, weighed together")

    class Normalisation(models.TextChoices):
        NONE = "none", _("none: the sum of log-probabilities")
        TOKEN = "token", _("per token")
        CHARACTER = "character", _("per character")
        PMI = "pmi", _("minus the option's probability without evidence (PMI)")

    name = models.CharField(max_length=60, unique=True, help_text=_("Its code as a rater, in reports and exports."))
    method = models.CharField(max_length=12, choices=Method.choices, default=Method.CLOZE)
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, blank=True, related_name="judges")
    prompt = models.ForeignKey(Prompt, models.PROTECT, related_name="judges")
    normalisation = models.CharField(max_length=10, choices=Normalisation.choices, default=Normalisation.NONE)
    chat_template = models.BooleanField(default=False, help_text=_("Ask in the chat form that the model was tuned on."))
    temperature = models.FloatField(
        null=True, blank=True, help_text=_("Of a judge that rates or writes: 0 gives the same answer each time.")
    )
    max_new_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Of a judge that rates or writes: an answer that is longer is cut there.")
    )

    archived_at = models.DateTimeField(null=True, blank=True, help_text=_("Since when it is not offered any more."))
    study = models.ForeignKey(
        Study,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="judges",
        help_text=_("The only one that it is known in, since its prompt has lines of its documents; empty for all."),
    )

    evidence = models.ForeignKey(
        Extractor,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="judges",
        help_text=_("What it judges by: what this extractor took out of a document; else the document itself."),
    )

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(method__in=["cloze", "rating", "writing"], model__isnull=False)
                | Q(method__in=["lexical", "embedding", "stacker"], model=None),
                name="judge_but_the_lexical_has_a_model",
            ),
            models.CheckConstraint(
                condition=Q(
                    method__in=["rating", "writing"],
                    normalisation="none",
                    temperature__isnull=False,
                    max_new_tokens__isnull=False,
                    temperature__gte=0,
                    temperature__lte=2,
                    max_new_tokens__gte=1,
                )
                | (~Q(method__in=["rating", "writing"]) & Q(temperature=None, max_new_tokens=None)),
                name="judge_rating_says_how_it_writes",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def writes(self) -> bool:
        """Whether it writes answers, which have a temperature and a longest one, and may be unreadable."""
        return self.method in WRITES

    @property
    def normalises(self) -> bool:
        """Whether options of several tokens are compared, by log-probabilities."""
        return self.method == self.Method.CLOZE

    @property
    def varies(self) -> bool:
        """Whether a second answer to the same cell can differ from the first."""
        return bool(self.temperature)

    @property
    def queue(self) -> str:
        return self.model.queue if self.model else "cpu"

    @cached_property
    def prompt_spec(self) -> PromptSpec:
        return _stored_prompt(self.prompt.text)


class Run(SpendingRun):
    """One judge over rows of one study."""

    made_by = ("judge",)

    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, models.RESTRICT, related_name="runs")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="runs")
    repeats = models.PositiveSmallIntegerField(default=1, help_text=_("How often each row is labelled in all."))
    corrected = models.BooleanField(
        default=False, help_text=_("Extracted lists are read as people have corrected them, where they have.")
    )

    n_before: int  # runs to which workers come before it, where `queries.runs_in_line` has found it

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["rater"], condition=Q(state="running"), name="run_one_at_a_time_a_rater"),
            *spending_constraints("run"),
        ]

    def __str__(self) -> str:
        return f"{self.judge} · {self.study}"

    def get_state_display(self) -> str:  # type: ignore[no-redef]  # Django makes one where there is none
        return self.state_told

    def get_absolute_url(self) -> str:
        return reverse("judges:run", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return self.judge.name

    @property
    def wanted_queue(self) -> str:
        return self.judge.queue


class WorkItem(SpendingItem):
    """One assignment of a run, on its way through a worker."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="items")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="work_items")
    cells = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0, help_text=_("Cells whose answer held no verdict."))
    speaks = models.TextField(
        blank=True, help_text=_("The first line of its evidence that seems to speak to whoever labels it.")
    )
    asked = models.JSONField(
        default=list, blank=True, help_text=_("Digests of what the model was given (`judges.runs.hearing`).")
    )

    class Meta:
        ordering = ["run", "assignment__row__sheet__position", "assignment__row__position", "assignment__repeat"]
        constraints = [
            models.UniqueConstraint(fields=["run", "assignment"], name="work_item_once_a_run"),
            *work.item_constraints("work_item"),
        ]
        indexes = work.item_indexes("work_item")

    def __str__(self) -> str:
        return f"{self.assignment} ({self.state})"


class UnreadableAnswer(models.Model):
    """What a judge wrote in the place of an answer: a result of its own, of a cell that has no label then."""

    class Why(models.TextChoices):
        EMPTY = Why.EMPTY, _("the answer is empty")
        NO_VERDICT = Why.NO_VERDICT, _("what was asked is not answered")
        OTHER_CRITERION = Why.OTHER_CRITERION, _("something else that was asked is answered")
        NO_NUMBER = Why.NO_NUMBER, _("no number stands alone behind the criterion")
        NOT_OFFERED = Why.NOT_OFFERED, _("the number is not on the scale")
        AMBIGUOUS = Why.AMBIGUOUS, _("the rating may mean more than one number")
        CUT_OFF = Why.CUT_OFF, _("the answer is cut off")
        REFUSED = Why.REFUSED, _("what it wrote is no answer to the question")

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="unreadable_answers")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    why = models.CharField(max_length=16, choices=Why.choices)
    raw = models.TextField(blank=True)
    detail = models.TextField(blank=True, help_text=_("Why it is no answer, where a rule of the question says so."))

    class Meta:
        ordering = ["assignment", "column", "question"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question"], name="unreadable_answer_once_a_cell"),
            models.CheckConstraint(condition=Q(why__in=[why.value for why in Why]), name="unreadable_answer_why_known"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment} · {self.column} · {self.question}: {self.get_why_display()}"
