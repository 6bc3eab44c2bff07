"""A backend of an installation's own: it prefers short options, and says what it is asked. No model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from llm.backends.base import Backend, Chat, Installation, Needs, Place, Use
from llm.engine.prompt import Generated, OnProgress, OptionScore, PromptTooLong, RowPrompt, RowScores, Sampling


@dataclass(frozen=True)
class Shortest(Backend):
    """Scores each option by its length."""

    place: str

    label = "by a ruler"
    uses = {Use.SCORE: Chat.NEVER}
    takes = frozenset({"revision"})
    requires = frozenset({"revision"})

    @classmethod
    def of(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> Self:
        return cls(f"{place.location}@{place.revision}")

    @classmethod
    def needs(cls, place: Place) -> Needs:
        return Needs.GPU

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        if on_progress is not None:
            on_progress(1, sum(len(row.cells) for row in rows))
        return [
            tuple(tuple(OptionScore(-len(o), 1, len(o), None) for o in cell.options) for cell in row.cells)
            for row in rows
        ]

    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        raise NotImplementedError  # its `uses` say so, and nobody asks

    def identity(self) -> dict[str, str]:
        return {"model": self.place}
