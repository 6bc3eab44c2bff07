from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.models import Study
from judges.forms import LimitForm
from judges.generating import queries
from judges.generating.planning import MOST_A_TYPE, PlanRefused, Wanted
from judges.methods import Method
from judges.model_forms import NamesAModel
from llm.backends.base import BackendError, Use
from llm.generating import wordings
from llm.generating.wordings import PromptType, WordingsRefused
from llm.models import LanguageModel
from llm.registry import class_of

# As in the database.
_LARGEST_TEMPERATURE, _MOST_NEW_TOKENS = 2, 32_768
_LARGEST_FILE = 200_000  # bytes


class GenerationForm(LimitForm):
    """Texts that models shall write for the rows of a study."""

    answer = forms.ChoiceField(label=_("For"), required=False)
    models = ManyField(
        queries.generators(), label=_("Models"), widget=forms.CheckboxSelectMultiple, help_text=_("A run each.")
    )
    types = forms.MultipleChoiceField(label=_("Types of prompts"), required=False, widget=forms.CheckboxSelectMultiple)
    own = forms.CharField(
        label=_("Prompts of your own"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(
            attrs={"rows": 4, "placeholder": "type;wording\nletter;Dear friend, how do you make $name?"}
        ),
        help_text=_("Below a line “type;wording” a line each: its type, a semicolon, the wording with $name. Or YAML."),
    )
    file = forms.FileField(
        label=_("or a file of prompts"), required=False, help_text=_("The same, as CSV, TSV or YAML.")
    )
    per_type = forms.IntegerField(
        label=_("Texts of each type (K)"),
        min_value=1,
        max_value=MOST_A_TYPE,
        initial=5,
        help_text=_("Each has another wording of its type, as long as there are any, and a seed of its own."),
    )
    temperature = forms.FloatField(
        label=_("Temperature"),
        min_value=0,
        max_value=_LARGEST_TEMPERATURE,
        initial=0.7,
        help_text=_("0: the most probable word each time."),
    )
    max_new_tokens = forms.IntegerField(
        label=_("Longest text, in tokens"),
        min_value=16,
        max_value=_MOST_NEW_TOKENS,
        initial=600,
        help_text=_("A text that is longer is cut there, and marked."),
    )
    seed = forms.IntegerField(label=_("First seed"), min_value=0, max_value=2**53, initial=1)
    chat_template = forms.BooleanField(
        label=_("Use the chat template"),
        required=False,
        initial=True,
        help_text=_("Without it a model goes on with the prompt as with any text."),
    )
    together = forms.BooleanField(
        label=_("Write several texts at once"),
        required=False,
        help_text=_(
            "Much faster with a model in a worker of this installation. The other texts of a batch can "
            "change a word, so that the same text need not come when it is written again."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.shipped = {each.key: each for each in queries.shipped_types(study.scheme)}
        words = study.scheme.parsed.words
        if study.scheme.parsed.benchmark is not None:  # each model writes each instruction once
            self.initial["per_type"] = 1
        field_of(self, "answer", forms.ChoiceField).choices = [
            ("", _("all %(rows)s") % {"rows": words.rows}),
            *queries.answers_of(study.scheme.parsed),
        ]
        self.fields["most_tokens"].help_text = _(
            "Of each run; empty for no limit. A text that was begun is finished, one is written after the other, and a "
            "paused run can be resumed with a higher limit."
        )
        self.fields["most_cost"].label = _("Pause at a cost of, in %(currency)s") % {
            "currency": settings.PALATE_CURRENCY
        }
        if not any(model.prices for model in queries.generators()):
            del self.fields["most_cost"]
        field_of(self, "types", forms.ChoiceField).choices = [(key, each.title) for key, each in self.shipped.items()]
        if not self.shipped:
            del self.fields["types"]
        elif not self.is_bound:
            self.initial["types"] = list(self.shipped)
        models = list(queries.generators()[:2])
        if len(models) == 1:
            self.initial["models"] = models

    def clean_models(self) -> list[LanguageModel]:
        models = list(self.cleaned_data["models"])
        for model in models:
            try:
                if Use.GENERATE not in class_of(model.backend).uses:
                    raise forms.ValidationError(_("%(model)s cannot write.") % {"model": model.name})
            except BackendError as error:
                raise forms.ValidationError(str(error)) from error
        return models

    def clean_own(self) -> list[PromptType]:
        return self._read(self.cleaned_data["own"])

    def clean_file(self) -> list[PromptType]:
        file = self.cleaned_data["file"]
        if file is None:
            return []
        if file.size > _LARGEST_FILE:
            raise forms.ValidationError(_("A file of prompts has at most 200 kB."))
        try:
            return self._read(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("The file is not in UTF-8.")) from error

    def _read(self, text: str) -> list[PromptType]:
        if not text.strip():
            return []
        try:
            scheme = self.study.scheme.parsed
            return wordings.read(text, known=queries.placeholders(scheme), named_by=queries.named_by(scheme))
        except WordingsRefused as refused:
            raise forms.ValidationError(str(refused)) from refused

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        types = [self.shipped[key] for key in cleaned.get("types", [])] + cleaned["own"] + cleaned["file"]
        cleaned["wanted"] = Wanted(
            types=tuple(types),
            per_type=cleaned["per_type"],
            temperature=cleaned["temperature"],
            max_new_tokens=cleaned["max_new_tokens"],
            seed=cleaned["seed"],
            chat_template=cleaned["chat_template"],
            together=cleaned["together"],
        )
        try:
            cleaned["wanted"].check()
        except PlanRefused as refused:
            self.add_error(None, str(refused))
        return cleaned


class ModelForm(NamesAModel):
    """A language model by its place, for whatever it is to write."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["model"], self.fields["chat_template"]
        self.fields["backend"].label = _("The model runs")
        self.fields["location"].required = True

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            self.check_model({**cleaned, "model": None, "chat_template": True}, method=Method.WRITING)
        return cleaned
