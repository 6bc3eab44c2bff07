"""Graphs over HTTP for programs: read, and brought in, by the same reads and actions as the page."""

from __future__ import annotations

import io
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import doors
from annotation.actions import Refused, note, note_looks
from annotation.api.core import study_of, user_of
from annotation.api.imports import ImportDetailSerializer, started
from annotation.api.serializers import RefusalSerializer
from annotation.exchange.row_imports import ImportRefused, problems_text
from annotation.exchange.tables import TableError, check_size
from annotation.models import AuditEvent, Role
from recipes.ingredient_states import actions, exchange, exports, queries
from recipes.ingredient_states.recipe_files import FileRefused, read_json, to_json

MAX_BYTES = 32 * 2**20
NAME = "recipes.json"


class GraphsSerializer(serializers.Serializer[Any]):
    """What docs/states.md calls a file of recipes."""

    recipes = serializers.ListField(child=serializers.JSONField())


class BroughtSerializer(serializers.Serializer[Any]):
    recipes = serializers.IntegerField(help_text=_("That are new."))
    known = serializers.IntegerField(help_text=_("That were there already."))
    graphs = serializers.IntegerField()
    labels = serializers.IntegerField(help_text=_("New or changed answers."))


@extend_schema(
    methods=["GET"],
    parameters=[
        OpenApiParameter("rater", str, description="Only this rater's graphs, by the code."),
        OpenApiParameter("as", str, enum=[*exports.ENDINGS], description="By default JSON."),
    ],
    responses={
        (200, "application/json"): GraphsSerializer,
        **{(200, kind): OpenApiResponse(str) for ending, kind in exports.ENDINGS.items() if ending != "json"},
        409: RefusalSerializer,
    },
)
@extend_schema(
    methods=["POST"],
    request=GraphsSerializer,
    responses={201: BroughtSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def graphs(request: Request, slug: str) -> Response | HttpResponse:
    """All recipes of a study with everybody's graphs and the world after each step (GET); more of them (POST).

    Large ones are left to a worker: 202, with the import, whose address says how far it is.
    """
    if request.method == "GET":
        return _read(request, slug)
    study = study_of(request, slug, Role.MANAGER)
    # Not `body`, which is bounded as a form's: bounded here, and by what an import may have.
    data = request.stream.read(MAX_BYTES + 1) if request.stream is not None else b""
    try:
        check_size(io.BytesIO(data), name=NAME, max_bytes=min(MAX_BYTES, settings.PALATE_MAX_IMPORT_BYTES))
        file = SimpleUploadedFile(NAME, data)
        if exchange.is_large([file]):
            queries.needed_place(study)
            return started(study, exchange.start(study=study, files=[file], replace=False, by=user_of(request)))
        found = read_json(data.decode("utf-8-sig"))
        done = actions.import_recipes(study=study, recipes=found)
    except ImportRefused as refused:
        return Response({"detail": problems_text(refused)}, status=status.HTTP_409_CONFLICT)
    except (Refused, FileRefused, TableError, UnicodeDecodeError) as refused:
        return Response({"detail": str(refused)}, status=status.HTTP_409_CONFLICT)
    told = {"recipes": len(done.added), "known": done.known, "graphs": done.graphs, "labels": done.labels}
    return Response(told, status=status.HTTP_201_CREATED)


def _read(request: Request, slug: str) -> Response | HttpResponse:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    rater, ending = request.query_params.get("rater", ""), request.query_params.get("as", "json")
    if rater and not study.raters.filter(code=rater).exists():
        sentence = _("The study has no rater “%(rater)s”.") % {"rater": rater[:60]}
        raise serializers.ValidationError({"rater": [sentence]})
    try:
        found = queries.recipe_files(study, raters=frozenset({rater} if rater else ()))
    except Refused as refused:
        return Response({"detail": str(refused)}, status=status.HTTP_409_CONFLICT)
    note_looks(sheets=study.sheets.all(), user=user_of(request))
    doors.labels_were_read(study, user_of(request))
    note(AuditEvent.Kind.EXPORT, by=user_of(request), study=study, what="API: graphs")
    if ending == "json" or ending not in exports.ENDINGS:
        return Response(to_json(found))
    return HttpResponse(exports.written(found, ending), content_type=f"{exports.ENDINGS[ending]}; charset=utf-8")
