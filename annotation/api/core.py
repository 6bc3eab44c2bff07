"""The core over HTTP for programs: a second door to the same reads and actions as the pages.

Everything is limited to studies in which the user has a role; the others, as on the pages, do not exist.
Lists are short and come whole; only labels come in pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from annotation import actions, doors, queries
from annotation.actions import Answer
from annotation.answers import AnswerRefused, Value, kind_of
from annotation.answers.codes import VALUE
from annotation.api.serializers import (
    MAX_LABELS_A_PAGE,
    AssignmentSerializer,
    ChangeSerializer,
    LabelFilterSerializer,
    LabelPageSerializer,
    LabelSerializer,
    PageFilterSerializer,
    RaterSerializer,
    RecordedSerializer,
    RefusalSerializer,
    RowDetailSerializer,
    SheetDetailSerializer,
    SheetSerializer,
    SkipPageSerializer,
    SkipSerializer,
    StudyDetailSerializer,
    StudySerializer,
    SubmitSerializer,
    ToDrawSerializer,
)
from annotation.models import (
    Assignment,
    Column,
    Label,
    Membership,
    Option,
    Question,
    Rater,
    Role,
    Row,
    Sheet,
    Skip,
    Study,
    User,
)
from annotation.people.access import READERS, check_role, refuse_archived, sheet_for
from base.sentences import gettext_noop

_OF_DJANGO = "matches the given query."  # which names a class of ours


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """An action's `Refused` is a 409 with its sentence: the state of things forbids what was asked. A 404 says
    what is not there where that was said, else that there is nothing."""
    if isinstance(error, actions.Refused):
        return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
    if isinstance(error, Http404) and (not str(error) or str(error).endswith(_OF_DJANGO)):
        error = NotFound(_("There is nothing at this address, or not for you."))
    return exception_handler(error, context)


class LabelPagination(LimitOffsetPagination):
    default_limit = 100
    max_limit = MAX_LABELS_A_PAGE


def in_pages(
    request: Request,
    found: QuerySet[Any],
    serializer: type[serializers.Serializer[Any]],
    read: Callable[[Sequence[Any]], Sequence[Any]] = lambda part: part,
) -> Response:
    """A part of a long list, as `read` has it. Raises ValidationError for a limit or an offset that is none."""
    PageFilterSerializer(data=request.query_params).is_valid(raise_exception=True)
    pages = LabelPagination()
    part = pages.paginate_queryset(found, request)
    return pages.get_paginated_response(serializer(read(part or ()), many=True).data)


def note_export(request: Request, study: Study, what: str) -> None:
    """Write down that a program takes a list along: once for its pages that are asked for one after the other."""
    more = LabelPagination().get_offset(request) > 0
    actions.note_export(by=user_of(request), study=study, what=f"API: {what}", more=more)


def user_of(request: Request) -> User:
    assert isinstance(request.user, User)  # the default permission lets nobody else in
    return request.user


def not_valid(form: BaseForm, **called: str) -> serializers.ValidationError:
    """What a page's form says of what was sent, by the names of its fields; what is of none of them has a name of its
    own. `called`: what a field of the form is called here, where that is otherwise."""
    called = {NON_FIELD_ERRORS: str(api_settings.NON_FIELD_ERRORS_KEY), **called}
    told: dict[str, list[str]] = {}
    for field, said in form.errors.items():
        told.setdefault(called.get(field, field), []).extend(map(str, said))
    return serializers.ValidationError(told)


def dotted_parameters(said: Mapping[str, Any]) -> OpenApiParameter:
    """Those of a query that have a key of the study in their names, such as `facet.<facet>`, in the schema: an object
    whose parts are parameters of the query. By a name of its own a generated client would send that name itself.

    Args:
        said: what each takes, by its name.
    """
    lines = [format_lazy("`{}`: {}", name, of) for name, of in said.items()]
    return OpenApiParameter(
        "dotted",
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        style="form",
        explode=True,
        description=format_lazy("\n\n".join("{}" for _line in lines), *lines),
    )


def as_posted(said: Mapping[str, Any]) -> QueryDict:
    """What was sent as a page's form has it."""
    data = QueryDict(mutable=True)
    for name, value in said.items():
        data.setlist(name, list(map(str, value)) if isinstance(value, list) else [str(value)])
    return data


def numbers_of(study: Study, raters: QuerySet[Rater], codes: Iterable[str], field: str) -> list[int]:
    """Those of `raters`, people of the study, by their codes, which were sent under the name of a field. Raises
    ValidationError for a code that is none of theirs."""
    known = dict(raters.order_by().values_list("code", "pk"))
    numbers = []
    for code in codes:
        if code not in known:
            other = study.raters.filter(code=code).first()
            if other is None:
                sentence = _("The study has no rater “%(rater)s”.")
            elif other.kind == Rater.Kind.JUDGE:
                sentence = _("“%(rater)s” is a judge: only people can be named here. Judges get rows by a plan.")
            else:
                sentence = _("“%(rater)s” is in the study, but cannot be chosen here as things stand.")
            raise serializers.ValidationError({field: [sentence % {"rater": code[:60]}]})
        numbers.append(known[code])
    return numbers


def check_named(study: Study, chosen: Mapping[str, Any], *, sheet: Sheet | None = None) -> None:
    """What the filters of a list name is there: a rater, a judge, a question and a sheet of the study; a row and a
    column of `sheet`. Raises ValidationError by field."""
    told: dict[str, list[str]] = {}
    for field in ("rater", "judge"):
        if field in chosen:
            numbers_of(study, study.raters.all(), [chosen[field]], field)
    asked = Question.objects.filter(section__scheme=study.scheme_id)
    if "question" in chosen and not asked.filter(**question_lookup(chosen["question"])).exists():
        told["question"] = [_("The study has no question “%(key)s”.") % {"key": chosen["question"][:120]}]
    if "sheet" in chosen and not study.sheets.filter(pk=chosen["sheet"]).exists():
        told["sheet"] = [_("The study has no sheet %(number)s.") % {"number": chosen["sheet"]}]
    if "column" in chosen and not Column.objects.filter(sheet=sheet, pk=chosen["column"]).exists():
        told["column"] = [_("This sheet has no column %(number)s.") % {"number": chosen["column"]}]
    if "row" in chosen and not Row.objects.filter(sheet=sheet, pk=chosen["row"]).exists():
        told["row"] = [_("This sheet has no row %(number)s.") % {"number": chosen["row"]}]
    if told:
        raise serializers.ValidationError(told)


def question_lookup(said: str, before: str = "") -> dict[str, str]:
    """The lookups of a question by its key, or by section.question. `before`: the way there, such as `question__`."""
    section, dot, key = said.rpartition(".")
    return {f"{before}key": key} | ({f"{before}section__key": section} if dot else {})


def sent_to_draw(request: Request, serializer: type[ToDrawSerializer]) -> tuple[dict[str, Any], str | None]:
    """What was sent, and apart from it the digest of what was shown."""
    sent = serializer(data=request.data)
    sent.is_valid(raise_exception=True)
    said = dict(sent.validated_data)
    return said, said.pop("digest", None)


def study_of(request: Request, slug: str, *allowed: Role, archived: bool = False) -> Study:
    """The study, for members with one of the roles (none named: any role). `archived`: what is asked for is done in an
    archived study too, as `for_roles` has it for pages.

    Raises:
        Http404: the user has no role in it.
        PermissionDenied: none of those that are `allowed`; the study is archived, and this would change something.
    """
    study = get_object_or_404(Study.objects.select_related("scheme"), slug=slug)
    check_role(user_of(request), study, *(allowed or Role))
    if not archived:
        refuse_archived(study, request.method)
    return study


def sheet_of(request: Request, pk: int) -> Sheet:
    """A sheet for a manager, who may change it.

    Raises:
        Http404: the user has no role in its study.
        PermissionDenied: they do not manage it; it is archived, and this would change something.
    """
    sheet = sheet_for(user_of(request), pk, Role.MANAGER)
    refuse_archived(sheet.study, request.method)
    return sheet


def told_of_sheet(sheet: Sheet, serializer: type[SheetSerializer] = SheetSerializer) -> Response:
    """A sheet as the list of sheets has it."""
    return Response(serializer(queries.sheets_with_counts(sheet.study).get(pk=sheet.pk)).data)


def cell_named(sheet: Sheet, asked: Mapping[str, Any]) -> tuple[Column, Question]:
    """By the number of its `column` and the key of its `question`; raises ValidationError by field."""
    column = sheet.columns.select_related("section").filter(pk=asked["column"]).first()
    if column is None:
        sentence = _("This sheet has no column %(number)s.") % {"number": asked["column"]}
        raise serializers.ValidationError({"column": [sentence]})
    question = Question.objects.filter(section=column.section_id, key=asked["question"]).first()
    if question is None:
        sentence = _("Its section has no question “%(key)s”.") % {"key": asked["question"]}
        raise serializers.ValidationError({"question": [sentence]})
    return column, question


def refuse_before_first_page(request: Request, study: Study) -> None:
    """Raises Refused: who asks has not agreed to take part in the study, or not told what it asks about them."""
    actions.refuse_before_first_page(study=study, user=user_of(request))


def my_assignment(request: Request, pk: int) -> Assignment:
    mine = Assignment.objects.of_user(user_of(request)).select_related("row__sheet__study")
    return get_object_or_404(mine, pk=pk)


# --- studies, sheets, rows ------------------------------------------------------------------------------------------


def studies_of(user: User) -> Response:
    roles: dict[int, list[str]] = {}
    for study_id, role in Membership.objects.filter(user=user).order_by("role").values_list("study_id", "role"):
        roles.setdefault(study_id, []).append(role)
    mine = Study.objects.visible_to(user).filter(archived_at=None).select_related("scheme")
    return Response(
        StudySerializer(
            [_in_short(study, sorted(Role) if user.is_superuser else roles[study.pk]) for study in mine], many=True
        ).data
    )


@extend_schema(responses=StudyDetailSerializer)
@api_view(["GET"])
def study(request: Request, slug: str) -> Response:
    """A study: your roles, how large it is, and all that its scheme asks."""
    return in_full(user_of(request), study_of(request, slug))


@extend_schema(request=None, responses={200: StudyDetailSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def archive(request: Request, slug: str) -> Response:
    """Put a study by: it leaves the lists, its sheets are closed, and nothing is changed in it. Refused while something
    is at work in it."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    return in_full(user_of(request), actions.archive_study(study=study, by=user_of(request)))


@extend_schema(request=None, responses=StudyDetailSerializer)
@api_view(["POST"])
def bring_back(request: Request, slug: str) -> Response:
    """Bring an archived study back; the sheets that were closed with it are open again."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    return in_full(user_of(request), actions.unarchive_study(study=study, by=user_of(request)))


def in_full(user: User, study: Study) -> Response:
    counts = {
        "sheets": study.sheets.count(),
        "rows": Row.objects.filter(sheet__study=study, withdrawn_at=None).count(),
        "columns": Column.objects.filter(sheet__study=study).count(),
        "raters": study.raters.count(),
    }
    roles = sorted(queries.roles(user, study))
    of_rows = study.scheme.parsed.row
    whole = {
        **_in_short(study, roles),
        "guideline": study.guideline,
        "contact": study.contact,
        "contact_address": study.contact_address,
        "counts": counts,
        "archived_at": study.archived_at,
        "row_facets": of_rows.facets if hidden(set(roles))["hidden"] else of_rows.shown,
    }
    return Response(StudyDetailSerializer(whole).data)


def _in_short(study: Study, roles: list[Any]) -> dict[str, Any]:
    return {"slug": study.slug, "title": study.title, "scheme": study.scheme, "roles": roles}


@extend_schema(responses=SheetSerializer(many=True))
@api_view(["GET"])
def sheets(request: Request, slug: str) -> Response:
    """The sheets of a study, with the numbers of their rows and columns."""
    return Response(SheetSerializer(queries.sheets_with_counts(study_of(request, slug)), many=True).data)


@extend_schema(responses={200: SheetDetailSerializer, 409: RefusalSerializer})
@api_view(["GET"])
def sheet(request: Request, pk: int) -> Response:
    """A sheet: its columns with their facets, and its rows without their evidence. Refused to who only labels before
    they have agreed to take part, where the study asks for it."""
    rows_and_columns = Sheet.objects.select_related("study__scheme").prefetch_related("columns__section")
    sheet = get_object_or_404(rows_and_columns, pk=pk)
    roles = _check_reader(request, sheet.study)
    rows = sheet.rows.defer("evidence").order_by("position")
    content = {"id": sheet.pk, "study": sheet.study, "title": sheet.title, "columns": sheet.columns.all(), "rows": rows}
    return Response(SheetDetailSerializer(content, context=hidden(roles)).data)


@extend_schema(responses={200: RowDetailSerializer, 409: RefusalSerializer})
@api_view(["GET"])
def row(request: Request, pk: int) -> Response:
    """A row with its evidence: the text that people read and judges are prompted with. Refused as a sheet is."""
    row = get_object_or_404(Row.objects.select_related("sheet__study__scheme"), pk=pk)
    roles = _check_reader(request, row.sheet.study)
    return Response(RowDetailSerializer(row, context=hidden(roles)).data)


def _check_reader(request: Request, study: Study) -> set[Role]:
    """The roles of who reads what is labelled. Raises as `check_role`, and Refused as `refuse_before_first_page` for
    who only labels."""
    roles = check_role(user_of(request), study, *Role)
    if not roles & READERS:
        refuse_before_first_page(request, study)
    return roles


def hidden(roles: set[Role]) -> dict[str, Any]:
    """Whether who asks may see what no rater is shown of a row: facets, and why it is withdrawn."""
    return {"hidden": bool(roles & READERS)}


# --- raters and labels: for those who may see everybody's -----------------------------------------------------------


@extend_schema(responses=RaterSerializer(many=True))
@api_view(["GET"])
def raters(request: Request, slug: str) -> Response:
    """The raters of a study by their codes, people first, and how far each is."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    return Response(RaterSerializer(queries.rater_progress(study), many=True).data)


@extend_schema(parameters=[LabelFilterSerializer], responses=LabelPageSerializer)
@api_view(["GET"])
def labels(request: Request, slug: str) -> Response:
    """All labels of a study in long form, in the order in which they were first given. Seven queries a page.

    If you label in this study too, that is recorded as a look at the sheets that the page has labels of.
    """
    return _of_everybody(request, slug, _long_form(Label.objects.all()), LabelSerializer, what="labels")


@extend_schema(parameters=[LabelFilterSerializer], responses=SkipPageSerializer)
@api_view(["GET"])
def skips(request: Request, slug: str) -> Response:
    """All cells of a study whose raters cannot tell, with their reasons. Recorded as labels are."""
    return _of_everybody(request, slug, _long_form(Skip.objects.all()), SkipSerializer, what="skips")


def _of_everybody(
    request: Request, slug: str, found: QuerySet[Any], serializer: type[serializers.Serializer[Any]], *, what: str
) -> Response:
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    chosen = LabelFilterSerializer(data=request.query_params)
    chosen.is_valid(raise_exception=True)
    check_named(study, chosen.validated_data)
    found = found.filter(assignment__rater__study=study).exclude(queries.arriving("assignment"))
    if "sheet" in chosen.validated_data:
        found = found.filter(column__sheet=chosen.validated_data["sheet"])
    if "rater" in chosen.validated_data:
        found = found.filter(assignment__rater__code=chosen.validated_data["rater"])
    if "question" in chosen.validated_data:
        found = found.filter(**question_lookup(chosen.validated_data["question"], "question__"))
    note_export(request, study, what)
    pages = LabelPagination()
    page = pages.paginate_queryset(found, request)
    if study.raters.filter(user=user_of(request)).exists():
        for sheet in study.sheets.filter(pk__in={cell.column.sheet_id for cell in page or ()}):
            actions.note_look(sheet=sheet, user=user_of(request))
    doors.labels_were_read(study, user_of(request))
    return pages.get_paginated_response(serializer(page, many=True).data)


def _long_form(cells: QuerySet[Any]) -> QuerySet[Any]:
    """Labels or skips with all that is said of them."""
    answer = ("option", "drafted_from") if cells.model is Label else ()
    return (
        cells.select_related("assignment__rater", "assignment__row__sheet", "column", "question__section", *answer)
        .defer("assignment__row__evidence")
        .order_by("pk")
    )


# --- my own work ----------------------------------------------------------------------------------------------------


@extend_schema(responses=AssignmentSerializer(many=True))
@api_view(["GET"])
def my_assignments(request: Request) -> Response:
    """The rows that you are to label, in all your studies."""
    mine = Assignment.objects.of_user(user_of(request)).select_related("row__sheet__study").defer("row__evidence")
    ordered = mine.order_by("row__sheet__study__title", "row__sheet__position", "row__position", "repeat")
    return Response(AssignmentSerializer(ordered, many=True).data)


@extend_schema(methods=["GET"], responses=LabelSerializer(many=True))
@extend_schema(methods=["POST"], request=ChangeSerializer, responses={200: RecordedSerializer, 409: RefusalSerializer})
@api_view(["GET", "POST"])
def assignment_labels(request: Request, pk: int) -> Response:
    """Your labels of one row (GET); answer cells of it or clear them, all or none (POST)."""
    assignment = my_assignment(request, pk)
    if request.method == "GET":
        return Response(LabelSerializer(_long_form(assignment.labels.all()), many=True).data)
    refuse_before_first_page(request, assignment.row.sheet.study)
    change = ChangeSerializer(data=request.data)
    change.is_valid(raise_exception=True)
    key, asked_for = change.validated_data["key"], change.validated_data["answers"]
    answers = _resolved(assignment, asked_for)
    actions.record(assignment=assignment, answers=answers, key=key)
    assignment.refresh_from_db(fields=["state"])
    columns = list({answer.column.pk: answer.column for answer in answers}.values())
    return Response(
        RecordedSerializer({"key": key, "state": assignment.state, "cells": _cells(assignment, columns)}).data
    )


@extend_schema(responses=SkipSerializer(many=True))
@api_view(["GET"])
def assignment_skips(request: Request, pk: int) -> Response:
    """The cells of one of your rows that you have skipped, with your reasons."""
    assignment = my_assignment(request, pk)
    return Response(SkipSerializer(_long_form(assignment.skips.all()), many=True).data)


def _resolved(assignment: Assignment, asked_for: list[dict[str, Any]]) -> list[Answer]:
    """Keys and numbers of a request as rows of the database, in the order of the scheme. Three queries.

    An answer may switch on a question that another answer is about, so the order of the request does not count.

    Raises:
        ValidationError: a column, question or option that is not there; tells which, by the place of the answer.
    """
    columns = assignment.row.sheet.columns.in_bulk([answer["column"] for answer in asked_for])
    questions = {
        (question.section_id, question.key): question
        for question in Question.objects.filter(
            section__in={column.section_id for column in columns.values()}
        ).select_related("section")
    }
    options = {
        (option.question_id, option.key): option
        for option in Option.objects.filter(question__in=[question.pk for question in questions.values()])
    }
    answers: list[Answer] = []
    problems: dict[str, dict[str, list[str]]] = {}
    for place, asked in enumerate(asked_for):
        column = columns.get(asked["column"])
        question = questions.get((column.section_id, asked["question"])) if column else None
        option = options.get((question.pk, asked["option"])) if question and asked["option"] is not None else None
        problem: dict[str, list[str]] = {}
        if column is None:
            problem = {"column": [_("This sheet has no column %(number)s.") % {"number": asked["column"]}]}
        elif question is None:
            problem = {"question": [_("Its section has no question “%(key)s”.") % {"key": asked["question"]}]}
        elif option is None and asked["option"] is not None:
            sentence = _("“%(option)s” is no answer to “%(question)s”.")
            problem = {"option": [sentence % {"option": asked["option"], "question": question.title}]}
        else:
            try:
                value = None if asked["value"] is None else _canonical(assignment, question, asked["value"])
            except AnswerRefused as refused:
                problem = {"value": [str(refused)]}
            else:
                note, skip = asked["note"], asked["skip"]
                answers.append(Answer(column, question, option, note=note, skip=skip, value=value))
        if problem:
            problems[str(place)] = problem
    if problems:
        raise serializers.ValidationError({"answers": problems})
    return sorted(answers, key=lambda answer: (answer.column.pk, answer.question.position))


def _canonical(assignment: Assignment, question: Question, value: Any) -> Value:
    """Raises AnswerRefused for what is no answer to the question, and where it is answered by options."""
    spec = assignment.row.sheet.study.scheme.parsed.section(question.section.key).question(question.key)
    if spec.has_options:
        raise AnswerRefused(gettext_noop("“%(question)s” is answered by one of its options."), question=question.title)
    return kind_of(spec).canonical(spec, value)


def _cells(assignment: Assignment, columns: list[Column]) -> list[dict[str, Any]]:
    cells = queries.cells_of_columns(assignment, columns)
    keys = dict(Question.objects.filter(pk__in={cell.question_id for cell in cells}).values_list("pk", "key"))
    return [
        {
            "column_id": cell.column_id,
            "question": keys[cell.question_id],
            "option": cell.option.key if cell.option else None,
            "value": json.loads(cell.code[1:]) if cell.code.startswith(VALUE) else None,
            "asked": cell.asked,
            "skip": cell.skip,
        }
        for cell in cells
    ]


@extend_schema(request=SubmitSerializer, responses={200: AssignmentSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def submit(request: Request, pk: int) -> Response:
    """Close your work on a row. Refused while cells are open, and while drafts wait that `confirm` does not confirm."""
    assignment = my_assignment(request, pk)
    refuse_before_first_page(request, assignment.row.sheet.study)
    asked = SubmitSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    actions.submit(assignment=assignment, confirm=asked.validated_data["confirm"])
    return Response(AssignmentSerializer(my_assignment(request, pk)).data)


@extend_schema(request=None, responses={200: AssignmentSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def reopen(request: Request, pk: int) -> Response:
    """Take a submission back."""
    assignment = my_assignment(request, pk)
    refuse_before_first_page(request, assignment.row.sheet.study)
    actions.reopen(assignment=assignment)
    return Response(AssignmentSerializer(my_assignment(request, pk)).data)
