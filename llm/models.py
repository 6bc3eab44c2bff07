"""Language models, prompts, and the texts that models wrote: what judges, extractors and whatever else refers to."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from llm import registry
from llm.backends.base import RESCUED, BackendError, Place
from llm.engine.prompt import Sampling
from llm.generating.signs import Seen, Sign
from llm.prices import Prices
from llm.prompts import digest

DTYPES = [
    *((name, name) for name in ("auto", "float32", "bfloat16")),
    (RESCUED, _("bfloat16, and float32 where two options are close")),
]
# What a backend may take beside the location, with what stands for "not given".
_NOTHING = {
    "revision": "",
    "gguf_file": "",
    "dtype": "auto",
    "device": "cpu",
    "served_name": "",
    "api_key_env": "",
    "requests_per_minute": None,
}


def _only(backend: str, *fields: str) -> Q:
    """A model of this backend has nothing in the other fields; `takes` of its class names the same."""
    return Q(backend=backend, **{name: nothing for name, nothing in _NOTHING.items() if name not in fields})


class LanguageModel(models.Model):
    """Weights that a worker loads, or a model that a server has loaded."""

    class Device(models.TextChoices):
        CPU = "cpu", _("CPU workers")
        CUDA = "cuda", _("GPU workers")

    name = models.CharField(max_length=100, unique=True)
    backend = models.CharField(max_length=40, choices=registry.choices, default=registry.DEFAULT)
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

    price_read = models.DecimalField(
        null=True, blank=True, max_digits=12, decimal_places=4, verbose_name=_("price of a million tokens read"),
        help_text=_("What the model's owner charges; empty if nothing, or if nobody counts."),
    )  # fmt: skip
    price_written = models.DecimalField(
        null=True, blank=True, max_digits=12, decimal_places=4, verbose_name=_("price of a million tokens written")
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(price_read=None) | Q(price_read__gte=0))
                & (Q(price_written=None) | Q(price_written__gte=0)),
                name="language_model_costs_nothing_or_more",
                violation_error_message=_("A price is 0 or more."),
            ),
            # Of backends that an installation adds, `clean` says it alone: the database cannot know them.
            models.CheckConstraint(
                condition=_only("transformers", "revision", "gguf_file", "dtype", "device")
                | (_only("openai", "served_name", "api_key_env", "requests_per_minute") & ~Q(served_name=""))
                | ~Q(backend__in=list(registry.SHIPPED)),
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

    def clean(self) -> None:
        """What its backend takes is given, and nothing else."""
        try:
            backend = registry.class_of(self.backend)
        except BackendError as error:
            raise ValidationError({"backend": str(error)}) from error
        given = {name for name, nothing in _NOTHING.items() if getattr(self, name) != nothing}
        if unused := sorted(given - backend.takes):
            raise ValidationError(
                _("A model %(backend)s has no use for: %(fields)s. Leave it empty.")
                % {"backend": _(backend.label), "fields": ", ".join(map(self._called, unused))}
            )
        if lacking := sorted(backend.requires - given):
            raise ValidationError(
                _("A model %(backend)s cannot be had without: %(fields)s.")
                % {"backend": _(backend.label), "fields": ", ".join(map(self._called, lacking))}
            )

    def _called(self, name: str) -> str:
        return str(self._meta.get_field(name).verbose_name)  # type: ignore[union-attr]  # no relation among them

    @property
    def prices(self) -> Prices | None:
        """What a million tokens cost; None where no price is given. One that is left out is 0."""
        if self.price_read is None and self.price_written is None:
            return None
        return Prices(self.price_read or Decimal(0), self.price_written or Decimal(0), settings.PALATE_CURRENCY)

    @property
    def place(self) -> Place:
        """What a backend takes of it."""
        return Place(location=self.location, **{name: getattr(self, name) for name in _NOTHING})

    @property
    def queue(self) -> str:
        """The queue whose workers can work with it."""
        return registry.queue_of(self)

    @property
    def described(self) -> list[tuple[str, str]]:
        """Titles and texts for the page of a run."""
        try:
            return registry.class_of(self.backend).described(self.place)
        except BackendError:
            return [(str(_("Model")), self.location)]

    @property
    def announced(self) -> str:
        """Whom it asks outside this installation, "" if nobody."""
        try:
            return registry.class_of(self.backend).announced(self.place)
        except BackendError:
            return ""


class Prompt(models.Model):
    """The text of a prompt file. It never changes: runs refer to it by its digest."""

    name = models.CharField(max_length=100)
    text = models.TextField()
    digest = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} ({self.digest[:8]})"


class Generation(models.Model):
    """A text that a model is to write, or has written, for a prompt: with everything needed to have it written again.

    What is asked never changes; the rest is written once, when the model has answered. The same record writes the same
    text on the same machine: a text is written alone, and what is drawn depends on the prompt and the seed.
    """

    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="generations")
    prompt = models.ForeignKey(Prompt, models.PROTECT, related_name="generations", help_text=_("Before it was filled."))
    input = models.CharField(max_length=200, help_text=_("What the text is asked about: a name."))
    asked = models.TextField(help_text=_("The prompt as the model gets it."))
    chat_template = models.BooleanField(default=False)
    temperature = models.FloatField(default=0)
    seed = models.PositiveBigIntegerField(default=1)
    max_new_tokens = models.PositiveIntegerField()
    same_as = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="written_again", help_text=_("The same record.")
    )

    text = models.TextField(null=True, blank=True)
    finish = models.CharField(max_length=20, blank=True, help_text=_("Why: stop, length, or a server's word."))
    tokens = models.PositiveIntegerField(null=True, blank=True, help_text=_("Written, where they are counted."))
    seconds = models.FloatField(null=True, blank=True)
    signs = models.JSONField(default=dict, blank=True, help_text=_("What may be wrong with it: {sign: the words}."))
    identity = models.JSONField(default=dict, blank=True, help_text=_("The model and the libraries."))
    written_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(text=None, written_at=None, seconds=None, finish="")
                | Q(text__isnull=False, written_at__isnull=False, seconds__isnull=False) & ~Q(finish=""),
                name="generation_is_written_whole",
            ),
            models.CheckConstraint(
                condition=Q(temperature__gte=0, temperature__lte=2, max_new_tokens__gte=1),
                name="generation_says_how_it_is_written",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.input} · {self.model} · {self.seed}"

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.max_new_tokens, temperature=self.temperature, seed=self.seed)

    @property
    def asked_digest(self) -> str:
        """SHA-256 of the prompt as the model gets it."""
        return digest(self.asked)

    @property
    def weights(self) -> str:
        """SHA-256 of the weights that wrote it; "" where a server keeps them to itself."""
        return str(self.identity.get("weights_sha256", ""))

    @property
    def is_whole(self) -> bool:
        """Whether the model came to the end of its text by itself."""
        return self.finish == "stop"

    @property
    def seen(self) -> list[Seen]:
        return [Seen(Sign(sign), words) for sign, words in self.signs.items()]
