"""A study is deleted, over HTTP for programs, by the form and the actions of the page: at once, or by a worker where it
is large."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, queries
from annotation.api.core import not_valid, study_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.api.sheets import DeletableSerializer
from annotation.forms.labelling import DeleteStudyForm
from annotation.models import Deletion, Role
from annotation.queries import undoing
from work.api import ProgressFields, RunFields
from work.queries import progress_of


class DeletableStudySerializer(DeletableSerializer):
    frozen = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=_("What stays with its study for good: with any, nobody deletes it."),
    )
    at_work = serializers.ListField(
        child=serializers.CharField(), help_text=_("What is at work in it, by name: it ends or is cancelled first.")
    )


class ConfirmingSerializer(serializers.Serializer[Any]):
    confirm = serializers.CharField(
        max_length=60, help_text=_("The address of the study, again: it cannot be brought back.")
    )


class DeletionSerializer(RunFields):
    url = serializers.SerializerMethodField(help_text=_("Ask it again to follow the deletion."))
    title = serializers.CharField(help_text=_("Of the study."))
    progress = ProgressFields()

    def get_url(self, run: Deletion) -> str:
        return reverse("api:deletion", args=[run.pk])


def _told(*runs: Deletion) -> list[dict[str, Any]]:
    for run, progress in zip(runs, progress_of(runs), strict=True):
        run.progress = progress  # type: ignore[attr-defined]  # for the serializer
    return [*DeletionSerializer(runs, many=True).data]


@extend_schema(methods=["GET"], responses=DeletableStudySerializer)
@extend_schema(
    methods=["POST"],
    request=ConfirmingSerializer,
    responses={202: DeletionSerializer, 204: None, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def delete_study(request: Request, slug: str) -> Response:
    """What would be gone with a study (GET); delete it with all that is in it, for good (POST). 202 where it is large:
    nobody sees it any more, and a worker deletes it. One that was labelled is deleted by an owner alone."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    if request.method == "GET":
        along = undoing.of_study(study)
        told = {
            "may_go": along.may_go(user_of(request)),
            "goes": dict(along.goes),
            "built": dict(along.built),
            "frozen": dict(along.frozen),
            "at_work": [run.maker for run in along.runs],
        }
        return Response(DeletableStudySerializer(told).data)
    sent = ConfirmingSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = DeleteStudyForm({"address": sent.validated_data["confirm"]}, study=study)
    if not form.is_valid():
        raise not_valid(form, address="confirm")
    deletion = actions.delete_study(study=study, by=user_of(request))
    if deletion is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    [begun] = _told(deletion)
    return Response(begun, status=status.HTTP_202_ACCEPTED, headers={"Location": begun["url"]})


# --- by a worker ------------------------------------------------------------------------------------------------------


@extend_schema(responses=DeletionSerializer(many=True))
@api_view(["GET"])
def deletions(request: Request) -> Response:
    """The deletions that you began, and that are not through; an owner sees everybody's."""
    return Response(_told(*queries.open_deletions_of(user_of(request))))


@extend_schema(responses=DeletionSerializer)
@api_view(["GET"])
def deletion(request: Request, pk: int) -> Response:
    """How far a deletion is."""
    [told] = _told(get_object_or_404(queries.deletions_of(user_of(request)), pk=pk))
    return Response(told)


@extend_schema(request=None, responses={200: DeletionSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def resume_deletion(request: Request, pk: int) -> Response:
    """Go on with a deletion that has failed, where it was."""
    run = get_object_or_404(queries.deletions_of(user_of(request)), pk=pk)
    actions.resume_deletion(run=run)
    run.refresh_from_db()
    [told] = _told(run)
    return Response(told)
