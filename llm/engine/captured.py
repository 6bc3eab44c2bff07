"""Answers that are being written on a GPU: what a step starts there is captured once and started again as a whole.

A step of a batch is many hundreds of small products. A processor takes several times as long to start them one by one
as the card takes to do them. Here the keys and values of a batch lie in buffers that stay where they are, a line an
answer and a column a token, so that a step of the same size does the same with the same memory: it is recorded as a
CUDA graph (`torch.cuda.CUDAGraph`), which is started at once.

A token stands in the column of its position, the first one in column 1, so that there is no padding between tokens and
a window is counted as in a text by itself. Column 0 is nobody's: what fills up a step is written there. A token sees
the columns up to its own; what lies behind them is written over before anybody sees it, so tokens can be taken back.

A step that cannot be captured, as one that asks the card for a number on its way, is started product by product.

The queries of all heads that share keys are one matrix, so that keys are not copied for each head.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F
from transformers import AttentionInterface, DynamicCache
from transformers.cache_utils import DynamicLayer

from llm.engine import attention
from llm.engine.cards import devices_of
from llm.engine.forwards import attention_windows, layer_kinds

log = logging.getLogger(__name__)

NAME = "palate_captured"
# Columns that a step looks at are a multiple of this, so that answers which grow have few sizes.
_COLUMNS = 256
# Buffers have a multiple of so many lines, and the next power of two where they are fewer.
_LINES = 8
# A size of steps is captured when it comes so many times: two forwards are its price.
_CAPTURED_FROM = 2
# Graphs that are kept: each has its logits, and takes some memory besides.
_MOST_GRAPHS = 24


@dataclass
class _Graph:
    graph: Any
    logits: torch.Tensor  # (lines, T, V), where each start leaves them


class Steps:
    """Steps of batches, one after another (`begin`), in buffers that the next batch uses again."""

    def __init__(self, model: Any, *, captures: bool = True) -> None:
        """`captures`: whether steps are captured, where the model is on a GPU."""
        self._model = model
        self._captures = captures and model.device.type == "cuda"
        self._windows = attention_windows(model.config.get_text_config())
        self._cache = DynamicCache()
        self._size = (0, 0)  # lines and columns that the buffers have
        self._lines = 0  # lines of a step
        self._pool: Any = None  # the memory that all graphs share
        self._slots = self._lengths = self._fed = torch.empty(0, dtype=torch.long)  # (B,) of each answer
        self._forget_graphs()

    def release(self) -> None:
        """Give the memory of buffers and graphs back."""
        self._cache, self._size = DynamicCache(), (0, 0)
        self._forget_graphs()

    def begin(
        self,
        layers: Sequence[tuple[torch.Tensor, torch.Tensor] | None],
        seen: torch.Tensor,
        prompt_of: torch.Tensor,
        room: int,
    ) -> None:
        """A batch whose prompts are read. `layers` of keys and values (P, G, L, D), None where one keeps none: of the
        last L tokens that were fed; `seen` (P, fed): 1 where a prompt's line is no padding; `prompt_of` (B,): the
        prompt of each answer; `room`: tokens that are written of each, at most."""
        before = seen.sum(dim=1)
        self._lengths = before[prompt_of]
        self._fed = torch.zeros_like(self._lengths)
        self._slots = torch.arange(len(prompt_of))
        wanted = _size_of(len(prompt_of), int(before.max()) + room)
        columns = wanted[1]
        if len(prompt_of) > self._size[0] or columns > self._size[1] or len(layers) != len(self._cache.layers):
            self.release()
            self._size = wanted
            self._cache.layers = [_Line() for _ in layers]
        self._lines = self._size[0]
        self._shrink()
        column = seen.cumsum(dim=1) * seen  # (P, fed); padding goes to nobody's
        for held, line in zip(layers, self._cache.layers, strict=True):
            if held is not None:
                places = column[:, -held[0].shape[2] :][prompt_of]
                for number, states in enumerate(held):
                    line.begin(number, states[prompt_of.to(states.device)], places, self._size)  # type: ignore[union-attr]

    def go(self, fed: Sequence[Sequence[int]]) -> torch.Tensor:
        """Feed each answer some tokens; the logits (N, V) after each of them, answer by answer. They are written over
        by the next step."""
        self._fed = torch.tensor([len(tokens) for tokens in fed])
        most = 1 << (int(self._fed.max()) - 1).bit_length()  # few sizes
        sent = torch.zeros((2, self._lines, most), dtype=torch.long)  # tokens, and the column of each
        at = torch.arange(most) < self._fed[:, None]  # (B, T)
        line, place = self._slots[:, None].expand(at.shape)[at], torch.arange(most).expand(at.shape)[at]
        sent[0, line, place] = torch.tensor([token for tokens in fed for token in tokens])
        sent[1, line, place] = (self._lengths[:, None] + torch.arange(1, most + 1))[at]
        self._lengths = self._lengths + self._fed
        columns = min(_rounded(int(self._lengths.max()) + 1, _COLUMNS), self._size[1])
        logits = self._step(sent, columns)
        return logits[line.to(logits.device), place.to(logits.device)]

    def take_back(self, kept: Sequence[int]) -> None:
        """Of what each answer was fed last only so many tokens stay."""
        self._lengths = self._lengths - self._fed + torch.tensor(kept)

    def keep(self, places: torch.Tensor) -> None:
        """The answers at these places are the ones that are left. Lines are moved when half of them are idle."""
        self._slots, self._lengths, self._fed = self._slots[places], self._lengths[places], self._fed[places]
        if self._shrink():
            for line in self._cache.layers:
                line.move(self._slots)  # type: ignore[union-attr]
            self._slots = torch.arange(len(self._slots))

    def _shrink(self) -> bool:
        """Halve the lines of a step while the answers have room in half of them; whether they were."""
        lines = self._lines
        while self._lines > 1 and len(self._slots) <= (self._lines + 1) // 2:
            self._lines = (self._lines + 1) // 2
        return self._lines < lines

    def _step(self, sent: torch.Tensor, columns: int) -> torch.Tensor:
        lines, most = sent.shape[1:]
        size = (lines, most, columns)
        if (lines, most) not in self._inputs:
            self._inputs[lines, most] = torch.empty_like(sent, device=self._model.device)
        inputs = self._inputs[lines, most]
        inputs.copy_(sent)
        if size not in self._graphs and self._captures and self._came[size] + 1 >= _CAPTURED_FROM:
            self._capture(size, inputs)
        if size in self._graphs:
            found = self._graphs[size]
            found.graph.replay()
            return found.logits
        self._came[size] += 1
        return self._forward(inputs, columns)

    def _capture(self, size: tuple[int, int, int], inputs: torch.Tensor) -> None:
        if len(self._graphs) >= _MOST_GRAPHS:
            self._forget_graphs()
            self._inputs[size[:2]] = inputs
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        try:
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                logits = self._forward(inputs, size[2])
        except torch.OutOfMemoryError:
            self._after_a_failure(stream)
            raise
        except Exception as error:  # each family fails in its own way
            self._after_a_failure(stream)
            log.info("Steps of answers are not captured: %s", error)
            self._captures = False
            self._forget_graphs()
            self._inputs[size[:2]] = inputs
        else:
            self._graphs[size] = _Graph(graph, logits)

    def _after_a_failure(self, stream: Any) -> None:
        """What a failed capture leaves undone: its stream is still the current one, and some versions of torch take it
        for underway, and give no memory back (`torch.cuda.empty_cache`) for as long as the process lives."""
        torch.cuda.set_stream(stream)
        with suppress(RuntimeError):  # it has been ended
            torch._C._cuda_endAllocateToPool(stream.device_index, self._pool)

    def _forget_graphs(self) -> None:
        self._graphs: dict[tuple[int, int, int], _Graph] = {}
        self._inputs: dict[tuple[int, int], torch.Tensor] = {}
        self._came: Counter[tuple[int, int, int]] = Counter()
        self._pool = None

    def _forward(self, inputs: torch.Tensor, columns: int) -> torch.Tensor:
        tokens, places = inputs
        for line in self._cache.layers:
            line.places, line.columns = places, columns  # type: ignore[union-attr]
        masks = {kind: self._mask(places, columns, window) for kind, window in self._windows.items()}
        kinds = layer_kinds(self._model.config.get_text_config())
        with attention.told(self._model, NAME):
            output = self._model(
                input_ids=tokens,
                attention_mask=masks if kinds else next(iter(masks.values())),
                position_ids=(places - 1).clamp(min=0),
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=tokens.shape[1],
            )
        logits: torch.Tensor = output.logits
        return logits

    def _mask(self, places: torch.Tensor, columns: int, window: int | None) -> torch.Tensor:
        """What the tokens see (lines, 1, T, columns), added to scores: 0 or -inf. One that fills up sees nobody's."""
        column, own = torch.arange(columns, device=places.device), places[..., None]
        hidden = (column > own) | ((column == 0) & (own > 0))
        if window is not None:
            hidden |= (column <= own - window) & (own > 0)
        mask = torch.zeros(hidden.shape, dtype=self._model.dtype, device=places.device)
        mask = mask.masked_fill_(hidden, float("-inf"))[:, None]
        mask.tiled = {}  # type: ignore[attr-defined]
        return mask


class _Line(DynamicLayer):  # type: ignore[no-untyped-call]
    """A layer's keys and values of all answers, which stay where they are."""

    places: torch.Tensor  # (lines, T): the columns of what is written next
    columns: int  # that a step looks at

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._buffers: list[torch.Tensor] = []

    def begin(self, number: int, states: torch.Tensor, places: torch.Tensor, size: tuple[int, int]) -> None:
        """Write the keys, or the values, of a batch (B, G, L, D) into their columns (B, L)."""
        if number == len(self._buffers):
            self._buffers.append(states.new_empty((size[0], states.shape[1], size[1], states.shape[3])))
        # Zeros: what no token sees is multiplied by 0, and must be a number.
        buffer = self._buffers[number].zero_()[: len(states)]
        buffer.scatter_(2, _of(places.to(states.device), states), states)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """With the new ones (lines, G, T, D) those of all columns of a step."""
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[: len(states)].scatter_(2, _of(self.places, states), states)
        keys, values = (buffer[: len(key_states), :, : self.columns] for buffer in self._buffers)
        return keys, values

    def move(self, slots: torch.Tensor) -> None:
        """The lines in these slots are the first ones from now on."""
        for buffer in self._buffers:
            buffer[: len(slots)] = buffer[slots.to(buffer.device)]

    def get_seq_length(self) -> int:
        return 0  # a step says its tokens' positions itself


def _of(places: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    return places[:, None, :, None].expand(states.shape)


def _rounded(n: int, to: int) -> int:
    return -(-n // to) * to


def _size_of(answers: int, tokens: int) -> tuple[int, int]:
    """Lines and columns of the buffers of so many answers, each with its prompt of so many tokens at most."""
    lines = _rounded(answers, _LINES) if answers > _LINES else 1 << (answers - 1).bit_length()
    columns = tokens + 1
    return lines, _rounded(columns, max(32, 1 << columns.bit_length() - 3))  # so that texts a little longer fit too


def tokens_held(answers: int, tokens: int) -> int:
    """Of how many tokens the buffers for these have keys and values."""
    lines, columns = _size_of(answers, tokens)
    return lines * columns


def captured_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers asks for it: (B, H, T, D), (B, G, K, D) and (B, G, K, E) to (B, T, H, E). For inference only.

    Raises:
        NotImplementedError: as `attention.handed_on`.
    """
    tiled = attention.handed_on(attention_mask, "tiled", query, key, others)  # a layer's window is in its mask
    lines, n_heads, n_tokens, size = query.shape
    groups = key.shape[1]
    heads = n_heads // groups
    if heads not in tiled:  # made once for all layers
        tiled[heads] = attention_mask.repeat(1, 1, heads, 1)
    queries = query.reshape(lines, groups, heads * n_tokens, size)
    if softcap is None:
        found = F.scaled_dot_product_attention(queries, key, value, attn_mask=tiled[heads], scale=scaling)
    else:
        scores = queries @ key.transpose(2, 3) * (1 / math.sqrt(size) if scaling is None else scaling)
        scores = (scores / softcap).tanh() * softcap + tiled[heads]
        found = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype) @ value
    return found.reshape(lines, n_heads, n_tokens, -1).transpose(1, 2), None


AttentionInterface.register(NAME, captured_attention)


def fits(model: Any) -> bool:
    """Whether answers of such a model are written by `Steps`; whether the model takes it is to be tried out."""
    return bool(model.device.type == "cuda") and len(devices_of(model)) == 1
