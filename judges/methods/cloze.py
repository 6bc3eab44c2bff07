"""What is stored with the label of a judge that scores options. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from judges.methods.calibration import Calibration, calibrated
from llm.engine.normalisation import Choice, Normalisation, choose
from llm.engine.prompt import OptionScore


class Scores(BaseModel):
    """The scores of all options that were offered, under the keys of the scheme, and what was chosen by them.

    Attributes:
        options: see `OptionScore`; natural logs.
        normalisation: by which the label was chosen.
        margin_nats: see `Choice`; lies under 0.5 where it is `unsure`, and is 0 at a `tie`.
        calibration: by which the label was chosen besides; `options` are as they were before it. Left out of what is
            stored where there was none.
        rescued: these are float32's, since bfloat16's margin was small; left out where they are not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: dict[str, OptionScore]
    normalisation: Normalisation
    margin_nats: float
    tie: bool
    unsure: bool
    calibration: Calibration | None = None
    rescued: bool = False

    @classmethod
    def of(
        cls,
        keys: Sequence[str],
        scores: Sequence[OptionScore],
        choice: Choice,
        normalisation: Normalisation,
        calibration: Calibration | None = None,
        **more: Any,
    ) -> Self:
        return cls(
            options=dict(zip(keys, scores, strict=True)),
            normalisation=normalisation,
            margin_nats=choice.margin_nats,
            tie=choice.tie,
            unsure=choice.unsure,
            calibration=calibration,
            **more,
        )

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        held = {**dict(self), "options": {key: asdict(score) for key, score in self.options.items()}}
        held["calibration"] = None if self.calibration is None else self.calibration.model_dump()
        return {name: value for name, value in held.items() if name not in ("calibration", "rescued") or value}


def chosen(
    keys: Sequence[str], scores: Sequence[OptionScore], normalisation: Normalisation, calibration: Calibration | None
) -> Choice:
    """The option that wins under a normalisation, or under a calibration where there is one.

    Raises:
        ValueError: as `choose`.
    """
    if calibration is None:
        return choose(scores, normalisation)
    return choose(calibrated(keys, scores, calibration), "none")


def stored_options(stored: Any) -> Mapping[str, Any] | None:
    """The options in the stored scores of a label, each as the fields of an `OptionScore`; None where it was not
    scored. What was stored was validated then: this is for reading many."""
    return stored["options"] if isinstance(stored, dict) and "options" in stored else None


def score_of(stored: Mapping[str, Any]) -> OptionScore:
    return OptionScore(**stored)


def scores_in(options: Mapping[str, Any], keys: Sequence[str]) -> Iterator[tuple[int, OptionScore]]:
    """The places among `keys` of the options that were offered, with their scores."""
    return ((place, score_of(options[key])) for place, key in enumerate(keys) if key in options)
