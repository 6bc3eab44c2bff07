"""Names of dishes and recipes that were written elsewhere, over HTTP for programs: by the actions of their pages."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import not_valid, study_of
from annotation.api.serializers import RefusalSerializer
from annotation.models import Role
from recipes.memorization import actions, queries
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.chain import PARSING
from recipes.memorization.forms import NamesForm, TextForm


class DishSerializer(serializers.Serializer[Any]):
    sheet = serializers.CharField(help_text=_("The list that it stands in."))
    name = serializers.CharField()
    region = serializers.CharField(allow_blank=True)
    texts = serializers.IntegerField(source="n_texts", help_text=_("Recipes that models wrote for it."))


class NamesSerializer(serializers.Serializer[Any]):
    """What the form of the page “Names” takes."""

    text = serializers.CharField(
        max_length=NamesForm.MAX_BYTES,
        help_text=_(
            "A name on each line, behind a semicolon or tab its region; or CSV with the headings name, region."
        ),
    )
    sheet = serializers.CharField(
        required=False, max_length=200, help_text=_("The title of the list, which is made where it is missing.")
    )


class AddedNamesSerializer(serializers.Serializer[Any]):
    rows = serializers.ListField(child=serializers.IntegerField(), help_text=_("That were added."))
    known = serializers.IntegerField(help_text=_("Names that were in the study already."))


class WrittenRecipeSerializer(serializers.Serializer[Any]):
    """What the page “Recipes” takes."""

    sheet = serializers.CharField(max_length=200, help_text=_("The dish: a sheet, which is made where it is missing."))
    text = serializers.CharField(
        max_length=TextForm.MAX_BYTES, trim_whitespace=False, help_text=_("As it was written: its lines are kept.")
    )
    written_by = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text=_("Who labels does not see it.")
    )
    prompt = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text=_("The type of prompt that asked for it.")
    )


class AddedRecipeTextSerializer(serializers.Serializer[Any]):
    sheet = serializers.IntegerField(source="sheet_id")
    row = serializers.IntegerField(source="pk")
    name = serializers.CharField()


@extend_schema(methods=["GET"], responses=DishSerializer(many=True))
@extend_schema(methods=["POST"], request=NamesSerializer, responses={201: AddedNamesSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def names(request: Request, slug: str) -> Response:
    """The dishes of a study's lists (GET); more of them (POST). A name that is in the study already stays as it is."""
    if request.method == "GET":
        study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        return Response(DishSerializer(queries.dishes(study), many=True).data)
    study = study_of(request, slug, Role.MANAGER)
    sent = NamesSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = NamesForm({"sheet": str(NamesForm.base_fields["sheet"].initial), **sent.validated_data})
    if not form.is_valid():
        raise not_valid(form)
    found = form.cleaned_data["names"]
    added = actions.add_names(study=study, sheet=form.cleaned_data["sheet"], names=found)
    told = {"rows": [row.pk for row in added], "known": len(found) - len(added)}
    return Response(AddedNamesSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(request=WrittenRecipeSerializer, responses={201: AddedRecipeTextSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def add_text(request: Request, slug: str) -> Response:
    """Add a recipe that was written elsewhere, by a person or a model, behind those of its dish.

    Only in a study whose rows are candidates of a dish, or recipes that are taken apart.
    """
    study = study_of(request, slug, Role.MANAGER)
    if study.scheme.slug not in (CANDIDATES, PARSING):
        raise Http404
    sent = WrittenRecipeSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    row = actions.add_text(study=study, **_as_the_form_has_it(sent.validated_data))
    return Response(AddedRecipeTextSerializer(row).data, status=status.HTTP_201_CREATED)


def _as_the_form_has_it(given: dict[str, Any]) -> dict[str, Any]:
    form = TextForm(given, kept=("generator", "prompt"))  # what the study has no place for is refused by the action
    if not form.is_valid():
        raise not_valid(form)
    return form.cleaned_data
