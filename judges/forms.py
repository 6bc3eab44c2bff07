from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.scheme import SchemeSpec
from judges import labelling, prompting
from judges.backends.base import BackendError
from judges.models import Judge, LanguageModel, Prompt

_OF_A_MODEL = ("backend", "location", "revision", "device", "served_name", "api_key_env", "requests_per_minute")


class JudgeForm(forms.Form):
    """A new judge: a model that is there, or lies somewhere, and a prompt that fits the scheme."""

    name = forms.SlugField(
        label=_("Name"), max_length=60, help_text=_("Its code in reports: small letters, digits and hyphens.")
    )
    method = forms.ChoiceField(label=_("Method"), choices=Judge.Method.choices)
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
        label=_("Requests a minute"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("Only for a server: the most that one worker process asks of it. Empty for no limit."),
    )
    revision = forms.CharField(label=_("Revision"), required=False, max_length=100)
    device = forms.ChoiceField(
        label=_("Runs on"), choices=LanguageModel.Device.choices, help_text=_("A server is asked by CPU workers.")
    )
    normalisation = forms.ChoiceField(label=_("Normalisation"), choices=Judge.Normalisation.choices)
    chat_template = forms.BooleanField(
        label=_("Ask in the model's chat form"), required=False, help_text=_("For models that were tuned on chats.")
    )
    prompt = forms.ModelChoiceField(
        Prompt.objects.all(), label=_("Prompt"), required=False, empty_label=_("— the text below —")
    )
    prompt_text = forms.CharField(label=_("Prompt text"), required=False, widget=forms.Textarea(attrs={"rows": 16}))

    def __init__(self, *args: Any, scheme: SchemeSpec, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scheme = scheme

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Judge.objects.filter(name=name).exists():
            raise forms.ValidationError(_("There is a judge called “%(name)s” already.") % {"name": name})
        return name

    def clean_backend(self) -> str:
        backend: str = self.cleaned_data["backend"]
        return backend or LanguageModel.Backend.TRANSFORMERS

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        has_model = bool(cleaned["model"]) + bool(cleaned["location"])
        if cleaned["method"] == Judge.Method.LEXICAL and has_model:
            self.add_error("model", _("The lexical judge has no model."))
        elif cleaned["method"] == Judge.Method.CLOZE and has_model != 1:
            self.add_error("model", _("Choose a model or name another: one of the two."))
        elif has_model:
            self._check_model(cleaned)
        if bool(cleaned["prompt"]) == bool(cleaned["prompt_text"]):
            self.add_error("prompt", _("Choose a prompt or write one: one of the two."))
        else:
            self._check_prompt(cleaned)
        return cleaned

    def _check_model(self, cleaned: dict[str, Any]) -> None:
        model = cleaned["model"] or LanguageModel(**{key: cleaned[key] for key in _OF_A_MODEL})
        try:
            model.validate_constraints()
            labelling.check_model(model, chat_template=cleaned["chat_template"])
        except (BackendError, forms.ValidationError) as error:
            said = error.messages if isinstance(error, forms.ValidationError) else [str(error)]
            self.add_error("model" if cleaned["model"] else "location", forms.ValidationError(said))

    def _check_prompt(self, cleaned: dict[str, Any]) -> None:
        text = cleaned["prompt"].text if cleaned["prompt"] else cleaned["prompt_text"]
        try:
            spec = prompting.load_prompt(text)
            prompting.check_against(spec, self.scheme, cleaned["method"], normalisation=cleaned["normalisation"])
        except prompting.PromptError as error:
            self.add_error("prompt" if cleaned["prompt"] else "prompt_text", str(error))
