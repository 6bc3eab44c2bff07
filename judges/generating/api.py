"""Texts that models write, over HTTP for programs: a second door to the same reads and actions as the pages."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import study_of, user_of
from annotation.api.runs import RunDoor
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.models import Role, Study
from judges.generating import actions, queries
from judges.generating.planning import MOST_A_TYPE, Wanted
from judges.models import GenerationItem, GenerationRun
from judges.spending import queries as spending
from judges.spending.api import LimitedFields, LimitsSerializer, ResumedSerializer, SpentSerializer
from llm.generating import wordings
from llm.generating.wordings import PromptType, WordingsRefused
from llm.models import LanguageModel
from work import queries as work
from work.api import ProgressFields, RunFields

_A_PAGE = 200


class GenerationRunSerializer(RunFields):
    study = serializers.SlugField(source="study.slug")
    model = serializers.CharField(source="model.name")
    request = serializers.JSONField(help_text=_("What was asked for, with the wordings."))
    texts = serializers.IntegerField(source="n_texts")
    texts_done = serializers.IntegerField(source="n_done")
    texts_failed = serializers.IntegerField(source="n_failed")


class GenerationDetailSerializer(LimitedFields, GenerationRunSerializer):
    progress = ProgressFields()
    spent = SpentSerializer()
    signs = serializers.DictField(
        child=serializers.IntegerField(), help_text=_("Texts by what may be wrong with them.")
    )
    cut = serializers.IntegerField(help_text=_("Texts that hit their limit."))
    provenance = serializers.JSONField(help_text=_("Of each kind of worker the model and the libraries."))


class TextSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text=_("Of the generation."))
    row = serializers.IntegerField()
    sheet = serializers.CharField()
    input = serializers.CharField()
    prompt_type = serializers.CharField()
    number = serializers.IntegerField()
    model = serializers.CharField()
    location = serializers.CharField()
    weights_sha256 = serializers.CharField(help_text=_("Empty where a server keeps them to itself."))
    wording = serializers.CharField()
    wording_sha256 = serializers.CharField()
    prompt = serializers.CharField(help_text=_("As the model got it."))
    prompt_sha256 = serializers.CharField()
    chat_template = serializers.BooleanField()
    temperature = serializers.FloatField()
    seed = serializers.IntegerField()
    max_new_tokens = serializers.IntegerField()
    state = serializers.CharField()
    error = serializers.CharField()
    finish = serializers.CharField(help_text=_("stop, length, or a server's word."))
    tokens = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    signs = serializers.DictField(child=serializers.CharField(), help_text=_("{sign: the words that show it}"))
    same_as = serializers.IntegerField(allow_null=True, help_text=_("The generation whose record this repeats."))
    written_at = serializers.CharField(allow_null=True)
    text = serializers.CharField(allow_null=True)


class TextFilterSerializer(serializers.Serializer[Any]):
    begin = serializers.IntegerField(min_value=0, max_value=MAX_ID, default=0, help_text=_("How many to leave out."))
    sign = serializers.ChoiceField(
        ["empty", "refusal", "prefix", "loop", "cut", "none"], default="", allow_blank=True, required=False
    )


class OwnTypeSerializer(serializers.Serializer[Any]):
    type = serializers.CharField(max_length=40)
    wordings = serializers.ListField(child=serializers.CharField(max_length=wordings.LONGEST), allow_empty=False)


class StartGenerationSerializer(LimitsSerializer):
    models = serializers.ListField(child=serializers.CharField(), allow_empty=False, help_text=_("Names of models."))
    types = serializers.ListField(
        child=serializers.CharField(), default=list, help_text=_("Keys of the types that come with the study's scheme.")
    )
    own = OwnTypeSerializer(many=True, default=list, help_text=_("Types of your own, with $name in each wording."))
    answer = serializers.CharField(
        default="", allow_blank=True, help_text=_("Rows with this chosen answer alone: section.question=option.")
    )
    per_type = serializers.IntegerField(min_value=1, max_value=MOST_A_TYPE, default=5)
    temperature = serializers.FloatField(min_value=0, max_value=2, default=0.7)
    max_new_tokens = serializers.IntegerField(min_value=16, max_value=32_768, default=600)
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=1)
    chat_template = serializers.BooleanField(default=True)
    together = serializers.BooleanField(default=False, help_text=_("Several texts are written in one batch."))


_ASKED = ("per_type", "temperature", "max_new_tokens", "seed", "chat_template", "together")


def _whole(run: Any) -> Any:
    written, run.spent = queries.written(run), spending.spent(run)
    run.progress, run.cut = work.progress(run), written.cut
    run.signs = {str(sign): n for sign, n in written.signs.items()}
    return run


GENERATING = RunDoor(
    runs=queries.runs_with_counts,
    serializer=GenerationRunSerializer,
    whole=_whole,
    detail=GenerationDetailSerializer,
    cancel=actions.cancel,
    resume=actions.resume,
    asked=ResumedSerializer,
    about={
        "runs": "The runs in which models write texts for the rows of a study, the last one first.",
        "run": "Such a run: how far it is, and what may be wrong with its texts.",
        "cancel": "Stop a run. What is written stays.",
        "resume": "Go on with the texts that are left, failed ones included.",
    },
)


@extend_schema(
    request=StartGenerationSerializer, responses={201: GenerationRunSerializer(many=True), 409: RefusalSerializer}
)
@api_view(["POST"])
def start(request: Request, slug: str) -> Response:
    """Let models write texts for the rows of a study: a run each."""
    study = study_of(request, slug, Role.MANAGER)
    asked = StartGenerationSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    data = asked.validated_data
    models = list(LanguageModel.objects.filter(name__in=data["models"]).order_by("name"))
    if unknown := sorted(set(data["models"]) - {model.name for model in models}):
        raise serializers.ValidationError({"models": [_("There is no model “%(name)s”.") % {"name": unknown[0]}]})
    wanted = Wanted(
        types=tuple(_types(study, data)),
        **{name: data[name] for name in _ASKED},
    )
    limits = {name: data[name] for name in ("most_tokens", "most_cost")}
    runs = actions.start(
        study=study, models=models, wanted=wanted, answer=data["answer"], by=user_of(request), **limits
    )
    return Response(GenerationRunSerializer(_counted(study, runs), many=True).data, status=status.HTTP_201_CREATED)


def _counted(study: Study, runs: list[GenerationRun]) -> QuerySet[GenerationRun]:
    return queries.runs_with_counts(study).filter(pk__in=[run.pk for run in runs])


def _types(study: Study, data: dict[str, Any]) -> list[PromptType]:
    shipped = {each.key: each for each in queries.shipped_types(study.scheme)}
    if unknown := sorted(set(data["types"]) - set(shipped)):
        raise serializers.ValidationError({"types": [_("There is no type “%(type)s”.") % {"type": unknown[0]}]})
    try:
        own = wordings.checked(
            [PromptType(each["type"], each["type"], tuple(each["wordings"])) for each in data["own"]],
            known=queries.placeholders(study.scheme.parsed),
            named_by=queries.named_by(study.scheme.parsed),
        )
    except WordingsRefused as refused:
        raise serializers.ValidationError({"own": [str(refused)]}) from refused
    return [*(shipped[key] for key in dict.fromkeys(data["types"])), *own]


@extend_schema(parameters=[TextFilterSerializer], responses=TextSerializer(many=True))
@api_view(["GET"])
def texts(request: Request, slug: str, pk: int) -> Response:
    """The texts of a run with their records, 200 a page, in the order in which they were asked for."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    run = get_object_or_404(GenerationRun, study=study, pk=pk)
    asked = TextFilterSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    begin = asked.validated_data["begin"]
    found = queries.having(queries.texts_of(run), sign=asked.validated_data.get("sign", ""))
    return Response(
        TextSerializer([queries.record_of(item) for item in found[begin : begin + _A_PAGE]], many=True).data
    )


@extend_schema(request=None, responses={201: GenerationDetailSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def write_again(request: Request, slug: str, item: int) -> Response:
    """Let a text be written again from its record; `item` is the generation's id. Compare the texts then."""
    study = study_of(request, slug, Role.MANAGER)
    found = get_object_or_404(
        GenerationItem.objects.select_related("run__study", "generation__same_as"), run__study=study, generation=item
    )
    run = actions.write_again(item=found, by=user_of(request))
    return GENERATING.answer(study, run.pk, status.HTTP_201_CREATED)
