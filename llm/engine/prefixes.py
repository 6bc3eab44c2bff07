"""Attention of answers that are being written, on a CPU: the keys of a prompt are read once for all answers to it.

Else each answer has a copy of its prompt's keys and values, and torch's kernel reads them anew for every head that
shares them. Here they stay as the prompts were read, a line a prompt, and hold nothing but prompts: what an answer has
written stands beside them. The queries of all answers to a prompt, and of all heads that share its keys, are one matrix
(as in cascade inference and bifurcated attention: Athiwaratkun et al. 2024, arXiv 2403.08845).

A forward is fed the new tokens of all answers behind one another, as many of each as there are, without padding. What
was fed last can be taken back: the next tokens then come in its place.

A model is told to use it as it is told of the tree's (`attention`), while answers are written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F
from transformers import AttentionInterface, DynamicCache
from transformers.cache_utils import DynamicLayer

from llm.engine import attention

NAME = "palate_prefixes"
# Tokens for which there is room when what answers have of their own has to be moved.
_ROOM = 64


class Prefixes:
    """What answers go on with: `layers` of keys and values (P, G, L, D), None where one keeps none, and which of the P
    prompts each answer has; and what the answers have of their own.

    `seen` (P, L): 1 where a prompt's line is no padding; `prompt_of` (B,): the prompt of each answer.
    """

    def __init__(
        self, layers: Sequence[tuple[torch.Tensor, torch.Tensor] | None], seen: torch.Tensor, prompt_of: torch.Tensor
    ) -> None:
        self.layers, self._seen, self._prompt_of = list(layers), seen, prompt_of
        self._begins = seen.sum(dim=1)[prompt_of]  # (B,): tokens before an answer's own
        self._lengths = torch.zeros(len(prompt_of), dtype=torch.long)  # of what each has of its own
        self._fed = torch.zeros(len(prompt_of), dtype=torch.long)
        self.answer = self.place = torch.empty(0, dtype=torch.long)  # (N,) of each token of a forward
        self.cache = DynamicCache()
        self.cache.layers = [_Own(self) for _ in layers]

    @property
    def n_answers(self) -> int:
        return len(self._lengths)

    @property
    def end(self) -> int:
        """How many tokens the longest answer has of its own."""
        return int(self._lengths.max())

    def keep(self, places: torch.Tensor) -> None:
        """The answers at these places are the ones that are left.

        Nothing of a prompt is copied but when half of the prompts are done.
        """
        self._begins, self._lengths, self._fed = self._begins[places], self._lengths[places], self._fed[places]
        self._prompt_of = self._prompt_of[places]
        left = torch.unique(self._prompt_of)
        if 2 * len(left) <= len(self._seen):
            self.layers = [layer and (layer[0][left], layer[1][left]) for layer in self.layers]
            self._seen, self._prompt_of = self._seen[left], torch.searchsorted(left, self._prompt_of)
        for layer in self.cache.layers:
            layer.keep(places)  # type: ignore[union-attr]

    def feed(self, fed: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """The tokens (N,) of a forward, some of each answer, and their positions."""
        self._fed = torch.tensor([len(tokens) for tokens in fed])
        self.answer = torch.arange(len(fed)).repeat_interleave(self._fed)
        number = torch.arange(len(self.answer)) - (self._fed.cumsum(0) - self._fed)[self.answer]
        self.place = self._lengths[self.answer] + number
        self._lengths = self._lengths + self._fed
        tokens = torch.tensor([token for of_answer in fed for token in of_answer])
        return tokens, self._begins[self.answer] + self.place

    def take_back(self, kept: Sequence[int]) -> None:
        """Of what each answer was fed last only so many tokens stay."""
        self._lengths = self._lengths - self._fed + torch.tensor(kept)

    def mask(self, dtype: torch.dtype) -> torch.Tensor:
        """What the model hands on to its attention as a mask (1, 1, N, K) after `feed`: it holds the prompts as these
        tokens see them, its numbers are none."""
        mask = torch.full((1, 1, 1, 1), float("nan"), dtype=dtype).expand(1, 1, len(self.answer), self.end)
        prompt = self._prompt_of[self.answer]
        mask.layers = self.layers  # type: ignore[attr-defined]
        mask.seats = (  # type: ignore[attr-defined]
            _Seats(prompt, self._seen[prompt] == 0),
            _Seats(self.answer, torch.arange(self.end) > self.place[:, None]),
        )
        return mask


class _Seats:
    """The tokens of a forward as rows of the matrices of their texts, which are prompts or answers: as many rows for
    each text as the one with most tokens, those without a token idle. Texts before the first that has a token and
    behind the last are left out.

    `text` (N,): of each token; `hidden` (N, L): which of its text's keys a token does not see.
    """

    def __init__(self, text: torch.Tensor, hidden: torch.Tensor) -> None:
        first, last = int(text.min()), int(text.max())
        self.texts, self._n_texts = slice(first, last + 1), last + 1 - first
        text = text - first
        counts = torch.bincount(text, minlength=self._n_texts)
        order = torch.argsort(text, stable=True)
        number = torch.empty_like(text)
        number[order] = torch.arange(len(text)) - (counts.cumsum(0) - counts)[text[order]]
        self._rows = int(counts.max())
        self._seats = text * self._rows + number  # (N,), among P x R
        self._tokens = torch.zeros(self._n_texts * self._rows, dtype=torch.long).scatter_(
            0, self._seats, torch.arange(len(text))
        )
        self._in_order = len(text) == len(self._tokens) and bool((self._seats == torch.arange(len(text))).all())
        self._mask = torch.zeros(hidden.shape).masked_fill_(hidden, float("-inf")) if hidden.any() else None

    def together(self, states: torch.Tensor) -> torch.Tensor:
        """Of each token (N, G, H, D) to those of a text as one matrix (P, G, R x H, D)."""
        _, groups, heads, size = states.shape
        seated = states if self._in_order else states[self._tokens]
        seated = seated.reshape(self._n_texts, self._rows, groups, heads, size)
        return seated.transpose(1, 2).reshape(self._n_texts, groups, self._rows * heads, size)

    def apart(self, states: torch.Tensor, heads: int) -> torch.Tensor:
        """And back."""
        texts, groups, rows, size = states.shape
        seated = states.view(texts, groups, rows // heads, heads, size).transpose(1, 2)
        seated = seated.reshape(texts * self._rows, groups, heads, size)
        return seated if self._in_order else seated[self._seats]

    def hide(self, scores: torch.Tensor) -> None:
        """What a token does not see, in scores (N, G, H, L)."""
        if self._mask is not None:
            scores += self._mask[:, None, None]


class _Own(DynamicLayer):  # type: ignore[no-untyped-call]
    """A layer of what answers have of their own: of different lengths, in buffers with room for more."""

    def __init__(self, prefixes: Prefixes) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._prefixes = prefixes
        self._buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """With the new ones (1, G, N, D) those of all answers (B, G, K, D)."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self._prefixes.end
        if self._buffers is None or end > self._buffers[0].shape[2]:
            # Zeros: what no token sees is multiplied by 0, and must be a number.
            larger = tuple(
                states.new_zeros((self._prefixes.n_answers, states.shape[1], end + _ROOM, states.shape[3]))
                for states in (key_states, value_states)
            )
            for old, new in zip(self._buffers or (), larger, strict=False):
                new[:, :, : old.shape[2]] = old
            self._buffers = larger[0], larger[1]
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[self._prefixes.answer, :, self._prefixes.place] = states[0].transpose(0, 1)
        self.keys, self.values = self._buffers[0][:, :, :end], self._buffers[1][:, :, :end]
        return self.keys, self.values

    def keep(self, places: torch.Tensor) -> None:
        if self._buffers is not None:
            self._buffers = self._buffers[0][places], self._buffers[1][places]


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
    """As transformers asks for it, of the tokens of all answers: (1, H, N, D), and of what the answers have of their
    own (B, G, K, D) and (B, G, K, E), to (1, N, H, E). For inference only.

    Raises:
        NotImplementedError: as `attention.handed_on`; or there is a batch, or a window.
    """
    all_seats = attention.handed_on(attention_mask, "seats", query, key, others)
    if len(query) != 1 or others.get("sliding_window") is not None:
        raise NotImplementedError("an attention of its own")
    _, n_heads, n_tokens, _ = query.shape
    groups = key.shape[1]
    heads = n_heads // groups
    queries = query[0].transpose(0, 1).reshape(n_tokens, groups, heads, -1)
    queries = queries * (1 / math.sqrt(query.shape[-1]) if scaling is None else scaling)
    states = (attention_mask.layers[module.layer_idx], (key, value))
    scores = []
    for (keys, _), seats in zip(states, all_seats, strict=True):
        part = seats.together(queries) @ keys[seats.texts].transpose(2, 3)
        if softcap is not None:
            part.div_(softcap).tanh_().mul_(softcap)
        part = seats.apart(part, heads)
        seats.hide(part)
        scores.append(part)
    weights = torch.split(F.softmax(torch.cat(scores, dim=-1), -1), [keys.shape[2] for keys, _ in states], dim=-1)
    before, own = (
        seats.apart(seats.together(part) @ values[seats.texts], heads)
        for part, (_, values), seats in zip(weights, states, all_seats, strict=True)
    )
    return (before + own).reshape(1, n_tokens, n_heads, -1), None


AttentionInterface.register(NAME, prefix_attention)


def fits(model: Any) -> bool:
    """Whether this attention is for such a model; whether the model heeds it is to be tried out.

    In bfloat16 torch's kernel sums in float32, which products of it would not.
    """
    return bool(model.device.type == "cpu" and model.dtype == torch.float32)
