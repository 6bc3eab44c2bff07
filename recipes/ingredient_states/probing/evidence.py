"""A recipe as judges read it, in the tasks and in training alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import LIST, PARAGRAPH


def evidence(ingredients: Iterable[str], steps: Iterable[str]) -> list[Block]:
    """Its ingredients, then its steps with their numbers."""
    return [
        *(Block(LIST, text) for text in ingredients),
        *(Block(PARAGRAPH, f"Step {number}. {text}") for number, text in enumerate(steps, start=1)),
    ]
