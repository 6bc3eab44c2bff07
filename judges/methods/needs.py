"""What a judge of each method has to be given: its form shows these fields and no others. Pure.

A method says in `USES` what it asks of a model, and the rest follows; one that needs more than that says it here.
"""

from __future__ import annotations

from collections.abc import Mapping

from judges.methods import USES, Method
from llm.backends.base import Use

_OF_USE: Mapping[Use | None, frozenset[str]] = {
    None: frozenset(),
    Use.SCORE: frozenset({"model", "chat_template", "normalisation"}),
    Use.GENERATE: frozenset({"model", "chat_template", "temperature", "max_new_tokens"}),
}
# Beyond that, by method.
MORE: Mapping[Method, frozenset[str]] = {}


def fields_of(method: str) -> frozenset[str]:
    """The fields that mean something to a method, beside the name, the evidence and the prompt. Raises ValueError for
    what is no method."""
    chosen = Method(method)
    return _OF_USE[USES[chosen]] | MORE.get(chosen, frozenset())
