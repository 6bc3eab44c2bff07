from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from base.text import UNSTORABLE
from recipes.cooking.forms import TextFileField
from recipes.memorization.names import NamesRefused, read_names


class TextForm(forms.Form):
    """A recipe that was written elsewhere."""

    MAX_BYTES = 200_000

    sheet = forms.CharField(label=_("Dish"), max_length=200, widget=forms.TextInput(attrs={"list": "dishes"}))
    text = forms.CharField(
        label=_("Recipe"),
        max_length=MAX_BYTES,
        widget=forms.Textarea(
            attrs={"rows": 18, "placeholder": "Ingredients\n- 1 white cabbage\n\nSteps\n1. Shred the cabbage."}
        ),
        help_text=_("As it was written: its lines are kept."),
    )
    written_by = forms.CharField(
        label=_("Written by"),
        required=False,
        max_length=200,
        help_text=_("A person, or a model with its version and date. Who labels does not see it."),
    )
    prompt = forms.CharField(
        label=_("Asked for by"), required=False, max_length=200, help_text=_("The type of prompt.")
    )

    def __init__(self, *args: Any, kept: Collection[str], **kwargs: Any) -> None:
        """`kept`: the hidden facets of the study's rows. What it has no place for is not asked."""
        super().__init__(*args, **kwargs)
        for name, facet in (("written_by", "generator"), ("prompt", "prompt")):
            if facet not in kept:
                del self.fields[name]

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if UNSTORABLE.search(text):
            raise forms.ValidationError(_("The recipe holds characters that are no text. Save it as UTF-8 text."))
        return text


class NamesForm(forms.Form):
    """Names of dishes, typed, pasted or in a file."""

    MAX_BYTES = 500_000

    sheet = forms.CharField(label=_("List"), max_length=200, initial=_("Dishes"))
    text = forms.CharField(
        label=_("Names"),
        required=False,
        max_length=MAX_BYTES,
        widget=forms.Textarea(attrs={"rows": 10, "placeholder": "Koshari; Egypt\nLagman; Uzbekistan\nColeslaw"}),
        help_text=_(
            "A name on each line; behind a semicolon or tab its region. Columns of a spreadsheet can be pasted."
        ),
    )
    file = TextFileField(
        max_bytes=MAX_BYTES,
        label=_("or a file"),
        required=False,
        help_text=_("The same, or CSV with the headings “name” and “region”."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        if bool(cleaned["text"].strip()) == bool(cleaned["file"].strip()):
            raise forms.ValidationError(_("Write names or choose a file: one of the two."))
        try:
            cleaned["names"] = read_names(cleaned["text"] if cleaned["text"].strip() else cleaned["file"])
        except NamesRefused as refused:
            self.add_error("text" if cleaned["text"].strip() else "file", str(refused))
        return cleaned
