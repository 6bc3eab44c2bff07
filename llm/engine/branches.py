"""Prompts fed branch by branch: what they share once, with the model's own cache, which is copied where they part.

For models that take no tree: their layers keep a state that no mask can undo (linear attention, convolutions, chunks),
or they make their positions themselves. No mask and no position is given, so that a branch is to the model what going
on with a text is when it writes.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import DynamicCache

from llm.engine.forwards import Forward, log_probabilities
from llm.engine.tree import TokenSequence, TokenTree, build


def branch_forwards(model: Any, sequences: Sequence[TokenSequence], *, token_budget: int) -> Iterator[Forward]:
    """Feed the tree of all sequences, each node once: forwards of at most `token_budget` tokens, one a branch at least.

    Besides the cache of the branch that is fed there is one of each place above it where prompts part.
    """
    tree = build(sequences)
    ends = tree.ends.tolist()
    finished: dict[int, list[int]] = {}
    for sequence, node in enumerate(tree.finished_at.tolist()):
        finished.setdefault(node, []).append(sequence)
    sums = torch.zeros(len(sequences), dtype=torch.float64)
    takes = _what_it_takes(model)
    # Nodes to go on with, the next one last: with the cache of what is above them, and whether others need that too.
    waiting: list[tuple[int, Any, bool]] = [(node, None, False) for node in _children(ends, -1, len(ends))[::-1]]
    while waiting:
        begin, cache, is_shared = waiting.pop()
        if cache is None:
            cache = DynamicCache(config=model.config)
        elif is_shared:
            cache = copy.deepcopy(cache)
        end = begin + 1
        while end < ends[begin] and ends[end] == ends[end - 1] and end - begin < token_budget:
            end += 1
        _feed(model, tree, begin, end, {takes: cache}, sums)
        done = [sequence for node in range(begin, end) for sequence in finished.get(node, ())]
        yield Forward(tokens=end - begin, finished=dict(zip(done, sums[done].tolist(), strict=True)))
        below = _children(ends, end - 1, ends[end - 1])
        # The last one takes the cache as it is; those before it, which are fed first, copy it.
        waiting += [(node, cache, place > 0) for place, node in enumerate(below[::-1])]


def _feed(model: Any, tree: TokenTree, begin: int, end: int, cache: dict[str, Any], sums: torch.Tensor) -> None:
    """One forward of the nodes from `begin` up to `end`, a path; what it scores is added to `sums`."""
    first, last = torch.searchsorted(tree.scored_at, torch.tensor([begin, end])).tolist()
    places, row = torch.unique(tree.scored_at[first:last] - begin, return_inverse=True)
    logits = model(
        input_ids=tree.tokens[None, begin:end].to(model.device),
        use_cache=True,
        logits_to_keep=places.to(model.device),
        **cache,
    ).logits[0]
    if len(logits) != len(places):
        logits = logits[places.to(logits.device)]  # of a model that gives those of all places, whatever it is asked for
    sums.index_add_(0, tree.scored_for[first:last], log_probabilities(logits, row, tree.scored_token[first:last]))


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
