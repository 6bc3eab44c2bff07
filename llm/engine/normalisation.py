"""From the summed log-probabilities of a cell's options to the option chosen.

No model is needed for it, so that a report can switch the normalisation of a finished run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from base.sentences import gettext as _
from llm.engine.prompt import OptionScore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = TypeVar("Numbers", float, npt.NDArray[np.float64])

Normalisation = Literal["none", "token", "character", "pmi"]
NORMALISATIONS: tuple[Normalisation, ...] = ("none", "token", "character", "pmi")

# bfloat16 alone moves a score by up to 0.4 nat, so that a smaller lead may not survive another machine.
UNSURE_BELOW_NATS = 0.5


@dataclass(frozen=True)
class Choice:
    """The option that wins, and by how much.

    `margin_nats` is the smallest change of one option's summed log-probability that would make another option win, so
    it means the same under every normalisation. `tie`: the lead is exactly 0, and the option listed first was taken.
    `unsure`: the margin is under 0.5 nat.
    """

    index: int
    margin_nats: float
    tie: bool
    unsure: bool


def normalise(scores: Sequence[OptionScore], normalisation: Normalisation) -> tuple[float, ...]:
    """The options' scores under a normalisation; the highest wins.

    `none`: the sum, in nats. `token`: nats per scored token. `character`: nats per character of the option. `pmi`: the
    sum minus that of the same option without evidence, in nats (Holtzman et al. 2021, domain-conditional PMI).

    Raises ValueError for `pmi` on scores that were made without an unconditional prompt.
    """
    return tuple(
        normalised(
            normalisation,
            logprob=score.logprob,
            tokens=float(score.n_tokens),
            characters=float(score.n_characters),
            unconditional=_unconditional(score) if normalisation == "pmi" else 0.0,
        )
        for score in scores
    )


def normalised(
    normalisation: str, *, logprob: Numbers, tokens: Numbers, characters: Numbers, unconditional: Numbers
) -> Numbers:
    """As `normalise`, of one option or, with arrays, of any number of them."""
    match normalisation:
        case "token":
            return logprob / tokens
        case "character":
            return logprob / characters
        case "pmi":
            return logprob - unconditional
        case _:
            return logprob


def choose(scores: Sequence[OptionScore], normalisation: Normalisation) -> Choice:
    """The winning option of a cell.

    Raises ValueError when there are fewer than two options, or a score is not a number.
    """
    values = normalise(scores, normalisation)
    if len(values) < 2 or any(math.isnan(value) for value in values):
        raise ValueError(f"Cannot choose among these scores: {values!r}.")
    best = max(range(len(values)), key=values.__getitem__)  # max() keeps the first of equals
    # An option trails by (difference of the normalised scores) in units of nats per length. Its own sum would have to
    # rise by difference x own length, or the winner's fall by difference x winner's length, whichever is less.
    lengths = [_length(score, normalisation) for score in scores]
    margin = min(
        (values[best] - value) * min(lengths[best], lengths[index])
        for index, value in enumerate(values)
        if index != best
    )
    return Choice(index=best, margin_nats=margin, tie=margin == 0, unsure=margin < UNSURE_BELOW_NATS)


def _length(score: OptionScore, normalisation: Normalisation) -> int:
    if normalisation == "token":
        return score.n_tokens
    return score.n_characters if normalisation == "character" else 1


def _unconditional(score: OptionScore) -> float:
    if score.unconditional is None:
        raise ValueError(_("PMI needs each option's score without evidence, and these scores were made without one."))
    return score.unconditional
