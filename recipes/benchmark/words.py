"""The words that generators use most, without those that say nothing. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import snowballstemmer

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# English words of grammar, and those that any list of ingredients and steps has.
STOP = frozenset(
    """
    a about above add added adding after again all also although am an and any are as at away back be because been
    before being below between both bring but by can cook cooked cooking could cup cups did do does doing done down
    during each evenly every few fill finally first for from further g gently get gram grams had has have having he
    heat her here hers him his hot how if in ingredient ingredients instruction instructions into is it its itself
    just kg large less let like line little long low lb lbs make makes making many medium method minute minutes ml
    mix mixture more most much my next no nor not note now of off on once one only or other our out over own oz per
    place pound pounds put recipe remaining remove s same second serve served serving servings set several she
    should side size slowly small so some step steps still stir such t take taste tbsp tablespoon tablespoons
    teaspoon teaspoons than that the their them then there these they third this those three through time to
    together too top tsp turn two under until up upon us use used using very warm was we well were what when where
    which while who will with within without would you your
    """.split()  # noqa: SIM905  a list of words to read
)


class Frequent(NamedTuple):
    """`n`: how often it stands in the texts; `texts`: in how many of them."""

    word: str
    n: int
    texts: int


def most_frequent(texts: Sequence[str], *, names: Iterable[str] = (), most: int = 15) -> list[Frequent]:
    """The most frequent words of texts, forms of a word counted together under the one that is most frequent.

    Args:
        names: words and phrases whose words are left out in whatever form, such as those of cuisines and dishes.
    """
    stem = cache(snowballstemmer.stemmer("english").stemWord)  # the same words come in each text
    out = {stem(word) for name in names for word in _words(name)}
    forms: dict[str, Counter[str]] = {}
    within: Counter[str] = Counter()
    for text in texts:
        seen = set()
        for word, n in Counter(_words(text)).items():
            if word in STOP or len(word) < 3:
                continue
            base = stem(word)
            if base not in out:
                forms.setdefault(base, Counter())[word] += n
                seen.add(base)
        within.update(seen)
    ranked = sorted(forms, key=lambda base: (-forms[base].total(), base))
    return [
        Frequent(min(forms[base].items(), key=lambda of: (-of[1], of[0]))[0], forms[base].total(), within[base])
        for base in ranked[:most]
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
