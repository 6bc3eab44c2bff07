from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation import doors
from annotation.deriving.making import Deriver, SourceText
from annotation.forms.fields import field_of
from annotation.forms.labelling import ADDRESS, LEFT_EMPTY, new_address
from annotation.forms.schemes import SchemeField, SchemeFileField, SchemeText
from annotation.models import Rater, Row, Study


class RaterField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, rater: Rater) -> str:
        return f"{rater.code} ({rater.get_kind_display()})"


class DeriveForm(forms.Form):
    """A new study made of `study` by `deriver`, whose settings are fields of their own."""

    title = forms.CharField(label=_("Title"), max_length=200)
    slug = forms.SlugField(
        label=_("Address"), max_length=60, required=False, help_text=LEFT_EMPTY, error_messages=ADDRESS
    )
    scheme = SchemeField(label=_("Scheme"), required=False, empty_label=_("— the file below —"))
    scheme_file = SchemeFileField(
        label=_("Scheme file"), required=False, help_text=_("A YAML file, if the scheme is not in the list.")
    )
    rater = RaterField(
        Rater.objects.none(),
        label=_("Whose answers"),
        required=False,
        empty_label=_("what most people said"),
        help_text=_(
            "Of each cell the gold answer counts; where there is none, that of this rater; else what most people said."
        ),
    )

    def __init__(self, *args: Any, study: Study, deriver: Deriver, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.deriver = deriver
        of_scheme = field_of(self, "scheme", SchemeField)
        of_scheme.offer()
        if deriver.into:
            of_scheme.initial = of_scheme.newest(deriver.into)
        field_of(self, "rater", forms.ModelChoiceField).queryset = study.raters.exclude(kind=Rater.Kind.GOLD)
        if not deriver.reads_chosen:
            del self.fields["rater"]
        self.settings = []
        asked = deriver.asks(study.scheme.parsed)
        texts = _texts_of(study) if any(setting.of_texts for setting in asked) else []
        for setting in asked:
            name, choices = self.name_of(setting.key), list(setting.choices)
            if setting.of_raters:
                choices = [(rater.code, str(rater)) for rater in study.raters.order_by("kind", "code")]
            if setting.of_texts:
                choices = [(word, word) for word in sorted({getattr(text, setting.of_texts) for text in texts} - {""})]
                if len(choices) < 2:
                    continue
            self.settings.append(setting)
            if setting.several:
                self.fields[name] = forms.MultipleChoiceField(
                    label=str(setting.label),
                    choices=choices,
                    widget=forms.CheckboxSelectMultiple,
                    required=not setting.of_texts,
                )
            else:
                self.fields[name] = forms.ChoiceField(label=str(setting.label), choices=choices)
            self.fields[name].help_text = str(setting.help)

    def clean_slug(self) -> str:
        return new_address(self.cleaned_data["slug"], self.cleaned_data.get("title", ""))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file = cleaned.get("scheme_file")
        if not self.errors and bool(cleaned.get("scheme")) == bool(file):
            raise forms.ValidationError(_("Choose a scheme from the list, or give a file: one of the two."))
        if file:
            cleaned["scheme"] = SchemeText(*file)
        return cleaned

    @staticmethod
    def name_of(setting: str) -> str:
        return f"set_{setting}"

    def chosen(self) -> dict[str, list[str]]:
        """The settings as the deriver takes them."""
        given = {setting.key: self.cleaned_data[self.name_of(setting.key)] for setting in self.settings}
        return {key: value if isinstance(value, list) else [value] for key, value in given.items()}


def _texts_of(study: Study) -> list[SourceText]:
    """All that was written for the rows of a study, those left out that were withdrawn. Two queries."""
    rows = set(Row.objects.filter(sheet__study=study, withdrawn_at=None).values_list("pk", flat=True))
    return [text for row, texts in doors.texts_of(study).items() if row in rows for text in texts]
