"""ROUGE-L and BLEU of a block of pairs: what they count, by NumPy and rapidfuzz for all pairs at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray
from reports.stats.text.pairs import Pair
from reports.stats.text.tokens import Tokeniser

ORDER = 4  # of the longest n-grams that BLEU counts
_SURROGATES, _N_SURROGATES = 0xD800, 0x800  # no letters, so that no token can be one


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a block's texts by numbers: first its candidates, then its references one after another.

    pair: the pair of each text, shape (n_texts,); n_pairs of them are candidates. length: tokens of each text; token:
    of all texts in a row, shape (n_tokens,).
    """

    n_pairs: int
    pair: IntArray
    length: IntArray
    token: IntArray

    @classmethod
    def of(cls, block: Sequence[Pair], tokenise: Tokeniser) -> Tokens:
        texts = [tokenise(pair.candidate) for pair in block]
        pairs = list(range(len(block)))
        for place, pair in enumerate(block):
            for reference in pair.references:
                texts.append(tokenise(reference))
                pairs.append(place)
        number: dict[str, int] = {}
        token = np.fromiter((number.setdefault(word, len(number)) for text in texts for word in text), dtype=np.int64)
        length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return cls(len(block), np.array(pairs, dtype=np.int64), length, token)


def lcs(tokens: Tokens) -> IntArray:
    """The length of the longest common subsequence of each reference and its candidate, shape (n_references,)."""
    signs = np.where(tokens.token < _SURROGATES, tokens.token, tokens.token + _N_SURROGATES)
    line = "".join(map(chr, signs.tolist()))  # a token is a letter of it
    ends = np.concatenate([[0], np.cumsum(tokens.length)]).tolist()
    texts = [line[start:end] for start, end in itertools.pairwise(ends)]
    of_references = tokens.pair[tokens.n_pairs :].tolist()
    found = process.cpdist(
        [texts[pair] for pair in of_references],
        texts[tokens.n_pairs :],
        scorer=LCSseq.similarity,
        processor=None,
        dtype=np.int64,
    )
    return np.asarray(found, dtype=np.int64)


def best_of(values: FloatArray, pair: IntArray, n_pairs: int) -> FloatArray:
    """The largest value of each pair's references, shape (n_pairs,)."""
    best = np.full(n_pairs, -np.inf)
    np.maximum.at(best, pair, values)
    return best


def bleu_counts(tokens: Tokens) -> FloatArray:
    """Of each pair, shape (n_pairs, 2 ORDER + 2): n-grams in common with any one reference (n = 1 to 4), n-grams of the
    candidate, its tokens, and those of the reference next to it in length, of two alike the shorter.
    """
    n, length = tokens.n_pairs, tokens.length
    found = np.zeros((n, 2 * ORDER + 2))
    found[:, -2] = length[:n]
    found[:, -1] = _closest(length[n:], tokens.pair[n:], length[:n])
    text = np.repeat(np.arange(length.size), length)  # of each token
    gram = tokens.token
    for order in range(ORDER):
        found[:, ORDER + order] = np.maximum(length[:n] - order, 0)
        if order:
            # An n-gram is the one before it and its last token; it lies within one text.
            within = np.flatnonzero(text[:-order] == text[order:]) if text.size > order else np.zeros(0, np.int64)
            gram, text_of = _numbered(gram[within], tokens.token[within + order]), text[within]
            wide = np.zeros(text.size, dtype=np.int64)
            wide[within] = gram
        else:
            text_of = text
        found[:, order] = _in_common(gram, text_of, tokens)
        if order:
            gram = wide
    return found


def _numbered(before: IntArray, last: IntArray) -> IntArray:
    if not before.size:
        return before
    key = before * (int(last.max()) + 1) + last
    numbers: IntArray = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return numbers


def _in_common(gram: IntArray, text: IntArray, tokens: Tokens) -> FloatArray:
    """Clipped counts: each n-gram of a candidate counts as often as in the reference that has most of it."""
    if not gram.size:
        return np.zeros(tokens.n_pairs)
    size = int(gram.max()) + 1
    keys, times = np.unique(text * size + gram, return_counts=True)
    in_candidate = keys // size < tokens.n_pairs
    mine, mine_times = keys[in_candidate], times[in_candidate]
    theirs = tokens.pair[keys[~in_candidate] // size] * size + keys[~in_candidate] % size
    order = np.lexsort((times[~in_candidate], theirs))
    theirs, theirs_times = theirs[order], times[~in_candidate][order]
    last = np.flatnonzero(np.diff(theirs, append=-1) != 0)  # of each n-gram the most frequent stands last
    theirs, theirs_times = theirs[last], theirs_times[last]
    if not theirs.size:
        return np.zeros(tokens.n_pairs)
    place = np.minimum(np.searchsorted(theirs, mine), theirs.size - 1)
    shared = np.where(theirs[place] == mine, np.minimum(theirs_times[place], mine_times), 0)
    return np.bincount(mine // size, shared, minlength=tokens.n_pairs).astype(np.float64, copy=False)


def _closest(lengths: IntArray, pair: IntArray, candidate: IntArray) -> IntArray:
    """Of each pair's references the length next to its candidate's, of two alike the shorter."""
    order = np.lexsort((lengths, np.abs(lengths - candidate[pair]), pair))
    first = np.flatnonzero(np.diff(pair[order], prepend=-1) != 0)
    return lengths[order][first]


def coco_bleu(sums: FloatArray, order: int) -> FloatArray:
    """BLEU of summed `bleu_counts`, shape (…, 2 ORDER + 2), as pycocoevalcap has it: no smoothing, but tiny numbers
    instead of zeros, so that what has no n-gram in common is nearly 0, and a text of fewer tokens than n as well."""
    correct, guess = sums[..., :order], sums[..., ORDER : ORDER + order]
    product = np.prod((correct + 1e-15) / (guess + 1e-9), axis=-1) ** (1 / order)
    ratio = (sums[..., -2] + 1e-15) / (sums[..., -1] + 1e-9)
    penalty = np.where(ratio < 1, np.exp(np.minimum(1 - 1 / np.maximum(ratio, 1e-300), 0)), 1.0)
    scored: FloatArray = product * penalty
    return scored


def sacre_bleu(sums: FloatArray, *, effective: bool) -> FloatArray:
    """BLEU of summed `bleu_counts`, 0 to 1, as sacrebleu has it: where no n-gram of an order is in common, it counts as
    1/2 of one, 1/4 at the next such order (smoothing "exp"). The last axis of `sums` goes.

    Args:
        effective: orders that a text is too short for are left out, as sacrebleu does with single sentences.
    """
    correct, guess = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER]
    there = np.cumprod(guess > 0, axis=-1).astype(bool)
    none = there & (correct == 0)
    smoothed = 0.5 ** np.cumsum(none, axis=-1)
    precision = np.divide(np.where(none, smoothed, correct), guess, out=np.zeros(guess.shape), where=there)
    logs = np.log(np.where(there, precision, 1.0))
    n = np.maximum(there.sum(axis=-1), 1) if effective else np.full(there.shape[:-1], ORDER)
    score = np.exp(logs.sum(axis=-1) / n)
    length, reference = sums[..., -2], sums[..., -1]
    short = (length < reference) & (length > 0)
    penalty = np.where(
        short, np.exp(1 - np.divide(reference, length, out=np.ones(length.shape), where=length > 0)), 1.0
    )
    whole = (correct.sum(axis=-1) > 0) & (there.any(axis=-1) if effective else there.all(axis=-1))
    scored: FloatArray = np.where(whole, score * penalty, 0.0)
    return scored


def texts_of(block: Iterable[Pair]) -> list[str]:
    """Every text of a block once."""
    return list(dict.fromkeys(text for pair in block for text in (pair.candidate, *pair.references)))
