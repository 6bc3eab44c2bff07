"""Whether one name of food gives another away by its words alone; no spaces between words are presumed. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

# Words of amounts and of grammar, which two names may share without sharing anything.
_NO_NAMES = frozenset(
    """a an and for from in into of on or the to with without g kg mg ml cl dl l oz lb lbs cup cups tbsp tsp tablespoon
    tablespoons teaspoon teaspoons pinch piece pieces slice slices clove cloves can cans large small medium some half
    fresh""".split()  # noqa: SIM905
)
_CJK = "぀-ヿ㐀-䶿一-鿿々〆ー"
_WORD = re.compile(rf"[^\W\d_{_CJK}]+")
_RUN = re.compile(rf"[{_CJK}]+")
_WRITTEN_OUT = re.compile("[ァ-ヿー]{2,}|[㐀-䶿一-鿿々]{2,}")  # of the Japanese signs, those that carry a name
_AMOUNT = re.compile(r"[\s　(（\[［].*$|[0-9０-９].*$|(?:大さじ|小さじ|少々|適量|適宜|カップ).*$")


def overlaps(name: str, other: str) -> bool:
    """Whether the other name has a word of the first: amounts and small words apart, the plural counted as the word.

    >>> overlaps("2 onions", "chopped onion"), overlaps("200 g flour", "100 g sugar")
    (True, False)
    >>> overlaps("玉ねぎ 1個", "刻んだ玉ねぎ"), overlaps("強力粉 200g", "こねた生地")
    (True, False)
    """
    if not _words(name).isdisjoint(_words(other)):
        return True
    if not _RUN.search(other):
        return False
    bare = _AMOUNT.sub("", name.strip())
    if _RUN.fullmatch(bare) and bare in other:
        return True
    return bool(set(_WRITTEN_OUT.findall(bare)) & set(_WRITTEN_OUT.findall(other)))


@lru_cache(maxsize=100_000)
def _words(name: str) -> frozenset[str]:
    words = _WORD.findall(name.casefold())
    return frozenset(_one(word) for word in words if len(word) > 1 and word not in _NO_NAMES)


def _one(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("oes", "ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
