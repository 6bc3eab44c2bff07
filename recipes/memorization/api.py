"""The verdict over HTTP for programs: what its page says, under the same choices."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import dotted_parameters, not_valid, study_of, user_of
from annotation.models import Role
from recipes.memorization.verdict import contents as says
from recipes.memorization.verdict.asking import made_of
from recipes.memorization.verdict.looks import examination_was_read
from reports.api.serializers import ContentsSerializer
from reports.models import TestLook


class SaidOfSectionSerializer(serializers.Serializer[Any]):
    section = serializers.CharField(source="of.section.key")
    sentences = serializers.ListField(child=serializers.CharField())


class VerdictSerializer(ContentsSerializer):
    study = serializers.SlugField()
    examined = serializers.SlugField(allow_null=True, help_text=_("The study that says what is nonsense."))
    told = SaidOfSectionSerializer(many=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        contents, others = instance
        return {**ContentsSerializer(contents).data, **others}


@extend_schema(
    parameters=[
        OpenApiParameter(
            "voice",
            OpenApiTypes.STR,
            description=_("As answered by: people, majority, or rater.CODE. Without it people, else the judge."),
        ),
        dotted_parameters(
            {
                "found.<section>.<question>": _(
                    "Key of an option that counts as memorised; several: repeat it. The first one without it."
                )
            }
        ),
        OpenApiParameter("examined", OpenApiTypes.STR, description=_("The study that says what is nonsense.")),
        OpenApiParameter("examiner", OpenApiTypes.STR, description=_("Code of who says it there.")),
        OpenApiParameter("seed", OpenApiTypes.INT, description=_("0 where it is missing.")),
    ],
    responses=VerdictSerializer,
)
@api_view(["GET"])
def verdict(request: Request, slug: str) -> Response:
    """The verdict of a study: which items are memorised, inexact, creative or nonsense, with its tables and figures."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    made = made_of(request.query_params, study=study, user=user_of(request))
    if not made.understood:
        raise not_valid(made.form)
    examination_was_read(made.verdict, what=TestLook.What.REPORT, by=user_of(request))
    examined = made.verdict.examination.study if made.verdict.examination else None
    others = {
        "study": study.slug,
        "examined": examined.slug if examined else None,
        "told": SaidOfSectionSerializer(says.told(made.verdict, seed=made.filters.seed), many=True).data,
    }
    return Response(VerdictSerializer((says.contents_of(made.verdict, seed=made.filters.seed), others)).data)
