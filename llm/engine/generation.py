"""Free generation: the answers to many prompts, written in batches.

Prompts are padded at the left, and those of like length share a batch. A batch's keys and values take at most
`cache_budget` tokens (prompts, padding and the answers' room together; a single prompt may take more, at most the
model's context), and no forward is fed more than `token_budget` tokens: long prompts go in by pieces. An answer that is
finished leaves its batch at once.

What a prompt is answered does not depend on its batch but for rounding: greedy takes the most probable token, and the
draws of a prompt come from a generator of its own, seeded by the prompt's tokens and the sampling's seed. With a
grammar only tokens that it allows are taken, or drawn, whatever the model makes of the others.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import DynamicCache

from base.sentences import gettext as _
from llm.engine.cloze import LEAST_TOKEN_BUDGET
from llm.engine.encoding import PromptEncoder
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, Sampling
from llm.grammars import BoundAnswer, GrammarRefused


@dataclass
class _Answer:
    """One prompt on its way. `draws`: numbers from [0, 1), one for each token that may be drawn."""

    place: int  # among the prompts of the call
    prompt: tuple[int, ...]
    draws: torch.Tensor
    bound: BoundAnswer | None = None
    written: list[int] = field(default_factory=list)
    stopped: bool = False


class AnswerGenerator:
    """Writes answers with one causal language model of transformers. An answer ends with the model's end of text, or,
    in the chat form, of its turn.

    `bind` begins an answer that is bound to a grammar, given the tokens that end answers.
    """

    def __init__(
        self,
        model: Any,
        encoder: PromptEncoder,
        *,
        token_budget: int,
        cache_budget: int,
        bind: Callable[[str, frozenset[int]], BoundAnswer] | None = None,
    ) -> None:
        self._model = model
        self._encoder = encoder
        self._token_budget = token_budget
        self._cache_budget = cache_budget
        self._context = getattr(model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
        self._stops = _stops(model) | encoder.ends_of_answers
        self._takes_batches = _takes_batches(model)
        self._bind = bind

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        """The answer to each prompt, or in its place what to say if it and its answer do not fit the model's context.

        Where a batch does not fit a GPU's memory, both budgets are halved, for good, and the call begins anew.

        Raises:
            FloatingPointError: the model returned something that is not a number.
            GrammarRefused: answers cannot be bound by this grammar, or with this tokeniser.
            torch.OutOfMemoryError: not even steps of `LEAST_TOKEN_BUDGET` tokens fit.
            Whatever `on_progress` raises.
        """
        while True:
            try:
                return self._generate(prompts, sampling, on_progress)
            except torch.OutOfMemoryError:
                if self._token_budget <= LEAST_TOKEN_BUDGET:
                    raise
                self._token_budget = max(self._token_budget // 2, LEAST_TOKEN_BUDGET)
                self._cache_budget //= 2  # a batch has one prompt at least, whatever is left of it
            # Out of the handler, where the error's traceback keeps the failed forward's tensors.
            torch.cuda.empty_cache()  # nothing happens where there is no GPU

    def _generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None
    ) -> list[Generated | PromptTooLong]:
        found: list[Generated | PromptTooLong | None] = [None] * len(prompts)
        answers = []
        for place, text in enumerate(prompts):
            ids = self._encoder.encode_prompt(text)
            if len(ids) + sampling.max_new_tokens > self._context:
                found[place] = PromptTooLong(tokens=len(ids), context=self._context, answer=sampling.max_new_tokens)
            else:
                answers.append(_Answer(place, ids, _draws(ids, sampling), self._begin(sampling.grammar)))
        progress = _Progress(on_progress)
        with torch.inference_mode():
            for batch in self._batches(answers, sampling):
                self._write(batch, sampling, progress)
        for answer in answers:
            text = self._encoder.decode(answer.written)
            found[answer.place] = Generated(text, cut=not answer.stopped, tokens=len(answer.written))
        return [one for one in found if one is not None]

    def _begin(self, grammar: str) -> BoundAnswer | None:
        if not grammar:
            return None
        if self._bind is None:
            raise GrammarRefused(_("This model cannot be bound to a grammar."))
        return self._bind(grammar, frozenset(self._stops))

    def _batches(self, answers: Sequence[_Answer], sampling: Sampling) -> list[list[_Answer]]:
        left = sorted(answers, key=lambda answer: len(answer.prompt), reverse=True)
        batches = []
        while left:
            room = len(left[0].prompt) + sampling.max_new_tokens
            size = max(1, self._cache_budget // room) if self._takes_batches else 1
            batches.append(left[:size])
            left = left[size:]
        return batches

    def _write(self, batch: list[_Answer], sampling: Sampling, progress: _Progress) -> None:
        forwards = _Padded(self._model, batch) if self._takes_batches else _Alone(self._model)
        longest = len(batch[0].prompt)
        fed = torch.tensor([[0] * (longest - len(answer.prompt)) + list(answer.prompt) for answer in batch])
        piece = max(1, self._token_budget // len(batch)) if self._takes_batches else longest
        for begin in range(0, longest, piece):
            part = fed[:, begin : begin + piece]
            logits = forwards.feed(part)
            progress.count(tokens=part.numel())
        while True:
            for answer, token in zip(batch, self._chosen(logits, batch, sampling), strict=True):
                if answer.bound is not None:
                    answer.bound.take(token)
                if token in self._stops:
                    answer.stopped = True
                else:
                    answer.written.append(token)
            going = [
                place
                for place, answer in enumerate(batch)
                if not answer.stopped and len(answer.written) < sampling.max_new_tokens
            ]
            if len(going) < len(batch):
                progress.count(answers=len(batch) - len(going))
                batch = [batch[place] for place in going]
                if not batch:
                    return
                forwards.keep(torch.tensor(going))
            logits = forwards.feed(torch.tensor([[answer.written[-1]] for answer in batch]))
            progress.count(tokens=len(batch))

    def _chosen(self, logits: torch.Tensor, batch: Sequence[_Answer], sampling: Sampling) -> list[int]:
        """The next token of each answer; `logits` are of shape (B, V)."""
        logits = logits.float()
        if logits.isnan().any():
            raise FloatingPointError(_("The model returned something that is not a number."))
        for place, answer in enumerate(batch):
            if answer.bound is not None:
                logits[place] = logits[place].masked_fill(~answer.bound.allowed().to(logits.device), float("-inf"))
        if sampling.temperature == 0:
            return [int(token) for token in logits.argmax(-1)]
        below = (logits / sampling.temperature).softmax(-1).double().cumsum(-1)
        drawn = torch.stack([answer.draws[len(answer.written)] for answer in batch]).to(below.device)
        # The first token up to which there is more probability than was drawn: never one of probability 0.
        tokens = torch.searchsorted(below, drawn[:, None] * below[:, -1:], right=True)
        return [min(int(token), logits.shape[-1] - 1) for token in tokens[:, 0]]


class _Progress:
    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._tokens = self._answers = 0

    def count(self, *, tokens: int = 0, answers: int = 0) -> None:
        self._tokens += tokens
        self._answers += answers
        if self._on_progress is not None:
            self._on_progress(self._tokens, self._answers)


class _Padded:
    """Forwards of a batch whose prompts end together."""

    def __init__(self, model: Any, batch: Sequence[_Answer]) -> None:
        self._model = model
        self._cache = DynamicCache(config=model.config)
        longest = len(batch[0].prompt)
        self._padding = torch.tensor([longest - len(answer.prompt) for answer in batch])
        self._fed = 0

    def feed(self, tokens: torch.Tensor) -> torch.Tensor:
        """The logits (B, V) after the last of `tokens` (B, T)."""
        end = self._fed + tokens.shape[1]
        seen = torch.arange(end)[None] >= self._padding[:, None]
        positions = (torch.arange(self._fed, end)[None] - self._padding[:, None]).clamp(min=0)
        device = self._model.device
        output = self._model(
            input_ids=tokens.to(device),
            attention_mask=seen.long().to(device),
            position_ids=positions.to(device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._fed = end
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def keep(self, places: torch.Tensor) -> None:
        self._cache.batch_select_indices(places.to(self._model.device))
        self._padding = self._padding[places]


class _Alone:
    """Forwards of one prompt, for models that take no padding: without masks and positions nothing can go wrong."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache: Any = None

    def feed(self, tokens: torch.Tensor) -> torch.Tensor:
        output = self._model(
            input_ids=tokens.to(self._model.device), past_key_values=self._cache, use_cache=True, logits_to_keep=1
        )
        self._cache = output.past_key_values
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def keep(self, places: torch.Tensor) -> None:
        raise AssertionError("A batch of one that is not finished stays whole.")


def _draws(prompt: Sequence[int], sampling: Sampling) -> torch.Tensor:
    named = f"{sampling.seed}:{','.join(map(str, prompt))}".encode()
    seed = int.from_bytes(hashlib.sha256(named).digest()[:8], signed=True)
    return torch.rand(sampling.max_new_tokens, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def _stops(model: Any) -> set[int]:
    """The tokens that end a text, as the model's own files say."""
    named = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return set(named) if isinstance(named, list) else set() if named is None else {named}


def _takes_batches(model: Any) -> bool:
    """Whether padding is harmless: the model takes positions, and attends by masks alone."""
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or [])
    return "position_ids" in inspect.signature(model.forward).parameters and kinds <= {
        "full_attention",
        "sliding_attention",
    }
