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
from annotation.models import Assignment, Column, Question, Rater, Role, Scheme, Sheet, Study
from annotation.overlap import OverlapRequest
from annotation.scheme import SchemeError, SchemeSpec, Words, load_scheme


class ChangeForm(forms.Form):
    """Answers of one person to cells of one sheet, as the grid's script sends them: one choice, or a whole range.

    `changes` is a list of [assignment, column, question, value, seen]. A value is an option's key, with "=" before it
    where the column presets it, "!" and the reason of a skip, or "" to clear; `seen` is what the page showed before.
    """

    key = forms.UUIDField()
    restore = forms.BooleanField(required=False)  # an undo or a redo: all of it or nothing
    changes = forms.JSONField()

    MOST = 20_000

    def __init__(self, *args: Any, sheet_id: int, mine: QuerySet[Assignment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sheet_id = sheet_id
        self.mine = mine

    def clean_changes(self) -> list[tuple[int, int, int, str, str]]:
        """Checks the form alone; what the numbers stand for is looked up by `answers`."""
        changes = self.cleaned_data["changes"]
        if not (isinstance(changes, list) and 0 < len(changes) <= self.MOST and all(map(_is_change, changes))):
            raise forms.ValidationError(_("This is no list of changes. Nothing was saved; reload the page."))
        return [tuple(change) for change in changes]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            cleaned["answers"] = self._resolve(cleaned["changes"])
        return cleaned

    def _resolve(self, changes: list[tuple[int, int, int, str, str]]) -> dict[Assignment, list[Answer]]:
        """The answers of each assignment, a question before those that depend on it. Four queries."""
        assignments = {a.pk: a for a in self.mine.filter(pk__in={change[0] for change in changes})}
        columns = Column.objects.filter(sheet_id=self.sheet_id).in_bulk({change[1] for change in changes})
        questions = Question.objects.prefetch_related("options").in_bulk({change[2] for change in changes})
        answers: dict[Assignment, list[Answer]] = {}
        for assignment_id, column_id, question_id, value, seen in changes:
            assignment, column = assignments.get(assignment_id), columns.get(column_id)
            question = questions.get(question_id)
            if assignment is None:
                continue
            if column is None or question is None:
                raise forms.ValidationError(_("This sheet has other columns by now. Reload the page."))
            answers.setdefault(assignment, []).append(_answer(column, question, value, seen))
        if not answers:
            raise forms.ValidationError(_("This row is not assigned to you any more. What was saved before is safe."))
        for of_one in answers.values():
            of_one.sort(key=lambda answer: answer.question.position)
        return answers

    @property
    def refusal(self) -> str:
        return " ".join(str(error) for errors in self.errors.values() for error in errors)


def _is_change(change: Any) -> bool:
    return isinstance(change, list) and [type(part) for part in change] == [int, int, int, str, str]


def _answer(column: Column, question: Question, value: str, seen: str) -> Answer:
    if value.startswith("!"):
        return Answer(column=column, question=question, option=None, skip=value[1:501], seen=seen)
    key = value.removeprefix("=")
    option = next((option for option in question.options.all() if option.key == key), None)
    if key and option is None:
        raise forms.ValidationError(
            _("“%(option)s” is no answer to “%(question)s”.") % {"option": key, "question": question.title}
        )
    return Answer(column=column, question=question, option=option, preset=value.startswith("="), seen=seen)


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
