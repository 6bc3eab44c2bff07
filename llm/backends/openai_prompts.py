"""The log-probabilities of a prompt's own tokens, which two kinds of server give, each in its own form."""

from __future__ import annotations

from base.sentences import gettext as _
from llm.backends.base import BackendError
from llm.backends.openai_answers import (
    NoPromptLogprobs,
    OfOneAnswer,
    PromptTokens,
    Refused,
    cut_short,
    read_echo,
    read_prompt_logprobs,
    usage,
)
from llm.backends.openai_http import Session
from llm.backends.openai_memory import PROBE, PromptLogprobs


def form_of(session: Session) -> PromptLogprobs:
    """How this server returns the log-probabilities of a prompt; tried out once a run.

    Raises NoPromptLogprobs, and Refused for a refusal that is not of what was asked for.
    """
    forms: tuple[PromptLogprobs, ...] = ("prompt_logprobs", "echo")
    refused = ""
    for form in forms if session.memory.form is None else ():
        try:
            try:
                _tokens_in(session, PROBE, form)
            except OfOneAnswer:
                _tokens_in(session, PROBE, form)  # one such answer is no server that never gives another
        except NoPromptLogprobs:
            continue
        except Refused as refusal:
            if not refusal.is_of_request:
                raise
            refused = refusal.said
            continue
        session.memory.form = form
        break
    if session.memory.form is None:
        message = _(
            "The server at %(url)s cannot return prompt log-probabilities, which cloze scoring needs. Use a server "
            "that can, such as vLLM or llama.cpp; if a proxy stands before one, give that server's own address."
        ) % {"url": session.url}
        if refused:
            message += " " + _("The server says: “%(said)s”") % {"said": refused}
        raise NoPromptLogprobs(message, permanent=True)
    return session.memory.form


def tokens_of(session: Session, prompt: str) -> PromptTokens:
    """Tokens and log-probabilities of a whole prompt.

    Raises:
        PromptTooLong: the server says so.
        NoPromptLogprobs, OfOneAnswer: it has none, or those of other tokens, or something that is no
            log-probability, even of the probe's text.
        BackendError: so it was in this one answer: asked again it may be whole.
    """
    form = form_of(session)
    try:
        return _whole(session, prompt, form)
    except (NoPromptLogprobs, OfOneAnswer) as error:
        if _knows(session, form):
            raise BackendError(str(error), permanent=False) from error
        if isinstance(error, NoPromptLogprobs):
            session.memory.form = None  # another server has taken its place; what that one can is tried out next time
        raise


def is_one_token(session: Session, mark: str) -> bool:
    """Whether this server's tokeniser holds a text for one token, such as “</s>”; tried out once a run.

    Raises as `tokens_of`.
    """
    known = session.memory.one_token
    if mark not in known:
        known[mark] = mark in tokens_of(session, f"One {mark} two").texts
    return known[mark]


def _whole(session: Session, prompt: str, form: PromptLogprobs) -> PromptTokens:
    tokens = _tokens_in(session, prompt, form)
    # A server that cuts the beginning off looks the same as one that does not say what the first token is.
    if missing := tokens.missing_of(prompt):
        _require_one_token(session, missing)
    return tokens


def _knows(session: Session, form: PromptLogprobs) -> bool:
    """Whether the server still gives the log-probabilities of a short prompt in this form."""
    try:
        _whole(session, PROBE, form)
    except (NoPromptLogprobs, OfOneAnswer):
        return False
    return True


def _tokens_in(session: Session, prompt: str, form: PromptLogprobs) -> PromptTokens:
    # A token is written since most servers refuse to write none.
    body = {"model": session.model, "prompt": prompt, "max_tokens": 1, "temperature": 0}
    if form == "echo":
        # At 0 some servers take it for not asked.
        return read_echo(session.ask("POST", "/completions", {**body, "echo": True, "logprobs": 1}), prompt)
    return read_prompt_logprobs(session.ask("POST", "/completions", {**body, "prompt_logprobs": 0}))


def _require_one_token(session: Session, text: str) -> None:
    if text in session.memory.first_tokens:
        return
    body = {"model": session.model, "prompt": text, "max_tokens": 1, "temperature": 0}
    if usage(session.ask("POST", "/completions", body), "prompt_tokens") != 1:
        raise cut_short()
    session.memory.first_tokens.add(text)
