"""What a manager changes of a whole sheet, over HTTP for programs, as on the page of its settings: its title, whether
its people see the gold, whether it is archived, whether it is there at all."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import sheet_of, told_of_sheet, user_of
from annotation.api.serializers import RefusalSerializer, SheetSerializer
from annotation.queries import undoing


class TitleSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200)


@extend_schema(request=TitleSerializer, responses={200: SheetSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def rename(request: Request, pk: int) -> Response:
    """Give a sheet another title, which no other sheet of the study has."""
    sheet = sheet_of(request, pk)
    sent = TitleSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    return told_of_sheet(actions.rename_sheet(sheet=sheet, title=sent.validated_data["title"]))


class GoldShownSerializer(serializers.Serializer[Any]):
    shown = serializers.BooleanField()


@extend_schema(request=GoldShownSerializer, responses=SheetSerializer)
@api_view(["POST"])
def show_gold(request: Request, pk: int) -> Response:
    """Let the people of a sheet see where their answers differ from the gold once it is closed, or no more."""
    sheet = sheet_of(request, pk)
    sent = GoldShownSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    return told_of_sheet(actions.show_gold(sheet=sheet, shown=sent.validated_data["shown"]))


@extend_schema(request=None, responses=SheetSerializer)
@api_view(["POST"])
def archive(request: Request, pk: int) -> Response:
    """Close a sheet and take it off the lists of work and off new plans. Its labels stay; work that nobody has begun is
    taken back."""
    return told_of_sheet(actions.archive_sheet(sheet=sheet_of(request, pk), by=user_of(request)))


@extend_schema(request=None, responses=SheetSerializer)
@api_view(["POST"])
def bring_back(request: Request, pk: int) -> Response:
    """Bring an archived sheet back, open. Work that was taken back is given again by a plan."""
    return told_of_sheet(actions.unarchive_sheet(sheet=sheet_of(request, pk)))


class DeletableSerializer(serializers.Serializer[Any]):
    """What would be gone with it, and what stands in the way: how many of each, in words."""

    may_go = serializers.BooleanField(help_text=_("Whether you may delete it now."))
    goes = serializers.DictField(child=serializers.IntegerField(), help_text=_("What would be gone too."))
    built = serializers.DictField(
        child=serializers.IntegerField(), help_text=_("What people and judges have made of it.")
    )


@extend_schema(methods=["GET"], responses=DeletableSerializer)
@extend_schema(methods=["POST"], request=None, responses={204: None, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def delete(request: Request, pk: int) -> Response:
    """What would be gone with a sheet (GET); delete it, for good, while nobody has worked on it (POST)."""
    sheet = sheet_of(request, pk)
    if request.method == "GET":
        along = undoing.of_sheet(sheet)
        told = {"may_go": along.may_go, "goes": dict(along.goes), "built": dict(along.built)}
        return Response(DeletableSerializer(told).data)
    actions.delete_sheet(sheet=sheet, by=user_of(request))
    return Response(status=status.HTTP_204_NO_CONTENT)
