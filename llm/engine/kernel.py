"""Attention of a forward of the tree on a GPU: a kernel that skips the keys which no query of a block sees.

No mask of queries and keys is kept for it: whether a query sees a key is told by three numbers of the key and two of
the query, where the scores are. A softcap, such as Gemma 2's, is computed there too. The kernel adds up in float32,
block by block of keys, as Dao and others do it (FlashAttention). Triton, which torch brings for GPUs, compiles it when
it is first needed; that takes some seconds, and a C compiler. Without one a model has `attention`'s blocks.

It was held against torch's FlexAttention, whose kernel for the same blocks took 3 times as long
(docs/benchmarks/gpu.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import triton
import triton.language as tl
from torch.nn import functional as F

from llm.engine.heads import heads_of
from llm.engine.tree import TokenSequence, TokenTree, build, visible

# Queries whose keys are looked through at a time, so that a long forward takes no more memory for it.
_LOOKED_THROUGH = 1024
# Of what it computes, as a share; bfloat16 by itself is 0.002 off.
_MOST_OFF = 0.02


@dataclass(frozen=True)
class Tile:
    """What one program of the kernel computes at a time: `rows` of queries by `columns` of keys."""

    rows: int
    columns: int
    warps: int
    stages: int


def tile_for(size: int, itemsize: int) -> Tile:
    """The fastest of those tried on an H200 that fits the memory of smaller cards too (100 kB a block of threads).
    `size`: of a head."""
    if size * itemsize > 512:
        return Tile(32, 32, 4, 1)
    return Tile(64, 64 if size * itemsize == 256 else 32, 4, 2)


@dataclass(frozen=True)
class Seen:
    """What each of T queries sees of K keys. All tensors are int32, where it is used; the tree may lie
    elsewhere."""

    queries: torch.Tensor  # (T,) node numbers
    reaches: torch.Tensor  # (T,) the first position that each sees
    keys: torch.Tensor  # (K,) node numbers
    ends: torch.Tensor  # (K,) one past the last node that sees each
    positions: torch.Tensor  # (K,)
    tree: TokenTree
    window: int | None
    _listed: dict[tuple[int, int], tuple[torch.Tensor, torch.Tensor]] = field(
        default_factory=dict, init=False, compare=False
    )

    def listed(self, tile: Tile) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each block of queries how many blocks of keys it needs (Q,), and the places of blocks, these first (Q, C).
        Made once for all layers; nothing is read back from the GPU."""
        at = tile.rows, tile.columns
        if at not in self._listed:
            parts = torch.split(self.queries, max(1, _LOOKED_THROUGH // tile.rows) * tile.rows)
            needed = torch.cat([_by_blocks(visible(self.tree, part, self.keys, self.window), tile) for part in parts])
            places = torch.argsort(needed.int(), dim=1, descending=True, stable=True)
            counts = needed.sum(1, dtype=torch.int32)
            self._listed[at] = counts.to(self.queries.device), places.int().to(self.queries.device)
        return self._listed[at]

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
        query, key, value = (states if states.stride(2) == 1 else states.contiguous() for states in (query, key, value))
        n_heads, n_queries, size = query.shape
        n_shared, n_keys, value_size = value.shape
        tile = tile_for(max(size, value_size), query.element_size())
        n_listed, listed = self.listed(tile)
        answers = value.new_empty((1, n_queries, n_heads, value_size))
        with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]  # Triton does not look at it
            _attend[(len(n_listed), n_heads)](
                *(query, key, value, answers),
                *(self.queries, self.reaches, self.keys, self.ends, self.positions, n_listed, listed),
                *(n_queries, n_keys, listed.shape[1], n_heads // n_shared),
                1 / math.sqrt(size) if scaling is None else scaling,
                1.0 if softcap is None else softcap,
                *(*query.stride()[:2], *key.stride()[:2], *value.stride()[:2], *answers.stride()[1:3]),
                SIZE=size,
                VALUE_SIZE=value_size,
                WIDTH=_width(size),
                VALUE_WIDTH=_width(value_size),
                ROWS=tile.rows,
                COLUMNS=tile.columns,
                CAPPED=softcap is not None,
                num_warps=tile.warps,
                num_stages=tile.stages,
            )
        return answers

    def on(self, device: torch.device) -> Seen:
        there = {name: getattr(self, name).to(device) for name in ("queries", "reaches", "keys", "ends", "positions")}
        return replace(self, **there)


def seen_by(tree: TokenTree, queries: torch.Tensor, keys: torch.Tensor, window: int | None) -> Seen:
    """As `attention.cut`."""
    positions = tree.positions[queries].int()
    return Seen(
        queries=queries.int(),
        reaches=torch.zeros_like(positions) if window is None else positions - (window - 1),
        keys=keys.int(),
        ends=tree.ends[keys].int(),
        positions=tree.positions[keys].int(),
        tree=tree,
        window=window,
    )


def why_not(model: Any) -> str | None:
    """Try the kernel on the model's card, at heads as it has them and a tree of several blocks: in a sentence what is
    wrong with it; None if nothing is."""
    try:
        off = _off(model)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # of a compiler, of a place that nothing may be written to, of a card
        return f"{type(error).__name__}: {error}"
    return None if off < _MOST_OFF else f"It came out {off:.2g} off."


def _off(model: Any) -> float:
    """From what float32 makes of the same, as a share of it; the worst of two windows."""
    config = model.config.get_text_config()
    heads = heads_of(config)
    softcap = getattr(config, "attn_logit_softcapping", None)
    drawn = torch.Generator().manual_seed(0)
    trunk, *ends = (tuple(torch.randint(1000, (n,), generator=drawn).tolist()) for n in (150, *[30] * 6, 90))
    tree = build([TokenSequence(trunk + end, start=1) for end in ends[:-1]] + [TokenSequence(ends[-1], start=1)])
    nodes = torch.arange(len(tree.tokens), device=model.device)
    there = replace(tree, ends=tree.ends.to(model.device), positions=tree.positions.to(model.device))
    query, key, value = (
        torch.randn((n_heads, len(nodes), heads.size), generator=drawn).to(model.device, model.dtype)
        for n_heads in (heads.n, heads.of_keys, heads.of_keys)
    )
    of_each, values = (states.float().repeat_interleave(heads.sharing, 0) for states in (key, value))
    scores = 2 * query.float() @ of_each.mT / math.sqrt(heads.size)
    scores = scores if softcap is None else softcap * (scores / softcap).tanh()
    off = []
    for window in (None, 40):
        made = seen_by(there, nodes, nodes, window).attend(2 * query, key, value, scaling=None, softcap=softcap)
        seen = visible(there, nodes, nodes, window)
        exact = (scores.masked_fill(~seen, float("-inf")).softmax(-1) @ values).transpose(0, 1)[None]
        off.append(float((made.float() - exact).norm() / exact.norm()))
    return math.nan if any(map(math.isnan, off)) else max(off)


def _by_blocks(seen: torch.Tensor, tile: Tile) -> torch.Tensor:
    """Which blocks of keys hold one that a block of queries sees."""
    n_queries, n_keys = seen.shape
    padded = F.pad(seen, (0, -n_keys % tile.columns, 0, -n_queries % tile.rows))
    return padded.view(-1, tile.rows, padded.shape[1] // tile.columns, tile.columns).any(3).any(1)


def _width(size: int) -> int:
    """Products are of powers of two, of 16 at least."""
    width: int = triton.next_power_of_2(size)
    return max(16, width)


# What differs from one forward to the next; Triton would else compile anew for lengths that 16 divides.
_ANY: Sequence[str] = ("n_queries", "n_keys", "n_places")


@triton.jit(do_not_specialize=_ANY)  # type: ignore[untyped-decorator]
def _attend(  # type: ignore[no-untyped-def]
    queries,
    keys,
    values,
    answers,
    query_nodes,
    reaches,
    key_nodes,
    ends,
    positions,
    n_listed,
    listed,
    n_queries,
    n_keys,
    n_places,
    heads_of_a_key,
    scaling,
    softcap,
    query_head,
    query_row,
    key_head,
    key_row,
    value_head,
    value_row,
    answer_row,
    answer_head,
    SIZE: tl.constexpr,
    VALUE_SIZE: tl.constexpr,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CAPPED: tl.constexpr,
):
    """A block of queries of one head: the blocks of keys that are listed for it, one after the other."""
    block, head = tl.program_id(0), tl.program_id(1).to(tl.int64)  # places of numbers may be over 2**31
    shared = head // heads_of_a_key
    rows = block * ROWS + tl.arange(0, ROWS)
    numbers, value_numbers = tl.arange(0, WIDTH), tl.arange(0, VALUE_WIDTH)
    there = rows < n_queries
    query = tl.load(
        queries + head * query_head + rows[:, None] * query_row + numbers[None, :],
        mask=there[:, None] & (numbers < SIZE)[None, :],
        other=0.0,
    )
    node = tl.load(query_nodes + rows, mask=there, other=0)
    reach = tl.load(reaches + rows, mask=there, other=0)
    highest = tl.full([ROWS], -1.0e30, tl.float32)  # a number, so that what is hidden, -inf, is so much lower
    total = tl.zeros([ROWS], tl.float32)
    made = tl.zeros([ROWS, VALUE_WIDTH], tl.float32)
    for place in range(tl.load(n_listed + block)):
        columns = tl.load(listed + block * n_places + place) * COLUMNS + tl.arange(0, COLUMNS)
        some = columns < n_keys
        key = tl.load(
            keys + shared * key_head + columns[None, :] * key_row + numbers[:, None],
            mask=some[None, :] & (numbers < SIZE)[:, None],
            other=0.0,
        )
        scores = tl.dot(query, key, input_precision="ieee") * scaling
        if CAPPED:
            scores = softcap * (2.0 * tl.sigmoid(2.0 * scores / softcap) - 1.0)  # tanh
        key_node = tl.load(key_nodes + columns, mask=some, other=0)
        end = tl.load(ends + columns, mask=some, other=0)  # of no key: nobody sees it
        position = tl.load(positions + columns, mask=some, other=0)
        sees = (key_node[None, :] <= node[:, None]) & (node[:, None] < end[None, :])
        sees &= position[None, :] >= reach[:, None]
        scores = tl.where(sees, scores * 1.4426950408889634, float("-inf"))  # to the base 2
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        kept = tl.exp2(highest - higher)
        total = total * kept + tl.sum(weights, 1)
        value = tl.load(
            values + shared * value_head + columns[:, None] * value_row + value_numbers[None, :],
            mask=some[:, None] & (value_numbers < VALUE_SIZE)[None, :],
            other=0.0,
        )
        made = made * kept[:, None] + tl.dot(weights.to(value.dtype), value, input_precision="ieee")
        highest = higher
    total = tl.where(there, total, 1.0)
    tl.store(
        answers + rows[:, None] * answer_row + head * answer_head + value_numbers[None, :],
        (made / total[:, None]).to(answers.dtype.element_ty),
        mask=there[:, None] & (value_numbers < VALUE_SIZE)[None, :],
    )
