"""Guesses at how answers go on, looked up in what was read and written before. Pure.

Answers repeat: a list is copied from its page, a reason uses the words of the one before it. Where the last tokens of
an answer stood before, in its prompt, in itself or in another answer of the call, what followed there is a guess at
what follows here (prompt lookup decoding: Saxena 2023; with other answers: Hu et al. 2024, arXiv 2411.10666). The model
reads the guess in one forward, and what it would not have written is dropped, so that a guess changes the time an
answer takes and nothing else.

How much is guessed: each guess has a probability, by how many tokens before it are alike and by how often such guesses
were right in this call. A forward is dear by itself and each token that it is fed makes it dearer; the likeliest
guesses are taken as long as they bring more tokens for their price than the forward brings without them. Nothing is
carried over to the next call, so that a call does the same whatever came before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

# Tokens that are looked up: as many as these are alike at least, the longer first.
_KEYS = (3, 1)
# Of a token, and of a place in a text, in the numbers by which they are kept.
_BITS, _BITS_OF_A_PLACE = 24, 32
# Places of each that are looked at, the last ones.
_RECENT = 4
# More tokens than this before a guess are not compared.
_ALIKE = 12
# Tokens of a guess, at most.
LONGEST = 32
# Before any was tried, of so many guesses after m alike tokens a share of m / (m + 2) was right.
_SUPPOSED = 3


class _Places:
    """Where tokens stood: the text, and the place behind them.

    Numbers alone, since prompts have many tokens and Python looks through all lists that it is given.
    """

    def __init__(self) -> None:
        self._texts: list[list[int]] = []
        self._numbers: dict[int, int] = {}  # of each text by its identity
        # Of each size of a key: where it stood last, and before each such place where it stood before that.
        self._last: dict[int, dict[int, int]] = {size: {} for size in _KEYS}
        self._before: dict[int, dict[int, int]] = {size: {} for size in _KEYS}

    def add(self, text: list[int], begin: int) -> None:
        """The tokens of a text from this place on can be found by those before them."""
        number = self._numbers.setdefault(id(text), len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        for size in _KEYS:
            last, before = self._last[size], self._before[size]
            first = max(begin, size)
            if first >= len(text):
                continue
            keys = text[first - size : len(text) - size]
            for at in range(1, size):
                following = text[first - size + at : len(text) - size + at]
                keys = [key << _BITS | token for key, token in zip(keys, following, strict=True)]
            for place, key in enumerate(keys, number << _BITS_OF_A_PLACE | first):
                if key in last:
                    before[place] = last[key]
                last[key] = place

    def of(self, tokens: Sequence[int]) -> list[tuple[list[int], int]]:
        """The last places behind these tokens, as many as a key has."""
        size, key = len(tokens), 0
        found: list[tuple[list[int], int]] = []
        if size not in _KEYS:
            return found
        for token in tokens:
            key = key << _BITS | token
        place = self._last[size].get(key)
        while place is not None and len(found) < _RECENT:
            found.append((self._texts[place >> _BITS_OF_A_PLACE], place & (1 << _BITS_OF_A_PLACE) - 1))
            place = self._before[size].get(place)
        return found[::-1]


@dataclass
class Text:
    """A prompt and its answer as far as it is written. `forced`: tokens that must come next."""

    tokens: list[int]
    places: _Places
    forced: Sequence[int] = ()


@dataclass
class Guess:
    """`alike`: how many tokens before the first are alike; of the first `forced` it is certain."""

    tokens: list[int] = field(default_factory=list)
    alike: int = 0
    forced: int = 0


class Lookup:
    """The texts of a call. `price`: of a forward without a token, in tokens that it is fed."""

    def __init__(self, price: int) -> None:
        self._price = price
        self._places = _Places()
        self._tried = [float(_SUPPOSED)] * (_ALIKE + 1)
        self._right = [_SUPPOSED * alike / (alike + 2) for alike in range(_ALIKE + 1)]

    def begin(self, prompt: Sequence[int]) -> Text:
        text = Text(list(prompt), _Places())
        text.places.add(text.tokens, 0)
        return text

    def write(self, text: Text, tokens: Sequence[int]) -> None:
        begin = len(text.tokens)
        text.tokens += tokens
        text.places.add(text.tokens, begin)
        self._places.add(text.tokens, begin)

    def learn(self, guess: Guess, right: int) -> None:
        """So many tokens of a guess were what the model wrote."""
        for place in range(guess.forced, min(right + 1, len(guess.tokens))):
            alike = min(guess.alike + place - guess.forced, _ALIKE)
            self._tried[alike] += 1
            self._right[alike] += place < right

    def guess(self, texts: Sequence[Text], room: Sequence[int], *, most: int, padded: bool) -> list[Guess]:
        """A guess for each text, of at most so many tokens as it has room for; all texts and their guesses together
        have at most `most` tokens. `padded`: a forward is as dear as if all guesses were as long as the longest."""
        guesses = [self._longest(text, min(n, LONGEST)) for text, n in zip(texts, room, strict=True)]
        chances = [self._chances(guess) for guess in guesses]
        # (probability, line, place); or, padded, (sum of the probabilities, 0, place), which are so many tokens.
        if padded:
            deepest = max((len(of) for of in chances), default=0)
            offers = [(sum(of[at] for of in chances if at < len(of)), 0, at) for at in range(deepest)]
        else:
            offers = [(chance, line, at) for line, of in enumerate(chances) for at, chance in enumerate(of)]
        tokens = len(texts) if padded else 1
        offers.sort(key=lambda offer: (-offer[0], offer[2]))
        taken = [0] * len(texts)
        brought, fed = float(len(texts)), len(texts)
        for chance, line, _at in offers:
            if fed + tokens > most or chance * (self._price + fed) <= brought * tokens:
                break
            brought, fed = brought + chance, fed + tokens
            taken[line] += 1
        for line, guess in enumerate(guesses):
            del guess.tokens[taken[0 if padded else line] :]
            guess.forced = min(guess.forced, len(guess.tokens))
        return guesses

    def _chances(self, guess: Guess) -> list[float]:
        found, chance = [], 1.0
        for place in range(len(guess.tokens)):
            if place >= guess.forced:
                alike = min(guess.alike + place - guess.forced, _ALIKE)
                chance *= self._right[alike] / self._tried[alike]
            found.append(chance)
        return found

    def _longest(self, text: Text, room: int) -> Guess:
        known = [*text.tokens[-_ALIKE:], *text.forced]
        guess = Guess(list(text.forced[:room]), forced=len(text.forced[:room]))
        for size in _KEYS:
            end = known[-size:]
            # Its own places last, which win where others are as long.
            found = [(source, place) for places in (self._places, text.places) for source, place in places.of(end)]
            if not found:
                continue
            alike = [_alike(source, place, known) for source, place in found]
            best = max(range(len(found)), key=lambda at: (alike[at], at))
            source, place = found[best]
            guess.alike = alike[best]
            for at in range(place, place + room - len(guess.tokens)):
                if at < len(source):
                    guess.tokens.append(source[at])
                elif source is text.tokens and not text.forced:  # it repeats what it has only just written
                    guess.tokens.append(guess.tokens[at - len(source)])
                else:
                    break
            break
        return guess


def _alike(source: Sequence[int], place: int, known: Sequence[int]) -> int:
    """How many tokens before this place are those at the end of `known`."""
    n = min(place, len(known), _ALIKE)
    return next((at for at in range(n) if source[place - 1 - at] != known[-1 - at]), n)
