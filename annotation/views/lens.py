"""The lens on a sheet: everybody's labels side by side, what is said of one cell, and deciding what is right."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, doors, queries
from annotation.answers import AnswerRefused, Value, entries_of_code, kind_of, shown_code
from annotation.forms.fields import field_of
from annotation.labels import history
from annotation.lens import lens
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
from annotation.people.access import AppRequest, refuse_archived, sheet_for
from annotation.queries import parts, undoing
from annotation.scheme.spec import QuestionSpec, RowFacet
from annotation.templatetags.lens import draw
from annotation.views.palette import evidence_messages, options_for_script
from annotation.views.saving import refusal
from annotation.views.work import evidence_of
from base.text import natural

READERS = (Role.MANAGER, Role.RESEARCHER)


class LensCellForm(forms.Form):
    """A cell of a sheet by its row, column and question."""

    row = forms.ModelChoiceField(Row.objects.none())
    column = forms.ModelChoiceField(Column.objects.none())
    question = forms.ModelChoiceField(Question.objects.select_related("section__scheme"))

    def __init__(self, *args: Any, sheet: Sheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = sheet.rows.defer("evidence").select_related("sheet__study__scheme")
        field_of(self, "row", forms.ModelChoiceField).queryset = rows
        field_of(self, "column", forms.ModelChoiceField).queryset = sheet.columns.select_related("section")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        column, question = cleaned.get("column"), cleaned.get("question")
        if column and question and column.section_id != question.section_id:
            raise forms.ValidationError(_("There is no such cell."))
        return cleaned


class DecisionForm(LensCellForm):
    """What is right in a cell; without an option, and without a text, the decision is taken back.

    `text` is the text form of an answer that is no option, as the cells of the grid are typed into.
    """

    option = forms.SlugField(required=False, max_length=60)
    text = forms.CharField(required=False, max_length=100_000)
    reason = forms.CharField(required=False, max_length=2000)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        key, question = cleaned.get("option"), cleaned.get("question")
        cleaned["option"] = Option.objects.filter(question=question, key=key).first() if key and question else None
        if key and question and cleaned["option"] is None:
            raise forms.ValidationError(
                _("“%(option)s” is no answer to “%(question)s”.") % {"option": key, "question": question.title}
            )
        cleaned["value"] = _read(question, cleaned.get("text") or "") if question else None
        return cleaned


def _read(question: Question, text: str) -> Value | None:
    spec: QuestionSpec = question.spec
    if spec.has_options:
        return None
    try:
        return kind_of(spec).read(spec, text)
    except AnswerRefused as refused:
        raise forms.ValidationError(str(refused)) from refused


class AcceptForm(forms.Form):
    judges = forms.BooleanField(required=False)
    shown = forms.CharField(max_length=64)


# --- looking --------------------------------------------------------------------------------------------------------


@never_cache  # as a sheet
@require_GET
def page(request: AppRequest, pk: int) -> HttpResponse:
    sheet = sheet_for(request.user, pk, *READERS)
    # A reading page that writes: to have seen the others' labels is what is recorded.
    actions.note_look(sheet=sheet, user=request.user)
    part = parts.part_of_sheet(sheet, number=_number_in(request, "part"), row=_number_in(request, "row"))
    whole = lens.of_sheet(sheet, rows=part.ids if part else None)
    context = {
        "part": part,
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "lens": whole,
        "before": sheet.study.sheets.filter(position__lt=sheet.position).order_by("position").last(),
        "after": sheet.study.sheets.filter(position__gt=sheet.position).order_by("position").first(),
        "kinds": _kinds(whole),
        "counts": whole.counts(),
        "facets": _facets(whole),
        "rows_for_script": _rows_for_script(whole),
        "has_states": queries.has_states(sheet.study.scheme.parsed),
        "has_values": any(not question.has_options for table in whole.tables for question in table.spec.questions),
        "is_manager": Role.MANAGER in sheet.study.roles,
        "sheet_text": doors.sheet_text(sheet),
        "palette": _palette(whole),
        "messages_for_script": _messages_for_script(),
    }
    return render(request, "annotation/lens.html", context)


def _number_in(request: AppRequest, name: str) -> int | None:
    said = request.GET.get(name, "")
    return int(said) if said.isdecimal() and len(said) < 19 else None


def _kinds(whole: lens.Lens) -> dict[lens.Kind, Any]:
    """The kinds that cells of the sheet can be of: not every scheme warns, and few sheets have drafts."""
    can_warn = any(not table.spec.never_warns for table in whole.tables)
    has_drafts = any(cell.drafts for cell in whole.cells)
    left_out = {kind for kind, may in ((lens.Kind.WARNED, can_warn), (lens.Kind.DRAFT, has_drafts)) if not may}
    return {kind: title for kind, title in lens.TITLES.items() if kind not in left_out}


def _facets(whole: lens.Lens) -> list[tuple[RowFacet, list[str]]]:
    """The facets in which rows of the sheet differ, with their words; hidden ones too, since no rater looks here."""
    found = []
    for facet in whole.sheet.study.scheme.parsed.row.facets:
        words = {of_row.get(facet.key, "") for of_row in whole.facets.values()}
        if len(words) > 1:
            found.append((facet, sorted(words, key=natural)))
    return found


def _rows_for_script(whole: lens.Lens) -> dict[int, dict[str, Any]]:
    """Row -> what the filters look at: its facets, and who has it, by their places among the raters."""
    place = {code: n for n, code in enumerate(whole.raters)}
    return {
        row_id: {"facets": facets, "raters": [place[code] for code in whole.raters_of[row_id]]}
        for row_id, facets in whole.facets.items()
    }


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
        .select_related("assignment__rater", "option", "drafted_from")
    )
    skips = Skip.objects.filter(**here).exclude(assignment__state=Assignment.State.WITHDRAWN)
    said: list[dict[str, Any]] = [
        {"assignment": label.assignment, "of": label, "option": options[label.option.key] if label.option else None}
        | _in_words(label, spec)
        | _in_numbers(label.scores, spec)
        for label in labels
    ]
    said += [{"assignment": skip.assignment, "skip": skip} for skip in skips.select_related("assignment__rater")]
    here_now = next((cell for cell in seen.cells if cell.question_id == question.pk), None)
    warned = {one.code: one.warned for one in (*here_now.people, *here_now.judges)} if here_now else {}
    for one in said:
        one["warnings"] = warned.get(lens.code_of(one["assignment"].rater, one["assignment"].repeat), ())
    # People first, then judges, then gold.
    by_kind: dict[str, list[dict[str, Any]]] = {
        kind: [] for kind in (Rater.Kind.PERSON, Rater.Kind.JUDGE, Rater.Kind.GOLD)
    }
    for one in sorted(said, key=lambda one: (one["assignment"].rater.code, one["assignment"].repeat)):
        by_kind[one["assignment"].rater.kind].append(one)
    judged = [one["assignment"].pk for one in by_kind[Rater.Kind.JUDGE]]
    more = doors.answer_pages(sheet.study, column.pk, question.key, judged)
    for one in by_kind[Rater.Kind.JUDGE]:
        one["pages"] = more.get(one["assignment"].pk, [])
    _number(one for kind in (Rater.Kind.PERSON, Rater.Kind.JUDGE) for one in by_kind[kind])
    decisions = Decision.objects.filter(**here).select_related("option", "by")
    return {
        "sheet": sheet,
        "row": row,
        "column": column,
        "question": question,
        "cell": here_now,
        "said": {kind: of_kind for kind, of_kind in by_kind.items() if of_kind},
        "simulated": set(sheet.study.raters.filter(simulated=True).values_list("code", flat=True)),
        "decisions": [
            {
                "made": decision,
                "option": options[decision.option.key] if decision.option else None,
                "entries": entries_of_code(spec, decision.code) if decision.value is not None else [],
                "seen": {
                    code: said if spec.has_options else shown_code(spec, said) for code, said in decision.seen.items()
                },
            }
            for decision in decisions
        ],
        "notes": Note.objects.filter(**here).select_related("assignment__rater", "answered_by"),
        "steps": history.steps(sheet, history.events(sheet).filter(**here)[:50]),
    }


def _in_words(label: Label, spec: QuestionSpec) -> dict[str, Any]:
    """An answer that is a value, in full: as a small list where it has parts; and as whoever takes it would write it.

    One that the scheme would refuse by now is shown as it was stored, and cannot be taken.
    """
    if label.value is None:
        return {}
    kind = kind_of(spec)
    try:
        value = kind.value(spec, label.code)
    except AnswerRefused:
        return {"shown": label.code, "entries": [label.code]}
    written = kind.written(spec, value)
    return {
        "shown": kind.shown(spec, value),
        "entries": [written] if spec.text and spec.text.lines else kind.entries(spec, value),
        "written": written,
        "colour": "grey",
        "sign": kind.sign(spec, value),
    }


def _number(said: Iterable[dict[str, Any]]) -> None:
    """Number the values that can be taken by a key: one number for what is written alike, from 1 to 9."""
    numbers: dict[str, int] = {}
    for one in said:
        if one.get("written") and (number := numbers.setdefault(one["written"], len(numbers) + 1)) <= 9:
            one["number"] = number


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
    return render(request, "annotation/_evidence.html", evidence_of(row, hidden=True))


# --- deciding -------------------------------------------------------------------------------------------------------


@require_POST
def decide(request: AppRequest, pk: int) -> HttpResponse:
    """Decide a cell. The answer is the cells of its column as they are now: rules may have changed others too."""
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    refuse_archived(sheet.study, request.method)
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
            value=data["value"],
            reason=data["reason"],
            by=request.user,
        )
    except actions.Refused as error:
        return refusal(str(error))
    now = lens.of_sheet(sheet, rows=[data["row"].pk], columns=[data["column"].pk])
    cells = [(cell.row_id, cell.column_id, cell.question_id, draw(cell, now)) for cell in now.cells]
    return JsonResponse({"cells": cells})


@require_http_methods(["GET", "POST"])
def accept(request: AppRequest, pk: int) -> HttpResponse:
    """Show how many cells everybody agrees on (GET), and make them gold (POST)."""
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    refuse_archived(sheet.study, request.method)
    if request.method == "POST":
        form = AcceptForm(request.POST)
        if not form.is_valid():
            messages.error(
                request,
                _(
                    "The labels have changed since you looked. Nothing was decided: look again. "
                    "If it was sent before, it may be done already."
                ),
            )
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
    context["accepted"] = undoing.accepted(sheet)
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
        "own": _("write an answer"),
        "ownNeeded": _("Write the answer first; Backspace on the cell takes a decision back."),
        "withdrawn": _("The decision is withdrawn."),
        "saving": _("Saving…"),
        "withdraw": _("withdraw the decision"),
        "place": _("{here} of {all}"),
        "none": _("no cell"),
        "of": _("{all} cells"),
        "readOnly": _("Managers decide here."),
        "notAsked": _("Nobody is asked this."),
    }
