"""Frozen reports: made, read, computed again, compared."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import study_of, user_of
from annotation.models import Role
from reports import actions
from reports.api.serializers import FigureSerializer, TableSerializer, asked_filters, filter_parameters
from reports.contents import read_contents
from reports.data.arrays import Filters
from reports.data.label_table import UnknownFormat
from reports.frozen import recomputing
from reports.frozen.comparison import Comparison, NumberChange, compare
from reports.frozen.pairing import same_judge
from reports.models import Report


class FrozenSerializer(serializers.ModelSerializer[Report]):
    created_by = serializers.CharField(source="created_by.username", default=None)

    class Meta:
        model = Report
        fields = [
            "id",
            "title",
            "filters",
            "language",
            "data_digest",
            "results_digest",
            "code_version",
            "libraries",
            "seeds",
            "created_by",
            "created_at",
        ]


class FrozenContentsSerializer(FrozenSerializer):
    tables = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    class Meta(FrozenSerializer.Meta):
        fields = [*FrozenSerializer.Meta.fields, "tables", "figures"]

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, report: Report) -> Any:
        return TableSerializer(read_contents(report.results).tables, many=True).data

    @extend_schema_field(FigureSerializer(many=True))
    def get_figures(self, report: Report) -> Any:
        return FigureSerializer(read_contents(report.results).figures, many=True).data


class FreezeSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200)


@extend_schema(methods=["GET"], responses=FrozenSerializer(many=True))
@extend_schema(
    methods=["POST"],
    parameters=filter_parameters,
    request=FreezeSerializer,
    responses={200: FrozenSerializer, 201: FrozenSerializer},
)
@api_view(["GET", "POST"])
def reports(request: Request, slug: str) -> Response:
    """The frozen reports of a study, the last one first; POST freezes one more, under the filters of the query.

    An equal one that you froze in the last ten minutes is answered instead (200)."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    if request.method == "GET":
        frozen = study.reports.defer("labels", "results").select_related("created_by")
        return Response(FrozenSerializer(frozen, many=True).data)
    asked = FreezeSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    begun = timezone.now()
    made = actions.freeze(
        study=study,
        title=asked.validated_data["title"],
        filters=asked_filters(request, study),
        by=user_of(request),
    )
    again = made.created_at < begun
    return Response(FrozenSerializer(made).data, status=status.HTTP_200_OK if again else status.HTTP_201_CREATED)


def _report(request: Request, slug: str, pk: int) -> Report:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER, archived=True)  # it is read, and never changed
    return get_object_or_404(study.reports.select_related("created_by"), pk=pk)


@extend_schema(responses=FrozenContentsSerializer)
@api_view(["GET"])
def frozen(request: Request, slug: str, pk: int) -> Response:
    """A frozen report with all its tables and figures."""
    return Response(FrozenContentsSerializer(_report(request, slug, pk)).data)


class MoveSerializer(serializers.Serializer[Any]):
    table = serializers.CharField(source="table.key")
    row = serializers.CharField()
    number = serializers.CharField(source="head.key")
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    only_in = serializers.CharField(help_text=_("“first” or “second” where the other has no such number."))


class ComparisonSerializer(serializers.Serializer[Any]):
    n_numbers = serializers.IntegerField(help_text=_("In either report."))
    moves = serializers.SerializerMethodField()

    @extend_schema_field(MoveSerializer(many=True))
    def get_moves(self, comparison: Comparison) -> Any:
        changes: tuple[NumberChange, ...] = comparison.changes
        return MoveSerializer(changes, many=True).data


@extend_schema(responses=ComparisonSerializer)
@api_view(["GET"])
def comparison(request: Request, slug: str, pk: int, other: int) -> Response:
    """The numbers that are not equal in two frozen reports of a study. Where each is of one judge, and these are two,
    both are called “the judge”."""
    reports = (_report(request, slug, pk), _report(request, slug, other))
    first, second = ((read_contents(of.results), Filters.from_json(of.filters)) for of in reports)
    return Response(ComparisonSerializer(compare(*same_judge(first, second))).data)


class RecomputedSerializer(serializers.Serializer[Any]):
    equal = serializers.BooleanField(help_text=_("All texts and numbers came out as the same bytes."))
    labels_intact = serializers.BooleanField()
    digest = serializers.CharField(help_text=_("SHA-256 of all texts and numbers, as they come out now."))
    comparison = ComparisonSerializer()


@extend_schema(request=None, responses=RecomputedSerializer)
@api_view(["POST"])
def recomputed(request: Request, slug: str, pk: int) -> Response:
    """Compute a frozen report again from its own labels. It stays as it is."""
    try:
        return Response(RecomputedSerializer(recomputing.recompute(_report(request, slug, pk))).data)
    except UnknownFormat as error:
        return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
