"""A benchmark's instructions and words over HTTP for programs: by the reads and the action of its pages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import not_valid, study_of
from annotation.api.serializers import RefusalSerializer
from annotation.models import Role
from recipes.benchmark import actions, queries
from recipes.benchmark.forms import OWN, SHIPPED, InstructionsForm, WordsForm

MOST_WORDS = 100


class PartSerializer(serializers.Serializer[Any]):
    sheet = serializers.CharField()
    instructions = serializers.IntegerField()
    texts = serializers.DictField(
        child=serializers.IntegerField(), help_text=_("Generator → for how many of them it has written.")
    )


class InstructionsSerializer(serializers.Serializer[Any]):
    """What the page “Instructions” takes."""

    which = serializers.ChoiceField(
        choices=[OWN, SHIPPED], default=OWN, help_text=_("The list below, or the one that comes with the scheme.")
    )
    text = serializers.CharField(
        required=False,
        trim_whitespace=False,
        help_text=_("A line of headings, the facets of rows, and an instruction a line; or YAML."),
    )
    size = serializers.IntegerField(
        required=False, min_value=1, help_text=_("Only so many, drawn by the seed, the sheets in turn.")
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**31, default=1)


class AddedInstructionsSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField()
    known = serializers.IntegerField(help_text=_("That were in the study already."))


class WordsFilterSerializer(serializers.Serializer[Any]):
    """The query string: as on the page “Words”."""

    facet = serializers.CharField(required=False, help_text=_("Key of a facet of rows that is not hidden."))
    word = serializers.CharField(
        required=False, max_length=200, help_text=_("Texts with this word at the facet alone; without it all texts.")
    )
    without = serializers.ChoiceField(
        choices=[WordsForm.COMMON],
        required=False,
        help_text=_("Also without the words of any list of steps, and all names of instructions."),
    )
    most = serializers.IntegerField(
        min_value=1, max_value=MOST_WORDS, default=MOST_WORDS, help_text=_("Words of each generator.")
    )


class WordSerializer(serializers.Serializer[Any]):
    word = serializers.CharField()
    count = serializers.IntegerField(source="n", help_text=_("How often it stands in the texts."))
    texts = serializers.IntegerField(help_text=_("In how many of them."))


class WordsOfGeneratorSerializer(serializers.Serializer[Any]):
    generator = serializers.CharField()
    words = WordSerializer(many=True)


@extend_schema(methods=["GET"], responses=PartSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=InstructionsSerializer,
    responses={201: AddedInstructionsSerializer, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def instructions(request: Request, slug: str) -> Response:
    """How many instructions each sheet of a benchmark has, and who has written how many of their texts (GET); more of
    them (POST)."""
    if request.method == "GET":
        overview = queries.overview(study_of(request, slug, Role.MANAGER, Role.RESEARCHER))
        parts = [
            {**vars(part), "texts": dict(zip(overview.generators, part.texts, strict=True))} for part in overview.parts
        ]
        return Response(PartSerializer(parts, many=True).data)
    study = study_of(request, slug, Role.MANAGER)
    sent = InstructionsSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = InstructionsForm({"text": "", **sent.validated_data}, study=study)
    if not form.is_valid():
        raise not_valid(form)
    given = form.cleaned_data["instructions"]
    added = actions.add_instructions(study=study, instructions=given)
    told = {"new": added, "known": len(given) - added}
    return Response(AddedInstructionsSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(parameters=[WordsFilterSerializer], responses=WordsOfGeneratorSerializer(many=True))
@api_view(["GET"])
def words(request: Request, slug: str) -> Response:
    """The most frequent words of each generator of a benchmark."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = WordsFilterSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    form = WordsForm(asked.validated_data, study=study)
    if not form.is_valid():
        raise not_valid(form)
    found = queries.frequent_words(
        study, form.chosen, most=asked.validated_data["most"], without_common=form.without_common
    )
    told = [{"generator": generator, "words": of} for generator, of in found.items()]
    return Response(WordsOfGeneratorSerializer(told, many=True).data)
