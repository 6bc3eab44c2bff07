"""METEOR by NLTK's formula and alignment (Lavie and Agarwal 2007): words, then stems, then synonyms.

NLTK's own function is written for one pair; here what a word's stem and synonyms are is found once a word.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
Synonyms = Callable[[str], Collection[str]]


class DataMissing(RuntimeError):
    """What a metric is computed with is not installed. `reason` is one of the constants of this module."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


NO_WORDNET = "WordNet is not installed"


def meteor(candidate: Sequence[str], reference: Sequence[str], synonyms: Synonyms | None = None) -> float:
    """
    Args:
        candidate, reference: tokens in lower case.
        synonyms: of a word's stem, without which only words and stems are matched.

    (1 - γ (chunks / matches)^β) P R / (α P + (1 - α) R), so that a text held against itself has 1 - 0.5 / n³ for its n
    words: one word alone has 0.5.

    >>> round(meteor("the cat is on the mat".split(), "the cat sat on the mat".split()), 6)  # as NLTK has it
    0.806667
    """
    matches = aligned(candidate, reference, synonyms)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(candidate), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    chunks = 1 + sum(after != (before[0] + 1, before[1] + 1) for before, after in itertools.pairwise(matches))
    score: float = (1 - GAMMA * (chunks / len(matches)) ** BETA) * mean
    return score


def aligned(
    candidate: Sequence[str], reference: Sequence[str], synonyms: Synonyms | None = None
) -> list[tuple[int, int]]:
    """Which words are matched, by their places, in the order of the candidate.

    In each stage words are taken from the last to the first, and each is matched with the last free one of the other
    text that it equals.
    """
    ours, theirs = list(enumerate(candidate)), list(enumerate(reference))
    matches: list[tuple[int, int]] = []
    for stage in (None, _stem):
        if not ours or not theirs:
            break
        if stage is not None:
            ours, theirs = [(n, stage(word)) for n, word in ours], [(n, stage(word)) for n, word in theirs]
        free: dict[str, list[int]] = defaultdict(list)
        for place, (_n, word) in enumerate(theirs):
            free[word].append(place)
        left, taken = [], set()
        for n, word in reversed(ours):
            if places := free.get(word):
                place = places.pop()
                taken.add(place)
                matches.append((n, theirs[place][0]))
            else:
                left.append((n, word))
        ours = left[::-1]
        theirs = [of for place, of in enumerate(theirs) if place not in taken]
    if synonyms is not None and ours and theirs:
        matches += _by_synonyms(ours, theirs, synonyms)
    return sorted(matches)


def _by_synonyms(
    ours: Sequence[tuple[int, str]], theirs: Sequence[tuple[int, str]], synonyms: Synonyms
) -> list[tuple[int, int]]:
    free: dict[str, list[int]] = defaultdict(list)
    for n, word in theirs:
        free[word].append(n)
    matches = []
    for n, word in reversed(ours):
        known = [places for other in {word, *synonyms(word)} if (places := free.get(other))]
        if known:
            matches.append((n, max(known, key=lambda places: places[-1]).pop()))
    return matches


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def wordnet_synonyms() -> Synonyms:
    """What WordNet lists beside a word, by NLTK's reader.

    Raises:
        DataMissing: NLTK finds no WordNet on its data path.
    """
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except (LookupError, OSError) as error:
        raise DataMissing(NO_WORDNET) from error
    return _of_wordnet


@lru_cache(maxsize=50_000)
def _of_wordnet(word: str) -> frozenset[str]:
    from nltk.corpus import wordnet

    return frozenset(
        name for synset in wordnet.synsets(word) for lemma in synset.lemmas() if "_" not in (name := lemma.name())
    )
