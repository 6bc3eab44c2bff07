"""How a judge comes to an answer: prompts, cloze, rating, writing, and words alone. Pure."""

from __future__ import annotations

from enum import StrEnum

from llm.backends.base import Use


class Method(StrEnum):
    CLOZE = "cloze"
    RATING = "rating"
    WRITING = "writing"
    LEXICAL = "lexical"


# What a method asks of a model; None where no model is asked.
USES: dict[Method, Use | None] = {
    Method.CLOZE: Use.SCORE,
    Method.RATING: Use.GENERATE,
    Method.WRITING: Use.GENERATE,
    Method.LEXICAL: None,
}
# A judge of these has a temperature and a longest answer, and cells that cannot be read.
WRITES = frozenset(method for method, use in USES.items() if use == Use.GENERATE)
