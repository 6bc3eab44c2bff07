"""Attention of a forward of the tree: over the keys that some query of a block may see.

torch's own kernel reads a mask of all queries and keys, computes what it hides, and takes a copy of the keys for every
head that shares them. Here the queries of a forward are cut into blocks. Depth first, what the first query of a block
may see beyond the block is all that any of them may see beyond it: the other keys are left out. The heads that share
keys are multiplied with them as one matrix, and only keys that some queries of the block see and others do not are
masked.

On a CPU that is products in float32: scores that are rounded to bfloat16 move what a model says twice as far as its
other roundings. Where the processor multiplies tiles of bfloat16 (AMX), torch's kernel keeps the scores of a block in
float32 and takes a third of the time; there a model in bfloat16 has it, block by block.

On a GPU a model in half precision has a kernel for all that (`kernel`), where Triton is there to compile it. Others, as
those in float32, have torch's, block by block; what that one does not do, such as a softcap, is computed there as
transformers does it.

A model is told to use it by the name under which transformers finds it, during a forward of the tree alone: what it
does to write answers, or to score a prompt alone, stays as it was.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any, Protocol, Self

import torch
from torch.nn import functional as F
from transformers import AttentionInterface

from llm.engine.cards import devices_of
from llm.engine.onednn import product
from llm.engine.tree import TokenTree, visible

NAME = "palate_tree"
_HALVES = {torch.bfloat16, torch.float16}
# Queries of a block: more of them compute more that is masked, fewer make products too small to be fast.
_ROWS, _LEAST_ROWS = 128, 16
_ROWS_OF_A_GPU = 512
# Scores of a block, its heads together: more of them leave the processor's cache.
_SCORES = 1_500_000
# Keys are copied together where fewer than this share of those between the first and the last are needed.
_WORTH_GATHERING = 0.8
# Of these arguments what they do is not done here.
UNKNOWN = ("position_bias", "s_aux", "head_mask", "cache")


class Way(StrEnum):
    """How the tree is attended to here. Which ones a model takes is tried out when it is loaded."""

    KERNEL = "kernel"
    BLOCKS = "blocks"


@dataclass(frozen=True)
class Block:
    """The queries of a forward at `rows`, and the keys that any of them may see: a range, or places (K,).

    `mask` (R, K - `masked_from`) is added to their scores, 0 or -inf; None where each sees all of these keys.
    """

    rows: slice
    keys: slice | torch.Tensor
    masked_from: int
    mask: torch.Tensor | None
    _tiled: dict[tuple[int, torch.dtype], torch.Tensor] = field(default_factory=dict, init=False, compare=False)

    def of(self, states: torch.Tensor) -> torch.Tensor:
        """Those of the keys or values (H, K, D) that the block needs."""
        return states[:, self.keys] if isinstance(self.keys, slice) else states.index_select(1, self.keys)

    def on(self, device: torch.device) -> Block:
        return replace(
            self,
            keys=self.keys if isinstance(self.keys, slice) else self.keys.to(device),
            mask=None if self.mask is None else self.mask.to(device),
        )

    def tiled(self, groups: int, dtype: torch.dtype) -> torch.Tensor | None:
        """The mask as torch's kernel wants it: of all keys, and for `groups` heads one below the other (groups x R, K).
        Made once for all layers."""
        if self.mask is None:
            return None
        if (groups, dtype) not in self._tiled:
            mask = F.pad(self.mask, (self.masked_from, 0)).to(dtype)
            self._tiled[groups, dtype] = mask.repeat(groups, 1)
        return self._tiled[groups, dtype]


class Seen(Protocol):
    """What the queries of a forward see, and attend to."""

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        scaling: float | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """(H, T, D), (G, K, D), (G, K, E) to (1, T, H, E)."""

    def on(self, device: torch.device) -> Self:
        """The same on another device."""


class Blocks(list[Block]):
    """Of a forward, in the order of its queries."""

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        scaling: float | None,
        softcap: float | None,
    ) -> torch.Tensor:
        gpu = _on_a_gpu(query)
        if (gpu or by_tiles(query.dtype)) and softcap is None and query.shape[-1] == value.shape[-1]:
            return _by_sdpa(query, key, value, self, scaling)
        if gpu:
            return _as_transformers(query, key, value, self, scaling, softcap)
        return _by_products(query, key, value, self, scaling, softcap)

    def on(self, device: torch.device) -> Blocks:
        return Blocks(block.on(device) for block in self)


def seen_by(
    way: Way, tree: TokenTree, queries: torch.Tensor, keys: torch.Tensor, window: int | None, *, groups: int
) -> Seen:
    """What the queries of a forward see, by one of the ways. See `cut`."""
    if way == Way.KERNEL:
        from llm.engine import kernel

        return kernel.seen_by(tree, queries, keys, window)
    return cut(tree, queries, keys, window, groups=groups)


def cut(tree: TokenTree, queries: torch.Tensor, keys: torch.Tensor, window: int | None, *, groups: int) -> Blocks:
    """The blocks of a forward.

    `queries` (T,) are consecutive nodes, `keys` (K,) ascending ones that end with them, and of which those before them
    hold all their ancestors; `window`: how far back they look, None without bound; `groups`: heads that share a key.
    All tensors are on one device, and so are the blocks'.
    """
    few = max(_LEAST_ROWS, min(_ROWS, _SCORES // (groups * len(keys))))
    rows = _ROWS_OF_A_GPU if _on_a_gpu(queries) else few
    return Blocks(
        _block(tree, queries, keys, window, slice(begin, min(begin + rows, len(queries))))
        for begin in range(0, len(queries), rows)
    )


def _block(tree: TokenTree, queries: torch.Tensor, keys: torch.Tensor, window: int | None, rows: slice) -> Block:
    those = queries[rows]
    needed = (tree.ends[keys] > those[0]) & (keys <= those[-1])
    if window is not None:
        needed &= tree.positions[keys] > tree.positions[those].min() - window
    places = needed.nonzero()[:, 0]
    first, last = int(places[0]), int(places[-1])
    dense = len(places) >= _WORTH_GATHERING * (last + 1 - first)
    chosen = slice(first, last + 1) if dense else places
    seen = visible(tree, those, keys[chosen], window)
    seen_by_all = seen.all(0)
    if seen_by_all.all():
        return Block(rows, chosen, masked_from=len(seen_by_all), mask=None)
    masked_from = int((~seen_by_all).nonzero()[0, 0])
    mask = torch.zeros((len(those), seen.shape[1] - masked_from), device=seen.device)
    return Block(rows, chosen, masked_from, mask.masked_fill_(~seen[:, masked_from:], float("-inf")))


def mask_of(
    seen: Seen, n_queries: int, n_keys: int, dtype: torch.dtype, device: torch.device | None = None
) -> torch.Tensor:
    """What the model hands on to its attention as a mask (1, 1, T, K), and takes up no memory: it holds what is `seen`,
    and its numbers are none, so that a layer that reads them instead cannot go unnoticed. So it does where it is sent
    on to layers of another card."""
    mask = torch.full((1, 1, 1, 1), float("nan"), dtype=dtype, device=device).expand(1, 1, n_queries, n_keys)
    return _holding(mask, {mask.device: seen})


def _holding(mask: torch.Tensor, seen: dict[torch.device, Seen]) -> torch.Tensor:
    """`seen`: the same on each device that has been asked for, made once for all its layers."""
    mask.seen = seen[mask.device]  # type: ignore[attr-defined]
    mask.to = partial(_sent_on, seen, tuple(mask.shape), mask.dtype)  # type: ignore[method-assign]
    return mask


def _sent_on(
    seen: dict[torch.device, Seen], shape: tuple[int, ...], dtype: torch.dtype, device: Any, **_how: Any
) -> torch.Tensor:
    moved = torch.full((1, 1, 1, 1), float("nan"), dtype=dtype, device=device).expand(shape)
    if moved.device not in seen:
        seen[moved.device] = next(iter(seen.values())).on(moved.device)
    return _holding(moved, seen)


def handed_on(mask: Any, name: str, query: torch.Tensor, key: torch.Tensor, others: Mapping[str, Any]) -> Any:
    """What a mask of ours holds under a name, as it comes to an attention of ours; `others`: its further arguments,
    without those that it does itself.

    Raises:
        NotImplementedError: the model wants something else of its attention, or changed the mask on its way here.
    """
    held = getattr(mask, name, None)
    odd = query.shape[1] % key.shape[1] != 0
    if held is None or odd or any(others.get(unknown) is not None for unknown in UNKNOWN):
        raise NotImplementedError("an attention of its own")
    return held


def tree_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers asks for it: (1, H, T, D), (1, G, K, D), (1, G, K, E) to (1, T, H, E). For inference only.

    Raises:
        NotImplementedError: as `handed_on`, or there is a batch.
    """
    seen: Seen = handed_on(attention_mask, "seen", query, key, others)
    if len(query) != 1:
        raise NotImplementedError("an attention of its own")
    return seen.attend(query[0], key[0], value[0], scaling=scaling, softcap=softcap), None


def _by_products(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    blocks: Sequence[Block],
    scaling: float | None,
    softcap: float | None,
) -> torch.Tensor:
    """As `Blocks.attend`, in float32 on a CPU."""
    n_heads, n_keys = len(query), len(key)
    scaled = query.float() * (1 / math.sqrt(query.shape[-1]) if scaling is None else scaling)
    scaled = scaled.reshape(n_keys, n_heads // n_keys, *scaled.shape[1:])
    key, value = key.float().contiguous(), value.float().contiguous()
    made = value.new_empty((query.shape[1], n_keys, n_heads // n_keys, value.shape[-1]))
    for block in blocks:
        for head, (keys, values) in enumerate(zip(block.of(key), block.of(value), strict=True)):
            queries = scaled[head, :, block.rows]
            scores = product(queries.flatten(0, 1).contiguous(), keys)
            if softcap is not None:
                scores.div_(softcap).tanh_().mul_(softcap)
            if block.mask is not None:
                scores.view(*queries.shape[:2], -1)[..., block.masked_from :].add_(block.mask)
            torch.softmax(scores, -1, out=scores)
            answers = product(scores, values.t())
            made[block.rows, head] = answers.view(*queries.shape[:2], -1).transpose(0, 1)
    return made.flatten(1, 2)[None].to(query.dtype)


def _by_sdpa(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, blocks: Sequence[Block], scaling: float | None
) -> torch.Tensor:
    """(H, T, D), (G, K, D), (G, K, D) to (1, T, H, D): the heads that share keys are more queries of them."""
    n_keys, n_heads = len(key), len(query)
    grouped = query.reshape(n_keys, n_heads // n_keys, *query.shape[1:])
    made = value.new_empty((query.shape[1], n_keys, n_heads // n_keys, value.shape[-1]))
    for block in blocks:
        queries, mask = grouped[:, :, block.rows], block.tiled(n_heads // n_keys, query.dtype)
        answers = F.scaled_dot_product_attention(
            queries.flatten(1, 2)[None],
            block.of(key)[None],
            block.of(value)[None],
            attn_mask=None if mask is None else mask[None, None],
            scale=scaling,
        )
        made[block.rows] = answers.view(*queries.shape[:3], -1).permute(2, 0, 1, 3)
    return made.flatten(1, 2)[None]


def _as_transformers(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    blocks: Sequence[Block],
    scaling: float | None,
    softcap: float | None,
) -> torch.Tensor:
    """(H, T, D), (G, K, D), (G, K, E) to (1, T, H, E), as its eager attention rounds: products in the model's numbers,
    the softmax in float32."""
    n_keys, n_heads = len(key), len(query)
    grouped = query.reshape(n_keys, n_heads // n_keys, *query.shape[1:])
    scaling = 1 / math.sqrt(query.shape[-1]) if scaling is None else scaling
    made = value.new_empty((query.shape[1], n_keys, n_heads // n_keys, value.shape[-1]))
    for block in blocks:
        queries = grouped[:, :, block.rows]
        scores = (queries.flatten(1, 2) @ block.of(key).mT).float().mul_(scaling)
        if softcap is not None:
            scores.div_(softcap).tanh_().mul_(softcap)
        if block.mask is not None:
            scores.view(*queries.shape[:3], -1)[..., block.masked_from :].add_(block.mask)
        answers = scores.softmax(-1).to(value.dtype) @ block.of(value)
        made[block.rows] = answers.view(*queries.shape[:3], -1).permute(2, 0, 1, 3)
    return made.flatten(1, 2)[None]


def _on_a_gpu(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cuda"


@cache
def _has_tiles() -> bool:
    return bool(torch.cpu._is_amx_tile_supported())


def by_tiles(dtype: torch.dtype) -> bool:
    """Whether attention of this dtype is left to torch's kernel, a block at a time."""
    return dtype == torch.bfloat16 and _has_tiles()


AttentionInterface.register(NAME, tree_attention)


def ways_for(model: Any) -> tuple[Way, ...]:
    """The ways for such a model, the fastest first; whether the model heeds one is to be tried out.

    In float32 torch's attention is 2 to 3 times as fast on a GPU as the kernel (docs/benchmarks/gpu.md).
    """
    if takes_kernels(model):
        return Way.KERNEL, Way.BLOCKS
    if model.device.type == "cuda" and model.dtype in {torch.float32, *_HALVES}:
        return (Way.BLOCKS,)
    here = model.device.type == "cpu" and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return (Way.BLOCKS,) if here and model.dtype in {torch.float32, torch.bfloat16} else ()


def why_not(way: Way, model: Any) -> str | None:
    """What is wrong with a way on the model's card, in a sentence; None if nothing is."""
    if way != Way.KERNEL:
        return None
    from llm.engine import kernel

    return kernel.why_not(model)


def takes_kernels(model: Any) -> bool:
    """Whether a model is in half precision on a card of whose matrix units Triton, which is here, makes use: NVIDIA's
    since Ampere (2020). Of others nothing was measured."""
    if model.device.type != "cuda" or model.dtype not in _HALVES:
        return False
    if importlib.util.find_spec("triton") is None or torch.version.hip is not None:
        return False
    return all(torch.cuda.get_device_capability(each) >= (8, 0) for each in devices_of(model))


@contextmanager
def told(model: Any, name: str = NAME) -> Iterator[None]:
    """Within it the model's layers use the attention of that name. One thread at a time may have a model so."""
    configs = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}
    kept = [(config, config._attn_implementation) for config in configs.values()]
    try:
        for config, _ in kept:
            config._attn_implementation = name
        yield
    finally:
        for config, implementation in kept:
            config._attn_implementation = implementation
