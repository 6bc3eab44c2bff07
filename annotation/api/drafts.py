"""Starting people's work from another rater's answers, over HTTP: the same as the page."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, queries
from annotation.api.core import study_of, user_of
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.models import Role


class DraftingSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(help_text=gettext_lazy("Code of the person who starts."))
    drafted_from = serializers.CharField(help_text=gettext_lazy("Code of the rater whose answers are drafted."))
    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        required=False,
        help_text=gettext_lazy("Numbers of rows; without it all open work of the person that can start so."),
    )


class DraftedSerializer(serializers.Serializer[Any]):
    assignments = serializers.IntegerField()
    answers = serializers.IntegerField()


@extend_schema(request=DraftingSerializer, responses={200: DraftedSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def drafts(request: Request, slug: str) -> Response:
    """Let a person's work that is not submitted start from what another rater has submitted. All or nothing."""
    study = study_of(request, slug, Role.MANAGER)
    asked = DraftingSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    data = asked.validated_data
    raters = {rater.code: rater for rater in study.raters.filter(code__in=[data["rater"], data["drafted_from"]])}
    for field in ("rater", "drafted_from"):
        if data[field] not in raters:
            raise serializers.ValidationError(
                {field: [_("The study has no rater “%(rater)s”.") % {"rater": data[field]}]}
            )
    rater, source = raters[data["rater"]], raters[data["drafted_from"]]
    startable = {one.assignment.row_id: one.assignment for one in queries.draftable(rater, source, study.sheets.all())}
    rows = data.get("rows", startable.keys())
    if missing := [row for row in rows if row not in startable]:
        sentence = _("Row %(number)s is not open for “%(rater)s”, or “%(source)s” has not submitted it.")
        raise actions.Refused(sentence % {"number": missing[0], "rater": rater.code, "source": source.code})
    started = actions.start_from(assignments=[startable[row] for row in rows], rater=source, by=user_of(request))
    return Response(DraftedSerializer(started).data)
