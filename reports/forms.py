from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater, Study
from reports.queries import TOLD_APART, Filters, natural
from reports.words import cap, code_of

_BOXES = 30  # at most as many boxes to tick; a list to choose from beyond


class FiltersForm(forms.Form):
    """What a report is about. Nothing chosen means everything. Two queries."""

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words
        raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))

        def named(kind: Rater.Kind) -> list[tuple[str, str]]:
            return [(rater.code, code_of(rater)) for rater in raters if rater.kind == kind]

        sheets = [(str(pk), title) for pk, title in study.sheets.order_by("position").values_list("pk", "title")]
        for name, label, choices in (
            ("person", _("People"), named(Rater.Kind.PERSON)),
            ("judge", _("Judges"), named(Rater.Kind.JUDGE)),
            ("sheet", cap(words.sheets), sheets),
        ):
            if choices:
                widget = forms.CheckboxSelectMultiple if len(choices) <= _BOXES else forms.SelectMultiple
                self.fields[name] = forms.MultipleChoiceField(
                    label=label, choices=choices, widget=widget, required=False
                )
        for section in study.scheme.parsed.sections:
            for question in section.questions:
                if question.merges:
                    self.fields[f"merge.{section.key}.{question.key}"] = forms.ChoiceField(
                        label=_("Options of “%(question)s”") % {"question": question.title},
                        choices=[
                            ("", _("as the scheme says")),
                            (TOLD_APART, _("all told apart")),
                            *((merge.key, merge.title) for merge in question.merges),
                        ],
                        required=False,
                    )
        self.fields["submitted"] = forms.BooleanField(
            label=_("Only submitted %(rows)s") % {"rows": words.rows}, required=False
        )

    def filters(self) -> Filters:
        data = self.cleaned_data
        return Filters(
            people=tuple(data.get("person", ())),
            judges=tuple(data.get("judge", ())),
            sheets=tuple(int(pk) for pk in data.get("sheet", ())),
            merges={
                name.removeprefix("merge."): value
                for name, value in data.items()
                if name.startswith("merge.") and value
            },
            submitted_only=data["submitted"],
        )
