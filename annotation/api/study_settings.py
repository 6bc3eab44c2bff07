"""What can be changed of a study at any time, over HTTP for programs, and its scheme while nothing is labelled: by the
forms and actions of their pages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, queries
from annotation.api.core import in_full, not_valid, study_of, user_of
from annotation.api.serializers import RefusalSerializer, StudyDetailSerializer
from annotation.forms.labelling import StudySettingsForm
from annotation.forms.schemes import NewSchemeForm, SchemeFileField
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
    contact = serializers.CharField(
        allow_blank=True,
        max_length=200,
        help_text=_("A person or a role that people of this study write to. Whoever has a link of it reads it."),
    )
    contact_address = serializers.CharField(
        allow_blank=True,
        max_length=500,
        help_text=_("An e-mail address, or a web address that begins with https://."),
    )
    licence = serializers.CharField(
        allow_blank=True, max_length=40, help_text=_("Of the labels: an SPDX identifier such as CC-BY-4.0, or empty.")
    )
    publishes_texts = serializers.BooleanField(
        help_text=_("Downloads have the texts that were labelled: only where you have the right to pass them on.")
    )
    publishes_contact = serializers.BooleanField(
        help_text=_("The README and the dataset card of downloads name the contact.")
    )
    submit_complete = serializers.BooleanField(help_text=_("A person's last answer submits."))
    shows_setup = serializers.BooleanField(
        help_text=_("Its first page lists the steps of setting it up, until they are done.")
    )


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


class NewSchemeSerializer(serializers.Serializer[Any]):
    scheme_text = serializers.CharField(
        max_length=SchemeFileField.MAX_BYTES, trim_whitespace=False, help_text=_("A scheme file.")
    )
    reason = serializers.CharField(
        max_length=500,
        default="",
        allow_blank=True,
        help_text=_("Of another wording under answers: why. Raters are told."),
    )


class DifferenceSerializer(serializers.Serializer[Any]):
    where = serializers.CharField(help_text=_("Its place in the scheme file: sections.KEY.questions.KEY.title."))
    before = serializers.CharField()
    after = serializers.CharField()


class WordingSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True, help_text=_("Null: from the beginning."))
    until = serializers.DateTimeField(allow_null=True, help_text=_("Null: it still stands."))
    labels_of_people = serializers.IntegerField(source="n_people", help_text=_("Given then, and standing."))
    labels_of_judges = serializers.IntegerField(source="n_judges")
    reason = serializers.CharField(
        source="revision.reason", default=None, allow_null=True, help_text=_("Why it was changed into the next one.")
    )
    changed = DifferenceSerializer(many=True, help_text=_("What the next one says otherwise."))


class SchemeTextSerializer(serializers.Serializer[Any]):
    scheme = serializers.SlugField(source="slug")
    scheme_version = serializers.IntegerField(source="version")
    scheme_text = serializers.CharField(source="source", help_text=_("The scheme file, as it was read."))
    wordings = WordingSerializer(many=True, help_text=_("All that it said, the last first; empty: it never changed."))


@extend_schema(methods=["GET"], responses=SchemeTextSerializer)
@extend_schema(
    methods=["POST"], request=NewSchemeSerializer, responses={200: StudyDetailSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def change_scheme(request: Request, slug: str) -> Response:
    """The study's scheme as a file (GET); another one in its place, while nothing is labelled by it, then another
    wording of it, with a reason (POST)."""
    if request.method == "GET":
        study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        study.scheme.wordings = queries.wordings(study)  # type: ignore[attr-defined]  # for the serializer
        return Response(SchemeTextSerializer(study.scheme).data)
    study = study_of(request, slug, Role.MANAGER)
    sent = NewSchemeSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = NewSchemeForm(sent.validated_data)
    if not form.is_valid():
        raise not_valid(form)
    (spec, source), by = form.chosen, user_of(request)
    if not actions.has_answers(study):
        return in_full(by, actions.change_scheme(study=study, spec=spec, source=source))
    actions.reword_scheme(study=study, spec=spec, source=source, reason=sent.validated_data["reason"], by=by)
    return in_full(by, Study.objects.select_related("scheme").get(pk=study.pk))
