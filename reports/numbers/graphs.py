"""How far graphs of states agree: people among themselves, judges with people, and anybody with gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from base.sentences import gettext as _
from llm import encoders
from llm.encoders import EncoderError
from reports.data.arrays import Filters, StudyData
from reports.data.graphs import GraphData
from reports.data.label_table import RaterEntry
from reports.numbers.waiting import nobody_waits
from reports.stats.graph.agreement import Counts, GraphAgreement, compare, mean_agreement
from reports.stats.pairs import FloatArray

# A page waits for its encoder. Of a model that takes ten milliseconds a text these are most of a minute.
MOST_TEXTS = 5_000


@dataclass(frozen=True)
class Score:
    """Two raters' graphs of one row, under the middle threshold."""

    row: int
    first: RaterEntry
    second: RaterEntry
    counts: Counts


@dataclass(frozen=True)
class Pair:
    """`second` is None where the first is held against all people."""

    first: RaterEntry
    second: RaterEntry | None
    agreement: GraphAgreement


@dataclass(frozen=True)
class GraphReport:
    """
    encoder: what made the vectors, see `Encoder.identity`; is_fallback: it compares spellings. people: pairs of people;
    None where no two drew one row. pairs: each pair of them; judges: each judge against people; golds: everybody
    against each gold, which is the second. each: any two graphs that were compared. n_left_out: graphs of people
    that lack a step, which are not compared; n_unanswered: steps that judges have no answer to, where nothing changes;
    n_unknown: uses of what is not there. problem: why nothing was computed. passing: it may be gone the
    next time, as an encoder that is not here.
    """

    encoder: Mapping[str, str]
    is_fallback: bool
    thresholds: tuple[float, ...]
    people: GraphAgreement | None
    pairs: tuple[Pair, ...]
    judges: tuple[Pair, ...]
    golds: tuple[Pair, ...]
    each: tuple[Score, ...]
    n_left_out: int
    n_unanswered: int
    n_unknown: int
    problem: str = ""
    passing: bool = False

    @property
    def shown(self) -> float:
        """The threshold in the middle, under which graphs are told one by one."""
        return self.thresholds[len(self.thresholds) // 2]


class TooManyTexts(Exception):
    pass


def graph_report(data: GraphData, of: StudyData, filters: Filters) -> GraphReport:
    """The problem is told in the report, where the encoder is not here or there are too many texts for a page."""
    thresholds = tuple(sorted(filters.thresholds))
    place = {rater.code: at for at, rater in enumerate(of.table.raters)}
    judges = {place[rater.code] for rater in of.judges}
    whole = {key: graph for key, graph in data.of.items() if key not in data.unanswered or key[0] in judges}
    compared = _Compared(data, of, filters, thresholds, place, set(whole))
    try:
        compared.encode()
    except (EncoderError, TooManyTexts) as error:
        return GraphReport(
            {},
            False,
            thresholds,
            None,
            (),
            (),
            (),
            (),
            0,
            0,
            0,
            problem=str(error),
            passing=isinstance(error, EncoderError),
        )
    used = encoders.encoder(filters.encoder)
    people = compared.agreement(combinations(of.people, 2))
    return GraphReport(
        encoder=used.identity(),
        is_fallback=used.is_fallback,
        thresholds=thresholds,
        people=people if people.n_compared else None,
        pairs=tuple(
            Pair(a, b, found)
            for a, b in combinations(of.people, 2)
            if (found := compared.agreement([(a, b)])).n_compared
        ),
        judges=tuple(
            Pair(judge, None, compared.agreement((judge, person) for person in of.people)) for judge in of.judges
        )
        if of.people
        else (),
        golds=tuple(
            Pair(rater, gold, compared.agreement([(rater, gold)]))
            for gold in of.golds
            for rater in (*of.people, *of.judges)
            if compared.shares(rater, gold)
        ),
        each=tuple(compared.each(thresholds[len(thresholds) // 2])),
        n_left_out=len(data.of) - len(whole),
        n_unanswered=sum(n for key, n in data.unanswered.items() if key in whole),
        n_unknown=sum(graph.n_unknown for graph in whole.values()),
    )


class _Compared:
    """Each two graphs of a row compared once, whatever asks for them."""

    def __init__(
        self,
        data: GraphData,
        of: StudyData,
        filters: Filters,
        thresholds: tuple[float, ...],
        place: Mapping[str, int],
        whole: set[tuple[int, int]],
    ) -> None:
        self.data, self.of, self.filters, self.thresholds = data, of, filters, thresholds
        self.place = place
        self.rows: dict[int, list[int]] = {}
        for rater, row in sorted(whole):
            self.rows.setdefault(rater, []).append(row)
        self.counts: dict[tuple[int, int, int], Mapping[float, Counts]] = {}
        self.by_place = {at: rater for rater in (*of.people, *of.judges, *of.golds) for at in [place[rater.code]]}

    def encode(self) -> None:
        self.numbers: dict[str, int] = {}
        for rater, rows in self.rows.items():
            for row in rows:
                for text in self.data.of[rater, row].texts:
                    self.numbers.setdefault(text, len(self.numbers))
        used = encoders.encoder(self.filters.encoder)
        if len(self.numbers) > MOST_TEXTS and not used.is_fallback and not nobody_waits():
            raise TooManyTexts(
                _(
                    "%(n)d names of things are too many to encode for a page, which takes %(most)d. Choose fewer "
                    "sheets; or download the report, which a worker makes with all of them."
                )
                % {"n": len(self.numbers), "most": MOST_TEXTS}
            )
        self.vectors = used.encode(list(self.numbers))

    def shares(self, first: RaterEntry, second: RaterEntry) -> list[int]:
        """Rows that both drew."""
        a, b = (self.rows.get(self.place[rater.code], []) for rater in (first, second))
        return sorted(set(a) & set(b))

    def agreement(self, pairs: Iterable[tuple[RaterEntry, RaterEntry]]) -> GraphAgreement:
        found = [
            (row, self.of.table.rows[row].sheet, self._of(first, second, row))
            for first, second in pairs
            for row in self.shares(first, second)
        ]
        return mean_agreement(found, self.filters.intervals.arguments)

    def each(self, threshold: float) -> Sequence[Score]:
        return [
            Score(row, self.by_place[a], self.by_place[b], counts[threshold])
            for (row, a, b), counts in sorted(self.counts.items())
        ]

    def _of(self, first: RaterEntry, second: RaterEntry, row: int) -> Mapping[float, Counts]:
        key = row, self.place[first.code], self.place[second.code]
        if key not in self.counts:
            a, b = self.data.of[key[1], row], self.data.of[key[2], row]
            similarity = self._similarity(a.texts, b.texts)
            self.counts[key] = {threshold: compare(a, b, similarity, threshold) for threshold in self.thresholds}
        return self.counts[key]

    def _similarity(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        a, b = (self.vectors[[self.numbers[text] for text in texts]] for texts in (first, second))
        product = a @ b.T
        return np.asarray(product) if isinstance(product, np.ndarray) else product.toarray()
