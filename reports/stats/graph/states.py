"""A graph of states as arrays: which things there are, when each came about, and what became of what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.answers import IntArray

GIVEN = 0  # the step of what is there at the beginning
UNKNOWN = -1  # of what is used though it is not there


@dataclass(frozen=True, eq=False)
class Drawn:
    """What one rater drew of one document.

    texts: of each node its name. step: shape (n_nodes,), the step that made it, 1 the first; `GIVEN` or `UNKNOWN`.
    edges: shape (n_edges, 2), from node to node, each once.
    """

    texts: tuple[str, ...]
    step: IntArray
    edges: IntArray

    @classmethod
    def of(cls, nodes: Sequence[tuple[str, int]], edges: Iterable[tuple[int, int]]) -> Drawn:
        """Of (text, step) of each node and edges by the places of the nodes."""
        return cls(
            texts=tuple(text for text, _step in nodes),
            step=np.array([step for _text, step in nodes], dtype=np.int64),
            edges=np.array(sorted({edge for edge in edges if edge[0] != edge[1]}), dtype=np.int64).reshape(-1, 2),
        )

    @property
    def n_made(self) -> int:
        """Nodes without those given: |V|."""
        return int((self.step > GIVEN).sum())

    @property
    def n_unknown(self) -> int:
        """Uses of what is not there."""
        return int((self.step == UNKNOWN).sum())
