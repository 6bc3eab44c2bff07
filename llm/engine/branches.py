"""Prompts fed branch by branch: what they share once, with the model's own cache, which is copied where they part.

For models that take no tree: their layers keep a state that no mask can undo (linear attention, convolutions, chunks),
or they make their positions themselves. No mask is given, and positions only if asked for, so that a branch is to the
model what going on with a text is when it writes.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from llm.engine.cards import device_of_places
from llm.engine.forwards import Forward, log_probabilities
from llm.engine.tree import TokenSequence, TokenTree, build


@dataclass(frozen=True)
class _Branch:
    """Nodes to go on with, from `begin` on, with the cache of what is above them, which others need too if `shared`.
    `held`: the node above, which is fed with them; `scores_held`: what it predicts is scored with this branch."""

    begin: int
    cache: Any = None
    shared: bool = False
    held: int | None = None
    scores_held: bool = False


def branch_forwards(
    model: Any,
    sequences: Sequence[TokenSequence],
    *,
    token_budget: int,
    positions: bool = False,
    never_one: bool = False,
) -> Iterator[Forward]:
    """Feed the tree of all sequences, each node once: forwards of at most `token_budget` tokens, one a branch at least.

    Besides the cache of the branch that is fed there is one of each place above it where prompts part.

    With `positions` the model is told each token's place, for those that else count from 0 in each forward.

    With `never_one` no forward has a single token, which some models compute otherwise than several: one that would be
    by itself is fed once more with each of the branches that begin below it, or, where none does, before a token that
    counts for nothing.
    """
    tree = build(sequences)
    ends = tree.ends.tolist()
    finished: dict[int, list[int]] = {}
    for sequence, node in enumerate(tree.finished_at.tolist()):
        finished.setdefault(node, []).append(sequence)
    sums = torch.zeros(len(sequences), dtype=torch.float64)
    takes = _what_it_takes(model)
    waiting = [_Branch(node) for node in _children(ends, -1, len(ends))[::-1]]  # the next one last
    while waiting:
        branch = waiting.pop()
        begin, cache = branch.begin, branch.cache
        held = [] if branch.held is None else [branch.held]
        end = begin + 1
        while end < ends[begin] and ends[end] == ends[end - 1] and len(held) + end - begin < token_budget:
            end += 1
        below = _children(ends, end - 1, ends[end - 1])[::-1]
        if never_one and len(held) + end - begin == 1 and below:
            waiting += [
                _Branch(node, cache, branch.shared or place > 0, held=begin, scores_held=place == len(below) - 1)
                for place, node in enumerate(below)
            ]
            continue
        if cache is None:
            cache = DynamicCache(config=model.config)
        elif branch.shared:
            cache = copy.deepcopy(cache)
        fed = [*held, *range(begin, end)]
        scored = fed if branch.scores_held else fed[len(held) :]
        idle = never_one and len(fed) == 1
        given = {takes: cache}
        if positions:
            start = int(tree.positions[fed[0]])
            given["position_ids"] = torch.arange(start, start + len(fed) + idle, device=model.device)[None]
        _feed(model, tree, fed, scored, given, sums, idle=idle)
        done = [sequence for node in scored for sequence in finished.get(node, ())]
        yield Forward(tokens=len(fed), finished=dict(zip(done, sums[done].tolist(), strict=True)))
        # The last one takes the cache as it is; those before it, which are fed first, copy it.
        waiting += [_Branch(node, cache, place > 0) for place, node in enumerate(below)]


def _feed(
    model: Any,
    tree: TokenTree,
    fed: Sequence[int],
    scored: Sequence[int],
    given: dict[str, Any],
    sums: torch.Tensor,
    *,
    idle: bool,
) -> None:
    """One forward of the nodes `fed`, a path; what those of them that are `scored`, the last ones, predict is added to
    `sums`. `given`: the model's other arguments; `idle`: with a token behind them, after which the cache is of no
    use."""
    nodes = torch.tensor(fed)
    ids = tree.tokens[nodes]
    skipped = len(fed) - len(scored)
    bounds = torch.tensor([[node, node + 1] for node in scored])
    spans = torch.searchsorted(tree.scored_at, bounds).tolist()
    chosen = torch.tensor([place for first, last in spans for place in range(first, last)], dtype=torch.int64)
    at = torch.tensor(
        [skipped + number for number, (first, last) in enumerate(spans) for _ in range(first, last)], dtype=torch.int64
    )
    places, row = torch.unique(at, return_inverse=True)
    logits = model(
        input_ids=torch.cat([ids, ids[-1:]] if idle else [ids])[None].to(model.device),
        use_cache=True,
        logits_to_keep=places.to(device_of_places(model)),
        **given,
    ).logits[0]
    if len(logits) != len(places):
        logits = logits[places.to(logits.device)]  # of a model that gives those of all places, whatever it is asked for
    sums.index_add_(0, tree.scored_for[chosen], log_probabilities(logits, row, tree.scored_token[chosen]).cpu())


def _children(ends: Sequence[int], node: int, end: int) -> list[int]:
    found, child = [], node + 1
    while child < end:
        found.append(child)
        child = ends[child]
    return found


def _what_it_takes(model: Any) -> str:
    """What the model calls its cache."""
    named = inspect.signature(model.forward).parameters
    return "cache_params" if "cache_params" in named and "past_key_values" not in named else "past_key_values"
