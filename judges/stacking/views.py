"""The page on which judges of a study are weighed together: choose them, see what it brings, make a judge of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation import doors
from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from judges import actions
from judges.calibrations import queries as calibrations
from judges.calibrations.views import CalibratedJudgeForm, FitForm
from judges.methods.prompting import PromptError
from judges.stacking import queries
from judges.stacking.queries import Agreed, Stack


class StackForm(FitForm):
    """Which judges, and on which sheets the development documents are."""

    field_order = ["judge", "sheet"]

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        self._raters = {str(rater.pk): rater for rater in queries.stackable(study)}
        self.fields["judge"] = forms.MultipleChoiceField(
            label=_("Judges"),
            choices=[(pk, f"{rater.code} · {_cells(rater.n_cells)}") for pk, rater in self._raters.items()],  # type: ignore[attr-defined]
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Choose two judges at least.")},
        )
        self.order_fields(self.field_order)

    def raters(self) -> list[Any]:
        return [self._raters[pk] for pk in self.cleaned_data["judge"]]


def _cells(n: int) -> str:
    return ngettext("%(n)s cell", "%(n)s cells", n) % {"n": n}


@dataclass(frozen=True)
class Line:
    """A judge of a question, or all together: `weight` is None then, and `helps` whether that is the best."""

    code: str
    weight: float | None
    accuracy: float
    macro_f1: float
    helps: bool = False


@dataclass(frozen=True)
class Shown:
    title: str
    n_cells: int
    n_documents: int
    lines: list[Line]
    biases: list[tuple[str, float]]
    agreements: list[Agreed]

    @property
    def helps(self) -> bool:
        return self.lines[-1].helps

    @property
    def best(self) -> Line:
        """The judge that is right most often alone, of equal ones the first."""
        return max(self.lines[:-1], key=lambda line: line.accuracy)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def stack(request: AppRequest, study: Study) -> HttpResponse:
    posted = request.method == "POST"
    form = StackForm(request.POST if posted else None, study=study)
    found: Stack | None = None
    if posted and form.is_valid():
        chosen: dict[str, Any] = {
            "study": study,
            "raters": form.raters(),
            "rows": calibrations.rows_of(study, form.chosen()),
        }
        try:
            found = actions.weigh(**chosen)  # the costly part, once
            if "name" in request.POST:
                return _created(request, study, found)
        except (Refused, PromptError) as refused:
            form.add_error(None, str(refused))
            if found is None and (lacking := queries.lacking(**chosen)):
                form.add_error(None, _lacking(lacking))
    context = {
        "study": study,
        "form": form,
        "set_aside": doors.example_rows(study) is not None,
        "found": found,
        "shown": _shown(found, study) if found else [],
        "chosen": [(name, value) for name in ("judge", "sheet") for value in request.POST.getlist(name)],
    }
    return render(request, "judges/stack.html", context)


def _lacking(judges: Mapping[str, int]) -> str:
    said = [f"{code} ({n})" for code, n in judges.items()]
    return _("Of the chosen documents that people have labelled, these judges have answered too few: %(judges)s.") % {
        "judges": ", ".join(said)
    }


def _created(request: AppRequest, study: Study, found: Stack) -> HttpResponse:
    if not request.user.has_perm("judges.add_judge"):
        raise PermissionDenied
    named = CalibratedJudgeForm(request.POST)
    if not named.is_valid():
        raise Refused(_("A judge's name has letters, digits and hyphens. Nothing was created."))
    judge = actions.create_stacker(study=study, found=found, name=named.cleaned_data["name"])
    messages.success(request, _("“%(name)s” can be started now.") % {"name": judge.name})
    return redirect("judges:runs", study.slug)


def _shown(found: Stack, study: Study) -> list[Shown]:
    asked = {f"{s.key}.{q.key}": (s, q) for s in study.scheme.parsed.sections for q in s.questions}
    shown = []
    for of in found.questions:
        section, question = asked[of.name]
        labels = {option.key: option.label for option in question.options}
        alone = zip(of.weights.items(), of.candidates[:-1], strict=True)
        lines = [Line(code, weight, *both) for (code, weight), both in alone]
        together = Line(_("all together"), None, *of.together, helps=of.together[0] > of.best_alone)
        shown.append(
            Shown(
                title=study.scheme.parsed.title_of(section.key, question.key),
                n_cells=of.n_cells,
                n_documents=of.n_documents,
                lines=[*lines, together],
                biases=[(labels[key], bias) for key, bias in of.options.items()],
                agreements=of.agreements,
            )
        )
    return shown
