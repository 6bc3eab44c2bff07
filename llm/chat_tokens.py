"""What the known families of models mark their texts and chats with. Pure.

Of the model that is asked, the engine knows the very tokens; a server's, and those that a model has learnt of another
family, are known by these usual forms only.
"""

from __future__ import annotations

import re

_TOKENS = (
    r"<\|[^<>|\s]{1,40}\|>|<｜[^<>\s]{1,40}｜>|</?s>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"
)
# What tokenisers hold for one token that is no text.
SPECIAL = re.compile(_TOKENS)
# These in any letter case, and what means a turn, a thought or a tool to a model without being such a token.
TURNS = re.compile(
    rf"{_TOKENS}|</(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>|</?think>"
    r"|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]",
    re.IGNORECASE,
)


def broken(found: re.Match[str]) -> str:
    """With a space after the first character it is a token no more, and reads nearly the same."""
    return f"{found[0][0]} {found[0][1:]}"
