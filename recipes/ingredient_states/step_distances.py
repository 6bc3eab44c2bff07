"""How far back steps refer, over a set of recipes, and a sample of them in which all distances are about as frequent.

Steps refer to the one before them most of all. Toyooka, Aizawa and Yamakata (section 3.3) sampled the recipes that they
annotated at random, so that the distribution becomes about uniform; how is left open, and decided here. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.step_references import all_references
from recipes.ingredient_states.probing.drawing import drawn

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Distances:
    """counts: of references to the step 1, 2, … before; with `pooled` the last of them counts what is further, too."""

    counts: tuple[int, ...]
    pooled: bool = False

    @property
    def shares(self) -> list[float]:
        """
        >>> Distances((6, 3, 0, 1)).shares
        [0.6, 0.3, 0.0, 0.1]
        """
        n = sum(self.counts)
        return [count / n if n else 0.0 for count in self.counts]

    @property
    def from_uniform(self) -> float | None:
        """Total variation distance from the uniform distribution over these distances: the share of references that
        would have to be others. 0: uniform; None: there are none.

        >>> Distances((6, 3, 0, 1)).from_uniform  # half of 0.35 + 0.05 + 0.25 + 0.15
        0.4
        """
        n, k = sum(self.counts), len(self.counts)
        return sum(abs(k * count - n) for count in self.counts) / (2 * k * n) if n else None


def distances_in(recipes: Sequence[Sequence[str]], *, longest: int = 0) -> IntArray:
    """References by their distance, shape (n_recipes, n_distances): of each recipe, given by its steps.

    Args:
        longest: what is further counts here; 0 for as far as they go.

    >>> distances_in([["Boil.", "Add step 1.", "Serve steps 1 and 2."], ["Eat."]]).tolist()
    [[2, 1], [0, 0]]
    """
    found = [[step - reference.step for step, reference in all_references(steps)] for steps in recipes]
    width = longest or max((distance for some in found for distance in some), default=0)
    counts = np.zeros((len(found), width), dtype=np.int64)
    for place, some in enumerate(found):
        for distance in some:
            counts[place, min(distance, width) - 1] += 1
    return counts


def total(counts: IntArray, *, pooled: bool = False) -> Distances:
    return Distances(tuple(counts.sum(axis=0).tolist()), pooled)


def flat_sample(counts: IntArray, names: Sequence[str], n: int, *, seed: int) -> list[int]:
    """The places of `n` recipes, or of all that have a reference where these are fewer, in the order in which they are
    taken.

    One after the other the recipe is taken that brings the references of those taken so far nearest to uniform, by the
    total variation distance; of several that do equally, the one that a hash of the seed and its name puts first. So
    the same seed gives the same sample, in whatever order recipes are given, and a larger one holds the smaller.
    Recipes without a reference are never taken.

    Args:
        counts: as `distances_in` gives them.
        names: of the recipes; they tell them apart.
    """
    some = np.flatnonzero(counts.sum(axis=1))
    order = sorted(some.tolist(), key=lambda place: (drawn(seed, "sample", names[place]), names[place]))
    left, width = counts[order], counts.shape[1]
    taken, so_far = [], np.zeros(width, dtype=np.int64)
    for _ in range(min(n, len(order))):
        after = left + so_far
        size = after.sum(axis=1)
        # Quotients of whole numbers, which are the same on every machine.
        away = np.abs(width * after - size[:, np.newaxis]).sum(axis=1) / size
        best = int(np.argmin(away))  # the first of equals
        taken.append(order.pop(best))
        so_far = after[best]
        left = np.delete(left, best, axis=0)
    return taken
