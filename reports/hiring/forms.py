from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.models import Question, Rater, Study
from base.text import natural
from reports.hiring.documents import APPROXIMATE, EXACT
from reports.hiring.queries import answered_questions, question_name, units_of
from reports.hiring.words import not_answered
from reports.models import Split

_SEED = 2**31 - 1
DAYS = 180


class SplitForm(forms.Form):
    """What is drawn, and how much of it is kept for the test."""

    unit = forms.ChoiceField(label=_("What is drawn"))
    share = forms.IntegerField(label=_("For the test (%)"), min_value=1, max_value=99, initial=50)
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=_SEED, initial=1, help_text=_("The same seed draws the same ones.")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = study.scheme.parsed.words.translated()
        whole = _("whole %(sheets)s") % {"sheets": words.sheets}
        items = _("items, with all of their %(rows)s") % {"rows": words.rows}
        named = {Split.Unit.ROW: words.rows, Split.Unit.ITEM: items, Split.Unit.SHEET: whole}
        field_of(self, "unit", forms.ChoiceField).choices = [(unit, named[unit]) for unit in units_of(study)]

    @classmethod
    def showing(cls, split: Split | None, *, study: Study, **kwargs: Any) -> SplitForm:
        """With what was drawn last."""
        drawn = {"unit": split.unit, "share": split.share, "seed": split.seed} if split else {}
        return cls(initial=drawn, study=study, **kwargs)


def _epsilon() -> forms.DecimalField:
    return forms.DecimalField(
        label=_("Wrong cells at most (%)"), min_value=Decimal("0.1"), max_value=50, decimal_places=1, initial=5
    )


class EpsilonForm(forms.Form):
    """How wrong a judge may be."""

    epsilon = _epsilon()

    @property
    def share(self) -> float:
        return float(self.cleaned_data["epsilon"] / 100) if self.is_valid() else 0.05


class CodeField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, rater: Rater) -> str:
        return rater.code


class AnsweredSelect(forms.Select):
    """Offers the questions that a judge answers, and says of the others that it does not."""

    judge = ""
    answered: frozenset[int] | None = None

    def create_option(self, name: str, value: Any, label: int | str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(name, value, label, *args, **kwargs)
        if self.answered is not None and value.value not in self.answered:
            option["attrs"]["disabled"] = True
            option["label"] = _("%(question)s: not answered by “%(judge)s”") % {"question": label, "judge": self.judge}
        return option


class QuestionField(forms.ModelChoiceField):  # type: ignore[type-arg]
    widget = AnsweredSelect

    def label_from_instance(self, question: Question) -> str:
        return question.full_title


class CertifyForm(forms.Form):
    """Which judge is tested on what, and what it has to keep to."""

    judge = CodeField(Rater.objects.none(), label=_("Judge"), to_field_name="code", empty_label=None)
    question = QuestionField(Question.objects.none(), label=_("Question"), empty_label=None)
    epsilon = _epsilon()
    confidence = forms.DecimalField(
        label=_("Confidence (%)"), min_value=51, max_value=Decimal("99.9"), decimal_places=1, initial=90
    )
    bound = forms.ChoiceField(
        label=_("Bound"),
        choices=[
            (APPROXIMATE, _("approximate")),
            (EXACT, _("exact")),
        ],
        initial=APPROXIMATE,
        required=False,
        help_text=_(
            "Approximate: errors come together as in what was seen. Exact: however they do, as where a "
            "few rows are wrong throughout; it takes two to four times as many."
        ),
    )
    until = forms.DateField(label=_("Holds until"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = study.raters.judges()
        questions = Question.objects.filter(section__scheme=study.scheme).select_related("section__scheme")
        questions = questions.order_by("section__position", "position")
        field_of(self, "judge", forms.ModelChoiceField).queryset = judges.order_by("code")
        field_of(self, "question", forms.ModelChoiceField).queryset = questions
        self.initial = {"until": timezone.localdate() + timedelta(days=DAYS), **self.initial}
        code = (self.data if self.is_bound else self.initial).get("judge")
        judge = next((rater for rater in judges.order_by("code") if code in (None, rater.code)), None)
        self.answered = [] if judge is None else _answered(study, judge, questions)
        if judge is not None:
            select: AnsweredSelect = self.fields["question"].widget
            select.judge, select.answered = judge.code, frozenset(question.pk for question in self.answered)

    @classmethod
    def changed(cls, asked: QueryDict, *, study: Study) -> CertifyForm:
        """As its page has it after a change: where the judge does not answer the question, with one that it does."""
        form = cls(asked, study=study)
        if not form.answered or asked.get("question") in {str(question.pk) for question in form.answered}:
            return form
        return cls({**asked.dict(), "question": str(form.answered[0].pk)}, study=study)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        judge, question = data.get("judge"), data.get("question")
        if judge and question and question not in self.answered:
            self.add_error("question", not_answered(judge.code, question))
        return data

    def clean_bound(self) -> str:
        return self.cleaned_data["bound"] or APPROXIMATE

    @property
    def shares(self) -> tuple[float, float]:
        """Of wrong cells, and the confidence, 0 to 1."""
        return float(self.cleaned_data["epsilon"] / 100), float(self.cleaned_data["confidence"] / 100)


def _answered(study: Study, judge: Rater, questions: QuerySet[Question]) -> list[Question]:
    names = answered_questions(study, judge)
    return [question for question in questions if question_name(question) in names]


def question_called(study: Study, name: str) -> Question | None:
    questions = Question.objects.filter(section__scheme=study.scheme).select_related("section")
    return next((question for question in questions if question_name(question) == name), None)


class RatersField(ManyField):
    def label_from_instance(self, rater: Rater) -> str:
        return rater.code


class WorkForm(forms.Form):
    """What becomes of the documents that a judge is to take over."""

    share = forms.IntegerField(
        label=_("Supervised (%)"),
        min_value=1,
        max_value=100,
        initial=10,
        help_text=_("Of what the judge takes over so much is drawn for people, who are not told which."),
    )
    raters = RatersField(
        Rater.objects.none(), label=_("Who labels the rest"), widget=forms.CheckboxSelectMultiple, required=False
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=_SEED, initial=1)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raters = sorted(study.raters.plannable(), key=lambda rater: natural(rater.code))
        field_of(self, "raters", forms.ModelChoiceField).queryset = study.raters.plannable().order_by("code")
        self.initial = {"raters": raters, **self.initial}


class ExperimentForm(forms.Form):
    """Whose answers are shown to whom."""

    judge = CodeField(Rater.objects.none(), label=_("Judge"), to_field_name="code", empty_label=None)
    raters = RatersField(Rater.objects.none(), label=_("Who takes part"), widget=forms.CheckboxSelectMultiple)
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=_SEED, initial=1, help_text=_("The same seed draws the same ones.")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raters = sorted(study.raters.plannable(), key=lambda rater: natural(rater.code))
        field_of(self, "judge", forms.ModelChoiceField).queryset = study.raters.judges().order_by("code")
        field_of(self, "raters", forms.ModelChoiceField).queryset = study.raters.plannable().order_by("code")
        self.initial = {"raters": raters, **self.initial}


class RevokeForm(forms.Form):
    reason = forms.CharField(label=_("Why"), max_length=500)
