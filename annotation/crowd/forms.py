from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.crowd.checks import golden_rows
from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.models import Role, Row, Sheet, Study
from annotation.models.crowd import NAMES


class SheetsField(ManyField):
    form: CrowdLinkForm  # which knows how many rows with gold a sheet has

    def label_from_instance(self, sheet: Sheet) -> str:
        n = len(self.form.golden.get(sheet.pk, ()))
        if not n:
            return sheet.title
        words = self.form.words
        told = ngettext("%(sheet)s (%(n)s %(row)s with gold)", "%(sheet)s (%(n)s %(rows)s with gold)", n)
        return told % {"sheet": sheet.title, "n": n, "row": words.row, "rows": words.rows}


class CrowdLinkForm(forms.Form):
    """A link for many people: which rows they get, how many may come, and how a platform hears that one is done."""

    title = forms.CharField(label=_("Title"), max_length=80, help_text=_("For you, such as “Prolific, May”."))
    sheets = SheetsField(Sheet.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Sheets"))
    rows_each = forms.IntegerField(min_value=1, max_value=500, initial=10)
    checks_each = forms.IntegerField(
        label=_("Checks for one person"), min_value=0, max_value=499, initial=0, required=False
    )
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
        self._study, self.words = study, study.scheme.parsed.words
        words = self.words
        sheets = study.sheets.filter(closed_at=None, archived_at=None)
        of_sheets = field_of(self, "sheets", SheetsField)
        of_sheets.queryset, of_sheets.form = sheets, self
        self._sheets = sheets
        of_sheets.label = words.sheets.capitalize()
        of_sheets.initial = list(sheets.values_list("pk", flat=True))
        self.fields["rows_each"].label = _("%(rows)s for one person") % {"rows": words.rows.capitalize()}
        self.fields["people_per_row"].label = _("People for one %(row)s, in all") % {"row": words.row}
        self.fields["people_per_row"].help_text = _("Whoever has it by a plan counts too.")
        self.fields["checks_each"].help_text = _(
            "So many of these are attention checks: %(rows)s with gold, drawn for each person, which nothing tells "
            "apart. Where there are any, nobody gets %(rows)s with gold otherwise."
        ) % {"rows": words.rows}

    @cached_property
    def golden(self) -> Mapping[int, Sequence[int]]:
        """Of each sheet that can be chosen the rows that can be checks; see `golden_rows`."""
        return golden_rows(self._study, list(self._sheets))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if Role.ANNOTATOR in settings.PALATE_SECOND_FACTOR:
            raise forms.ValidationError(
                _("Annotators need a second factor in this installation, and nobody of a crowd has one.")
            )
        cleaned["checks_each"] = cleaned.get("checks_each") or 0
        if cleaned["checks_each"] and "sheets" in cleaned and "rows_each" in cleaned:
            self._check_checks(cleaned)
        return cleaned

    def _check_checks(self, cleaned: Mapping[str, Any]) -> None:
        n, words = cleaned["checks_each"], self.words
        n_golden = sum(len(self.golden.get(sheet.pk, ())) for sheet in cleaned["sheets"])
        told = {"n": n_golden, "row": words.row, "rows": words.rows, "sheets": words.sheets}
        if n >= cleaned["rows_each"]:
            self.add_error("checks_each", _("Choose fewer checks than %(rows)s for one person.") % told)
        elif not n_golden:
            none = _(
                "The chosen %(sheets)s have no %(rows)s with gold on all that is asked. Import the right answers "
                "first, for the rater “gold”."
            )
            self.add_error("checks_each", none % told)
        elif n > n_golden:
            too_few = ngettext(
                "There are too few for that: the chosen %(sheets)s have %(n)s %(row)s with gold on all that is asked.",
                "There are too few for that: the chosen %(sheets)s have %(n)s %(rows)s with gold on all that is asked.",
                n_golden,
            )
            self.add_error("checks_each", too_few % told)
        elif n_golden == Row.objects.filter(sheet__in=cleaned["sheets"], withdrawn_at=None).count():
            nothing_else = _("All %(rows)s of the chosen %(sheets)s have gold: nothing would be left but checks.")
            self.add_error("checks_each", nothing_else % told)

    def clean_completion_url(self) -> str:
        url: str = self.cleaned_data["completion_url"]
        if url and not url.startswith("https://"):
            raise forms.ValidationError(_("The address begins with https://."))
        return url


class EndedCodeForm(forms.Form):
    """The code of those who cannot go on to the end, of a link that is there."""

    ended_code = CrowdLinkForm.base_fields["ended_code"]
