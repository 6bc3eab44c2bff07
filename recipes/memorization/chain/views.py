"""The page that says whose work each step was, from a list of names to a verdict."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from judges import actions as judging
from judges.models import Judge
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.chain import PARSING, judges, queries
from recipes.memorization.chain.following import writer_of
from recipes.memorization.chain.settings import LEXICAL, RULES
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict import SCHEME as RECIPES


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def steps(request: AppRequest, study: Study) -> HttpResponse:
    lines = queries.steps(study, request.user)
    verdicts = list({line.study.pk: line.study for line in lines if line.study.scheme.slug == RECIPES}.values())
    return render(request, "recipes/steps.html", {"study": study, "lines": lines, "verdicts": verdicts})


_ROLES = {CANDIDATES: judges.CHOOSES, PARSING: judges.PARSES, NONSENSE: judges.EXAMINES}


@require_POST
@permission_required("judges.add_judge", raise_exception=True)
@for_roles(Role.MANAGER)
def by_judge(request: AppRequest, study: Study) -> HttpResponse:
    """Let a judge that comes with Palate do a step: one without a model, or the model that wrote the recipes."""
    try:
        run = judging.start_run(study=study, judge=_judge(study, request.GET.get("judge", "")), by=request.user)
    except Refused as refused:
        messages.warning(request, str(refused))
        return redirect("judges:runs", study.slug)
    return redirect(run)


def _judge(study: Study, name: str) -> Judge:
    """Raises Refused where the model could never do it."""
    scheme = study.scheme.slug
    if name == RULES and scheme == PARSING:
        return judges.rules()
    if name == LEXICAL and scheme == RECIPES:
        return judges.lexical()
    if name or scheme not in _ROLES:
        raise Http404
    if (writer := writer_of(study)) is None:
        raise Refused(_("No model has written recipes for this study. Choose a judge."))
    return judges.of_model(writer)[_ROLES[scheme]]
