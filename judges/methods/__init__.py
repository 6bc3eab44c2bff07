"""How a judge comes to an answer: prompts, cloze, rating, writing, embeddings, words alone, and other judges. Pure."""

from __future__ import annotations

from enum import StrEnum

from llm.backends.base import Use


class Method(StrEnum):
    CLOZE = "cloze"
    RATING = "rating"
    WRITING = "writing"
    LEXICAL = "lexical"
    EMBEDDING = "embedding"
    STACKER = "stacker"


# What a method asks of a model; None where no model is asked.
USES: dict[Method, Use | None] = {
    Method.CLOZE: Use.SCORE,
    Method.RATING: Use.GENERATE,
    Method.WRITING: Use.GENERATE,
    Method.LEXICAL: None,
    Method.EMBEDDING: None,
    Method.STACKER: None,
}
# A judge of these has stored scores of its options, by which its labels can be chosen anew.
SCORES = frozenset({Method.CLOZE, Method.EMBEDDING, Method.STACKER})
# Of these the scores have no lengths and no evidence to normalise by.
WITHOUT_LENGTHS = frozenset({Method.EMBEDDING, Method.STACKER})
# A judge of these has a temperature and a longest answer, and cells that cannot be read.
WRITES = frozenset(method for method, use in USES.items() if use == Use.GENERATE)
