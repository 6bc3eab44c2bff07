"""Gold that files brought, listed and taken back over HTTP for programs: shown first, then done by its digest, as on
the page."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import study_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.lens import lens
from annotation.models import Role, Study
from annotation.queries import undoing


class GoldImportSerializer(serializers.Serializer[Any]):
    key = serializers.UUIDField()
    at = serializers.DateTimeField()
    sheets = serializers.ListField(child=serializers.CharField(), help_text=_("Their titles."))
    answers = serializers.IntegerField(source="n", help_text=_("That the file brought."))
    as_they_came = serializers.IntegerField(help_text=_("Of these, answers that nobody has touched since."))


class ShownGoldImportSerializer(serializers.Serializer[Any]):
    """What would go with the gold of an import."""

    undecided = serializers.IntegerField(help_text=_("Cells that would be undecided again."))
    before = serializers.IntegerField(help_text=_("Cells that would have the answer again that the import replaced."))
    stay = serializers.IntegerField(
        help_text=_("Answers that stay: they were changed since, or ones that they hang together with.")
    )
    digest = serializers.CharField(help_text=_("Of the cells that would change: taking back names it."))


class TakingGoldBackSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField(max_length=64, help_text=_("Of what was shown."))


class TakenBackSerializer(serializers.Serializer[Any]):
    answers = serializers.IntegerField(help_text=_("That went."))


@extend_schema(responses=GoldImportSerializer(many=True))
@api_view(["GET"])
def gold_imports(request: Request, slug: str) -> Response:
    """The imports that brought gold, the last one first."""
    study = study_of(request, slug, Role.MANAGER)
    return Response(GoldImportSerializer(undoing.gold_imports(study), many=True).data)


@extend_schema(responses=ShownGoldImportSerializer)
@api_view(["GET"])
def gold_import(request: Request, slug: str, key: uuid.UUID) -> Response:
    """What would go with the gold of an import. Nothing is changed; what is shown is taken back by its digest."""
    found = undoing.gold_of_import(_study_of_import(request, slug, key), key)
    told = {**vars(found), "digest": lens.digest(found.cells)}
    return Response(ShownGoldImportSerializer(told).data)


@extend_schema(request=TakingGoldBackSerializer, responses={200: TakenBackSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def take_back(request: Request, slug: str, key: uuid.UUID) -> Response:
    """Take the gold of an import back, as it was shown: its cells are undecided again, or what they were before. Cells
    that somebody has changed since stay as they are."""
    study = _study_of_import(request, slug, key)
    sent = TakingGoldBackSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    n = actions.take_back_gold(study=study, key=key, shown=sent.validated_data["digest"], by=user_of(request))
    return Response(TakenBackSerializer({"answers": n}).data)


def _study_of_import(request: Request, slug: str, key: uuid.UUID) -> Study:
    """Raises Http404 where no import of this key brought gold to the study."""
    study = study_of(request, slug, Role.MANAGER)
    if not undoing.has_imported_gold(study, key):
        raise Http404
    return study
