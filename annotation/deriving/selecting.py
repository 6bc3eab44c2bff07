"""The deriver that every study has: rows with a certain answer become the rows of a new study. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotation.answers import shown_code
from annotation.deriving.making import (
    Answered,
    DerivingRefused,
    MadeColumn,
    MadeRow,
    MadeSheet,
    Setting,
    Settings,
    Source,
    SourceRow,
    SourceSheet,
)
from annotation.scheme.spec import SchemeSpec
from base.sentences import gettext as _

ANY, ALL = "any", "all"
EVERY_ROW = "every-row"  # in the place of an answer


def selected_rows(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """The rows whose answers are among those that `settings["answers"]` names, as `section.question=option`; with
    `EVERY_ROW` all rows, answered or not.

    `settings["columns"]`: whether one such answer is enough (any), or each answer to these questions is one (all).
    Columns are taken along where both schemes have a section of that key and those facets; facets of rows where the new
    scheme has them: of the row before, else the answer to the question of that key.
    """
    wanted = set(settings.get("answers", ()))
    if not wanted:
        raise DerivingRefused(_("Choose the answers whose rows become rows of the new study."))
    every = list(settings.get("columns", ())) == [ALL]
    made = [_sheet(sheet, source, scheme, wanted, every) for sheet in source.sheets]
    if not any(sheet.rows for sheet in made):
        raise DerivingRefused(_("No row has one of these answers as its chosen answer, so that none would be made."))
    return (sheet for sheet in made if sheet.rows)


def _sheet(sheet: SourceSheet, source: Source, scheme: SchemeSpec, wanted: set[str], every: bool) -> MadeSheet:
    facets_of = {section.key: section.column.facets for section in scheme.sections}
    aside_of = {section.key: section.column.aside for section in scheme.sections}
    columns = [
        MadeColumn(
            column.section,
            {
                facet: column.facets[facet]
                for facet in (*facets_of[column.section], *aside_of[column.section])
                if facet in column.facets
            },
        )
        for column in sheet.columns
        if column.section in facets_of and set(facets_of[column.section]) <= set(column.facets)
    ]
    rows = [
        MadeRow(
            name=row.name,
            title=row.title,
            url=row.url,
            language=row.language,
            evidence=row.evidence,
            facets=_facets(row, source.scheme, scheme),
            answers=answers,
            of=row.number,
        )
        for row in sheet.rows
        if (answers := _that_select(row, wanted, every)) or EVERY_ROW in wanted
    ]
    return MadeSheet(sheet.title, columns, rows)


def _that_select(row: SourceRow, wanted: set[str], every: bool) -> list[Answered]:
    """The answers for which a row is taken; none where it is not."""
    questions = {answer.partition("=")[0] for answer in wanted}
    asked = [answer for answer in row.answers if f"{answer.section}.{answer.question}" in questions]
    found = [answer for answer in asked if f"{answer.section}.{answer.question}={answer.code}" in wanted]
    return [] if every and len(found) < len(asked) else found


def _facets(row: SourceRow, before: SchemeSpec, scheme: SchemeSpec) -> Mapping[str, str]:
    said = {
        answer.question: shown_code(before.section(answer.section).question(answer.question), answer.code)
        for answer in reversed(row.answers)
    }
    known = said | {key: text for key, text in row.facets.items() if text}
    return {key: known[key] for key in scheme.row.keys if key in known}


def asks(scheme: SchemeSpec) -> Sequence[Setting]:
    answers = [
        (f"{section.key}.{question.key}={option.key}", f"{scheme.title_of(section.key, question.key)} = {option.label}")
        for section in scheme.sections
        for question in section.questions
        for option in question.options
    ]
    return (
        Setting(
            "answers",
            _("Rows with the answer"),
            [*answers, (EVERY_ROW, _("all rows, whatever was answered"))],
            several=True,
            beginnings=[
                f"{section.key}.{question.key}=:"
                for section in scheme.sections
                for question in section.questions
                if not question.options
            ],
        ),
        Setting("columns", _("Of several columns"), [(ANY, _("one has it")), (ALL, _("all have it"))]),
    )
