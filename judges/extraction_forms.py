from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judges import documents, extraction_prompts
from judges.model_forms import NamesAModel
from judges.models import Extractor, Judge
from judges.prompting import PromptError


class ExtractorForm(NamesAModel):
    """A new extractor: a parser of this installation, or a model with a prompt."""

    field_order = ["name", "parser"]

    name = forms.SlugField(
        label=_("Name"), max_length=60, help_text=_("In reports: small letters, digits and hyphens.")
    )
    parser = forms.ChoiceField(label=_("Parser"), required=False)
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
        self.fields["chat_template"].initial = True
        parsers = [(parser.key, parser.label) for parser in documents.parsers()]
        self.fields["parser"].choices = [("", _("— none: a model —")), *parsers]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Extractor.objects.filter(name=name).exists():
            raise forms.ValidationError(_("There is an extractor called “%(name)s” already.") % {"name": name})
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        n_named = bool(cleaned["parser"]) + bool(cleaned["model"]) + bool(cleaned["location"])
        if n_named != 1:
            self.add_error("parser", _("Choose a parser, choose a model, or name another model: one of the three."))
        elif not cleaned["parser"]:
            self.check_model(cleaned, method=Judge.Method.RATING)
            try:
                extraction_prompts.load_extraction_prompt(cleaned["prompt_text"])
            except PromptError as error:
                self.add_error("prompt_text", str(error))
        return cleaned
