from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from recipes.cooking.forms import TextFileField
from recipes.memorization.names import NamesRefused, read_names


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
