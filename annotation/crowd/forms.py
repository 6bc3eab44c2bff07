from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from annotation.forms.many import ManyField
from annotation.models import Role, Sheet, Study
from annotation.models.crowd import NAMES


class SheetsField(ManyField):
    def label_from_instance(self, sheet: Sheet) -> str:
        return sheet.title


class CrowdLinkForm(forms.Form):
    """A link for many people: which rows they get, how many may come, and how a platform hears that one is done."""

    title = forms.CharField(label=_("Title"), max_length=80, help_text=_("For you, such as “Prolific, May”."))
    sheets = SheetsField(Sheet.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Sheets"))
    rows_each = forms.IntegerField(min_value=1, max_value=500, initial=10)
    people_per_row = forms.IntegerField(min_value=1, max_value=50, initial=3)
    most_people = forms.IntegerField(
        label=_("Places"),
        min_value=1,
        max_value=5000,
        help_text=_("At most so many people. Whoever loses their place no longer counts."),
    )
    hours = forms.IntegerField(
        label=_("Hours for one person"),
        min_value=1,
        max_value=24 * 60,
        initial=3,
        help_text=_("Whoever is not done by then loses their place to the next one who comes."),
    )
    asks_for = forms.RegexField(
        NAMES,
        label=_("Parameter with the participant's id"),
        max_length=40,
        required=False,
        initial="PROLIFIC_PID",
        help_text=_(
            "Prolific sends PROLIFIC_PID, Mechanical Turk workerId. Left empty, nobody's id is asked for, and whoever "
            "loses their cookie begins anew."
        ),
        error_messages={"invalid": _("A parameter has letters, digits, hyphens and underscores, a letter first.")},
    )
    completion_code = forms.CharField(
        label=_("Completion code"),
        max_length=80,
        required=False,
        help_text=_("Shown to whoever has submitted everything."),
    )
    completion_url = forms.URLField(
        label=_("Completion address"),
        max_length=500,
        required=False,
        assume_scheme="https",
        help_text=_("Where they go back to the platform; it begins with https://."),
    )
    ended_code = forms.CharField(
        label=_("Code when we end it early"),
        max_length=80,
        required=False,
        help_text=_(
            "Shown to whoever had begun and cannot go on, since you have closed or archived what they were at. On "
            "Prolific it is a second completion path, with a code of its own."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words
        sheets = study.sheets.filter(closed_at=None, archived_at=None)
        self.fields["sheets"].queryset = sheets  # type: ignore[attr-defined]
        self.fields["sheets"].label = words.sheets.capitalize()
        self.fields["sheets"].initial = list(sheets.values_list("pk", flat=True))
        self.fields["rows_each"].label = _("%(rows)s for one person") % {"rows": words.rows.capitalize()}
        self.fields["people_per_row"].label = _("People for one %(row)s, in all") % {"row": words.row}
        self.fields["people_per_row"].help_text = _("Whoever has it by a plan counts too.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if Role.ANNOTATOR in settings.PALATE_SECOND_FACTOR:
            raise forms.ValidationError(
                _("Annotators need a second factor in this installation, and nobody of a crowd has one.")
            )
        return cleaned

    def clean_completion_url(self) -> str:
        url: str = self.cleaned_data["completion_url"]
        if url and not url.startswith("https://"):
            raise forms.ValidationError(_("The address begins with https://."))
        return url


class EndedCodeForm(forms.Form):
    """The code of those who cannot go on to the end, of a link that is there."""

    ended_code = CrowdLinkForm.base_fields["ended_code"]
