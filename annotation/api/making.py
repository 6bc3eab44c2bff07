"""What a study is made of, over HTTP for programs: the study itself, invitations, the plan of who labels what. A second
door to the forms and actions of the pages."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.actions import Refused
from annotation.api.core import (
    as_posted,
    in_full,
    in_pages,
    not_valid,
    numbers_of,
    sent_to_draw,
    studies_of,
    study_of,
    user_of,
)
from annotation.api.serializers import (
    MAX_ID,
    DrawnSerializer,
    PageFilterSerializer,
    PageSerializer,
    RefusalSerializer,
    StudyDetailSerializer,
    StudySerializer,
    ToDrawSerializer,
)
from annotation.forms.labelling import StudyForm
from annotation.forms.people import InviteForm
from annotation.forms.plan import ALL_GIVEN, PlanForm, in_words_of
from annotation.forms.schemes import SchemeFileField
from annotation.models import Invite, Role, Scheme, Study
from annotation.people import mail
from annotation.planning import ImpossibleDesign
from annotation.queries import undoing
from annotation.queries.schemes import shipped
from base.sentences import Sentence

# --- studies ----------------------------------------------------------------------------------------------------------


class SchemeSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    stored = serializers.BooleanField(help_text=_("False: it comes with Palate, and no study has it yet."))


class NewStudySerializer(serializers.Serializer[Any]):
    """What `studies/new/` asks in the browser."""

    title = serializers.CharField(max_length=200)
    slug = serializers.SlugField(
        max_length=60, required=False, help_text=_("Its address; made of the title where it is missing.")
    )
    scheme = serializers.CharField(required=False, help_text=_("Key of a scheme that is here already."))
    version = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, required=False, help_text=_("Of the scheme; else its newest.")
    )
    scheme_text = serializers.CharField(
        required=False,
        max_length=SchemeFileField.MAX_BYTES,
        trim_whitespace=False,
        help_text=_("A scheme file, in the place of a key."),
    )
    guideline = serializers.CharField(required=False, allow_blank=True)


@extend_schema(responses=SchemeSerializer(many=True))
@api_view(["GET"])
def schemes(request: Request) -> Response:
    """The schemes that a study can be made with, for those who may make studies."""
    _refuse_who_makes_no_studies(request)
    stored = [
        {"key": scheme.slug, "version": scheme.version, "title": scheme.title, "stored": True}
        for scheme in Scheme.objects.defer("spec", "source").order_by("slug", "version")
    ]
    have = {(scheme["key"], scheme["version"]) for scheme in stored}
    brought = [
        {"key": spec.key, "version": spec.version, "title": spec.title, "stored": False}
        for spec, _source in shipped().values()
        if (spec.key, spec.version) not in have
    ]
    return Response(SchemeSerializer([*stored, *brought], many=True).data)


def _refuse_who_makes_no_studies(request: Request) -> None:
    if not user_of(request).has_perm("annotation.add_study"):
        raise PermissionDenied


@extend_schema(methods=["GET"], responses=StudySerializer(many=True))
@extend_schema(
    methods=["POST"], request=NewStudySerializer, responses={201: StudyDetailSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def studies(request: Request) -> Response:
    """The studies in which you have a role, archived ones left out (GET); make one, if you may (POST)."""
    if request.method == "GET":
        return studies_of(user_of(request))
    _refuse_who_makes_no_studies(request)
    sent = NewStudySerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    given = dict(sent.validated_data)
    key, version = given.pop("scheme", ""), given.pop("version", None)
    with transaction.atomic():
        chosen = actions.scheme_called(key, version) if key else None
        if key and chosen is None:
            raise serializers.ValidationError({"scheme": [_("There is no such scheme.")]})
        form = StudyForm({**given, "scheme": "" if chosen is None else str(chosen.pk)})
        if not form.is_valid():
            raise not_valid(form)
        made = form.cleaned_data
        scheme = made["scheme"] or actions.store_scheme(spec=made["scheme_file"][0], source=made["scheme_file"][1])
        study = actions.create_study(
            slug=made["slug"], title=made["title"], scheme=scheme, guideline=made["guideline"], by=user_of(request)
        )
    return Response(in_full(user_of(request), study).data, status=status.HTTP_201_CREATED)


# --- invitations ------------------------------------------------------------------------------------------------------


class InviteSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    role = serializers.ChoiceField(Role.choices)
    email = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(["open", "used", "revoked", "expired"])
    expires_at = serializers.DateTimeField()


class MadeInviteSerializer(InviteSerializer):
    url = serializers.CharField(help_text=_("Where one person joins by it. It is told once, and stored nowhere."))
    sent = serializers.BooleanField(help_text=_("Whether it was mailed to the address."))


class NewInviteSerializer(serializers.Serializer[Any]):
    """What the page “People” asks."""

    role = serializers.ChoiceField(Role.choices)
    email = serializers.EmailField(
        required=False, allow_blank=True, help_text=_("Where mail is set up, the link is sent there too.")
    )
    days = serializers.ChoiceField([1, 7, 30], default=7, help_text=_("For how many days it works."))
    bound = serializers.BooleanField(
        default=False, help_text=_("Only for this address: a code is mailed there first. Where e-mail is set up.")
    )


@extend_schema(methods=["GET"], responses=InviteSerializer(many=True))
@extend_schema(methods=["POST"], request=NewInviteSerializer, responses={201: MadeInviteSerializer})
@api_view(["GET", "POST"])
def invites(request: Request, slug: str) -> Response:
    """The invitations to a study, the last one first (GET); one more, a link that lets one person in (POST)."""
    study = study_of(request, slug, Role.MANAGER)
    if request.method == "GET":
        return Response(InviteSerializer(study.invites.all(), many=True).data)
    sent = NewInviteSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = InviteForm(sent.validated_data, can_bind=mail.is_set_up())
    if not form.is_valid():
        raise not_valid(form)
    given = form.cleaned_data
    if sent.validated_data["bound"] and not given["bound"]:
        raise Refused(translate("Needs e-mail, which is not set up here."))
    invite, token = actions.invite(
        study=study,
        role=Role(given["role"]),
        email=given["email"],
        days=given["days"],
        bound=given["bound"],
        by=user_of(request),
    )
    link = request.build_absolute_uri(reverse("annotation:join", args=[token]))
    sent_there = bool(invite.email) and mail.is_set_up() and mail.send_invite(invite, link)
    told = {**InviteSerializer(invite).data, "url": link, "sent": sent_there}
    return Response(MadeInviteSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(request=None, responses={200: InviteSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def revoke_invite(request: Request, slug: str, pk: int) -> Response:
    """Let a link work no more."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    invite = get_object_or_404(Invite, study=study, pk=pk)
    if not actions.revoke_invite(invite=invite, by=user_of(request)):
        raise Refused(actions.why_not_revoked(invite))
    return Response(InviteSerializer(Invite.objects.get(pk=pk)).data)


# --- the plan ---------------------------------------------------------------------------------------------------------


class PlanRequestSerializer(ToDrawSerializer):
    """What the page “Plan” asks; what is left out is as the page has it at first."""

    raters = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=_("Codes of people; by default everybody. May be empty."),
    )
    judges = serializers.DictField(
        child=serializers.ChoiceField([PlanForm.Judged.SHARED, PlanForm.Judged.ALL]),
        required=False,
        help_text=_("Name of a judge → “all” rows, or those that several people label, “shared”."),
    )
    sheets = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        required=False,
        help_text=_("By default all that have rows which nobody has."),
    )
    sections = serializers.ListField(
        child=serializers.CharField(), required=False, help_text=_("Keys; by default all.")
    )
    raters_per_sheet = serializers.IntegerField(min_value=1, max_value=100, required=False)
    share_twice = serializers.IntegerField(
        min_value=0, max_value=100, required=False, help_text=_("Per cent of the rows.")
    )
    share_thrice = serializers.IntegerField(min_value=0, max_value=100, default=0)
    raters_per_row = serializers.ChoiceField(
        [PlanForm.EVERYBODY, *map(str, range(1, PlanForm.MOST_PER_ROW + 1))],
        required=False,
        help_text=_("The same number for each row: the shares do not count then."),
    )
    own_order = serializers.BooleanField(
        default=True, help_text=_("Each rater sees the rows in an order of their own.")
    )
    facets = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        required=False,
        help_text=_("Key of a facet of rows → its words: rows with one of them alone; - stands for none."),
    )
    size = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, required=False, help_text=_("How many rows are drawn; by default all.")
    )
    by = serializers.ListField(
        child=serializers.CharField(), required=False, help_text=_("Keys of facets whose groups are drawn from.")
    )
    each = serializers.BooleanField(default=False, help_text=_("So many of each group, and not in all."))


class SeatSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField()
    rater = serializers.CharField()


class DrawnPlanSerializer(DrawnSerializer):
    raters = serializers.DictField(child=serializers.IntegerField(), help_text=_("Code of a person → new rows."))
    judges = serializers.DictField(child=serializers.IntegerField(), help_text=_("Name of a judge → new rows."))
    seats = SeatSerializer(many=True, help_text=_("Of people."))
    notes = serializers.ListField(child=serializers.CharField(), help_text=_("What is not as it was asked for."))


@extend_schema(request=PlanRequestSerializer, responses={200: DrawnPlanSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def draw_plan(request: Request, slug: str) -> Response:
    """What a plan would give to whom. Nothing is changed; sent to the plan with its `digest`, it is what is done."""
    form, _digest = _planned(request, study_of(request, slug, Role.MANAGER))
    return Response(DrawnPlanSerializer(_drawn(form)[0]).data)


class MadePlanSerializer(DrawnPlanSerializer):
    id = serializers.IntegerField()


class AppliedPlanSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="plan.pk")
    at = serializers.DateTimeField(source="plan.applied_at")
    by = serializers.CharField(source="plan.applied_by.username", default=None, allow_null=True)
    assignments = serializers.IntegerField(source="n", help_text=_("That are still its own."))
    may_undo = serializers.BooleanField(
        help_text=_("Nobody has begun any of it, and it added to nobody's earlier work.")
    )
    goes_with = serializers.ListField(
        child=serializers.CharField(), help_text=_("What else is taken back with it, in words.")
    )


class AppliedPlanPageSerializer(PageSerializer):
    results = AppliedPlanSerializer(many=True)


@extend_schema(methods=["GET"], parameters=[PageFilterSerializer], responses=AppliedPlanPageSerializer)
@extend_schema(
    methods=["POST"], request=PlanRequestSerializer, responses={201: MadePlanSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def plan(request: Request, slug: str) -> Response:
    """The plans that were applied, the last one first (GET); give rows that nobody has to people, as many of them to
    several as is asked, and rows to judges (POST)."""
    study = study_of(request, slug, Role.MANAGER)
    if request.method == "GET":
        plans = study.plans.select_related("applied_by")
        return in_pages(request, plans, AppliedPlanSerializer, read=undoing.applied_plans)
    form, digest = _planned(request, study)
    told, design, judges = _drawn(form)
    if digest not in (None, form.digest):
        raise Refused(
            translate(
                "The study has changed since this plan was drawn. Nothing was assigned: look at it and apply it again. "
                "If it was sent before, it may be done already."
            )
        )
    made = form.apply(design, judges, by=user_of(request))
    return Response(MadePlanSerializer({**told, "id": made.pk}).data, status=status.HTTP_201_CREATED)


def _planned(request: Request, study: Study) -> tuple[PlanForm, str | None]:
    given, digest = sent_to_draw(request, PlanRequestSerializer)
    form = PlanForm(_as_the_form_has_it(study, given), study=study)
    if not form.is_valid():
        raise not_valid(form)
    return form, digest


def _as_the_form_has_it(study: Study, given: dict[str, Any]) -> QueryDict:
    first = PlanForm(study=study)
    if "raters" in given:
        given["raters"] = numbers_of(study, study.raters.plannable(), given["raters"], "raters")
    judges = given.pop("judges", None)
    if unknown := [name for name in judges or {} if name not in first.judges]:
        sentence = translate("No judge “%(judge)s” can work in this study.") % {"judge": unknown[0][:60]}
        raise serializers.ValidationError({"judges": [sentence]})
    facets = given.pop("facets", {})
    if unknown := [key for key in facets if f"facet.{key}" not in first.fields]:
        sentence = translate("No rows can be chosen by a facet “%(facet)s”.") % {"facet": unknown[0][:60]}
        raise serializers.ValidationError({"facets": [sentence]})
    said: dict[str, Any] = {"raters_per_row": "", **first.initial, **given}
    said["sheets"] = said["sheets"] or list(first.counts)  # where people have all, judges may not
    if not said["sheets"] and any(count.rows for count in first.work.sheets.values()):
        raise Refused(in_words_of(study, Sentence(ALL_GIVEN, ())))
    if not said["sheets"]:
        raise Refused(translate("This study has no rows that could be given to anybody."))
    for n, judge in enumerate(first.judges):
        if judges is not None:
            said[f"judge_{n}"] = judges.get(judge, "")
    said["each"] = "each" if said["each"] else ""
    return as_posted({**said, **{f"facet.{key}": words for key, words in facets.items()}})


def _drawn(form: PlanForm) -> tuple[dict[str, Any], Any, dict[str, list[int]]]:
    """What is told of a plan; its design; what judges get. Raises `Refused` where no plan can be so."""
    try:
        design = form.design()
    except ImpossibleDesign as impossible:
        raise Refused(in_words_of(form.study, impossible.sentence)) from impossible
    new = form.new_seats(design)
    judges = form.rows_of_judges(form.seats_after(new))
    codes = {rater.pk: rater.code for rater in form.cleaned_data["raters"]}
    told = {
        "digest": form.digest,
        "raters": dict(Counter(codes[seat.rater_id] for seat in new)),
        "judges": {name: len(rows) for name, rows in judges.items()},
        "seats": [{"row": seat.row_id, "rater": codes[seat.rater_id]} for seat in new],
        "notes": [in_words_of(form.study, note) for note in design.notes] if design else [],
    }
    return told, design, judges
