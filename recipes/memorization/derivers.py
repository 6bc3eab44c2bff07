"""What becomes of recipes taken apart: their parts are looked for in documents, and examined for nonsense. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.answers import kind_of
from annotation.deriving.making import (
    Answered,
    DerivingRefused,
    MadeColumn,
    MadeRow,
    MadeSheet,
    Settings,
    Source,
    SourceRow,
    SourceSheet,
    asks_for,
)
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.scheme.spec import Kind, SchemeSpec, SectionSpec
from base.sentences import gettext as _


def parsed_recipes(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each row with answers becomes a sheet; each item of a question becomes a column of the section of that key.

    A question of the kind `items` whose key is that of a section of the new scheme gives that section's columns: the
    fields that are its facets are taken, texts of a list with commas between them. The rows of the new sheets, the
    documents, come later.
    """
    sections = {section.key: section for section in scheme.sections}
    fitting = {
        question.key
        for section in source.scheme.sections
        for question in section.questions
        if question.kind == Kind.ITEMS
        and question.items is not None
        and question.key in sections
        and set(sections[question.key].column.facets) & {field.key for field in question.items.fields}
    }
    if not fitting:
        raise DerivingRefused(
            _("No list of the one scheme has the name of a section of the other, with fields that are its facets.")
        )
    made = [
        MadeSheet(_title(sheet, row), columns)
        for sheet in source.sheets
        for row in sheet.rows
        if (columns := _columns(row, source.scheme, sections, fitting))
    ]
    if not made:
        raise DerivingRefused(_("No recipe has been taken apart yet: there is no chosen answer."))
    yield from made


def takes_recipes_apart(scheme: SchemeSpec) -> bool:
    """A study of this scheme has lists as answers, of ingredients one: of other lists a program may ask for columns."""
    return asks_for(Kind.ITEMS)(scheme) and has_parts(scheme)


def has_parts(scheme: SchemeSpec) -> bool:
    """Recipes of a study of this scheme have ingredients: as a list that is answered, or as columns."""
    keys = {section.key for section in scheme.sections}
    return "ingredients" in keys.union(question.key for one in scheme.sections for question in one.questions)


def examined_recipes(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each recipe becomes a sheet with one row, its text, and its items as columns, to be examined for nonsense.

    Of a study that took recipes apart, a row is a recipe with its text; of one that looks for their parts in documents,
    a sheet is a recipe, and its text is what its columns say.
    """
    keys = {section.key for section in scheme.sections}
    if any(
        question.kind == Kind.ITEMS and question.key in keys
        for section in source.scheme.sections
        for question in section.questions
    ):
        rows = {}
        for sheet in source.sheets:
            for row in sheet.rows:
                rows[_title(sheet, row)] = row
        for made in parsed_recipes(source, scheme, settings):
            row = rows[made.title]
            text = MadeRow(
                name=row.name,
                title=row.title or made.title,
                language=row.language,
                evidence=row.evidence,
                facets=_facets(row, scheme),
                of=row.number,
            )
            yield MadeSheet(made.title, made.columns, [text])
        return
    if not keys & {section.key for section in source.scheme.sections}:
        raise DerivingRefused(_("The one scheme has no section of the name of a section of the other."))
    for sheet in source.sheets:
        columns = [
            MadeColumn(column.section, column.facets)
            for column in sheet.columns
            if column.section in keys and any(column.facets.values())
        ]
        if columns:
            title = source.scheme.words.sheet
            yield MadeSheet(sheet.title, columns, [MadeRow(name=title, title=sheet.title, evidence=_told(columns))])


def _facets(row: SourceRow, scheme: SchemeSpec) -> dict[str, str]:
    return {key: _text(row.facets[key]) for key in scheme.row.keys if row.facets.get(key)}


def _told(columns: Sequence[MadeColumn]) -> list[Block]:
    """A recipe's text out of its parts, in their order: a paragraph each, of a task with its tool and ingredients."""
    return [Block(PARAGRAPH, " · ".join(text for text in column.facets.values() if text)) for column in columns]


def _title(sheet: SourceSheet, row: SourceRow) -> str:
    """A dish with one recipe gives its name to it."""
    return sheet.title if len(sheet.rows) == 1 else f"{sheet.title} · {row.name}"


def _columns(
    row: SourceRow, before: SchemeSpec, sections: Mapping[str, SectionSpec], fitting: set[str]
) -> list[MadeColumn]:
    columns = []
    for answer in row.answers:
        if answer.question not in fitting:
            continue
        facets = sections[answer.question].column.facets
        for record in _records(before, answer):
            described = {facet: _text(record.get(facet, "")) for facet in facets}
            if any(described.values()):
                columns.append(MadeColumn(answer.question, described, [answer]))
    return columns


def _records(scheme: SchemeSpec, answer: Answered) -> list[dict[str, Any]]:
    spec = scheme.section(answer.section).question(answer.question)
    value = kind_of(spec).value(spec, answer.code)
    assert isinstance(value, list)
    return value


def _text(field: str | list[str]) -> str:
    return field if isinstance(field, str) else ", ".join(field)
