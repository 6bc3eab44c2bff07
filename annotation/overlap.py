"""The planner's balanced design: who labels which document, and which documents are labelled twice.

Every sheet gets a *block* of `raters_per_sheet` raters. Its documents are labelled by one rater of the block or by
two. Four things are kept level: the sheets of each rater, the sheets that each pair of raters shares, the documents of
each rater (of a sheet and over all), and the documents that the pairs of a block share. The same request always gives
the same design.

The sentences meant for people are marked for translation here and translated where they are shown: this module knows
no Django.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, cycle, islice, pairwise, permutations
from typing import TypeVar

from annotation.sentences import Sentence, gettext_noop

# How hard to try; a search ends early when the counts are as level as they can be.
_ATTEMPTS = 3
_EXCHANGES = 60_000
_EXCHANGES_PER_BLOCK = 2_000
_REORDERINGS = 20_000

Blocks = list[set[int]]
Pair = tuple[int, int]
Item = TypeVar("Item")


class ImpossibleDesign(Exception):
    """No design can meet the request; `sentence` says which number is in the way."""

    def __init__(self, template: str, **numbers: int | float | str) -> None:
        self.sentence = Sentence(template, tuple(numbers.items()))
        super().__init__(str(self.sentence))


@dataclass(frozen=True)
class OverlapRequest:
    """What the planner asks for.

    raters: raters in the study. sheets: the number of documents of each sheet. raters_per_sheet: the size of a block.
    share_twice: the share of all documents to label twice, 0 to 1. seed: of all that is left to chance.
    """

    raters: int
    sheets: tuple[int, ...]
    raters_per_sheet: int
    share_twice: Fraction | float
    seed: int = 0


@dataclass(frozen=True)
class Design:
    """(sheet, document, rater) of every assignment, in ascending order, all counted from 0; `notes` says what is
    unwise."""

    request: OverlapRequest
    assignments: tuple[tuple[int, int, int], ...]
    notes: tuple[Sentence, ...] = ()

    @cached_property
    def raters_of(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The one or two raters of each (sheet, document)."""
        raters: dict[tuple[int, int], tuple[int, ...]] = {}
        for sheet, document, rater in self.assignments:
            raters[sheet, document] = (*raters.get((sheet, document), ()), rater)
        return raters

    @property
    def labelled_once(self) -> int:
        return sum(len(raters) == 1 for raters in self.raters_of.values())

    @property
    def labelled_twice(self) -> int:
        return sum(len(raters) == 2 for raters in self.raters_of.values())

    @property
    def documents_of_rater(self) -> list[int]:
        """Documents that each rater labels, shape (raters,)."""
        counts = Counter(rater for _, _, rater in self.assignments)
        return [counts[rater] for rater in range(self.request.raters)]

    @property
    def sheets_of_rater(self) -> list[int]:
        """Sheets on which each rater labels a document, shape (raters,)."""
        counts = Counter(rater for _, rater in self.documents_in_sheet)
        return [counts[rater] for rater in range(self.request.raters)]

    @cached_property
    def documents_in_sheet(self) -> Counter[tuple[int, int]]:
        """Documents that each rater labels in each sheet, by (sheet, rater)."""
        return Counter((sheet, rater) for sheet, _, rater in self.assignments)

    @cached_property
    def shared_in_sheet(self) -> Counter[tuple[int, int, int]]:
        """Documents that two raters of a sheet both label, by (sheet, rater, higher rater)."""
        return Counter((sheet, *raters) for (sheet, _), raters in self.raters_of.items() if len(raters) == 2)

    @property
    def documents_shared(self) -> dict[Pair, int]:
        """Documents that each pair of raters of the study labels both."""
        shared = dict.fromkeys(combinations(range(self.request.raters), 2), 0)
        for (_, a, b), documents in self.shared_in_sheet.items():
            shared[a, b] += documents
        return shared

    @property
    def sheets_shared(self) -> dict[Pair, int]:
        """Sheets on which both raters of each pair label documents, the same ones or not."""
        shared = dict.fromkeys(combinations(range(self.request.raters), 2), 0)
        raters_of_sheet: dict[int, list[int]] = {}
        for sheet, rater in self.documents_in_sheet:
            raters_of_sheet.setdefault(sheet, []).append(rater)
        for raters in raters_of_sheet.values():
            for pair in combinations(sorted(raters), 2):
                shared[pair] += 1
        return shared


def balanced_design(request: OverlapRequest) -> Design:
    """The design for a request.

    Raises:
        ImpossibleDesign: with a sentence that names the number in the way.
    """
    _refuse_impossible(request)
    rng = random.Random(request.seed)  # noqa: S311  a plan, not a secret
    twice = _documents_twice(request)
    labels = [documents + doubled for documents, doubled in zip(request.sheets, twice, strict=True)]
    sizes = [min(request.raters_per_sheet, documents) for documents in labels]
    blocks = _dealt_to_sheets(_level_blocks(request.raters, sizes, rng), labels, request.raters, rng)

    load = _expected_load(blocks, labels, request.raters)
    shared: Counter[Pair] = Counter()
    assignments: list[tuple[int, int, int]] = []
    for sheet, (block, documents, doubled) in enumerate(zip(blocks, request.sheets, twice, strict=True)):
        pairs, singles = _shares_in_block(sorted(block), documents, doubled, load, shared)
        for document, raters in enumerate(_spread(documents, pairs, singles, rng)):
            assignments += [(sheet, document, rater) for rater in raters]
    design = Design(request, tuple(assignments))
    return replace(design, notes=tuple(_notes(design, twice, sizes)))


def _refuse_impossible(request: OverlapRequest) -> None:
    if not request.sheets:
        raise ImpossibleDesign(gettext_noop("There is nothing to plan: the study has 0 sheets."))
    if min(request.sheets) < 0:
        raise ImpossibleDesign(
            gettext_noop("A sheet cannot have %(documents)s %(rows)s."), documents=min(request.sheets)
        )
    if sum(request.sheets) == 0:
        raise ImpossibleDesign(gettext_noop("There is nothing to plan: the sheets have 0 %(rows)s."))
    if request.raters < 1:
        raise ImpossibleDesign(
            gettext_noop("%(raters)s raters are in the study, and somebody has to label."), raters=request.raters
        )
    if request.raters_per_sheet < 1:
        raise ImpossibleDesign(
            gettext_noop("%(asked)s raters a sheet are asked for, but every sheet needs at least 1."),
            asked=request.raters_per_sheet,
        )
    if request.raters_per_sheet > request.raters:
        raise ImpossibleDesign(
            gettext_noop("%(asked)s raters a sheet are asked for, but the study has only %(present)s."),
            asked=request.raters_per_sheet,
            present=request.raters,
        )
    if not 0 <= request.share_twice <= 1:
        raise ImpossibleDesign(
            gettext_noop("The share of %(rows)s labelled twice is %(share)s, but it must lie between 0 and 1."),
            share=float(request.share_twice),
        )
    if request.raters_per_sheet == 1 and request.share_twice > 0:
        raise ImpossibleDesign(
            gettext_noop(
                "A %(row)s labelled twice needs two different raters, but only 1 rater a sheet is asked for: "
                "ask for at least 2, or for a share of 0."
            )
        )


def _share(request: OverlapRequest) -> Fraction:
    """The share as the fraction that was meant: 0.1 is one tenth, 0.3333333 a third."""
    return Fraction(request.share_twice).limit_denominator(10_000)


def _documents_twice(request: OverlapRequest) -> list[int]:
    """Documents of each sheet to label twice: whole numbers around the share of each, their sum as near as possible."""
    share, before, documents = _share(request), 0, 0
    twice = []
    for sheet in request.sheets:
        documents += sheet
        upto = math.floor(share * documents + Fraction(1, 2))
        twice.append(upto - before)
        before = upto
    return twice


# --- Blocks: which raters work on which sheet -----------------------------------------------------------------------


def _level_blocks(raters: int, sizes: Sequence[int], rng: random.Random) -> Blocks:
    """A block of each size, with every rater in equally many blocks (within one) and every pair as equally as can be
    found."""
    order = list(range(raters))
    best: Blocks = []
    best_squares = math.inf
    for _ in range(_ATTEMPTS):
        rng.shuffle(order)
        # Dealing the raters out in turn levels their numbers of blocks.
        turns = cycle(order)
        blocks = [set(islice(turns, size)) for size in sizes]
        level = _least_squares(blocks, raters)
        squares = _level_pairs(blocks, raters, level, rng)
        if squares < best_squares:
            best, best_squares = blocks, squares
        if squares <= level:
            break
    return best


def _least_squares(blocks: Blocks, raters: int) -> int:
    """A bound that the sum of the squared pair counts cannot go below, however raters are exchanged between blocks."""

    def even(total: int, parts: int) -> int:
        low, above = divmod(total, max(parts, 1))
        return total * low + above * (low + 1)

    size = len(blocks[0])
    if any(len(block) != size for block in blocks):
        return even(sum(math.comb(len(block), 2) for block in blocks), math.comb(raters, 2))
    # Blocks of one size: a rater meets the others size - 1 times in each block, at best all equally often.
    load = Counter(rater for block in blocks for rater in block)
    return math.ceil(sum(even(n_blocks * (size - 1), raters - 1) for n_blocks in load.values()) / 2)


def _level_pairs(blocks: Blocks, raters: int, level: int, rng: random.Random) -> int:
    """Exchange raters between two blocks until the pair counts are level, and return the sum of the squared pair
    counts.

    Simulated annealing on that sum. An exchange keeps the size of the blocks and the number of blocks of each rater.
    """
    together = [[0] * raters for _ in range(raters)]
    for block in blocks:
        for a, b in permutations(block, 2):
            together[a][b] += 1
    squares = sum(together[a][b] ** 2 for a, b in combinations(range(raters), 2))
    steps = min(_EXCHANGES, _EXCHANGES_PER_BLOCK * len(blocks)) if len(blocks) > 1 else 0
    for step in range(steps):
        if squares <= level:
            break
        first, second = rng.sample(blocks, 2)
        only_first, only_second = sorted(first - second), sorted(second - first)
        if not only_first or not only_second:
            continue
        a, b = rng.choice(only_first), rng.choice(only_second)
        only_first.remove(a)
        only_second.remove(b)
        with_a, with_b = together[a], together[b]
        # a leaves its companions c for b, b leaves its own for a: (n + 1)^2 - n^2 and (n - 1)^2 - n^2 of each pair.
        change = sum(2 * (with_b[c] - with_a[c] + 1) for c in only_first)
        change += sum(2 * (with_a[c] - with_b[c] + 1) for c in only_second)
        temperature = 0.8 * (1 - step / steps)
        if change > 0 and rng.random() >= math.exp(-change / temperature):
            continue
        for moved, left, joined in ((a, only_first, only_second), (b, only_second, only_first)):
            for others, amount in ((left, -1), (joined, 1)):
                for c in others:
                    together[moved][c] += amount
                    together[c][moved] += amount
        first.symmetric_difference_update((a, b))
        second.symmetric_difference_update((a, b))
        squares += change
    return squares


def _dealt_to_sheets(blocks: Blocks, labels: Sequence[int], raters: int, rng: random.Random) -> Blocks:
    """The blocks in an order that levels the documents of the raters where sheets differ in size."""
    blocks = list(blocks)
    each = [documents / max(len(block), 1) for documents, block in zip(labels, blocks, strict=True)]
    load = _expected_load(blocks, labels, raters)
    for _ in range(_REORDERINGS if len(set(each)) > 1 else 0):
        s, t = rng.sample(range(len(blocks)), 2)
        more = each[t] - each[s]
        if more == 0 or len(blocks[s]) != len(blocks[t]):
            continue
        gain, lose = blocks[s] - blocks[t], blocks[t] - blocks[s]
        # The change of the sum of squared loads.
        if sum(2 * load[r] * more + more**2 for r in gain) + sum(more**2 - 2 * load[r] * more for r in lose) < -1e-9:
            blocks[s], blocks[t] = blocks[t], blocks[s]
            for rater in gain:
                load[rater] += more
            for rater in lose:
                load[rater] -= more
    return blocks


def _expected_load(blocks: Blocks, labels: Sequence[int], raters: int) -> list[float]:
    """Documents of each rater if every block shared its sheet's labels out evenly, shape (raters,)."""
    load = [0.0] * raters
    for documents, block in zip(labels, blocks, strict=True):
        for rater in block:
            load[rater] += documents / len(block)
    return load


# --- Inside a sheet: who labels which document ----------------------------------------------------------------------


def _shares_in_block(
    block: Sequence[int], documents: int, twice: int, load: list[float], shared: Counter[Pair]
) -> tuple[list[Pair], list[int]]:
    """The pair of each document labelled twice and the rater of each document labelled once, in no order.

    Pairs differ by at most one document, and so do the raters. What does not divide goes to the raters with the
    smaller `load` (the documents expected over all sheets) and to the pairs that have shared fewer documents;
    both counts are brought up to date.
    """
    all_pairs = list(combinations(block, 2))
    each, extra = divmod(twice, len(all_pairs)) if all_pairs else (0, 0)
    pairs = all_pairs * each + _level_graph(block, extra, load, shared)
    here = Counter(rater for pair in pairs for rater in pair)
    singles = []
    for _ in range(documents - twice):
        rater = min(block, key=lambda rater: (here[rater], load[rater], rater))
        here[rater] += 1
        singles.append(rater)
    for rater in block:
        load[rater] += here[rater] - (documents + twice) / len(block)
    shared.update(pairs)
    return pairs, singles


def _level_graph(block: Sequence[int], edges: int, load: Sequence[float], shared: Counter[Pair]) -> list[Pair]:
    """Different pairs of the block in which raters occur equally often, within one; more often who has fewer documents.

    Havel and Hakimi's construction, which succeeds for all numbers of occurrences that differ by at most one.
    """
    if not edges:
        return []
    low, above = divmod(2 * edges, len(block))
    by_load = sorted(block, key=lambda rater: (load[rater], rater))
    open_ends = {rater: low + (place < above) for place, rater in enumerate(by_load)}
    graph: list[Pair] = []
    while any(open_ends.values()):
        rater = max(by_load, key=lambda rater: open_ends[rater])
        others = sorted(
            (other for other in by_load if other != rater),
            key=lambda other: (-open_ends[other], shared[_pair(rater, other)]),
        )
        for other in others[: open_ends[rater]]:
            open_ends[other] -= 1
            graph.append(_pair(rater, other))
        open_ends[rater] = 0
    return graph


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _spread(
    documents: int, pairs: Sequence[Pair], singles: Sequence[int], rng: random.Random
) -> Iterator[tuple[int, ...]]:
    """The raters of each document: what is labelled twice, and each rater's part, is spread over the order of the
    documents.

    Documents come ordered by where they were found, and no source should be labelled twice more than another.
    """
    bounds = [place * documents // len(pairs) for place in range(len(pairs) + 1)] if pairs else []
    doubled = {rng.randrange(start, end) for start, end in pairwise(bounds)}
    next_pair, next_single = _in_rounds(pairs, rng), _in_rounds(singles, rng)
    for document in range(documents):
        yield next(next_pair) if document in doubled else (next(next_single),)


def _in_rounds(items: Sequence[Item], rng: random.Random) -> Iterator[Item]:
    """The items in rounds: each different item once, in random order, and so on with those that remain."""
    left = Counter(items)
    while left:
        once = list(left)
        rng.shuffle(once)
        yield from once
        left -= Counter(once)


# --- Notes ----------------------------------------------------------------------------------------------------------


def _notes(design: Design, twice: Sequence[int], sizes: Sequence[int]) -> Iterator[Sentence]:
    """What the manager should know before applying the design."""
    request = design.request
    share, documents, asked = _share(request), sum(request.sheets), request.raters_per_sheet
    if any(share * sheet != doubled for sheet, doubled in zip(request.sheets, twice, strict=True)):
        yield _note(
            gettext_noop(
                "The share does not give a whole number of %(rows)s in every sheet; it was rounded: "
                "%(twice)s of %(documents)s %(rows)s are labelled twice."
            ),
            twice=sum(twice),
            documents=documents,
        )
    if not sum(twice):
        yield _note(gettext_noop("No %(row)s is labelled twice, so agreement between people cannot be measured."))
    elif lacking := sum(doubled < math.comb(size, 2) for doubled, size in zip(twice, sizes, strict=True)):
        yield _note(
            gettext_noop(
                "Sheets in which some two raters share no %(row)s, because fewer %(rows)s are labelled twice than "
                "there are pairs of raters: %(sheets)s."
            ),
            sheets=lacking,
        )
    if empty := request.sheets.count(0):
        yield _note(gettext_noop("Sheets without %(rows)s, to which nobody is assigned: %(sheets)s."), sheets=empty)
    if small := sum(0 < size < asked for size in sizes):
        yield _note(
            gettext_noop("Sheets with too few %(rows)s to give each of %(asked)s raters one: %(sheets)s."),
            asked=asked,
            sheets=small,
        )
    if idle := design.documents_of_rater.count(0):
        yield _note(
            gettext_noop("Raters who get nothing, because there is not enough work for all %(raters)s: %(idle)s."),
            raters=request.raters,
            idle=idle,
        )


def _note(template: str, **numbers: int) -> Sentence:
    return Sentence(template, tuple(numbers.items()))
