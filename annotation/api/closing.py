"""What is labelled no more, over HTTP for programs: rows that are withdrawn, sheets that are closed; and both brought
back. The same forms and actions as on the pages."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.actions import Refused
from annotation.api.core import hidden, sheet_of, told_of_sheet, user_of
from annotation.api.serializers import RefusalSerializer, RowSerializer, SheetSerializer
from annotation.forms.handing_on import WithdrawRowForm
from annotation.models import Role, Row
from annotation.people.access import check_role, refuse_archived

# --- rows -------------------------------------------------------------------------------------------------------------


class WithdrawingSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500)


class WithdrawnRowSerializer(RowSerializer):
    taken_back = serializers.IntegerField(help_text=_("From how many raters who had not begun it."))


@extend_schema(request=WithdrawingSerializer, responses={200: WithdrawnRowSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def withdraw_row(request: Request, pk: int) -> Response:
    """Ask nobody else to label a row: its page is gone, say. What is begun stays, with its labels."""
    row = _row_of(request, pk)
    sent = WithdrawingSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = WithdrawRowForm({"row": row.pk, **sent.validated_data}, study=row.sheet.study)
    if not form.is_valid():
        raise Refused(" ".join(map(str, form.errors["row"])))
    row.taken_back = actions.withdraw_row(  # type: ignore[attr-defined]  # for the serializer
        row=row, reason=form.cleaned_data["reason"], by=user_of(request)
    )
    return _told(row, WithdrawnRowSerializer)


@extend_schema(request=None, responses=RowSerializer)
@api_view(["POST"])
def restore_row(request: Request, pk: int) -> Response:
    """Let a row be labelled again. Who had it gets it back when work is reassigned."""
    row = _row_of(request, pk)
    actions.restore_row(row=row)
    return _told(row, RowSerializer)


def _row_of(request: Request, pk: int) -> Row:
    row = get_object_or_404(Row.objects.select_related("sheet__study__scheme").defer("evidence"), pk=pk)
    check_role(user_of(request), row.sheet.study, Role.MANAGER)
    refuse_archived(row.sheet.study, request.method)
    return row


def _told(row: Row, serializer: type[RowSerializer]) -> Response:
    row.refresh_from_db(fields=["withdrawn_at", "withdrawn_reason"])
    return Response(serializer(row, context=hidden({Role.MANAGER})).data)


# --- sheets -----------------------------------------------------------------------------------------------------------


class ClosedSheetSerializer(SheetSerializer):
    not_submitted = serializers.IntegerField(
        source="n_unsubmitted", help_text=_("Rows that people have and have not submitted; what is labelled is kept.")
    )


@extend_schema(request=None, responses=ClosedSheetSerializer)
@api_view(["POST"])
def close_sheet(request: Request, pk: int) -> Response:
    """From now on the people of a sheet change nothing, and take nothing back."""
    sheet = actions.close_sheet(sheet=sheet_of(request, pk), by=user_of(request))
    return told_of_sheet(sheet, ClosedSheetSerializer)


@extend_schema(request=None, responses=SheetSerializer)
@api_view(["POST"])
def open_sheet(request: Request, pk: int) -> Response:
    """Let the people of a closed sheet work on it again."""
    return told_of_sheet(actions.open_sheet(sheet=sheet_of(request, pk)))
