"""Judges and their runs over HTTP for programs: a second door to the same reads and actions as the pages."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.api.core import study_of, user_of
from annotation.api.runs import RunDoor
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.models import Role, Row, Study
from judges import actions, queries, retracing
from judges.forms import JudgeForm
from judges.methods import Method, prompting
from judges.model_api import NamesAModelSerializer, made, refuse_who_makes_none
from judges.models import Extractor, Judge, UnreadableAnswer
from judges.runs.asking import RowFailed
from judges.spending import queries as spending
from judges.spending.api import LimitedFields, LimitsSerializer, ResumedSerializer, SpentSerializer
from llm import registry
from llm.backends.base import BackendError
from llm.prompts import digest
from work.api import ProgressFields, RunFields


class JudgeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text=_("Its code as a rater."))
    method = serializers.ChoiceField(Judge.Method.choices)
    backend = serializers.ChoiceField(registry.choices(), source="model.backend", default=None, allow_null=True)
    model = serializers.CharField(
        source="model.location", default=None, allow_null=True, help_text=_("Its place; of a server its address.")
    )
    served_model = serializers.CharField(
        source="model.served_name", default=None, allow_null=True, help_text=_("The model's name on the server, or “”.")
    )
    revision = serializers.CharField(source="model.revision", default=None, allow_null=True)
    normalisation = serializers.ChoiceField(Judge.Normalisation.choices)
    chat_template = serializers.BooleanField()
    temperature = serializers.FloatField(allow_null=True, help_text=_("Of a judge that rates or writes."))
    max_new_tokens = serializers.IntegerField(
        allow_null=True, help_text=_("Of a judge that rates or writes: longest answer.")
    )
    evidence = serializers.CharField(
        source="evidence.name",
        default=None,
        allow_null=True,
        help_text=_("The extractor whose items it judges by; null for the documents themselves."),
    )
    prompt = serializers.CharField(source="prompt.name")
    prompt_sha256 = serializers.CharField(source="prompt.digest")


class NewJudgeSerializer(NamesAModelSerializer):
    """What the page “New judge” asks."""

    name = serializers.SlugField(max_length=60, help_text=_("Its code as a rater."))
    method = serializers.ChoiceField(Judge.Method.choices)
    normalisation = serializers.ChoiceField(Judge.Normalisation.choices, default=Judge.Normalisation.NONE)
    temperature = serializers.FloatField(required=False, min_value=0, max_value=2)
    max_new_tokens = serializers.IntegerField(required=False, min_value=1, max_value=100_000)
    evidence = serializers.CharField(required=False, help_text=_("Name of the extractor by whose items it judges."))
    prompt_text = serializers.CharField(required=False, trim_whitespace=False, help_text=_("A prompt file."))
    shipped = serializers.CharField(
        required=False, help_text=_("The name of a prompt that comes with Palate, in the place of a text.")
    )
    prompt_sha256 = serializers.CharField(
        required=False, help_text=_("That of a prompt which is stored here, such as another judge's.")
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [name for name in ("prompt_text", "shipped", "prompt_sha256") if attrs.get(name)]
        if len(given) > 1:
            sentence = _("A judge has one prompt: leave out all of these but one.")
            raise serializers.ValidationError({name: [sentence] for name in given})
        return attrs


class PromptSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    shipped = serializers.CharField(
        allow_blank=True, help_text=_("The name under which it comes with Palate, or “”: it was written here.")
    )
    prompt_sha256 = serializers.CharField()
    methods = serializers.ListField(
        child=serializers.ChoiceField(Judge.Method.choices), help_text=_("Of judges that it asks something.")
    )
    text = serializers.CharField()


class RunSerializer(RunFields):
    study = serializers.SlugField(source="study.slug")
    judge = JudgeSerializer()
    repeats = serializers.IntegerField()
    rows = serializers.IntegerField(source="n_rows")
    rows_done = serializers.IntegerField(source="n_done")
    rows_failed = serializers.IntegerField(source="n_failed")
    labels = serializers.IntegerField(source="n_cells")
    unreadable = serializers.IntegerField(
        source="n_unreadable", help_text=_("Cells without a label, since the judge's answer held none.")
    )


class ProgressSerializer(ProgressFields):
    rows = serializers.IntegerField()
    labels = serializers.IntegerField(source="cells")
    unreadable = serializers.IntegerField()
    tokens = serializers.IntegerField()
    cells_per_second = serializers.FloatField(allow_null=True, help_text=_("Of the last two minutes of work."))
    tokens_per_second = serializers.FloatField(allow_null=True, help_text=_("Of the last two minutes of work."))


class RowErrorSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(source="assignment.row_id")
    sheet_title = serializers.CharField(source="assignment.row.sheet.title")
    row_name = serializers.CharField(source="assignment.row.name")
    state = serializers.CharField(help_text=_("failed, or queued for the next try"))
    error = serializers.CharField()


class UnreadableSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(source="assignment.row_id")
    sheet_title = serializers.CharField(source="assignment.row.sheet.title")
    row_name = serializers.CharField(source="assignment.row.name")
    repeat = serializers.IntegerField(source="assignment.repeat")
    column = serializers.IntegerField(source="column_id")
    column_name = serializers.CharField(source="column.name")
    question = serializers.CharField(source="question.key")
    why = serializers.ChoiceField(UnreadableAnswer.Why.choices)
    detail = serializers.CharField(help_text=_("Which rule of the question it breaks, or “”."))
    answer = serializers.CharField(source="raw")


class RepeatSerializer(serializers.Serializer[Any]):
    repeat = serializers.IntegerField(min_value=1, max_value=MAX_ID, default=1)


class AskedSerializer(serializers.Serializer[Any]):
    prompt = serializers.CharField(
        source="retraced.prompt",
        default=None,
        allow_null=True,
        help_text=_("Null where the answer follows from the scheme. In a chat form the user's message."),
    )
    as_asked = serializers.BooleanField(
        source="retraced.as_asked",
        default=None,
        allow_null=True,
        help_text=_(
            "Whether it is, letter by letter, what the model got in the run; null where nothing was kept to tell by."
        ),
    )
    chat_template = serializers.BooleanField(
        source="run.judge.chat_template", help_text=_("Whether the model's chat template stands around it.")
    )
    options = serializers.ListField(
        source="retraced.options",
        child=serializers.CharField(),
        default=list,
        help_text=_("What was scored behind the prompt, in this order; empty where the model wrote."),
    )
    without_evidence = serializers.CharField(
        source="retraced.without",
        default="",
        help_text=_("The prompt without evidence, behind which the options were scored too, or “”."),
    )
    answer = serializers.CharField(
        default=None,
        allow_null=True,
        help_text=_("As people read it; null where it could not be read, or is gone."),
    )
    note = serializers.CharField(default="")
    why = serializers.ChoiceField(
        UnreadableAnswer.Why.choices,
        source="unread.why",
        default=None,
        allow_null=True,
        help_text=_("Why its answer could not be read."),
    )
    written = serializers.CharField(source="raw", default="", help_text=_("What the model wrote, or “”."))


class StartSerializer(LimitsSerializer):
    repeats = serializers.IntegerField(
        min_value=1,
        max_value=MAX_ID,
        default=1,
        help_text=_("How often each row shall be labelled in all, by a judge that rates or writes."),
    )
    corrected = serializers.BooleanField(
        default=False,
        help_text=_("Of a judge that reads extracted lists: it reads them as people have corrected them."),
    )


class RunDetailSerializer(LimitedFields, RunSerializer):
    progress = ProgressSerializer()
    spent = SpentSerializer()
    unreadable_answers = UnreadableSerializer(many=True, help_text=_("The first 50."))
    errors = RowErrorSerializer(many=True, help_text=_("Of rows, the last one first."))  # type: ignore[assignment]
    provenance = serializers.JSONField(
        help_text=_("What the labels were made with: prompt, normalisation, and of each kind of worker the model's "
                    "revision, the digest of its weights, and the versions of the libraries.")
    )  # fmt: skip


def _whole(run: Any) -> Any:
    run.progress, run.spent = queries.progress(run), spending.spent(run)
    run.errors = queries.problems(run)
    run.unreadable_answers = list(queries.unreadable(run)[:50])
    return run


JUDGING = RunDoor(
    runs=queries.runs_with_counts,
    serializer=RunSerializer,
    whole=_whole,
    detail=RunDetailSerializer,
    cancel=actions.cancel_run,
    resume=actions.resume_run,
    asked=ResumedSerializer,
    about={
        "runs": "The runs of a study, the last one first.",
        "run": "A run: how far it is, what went wrong, and what its labels are made with.",
        "cancel": "Stop a run. Rows that are done stay.",
        "resume": "Go on with the rows that have no labels yet, failed ones included.",
    },
)


@extend_schema(methods=["GET"], responses=JudgeSerializer(many=True))
@extend_schema(methods=["POST"], request=NewJudgeSerializer, responses={201: JudgeSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def judges(request: Request, slug: str) -> Response:
    """The judges that can work in this study: their prompts fit its scheme (GET); make one, as a manager who may create
    judges (POST)."""
    if request.method == "GET":
        study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
        return Response(JudgeSerializer(queries.judges_for(study), many=True).data)
    study = study_of(request, slug, Role.MANAGER)
    refuse_who_makes_none(request)
    sent = NewJudgeSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    given = dict(sent.validated_data)
    if evidence := given.get("evidence"):
        given["evidence"] = _extractor(evidence)
    if sha256 := given.pop("prompt_sha256", ""):
        given["prompt"] = _stored(study, sha256)
    create = partial(actions.create_judge, study=study, by=user_of(request))
    judge = made(partial(JudgeForm, study=study), given, create)
    return Response(JudgeSerializer(judge).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=PromptSerializer(many=True))
@api_view(["GET"])
def prompts(request: Request, slug: str) -> Response:
    """The prompts that ask nothing but questions of the study's scheme: those that judges here have, and those that
    come with Palate. For a manager who may create judges."""
    study = study_of(request, slug, Role.MANAGER)
    refuse_who_makes_none(request)
    told = [
        {
            "name": shipped or prompt.name,
            "shipped": shipped,
            "prompt_sha256": digest(prompt.text),
            "methods": [method for method in Method if prompting.questions_for(prompt.spec, method)],
            "text": prompt.text,
        }
        for prompt, shipped in JudgeForm(study=study).offered
    ]
    return Response(PromptSerializer(told, many=True).data)


def _stored(study: Study, sha256: str) -> int:
    found = queries.prompts_in(study).filter(digest=sha256).first()
    if found is None:
        raise serializers.ValidationError({"prompt_sha256": [_("There is no prompt of this digest here.")]})
    return found.pk


def _extractor(name: str) -> int:
    found = Extractor.objects.filter(archived_at=None, name=name).first()
    if found is None:
        raise serializers.ValidationError({"evidence": [_("There is no extractor “%(name)s”.") % {"name": name[:60]}]})
    return found.pk


@extend_schema(request=StartSerializer, responses={201: RunDetailSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def start(request: Request, slug: str, pk: int) -> Response:
    """Let a judge label all rows that it has not labelled yet."""
    study = study_of(request, slug, Role.MANAGER)
    judge = get_object_or_404(Judge.objects.known_in(study).select_related("model", "prompt"), pk=pk)
    asked = StartSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    run = actions.start_run(study=study, judge=judge, by=user_of(request), **asked.validated_data)
    return JUDGING.answer(study, run.pk, status.HTTP_201_CREATED)


@extend_schema(parameters=[RepeatSerializer], responses={200: AskedSerializer, 409: RefusalSerializer})
@api_view(["GET"])
def asked(request: Request, slug: str, pk: int, row: int, column: int, question: str) -> Response:
    """What the judge of a run was asked at a cell that it has answered, made again from what the row holds now, whether
    that is what it was; and its answer. The look is recorded."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    run, of_row = get_object_or_404(study.runs, pk=pk), get_object_or_404(Row, sheet__study=study, pk=row)
    chosen = RepeatSerializer(data=request.query_params)
    chosen.is_valid(raise_exception=True)
    labelled = retracing.work_of(run, of_row, chosen.validated_data["repeat"])
    item, _column, _question = retracing.cell_at(labelled, column, question)
    annotating.note_look(sheet=item.assignment.row.sheet, user=user_of(request))
    try:
        retraced = retracing.retraced(item, (column, question))
    except (RowFailed, BackendError) as error:
        raise Refused(_("Its prompt cannot be made again: %(why)s") % {"why": error}) from error
    said = retracing.answer_at(item.assignment, (column, question))
    return Response(AskedSerializer({"run": item.run, "retraced": retraced, **said}).data)
