"""What a model can be fed: tried out on it when it is loaded, since no configuration says it.

A few random prompts are scored in a tree, alone, and padded in batches. How far a model's own scores move between the
last two says what rounding does to it; a tree that is off by clearly more is none of rounding's doing.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from base.sentences import gettext as _
from llm.engine.forwards import Forward, alone_forwards, layer_kinds, rope_kinds, tree_forwards
from llm.engine.tree import TokenSequence

SEEDS = 5
# Nats by which the sum over six tokens may be off, however little the model's own scores move.
_LEAST_TOLERANCE = {torch.float32: 1e-3}
_LEAST_TOLERANCE_OF_OTHERS = 0.5
_TIMES_NOISE = 4
# Shorter than the probe's prompts, so that a model which looks back further than its configuration says shows it.
_WINDOW = 6


class NotCausal(ValueError):
    """What comes later changes what a model predicts earlier: it scores no option by what stands before it alone."""


def refuse_unless_causal(model: Any) -> None:
    """Change the end of a prompt and look whether predictions before it stay.

    Raises:
        NotCausal: they do not.
    """
    prompt, other = (_draw(model, 16, seed=seed) for seed in (0, 1))
    changed = prompt[:8] + other[8:]
    with torch.inference_mode():
        first, second = (
            model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0, :7].float()
            for ids in (prompt, changed)
        )
    moved = float((first.log_softmax(-1) - second.log_softmax(-1)).abs().max())
    if moved > _tolerance(model, noise=0.0):
        raise NotCausal(
            _(
                "What comes later in a text changes what this model predicts before it (by %(nats)s nats): it is no "
                "causal language model, and cannot judge. Choose one that is."
            )
            % {"nats": f"{moved:.2g}"}
        )


def why_not_a_tree(model: Any) -> str | None:
    """Why this model cannot be fed a tree, in a sentence; None if it can."""
    config = model.config.get_text_config()
    if strange := set(layer_kinds(config)) - {"full_attention", "sliding_attention"}:
        return f"The model has layers of the kind {', '.join(sorted(strange))}."
    if model.config._attn_implementation not in {"sdpa", "eager"}:
        return f"The attention “{model.config._attn_implementation}” takes no mask of our own."
    # These scale positions by the longest one in a forward, which the tree's forwards do not share with the prompts'.
    if rope_kinds(config) & {"dynamic", "longrope"}:
        return "The model's position encoding depends on the length of the prompt."
    return _probe(model) or _probe_window(model)


def _probe(model: Any) -> str | None:
    """Score small trees both ways: whether a model heeds masks and positions shows in no configuration."""
    off, noise = [], []
    for seed in range(SEEDS):
        sequences = _sequences(model, seed)
        with torch.inference_mode():
            alone = _scores(alone_forwards(model, sequences, token_budget=1))
            try:
                # The small budget cuts within branches as well.
                tree = _scores(tree_forwards(model, sequences, token_budget=13))
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # whatever a model says to arguments that it does not know
                return f"The model refused the tree: {error}"
            off.append(_furthest(tree, alone))
            if seed == 0 and off[0] < _tolerance(model, noise=0.0):
                return None  # no model that heeds neither comes so near
            noise.append(_furthest(_scores(alone_forwards(model, sequences, token_budget=1000)), alone))
    # One tree may be off by bad luck, where numbers are coarse; most are not.
    if statistics.median(off) < _tolerance(model, noise=statistics.median(noise)):
        return None
    return f"A tree of {len(sequences)} prompts came out {max(off):.2g} nats off."


def _furthest(scores: dict[int, float], others: dict[int, float]) -> float:
    return max(abs(scores[index] - others[index]) for index in scores)


def _probe_window(model: Any) -> str | None:
    """Whether the model looks back as far as its configuration says, tried with a window that the prompts exceed."""
    config = model.config.get_text_config()
    if getattr(config, "sliding_window", None) is None:
        return None
    with _windowed(config):
        off = _probe(model)
    return f"With a window of {_WINDOW} tokens: {off}" if off else None


@contextmanager
def _windowed(config: Any) -> Iterator[None]:
    kept = config.sliding_window
    config.sliding_window = _WINDOW
    try:
        yield
    finally:
        config.sliding_window = kept


def _tolerance(model: Any, *, noise: float) -> float:
    return max(_LEAST_TOLERANCE.get(model.dtype, _LEAST_TOLERANCE_OF_OTHERS), _TIMES_NOISE * noise)


def _sequences(model: Any, seed: int) -> list[TokenSequence]:
    """Two branches of one trunk, each with two ends of six tokens."""
    drawn = _draw(model, 8 + 2 * 5 + 4 * 6, seed=seed)
    trunk, ends = drawn[:8], drawn[18:]
    branches = [trunk + drawn[8:13], trunk + drawn[13:18]]
    return [TokenSequence(branches[place // 2] + ends[6 * place : 6 * place + 6], start=13) for place in range(4)]


def _draw(model: Any, n: int, *, seed: int) -> tuple[int, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(model.config.get_text_config().vocab_size, (n,), generator=generator).tolist())


def _scores(forwards: Iterator[Forward]) -> dict[int, float]:
    return {index: score for forward in forwards for index, score in forward.finished.items()}
