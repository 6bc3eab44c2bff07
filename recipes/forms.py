from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from annotation.imports import translated
from annotation.models import Sheet, Study
from recipes.parsing import ParsedRecipe, RecipeRefused, parse_recipe


class TextFileField(forms.FileField):
    """A file of UTF-8 text; `cleaned_data` is the text, "" where no file was given."""

    def __init__(self, *, max_bytes: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_bytes = max_bytes

    def clean(self, data: Any, initial: Any = None) -> str:
        file = super().clean(data, initial)
        if not file:
            return ""
        if file.size > self.max_bytes:
            raise forms.ValidationError(
                _("“%(name)s” has more than %(limit)s kB. Give a file with the recipe alone.")
                % {"name": file.name, "limit": self.max_bytes // 1000}
            )
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(
                _("“%(name)s” is not UTF-8 text. Save it as UTF-8 and try again.") % {"name": file.name}
            ) from error
        return text


class RecipeForm(forms.Form):
    """A generated recipe, as a file or as text."""

    MAX_BYTES = 200_000

    file = TextFileField(max_bytes=MAX_BYTES, label=_("File"), required=False, help_text=_("YAML or text."))
    text = forms.CharField(
        label=_("or text"),
        required=False,
        max_length=MAX_BYTES,
        widget=forms.Textarea(
            attrs={
                "rows": 10,
                "placeholder": "Coleslaw\n\nIngredients\n- white cabbage\n- carrots\n\nSteps\n1. Shred the cabbage.\n\n"
                "Tasks\nshred | knife | cabbage",
            }
        ),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        file, text = cleaned["file"], cleaned["text"]
        if bool(file) == bool(text):
            raise forms.ValidationError(_("Give a file or write the recipe below: one of the two."))
        cleaned["recipe"] = self._parse(file or text)
        return cleaned

    def _parse(self, text: str) -> ParsedRecipe:
        try:
            return parse_recipe(text)
        except RecipeRefused as refused:
            raise forms.ValidationError(translated(refused.sentence)) from refused


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several uploads in one field; `cleaned_data` is a list."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        if not data:
            raise forms.ValidationError(self.error_messages["required"])
        files = [
            super(ManyFilesField, self).clean(item, initial) for item in (data if isinstance(data, list) else [data])
        ]
        if sum(file.size for file in files) > settings.PALATE_MAX_IMPORT_BYTES:
            raise forms.ValidationError(
                _("These files are over %(size)s MB together. Import them in parts.")
                % {"size": settings.PALATE_MAX_IMPORT_BYTES // 2**20}
            )
        return files


class DocumentsForm(forms.Form):
    sheet = forms.ModelChoiceField(Sheet.objects.none(), label=_("Recipe"), empty_label=None)
    pages = ManyFilesField(
        label=_("Web pages"), help_text=_("HTML files as saved by a browser, gzipped or not, or a ZIP of them.")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sheet"].queryset = study.sheets.order_by("position")  # type: ignore[attr-defined]
