"""The words that generators use most, without those that say nothing. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# NLTK's English stop words.
STOP = frozenset(
    """
    a about above after again against ain all am an and any are aren aren't as at be because been before being below
    between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing don don't down during each
    few for from further had hadn hadn't has hasn hasn't have haven haven't having he he'd he'll her here hers herself
    he's him himself his how i i'd if i'll i'm in into is isn isn't it it'd it'll it's its itself i've just ll m ma me
    mightn mightn't more most mustn mustn't my myself needn needn't no nor not now o of off on once only or other our
    ours ourselves out over own re s same shan shan't she she'd she'll she's should shouldn shouldn't should've so some
    such t than that that'll the their theirs them themselves then there these they they'd they'll they're they've this
    those through to too under until up ve very was wasn wasn't we we'd we'll we're were weren weren't we've what when
    where which while who whom why will with won won't wouldn wouldn't y you you'd you'll your you're yours yourself
    yourselves you've
    """.split()  # noqa: SIM905  a list of words to read
)
# And those that any list of ingredients and steps has, with more of grammar.
COMMON = STOP | frozenset(
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


class Tally:
    """Words of texts, counted without those that are to `stop`; forms of a word together. Texts that are counted once
    can be added up in any way.

    Args:
        names: words and phrases whose words are left out in whatever form, such as those of cuisines and dishes; of a
            word that has one between hyphens the rest counts (“Kosher-certified” is “certified”).
    """

    def __init__(self, stop: Collection[str] = STOP, *, names: Iterable[str] = ()) -> None:
        self.stop = stop
        self._names = {_base(word) for name in names for word in _words(name)}
        self._forms: dict[str, Counter[str]] = {}
        self._within: Counter[str] = Counter()
        self.texts = 0

    def add(self, text: str) -> None:
        self.texts += 1
        bases = set()
        for said, n in Counter(_words(text)).items():
            for word in self._without_names(said):
                if word.replace("’", "'") in self.stop or len(word) < 3:
                    continue
                base = _base(word)
                self._forms.setdefault(base, Counter())[word] += n
                bases.add(base)
        self._within.update(bases)

    def _without_names(self, word: str) -> list[str]:
        if _base(word) in self._names:
            return []
        parts = [part for part in word.split("-") if _base(part) not in self._names]
        return [word] if len(parts) == word.count("-") + 1 else parts

    def update(self, other: Tally) -> None:
        self.texts += other.texts
        for base, forms in other._forms.items():
            self._forms.setdefault(base, Counter()).update(forms)
        self._within.update(other._within)

    def most_frequent(self, *, most: int = 15) -> list[Frequent]:
        """The most frequent words, forms counted together under the one that is most frequent."""
        ranked = sorted(self._forms, key=lambda base: (-self._forms[base].total(), base))
        return [
            Frequent(
                min(self._forms[base].items(), key=lambda of: (-of[1], of[0]))[0],
                self._forms[base].total(),
                self._within[base],
            )
            for base in ranked[:most]
        ]


def most_frequent(
    texts: Sequence[str], *, names: Iterable[str] = (), most: int = 15, stop: Collection[str] = STOP
) -> list[Frequent]:
    """The most frequent words of texts; `names` as for `Tally`."""
    tally = Tally(stop, names=names)
    for text in texts:
        tally.add(text)
    return tally.most_frequent(most=most)


_stemmer = snowballstemmer.stemmer("english")


@lru_cache(maxsize=50_000)
def _base(word: str) -> str:
    return str(_stemmer.stemWord(word))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
