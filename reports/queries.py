"""Labels out of the database: the only place where reports meet it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.exchange import exports
from annotation.models import Assignment, Column, Label, LabelEvent, Option, Question, Rater, Row, Sheet, Skip, Study
from annotation.scheme.spec import QuestionSpec, SectionSpec, facet_word
from base.text import natural
from judges.methods import cloze
from judges.models import Judge, Run, UnreadableAnswer
from judges.queries import Source, sources
from llm.engine.normalisation import Normalisation, choose
from reports.data.arrays import Filters, StudyData, study_data
from reports.data.label_table import (
    N_VALUES,
    AssignmentEntry,
    ColumnEntry,
    DraftEntry,
    IntArray,
    LabelTable,
    RaterEntry,
    RowEntry,
    SkipEntry,
    UnreadableEntry,
)

_CHUNK, _AT_ONCE = 20_000, 2_000
# A stored score as the last axis of `LabelTable.scores`; None becomes NaN.
_VALUES = itemgetter("logprob", "n_tokens", "n_characters", "unconditional")
_NOT_SCORED = (None, None, None, None)


def load(study: Study, filters: Filters) -> StudyData:
    """What a report is computed from, as arrays. Raises as `label_table`."""
    return study_data(label_table(study, filters), filters)


class _Places(NamedTuple):
    """From keys of the database to places in a label table."""

    assignment: Mapping[int, int]
    column: Mapping[int, int]
    question: Mapping[int, int]
    option: Mapping[int, int]  # key of an option -> its code in its question


def label_table(study: Study, filters: Filters, *, notes: bool = False) -> LabelTable:
    """All labels of a study that the filters let through. Nine queries, twelve where there is a judge, one more where
    labels began as drafts, however many labels.

    Left out: withdrawn assignments. Labels given after a look are in it, whatever the filters say of them.

    Args:
        notes: with the notes of the labels, which no number needs.
    Raises:
        Refused: a judge's labels cannot be chosen anew under the normalisation that the filters name.
    """
    sheets = [s for s in study.sheets.order_by("position") if not filters.sheets or s.pk in filters.sheets]
    raters = _raters(study, filters)
    sheet_place = {sheet.pk: place for place, sheet in enumerate(sheets)}
    rater_place = {rater.pk: place for place, rater in enumerate(raters)}

    of_sheets = Row.objects.filter(sheet__in=[*sheet_place]).order_by("sheet__position", "position")
    rows = [
        row
        for row in of_sheets.values_list("pk", "sheet_id", "name", "withdrawn_at", "facets")
        if filters.has_row(row[-1])
    ]
    row_place = {row[0]: place for place, row in enumerate(rows)}
    in_order = Column.objects.filter(sheet__in=[*sheet_place])
    in_order = in_order.order_by("sheet__position", "section__position", "position")
    columns = list(in_order.values_list("pk", "sheet_id", "section__key", "position", "name", "facets"))

    assignments = Assignment.objects.filter(rater__in=[*rater_place], row__sheet__in=[*sheet_place])
    assignments = assignments.exclude(state=Assignment.State.WITHDRAWN)
    of_assignments = assignments.order_by().values_list("pk", "rater_id", "row_id", "repeat", "state", "sections")
    # What came into the study since the query before is left for the next report.
    given = sorted(
        (row_place[row], rater_place[rater], repeat, state, tuple(sections), pk)
        for pk, rater, row, repeat, state, sections in of_assignments
        if row in row_place
    )
    numbers = {(section.key, q.key): n for n, (section, q) in enumerate(_questions_of(study))}
    places = _Places(
        assignment={entry[-1]: place for place, entry in enumerate(given)},
        column={column[0]: place for place, column in enumerate(columns)},
        question={
            pk: numbers[section, key]
            for pk, section, key in Question.objects.filter(section__scheme=study.scheme_id).values_list(
                "pk", "section__key", "key"
            )
        },
        option=dict(Option.objects.filter(question__section__scheme=study.scheme_id).values_list("pk", "position")),
    )
    of_cells: dict[str, Any] = {"assignment__in": assignments}
    if filters.submitted_only:
        of_cells = {"assignment__in": assignments.filter(state=Assignment.State.SUBMITTED)}
    if filters.questions:
        needed = _needed(study, filters.questions)
        of_cells["question__in"] = [pk for pk, number in places.question.items() if number in needed]
    found = Label.objects.filter(**of_cells).order_by()
    labels, values = _labels(found, places, _questions_of(study))
    with_judges = any(rater.kind == Rater.Kind.JUDGE for rater in raters)
    behind = sources(study) if with_judges else {}
    skips = Skip.objects.filter(**of_cells).order_by().values_list(*_CELL, "reason")
    unreadable = (
        UnreadableAnswer.objects.filter(**of_cells).order_by().values_list(*_CELL, "why") if with_judges else ()
    )
    table = LabelTable(
        slug=study.slug,
        title=study.title,
        spec=study.scheme.spec,
        raters=tuple(_rater(rater, behind.get(rater.code)) for rater in raters),
        sheets=tuple(sheet.title for sheet in sheets),
        rows=tuple(
            RowEntry(
                sheet_place[sheet], name, gone is not None, {key: facet_word(said) for key, said in facets.items()}
            )
            for _pk, sheet, name, gone, facets in rows
        ),
        columns=tuple(
            ColumnEntry(sheet_place[sheet], section, position, name, facets)
            for _pk, sheet, section, position, name, facets in columns
        ),
        assignments=tuple(
            AssignmentEntry(rater, row, repeat, state, sections) for row, rater, repeat, state, sections, _pk in given
        ),
        labels=labels,
        notes=_notes(found, places, labels) if notes else {},
        skips=tuple(sorted(SkipEntry(*cell) for cell in _cells(skips, places))),
        unreadable=tuple(sorted(UnreadableEntry(*cell) for cell in _cells(unreadable, places))),
        values=values,
        drafts=_drafts(found, places, labels),
    )
    return _with_scores(table, found, places, filters.normalisations)


def _raters(study: Study, filters: Filters) -> list[Rater]:
    """People, judges, gold; each by their codes."""
    wanted = {Rater.Kind.PERSON: filters.people, Rater.Kind.JUDGE: filters.judges, Rater.Kind.GOLD: ()}
    raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))
    return [r for kind, codes in wanted.items() for r in raters if r.kind == kind and (not codes or r.code in codes)]


def _rater(rater: Rater, source: Source | None) -> RaterEntry:
    entry = RaterEntry(rater.code, rater.kind, rater.simulated)
    return entry if source is None else replace(entry, **source._asdict())


def _questions_of(study: Study) -> list[tuple[SectionSpec, QuestionSpec]]:
    return [(section, question) for section in study.scheme.parsed.sections for question in section.questions]


def _needed(study: Study, names: Sequence[str]) -> set[int]:
    """The numbers of these questions, and of those that decide whether they are asked."""
    asked = _questions_of(study)
    needed = {f"{section.key}.{question.key}" for section, question in asked} & set(names)
    for section, question in reversed(asked):  # a question depends on those before it
        if f"{section.key}.{question.key}" in needed:
            needed |= {f"{section.key}.{other}" for other in question.ask_unless}
    return {n for n, (section, question) in enumerate(asked) if f"{section.key}.{question.key}" in needed}


_CELL = ("assignment_id", "column_id", "question_id")


def _labels(
    found: QuerySet[Label], places: _Places, questions: Sequence[tuple[SectionSpec, QuestionSpec]]
) -> tuple[IntArray, tuple[tuple[str, ...], ...]]:
    """The labels, and of each question the values that answer it."""
    parts = [np.zeros((0, N_VALUES), dtype=np.int64)]
    chunk: list[tuple[int, ...]] = []
    assignment, column, question, option = places
    told_by_values = not all(spec.options for _section, spec in questions)
    said: list[dict[str, int]] = [{} for _question in questions]
    names = [*_CELL, "option_id", "preset", "exposed", *(("stored",) if told_by_values else ())]
    if told_by_values:
        found = found.annotate(stored=Cast("value", TextField()))
    for a, c, q, o, preset, exposed, *rest in found.values_list(*names).iterator(chunk_size=_CHUNK):
        if a in assignment and c in column:
            number = question[q]
            code = option[o] if o is not None else said[number].setdefault(rest[0], len(said[number]))
            chunk.append((assignment[a], column[c], number, code, preset, exposed))
        if len(chunk) == _CHUNK:
            parts.append(np.array(chunk, dtype=np.int64))
            chunk = []
    labels = np.concatenate([*parts, np.array(chunk, dtype=np.int64).reshape(-1, N_VALUES)])
    labels = labels[np.lexsort((labels[:, 2], labels[:, 1], labels[:, 0]))]
    for number, of_question in enumerate(said):
        if of_question:  # numbered as they were met; now in their order
            place = np.argsort(np.argsort(np.array([*of_question], dtype=object)))
            mine = labels[:, 2] == number
            labels[mine, 3] = place[labels[mine, 3]]
    values = tuple(tuple(sorted(of_question)) for of_question in said)
    return labels, values if told_by_values else ()


def _drafts(found: QuerySet[Label], places: _Places, labels: IntArray) -> tuple[DraftEntry, ...]:
    """The labels that began as another rater's answer, with what that was: the first event of a draft says so."""
    drafted = found.filter(drafted_from__isnull=False)
    begun = [*drafted.values_list("assignment_id", "column_id", "question_id", "drafted_from__code", "confirmed_at")]
    if not begun:
        return ()
    first: dict[tuple[int, int, int], str] = {}
    waiting = LabelEvent.objects.filter(drafted_from__isnull=False, confirmed_at=None)
    events = waiting.filter(assignment__in={line[0] for line in begun})
    for event in events.select_related("after").order_by("pk").iterator(chunk_size=_CHUNK):
        first.setdefault((event.assignment_id, event.column_id, event.question_id), event.code_after)
    finder = _Finder(labels, places)
    return tuple(
        sorted(
            DraftEntry(place, by or "", first.get((a, c, q), ""), confirmed is not None)
            for a, c, q, by, confirmed in begun
            if (place := finder.place(a, c, q)) is not None
        )
    )


def _cells(found: Iterable[tuple[int, int, int, str]], places: _Places) -> Iterator[tuple[int, int, int, str]]:
    assignment, column, question, _option = places
    return ((assignment[a], column[c], question[q], said) for a, c, q, said in found if a in assignment and c in column)


class _Finder:
    """From an assignment, a column and a question of the database to the place of their label."""

    def __init__(self, labels: IntArray, places: _Places) -> None:
        self._places = places
        self._place = {key: place for place, key in enumerate(zip(*labels[:, :3].T.tolist(), strict=True))}

    def place(self, assignment: int, column: int, question: int) -> int | None:
        of = self._places
        if assignment not in of.assignment or column not in of.column:
            return None
        return self._place.get((of.assignment[assignment], of.column[column], of.question[question]))


def _notes(found: QuerySet[Label], places: _Places, labels: IntArray) -> dict[int, str]:
    finder = _Finder(labels, places)
    noted = found.exclude(note="").values_list(*_CELL, "note")
    return {place: note for *cell, note in noted if (place := finder.place(*cell)) is not None}


# --- judges' scores --------------------------------------------------------------------------------------------------


def _with_scores(table: LabelTable, found: QuerySet[Label], places: _Places, anew: Mapping[str, str]) -> LabelTable:
    """The table with the scores of judges' labels, chosen anew where `anew` names a normalisation for their judge."""
    if not any(rater.kind == Rater.Kind.JUDGE for rater in table.raters):
        return table
    scored = found.filter(assignment__rater__kind=Rater.Kind.JUDGE, scores__isnull=False)
    finder: _Finder | None = None
    place_of: list[int] = []
    values: list[list[tuple[float | None, ...]]] = []
    n_options = max(len(spec.options) for _section, spec in table.questions)
    keys = [[option.key for option in spec.options] for _section, spec in table.questions]
    filling = [[_NOT_SCORED] * (n_options - len(of_question)) for of_question in keys]
    labels, raters = table.labels.copy(), table.raters
    rater_of = [assignment.rater for assignment in table.assignments]
    question_of = labels[:, 2].tolist()
    normalised: dict[int, RaterEntry] = {}
    for cell, stored in _stored_scores(scored):
        if (of_options := cloze.stored_options(stored)) is None:
            continue
        finder = finder or _Finder(table.labels, places)
        place = finder.place(*cell)
        if place is None:
            continue
        question = question_of[place]
        of_keys = [_VALUES(of_options[key]) if key in of_options else _NOT_SCORED for key in keys[question]]
        values.append(of_keys + filling[question])
        place_of.append(place)
        number = rater_of[places.assignment[cell[0]]]
        if number not in normalised:
            normalised[number] = _normalised(raters[number], stored.get("normalisation", ""), anew)
        if normalised[number].anew and keys[question]:
            labels[place, 3] = _chosen_anew(of_options, table.questions[question][1], normalised[number])
    if not place_of:
        return table
    order = np.argsort(place_of)
    return replace(
        table,
        raters=tuple(normalised.get(number, rater) for number, rater in enumerate(raters)),
        labels=labels,
        scored=np.array(place_of)[order],
        scores=np.array(values, dtype=np.float64)[order],
    )


def _stored_scores(scored: QuerySet[Label]) -> Iterator[tuple[tuple[int, int, int], Any]]:
    """The cell of each label, and its scores. Read as text, many in one go: that halves the time."""
    lines = scored.values_list(*_CELL, Cast("scores", TextField())).iterator(chunk_size=_CHUNK)
    while block := list(itertools.islice(lines, _AT_ONCE)):
        stored = json.loads(f"[{','.join(line[3] for line in block)}]")
        yield from (((line[0], line[1], line[2]), scores) for line, scores in zip(block, stored, strict=True))


def _normalised(rater: RaterEntry, its_own: str, anew: Mapping[str, str]) -> RaterEntry:
    chosen = anew.get(rater.code, its_own)
    return replace(rater, normalisation=chosen, anew=chosen != its_own)


def _chosen_anew(stored: Mapping[str, Any], spec: QuestionSpec, rater: RaterEntry) -> int:
    offered = list(cloze.scores_in(stored, [option.key for option in spec.options]))
    try:
        chosen = choose([score for _code, score in offered], cast(Normalisation, rater.normalisation))
        return offered[chosen.index][0]
    except ValueError as error:
        raise Refused(
            _("The labels of “%(judge)s” cannot be chosen anew under “%(normalisation)s”: %(reason)s")
            % {"judge": rater.code, "normalisation": rater.normalisation, "reason": error}
        ) from error


def sheets_in(study: Study, filters: Filters) -> QuerySet[Sheet]:
    """The sheets whose labels the filters let in."""
    return study.sheets.filter(pk__in=filters.sheets) if filters.sheets else study.sheets.all()


def scored_judges(study: Study) -> list[str]:
    """Codes of the judges whose labels may be chosen anew: those that scored the options with a model. One query."""
    runs = Run.objects.filter(study=study, judge__method=Judge.Method.CLOZE)
    return sorted(set(runs.values_list("rater__code", flat=True)), key=natural)


def labels(study: Study, filters: Filters) -> Iterator[tuple[str, ...]]:
    """The labels that the filters let through, one by one, all repeats, as `annotation.exchange.exports` writes them.

    Two queries, read in parts.
    """
    titles = set(study.sheets.filter(pk__in=filters.sheets).values_list("title", flat=True))
    names = ("sheet", "rater", "rater_kind", "state", "section", "question")
    sheet, rater, kind, state, section, question = (exports.COLUMNS.index(name) for name in names)
    wanted = {Rater.Kind.PERSON.value: filters.people, Rater.Kind.JUDGE.value: filters.judges}
    for record in exports.exported_labels(study):
        codes = wanted.get(record[kind])
        if (
            (not codes or record[rater] in codes)
            and (not filters.sheets or record[sheet] in titles)
            and (not filters.questions or f"{record[section]}.{record[question]}" in filters.questions)
            and (not filters.submitted_only or record[state] == Assignment.State.SUBMITTED)
        ):
            yield record
