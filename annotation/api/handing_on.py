"""What is done with work that was given, over HTTP for programs: it is reassigned, more people get it, and plans are
taken back. A second door to the forms and actions of the pages."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, doors, queries
from annotation.actions import Refused
from annotation.api.core import as_posted, not_valid, numbers_of, sent_to_draw, study_of, user_of
from annotation.api.making import SeatSerializer
from annotation.api.serializers import MAX_ID, DrawnSerializer, RefusalSerializer, ToDrawSerializer
from annotation.forms.handing_on import MoreRatersForm, ReplanForm
from annotation.forms.plan import PlanForm
from annotation.models import Plan, Role, Study
from annotation.queries import DrawnMore, DrawnReplan, ReplanRequest

# --- reassigning ------------------------------------------------------------------------------------------------------


class ReassigningSerializer(ToDrawSerializer):
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


class HandedOnSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField()
    before = serializers.CharField(allow_null=True, help_text=_("Code of a rater; null: nobody has it now."))
    after = serializers.CharField()


class DrawnMovesSerializer(DrawnSerializer):
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
    said, digest = sent_to_draw(request, ReassigningSerializer)
    first = ReplanForm(study=study)
    for name in ("leaving", "takers"):
        there = first.fields[name].queryset  # type: ignore[attr-defined]
        said[name] = numbers_of(study, there, said[name], name) if name in said else [rater.pk for rater in there]
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


# --- more raters ------------------------------------------------------------------------------------------------------


class MoreRatersSerializer(ToDrawSerializer):
    """What the page “More raters” asks; what is left out is as the page has it at first."""

    takers = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=_("Codes of people who may take them; by default all who can be given work."),
    )
    sheets = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        required=False,
        help_text=_("By default all that have rows which somebody has."),
    )
    people = serializers.IntegerField(
        min_value=2,
        max_value=PlanForm.MOST_PER_ROW,
        default=2,
        help_text=_("Per row, in all, with those who have it already. Judges do not count."),
    )
    share = serializers.IntegerField(min_value=1, max_value=100, required=False, help_text=_("Per cent of the rows."))
    size = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, required=False, help_text=_("Or how many of them; neither means all.")
    )
    submitted = serializers.BooleanField(default=False, help_text=_("Only rows that somebody has submitted."))


class DrawnMoreSerializer(DrawnSerializer):
    fit = serializers.IntegerField(help_text=_("Rows that are drawn from."))
    drawn = serializers.IntegerField(help_text=_("Rows that shall have so many people."))
    fewer = serializers.IntegerField(help_text=_("Those of them that have not."))
    lacking = serializers.IntegerField(help_text=_("Those that will not, since too few may take them."))
    raters = serializers.DictField(child=serializers.IntegerField(), help_text=_("Code of a person → new rows."))
    seats = SeatSerializer(many=True)


class MadeMoreSerializer(DrawnMoreSerializer):
    id = serializers.IntegerField(help_text=_("Of the plan."))


@extend_schema(request=MoreRatersSerializer, responses={200: DrawnMoreSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def draw_more(request: Request, slug: str) -> Response:
    """Who else would get what. Nothing is changed; sent on with its `digest`, it is what is done."""
    study = study_of(request, slug, Role.MANAGER)
    form, _digest = _more(request, study)
    return Response(DrawnMoreSerializer(_seats(study, queries.draw_more(study, form.request(), form.had))).data)


@extend_schema(request=MoreRatersSerializer, responses={201: MadeMoreSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def give_to_more(request: Request, slug: str) -> Response:
    """Give rows that somebody has to more people. Everybody keeps what they have, and nobody gets a row twice."""
    study = study_of(request, slug, Role.MANAGER)
    form, digest = _more(request, study)
    more = queries.draw_more(study, form.request(), form.had)
    plan = actions.give_to_more(study=study, request=form.request(), drawn=digest or more.digest, by=user_of(request))
    return _made(MadeMoreSerializer, plan, _seats(study, more))


def _more(request: Request, study: Study) -> tuple[MoreRatersForm, str | None]:
    said, digest = sent_to_draw(request, MoreRatersSerializer)
    if "takers" in said:
        said["takers"] = numbers_of(study, study.raters.plannable(), said["takers"], "takers")
    first = MoreRatersForm(study=study)
    said = {"takers": first.initial["takers"], "sheets": first.initial["sheets"], **said}
    form = MoreRatersForm(as_posted(said), study=study)
    if not form.had.rows_of_sheets:
        sentence = translate(
            "Nobody has any %(rows)s that can still be labelled. A plan gives them to the first people."
        )
        raise Refused(sentence % study.scheme.parsed.words.model_dump())
    if not form.has_takers:
        raise Refused(translate("There is nobody to assign yet. Invite annotators first."))
    if not form.is_valid():
        raise not_valid(form)
    return form, digest


def _seats(study: Study, more: DrawnMore) -> dict[str, Any]:
    codes = dict(study.raters.values_list("pk", "code"))
    return {
        "digest": more.digest,
        "fit": more.fit,
        "drawn": more.drawn,
        "fewer": more.fewer,
        "lacking": more.lacking,
        "raters": dict(Counter(codes[seat.rater_id] for seat in more.given)),
        "seats": [{"row": seat.row_id, "rater": codes[seat.rater_id]} for seat in more.given],
    }


# --- taking back ------------------------------------------------------------------------------------------------------


class UndonePlanSerializer(serializers.Serializer[Any]):
    assignments = serializers.IntegerField(help_text=_("That are gone."))
    goes_with = serializers.ListField(child=serializers.CharField(), help_text=_("What else is gone, in words."))


@extend_schema(request=None, responses={200: UndonePlanSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def undo_plan(request: Request, slug: str, pk: int) -> Response:
    """Take a plan back as if it had not been applied, while nobody has begun any of it."""
    plan = get_object_or_404(study_of(request, slug, Role.MANAGER).plans, pk=pk)
    goes_with = doors.goes_with([plan.pk])[plan.pk]
    n = actions.undo_plan(plan=plan)
    return Response(UndonePlanSerializer({"assignments": n, "goes_with": goes_with}).data)
