"""Tables brought over HTTP for programs, as on the page “Import”; and imports that a worker does, looked at here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.fields import empty
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import not_valid, study_of, user_of
from annotation.api.runs import RunDoor
from annotation.api.serializers import RefusalSerializer
from annotation.exchange.background import cancel_import, is_large, percent_read, resume_import, start_import
from annotation.exchange.row_imports import ImportRefused, translated
from annotation.exchange.tables import TableError
from annotation.forms.imports import LabelsForm, RowsForm
from annotation.models import Import, Role, Study
from work.api import ProgressFields, RunFields
from work.queries import progress


class ImportSerializer(RunFields):
    url = serializers.SerializerMethodField(help_text=_("Ask it again to follow the import."))
    what = serializers.ChoiceField(Import.What.choices)
    names = serializers.CharField(help_text=_("Of the files."))
    said = serializers.SerializerMethodField(help_text=_("What it did, once it is finished."))
    problems = serializers.SerializerMethodField(help_text=_("What kept the files out: nothing was changed."))
    refused = serializers.SerializerMethodField(help_text=_("Pages that are not in, a sentence each; the first 200."))
    again = serializers.SerializerMethodField(help_text=_("Pages that are in, and whose address another row has."))

    def get_url(self, run: Import) -> str:
        return reverse("api:import", args=[run.study.slug, run.pk])

    def get_said(self, run: Import) -> list[str]:
        return list(run.outcome.get("sentences", []))

    def get_problems(self, run: Import) -> list[str]:
        return list(run.outcome.get("problems", []))

    def get_refused(self, run: Import) -> list[str]:
        return list(run.outcome.get("refused", []))

    def get_again(self, run: Import) -> list[str]:
        return list(run.outcome.get("again", []))


class ImportDetailSerializer(ImportSerializer):
    percent = serializers.IntegerField(allow_null=True, help_text=_("Per cent; null while nobody is at it."))
    progress = ProgressFields()


def _whole(run: Any) -> Any:
    run.progress, run.percent = progress(run), percent_read(run)
    return run


IMPORTING = RunDoor(
    runs=lambda study: study.imports.select_related("study"),
    serializer=ImportSerializer,
    whole=_whole,
    detail=ImportDetailSerializer,
    cancel=cancel_import,
    resume=resume_import,
    about={
        "runs": "The imports of a study that workers do, the last one first.",
        "run": "An import: how far it is, then what it did, or what kept it from doing it.",
        "cancel": "Stop an import. Of tables nothing stays, of pages those that are in.",
        "resume": "Try an import again that was cancelled or refused.",
    },
    readers=(Role.MANAGER,),
)


def started(study: Study, run: Import) -> Response:
    """202: a worker does it. `Location` is where it is followed, as is `url` in what is said."""
    response = IMPORTING.answer(study, run.pk, status.HTTP_202_ACCEPTED)
    response["Location"] = reverse("api:import", args=[study.slug, run.pk])
    return response


# --- tables that are brought ------------------------------------------------------------------------------------------


@extend_schema_field(OpenApiTypes.BINARY)
class FileField(serializers.FileField):
    """As it is sent; the schema would have its address. Of several under one name the last would be read alone."""

    def get_value(self, dictionary: Mapping[str, Any]) -> Any:
        sent = dictionary.getlist(self.field_name) if isinstance(dictionary, MultiValueDict) else []
        return sent if len(sent) > 1 else super().get_value(dictionary)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, list):
            raise serializers.ValidationError(
                translate("%(n)s files were sent under this name, and one is read at a time.") % {"n": len(data)}
            )
        return super().to_internal_value(data)


class _Switch(serializers.BooleanField):
    """A switch of a form, in which one that is missing is as it is at first, and not off."""

    default_empty_html = empty


class RowsSerializer(serializers.Serializer[Any]):
    """What the page “Import” takes of rows and columns: one of the two, or both."""

    rows = FileField(required=False, help_text=_("CSV or TSV."))
    columns = FileField(required=False, help_text=_("CSV or TSV."))


class LabelsSerializer(serializers.Serializer[Any]):
    """What the page “Import” takes of labels."""

    labels = FileField(
        help_text=_(
            "CSV, TSV, a workbook, JSON lines, or a file of Label Studio, doccano, Prodigy, INCEpTION, brat or CoNLL."
        )
    )
    create = _Switch(default=False, help_text=_("Make raters, rows, columns and sheets that are missing."))  # type: ignore[assignment]
    wide = _Switch(default=False, help_text=_("One line an item, one column a rater."))
    pseudonyms = _Switch(default=False, help_text=_("Call the raters R1, R2, … (who was who is not kept)"))
    replace = _Switch(default=False, help_text=_("Answers that differ replace those imported before"))
    rater = serializers.CharField(required=False, max_length=200, help_text=_("Heading of the raters"))
    row = serializers.CharField(required=False, max_length=200, help_text=_("Heading of the rows"))
    answer = serializers.CharField(required=False, max_length=200, help_text=_("Heading of the answers"))
    gold = serializers.CharField(required=False, max_length=200, help_text=_("Heading of the right answers"))
    ignore = serializers.CharField(
        required=False, max_length=2000, help_text=_("Headings to leave out, with commas between them.")
    )
    every_rater = serializers.CharField(
        required=False, max_length=80, help_text=_("Who answered all lines, where the file does not say.")
    )
    every_question = serializers.CharField(
        required=False, max_length=200, help_text=_("Key or title of the question of all lines, where it is one.")
    )


class ImportedSerializer(serializers.Serializer[Any]):
    """What came in. All zero: all that the files say was in the study already."""

    sheets = serializers.IntegerField()
    rows = serializers.IntegerField()
    columns = serializers.IntegerField()
    raters = serializers.IntegerField()
    labels = serializers.IntegerField()
    changed = serializers.IntegerField(help_text=_("Answers."))
    said = serializers.ListField(child=serializers.CharField(), source="sentences")


@extend_schema(
    request={"multipart/form-data": RowsSerializer},
    responses={201: ImportedSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def import_rows(request: Request, slug: str) -> Response:
    """Import rows and columns, all or nothing: what keeps the files out stands under `problems` (400).

    Large ones are left to a worker: 202, with the import, whose address says how far it is.
    """
    study = study_of(request, slug, Role.MANAGER)
    RowsSerializer(data=request.data).is_valid(raise_exception=True)
    form = RowsForm({}, request.FILES)
    if not form.is_valid():
        raise not_valid(form)
    if is_large(form.cleaned_data):
        return started(study, start_import(study=study, files=form.cleaned_data, by=user_of(request)))
    return _brought(study, form)


@extend_schema(
    request={"multipart/form-data": LabelsSerializer},
    responses={201: ImportedSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def import_labels(request: Request, slug: str) -> Response:
    """Import labels that were made elsewhere, all or nothing: what keeps the file out stands under `problems` (400).

    A large one is left to a worker: 202, with the import, whose address says how far it is.
    """
    study = study_of(request, slug, Role.MANAGER)
    sent = LabelsSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = LabelsForm({name: said for name, said in sent.validated_data.items() if name != "labels"}, request.FILES)
    if not form.is_valid():
        raise not_valid(form)
    files = {"labels": form.cleaned_data["labels"]}
    if is_large(files):
        return started(study, start_import(study=study, files=files, by=user_of(request), how=form.how()))
    return _brought(study, form)


def _brought(study: Study, form: RowsForm | LabelsForm) -> Response:
    try:
        imported = form.bring(study)
    except ImportRefused as refused:
        left = [translate("… and %(n)s more.") % {"n": refused.left}] if refused.left else []
        return _kept_out(str(refused), [*refused.problems, *left])
    except TableError as error:
        return _kept_out(translated(error.sentence), [])
    return Response(ImportedSerializer(imported).data, status=status.HTTP_201_CREATED)


def _kept_out(detail: str, problems: list[str]) -> Response:
    return Response({"detail": detail, "problems": problems}, status=status.HTTP_400_BAD_REQUEST)
