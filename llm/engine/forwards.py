"""Forwards of a model: a tree of prompts, each token once, or each prompt alone; and what decides between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import DynamicCache

from llm.engine import attention
from llm.engine.cards import device_of_places
from llm.engine.heads import heads_of
from llm.engine.tree import TokenSequence, TokenTree, build, visible

# Logits whose exponentials are summed in one go on a CPU: of a megabyte, which its cache holds.
_SUMMED_AT_ONCE = 2**18


@dataclass(frozen=True)
class Forward:
    """One run of the model: the tokens it was fed, and the sequences whose log-probability is complete with it."""

    tokens: int
    finished: dict[int, float]


def tree_forwards(
    model: Any,
    sequences: Sequence[TokenSequence],
    *,
    token_budget: int,
    own_attention: attention.Way | None = None,
    tree: TokenTree | None = None,
) -> Iterator[Forward]:
    """Feed the tree of all sequences, each node once; by one of the ways of `attention`, else by the model's own.

    `tree`: that of the sequences, where it was made before. A GPU computes a forward while the next one is prepared
    here, and what comes of it is read one forward later; only blocks wait for it, whose cutting reads numbers back.
    """
    tree = build(sequences) if tree is None else tree
    config = model.config.get_text_config()
    windows = attention_windows(config)
    there = replace(  # masks are made where they are used
        tree, **{name: sent(getattr(tree, name), model.device) for name in ("tokens", "positions", "ends")}
    )
    cache = DynamicCache()  # without a configuration all its layers keep everything; the masks do the windows
    cached = torch.empty(0, dtype=torch.int64)  # node numbers
    results = _Results(tree)
    for begin in range(0, len(tree.tokens), token_budget):
        end = min(begin + token_budget, len(tree.tokens))
        cached = _keep_ancestors(cache, cached, tree, begin)
        nodes = torch.arange(begin, end, device=model.device)
        keys = torch.cat([sent(cached, model.device), nodes])
        masks = {
            kind: _own(there, nodes, keys, window, model, own_attention)
            if own_attention
            else _additive(visible(there, nodes, keys, window), model.dtype)
            for kind, window in windows.items()
        }
        first, last = torch.searchsorted(tree.scored_at, torch.tensor([begin, end])).tolist()
        places, row = torch.unique(tree.scored_at[first:last] - begin, return_inverse=True)
        with attention.told(model) if own_attention else nullcontext():
            output = model(
                input_ids=there.tokens[None, begin:end],
                position_ids=there.positions[None, begin:end],
                # Models whose layers differ take a mask a kind of layer, the others a single one.
                attention_mask=masks if layer_kinds(config) else next(iter(masks.values())),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=sent(places, device_of_places(model)),
            )
        cached = torch.cat([cached, torch.arange(begin, end)])
        logprobs = log_probabilities(output.logits[0], row, tree.scored_token[first:last])
        results.add(begin, end, tree.scored_for[first:last], logprobs)
        del output
        yield from results.read(all_but=1 if model.device.type == "cuda" else 0)
    yield from results.read()


def sent(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Of the CPU, on another device, which goes on meanwhile with what it was given before."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


class _Results:
    """What came of the forwards of a tree, in their order, and is added up as it is read."""

    def __init__(self, tree: TokenTree) -> None:
        self._sums = torch.zeros(len(tree.finished_at), dtype=torch.float64)
        self._finished_at = tree.finished_at.tolist()
        self._waiting: deque[tuple[int, int, torch.Tensor, _Numbers]] = deque()

    def add(self, begin: int, end: int, scored_for: torch.Tensor, logprobs: torch.Tensor) -> None:
        """Of the tokens that the nodes from `begin` to `end` predict, and of which sequence each is."""
        self._waiting.append((begin, end, scored_for, _Numbers(logprobs)))

    def read(self, *, all_but: int = 0) -> Iterator[Forward]:
        while len(self._waiting) > all_but:
            begin, end, scored_for, numbers = self._waiting.popleft()
            self._sums.index_add_(0, scored_for, numbers.arrived())
            done = [index for index, node in enumerate(self._finished_at) if begin <= node < end]
            yield Forward(tokens=end - begin, finished=dict(zip(done, self._sums[done].tolist(), strict=True)))


class _Numbers:
    """Numbers on their way from a GPU, which goes on meanwhile; those of a CPU are here."""

    def __init__(self, numbers: torch.Tensor) -> None:
        self._event = None
        if numbers.device.type != "cuda":
            self._numbers = numbers.cpu()
        else:
            self._numbers = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
            self._numbers.copy_(numbers, non_blocking=True)
            self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._event.record(torch.cuda.current_stream(numbers.device))

    def arrived(self) -> torch.Tensor:
        if self._event is not None:
            self._event.synchronize()
        return self._numbers


def alone_forwards(
    model: Any, sequences: Sequence[TokenSequence], *, token_budget: int, pads: bool = True
) -> Iterator[Forward]:
    """Feed every sequence whole, those of like length together, padded at the right where causality hides it; with
    `pads` false one at a time. What is encoded as a long text is not padded with what is not."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index].ids), reverse=True)
    borders = _borders(model.config.get_text_config())
    while order:
        longest = len(sequences[order[0]].ids) - 1
        size = max(1, token_budget // longest) if pads else 1
        least = max((border for border in borders if border < longest), default=0)
        batch = [index for index in order[:size] if len(sequences[index].ids) - 1 > least]
        order = order[len(batch) :]
        fed = torch.zeros(len(batch), longest, dtype=torch.int64)
        for line, index in enumerate(batch):
            ids = sequences[index].ids[:-1]
            fed[line, : len(ids)] = torch.tensor(ids)
        first = min(sequences[index].start - 1 for index in batch)
        logits = model(
            input_ids=fed.to(model.device),
            use_cache=False,
            logits_to_keep=torch.arange(first, longest, device=device_of_places(model)),
        ).logits
        if logits.shape[1] != longest - first:
            logits = logits[:, first:]  # of a model that gives those of all places, whatever it is asked for
        finished = {}
        for line, index in enumerate(batch):
            ids, start = sequences[index].ids, sequences[index].start
            places = torch.arange(start - 1, len(ids) - 1) - first
            finished[index] = float(log_probabilities(logits[line], places, torch.tensor(ids[start:])).sum())
        yield Forward(tokens=fed.numel(), finished=finished)


def attention_windows(config: Any) -> dict[str, int | None]:
    """The kinds of attention of a model and how far each looks back."""
    window = getattr(config, "sliding_window", None)
    kinds = set(layer_kinds(config)) or {"sliding_attention" if window else "full_attention"}
    return {kind: window if kind == "sliding_attention" else None for kind in sorted(kinds)}


def layer_kinds(config: Any) -> list[str]:
    return getattr(config, "layer_types", None) or []


def rope_kinds(config: Any) -> set[str]:
    parameters = getattr(config, "rope_parameters", None) or {}
    # One dictionary, or one a kind of layer.
    return {part.get("rope_type", "default") for part in (parameters, *parameters.values()) if isinstance(part, dict)}


def _borders(config: Any) -> set[int]:
    """Lengths from which on a model encodes all positions of a text otherwise."""
    if "longrope" not in rope_kinds(config):
        return set()
    parameters = getattr(config, "rope_parameters", None) or {}
    parts = [config.to_dict(), parameters, *parameters.values()]
    told = (part.get("original_max_position_embeddings") for part in parts if isinstance(part, dict))
    return {value for value in told if isinstance(value, int)}


def _keep_ancestors(cache: Any, cached: torch.Tensor, tree: TokenTree, node: int) -> torch.Tensor:
    """Drop from the cache what `node` does not descend from; the numbers of the nodes that stay."""
    kept = tree.ends[cached] > node
    if not kept.all():
        places = {device: sent(kept.nonzero()[:, 0], device) for device in {each.keys.device for each in cache.layers}}
        for layer in cache.layers:
            layer.keys = layer.keys.index_select(-2, places[layer.keys.device])
            layer.values = layer.values.index_select(-2, places[layer.keys.device])
    return cached[kept]


def _own(
    tree: TokenTree,
    nodes: torch.Tensor,
    keys: torch.Tensor,
    window: int | None,
    model: Any,
    way: attention.Way,
) -> torch.Tensor:
    """The same as `_additive` for our own attention."""
    sharing = heads_of(model.config.get_text_config()).sharing
    seen = attention.seen_by(way, tree, nodes, keys, window, groups=sharing)
    return attention.mask_of(seen, len(nodes), len(keys), model.dtype, model.device)


def _additive(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The mask that the models add to their attention scores, shape (1, 1, T, K), where `seen` is."""
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[None, None]


def log_probabilities(logits: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """log P of `tokens` (P,) under the `rows` (P,) of `logits` (R, V), float64, where these lie.

    Lifted to float32 before the softmax: in bfloat16 different options come out equal.
    """
    log_sums = torch.empty(len(logits), device=logits.device)
    at_once = 256 if logits.device.type == "cuda" else max(1, _SUMMED_AT_ONCE // logits.shape[-1])
    for begin in range(0, len(logits), at_once):  # a float32 copy of all of them at once would be the peak of memory
        log_sums[begin : begin + at_once] = logits[begin : begin + at_once].float().logsumexp(-1)
    rows, tokens = sent(rows, logits.device), sent(tokens, logits.device)
    return (logits[rows, tokens].float() - log_sums[rows]).double()
