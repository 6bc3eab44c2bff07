"""Tables over HTTP for programs: the same reads and actions as the page."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import doors
from annotation.actions import note, note_looks
from annotation.api.core import study_of, user_of
from annotation.api.imports import ImportDetailSerializer, started
from annotation.api.serializers import RefusalSerializer
from annotation.models import AuditEvent, Rater, Role
from recipes.pizza_commonsense import actions, clusters, examples, exchange, exporting, queries
from recipes.pizza_commonsense.corpus_tables import Statistics, statistics_of
from recipes.pizza_commonsense.exchange import sentences
from recipes.pizza_commonsense.exporting import Wanted
from recipes.pizza_commonsense.forms import AT_ONCE, MAX_BYTES, read_tables
from recipes.pizza_commonsense.records import TablesRefused
from recipes.pizza_commonsense.training import MOST_DEMONSTRATIONS, Masks
from reports.api.serializers import TableSerializer


class TablesSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=MAX_BYTES, trim_whitespace=False)
    rater = serializers.SlugField(default="gold", max_length=60)
    example = serializers.BooleanField(default=False)
    replace = serializers.BooleanField(default=False)


class SystemSerializer(serializers.Serializer[Any]):
    system = serializers.SlugField(max_length=60)
    text = serializers.CharField(
        max_length=MAX_BYTES,
        trim_whitespace=False,
        help_text="JSON lines with “id”, as requests have it, and “output”, the text that the system wrote",
    )
    replace = serializers.BooleanField(default=False)


class SystemNameSerializer(serializers.Serializer[Any]):
    system = serializers.SlugField(max_length=60)


class RemovedAnswersSerializer(serializers.Serializer[Any]):
    removed = serializers.IntegerField(help_text="answers")


class AddedSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField()
    known = serializers.IntegerField()
    said = serializers.ListField(child=serializers.CharField())


class AskedFileSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(default="")
    form = serializers.ChoiceField(choices=list(exporting.TYPES), default="jsonl")
    masks = serializers.ChoiceField(choices=[*Masks, "none"], default=Masks.ALL)
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=1)
    part = serializers.ChoiceField(
        choices=[clusters.ALL, *clusters.PARTS],
        default=clusters.ALL,
        help_text="of the split by `way` and `split_seed`, as …/tables/split/ has it",
    )
    way = serializers.ChoiceField(choices=clusters.WAYS, default=clusters.WITHIN)
    split_seed = serializers.IntegerField(min_value=0, max_value=2**53, default=1)
    demonstrations = serializers.IntegerField(
        min_value=0,
        max_value=MOST_DEMONSTRATIONS,
        default=0,
        help_text="of requests: tables of the part for training before each, drawn for it by `seed`",
    )
    thinking = serializers.BooleanField(default=False, help_text="of requests: the model is asked to think first")


class AskedSplitSerializer(serializers.Serializer[Any]):
    way = serializers.ChoiceField(choices=clusters.WAYS, default=clusters.WITHIN)
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=1)


class StatisticsSerializer(AskedSplitSerializer):
    rater = serializers.CharField(
        required=False, allow_blank=True, help_text="code; empty for open tables; by default gold, if the study has it"
    )


class PartsSerializer(serializers.Serializer[Any]):
    seed = serializers.IntegerField()
    way = serializers.CharField()
    clusters = serializers.IntegerField()
    train = serializers.ListField(child=serializers.CharField())
    dev = serializers.ListField(child=serializers.CharField())
    test = serializers.ListField(child=serializers.CharField())


class ExamplesSerializer(serializers.Serializer[Any]):
    truth = serializers.CharField(default="gold")
    systems = serializers.CharField(help_text="codes of raters, with commas")
    which = serializers.ChoiceField(choices=[examples.ANY, examples.ALL, examples.OPEN], default=examples.ANY)
    n = serializers.IntegerField(min_value=1, max_value=200, default=10)
    seed = serializers.IntegerField(min_value=0, default=1)


@extend_schema(
    request=TablesSerializer, responses={201: AddedSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer}
)
@api_view(["POST"])
def add(request: Request, slug: str) -> Response:
    """Add recipes, with the answers of a rater where the text has any: JSON lines, CSV, or as they are typed.

    Many recipes, or a long text, are left to a worker: 202, with the import, whose address says how far it is.
    """
    study = study_of(request, slug, Role.MANAGER)
    asked = TablesSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    said = asked.validated_data
    kind = Rater.Kind.GOLD if said["rater"] == "gold" else Rater.Kind.JUDGE
    how = {"rater": said["rater"], "kind": kind, "example": said["example"], "replace": said["replace"]}
    data, name, tables = said["text"].encode(), str(_("tables of a program")), []
    if not exchange.is_large(len(data)):
        try:
            tables = read_tables(data, name)
        except TablesRefused as refused:
            raise serializers.ValidationError({"text": [str(refused)]}) from refused
    if not tables or len(tables) > AT_ONCE:
        file = SimpleUploadedFile(name, data)
        return started(study, exchange.start(study=study, file=file, how=how, by=user_of(request)))
    made = actions.import_tables(study=study, tables=tables, **how)
    told = {"new": made.new, "known": made.known, "said": sentences(made)}
    return Response(AddedSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(
    request=SystemSerializer, responses={201: AddedSerializer, 202: ImportDetailSerializer, 409: RefusalSerializer}
)
@api_view(["POST"])
def add_system(request: Request, slug: str) -> Response:
    """Add what a system elsewhere wrote of the tables of a study. A long text is left to a worker, as in …/add/."""
    study = study_of(request, slug, Role.MANAGER)
    asked = SystemSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    how = {name: asked.validated_data[name] for name in ("system", "replace")}
    data = asked.validated_data["text"].encode()
    if exchange.is_large(len(data)):
        file = SimpleUploadedFile(str(_("tables of a program")), data)
        return started(study, exchange.start(study=study, file=file, how=how, by=user_of(request)))
    try:
        predicted = exchange.predicted(study, data)
        made = exchange.take_in(study=study, said=predicted, **how)
    except TablesRefused as refused:
        raise serializers.ValidationError({"text": [str(refused)]}) from refused
    told = {"new": made.new, "known": made.known, "said": sentences(made, predicted)}
    return Response(AddedSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(request=SystemNameSerializer, responses={200: RemovedAnswersSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def remove_system(request: Request, slug: str) -> Response:
    """Remove a system whose answers came in files, with all of them: to bring them back, add them again."""
    study = study_of(request, slug, Role.MANAGER)
    asked = SystemNameSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    n = actions.remove_system(study=study, code=asked.validated_data["system"], by=user_of(request))
    return Response(RemovedAnswersSerializer({"removed": n}).data)


@extend_schema(
    parameters=[AskedFileSerializer],
    responses={(200, kind.partition(";")[0]): OpenApiResponse(bytes) for kind, _ending in exporting.TYPES.values()},
)
@api_view(["GET"])
def export(request: Request, slug: str) -> HttpResponse:
    """The tables of a study with the answers of a rater, in any form of the page. With answers it counts as a look."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = AskedFileSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    rater = asked.validated_data.pop("rater")
    wanted = Wanted(**asked.validated_data)
    try:
        content = exporting.exported(queries.tables_of(study, rater=rater), wanted)
    except TablesRefused as refused:
        raise serializers.ValidationError({"detail": [str(refused)]}) from refused
    if rater:
        note_looks(sheets=study.sheets.all(), user=user_of(request))
        doors.labels_were_read(study, user_of(request))
    note(AuditEvent.Kind.EXPORT, by=user_of(request), study=study, what="API: tables")
    return HttpResponse(content, content_type=exporting.TYPES[wanted.form][0])


@extend_schema(parameters=[AskedSplitSerializer], responses=PartsSerializer)
@api_view(["GET"])
def split(request: Request, slug: str) -> HttpResponse:
    """The recipes of a study in parts for training and testing, as lists of ids."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = AskedSplitSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    tables = queries.tables_of(study)
    try:
        made = clusters.split(tables, **asked.validated_data)
    except TablesRefused as refused:
        raise serializers.ValidationError({"detail": [str(refused)]}) from refused
    return HttpResponse(made.as_json(tables), content_type="application/json")


@extend_schema(parameters=[ExamplesSerializer], responses={(200, "text/csv"): OpenApiResponse(bytes)})
@api_view(["GET"])
def lines_apart(request: Request, slug: str) -> HttpResponse:
    """Lines on which systems are wrong beside what is right, as CSV."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = ExamplesSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    said = asked.validated_data
    systems = list(dict.fromkeys(code for code in map(str.strip, said["systems"].split(",")) if code))
    known = set(study.raters.values_list("code", flat=True))
    if unknown := [code for code in (said["truth"], *systems) if code not in known]:
        raise serializers.ValidationError(
            {"detail": [_("The study has no rater “%(rater)s”.") % {"rater": unknown[0][:60]}]}
        )
    note_looks(sheets=study.sheets.all(), user=user_of(request))
    doors.labels_were_read(study, user_of(request))
    note(AuditEvent.Kind.EXPORT, by=user_of(request), study=study, what="API: lines apart")
    tables = {code: queries.tables_of(study, rater=code) for code in systems}
    found = examples.lines(queries.tables_of(study, rater=said["truth"]), tables, which=said["which"])
    drawn = examples.drawn(found, said["n"], seed=said["seed"])
    return HttpResponse(examples.as_csv(drawn), content_type="text/csv; charset=utf-8")


class CorpusSerializer(serializers.Serializer[Any]):
    recipes = serializers.IntegerField(source="corpus.n_recipes")
    instructions = serializers.IntegerField(source="corpus.n_instructions")
    parts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="tables in each; empty where there are fewer recipes than parts",
    )
    tables = serializers.SerializerMethodField()

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, found: Statistics) -> Any:
        return TableSerializer(found.contents.tables, many=True).data


@extend_schema(parameters=[StatisticsSerializer], responses=CorpusSerializer)
@api_view(["GET"])
def statistics(request: Request, slug: str) -> Response:
    """How large the tables of a study are, and what the parts of a split have in common."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    asked = StatisticsSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    said, known = asked.validated_data, set(study.raters.values_list("code", flat=True))
    rater = said.setdefault("rater", "gold" if "gold" in known else "")
    if rater and rater not in known:
        sentence = _("The study has no rater “%(rater)s”.") % {"rater": rater[:60]}
        raise serializers.ValidationError({"rater": [sentence]})
    return Response(CorpusSerializer(statistics_of(study, **said)).data)
