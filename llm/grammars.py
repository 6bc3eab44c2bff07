"""Answers bound to a grammar: which libraries can do it, by dotted paths, and what one of them offers. No torch here.

A grammar is a text in the notation of Lark, with `start` as its first rule. An engine is a class that is made of a
tokeniser and begins an answer; adding one is a class and a line here, and no other code names one.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol

from base.sentences import gettext as _

# {the module it needs: the class}. The first whose module is installed is taken.
ENGINES = {"llguidance": "llm.engine.by_llguidance.ByLLGuidance"}


class GrammarRefused(ValueError):
    """No answer can be bound by this grammar; `str()` is a sentence that says why."""


class BoundAnswer(Protocol):
    """One answer on its way through its grammar."""

    is_whole: bool  # nothing more may follow

    def allowed(self) -> Any:
        """The tokens that may come next, a tensor of booleans of shape (V,); the stops are among them where the answer
        may end."""

    def forced(self) -> list[int]:
        """Tokens of a text that must come next, whatever the model makes of it: a guess, since other tokens may spell
        it too."""

    def fitting(self, tokens: Sequence[int]) -> int:
        """How many of these tokens, from the first, may come next one after another."""

    def take(self, token: int) -> None:
        """The next token, one of those that are allowed."""


class GrammarEngine(Protocol):
    """Binds answers of one tokeniser."""

    name: str  # with the version of its library, for a run's record

    def __init__(self, tokenizer: Any, *, n_vocab: int, stops: Sequence[int]) -> None: ...

    def begin(self, grammar: str) -> BoundAnswer:
        """An answer that is bound from its first token on. Raises `GrammarRefused`."""


def installed() -> str | None:
    """The module of the engine that is used here; None if no such library is installed."""
    return next((module for module in ENGINES if importlib.util.find_spec(module) is not None), None)


def engine_class() -> type[GrammarEngine]:
    """The engine that is used here; importing it loads torch.

    Raises:
        GrammarRefused: none is installed.
    """
    module = installed()
    if module is None:
        raise GrammarRefused(
            _("Answers cannot be bound to a grammar here. Install one of these Python packages: %(known)s.")
            % {"known": ", ".join(ENGINES)}
        )
    place, _dot, name = ENGINES[module].rpartition(".")
    found: type[GrammarEngine] = getattr(importlib.import_module(place), name)
    return found
