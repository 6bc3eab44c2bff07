"""A verdict as somebody asks for it: whose answers count, and who says what is nonsense."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from annotation.models import Study, User
from recipes.memorization.verdict import queries
from recipes.memorization.verdict.forms import VerdictForm
from recipes.memorization.verdict.queries import VerdictData
from reports.data.arrays import Filters


@dataclass(frozen=True)
class Made:
    form: VerdictForm
    filters: Filters
    verdict: VerdictData
    understood: bool


def made_of(data: QueryDict, *, study: Study, user: User) -> Made:
    """The verdict under what a query asks; under nothing of it where that is not understood."""
    examinations = queries.examinations(study, user)
    form = VerdictForm(data, study=study, examinations=examinations)
    understood = form.is_valid()
    filters = form.filters() if understood else Filters()
    said = form.cleaned_data if understood else {}
    chosen = next((each for each in examinations if each.slug == said.get("examined")), None)
    examined = chosen or next(iter(examinations), None)
    examination = queries.examination(examined, rater=said.get("examiner", "")) if examined else None
    return Made(form, filters, queries.load(study, filters, examination), understood)
