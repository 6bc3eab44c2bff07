"""Reports over HTTP for programs: what the pages show, under the same filters."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import Refused, note_looks
from annotation.api import study_of, user_of
from annotation.models import Role, Study
from reports import actions, queries, recomputing
from reports.arrays import Filters
from reports.comparison import Comparison, Move, compare
from reports.compute import compute
from reports.contents import Contents, contents_of, read_contents
from reports.exporting import file_name, path_of
from reports.forms import FiltersForm
from reports.label_table import UnknownFormat
from reports.models import Export, Report
from reports.tables import Table


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


class FigureSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    kind = serializers.CharField(help_text=_("matrix, confusion, reliability, coverage, intervals, precision-recall."))
    title = serializers.CharField(source="full_title")
    how = serializers.CharField(help_text=_("How to read it, and what it rests on."))
    alt = serializers.CharField(help_text=_("What it shows, in words."))
    data = serializers.DictField(help_text=_("What is drawn."))  # type: ignore[assignment]


class FiltersSerializer(serializers.Serializer[Any]):
    person = serializers.ListField(child=serializers.CharField(), source="people")
    judge = serializers.ListField(child=serializers.CharField(), source="judges")
    sheet = serializers.ListField(child=serializers.IntegerField(), source="sheets")
    question = serializers.ListField(child=serializers.CharField(), source="questions")
    merge = serializers.DictField(child=serializers.CharField(), source="merges")
    normalisation = serializers.DictField(child=serializers.CharField(), source="normalisations")
    submitted = serializers.BooleanField(source="submitted_only")
    exposure = serializers.CharField(help_text=_("What becomes of labels given after a look: leave_out, include."))
    by = serializers.CharField(help_text=_("What intervals draw: document, sheet, or nothing."))
    draws = serializers.IntegerField(source="n_draws")
    seed = serializers.IntegerField()


class ContentsSerializer(serializers.Serializer[Any]):
    tables = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, contents: Contents) -> Any:
        return TableSerializer(contents.tables, many=True).data

    @extend_schema_field(FigureSerializer(many=True))
    def get_figures(self, contents: Contents) -> Any:
        return FigureSerializer(contents.figures, many=True).data


class ReportSerializer(ContentsSerializer):
    study = serializers.SlugField()
    title = serializers.CharField()
    scheme = serializers.SlugField()
    scheme_version = serializers.IntegerField()
    simulated_raters = serializers.ListField(
        child=serializers.CharField(), help_text=_("Codes of the raters whose labels a program made up.")
    )
    filters = FiltersSerializer(help_text=_("As they were understood; an empty list lets everything in."))


_filter_parameters = [
    OpenApiParameter("person", OpenApiTypes.STR, many=True, description=_("Code of a person; several: repeat it.")),
    OpenApiParameter("judge", OpenApiTypes.STR, many=True, description=_("Code of a judge; several: repeat it.")),
    OpenApiParameter("sheet", OpenApiTypes.INT, many=True, description=_("Id of a sheet; several: repeat it.")),
    OpenApiParameter("question", OpenApiTypes.STR, many=True, description=_("section.question; several: repeat it.")),
    OpenApiParameter(
        "merge.{section}.{question}",
        OpenApiTypes.STR,
        description=_(
            "Key of a merge of that question's options, or told_apart: it applies to people and judges. Without it "
            "the scheme decides: people all told apart, judges under its judge merge."
        ),
    ),
    OpenApiParameter(
        "normalisation.{judge}",
        OpenApiTypes.STR,
        enum=["none", "token", "character", "pmi"],
        description=_("By which that judge's labels are chosen anew from its stored scores."),
    ),
    OpenApiParameter("submitted", OpenApiTypes.BOOL, description=_("Only submitted rows.")),
    OpenApiParameter(
        "exposure",
        OpenApiTypes.STR,
        enum=["leave_out", "include"],
        description=_("Labels given after a look at others': leave_out where it is missing."),
    ),
    OpenApiParameter("by", OpenApiTypes.STR, enum=["document", "sheet"], description=_("What intervals draw.")),
    OpenApiParameter("draws", OpenApiTypes.INT, description=_("How often; 2000 where it is missing.")),
    OpenApiParameter("seed", OpenApiTypes.INT, description=_("0 where it is missing.")),
]


def _filters(request: Request, study: Study) -> Filters:
    form = FiltersForm(request.query_params, study=study)
    if not form.is_valid():
        raise ValidationError({name: [str(error) for error in errors] for name, errors in form.errors.items()})
    return form.filters()


@extend_schema(parameters=_filter_parameters, responses=ReportSerializer)
@api_view(["GET"])
def report(request: Request, slug: str) -> Response:
    """The report as the study stands: all tables and figures of its page.

    A number that is not defined is null, and `because` in its row says why.
    """
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    filters = _filters(request, study)
    try:
        made = compute(queries.load(study, filters), filters)
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


# --- frozen reports --------------------------------------------------------------------------------------------------


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
    methods=["POST"], parameters=_filter_parameters, request=FreezeSerializer, responses={201: FrozenSerializer}
)
@api_view(["GET", "POST"])
def reports(request: Request, slug: str) -> Response:
    """The frozen reports of a study, the last one first; POST freezes one more, under the filters of the query."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    if request.method == "GET":
        frozen = study.reports.defer("labels", "results").select_related("created_by")
        return Response(FrozenSerializer(frozen, many=True).data)
    asked = FreezeSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    made = actions.freeze(
        study=study,
        title=asked.validated_data["title"],
        filters=_filters(request, study),
        by=user_of(request),
    )
    return Response(FrozenSerializer(made).data, status=status.HTTP_201_CREATED)


def _report(request: Request, slug: str, pk: int) -> Report:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
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
        moves: tuple[Move, ...] = comparison.moves
        return MoveSerializer(moves, many=True).data


@extend_schema(responses=ComparisonSerializer)
@api_view(["GET"])
def comparison(request: Request, slug: str, pk: int, other: int) -> Response:
    """The numbers that are not equal in two frozen reports of a study."""
    first, second = _report(request, slug, pk), _report(request, slug, other)
    return Response(ComparisonSerializer(compare(read_contents(first.results), read_contents(second.results))).data)


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


# --- downloads -------------------------------------------------------------------------------------------------------


class AskSerializer(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=Export.Form.choices)
    report = serializers.IntegerField(
        required=False, allow_null=True, help_text=_("A frozen report; without it, the study as it stands.")
    )


class ExportSerializer(serializers.ModelSerializer[Export]):
    name = serializers.SerializerMethodField()
    file = serializers.SerializerMethodField(help_text=_("Where it is fetched, once its state is ready."))

    class Meta:
        model = Export
        fields = ["id", "form", "report", "state", "done", "step", "size", "error", "asked_at", "name", "file"]

    def get_name(self, export: Export) -> str:
        return file_name(export)

    def get_file(self, export: Export) -> str | None:
        if export.state != Export.State.READY:
            return None
        return reverse("api:export-file", args=[export.study.slug, export.pk])


@extend_schema(parameters=_filter_parameters, request=AskSerializer, responses={202: ExportSerializer})
@api_view(["POST"])
def exports(request: Request, slug: str) -> Response:
    """Have a download made; ask its address until its state is ready."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = AskSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    number = asked.validated_data.get("report")
    made = actions.ask_for_export(
        study=study,
        form=asked.validated_data["form"],
        filters=_filters(request, study),
        by=user_of(request),
        report=get_object_or_404(study.reports, pk=number) if number else None,
    )
    return Response(ExportSerializer(made).data, status=status.HTTP_202_ACCEPTED)


def _export(request: Request, slug: str, pk: int) -> Export:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return get_object_or_404(study.exports.select_related("study"), pk=pk)


@extend_schema(responses=ExportSerializer)
@api_view(["GET"])
def export(request: Request, slug: str, pk: int) -> Response:
    """How far a download is."""
    return Response(ExportSerializer(_export(request, slug, pk)).data)


@extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
@api_view(["GET"])
def export_file(request: Request, slug: str, pk: int) -> FileResponse:
    """A download that is ready. Fetching it is recorded as a look at the sheets whose labels it holds."""
    made = _export(request, slug, pk)
    if made.state != Export.State.READY or not path_of(made).exists():
        raise Http404
    looked_at = queries.sheets_in(made.study, Filters.from_json(made.filters))
    note_looks(sheets=looked_at, user=user_of(request))
    return FileResponse(path_of(made).open("rb"), as_attachment=True, filename=file_name(made))
