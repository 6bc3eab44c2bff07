"""Texts as tokens, in the way of each implementation whose numbers are given.

A tokeniser takes a text and gives a list of tokens. What is counted afterwards depends on it more than on the formula:
“dough; salt” and “dough, salt” are the same to `penn`, and two of four tokens differ to sacrebleu.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

Tokeniser = Callable[[str], list[str]]

# What pycocoevalcap takes out after it has made everything lower case; its capital -LRB- and the like are none of the
# tokens then, so that brackets stay as the words "-lrb-" and "-rrb-".
_DROPPED = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"])
_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_DASHES = re.compile("[\u2013\u2014]|-{2,}")
_LEFT_OUT = re.compile("[\u2010-\u2012\u2015\u00ad\u200b-\u200f\ufeff]")
_CONTRACTED = re.compile(r"(?<=[^\W\d_])(n't|'(?:s|m|d|re|ve|ll))(?![^\W_])", re.IGNORECASE)
_JOINED = {"cannot": ["can", "not"], "gonna": ["gon", "na"], "wanna": ["wan", "na"], "gotta": ["got", "ta"]}
_TOKEN = re.compile(
    r"-(?:[lr][rsc]b)-"  # a bracket by its name
    r"|(?:[^\W\d_]\.){2,}|(?<![\w'])[^\W\d_i]\.(?!\w)|\betc\."  # e.g., F., etc.
    r"|n't(?![^\W_])|'(?:s|m|d|re|ve|ll)(?![^\W_])"
    r"|\.?\d+(?:[.,:/]\d+)*(?:-\d+/\d+)?(?:[^\W\d_]|\d)*(?:[-/][^\W_]+)*"  # 1/2, 1,000, .5, 20oz, 12-inch
    r"|[^\W_]+(?:[-'/_.](?=[^\W_])[^\W_]+)*"  # all-purpose, and/or, red_pepper
    r"|_+|\.{2,}|\S"
)


@lru_cache(maxsize=65_536)
def _penn(text: str) -> tuple[str, ...]:
    text = text.translate(_QUOTES)
    text = _DASHES.sub(" -- ", _LEFT_OUT.sub(" ", text))
    text = _CONTRACTED.sub(r" \1", text.lower())
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if token in _DROPPED or token.strip(".") == "":
            continue
        found += _JOINED.get(token, [_BRACKETS.get(token, token)])
    return tuple(found)


_QUOTES = str.maketrans(
    {"\u2018": " ` ", "\u2019": "'", "\u201c": " `` ", "\u201d": " '' ", '"': " '' ", "\u00b4": "'", "`": " ` "}
)


def penn(text: str) -> list[str]:
    """Lower-case tokens of the Penn Treebank without punctuation, as pycocoevalcap counts them.

    It has Stanford's tokeniser (CoreNLP 3.4.1, Java) make them; these rules are written anew, for that
    tokeniser's English defaults. docs/statistics.md says how often the two are the same.

    >>> penn("Don't knead the all-purpose flour; 1/2 cup (warm) water.")
    ['do', "n't", 'knead', 'the', 'all-purpose', 'flour', '1/2', 'cup', '-lrb-', 'warm', '-rrb-', 'water']
    """
    return list(_penn(text))


def letters(text: str) -> list[str]:
    """Runs of a-z and 0-9 in lower case, as rouge-score has them; other scripts have none.

    >>> letters("The baker's 2 doughs")
    ['the', 'baker', 's', '2', 'doughs']
    """
    return re.findall(r"[a-z0-9]+", text.lower())


def blanks(text: str) -> list[str]:
    """What stands between blanks, as it is.

    >>> blanks("Rolled  dough;")
    ['Rolled', 'dough;']
    """
    return text.split()


def mteval(text: str) -> list[str]:
    """The tokens of sacrebleu's default, 13a, by sacrebleu itself: case is kept, punctuation stands alone."""
    return _thirteen_a()(text.strip()).split()


@lru_cache(maxsize=1)
def _thirteen_a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise: Callable[[str], str] = Tokenizer13a()  # type: ignore[no-untyped-call]
    return tokenise
