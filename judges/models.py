"""Judges, and their runs over studies. A run's labels are the labels of its rater, as everybody's."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Column, Question, Rater, Study
from judges.engine import rating
from judges.extraction_models import Extraction, ExtractionItem, ExtractionRun, Extractor
from judges.prompting import PromptSpec, load_prompt
from judges.states import ItemState, RunState

__all__ = [
    "DTYPES",
    "Extraction",
    "ExtractionItem",
    "ExtractionRun",
    "Extractor",
    "Judge",
    "LanguageModel",
    "Prompt",
    "Run",
    "UnreadableAnswer",
    "WorkItem",
]


DTYPES = [(name, name) for name in ("auto", "float32", "bfloat16")]


class LanguageModel(models.Model):
    """Weights that a worker loads, or a model that a server has loaded."""

    class Backend(models.TextChoices):
        TRANSFORMERS = "transformers", _("in a worker of this installation")
        OPENAI = "openai", _("on an OpenAI-compatible server")

    class Device(models.TextChoices):
        CPU = "cpu", _("CPU workers")
        CUDA = "cuda", _("GPU workers")

    name = models.CharField(max_length=100, unique=True)
    backend = models.CharField(max_length=12, choices=Backend.choices, default=Backend.TRANSFORMERS)
    location = models.CharField(
        max_length=500,
        help_text=_(
            "A hub id, a folder, a .gguf file, or package:NAME for weights in a Python package; of a server its "
            "address up to and with the version, such as http://gpu-box:8000/v1."
        ),
    )
    revision = models.CharField(
        max_length=100, blank=True, help_text=_("Commit or tag on the hub; pin it for a study.")
    )
    gguf_file = models.CharField(max_length=200, blank=True)
    dtype = models.CharField(max_length=10, default="auto", choices=DTYPES)
    device = models.CharField(max_length=8, default=Device.CPU, choices=Device.choices)
    served_name = models.CharField(max_length=200, blank=True, help_text=_("The model's name on the server."))
    api_key_env = models.CharField(
        max_length=100,
        blank=True,
        help_text=_(
            "Name of the environment variable of the workers that holds the server's key; the key itself is never "
            "stored. Empty if the server wants none."
        ),
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Most requests of one worker process to the server; empty for no limit.")
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(backend="transformers", served_name="", api_key_env="", requests_per_minute=None)
                | (Q(backend="openai", revision="", gguf_file="", dtype="auto", device="cpu") & ~Q(served_name="")),
                name="language_model_has_what_its_backend_takes",
                violation_error_message=_(
                    "A model on a server has the name that the server knows it by, and no revision, GGUF file, dtype "
                    "or GPU of ours. Any other model has no name on a server, no key and no limit of requests."
                ),
            ),
            models.CheckConstraint(
                condition=Q(requests_per_minute=None) | Q(requests_per_minute__gte=1),
                name="language_model_may_ask_something",
                violation_error_message=_("At least one request a minute, or no limit."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_served(self) -> bool:
        return self.backend == self.Backend.OPENAI


class Prompt(models.Model):
    """The text of a prompt file. It never changes: runs refer to it by its digest."""

    name = models.CharField(max_length=100)
    text = models.TextField()
    digest = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} ({self.digest[:8]})"

    @cached_property
    def parsed(self) -> PromptSpec:
        return load_prompt(self.text)


class Judge(models.Model):
    """A model, or none, with a method, a prompt and a normalisation: a rater in waiting."""

    class Method(models.TextChoices):
        CLOZE = "cloze", _("cloze: the most probable option")
        RATING = "rating", _("rating: a number and a reason in the model's own words")
        LEXICAL = "lexical", _("lexical: words in common, no model")

    class Normalisation(models.TextChoices):
        NONE = "none", _("none: the sum of log-probabilities")
        TOKEN = "token", _("per token")
        CHARACTER = "character", _("per character")
        PMI = "pmi", _("minus the option's probability without evidence (PMI)")

    name = models.CharField(max_length=60, unique=True, help_text=_("Its code as a rater, in reports and exports."))
    method = models.CharField(max_length=8, choices=Method.choices, default=Method.CLOZE)
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, blank=True, related_name="judges")
    prompt = models.ForeignKey(Prompt, models.PROTECT, related_name="judges")
    normalisation = models.CharField(max_length=10, choices=Normalisation.choices, default=Normalisation.NONE)
    chat_template = models.BooleanField(default=False, help_text=_("Ask in the chat form that the model was tuned on."))
    temperature = models.FloatField(
        null=True, blank=True, help_text=_("Of a judge that rates: 0 gives the same answer each time.")
    )
    max_new_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Of a judge that rates: an answer that is longer is cut there.")
    )

    evidence = models.ForeignKey(
        Extractor,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="judges",
        help_text=_("What it judges by: what this extractor took out of a document; else the document itself."),
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(method__in=["cloze", "rating"], model__isnull=False) | Q(method="lexical", model=None),
                name="judge_but_the_lexical_has_a_model",
            ),
            models.CheckConstraint(
                condition=Q(
                    method="rating",
                    normalisation="none",
                    temperature__isnull=False,
                    max_new_tokens__isnull=False,
                    temperature__gte=0,
                    temperature__lte=2,
                    max_new_tokens__gte=1,
                )
                | (~Q(method="rating") & Q(temperature=None, max_new_tokens=None)),
                name="judge_rating_says_how_it_writes",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def varies(self) -> bool:
        """Whether a second answer to the same cell can differ from the first."""
        return bool(self.temperature)

    @property
    def queue(self) -> str:
        return "gpu" if self.model and self.model.device == LanguageModel.Device.CUDA else "cpu"


class Run(models.Model):
    """One judge over rows of one study."""

    State: TypeAlias = RunState

    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="runs")
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    error = models.TextField(blank=True)
    repeats = models.PositiveSmallIntegerField(default=1, help_text=_("How often each row is labelled in all."))
    provenance = models.JSONField(default=dict)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # When its work was last put on the queue, and how often; see actions.recover_runs.
    enqueued_at = models.DateTimeField(null=True)
    enqueued_times = models.PositiveIntegerField(default=0)
    # While nobody is there to do the work, the whole run waits; see actions.work._rest.
    rests = models.PositiveSmallIntegerField(default=0)
    rest_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["rater"], condition=Q(state="running"), name="run_one_at_a_time_a_rater"),
            models.CheckConstraint(
                condition=(Q(state="running") & Q(ended_at=None)) | (~Q(state="running") & Q(ended_at__isnull=False)),
                name="run_ended_has_its_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} · {self.study}"


class WorkItem(models.Model):
    """One assignment of a run, on its way through a worker.

    A worker claims an item with a conditional UPDATE, holds it under a lease that it renews while it works, and
    finishes it in the transaction that writes the labels, if the item is still its own. So two workers on one item, a
    message that comes twice, and a worker that is killed do no harm.
    """

    State: TypeAlias = ItemState

    run = models.ForeignKey(Run, models.CASCADE, related_name="items")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="work_items")
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)  # that ended badly, and the present one
    token = models.UUIDField(null=True)
    worker = models.CharField(max_length=120, blank=True, help_text=_("host:process that claimed it last"))
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text=_("A failed attempt waits before the next."))
    error = models.TextField(blank=True)
    cells = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0, help_text=_("Cells whose answer held no verdict."))
    tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["run", "assignment__row__sheet__position", "assignment__row__position", "assignment__repeat"]
        constraints = [
            models.UniqueConstraint(fields=["run", "assignment"], name="work_item_once_a_run"),
            models.CheckConstraint(
                condition=~Q(state="claimed") | Q(token__isnull=False, lease_until__isnull=False),
                name="work_item_claimed_has_a_lease",
            ),
        ]
        indexes = [models.Index(fields=["run", "state"], name="work_item_by_state")]

    def __str__(self) -> str:
        return f"{self.assignment} ({self.state})"


class UnreadableAnswer(models.Model):
    """What a judge wrote in the place of a rating: a result of its own, of a cell that has no label then."""

    class Why(models.TextChoices):
        EMPTY = rating.Why.EMPTY, _("the answer is empty")
        NO_VERDICT = rating.Why.NO_VERDICT, _("the criterion is not rated")
        OTHER_CRITERION = rating.Why.OTHER_CRITERION, _("another criterion is rated")
        NO_NUMBER = rating.Why.NO_NUMBER, _("no number stands alone behind the criterion")
        NOT_OFFERED = rating.Why.NOT_OFFERED, _("the number is not on the scale")
        AMBIGUOUS = rating.Why.AMBIGUOUS, _("the rating may mean more than one number")
        CUT_OFF = rating.Why.CUT_OFF, _("the answer is cut off before a rating is sure")

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="unreadable_answers")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    why = models.CharField(max_length=16, choices=Why.choices)
    raw = models.TextField(blank=True)

    class Meta:
        ordering = ["assignment", "column", "question"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "column", "question"], name="unreadable_answer_once_a_cell"),
            models.CheckConstraint(
                condition=Q(why__in=[why.value for why in rating.Why]), name="unreadable_answer_why_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment} · {self.column} · {self.question}: {self.get_why_display()}"
