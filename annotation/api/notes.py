"""What raters ask about cells and what managers answer, over HTTP for programs: the same as on the grid and the page
“Notes”."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, queries
from annotation.api.core import cell_named, my_assignment, refuse_before_first_page, study_of, user_of
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.models import Assignment, Note, Role
from annotation.people.access import refuse_archived
from annotation.queries import Asked


class NoteSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    column = serializers.IntegerField(source="column_id")
    column_name = serializers.CharField(source="column.name")
    section = serializers.CharField(source="question.section.key")
    question = serializers.CharField(source="question.key")
    text = serializers.CharField()
    at = serializers.DateTimeField()
    answer = serializers.CharField(help_text=_("Empty: it is not answered yet."))
    answered_at = serializers.DateTimeField(allow_null=True)
    read_at = serializers.DateTimeField(allow_null=True, help_text=_("When who asked has looked at the answer."))


# --- who labels -------------------------------------------------------------------------------------------------------


class OfCellSerializer(serializers.Serializer[Any]):
    column = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    question = serializers.SlugField(max_length=60, help_text=_("Key of a question of the column's section."))


class AskingSerializer(OfCellSerializer):
    text = serializers.CharField(max_length=Note.MOST)


class ReadSerializer(serializers.Serializer[Any]):
    read = serializers.IntegerField(help_text=_("How many answers were new."))


@extend_schema(methods=["GET"], responses=NoteSerializer(many=True))
@extend_schema(methods=["POST"], request=AskingSerializer, responses={200: NoteSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def of_assignment(request: Request, pk: int) -> Response:
    """What you have asked about the cells of one of your rows, with the answers (GET); ask the manager about a cell, or
    put other words to a question that is not answered yet (POST)."""
    assignment = my_assignment(request, pk)
    if request.method == "GET":
        notes = assignment.notes.select_related("column", "question__section")
        return Response(NoteSerializer(notes, many=True).data)
    refuse_archived(assignment.row.sheet.study, request.method)
    refuse_before_first_page(request, assignment.row.sheet.study)
    asked = AskingSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    column, question = cell_named(assignment.row.sheet, asked.validated_data)
    note = actions.ask(
        assignment=assignment,
        column=column,
        question=question,
        text=asked.validated_data["text"],
        by=user_of(request),
    )
    return Response(NoteSerializer(note).data)


@extend_schema(request=OfCellSerializer, responses=ReadSerializer)
@api_view(["POST"])
def read(request: Request, pk: int) -> Response:
    """You have looked at the answers about a cell."""
    assignment = my_assignment(request, pk)
    asked = OfCellSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    column, question = cell_named(assignment.row.sheet, asked.validated_data)
    n = actions.read_answers(assignment=assignment, column=column, question=question)
    return Response(ReadSerializer({"read": n}).data)


@extend_schema(request=None, responses={204: None, 409: RefusalSerializer})
@api_view(["POST"])
def withdraw(request: Request, pk: int) -> Response:
    """Take a question back that nobody has answered."""
    mine = Note.objects.filter(assignment__in=Assignment.objects.of_user(user_of(request)))
    note = get_object_or_404(mine.select_related("assignment__rater__study"), pk=pk)
    refuse_archived(note.assignment.rater.study, request.method)
    actions.withdraw_note(note=note)
    return Response(status=status.HTTP_204_NO_CONTENT)


# --- the manager ------------------------------------------------------------------------------------------------------


class AskedNoteSerializer(NoteSerializer):
    """A question with what stands in its cell by now."""

    rater = serializers.CharField(source="assignment.rater.code")
    sheet = serializers.IntegerField(source="column.sheet_id")
    sheet_title = serializers.CharField(source="column.sheet.title")
    row = serializers.IntegerField(source="assignment.row_id")
    row_name = serializers.CharField(source="assignment.row.name")
    option = serializers.SerializerMethodField("option_of", help_text=_("Of the label that stands in the cell."))
    value = serializers.SerializerMethodField("value_of", help_text=_("The label where it is no option."))
    skip = serializers.SerializerMethodField("skip_of", help_text=_("Why the rater cannot tell; empty otherwise."))

    def to_representation(self, asked: Asked) -> Any:
        asked.note.asked = asked  # type: ignore[attr-defined]  # for the methods below
        return super().to_representation(asked.note)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def option_of(self, note: Any) -> str | None:
        label = note.asked.label
        return label.option.key if label is not None and label.option is not None else None

    @extend_schema_field(OpenApiTypes.ANY)
    def value_of(self, note: Any) -> Any:
        label = note.asked.label
        return label.value if label is not None else None

    def skip_of(self, note: Any) -> str:
        return str(note.asked.skip)


class AnsweringSerializer(serializers.Serializer[Any]):
    answer = serializers.CharField(max_length=Note.MOST)


@extend_schema(responses=AskedNoteSerializer(many=True))
@api_view(["GET"])
def of_study(request: Request, slug: str) -> Response:
    """All that was asked in a study, what is not answered first. Where the labels of others stand beside it, that is
    recorded as a look at their sheets."""
    asked = queries.notes(study_of(request, slug, Role.MANAGER))
    actions.note_looks(sheets=queries.sheets_shown(asked, user_of(request)), user=user_of(request))
    return Response(AskedNoteSerializer(asked, many=True).data)


@extend_schema(request=AnsweringSerializer, responses={200: NoteSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def answer(request: Request, slug: str, pk: int) -> Response:
    """Answer a question, or give it another answer; who asked is shown it as new."""
    study = study_of(request, slug, Role.MANAGER)
    note = get_object_or_404(Note, pk=pk, assignment__rater__study=study)
    sent = AnsweringSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    answered = actions.answer_note(note=note, answer=sent.validated_data["answer"], by=user_of(request))
    return Response(NoteSerializer(answered).data)
