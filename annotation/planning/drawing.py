"""The planner's balanced design: who labels which document, and which documents are labelled more than once.

Every sheet gets a *block* of `raters_per_sheet` raters. Its documents are labelled by one, two or three raters of the
block, or all of them by as many as are asked for. Four things are kept level: the sheets of each rater, the sheets
that each pair of raters shares, the documents of each rater (of a sheet and over all), and the documents that the
pairs of a block share. Where raters have documents already, and not equally many, what they have then in all comes
first. The same request always gives the same design.

The sentences meant for people are marked for translation here and translated where they are shown: this module knows
no Django.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TypeVar

from annotation.planning.blocks import dealt_to_sheets, expected_load, level_blocks, levelled_with_standing
from annotation.planning.design import Design, ImpossibleDesign, OverlapRequest, Pair
from annotation.planning.levelling import levelled
from base.sentences import Sentence, gettext_noop

Item = TypeVar("Item")
Group = tuple[int, ...]

# Of the new draw alone: work that stands already may be shared.
NOTHING_SHARED = gettext_noop("No %(row)s is labelled twice, so agreement between people cannot be measured.")


def balanced_design(request: OverlapRequest) -> Design:
    """The design for a request.

    Raises:
        ImpossibleDesign: with a sentence that names the number in the way.
    """
    _refuse_impossible(request)
    rng = random.Random(request.seed)  # noqa: S311  a plan, not a secret
    twice, often = _documents_shared(request)
    further = request.most - 1
    labels = [n + doubled + further * more for n, doubled, more in zip(request.sheets, twice, often, strict=True)]
    sizes = [min(request.raters_per_sheet, of_sheet) for of_sheet in labels]
    blocks = dealt_to_sheets(level_blocks(request.raters, sizes, rng), labels, request.raters, rng)
    if request.has_uneven_standing:
        blocks = levelled_with_standing(blocks, labels, request.standing)

    standing = request.standing or (0,) * request.raters
    load = [have + new for have, new in zip(standing, expected_load(blocks, labels, request.raters), strict=True)]
    shared: Counter[Pair] = Counter()
    assignments: list[tuple[int, int, int]] = []
    for sheet, (block, documents) in enumerate(zip(blocks, request.sheets, strict=True)):
        groups = _shares_in_block(sorted(block), documents, twice[sheet], often[sheet], request.most, load, shared)
        for document, raters in enumerate(_spread(documents, *groups, rng)):
            assignments += [(sheet, document, rater) for rater in raters]
    if request.has_uneven_standing:
        assignments = levelled(assignments, blocks, standing, rng)
    design = Design(request, tuple(assignments))
    return replace(design, notes=tuple(_notes(design, twice, often, labels)))


def _refuse_impossible(request: OverlapRequest) -> None:
    if not request.sheets:
        raise ImpossibleDesign(gettext_noop("There is nothing to plan: the study has 0 %(sheets)s."))
    if min(request.sheets) < 0:
        raise ImpossibleDesign(
            gettext_noop("No %(sheet)s can have %(documents)s %(rows)s."), documents=min(request.sheets)
        )
    if sum(request.sheets) == 0:
        raise ImpossibleDesign(gettext_noop("There is nothing to plan: the %(sheets)s have 0 %(rows)s."))
    if request.raters < 1:
        raise ImpossibleDesign(
            gettext_noop("%(raters)s raters are in the study, and somebody has to label."), raters=request.raters
        )
    if request.raters_per_sheet < 1:
        raise ImpossibleDesign(
            gettext_noop("%(asked)s raters per %(sheet)s are asked for, but each needs at least 1."),
            asked=request.raters_per_sheet,
        )
    if request.raters_per_sheet > request.raters:
        raise ImpossibleDesign(
            gettext_noop("%(asked)s raters per %(sheet)s are asked for, but the study has only %(present)s."),
            asked=request.raters_per_sheet,
            present=request.raters,
        )
    if request.raters_per_row > request.raters_per_sheet:
        raise ImpossibleDesign(
            gettext_noop(
                "Any %(row)s labelled by %(wanted)s raters needs as many different ones, but only %(asked)s per "
                "%(sheet)s are asked for."
            ),
            wanted=request.raters_per_row,
            asked=request.raters_per_sheet,
        )
    if not request.raters_per_row:
        _refuse_shares(request)


def _refuse_shares(request: OverlapRequest) -> None:
    for share, sentence in (
        (
            request.share_twice,
            gettext_noop("The share of %(rows)s labelled twice is %(share)s %%, but it must lie between 0 and 100 %%."),
        ),
        (
            request.share_thrice,
            gettext_noop(
                "The share of %(rows)s labelled three times is %(share)s %%, but it must lie between 0 and 100 %%."
            ),
        ),
        (
            request.share_twice + request.share_thrice,
            gettext_noop(
                "The shares of %(rows)s labelled twice and three times are %(share)s %% together, and there is no "
                "more than 100 %%."
            ),
        ),
    ):
        if not 0 <= share <= 1:
            raise ImpossibleDesign(sentence, share=f"{float(share) * 100:g}")
    if request.raters_per_sheet == 1 and request.share_twice > 0:
        raise ImpossibleDesign(
            gettext_noop(
                "Any %(row)s labelled twice needs two different raters, but only 1 rater per %(sheet)s is asked for: "
                "ask for at least 2, or for a share of 0."
            )
        )
    if request.raters_per_sheet < 3 and request.share_thrice > 0:
        raise ImpossibleDesign(
            gettext_noop(
                "Any %(row)s labelled three times needs three different raters, but only %(asked)s raters per "
                "%(sheet)s are asked for: ask for at least 3, or for a share of 0."
            ),
            asked=request.raters_per_sheet,
        )


def _share(share: Fraction | float) -> Fraction:
    """The share as the fraction that was meant: 0.1 is one tenth, 0.3333333 a third."""
    return Fraction(share).limit_denominator(10_000)


def _documents_shared(request: OverlapRequest) -> tuple[list[int], list[int]]:
    """Documents of each sheet to label twice, and by the most raters.

    Whole numbers around the share of each, their sums as near as possible.
    """
    share_twice, share_often = map(_share, request.shares)
    share_shared = share_twice + share_often
    documents, shared_before, often_before = 0, 0, 0
    twice, often = [], []
    for sheet in request.sheets:
        documents += sheet
        shared = math.floor(share_shared * documents + Fraction(1, 2)) - shared_before
        # What one sheet cannot hold goes to the next.
        more = min(shared, math.floor(share_often * documents + Fraction(1, 2)) - often_before)
        twice.append(shared - more)
        often.append(more)
        shared_before += shared
        often_before += more
    return twice, often


# --- Inside a sheet: who labels which document ----------------------------------------------------------------------


def _shares_in_block(
    block: Sequence[int], documents: int, twice: int, often: int, most: int, load: list[float], shared: Counter[Pair]
) -> tuple[list[Group], list[Pair], list[int]]:
    """The raters of each document labelled by the `most` raters, by two and by one, in no order.

    Without documents labelled more than twice pairs differ by at most one document, and so do the raters; with them
    both are as level as choosing one group after the other makes them. What does not divide goes to the raters with
    the smaller `load` (the documents expected over all sheets) and to the pairs that have shared fewer documents;
    both counts are brought up to date.
    """
    groups: list[Group] = []
    here: Counter[int] = Counter()
    if often:
        groups, pairs = _level_groups(block, often, most, twice, load, shared)
        here.update(rater for group in groups for rater in group)
    else:
        all_pairs = list(combinations(block, 2))
        each, extra = divmod(twice, len(all_pairs)) if all_pairs else (0, 0)
        pairs = all_pairs * each + _level_graph(block, extra, load, shared)
    here.update(rater for pair in pairs for rater in pair)
    singles = []
    for _ in range(documents - twice - often):
        rater = min(block, key=lambda rater: (here[rater], load[rater], rater))
        here[rater] += 1
        singles.append(rater)
    for rater in block:
        load[rater] += here[rater] - (documents + twice + (most - 1) * often) / len(block)
    shared.update(pairs)
    shared.update(pair for group in groups for pair in combinations(group, 2))
    return groups, pairs, singles


def _level_groups(
    block: Sequence[int], often: int, most: int, twice: int, load: Sequence[float], shared: Counter[Pair]
) -> tuple[list[Group], list[Pair]]:
    """Groups of the `most` and of two, one after the other from the raters and pairs that have had the fewest."""
    here: Counter[int] = Counter()
    together: Counter[Pair] = Counter()

    def group(size: int) -> tuple[int, ...]:
        if size == len(block):
            chosen = list(block)
        else:
            chosen = [min(block, key=lambda rater: (here[rater], load[rater], rater))]
        # Of the others: documents of this sheet, and of all before it, that they share with who is chosen.
        others = {rater: (0, 0) for rater in block if rater not in chosen}
        while len(chosen) < size:
            for rater, (of_here, of_all) in others.items():
                pair = _pair(rater, chosen[-1])
                others[rater] = of_here + together[pair], of_all + shared[pair]
            chosen.append(
                min(others, key=lambda rater: (here[rater] + others[rater][0], *others[rater], load[rater], rater))
            )
            del others[chosen[-1]]
        here.update(chosen)
        together.update(_pair(a, b) for a, b in combinations(chosen, 2))
        return tuple(sorted(chosen))

    groups = [group(most) for _ in range(often)]
    pairs = [group(2) for _ in range(twice)]
    return groups, pairs  # type: ignore[return-value]  # of this size


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
    documents: int, groups: Sequence[Group], pairs: Sequence[Pair], singles: Sequence[int], rng: random.Random
) -> Iterator[tuple[int, ...]]:
    """The raters of each document: what is labelled more than once, and each rater's part, is spread over the order of
    the documents.

    Documents come ordered by where they were found, and no source should be labelled twice more than another.
    """
    shared = sorted(_one_of_each_part(documents, len(groups) + len(pairs), rng))
    often = {shared[place] for place in _one_of_each_part(len(shared), len(groups), rng)}
    doubled = set(shared) - often
    next_group, next_pair, next_single = _in_rounds(groups, rng), _in_rounds(pairs, rng), _in_rounds(singles, rng)
    for document in range(documents):
        if document in often:
            yield next(next_group)
        else:
            yield next(next_pair) if document in doubled else (next(next_single),)


def _one_of_each_part(things: int, parts: int, rng: random.Random) -> set[int]:
    """As many of 0 … things - 1 as parts, one at random from each of that many equal stretches."""
    bounds = [place * things // parts for place in range(parts + 1)] if parts else []
    return {rng.randrange(start, end) for start, end in pairwise(bounds)}


def _in_rounds(items: Sequence[Item], rng: random.Random) -> Iterator[Item]:
    """The items in rounds: each different item once, in random order, and so on with those that remain."""
    left = Counter(items)
    while left:
        once = list(left)
        rng.shuffle(once)
        yield from once
        left -= Counter(once)


# --- Notes ----------------------------------------------------------------------------------------------------------


def _notes(design: Design, twice: Sequence[int], often: Sequence[int], labels: Sequence[int]) -> Iterator[Sentence]:
    """What the manager should know before applying the design."""
    request = design.request
    documents, asked = sum(request.sheets), request.raters_per_sheet
    sizes = [min(asked, of_sheet) for of_sheet in labels]
    share_twice, share_often = request.shares
    if sum(often) and (
        _is_rounded(share_twice, request.sheets, twice) or _is_rounded(share_often, request.sheets, often)
    ):
        yield _note(
            gettext_noop(
                "The shares do not give a whole number of %(rows)s in every %(sheet)s; they were rounded: %(twice)s of "
                "%(documents)s will be labelled twice, %(thrice)s three times."
            ),
            twice=sum(twice),
            thrice=sum(often),
            documents=documents,
        )
    elif _is_rounded(share_twice, request.sheets, twice):
        yield _note(
            gettext_noop(
                "The share does not give a whole number of %(rows)s in every %(sheet)s; it was rounded: "
                "%(twice)s of %(documents)s will be labelled twice."
            ),
            twice=sum(twice),
            documents=documents,
        )
    if not sum(twice) + sum(often):
        yield _note(NOTHING_SHARED)
    elif lacking := sum(
        doubled + math.comb(request.most, 2) * more < math.comb(size, 2)
        for doubled, more, size in zip(twice, often, sizes, strict=True)
    ):
        yield _note(
            gettext_noop(
                "Some two raters of one %(sheet)s share no %(row)s, because fewer %(rows)s are labelled twice than "
                "there are pairs of raters; %(sheets)s where that is so: %(n)s."
            ),
            n=lacking,
        )
    if empty := request.sheets.count(0):
        yield _note(
            gettext_noop("No %(row)s is given out of %(sheets)s that have none free, or none drawn: %(n)s."), n=empty
        )
    if small := sum(0 < size < asked for size in sizes):
        yield _note(
            gettext_noop("Too few %(rows)s to give each of %(asked)s raters one; %(sheets)s where that is so: %(n)s."),
            asked=asked,
            n=small,
        )
    idle = design.documents_of_rater.count(0)
    if idle and request.has_uneven_standing:
        yield _note(
            gettext_noop("Raters who get nothing new, because the others catch up with what they have: %(idle)s."),
            idle=idle,
        )
    elif idle and any(asked < of_sheet for of_sheet in labels):
        yield _note(
            gettext_noop("Raters who get nothing: %(idle)s. They get some with more raters per %(sheet)s."), idle=idle
        )
    elif idle:
        yield _note(
            gettext_noop("Raters who get nothing, because there is not enough work for all %(raters)s: %(idle)s."),
            raters=request.raters,
            idle=idle,
        )


def _is_rounded(share: Fraction | float, sheets: Sequence[int], documents: Sequence[int]) -> bool:
    return any(_share(share) * sheet != n for sheet, n in zip(sheets, documents, strict=True))


def _note(template: str, **numbers: int) -> Sentence:
    return Sentence(template, tuple(numbers.items()))
