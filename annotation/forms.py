from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from functools import cached_property
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.actions import Answer
from annotation.models import Assignment, Column, Option, Question, Rater, Role, Scheme, Sheet, Study
from annotation.overlap import OverlapRequest
from annotation.scheme import SchemeError, SchemeSpec, Words, load_scheme


class CellForm(forms.Form):
    """One choice of an annotator. The assignment must be one of `assignments`."""

    assignment = forms.ModelChoiceField(
        Assignment.objects.none(),
        error_messages={
            "invalid_choice": _("This row is not assigned to you any more. What was saved before is safe.")
        },
    )
    column = forms.ModelChoiceField(Column.objects.select_related("section__scheme"))
    question = forms.ModelChoiceField(Question.objects.all())
    option = forms.SlugField(required=False, max_length=60)
    key = forms.UUIDField()

    def __init__(self, *args: Any, assignments: QuerySet[Assignment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["assignment"].queryset = assignments  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        key, question = cleaned.get("option"), cleaned.get("question")
        cleaned["chosen"] = None
        if key and question:
            cleaned["chosen"] = Option.objects.filter(question=question, key=key).first()
            if cleaned["chosen"] is None:
                raise forms.ValidationError(
                    _("“%(option)s” is no answer to “%(question)s”.") % {"option": key, "question": question.title}
                )
        return cleaned

    def answer(self) -> Answer:
        data = self.cleaned_data
        return Answer(column=data["column"], question=data["question"], option=data["chosen"])


class SchemeFileField(forms.FileField):
    """A YAML file, turned into a checked scheme: `cleaned_data` holds (spec, source text)."""

    MAX_BYTES = 1_000_000

    def clean(self, data: Any, initial: Any = None) -> tuple[SchemeSpec, str] | None:
        file = super().clean(data, initial)
        if not file:
            return None
        if file.size > self.MAX_BYTES:
            raise forms.ValidationError(_("“%(name)s” is too large to be a scheme file.") % {"name": file.name})
        try:
            source = file.read().decode("utf-8-sig")
            return load_scheme(source), source
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("“%(name)s” is not UTF-8 text.") % {"name": file.name}) from error
        except SchemeError as error:
            raise forms.ValidationError([f"{file.name}, {problem}" for problem in error.problems]) from error


class StudyForm(forms.ModelForm):  # type: ignore[type-arg]
    scheme = forms.ModelChoiceField(
        Scheme.objects.all(), label=_("Scheme"), required=False, empty_label=_("— the file below —")
    )
    scheme_file = SchemeFileField(
        label=_("Scheme file"), required=False, help_text=_("A YAML file, if the scheme is not in the list.")
    )

    class Meta:
        model = Study
        fields = ["title", "slug", "scheme", "scheme_file", "guideline"]
        labels = {"slug": _("Address"), "title": _("Title"), "guideline": _("Guideline")}
        help_texts = {"slug": _("Short name in links: small letters, digits and hyphens.")}
        widgets = {"guideline": forms.Textarea(attrs={"rows": 4})}

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == "new":
            raise forms.ValidationError(_("“new” is the address of this page. Choose another."))
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and bool(cleaned.get("scheme")) == bool(cleaned.get("scheme_file")):
            raise forms.ValidationError(_("Choose a scheme from the list or give a file: one of the two."))
        return cleaned


class InviteForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150, validators=[UnicodeUsernameValidator()])
    email = forms.EmailField(label=_("E-mail"), required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class SheetsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Sheets with the number of their rows that are free, as `queries.sheets_to_plan` counts them."""

    words = Words()

    def label_from_instance(self, sheet: Sheet) -> str:
        free, n = sheet.n_free, sheet.n_rows  # type: ignore[attr-defined]  # of the query
        sentence = ngettext(
            "%(title)s · %(free)s of %(n)s %(row)s free", "%(title)s · %(free)s of %(n)s %(rows)s free", n
        )
        return sentence % {"title": sheet.title, "free": free, "n": n, **self.words.model_dump()}


class PlanForm(forms.Form):
    """What the planner is asked for. Offers active people with a login, and sheets that have rows without one."""

    raters = forms.ModelMultipleChoiceField(
        Rater.objects.none(), label=_("Raters"), widget=forms.CheckboxSelectMultiple
    )
    sheets = SheetsField(Sheet.objects.none(), label=_("Sheets"), widget=forms.CheckboxSelectMultiple)
    raters_per_sheet = forms.IntegerField(label=_("Raters a sheet"), min_value=1, max_value=100)
    share_twice = forms.IntegerField(label=_("Labelled twice (%)"), min_value=0, max_value=100)
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=1, help_text=_("The same seed gives the same plan.")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raters = study.raters.people().filter(active=True, simulated=False, user__isnull=False)
        sheets = queries.sheets_to_plan(study)
        self.fields["raters"].queryset = raters  # type: ignore[attr-defined]
        self.fields["sheets"].queryset = sheets  # type: ignore[attr-defined]
        words = study.scheme.parsed.words
        self.fields["sheets"].label = words.sheets.capitalize()
        self.fields["sheets"].words = words  # type: ignore[attr-defined]
        self.fields["raters_per_sheet"].label = _("Raters a %(sheet)s") % {"sheet": words.sheet}
        # A plan that can be drawn to begin with: one rater alone can label nothing twice.
        alone = len(raters) < 2
        self.initial = {
            "raters": list(raters),
            "sheets": list(sheets),
            "raters_per_sheet": 1 if alone else 2,
            "share_twice": 0 if alone else 50,
            **self.initial,
        }

    @cached_property
    def rows(self) -> list[list[int]]:
        """The numbers of the free rows of each sheet that was chosen. Two queries."""
        sheets = self.cleaned_data["sheets"]
        free = queries.free_rows(sheets)
        return [free.get(sheet.pk, []) for sheet in sheets]

    @property
    def digest(self) -> str:
        """Stands for all that the design follows from: the same digest is the same plan."""
        request = self.overlap_request()
        drawn = [
            [rater.pk for rater in self.cleaned_data["raters"]],
            self.rows,
            [request.raters_per_sheet, str(request.share_twice), request.seed],
        ]
        return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()

    def overlap_request(self) -> OverlapRequest:
        data = self.cleaned_data
        return OverlapRequest(
            raters=len(data["raters"]),
            sheets=tuple(map(len, self.rows)),
            raters_per_sheet=data["raters_per_sheet"],
            share_twice=Fraction(data["share_twice"], 100),
            seed=data["seed"],
        )
