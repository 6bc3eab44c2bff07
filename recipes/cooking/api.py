"""Searches and retrievals over HTTP for programs: a second door to the same reads and actions as the pages."""

from __future__ import annotations

import io
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import in_pages, not_valid, study_of, user_of
from annotation.api.runs import RunDoor
from annotation.api.serializers import MAX_ID, PageFilterSerializer, PageSerializer, RefusalSerializer
from annotation.models import Role, Study
from annotation.people.access import note_file
from recipes.cooking import actions, downloads, exchange
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.forms import ItemsForm, SearchForm
from recipes.cooking.models import Hit
from work import queries as work
from work.api import ProgressFields, RunFields

MAX_BYTES = 32 * 2**20


class RetrievalSerializer(RunFields):
    study = serializers.SlugField(source="study.slug")
    documents = serializers.IntegerField(help_text=_("That are wanted of each engine for each query."))
    visits = serializers.IntegerField(source="n_visits", help_text=_("Engines to ask and pages to fetch."))
    visits_done = serializers.IntegerField(source="n_done")
    visits_failed = serializers.IntegerField(source="n_failed")


class ThreadSerializer(serializers.Serializer[Any]):
    sheet = serializers.IntegerField(source="search.sheet_id")
    engine = serializers.CharField(source="search.engine")
    query = serializers.CharField(source="search.query")
    documents = serializers.IntegerField()
    missing = serializers.IntegerField()


class RetrievalDetailSerializer(RetrievalSerializer):
    progress = ProgressFields()
    queries = ThreadSerializer(many=True, source="threads")
    provenance = serializers.JSONField()


class OptOutSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    said = serializers.CharField()
    where = serializers.CharField()


class HitSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    sheet = serializers.IntegerField(source="search.sheet_id")
    column = serializers.IntegerField(source="search.column_id", allow_null=True)
    engine = serializers.CharField(source="search.engine")
    query = serializers.CharField(source="search.query")
    rank = serializers.IntegerField()
    url = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(Hit.State.choices)
    reason = serializers.CharField(help_text=_("Why it is no document, in a sentence."))
    same_as = serializers.IntegerField(source="same_as_id", allow_null=True)
    row = serializers.IntegerField(source="document.row_id", default=None, allow_null=True)
    near_row = serializers.IntegerField(source="near.row_id", default=None, allow_null=True)
    resemblance = serializers.FloatField()
    opt_outs = OptOutSerializer(many=True)
    sha256 = serializers.CharField(source="fetched.sha256", default=None, allow_null=True)


class _Id(serializers.IntegerField):
    def __init__(self) -> None:
        super().__init__(min_value=1, max_value=MAX_ID)


class SearchRequestSerializer(serializers.Serializer[Any]):
    """What `search/new/` asks in the browser; with `columns`, what `search/items/` asks."""

    sheets = serializers.ListField(child=_Id(), required=False, help_text=_("By default all."))
    columns = serializers.ListField(
        child=_Id(), required=False, help_text=_("Items to search for by name, instead of sheets.")
    )
    words = serializers.CharField(default="{name} recipe", help_text=_("The query; {name} is a sheet's title."))
    engines = serializers.ListField(
        child=serializers.CharField(), required=False, help_text=_("By default all that are set up.")
    )
    documents = serializers.IntegerField(
        min_value=1, max_value=actions.MAX_DOCUMENTS, default=6, help_text=_("Of each engine for each query.")
    )
    raters = serializers.ListField(
        child=serializers.CharField(), required=False, help_text=_("Codes of those who are given the new documents.")
    )


def _whole(run: Any) -> Any:
    run.progress, run.threads = work.progress(run), queries.brought(run).threads
    return run


RETRIEVING = RunDoor(
    runs=queries.retrievals_with_counts,
    serializer=RetrievalSerializer,
    whole=_whole,
    detail=RetrievalDetailSerializer,
    cancel=actions.cancel_retrieval,
    resume=actions.resume_retrieval,
    about={
        "runs": "The retrievals of a study, the last one first.",
        "run": "A retrieval: how far it is, and what each of its queries has.",
        "cancel": "Stop a retrieval. What was fetched stays.",
        "resume": "Go on with what is left of a retrieval, failed visits included.",
    },
)


def _raters(study: Study, codes: list[str]) -> list[int]:
    known = dict(study.raters.values_list("code", "pk"))
    if unknown := [code for code in codes if code not in known]:
        sentence = _("The study has no rater “%(rater)s”.") % {"rater": unknown[0][:60]}
        raise serializers.ValidationError({"raters": [sentence]})
    return [known[code] for code in codes]


@extend_schema(
    request=SearchRequestSerializer,
    responses={201: RetrievalDetailSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
def start(request: Request, slug: str) -> Response:
    """Ask engines, and fetch what they found until each query has its documents."""
    study = study_of(request, slug, Role.MANAGER)
    asked = SearchRequestSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    given = asked.validated_data
    data = {
        "words": given["words"],
        "documents": given["documents"],
        "raters": _raters(study, given.get("raters", [])),
        "sheets": given.get("sheets") or list(study.sheets.filter(closed_at=None).values_list("pk", flat=True)),
    }
    form: SearchForm | ItemsForm
    if given.get("columns"):
        data["engines"] = given.get("engines") or queries.ready()
        form = ItemsForm(data, study=study, columns=list(queries.columns(study, given["columns"])))
    else:
        data["engines"] = given.get("engines") or [name for name, _label in queries.engines_for(study)]
        form = SearchForm(data, study=study)
    if not form.is_valid():
        raise not_valid(form)
    run = form.start(by=user_of(request))
    return RETRIEVING.answer(study, run.pk, status.HTTP_201_CREATED)


class RecordedResultSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    query = serializers.CharField(required=False, help_text=_("By default what stands beside the results."))
    engine = serializers.CharField(required=False, help_text=_("By default “recorded”."))
    sheet = serializers.CharField(
        required=False, help_text=_("Its title; by default that of the sheet whose title the query has.")
    )
    rank = serializers.IntegerField(required=False, min_value=0, help_text=_("By default the place in the list."))
    title = serializers.CharField(required=False, allow_blank=True)


class RecordedResultsSerializer(serializers.Serializer[Any]):
    """What SearXNG answers, as it is; or results each with its query."""

    query = serializers.CharField(required=False, help_text=_("Of all results that have none."))
    results = RecordedResultSerializer(many=True)


class RecordedSearchSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    sheet = serializers.IntegerField(source="sheet_id")
    engine = serializers.CharField()
    query = serializers.CharField()
    results = serializers.IntegerField(source="depth", help_text=_("How many it has."))


class RecordingSerializer(serializers.Serializer[Any]):
    searches = RecordedSearchSerializer(many=True, help_text=_("That are new."))
    known = serializers.IntegerField(help_text=_("Searches that were there already."))


@extend_schema(
    request=RecordedResultsSerializer,
    responses={201: RecordingSerializer, 409: RefusalSerializer},
)
@api_view(["POST"])
def record(request: Request, slug: str) -> Response:
    """Store results of searches that were made elsewhere, all or nothing; the next retrieval fetches them.

    The body is what the file of the page may have: CSV is taken, too.
    """
    study = study_of(request, slug, Role.MANAGER)
    # Not `body`, which is bounded as a form's: bounded here, and by what an import may have.
    most = min(MAX_BYTES, settings.PALATE_MAX_IMPORT_BYTES)
    file = io.BytesIO(request.stream.read(most + 1) if request.stream is not None else b"")
    try:
        done = exchange.take_results(study=study, file=file, name="results", by=user_of(request), max_bytes=most)
    except exchange.ResultsRefused as refused:
        raise serializers.ValidationError({"results": refused.problems}) from refused
    return Response(RecordingSerializer(done).data, status=status.HTTP_201_CREATED)


class HitPageSerializer(PageSerializer):
    results = HitSerializer(many=True)


@extend_schema(parameters=[PageFilterSerializer], responses=HitPageSerializer)
@api_view(["GET"])
def hits(request: Request, slug: str) -> Response:
    """All hits of a study's searches, with what became of each and what its page reserves."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return in_pages(request, queries.hits(study), HitSerializer)


@extend_schema(responses={(200, "text/csv"): OpenApiResponse(bytes)})
@api_view(["GET"])
def hits_csv(request: Request, slug: str) -> StreamingHttpResponse:
    """All hits of a study with their fates and opt-outs, as CSV."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return note_file(downloads.hits(study), by=user_of(request), study=study)


@extend_schema(responses={(200, "application/warc"): OpenApiResponse(bytes)})
@api_view(["GET"])
def pages_warc(request: Request, slug: str) -> StreamingHttpResponse:
    """The fetched pages of a study as they came, as one file of gzipped WARC records."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return note_file(downloads.pages(study), by=user_of(request), study=study)


class HitDecisionSerializer(serializers.Serializer[Any]):
    is_document = serializers.BooleanField(help_text=_("Whether the page has a list of ingredients and one of steps."))


@extend_schema(request=HitDecisionSerializer, responses={200: HitSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def decide(request: Request, slug: str, pk: int) -> Response:
    """Confirm or overrule what the reader said of a page."""
    study = study_of(request, slug, Role.MANAGER)
    hit = get_object_or_404(queries.hits(study), pk=pk)
    word = HitDecisionSerializer(data=request.data)
    word.is_valid(raise_exception=True)
    actions.decide(hit=hit, is_document=word.validated_data["is_document"], by=user_of(request))
    return Response(HitSerializer(queries.hits(study).get(pk=pk)).data)


@extend_schema(request=None, responses={201: RetrievalDetailSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def fetch_next(request: Request, slug: str, pk: int) -> Response:
    """Fetch the next rank in the place of a hit that was overruled after its retrieval had ended."""
    study = study_of(request, slug, Role.MANAGER)
    found = Hit.objects.select_related("search__sheet", "search__column")
    hit = get_object_or_404(found, search__sheet__study=study, pk=pk)
    run = actions.fetch_next(hit=hit, by=user_of(request))
    return RETRIEVING.answer(study, run.pk, status.HTTP_201_CREATED)
