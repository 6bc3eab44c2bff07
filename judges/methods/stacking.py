"""Answers of several judges to a cell, weighed together (a stacker; Wolpert 1992, Neural Networks 5). Pure.

Each judge gives every option a number: the logarithm of its share among the judge's own options, as the judge chose by
them (normalised, calibrated); of a judge without scores 0 to the option that it chose and -1 to the others. An option's
value is the sum of weight x number over the judges and its bias, and the highest wins. `judges.methods.fitting.fit`
finds weights and biases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from judges.methods import cloze, fitting
from judges.methods.calibration import Calibration, calibrated_options
from judges.methods.fitting import Cells, FloatArray, Weights
from judges.methods.prompt_files import Stacker
from llm.engine.normalisation import normalise
from llm.engine.prompt import OptionScore

# A share this small says no, however small it is: one judge's certainty must not drown the others.
FLOOR = -10.0


def numbers(scores: Any, chosen: str, keys: Sequence[str]) -> list[float]:
    """What one judge says of the options `keys`, shape (n_options,).

    Args:
        scores: as stored with its label; None where it has none.
        chosen: the key of the option that it chose.
    """
    stored = cloze.stored_options(scores)
    if stored is None:
        return [0.0 if key == chosen else -1.0 for key in keys]
    if by := scores.get("calibration"):
        values = {key: of.logprob for key, of in calibrated_options(stored, Calibration.model_validate(by)).items()}
    else:
        found = normalise([cloze.score_of(of) for of in stored.values()], scores["normalisation"])
        values = dict(zip(stored, found, strict=True))
    total = float(np.logaddexp.reduce(list(values.values())))
    return [max(values[key] - total, FLOOR) if key in values else FLOOR for key in keys]


def option_scores(said: Mapping[str, Sequence[float]], rule: Stacker) -> dict[str, OptionScore]:
    """The log-probability of each option of a rule, in nats.

    Args:
        said: `numbers` of each judge of the rule under the rule's options; one that is left out says nothing.
    """
    values = np.array(list(rule.options.values()))
    for code, of_judge in said.items():
        values = values + rule.judges[code] * np.asarray(of_judge)
    return {
        key: OptionScore(float(value), 1, 1, None)
        for key, value in zip(rule.options, values - np.logaddexp.reduce(values), strict=True)
    }


def candidates(scores: FloatArray, cells: Cells, whole: Weights) -> list[tuple[float, float]]:
    """(accuracy, macro-F1) of each judge alone, and last of all together, in documents left out of the fit: see
    `fitting.left_out`.

    Args:
        scores: `numbers` of each cell, judge and option, shape (n_cells, n_judges, n_options).
        cells: their `people` and `document`; `values` are not read.
        whole: what was fitted to all of them, where each fit begins.
    """
    found = [fitting.scored_by(scores[:, judge].argmax(axis=1), cells.people) for judge in range(scores.shape[1])]
    chosen = np.zeros(len(scores), dtype=np.int64)
    for inside, outside in fitting.left_out(cells.document):
        fitted = fitting.fit(scores[inside], cells.people[inside], begin=whole)
        chosen[outside] = fitted.values(scores[outside]).argmax(axis=1)
    return [*found, fitting.scored_by(chosen, cells.people)]


def agreements(scores: FloatArray, cells: Cells) -> list[tuple[int, int, float, float]]:
    """Of each two judges, by their places: the share of cells in which they choose the same, and the share of those in
    which somebody chose it too (NaN where there are none). `scores` and `cells` as of `candidates`."""
    chosen = scores.argmax(axis=2)
    right = cells.people[np.arange(len(chosen))[:, None], chosen] > 0
    found = []
    for one, other in product(range(scores.shape[1]), repeat=2):
        if one < other:
            same = chosen[:, one] == chosen[:, other]
            found.append((one, other, float(same.mean()), float(right[same, one].mean()) if same.any() else np.nan))
    return found
