"""Writes of this pack: tables become sheets, and what stands in them the answers of a rater."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.answers import AnswerRefused, kind_of
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import Imported, ImportRefused
from annotation.exchange.tables import Problems, open_table
from annotation.models import Rater, Row, Sheet, Study
from recipes.cooking.vocabulary import INGREDIENT, STEP
from recipes.pizza_commonsense import splitting
from recipes.pizza_commonsense.models import SourceTable
from recipes.pizza_commonsense.records import CELLS, Table, names

SCHEME, LONG = "pizza-commonsense", "pizza-instructions"
SECTION = "steps"
ROW = "Table"
EXAMPLE, RULE = "example", "rule"
_MAX_BYTES = 1 << 30  # of what is written here for the import of labels


@dataclass(frozen=True)
class ImportedTables:
    """`new`: recipes that the study had not; `known`: those that it had; `answers`: what came of their cells."""

    new: int
    known: int
    answers: Imported | None


@transaction.atomic
def import_tables(
    *,
    study: Study,
    tables: Sequence[Table],
    rater: str = "gold",
    kind: str = Rater.Kind.GOLD,
    example: bool = False,
    replace: bool = False,
    told: Callable[[int, int], None] = lambda _done, _of: None,
) -> ImportedTables:
    """Make a sheet of each recipe that the study has not, and answers of `rater` of what stands in the cells.

    `example`: the first line of each is also answered by the rater “example”, from whom people's work can start.
    `told`: called with how many recipes are made, of how many.

    Raises:
        Refused: the study is of another scheme, or a recipe has other instructions there.
        ImportRefused: an answer can be none; with all problems. Nothing is made then.
    """
    if study.scheme.slug not in (SCHEME, LONG):
        raise Refused(_("“%(study)s” has no tables of this kind.") % {"study": study.title})
    _refuse_no_answers(study, tables)
    annotating.lock_study(study.pk)
    known = {sheet.title: sheet for sheet in study.sheets.prefetch_related("columns")}
    sheets: list[Sheet] = []
    new = 0
    for n, table in enumerate(tables):
        told(n, len(tables))
        sheet = _known(known, table)
        if sheet is None:
            sheet = _make(study, table, taken=known)
            known[sheet.title] = sheet
            new += 1
        sheets.append(sheet)
    lines = list(_answers(study, sheets, tables, rater, kind))
    if example and study.scheme.slug == SCHEME:
        lines += _examples(sheets, tables)
    answers = _import(study, lines, replace=replace) if lines else None
    return ImportedTables(new, len(tables) - new, answers)


def _refuse_no_answers(study: Study, tables: Sequence[Table]) -> None:
    """Raises ImportRefused, which names the recipes and their lines, where a cell holds what can be no answer."""
    if study.scheme.slug != SCHEME:
        return
    section = study.scheme.parsed.section(SECTION)
    found = []
    for table in tables:
        problems = Problems(f"“{table.title}”")
        for line, cell in sorted(table.cells):
            question = section.question(cell)
            try:
                if said := table.said(line, cell):
                    kind_of(question).canonical(question, said)
            except AnswerRefused as refused:
                problems.add(line + 1, refused.template, **refused.values)
        if problems.total:
            found.append(problems)
    if found:
        raise ImportRefused(*found)


def _known(known: dict[str, Sheet], table: Table) -> Sheet | None:
    """The sheet of a recipe: that of its title, else of its title and id, with the same instructions."""
    for title in (table.title[:200], _with_id(table)):
        if (sheet := known.get(title)) is not None:
            columns = sorted(sheet.columns.all(), key=lambda column: column.position)
            if [column.facets.get("instruction") for column in columns] == list(table.instructions):
                return sheet
    return None


def _with_id(table: Table) -> str:
    return f"{table.title[:170]} ({table.id})"


def _make(study: Study, table: Table, *, taken: dict[str, Sheet]) -> Sheet:
    title = table.title[:200]
    if title in taken and table.id:
        title = _with_id(table)
    if title in taken:
        raise Refused(_("“%(recipe)s” is in the study already, with other instructions.") % {"recipe": table.title})
    section = study.scheme.parsed.sections[0].key
    columns = {section: [{"instruction": text} for text in table.instructions]}
    sheet = annotating.add_sheet(study=study, title=title, columns=columns)
    told = [*table.recipe] or list(table.instructions)
    row = annotating.add_row(
        sheet=sheet,
        name=ROW,
        title=table.title,
        evidence=[
            *(Block(INGREDIENT, text) for text in table.ingredients),
            *(Block(STEP if table.recipe else PARAGRAPH, text) for text in told),
        ],
        facets={"ingredients": found} if (found := names(table.ingredients)) else {},
    )
    SourceTable.objects.create(row=row, record=table.source, published_id=table.id)
    return sheet


def _answers(
    study: Study, sheets: Sequence[Sheet], tables: Sequence[Table], rater: str, kind: str
) -> list[tuple[str, ...]]:
    if study.scheme.slug != SCHEME:
        return []
    return [
        (sheet.title, ROW, rater, kind, str(line + 1), cell, table.said(line, cell))
        for sheet, table in zip(sheets, tables, strict=True)
        for line in range(len(table.instructions))
        for cell in CELLS
        if table.said(line, cell)
    ]


def _examples(sheets: Sequence[Sheet], tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """The first line of each table: as it stands there, else NA where its verb is about no food."""
    lines: list[tuple[str, ...]] = []
    for sheet, table in zip(sheets, tables, strict=True):
        said = {cell: table.said(0, cell) for cell in CELLS}
        if not any(said.values()) and (verb := splitting.foodless(table.instructions[0])):
            said = {"input": "NA", "action": verb, "output": "NA"}
        lines += [
            (sheet.title, ROW, EXAMPLE, Rater.Kind.JUDGE, "1", cell, answer) for cell, answer in said.items() if answer
        ]
    return lines


def _import(study: Study, lines: Sequence[Sequence[str]], *, replace: bool = False) -> Imported:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("sheet", "row", "rater", "rater_kind", "column_number", "question", "answer"))
    writer.writerows(lines)
    table = open_table(io.BytesIO(out.getvalue().encode()), name=_("the tables"), max_bytes=_MAX_BYTES)
    return import_labels(study=study, table=table, how=LabelImport(create=True, replace=replace))


@transaction.atomic
def split_by_rule(*, study: Study) -> int:
    """Let the rater “rule” split every long instruction of a study; returns of how many rows. People start from it.

    Raises:
        Refused: the study is of another scheme.
    """
    if study.scheme.slug != LONG:
        raise Refused(_("“%(study)s” has no long instructions to split.") % {"study": study.title})
    done = set(Row.objects.filter(sheet__study=study, assignments__rater__code=RULE).values_list("pk", flat=True))
    lines: list[tuple[str, ...]] = []
    rows = [row for row in Row.objects.filter(sheet__study=study).select_related("sheet") if row.pk not in done]
    for row in rows:
        for column in row.sheet.columns.order_by("position"):
            said = "\n".join(splitting.atomic(column.facets.get("instruction", "")))
            if said:
                lines.append(
                    (row.sheet.title, row.name, RULE, Rater.Kind.JUDGE, str(column.position + 1), "parts", said)
                )
    if lines:
        _import(study, lines)
    return len(rows)
