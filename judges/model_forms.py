"""The part of a form that names a model: one that is known, or a new one by its place."""

from __future__ import annotations

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


class NamesAModel(forms.Form):
    """A form of a judge or an extractor; `makes` says which, for its name is its own among them."""

    makes: type[Judge] | type[Extractor]
    name_is_taken: StrPromise

    model = forms.ModelChoiceField(
        LanguageModel.objects.all(), label=_("Model"), required=False, empty_label=_("— another, or none —")
    )
    backend = forms.ChoiceField(
        label=_("Another model runs"),
        choices=registry.choices,
        required=False,
        initial=registry.DEFAULT,
    )
    location = forms.CharField(
        label=_("Its place"),
        required=False,
        max_length=500,
        help_text=_(
            "A hub id, a folder, a .gguf file, or package:NAME for weights that a Python package carries. Of a server "
            "its address up to and with the version, such as http://gpu-box:8000/v1."
        ),
    )
    served_name = forms.CharField(
        label=_("Name on the server"), required=False, max_length=200, help_text=_("Only for a model on a server.")
    )
    api_key_env = forms.CharField(
        label=_("Variable of the key"),
        required=False,
        max_length=100,
        help_text=_(
            "Only for a server that wants a key: the name of the workers' environment variable that holds it, such as "
            "LAB_API_KEY. Never the key itself."
        ),
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests a minute"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("Only for a server: the most that one worker process asks of it. Empty for no limit."),
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
        label=_("Numbers"),
        choices=DTYPES,
        required=False,
        help_text=_("auto: float32 on a CPU, bfloat16 on a GPU."),
    )
    device = forms.ChoiceField(
        label=_("Runs on"),
        choices=LanguageModel.Device.choices,
        required=False,
        help_text=_("A server is asked by CPU workers."),
    )
    chat_template = forms.BooleanField(
        label=_("Ask in the model's chat form"), required=False, help_text=_("For models that were tuned on chats.")
    )

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
