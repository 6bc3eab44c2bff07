"""The page of a judge's calibrations: fit one to development documents, read what it found, make a judge of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation import doors
from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, check_role, for_roles
from annotation.scheme.spec import QuestionSpec
from judges import actions
from judges.calibrations import examples as example_queries
from judges.calibrations import queries
from judges.lineage import queries as lineage
from judges.methods import Method, embedding
from judges.methods.calibration import Calibration
from judges.methods.prompting import PromptError
from judges.models import FittedCalibration, Judge

_HOW = {
    "as scored": gettext_lazy("as scored: nothing is moved"),
    "mean-centred": gettext_lazy("mean-centred: each option less its mean over the run"),
    "bias and temperature": gettext_lazy("bias and temperature: the most probable"),
    "thresholds": gettext_lazy("thresholds: the most cells right"),
}


class FitForm(forms.Form):
    """On which sheets the development documents are. `shown`: rows that are the judge's examples, and not fitted to."""

    def __init__(self, *args: Any, study: Study, shown: Collection[int] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._study = study
        self._sheets = {str(sheet.pk): sheet for sheet in queries.sheets_with_labels(study, shown)}
        self.fields["sheet"] = forms.MultipleChoiceField(
            label=_("Development documents"),
            choices=[(pk, f"{sheet.title} · {_labelled(sheet)}") for pk, sheet in self._sheets.items()],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Choose where the development documents are.")},
            help_text="" if doors.example_rows(study) is not None else _not_split(study),
        )

    def chosen(self) -> list[Any]:
        return [self._sheets[pk] for pk in self.cleaned_data["sheet"]]


def _not_split(study: Study) -> SafeString:
    """What is lost by a fit before documents are set aside for a test."""
    said = _(
        "The documents are not split yet. Those that are used here can be no test documents of any judge any more: if "
        "one is to be certified, draw the split first."
    )
    return format_html(
        '{} <a href="{}">{}</a>', said, reverse("reports:hiring", args=[study.slug]), _("Hiring a judge")
    )


class ExamplesForm(FitForm):
    """A judge with examples: of which documents, how many of each option, and what it is called."""

    each = forms.IntegerField(
        label=gettext_lazy("Examples of each option"), min_value=1, max_value=actions.MOST_EXAMPLES, initial=2
    )
    name = forms.SlugField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy("Its code in reports: small letters, digits and hyphens."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        min_value=0,
        required=False,
        initial=0,
        help_text=gettext_lazy("The same number draws the same ones."),
    )
    field_order = ["sheet", "each", "seed", "name"]

    def __init__(self, *args: Any, whole: bool = False, **kwargs: Any) -> None:
        """`whole`: documents are shown, not cells."""
        super().__init__(*args, **kwargs)
        self.order_fields(self.field_order)
        if whole:
            self.fields["each"].label = _("Documents shown as examples")
            self._sheets_by_title(all_of_them=doors.example_rows(self._study) is not None)

    def _sheets_by_title(self, *, all_of_them: bool) -> None:
        """Tables have a sheet each, hundreds of them. `all_of_them`: none needs to be chosen, since documents are set
        aside."""
        sheets = self.fields["sheet"]
        sheets.widget = forms.SelectMultiple(attrs={"size": 8})
        sheets.choices = [(pk, sheet.title) for pk, sheet in self._sheets.items()]  # type: ignore[attr-defined]
        sheets.required = not all_of_them
        if all_of_them:
            sheets.help_text = _("If you choose none: all that was set aside for development.")


class CalibratedJudgeForm(forms.Form):
    name = forms.SlugField(max_length=60)


def _labelled(sheet: Any) -> str:
    n, shown = sheet.n_labelled, sheet.n_shown
    said = ngettext("%(n)s document labelled by people", "%(n)s documents labelled by people", n) % {"n": n}
    return f"{said} ({_left_out(shown)})" if shown else said


def _left_out(n: int) -> str:
    return ngettext(
        "without %(n)s that is an example in the judge's prompt",
        "without %(n)s that are examples in the judge's prompt",
        n,
    ) % {"n": n}


@dataclass(frozen=True)
class Line:
    """A candidate of a question, as the page shows it."""

    how: str
    normalisation: str
    temperature: float
    moved: list[tuple[str, str]]  # options and by how much
    accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class Shown:
    """A calibration of a question: the best candidate, accuracy and macro-F1 of what the judge labelled, and the
    others."""

    name: str
    n_cells: int
    n_documents: int
    best: Line
    before: Sequence[float] | None
    others: list[Line]


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER, Role.RESEARCHER)
def calibrations(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    if request.method == "POST":
        check_role(request.user, study, Role.MANAGER)
    rater = get_object_or_404(queries.scored_raters(study), pk=pk)
    may_write = Role.MANAGER in study.roles
    judge = queries.judge_of(rater)
    shown = lineage.examples_of([judge])
    form = None
    if may_write:
        form = FitForm(request.POST if request.method == "POST" else None, study=study, shown=shown)
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            made = actions.calibrate(rater=rater, rows=queries.rows_of(study, form.chosen()), by=request.user)
        except Refused as refused:
            form.add_error("sheet", str(refused))
        else:
            messages.success(request, _("Calibration %(n)s is fitted. Nothing was labelled anew.") % {"n": made.pk})
            return redirect(made)
    fitted = list(queries.calibrations_of(rater))
    examples = None
    if may_write and request.user.has_perm("judges.add_judge") and example_queries.questions_with_examples_of(judge):
        examples = ExamplesForm(initial={"name": f"{rater.code}-examples"}, study=study, auto_id="id_examples_%s")
    context = {
        "study": study,
        "examples": examples,
        "rater": rater,
        "form": form,
        "is_embedding": judge.method == Method.EMBEDDING,
        "set_aside": doors.example_rows(study) is not None,
        "fitted": [(one, _told(one), _shown(one, study, judge), _report(one, study, shown)) for one in fitted],
    }
    return render(request, "judges/calibrations.html", context)


@require_POST
@for_roles(Role.MANAGER)
def with_examples(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A judge like this one whose prompt has examples drawn from people's labels."""
    rater = get_object_or_404(queries.scored_raters(study), pk=pk)
    return _created(request, study, queries.judge_of(rater), redirect("judges:calibrations", study.slug, rater.pk))


@require_POST
@for_roles(Role.MANAGER)
def with_documents(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A judge like this one, which writes, whose prompt has documents with their answers as examples."""
    judge = get_object_or_404(Judge.objects.known_in(study).select_related("model", "prompt"), pk=pk)
    return _created(request, study, judge, redirect("judges:judge", study.slug, judge.pk))


def _created(request: AppRequest, study: Study, judge: Judge, back: HttpResponse) -> HttpResponse:
    if not request.user.has_perm("judges.add_judge"):
        raise PermissionDenied
    form = ExamplesForm(request.POST, study=study, whole=judge.method == Method.WRITING)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return back
    try:
        made = actions.create_with_examples(
            judge=judge,
            study=study,
            rows=queries.rows_of(study, form.chosen()),
            each=form.cleaned_data["each"],
            seed=form.cleaned_data["seed"] or 0,
            name=form.cleaned_data["name"],
        )
    except (Refused, PromptError) as refused:
        messages.error(request, str(refused))
        return back
    messages.success(request, _("“%(name)s” can be started now.") % {"name": made.name})
    return redirect("judges:judge", study.slug, made.pk)


@require_POST
@for_roles(Role.MANAGER)
def new_judge(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A judge that chooses by a calibration."""
    calibration = get_object_or_404(study.calibrations.select_related("rater", "study"), pk=pk)
    if not request.user.has_perm("judges.add_judge"):
        raise PermissionDenied
    form = CalibratedJudgeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A judge's name has letters, digits and hyphens. Nothing was created."))
        return redirect(calibration)
    try:
        judge = actions.create_calibrated(calibration=calibration, name=form.cleaned_data["name"])
    except (Refused, PromptError) as refused:
        messages.error(request, str(refused))
        return redirect(calibration)
    messages.success(request, _("“%(name)s” can be started now.") % {"name": judge.name})
    return redirect("judges:runs", study.slug)


def _told(calibration: FittedCalibration) -> str:
    """To how many documents it was fitted, and how many were left out as examples."""
    n, examples = calibration.lineage["n_documents"], calibration.lineage.get("examples", ())
    said = ngettext("fitted to %(n)s document", "fitted to %(n)s documents", n) % {"n": n}
    return f"{said}, {_left_out(len(examples))}" if examples else said


def _report(calibration: FittedCalibration, study: Study, shown: Collection[int]) -> str:
    """The query of a report by it, of the sheets that have none of its development documents and of the examples in
    the judge's prompt; "" where there are none."""
    behind = {*calibration.lineage["rows"], *shown}
    seen = set(study.sheets.filter(rows__in=behind).values_list("pk", flat=True))
    others = [sheet for sheet in study.sheets.values_list("pk", flat=True) if sheet not in seen]
    if not others:
        return ""
    return urlencode({f"normalisation.{calibration.rater.code}": calibration.key, "sheet": others}, doseq=True)


def _shown(calibration: FittedCalibration, study: Study, judge: Judge) -> list[Shown]:
    asked = {f"{s.key}.{q.key}": (s, q) for s in study.scheme.parsed.sections for q in s.questions}
    shown = []
    for name, of in calibration.questions.items():
        section, question = asked[name]
        lines = [_line(each, question, name, judge) for each in of["candidates"]]
        before = of.get("labelled")
        if before is None and name not in judge.prompt_spec.calibration:  # fitted before this was kept
            its_own = calibration.lineage["its_own"]
            raw = [(each["how"], each["calibration"]["normalisation"]) for each in of["candidates"]]
            as_scored = lines[raw.index(("as scored", its_own))]
            before = as_scored.accuracy, as_scored.macro_f1
        title = study.scheme.parsed.title_of(section.key, question.key)
        shown.append(Shown(title, of["n_cells"], of["n_documents"], lines[0], before, lines))
    return shown


def _line(candidate: dict[str, Any], question: QuestionSpec, name: str, judge: Judge) -> Line:
    by = Calibration.model_validate(candidate["calibration"])
    labels = {option.key: option.label for option in question.options}
    moved = {key: f"{value:+.2f}" for key, value in by.bias.items()}
    prompt = judge.prompt_spec.questions.get(name)
    if prompt and judge.method == Method.EMBEDDING and prompt.embedding:
        moved = {key: f"{value:.3f}" for key, value in embedding.thresholds_under(prompt.embedding, by).items()}
    return Line(
        how=str(_HOW[candidate["how"]]),
        normalisation=str(Judge.Normalisation(by.normalisation).label),
        temperature=by.temperature,
        moved=[(labels[key], said) for key, said in moved.items()],
        accuracy=candidate["accuracy"],
        macro_f1=candidate["macro_f1"],
    )
