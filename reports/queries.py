"""Labels out of the database, as the label table of a report."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np
from django.db.models import BigIntegerField, BooleanField, Case, Q, QuerySet, TextField, When
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext as _

from annotation import doors
from annotation.actions import Refused
from annotation.models import Assignment, Column, Label, LabelEvent, Option, Question, Rater, Row, Study
from annotation.scheme.spec import QuestionSpec, SectionSpec, facet_word
from base.text import natural
from judges.lineage import queries as lineage
from judges.methods import SCORES, cloze
from judges.methods.calibration import Calibration, calibrated_options
from judges.models import FittedCalibration, Run
from judges.queries import Source, sources
from llm.engine.normalisation import Normalisation, choose
from reports.data.arrays import INCLUDE, LEAVE_OUT, Filters, StudyData
from reports.data.cells import study_data
from reports.data.frequent import frequent_words
from reports.data.label_table import (
    N_VALUES,
    AcceptedEntry,
    ArmEntry,
    Assignments,
    ColumnEntry,
    DraftEntry,
    IntArray,
    LabelTable,
    RaterEntry,
    RowEntry,
    SeenEntry,
    SkipEntry,
    SmallArray,
    UnreadableEntry,
)
from reports.data.rows import RowAbout, RowText
from reports.hiring.models import SHORT
from reports.models import Accepted
from reports.past import STATES, Now, Then
from reports.whole_numbers import whole_numbers

# As filters name what was fitted: "calibration-12".
_CALIBRATION = "calibration-"
_CHUNK, _AT_ONCE = 20_000, 2_000
_FEW = 500  # SQLite takes 999 values a query
# A stored score as the last axis of `LabelTable.scores`; None becomes NaN.
_VALUES = itemgetter("logprob", "n_tokens", "n_characters", "unconditional")
_NOT_SCORED = (None, None, None, None)


def load(study: Study, filters: Filters, *, frequent: bool = False) -> StudyData:
    """What a report is computed from, as arrays. Arguments and errors as of `label_table`."""
    return study_data(label_table(study, filters, frequent=frequent), filters)


class _Keys:
    """Keys of a table with their places in a label table; a million of them in 16 MB, where a dict takes 150."""

    def __init__(self, place_of: Mapping[int, int] | IntArray) -> None:
        """Args: the place of each key, or the keys in the order of their places."""
        if isinstance(place_of, np.ndarray):
            self._place = np.argsort(place_of, kind="stable")
            self._keys = place_of[self._place]
        else:
            keys = np.fromiter(place_of.keys(), dtype=np.int64, count=len(place_of))
            places = np.fromiter(place_of.values(), dtype=np.int64, count=len(place_of))
            order = np.argsort(keys)
            self._keys, self._place = keys[order], places[order]

    def places(self, keys: IntArray) -> IntArray:
        """Of each key its place, -1 where there is none."""
        if not self._keys.size:
            return np.full(len(keys), -1)
        at = np.searchsorted(self._keys, keys).clip(max=self._keys.size - 1)
        found: IntArray = np.where(self._keys[at] == keys, self._place[at], -1)
        return found

    def __contains__(self, key: int) -> bool:
        at = int(np.searchsorted(self._keys, key))
        return at < self._keys.size and int(self._keys[at]) == key

    def __getitem__(self, key: int) -> int:
        return int(self._place[np.searchsorted(self._keys, key)])


class _Places(NamedTuple):
    """From keys of the database to places in a label table."""

    assignment: _Keys
    column: _Keys
    question: Mapping[int, int]
    option: Mapping[int, int]  # key of an option -> its code in its question

    def of_cells(self, keys: IntArray) -> IntArray:
        """The places of assignments, columns and questions, shape (n, 3); -1 where there is none."""
        of_each = (self.assignment, self.column, _Keys(self.question))
        return np.column_stack([of.places(keys[:, n]) for n, of in enumerate(of_each)])


def label_table(study: Study, filters: Filters, *, notes: bool = False, frequent: bool = False) -> LabelTable:
    """All labels of a study that the filters let through. Eleven queries, 16 where there is a judge, 17 where there are
    several; more where rows were given in part, labels are values or began as drafts, or cells were skipped, or
    where filters leave wordings out or are of a moment; however many labels.

    Left out: withdrawn assignments. Labels given after a look are in it, whatever the filters say of them.

    Args:
        notes: with the notes of the labels, which no number needs.
        frequent: with the words that are frequent in the rows' texts, all of which are read for it.
    Raises:
        Refused: a judge's labels cannot be chosen anew under the normalisation that the filters name.
    """
    standing = Now(study) if filters.moment is None else Then(study, filters.moment)
    parts = _parts(study, filters, standing)
    rater_place = {rater.pk: place for place, rater in enumerate(parts.raters)}
    row_place = {row: place for place, row in enumerate(parts.rows)}
    assignments = _work(study, filters, standing, parts)
    seen = _seen(study, filters, parts.raters, assignments)
    seen = {rater: of_it & row_place.keys() for rater, of_it in seen.items() if of_it & row_place.keys()}
    if filters.seen == LEAVE_OUT:
        for rater, of_it in seen.items():
            assignments = assignments.exclude(rater=rater, row__in=of_it)
    given, keys = _given(assignments, _Keys(row_place), _Keys(rater_place), standing)
    places = _places(study, keys, parts.columns)
    of_cells: dict[str, Any] = {"assignment__in": assignments}
    if filters.submitted_only:
        of_cells = {"assignment__in": assignments.filter(standing.submitted)}
    if filters.questions:
        needed = _needed(study, filters.questions)
        of_cells["question__in"] = [pk for pk, number in places.question.items() if number in needed]
    earlier = study.scheme.earlier
    then = _then(earlier, filters)
    found = standing.labels().filter(then.of("updated_at"), **of_cells).order_by()
    wordings = _Wordings(study.scheme.version, earlier) if earlier else None
    labels, values, has_notes, has_drafts, worded = _labels(found, places, _questions_of(study), wordings)
    with_judges = any(rater.kind == Rater.Kind.JUDGE for rater in parts.raters)
    behind = sources(study) if with_judges else {}
    skips = _few(standing.skips().filter(then.of("at")), of_cells, "reason")
    unreadable: QuerySet[Any, Any] | tuple[()] = ()
    if with_judges:
        unreadable = _few(standing.unreadable().filter(then.of("assignment__submitted_at")), of_cells, "why")
    table = LabelTable(
        slug=study.slug,
        title=study.title,
        spec=study.scheme.spec,
        raters=tuple(_rater(rater, behind.get(rater.code)) for rater in parts.raters),
        sheets=tuple(parts.sheets.values()),
        rows=tuple(parts.rows.values()),
        columns=tuple(parts.columns.values()),
        assignments=given,
        labels=labels,
        notes=_notes(found, places, labels) if notes and has_notes else {},
        skips=tuple(sorted(SkipEntry(*cell) for cell in _cells(skips, places))),
        unreadable=tuple(sorted(UnreadableEntry(*cell) for cell in _cells(unreadable, places))),
        values=values,
        drafts=_drafts(found, places, labels) if has_drafts else (),
        frequent=frequent_words(study, [*parts.rows]) if frequent else (),
        seen=tuple(
            SeenEntry(rater_place[rater], tuple(sorted(row_place[row] for row in of_it)))
            for rater, of_it in seen.items()
        ),
        wordings=worded,
        of_other_wordings=_of_other_wordings(standing, then, of_cells, places, with_judges=with_judges),
    )
    if with_judges:
        table = replace(table, accepted=_accepted(standing, table, places), arms=_arms(study, table))
    scored = standing.scored().filter(then.of("updated_at"), **of_cells).order_by()
    return _with_scores(table, scored, places, filters.normalisations)


class _Parts(NamedTuple):
    """What of a study the filters let through, by its keys and in the order of a label table. `sheets`: titles."""

    sheets: Mapping[int, str]
    raters: Sequence[Rater]
    rows: Mapping[int, RowEntry]
    columns: Mapping[int, ColumnEntry]


def _parts(study: Study, filters: Filters, standing: Now) -> _Parts:
    titles = study.sheets.order_by("position").values_list("pk", "title")
    sheets = {pk: title for pk, title in titles if not filters.sheets or pk in filters.sheets}
    sheet_place = {pk: place for place, pk in enumerate(sheets)}
    absent = standing.absent()
    rows = Row.objects.filter(sheet__in=[*sheets]).order_by("sheet__position", "position")
    apart = set() if filters.apart == INCLUDE else doors.rows_apart(study)
    columns = Column.objects.filter(sheet__in=[*sheets]).order_by("sheet__position", "section__position", "position")
    return _Parts(
        sheets,
        [rater for rater in _raters(study, filters) if rater.pk not in absent],
        {
            pk: RowEntry(sheet_place[sheet], name, standing.has_been(gone), _facets_of(facets))
            for pk, sheet, name, gone, facets in rows.values_list("pk", "sheet_id", "name", "withdrawn_at", "facets")
            if pk not in apart and filters.has_row(facets)
        },
        {
            pk: ColumnEntry(sheet_place[sheet], section, position, name, facets)
            for pk, sheet, section, position, name, facets in columns.values_list(
                "pk", "sheet_id", "section__key", "position", "name", "facets"
            )
        },
    )


def _facets_of(facets: Mapping[str, Any]) -> Mapping[str, str]:
    return {key: facet_word(said) for key, said in facets.items()} if facets else _NO_FACETS


def _work(study: Study, filters: Filters, standing: Now, parts: _Parts) -> QuerySet[Assignment]:
    work: QuerySet[Assignment] = Assignment.objects.filter(row__sheet__in=[*parts.sheets])
    if filters.people or filters.judges or doors.raters_apart(study):
        # Else SQLite would look for each of 500 raters in each row.
        work = work.filter(rater__in=[rater.pk for rater in parts.raters])
    return standing.work(work)


def _places(study: Study, assignments: _Keys, columns: Iterable[int]) -> _Places:
    numbers = {(section.key, question.key): n for n, (section, question) in enumerate(_questions_of(study))}
    questions = Question.objects.filter(section__scheme=study.scheme_id)
    return _Places(
        assignment=assignments,
        column=_Keys({pk: place for place, pk in enumerate(columns)}),
        question={pk: numbers[section, key] for pk, section, key in questions.values_list("pk", "section__key", "key")},
        option=_codes_of_options(study),
    )


class _Given(NamedTuple):
    """From when on (`since`), or before when, what counts was given; `at` is None where all counts."""

    at: datetime | None
    since: bool = True

    def of(self, time: str) -> Q:
        """A condition of what has this time."""
        return Q() if self.at is None else Q(**{f"{time}__{'gte' if self.since else 'lt'}": self.at})

    @property
    def others(self) -> _Given:
        """What does not count."""
        return _Given(self.at, not self.since)


_ALWAYS = datetime.min.replace(tzinfo=UTC)


def _then(earlier: Sequence[tuple[int, datetime]], filters: Filters) -> _Given:
    """`earlier`: as `Scheme.earlier`."""
    if filters.of_wording is None:
        return _Given(None)
    since, version = filters.of_wording
    return _Given(max((end for before, end in earlier if before < version), default=_ALWAYS), since)


class _Wordings(NamedTuple):
    """`now`: the version that stands; `earlier`: as `Scheme.earlier`."""

    now: int
    earlier: Sequence[tuple[int, datetime]]

    @property
    def of_label(self) -> Case:
        """By which version a label was given."""
        cases = (When(updated_at__lt=end, then=version) for version, end in self.earlier)
        return Case(*cases, default=self.now, output_field=BigIntegerField())


def _of_other_wordings(
    standing: Now, then: _Given, of_cells: Mapping[str, Any], places: _Places, *, with_judges: bool
) -> SmallArray:
    """The cells in which something stands that does not count for its wording: `LabelTable.of_other_wordings`. None or
    two queries, three where there is a judge."""
    if then.at is None:
        return np.zeros((0, 4), dtype=np.int32)
    other = then.others
    labels = standing.labels().filter(other.of("updated_at"), **of_cells)
    labels = labels.exclude(drafted_from__isnull=False, confirmed_at=None)  # which are no answers yet
    told: list[tuple[QuerySet[Any], int]] = [(labels, 1), (standing.skips().filter(other.of("at"), **of_cells), 0)]
    if with_judges:
        unreadable = standing.unreadable().filter(other.of("assignment__submitted_at"), **of_cells)
        told.append((unreadable, 0))
    parts = [np.zeros((0, 4), dtype=np.int64)]
    for cells, is_label in told:
        some = whole_numbers(cells.order_by(), *_CELL)
        parts.append(np.column_stack([places.of_cells(some), np.full(len(some), is_label)]))
    every = np.concatenate(parts)
    every = every[(every >= 0).all(axis=1)]
    in_order: SmallArray = every[np.lexsort(every.T[::-1])].astype(np.int32)
    return in_order


def _seen(study: Study, filters: Filters, raters: Sequence[Rater], work: QuerySet[Assignment]) -> dict[int, set[int]]:
    """Of judges, by their keys, which rows of this work they have seen, or a chosen calibration was fitted to. One
    query, and those of `lineage.rows_seen`."""
    judges = {rater.code: rater.pk for rater in raters if rater.kind == Rater.Kind.JUDGE}
    if not judges:
        return {}
    found = lineage.rows_seen(study, judges)
    for code, name in filters.normalisations.items():
        if code in judges and name.startswith(_CALIBRATION):
            found[code] = found.get(code, set()) | {*_fitted(study.slug, code, name).lineage["rows"]}
    if not found:
        return {}
    mine = work.filter(rater__in=[judges[code] for code in found]).values_list("rater__code", "row_id")
    has: dict[str, set[int]] = {}
    for code, row in mine.iterator(chunk_size=_CHUNK):
        has.setdefault(code, set()).add(row)
    return {pk: found[code] & has[code] for code, pk in judges.items() if code in found and code in has}


def _arms(study: Study, table: LabelTable) -> tuple[ArmEntry, ...]:
    codes = [rater.code for rater in table.raters if rater.kind == Rater.Kind.JUDGE]
    return tuple(
        ArmEntry(
            arm.code,
            arm.of,
            arm.turn,
            arm.reworded,
            {name: tuple(keys) for name, keys in arm.orders.items()},
            arm.shift,
            {name: tuple(map(tuple, rows)) for name, rows in arm.stood.items()},
        )
        for arm in lineage.arms_in(study, codes)
    )


def _raters(study: Study, filters: Filters) -> list[Rater]:
    """People, judges, gold; each by their codes. Who is only there to start from is left out, unless chosen."""
    wanted = {Rater.Kind.PERSON: filters.people, Rater.Kind.JUDGE: filters.judges, Rater.Kind.GOLD: ()}
    apart = doors.raters_apart(study) - {*filters.people, *filters.judges}
    raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))
    raters = [rater for rater in raters if rater.code not in apart]
    return [r for kind, codes in wanted.items() for r in raters if r.kind == kind and (not codes or r.code in codes)]


def _rater(rater: Rater, source: Source | None) -> RaterEntry:
    entry = RaterEntry(rater.code, rater.kind, rater.simulated)
    return entry if source is None else replace(entry, **source._asdict())


def _codes_of_options(study: Study) -> dict[int, int]:
    """Key of each option -> its place in what `study` was read with. Its place in the database may be another one by
    now, as an option can be added before it. One query."""
    codes = {
        (section.key, question.key, option.key): code
        for section, question in _questions_of(study)
        for code, option in enumerate(question.options)
    }
    options = Option.objects.filter(question__section__scheme=study.scheme_id)
    named = options.values_list("pk", "question__section__key", "question__key", "key")
    return {pk: codes[name] for pk, *name_ in named if (name := tuple(name_)) in codes}


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


_NO_FACETS: Mapping[str, str] = {}  # of many rows one
_CELL = ("assignment_id", "column_id", "question_id")


def _given(assignments: QuerySet[Assignment], rows: _Keys, raters: _Keys, standing: Now) -> tuple[Assignments, _Keys]:
    """The assignments in the order of rows, raters and repeats, and their keys."""
    some = assignments.order_by().annotate(number=standing.state, in_part=_flag(~Q(sections=[])))
    stored = whole_numbers(some, "pk", "row_id", "rater_id", "repeat", "number", "in_part")
    sections: dict[int, tuple[str, ...]] = {}
    if stored[:, 5].any():
        sections = {pk: tuple(keys) for pk, keys in some.filter(in_part=1).values_list("pk", "sections")}
    # What came into the study since the query before is left for the next report.
    row, rater = rows.places(stored[:, 1]), raters.places(stored[:, 2])
    found = np.flatnonzero((row >= 0) & (rater >= 0))
    found = found[np.lexsort((stored[found, 0], stored[found, 3], rater[found], row[found]))]
    keys = stored[found, 0]
    place_of = _Keys(keys)
    given = Assignments(
        rater=rater[found].astype(np.int32),
        row=row[found].astype(np.int32),
        repeat=stored[found, 3].astype(np.int32),
        state=stored[found, 4].astype(np.int8),
        states=STATES,
        sections={place_of[pk]: said for pk, said in sections.items() if said and pk in place_of},
    )
    return given, place_of


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=1), default=0, output_field=BigIntegerField())


def _few(cells: QuerySet[Any], of_cells: Mapping[str, Any], said: str) -> QuerySet[Any, Any] | tuple[()]:
    """Cells of a table that has few. They are looked up from their side: asked for by a million assignments, SQLite
    took a third of a report's time to find none."""
    work = [*cells.order_by().values_list("assignment_id", flat=True).distinct()[: _FEW + 1]]
    if not work:
        return ()
    if len(work) <= _FEW:
        of_cells = {**of_cells, "assignment__in": of_cells["assignment__in"].filter(pk__in=work)}
    return cells.filter(**of_cells).order_by().values_list(*_CELL, said)


def _labels(
    found: QuerySet[Any],
    places: _Places,
    questions: Sequence[tuple[SectionSpec, QuestionSpec]],
    wordings: _Wordings | None,
) -> tuple[SmallArray, tuple[tuple[str, ...], ...], bool, bool, SmallArray]:
    """The labels, of each question the values that answer it, whether any label has a note, or began as a draft, and
    by which version of the scheme each was given, where it has had several."""
    assignment, column, question, option = places
    told_by_values = not all(spec.options for _section, spec in questions)
    said: list[dict[str, int]] = [{} for _question in questions]
    names = [*_CELL, "answer", "preset", "exposed", "noted", "drafted"]
    of_each = {"noted": _flag(~Q(note="")), "drafted": _flag(Q(drafted_from__isnull=False))}
    if wordings is not None:
        names.append("wording")
        of_each["wording"] = wordings.of_label
    labels = whole_numbers(found.annotate(answer=Coalesce("option_id", 0), **of_each), *names)
    has_notes, has_drafts = (bool(labels[:, place].any()) for place in (N_VALUES, N_VALUES + 1))
    # The flags are told; what is left is `LabelTable.labels`, and behind it the wording.
    labels = labels[:, :N_VALUES] if wordings is None else np.delete(labels, [N_VALUES, N_VALUES + 1], axis=1)
    if told_by_values:
        has_value = labels[:, 3] == 0
        stored = found.filter(value__isnull=False).annotate(stored=Cast("value", TextField()))
        codes: dict[tuple[int, int, int], int] = {}
        for a, c, q, value in stored.values_list(*_CELL, "stored").iterator(chunk_size=_CHUNK):
            of_question = said[question[q]]
            codes[a, c, q] = of_question.setdefault(value, len(of_question))
        cells = zip(*labels[has_value, :3].T.tolist(), strict=True)
        labels[has_value, 3] = [codes.get(cell, -1) for cell in cells]
    else:
        has_value = np.zeros(len(labels), dtype=bool)
    chosen = labels[~has_value, 3]
    labels[~has_value, 3] = _Keys(option).places(chosen)
    labels[:, 0], labels[:, 1] = assignment.places(labels[:, 0]), column.places(labels[:, 1])
    labels[:, 2] = _Keys(question).places(labels[:, 2])
    # What came or changed between two queries is left for the next report.
    labels = labels[(labels[:, :4] >= 0).all(axis=1)]
    in_order: SmallArray = labels[np.lexsort((labels[:, 2], labels[:, 1], labels[:, 0]))].astype(np.int32)
    del labels
    for number, of_question in enumerate(said):
        if of_question:  # numbered as they were met; now in their order
            place = np.argsort(np.argsort(np.array([*of_question], dtype=object)))
            mine = in_order[:, 2] == number
            in_order[mine, 3] = place[in_order[mine, 3]]
    values = tuple(tuple(sorted(of_question)) for of_question in said) if told_by_values else ()
    worded = np.ascontiguousarray(in_order[:, N_VALUES:].ravel())
    in_order = in_order if wordings is None else np.ascontiguousarray(in_order[:, :N_VALUES])
    return in_order, values, has_notes, has_drafts, worded


def _drafts(found: QuerySet[Any], places: _Places, labels: SmallArray) -> tuple[DraftEntry, ...]:
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


def _accepted(standing: Now, table: LabelTable, places: _Places) -> tuple[AcceptedEntry, ...]:
    """The judges' labels that were accepted under a certificate, the last one, and still say what was accepted."""
    finder: _Finder | None = None
    entries: dict[int, AcceptedEntry] = {}
    for *cell, code, digest, revoked in _of_certificates(standing):
        finder = finder or _Finder(table.labels, places)
        place = finder.place(*cell)
        if place is not None and table.code_of(place) == code:
            entries[place] = AcceptedEntry(place, digest[:SHORT], revoked)
    return tuple(entries[place] for place in sorted(entries))


def _of_certificates(standing: Now) -> Iterator[tuple[Any, ...]]:
    cells = Accepted.objects.filter(standing.happened("takeover__at"), takeover__certificate__study=standing.study)
    revoked = standing.happened("takeover__certificate__revocation__at")
    cells = cells.annotate(revoked=Case(When(revoked, then=True), default=False, output_field=BooleanField()))
    names = (*_CELL, "code", "takeover__certificate__digest", "revoked")
    return cells.order_by("takeover", "pk").values_list(*names).iterator(chunk_size=_CHUNK)


def _cells(found: Iterable[tuple[int, int, int, str]], places: _Places) -> Iterator[tuple[int, int, int, str]]:
    assignment, column, question, _option = places
    return ((assignment[a], column[c], question[q], said) for a, c, q, said in found if a in assignment and c in column)


class _Finder:
    """From an assignment, a column and a question of the database to the place of their label."""

    def __init__(self, labels: SmallArray, places: _Places) -> None:
        self._places = places
        self._place = {key: place for place, key in enumerate(zip(*labels[:, :3].T.tolist(), strict=True))}

    def place(self, assignment: int, column: int, question: int) -> int | None:
        of = self._places
        if assignment not in of.assignment or column not in of.column:
            return None
        return self._place.get((of.assignment[assignment], of.column[column], of.question[question]))


def _notes(found: QuerySet[Any], places: _Places, labels: SmallArray) -> dict[int, str]:
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
    rater_of = table.assignments.rater
    question_of = labels[:, 2].tolist()
    normalised: dict[int, RaterEntry] = {}
    fitted = {code: _fitted(table.slug, code, name) for code, name in anew.items() if name.startswith(_CALIBRATION)}
    for cell, stored in _stored_scores(scored):
        if (of_options := cloze.stored_options(stored)) is None:
            continue
        finder = finder or _Finder(table.labels, places)
        place = finder.place(*cell)
        if place is None:
            continue
        question = question_of[place]
        number = int(rater_of[places.assignment[cell[0]]])
        if number not in normalised:
            normalised[number] = _normalised(raters[number], stored, anew, fitted)
        section, spec = table.questions[question]
        by = _calibration(normalised[number], stored, f"{section.key}.{spec.key}", fitted)
        if by is not None:
            of_options = {key: asdict(score) for key, score in calibrated_options(of_options, by).items()}
        of_keys = [_VALUES(of_options[key]) if key in of_options else _NOT_SCORED for key in keys[question]]
        values.append(of_keys + filling[question])
        place_of.append(place)
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


def _fitted(study: str, code: str, name: str) -> FittedCalibration:
    number = name.removeprefix(_CALIBRATION)
    found = FittedCalibration.objects.filter(study__slug=study, rater__code=code)
    one = found.filter(pk=int(number)).first() if number.isdecimal() and len(number) < 19 else None
    if one is None:
        raise Refused(_("“%(judge)s” has no calibration “%(name)s” in this study.") % {"judge": code, "name": name})
    return one


def _normalised(
    rater: RaterEntry, stored: Mapping[str, Any], anew: Mapping[str, str], fitted: Mapping[str, FittedCalibration]
) -> RaterEntry:
    """What its scores become is in its name: a calibrated score is compared as it is."""
    its_own = stored.get("normalisation", "")
    if stored.get("calibration"):
        its_own += ", calibrated"
    chosen = fitted[rater.code].said if rater.code in fitted else anew.get(rater.code, its_own)
    return replace(rater, normalisation=chosen, anew=chosen != its_own)


def _calibration(
    rater: RaterEntry, stored: Mapping[str, Any], question: str, fitted: Mapping[str, FittedCalibration]
) -> Calibration | None:
    """By which a label is chosen besides: what was fitted; of a label as it was given, what it was chosen by."""
    if rater.code in fitted:
        unchanged = Calibration(normalisation=stored["normalisation"])
        return fitted[rater.code].of(question) or unchanged
    by = stored.get("calibration")
    return Calibration.model_validate(by) if by and not rater.anew else None


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


def rows_about(study: Study, table: LabelTable) -> tuple[RowAbout, ...]:
    """Title, address and language of each row of the table, as the study has them now; of one that is gone none.
    One query."""
    rows = Row.objects.filter(sheet__study=study).order_by()
    stored = rows.values_list("sheet__title", "name", "title", "url", "language").iterator(chunk_size=_CHUNK)
    found = {(sheet, name): RowAbout(*about) for sheet, name, *about in stored}
    return tuple(found.get((table.sheets[row.sheet], row.name), RowAbout()) for row in table.rows)


def row_texts(study: Study, table: LabelTable) -> Iterator[RowText]:
    """The texts of the rows of the table that are still there, as they are now. One query, read in parts."""
    wanted = {(table.sheets[row.sheet], row.name) for row in table.rows}
    rows = Row.objects.filter(sheet__study=study).select_related("sheet").order_by("sheet__position", "position")
    for row in rows.iterator(chunk_size=_AT_ONCE):
        if (row.sheet.title, row.name) in wanted:
            blocks = [(block.kind, block.text) for block in row.blocks]
            yield RowText(row.sheet.title, row.name, row.title, row.url, row.language, blocks)


def blocks_of_rows(study: Study, table: LabelTable) -> Iterator[tuple[str, ...]]:
    """Of each row of the table the texts of its blocks, as they are now; of one that is gone none. One query, and one
    for every 500 rows."""
    rows = Row.objects.filter(sheet__study=study).order_by()
    stored = rows.values_list("sheet__title", "name", "pk").iterator(chunk_size=_CHUNK)
    keys = {(sheet, name): pk for sheet, name, pk in stored}
    of_table = [keys.get((table.sheets[row.sheet], row.name), 0) for row in table.rows]
    del keys
    for start in range(0, len(of_table), _FEW):
        some = of_table[start : start + _FEW]
        found = dict(rows.filter(pk__in=[pk for pk in some if pk]).values_list("pk", "evidence"))
        for pk in some:
            yield tuple(block["text"] for block in found.get(pk, ()))


def scored_judges(study: Study) -> list[str]:
    """Codes of the judges whose labels may be chosen anew: those that scored the options with a model. One query."""
    runs = Run.objects.filter(study=study, judge__method__in=SCORES)
    return sorted(set(runs.values_list("rater__code", flat=True)), key=natural)
