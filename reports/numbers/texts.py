"""What a report says of texts: each rater's held against references by several metrics, and against each other."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from annotation.scheme.spec import Kind, Layout
from llm import encoders
from llm.encoders import EncoderError
from reports.data.arrays import Filters, NoLabel, QuestionData, StudyData
from reports.data.label_table import FloatArray, RaterEntry
from reports.data.texts import Written, written
from reports.numbers.waiting import nobody_waits
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import By, Interval, resampling_of
from reports.stats.paired import Difference, difference
from reports.stats.text.bertscore import MOST_TEXTS, TOO_MANY_TEXTS, BertScore
from reports.stats.text.meteor import DataMissing
from reports.stats.text.metrics import BERTSCORE, DEFAULT, OF_LISTS, VARIANTS, Metric, metric_of
from reports.stats.text.pairs import Pairs

KINDS = (Kind.TEXT, Kind.ITEMS)
# How systems from files say that they are runs of one: “t5-run-2”.
NAMED_RUN = re.compile(r"(?P<system>.+)[-_. ]run[-_. ]?(?P<number>\d{1,3})", re.IGNORECASE)
# Raters beyond which only judges are tested against each other, two by two.
MOST_TESTED = 8


@dataclass(frozen=True)
class Part:
    """The cells of one line, or of one sheet: its number, its cells, and the figures by metric, None not defined."""

    number: int
    n_cells: int
    figures: Mapping[str, float | None]


@dataclass(frozen=True)
class Score:
    """Texts held against references. `names`: whose texts; two for people against each other, none for all of them.

    figures, intervals: by metric; intervals are empty where none were asked for. n_left_out: cells with a reference, of
    which it is known that a judge was asked and has no text; n_empty: of them, those counted as empty texts.
    """

    names: tuple[str, ...]
    rater: RaterEntry | None
    figures: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    n_cells: int
    n_pairs: int
    n_left_out: int = 0
    n_empty: int = 0
    lines: tuple[Part, ...] = ()
    sheets: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Test:
    """Two raters on the cells that both wrote, by metric."""

    first: RaterEntry
    second: RaterEntry
    n_cells: int
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Runs:
    """Several runs of one system held against the references, on the rows that all of them have. `name`: of the system;
    `rater`: where it is one that has repeats; n: runs; n_cells: of the run with the fewest.

    first, mean, deviation (with n - 1), lowest and highest by metric, None where some run has none.
    """

    name: str
    rater: RaterEntry | None
    n: int
    n_cells: int
    first: Mapping[str, float | None]
    mean: Mapping[str, float | None]
    deviation: Mapping[str, float | None]
    lowest: Mapping[str, float | None]
    highest: Mapping[str, float | None]


@dataclass(frozen=True)
class TextReport:
    """`metrics`: those that were computed; `missing`: why others were not. `references`: whose texts others are held
    against; `of_gold`, where they are gold's, by default or choice. `among`: people against each other, all first, then
    each judge held against one person at a time. `by_line`: whether lines of a table are told apart. `runs`: of
    judges that wrote several times.
    """

    metrics: tuple[str, ...]
    missing: Mapping[str, str]
    references: tuple[RaterEntry, ...]
    of_gold: bool
    scores: tuple[Score, ...]
    tests: tuple[Test, ...]
    among: tuple[Score, ...]
    by_line: bool
    several: bool  # some cell has several references
    encoder: Mapping[str, str]  # what BERTScore was computed with, see `Encoder.identity`
    runs: tuple[Runs, ...] = ()


@dataclass(frozen=True, eq=False)
class _Held:
    """Texts against references, pair by pair: cell, sheet, row and line, shape (n_pairs,), and what metrics sum."""

    cell: IntArray
    sheet: IntArray
    document: IntArray
    line: IntArray
    sums: Mapping[str, FloatArray]

    def where(self, chosen: IntArray) -> _Held:
        sums = {key: of[chosen] for key, of in self.sums.items()}
        return _Held(self.cell[chosen], self.sheet[chosen], self.document[chosen], self.line[chosen], sums)

    def clusters(self, filters: Filters) -> IntArray:
        return self.document if filters.by == "document" else self.sheet


_Pair = tuple[int, str, list[str]]  # cell, text, references


@dataclass(frozen=True, eq=False)
class _Run:
    """What one rater wrote in one repeat: of each cell the place of its text; and where it has none though asked."""

    text: Mapping[int, int]
    no_label: NoLabel | None


def text_report(data: QuestionData, of: StudyData, filters: Filters) -> TextReport | None:
    """None where no text is measured: another kind of question, earlier methods, or nobody wrote anything."""
    if data.spec.kind not in KINDS or filters.without_texts or not data.written:
        return None
    return _Measured(data, of, filters).report()


class _Measured:
    def __init__(self, data: QuestionData, of: StudyData, filters: Filters) -> None:
        self.data, self.of, self.filters = data, of, filters
        self.said: Written = written(data)
        self.raters = [
            rater
            for rater in (*of.people, *of.judges, *of.golds)
            if rater.code in data.written or (not filters.before_left_out and self._asked_in_vain(rater))
        ]
        self.references = self._references()
        self.position = np.array([column.position for column in of.table.columns] or [0], dtype=np.int64)
        self.sheet_of_row = np.array([row.sheet for row in of.table.rows], dtype=np.int64)
        # Of each rater the text of each cell.
        self.text: dict[str, dict[int, int]] = {rater.code: {} for rater in self.raters}
        self.text |= {code: _text_of(answers) for code, answers in data.written.items()}
        self.metrics: dict[str, Metric] = {}
        self.missing: dict[str, str] = {}

    def _asked_in_vain(self, rater: RaterEntry) -> bool:
        """Whether a judge was asked though it has not one text."""
        none = self.data.no_label.get(rater.code)
        return none is not None and bool(none.cells)

    def _references(self) -> list[RaterEntry]:
        chosen = [rater for rater in self.raters if rater.code in self.filters.references]
        gold = [rater for rater in self.raters if rater.kind == "gold"]
        return chosen or gold or [rater for rater in self.raters if rater.kind == "person"]

    def report(self) -> TextReport:
        of_gold = bool(self.references) and all(rater.kind == "gold" for rater in self.references)
        candidates = self._candidates(of_gold=of_gold)
        against = {rater.code: self._against(rater) for rater in candidates}
        judges = [rater for rater in self.raters if rater.kind == "judge"]
        each_other, of_judges = self._among_people(judges)
        runs = self._runs(candidates)
        lists = [
            *(pairs for pairs, _empty in against.values()),
            *each_other.values(),
            *(of_judges.values() if each_other else ()),
            *(pairs for _name, _rater, of_runs in runs for pairs in of_runs),
        ]
        held = iter(self._measure(lists))
        of_raters = {code: next(held) for code in against}
        of_people = {names: next(held) for names in each_other}
        beside = {code: next(held) for code in of_judges} if each_other else {}
        several = [self._over_runs(name, rater, [next(held) for _run in of_runs]) for name, rater, of_runs in runs]
        scores = [
            self._score((rater.code,), rater, of_raters[rater.code], empty=against[rater.code][1], parts=True)
            for rater in candidates
            if of_raters[rater.code].cell.size or (not self.filters.before_left_out and self._left_out(rater))
        ]
        return TextReport(
            metrics=tuple(self.metrics),
            missing=self.missing,
            references=tuple(self.references),
            of_gold=of_gold,
            scores=tuple(scores),
            tests=self._tests(candidates, of_raters),
            among=self._among(of_people, beside, judges),
            by_line=self.data.section.layout == Layout.DOWN,
            encoder=encoders.encoder(self.filters.encoder).identity() if BERTSCORE in self.metrics else {},
            several=any(len(references) > 1 for pairs, _empty in against.values() for _c, _text, references in pairs),
            runs=tuple(several),
        )

    def _candidates(self, *, of_gold: bool) -> list[RaterEntry]:
        """Whose texts are measured: a single reference is not measured by itself, nor is gold by gold."""
        several = len(self.references) > 1
        return [
            rater
            for rater in self.raters
            if (several or rater not in self.references) and not (of_gold and rater.kind == "gold")
        ]

    # --- pairs ---

    def _among_people(
        self, judges: Sequence[RaterEntry]
    ) -> tuple[dict[tuple[str, str], list[_Pair]], dict[str, list[_Pair]]]:
        """Of each two people, and of each judge with all people, the texts of one held against those of the other."""
        people = [rater for rater in self.raters if rater.kind == "person"]
        each_other = {
            (one.code, other.code): [*self._one_by_one(one, other), *self._one_by_one(other, one)]
            for one, other in itertools.combinations(people, 2)
        }
        of_judges = {
            judge.code: [pair for person in people for pair in self._one_by_one(judge, person)] for judge in judges
        }
        return {names: pairs for names, pairs in each_other.items() if pairs}, of_judges

    def _against(self, rater: RaterEntry, run: _Run | None = None) -> tuple[list[_Pair], int]:
        """Cell, text and references, cells ascending; and how many of the texts are empty since there is none."""
        others = self._others(rater)
        run = run or self._first(rater)
        mine, texts = run.text, self.said.texts
        cells = sorted(set(mine) & set().union(*others)) if others else []
        lost = self._lost(run, others) if self.filters.unanswered else []
        pairs = [
            (cell, texts[mine[cell]] if cell in mine else "", [texts[of[cell]] for of in others if cell in of])
            for cell in sorted([*cells, *lost])
        ]
        return pairs, len(lost)

    def _others(self, rater: RaterEntry) -> list[Mapping[int, int]]:
        return [self.text[of.code] for of in self.references if of.code != rater.code]

    def _first(self, rater: RaterEntry) -> _Run:
        return _Run(self.text[rater.code], self.data.no_label.get(rater.code))

    def _lost(self, run: _Run, others: Sequence[Mapping[int, int]]) -> list[int]:
        """Cells with a reference in which a judge was asked and has no text."""
        if run.no_label is None:
            return []
        asked = run.no_label.cells - set(run.text)
        return sorted(cell for cell in asked if any(cell in of for of in others))

    def _runs(self, candidates: Sequence[RaterEntry]) -> list[tuple[str, RaterEntry | None, list[list[_Pair]]]]:
        """Of each system that wrote several times its name, and the pairs of each run, the first one first.

        Its runs are the repeats of a judge, or judges from files whose codes say that they are runs of one."""
        if self.filters.before_runs:
            return []
        named: dict[str, dict[int, RaterEntry]] = defaultdict(dict)
        found: list[tuple[str, RaterEntry | None, list[tuple[RaterEntry, _Run]]]] = []
        for rater in candidates:
            if rater.kind != "judge":
                continue
            again = [
                _Run(_text_of(of.written.get(rater.code)), of.no_label.get(rater.code))
                for _repeat, of in sorted(self.data.again.items())
                if rater.code in of.written or rater.code in of.no_label
            ]
            if again:
                found.append((rater.code, rater, [(rater, run) for run in (self._first(rater), *again)]))
            elif not rater.model and (said := NAMED_RUN.fullmatch(rater.code)):
                named[said["system"]].setdefault(int(said["number"]), rater)
        for system, of_number in named.items():
            if len(of_number) > 1:
                found.append((system, None, [(of_number[n], self._first(of_number[n])) for n in sorted(of_number)]))
        kept = []
        for name, of_name, runs in found:
            rows = set.intersection(*({cell // self.of.n_columns for cell in self._cells(*of)} for of in runs))
            pairs = [[pair for pair in self._against(*of)[0] if pair[0] // self.of.n_columns in rows] for of in runs]
            if rows:
                kept.append((name, of_name, pairs))
        return kept

    def _cells(self, rater: RaterEntry, run: _Run) -> set[int]:
        """Those with a reference in which a run has a text, or was asked."""
        others = self._others(rater)
        return {*self._lost(run, others), *(cell for cell in run.text if any(cell in of for of in others))}

    def _over_runs(self, name: str, rater: RaterEntry | None, held: Sequence[_Held]) -> Runs:
        figures = [self._figures(of) for of in held]
        values = {
            key: np.array([of[key] for of in figures], dtype=np.float64)  # None becomes NaN, and so what is made of it
            for key in self.metrics
        }
        return Runs(
            name=name,
            rater=rater,
            n=len(held),
            n_cells=min(int(np.unique(of.cell).size) for of in held),
            first=figures[0],
            mean={key: _defined(of.mean()) for key, of in values.items()},
            deviation={key: _defined(of.std(ddof=1)) for key, of in values.items()},
            lowest={key: _defined(of.min()) for key, of in values.items()},
            highest={key: _defined(of.max()) for key, of in values.items()},
        )

    def _left_out(self, rater: RaterEntry) -> list[int]:
        return self._lost(self._first(rater), self._others(rater))

    def _one_by_one(self, one: RaterEntry, other: RaterEntry) -> list[_Pair]:
        mine, theirs, texts = self.text[one.code], self.text[other.code], self.said.texts
        return [(cell, texts[mine[cell]], [texts[theirs[cell]]]) for cell in sorted(mine.keys() & theirs.keys())]

    def _measure(self, lists: Sequence[Sequence[_Pair]]) -> list[_Held]:
        """All lists at once: a pair of texts that occurs often is measured once."""
        every = [pair for pairs in lists for pair in pairs]
        pairs = Pairs.of([text for _cell, text, _of in every], [of for _cell, _text, of in every])
        separator = self.said.separator
        sums: dict[str, FloatArray] = {}
        for key in self._asked():
            try:
                bert = bert_score(self.filters.encoder, pairs) if key == BERTSCORE else None
                metric = metric_of(key, separator=separator, bert=bert)
                sums[key] = metric.of(pairs)
                self.metrics[key] = metric
            except (DataMissing, EncoderError) as missing:
                self.missing[key] = str(missing)
        cell = np.array([cell for cell, _text, _of in every], dtype=np.int64)
        row = cell // self.of.n_columns
        whole = _Held(cell, self.sheet_of_row[row], row, self.position[cell % self.of.n_columns], sums)
        ends = np.concatenate([[0], np.cumsum([len(of) for of in lists])]).astype(np.int64).tolist()
        return [whole.where(np.arange(start, end)) for start, end in itertools.pairwise(ends)]

    def _asked(self) -> list[str]:
        asked = [key for key in VARIANTS if key in (self.filters.metrics or DEFAULT)]
        return [key for key in asked if self.said.separator or key not in OF_LISTS]

    # --- figures ---

    def _score(
        self,
        names: tuple[str, ...],
        rater: RaterEntry | None,
        held: _Held,
        *,
        empty: int = 0,
        parts: bool = False,
    ) -> Score:
        left_out = len(self._left_out(rater)) if rater is not None and parts and not empty else 0
        return Score(
            names=names,
            rater=rater,
            figures=self._figures(held),
            intervals=self._intervals(held),
            n_cells=int(np.unique(held.cell).size),
            n_pairs=held.cell.size,
            n_left_out=left_out,
            n_empty=empty,
            lines=self._parts(held, held.line) if parts and self.data.section.layout == Layout.DOWN else (),
            sheets=self._parts(held, held.sheet) if parts else (),
        )

    def _figures(self, held: _Held) -> dict[str, float | None]:
        return {
            key: _defined(metric.figure(held.sums[key].sum(axis=0)[np.newaxis])[0])
            for key, metric in self.metrics.items()
        }

    def _parts(self, held: _Held, of: IntArray) -> tuple[Part, ...]:
        numbers, index = np.unique(of, return_inverse=True)
        n_cells = np.bincount(index, minlength=numbers.size)
        figures = {
            key: metric.figure(_summed(held.sums[key], index, numbers.size)) for key, metric in self.metrics.items()
        }
        return tuple(
            Part(number, int(n_cells[at]), {key: _defined(found[at]) for key, found in figures.items()})
            for at, number in enumerate(numbers.tolist())
        )

    def _intervals(self, held: _Held) -> dict[str, Interval]:
        how = self.filters.intervals
        if not how.by or not held.cell.size:
            return {}
        clusters, index = np.unique(held.clusters(self.filters), return_inverse=True)
        draws = resampling_of(clusters, self._by, n_draws=how.n_draws, seed=how.seed, group_many=True)
        return {
            key: draws.bootstrap(_summed(held.sums[key], index, clusters.size), metric.figure)
            for key, metric in self.metrics.items()
        }

    @property
    def _by(self) -> By:
        return "document" if self.filters.by == "document" else "sheet"

    def _tests(self, raters: Sequence[RaterEntry], held: Mapping[str, _Held]) -> tuple[Test, ...]:
        how = self.filters.intervals
        tested = [rater for rater in raters if held[rater.code].cell.size]
        if len(tested) > MOST_TESTED:
            tested = [rater for rater in tested if rater.kind == "judge"]
        if not how.by:
            return ()
        found = []
        for one, other in itertools.combinations(tested, 2):
            cells, first, second = np.intersect1d(
                held[one.code].cell, held[other.code].cell, assume_unique=True, return_indices=True
            )
            if not cells.size:
                continue
            ours, theirs = held[one.code].where(first), held[other.code].where(second)
            clusters, index = np.unique(ours.clusters(self.filters), return_inverse=True)
            draws = resampling_of(clusters, self._by, n_draws=how.n_draws, seed=how.seed, group_many=False)
            found.append(
                Test(
                    first=one,
                    second=other,
                    n_cells=cells.size,
                    differences={
                        key: difference(
                            _summed(ours.sums[key], index, clusters.size),
                            _summed(theirs.sums[key], index, clusters.size),
                            metric.figure,
                            draws,
                        )
                        for key, metric in self.metrics.items()
                    },
                )
            )
        return tuple(found)

    def _among(
        self, of_people: Mapping[tuple[str, str], _Held], beside: Mapping[str, _Held], judges: Iterable[RaterEntry]
    ) -> tuple[Score, ...]:
        if not of_people:
            return ()
        found = [self._score((), None, _joined(of_people.values()))]
        if len(of_people) > 1:
            found += [self._score(names, None, held) for names, held in of_people.items()]
        known = {judge.code: judge for judge in judges}
        return (
            *(replace(score, n_pairs=score.n_pairs // 2) for score in found),
            *(self._score((code,), known[code], held) for code, held in beside.items() if held.cell.size),
        )


def bert_score(encoder: str, pairs: Pairs) -> BertScore | None:
    """None where the encoder has no vectors of tokens.

    Raises:
        DataMissing: there are more texts than a page can wait for.
    """
    if not encoders.encoder(encoder).has_tokens:
        return None
    n = len({text for pair in pairs.distinct for text in (pair.candidate, *pair.references)})
    if n > MOST_TEXTS and not nobody_waits():
        raise DataMissing(TOO_MANY_TEXTS)
    return _bert_score(encoder)


@lru_cache(maxsize=2)
def _bert_score(encoder: str) -> BertScore:
    return BertScore(encoders.encoder(encoder).token_vectors)


def _joined(held: Iterable[_Held]) -> _Held:
    every = list(held)
    sums: dict[str, list[FloatArray]] = defaultdict(list)
    for one in every:
        for key, of in one.sums.items():
            sums[key].append(of)
    return _Held(
        cell=np.concatenate([one.cell for one in every]),
        sheet=np.concatenate([one.sheet for one in every]),
        document=np.concatenate([one.document for one in every]),
        line=np.concatenate([one.line for one in every]),
        sums={key: np.concatenate(of) for key, of in sums.items()},
    )


def _text_of(answers: Answers | None) -> dict[int, int]:
    return {} if answers is None else dict(zip(answers.cell.tolist(), answers.code.tolist(), strict=True))


def _summed(sums: FloatArray, index: IntArray, n: int) -> FloatArray:
    """Shape (n, n_features): the sums of the pairs of each index."""
    return np.stack([np.bincount(index, column, minlength=n) for column in sums.T], axis=-1)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
