"""The history of a sheet, and bringing its labels back to a moment."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.forms.utils import flatatt
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions
from annotation.forms.fields import field_of
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Assignment, Column, Question, Rater, Role, Row, Sheet
from annotation.people.access import AppRequest, refuse_archived, sheet_for

READERS = (Role.MANAGER, Role.RESEARCHER)
_PAGE = 100
_SHOWN = 200


class RaterField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, rater: Rater) -> str:
        return _("%(code)s (simulated)") % {"code": rater.code} if rater.simulated else rater.code


class LongSelect(forms.Select):
    """One choice of thousands. Django's own renders a template for each: most of the time of this page."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = "" if value is None else str(value)
        marks = {True: mark_safe(" selected"), False: ""}  # our own word
        options = format_html_join(
            "\n",
            '<option value="{}"{}>{}</option>',
            ((key, marks[str(key) == chosen], said) for key, said in self.choices),
        )
        return format_html("<select{}>{}</select>", flatatt(self.build_attrs({"name": name}, attrs)), options)


class HistoryForm(forms.Form):
    """Whose changes of what; all of it when nothing is chosen."""

    rater = RaterField(
        Rater.objects.none(), label=gettext_lazy("Rater"), required=False, empty_label=gettext_lazy("everybody")
    )
    row = forms.ModelChoiceField(
        Row.objects.none(),
        label=gettext_lazy("Row"),
        required=False,
        widget=LongSelect,
    )
    column = forms.ModelChoiceField(
        Column.objects.none(), label=gettext_lazy("Column"), required=False, empty_label=gettext_lazy("all")
    )
    question = forms.ModelChoiceField(
        Question.objects.none(), label=gettext_lazy("Question"), required=False, empty_label=gettext_lazy("all")
    )

    def __init__(self, *args: Any, sheet: Sheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: dict[str, Any] = {
            "rater": sheet.study.raters.filter(assignments__row__sheet=sheet).distinct().order_by("-kind", "code"),
            "row": sheet.rows.defer("evidence"),
            "column": sheet.columns.all(),
            "question": Question.objects.filter(section__scheme=sheet.study.scheme_id),
        }
        for name, queryset in choices.items():
            field_of(self, name, forms.ModelChoiceField).queryset = queryset
        rows = choices["row"].values_list("pk", "name")
        field_of(self, "row", forms.ChoiceField).choices = [("", _("all")), *rows]
        self.fields["row"].label = sheet.study.scheme.parsed.words.row.capitalize()

    def conditions(self) -> dict[str, Any]:
        named = {"rater": "assignment__rater", "row": "assignment__row", "column": "column", "question": "question"}
        return {lookup: self.cleaned_data[name] for name, lookup in named.items() if self.cleaned_data[name]}


@require_GET
def page(request: AppRequest, pk: int) -> HttpResponse:
    sheet = sheet_for(request.user, pk, *READERS)
    actions.note_look(sheet=sheet, user=request.user)  # what people chose stands here as it does in the lens
    form = HistoryForm(request.GET, sheet=sheet)
    events = history.events(sheet)
    events = events.filter(**form.conditions()) if form.is_valid() else events.none()
    part = Paginator(events, _PAGE).get_page(request.GET.get("page"))
    asked = request.GET.copy()
    asked.pop("page", None)
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "form": form,
        "page": part,
        "steps": history.steps(sheet, part.object_list),
        "asked": asked.urlencode(),
        "is_manager": Role.MANAGER in sheet.study.roles,
        "Kind": Rater.Kind,
        "State": Assignment.State,
    }
    return render(request, "annotation/history.html", context)


class RestoreForm(forms.Form):
    moment = forms.DateTimeField(
        label=gettext_lazy("How it was at"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"),
    )
    rater = RaterField(
        Rater.objects.none(), label=gettext_lazy("Whose labels"), required=False, empty_label=gettext_lazy("all people")
    )
    submitted = forms.BooleanField(
        required=False,
        help_text=gettext_lazy("They are taken back, so that their raters see them and submit them again."),
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)  # what is no digest is not what was shown

    def clean_moment(self) -> datetime:
        moment: datetime = self.cleaned_data["moment"]
        try:
            return moment.astimezone(UTC)
        except OverflowError as error:  # before the first year, or after the last one
            raise forms.ValidationError(self.fields["moment"].error_messages["invalid"]) from error

    def __init__(self, *args: Any, sheet: Sheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_of(self, "rater", forms.ModelChoiceField).queryset = history.restorable(sheet)
        words = sheet.study.scheme.parsed.words.model_dump()
        self.fields["submitted"].label = _("Also in %(rows)s that are submitted") % words


@require_http_methods(["GET", "POST"])
def restore(request: AppRequest, pk: int) -> HttpResponse:
    """Show what restoring a moment would change (GET), and do it (POST), if it is still what was shown."""
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    refuse_archived(sheet.study, request.method)
    actions.note_look(sheet=sheet, user=request.user)
    data = request.POST if request.method == "POST" else request.GET
    form = RestoreForm(data or None, sheet=sheet)
    context: dict[str, Any] = {"sheet": sheet, "study": sheet.study, "scheme": sheet.study.scheme.parsed, "form": form}
    if form.is_valid():
        moment, rater, submitted = (form.cleaned_data[name] for name in ("moment", "rater", "submitted"))
        if request.method == "POST":
            try:
                n = actions.restore(
                    sheet=sheet,
                    to=moment,
                    rater=rater,
                    submitted=submitted,
                    shown=form.cleaned_data["shown"],
                    by=request.user,
                )
            except actions.Refused as refusal:
                form.add_error(None, str(refusal))
            else:
                messages.success(
                    request, ngettext("%(n)s cell is restored.", "%(n)s cells are restored.", n) % {"n": n}
                )
                return redirect("annotation:history", sheet.pk)
        context |= _preview(sheet, history.changes(sheet, to=moment, rater=rater), submitted=submitted)
        context["n_withdrawn"] = history.n_withdrawn(sheet, to=moment, rater=rater)
    return render(request, "annotation/restore.html", context)


def _preview(sheet: Sheet, changes: list[history.Change], *, submitted: bool) -> dict[str, Any]:
    found = history.preview(changes, submitted=submitted)
    return {
        "changes": [_drawn(sheet, change) for change in found.done[:_SHOWN]],
        "more": max(0, len(found.done) - _SHOWN),
        "n": len(found.done),
        "n_left": found.left,
        "n_taken_back": found.taken_back,
        "raters": found.raters,
        "digest": lens.digest(found.done),
    }


def _drawn(sheet: Sheet, change: history.Change) -> dict[str, Any]:
    (step,) = history.steps(sheet, [history.to_come(change)])
    return {"change": change, "step": step}


@require_POST
def restore_seen(request: AppRequest, pk: int) -> HttpResponse:
    """Whoever was told of a restore of their work on a sheet has read it; the session remembers which one it was."""
    sheet = get_object_or_404(Sheet, pk=pk, study__raters__user=request.user, study__raters__active=True)
    for restored in history.last_restores(request.user, sheet=sheet):
        request.session["restores_seen"] = {**request.session.get("restores_seen", {}), str(pk): restored.key}
    if "on_sheet" in request.POST:
        return redirect("annotation:sheet", pk)
    return redirect("annotation:my-work")
