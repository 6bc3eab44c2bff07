"""The report over HTTP for programs: what the page shows, under the same filters."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import study_of
from annotation.models import Role
from reports import queries
from reports.compute import StudyReport, compute
from reports.forms import FiltersForm
from reports.tables import Table, tables


class HeadSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text=_("The name of this value in each row."))
    title = serializers.CharField(source="full_title")
    kind = serializers.ChoiceField(
        choices=["text", "note", "count", "share", "number"],
        help_text=_("The texts of a row name it, a note is a remark on it; a share is 0 to 1."),
    )


class TableSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text=_("Such as “ingredients.presence.selections”."))
    title = serializers.CharField(source="full_title")
    how = serializers.CharField(help_text=_("How to read it."))
    heads = HeadSerializer(many=True)
    rows = serializers.SerializerMethodField()

    def get_rows(self, table: Table) -> list[dict[str, Any]]:
        """Values by the keys of the heads. A part of another row names that row as `part_of`."""
        rows = []
        for line, whole in zip(table.rows, table.wholes(), strict=True):
            row: dict[str, Any] = {head.key: value for head, value in zip(table.heads, line, strict=True)}
            if whole:
                row |= {table.heads[0].key: str(line[0]).strip(), "part_of": whole}
            rows.append(row)
        return rows


class FiltersSerializer(serializers.Serializer[Any]):
    person = serializers.ListField(child=serializers.CharField(), source="people")
    judge = serializers.ListField(child=serializers.CharField(), source="judges")
    sheet = serializers.ListField(child=serializers.IntegerField(), source="sheets")
    merge = serializers.DictField(child=serializers.CharField(), source="merges")
    submitted = serializers.BooleanField(source="submitted_only")


class ReportSerializer(serializers.Serializer[Any]):
    study = serializers.SlugField(source="data.table.slug")
    title = serializers.CharField(source="data.table.title")
    scheme = serializers.SlugField(source="data.scheme.key")
    scheme_version = serializers.IntegerField(source="data.scheme.version")
    simulated_raters = serializers.SerializerMethodField()
    filters = FiltersSerializer(help_text=_("As they were understood; an empty list lets everything in."))
    tables = serializers.SerializerMethodField()

    def get_simulated_raters(self, report: StudyReport) -> list[str]:
        """Codes of the raters whose labels a program made up."""
        return [rater.code for rater in report.data.simulated]

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, report: StudyReport) -> Any:
        return TableSerializer(tables(report), many=True).data


@extend_schema(
    parameters=[
        OpenApiParameter("person", OpenApiTypes.STR, many=True, description=_("Code of a person; several: repeat it.")),
        OpenApiParameter("judge", OpenApiTypes.STR, many=True, description=_("Code of a judge; several: repeat it.")),
        OpenApiParameter("sheet", OpenApiTypes.INT, many=True, description=_("Id of a sheet; several: repeat it.")),
        OpenApiParameter(
            "merge.{section}.{question}",
            OpenApiTypes.STR,
            description=_(
                "Key of a merge of that question's options, or told_apart: it applies to people and judges. Without it "
                "the scheme decides: people all told apart, judges under its judge merge."
            ),
        ),
        OpenApiParameter("submitted", OpenApiTypes.BOOL, description=_("Only submitted rows.")),
    ],
    responses=ReportSerializer,
)
@api_view(["GET"])
def report(request: Request, slug: str) -> Response:
    """Selections, agreement and judges' accuracy: all tables of the report's page.

    A number that is not defined is null, and `because` in its row says why.
    """
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    form = FiltersForm(request.query_params, study=study)
    if not form.is_valid():
        raise ValidationError({name: [str(error) for error in errors] for name, errors in form.errors.items()})
    filters = form.filters()
    return Response(ReportSerializer(compute(queries.load(study, filters), filters)).data)
