"""The metrics by name, each one variant, in one form: what is summed over pairs, and the figure of such a sum.

A mean is a sum of scores over a number of pairs, and BLEU of a corpus is a figure of summed n-grams. So the figure of
any set of pairs, of a resample, or of what two systems exchanged, comes from sums alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio
from reports.stats.text import meteor, meteor_java, overlap, tokens
from reports.stats.text.bertscore import NO_ENCODER, BertScore
from reports.stats.text.meteor import DataMissing
from reports.stats.text.overlap import ORDER, Tokens
from reports.stats.text.pairs import Pair, Pairs
from reports.stats.text.tokens import Tokeniser

BETA = 1.2  # of pycocoevalcap's ROUGE-L: recall counts as β² times as much as precision
_COUNTS = 2 * ORDER + 2


@dataclass(frozen=True)
class Metric:
    """One variant of a metric.

    sums: what is summed, of a block of pairs, shape (n_pairs, n_features). figure: of sums, shape (…, n_features), NaN
    where nothing was summed. each: of one pair's own, where that is another figure than `figure` of it. perfect: the
    figure of texts held against themselves, None where it depends on their lengths.
    """

    key: str
    n_features: int
    sums: Callable[[Sequence[Pair]], FloatArray]
    figure: Callable[[FloatArray], FloatArray]
    each: Callable[[FloatArray], FloatArray]
    perfect: float | None = 1.0

    def of(self, pairs: Pairs) -> FloatArray:
        """Shape (n_pairs, n_features).

        Raises:
            meteor.DataMissing: what it is computed with is not installed.
        """
        return pairs.sums(self.sums, self.n_features)


def mean_of(sums: FloatArray) -> FloatArray:
    """The mean of scores, of their sums and numbers: shape (..., 2) to (...)."""
    return ratio(sums[..., 0], sums[..., 1])


def _counted(sums: FloatArray, figure: FloatArray) -> FloatArray:
    """NaN where no pair was summed: neither side has a token then."""
    found: FloatArray = np.where(sums.any(axis=-1), figure, np.nan)
    return found


def _mean(key: str, scores: Callable[[Sequence[Pair]], FloatArray], *, perfect: float | None = 1.0) -> Metric:
    def sums(block: Sequence[Pair]) -> FloatArray:
        found = scores(block)
        return np.stack([found, np.ones(found.size)], axis=-1)

    return Metric(key, 2, sums, mean_of, mean_of, perfect)


# --- exact match ------------------------------------------------------------------------------------------------------


def _exact(block: Sequence[Pair]) -> FloatArray:
    return np.array([float(pair.candidate in pair.references) for pair in block])


def parts(text: str, separator: str) -> frozenset[str]:
    """The parts of a list, without regard to order, case and repetition.

    >>> sorted(parts("Water; flour ;water", ";"))
    ['flour', 'water']
    """
    of = text.split(separator) if separator else [text]
    return frozenset(" ".join(part.split()).casefold() for part in of) - {""}


def _sets(separator: str) -> Callable[[Sequence[Pair]], FloatArray]:
    def scores(block: Sequence[Pair]) -> FloatArray:
        set_of = {text: parts(text, separator) for text in overlap.texts_of(block)}
        return np.array([float(any(set_of[pair.candidate] == set_of[of] for of in pair.references)) for pair in block])

    return scores


def _parts_f1(separator: str) -> Callable[[Sequence[Pair]], FloatArray]:
    def f1(a: Collection[str], b: Collection[str]) -> float:
        return 2 * len(set(a) & set(b)) / (len(a) + len(b)) if a or b else 1.0

    def scores(block: Sequence[Pair]) -> FloatArray:
        set_of = {text: parts(text, separator) for text in overlap.texts_of(block)}
        return np.array([max(f1(set_of[pair.candidate], set_of[of]) for of in pair.references) for pair in block])

    return scores


# --- ROUGE-L ----------------------------------------------------------------------------------------------------------


def _rouge_coco(block: Sequence[Pair]) -> FloatArray:
    """F with β = 1.2 of the best precision and the best recall, which may be of two references. A text without tokens
    counts as one empty token, so that it equals another such text."""
    tokens_of = Tokens.of(block, lambda text: tokens.penn(text) or [""])
    common, pair, n = overlap.lcs(tokens_of), tokens_of.pair[len(block) :], len(block)
    precision = overlap.best_of(common / tokens_of.length[:n][pair], pair, n)
    recall = overlap.best_of(common / tokens_of.length[n:], pair, n)
    below = recall + BETA**2 * precision
    found: FloatArray = np.divide((1 + BETA**2) * precision * recall, below, out=np.zeros(n), where=below > 0)
    return found


def _rouge_f1(block: Sequence[Pair]) -> FloatArray:
    """F1 of each reference, and of several the best; a text without a letter or digit has 0."""
    tokens_of = Tokens.of(block, tokens.letters)
    common, pair, n = overlap.lcs(tokens_of), tokens_of.pair[len(block) :], len(block)
    both = tokens_of.length[:n][pair] + tokens_of.length[n:]
    return overlap.best_of(np.divide(2.0 * common, both, out=np.zeros(both.size), where=both > 0), pair, n)


# --- BLEU -------------------------------------------------------------------------------------------------------------


def _bleu(key: str, tokenise: Tokeniser, figure: Callable[..., FloatArray], each: Callable[..., FloatArray]) -> Metric:
    def sums(block: Sequence[Pair]) -> FloatArray:
        return overlap.bleu_counts(Tokens.of(block, tokenise))

    return Metric(key, _COUNTS, sums, lambda of: _counted(of, figure(of)), lambda of: _counted(of, each(of)))


def _coco(key: str, order: int) -> Metric:
    def figure(sums: FloatArray) -> FloatArray:
        return overlap.coco_bleu(sums, order)

    return _bleu(key, tokens.penn, figure, figure)


# --- METEOR -----------------------------------------------------------------------------------------------------------


def _meteor(synonyms: Callable[[], meteor.Synonyms] | None) -> Callable[[Sequence[Pair]], FloatArray]:
    def scores(block: Sequence[Pair]) -> FloatArray:
        known = None if synonyms is None else synonyms()
        of = {text: tokens.penn(text) for text in overlap.texts_of(block)}
        return np.array(
            [max(meteor.meteor(of[pair.candidate], of[one], known) for one in pair.references) for pair in block]
        )

    return scores


EXACT, SETS, PARTS_F1, BERTSCORE = "exact", "exact-sets", "parts-f1", "bertscore"
# In the order of a report. Those of a list need the sign between its parts.
OF_LISTS = (SETS, PARTS_F1)
_FIXED: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        _mean(EXACT, _exact),
        _mean("rouge-l", _rouge_coco),
        _mean("rouge-l-f1", _rouge_f1),
        _coco("bleu-4", 4),
        _coco("bleu-1", 1),
        _bleu(
            "bleu-sacre",
            tokens.mteval,
            lambda sums: overlap.sacre_bleu(sums, effective=False),
            lambda sums: overlap.sacre_bleu(sums, effective=True),
        ),
        _mean("meteor-stems", _meteor(None), perfect=None),
        _mean("meteor-wordnet", _meteor(meteor.wordnet_synonyms), perfect=None),
        Metric(
            "meteor-1.5",
            meteor_java.N_COUNTS,
            meteor_java.counts,
            lambda sums: _counted(sums, meteor_java.score(sums)),
            lambda sums: _counted(sums, meteor_java.score(sums)),
        ),
    )
}
VARIANTS: tuple[str, ...] = (EXACT, SETS, PARTS_F1, *list(_FIXED)[1:], BERTSCORE)
# The paper's: exact match, ROUGE-L and BLEU of pycocoevalcap. Its METEOR, 1.5, needs Java and another's program; the
# one that stands for it here needs neither.
DEFAULT: tuple[str, ...] = (EXACT, SETS, "rouge-l", "bleu-4", "meteor-stems")


def metric_of(key: str, *, separator: str = "", bert: BertScore | None = None) -> Metric:
    """
    Args:
        key: of `VARIANTS`; separator: between the parts of a list, "" where the texts are none; bert: what BERTScore is
            computed with.

    Raises:
        KeyError: there is no such metric, or it is one of lists and the texts are none.
        meteor.DataMissing: it is BERTScore, and there is nothing to compute it with.

    >>> pairs = Pairs.of(["flour; water", "dough"], [["water; flour"], ["kneaded dough"]])
    >>> metric = metric_of("exact-sets", separator=";")
    >>> float(metric.figure(metric.of(pairs).sum(axis=0)))
    0.5
    """
    if key in OF_LISTS:
        if not separator:
            raise KeyError(key)
        return _mean(key, _sets(separator) if key == SETS else _parts_f1(separator))
    if key == BERTSCORE:
        if bert is None:
            raise DataMissing(NO_ENCODER)
        return _mean(key, bert.scores)
    return _FIXED[key]


def scored(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    keys: Sequence[str] = DEFAULT,
    *,
    separator: str = "",
) -> Mapping[str, float]:
    """The figures of a corpus by name; those of lists are left out where `separator` is ""."""
    pairs = Pairs.of(candidates, references)
    metrics = [metric_of(key, separator=separator) for key in keys if separator or key not in OF_LISTS]
    return {metric.key: float(metric.figure(metric.of(pairs).sum(axis=0))) for metric in metrics}
