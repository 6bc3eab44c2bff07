"""Which raters' lists are held against each other: people among themselves, judges with people, judges with gold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from reports.data.arrays import Filters, QuestionData, StudyData
from reports.data.label_table import RaterEntry
from reports.stats.answers import Answers
from reports.stats.items import ItemsAgreement, items_agreement
from reports.stats.places import Counted, SpansAgreement, marked, spans_agreement, ways_of

MOST_PAIRS = 60  # of raters; a study of many annotators is told by its first ones
MOST_MEANT = 200  # pairs of raters that one mean is of


@dataclass(frozen=True)
class TwoParsers:
    a: RaterEntry
    b: RaterEntry
    found: ItemsAgreement


def two_parsers(data: QuestionData, of: StudyData, filters: Filters) -> tuple[TwoParsers, ...]:
    """Each two raters who share a list; of a question of the kind `items`. A judge comes first, and is what people,
    or the gold, edit; `MOST_PAIRS` at most."""
    assert data.values is not None
    own = data.spec.items
    assert own is not None
    arguments = filters.intervals.arguments
    made: list[TwoParsers] = []
    for (a, of_a), (b, of_b) in _pairs(data, of):
        found = items_agreement(
            of_a, of_b, own, data.values.examples, raters=(len(made), len(made)), **(arguments or {})
        )
        if found is not None:
            made.append(TwoParsers(a, b, found))
        if len(made) == MOST_PAIRS:
            break
    return tuple(made)


Rater = tuple[RaterEntry, Answers]


def _pairs(data: QuestionData, of: StudyData) -> Iterator[tuple[Rater, Rater]]:
    people = [(rater, data.people.where(data.people.rater == place)) for place, rater in enumerate(of.people)]
    judges = [(judge, data.judges[judge.code]) for judge in of.judges if judge.code in data.judges]
    golds = [(gold, data.golds[gold.code]) for gold in of.golds if gold.code in data.golds]
    yield from combinations(people, 2)
    yield from ((judge, person) for judge in judges for person in people)
    yield from combinations(judges, 2)
    yield from ((rater, gold) for rater in (*judges, *people) for gold in golds)


# --- words of the document --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpanLine:
    """The words that raters tie their entries to: each two people, the mean over pairs, where `a` and `b` are None; a
    judge `a` and each of the people, the mean over them, where `b` is; a person or a judge and a gold."""

    a: RaterEntry | None
    b: RaterEntry | None
    counted: Counted
    found: SpansAgreement


def span_lines(data: QuestionData, of: StudyData, filters: Filters) -> tuple[SpanLine, ...]:
    """Of a question of the kind `items` whose entries have places."""
    own = data.spec.items
    if own is None or own.place is None:
        return ()

    def drawn(counted: Counted) -> dict[str, Any]:
        return {} if counted.option and filters.before_intervals_of_options else filters.intervals.arguments

    # Answers that differ in nothing but their places are told apart by how they are spelled.
    lists = [json.loads(stored) for stored in data.spellings]
    ways = [(counted, [marked(own, records, counted) for records in lists]) for counted in ways_of(own)]
    return tuple(
        SpanLine(a, b, counted, found)
        for a, b, pairs in _compared(data, of)
        for counted, spans in ways
        if (found := spans_agreement(pairs, spans, of_option=bool(counted.option), **drawn(counted)))
        and (not counted.option or found.n_marked)
    )


Compared = tuple[RaterEntry | None, RaterEntry | None, Sequence[tuple[Answers, Answers]]]


def _compared(data: QuestionData, of: StudyData) -> Iterator[Compared]:
    people = [person for person in of.people if person.code in data.written]
    judges = [judge for judge in of.judges if judge.code in data.judges and judge.code in data.written]
    golds = [gold for gold in of.golds if gold.code in data.golds and gold.code in data.written]
    said = data.written
    yield None, None, _sharing((said[a.code], said[b.code]) for a, b in combinations(people, 2))
    for judge in judges:
        yield judge, None, _sharing((said[judge.code], said[person.code]) for person in people)
    for rater in (*judges, *people):
        for gold in golds:
            yield rater, gold, [(said[rater.code], said[gold.code])]


def _sharing(pairs: Iterator[tuple[Answers, Answers]]) -> list[tuple[Answers, Answers]]:
    """The first of those that share a cell."""
    return list(islice((pair for pair in pairs if np.intersect1d(pair[0].cell, pair[1].cell).size), MOST_MEANT))
