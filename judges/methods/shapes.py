"""What `Label.scores` holds: one declared shape a method, which writing checks and readers go by. Pure.

`cloze.Scores` for judges that score options or weigh those of others, `embedding.Scores` for those that compare
embeddings, `answers.Scores` for those that write, nothing for the lexical judge.
"""

from __future__ import annotations

from typing import Any

from judges.methods import Method, answers, cloze, embedding

SHAPES: dict[Method, type[cloze.Scores] | type[embedding.Scores] | type[answers.Scores] | None] = {
    Method.CLOZE: cloze.Scores,
    Method.RATING: answers.Scores,
    Method.WRITING: answers.Scores,
    Method.LEXICAL: None,
    Method.EMBEDDING: embedding.Scores,
    Method.STACKER: cloze.Scores,
}


def stored(method: Method, scores: object) -> dict[str, Any] | None:
    """The scores of a label as JSON.

    Raises:
        TypeError: they are not of the method's shape: a mistake of ours.
    """
    shape = SHAPES[method]
    if shape is None and scores is None:
        return None
    if shape is None or not isinstance(scores, shape):
        raise TypeError(f"a label of the method {method} has {scores!r}, not {shape and shape.__name__}")
    return scores.stored()


def read(method: Method, of_label: Any) -> cloze.Scores | embedding.Scores | answers.Scores | None:
    """The scores of a stored label; raises pydantic's ValidationError for those of another shape."""
    shape = SHAPES[method]
    return None if shape is None else shape.model_validate(of_label)
