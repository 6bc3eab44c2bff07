"""The labels of a study as they stand, line by line: what a download of the live report has of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from django.db.models import Q, QuerySet

from annotation import doors
from annotation.answers import kind_of
from annotation.answers.codes import VALUE
from annotation.exchange import exports
from annotation.models import Assignment, Rater, Row, Sheet, Study
from reports.data.arrays import INCLUDE, Filters
from reports.hiring.models import SHORT
from reports.models import Accepted, Certificate


def sheets_in(study: Study, filters: Filters) -> QuerySet[Sheet]:
    """The sheets whose labels the filters let in."""
    return study.sheets.filter(pk__in=filters.sheets) if filters.sheets else study.sheets.all()


def header(study: Study) -> tuple[str, ...]:
    """The headings of `lines`: those of the core, and "certificate" where the study has one."""
    certificates = ("certificate",) if Certificate.objects.filter(study=study).exists() else ()
    return (*exports.label_header(study), *certificates)


def lines(study: Study, filters: Filters) -> Iterator[tuple[str, ...]]:
    """The labels that the filters let through, one by one, all repeats, as `annotation.exchange.exports` writes them,
    and under which certificate they were accepted, where the study has one.

    Six queries, read in parts; one more where a certificate is at work, where rows are filtered by what they are
    described by, and where some stand apart. What judges have seen is not told here.
    """
    titles = set(study.sheets.filter(pk__in=filters.sheets).values_list("title", flat=True))
    names = ("sheet", "row", "rater", "rater_kind", "state", "section", "question")
    sheet, row, rater, kind, state, section, question = (exports.COLUMNS.index(name) for name in names)
    left_out = _rows_left_out(study, filters)
    wanted = {Rater.Kind.PERSON.value: filters.people, Rater.Kind.JUDGE.value: filters.judges}
    stated = _stated(study) if Certificate.objects.filter(study=study).exists() else None
    counts = _counts_by_version(filters)
    of_sheets = Q(assignment__row__sheet__in=filters.sheets) if filters.sheets else Q()
    of_state = Q(assignment__state=Assignment.State.SUBMITTED) if filters.submitted_only else Q()
    for record in exports.exported_labels(study, of_sheets & of_state):
        codes = wanted.get(record[kind])
        if (
            (not codes or record[rater] in codes)
            and (not filters.sheets or record[sheet] in titles)
            and (record[sheet], record[row]) not in left_out
            and (not filters.questions or f"{record[section]}.{record[question]}" in filters.questions)
            and (not filters.submitted_only or record[state] == Assignment.State.SUBMITTED)
            and (counts is None or counts(int(record[-1])))
        ):
            yield record if stated is None else (*record, stated.get(tuple(record[at] for at in _CELL_AT), ""))


def _rows_left_out(study: Study, filters: Filters) -> set[tuple[str, str]]:
    """The rows that the filters leave out, and those that stand apart, as (sheet, name)."""
    apart = set() if filters.apart == INCLUDE else doors.rows_apart(study)
    if not (apart or filters.facets):
        return set()
    rows = Row.objects.filter(sheet__study=study).values_list("pk", "sheet__title", "name", "facets")
    return {(sheet, name) for pk, sheet, name, facets in rows if pk in apart or not filters.has_row(facets)}


def _counts_by_version(filters: Filters) -> Callable[[int], bool] | None:
    """Whether what was given by a version of the scheme counts; None where all does."""
    if filters.of_wording is None:
        return None
    since, first = filters.of_wording
    return lambda version: (version >= first) == since


_OF_CELL = ("sheet", "row", "rater", "repeat", "section", "column_number", "question", "answer")
_CELL_AT = tuple(exports.COLUMNS.index(name) for name in _OF_CELL)


def _stated(study: Study) -> dict[tuple[str, ...], str]:
    """Cell and answer, as exports name them -> the certificate under which it was accepted."""
    sections = study.scheme.parsed.sections
    specs = {(section.key, spec.key): spec for section in sections for spec in section.questions}
    cells = Accepted.objects.filter(takeover__certificate__study=study).order_by("takeover", "pk")
    found: dict[tuple[str, ...], str] = {}
    for *cell, section, number, question, code, digest, revoked in cells.values_list(
        "assignment__row__sheet__title", "assignment__row__name", "assignment__rater__code", "assignment__repeat",
        "question__section__key", "column__position", "question__key", "code", "takeover__certificate__digest",
        "takeover__certificate__revocation",
    ):  # fmt: skip
        spec = specs[section, question]
        answer = code if spec.options else kind_of(spec).written(spec, json.loads(code[len(VALUE) :]))
        key = (*map(str, cell), section, str(number + 1), question, answer)
        found[key] = certificate_word(digest[:SHORT], revoked is not None)
    return found


def certificate_word(name: str, revoked: bool) -> str:
    """What the column "certificate" says."""
    return f"{name} (revoked)" if revoked else name
