"""Which raters work on which sheet: blocks in which raters, and pairs of raters, meet equally often."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, cycle, islice, permutations, product

# How hard to try; a search ends early when the counts are as level as they can be.
_ATTEMPTS = 3
_EXCHANGES = 60_000
_EXCHANGES_PER_BLOCK = 2_000
_REORDERINGS = 20_000
# Loads are sums of parts: what differs by less than this is the same, or two raters would be exchanged for ever.
_ROUNDING = 1e-6

Blocks = list[set[int]]


def level_blocks(raters: int, sizes: Sequence[int], rng: random.Random) -> Blocks:
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


def dealt_to_sheets(blocks: Blocks, labels: Sequence[int], raters: int, rng: random.Random) -> Blocks:
    """The blocks in an order that levels the documents of the raters where sheets differ in size."""
    blocks = list(blocks)
    each = [documents / max(len(block), 1) for documents, block in zip(labels, blocks, strict=True)]
    load = expected_load(blocks, labels, raters)
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


def expected_load(blocks: Blocks, labels: Sequence[int], raters: int) -> list[float]:
    """Documents of each rater if every block shared its sheet's labels out evenly, shape (raters,)."""
    load = [0.0] * raters
    for documents, block in zip(labels, blocks, strict=True):
        for rater in block:
            load[rater] += documents / len(block)
    return load


def levelled_with_standing(blocks: Blocks, labels: Sequence[int], standing: Sequence[int]) -> Blocks:
    """The blocks with raters exchanged for others outside of them, until what raters have already and get is level.

    Whoever has the most makes room for who has the least, in the block where the two raters' companions have met least.
    """
    blocks = [set(block) for block in blocks]
    each = [documents / max(len(block), 1) for documents, block in zip(labels, blocks, strict=True)]
    load = [have + new for have, new in zip(standing, expected_load(blocks, labels, len(standing)), strict=True)]
    together = Counter(pair for block in blocks for pair in permutations(block, 2))

    def more_together(place: int, out: int, into: int) -> int:
        return sum(together[into, other] - together[out, other] for other in blocks[place] if other != out)

    def exchange() -> tuple[int, int, int] | None:
        by_load = sorted(range(len(load)), key=lambda rater: (load[rater], rater))
        for out, into in product(reversed(by_load), by_load):
            places = [
                place
                for place, block in enumerate(blocks)
                if out in block and into not in block and 0 < each[place] < load[out] - load[into] - _ROUNDING
            ]
            if places:
                return min(places, key=lambda place: (more_together(place, out, into), place)), out, into
        return None

    while found := exchange():
        place, out, into = found
        for other in blocks[place] - {out}:
            together.subtract([(out, other), (other, out)])
            together.update([(into, other), (other, into)])
        blocks[place] ^= {out, into}
        load[out] -= each[place]
        load[into] += each[place]
    return blocks
