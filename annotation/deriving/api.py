"""Lineage and derivation over HTTP."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import scheme_called
from annotation.api.core import study_of, user_of
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.deriving import making, queries
from annotation.deriving.actions import derive_study, note_looks
from annotation.deriving.queries import Rest
from annotation.models import Role, Study

_A_PAGE = 500


class RestSerializer(serializers.Serializer[Any]):
    study = serializers.SlugField(help_text=_("The derived study."))
    made_row = serializers.IntegerField(allow_null=True)
    made_column = serializers.IntegerField(allow_null=True)
    row = serializers.IntegerField(allow_null=True, help_text=_("Of the study before; null where it is gone."))
    column = serializers.IntegerField(allow_null=True)
    question = serializers.CharField(allow_null=True, help_text=_("section.question; null for a whole row."))
    rater = serializers.CharField(allow_null=True)
    code = serializers.CharField(help_text=_("What the label said then."))
    answer = serializers.CharField(help_text=_("The same as people read it."))
    now = serializers.CharField(help_text=_("What that rater answers today; empty for nothing."))
    how = serializers.CharField(help_text=_("By what rule it was chosen: gold, rater or majority."))


class LineageSerializer(serializers.Serializer[Any]):
    derived_from = serializers.SlugField(allow_null=True)
    derivation = serializers.DictField()
    made_of = RestSerializer(many=True)
    made_into = RestSerializer(many=True)


class LineageFilterSerializer(serializers.Serializer[Any]):
    begin = serializers.IntegerField(min_value=0, max_value=MAX_ID, default=0, help_text=_("How many to leave out."))


class DeriveSerializer(serializers.Serializer[Any]):
    deriver = serializers.ChoiceField(choices=[])
    scheme = serializers.CharField(help_text=_("Key of a scheme that is stored or comes with Palate."))
    version = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, required=False, help_text=_("Of the scheme; else its newest.")
    )
    slug = serializers.SlugField(max_length=60)
    title = serializers.CharField(max_length=200)
    rater = serializers.CharField(default="", allow_blank=True)
    settings = serializers.DictField(child=serializers.ListField(child=serializers.CharField()), default=dict)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["deriver"].choices = [deriver.key for deriver in making.derivers()]  # type: ignore[attr-defined]


class DerivedSerializer(serializers.Serializer[Any]):
    slug = serializers.SlugField()
    derivation = serializers.DictField()


@extend_schema(parameters=[LineageFilterSerializer], responses=LineageSerializer)
@api_view(["GET"])
def lineage(request: Request, slug: str) -> Response:
    """What the rows and columns of a study rest on, and what was made of its own cells; 500 of each a page.

    Only of studies in which you are a manager or a researcher. Seeing answers counts as a look at their sheets.
    """
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = LineageFilterSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    begin, user = asked.validated_data["begin"], user_of(request)
    before = study.derived_from if queries.may_read_before(study, user) else None
    rests = queries.lineage_in(study, begin=begin, most=_A_PAGE) if before else []
    made = queries.made_of(study, user, begin=begin, most=_A_PAGE)
    note_looks([*rests, *made], by=user)
    content = {
        "derived_from": before.slug if before else None,
        "derivation": study.derivation if before else {},
        "made_of": [_rest(rest) for rest in rests],
        "made_into": [_rest(rest) for rest in made],
    }
    return Response(LineageSerializer(content).data)


def _rest(rest: Rest) -> dict[str, Any]:
    of = rest.lineage
    return {
        "study": of.study.slug,
        "made_row": of.made_row_id,
        "made_column": of.made_column_id,
        "row": of.row_id,
        "column": of.column_id,
        "question": f"{of.question.section.key}.{of.question.key}" if of.question else None,
        "rater": of.assignment.rater.code if of.assignment else None,
        "code": of.code,
        "answer": rest.answer,
        "now": rest.now,
        "how": of.how,
    }


@extend_schema(request=DeriveSerializer, responses={201: DerivedSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def derive(request: Request, slug: str) -> Response:
    """Make a study out of another one's chosen labels. Managers of that study who may make studies."""
    source = study_of(request, slug, Role.MANAGER)
    user = user_of(request)
    if not user.has_perm("annotation.add_study"):
        raise PermissionDenied
    asked = DeriveSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    data = dict(asked.validated_data)
    with transaction.atomic():
        scheme = scheme_called(data.pop("scheme"), data.pop("version", None))
        if scheme is None:
            raise serializers.ValidationError({"scheme": [_("There is no such scheme.")]})
        made: Study = derive_study(source=source, scheme=scheme, by=user, **data)
    return Response(
        DerivedSerializer({"slug": made.slug, "derivation": made.derivation}).data, status=status.HTTP_201_CREATED
    )
