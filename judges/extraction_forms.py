from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judges import documents, extraction_prompts, labelling
from judges.backends.base import BackendError
from judges.models import DTYPES, Extractor, Judge, LanguageModel
from judges.prompting import PromptError

_OF_A_MODEL = (
    "backend", "location", "revision", "gguf_file", "dtype", "device", "served_name", "api_key_env",
    "requests_per_minute",
)  # fmt: skip


class ExtractorForm(forms.Form):
    """A new extractor: a parser of this installation, or a model with a prompt."""

    name = forms.SlugField(
        label=_("Name"), max_length=60, help_text=_("In reports: small letters, digits and hyphens.")
    )
    parser = forms.ChoiceField(label=_("Parser"), required=False)
    model = forms.ModelChoiceField(
        LanguageModel.objects.all(), label=_("Model"), required=False, empty_label=_("— another, or none —")
    )
    backend = forms.ChoiceField(
        label=_("Another model runs"),
        choices=LanguageModel.Backend.choices,
        required=False,
        initial=LanguageModel.Backend.TRANSFORMERS,
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
        label=_("Requests a minute"), required=False, min_value=1, max_value=1_000_000
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
    device = forms.ChoiceField(label=_("Runs on"), choices=LanguageModel.Device.choices, required=False)
    chat_template = forms.BooleanField(
        label=_("Ask in the model's chat form"),
        required=False,
        initial=True,
        help_text=_("For models that were tuned on chats."),
    )
    max_new_tokens = forms.IntegerField(
        label=_("Longest answer, in tokens"),
        min_value=16,
        max_value=32_768,
        initial=2048,
        help_text=_("An answer that is longer is cut there; the item that it breaks off in is left out."),
    )
    prompt_text = forms.CharField(
        label=_("Prompt"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text=_("Which lists the model is asked for, and how; only for a model."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        parsers = [(parser.key, parser.label) for parser in documents.parsers()]
        self.fields["parser"].choices = [("", _("— none: a model —")), *parsers]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Extractor.objects.filter(name=name).exists():
            raise forms.ValidationError(_("There is an extractor called “%(name)s” already.") % {"name": name})
        return name

    def clean_backend(self) -> str:
        backend: str = self.cleaned_data["backend"]
        return backend or LanguageModel.Backend.TRANSFORMERS

    def clean_dtype(self) -> str:
        dtype: str = self.cleaned_data["dtype"]
        return dtype or "auto"

    def clean_device(self) -> str:
        device: str = self.cleaned_data["device"]
        return device or LanguageModel.Device.CPU

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        n_named = bool(cleaned["parser"]) + bool(cleaned["model"]) + bool(cleaned["location"])
        if n_named != 1:
            self.add_error("parser", _("Choose a parser, choose a model, or name another model: one of the three."))
        elif not cleaned["parser"]:
            self._check_model(cleaned)
            try:
                extraction_prompts.load_extraction_prompt(cleaned["prompt_text"])
            except PromptError as error:
                self.add_error("prompt_text", str(error))
        return cleaned

    def _check_model(self, cleaned: dict[str, Any]) -> None:
        model = cleaned["model"] or LanguageModel(**{key: cleaned[key] for key in _OF_A_MODEL})
        method = Judge.Method.RATING
        chat = labelling.asks_in_chat_form(model, method=method, chat_template=cleaned["chat_template"])
        try:
            model.validate_constraints()
            labelling.check_model(model, method=method, chat_template=chat)
        except (BackendError, forms.ValidationError) as error:
            said = error.messages if isinstance(error, forms.ValidationError) else [str(error)]
            self.add_error("model" if cleaned["model"] else "location", forms.ValidationError(said))
