"""Answers of a server with OpenAI's HTTP interface, in its chat form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from base.sentences import gettext as _
from llm.backends import openai_binding
from llm.backends.base import BackendError
from llm.backends.openai_answers import cut_silently, read_chat, usage
from llm.backends.openai_http import Session
from llm.backends.openai_memory import PROBE
from llm.engine import stopping
from llm.engine.prompt import Generated, PromptTooLong, Sampling

_MOST_STOPS = 4  # that OpenAI's interface takes


def write(session: Session, prompt: str, sampling: Sampling) -> Generated | PromptTooLong:
    """The server's answer to a user's message.

    `seed` and `temperature` are the server's to heed; `top_p` is sent lest the server takes its own.
    """
    if sampling.picture:
        _refuse_if_blind(session, sampling.picture)
    try:
        answer = session.ask("POST", "/chat/completions", _body(session, prompt, sampling))
    except PromptTooLong as refused:
        return refused
    generated = read_chat(answer, room=sampling.max_new_tokens)
    session.count_written(answer, generated.thoughts + generated.text, room=sampling.max_new_tokens)
    n_tokens = _counted_in(session, answer)
    context = session.memory.context
    if context is not None and n_tokens + sampling.max_new_tokens > context:
        # Some servers refuse this, others write into what room is left.
        return PromptTooLong(tokens=n_tokens, context=context, answer=sampling.max_new_tokens)
    if n_tokens > session.memory.whole_up_to:
        if not _is_whole(session, prompt, sampling, n_tokens):
            return cut_silently()
        session.memory.whole_up_to = max(session.memory.whole_up_to, n_tokens)
    return _ended(generated, sampling)


def _ended(generated: Generated, sampling: Sampling) -> Generated:
    """The answer up to the string that ends it: transformers leaves that in its text, with the rest of its token, and
    no server is told of more strings than a few."""
    at = stopping.first(generated.text, sampling.stops_at)
    return generated if at is None else replace(generated, text=generated.text[: at.place], cut=False, stop=at.string)


def _counted_in(session: Session, answer: dict[str, Any]) -> int:
    """The tokens that a server has read for an answer. One that has never said so in this process will not at another
    prompt either."""
    try:
        return usage(answer, "prompt_tokens")
    except BackendError as error:
        if session.memory.whole_up_to:
            raise
        raise BackendError(
            _(
                "The server at %(url)s does not say how many tokens it reads (“usage” in its answers), so nobody could "
                "tell whether it reads a prompt whole. Have it say so, or ask it through a server that does."
            )
            % {"url": session.url},
            permanent=True,
        ) from error


def is_one_token(session: Session, mark: str) -> bool:
    """Whether the server counts a text such as “</s>” for one token each time it stands in a message; tried out once a
    process. A server that refuses to be asked, or counts nothing, is taken to do so."""
    known = session.memory.one_token_in_chat
    if mark not in known:
        once, thrice = (f"One {mark * n} two" for n in (1, 3))
        try:
            known[mark] = _counted(session, thrice) - _counted(session, once) <= 2
        except BackendError as error:
            if not error.permanent:
                raise
            known[mark] = True
    return known[mark]


def _counted(session: Session, message: str) -> int:
    return usage(session.ask("POST", "/chat/completions", _body(session, message, Sampling(1))), "prompt_tokens")


def _is_whole(session: Session, prompt: str, sampling: Sampling, n_tokens: int) -> bool:
    """Whether the server read all of the prompt: it then counts more tokens in a longer one. One that cuts prompts at a
    limit counts no more, so nothing that is shorter than a prompt which it read whole was cut. The room that is asked
    for is the same, since a limit may leave that room."""
    try:
        answer = session.ask("POST", "/chat/completions", _body(session, f"{prompt} {PROBE}", sampling))
    except PromptTooLong:
        return True
    return usage(answer, "prompt_tokens") > n_tokens


def _content(prompt: str, picture: str) -> str | list[dict[str, Any]]:
    if not picture:
        return prompt
    return [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": prompt}]


def _refuse_if_blind(session: Session, picture: str) -> None:
    """Refuse a server that takes a picture and does not read it: it counts no more tokens with it. Tried out once a
    process; one that refuses pictures says so itself.

    Raises:
        BackendError: with what to do.
    """
    if session.memory.sees is None:
        asked = [_body(session, PROBE, Sampling(1, picture=shown)) for shown in (picture, "")]
        seen, unseen = (usage(session.ask("POST", "/chat/completions", body), "prompt_tokens") for body in asked)
        session.memory.sees = seen > unseen
    if not session.memory.sees:
        raise BackendError(
            _(
                "The server at %(url)s takes pictures and does not read them: its model counts no more tokens with "
                "one. Take “picture” out of the prompt, or name a model that reads pictures."
            )
            % {"url": session.url},
            permanent=True,
        )


def _body(session: Session, prompt: str, sampling: Sampling) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    if sampling.grammar is not None:
        way = openai_binding.way_of(session)
        bound, prompt = way.fields(sampling.grammar), prompt + way.asks_for(sampling.grammar)
    return {
        "model": session.model,
        "messages": [{"role": "user", "content": _content(prompt, sampling.picture)}],
        "max_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": 1,
        "seed": sampling.seed,
        **({"stop": list(sampling.stops_at[:_MOST_STOPS])} if sampling.stops_at else {}),
        **bound,
    }
