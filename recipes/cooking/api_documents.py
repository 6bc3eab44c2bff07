"""Documents over HTTP for programs: saved pages brought in, how each was read, why a reading is doubtful, and what
people mended in it."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import Refused
from annotation.api.core import in_pages, not_valid, study_of, user_of
from annotation.api.imports import FileField, ImportDetailSerializer, started
from annotation.api.serializers import MAX_ID, PageFilterSerializer, PageSerializer, RefusalSerializer
from annotation.evidence.blocks import Block
from annotation.models import Role, Row
from recipes.cooking import actions, exchange
from recipes.cooking import mending_queries as queries
from recipes.cooking.forms import DocumentsForm, ProposedRecipeForm, RecipeForm
from recipes.cooking.models import Document, Mending
from recipes.cooking.pages import doubts
from recipes.cooking.pages.mending import Line


class DocumentSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(source="row_id")
    name = serializers.CharField(source="row.name")
    sheet = serializers.IntegerField(source="row.sheet_id")
    title = serializers.CharField(source="row.title")
    url = serializers.CharField(source="row.url")
    source = serializers.CharField()  # type: ignore[assignment]
    host = serializers.CharField()
    parser = serializers.CharField()
    reader = serializers.CharField(help_text=_("The version of the page reader."))
    doubts = serializers.ListField(child=serializers.CharField(), help_text=_("Why the reading may be wrong."))
    sentences = serializers.SerializerMethodField(help_text=_("The doubts in words."))
    mendings = serializers.IntegerField(help_text=_("How often somebody went through its lines."))
    digest = serializers.SerializerMethodField(help_text=_("Of its lines; it is sent along when they are mended."))
    sha256 = serializers.CharField()

    def get_sentences(self, document: Document) -> list[str]:
        return doubts.sentences(document.doubts)

    def get_digest(self, document: Document) -> str:
        return queries.digest_of(document.row)


class MendedLineSerializer(serializers.Serializer[Any]):
    what = serializers.ChoiceField(["added", "dropped", "moved", "changed"])
    kind = serializers.CharField()
    text = serializers.CharField()
    was = serializers.CharField(allow_blank=True)


class MendingSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    row = serializers.IntegerField(source="row_id")
    by = serializers.CharField(source="by.username", default=None, allow_null=True)
    at = serializers.DateTimeField()
    changes = MendedLineSerializer(many=True, help_text=_("Empty where somebody found the lines right."))


class LineSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    origin = serializers.IntegerField(
        required=False, allow_null=True, help_text=_("Which line it was until now, from 0.")
    )


class MendRequestSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField(help_text=_("Of the lines that were looked at."))
    lines = LineSerializer(many=True)


class SavedPagesSerializer(serializers.Serializer[Any]):
    """What the form of the page “Documents” takes."""

    sheet = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    pages = serializers.ListField(
        child=FileField(allow_empty_file=True),
        help_text=_("HTML files as a browser saves them, gzipped or not, or ZIPs of them: the field once for each."),
    )


class RecipeSerializer(serializers.Serializer[Any]):
    """A recipe as a text, or in its parts; the parts are those of the page on which a recipe is read over."""

    text = serializers.CharField(
        required=False,
        max_length=RecipeForm.MAX_BYTES,
        help_text=_("As a model answered, or YAML that says all, as the page “Documents” takes it."),
    )
    name = serializers.CharField(required=False, max_length=200)
    ingredients = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=_("Their names; behind a bar may stand the line that a name was taken from."),
    )
    steps = serializers.ListField(child=serializers.CharField(), required=False)
    tasks = serializers.ListField(
        child=serializers.CharField(), required=False, help_text=_("Each as task | tool | ingredients.")
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if ("text" in given) == bool(given.keys() - {"text"}):
            raise serializers.ValidationError(_("Give the text of a recipe or its parts: one of the two."))
        return given


class ProposedSerializer(serializers.Serializer[Any]):
    """What a text came to. Nothing was added: sent back, as it is or changed, it is."""

    name = serializers.CharField()
    ingredients = serializers.ListField(child=serializers.CharField())
    steps = serializers.ListField(child=serializers.CharField())
    tasks = serializers.ListField(child=serializers.CharField())


class AddedRecipeSerializer(serializers.Serializer[Any]):
    sheet = serializers.IntegerField(source="pk")
    title = serializers.CharField()


class PutBackSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField(help_text=_("Of the lines as they stand now."))


class TakenPagesSerializer(serializers.Serializer[Any]):
    rows = serializers.ListField(child=serializers.IntegerField(), help_text=_("That were added."))
    refused = serializers.ListField(
        child=serializers.CharField(), help_text=_("A sentence for each page that is not in.")
    )
    again = serializers.ListField(
        child=serializers.CharField(), help_text=_("A sentence for each that is in, and whose address another row has.")
    )
    said = serializers.ListField(child=serializers.CharField())


class DocumentPageSerializer(PageSerializer):
    results = DocumentSerializer(many=True)


class MendingPageSerializer(PageSerializer):
    results = MendingSerializer(many=True)


@extend_schema(parameters=[PageFilterSerializer], responses=DocumentPageSerializer)
@api_view(["GET"])
def documents(request: Request, slug: str) -> Response:
    """The web pages of a study, saved or fetched: by what each was read, and why the reading may be wrong. Rows
    that came otherwise are no pages; the sheets have all rows."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return in_pages(request, queries.documents(study), DocumentSerializer)


@extend_schema(parameters=[PageFilterSerializer], responses=MendingPageSerializer)
@api_view(["GET"])
def mendings(request: Request, slug: str) -> Response:
    """What people did to the lines of a study's documents, in the order in which they did it."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    entries = Mending.objects.filter(row__sheet__study=study).select_related("by").order_by("pk")
    return in_pages(request, entries, MendingSerializer)


@extend_schema(
    request=MendRequestSerializer, responses={201: MendingSerializer, 400: RefusalSerializer, 409: RefusalSerializer}
)
@api_view(["POST"])
def mend(request: Request, slug: str, pk: int) -> Response:
    """Put other lines in the place of a document's; the same lines once more say that they are right."""
    study = study_of(request, slug, Role.MANAGER)
    row = get_object_or_404(Row.objects.select_related("sheet"), sheet__study=study, pk=pk)
    sent = MendRequestSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    lines = [Line(Block(line["kind"], line["text"]), line.get("origin")) for line in sent.validated_data["lines"]]
    entry = actions.mend(row=row, lines=lines, seen=sent.validated_data["digest"], by=user_of(request))
    return Response(MendingSerializer(entry).data, status=status.HTTP_201_CREATED)


@extend_schema(request=PutBackSerializer, responses={201: MendingSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def put_back(request: Request, slug: str, pk: int) -> Response:
    """Put the lines of a document back to what they were before a mending, which is a mending of its own."""
    study = study_of(request, slug, Role.MANAGER)
    entry = get_object_or_404(Mending.objects.select_related("row__sheet"), row__sheet__study=study, pk=pk)
    sent = PutBackSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    made = actions.put_back(entry=entry, seen=sent.validated_data["digest"], by=user_of(request))
    return Response(MendingSerializer(made).data, status=status.HTTP_201_CREATED)


@extend_schema(
    request=RecipeSerializer,
    responses={200: ProposedSerializer, 201: AddedRecipeSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
def add_recipe(request: Request, slug: str) -> Response:
    """Add a generated recipe as a sheet, whose ingredients and tasks are its columns.

    Of a text that does not say all by itself, 200 with what it came to: it is added when that comes back.
    """
    study = study_of(request, slug, Role.MANAGER)
    if not actions.takes_recipes(study):
        raise Refused(_("The scheme of this study has no section “ingredients” with the facet “ingredient”."))
    sent = RecipeSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    given, asks_tasks = sent.validated_data, actions.asks_tasks(study)
    lines = {name: "\n".join(given.get(name, ())) for name in ("ingredients", "steps", "tasks")}
    form: RecipeForm | ProposedRecipeForm
    if "text" in given:
        form = RecipeForm({"text": given["text"]}, asks_tasks=asks_tasks)
    else:
        form = ProposedRecipeForm({"name": given.get("name", ""), **lines}, asks_tasks=asks_tasks)
    if not form.is_valid():
        raise not_valid(form)
    if proposal := form.cleaned_data.get("proposal"):
        parts = ProposedRecipeForm.initial_of(proposal)
        told = {"name": parts.pop("name"), **{name: text.splitlines() for name, text in parts.items()}}
        return Response(ProposedSerializer(told).data)
    recipe, written = form.cleaned_data["recipe"], form.cleaned_data.get("written", {})
    sheet = actions.add_recipe(study=study, recipe=recipe, written=written)
    return Response(AddedRecipeSerializer(sheet).data, status=status.HTTP_201_CREATED)


@extend_schema(
    request={"multipart/form-data": SavedPagesSerializer},
    responses={201: TakenPagesSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def import_documents(request: Request, slug: str) -> Response:
    """Add saved pages as rows of a sheet, each whole or not at all.

    Many of them, or large ones, are left to a worker: 202, with the import, whose address says how far it is.
    """
    study = study_of(request, slug, Role.MANAGER)
    form = DocumentsForm(request.data, request.FILES, study=study)
    if not form.is_valid():
        raise not_valid(form)
    sheet, files = form.cleaned_data["sheet"], form.cleaned_data["pages"]
    if exchange.is_large(files):
        return started(study, exchange.start(sheet=sheet, files=files, by=user_of(request)))
    pages = exchange.pages_of((file.name or "", file.file) for file in files)
    done = actions.import_documents(sheet=sheet, pages=pages)
    said = [sentence for sentence in exchange.sentences(sheet, len(done.added)) if sentence]
    told = {"rows": [row.pk for row in done.added], "refused": done.refused, "again": done.again, "said": said}
    return Response(TakenPagesSerializer(told).data, status=status.HTTP_201_CREATED)
