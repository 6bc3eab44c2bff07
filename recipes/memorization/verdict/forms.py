from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater, Study
from base.text import natural
from recipes.memorization.verdict.contents import NAMES
from recipes.memorization.verdict.queries import verdict_questions
from reports.data.arrays import MAJORITY, PEOPLE, Filters, voice_of
from reports.forms import DottedForm
from reports.words import cap, code_of


class VerdictForm(DottedForm):
    """What a verdict rests on: whose answers, which of them count as exactly found, who says what is nonsense. And
    which items are listed. Two queries, one for each examination."""

    dotted = ("found.",)

    def __init__(self, *args: Any, study: Study, examinations: Sequence[Study], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._study = study
        raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))
        self.fields["voice"] = forms.ChoiceField(
            label=_("Found, as answered by"),
            choices=[
                ("", _("anybody among people, else the judge")),
                (PEOPLE, _("anybody among people")),
                (MAJORITY, _("what most people said")),
                *((voice_of(rater.code), code_of(rater)) for rater in raters),
            ],
            required=False,
        )
        for section, question in verdict_questions(study.scheme.parsed):
            real = [option for option in question.options if not option.blank]
            self.fields[f"found.{section.key}.{question.key}"] = forms.MultipleChoiceField(
                label=_("Counts as memorised, “%(section)s”") % {"section": section.title},
                choices=[(option.key, option.label) for option in real],
                widget=forms.CheckboxSelectMultiple,
                required=False,
            )
        if examinations:
            self.fields["examined"] = forms.ChoiceField(
                label=_("Nonsense, as said in"),
                choices=[(each.slug, each.title) for each in examinations],
                required=False,
            )
            codes = Rater.objects.filter(study__in=examinations).exclude(kind=Rater.Kind.GOLD)
            by_name = sorted(set(codes.values_list("code", flat=True)), key=natural)
            self.fields["examiner"] = forms.ChoiceField(
                label=_("there by"),
                choices=[("", _("gold, else what most people said")), *((code, code) for code in by_name)],
                required=False,
            )
        self.fields["seed"] = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, required=False)
        sheets = study.sheets.order_by("position").values_list("title", flat=True)
        self.fields["recipe"] = forms.ChoiceField(
            label=cap(study.scheme.parsed.words.sheet),
            choices=[("", _("all")), *((title, title) for title in sheets)],
            required=False,
        )
        self.fields["outcome"] = forms.ChoiceField(
            label=_("Verdict"),
            choices=[
                ("", _("all")),
                ("never", _("in none of the documents")),
                *((key, name) for key, name in NAMES.items()),
            ],
            required=False,
        )

    @property
    def asks(self) -> list[forms.BoundField]:
        """What the verdict rests on, without what is listed."""
        return [field for field in self if field.name not in ("recipe", "outcome")]

    def filters(self) -> Filters:
        data = self.cleaned_data
        found = {
            name.removeprefix("found."): tuple(of) for name, of in data.items() if name.startswith("found.") and of
        }
        return Filters(voices=(data["voice"],) if data["voice"] else (), found=found, seed=data["seed"] or 0)
