"""Levels what raters have already and what a design gives them, inside the blocks of its sheets."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice, pairwise

from annotation.planning.blocks import Blocks

Assignment = tuple[int, int, int]  # sheet, document, rater

# Of the documents that could be handed over, which lie in random order, so many are compared.
_LOOKED_AT = 50


def levelled(
    assignments: Sequence[Assignment], blocks: Blocks, standing: Sequence[int], rng: random.Random
) -> list[Assignment]:
    """The assignments with documents handed to raters of the same block until no hand-over levels the loads.

    As many raters have each document as before. A document may go to whom it helps by way of others: a chain of
    hand-overs from a rater to one who has at least two documents fewer. Where no chain is left, the sum of the squared
    loads is the least that these blocks allow (Harvey et al. 2006, Semi-matchings for bipartite graphs).
    """
    state = _State(assignments, blocks, standing, rng)
    while chain := state.chain():
        for giver, taker in pairwise(chain):
            state.hand_over(giver, taker)
    return sorted((*document, rater) for document, raters in state.raters_of.items() for rater in raters)


class _State:
    """Who has what, and how many documents each rater could hand to each other one."""

    def __init__(
        self, assignments: Sequence[Assignment], blocks: Blocks, standing: Sequence[int], rng: random.Random
    ) -> None:
        self.blocks = blocks
        self.load = list(standing)
        self.raters_of: dict[tuple[int, int], set[int]] = {}
        self.documents: list[list[tuple[int, int]]] = [[] for _ in standing]
        self.in_sheet: Counter[tuple[int, int]] = Counter()
        self.together: Counter[tuple[int, int]] = Counter()
        self.movable: Counter[tuple[int, int]] = Counter()
        for sheet, place, rater in assignments:
            self.raters_of.setdefault((sheet, place), set()).add(rater)
            self.documents[rater].append((sheet, place))
            self.in_sheet[sheet, rater] += 1
            self.load[rater] += 1
        for document in self.raters_of:
            self._count(document, 1)
        for documents in self.documents:
            rng.shuffle(documents)  # so that what is handed over is not all from the top of a sheet

    def _count(self, document: tuple[int, int], by: int) -> None:
        raters = self.raters_of[document]
        for rater in raters:
            for other in self.blocks[document[0]]:
                if other not in raters:
                    self.movable[rater, other] += by
                elif other != rater:
                    self.together[rater, other] += by

    def chain(self) -> list[int]:
        """Raters of whom each hands a document to the next; from the one with the most who can hand one on."""
        raters = sorted(range(len(self.load)), key=lambda rater: (self.load[rater], rater))
        for giver in reversed(raters):
            came_from = {giver: giver}
            reached = deque([giver])
            while reached:
                rater = reached.popleft()
                for taker in raters:
                    if taker in came_from or not self.movable[rater, taker]:
                        continue
                    came_from[taker] = rater
                    reached.append(taker)
                    if self.load[taker] <= self.load[giver] - 2:
                        chain = [taker]
                        while chain[-1] != giver:
                            chain.append(came_from[chain[-1]])
                        return chain[::-1]
        return []

    def hand_over(self, giver: int, taker: int) -> None:
        """Of the documents that can go, one of a sheet where the giver has the most, and pairs stay the most level."""

        def cost(document: tuple[int, int]) -> tuple[int, int]:
            sheet, others = document[0], self.raters_of[document] - {giver}
            more = sum(self.together[taker, other] - self.together[giver, other] for other in others)
            return self.in_sheet[sheet, taker] - self.in_sheet[sheet, giver], more

        candidates = (
            document
            for document in self.documents[giver]
            if taker in self.blocks[document[0]] and taker not in self.raters_of[document]
        )
        document = min(islice(candidates, _LOOKED_AT), key=cost)
        self._count(document, -1)
        self.raters_of[document] ^= {giver, taker}
        self._count(document, 1)
        self.documents[giver].remove(document)
        self.documents[taker].append(document)
        for rater, by in ((giver, -1), (taker, 1)):
            self.in_sheet[document[0], rater] += by
            self.load[rater] += by
