"""Extractors and their runs over HTTP for programs: a second door to the same reads and actions as the pages."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import study_of, user_of
from annotation.api.runs import RunDoor
from annotation.api.serializers import RefusalSerializer
from annotation.models import Role
from judges import actions
from judges.extraction import queries
from judges.forms import ExtractorForm
from judges.model_api import NamesAModelSerializer, made, refuse_who_makes_none
from judges.models import Extraction, Extractor
from judges.runs import evidence
from judges.spending import queries as spending
from judges.spending.api import LimitedFields, LimitsSerializer, ResumedSerializer, SpentSerializer
from work.api import RunFields


class ExtractorSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(Extractor.Kind.choices)
    parser = serializers.CharField(help_text=_("Of a parser, else “”."))
    model = serializers.CharField(source="model.location", default=None, allow_null=True)
    served_model = serializers.CharField(source="model.served_name", default=None, allow_null=True)
    chat_template = serializers.BooleanField()
    max_new_tokens = serializers.IntegerField()
    prompt_sha256 = serializers.CharField(source="prompt_digest")


class NewExtractorSerializer(NamesAModelSerializer):
    """What the page “New extractor” asks: a parser, or a model with a prompt."""

    name = serializers.SlugField(max_length=60)
    parser = serializers.CharField(required=False, help_text=_("Key of a parser of this installation."))
    max_new_tokens = serializers.IntegerField(min_value=16, max_value=32_768, default=2048)
    prompt_text = serializers.CharField(required=False, trim_whitespace=False)
    chat_template = serializers.BooleanField(default=True)


class ExtractionRunSerializer(RunFields):
    study = serializers.SlugField(source="study.slug")
    extractor = ExtractorSerializer()
    documents = serializers.IntegerField(source="n_documents")
    documents_done = serializers.IntegerField(source="n_done")
    documents_failed = serializers.IntegerField(source="n_failed")


class CorrectedItemSerializer(serializers.Serializer[Any]):
    fields = serializers.DictField(child=serializers.CharField(allow_blank=True), help_text=_("Field: its text."))  # type: ignore[assignment]
    was = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        help_text=_("Which extracted item it was, from 0 on; null for one that is added."),
    )


class CorrectionSerializer(serializers.Serializer[Any]):
    """A person's list in place of an extracted one."""

    items = CorrectedItemSerializer(many=True, help_text=_("Empty: the document has no such list."))
    changed = serializers.IntegerField(read_only=True)
    dropped = serializers.IntegerField(read_only=True)
    added = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(source="created_at", read_only=True)


class ExtractedListSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    items = serializers.JSONField(
        help_text=_("Each: fields {name: text}, and unsupported: the fields whose words are nowhere in the document.")
    )
    raw = serializers.CharField(help_text=_("As it was written."))
    repairs = serializers.DictField(child=serializers.IntegerField(), help_text=_("Rule: how often it was needed."))
    refused = serializers.CharField(help_text=_("Why there are no items, or “”."))
    correction = CorrectionSerializer(
        source="last_correction", allow_null=True, help_text=_("What a person made of it, where somebody looked.")
    )


class ExtractedDocumentSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(source="item.row_id")
    sheet_title = serializers.CharField(source="item.row.sheet.title")
    row_name = serializers.CharField(source="item.row.name")
    state = serializers.CharField(source="item.state")
    error = serializers.CharField(source="item.error")
    lists = ExtractedListSerializer(many=True)


class ExtractionDetailSerializer(LimitedFields, ExtractionRunSerializer):
    spent = SpentSerializer()
    contents = ExtractedDocumentSerializer(
        many=True, help_text=_("The documents, and the lists that were taken out of them.")
    )
    provenance = serializers.JSONField(help_text=_("Prompt, and of each kind of worker the model and the libraries."))


def _whole(run: Any) -> Any:
    run.spent = spending.spent(run)
    run.contents = queries.documents_of(run, with_raw=True)
    lists = [one for document in run.contents for one in document.lists]
    corrections = evidence.corrections_of(lists)
    for one in lists:
        one.last_correction = corrections.get(one.pk)
    return run


EXTRACTING = RunDoor(
    runs=queries.runs_with_counts,
    serializer=ExtractionRunSerializer,
    whole=_whole,
    detail=ExtractionDetailSerializer,
    cancel=actions.cancel_extraction,
    resume=actions.resume_extraction,
    asked=ResumedSerializer,
    about={
        "runs": "The extraction runs of a study, the last one first.",
        "run": "An extraction run: how far it is, what went wrong, and what was taken out of each document.",
        "cancel": "Stop an extraction run. What was taken out stays.",
        "resume": "Go on with the documents that are left, failed ones included.",
    },
)


@extend_schema(methods=["GET"], responses=ExtractorSerializer(many=True))
@extend_schema(
    methods=["POST"], request=NewExtractorSerializer, responses={201: ExtractorSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def extractors(request: Request, slug: str) -> Response:
    """The extractors; each can be started in each study (GET); make one, as a manager who may create judges (POST)."""
    if request.method == "GET":
        study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        return Response(
            ExtractorSerializer(Extractor.objects.filter(archived_at=None).select_related("model"), many=True).data
        )
    study = study_of(request, slug, Role.MANAGER)
    refuse_who_makes_none(request)
    sent = NewExtractorSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    create = partial(actions.create_extractor, study=study, by=user_of(request))
    extractor = made(ExtractorForm, sent.validated_data, create)
    return Response(ExtractorSerializer(extractor).data, status=status.HTTP_201_CREATED)


@extend_schema(request=LimitsSerializer, responses={201: ExtractionDetailSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def start(request: Request, slug: str, pk: int) -> Response:
    """Let an extractor take its lists out of all documents where it has not done so yet."""
    study = study_of(request, slug, Role.MANAGER)
    extractor = get_object_or_404(Extractor.objects.select_related("model"), pk=pk)
    asked = LimitsSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    run = actions.start_extraction(study=study, extractor=extractor, by=user_of(request), **asked.validated_data)
    return EXTRACTING.answer(study, run.pk, status.HTTP_201_CREATED)


@extend_schema(request=CorrectionSerializer, responses={201: CorrectionSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def correct(request: Request, slug: str, pk: int, row: int, kind: str) -> Response:
    """A person's list in place of the one that a run took out of a document. What was taken out stays."""
    study = study_of(request, slug, Role.MANAGER)
    run = get_object_or_404(EXTRACTING.runs(study), pk=pk)
    found = get_object_or_404(
        Extraction, extractor=run.extractor, kind=kind, row__sheet__study=study, row__extraction_items__run=run, row=row
    )
    asked = CorrectionSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    lines = [actions.Line(item["fields"], item["was"]) for item in asked.validated_data["items"]]
    made = actions.correct(extraction=found, lines=lines, by=user_of(request))
    return Response(CorrectionSerializer(made).data, status.HTTP_201_CREATED)
