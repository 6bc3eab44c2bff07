"""Conversations that people bring: messages as programs keep them, read as blocks of evidence. Pure.

What is read: a list of objects, each with who said it (“role” as of chat models, “from”, “author”, “speaker”) and what
(“content”, “value”, “text”). A content may be a list of parts; what is no text is named. docs/import.md has examples.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.evidence.lines import lines_of
from base.text import storable

# Headings of columns with a conversation in each cell.
HEADINGS = frozenset({"messages", "conversation", "conversations", "dialogue", "dialog", "chat"})
_WHO = ("role", "from", "author", "speaker")
_WHAT = ("content", "value", "text")
_ROLES = {
    "user": "User", "human": "User", "prompter": "User",
    "assistant": "Assistant", "gpt": "Assistant", "bot": "Assistant", "model": "Assistant",
    "system": "System", "developer": "System", "tool": "Tool", "function": "Tool",
}  # fmt: skip


class NoConversation(ValueError):
    """A list is none, or a message of it has no speaker or says nothing that can be read.

    `partly`: others of the list are messages.
    """

    def __init__(self, *, partly: bool) -> None:
        super().__init__()
        self.partly = partly


def conversation(cell: str) -> list[tuple[str, str]] | None:
    """Who said what, in order; None of a cell that is a text.

    >>> conversation('[{"role": "user", "content": "Why?"}, {"from": "gpt", "value": "So."}]')
    [('User', 'Why?'), ('Assistant', 'So.')]
    >>> conversation("[1] says so.") is None
    True

    Raises:
        NoConversation: it is a list of objects, and not all are messages.
    """
    if not cell.lstrip().startswith("["):
        return None
    try:
        of = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if not isinstance(of, list) or not any(isinstance(message, dict) for message in of):
        return None
    said = [_message(message) for message in of]
    if None in said:
        raise NoConversation(partly=any(said))
    return [one for one in said if one is not None]


def blocks_of(said: Sequence[tuple[str, str]], kind: str, *, gaps: bool = False) -> Iterator[Block]:
    """A conversation as evidence: who speaks is a heading above paragraphs; in a kind of its own it stands before the
    words. `gaps`: see `lines_of`.

    >>> [block.text for block in blocks_of([("User", "Why?"), ("Assistant", "So.")], "left")]
    ['User: Why?', 'Assistant: So.']
    """
    for who, words in said:
        lines = lines_of(words, gaps=gaps)
        if kind == PARAGRAPH:
            yield Block(HEADING, who)
            yield from (Block(kind, line) for line in lines)
        elif lines:
            yield Block(kind, f"{who}: {lines[0]}")
            yield from (Block(kind, line) for line in lines[1:])


def _message(message: Any) -> tuple[str, str] | None:
    if not isinstance(message, dict):
        return None
    who = next((message[key] for key in _WHO if isinstance(message.get(key), str) and message[key].strip()), "")
    contents = [_texts(message[key]) for key in _WHAT if key in message]
    calls = list(_calls(message))
    if not who or not (contents or calls) or None in contents:
        return None
    words = [text for texts in contents for text in texts or ()] + calls
    return storable(_ROLES.get(who.strip().casefold(), who.strip())), storable("\n".join(words))


def _texts(content: Any) -> list[str] | None:
    """A text, or parts of which each is one or names what it is; None for something else."""
    if content is None or isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, list) or not all(isinstance(part, str | dict) for part in content):
        return None
    return [part if isinstance(part, str) else _part(part) for part in content]


def _part(part: Mapping[str, Any]) -> str:
    return part["text"] if isinstance(part.get("text"), str) else f"[{part.get('type', '…')}]"


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """Calls of tools, as “name(arguments)”."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        of = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(of, dict) and isinstance(of.get("name"), str):
            given = of.get("arguments", "")
            yield f"{of['name']}({given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)})"
