"""The lens, its decisions and the history over HTTP, for programs: the same reads and actions as the pages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import (
    cell_named,
    check_named,
    dotted_parameters,
    in_pages,
    note_export,
    question_lookup,
    sheet_of,
    user_of,
)
from annotation.api.serializers import MAX_ID, PageFilterSerializer, PageSerializer, RefusalSerializer
from annotation.labels import history
from annotation.lens import lens
from annotation.lens.lens import Kind, Lens, LensCell
from annotation.models import Decision, Option, Role, Sheet
from annotation.people.access import sheet_for

READERS = (Role.MANAGER, Role.RESEARCHER)


class CountSerializer(serializers.Serializer[Any]):
    section = serializers.CharField()
    question = serializers.CharField()
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=gettext_lazy("Cells in all and of each kind; “judge:<code>” counts where that judge differs."),
    )


class LensCellSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField()
    column = serializers.IntegerField()
    section = serializers.CharField()
    question = serializers.CharField()
    people = serializers.DictField(
        child=serializers.CharField(),
        help_text=gettext_lazy("Code of a rater → key of an option; of a value, a colon and its JSON."),
    )
    judges = serializers.DictField(child=serializers.CharField(), help_text=gettext_lazy("As of people."))
    gold = serializers.CharField(allow_null=True, help_text=gettext_lazy("As what people say."))
    kinds = serializers.ListField(child=serializers.ChoiceField(list(Kind)))
    warnings = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text=gettext_lazy("Code of a rater → what the scheme warns of in the answer."),
    )
    drafts = serializers.ListField(
        child=serializers.CharField(), help_text=gettext_lazy("Codes of raters whose answer is a draft that waits.")
    )


class LensSerializer(serializers.Serializer[Any]):
    sheet = serializers.IntegerField()
    title = serializers.CharField()
    counts = CountSerializer(many=True)
    cells = LensCellSerializer(many=True)


class LensFilterSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(list(Kind), required=False)
    judge = serializers.CharField(
        required=False, help_text=gettext_lazy("With the kind “judge”: where this one differs.")
    )
    rater = serializers.CharField(
        required=False,
        help_text=gettext_lazy("Rows that this rater has; with the kinds “warned” and “draft” this rater's own cells."),
    )
    question = serializers.CharField(required=False, help_text=gettext_lazy("Key of a question, or section.question."))
    undecided = serializers.BooleanField(required=False, default=False)


_FACET = dotted_parameters(
    {"facet.<facet>": gettext_lazy("A word of that facet of rows, - for none. Hidden facets too.")}
)


@extend_schema(parameters=[LensFilterSerializer, _FACET], responses=LensSerializer)
@api_view(["GET"])
def lens_of_sheet(request: Request, pk: int) -> Response:
    """What every rater says of each cell of a sheet, and in what way they differ. The look is recorded."""
    sheet = sheet_for(user_of(request), pk, *READERS)
    chosen = LensFilterSerializer(data=request.query_params)
    chosen.is_valid(raise_exception=True)
    check_named(sheet.study, chosen.validated_data)
    facets = _chosen_facets(request, sheet)
    actions.note_look(sheet=sheet, user=user_of(request))
    note_export(request, sheet.study, "lens")
    whole = lens.of_sheet(sheet)
    cells = []
    for table in whole.tables:
        for line in table.lines:
            if not _is_wanted_row(whole, line.row.pk, facets, chosen.validated_data.get("rater")):
                continue
            names = {line.question.key, f"{table.section.key}.{line.question.key}"}
            if chosen.validated_data.get("question", line.question.key) in names:
                cells += [
                    {
                        "row": cell.row_id,
                        "column": cell.column_id,
                        "section": table.section.key,
                        "question": line.question.key,
                        "people": {said.code: said.answer.code for said in cell.people if said.answer},
                        "judges": {said.code: said.answer.code for said in cell.judges if said.answer},
                        "gold": cell.gold.code if cell.gold else None,
                        "kinds": cell.kinds,
                        "warnings": {said.code: said.warned for said in (*cell.people, *cell.judges) if said.warned},
                        "drafts": cell.drafts,
                    }
                    for cell in line.cells
                    if _is_wanted(cell, chosen.validated_data)
                ]
    counts = [
        {"section": table.section.key, "question": question.key, "counts": of} for table, question, of in whole.counts()
    ]
    return Response({"sheet": sheet.pk, "title": sheet.title, "counts": counts, "cells": cells})


def _chosen_facets(request: Request, sheet: Sheet) -> dict[str, str]:
    """{key: word}. Raises ValidationError for a facet that the scheme's rows have not."""
    known = {f"facet.{facet.key}" for facet in sheet.study.scheme.parsed.row.facets}
    asked = {name: word for name, word in request.query_params.items() if name.startswith("facet.")}
    if unknown := [name for name in asked if name not in known]:
        sentence = _("No rows can be chosen by a facet “%(facet)s”.") % {
            "facet": unknown[0].removeprefix("facet.")[:60]
        }
        raise serializers.ValidationError({unknown[0]: [sentence]})
    return {name.removeprefix("facet."): "" if word == "-" else str(word) for name, word in asked.items()}


def _is_wanted_row(whole: Lens, row_id: int, facets: dict[str, str], rater: str | None) -> bool:
    of_row = whole.facets[row_id]
    return (rater is None or rater in whole.raters_of[row_id]) and all(
        of_row.get(facet, "") == word for facet, word in facets.items()
    )


def _is_wanted(cell: LensCell, chosen: dict[str, Any]) -> bool:
    if not cell.asked or (chosen["undecided"] and cell.gold is not None):
        return False
    if "judge" in chosen and chosen["judge"] not in cell.differing_judges:
        return False
    own = {Kind.WARNED: cell.warned, Kind.DRAFT: cell.drafts}
    if "rater" in chosen and chosen.get("kind") in own:
        return chosen["rater"] in own[Kind(chosen["kind"])]
    return "kind" not in chosen or chosen["kind"] in cell.kinds


# --- decisions ------------------------------------------------------------------------------------------------------


class DecisionSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(source="assignment.row_id")
    column = serializers.IntegerField(source="column_id")
    section = serializers.CharField(source="question.section.key")
    question = serializers.CharField(source="question.key")
    option = serializers.CharField(
        source="option.key", default=None, allow_null=True, help_text=gettext_lazy("Null: it was taken back.")
    )
    value = serializers.JSONField(
        allow_null=True, help_text=gettext_lazy("What was decided, where answers are values and no options.")
    )
    reason = serializers.CharField()
    seen = serializers.DictField(
        child=serializers.CharField(),
        help_text=gettext_lazy(
            "What each rater said then: code of a rater → key of an option; of a value, a colon and its JSON."
        ),
    )
    by = serializers.CharField(source="by.username")
    at = serializers.DateTimeField()


class DecidingSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    column = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    question = serializers.SlugField(
        max_length=60, help_text=gettext_lazy("Key of a question of the column's section.")
    )
    option = serializers.SlugField(
        required=False,
        max_length=60,
        allow_null=True,
        help_text=gettext_lazy("Key of an option; null takes the decision back."),
    )
    value = serializers.JSONField(
        required=False,
        allow_null=True,
        help_text=gettext_lazy("Instead of an option, where answers are values; null takes the decision back."),
    )
    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "option" not in asked and "value" not in asked:
            raise serializers.ValidationError({"option": [self.fields["option"].error_messages["required"]]})
        return {"option": None, "value": None, **asked}


@extend_schema(methods=["GET"], responses=DecisionSerializer(many=True))
@extend_schema(
    methods=["POST"], request=DecidingSerializer, responses={201: DecisionSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def decisions(request: Request, pk: int) -> Response:
    """All decisions about a sheet, the last one first (GET); as a manager, decide a cell (POST)."""
    if request.method == "GET":
        sheet = sheet_for(user_of(request), pk, *READERS)
        actions.note_look(sheet=sheet, user=user_of(request))
        made = Decision.objects.filter(assignment__row__sheet=sheet)
        with_names = made.select_related("assignment", "question__section", "option", "by")
        return Response(DecisionSerializer(with_names, many=True).data)
    sheet = sheet_of(request, pk)
    deciding = DecidingSerializer(data=request.data)
    deciding.is_valid(raise_exception=True)
    decision = actions.adjudicate(**_resolved(sheet, deciding.validated_data), by=user_of(request))
    return Response(DecisionSerializer(decision).data, status=status.HTTP_201_CREATED)


def _resolved(sheet: Sheet, asked: dict[str, Any]) -> dict[str, Any]:
    """Keys and numbers of a request as rows of the database; raises ValidationError by field."""

    def missing(field: str, sentence: str) -> serializers.ValidationError:
        return serializers.ValidationError({field: [sentence]})

    row = sheet.rows.filter(pk=asked["row"]).select_related("sheet__study__scheme").first()
    if row is None:
        raise missing("row", _("This sheet has no row %(number)s.") % {"number": asked["row"]})
    column, question = cell_named(sheet, asked)
    option = Option.objects.filter(question=question, key=asked["option"]).first() if asked["option"] else None
    if asked["option"] and option is None:
        words = {"option": asked["option"], "question": question.title}
        raise missing("option", _("“%(option)s” is no answer to “%(question)s”.") % words)
    return {
        "row": row,
        "column": column,
        "question": question,
        "option": option,
        "value": asked["value"],
        "reason": asked["reason"],
    }


# --- history --------------------------------------------------------------------------------------------------------


class ChangeOfCellSerializer(serializers.Serializer[Any]):
    """From what to what."""

    rater = serializers.CharField(source="assignment.rater.code")
    row = serializers.IntegerField(source="assignment.row_id")
    row_name = serializers.CharField(source="assignment.row.name")
    repeat = serializers.IntegerField(source="assignment.repeat")
    column = serializers.IntegerField(source="column_id")
    column_name = serializers.CharField(source="column.name")
    section = serializers.CharField(source="question.section.key")
    question = serializers.CharField(source="question.key")
    before = serializers.CharField(source="before.key", default=None, allow_null=True)
    after = serializers.CharField(source="after.key", default=None, allow_null=True)
    value_before = serializers.JSONField(
        allow_null=True, help_text=gettext_lazy("The answer before, where it was a value and no option.")
    )
    value_after = serializers.JSONField(allow_null=True)
    skip_before = serializers.CharField(help_text=gettext_lazy("Reason of a skip; empty means none."))
    skip_after = serializers.CharField()
    note = serializers.CharField()


class EventSerializer(ChangeOfCellSerializer):
    at = serializers.DateTimeField()
    preset = serializers.BooleanField()
    by = serializers.CharField(
        source="by.username",
        default=None,
        allow_null=True,
        help_text=gettext_lazy("Who changed it, where that was somebody other than the rater."),
    )
    restored_to = serializers.DateTimeField(allow_null=True)
    drafted_from = serializers.CharField(
        source="drafted_from.code",
        default=None,
        allow_null=True,
        help_text=gettext_lazy("The rater whose answer it began as, where it began as a draft."),
    )
    confirmed_at = serializers.DateTimeField(allow_null=True, help_text=gettext_lazy("Null: a draft that waits."))


class EventPageSerializer(PageSerializer):
    results = EventSerializer(many=True)


class EventFilterSerializer(PageFilterSerializer):
    rater = serializers.CharField(required=False, help_text=gettext_lazy("Code of a rater."))
    row = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    column = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    question = serializers.CharField(required=False, help_text=gettext_lazy("Key of a question, or section.question."))


@extend_schema(parameters=[EventFilterSerializer], responses=EventPageSerializer)
@api_view(["GET"])
def history_of_sheet(request: Request, pk: int) -> Response:
    """Who changed which label of a sheet from what to what, the last change first. The look is recorded."""
    sheet = sheet_for(user_of(request), pk, *READERS)
    chosen = EventFilterSerializer(data=request.query_params)
    chosen.is_valid(raise_exception=True)
    check_named(sheet.study, chosen.validated_data, sheet=sheet)
    actions.note_look(sheet=sheet, user=user_of(request))
    note_export(request, sheet.study, "history")
    named = {"rater": "assignment__rater__code", "row": "assignment__row", "column": "column"}
    wanted = {lookup: chosen.validated_data[name] for name, lookup in named.items() if name in chosen.validated_data}
    if "question" in chosen.validated_data:
        wanted |= question_lookup(chosen.validated_data["question"], "question__")
    return in_pages(request, history.events(sheet).filter(**wanted), EventSerializer)
