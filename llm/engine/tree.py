"""Token sequences as a tree, each shared prefix one path: the tokens to feed, and which of them each may see.

The nodes are numbered depth first, so that the descendants of a node are the numbers right after it. `ends` then says
everything about the tree's shape: node j is node i or below it exactly if i <= j < ends[i]. The tree is made of tokens,
not of strings, so a tokeniser that merges across the join of two texts only makes the paths part a token earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from llm.engine.prompt import common_prefix_length


@dataclass(frozen=True)
class TokenSequence:
    """One whole prompt, of which the tokens `ids[start:]` are scored; `start` is at least 1."""

    ids: tuple[int, ...]
    start: int


@dataclass(frozen=True)
class TokenTree:
    """N nodes (tokens to feed), P scored tokens, S sequences; all tensors are int64 on the CPU.

    A scored token hangs on the node that predicts it. Scored tokens are in the order of these nodes.
    """

    tokens: torch.Tensor  # (N,) token id of each node
    positions: torch.Tensor  # (N,) its place in its sequences, from 0
    ends: torch.Tensor  # (N,) one past its last descendant
    scored_at: torch.Tensor  # (P,) node that predicts the scored token, ascending
    scored_token: torch.Tensor  # (P,) token id
    scored_for: torch.Tensor  # (P,) sequence that it belongs to
    finished_at: torch.Tensor  # (S,) last node that a sequence needs


def build(sequences: Sequence[TokenSequence]) -> TokenTree:
    """The tree of all the sequences, each without its last token: nothing is predicted from that one."""
    tokens: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    scored: list[tuple[int, int, int]] = []
    finished_at = [0] * len(sequences)
    path: list[int] = []
    previous: tuple[int, ...] = ()
    # Sorted, each sequence shares with the one before it the longest prefix that it shares with any before it.
    for index in sorted(range(len(sequences)), key=lambda index: sequences[index].ids):
        ids, start = sequences[index].ids, sequences[index].start
        fed = ids[:-1]
        shared = common_prefix_length(previous, fed)
        for node in path[shared:]:
            ends[node] = len(tokens)
        del path[shared:]
        for position in range(shared, len(fed)):
            path.append(len(tokens))
            tokens.append(fed[position])
            positions.append(position)
            ends.append(0)
        scored.extend((path[position - 1], ids[position], index) for position in range(start, len(ids)))
        finished_at[index] = path[-1]
        previous = fed
    for node in path:
        ends[node] = len(tokens)
    scored.sort()
    columns = torch.tensor(scored, dtype=torch.int64).reshape(-1, 3)
    return TokenTree(
        tokens=torch.tensor(tokens, dtype=torch.int64),
        positions=torch.tensor(positions, dtype=torch.int64),
        ends=torch.tensor(ends, dtype=torch.int64),
        scored_at=columns[:, 0].contiguous(),
        scored_token=columns[:, 1].contiguous(),
        scored_for=columns[:, 2].contiguous(),
        finished_at=torch.tensor(finished_at, dtype=torch.int64),
    )


def visible(tree: TokenTree, queries: torch.Tensor, keys: torch.Tensor, window: int | None) -> torch.Tensor:
    """Which key nodes each query node may attend to: itself and its ancestors, the last `window` of them if set.

    Shapes: `queries` (T,) and `keys` (K,) are node numbers, wherever they lie; the answer is bool (T, K), where the
    tree's `ends` and `positions` lie.
    """
    queries, keys = queries.to(tree.ends.device), keys.to(tree.ends.device)
    seen = (keys <= queries[:, None]) & (queries[:, None] < tree.ends[keys])
    if window is not None:
        seen &= tree.positions[queries][:, None] - tree.positions[keys] < window
    return seen
