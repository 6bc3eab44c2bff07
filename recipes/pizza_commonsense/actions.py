"""Writes of this pack: tables become sheets, and what stands in them the answers of a rater."""

from __future__ import annotations

import csv
import dataclasses
import io
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Prefetch, ProtectedError
from django.utils.translation import gettext as _

from annotation.actions import Refused, lock_study, note
from annotation.answers import AnswerRefused, kind_of
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.exchange import arrivals
from annotation.exchange.label_imports import Doing, import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.new_sheets import NewSheet
from annotation.exchange.row_imports import Imported, ImportRefused
from annotation.exchange.tables import Problems, open_table
from annotation.labels.batch import Batch
from annotation.models import (
    Assignment,
    AuditEvent,
    Column,
    Label,
    LabelEvent,
    Lineage,
    Rater,
    Row,
    Study,
    User,
)
from base.sentences import gettext_noop
from recipes.cooking.vocabulary import INGREDIENT, STEP
from recipes.pizza_commonsense import queries, splitting
from recipes.pizza_commonsense.models import SourceTable
from recipes.pizza_commonsense.records import CELLS, EXAMPLE, NOTHING, SCHEME, Table, names, without_underscores

LONG = "pizza-instructions"
SECTION = "steps"
ROW = "Table"
ACTION = "action"  # a question, and a facet of lines that is set aside
RULE = "rule"
_MOST_DIFFERENCES = 5  # that a sentence names
_MAX_BYTES = 1 << 30  # of what is written here for the import of labels


@dataclass(frozen=True)
class ImportedTables:
    """`new`: recipes that the study had not; `known`: those that it had; `answers`: what came of their cells; `broken`:
    of the rules that refuse what people write, each with how many cells of a system break it; `cleared`: how many
    answers of a system went, since what replaces them leaves their cells open."""

    new: int
    known: int
    answers: Imported | None
    broken: Mapping[str, int] = field(default_factory=dict)
    cleared: int = 0


def import_tables(
    *,
    study: Study,
    tables: Sequence[Table],
    rater: str = "gold",
    kind: str = Rater.Kind.GOLD,
    example: bool = False,
    replace: bool = False,
    doing: Doing | None = None,
    at_end: Callable[[ImportedTables], None] = lambda _made: None,
) -> ImportedTables:
    """Make a sheet of each recipe that the study has not, and answers of `rater` of what stands in the cells.

    All is checked before anything is written. Many tables are written in parts that nobody sees before the end, as
    `import_labels` does it, unless the caller has begun a transaction.

    What people, or the gold, write has to keep to the rules of the scheme. What a system wrote, the kind “judge”, is
    taken as it is, since whether it is valid is what people judge (section 5 of the paper).

    `example`: a first line that is about no food is answered with NA by the rater “example”, from whom people's work
    can start.
    `replace`: an answer that differs takes the place of the one that stands. Of a system, the kind “judge”, a table
    replaces what stood of it: what it leaves open is cleared, of the kinds of cell that any of `tables` has.
    `doing`: the run of which this is, if any; `at_end` is called in the transaction that makes everything seen.

    Raises:
        Refused: the study is of another scheme, or a recipe has other instructions there.
        ImportRefused: an answer can be none; with all problems. Nothing is made then.
    """
    if study.scheme.slug not in (SCHEME, LONG):
        raise Refused(_("“%(study)s” has no tables of this kind.") % {"study": study.title})
    broken = _rules_broken(study, tables, by_model=kind == Rater.Kind.JUDGE)
    arrivals.tidy(study, owner=doing.owner if doing else "")  # or its sheets would count as known
    known = {
        sheet.title: (sheet.title, _spelt(column.facets.get("instruction", "") for column in sheet.columns.all()))
        for sheet in study.sheets.prefetch_related(Prefetch("columns", Column.objects.order_by("position")))
    }
    for there in list(known.values()):
        known.setdefault(without_underscores(there[0]), there)
    titles: list[str] = []
    new: list[NewSheet] = []
    first: dict[str, Table] = {}
    twice: list[Problems] = []
    for table in tables:
        title = _known(known, table)
        if title is None:
            sheet = _new(study, table, taken=known, is_gold=kind == Rater.Kind.GOLD)
            title = sheet.title
            known[title] = title, _spelt(table.instructions)
            new.append(sheet)
        titles.append(title)
        if table.cells and study.scheme.slug == SCHEME and first.setdefault(title, table) is not table:
            twice.append(_twice(first[title], table))
    if twice:
        raise ImportRefused(*twice)
    lines = list(_answers(study, titles, tables, rater, kind))
    if example and study.scheme.slug == SCHEME:
        lines += _examples(titles, tables)

    def end(answers: Imported) -> None:
        cleared = _clear_left_open(study, titles, tables, rater) if replace and kind == Rater.Kind.JUDGE else 0
        made.append(ImportedTables(len(new), len(tables) - len(new), answers if lines else None, broken, cleared))
        at_end(made[0])

    made: list[ImportedTables] = []
    if doing is not None:
        _import(study, lines, replace=replace, sheets=new, doing=dataclasses.replace(doing, at_end=end))
    else:
        with transaction.atomic() if replace else nullcontext():
            end(_import(study, lines, replace=replace, sheets=new))
    return made[0]


def _clear_left_open(study: Study, titles: Sequence[str], tables: Sequence[Table], rater: str) -> int:
    """Clear what a system answered before in cells that its tables leave open, of the kinds of cell that any of them
    has; returns how many there were. What a judge of the study wrote here stays."""
    by_title = dict(zip(titles, tables, strict=True))
    kinds = {cell for table in tables for _line, cell in table.cells}
    standing = Label.objects.filter(
        assignment__rater__in=queries.systems(study).filter(code=rater),
        assignment__row__name=ROW,
        assignment__state=Assignment.State.SUBMITTED,
        question__key__in=kinds,
    ).values_list("pk", "column__sheet__title", "column__position", "question__key")
    gone = [pk for pk, title, line, cell in standing if title in by_title and not by_title[title].said(line, cell)]
    batch = Batch(uuid.uuid4())
    for label in Label.objects.select_related("assignment").in_bulk(gone).values():
        batch.put(label.assignment, label.column_id, label.question_id, label, None)
    batch.flush()
    return len(gone)


@transaction.atomic
def remove_system(*, study: Study, code: str, by: User | None) -> int:
    """Delete a rater whose answers came in files, with all of them; the audit log keeps that it was. Returns how many
    answers that were.

    Raises:
        Refused: there is no such rater; something was made of its answers; or a file is being imported.
    """
    lock_study(study.pk)
    arrivals.refuse_if_coming(study.pk)
    rater = queries.systems(study).filter(code=code).first()
    if rater is None:
        raise Refused(
            _("“%(rater)s” is no system whose answers came in files. Those of people and judges stay.")
            % {"rater": code[:80]}
        )
    built_on = Refused(
        _("“%(rater)s” stays: people started from its answers, or a study, a trial or a certificate rests on them.")
        % {"rater": code}
    )
    drafted = LabelEvent.objects.filter(column__sheet__study=study, drafted_from=rater)
    rests = Lineage.objects.filter(assignment__rater=rater)
    if drafted.exists() or rests.exists() or rater.experiments.exists():
        raise built_on
    LabelEvent.objects.filter(assignment__rater=rater).delete()
    n, _by_model = Label.objects.filter(assignment__rater=rater).delete()
    note(AuditEvent.Kind.DELETION, by=by, study=study, what=f"rater {code} in {study.slug}: {n} labels")
    try:
        rater.delete()
    except ProtectedError as error:
        raise built_on from error
    return n


def _rules_broken(study: Study, tables: Sequence[Table], *, by_model: bool) -> Mapping[str, int]:
    """Of each rule how many cells hold what it refuses: those of a system.

    Raises:
        ImportRefused: cells of people do; with the recipes and their lines.
    """
    broken: Counter[str] = Counter()
    if study.scheme.slug != SCHEME:
        return broken
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
                broken[str(refused)] += 1
        if problems.total:
            found.append(problems)
    if found and not by_model:
        raise ImportRefused(*found)
    return broken


def _twice(one: Table, other: Table) -> Problems:
    """A recipe that is imported twice with answers: where, and what differs."""
    differs = [
        f"{line + 1} {cell}: “{one.said(line, cell)}”, “{other.said(line, cell)}”"
        for line, cell in sorted({*one.cells, *other.cells})
        if one.said(line, cell) != other.said(line, cell)
    ]
    more = ["…"] if len(differs) > _MOST_DIFFERENCES else []
    problems = Problems(f"“{one.title}”")
    template = gettext_noop("It is there twice (%(one)s; %(other)s), with the same answers. Leave out one of them.")
    if differs:
        template = gettext_noop(
            "It is there twice (%(one)s; %(other)s), with answers that differ. Leave out one of them. %(differs)s"
        )
    shown = "; ".join([*differs[:_MOST_DIFFERENCES], *more])
    problems.add(0, template, one=one.where, other=other.where, differs=shown)
    return problems


def _known(known: Mapping[str, tuple[str, list[str]]], table: Table) -> str | None:
    """The title under which the study has a recipe: its own, else that with its id, with the same instructions.

    `known`: of each title, also as it is without “_”, the title and the instructions that the study has.
    """
    for title in (table.title[:200], _with_id(table)):
        if (there := known.get(title)) and there[1] == _spelt(table.instructions):
            return there[0]
    return None


def _spelt(instructions: Iterable[str]) -> list[str]:
    return [without_underscores(text) for text in instructions]


def _with_id(table: Table) -> str:
    return f"{table.title[:170]} ({table.id})"


def _new(study: Study, table: Table, *, taken: Mapping[str, object], is_gold: bool) -> NewSheet:
    """A sheet of a recipe. The gold's actions are kept with its lines, so that judges can be given them (section 4 of
    the paper); not where the study's scheme is from before."""
    title = table.title[:200]
    if title in taken and table.id:
        title = _with_id(table)
    if title in taken:
        raise Refused(_("“%(recipe)s” is in the study already, with other instructions.") % {"recipe": table.title})
    told = [*table.recipe] or list(table.instructions)
    section = study.scheme.parsed.sections[0]
    lines = [{"instruction": text} for text in table.instructions]
    if is_gold and ACTION in section.column.aside:
        lines = [{**facets, ACTION: table.said(line, ACTION)} for line, facets in enumerate(lines)]
    return NewSheet(
        title=title,
        columns={section.key: lines},
        row=ROW,
        row_title=table.title,
        evidence=[
            *(Block(INGREDIENT, text) for text in table.ingredients),
            *(Block(STEP if table.recipe else PARAGRAPH, text) for text in told),
        ],
        facets={"ingredients": found} if (found := names(table.ingredients)) else {},
        beside=lambda row: SourceTable(row=row, record=table.source, published_id=table.id),
    )


def _answers(
    study: Study, titles: Sequence[str], tables: Sequence[Table], rater: str, kind: str
) -> list[tuple[str, ...]]:
    if study.scheme.slug != SCHEME:
        return []
    return [
        (title, ROW, rater, kind, str(line + 1), cell, table.said(line, cell))
        for title, table in zip(titles, tables, strict=True)
        for line in range(len(table.instructions))
        for cell in CELLS
        if table.said(line, cell)
    ]


def _examples(titles: Sequence[str], tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """NA in the first line of each table that is about no food (section 3 of the paper): where the file has NA as input
    and output, or, if it has nothing there, by its verb. What else the file has is for whoever fills the table to find.
    """
    lines: list[tuple[str, ...]] = []
    for title, table in zip(titles, tables, strict=True):
        verb = splitting.foodless(table.instructions[0])
        said = {table.said(0, cell) for cell in ("input", "output")}
        if said == {NOTHING} or (said == {""} and verb):
            filled = {"input": NOTHING, "action": verb, "output": NOTHING}
            lines += [
                (title, ROW, EXAMPLE, Rater.Kind.JUDGE, "1", cell, answer) for cell, answer in filled.items() if answer
            ]
    return lines


def _import(
    study: Study,
    lines: Sequence[Sequence[str]],
    *,
    replace: bool = False,
    sheets: Sequence[NewSheet] = (),
    doing: Doing | None = None,
) -> Imported:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("sheet", "row", "rater", "rater_kind", "column_number", "question", "answer"))
    writer.writerows(lines)
    table = open_table(io.BytesIO(out.getvalue().encode()), name=_("the tables"), max_bytes=_MAX_BYTES)
    how = LabelImport(create=True, replace=replace)
    return import_labels(study=study, table=table, how=how, doing=doing, sheets=sheets)


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
