"""Agreement on marked words: which stretches of a document two raters tie their entries to.

Of entities, mentions and other spans nobody counts those that neither rater marked, without which there is no kappa; F1
is what specific agreement comes to there, and does not depend on whose list is taken as right (Hripcsak and Rothschild
2005, Agreement, the F-measure, and reliability in information retrieval, JAMIA 12). Three of them, F1 = 2 n / (n_a +
n_b):

    exact       spans with the same block, first and last character (Tjong Kim Sang and De Meulder 2003, CoNLL)
    overlap     spans of one block that share a character, paired one to one for the most shared characters
    characters  characters that both marked, each once however many spans it lies in

An entry that is tied to several stretches is as many spans. Counts are summed over the lists that both raters made, an
empty one too, so that long lists weigh more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.answers.places import Place, read_places
from annotation.scheme.values import ItemField, ItemsSpec
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import N_DRAWS, By, Interval, cluster_keys, resampling_of
from reports.stats.distinct import distinct
from reports.stats.pairs import FloatArray

NO_SPANS = "neither rater marked any words"
# Spans of one rater that hang together by overlaps; of more than these each, the longest first, takes what it shares
# most with: that many in one place are no names, and the best pairing would take minutes.
MOST_TOGETHER = 1_000


@dataclass(frozen=True)
class Counted:
    """Which spans are counted, and what has to be equal besides the place. words: fields whose options have to be;
    option: of the one field in `fields`, the word that an entry has to have to be counted at all."""

    fields: tuple[ItemField, ...] = ()
    option: str = ""

    def words(self, record: Mapping[str, Any]) -> Hashable:
        """What two entries have to have in common."""
        return () if self.option else tuple(_words(record, field) for field in self.fields)

    def counts(self, record: Mapping[str, Any]) -> bool:
        return not self.option or self.option in _words(record, self.fields[0])


def _words(record: Mapping[str, Any], field: ItemField) -> tuple[str, ...]:
    """The options that an entry has in a field, in no order."""
    said = record.get(field.key) or ()
    return (said,) if isinstance(said, str) else tuple(sorted(set(said)))


def ways_of(own: ItemsSpec) -> tuple[Counted, ...]:
    """By place alone; where fields have options, with these equal, and of each option for itself."""
    fields = tuple(field for field in own.fields if field.options)
    if not fields:
        return (Counted(),)
    return (
        Counted(),
        Counted(fields),
        *(Counted((field,), option) for field in fields for option in field.options),
    )


Group = Hashable
Spans = Mapping[Group, Sequence[tuple[int, int]]]
Together = tuple[list[tuple[int, int]], list[tuple[int, int]]]


@dataclass(frozen=True)
class Marked:
    """A list as its spans: of each block, and of what has to be equal besides, where they begin and end. n: spans;
    characters: that lie in any of them; without: entries that are tied to no words."""

    spans: Spans
    n: int
    characters: int
    without: int


NOTHING = Marked({}, 0, 0, 0)


def marked(own: ItemsSpec, records: Iterable[Mapping[str, Any]], counted: Counted) -> Marked:
    """
    >>> own = ItemsSpec.model_validate({"fields": [{"key": "name"}, {"key": "words", "place": True}]})
    >>> marked(own, [{"name": "Gdansk", "words": "0:65-71"}, {"name": "Oslo", "words": ""}], Counted())
    Marked(spans={(0, ()): [(65, 71)]}, n=1, characters=6, without=1)
    """
    assert own.place is not None
    kept = list(filter(counted.counts, records))
    if not kept:
        return NOTHING  # as most lists are of most options
    spans: dict[Group, list[tuple[int, int]]] = defaultdict(list)
    n = without = 0
    for record in kept:
        places: list[Place] = read_places(record.get(own.place.key) or "")
        words = counted.words(record)
        for place in places:
            spans[place.block, words].append((place.start, place.end))
        n += len(places)
        without += not places
    return Marked(dict(spans), n, sum(map(_length, spans.values())), without)


@dataclass(frozen=True)
class Figure:
    """precision: of the spans, or characters, of a those that b has too; recall: of b's those that a has. None where
    not defined; interval: of f1, None where none was asked for."""

    precision: float | None
    recall: float | None
    f1: float | None
    interval: Interval | None


@dataclass(frozen=True)
class SpansAgreement:
    """One rater's spans and another's, or the mean over such pairs, each by its own sums over its lists. n_pairs: that
    share a list; n_marked_pairs: those with any span, which the mean is over. n_lists, n_a, n_b, without_a, without_b:
    sums over all pairs of the lists that both made, of their spans, and of their entries that are tied to no words.
    because: why it is not defined.
    """

    n_pairs: int
    n_marked_pairs: int
    n_lists: int
    n_a: int
    n_b: int
    without_a: int
    without_b: int
    exact: Figure
    overlap: Figure
    characters: Figure
    because: str

    @property
    def n_marked(self) -> int:
        """Spans and entries without any, of both."""
        return self.n_a + self.n_b + self.without_a + self.without_b


# Of two lists: spans of a and b, equal ones, overlapping pairs, characters of a and b, and of both.
_A, _B, _EXACT, _OVERLAP, _CHARACTERS_A, _CHARACTERS_B, _SHARED = range(7)
_NO_SUMS = (0,) * (_SHARED + 1)
# What is in common, of a, of b.
_FIGURES = ((_EXACT, _A, _B), (_OVERLAP, _A, _B), (_SHARED, _CHARACTERS_A, _CHARACTERS_B))


def spans_agreement(
    pairs: Sequence[tuple[Answers, Answers]],
    lists: Sequence[Marked],
    *,
    by: By | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    of_option: bool = False,
) -> SpansAgreement | None:
    """
    Args:
        pairs: of each two raters their answers, a list a cell.
        lists: the list that each code stands for.
        by: what intervals draw, of all documents or sheets in which two of a pair made a list; None makes none.
        of_option: the spans are those of one option: intervals draw the documents or sheets in which one of a pair
            marked it, so that an option that few of them have gets none.

    Returns:
        None where no two share a cell.
    """
    sums: list[FloatArray] = []  # of each pair, shape (n_lists, 7)
    keys: list[IntArray] = []
    without = np.zeros(2, dtype=np.int64)
    for a, b in pairs:
        _cells, of_a, of_b = np.intersect1d(a.cell, b.cell, return_indices=True)
        if not of_a.size:
            continue
        both = [(lists[x], lists[y]) for x, y in zip(a.code[of_a], b.code[of_b], strict=True)]
        sums.append(np.array([_sums(one, other) for one, other in both], dtype=np.float64))
        without += sum(one.without for one, _other in both), sum(other.without for _one, other in both)
        keys.append(cluster_keys(a, by or "document")[of_a])
    if not sums:
        return None
    of_pairs = np.stack([of_pair.sum(axis=0) for of_pair in sums])
    total = of_pairs.sum(axis=0)
    n_lists = sum(map(len, sums))
    precision, recall, f1 = _rates(of_pairs[np.newaxis])[0]
    intervals: list[Interval | None] = [None] * len(_FIGURES)
    if by and of_option:
        sums, keys = _with_spans(sums, keys)
    if by and sums:
        intervals = [*_intervals(sums, keys, by=by, n_draws=n_draws, seed=seed, expanded=expanded)]
    exact, overlap, characters = (
        Figure(_defined(precision[place]), _defined(recall[place]), _defined(f1[place]), intervals[place])
        for place in range(len(_FIGURES))
    )
    return SpansAgreement(
        n_pairs=len(of_pairs),
        n_marked_pairs=int((of_pairs[:, _A] + of_pairs[:, _B] > 0).sum()),
        n_lists=n_lists,
        n_a=int(total[_A]),
        n_b=int(total[_B]),
        without_a=int(without[0]),
        without_b=int(without[1]),
        exact=exact,
        overlap=overlap,
        characters=characters,
        because="" if total[_A] + total[_B] else NO_SPANS,
    )


def _rates(sums: FloatArray) -> FloatArray:
    """Precision, recall and F1 of each figure, the mean over the pairs that have one.

    Args:
        sums: shape (n, n_pairs, 7).

    Returns:
        shape (n, 3, 3): each rate of each figure; NaN where no pair has it.
    """
    common = np.stack([sums[..., figure[0]] for figure in _FIGURES], axis=-1)
    of_a = np.stack([sums[..., figure[1]] for figure in _FIGURES], axis=-1)
    of_b = np.stack([sums[..., figure[2]] for figure in _FIGURES], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.stack([common / of_a, common / of_b, 2 * common / (of_a + of_b)], axis=-2)
        defined = ~np.isnan(rates)
        mean: FloatArray = np.where(defined, rates, 0.0).sum(axis=1) / defined.sum(axis=1)
    return mean


def _intervals(
    sums: Sequence[FloatArray], keys: Sequence[IntArray], *, by: By, n_draws: int, seed: int, expanded: bool
) -> list[Interval]:
    """Of F1 of each figure, all of the same draws."""
    clusters = distinct(np.concatenate(keys))
    draws = resampling_of(clusters, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=True)
    if draws.too_few:
        return [draws.without_draws() for _figure in _FIGURES]
    n_pairs, n_sums = len(sums), sums[0].shape[1]
    per_cluster = np.zeros((draws.n_clusters, n_pairs, n_sums))
    for place, (of_pair, key) in enumerate(zip(sums, keys, strict=True)):
        np.add.at(per_cluster[:, place], np.searchsorted(clusters, key), of_pair)
    drawn = draws.draw(
        per_cluster.reshape(draws.n_clusters, -1),
        lambda of_draws: _rates(of_draws.reshape(len(of_draws), n_pairs, n_sums))[:, 2],
    )
    return [draws.interval(drawn[:, place]) for place in range(len(_FIGURES))]


def _with_spans(sums: Sequence[FloatArray], keys: Sequence[IntArray]) -> tuple[list[FloatArray], list[IntArray]]:
    """Of each pair that marked anything the lists in which it did; the others tell nothing of F1."""
    marked = [(of_pair[:, _A] + of_pair[:, _B] > 0) for of_pair in sums]
    kept = [place for place, of_pair in enumerate(marked) if of_pair.any()]
    return [sums[place][marked[place]] for place in kept], [keys[place][marked[place]] for place in kept]


def _sums(a: Marked, b: Marked) -> tuple[int, ...]:
    if a is NOTHING and b is NOTHING:
        return _NO_SUMS
    exact = overlap = shared = 0
    for group in a.spans.keys() & b.spans.keys():
        one, other = a.spans[group], b.spans[group]
        exact += (Counter(one) & Counter(other)).total()
        overlap += overlapping(one, other)
        shared += _length(one) + _length(other) - _length([*one, *other])
    return a.n, b.n, exact, overlap, a.characters, b.characters, shared


def _length(spans: Sequence[tuple[int, int]]) -> int:
    """Characters that lie in any of these.

    >>> _length([(0, 4), (2, 6), (8, 9)])
    7
    """
    length = reached = 0
    for start, end in sorted(spans):
        length += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return length


def overlapping(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    """Pairs that share a character when spans are paired one to one for the most shared characters; of pairings with
    equally many the one with the most pairs.

    >>> overlapping([(0, 10)], [(0, 4), (5, 10)])
    1
    """
    return sum(_paired(*together) for together in _together(a, b))


def _together(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> Iterator[Together]:
    """Spans that hang together by overlaps, a's and b's; those without the other's are left out."""
    one: list[tuple[int, int]] = []
    other: list[tuple[int, int]] = []
    reached = 0
    for start, end, of_b in sorted([(*span, False) for span in a] + [(*span, True) for span in b]):
        if start >= reached:
            if one and other:
                yield one, other
            one, other = [], []
        (other if of_b else one).append((start, end))
        reached = max(reached, end)
    if one and other:
        yield one, other


def _paired(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> int:
    if len(a) == 1 or len(b) == 1:
        return 1
    from scipy.optimize import linear_sum_assignment  # 20 MiB that most reports do without

    one, other = np.array(a), np.array(b)
    if max(len(a), len(b)) > MOST_TOGETHER:
        return _paired_greedily(one, other)
    shared = _shared(one, other)
    # A pair is worth its characters; that it is one decides between equals.
    rows, columns = linear_sum_assignment(shared * (min(len(a), len(b)) + 1) + (shared > 0), maximize=True)
    return int((shared[rows, columns] > 0).sum())


def _shared(a: IntArray, b: IntArray) -> IntArray:
    """Characters that each span of a shares with each of b, shape (n_a, n_b); spans have shape (n, 2)."""
    first = np.maximum(a[:, np.newaxis, 0], b[np.newaxis, :, 0])
    last = np.minimum(a[:, np.newaxis, 1], b[np.newaxis, :, 1])
    shared: IntArray = np.maximum(last - first, 0)
    return shared


def _paired_greedily(a: IntArray, b: IntArray) -> int:
    free = np.ones(len(b), dtype=bool)
    paired = 0
    for span in a[np.argsort(a[:, 0] - a[:, 1], kind="stable")]:  # the longest first
        shared = np.where(free, _shared(span[np.newaxis], b)[0], 0)
        best = int(shared.argmax())
        if shared[best]:
            free[best] = False
            paired += 1
    return paired


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
