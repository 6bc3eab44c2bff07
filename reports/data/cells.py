"""The cells of a label table, as the arrays of `reports.data.arrays`: who was to fill them, what stands there. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.scheme.spec import Kind, QuestionSpec, SectionSpec
from llm.engine.normalisation import normalised
from reports.data.arrays import (
    DAWID_SKENE,
    INCLUDE,
    MAJORITY,
    PEOPLE,
    WEIGHED,
    Again,
    BoolArray,
    Filled,
    Filters,
    MissingCells,
    NoLabel,
    QuestionData,
    StudyData,
    Voice,
    Weight,
    Work,
    voice_of,
)
from reports.data.graphs import GraphData, graphs
from reports.data.label_table import (
    CHARACTERS,
    LOGPROB,
    TOKENS,
    UNCONDITIONAL,
    FloatArray,
    LabelTable,
    RaterEntry,
)
from reports.data.values import value_words
from reports.stats.answers import Answers, IntArray
from reports.stats.distinct import distinct
from reports.stats.summary import Empty

_TEXTS = (Kind.TEXT, Kind.ITEMS)
# Beside `Empty`: a cell that was answered or skipped by a wording that the filters leave out, or not asked because of
# such an answer. It is none that was to be filled, and is taken out before anything is counted.
_OTHER_WORDING = -4


def study_data(table: LabelTable, filters: Filters) -> StudyData:
    """The arrays of a table that was made under these filters. Repeats after the first are left out, but for what is
    said of them alone."""
    cells = _Cells(table, filters)

    def of_kind(kind: str) -> tuple[RaterEntry, ...]:
        return tuple(rater for rater in table.raters if rater.kind == kind)

    people, golds = of_kind("person"), of_kind("gold")
    judges = tuple(judge for judge in of_kind("judge") if cells.rater_place[judge.code] not in cells.otherwise_worded)
    questions = [
        question
        for question in _questions(cells, people, judges, golds, filters)
        if not filters.questions or question.name in filters.questions
    ]
    again = _again(table, judges, filters)
    questions = [replace(of, again=again[of.name]) if of.name in again else of for of in questions]
    return StudyData(
        table=table,
        people=people,
        judges=judges,
        golds=golds,
        work=cells.work(),
        questions=tuple(question for question in questions if question.values is None),
        value_questions=tuple(question for question in questions if question.values is not None),
        n_columns=cells.n_columns,
    )


def _again(table: LabelTable, judges: Sequence[RaterEntry], filters: Filters) -> dict[str, dict[int, Again]]:
    """By question and repeat after the first what judges wrote, of questions that are answered by texts and lists."""
    asked = [f"{section.key}.{spec.key}" for section, spec in table.questions if spec.kind in _TEXTS]
    if filters.before_runs or not asked:
        return {}
    of_judges = np.isin(table.assignments.rater, [place for place, of in enumerate(table.raters) if of in judges])
    found: dict[str, dict[int, Again]] = defaultdict(dict)
    filters = replace(filters, voices=())  # nobody's selections are read
    for repeat in np.unique(table.assignments.repeat[of_judges]).tolist():
        if repeat > 1:
            for of in _questions(_Cells(table, filters, repeat=repeat), (), judges, (), filters):
                if of.name in asked and (of.written or any(none.cells for none in of.no_label.values())):
                    found[of.name][repeat] = Again(of.written, of.no_label)
    return found


class _Cells:
    """The cells that some raters were to fill in one repeat, and what stands in them."""

    def __init__(self, table: LabelTable, filters: Filters, *, repeat: int = 1) -> None:
        self.table, self.with_exposed = table, filters.exposure == INCLUDE
        self.share_bounds = filters.share_bounds
        self.sheet_of_row = _ints(row.sheet for row in table.rows)
        self.columns_of: dict[tuple[int, str], list[int]] = defaultdict(list)  # (sheet, section) -> places
        for place, column in enumerate(table.columns):
            self.columns_of[column.sheet, column.section].append(place)
        self.n_columns = max(len(table.columns), 1)
        self.rater_place = {rater.code: place for place, rater in enumerate(table.raters)}

        self.rater = table.assignments.rater.astype(np.int64)
        self.row = table.assignments.row.astype(np.int64)
        self.repeat = table.assignments.repeat
        self.first = self.repeat == repeat
        self.counted = self.first & table.assignments.are("submitted") if filters.submitted_only else self.first
        self.words = [
            None if spec.options else value_words(spec, table.values_of(number))
            for number, (_section, spec) in enumerate(table.questions)
        ]
        self.skips = [skip for skip in table.skips if self.counted[skip.assignment]]
        self.unreadable = [answer for answer in table.unreadable if self.counted[answer.assignment]]
        drafted = np.zeros(len(table.labels), dtype=bool)
        drafted[[draft.label for draft in table.drafts]] = True
        counts = self.counted[table.labels[:, 0]]
        counts[[draft.label for draft in table.drafts if not draft.confirmed]] = False
        self._labels = [
            self._answered(np.flatnonzero(counts & (table.labels[:, 2] == number)), number, drafted)
            for number in range(len(table.questions))
        ]
        others = table.of_other_wordings
        self.of_other_wordings = others[self.counted[others[:, 0]]]
        # Raters whose labels were all given by such wordings.
        self.otherwise_worded = {*self._raters_of(self.of_other_wordings)}
        if self.otherwise_worded:
            self.otherwise_worded -= {*self._raters_of(table.labels)}
        # Assignments of which something came: those that a plan gave to a judge that has not run are none of them.
        self.begun = table.assignments.are("submitted")
        for of_question in self._labels:
            self.begun[of_question[:, 0]] = True

    def _raters_of(self, cells: npt.NDArray[np.int32]) -> list[int]:
        """Who has labels among these lines of a table, whose first value is the assignment."""
        found: list[int] = distinct(self.rater[cells[:, 0]]).tolist()
        return found

    def _answered(self, places: IntArray, question: int, drafted: BoolArray) -> IntArray:
        """The labels of a question at these places, as `labels`: without drafts that nobody has confirmed, which are no
        answer yet; a drafted one was given after a look."""
        words = self.words[question]
        labels = np.empty((places.size, 5), dtype=np.int64)
        for column, of_table in enumerate((0, 1, 3, 5, 3)):
            labels[:, column] = self.table.labels[places, of_table]
        if words is not None:
            labels[:, 2] = words.key_of[labels[:, 2]]
        labels[drafted[places], 3] = 1
        return labels

    def answered(self) -> set[tuple[int, int]]:
        """Places of raters, and questions that they have answered themselves, legibly or not: not by what follows from
        a column. Who has answered some and not a single cell of another was not asked that."""
        labels = self.table.labels
        own = labels[labels[:, 4] == 0]
        n = max(len(self.table.questions), 1)
        pairs = distinct(self.rater[own[:, 0]] * n + own[:, 2])
        found = {divmod(pair, n) for pair in pairs.tolist()}
        return found | {(int(self.rater[one.assignment]), one.question) for one in self.table.unreadable}

    def n_options(self, question: int) -> int:
        """How many codes its answers may have; at least one."""
        words = self.words[question]
        return len(self.table.questions[question][1].options) if words is None else max(len(words), 1)

    def labels(self, question: int) -> IntArray:
        """Shape (n_labels, 5): places of assignment and column, code of the option, 1 where given after a look, code of
        a value as it is spelled."""
        return self._labels[question]

    def asked(self, section: SectionSpec) -> IntArray:
        """Places of the assignments that ask this section, whether their labels count or not."""
        asked = self.first.copy()
        asked[[place for place, keys in self.table.assignments.sections.items() if section.key not in keys]] = False
        places: IntArray = np.flatnonzero(asked)
        return places

    def assigned(self, section: SectionSpec) -> IntArray:
        """The sheet and the rater of those who are to answer there, each once, shape (n, 2)."""
        asked = self.asked(section)
        n_raters = len(self.table.raters)
        has = distinct(self.sheet_of_row[self.row[asked]].astype(np.int64) * n_raters + self.rater[asked])
        return np.stack(np.divmod(has, max(n_raters, 1)), axis=-1)

    def cells_of(self, assignments: IntArray, section: SectionSpec) -> IntArray:
        """The section's cells of these assignments: place of the assignment × n_columns + place of the column."""
        sheets = self.sheet_of_row[self.row[assignments]]
        parts = [np.zeros(0, dtype=np.int64)]
        for sheet in np.unique(sheets).tolist():
            columns = np.array(self.columns_of[sheet, section.key], dtype=np.int64)
            parts.append((assignments[sheets == sheet, np.newaxis] * self.n_columns + columns).ravel())
        return np.sort(np.concatenate(parts))

    def work(self) -> tuple[Work, ...]:
        n_raters = len(self.table.raters)
        labels = np.zeros(n_raters, dtype=np.int64)
        for of_question in self._labels:
            labels += np.bincount(self.rater[of_question[:, 0]], minlength=n_raters)
        exposed = np.zeros(n_raters, dtype=np.int64)
        for of_question in self._labels:
            exposed += np.bincount(self.rater[of_question[of_question[:, 3] == 1, 0]], minlength=n_raters)
        rows = np.bincount(self.rater[self.counted], minlength=n_raters)
        states = ("submitted", "failed")
        in_state = {
            state: np.bincount(self.rater[self.counted & self.table.assignments.are(state)], minlength=n_raters)
            for state in states
        }
        others = self.of_other_wordings
        other = np.bincount(self.rater[others[others[:, 3] == 1, 0]], minlength=n_raters)
        skipped = Counter(self.rater[skip.assignment] for skip in self.skips)
        unreadable = Counter(self.rater[answer.assignment] for answer in self.unreadable)
        return tuple(
            Work(
                rater=rater,
                rows=int(rows[place]),
                submitted=int(in_state["submitted"][place]),
                failed=int(in_state["failed"][place]),
                labels=int(labels[place]),
                exposed=int(exposed[place]),
                skipped=skipped[place],
                unreadable=unreadable[place],
                of_other_wordings=int(other[place]),
            )
            for place, rater in enumerate(self.table.raters)
        )


def _questions(
    cells: _Cells,
    people: Sequence[RaterEntry],
    judges: Sequence[RaterEntry],
    golds: Sequence[RaterEntry],
    filters: Filters,
) -> Iterator[QuestionData]:
    heard = _heard(people, judges, golds, filters)
    answered = cells.answered()
    answering = {rater for rater, _question in answered}
    filled: dict[tuple[str, str, str], Filled] = {}
    skipped: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for skip in cells.skips:
        skipped[int(cells.rater[skip.assignment]), skip.question][skip.reason] += 1
    for number, (section, spec) in enumerate(cells.table.questions):
        asked = cells.asked(section)
        asked = asked[cells.counted[asked]]
        at_work = set(cells.rater[asked].tolist())
        answers = partial(_answers, cells, number, n_options=cells.n_options(number))
        of_raters = {PEOPLE: people, **{voice_of(one.code): [one] for one in (*judges, *golds, *people)}}
        from_files = [] if filters.before_left_out else _from_files(section, judges)
        texts_from_files = from_files if spec.kind in _TEXTS else []
        for name in {PEOPLE, *heard, *map(voice_of, from_files)} - {MAJORITY, *WEIGHED}:
            mine = np.isin(cells.rater[asked], [cells.rater_place[of.code] for of in of_raters[name]])
            filled[name, section.key, spec.key] = _filled(cells, number, section, spec, asked[mine], name, filled)
        together: dict[str, _Together] = {}
        for name in (MAJORITY, *WEIGHED):
            if name in heard:
                together[name] = _together(cells, number, section, spec, filled, name, filters)
                filled[name, section.key, spec.key] = together[name].filled
        of_judges = [
            judge
            for judge in judges
            if (place := cells.rater_place[judge.code]) in at_work
            and (
                filters.all_judges
                or judge.code in texts_from_files
                or (place, number) in answered
                or place not in answering
            )
        ]
        labels = cells.labels(number)
        no_label = {
            judge.code: _no_label(
                cells,
                number,
                section,
                asked,
                judge,
                filled[voice_of(judge.code), section.key, spec.key] if judge.code in texts_from_files else None,
                filters,
            )
            for judge in of_judges
        }
        compared = np.isin(cells.rater[labels[:, 0]], [cells.rater_place[of.code] for of in (*people, *judges)])
        yield QuestionData(
            section=section,
            spec=spec,
            people=answers(people, assigned=cells.assigned(section)),
            selections=_to_fill(filled[PEOPLE, section.key, spec.key]).code,
            judges={judge.code: answers([judge]) for judge in of_judges},
            golds={gold.code: answers([gold], whole=True) for gold in golds if cells.rater_place[gold.code] in at_work},
            repeats={judge.code: again for judge in judges if (again := _repeats(cells, number, judge)) is not None},
            scores={judge.code: found for judge in judges if (found := _scores(cells, number, judge)) is not None},
            no_label=no_label,
            n_exposed=int(labels[compared, 3].sum()),
            values=cells.words[number],
            voices=tuple(_voices(cells, section, spec, heard, filled, together, filters)) if spec.options else (),
            **_written(cells, number, spec, (*people, *of_judges, *golds), filters),
            graphs=_graphs(cells, number, section, golds)
            if spec.kind == Kind.TRANSITIONS and not filters.before_graphs
            else None,
            missing=(
                *_missing_of_people(
                    cells, number, people, _to_fill(filled[PEOPLE, section.key, spec.key]), skipped, filters
                ),
                *_missing_of_judges(of_judges, no_label),
            ),
        )


def _voices(
    cells: _Cells,
    section: SectionSpec,
    spec: QuestionSpec,
    heard: Mapping[str, RaterEntry | None],
    filled: Mapping[tuple[str, str, str], Filled],
    together: Mapping[str, _Together],
    filters: Filters,
) -> Iterator[Voice]:
    told_apart = bool(spec.merges) or f"{section.key}.{spec.key}" in filters.found
    for name, rater in heard.items():
        mine, one = filled[name, section.key, spec.key], together.get(name)
        yield Voice(
            name=name,
            rater=rater,
            selections=_to_fill(mine).code,
            answers=_heard_answers(cells, spec, rater, mine)
            if told_apart
            else Answers.from_long(rater=[], cell=[], sheet=[], code=[], n_options=len(spec.options) + 1),
            n_ties=one.n_ties if one and name == MAJORITY else 0,
            weights=one.weights if one else (),
            because=one.because if one else "",
        )


def _missing_of_people(
    cells: _Cells,
    question: int,
    people: Sequence[RaterEntry],
    filled: Filled,
    skipped: Mapping[tuple[int, int], Counter[str]],
    filters: Filters,
) -> Iterator[MissingCells]:
    n_raters = len(cells.table.raters)
    given = np.bincount(filled.rater, minlength=n_raters)
    gone = np.array([row.withdrawn for row in cells.table.rows], dtype=bool)[filled.row]
    open_cells = filled.code == Empty.NOT_REACHED
    counts = {
        "not-reached": np.bincount(filled.rater[open_cells & ~gone], minlength=n_raters),
        "withdrawn": np.bincount(filled.rater[open_cells & gone], minlength=n_raters),
        "not-asked": np.bincount(filled.rater[filled.code == Empty.NOT_ASKED], minlength=n_raters),
    }
    if not filters.before_left_open:
        counts["left-open"] = np.bincount(filled.rater[filled.code == Empty.LEFT_OPEN], minlength=n_raters)
    for person in people:
        place = cells.rater_place[person.code]
        of = int(given[place])
        said: Counter[str] = skipped.get((place, question), Counter())
        for reason, n in sorted(said.items(), key=lambda one: (-one[1], one[0])):
            yield MissingCells(person, "skipped", reason, n, of)
        for why, n_of in counts.items():
            if n_of[place]:
                yield MissingCells(person, why, "", int(n_of[place]), of)


def _missing_of_judges(judges: Sequence[RaterEntry], no_label: Mapping[str, NoLabel]) -> Iterator[MissingCells]:
    for judge in judges:
        of = no_label[judge.code]
        for reason, n in sorted(Counter(of.why).items()):
            yield MissingCells(judge, "unreadable", reason, n, None)
        if of.failed.size:
            yield MissingCells(judge, "failed", "", of.failed.size, None)


def _written(
    cells: _Cells, question: int, spec: QuestionSpec, raters: Sequence[RaterEntry], filters: Filters
) -> dict[str, Any]:
    """What each rater wrote, of questions that are answered by texts and lists."""
    if spec.kind not in _TEXTS or filters.without_texts:
        return {}
    spellings = cells.table.values_of(question)
    written = {
        rater.code: _answers(
            cells, question, [rater], n_options=max(len(spellings), 1), whole=rater.kind == "gold", spelled=True
        )
        for rater in raters
    }
    return {"written": {code: said for code, said in written.items() if said.cell.size}, "spellings": spellings}


def _graphs(cells: _Cells, question: int, section: SectionSpec, golds: Sequence[RaterEntry]) -> GraphData:
    """Of all raters, without labels given after a look at others' where these are left out; gold is decided by one."""
    labels, words = cells.labels(question), cells.words[question]
    assert words is not None
    whole = cells.with_exposed | np.isin(cells.rater[labels[:, 0]], [cells.rater_place[of.code] for of in golds])
    kept = labels[whole | (labels[:, 3] == 0)]
    columns = {sheet: of for (sheet, key), of in cells.columns_of.items() if key == section.key}
    return graphs(cells.table, cells.table.questions[question][1], columns, kept[:, :3], words)


def _heard(
    people: Sequence[RaterEntry], judges: Sequence[RaterEntry], golds: Sequence[RaterEntry], filters: Filters
) -> dict[str, RaterEntry | None]:
    """Whose answers are read, in the order of the report: as the filters say; else people's, or, where there are none,
    each judge's."""
    all_of_them: dict[str, RaterEntry | None] = dict.fromkeys((PEOPLE, MAJORITY, *WEIGHED))
    all_of_them |= {voice_of(rater.code): rater for rater in (*people, *judges, *golds)}
    chosen = [name for name in all_of_them if name in filters.voices]
    if filters.first_coverage or (not chosen and (people or not judges)):
        chosen = [PEOPLE]
    return {name: all_of_them[name] for name in chosen or [voice_of(judge.code) for judge in judges]}


def _filled(
    cells: _Cells,
    question: int,
    section: SectionSpec,
    spec: QuestionSpec,
    assignments: IntArray,
    voice: str,
    filled: Mapping[tuple[str, str, str], Filled],
) -> Filled:
    """The section's cells of these assignments. What the voice's own answers switch off is not asked."""
    owned, codes, exposed = _selections(cells, question, section, assignments)
    other_wording = np.zeros(owned.size, dtype=bool)
    for other, options in spec.ask_unless.items():
        # What was not asked itself switches off what depends on it. All questions of a section have the same cells.
        above = filled[voice, section.key, other]
        off_here = np.isin(above.code, [*_codes_of(cells, section, other, options), Empty.NOT_ASKED])
        off_here &= codes == Empty.NOT_REACHED
        codes[off_here] = Empty.NOT_ASKED
        exposed |= off_here & above.exposed
        other_wording |= above.code == _OTHER_WORDING
    codes[other_wording & (codes == Empty.NOT_REACHED)] = _OTHER_WORDING
    assignment = owned // cells.n_columns
    if spec.optional:
        codes[(codes == Empty.NOT_REACHED) & cells.table.assignments.are("submitted")[assignment]] = Empty.LEFT_OPEN
    row = cells.row[assignment]
    cell = row * cells.n_columns + owned % cells.n_columns
    return Filled(rater=cells.rater[assignment], cell=cell, row=row, code=codes, exposed=exposed)


def _to_fill(filled: Filled) -> Filled:
    """Without the cells of other wordings."""
    kept = filled.code != _OTHER_WORDING
    if kept.all():
        return filled
    return Filled(*(of[kept] for of in (filled.rater, filled.cell, filled.row, filled.code, filled.exposed)))


@dataclass(frozen=True, eq=False)
class _Together:
    """One answer a cell; see `Voice` for the rest."""

    filled: Filled
    n_ties: int
    weights: tuple[Weight, ...] = ()
    because: str = ""


def _together(
    cells: _Cells,
    question: int,
    section: SectionSpec,
    spec: QuestionSpec,
    filled: Mapping[tuple[str, str, str], Filled],
    name: str,
    filters: Filters,
) -> _Together:
    """What people said in each cell, taken together. Every cell that a person was to fill is there once.

    `MAJORITY`: what most of them answered, of several equally frequent options the first, and in how many cells there
    were several. One of `WEIGHED`: what the model takes for the most probable; questions without options have their
    majority there.
    """
    people = filled[PEOPLE, section.key, spec.key]
    cell, first = np.unique(people.cell, return_index=True)
    counts = np.zeros((cell.size, cells.n_options(question)), dtype=np.int64)
    heard = (people.code >= 0) & (~people.exposed | cells.with_exposed)
    np.add.at(counts, (np.searchsorted(cell, people.cell[heard]), people.code[heard]), 1)
    answered = counts.sum(axis=1) > 0
    most = counts.argmax(axis=1)
    weights: tuple[Weight, ...] = ()
    because = ""
    if name in WEIGHED and spec.options:
        said = Answers.from_long(
            rater=people.rater[heard],
            cell=people.cell[heard],
            sheet=cells.sheet_of_row[people.row[heard]],
            code=people.code[heard],
            document=people.row[heard],
            n_options=cells.n_options(question),
        )
        known, of_model, weights, because = _weighed(cells, said, name)
        most[np.searchsorted(cell, known)] = of_model
    code = np.where(answered, most, Empty.NOT_REACHED)
    if spec.optional and not filters.before_left_open:
        others = np.isin(cell, people.cell[people.code != Empty.LEFT_OPEN])
        code[~others] = Empty.LEFT_OPEN  # by all of them
    code[np.isin(cell, people.cell[people.code == _OTHER_WORDING]) & ~answered] = _OTHER_WORDING
    for other, options in spec.ask_unless.items():
        off = [*_codes_of(cells, section, other, options), Empty.NOT_ASKED]
        code[np.isin(filled[name, section.key, other].code, off)] = Empty.NOT_ASKED
    best = (counts == counts.max(axis=1, initial=0)[:, np.newaxis]).sum(axis=1)
    n_ties = int((answered & (best > 1) & (code >= 0)).sum())
    rater = np.zeros(cell.size, dtype=np.int64)
    of_cells = Filled(rater, cell, people.row[first], code, np.zeros(cell.size, dtype=bool))
    return _Together(of_cells, n_ties, weights, because)


def _weighed(cells: _Cells, said: Answers, name: str) -> tuple[IntArray, IntArray, tuple[Weight, ...], str]:
    """Cells, their options, what the model makes of each person, and why it makes nothing of them."""
    raters = cells.table.raters
    if name == DAWID_SKENE:
        from reports.stats.consensus import dawid_skene  # SciPy comes with it

        model = dawid_skene(rater=said.rater, cell=said.cell, code=said.code, n_options=said.n_options)
        of_people = tuple(Weight(raters[of.rater], of.accuracy, None, None, None, of.n) for of in model.raters)
        return model.cell, model.code, of_people, model.reason
    from reports.stats.abilities import abilities

    found = abilities(said, by="document", bounds=cells.share_bounds)
    able = tuple(
        Weight(raters[of.rater], of.right.value, of.right.low, of.right.high, of.ability, of.n) for of in found.raters
    )
    return found.cell, found.code, able, found.reason


def _heard_answers(cells: _Cells, spec: QuestionSpec, rater: RaterEntry | None, filled: Filled) -> Answers:
    """The answers of a voice that coverage rests on, see `Voice`. Gold is decided by a look, and counts as it is."""
    k = len(spec.options)
    code = np.where(filled.code == Empty.NOT_ASKED, k, filled.code)
    blank = [number for number, option in enumerate(spec.options) if option.blank]
    kept = (code >= 0) & ~np.isin(code, blank)
    if not (cells.with_exposed or (rater is not None and rater.kind == "gold")):
        kept &= ~filled.exposed
    if spec.preset is not None:
        facet = spec.preset.when_empty
        empty = np.array([not column.facets.get(facet, "").strip() for column in cells.table.columns], dtype=bool)
        kept &= ~empty[filled.cell % cells.n_columns] if empty.size else kept
    return Answers.from_long(
        rater=filled.rater[kept],
        cell=filled.cell[kept],
        sheet=cells.sheet_of_row[filled.row[kept]],
        code=code[kept],
        document=filled.row[kept],
        n_options=k + 1,
    )


def _codes_of(cells: _Cells, section: SectionSpec, question: str, named: Sequence[str]) -> list[int]:
    """The codes of the options, or special values, that a rule names."""
    numbers = {(of.key, spec.key): number for number, (of, spec) in enumerate(cells.table.questions)}
    words = cells.words[numbers[section.key, question]]
    known = words.words if words is not None else [option.key for option in section.question(question).options]
    return [code for code, word in enumerate(known) if word in named]


def _answers(
    cells: _Cells,
    question: int,
    raters: Sequence[RaterEntry],
    *,
    n_options: int,
    assigned: IntArray | None = None,
    whole: bool = False,
    spelled: bool = False,
) -> Answers:
    """
    Args:
        spelled: answers that are the same in the question's own sense are told apart.
        whole: with the labels given after a look at others', whatever the filters say: gold is decided by a look.
    """
    labels = cells.labels(question)
    rater = cells.rater[labels[:, 0]]
    mine = np.isin(rater, [cells.rater_place[of.code] for of in raters])
    if not (whole or cells.with_exposed):
        mine &= labels[:, 3] == 0
    if not mine.all():
        labels, rater = labels[mine], rater[mine]
    del mine
    row = cells.row[labels[:, 0]]
    return Answers.from_long(
        rater=rater,
        cell=row * cells.n_columns + labels[:, 1],
        sheet=cells.sheet_of_row[row],
        code=labels[:, 4 if spelled else 2].copy(),  # a part of the array would keep the whole of it
        document=row,
        n_options=n_options,
        assigned=assigned,
    )


def _from_files(section: SectionSpec, judges: Sequence[RaterEntry]) -> list[str]:
    """Codes of the judges whose texts came from a file, where a section asks for texts: a judge that writes them here
    has a model."""
    if not any(spec.kind in _TEXTS for spec in section.questions):
        return []
    return [judge.code for judge in judges if not judge.model]


def _no_label(
    cells: _Cells,
    question: int,
    section: SectionSpec,
    asked: IntArray,
    judge: RaterEntry,
    filled: Filled | None,
    filters: Filters,
) -> NoLabel:
    """`filled`: the cells of a judge whose labels came from a file."""
    rater, work = cells.rater_place[judge.code], cells.table.assignments
    mine = [of for of in cells.unreadable if of.question == question and work[of.assignment].rater == rater]
    asked = asked[cells.rater[asked] == rater]
    owned = cells.cells_of(asked[work.are("failed")[asked]], section)
    left_out = _ints(())
    others = cells.of_other_wordings
    others = others[(others[:, 2] == question) & (cells.rater[others[:, 0]] == rater)]
    if filled is not None:
        begun = np.isin(filled.row, cells.row[asked[cells.begun[asked]]])
        lost = [Empty.NOT_REACHED] if filters.before_left_open else [Empty.NOT_REACHED, Empty.LEFT_OPEN]
        left_out = filled.cell[begun & np.isin(filled.code, lost)]
    return NoLabel(
        unreadable=_ints(int(cells.row[of.assignment]) * cells.n_columns + of.column for of in mine),
        why=tuple(of.why for of in mine),
        failed=cells.row[owned // cells.n_columns] * cells.n_columns + owned % cells.n_columns,
        left_out=left_out,
        of_other_wordings=cells.row[others[:, 0]] * cells.n_columns + others[:, 1],
    )


def _repeats(cells: _Cells, question: int, judge: RaterEntry) -> Answers | None:
    if cells.first.all():
        return None
    labels = cells.table.labels
    mine = (cells.rater[labels[:, 0]] == cells.rater_place[judge.code]) & (labels[:, 2] == question)
    repeat = cells.repeat[labels[mine, 0]]
    if np.unique(repeat).size < 2:
        return None
    row = cells.row[labels[mine, 0]]
    words = cells.words[question]
    return Answers.from_long(
        rater=repeat,
        cell=row * cells.n_columns + labels[mine, 1],
        sheet=cells.sheet_of_row[row],
        code=labels[mine, 3] if words is None else words.key_of[labels[mine, 3]],
        document=row,
        n_options=cells.n_options(question),
    )


def _scores(cells: _Cells, question: int, judge: RaterEntry) -> tuple[IntArray, FloatArray] | None:
    table = cells.table
    if not table.scored.size:
        return None
    labels = table.labels[table.scored]
    mine = (cells.rater[labels[:, 0]] == cells.rater_place[judge.code]) & cells.first[labels[:, 0]]
    mine &= labels[:, 2] == question
    if not mine.any():
        return None
    cell = cells.row[labels[mine, 0]] * cells.n_columns + labels[mine, 1]
    n_options = len(table.questions[question][1].options)
    return cell, _normalised(table.scores[mine, :n_options], judge.normalisation)


def _normalised(scores: FloatArray, normalisation: str) -> FloatArray:
    return normalised(
        normalisation,
        logprob=scores[..., LOGPROB],
        tokens=scores[..., TOKENS],
        characters=scores[..., CHARACTERS],
        unconditional=scores[..., UNCONDITIONAL],
    )


def _selections(
    cells: _Cells, question: int, section: SectionSpec, assignments: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """The cells of the assignments, as `_Cells.cells_of`; of each its code, the option, `SKIPPED`, `NOT_REACHED`, or
    `_OTHER_WORDING`; and whether it was given after a look at others'."""
    owned = cells.cells_of(assignments, section)
    codes = np.full(owned.size, Empty.NOT_REACHED, dtype=np.int64)
    skipped = _ints(s.assignment * cells.n_columns + s.column for s in cells.skips if s.question == question)
    codes[np.isin(owned, skipped)] = Empty.SKIPPED
    others = cells.of_other_wordings[cells.of_other_wordings[:, 2] == question].astype(np.int64)
    codes[np.isin(owned, others[:, 0] * cells.n_columns + others[:, 1])] = _OTHER_WORDING
    labels = cells.labels(question)
    labelled = labels[:, 0] * cells.n_columns + labels[:, 1]
    inside = np.isin(labelled, owned)
    codes[np.searchsorted(owned, labelled[inside])] = labels[inside, 2]
    exposed = np.zeros(owned.size, dtype=bool)
    exposed[np.searchsorted(owned, labelled[inside])] = labels[inside, 3] == 1
    return owned, codes, exposed


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)
