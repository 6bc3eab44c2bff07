"""The page that says whose work each step was, from a list of names to a verdict."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from recipes.memorization.chain import queries
from recipes.memorization.verdict import SCHEME as RECIPES


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def steps(request: AppRequest, study: Study) -> HttpResponse:
    lines = queries.steps(study, request.user)
    verdicts = list({line.study.pk: line.study for line in lines if line.study.scheme.slug == RECIPES}.values())
    return render(request, "recipes/steps.html", {"study": study, "lines": lines, "verdicts": verdicts})
