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
from annotation.models import Role
from reports import queries
from reports.api.serializers import ReportSerializer, asked_filters, filter_parameters
from reports.contents import contents_of
from reports.numbers.report import compute


@extend_schema(parameters=filter_parameters, responses=ReportSerializer)
@api_view(["GET"])
def report(request: Request, slug: str) -> Response:
    """The report as the study stands: all tables and figures of its page.

    A number that is not defined is null, and `because` in its row says why.
    """
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    filters = asked_filters(request, study)
    try:
        made = compute(queries.load(study, filters, frequent=True), filters)
    except Refused as refused:
        raise ValidationError({"normalisation": [str(refused)]}) from refused
    data, contents = made.data, contents_of(made)
    found = {
        "study": data.table.slug,
        "title": data.table.title,
        "scheme": data.scheme.key,
        "scheme_version": data.scheme.version,
        "simulated_raters": [rater.code for rater in data.simulated],
        "filters": filters,
        "tables": contents.tables,
        "figures": contents.figures,
    }
    return Response(ReportSerializer(_Fields(found)).data)


class _Fields:
    """A dictionary whose values are attributes, as serializers take them."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
