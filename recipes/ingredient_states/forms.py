from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _


class _Files(forms.FileField):
    """Several files at once; `cleaned_data` is a list of them."""

    widget = forms.ClearableFileInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        files: list[UploadedFile[bytes]] = [
            super(_Files, self).clean(one, initial) for one in (data if isinstance(data, list) else [data])
        ]
        if sum(file.size or 0 for file in files) > settings.PALATE_MAX_IMPORT_BYTES:
            raise forms.ValidationError(
                _("These files have more than %(limit)s MB. Bring them in parts, or use the command.")
                % {"limit": settings.PALATE_MAX_IMPORT_BYTES // 2**20}
            )
        return files


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class BringForm(forms.Form):
    """Recipes and graphs to import."""

    files = _Files(  # type: ignore[assignment]
        label=_("Files"),
        widget=_SeveralFiles(),
        help_text=_(
            "Recipes as JSON, with graphs or without; saved web pages or a ZIP of them; graphs of recipes that are "
            "here as GraphML."
        ),
    )
    replace = forms.BooleanField(label=_("Answers that differ replace those imported before"), required=False)


class ChoiceForm(forms.Form):
    """Whose graphs are wanted; nobody named means everybody's."""

    rater = forms.CharField(max_length=40, required=False)
