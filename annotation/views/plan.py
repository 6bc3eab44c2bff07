"""The manager's plan: who labels what, drawn before it is applied; handing open work on; withdrawing rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation import actions, doors, queries
from annotation.forms.handing_on import MoreRatersForm, ReplanForm, WithdrawRowForm
from annotation.forms.plan import PlanForm, in_words_of
from annotation.models import Assignment, Rater, Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from annotation.planning import BY_SHEET, NOTHING_SHARED, Design, ImpossibleDesign
from annotation.queries import DrawnMore, DrawnReplan, Given, StudyRows, setup, undoing
from annotation.queries.plan_picture import coverage, labels_asked
from annotation.scheme.spec import SectionSpec
from base.text import natural

# No scale is wider.
MOST_DEVIATION = 1e6
_LAST_PLANS = 5


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def plan(request: AppRequest, study: Study) -> HttpResponse:
    """Show the design for the numbers of the form (GET, again at each change of them); apply it (POST).

    A page that is opened with numbers asks for their design at once, as for any change. Only what was shown is applied:
    the drawn plan carries a digest of all that it follows from, which comes back.
    """
    data = request.POST if request.method == "POST" else request.GET
    form = PlanForm(
        data if "seed" in data or request.method == "POST" else None, study=study, deviation=_deviation(request)
    )
    if request.method == "POST" and form.is_valid() and request.POST.get("drawn") != form.digest:
        form = PlanForm(data, study=study)  # shown again, with all as it is now
    context: dict[str, Any] = {"study": study, "form": form, "scheme": study.scheme.parsed}
    if (request.htmx or request.method == "POST") and form.is_valid():
        context["left_out"] = _left_out(form)
        try:
            design = form.design()
        except ImpossibleDesign as impossible:
            form.add_error(None, in_words_of(study, impossible.sentence))
        else:
            new = form.new_seats(design)
            after = form.seats_after(new)
            judges = form.rows_of_judges(after)
            if request.method == "POST" and request.POST.get("drawn") == form.digest:
                return _apply(request, study, design, form, judges)
            context["changed"] = request.method == "POST"
            context["preview"] = {
                "own_order": form.cleaned_data["own_order"],
                "judges": {judge: len(row_ids) for judge, row_ids in judges.items()},
                "digest": form.digest,
                "sample": _sample(study, form),
                "deviation": repr(form.deviation) if form.choice is not None and form.choice.within else "",
            }
            if design:
                context["preview"] |= _after(study, form, new, after)
                times = context["preview"]["coverage"].times
                is_shared = times.twice or times.thrice  # with the work that stands; the note is of the new draw alone
                notes = [note for note in design.notes if note.template != NOTHING_SHARED or not is_shared]
                context["preview"]["notes"] = [in_words_of(study, note) for note in notes]
    if request.htmx:
        return render(request, "annotation/_plan_preview.html", context)
    of_judges: Counter[str] = Counter()
    for code, _sections, n in form.given_to_judges:
        of_judges[code] += n
    context["standing_judges"] = dict(sorted(of_judges.items()))
    if not form.counts:
        context |= {"has_rows": setup.has_rows(study), "way_in": setup.way_in(study)}
    return render(request, "annotation/plan.html", context | _standing(study, form, request.GET.get("section", "")))


def _deviation(request: AppRequest) -> float | None:
    """What the preview that is applied has counted with, where its sample is sized by what is to be known."""
    try:
        said = float(request.POST.get("deviation", ""))
    except ValueError:
        return None
    return said if 0 <= said < MOST_DEVIATION else None


def _after(study: Study, form: PlanForm, new: list[Given], after: list[Given]) -> dict[str, Any]:
    """What the preview shows of all the work that is given once the plan is applied."""
    section = _section(study, after, form.chosen_sections[0] if form.chosen_sections else "")
    picture = coverage(
        study,
        after,
        rows=form.work.rows,
        kappa=_kappa(form),
        before=form.standing,
        section=section.key if section else "",
        crowd=form.crowd,
    )
    raters = list(form.cleaned_data["raters"])
    return {
        "coverage": picture,
        "section": section,
        "compared": bool(form.standing),
        "new_labels": labels_asked(study, new, form.work.rows),
        "rows_a_rater": picture.rows_a_rater(raters),
        "rows_a_pair": picture.rows_a_pair(raters),
    }


def _sample(study: Study, form: PlanForm) -> dict[str, Any] | None:
    """What the preview shows of the rows that are drawn: how many, and of which groups."""
    choice, sample = form.choice, form.sample
    if choice is None or sample is None:
        return None
    names = {facet.key: facet.name for facet in study.scheme.parsed.row.facets}
    names[BY_SHEET] = study.scheme.parsed.words.sheet.capitalize()
    strata = sorted(sample.strata.items(), key=lambda of: [natural(word) for word in of[0]])
    return {
        "fit": sum(fit for fit, _n in sample.strata.values()),
        "drawn": len(sample.rows),
        "free": sum(map(len, form.rows)),
        "by": [names[facet] for facet in choice.by],
        "strata": [{"words": words, "fit": fit, "drawn": n} for words, (fit, n) in strata] if choice.by else [],
        **({"spread": form.spread, "within": choice.within, "each": choice.each} if choice.within else {}),
        "lacking": sum(fit < choice.size for fit, _n in sample.strata.values()) if choice.each and choice.size else 0,
    }


def _section(study: Study, seats: Iterable[Given], chosen: str) -> SectionSpec | None:
    """The section that a picture is of, the first one where none is chosen; None where all have the same raters.

    One picture of all sections would count a row as labelled twice whose two raters have nothing in common.
    """
    sections = study.scheme.parsed.sections
    if chosen in {one.key for one in sections}:
        return study.scheme.parsed.section(chosen)
    return sections[0] if _of_some_sections(seats) else None


def _of_some_sections(seats: Iterable[Given]) -> bool:
    return any(sections for _row, _rater, sections, _began in seats)


def _kappa(form: PlanForm) -> float:
    kappa = form.cleaned_data.get("kappa")
    return 0.7 if kappa is None else float(kappa)


def _left_out(form: PlanForm) -> int:
    """Rows that somebody has for some of the chosen sections, but not for all."""
    offered = sum(form.counts[sheet.pk].free for sheet in form.cleaned_data["sheets"])
    return max(0, offered - sum(map(len, form.free)))


def _standing(study: Study, form: PlanForm, section: str) -> dict[str, Any]:
    """What the plan page shows of the work that is given already."""
    work = form.work
    seats, picture = work.seats, None
    shown = _section(study, seats, section)
    if seats:
        picture = coverage(study, seats, rows=work.rows, section=shown.key if shown else "", crowd=form.crowd)
    withdrawn = Row.objects.none()
    if work.rows.withdrawn:
        withdrawn = Row.objects.filter(sheet__study=study).exclude(withdrawn_at=None)
        withdrawn = withdrawn.exclude(queries.coming_rows(study.pk)).order_by("sheet__position", "position")
    return {
        "standing": picture,
        "sections": study.scheme.parsed.sections if _of_some_sections(seats) else [],
        "section": shown.key if shown else "",
        "vacancies": queries.vacancies(study, work.rows) if work.any_lost else None,
        "withdrawn_rows": withdrawn.select_related("sheet", "withdrawn_by").defer("evidence"),
        "withdraw_form": WithdrawRowForm(study=study, rows=work.rows),
        "applied": undoing.applied_plans(list(study.plans.select_related("applied_by")[:_LAST_PLANS])),
        "panels": [(panel.title, reverse(panel.url_name, args=[study.slug])) for panel in doors.plan_panels()],
    }


def _apply(
    request: AppRequest, study: Study, design: Design | None, form: PlanForm, judges: dict[str, list[int]]
) -> HttpResponse:
    try:
        form.apply(design, judges, by=request.user)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:plan", study.slug)
    n = len(design.assignments) if design else 0
    words = study.scheme.parsed.words.model_dump()
    said = [ngettext("%(n)s %(row)s assigned.", "%(n)s %(rows)s assigned.", n) % {"n": n, **words}] if design else []
    if design and len({(sheet, document) for sheet, document, _rater in design.assignments}) < n:
        said.append(_("Any %(row)s that several raters get counts for each of them.") % words)
    said += [
        ngettext(
            "“%(judge)s” has %(n)s %(row)s to label; start it on the page of the judges.",
            "“%(judge)s” has %(n)s %(rows)s to label; start it on the page of the judges.",
            len(row_ids),
        )
        % {"judge": judge, "n": len(row_ids), **words}
        for judge, row_ids in judges.items()
    ]
    messages.success(request, " ".join(said))
    return redirect("annotation:plan", study.slug)


# --- handing open work on -------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def replan(request: AppRequest, study: Study) -> HttpResponse:
    """Show what would move (GET, again at each change of the form); move it (POST), if that is what was shown."""
    data = request.POST if request.method == "POST" else request.GET
    bound = "seed" in data or request.method == "POST"
    form = ReplanForm(data if bound else None, study=study, initial={"leaving": request.GET.getlist("leaving")})
    vacancies = queries.vacancies(study)
    if not vacancies.made_up:
        form.fields["make_up"].widget = form.fields["make_up"].hidden_widget()
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "scheme": study.scheme.parsed,
        "vacancies": vacancies,
        "anything_open": Assignment.objects.filter(
            rater__study=study, rater__kind=Rater.Kind.PERSON, state=Assignment.State.OPEN
        ).exists(),
    }
    if form.is_valid():
        asked, drawn = form.request(), request.POST.get("drawn", "")
        replan = queries.draw_replan(study, asked)
        if request.method == "POST" and drawn == replan.digest and replan.n_moves:
            return _apply_replan(request, study, form, drawn)
        context["changed"] = request.method == "POST" and drawn != replan.digest
        context["preview"] = {
            "coverage": coverage(study, replan.after, rows=replan.rows, before=replan.before, crowd=form.crowd),
            "now": coverage(study, replan.before, rows=replan.rows, drawn=False, crowd=form.crowd),
            "moves": _moves(study, replan),
            "n_moves": replan.n_moves,
            "stuck": replan.stuck,
            "digest": replan.digest,
        }
    template = "annotation/_replan_preview.html" if request.htmx else "annotation/replan.html"
    return render(request, template, context)


def _apply_replan(request: AppRequest, study: Study, form: ReplanForm, drawn: str) -> HttpResponse:
    try:
        plan = actions.apply_replan(study=study, request=form.request(), drawn=drawn, by=request.user)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:replan", study.slug)
    n = len(plan.request["moves"])
    words = study.scheme.parsed.words.model_dump()
    messages.success(request, ngettext("%(n)s %(row)s moved.", "%(n)s %(rows)s moved.", n) % {"n": n, **words})
    return redirect("annotation:plan", study.slug)


def _moves(study: Study, replan: DrawnReplan) -> list[dict[str, Any]]:
    """From whom to whom, how many rows, and on which sheets. What nobody can take stays and is no move."""
    raters = study.raters.in_bulk()
    sheet_of = dict(Row.objects.filter(sheet__study=study).values_list("pk", "sheet__title"))
    counted: dict[tuple[int | None, int], Counter[str]] = {}
    for move in replan.moves:
        if move.after is not None:
            counted.setdefault((move.before, move.after), Counter())[sheet_of[move.row_id]] += 1
    return [
        {
            "before": raters[before] if before else None,
            "after": raters[after],
            "n": sheets.total(),
            "sheets": sorted(sheets.items()),
        }
        for (before, after), sheets in sorted(counted.items(), key=lambda item: (item[0][0] or 0, item[0][1]))
    ]


# --- more raters for rows that somebody has -------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def more_raters(request: AppRequest, study: Study) -> HttpResponse:
    """Show who else would get what (GET, again at each change of the form); give it (POST), if that is what was
    shown."""
    data = request.POST if request.method == "POST" else request.GET
    form = MoreRatersForm(data if "seed" in data or request.method == "POST" else None, study=study)
    context: dict[str, Any] = {"study": study, "form": form, "scheme": study.scheme.parsed}
    if form.is_valid():
        asked, drawn = form.request(), request.POST.get("drawn", "")
        more = queries.draw_more(study, asked, form.had)
        if request.method == "POST" and drawn == more.digest and more.given:
            return _give_to_more(request, study, form, drawn)
        rows, shown = form.had.rows, _section(study, more.after, "")
        section = shown.key if shown else ""
        context["changed"] = request.method == "POST" and drawn != more.digest
        context["preview"] = {
            "coverage": coverage(study, more.after, rows=rows, before=more.before, section=section, crowd=form.crowd),
            "now": coverage(study, more.before, rows=rows, section=section, drawn=False, crowd=form.crowd),
            "section": shown,
            "asked": asked,
            "more": more,
            "given": _given(study, rows, more),
        }
    template = "annotation/_more_raters_preview.html" if request.htmx else "annotation/more_raters.html"
    return render(request, template, context)


def _give_to_more(request: AppRequest, study: Study, form: MoreRatersForm, drawn: str) -> HttpResponse:
    try:
        plan = actions.give_to_more(study=study, request=form.request(), drawn=drawn, by=request.user)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:more-raters", study.slug)
    n = len(plan.request["given"])
    words = study.scheme.parsed.words.model_dump()
    messages.success(request, ngettext("%(n)s %(row)s assigned.", "%(n)s %(rows)s assigned.", n) % {"n": n, **words})
    return redirect("annotation:plan", study.slug)


def _given(study: Study, rows: StudyRows, more: DrawnMore) -> list[dict[str, Any]]:
    """To whom, how many rows, and on which sheets. Two queries."""
    counted: dict[int, Counter[int]] = {}
    for seat in more.given:
        counted.setdefault(seat.rater_id, Counter())[rows.sheet_of[seat.row_id]] += 1
    titles = dict(study.sheets.order_by().values_list("pk", "title"))
    raters = study.raters.select_related("user").in_bulk(counted)
    by_code = sorted(counted.items(), key=lambda item: natural(raters[item[0]].code))
    return [
        {
            "rater": raters[rater_id],
            "n": sheets.total(),
            "sheets": [(titles[pk], sheets[pk]) for pk in rows.sheets if pk in sheets],
        }
        for rater_id, sheets in by_code
    ]


# --- withdrawing rows -----------------------------------------------------------------------------------------------


def _back(request: AppRequest, study: Study) -> HttpResponse:
    """To the page that the form stands on: the plan, or the one that it names."""
    named = request.POST.get("back", "")
    is_ours = url_has_allowed_host_and_scheme(named, {request.get_host()}, require_https=request.is_secure())
    return redirect(named if is_ours else reverse("annotation:plan", args=[study.slug]))


@require_POST
@for_roles(Role.MANAGER)
def withdraw_row(request: AppRequest, study: Study) -> HttpResponse:
    form = WithdrawRowForm(request.POST, study=study)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return _back(request, study)
    row: Row = form.cleaned_data["row"]
    n = actions.withdraw_row(row=row, reason=form.cleaned_data["reason"], by=request.user)
    said = _("“%(row)s” is withdrawn; its labels stay.") % {"row": row.name}
    if n:
        said += " " + ngettext(
            "%(n)s rater who had not begun it does not have it any more.",
            "%(n)s raters who had not begun it do not have it any more.",
            n,
        ) % {"n": n}
    messages.success(request, said)
    return _back(request, study)


@require_POST
@for_roles(Role.MANAGER)
def restore_row(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    row = get_object_or_404(Row.objects.select_related("sheet").defer("evidence"), sheet__study=study, pk=pk)
    actions.restore_row(row=row)
    messages.success(
        request,
        _("“%(row)s” can be labelled again. Who had it gets it back by “Reassign work”.") % {"row": row.name},
    )
    return _back(request, study)
