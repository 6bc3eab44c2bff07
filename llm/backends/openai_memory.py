"""What a process remembers of its servers, most of which is found out by trying them out once a run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Literal

PROBE = "Flour, salt and water make a plain dough."  # a short text to try a server out with
# Where a server puts the log-probabilities of a prompt: vLLM's own field, or the completion that repeats the prompt.
PromptLogprobs = Literal["prompt_logprobs", "echo"]


@dataclass
class Memory:
    """What is known of one model on one server."""

    form: PromptLogprobs | None = None
    has_no_form: bool = False  # none was found, and there is another way
    first_tokens: set[str] = field(default_factory=set)  # texts that are known to be one token
    one_token: dict[str, bool] = field(default_factory=dict)  # whether what may be a special token is one
    one_token_in_chat: dict[str, bool] = field(default_factory=dict)  # the same, as far as counts of tokens say it
    sees: bool | None = None  # whether it reads pictures
    binds: str = ""  # how it binds answers to a grammar
    next_tokens: str | None = None  # how it gives the log-probabilities of next tokens; "" if it does not
    # Tokens of options, by the word before them and their texts.
    endings: dict[tuple[str, tuple[str, ...]], tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    whole_up_to: int = 0  # tokens of the longest prompt that it is known to read whole
    context: int | None = None  # tokens of a prompt and its answer, where its list of models says so
    loaded: str = ""  # what it said that it has loaded, when it was last asked who it is
    was_away: bool = False  # since then, and whether it is the same has not been looked at
    is_looked_at: bool = False  # by the thread that holds `coming_back`
    coming_back: threading.RLock = field(default_factory=threading.RLock)
    # What it was asked at the same time was too long together, or is drawn by one seed: it is asked in turn.
    in_turn: bool = False
    turn: threading.Lock = field(default_factory=threading.Lock)


# The first of them go.
_memories: dict[tuple[str, str], Memory] = {}
_MOST_MEMORIES = 64


def memory_of(base_url: str, model: str, *, anew: bool) -> Memory:
    """`anew`: what was known of it is forgotten."""
    of = base_url, model
    if anew:
        _memories.pop(of, None)
    while len(_memories) >= _MOST_MEMORIES and of not in _memories:
        _memories.pop(next(iter(_memories)), None)
    return _memories.setdefault(of, Memory())
