"""A model in bfloat16 that is nearer to float32 at no cost: what its layers find is added up in float32, and its head
is that of the same model in float32.

The products of its layers, which are nearly all of the work, stay as they are. What bfloat16 moves comes for the larger
part from the sums between layers and from the logits, which it keeps to eight bits (docs/benchmarks/engine.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from llm.engine.probing import draw

_TOKENS, _PROMPTS = 40, 3
_SKIPPED = 8  # the first tokens of a prompt see next to nothing


def widen(model: Any, whole: Any) -> float:
    """Widen a model in bfloat16, `whole` being the same in float32 on the same device, whose head it shares then.

    Some families have layers that are no plain linear ones and take no other numbers than their own: these are left as
    they were, and so are those that come no nearer. Returns how far its log-probabilities are off still, as a share of
    how far they were; 1 of a model that was left.
    """
    head, own = whole.get_output_embeddings(), model.get_output_embeddings()
    if not isinstance(head, nn.Linear) or not isinstance(own, nn.Linear):
        return 1.0
    if (before := _predicted(model)) is None or (exact := _predicted(whole)) is None:
        return 1.0
    hooks = [model.get_input_embeddings().register_forward_hook(_wide)]
    for module in model.modules():
        if module is own:
            continue
        if isinstance(module, nn.Linear):
            hooks.append(module.register_forward_pre_hook(_narrow_input))
        elif type(module).__name__.endswith("RotaryEmbedding"):
            hooks.append(module.register_forward_hook(_narrow))
    model.set_output_embeddings(head)
    after = _predicted(model)
    if after is not None:
        share = float((after - exact).abs().mean() / (before - exact).abs().mean())
        if share < 1:
            return share
    for hook in hooks:
        hook.remove()
    model.set_output_embeddings(own)
    return 1.0


def _predicted(model: Any) -> torch.Tensor | None:
    """Log-probabilities of all tokens at most positions of some random prompts, on the CPU; None of a model that fails
    at them.

    By what stands behind three prompts alone, a model was widened or not by luck.
    """
    prompts = torch.tensor([draw(model, _TOKENS, seed=seed) for seed in range(_PROMPTS)], device=model.device)
    try:
        with torch.inference_mode():
            logits = model(input_ids=prompts, use_cache=False).logits[:, _SKIPPED:]
            predicted: torch.Tensor = logits.float().log_softmax(-1).cpu()
    except torch.OutOfMemoryError:
        raise
    except Exception:  # each family has its own way to want numbers alike
        return None
    return predicted


def _wide(_module: Any, _given: Any, states: torch.Tensor) -> torch.Tensor:
    return states.float()


def _narrow(_module: Any, _given: Any, made: Any) -> Any:
    return tuple(each.bfloat16() for each in made) if isinstance(made, tuple) else made.bfloat16()


def _narrow_input(_module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    return (given[0].bfloat16(), *given[1:])
