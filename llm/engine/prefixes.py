"""Attention of answers that are being written, on a CPU: the keys of a prompt are read once for all answers to it.

Else each answer has a copy of its prompt's keys and values, and torch's kernel reads them anew for every head that
shares them. Here they stay as the prompts were read, a line a prompt, and hold nothing but prompts: what an answer has
written stands beside them. The queries of all answers to a prompt, and of all heads that share its keys, are one matrix
(as in cascade inference and bifurcated attention: Athiwaratkun et al. 2024, arXiv 2403.08845).

A model is told to use it as it is told of the tree's (`attention`), while answers are written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F
from transformers import AttentionInterface

from llm.engine import attention

NAME = "palate_prefixes"
# Of these arguments what they do is not done here.
_UNKNOWN = (*attention.UNKNOWN, "sliding_window")


class Prefixes:
    """What answers go on with: `layers` of keys and values (P, G, L, D), and which of the P prompts each answer has.

    `seen` (P, L): 1 where a prompt's line is no padding; `prompt_of` (B,): the prompt of each answer.
    """

    def __init__(
        self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]], seen: torch.Tensor, prompt_of: torch.Tensor
    ) -> None:
        self.layers, self._seen = list(layers), seen
        self._seat(prompt_of)

    def keep(self, places: torch.Tensor) -> None:
        """The answers at these places are the ones that are left."""
        prompt_of = self._prompt_of[places]
        left = torch.unique(prompt_of)
        if 2 * len(left) <= len(self._seen):
            self.layers = [(keys[left], values[left]) for keys, values in self.layers]
            self._seen, prompt_of = self._seen[left], torch.searchsorted(left, prompt_of)
        self._seat(prompt_of)

    def _seat(self, prompt_of: torch.Tensor) -> None:
        """A matrix has as many rows for each prompt as the one with most answers; those without an answer are idle."""
        self._prompt_of = prompt_of
        number = torch.zeros_like(prompt_of)  # of an answer among those of its prompt
        counts = torch.zeros(len(self._seen), dtype=torch.long)
        for place, prompt in enumerate(prompt_of.tolist()):
            number[place] = counts[prompt]
            counts[prompt] += 1
        self._rows = int(counts.max())
        self._seats = prompt_of * self._rows + number  # (B,), among P × R
        self._answers = torch.zeros(len(self._seen) * self._rows, dtype=torch.long).scatter_(
            0, self._seats, torch.arange(len(prompt_of))
        )
        hidden = self._seen == 0
        self._mask = torch.zeros(hidden.shape).masked_fill_(hidden, float("-inf")) if hidden.any() else None

    def together(self, states: torch.Tensor) -> torch.Tensor:
        """Of each answer (B, G, H, D) to those of a prompt as one matrix (P, G, R × H, D)."""
        _, groups, heads, size = states.shape
        seated = states[self._answers].view(len(self._seen), self._rows, groups, heads, size)
        return seated.transpose(1, 2).reshape(len(self._seen), groups, self._rows * heads, size)

    def apart(self, states: torch.Tensor, heads: int) -> torch.Tensor:
        """And back."""
        prompts, groups, rows, size = states.shape
        seated = states.view(prompts, groups, rows // heads, heads, size).transpose(1, 2)
        return seated.reshape(prompts * self._rows, groups, heads, size)[self._seats]

    def hide(self, scores: torch.Tensor) -> None:
        """Padding, in scores (P, G, R × H, L)."""
        if self._mask is not None:
            scores += self._mask[:, None, None]


def mask_of(prefixes: Prefixes, n_answers: int, n_keys: int, dtype: torch.dtype) -> torch.Tensor:
    """What the model hands on to its attention as a mask (B, 1, 1, K): it holds the prompts, its numbers are none."""
    mask = torch.full((1, 1, 1, 1), float("nan"), dtype=dtype).expand(n_answers, 1, 1, n_keys)
    mask.prefixes = prefixes  # type: ignore[attr-defined]
    return mask


def prefix_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers asks for it, of one token an answer: (B, H, 1, D), and of what the answers have written
    (B, G, K, D) and (B, G, K, E), to (B, 1, H, E). For inference only.

    Raises:
        NotImplementedError: the model wants something else of its attention, or changed the mask on its way here.
    """
    prefixes: Prefixes | None = getattr(attention_mask, "prefixes", None)
    n_answers, n_heads, n_tokens, _ = query.shape
    groups = key.shape[1]
    if prefixes is None or n_tokens != 1 or n_heads % groups or any(others.get(name) is not None for name in _UNKNOWN):
        raise NotImplementedError("an attention of its own")
    queries = query.view(n_answers, groups, n_heads // groups, -1)
    queries = queries * (1 / math.sqrt(query.shape[-1]) if scaling is None else scaling)
    keys, values = prefixes.layers[module.layer_idx]
    scores = [prefixes.together(queries) @ keys.transpose(2, 3), prefixes.together(queries @ key.transpose(2, 3))]
    if softcap is not None:
        for each in scores:
            each.div_(softcap).tanh_().mul_(softcap)
    prefixes.hide(scores[0])
    before, own = torch.split(F.softmax(torch.cat(scores, dim=-1), -1), [keys.shape[2], key.shape[2]], dim=-1)
    heads = n_heads // groups
    made = prefixes.apart(before @ values, heads) + prefixes.apart(own, heads) @ value
    return made.reshape(n_answers, 1, n_heads, -1), None


AttentionInterface.register(NAME, prefix_attention)


def fits(model: Any) -> bool:
    """Whether this attention is for such a model; whether the model heeds it is to be tried out.

    In bfloat16 torch's kernel sums in float32, which products of it would not.
    """
    return bool(model.device.type == "cpu" and model.dtype == torch.float32)
