"""BERTScore (Zhang et al. 2020): the tokens of two texts matched greedily by the cosine of their hidden states.

    P = mean over the candidate's tokens of the cosine to the nearest token of the reference; R the other way round
    F = 2 P R / (P + R)

No weights by inverse frequency and no rescaling, as the package bert-score has it by default: the tokens that an
encoder puts around a text may be the nearest of another, and have no nearest of their own. Of several references that
with the highest F. A text without tokens has 0. Numbers of two encoders, or of two layers, are not to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from reports.stats.pairs import FloatArray
from reports.stats.text.overlap import texts_of
from reports.stats.text.pairs import Pair

NO_ENCODER = "BERTScore needs an encoder with vectors of tokens"
TOO_MANY_TEXTS = "too many texts for BERTScore on a page"
# A page waits for its encoder; it reads some hundred texts a second on a CPU.
MOST_TEXTS = 20_000
_AT_ONCE = 512  # pairs whose vectors are held at a time
_KEPT = 100_000
# Of each text the vectors of its tokens, shape (n_tokens, n_dimensions), the encoder's own first and last among them.
TokenVectors = Callable[[Sequence[str]], Sequence[FloatArray]]


@dataclass(frozen=True)
class BertScore:
    """`known`: the F of pairs that were scored before; a report is read more often than its texts change."""

    token_vectors: TokenVectors
    known: dict[Pair, float] = field(default_factory=dict)

    def scores(self, block: Sequence[Pair]) -> FloatArray:
        """F of each pair, shape (n_pairs,)."""
        if len(self.known) + len(block) > _KEPT:
            self.known.clear()
        unknown = [pair for pair in dict.fromkeys(block) if pair not in self.known]
        for start in range(0, len(unknown), _AT_ONCE):
            some = unknown[start : start + _AT_ONCE]
            different = texts_of(some)
            vectors = dict(zip(different, map(_unit, self.token_vectors(different)), strict=True))
            for pair in some:
                said = vectors[pair.candidate]
                self.known[pair] = max(f1(said, vectors[of]) for of in pair.references)
        return np.array([self.known[pair] for pair in block])


def f1(candidate: FloatArray, reference: FloatArray) -> float:
    """
    Args:
        candidate, reference: vectors of length one, a row a token, first and last those that stand around the text.
    """
    if min(len(candidate), len(reference)) <= 2:
        return 0.0
    alike = candidate @ reference.T
    precision = float(alike[1:-1].max(axis=1).mean())
    recall = float(alike[:, 1:-1].max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _unit(vectors: FloatArray) -> FloatArray:
    found: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found
