"""The form about an annotator's background, asked once before the first label; and what was told, by code."""

from __future__ import annotations

import contextlib
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation import actions
from annotation.answers import AnswerRefused, kind_of
from annotation.exchange.exports import background_lines
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries import background as backgrounds
from annotation.scheme.spec import QuestionSpec
from annotation.views.going_on import go_on


class _Written(forms.CharField):
    """An answer that is no option, in its text form."""

    def __init__(self, spec: QuestionSpec, **kwargs: Any) -> None:
        super().__init__(max_length=10_000, **kwargs)
        self.spec = spec

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.strip():
            return None
        try:
            return kind_of(self.spec).read(self.spec, text)
        except AnswerRefused as refused:
            raise forms.ValidationError(str(refused)) from refused


class BackgroundForm(forms.Form):
    """A field a question of the study's form; what is left empty is not kept."""

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for question in backgrounds.spec_of(study).questions:
            about: dict[str, Any] = {"label": question.title, "help_text": escape(question.help), "required": False}
            if question.has_options:
                choices = [("", _("I do not say")), *((one.key, one.label) for one in question.options)]
                self.fields[question.key] = forms.ChoiceField(choices=choices, widget=forms.RadioSelect, **about)
            else:
                self.fields[question.key] = _Written(question, **about)

    @property
    def answers(self) -> dict[str, Any]:
        return {key: value if value != "" else None for key, value in self.cleaned_data.items()}


@require_http_methods(["GET", "POST"])
@for_roles(*Role)
def background(request: AppRequest, study: Study) -> HttpResponse:
    """What who labels is asked; managers and researchers read the form, and what was told."""
    asked = bool(study.background.strip())
    labels = asked and study.raters.filter(user=request.user, active=True).exists()
    owes = labels and actions.owes_background(study=study, user=request.user)
    if owes and not actions.has_agreed(study=study, user=request.user):
        return redirect(reverse("annotation:consent", args=[study.slug], query=request.GET))
    form = BackgroundForm(request.POST or None, study=study) if asked else None
    if request.method == "POST" and form is not None and owes and form.is_valid():
        with contextlib.suppress(actions.Refused):  # sent twice: the first is kept
            actions.tell_background(study=study, user=request.user, answers=form.answers)
        return go_on(request)
    context: dict[str, Any] = {"study": study, "form": form, "owes": owes, "labels": labels}
    if study.roles & {Role.MANAGER, Role.RESEARCHER} and asked:
        head, *lines = backgrounds.table(study)
        context |= {"head": head, "lines": lines}
    invalid = form is not None and form.is_bound and bool(form.errors)
    return render(request, "annotation/background.html", context, status=400 if invalid else 200)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def background_csv(request: AppRequest, study: Study) -> HttpResponse:
    """What was told, a line a person, under the codes of exports."""
    answer = HttpResponse("".join(background_lines(study)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-background.csv"'
    return answer
