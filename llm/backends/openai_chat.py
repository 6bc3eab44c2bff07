"""Answers of a server with OpenAI's HTTP interface, in its chat form."""

from __future__ import annotations

from typing import Any

from llm.backends.openai_answers import cut_silently, read_chat, usage
from llm.backends.openai_http import Session
from llm.engine.prompt import Generated, PromptTooLong, Sampling

_MORE = " Flour, salt and water make a plain dough."


def write(session: Session, prompt: str, sampling: Sampling) -> Generated | PromptTooLong:
    """The server's answer to a user's message.

    `seed` and `temperature` are the server's to heed; `top_p` is sent lest the server takes its own.
    """
    try:
        answer = session.ask("POST", "/chat/completions", _body(session, prompt, sampling))
    except PromptTooLong as refused:
        return refused
    generated = read_chat(answer)
    n_tokens = usage(answer, "prompt_tokens")
    if n_tokens > session.memory.whole_up_to:
        if not _is_whole(session, prompt, sampling, n_tokens):
            return cut_silently()
        session.memory.whole_up_to = max(session.memory.whole_up_to, n_tokens)
    return generated


def _is_whole(session: Session, prompt: str, sampling: Sampling, n_tokens: int) -> bool:
    """Whether the server read all of the prompt: it then counts more tokens in a longer one. One that cuts prompts at a
    limit counts no more, so nothing that is shorter than a prompt which it read whole was cut. The room that is asked
    for is the same, since a limit may leave that room."""
    try:
        answer = session.ask("POST", "/chat/completions", _body(session, prompt + _MORE, sampling))
    except PromptTooLong:
        return True
    return usage(answer, "prompt_tokens") > n_tokens


def _body(session: Session, prompt: str, sampling: Sampling) -> dict[str, Any]:
    return {
        "model": session.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": 1,
        "seed": sampling.seed,
    }
