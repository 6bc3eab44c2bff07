"""The lens on a sheet: everybody's labels side by side, what is said of one cell, and deciding what is right."""

from __future__ import annotations

import math
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, history, lens
from annotation.access import AppRequest, sheet_for
from annotation.models import (
    Assignment,
    Column,
    Decision,
    Label,
    Look,
    Note,
    Option,
    Question,
    Rater,
    Role,
    Row,
    Sheet,
    Skip,
)
from annotation.scheme import QuestionSpec
from annotation.templatetags.lens import draw
from annotation.views.saving import refusal
from annotation.views.work import evidence_messages, evidence_of, options_for_script

READERS = (Role.MANAGER, Role.RESEARCHER)


class LensCellForm(forms.Form):
    """A cell of a sheet by its row, column and question."""

    row = forms.ModelChoiceField(Row.objects.none())
    column = forms.ModelChoiceField(Column.objects.none())
    question = forms.ModelChoiceField(Question.objects.select_related("section__scheme"))

    def __init__(self, *args: Any, sheet: Sheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["row"].queryset = sheet.rows.defer("evidence").select_related("sheet__study__scheme")  # type: ignore[attr-defined]
        self.fields["column"].queryset = sheet.columns.select_related("section")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        column, question = cleaned.get("column"), cleaned.get("question")
        if column and question and column.section_id != question.section_id:
            raise forms.ValidationError(_("There is no such cell."))
        return cleaned


class DecisionForm(LensCellForm):
    """What is right in a cell; without an option, the decision is taken back."""

    option = forms.SlugField(required=False, max_length=60)
    reason = forms.CharField(required=False, max_length=2000)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        key, question = cleaned.get("option"), cleaned.get("question")
        cleaned["option"] = Option.objects.filter(question=question, key=key).first() if key and question else None
        if key and question and cleaned["option"] is None:
            raise forms.ValidationError(
                _("“%(option)s” is no answer to “%(question)s”.") % {"option": key, "question": question.title}
            )
        return cleaned


class AcceptForm(forms.Form):
    judges = forms.BooleanField(required=False)
    shown = forms.CharField(max_length=64)


# --- looking --------------------------------------------------------------------------------------------------------


@require_GET
def page(request: AppRequest, pk: int) -> HttpResponse:
    sheet = sheet_for(request.user, pk, *READERS)
    # A reading page that writes: to have seen the others' labels is what is recorded.
    actions.note_look(sheet=sheet, user=request.user)
    whole = lens.of_sheet(sheet)
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "lens": whole,
        "before": sheet.study.sheets.filter(position__lt=sheet.position).order_by("position").last(),
        "after": sheet.study.sheets.filter(position__gt=sheet.position).order_by("position").first(),
        "kinds": lens.TITLES,
        "counts": whole.counts(),
        "is_manager": Role.MANAGER in sheet.study.roles,
        "palette": _palette(whole),
        "messages_for_script": _messages_for_script(),
    }
    return render(request, "annotation/lens.html", context)


@require_GET
def cell(request: AppRequest, pk: int) -> HttpResponse:
    """All that is said of one cell, and how it came about."""
    sheet = sheet_for(request.user, pk, *READERS)
    form = LensCellForm(request.GET, sheet=sheet)
    if not form.is_valid():
        return HttpResponse(_("There is no such cell."), status=400)
    if not Look.objects.filter(sheet=sheet, user=request.user).exists():
        actions.note_look(sheet=sheet, user=request.user)
    return render(request, "annotation/_lens_cell.html", _detail(sheet, form))


def _detail(sheet: Sheet, form: LensCellForm) -> dict[str, Any]:
    row, column, question = (form.cleaned_data[name] for name in ("row", "column", "question"))
    here = {"assignment__row": row, "column": column, "question": question}
    seen = lens.of_sheet(sheet, rows=[row.pk], columns=[column.pk])
    spec: QuestionSpec = question.spec
    options = {option.key: option for option in spec.options}
    labels = (
        Label.objects.filter(**here)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .select_related("assignment__rater", "option")
    )
    skips = Skip.objects.filter(**here).exclude(assignment__state=Assignment.State.WITHDRAWN)
    said: list[dict[str, Any]] = [
        {"assignment": label.assignment, "of": label, "option": options[label.option.key]}
        | _in_numbers(label.scores, spec)
        for label in labels
    ]
    said += [{"assignment": skip.assignment, "skip": skip} for skip in skips.select_related("assignment__rater")]
    # People first, then judges, then gold.
    by_kind: dict[str, list[dict[str, Any]]] = {
        kind: [] for kind in (Rater.Kind.PERSON, Rater.Kind.JUDGE, Rater.Kind.GOLD)
    }
    for one in sorted(said, key=lambda one: (one["assignment"].rater.code, one["assignment"].repeat)):
        by_kind[one["assignment"].rater.kind].append(one)
    decisions = Decision.objects.filter(**here).select_related("option", "by")
    return {
        "sheet": sheet,
        "row": row,
        "column": column,
        "question": question,
        "cell": next((cell for cell in seen.cells if cell.question_id == question.pk), None),
        "said": {kind: of_kind for kind, of_kind in by_kind.items() if of_kind},
        "simulated": set(sheet.study.raters.filter(simulated=True).values_list("code", flat=True)),
        "decisions": [(d, options[d.option.key] if d.option else None) for d in decisions],
        "notes": Note.objects.filter(**here).select_related("assignment__rater", "answered_by"),
        "steps": history.steps(sheet, history.events(sheet).filter(**here)[:50]),
    }


def _in_numbers(scores: Any, spec: QuestionSpec) -> dict[str, Any]:
    """What a judge's scores say: the share of probability of each option among those offered, and the margin."""
    if not isinstance(scores, dict):
        return {}
    offered = scores.get("options")
    shares: list[dict[str, Any]] = []
    if isinstance(offered, dict) and all(isinstance(one, dict) and "logprob" in one for one in offered.values()):
        most = max((one["logprob"] for one in offered.values()), default=0.0)
        weights = {key: math.exp(one["logprob"] - most) for key, one in offered.items()}
        shares = [
            {"option": option, "percent": 100 * weights[option.key] / sum(weights.values())}
            for option in spec.options
            if option.key in weights
        ]
    margin = scores.get("margin_nats")
    unsure = isinstance(margin, int | float) and margin < lens.UNSURE_BELOW_NATS
    return {"shares": shares, "margin": margin, "unsure": unsure, "normalisation": scores.get("normalisation", "none")}


@require_GET
def evidence(request: AppRequest, pk: int) -> HttpResponse:
    """The text of a row, for those who look through the lens."""
    row = get_object_or_404(Row.objects.select_related("sheet__study__scheme"), pk=pk)
    sheet_for(request.user, row.sheet_id, *READERS)
    return render(request, "annotation/_evidence.html", evidence_of(row))


# --- deciding -------------------------------------------------------------------------------------------------------


@require_POST
def decide(request: AppRequest, pk: int) -> HttpResponse:
    """Decide a cell. The answer is the cells of its column as they are now: rules may have changed others too."""
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    form = DecisionForm(request.POST, sheet=sheet)
    if not form.is_valid():
        return refusal(" ".join(str(e) for errors in form.errors.values() for e in errors))
    data = form.cleaned_data
    try:
        actions.adjudicate(
            row=data["row"],
            column=data["column"],
            question=data["question"],
            option=data["option"],
            reason=data["reason"],
            by=request.user,
        )
    except actions.Refused as error:
        return refusal(str(error))
    now = lens.of_sheet(sheet, rows=[data["row"].pk], columns=[data["column"].pk])
    cells = [(cell.row_id, cell.column_id, cell.question_id, draw(cell, now.judges)) for cell in now.cells]
    return JsonResponse({"cells": cells})


@require_http_methods(["GET", "POST"])
def accept(request: AppRequest, pk: int) -> HttpResponse:
    """Show how many cells everybody agrees on (GET), and make them gold (POST)."""
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    if request.method == "POST":
        form = AcceptForm(request.POST)
        if not form.is_valid():
            return redirect("annotation:lens-accept", sheet.pk)
        data = form.cleaned_data
        try:
            n = actions.accept_agreed(sheet=sheet, judges=data["judges"], shown=data["shown"], by=request.user)
        except actions.Refused as error:
            messages.error(request, str(error))
            return redirect("annotation:lens-accept", sheet.pk)
        messages.success(request, ngettext("%(n)s cell is decided.", "%(n)s cells are decided.", n) % {"n": n})
        return redirect("annotation:lens", sheet.pk)
    actions.note_look(sheet=sheet, user=request.user)
    whole = lens.of_sheet(sheet)
    choices = []
    for judges in (True, False):
        found = lens.agreed(whole, judges=judges)
        choices.append({"judges": judges, "n": len(found), "shown": lens.digest(found)})
    decided = sum(cell.gold is not None for cell in whole.cells)
    context = {"sheet": sheet, "study": sheet.study, "choices": choices, "decided": decided, "judges": whole.judges}
    return render(request, "annotation/accept.html", context)


# --- for the script -------------------------------------------------------------------------------------------------


def _palette(whole: lens.Lens) -> dict[int, dict[str, object]]:
    """Question -> what the script says of it and offers in its cells."""
    return {
        question.pk: {
            "title": question.title,
            "section": table.section.title,
            "about": table.spec.question(question.key).about,
            "options": options_for_script(table.spec.question(question.key)),
        }
        for table in whole.tables
        for question in table.questions
    }


def _messages_for_script() -> dict[str, Any]:
    return {
        **evidence_messages(),
        "detailFailed": _("What is said of this cell could not be loaded. It is tried again when you come back to it."),
        "loggedOut": _("You are logged out. Log in again in another tab, then try again; nothing was decided."),
        "notSaved": _("The server did not answer. Nothing was decided: try again."),
        "decided": _("Decided: {option}"),
        "withdrawn": _("The decision is withdrawn."),
        "saving": _("Saving…"),
        "withdraw": _("withdraw the decision"),
        "place": _("{here} of {all}"),
        "none": _("no cell"),
        "of": _("{all} cells"),
        "readOnly": _("Managers decide here."),
        "notAsked": _("Nobody is asked this."),
    }
