"""Signs that a text is not what was asked for: refusals, prompts taken as a prefix, endless loops. Pure.

They are found by rules over English words and over repetition, and say where they were seen: a person decides. The
memorization paper describes the last two in its Appendix B (B.2 “Prompt misunderstanding”, B.3 “Recursion”).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

# How far into a text a refusal may begin, in characters: “I cannot stress enough” stands deep in many texts.
_BEGINNING = 400
# A loop: so many lines of one frame one after the other, or so many repeats of the same words.
_LINES_OF_A_FRAME = 6
_REPEATS = 3
_LEAST_WORDS_REPEATED = 24
_LONGEST_PERIOD = 200  # words


class Sign(StrEnum):
    EMPTY = "empty"
    REFUSAL = "refusal"
    PREFIX = "prefix"
    LOOP = "loop"


@dataclass(frozen=True)
class Seen:
    """A sign and the words that it was seen by."""

    sign: Sign
    words: str


def seen_in(text: str, *, prompt: str) -> list[Seen]:
    """The signs of a text that was written for `prompt`, each at most once."""
    if not text.strip():
        return [Seen(Sign.EMPTY, "")]
    found = {Sign.REFUSAL: refusal(text), Sign.PREFIX: prefix(text, prompt=prompt), Sign.LOOP: loop(text)}
    return [Seen(sign, " ".join(words.split())[:200]) for sign, words in found.items() if words]


_APOSTROPHE = str.maketrans("’‘", "''")
_NOT_ABLE = r"(?:can(?:no|')t|could(?:\s+not|n't)|won't|will\s+not|(?:\s+am|'m)\s+(?:not\s+able|unable))"
_REFUSALS = re.compile(
    rf"""
    \bI(?:\s+am|'m)\s+(?:very\s+|so\s+|really\s+)?sorry\b[^.!?\n]*?\b(?:but|I)\b[^.!?\n]*?{_NOT_ABLE}
    | \bI\s*{_NOT_ABLE}(?:\s+to)?\s+
      (?:help|assist|provide|give|fulfil|fulfill|comply|answer|create|generate|write|share)\b
    | \bas\s+an?\s+(?:AI|artificial\s+intelligence|(?:large\s+)?language\s+model)\b[^.!?\n]*?
      (?:{_NOT_ABLE}|\b(?:do|does)(?:\s+not|n't)\b)
    | \bI(?:\s+am|'m)\s+not\s+(?:familiar|acquainted)\s+with\b
    | \bI\s+(?:do\s+not|don't)\s+have\s+(?:any\s+|enough\s+|specific\s+)*(?:information|knowledge|access)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def refusal(text: str) -> str:
    """The words by which a text says at its beginning that it will not or cannot answer; "" for none.

    >>> refusal("I'm sorry, but I can't provide that.")
    "I'm sorry, but I can't"
    >>> refusal("I cannot stress enough how cold the butter must be.")
    ''
    """
    found = _REFUSALS.search(text.translate(_APOSTROPHE)[:_BEGINNING])
    return found[0] if found else ""


# Whoever asks speaks so; whoever answers does not.
_ASKING = re.compile(
    r"""
    \bI\s+(?:would|'d)\s+(?:really\s+)?(?:like|love|appreciate)\s+(?:to\s+(?:know|learn)|an?\b|some\b|your\b)[^.?!\n]*
    | \bI(?:'d|\s+would)\s+like\s+(?:an?|the|some)\b[^.?!\n]*
    | \bI\s+(?:do\s+not|don't)\s+(?:really\s+)?know\s+how\s+to\s+\w+
    | \bI(?:'m|\s+am|'ve\s+been|\s+have\s+been)\s+(?:looking|searching)\s+for\s+(?:an?|the|some)\b[^.?!\n]*
    | \b(?:can|could|would)\s+(?:you|anyone|someone|somebody)\s+(?:please\s+)?
      (?:give|tell|help|share|send|explain|post)\b
    | \bplease\s+(?:help|give\s+me|send\s+me|share|let\s+me\s+know\s+how)\b
    | \b(?:thanks|thank\s+you)\s+(?:so\s+much\s+)?in\s+advance\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LETTER = re.compile(
    r"\A\s*(?:dear\s+\w+|(?:thank\s+you|thanks)\s+for\s+(?:your|the|writing|asking)\s*(?:letter|e-?mail|message|question)?)",
    re.IGNORECASE,
)
# In its own line, and so once: over the empty lines before it, it would be looked for again from each of them.
_CLOSING = re.compile(
    r"^[^\S\n]*+(?:yours\s++(?:sincerely|truly|faithfully)|sincerely|(?:best|kind|warm)\s++(?:regards|wishes))"
    r"[^\S\n]*+,?[^\S\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_GOES_ON = re.compile(r"\A[ \t]*(?:[,;:.?!)\]]|(?:and|or|but|with|without|that|which|from)\b)")


def prefix(text: str, *, prompt: str) -> str:
    """The words by which a text shows that the prompt was taken as the beginning of it: it goes on where the prompt
    stops, speaks as the person who asked, or is a letter; "" for none.

    >>> prefix(" and how do you serve it?", prompt="How do you make paella")
    'and how do you serve it?'
    >>> prefix("I don't know how to make it. I would like a walkthrough.", prompt="Give me a walkthrough to paella.")
    "I don't know how to make"
    """
    plain = text.translate(_APOSTROPHE)
    # At most a line: what follows may be the answer after all.
    if found := _GOES_ON.match(plain):
        return plain[found.start() :].strip().partition("\n")[0]
    for pattern in (_LETTER, _ASKING):
        if found := pattern.search(plain[:_BEGINNING]):
            return found[0].strip()
    if found := _CLOSING.search(plain):
        return found[0].strip()
    asked = _words(prompt)
    repeated = [line for line in plain.splitlines() if line.strip().endswith("?") and len(_words(line)) > 2]
    again = [line for line in repeated if len(set(asked) & set(_words(line))) >= max(3, len(set(asked)) - 1)]
    return again[0].strip() if len(again) > 1 else ""


def loop(text: str) -> str:
    """The words that a text is caught in: the same ones over and over, or line after line of one frame in which a word
    changes; "" for none. What is counted must be long: three times the same short phrase is how people write.

    >>> loop("Whisk the eggs. " * 12)
    'Whisk the eggs.'
    >>> loop("\\n".join(f"- Stir in 1/2 cup chopped {what}." for what in "tomatoes kale beets beans corn peas".split()))
    '- Stir in 1/2 cup chopped tomatoes.'
    """
    return _frame(text) or _period(text.split())


def _frame(text: str) -> str:
    """The first of many lines one after the other that begin alike and share most of their words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    begin = 0
    for place in range(1, len(lines)):
        if not _alike(lines[place - 1], lines[place]):
            begin = place
        elif place - begin + 1 >= _LINES_OF_A_FRAME:
            return lines[begin]
    return ""


def _alike(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    if min(len(first), len(second)) < 4:
        return one == other
    common = next((n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    common = min(len(first), len(second)) if common is None else common
    return common >= 3 and common >= 0.6 * (max(len(first), len(second)) - 1)


def _period(words: list[str]) -> str:
    """The words that are repeated without anything between them."""
    n = len(words)
    for period in range(1, min(_LONGEST_PERIOD, n // _REPEATS) + 1):
        least = max(_REPEATS * period, _LEAST_WORDS_REPEATED)
        run = 0
        for place in range(period, n):
            run = run + 1 if words[place] == words[place - period] else 0
            if run + period >= least:
                begin = place - run - period + 1
                return " ".join(words[begin : begin + period])
    return ""


def _words(text: str) -> list[str]:
    # With its numbers: steps are numbered, and an amount may be all that two lines share.
    return re.findall(r"[^\W_]+", re.sub(r"^\s*(?:step\s*)?\d+\s*[.):]", "", text.casefold()))
