"""Answers bound to a grammar by llguidance: of each next token it says whether it may come, in well under a
millisecond, and it needs no compilation of the grammar ahead."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

import llguidance
import llguidance.hf
import torch

from base.sentences import gettext as _
from llm.grammars import GrammarRefused


class ByLLGuidance:
    """Binds answers of one fast tokeniser. `n_vocab`: how many logits the model has, which may be more than tokens."""

    def __init__(self, tokenizer: Any, *, n_vocab: int, stops: Sequence[int]) -> None:
        self.name = f"llguidance {importlib.metadata.version('llguidance')}"
        self._n_vocab = n_vocab
        self._stops = list(stops)
        try:
            self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=n_vocab, eos_token=self._stops)
        except Exception as error:  # the library raises ValueError or bare Exception, with a sentence
            raise GrammarRefused(
                _("The model's tokeniser cannot be bound to a grammar: %(error)s") % {"error": error}
            ) from error

    def begin(self, grammar: str) -> _Bound:
        matcher = llguidance.LLMatcher(self._tokenizer, llguidance.grammar_from("lark", grammar))
        if matcher.is_error():
            raise GrammarRefused(_("The grammar cannot be used: %(error)s") % {"error": matcher.get_error()})
        return _Bound(matcher, self._n_vocab, self._stops)


class _Bound:
    """A `grammars.BoundAnswer`."""

    def __init__(self, matcher: llguidance.LLMatcher, n_vocab: int, stops: Sequence[int]) -> None:
        self._matcher = matcher
        self._n_vocab = n_vocab
        self._stops = stops
        self.is_whole = False

    def allowed(self) -> torch.Tensor:
        packed = torch.frombuffer(bytearray(self._matcher.compute_bitmask()), dtype=torch.uint8)
        bits = (packed[:, None] >> torch.arange(8, dtype=torch.uint8)) & 1
        mask = bits.reshape(-1)[: self._n_vocab].bool()
        if len(mask) < self._n_vocab:
            mask = torch.cat([mask, torch.zeros(self._n_vocab - len(mask), dtype=torch.bool)])
        if self._matcher.is_accepting():
            mask[self._stops] = True
        return mask

    def forced(self) -> list[int]:
        found: list[int] = self._matcher.compute_ff_tokens()
        return found

    def fitting(self, tokens: Sequence[int]) -> int:
        found: int = self._matcher.validate_tokens(list(tokens))
        return found

    def take(self, token: int) -> None:
        if not self._matcher.consume_token(token):
            raise GrammarRefused(_("The grammar cannot be used: %(error)s") % {"error": self._matcher.get_error()})
        self.is_whole = self._matcher.is_stopped()
