"""What a report is over HTTP, and the filters that a query may name."""

from __future__ import annotations

from typing import Any, get_args

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from annotation.api.core import dotted_parameters, not_valid
from annotation.models import Study
from reports.contents import Contents
from reports.data.arrays import Filters
from reports.figures.base import FigureKind
from reports.forms import FiltersForm
from reports.stats.text.metrics import VARIANTS
from reports.tables import ReportTable


class HeadSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text=_("The name of this value in each row."))
    title = serializers.CharField(source="full_title")
    kind = serializers.ChoiceField(
        choices=["text", "note", "count", "share", "number"],
        help_text=_("The texts of a row name it, a note is a remark on it; a share is 0 to 1."),
    )


class TableSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text=_("Such as “duties.stated.selections”."))
    title = serializers.CharField(source="full_title")
    how = serializers.CharField(help_text=_("How to read it."))
    heads = HeadSerializer(many=True)
    rows = serializers.SerializerMethodField()

    def get_rows(self, table: ReportTable) -> list[dict[str, Any]]:
        """Values by the keys of the heads. A part of another row names that row as `part_of`."""
        rows = []
        for line, whole in zip(table.rows, table.wholes(), strict=True):
            row: dict[str, Any] = {head.key: value for head, value in zip(table.heads, line, strict=True)}
            if whole:
                row |= {table.heads[0].key: str(line[0]).strip(), "part_of": whole}
            rows.append(row)
        return rows


class FigureSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    kind = serializers.CharField(help_text=f"{', '.join(get_args(FigureKind))}.")
    title = serializers.CharField(source="full_title")
    how = serializers.CharField(help_text=_("How to read it, and what it rests on."))
    alt = serializers.CharField(help_text=_("What it shows, in words."))
    data = serializers.DictField(help_text=_("What is drawn."))  # type: ignore[assignment]


class FiltersSerializer(serializers.Serializer[Any]):
    person = serializers.ListField(child=serializers.CharField(), source="people")
    judge = serializers.ListField(child=serializers.CharField(), source="judges")
    sheet = serializers.ListField(child=serializers.IntegerField(), source="sheets")
    question = serializers.ListField(child=serializers.CharField(), source="questions")
    merge = serializers.DictField(child=serializers.CharField(), source="merges")
    normalisation = serializers.DictField(child=serializers.CharField(), source="normalisations")
    submitted = serializers.BooleanField(source="submitted_only")
    facet = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)), source="facets"
    )
    group = serializers.CharField(allow_blank=True, help_text=_("The facet of rows by which figures are told apart."))
    found = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text=_("section.question: keys of the options that count as found; the first one where it is missing."),
    )
    voice = serializers.ListField(child=serializers.CharField(), source="voices")
    exposure = serializers.CharField(help_text=_("What becomes of labels given after a look: leave_out, include."))
    apart = serializers.CharField(
        allow_blank=True,
        help_text=_(
            "What becomes of rows that were searched for by an item's name: leave_out, include; empty: none are."
        ),
    )
    seen = serializers.CharField(
        allow_blank=True,
        help_text=_("leave_out: what judges say of rows that they have seen does not count; empty: it counts."),
    )
    wording = serializers.CharField(
        allow_blank=True,
        help_text=_("Which labels count: before-N or from-N, of version N of the scheme; empty: all."),
    )
    as_of = serializers.CharField(
        allow_blank=True, help_text=_("The moment as of which the study is, in UTC; empty: as it stands.")
    )
    encoder = serializers.CharField(help_text=_("By which names of things, and texts for BERTScore, are compared."))
    threshold = serializers.ListField(child=serializers.FloatField(), source="thresholds")
    metric = serializers.ListField(
        child=serializers.CharField(), source="metrics", help_text=_("Of texts; an empty list: the usual ones.")
    )
    reference = serializers.ListField(
        child=serializers.CharField(), source="references", help_text=_("Whose texts others' are held against.")
    )
    unanswered = serializers.BooleanField()
    by = serializers.CharField(help_text=_("What intervals draw: document, sheet, or nothing."))
    draws = serializers.IntegerField(source="n_draws")
    seed = serializers.IntegerField()


class ContentsSerializer(serializers.Serializer[Any]):
    tables = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, contents: Contents) -> Any:
        return TableSerializer(contents.tables, many=True).data

    @extend_schema_field(FigureSerializer(many=True))
    def get_figures(self, contents: Contents) -> Any:
        return FigureSerializer(contents.figures, many=True).data


class TileSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    value = serializers.CharField()
    under = serializers.CharField(help_text=_("What it is of."))
    table = serializers.CharField(help_text=_("The key of the table that it rests on."))
    known = serializers.BooleanField(help_text=_("Whether the labels say it."))


class SentenceSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    table = serializers.CharField(help_text=_("The key of the table that it rests on."))
    warns = serializers.BooleanField()


class AnswersSerializer(serializers.Serializer[Any]):
    tiles = TileSerializer(many=True)
    people = SentenceSerializer(many=True, help_text=_("How well people agree."))
    judges = SentenceSerializer(many=True, help_text=_("Whether a judge may take over."))
    methods = serializers.CharField(help_text=_("A paragraph for a paper: how it was measured."))
    results = serializers.CharField(help_text=_("A paragraph for a paper: what came out."))


class ReportSerializer(ContentsSerializer):
    study = serializers.SlugField()
    title = serializers.CharField()
    scheme = serializers.SlugField()
    scheme_version = serializers.IntegerField()
    simulated_raters = serializers.ListField(
        child=serializers.CharField(), help_text=_("Codes of the raters whose labels a program made up.")
    )
    filters = FiltersSerializer(help_text=_("As they were understood; an empty list lets everything in."))
    answers = AnswersSerializer(
        allow_null=True, help_text=_("What the first page says, in words; null where nothing is labelled.")
    )


# Those that have a key of the study in their names.
DOTTED = {
    "merge.<section>.<question>": _(
        "Key of a merge of that question's options, or told_apart: it applies to people and judges. Without it "
        "the scheme decides: people all told apart, judges under its judge merge."
    ),
    "normalisation.<judge>": _(
        "By which that judge's labels are chosen anew from its stored scores: none, token, character, pmi, or the "
        "key of a calibration that was fitted for it."
    ),
    "facet.<facet>": _("A word of that facet of rows, - for none; several: repeat it. Hidden facets too."),
    "found.<section>.<question>": _(
        "Key of an option that counts as found; several: repeat it. The first one where it is missing."
    ),
}
filter_parameters = [
    OpenApiParameter("person", OpenApiTypes.STR, many=True, description=_("Code of a person; several: repeat it.")),
    OpenApiParameter("judge", OpenApiTypes.STR, many=True, description=_("Code of a judge; several: repeat it.")),
    OpenApiParameter("sheet", OpenApiTypes.INT, many=True, description=_("Id of a sheet; several: repeat it.")),
    OpenApiParameter("question", OpenApiTypes.STR, many=True, description=_("section.question; several: repeat it.")),
    dotted_parameters(DOTTED),
    OpenApiParameter(
        "encoder",
        OpenApiTypes.STR,
        description=_(
            "By which names of things in graphs, and texts for BERTScore, are compared; the first here without it."
        ),
    ),
    OpenApiParameter(
        "threshold", OpenApiTypes.FLOAT, many=True, description=_("How alike two names have to be; several: repeat it.")
    ),
    OpenApiParameter(
        "metric",
        OpenApiTypes.STR,
        many=True,
        enum=[*VARIANTS],
        description=_("Of texts; several: repeat it. Without it the usual ones."),
    ),
    OpenApiParameter(
        "reference",
        OpenApiTypes.STR,
        many=True,
        description=_(
            "Code of a rater whose texts others' are held against; several: repeat it. Without it gold, or people."
        ),
    ),
    OpenApiParameter(
        "unanswered", OpenApiTypes.BOOL, description=_("Judges' cells without a text count as empty texts.")
    ),
    OpenApiParameter("group", OpenApiTypes.STR, description=_("The facet of rows by which figures are told apart.")),
    OpenApiParameter(
        "voice",
        OpenApiTypes.STR,
        many=True,
        description=_(
            "Whose answers selections and coverage are of: people, majority, dawid_skene, abilities, or rater.CODE; "
            "repeat it."
        ),
    ),
    OpenApiParameter("submitted", OpenApiTypes.BOOL, description=_("Only submitted rows.")),
    OpenApiParameter(
        "exposure",
        OpenApiTypes.STR,
        enum=["leave_out", "include"],
        description=_("Labels given after a look at others': leave_out where it is missing."),
    ),
    OpenApiParameter(
        "apart",
        OpenApiTypes.STR,
        enum=["leave_out", "include"],
        description=_(
            "Rows that were searched for by an item's name, if there are any: leave_out where it is missing."
        ),
    ),
    OpenApiParameter(
        "seen",
        OpenApiTypes.STR,
        enum=["leave_out"],
        description=_(
            "Leaves out what judges say of rows that they were fitted to, or have as examples. Counted where it is "
            "missing."
        ),
    ),
    OpenApiParameter(
        "wording",
        OpenApiTypes.STR,
        description=_(
            "Where the wording of the scheme was changed: before-N or from-N, of labels given before its version N, "
            "or since. All where it is missing."
        ),
    ),
    OpenApiParameter(
        "as_of",
        OpenApiTypes.DATETIME,
        description=_(
            "The study as it stood at this moment, by the history of its labels. Without an offset it is a time of "
            "this site. As the study stands where it is missing."
        ),
    ),
    OpenApiParameter("by", OpenApiTypes.STR, enum=["document", "sheet"], description=_("What intervals draw.")),
    OpenApiParameter("draws", OpenApiTypes.INT, description=_("How often; 2000 where it is missing.")),
    OpenApiParameter("seed", OpenApiTypes.INT, description=_("0 where it is missing.")),
]


def asked_filters(request: Request, study: Study) -> Filters:
    form = FiltersForm(request.query_params, study=study)
    if not form.is_valid():
        raise not_valid(form)
    return form.filters()
