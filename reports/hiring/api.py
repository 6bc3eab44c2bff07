"""Hiring over HTTP for programs: the split, the judges to choose from, certificates and what they take over."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions as annotating
from annotation.api.core import study_of, user_of
from annotation.api.serializers import RefusalSerializer, SeededSerializer
from annotation.models import Experiment, Question, Rater, Role, Study
from reports.data.label_table import UnknownFormat
from reports.hiring import actions, experiments, queries
from reports.hiring.documents import APPROXIMATE, BOUNDS
from reports.hiring.effects import lines_of
from reports.hiring.forms import question_called
from reports.hiring.recomputing import recompute
from reports.hiring.words import reasons, why_not_tested
from reports.models import Accepted, Certificate, Revocation, Split, TestLook


class DrawSerializer(SeededSerializer):
    unit = serializers.ChoiceField(
        choices=Split.Unit.choices,
        required=False,
        help_text=_("“row” by default; “item” where rows are two texts for an item, whose pairs then stay together."),
    )
    share = serializers.IntegerField(min_value=1, max_value=99, help_text=_("Per cent that is for the test."))


class SplitSerializer(DrawSerializer):
    development = serializers.IntegerField(help_text=_("Rows."))
    test = serializers.IntegerField(help_text=_("Rows."))
    tests = serializers.IntegerField(help_text=_("How often a judge was tested on the test part."))
    other_looks = serializers.IntegerField(help_text=_("How often it was looked at otherwise."))


@extend_schema(methods=["GET"], responses=SplitSerializer)
@extend_schema(methods=["POST"], request=DrawSerializer, responses={201: SplitSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def split(request: Request, slug: str) -> Response:
    """How a study's rows are split into development and test; POST draws it. 404 where it is not drawn."""
    if request.method == "POST":
        study = study_of(request, slug, Role.MANAGER)
        asked = DrawSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        actions.draw_split(study=study, by=user_of(request), **{"unit": "", **asked.validated_data})
        return Response(_split(study), status=status.HTTP_201_CREATED)
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    get_object_or_404(Split, study=study)
    return Response(_split(study))


def _split(study: Study) -> dict[str, Any]:
    found = Split.objects.get(study=study)
    development, test = queries.part_counts(study, found)
    looks = queries.looks_at(study)
    return {
        "unit": found.unit,
        "share": found.share,
        "seed": found.seed,
        "development": development.rows,
        "test": test.rows,
        "tests": looks.tests,
        "other_looks": looks.others,
    }


class CandidateSerializer(serializers.Serializer[Any]):
    judge = serializers.CharField()
    question = serializers.CharField(help_text=_("section.question"))
    normalisation = serializers.CharField()
    own = serializers.BooleanField(help_text=_("It labels by this normalisation."))
    score = serializers.CharField(help_text=_("margin, repeats or none"))
    documents = serializers.IntegerField()
    examples = serializers.IntegerField(
        help_text=_("Documents that its prompt shows it with their answers; they are not counted.")
    )
    cells = serializers.IntegerField()
    agreement = serializers.FloatField(allow_null=True)
    agreement_low = serializers.FloatField(allow_null=True, help_text=_("The 95 % interval, by documents."))
    agreement_high = serializers.FloatField(allow_null=True)
    baseline = serializers.FloatField(
        allow_null=True, help_text=_("What always the most frequent right answer reaches in these cells.")
    )
    threshold = serializers.FloatField(allow_null=True)
    coverage = serializers.FloatField(allow_null=True)
    error = serializers.FloatField(allow_null=True)


@extend_schema(
    parameters=[OpenApiParameter("epsilon", OpenApiTypes.FLOAT, description=_("Share of wrong cells; 0.05."))],
    responses=CandidateSerializer(many=True),
)
@api_view(["GET"])
def candidates(request: Request, slug: str) -> Response:
    """The study's judges by question and normalisation, on development rows alone, the best coverage first."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    try:
        epsilon = float(request.query_params.get("epsilon", 0.05))
    except ValueError:
        epsilon = 0.0
    if not 0 < epsilon < 1:
        raise ValidationError({"epsilon": [_("A share between 0 and 1.")]})
    found = queries.in_order(queries.candidates(study, epsilon=epsilon), "coverage")
    return Response(CandidateSerializer([asdict(one) for one in found], many=True).data)


_BOUND = _(
    "Which bound decides: design, an approximation by how errors came together in the documents that were seen; "
    "betting, exact, for two to four times as many documents."
)


class ClaimSerializer(serializers.Serializer[Any]):
    judge = serializers.CharField(help_text=_("Code of the judge."))
    question = serializers.CharField(help_text=_("section.question"))
    epsilon = serializers.FloatField(min_value=0.001, max_value=0.5)
    confidence = serializers.FloatField(min_value=0.51, max_value=0.999)
    bound = serializers.ChoiceField(BOUNDS, default=APPROXIMATE, help_text=_BOUND)
    until = serializers.DateField()


class SupervisionSerializer(serializers.Serializer[Any]):
    """What people have found of what was accepted. Documents are rows, or sheets or items where these were drawn."""

    documents = serializers.IntegerField(source="n_finished", help_text=_("Finished."))
    drawn = serializers.IntegerField(help_text=_("How many there are to finish."))
    cells = serializers.IntegerField(source="n_cells", help_text=_("That people could judge."))
    unjudged = serializers.IntegerField(
        source="n_unjudged", help_text=_("Cells of finished documents without a blind answer; they count nowhere else.")
    )
    wrong = serializers.FloatField(source="n_wrong", help_text=_("Cells; where people are divided, in part."))
    error = serializers.FloatField(allow_null=True)
    error_at_most = serializers.FloatField(allow_null=True, help_text=_("If each unjudged cell were wrong."))
    low = serializers.FloatField(help_text=_("By the confidence sequence."))
    high = serializers.FloatField()
    alarm_at = serializers.IntegerField(allow_null=True, help_text=_("After how many documents; null: no alarm."))


class CertificateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text=_("The first letters of its digest."))
    digest = serializers.CharField()
    judge = serializers.CharField(source="rater.code")
    question = serializers.SerializerMethodField()
    epsilon = serializers.FloatField()
    confidence = serializers.FloatField()
    threshold = serializers.FloatField()
    until = serializers.DateField()
    standing = serializers.SerializerMethodField(
        help_text=_("standing, expired, changed, alarm or revoked; nothing is accepted but under the first.")
    )
    accepted = serializers.SerializerMethodField(help_text=_("Cells that were accepted under it."))
    to_give_back = serializers.SerializerMethodField(help_text=_("Rows of these that nobody has."))
    supervision = serializers.SerializerMethodField()
    document = serializers.SerializerMethodField()

    def get_question(self, certificate: Certificate) -> str:
        return queries.question_name(certificate.question)

    def to_representation(self, certificate: Certificate) -> dict[str, Any]:
        self._supervision = queries.supervision_of(certificate)
        self._standing = queries.standing_of(certificate, self._supervision.watch)
        return super().to_representation(certificate)

    def get_standing(self, certificate: Certificate) -> str:
        return self._standing.code

    def get_to_give_back(self, certificate: Certificate) -> int:
        return 0 if self._standing.holds else len(queries.to_give_back(certificate))

    @extend_schema_field(SupervisionSerializer)
    def get_supervision(self, certificate: Certificate) -> dict[str, Any]:
        watched = self._supervision.watch
        told = {**vars(watched), "error_at_most": watched.error_at_most, "drawn": self._supervision.n_drawn}
        return dict(SupervisionSerializer(told).data)

    def get_accepted(self, certificate: Certificate) -> int:
        return Accepted.objects.filter(takeover__certificate=certificate).count()

    def get_document(self, certificate: Certificate) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(certificate.document)
        return found


class TestedSerializer(serializers.Serializer[Any]):
    __test__ = False  # no test of pytest's

    holds = serializers.BooleanField()
    certificate = CertificateSerializer(allow_null=True)
    document = serializers.DictField(help_text=_("What the test came to."))


_RELATED = ("study__scheme", "rater", "question__section__scheme")


@extend_schema(methods=["GET"], responses=CertificateSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=ClaimSerializer,
    responses={200: TestedSerializer, 201: TestedSerializer, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def certificates(request: Request, slug: str) -> Response:
    """The certificates of a study's judges, the last one first. POST tests a judge on the test part, which is counted
    as a look at it; where it holds, a certificate is given. The same claim on the same data is no other look: it is
    answered with what it came to (200)."""
    if request.method == "GET":
        study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        found = Certificate.objects.filter(study=study).select_related(*_RELATED).defer("labels")
        return Response(CertificateSerializer(found, many=True).data)
    study = study_of(request, slug, Role.MANAGER)
    asked = ClaimSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    claim = asked.validated_data
    rater, question = _claimed(study, claim.pop("judge"), claim.pop("question"))
    came = actions.certify(study=study, rater=rater, question=question, by=user_of(request), **claim)
    told = {
        "holds": came.certificate is not None,
        "certificate": CertificateSerializer(came.certificate).data if came.certificate else None,
        "document": json.loads(came.look.outcome["document"]),
    }
    return Response(told, status=status.HTTP_200_OK if came.again else status.HTTP_201_CREATED)


class TestLookSerializer(serializers.ModelSerializer[TestLook]):
    __test__ = False  # no test of pytest's

    by = serializers.CharField(source="by.username", default=None, allow_null=True)
    holds = serializers.BooleanField(source="outcome.holds")
    certificate = serializers.SerializerMethodField(help_text=_("Its name, where it holds."))
    document = serializers.SerializerMethodField(help_text=_("What the test came to."))

    class Meta:
        model = TestLook
        fields = ["judge", "question", "by", "at", "holds", "certificate", "document"]

    def get_certificate(self, look: TestLook) -> str | None:
        found: str | None = self.context["names"].get(look.pk)
        return found

    def get_document(self, look: TestLook) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(look.outcome["document"])
        return found


@extend_schema(responses=TestLookSerializer(many=True))
@api_view(["GET"])
def tests(request: Request, slug: str) -> Response:
    """All tests of judges on the test part, the last one first: those that do not hold, too."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    found = TestLook.objects.filter(study=study, what=TestLook.What.TEST).select_related("by")
    given = Certificate.objects.filter(study=study).only("look", "digest")
    names = {certificate.look_id: certificate.name for certificate in given}
    return Response(TestLookSerializer(found, many=True, context={"names": names}).data)


def _claimed(study: Study, judge: str, name: str) -> tuple[Rater, Question]:
    rater, question = study.raters.judges().filter(code=judge).first(), question_called(study, name)
    if rater is None or question is None:
        missing = "judge" if rater is None else "question"
        raise ValidationError({missing: [_("There is none of this name in the study.")]})
    return rater, question


class AskedCostSerializer(serializers.Serializer[Any]):
    judge = serializers.CharField(help_text=_("Code of the judge."))
    question = serializers.CharField(help_text=_("section.question"))
    epsilon = serializers.FloatField(min_value=0.001, max_value=0.5, default=0.05)
    confidence = serializers.FloatField(min_value=0.51, max_value=0.999, default=0.9)
    bound = serializers.ChoiceField(BOUNDS, default=APPROXIMATE, help_text=_BOUND)


class CostLineSerializer(serializers.Serializer[Any]):
    threshold = serializers.FloatField(source="point.threshold")
    coverage = serializers.FloatField(source="point.coverage", help_text=_("On development documents."))
    error = serializers.FloatField(source="point.error", help_text=_("On development documents."))
    documents = serializers.IntegerField(
        source="needed.n_documents", allow_null=True, help_text=_("Test documents with which four of five tests hold.")
    )
    labels = serializers.IntegerField(source="needed.n_labels", allow_null=True)
    reason = serializers.SerializerMethodField(help_text=_("Why there is no number."))

    def get_reason(self, option: Any) -> str:
        reason: str = option.needed.reason
        return reasons().get(reason, reason)


class CostSerializer(serializers.Serializer[Any]):
    development = serializers.IntegerField(help_text=_("Documents that tell it."))
    labelled = serializers.IntegerField(
        source="size.labelled", help_text=_("Test documents that have labels of the judge and of people.")
    )
    unlabelled = serializers.IntegerField(source="size.unlabelled", help_text=_("Those that could still get them."))
    least = serializers.IntegerField(allow_null=True, help_text=_("Test documents that are enough; null: none are."))
    lacking = serializers.IntegerField(help_text=_("How many more should be labelled first."))
    tests = serializers.IntegerField(help_text=_("How often this judge was tested on this question."))
    refusal = serializers.CharField(help_text=_("Why it is not tested now; empty where it may be."))
    reason = serializers.CharField(help_text=_("Why there is no threshold."))
    thresholds = CostLineSerializer(many=True, source="planned.options")


@extend_schema(parameters=[AskedCostSerializer], responses={200: CostSerializer, 409: RefusalSerializer})
@api_view(["GET"])
def cost(request: Request, slug: str) -> Response:
    """What it would take to certify a judge, by what development documents tell; it is no look at the test part."""
    study = study_of(request, slug, Role.MANAGER)
    asked = AskedCostSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    claim = asked.validated_data
    rater, question = _claimed(study, claim.pop("judge"), claim.pop("question"))
    split = queries.split_of(study)
    if split is None:
        raise annotating.Refused(_("Draw the split first: a judge is chosen on one part and tested on the other."))
    found = queries.cost_of(split, rater, question, **claim)
    told = {name: getattr(found, name) for name in ("development", "size", "least", "lacking", "tests", "planned")}
    told["reason"] = reasons().get(found.planned.reason, found.planned.reason)
    told["refusal"] = why_not_tested(rater, question, split, found.size)
    return Response(CostSerializer(told).data)


def _certificate(study: Study, name: str) -> Certificate:
    found = Certificate.objects.filter(study=study, digest__startswith=name).select_related(*_RELATED)
    return get_object_or_404(found.defer("labels"))


@extend_schema(responses=CertificateSerializer)
@api_view(["GET"])
def certificate(request: Request, slug: str, name: str) -> Response:
    """A certificate with its document."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return Response(CertificateSerializer(_certificate(study, name)).data)


class RecomputedCertificateSerializer(serializers.Serializer[Any]):
    equal = serializers.BooleanField(help_text=_("The document came out as the same bytes."))
    labels_intact = serializers.BooleanField(help_text=_("The labels are those it was given on."))
    digest = serializers.CharField(help_text=_("SHA-256 of the document, as it comes out now."))


@extend_schema(request=None, responses={200: RecomputedCertificateSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def recomputed(request: Request, slug: str, name: str) -> Response:
    """Compute a certificate again from the labels that are frozen with it. It stays as it is."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER, archived=True)
    try:
        return Response(RecomputedCertificateSerializer(recompute(_certificate(study, name))).data)
    except UnknownFormat as error:
        return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)


class AskedWorkSerializer(SeededSerializer):
    share = serializers.IntegerField(min_value=1, max_value=100, help_text=_("Per cent that is supervised."))


class WorkSerializer(AskedWorkSerializer):
    raters = serializers.ListField(child=serializers.CharField(), help_text=_("Codes of people who label the rest."))
    digest = serializers.CharField(
        required=False, help_text=_("What GET said of it: refused where something has changed since.")
    )


class TakeoverSerializer(serializers.Serializer[Any]):
    accepted = serializers.IntegerField(help_text=_("Cells."))
    rows = serializers.IntegerField()
    to_people = serializers.IntegerField(help_text=_("Rows."))
    drawn = serializers.IntegerField(help_text=_("Of these rows those that supervise the judge."))
    lacking = serializers.IntegerField(
        help_text=_("How many fewer these are than the share: in other rows somebody is shown the judge's answers.")
    )


class WorkToDoSerializer(TakeoverSerializer):
    unread = serializers.IntegerField(
        help_text=_("Rows that nobody has and the judge has not labelled as often as in the test.")
    )
    digest = serializers.CharField()


@extend_schema(
    methods=["GET"],
    parameters=[AskedWorkSerializer],
    responses={200: WorkToDoSerializer, 409: RefusalSerializer},
)
@extend_schema(methods=["POST"], request=WorkSerializer, responses={201: TakeoverSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def takeovers(request: Request, slug: str, name: str) -> Response:
    """Let a certified judge take over what it has labelled and nobody has; the rest goes to people. GET says what would
    be done, and changes nothing."""
    study = study_of(request, slug, Role.MANAGER)
    found = _certificate(study, name)
    if request.method == "GET":
        shown = AskedWorkSerializer(data=request.query_params)
        shown.is_valid(raise_exception=True)
        standing = queries.standing_of(found)
        if not standing.holds:
            raise annotating.Refused(standing.reason)
        todo = queries.work_to_do(found, **shown.validated_data)
        told = _numbers(todo, len(todo.cells)) | {"unread": todo.unread, "digest": todo.digest}
        return Response(WorkToDoSerializer(told).data)
    asked = WorkSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    work = asked.validated_data
    raters = _raters(study, work["raters"])
    actions.watch(study=study)
    todo = queries.work_to_do(found, share=work["share"], seed=work["seed"])
    made = actions.take_over(
        certificate=found,
        share=work["share"],
        seed=work["seed"],
        raters=raters,
        shown=work.get("digest", todo.digest),
        by=user_of(request),
    )
    return Response(_numbers(todo, made.cells.count()), status=status.HTTP_201_CREATED)


def _numbers(todo: queries.WorkToDo, accepted: int) -> dict[str, Any]:
    return {
        "accepted": accepted,
        "rows": len(todo.rows),
        "to_people": len(todo.to_people),
        "drawn": len(todo.drawn),
        "lacking": todo.lacking,
    }


def _raters(study: Study, codes: list[str]) -> list[Rater]:
    raters = list(study.raters.plannable().filter(code__in=codes))
    if len(raters) < len(set(codes)):
        raise ValidationError({"raters": [_("One of them is nobody who can be given work here.")]})
    return raters


class BackSerializer(SeededSerializer):
    raters = serializers.ListField(child=serializers.CharField(), help_text=_("Codes of people who label it."))


class GivenBackSerializer(serializers.Serializer[Any]):
    rows = serializers.IntegerField()


@extend_schema(request=BackSerializer, responses={201: GivenBackSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def given_back(request: Request, slug: str, name: str) -> Response:
    """Give people what was accepted under a certificate that is revoked, as far as nobody has it."""
    study = study_of(request, slug, Role.MANAGER)
    found = _certificate(study, name)
    asked = BackSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    raters = _raters(study, asked.validated_data["raters"])
    actions.watch(study=study)
    plan = actions.give_back(certificate=found, raters=raters, seed=asked.validated_data["seed"], by=user_of(request))
    rows = plan.assignments.values("row").distinct().count()
    return Response({"rows": rows}, status=status.HTTP_201_CREATED)


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500)


@extend_schema(request=ReasonSerializer, responses=CertificateSerializer)
@api_view(["POST"])
def revoked(request: Request, slug: str, name: str) -> Response:
    """Revoke a certificate, with the reason; of an archived study too."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    found = _certificate(study, name)
    asked = ReasonSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    actions.revoke(
        certificate=found, why=Revocation.Why.HAND, reason=asked.validated_data["reason"], by=user_of(request)
    )
    return Response(CertificateSerializer(_certificate(study, name)).data)


class ExperimentSerializer(SeededSerializer):
    judge = serializers.CharField(help_text=_("Whose answers are shown."))
    raters = serializers.ListField(child=serializers.CharField(), help_text=_("Codes of people who take part."))


class EffectSerializer(serializers.Serializer[Any]):
    question = serializers.CharField(help_text=_("section.question; empty: all questions together"))
    measure = serializers.CharField(help_text=_("shift, followed_right, followed_wrong, accuracy, or time (a ratio)"))
    value = serializers.FloatField(allow_null=True, source="effect.value")
    low = serializers.FloatField(allow_null=True, source="effect.low")
    high = serializers.FloatField(allow_null=True, source="effect.high")
    wide_low = serializers.FloatField(allow_null=True, source="effect.wide_low")
    wide_high = serializers.FloatField(allow_null=True, source="effect.wide_high")
    p_value = serializers.FloatField(allow_null=True, source="effect.p_value")
    hidden = serializers.FloatField(allow_null=True, source="effect.hidden")
    shown = serializers.FloatField(allow_null=True, source="effect.shown")
    answers = serializers.IntegerField(source="effect.n")
    raters = serializers.IntegerField(source="effect.n_raters")
    documents = serializers.IntegerField(source="effect.n_documents")
    reason = serializers.CharField(source="effect.reason")


class SuggestionsSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    judge = serializers.CharField()
    seed = serializers.IntegerField()
    shown = serializers.IntegerField(help_text=_("Rows, counted for each rater."))
    hidden = serializers.IntegerField(help_text=_("Rows, counted for each rater."))
    submitted = serializers.IntegerField(help_text=_("Rows, counted for each rater."))
    effects = EffectSerializer(many=True)


@extend_schema(methods=["GET"], responses=SuggestionsSerializer(many=True))
@extend_schema(
    methods=["POST"], request=ExperimentSerializer, responses={201: SuggestionsSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def suggestions(request: Request, slug: str) -> Response:
    """Experiments in which people see a judge's answers in half of their rows, and what these did. POST draws one."""
    if request.method == "GET":
        study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        drawn = Experiment.objects.filter(study=study).select_related("study__scheme", "judge")
        return Response(SuggestionsSerializer(map(_told, experiments.results(list(drawn))), many=True).data)
    study = study_of(request, slug, Role.MANAGER)
    asked = ExperimentSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    wanted = asked.validated_data
    judge = study.raters.judges().filter(code=wanted["judge"]).first()
    if judge is None:
        raise ValidationError({"judge": [_("There is none of this name in the study.")]})
    made = annotating.draw_experiment(
        study=study,
        judge=judge,
        raters=_raters(study, wanted["raters"]),
        seed=wanted["seed"],
        by=user_of(request),
        blind=experiments.kept_blind(study),
    )
    return Response(SuggestionsSerializer(_told(experiments.result(made))).data, status=status.HTTP_201_CREATED)


def _told(found: experiments.Result) -> dict[str, Any]:
    return {
        "number": found.experiment.pk,
        "judge": found.experiment.judge.code,
        "seed": found.experiment.seed,
        "shown": found.n_shown,
        "hidden": found.n_hidden,
        "submitted": found.n_submitted,
        "effects": lines_of(found),
    }
