"""Cloze scoring: log P(option | prompt) for every option of every cell, each token of the rows' prompt trees fed once.

The tree of all rows of a call is fed depth first in forwards of at most `token_budget` tokens. The cache of keys and
values holds, between two forwards, the ancestors of the next token and nothing else. So memory is bounded by the
model's context and the budget, whatever the number of rows, cells and options: keys and values of (context + budget)
tokens, one attention mask of budget x (context + budget) numbers, logits of at most `budget` positions.

A prompt scored alone and in the tree differ by rounding only: about 1e-5 nat in float32. In bfloat16 both carry an
error of a few tenths of a nat, and where the forwards are cut moves it: scores repeat exactly if a call's rows do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from annotation.sentences import gettext as _
from judges.engine.encoding import PromptEncoder
from judges.engine.prompt import CellPrompt, OnProgress, OptionScore, PromptTooLong, RowPrompt, RowScores
from judges.engine.tree import TokenSequence, TokenTree, build, visible

# A forward this small that does not fit says that the model itself fills the memory.
LEAST_TOKEN_BUDGET = 32


@dataclass(frozen=True)
class Forward:
    """One run of the model: the tokens it was fed, and the sequences whose log-probability is complete with it."""

    tokens: int
    finished: dict[int, float]


class ClozeScorer:
    """Scores rows with one causal language model of transformers and its tokeniser.

    `token_budget` bounds the tokens of one forward: on a CPU a few hundred are as fast as more and waste less on
    attention, a GPU wants thousands. Where a forward does not fit a GPU's memory it is halved, for good, and the call
    begins anew. `alone_because` is None where the model takes the tree, else the reason why each
    prompt is scored alone instead, which is as right and slower: a kind of layer whose state is no cache of keys
    and values, or a model that did not pass the probe that is run at construction.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, token_budget: int, terminator: str = "\n", chat_template: bool = False
    ) -> None:
        self._model = model
        self.token_budget = token_budget
        # Models without position embeddings (ALiBi, recurrent ones) name no limit.
        self._context = getattr(model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
        self.encoder = PromptEncoder(tokenizer, terminator=terminator, chat_template=chat_template)
        self.alone_because = why_not_a_tree(model)

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """The scores of each row, or, in the place of a row that does not fit the model's context, what to say of it.

        Raises, before anything is computed:
            OptionsNotPrefixFree: an option of a cell begins another one.
        And later:
            FloatingPointError: the model returned something that is not a number.
            torch.OutOfMemoryError: not even `LEAST_TOKEN_BUDGET` tokens fit.
            Whatever `on_progress` raises.
        """
        while True:
            try:
                if self.alone_because is not None:
                    return self.score_each_prompt_alone(rows, on_progress)
                return self._score(rows, on_progress, tree_forwards, self.token_budget)
            except torch.OutOfMemoryError:
                if self.token_budget <= LEAST_TOKEN_BUDGET:
                    raise
                self.token_budget = max(self.token_budget // 2, LEAST_TOKEN_BUDGET)
            # Out of the handler, where the error's traceback keeps the failed forward's tensors.
            torch.cuda.empty_cache()  # nothing happens where there is no GPU

    def score_each_prompt_alone(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None, *, token_budget: int | None = None
    ) -> list[RowScores | PromptTooLong]:
        """The same by feeding every whole prompt, in padded batches of at most `token_budget` tokens; one prompt at
        least. This is the reference that `score` is held against, and the way for models that take no tree."""
        return self._score(rows, on_progress, alone_forwards, token_budget or self.token_budget)

    def _score(
        self,
        rows: Sequence[RowPrompt],
        on_progress: OnProgress | None,
        forwards: Callable[..., Iterator[Forward]],
        token_budget: int,
    ) -> list[RowScores | PromptTooLong]:
        sequences: list[TokenSequence] = []
        cell_of: list[int] = []  # for each sequence
        left: list[int] = []  # for each cell, its sequences still to come
        # For each row: why not, or for each cell, the sequences' indices: (with evidence, without).
        plan: list[PromptTooLong | list[tuple[CellPrompt, range, range]]] = []
        for row in rows:
            encoded = self.encoder.encode(row)
            longest = max((len(sequence.ids) - 1 for cell in encoded for part in cell for sequence in part), default=0)
            if longest > self._context:
                plan.append(PromptTooLong(tokens=longest, context=self._context))
                continue
            cells = []
            for cell, (conditional, unconditional) in zip(row.cells, encoded, strict=True):
                first = len(sequences)
                middle, last = first + len(conditional), first + len(conditional) + len(unconditional)
                sequences += [*conditional, *unconditional]
                cell_of += [len(left)] * (last - first)
                left.append(last - first)
                cells.append((cell, range(first, middle), range(middle, last)))
            plan.append(cells)

        logprobs = [0.0] * len(sequences)
        tokens_fed = cells_done = 0
        with torch.inference_mode():
            for forward in forwards(self._model, sequences, token_budget=token_budget):
                tokens_fed += forward.tokens
                for index, logprob in forward.finished.items():
                    if not math.isfinite(logprob):
                        raise FloatingPointError(_("The model returned something that is not a number."))
                    logprobs[index] = logprob
                    left[cell_of[index]] -= 1
                    cells_done += left[cell_of[index]] == 0
                if on_progress is not None:
                    on_progress(tokens_fed, cells_done)

        return [
            entry
            if isinstance(entry, PromptTooLong)
            else tuple(_option_scores(cell, sequences, logprobs, *indices) for cell, *indices in entry)
            for entry in plan
        ]


def _option_scores(
    cell: CellPrompt, sequences: Sequence[TokenSequence], logprobs: Sequence[float], conditional: range, without: range
) -> tuple[OptionScore, ...]:
    return tuple(
        OptionScore(
            logprob=logprobs[index],
            n_tokens=len(sequences[index].ids) - sequences[index].start,
            n_characters=len(option),
            unconditional=logprobs[without[place]] if without else None,
        )
        for place, (option, index) in enumerate(zip(cell.options, conditional, strict=True))
    )


def tree_forwards(model: Any, sequences: Sequence[TokenSequence], *, token_budget: int) -> Iterator[Forward]:
    """Feed the tree of all sequences, each node once."""
    tree = build(sequences)
    windows = _windows(model.config.get_text_config())
    cache = DynamicCache()  # without a configuration all its layers keep everything; the masks do the windows
    cached = torch.empty(0, dtype=torch.int64)  # node numbers
    sums = torch.zeros(len(sequences), dtype=torch.float64)
    finished_at = tree.finished_at.tolist()
    for begin in range(0, len(tree.tokens), token_budget):
        end = min(begin + token_budget, len(tree.tokens))
        cached = _keep_ancestors(cache, cached, tree, begin)
        nodes = torch.arange(begin, end)
        keys = torch.cat([cached, nodes])
        masks = {
            kind: _additive(visible(tree, nodes, keys, window), model.dtype, model.device)
            for kind, window in windows.items()
        }
        first, last = torch.searchsorted(tree.scored_at, torch.tensor([begin, end])).tolist()
        places, row = torch.unique(tree.scored_at[first:last] - begin, return_inverse=True)
        output = model(
            input_ids=tree.tokens[None, begin:end].to(model.device),
            position_ids=tree.positions[None, begin:end].to(model.device),
            # Models whose layers differ take a mask a kind of layer, the others a single one.
            attention_mask=masks if _layer_kinds(model.config.get_text_config()) else next(iter(masks.values())),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=places.to(model.device),
        )
        cached = keys
        logprobs = _log_probabilities(output.logits[0], row, tree.scored_token[first:last])
        sums.index_add_(0, tree.scored_for[first:last], logprobs)
        done = [index for index, node in enumerate(finished_at) if begin <= node < end]
        yield Forward(tokens=end - begin, finished=dict(zip(done, sums[done].tolist(), strict=True)))


def alone_forwards(model: Any, sequences: Sequence[TokenSequence], *, token_budget: int) -> Iterator[Forward]:
    """Feed every sequence whole, those of like length together, padded at the right where causality hides it."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index].ids), reverse=True)
    while order:
        longest = len(sequences[order[0]].ids) - 1
        size = max(1, token_budget // longest)
        batch, order = order[:size], order[size:]
        fed = torch.zeros(len(batch), longest, dtype=torch.int64)
        for line, index in enumerate(batch):
            ids = sequences[index].ids[:-1]
            fed[line, : len(ids)] = torch.tensor(ids)
        first = min(sequences[index].start - 1 for index in batch)
        logits = model(
            input_ids=fed.to(model.device),
            use_cache=False,
            logits_to_keep=torch.arange(first, longest, device=model.device),
        ).logits
        finished = {}
        for line, index in enumerate(batch):
            ids, start = sequences[index].ids, sequences[index].start
            places = torch.arange(start - 1, len(ids) - 1) - first
            finished[index] = float(_log_probabilities(logits[line], places, torch.tensor(ids[start:])).sum())
        yield Forward(tokens=fed.numel(), finished=finished)


def why_not_a_tree(model: Any) -> str | None:
    """Why this model cannot be fed a tree, in a sentence; None if it can."""
    config = model.config.get_text_config()
    if strange := set(_layer_kinds(config)) - {"full_attention", "sliding_attention"}:
        return f"The model has layers of the kind {', '.join(sorted(strange))}."
    if model.config._attn_implementation not in {"sdpa", "eager"}:
        return f"The attention “{model.config._attn_implementation}” takes no mask of our own."
    # These scale positions by the longest one in a forward, which the tree's forwards do not share with the prompts'.
    if _rope_kinds(config) & {"dynamic", "longrope"}:
        return "The model's position encoding depends on the length of the prompt."
    return _probe(model)


def _probe(model: Any) -> str | None:
    """Score a small tree both ways: whether a model heeds masks and positions shows in no configuration."""
    generator = torch.Generator().manual_seed(0)

    def draw(n: int) -> tuple[int, ...]:
        return tuple(torch.randint(model.config.get_text_config().vocab_size, (n,), generator=generator).tolist())

    trunk = draw(8)
    branches = [trunk + draw(5) for _ in range(2)]
    sequences = [TokenSequence(branch + draw(6), start=13) for branch in branches for _ in range(2)]
    with torch.inference_mode():
        alone = _scores(alone_forwards(model, sequences, token_budget=1))
        try:
            # The small budget cuts within branches as well.
            tree = _scores(tree_forwards(model, sequences, token_budget=13))
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # whatever a model says to arguments that it does not know
            return f"The model refused the tree: {error}"
    tolerance = 1e-3 if model.dtype == torch.float32 else 0.5
    worst = max(abs(tree[index] - alone[index]) for index in range(len(sequences)))
    return None if worst < tolerance else f"A tree of {len(sequences)} prompts came out {worst:.2g} nats off."


def _scores(forwards: Iterator[Forward]) -> dict[int, float]:
    return {index: score for forward in forwards for index, score in forward.finished.items()}


def _windows(config: Any) -> dict[str, int | None]:
    """The kinds of attention of a model and how far each looks back."""
    window = getattr(config, "sliding_window", None)
    kinds = set(_layer_kinds(config)) or {"sliding_attention" if window else "full_attention"}
    return {kind: window if kind == "sliding_attention" else None for kind in sorted(kinds)}


def _layer_kinds(config: Any) -> list[str]:
    return getattr(config, "layer_types", None) or []


def _rope_kinds(config: Any) -> set[str]:
    parameters = getattr(config, "rope_parameters", None) or {}
    # One dictionary, or one a kind of layer.
    return {part.get("rope_type", "default") for part in (parameters, *parameters.values()) if isinstance(part, dict)}


def _keep_ancestors(cache: Any, cached: torch.Tensor, tree: TokenTree, node: int) -> torch.Tensor:
    """Drop from the cache what `node` does not descend from; the numbers of the nodes that stay."""
    kept = tree.ends[cached] > node
    if not kept.all():
        places = kept.nonzero()[:, 0].to(cache.layers[0].keys.device)
        for layer in cache.layers:
            layer.keys = layer.keys.index_select(-2, places)
            layer.values = layer.values.index_select(-2, places)
    return cached[kept]


def _additive(seen: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The mask that the models add to their attention scores, shape (1, 1, T, K)."""
    mask = torch.zeros(seen.shape, dtype=dtype, device=device)
    return mask.masked_fill_(~seen.to(device), torch.finfo(dtype).min)[None, None]


def _log_probabilities(logits: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """log P of `tokens` (P,) under the `rows` (P,) of `logits` (R, V), float64 on the CPU.

    Lifted to float32 before the softmax: in bfloat16 different options come out equal.
    """
    log_sums = torch.empty(len(logits), device=logits.device)
    for begin in range(0, len(logits), 256):  # a float32 copy of all of them at once would be the peak of memory
        log_sums[begin : begin + 256] = logits[begin : begin + 256].float().logsumexp(-1)
    rows, tokens = rows.to(logits.device), tokens.to(logits.device)
    return (logits[rows, tokens].float() - log_sums[rows]).to("cpu", torch.float64)
