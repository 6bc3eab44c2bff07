"""The judge that compares embeddings: the evidence line nearest to an item decides. Pure.

The item is compared with each line of the evidence, with the phrases that commas, brackets and "and" cut it into, and
with what is left of them without the words that name nothing (a lexicon's: quantities, units). Texts become vectors of
length one (`llm.encoders`); the highest cosine wins, and thresholds make an option of it.

So that a report can treat it as any judge with scores, each option gets a log-probability from the cosine: those of
adjacent categories (Agresti 2010, section 4.1), log P(k) - log P(k - 1) = (cosine - threshold of k) / scale, which is
highest at exactly the option that the thresholds name. A bias an option (`judges.methods.calibration`) moves the
thresholds, a temperature the scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from judges.methods import cloze
from judges.methods.calibration import Calibration
from judges.methods.lexical import LexicalJudge
from judges.methods.prompt_files import Embedding
from llm.engine.prompt import OptionScore


class Scores(cloze.Scores):
    """As `cloze.Scores`, with what they were made of.

    Attributes:
        cosine: of the item and the line nearest to it; 0 where there is no line.
    """

    cosine: float

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "cosine": self.cosine}


@dataclass(frozen=True)
class Nearest:
    """The line nearest to an item; None where there is none, with cosine 0."""

    cosine: float
    line: int | None


def forms_of(line: str, words: LexicalJudge) -> list[str]:
    """What an item is compared with of a line: the line, its phrases that name something ("minced" alone does not), and
    both without words that name nothing."""
    named = {phrase: words.naming_words(phrase) for phrase in (line, *words.phrases(line))}
    phrases = [phrase for phrase, names in named.items() if names or phrase == line]
    return list(dict.fromkeys(form for form in (*phrases, *named.values()) if form.strip()))


def option_scores(cosine: float, rule: Embedding) -> dict[str, OptionScore]:
    """The log-probability of each option of a rule, in nats, from the option of no likeness up; see above."""
    rising = sorted(rule.thresholds.items(), key=lambda each: each[1])
    sums = list(accumulate([0.0, *((cosine - least) / rule.scale for _key, least in rising)]))
    top = max(sums)
    total = top + math.log(sum(math.exp(value - top) for value in sums))
    keys = [rule.none, *(key for key, _least in rising)]
    return {key: OptionScore(value - total, 1, 1, None) for key, value in zip(keys, sums, strict=True)}


def thresholds_under(rule: Embedding, calibration: Calibration) -> dict[str, float]:
    """The least cosine of each option but the lowest, as a calibration moves them: the boundary to the option below."""
    rising = sorted(rule.thresholds.items(), key=lambda each: each[1])
    below, moved = rule.none, {}
    for key, least in rising:
        moved[key] = least - (calibration.bias.get(key, 0.0) - calibration.bias.get(below, 0.0)) * rule.scale
        below = key
    return moved


def nearest(cosines: Iterable[tuple[int, float]]) -> Nearest:
    """Of (line, cosine) the highest, of equal ones the first."""
    best = Nearest(0.0, None)
    for line, cosine in cosines:
        if best.line is None or cosine > best.cosine:
            best = Nearest(cosine, line)
    return best


def spans(forms: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """The forms of all lines in a row, each with its line's number."""
    return [(number, form) for number, of_line in enumerate(forms) for form in of_line]
