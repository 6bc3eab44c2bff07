"""What is done with work that was given, over HTTP for programs: it is reassigned, and plans are taken back. A second
door to the forms and actions of the pages."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, doors, queries
from annotation.api.core import as_posted, not_valid, numbers_of, study_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.forms.desk import ReplanForm
from annotation.models import Plan, Role, Study
from annotation.queries import DrawnReplan, ReplanRequest

# --- reassigning ------------------------------------------------------------------------------------------------------


class ReassigningSerializer(serializers.Serializer[Any]):
    """What the page “Reassign work” asks; what is left out is as the page has it at first."""

    leaving = serializers.ListField(
        child=serializers.CharField(), default=[], help_text=_("Codes of people whose open work goes to others.")
    )
    takers = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=_("Codes of people; by default all who can be given work."),
    )
    level = serializers.BooleanField(
        default=False, help_text=_("Also moves what nobody leaves, until all have about as much.")
    )
    make_up = serializers.BooleanField(default=True, help_text=_("Make up for what was withdrawn."))
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=1)
    digest = serializers.CharField(
        required=False, help_text=_("Of what was shown: nothing is moved where it would be something else now.")
    )


class HandedOnSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField()
    before = serializers.CharField(allow_null=True, help_text=_("Code of a rater; null: nobody has it now."))
    after = serializers.CharField()


class DrawnMovesSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField()
    moves = HandedOnSerializer(many=True)
    stuck = serializers.IntegerField(
        help_text=_("Rows that stay as they are: everybody who could take them has them already.")
    )


class MadeMovesSerializer(DrawnMovesSerializer):
    id = serializers.IntegerField(help_text=_("Of the plan."))


@extend_schema(request=ReassigningSerializer, responses=DrawnMovesSerializer)
@api_view(["POST"])
def draw_reassigned(request: Request, slug: str) -> Response:
    """Whose open work would go to whom. Nothing is changed; sent on with its `digest`, it is what is done."""
    study = study_of(request, slug, Role.MANAGER)
    asked, _digest = _reassigning(request, study)
    return Response(DrawnMovesSerializer(_moves(study, queries.draw_replan(study, asked))).data)


@extend_schema(request=ReassigningSerializer, responses={201: MadeMovesSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def reassign(request: Request, slug: str) -> Response:
    """Hand on rows that nobody has begun: those of people who leave, and those that lost their rater."""
    study = study_of(request, slug, Role.MANAGER)
    asked, digest = _reassigning(request, study)
    replan = queries.draw_replan(study, asked)
    plan = actions.apply_replan(study=study, request=asked, drawn=digest or replan.digest, by=user_of(request))
    return _made(MadeMovesSerializer, plan, _moves(study, replan))


def _reassigning(request: Request, study: Study) -> tuple[ReplanRequest, str | None]:
    sent = ReassigningSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    said = dict(sent.validated_data)
    digest = said.pop("digest", None)
    first = ReplanForm(study=study)
    for name in ("leaving", "takers"):
        there = first.fields[name].queryset  # type: ignore[attr-defined]
        said[name] = numbers_of(there, said[name], name) if name in said else [rater.pk for rater in there]
    form = ReplanForm(as_posted(said), study=study)
    if not form.is_valid():
        raise not_valid(form)
    return form.request(), digest


def _moves(study: Study, replan: DrawnReplan) -> dict[str, Any]:
    codes = dict(study.raters.values_list("pk", "code"))
    moves = [
        {"row": move.row_id, "before": codes[move.before] if move.before else None, "after": codes[move.after]}
        for move in replan.moves
        if move.after is not None
    ]
    return {"digest": replan.digest, "moves": moves, "stuck": replan.stuck}


def _made(serializer: type[serializers.Serializer[Any]], plan: Plan, told: dict[str, Any]) -> Response:
    return Response(serializer({**told, "id": plan.pk}).data, status=status.HTTP_201_CREATED)


# --- taking back ------------------------------------------------------------------------------------------------------


class UndonePlanSerializer(serializers.Serializer[Any]):
    assignments = serializers.IntegerField(help_text=_("That are gone."))
    goes_with = serializers.ListField(child=serializers.CharField(), help_text=_("What else is gone, in words."))


@extend_schema(request=None, responses={200: UndonePlanSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def undo_plan(request: Request, slug: str, pk: int) -> Response:
    """Take a plan back as if it had not been applied, while nobody has begun any of it."""
    plan = get_object_or_404(study_of(request, slug, Role.MANAGER).plans, pk=pk)
    goes_with = doors.goes_with(plan)
    n = actions.undo_plan(plan=plan)
    return Response(UndonePlanSerializer({"assignments": n, "goes_with": goes_with}).data)
