"""Downloads that a worker makes: asked for, waited for, fetched."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import note, note_looks
from annotation.api.core import study_of, user_of
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.models import AuditEvent, Role
from reports import actions
from reports.api.serializers import asked_filters, filter_parameters
from reports.data.arrays import Filters
from reports.exported_labels import sheets_in
from reports.exports.making import file_name, path_of
from reports.models import Export


class AskSerializer(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=Export.Form.choices,
        error_messages={
            "invalid_choice": format_lazy(
                _("“{{input}}” is no kind of download; there are: {kinds}."), kinds=", ".join(Export.Form.values)
            )
        },
    )
    report = serializers.IntegerField(
        min_value=1,
        max_value=MAX_ID,
        required=False,
        allow_null=True,
        help_text=_("A frozen report; without it, the study as it stands."),
    )


class ExportSerializer(serializers.ModelSerializer[Export]):
    state = serializers.ChoiceField(Export.Shown.choices, source="shown")
    done = serializers.IntegerField(source="part.percent", help_text=_("Per cent."))
    step = serializers.CharField(source="part.step", help_text=_("What is being made at the moment."))
    asked_at = serializers.DateTimeField(source="started_at")
    name = serializers.SerializerMethodField()
    file = serializers.SerializerMethodField(help_text=_("Where it is fetched, once its state is ready."))

    class Meta:
        model = Export
        fields = ["id", "form", "report", "state", "done", "step", "size", "error", "asked_at", "name", "file"]

    def get_name(self, export: Export) -> str:
        return file_name(export)

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_file(self, export: Export) -> str | None:
        if export.state != Export.State.FINISHED:
            return None
        request: Request = self.context["request"]
        return request.build_absolute_uri(reverse("api:export-file", args=[export.study.slug, export.pk]))


@extend_schema(methods=["GET"], responses=ExportSerializer(many=True))
@extend_schema(methods=["POST"], parameters=filter_parameters, request=AskSerializer, responses={202: ExportSerializer})
@api_view(["GET", "POST"])
def exports(request: Request, slug: str) -> Response:
    """The downloads that you had made, the last one first. POST has one made; ask its address until its state is ready.

    The same that you asked for in the last ten minutes, of the same data, is answered instead of another."""
    if request.method == "GET":
        mine = study_of(request, slug, Role.MANAGER, Role.RESEARCHER).exports.filter(started_by=user_of(request))
        told = mine.select_related("study").prefetch_related("items")
        return Response(ExportSerializer(told, many=True, context={"request": request}).data)
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER, archived=True)  # all of it can be downloaded
    asked = AskSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    number = asked.validated_data.get("report")
    made = actions.ask_for_export(
        study=study,
        form=asked.validated_data["form"],
        filters=asked_filters(request, study),
        by=user_of(request),
        report=get_object_or_404(study.reports, pk=number) if number else None,
    )
    return _told(request, made, status=status.HTTP_202_ACCEPTED)


def _told(request: Request, export: Export, *, status: int = status.HTTP_200_OK) -> Response:
    return Response(ExportSerializer(export, context={"request": request}).data, status=status)


def _export(request: Request, slug: str, pk: int, *, archived: bool = False) -> Export:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER, archived=archived)
    return get_object_or_404(study.exports.select_related("study"), pk=pk)


@extend_schema(responses=ExportSerializer)
@api_view(["GET"])
def export(request: Request, slug: str, pk: int) -> Response:
    """How far a download is."""
    return _told(request, _export(request, slug, pk))


@extend_schema(request=None, responses=ExportSerializer)
@api_view(["POST"])
def cancel_export(request: Request, slug: str, pk: int) -> Response:
    """Have no download made after all."""
    actions.cancel_export(run=_export(request, slug, pk, archived=True))
    return _told(request, _export(request, slug, pk, archived=True))


@extend_schema(request=None, responses={200: ExportSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def resume_export(request: Request, slug: str, pk: int) -> Response:
    """Have a download made that was cancelled or failed."""
    actions.resume_export(run=_export(request, slug, pk))
    return _told(request, _export(request, slug, pk))


@extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
@api_view(["GET"])
def export_file(request: Request, slug: str, pk: int) -> FileResponse:
    """A download that is ready. Fetching it is recorded as a look at the sheets whose labels it holds."""
    made = _export(request, slug, pk)
    if made.state != Export.State.FINISHED or not path_of(made).exists():
        raise Http404
    looked_at = sheets_in(made.study, Filters.from_json(made.filters))
    note_looks(sheets=looked_at, user=user_of(request))
    note(AuditEvent.Kind.EXPORT, by=user_of(request), study=made.study, what=file_name(made))
    return FileResponse(path_of(made).open("rb"), as_attachment=True, filename=file_name(made))
