"""What a judge's backend offers, and how it fails. Importing this loads neither torch nor a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from judges.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling


class BackendError(Exception):
    """A backend could not do its work; the message is a sentence for the person who runs the judge.

    `permanent` says that trying again changes nothing until somebody does what the sentence asks.
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


class Unavailable(BackendError):
    """Nobody is there to do the work, at this row or at any other; trying again later may help."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=False)


class Backend(Protocol):
    """Something that scores the options of cells, writes answers, and can say exactly what it is."""

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """The scores of each row, or in a row's place why its evidence does not fit; the other rows are scored.

        Raises:
            OptionsNotPrefixFree: an option of a cell begins another one.
            BackendError: the model is missing, out of memory, or answers with what is not a number.
            Whatever `on_progress` raises.
        """

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        """The answer to each prompt, or in its place why it does not fit; the other prompts are answered.

        The prompts are whole: instruction, evidence, question. Special tokens in them are made inert. With a chat
        template each is a user's message, and the answer is the assistant's reply.

        Raises:
            BackendError: the model is missing, out of memory, or answers with what is not a number.
            Whatever `on_progress` raises.
        """

    def identity(self) -> dict[str, str]:
        """What produced the scores, for the run's record: model, revision, digest of the weights, dtype, device,
        versions of the libraries, settings of the engine. Raises BackendError like `score`."""
