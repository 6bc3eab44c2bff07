"""How a server binds answers to a grammar: which of the ways that servers know it obeys is tried out, never guessed.

vLLM, llama.cpp and SGLang take a grammar, each in a field of its own; others take a JSON schema as `response_format`
alone. A server that knows a field not may refuse it, or write what it will: only one that writes what no model would
otherwise write has obeyed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from base.sentences import gettext as _
from llm.backends.base import BackendError
from llm.backends.openai_answers import Refused, read_chat
from llm.backends.openai_http import Session
from llm.engine.prompt import Generated, Grammar, PromptTooLong
from llm.engine.thoughts import without_thoughts

_PROBE = Grammar(
    "",
    gbnf='root ::= "zq" [4-6] "x"\n',
    schema='{"type": "object", "properties": {"zq": {"type": "string", "enum": ["x4"]}}, "required": ["zq"], '
    '"additionalProperties": false}',
)
_ASKED = "Name a colour."
_ABOUT_FIELDS = (400, 422, 501)  # the statuses by which servers refuse a field that they do not know
_ROOM = 24  # tokens, enough for either answer of a tokeniser that has a token for each character
_ROOMS_TO_THINK = (1024, 256)  # the same, of a model that thinks first; the latter where its context is short
_WITHOUT_THOUGHTS = {"chat_template_kwargs": {"enable_thinking": False}}  # vLLM, llama.cpp, SGLang, transformers


class Way(NamedTuple):
    """`name`: of the field, as a run's record has it; `fields`: what a request has for a grammar; `asks_for`: what the
    message says besides."""

    name: str
    fields: Callable[[Grammar], dict[str, Any]]
    asks_for: Callable[[Grammar], str]
    obeyed: Callable[[str], bool]


def _in_words(grammar: Grammar) -> str:
    names = json.loads(grammar.schema)["properties"]
    shown = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: …" for name in names)
    return f"\n\nWrite it as one JSON object: {{{shown}}}"


def _is_object(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"zq": "x4"})
    except ValueError:
        return False


def _grammar(name: str, fields: Callable[[str], dict[str, Any]]) -> Way:
    return Way(
        name,
        lambda grammar: fields(grammar.gbnf),
        lambda grammar: "",
        lambda text: re.fullmatch("zq[456]x", text) is not None,
    )


def _thoughtless(way: Way) -> Way:
    return way._replace(
        name=f"{way.name}, thoughts off", fields=lambda grammar: way.fields(grammar) | _WITHOUT_THOUGHTS
    )


# In the order in which they are tried: grammars first, for an answer keeps its form then.
WAYS: tuple[Way, ...] = (
    _grammar("structured_outputs", lambda gbnf: {"structured_outputs": {"grammar": gbnf}}),  # vLLM
    _grammar("grammar", lambda gbnf: {"grammar": gbnf}),  # llama.cpp
    _grammar("ebnf", lambda gbnf: {"ebnf": gbnf}),  # SGLang
    _grammar("guided_grammar", lambda gbnf: {"guided_grammar": gbnf}),  # vLLM before 0.12
    Way(
        "response_format",
        lambda grammar: {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": json.loads(grammar.schema)},
            }
        },
        _in_words,
        _is_object,
    ),
)
# Of a model whose thoughts a server binds in place of its answer, or lets nothing bind.
WITHOUT_THOUGHTS = tuple(map(_thoughtless, WAYS))


def way_of(session: Session) -> Way:
    """How this server binds answers; tried out once a run.

    Raises:
        Refused: it refuses what has nothing to do with grammars, such as the key, the model or the address.
        BackendError: it binds nothing.
    """
    known = next((way for way in (*WAYS, *WITHOUT_THOUGHTS) if way.name == session.memory.binds), None)
    if known is not None:
        return known
    refused = thinks = False
    for ways in (WAYS, WITHOUT_THOUGHTS):
        for way in ways:
            try:
                said = _answer(session, way)
            except Refused as refusal:
                if refusal.status not in _ABOUT_FIELDS:
                    raise
                refused = True
                continue
            if way.obeyed(without_thoughts(said.text).strip()):
                session.memory.binds = way.name
                return way
            thinks |= _thinks(said)
        if not thinks:
            break
    if refused:  # for the fields of grammars? Then it answers the same question without them.
        session.ask("POST", "/chat/completions", _request(session, None))
    message = (
        _(
            "The server at %(url)s binds no answer of this model to a grammar: it thinks first, and its thoughts "
            "cannot be turned off. Take “grammar” out of the prompt, have the server tell thoughts from answers "
            "(vLLM: --reasoning-parser), or name a model that does not think."
        )
        if thinks
        else _(
            "The server at %(url)s binds no answer to a grammar: it obeys none of %(ways)s. Take “grammar” out of the "
            "prompt, or use a server that can, such as vLLM or llama.cpp."
        )
    )
    raise BackendError(message % {"url": session.url, "ways": ", ".join(way.name for way in WAYS)}, permanent=True)


def _answer(session: Session, way: Way) -> Generated:
    """What is written in this way, with room for a thought where one needs it."""
    said = read_chat(session.ask("POST", "/chat/completions", _request(session, way)), room=_ROOM)
    if not (said.cut and _thinks(said)):
        return said
    for room in _ROOMS_TO_THINK:
        try:
            longer = session.ask("POST", "/chat/completions", _request(session, way) | {"max_tokens": room})
        except PromptTooLong:
            continue
        return read_chat(longer, room=room)
    return said


def _thinks(said: Generated) -> bool:
    return bool(said.thoughts) or without_thoughts(said.text) != said.text


def _request(session: Session, way: Way | None) -> dict[str, Any]:
    return {
        "model": session.model,
        "messages": [{"role": "user", "content": _ASKED + (way.asks_for(_PROBE) if way else "")}],
        "max_tokens": _ROOM,
        "temperature": 0,
        **(way.fields(_PROBE) if way else {}),
    }
