"""What can be changed of a study at any time, over HTTP for programs: by the form and the action of its page."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import not_valid, study_of
from annotation.api.serializers import RefusalSerializer
from annotation.forms.labelling import StudySettingsForm
from annotation.models import Role, Study


class StudySettingsSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(max_length=60, help_text=_("Its address: nothing is at the old one any more."))
    guideline = serializers.CharField(allow_blank=True)
    consent = serializers.CharField(
        allow_blank=True, help_text=_("What annotators agree to before their first label; changed, it is asked anew.")
    )
    background = serializers.CharField(
        allow_blank=True, help_text=_("Questions about who labels: “questions:” as in a scheme file.")
    )
    submit_complete = serializers.BooleanField(help_text=_("A person's last answer submits."))


@extend_schema(methods=["GET"], responses=StudySettingsSerializer)
@extend_schema(
    methods=["POST"],
    request=StudySettingsSerializer(partial=True),
    responses={200: StudySettingsSerializer, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def settings(request: Request, slug: str) -> Response:
    """The settings of a study (GET); change those that are sent, and leave the others (POST)."""
    study = study_of(request, slug, Role.MANAGER)
    if request.method == "GET":
        return Response(StudySettingsSerializer(study).data)
    sent = StudySettingsSerializer(data=request.data, partial=True)
    sent.is_valid(raise_exception=True)
    given = sent.validated_data
    form = StudySettingsForm({**StudySettingsSerializer(study).data, **given}, instance=Study.objects.get(pk=study.pk))
    if not form.is_valid():
        raise not_valid(form)
    changed = actions.change_study(study=study, **{name: form.cleaned_data[name] for name in given})
    return Response(StudySettingsSerializer(changed).data)
