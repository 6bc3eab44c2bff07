"""The report as the study stands."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import Refused
from annotation.api.core import study_of
from annotation.models import Role, Study
from reports import paragraphs, sentences
from reports.answers import Answers
from reports.api.serializers import ReportSerializer, asked_filters, filter_parameters
from reports.live import Live


@extend_schema(parameters=filter_parameters, responses=ReportSerializer)
@api_view(["GET"])
def report(request: Request, slug: str) -> Response:
    """The report as the study stands: what its first page says, and all tables and figures.

    A number that is not defined is null, and `because` in its row says why.
    """
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    filters = asked_filters(request, study)
    try:
        made = Live(study).made(filters)
    except Refused as refused:
        raise ValidationError({"normalisation": [str(refused)]}) from refused
    scheme = study.scheme.parsed
    found = {
        "study": study.slug,
        "title": study.title,
        "scheme": scheme.key,
        "scheme_version": scheme.version,
        "simulated_raters": made.simulated,
        "filters": filters,
        "answers": _answers(made.answers, study) if made.n_labels else None,
        "tables": made.contents.tables,
        "figures": made.contents.figures,
    }
    return Response(ReportSerializer(_Fields(found)).data)


def _answers(answers: Answers, study: Study) -> dict[str, Any]:
    scheme = study.scheme
    return {
        "tiles": sentences.tiles(answers),
        "people": sentences.about_people(answers, scheme.slug),
        "judges": sentences.about_judges(answers),
        "methods": paragraphs.methods(answers, scheme.parsed.words),
        "results": paragraphs.results(answers, scheme.slug),
    }


class _Fields:
    """A dictionary whose values are attributes, as serializers take them."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
