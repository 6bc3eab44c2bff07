"""All that a report says of a question that is answered by values: arrays in, frozen results out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.scheme.spec import QuestionSpec
from reports.data.arrays import Filters, QuestionData, StudyData
from reports.data.label_table import FloatArray, RaterEntry
from reports.data.values import ValueWords
from reports.numbers.graphs import GraphReport, graph_report
from reports.numbers.groups import Group, groups
from reports.numbers.items import SpanLine, TwoParsers, span_lines, two_parsers
from reports.numbers.texts import TextReport, text_report
from reports.stats.agreement import MacroAccuracy, macro_accuracy
from reports.stats.answers import Answers
from reports.stats.bootstrap import Interval
from reports.stats.distinct import distinct
from reports.stats.intervals import judge_accuracy_interval
from reports.stats.judge import JudgeAccuracy, judge_accuracy, judge_pair_accuracy
from reports.stats.numeric import (
    NumericAgreement,
    NumericDifference,
    bin_edges,
    number_pairs,
    numeric_agreement,
    numeric_difference,
    numeric_difference_intervals,
    numeric_intervals,
    shares_in,
)
from reports.stats.pairs import pair_tables
from reports.stats.summary import SelectionSummary, selection_summary
from reports.stats.values import ExactAgreement, ValueCount, exact_agreement, exact_intervals, most_frequent, one_voice

SHOWN_ANSWERS = 20  # of the most frequent ones


@dataclass(frozen=True)
class NumbersFromGold:
    """The mean absolute difference from gold of people's mean, of their median, over `n` cells; None without any."""

    mean: float | None
    median: float | None
    n: int


@dataclass(frozen=True, eq=False)
class Spread:
    """Which numbers were answered: in bins between `edges`, shape (n_bins + 1,), the shares of people's `n` answers and
    of each judge's, shape (n_bins,)."""

    edges: FloatArray
    people: FloatArray
    judges: tuple[tuple[RaterEntry, FloatArray], ...]
    n: int


@dataclass(frozen=True, eq=False)
class ValueJudge:
    """A judge beside people. `accuracy`: A_m, equal to any person's answer; `pairwise`: as A_h is counted; `numbers`:
    of a `number` question, of which `pairs` has people's answers and the judge's in the same cells, shape (n_pairs,).
    Intervals are None, or empty, where none were asked for."""

    judge: RaterEntry
    accuracy: JudgeAccuracy
    accuracy_interval: Interval | None
    pairwise: MacroAccuracy
    numbers: NumericDifference | None
    numbers_intervals: Mapping[str, Interval]
    pairs: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True)
class ValueGold:
    """Shares equal to gold: of people's most frequent answer, of each judge's. `ties`: cells with several most frequent
    answers. `numbers`: how far people's mean and median lie from gold, `judge_numbers` how far each judge does."""

    gold: RaterEntry
    people: JudgeAccuracy
    ties: int
    judges: tuple[tuple[RaterEntry, JudgeAccuracy], ...]
    numbers: NumbersFromGold | None
    judge_numbers: tuple[NumericDifference, ...]


@dataclass(frozen=True)
class ValueReport:
    """`summary`: cells that were answered, with one option for "answered", and why the others are empty. `accuracy`:
    A_h, of equal answers. `counts`: the most frequent answers of the cells that were answered, of `n_different` that
    occur there; `majority`: the share that the most frequent one has of the answers that are compared, None without.
    """

    data: QuestionData
    summary: SelectionSummary
    counts: tuple[ValueCount, ...]
    n_different: int
    majority: float | None
    exact: ExactAgreement
    exact_intervals: Mapping[str, Interval]
    accuracy: MacroAccuracy
    numeric: NumericAgreement | None
    numeric_intervals: Mapping[str, Interval]
    judges: tuple[ValueJudge, ...]
    golds: tuple[ValueGold, ...]
    # By the facet that the filters name; none without one.
    groups: tuple[Group, ...]
    # Of a question that takes lists of records: raters' lists held against each other.
    items: tuple[TwoParsers, ...] = ()
    # Of one whose entries are tied to words of the document, since methods 13.
    spans: tuple[SpanLine, ...] = ()
    # Of texts and lists, since methods 4.
    texts: TextReport | None = None
    # Of transitions.
    graphs: GraphReport | None = None
    # Of numbers, since methods 13.
    spread: Spread | None = None
    unit: str = ""

    @property
    def spec(self) -> QuestionSpec:
        return self.data.spec

    @property
    def words(self) -> ValueWords:
        assert self.data.values is not None
        return self.data.values


def value_report(data: QuestionData, of: StudyData, filters: Filters) -> ValueReport:
    assert data.values is not None
    people, numbers, arguments = data.people, data.values.numbers, filters.intervals.of_agreement
    own_means = not filters.before_own_means
    selected = people.code if filters.before_selected_values else data.selections[data.selections >= 0]
    return ValueReport(
        data=data,
        summary=selection_summary(np.minimum(data.selections, 0), n_options=1),
        counts=most_frequent(selected, at_most=SHOWN_ANSWERS),
        n_different=distinct(selected).size,
        majority=next((of.share for of in most_frequent(people.code, at_most=1)), None),
        exact=exact_agreement(people),
        exact_intervals=exact_intervals(people, **arguments) if arguments else {},
        accuracy=macro_accuracy(pair_tables(people)),
        numeric=None if numbers is None else numeric_agreement(people, numbers, own_means=own_means),
        numeric_intervals=numeric_intervals(people, numbers, own_means=own_means, **arguments)
        if arguments and numbers is not None
        else {},
        judges=tuple(
            _judge(judge, people, data.judges[judge.code], numbers, filters)
            for judge in of.judges
            if judge.code in data.judges
        ),
        golds=tuple(
            _gold(gold, data, numbers, [judge for judge in of.judges if judge.code in data.judges])
            for gold in of.golds
            if gold.code in data.golds
        ),
        groups=groups(
            of,
            people,
            [(judge, data.judges[judge.code]) for judge in of.judges if judge.code in data.judges],
            filters,
            numbers=numbers,
        )
        if filters.group
        else (),
        items=two_parsers(data, of, filters) if data.spec.items is not None and not filters.before_entries else (),
        spans=() if filters.before_spans else span_lines(data, of, filters),
        texts=text_report(data, of, filters),
        graphs=None if data.graphs is None else graph_report(data.graphs, of, filters),
        spread=None if numbers is None or filters.before_number_figures else _spread(data, of, numbers),
        unit=data.spec.number.unit if data.spec.number and not filters.before_number_figures else "",
    )


def _spread(data: QuestionData, of: StudyData, numbers: FloatArray) -> Spread:
    said = numbers[data.selections[data.selections >= 0]]
    judges = [(judge, numbers[data.judges[judge.code].code]) for judge in of.judges if judge.code in data.judges]
    edges = bin_edges(np.concatenate([said, *(its for _judge, its in judges)]))
    if not edges.size:
        return Spread(edges, edges, (), said.size)
    return Spread(
        edges, shares_in(said, edges), tuple((judge, shares_in(its, edges)) for judge, its in judges), said.size
    )


def _judge(
    judge: RaterEntry, people: Answers, answers: Answers, numbers: FloatArray | None, filters: Filters
) -> ValueJudge:
    arguments = filters.intervals.arguments
    pairs = None if numbers is None else number_pairs(people, answers, numbers)
    return ValueJudge(
        judge=judge,
        accuracy=judge_accuracy(people, answers),
        accuracy_interval=judge_accuracy_interval(people, answers, **arguments) if arguments else None,
        pairwise=judge_pair_accuracy(people, answers),
        numbers=None if pairs is None else numeric_difference(pairs),
        numbers_intervals=numeric_difference_intervals(people, pairs, **arguments)
        if arguments and pairs is not None
        else {},
        pairs=None if pairs is None or filters.before_number_figures else (pairs.people, pairs.judge),
    )


def _gold(gold: RaterEntry, data: QuestionData, numbers: FloatArray | None, judges: Sequence[RaterEntry]) -> ValueGold:
    right = data.golds[gold.code]
    voice, ties = one_voice(data.people)
    return ValueGold(
        gold=gold,
        people=judge_accuracy(right, voice),
        ties=ties,
        judges=tuple((judge, judge_accuracy(right, data.judges[judge.code])) for judge in judges),
        numbers=None if numbers is None else _from_gold(data.people, right, numbers),
        judge_numbers=()
        if numbers is None
        else tuple(numeric_difference(number_pairs(right, data.judges[judge.code], numbers)) for judge in judges),
    )


def _from_gold(people: Answers, right: Answers, numbers: FloatArray) -> NumbersFromGold:
    golden = dict(zip(right.cell.tolist(), numbers[right.code].tolist(), strict=True))
    bounds = [*people.by_cell.first.tolist(), people.cell.size]
    said = numbers[people.code]
    apart = [
        (abs(float(said[start:end].mean()) - golden[cell]), abs(float(np.median(said[start:end])) - golden[cell]))
        for cell, start, end in zip(people.by_cell.cell.tolist(), bounds[:-1], bounds[1:], strict=True)
        if cell in golden
    ]
    if not apart:
        return NumbersFromGold(None, None, 0)
    mean, median = np.array(apart).mean(axis=0).tolist()
    return NumbersFromGold(mean, median, len(apart))
