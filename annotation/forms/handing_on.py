"""The manager's forms for work that is given: to others, to more people, begun from somebody's answers, withdrawn."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.forms.plan import MOST_SEED, PlanForm, RatersField, one_by_one, sheets_of
from annotation.models import Rater, Row, Sheet, Study
from annotation.queries import MoreRequest, ReplanRequest, Startable, StudyRows
from annotation.scheme.spec import Words


class ReplanForm(forms.Form):
    """Whose open work goes to whom."""

    leaving = ManyField(
        Rater.objects.none(), label=_("Take the open work of"), widget=forms.CheckboxSelectMultiple, required=False
    )
    takers = ManyField(Rater.objects.none(), label=_("Give it to"), widget=forms.CheckboxSelectMultiple)
    level = forms.BooleanField(
        label=_("Level the open work of all of them too"),
        required=False,
        help_text=_("Also moves what nobody leaves, until all have about as much."),
    )
    make_up = forms.BooleanField(label=_("Make up for what was withdrawn"), required=False, initial=True)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MOST_SEED, initial=1)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words
        self.crowd = queries.of_crowd(study)
        people = one_by_one(study.raters.present(), self.crowd)
        takers = one_by_one(study.raters.plannable(), self.crowd)
        field_of(self, "leaving", forms.ModelChoiceField).queryset = people
        field_of(self, "takers", forms.ModelChoiceField).queryset = takers
        help_text = _(
            "For each withdrawn %(row)s that several people had, one more person labels another one of its %(sheet)s."
        )
        self.fields["make_up"].help_text = help_text % words.model_dump()
        self.initial = {"takers": list(takers), **self.initial}

    def request(self) -> ReplanRequest:
        data = self.cleaned_data
        return ReplanRequest(
            takers=tuple(rater.pk for rater in data["takers"]),
            leaving=tuple(rater.pk for rater in data["leaving"]),
            level=data["level"],
            make_up=data["make_up"],
            seed=data["seed"],
        )


class HadSheetsField(ManyField):
    """Sheets with the number of their rows that somebody has."""

    words = Words()
    counts: Counter[int]

    def label_from_instance(self, sheet: Sheet) -> str:
        n = self.counts[sheet.pk]
        sentence = ngettext("%(title)s · %(n)s %(row)s", "%(title)s · %(n)s %(rows)s", n)
        return sentence % {"title": sheet.title, "n": n, **self.words.model_dump()}


class MoreRatersForm(forms.Form):
    """Which rows that somebody has go to more people.

    Offers who can be given work, and the sheets with rows that can be labelled and that somebody has.
    """

    takers = RatersField(Rater.objects.none(), label=_("Who may take them"), widget=forms.CheckboxSelectMultiple)
    sheets = HadSheetsField(Sheet.objects.none(), widget=forms.CheckboxSelectMultiple)
    people = forms.IntegerField(min_value=2, max_value=PlanForm.MOST_PER_ROW, initial=2)
    share = forms.IntegerField(min_value=1, max_value=100, required=False)
    size = forms.IntegerField(label=_("… or how many of them"), min_value=1, required=False)
    submitted = forms.BooleanField(required=False)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MOST_SEED, initial=1)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        """Six queries, and those of the lists."""
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words.model_dump()
        self.had = queries.had(study)
        counts = self.had.rows_of_sheets
        self.crowd = queries.of_crowd(study)
        takers = one_by_one(study.raters.plannable(), self.crowd).select_related("user")
        sheets = sheets_of(study.sheets.order_by("position"), counts, self.had.rows.sheets)
        fields: dict[str, Any] = self.fields
        fields["takers"].queryset, fields["sheets"].queryset = takers, sheets
        fields["sheets"].label = words["sheets"].capitalize()
        fields["sheets"].words, fields["sheets"].counts = study.scheme.parsed.words, counts
        fields["people"].label = _("People per %(row)s, in all") % words
        fields["people"].help_text = _("With those who have it already. Judges do not count.")
        fields["share"].label = _("For which share of the %(rows)s (%%)") % words
        for name in ("share", "size"):
            fields[name].widget.attrs["placeholder"] = _("all")
        help_text = _(
            "Drawn by the seed of all %(rows)s that somebody has, also of those with enough people. The same seed with "
            "a larger number adds to them."
        )
        fields["size"].help_text = help_text % words
        fields["submitted"].label = _("Only %(rows)s that somebody has submitted") % words
        everybody = list(takers.order_by().values_list("pk", flat=True))
        self.has_takers = bool(everybody)
        self.initial = {"takers": everybody, "sheets": list(counts), **self.initial}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("share") and cleaned.get("size"):
            self.add_error("size", _("Give a share or a number, not both."))
        return cleaned

    def request(self) -> MoreRequest:
        data = self.cleaned_data
        return MoreRequest(
            takers=tuple(rater.pk for rater in data["takers"]),
            sheets=tuple(sheet.pk for sheet in data["sheets"]),
            people=data["people"],
            share=data["share"],
            size=data["size"],
            submitted=data["submitted"],
            seed=data["seed"],
        )


class CodedField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A rater by the code."""

    def label_from_instance(self, rater: Rater) -> str:
        return rater.code if rater.kind == Rater.Kind.PERSON else f"{rater.code} ({rater.get_kind_display()})"


class _SheetField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, sheet: Sheet) -> str:
        return sheet.title


class DraftForm(forms.Form):
    """Whose open work starts from whose answers."""

    rater = CodedField(Rater.objects.none(), label=_("Who starts"), empty_label=None)
    source = CodedField(Rater.objects.none(), label=_("From the answers of"), empty_label=None)
    sheet = _SheetField(Sheet.objects.none(), required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words
        self.study = study
        field_of(self, "rater", forms.ModelChoiceField).queryset = study.raters.present()
        field_of(self, "source", forms.ModelChoiceField).queryset = queries.sources(study)
        sheet = field_of(self, "sheet", forms.ModelChoiceField)
        sheet.queryset = study.sheets.order_by("position")
        sheet.empty_label = _("all %(sheets)s") % words.model_dump()
        sheet.label = words.sheet.capitalize()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("rater") and cleaned.get("rater") == cleaned.get("source"):
            self.add_error("source", _("Nobody starts from their own answers. Choose somebody else."))
        return cleaned

    @cached_property
    def startable(self) -> list[Startable]:
        """The work that can start so. Two queries, three where a sheet is not chosen."""
        data = self.cleaned_data
        sheets = [data["sheet"]] if data["sheet"] else self.study.sheets.all()
        return queries.draftable(data["rater"], data["source"], sheets)


class RowField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, row: Row) -> str:
        return f"{row.sheet.title} · {row.name}"

    def to_python(self, value: Any) -> Any:
        """Its number; or, where there are too many to choose from, its sheet's title and its name."""
        rows = self.queryset
        assert rows is not None
        parts = str(value).strip().split(" · ") if value else []
        for place in range(1, len(parts)):
            title, name = " · ".join(parts[:place]), " · ".join(parts[place:])
            if (found := rows.filter(sheet__title=title, name=name).first()) is not None:
                return found
        return super().to_python(value)


class WithdrawRowForm(forms.Form):
    row = RowField(
        Row.objects.none(), error_messages={"invalid_choice": _("That is withdrawn already, or of another study.")}
    )
    reason = forms.CharField(label=_("Reason"), max_length=500)

    def __init__(self, *args: Any, study: Study, rows: StudyRows | None = None, **kwargs: Any) -> None:
        """`rows`: the study's, where the form is to be shown. One query then, if they are too many to choose from."""
        super().__init__(*args, **kwargs)
        to_withdraw = Row.objects.filter(sheet__study=study, withdrawn_at=None).select_related("sheet")
        to_withdraw = to_withdraw.defer("evidence").order_by("sheet__position", "position")
        field_of(self, "row", forms.ModelChoiceField).queryset = to_withdraw
        self.fields["row"].label = study.scheme.parsed.words.row.capitalize()
        left = rows.sheet_of.keys() - rows.withdrawn if rows else set()
        self.has_rows = bool(left)
        if rows and len(left) > queries.MOST_WORDS:
            # Of the first sheet that has any: the first of all of them would be found by sorting all.
            with_some = {rows.sheet_of[pk] for pk in left}
            sheet = next(pk for pk in rows.sheets if pk in with_some)
            first = to_withdraw.filter(sheet=sheet).order_by("position").first()
            self.fields["row"].widget = forms.TextInput(attrs={"placeholder": self.named(first)})
        self.fields["reason"].widget.attrs["placeholder"] = _("The page is gone")

    @staticmethod
    def named(row: Row | None) -> str:
        return f"{row.sheet.title} · {row.name}" if row is not None else ""
