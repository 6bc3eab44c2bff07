"""What a server says of its model, and whether it is still the same one.

vLLM and llama.cpp say it in their lists of models, transformers in its answers. A server that was away may come back
with another model under the same name.
"""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import Any, Protocol

from base.sentences import gettext as _
from base.text import storable
from llm.backends.base import BackendError, Unavailable, another_model
from llm.backends.openai_answers import Refused
from llm.backends.openai_memory import PROBE, Memory

_MOST_NAMED, _LONGEST_NAME = 20, 120  # of the models that a server offers
_LONGEST_KEPT = 300  # letters of what a server calls something


class Asked(Protocol):
    """A `Session`, as far as it is needed here: it looks here itself when its server was away."""

    memory: Memory
    model_in_answers: str

    @property
    def url(self) -> str: ...

    @property
    def model(self) -> str: ...

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, at_root: bool = False
    ) -> dict[str, Any]: ...

    def forget(self) -> None: ...


def told(session: Asked) -> dict[str, str]:
    """What the server says that it loaded, and for which context; "" where it does not say it.

    Raises BackendError if it offers no such model.
    """
    return _loaded(_card(session))


def refuse_another(session: Asked) -> None:
    """A server that was away may have come back with another model under the same name.

    Raises BackendError: it says so. What is remembered of it goes.
    """
    memory = session.memory
    with memory.coming_back:
        if not memory.was_away or memory.is_looked_at:
            return
        memory.is_looked_at = True
        try:
            now = told(session)["served_model"] if memory.loaded else ""
        finally:
            memory.is_looked_at = False
        if now and now != memory.loaded:
            session.forget()
            raise another_model(session.url, now=now, then=memory.loaded)
        memory.was_away = False


def is_of_transformers(session: Asked, answer: dict[str, Any]) -> bool:
    """Whether an answer names the model with its revision. That server seeds one generator for all that it is asked at
    the same time."""
    named = answer.get("model")
    return isinstance(named, str) and named.startswith(f"{session.model_in_answers}@")


def _card(session: Asked) -> dict[str, Any]:
    """What the server's list says of the model; {} where it keeps no list.

    transformers lists what its cache holds, not the folder that it was started with: it says so in its answers.

    Raises BackendError if the model is not on it.
    """
    try:
        listed = session.ask("GET", "/models").get("data")
    except Unavailable:
        raise
    except Refused as refusal:
        if refusal.status not in (404, 405):
            raise
        return {}
    except BackendError:
        if card := _card_of_answers(session):
            return card
        raise
    cards = listed if isinstance(listed, list) else []
    offered = {str(card.get("id")): card for card in cards if isinstance(card, dict)}
    if session.model_in_answers not in offered:
        if card := _card_of_answers(session):
            return card
        named = [storable(name[:_LONGEST_NAME]) for name in sorted(offered)[:_MOST_NAMED]]
        raise BackendError(
            _("%(url)s offers no model “%(model)s”. It offers: %(offered)s.")
            % {
                "url": session.url,
                "model": session.model,
                "offered": ", ".join([*named, *(["…"] if len(offered) > _MOST_NAMED else [])]) or _("nothing"),
            },
            permanent=True,
        )
    card = offered[session.model_in_answers]
    context = card.get("max_model_len")
    session.memory.context = context if type(context) is int and context > 0 else None
    return card | _file_of(session, card)


def _file_of(session: Asked, card: dict[str, Any]) -> dict[str, Any]:
    """The name of the file that llama.cpp loaded, which is not in its list; {} of other servers."""
    if card.get("owned_by") != "llamacpp":
        return {}
    try:
        path = session.ask("GET", "/props", at_root=True).get("model_path")
    except Refused:
        return {}
    return {"file": PureWindowsPath(path).name} if isinstance(path, str) else {}


def _card_of_answers(session: Asked) -> dict[str, Any]:
    """The model with its revision, as transformers names it in answers; {} where no such answer comes."""
    body = {"model": session.model, "messages": [{"role": "user", "content": PROBE}], "max_tokens": 1}
    try:
        answer = session.ask("POST", "/chat/completions", body)
    except Unavailable:
        raise
    except BackendError:
        return {}
    return {"root": answer["model"]} if is_of_transformers(session, answer) else {}


def _loaded(card: dict[str, Any]) -> dict[str, str]:
    """vLLM says where from and for which context; llama.cpp which file (`file`, which its list has not), how it was
    quantised, how large it is, and the context of a slot."""
    about = card.get("meta")
    meta = about if isinstance(about, dict) else {}
    sizes = [f"{name} {meta[name]}" for name in ("ftype", "n_params", "size") if meta.get(name)]
    size = ", ".join([*([str(card["file"])] if card.get("file") else []), *sizes])
    return {
        "served_model": _kept(card.get("root") or size),
        "context": _kept(card.get("max_model_len") or meta.get("n_ctx")),
    }


def _kept(said: Any) -> str:
    """What a server calls something, as a record has it: "" for nothing."""
    return storable(str(said or "")[:_LONGEST_KEPT])
