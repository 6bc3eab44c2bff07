"""What raters are told once a manager shows them the gold of a closed sheet, over HTTP for their programs."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.answers.codes import VALUE
from annotation.api.core import user_of
from annotation.lens.results import Answer, own_results
from annotation.models import Sheet


class GoldCellSerializer(serializers.Serializer[Any]):
    """A cell that has gold. Answers are keys of options, or values as JSON."""

    assignment = serializers.IntegerField(source="assignment.pk")
    row = serializers.IntegerField(source="assignment.row_id")
    column = serializers.IntegerField(source="column.pk")
    section = serializers.CharField(source="question.section.key")
    question = serializers.CharField(source="question.key")
    answer = serializers.SerializerMethodField(help_text=_("Your own; null where nothing was answered."))
    skip = serializers.CharField(help_text=_("Why you could not tell; else empty."))
    gold = serializers.SerializerMethodField(help_text=_("Any of these is right."))
    reasons = serializers.SerializerMethodField(help_text=_("Of the gold, in its order; empty where none is given."))
    right = serializers.BooleanField(source="is_right")

    def get_answer(self, cell: Any) -> str | None:
        return _said(cell.mine) if cell.mine is not None else None

    def get_gold(self, cell: Any) -> list[str]:
        return [_said(gold) for gold in cell.golds]

    def get_reasons(self, cell: Any) -> list[str]:
        return [gold.note for gold in cell.golds]


def _said(answer: Answer) -> str:
    return answer.code if answer.spec.has_options else answer.code.removeprefix(VALUE)


@extend_schema(responses=GoldCellSerializer(many=True))
@api_view(["GET"])
def right_answers(request: Request, pk: int) -> Response:
    """Your submitted answers beside the gold's, cell by cell, of a closed sheet whose manager shows it. 404 for any
    other sheet, and where you submitted nothing that has gold. What you label there afterwards is exposed."""
    sheet = get_object_or_404(Sheet.objects.select_related("study__scheme"), pk=pk)
    user = user_of(request)
    found = own_results(sheet, user)
    if not found.cells:
        raise Http404
    actions.refuse_before_first_page(study=sheet.study, user=user)
    actions.note_look(sheet=sheet, user=user)
    return Response(GoldCellSerializer(found.cells, many=True).data)
