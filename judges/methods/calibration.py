"""What is done to a judge's scores before its option is chosen: a bias an option, and a temperature. Pure.

Of an option with the normalised score z, in nats, (z + bias) / temperature is what is compared. Biases move the
thresholds between options; a temperature moves no choice, and makes the probabilities what they say.
`judges.methods.fitting` has how they are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from llm.engine.normalisation import Normalisation, normalise
from llm.engine.prompt import OptionScore


class Calibration(BaseModel):
    """
    Attributes:
        normalisation: of the scores that it was fitted to.
        bias: nats by the option's key; 0 where an option is not named.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    normalisation: Normalisation = "none"
    temperature: float = Field(default=1.0, gt=0)
    bias: dict[str, float] = {}


def calibrated(keys: Sequence[str], scores: Sequence[OptionScore], by: Calibration) -> list[OptionScore]:
    """The scores with what is compared in the place of their sums, so that the highest sum wins.

    Raises:
        ValueError: as `normalise`.
    """
    values = normalise(scores, by.normalisation)
    return [
        replace(score, logprob=(value + by.bias.get(key, 0.0)) / by.temperature, unconditional=None)
        for key, score, value in zip(keys, scores, values, strict=True)
    ]


def calibrated_options(stored: Mapping[str, Mapping[str, float]], by: Calibration) -> dict[str, OptionScore]:
    """As `calibrated`, of the options in the stored scores of a label."""
    scores = [OptionScore(**stored[key]) for key in stored]  # type: ignore[arg-type]
    return dict(zip(stored, calibrated(list(stored), scores, by), strict=True))
