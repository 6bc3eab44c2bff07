"""A label table as the arrays that the statistics take. Pure: no database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.scheme.spec import Kind, QuestionSpec, SchemeSpec, SectionSpec, facet_word
from llm.encoders import FALLBACK
from llm.engine.normalisation import normalised
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
from reports.data.values import ValueWords, value_words
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import N_DRAWS
from reports.stats.graph.agreement import THRESHOLDS
from reports.stats.summary import Empty

BoolArray = npt.NDArray[np.bool_]

TOLD_APART = "told_apart"  # no merge; keys of merges hold no underscore

# What becomes of labels that were given after a look at others'.
LEAVE_OUT, INCLUDE = "leave_out", "include"

# The methods by which numbers are made; a frozen report is computed again by those of its day. docs/statistics.md says
# what each changed. 1: percentiles as they are, one tie rule, no corrected kappa. 2: intervals of few clusters are made
# wider, macro kappa stands beside the one without the bias of small sheets, ties of a majority are counted, a judge is
# held against people as they are against each other, and three people are the least of the Alternative Annotator Test.
# 3: coverage counts the exact option alone unless others are named, a document in which a question was not asked counts
# as one without the item, and any rater's answers can be read. 4: lists of two raters are held against each other entry
# by entry, texts are measured against references (exact match, ROUGE-L, BLEU, METEOR), and people's judgements of
# systems are counted; answers that are transitions are compared as graphs; draws that differ from the value by rounding
# only are ties of it, whatever processor adds them up.
METHODS = 4

# Whose answers selections and coverage are of, beside single raters: anybody's among people, and what most people said.
PEOPLE, MAJORITY = "people", "majority"


def voice_of(code: str) -> str:
    """By what name the rater of this code is chosen; codes may be the names above."""
    return f"rater.{code}"


@dataclass(frozen=True)
class Intervals:
    """How intervals are made: what is drawn ("document", "sheet", "" for none), how often, and the seed."""

    by: str = ""
    n_draws: int = N_DRAWS
    seed: int = 0
    expanded: bool = True

    @property
    def arguments(self) -> dict[str, Any]:
        """What the statistics take; nothing where no interval is asked for."""
        if not self.by:
            return {}
        return {"by": self.by, "n_draws": self.n_draws, "seed": self.seed, "expanded": self.expanded}


@dataclass(frozen=True)
class Filters:
    """What goes into a report; empty means all. Raters by code, sheets by their primary key, questions as
    "section.question".

    `merges`: "section.question" -> key of the merge, or `TOLD_APART`, under which people and judges are compared. A
    question that is not in it goes as the scheme says: people told apart, judges under its judge merge.
    `normalisations`: code of a judge -> the normalisation by which its labels are chosen anew from its stored scores.
    `exposure`: whether labels given after a look at others' are compared (`INCLUDE`) or not (`LEAVE_OUT`).
    `facets`: facet of rows -> its words, of which a row has to have one; hidden facets too. `group`: the facet by which
    figures are also told apart.
    `found`: "section.question" -> keys of the options that count as found, where it is not the first one alone.
    `voices`: whose answers selections and coverage are of: `PEOPLE`, `MAJORITY`, or `voice_of` a rater.
    `encoder`: by which names of things are compared, see `llm.encoders`; `thresholds`: how alike two have to be.
    `by`, `n_draws`, `seed`: how intervals are made, see `Intervals`. `methods`: see `METHODS`.
    `metrics`: keys of `reports.stats.text.metrics`, where they are not the default ones. `references`: codes of the
    raters whose texts others' are held against, where they are not gold's, or people's where there is no gold.
    `unanswered`: whether cells in which a judge was asked and has no text count as empty texts.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sheets: tuple[int, ...] = ()
    questions: tuple[str, ...] = ()
    merges: Mapping[str, str] = field(default_factory=dict)
    normalisations: Mapping[str, str] = field(default_factory=dict)
    submitted_only: bool = False
    exposure: str = LEAVE_OUT
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group: str = ""
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    voices: tuple[str, ...] = ()
    encoder: str = FALLBACK
    thresholds: tuple[float, ...] = THRESHOLDS
    by: str = ""
    n_draws: int = N_DRAWS
    seed: int = 0
    methods: int = METHODS
    metrics: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    unanswered: bool = False

    @property
    def intervals(self) -> Intervals:
        return Intervals(self.by, self.n_draws, self.seed, expanded=not self.first_methods)

    def to_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    def has_row(self, facets: Mapping[str, Any]) -> bool:
        """Whether a row with these facets goes in."""
        return all(facet_word(facets.get(name, "")) in words for name, words in self.facets.items())

    @property
    def first_methods(self) -> bool:
        """A frozen report of the first version of the methods is computed again."""
        return self.methods < 2

    @property
    def first_coverage(self) -> bool:
        """Coverage as before its third version: of people, by what a merge leaves as found, where it was asked."""
        return self.methods < 3

    @property
    def before_entries(self) -> bool:
        """Lists are held against each other as a whole only."""
        return self.methods < 4

    @property
    def exact_ties(self) -> bool:
        """Draws of a bootstrap that differ by rounding only are told apart."""
        return self.methods < 4

    @property
    def without_texts(self) -> bool:
        """No text is measured, as before methods 4."""
        return self.methods < 4

    @property
    def before_graphs(self) -> bool:
        """Answers that are transitions are told apart as any values are, and no graph is made of them."""
        return self.methods < 4

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Filters:
        values: dict[str, Any] = {name: tuple(of) if isinstance(of, list) else of for name, of in data.items()}
        for name in ("facets", "found"):
            values[name] = {key: tuple(words) for key, words in data.get(name, {}).items()}
        return cls(**{"methods": 1, **values})

    def seeds(self) -> dict[str, int]:
        """Where chance comes in, and with what seed."""
        return {"bootstrap": self.seed} if self.by else {}


@dataclass(frozen=True, eq=False)
class NoLabel:
    """The cells in which a judge that was to answer has no label, so far as it is known why; numbers of cells.

    `unreadable`: its answer held no verdict, `why` as in `judges.models.UnreadableAnswer.Why`; both of shape
    (n_unreadable,). `failed`: it could not label the row, shape (n_failed,).
    """

    unreadable: IntArray
    why: tuple[str, ...]
    failed: IntArray


@dataclass(frozen=True, eq=False)
class Filled:
    """The cells that one voice was to fill, each of shape (n_cells,): whose cell it is, the cell, and its row.

    `code`: the option, or the reason why there is none (`Empty`). `exposed`: the answer, or the one by which the cell
    is not asked, was given after a look at others'.
    """

    rater: IntArray
    cell: IntArray
    row: IntArray
    code: IntArray
    exposed: BoolArray


@dataclass(frozen=True, eq=False)
class Voice:
    """Whose answers are read: `name` as in `Filters.voices`, `rater` where it is one. `answers`: those that count, in
    the cells of items that have something to look for; a cell that was not asked has the code n_options. `n_ties`:
    cells of a majority in which several options were equally frequent, and the first was taken.
    """

    name: str
    rater: RaterEntry | None
    selections: IntArray
    answers: Answers
    n_ties: int = 0


@dataclass(frozen=True, eq=False)
class QuestionData:
    """One question's answers. People are numbered by their place in `StudyData.people`, sheets by theirs in `.sheets`.

    `selections`: one code a cell that a person was to fill, an option or the reason why it is empty, shape (n_cells,).
    `judges` and `golds`: by code, those that were to answer this question, whether they did or not. `scores`: of those
    judges that scored options, the cells, shape (n_scored,), and each option's score as the judge's normalisation left
    it, shape (n_scored, n_options), NaN where an option was not scored. `repeats`: of those judges that labelled
    several times, all labels, with the number of the repeat in the place of the rater. `no_label`: of each judge.
    `n_exposed`: labels of people and judges given after a look at others'; they are in `selections`, and in `people`
    and `judges` where the filters include them. `values`: what the codes stand for where the question has no options.
    `voices`: whose answers selections and coverage are of. `written`: of texts and lists what each rater wrote, letter
    by letter, by code; the codes of these answers are places in `spellings`, canonical JSON. `graphs`: what transitions
    draw, of everybody whose answers are compared.
    """

    section: SectionSpec
    spec: QuestionSpec
    people: Answers
    selections: IntArray
    judges: Mapping[str, Answers]
    golds: Mapping[str, Answers]
    scores: Mapping[str, tuple[IntArray, FloatArray]]
    repeats: Mapping[str, Answers]
    no_label: Mapping[str, NoLabel]
    n_exposed: int
    values: ValueWords | None = None
    voices: tuple[Voice, ...] = ()
    written: Mapping[str, Answers] = field(default_factory=dict)
    spellings: tuple[str, ...] = ()
    graphs: GraphData | None = None

    @property
    def name(self) -> str:
        return f"{self.section.key}.{self.spec.key}"

    @property
    def blanks(self) -> list[int]:
        """Codes of the options that count as "Not filled in"."""
        return [code for code, option in enumerate(self.spec.options) if option.blank]


@dataclass(frozen=True)
class Work:
    """What a rater was given, as far as the filters let it through, and what came of it. Of its labels, `exposed` were
    given after a look at others'; `skipped` and `unreadable` are cells without a label."""

    rater: RaterEntry
    rows: int
    submitted: int
    failed: int
    labels: int
    exposed: int
    skipped: int
    unreadable: int


@dataclass(frozen=True, eq=False)
class StudyData:
    """`n_columns`: a cell is numbered place of its row × n_columns + place of its column, in `table`. `questions`:
    those that have options; `value_questions`: the others."""

    table: LabelTable
    people: tuple[RaterEntry, ...]
    judges: tuple[RaterEntry, ...]
    golds: tuple[RaterEntry, ...]
    work: tuple[Work, ...]
    questions: tuple[QuestionData, ...]
    value_questions: tuple[QuestionData, ...]
    n_columns: int

    @property
    def scheme(self) -> SchemeSpec:
        return self.table.scheme

    @property
    def sheets(self) -> tuple[str, ...]:
        return self.table.sheets

    @property
    def n_labels(self) -> int:
        return sum(work.labels for work in self.work)

    @property
    def n_withdrawn(self) -> int:
        """Rows that were withdrawn."""
        return sum(row.withdrawn for row in self.table.rows)

    @property
    def simulated(self) -> tuple[RaterEntry, ...]:
        return tuple(work.rater for work in self.work if work.rater.simulated)


def study_data(table: LabelTable, filters: Filters) -> StudyData:
    """The arrays of a table that was made under these filters. Repeats after the first are left out."""
    cells = _Cells(table, filters)

    def of_kind(kind: str) -> tuple[RaterEntry, ...]:
        return tuple(rater for rater in table.raters if rater.kind == kind)

    people, judges, golds = of_kind("person"), of_kind("judge"), of_kind("gold")
    questions = [
        question
        for question in _questions(cells, people, judges, golds, filters)
        if not filters.questions or question.name in filters.questions
    ]
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


class _Cells:
    """The cells that some raters were to fill, and what stands in them."""

    def __init__(self, table: LabelTable, filters: Filters) -> None:
        self.table, self.with_exposed = table, filters.exposure == INCLUDE
        self.sheet_of_row = _ints(row.sheet for row in table.rows)
        self.columns_of: dict[tuple[int, str], list[int]] = defaultdict(list)  # (sheet, section) -> places
        for place, column in enumerate(table.columns):
            self.columns_of[column.sheet, column.section].append(place)
        self.n_columns = max(len(table.columns), 1)
        self.rater_place = {rater.code: place for place, rater in enumerate(table.raters)}

        self.rater = _ints(a.rater for a in table.assignments)
        self.row = _ints(a.row for a in table.assignments)
        self.repeat = _ints(a.repeat for a in table.assignments)
        self.first = self.repeat == 1
        submitted = np.array([a.state == "submitted" for a in table.assignments], dtype=bool)
        self.counted = self.first & submitted if filters.submitted_only else self.first
        self.words = [
            None if spec.options else value_words(spec, table.values_of(number))
            for number, (_section, spec) in enumerate(table.questions)
        ]
        labels = self._answered(table)
        labels = labels[self.counted[labels[:, 0]]] if len(labels) else labels
        self.skips = [skip for skip in table.skips if self.counted[skip.assignment]]
        self.unreadable = [answer for answer in table.unreadable if self.counted[answer.assignment]]
        order = np.argsort(labels[:, 2], kind="stable")
        bounds = np.searchsorted(labels[order, 2], np.arange(len(table.questions) + 1))
        self._labels = [
            labels[order[bounds[n] : bounds[n + 1]]][:, [0, 1, 3, 5, 6]] for n in range(len(table.questions))
        ]

    def _answered(self, table: LabelTable) -> IntArray:
        """The labels without drafts that nobody has confirmed, which are no answer yet; a drafted one was given after a
        look. Of values the code becomes their number in `words`, and the last of the columns keeps it as it was."""
        labels = np.hstack([table.labels, table.labels[:, 3:4]])
        for number, words in enumerate(self.words):
            if words is not None:
                mine = labels[:, 2] == number
                labels[mine, 3] = words.key_of[labels[mine, 3]]
        if table.drafts:
            labels[[draft.label for draft in table.drafts], 5] = 1
            labels = np.delete(labels, [draft.label for draft in table.drafts if not draft.confirmed], axis=0)
        return labels

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
        return _ints(
            place
            for place, assignment in enumerate(self.table.assignments)
            if assignment.repeat == 1 and (not assignment.sections or section.key in assignment.sections)
        )

    def assigned(self, section: SectionSpec) -> IntArray:
        """The sheet and the rater of those who are to answer there, each once, shape (n, 2)."""
        asked = self.asked(section)
        return np.unique(np.stack([self.sheet_of_row[self.row[asked]], self.rater[asked]], axis=-1), axis=0)

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
        counted = zip(self.table.assignments, self.counted.tolist(), strict=True)
        in_state = Counter((assignment.rater, assignment.state) for assignment, counts in counted if counts)
        skipped = Counter(self.rater[skip.assignment] for skip in self.skips)
        unreadable = Counter(self.rater[answer.assignment] for answer in self.unreadable)
        return tuple(
            Work(
                rater=rater,
                rows=int(rows[place]),
                submitted=in_state[place, "submitted"],
                failed=in_state[place, "failed"],
                labels=int(labels[place]),
                exposed=int(exposed[place]),
                skipped=skipped[place],
                unreadable=unreadable[place],
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
    filled: dict[tuple[str, str, str], Filled] = {}
    for number, (section, spec) in enumerate(cells.table.questions):
        asked = cells.asked(section)
        asked = asked[cells.counted[asked]]
        at_work = set(cells.rater[asked].tolist())
        answers = partial(_answers, cells, number, n_options=cells.n_options(number))
        of_raters = {PEOPLE: people, **{voice_of(one.code): [one] for one in (*judges, *golds, *people)}}
        for name in {PEOPLE, *heard} - {MAJORITY}:
            mine = np.isin(cells.rater[asked], [cells.rater_place[of.code] for of in of_raters[name]])
            filled[name, section.key, spec.key] = _filled(cells, number, section, spec, asked[mine], name, filled)
        n_ties = 0
        if MAJORITY in heard:
            filled[MAJORITY, section.key, spec.key], n_ties = _majority(cells, number, section, spec, filled)
        of_judges = [judge for judge in judges if cells.rater_place[judge.code] in at_work]
        labels = cells.labels(number)
        compared = np.isin(cells.rater[labels[:, 0]], [cells.rater_place[of.code] for of in (*people, *judges)])
        yield QuestionData(
            section=section,
            spec=spec,
            people=answers(people, assigned=cells.assigned(section)),
            selections=filled[PEOPLE, section.key, spec.key].code,
            judges={judge.code: answers([judge]) for judge in of_judges},
            golds={gold.code: answers([gold], whole=True) for gold in golds if cells.rater_place[gold.code] in at_work},
            repeats={judge.code: again for judge in judges if (again := _repeats(cells, number, judge)) is not None},
            scores={judge.code: found for judge in judges if (found := _scores(cells, number, judge)) is not None},
            no_label={judge.code: _no_label(cells, number, section, asked, judge) for judge in of_judges},
            n_exposed=int(labels[compared, 3].sum()),
            values=cells.words[number],
            voices=tuple(
                Voice(
                    name=name,
                    rater=rater,
                    selections=filled[name, section.key, spec.key].code,
                    answers=_heard_answers(cells, spec, rater, filled[name, section.key, spec.key]),
                    n_ties=n_ties if name == MAJORITY else 0,
                )
                for name, rater in heard.items()
            )
            if spec.options
            else (),
            **_written(cells, number, spec, (*people, *of_judges, *golds), filters),
            graphs=_graphs(cells, number, section, golds)
            if spec.kind == Kind.TRANSITIONS and not filters.before_graphs
            else None,
        )


def _written(
    cells: _Cells, question: int, spec: QuestionSpec, raters: Sequence[RaterEntry], filters: Filters
) -> dict[str, Any]:
    """What each rater wrote, of questions that are answered by texts and lists."""
    if spec.kind not in (Kind.TEXT, Kind.ITEMS) or filters.without_texts:
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
    all_of_them: dict[str, RaterEntry | None] = {PEOPLE: None, MAJORITY: None}
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
    for other, options in spec.ask_unless.items():
        # What was not asked itself switches off what depends on it. All questions of a section have the same cells.
        above = filled[voice, section.key, other]
        off_here = np.isin(above.code, [*_codes_of(cells, section, other, options), Empty.NOT_ASKED])
        off_here &= codes == Empty.NOT_REACHED
        codes[off_here] = Empty.NOT_ASKED
        exposed |= off_here & above.exposed
    assignment = owned // cells.n_columns
    row = cells.row[assignment]
    cell = row * cells.n_columns + owned % cells.n_columns
    return Filled(rater=cells.rater[assignment], cell=cell, row=row, code=codes, exposed=exposed)


def _majority(
    cells: _Cells,
    question: int,
    section: SectionSpec,
    spec: QuestionSpec,
    filled: Mapping[tuple[str, str, str], Filled],
) -> tuple[Filled, int]:
    """What most people answered in each cell, of several equally frequent options the first; and in how many cells
    there were several. Every cell that a person was to fill is there once."""
    people = filled[PEOPLE, section.key, spec.key]
    cell, first = np.unique(people.cell, return_index=True)
    counts = np.zeros((cell.size, cells.n_options(question)), dtype=np.int64)
    heard = (people.code >= 0) & (~people.exposed | cells.with_exposed)
    np.add.at(counts, (np.searchsorted(cell, people.cell[heard]), people.code[heard]), 1)
    answered = counts.sum(axis=1) > 0
    code = np.where(answered, counts.argmax(axis=1), Empty.NOT_REACHED)
    for other, options in spec.ask_unless.items():
        off = [*_codes_of(cells, section, other, options), Empty.NOT_ASKED]
        code[np.isin(filled[MAJORITY, section.key, other].code, off)] = Empty.NOT_ASKED
    best = (counts == counts.max(axis=1, initial=0)[:, np.newaxis]).sum(axis=1)
    n_ties = int((answered & (best > 1) & (code >= 0)).sum())
    rater = np.zeros(cell.size, dtype=np.int64)
    return Filled(rater, cell, people.row[first], code, np.zeros(cell.size, dtype=bool)), n_ties


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
    row = cells.row[labels[mine, 0]]
    return Answers.from_long(
        rater=rater[mine],
        cell=row * cells.n_columns + labels[mine, 1],
        sheet=cells.sheet_of_row[row],
        code=labels[mine, 4 if spelled else 2],
        document=row,
        n_options=n_options,
        assigned=assigned,
    )


def _no_label(cells: _Cells, question: int, section: SectionSpec, asked: IntArray, judge: RaterEntry) -> NoLabel:
    rater, work = cells.rater_place[judge.code], cells.table.assignments
    mine = [of for of in cells.unreadable if of.question == question and work[of.assignment].rater == rater]
    failed = [place for place in asked.tolist() if work[place].rater == rater and work[place].state == "failed"]
    owned = cells.cells_of(_ints(failed), section)
    return NoLabel(
        unreadable=_ints(int(cells.row[of.assignment]) * cells.n_columns + of.column for of in mine),
        why=tuple(of.why for of in mine),
        failed=cells.row[owned // cells.n_columns] * cells.n_columns + owned % cells.n_columns,
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
    """The cells of the assignments, as `_Cells.cells_of`; of each its code, the option, `SKIPPED`, or `NOT_REACHED`;
    and whether it was given after a look at others'."""
    owned = cells.cells_of(assignments, section)
    codes = np.full(owned.size, Empty.NOT_REACHED, dtype=np.int64)
    skipped = _ints(s.assignment * cells.n_columns + s.column for s in cells.skips if s.question == question)
    codes[np.isin(owned, skipped)] = Empty.SKIPPED
    labels = cells.labels(question)
    labelled = labels[:, 0] * cells.n_columns + labels[:, 1]
    inside = np.isin(labelled, owned)
    codes[np.searchsorted(owned, labelled[inside])] = labels[inside, 2]
    exposed = np.zeros(owned.size, dtype=bool)
    exposed[np.searchsorted(owned, labelled[inside])] = labels[inside, 3] == 1
    return owned, codes, exposed


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)
