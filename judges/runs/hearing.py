"""What a model is asked, heard on its way there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence

from judges.runs.asking import Respondent
from llm.engine.prompt import (
    CellPrompt,
    Generated,
    OnProgress,
    OptionScore,
    PromptTooLong,
    RowPrompt,
    RowScores,
    Sampling,
)

_LAST = 3  # letters, about, of an option's last token: the engine reads up to it
_DIGITS = 16  # of a digest: of a million prompts two are the same by chance once in 37 million times


def digest_of(prompt: str, options: Sequence[str] = (), without: str = "", picture: str = "") -> str:
    """The first 16 digits of the SHA-256 of what a model was given: a prompt, the options that were scored behind it
    and behind the prompt without evidence, the picture beside it."""
    given = json.dumps([prompt, list(options), without, picture])
    return hashlib.sha256(given.encode()).hexdigest()[:_DIGITS]


class Overheard:
    """A backend, and what passes through it."""

    def __init__(self, backend: Respondent | None = None) -> None:
        self._backend = backend
        self.rows: list[RowPrompt] = []
        self.prompts: list[str] = []
        self._pictures: list[str] = []  # beside each of these prompts

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        self.rows += rows
        if self._backend is not None:
            return self._backend.score(rows, on_progress)
        return [tuple(_no_scores(cell.options) for cell in row.cells) for row in rows]

    @property
    def rescue_below_nats(self) -> float:
        return self._backend.rescue_below_nats if self._backend is not None else 0.0

    def rescue(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        assert self._backend is not None  # else nothing is in doubt
        return self._backend.rescue(rows, on_progress)

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        self.prompts += prompts
        self._pictures += [sampling.picture] * len(prompts)
        if self._backend is not None:
            return self._backend.generate(prompts, sampling, on_progress)
        return [Generated("", cut=False) for _prompt in prompts]

    def letters(self, *, shares: bool) -> int:
        """Of what was to be read; `shares`: what prompts of a row have in common is read once."""
        of_rows = sum(_letters(row, shares=shares) for row in self.rows)
        return of_rows + sum(map(len, self.prompts))

    @property
    def requests(self) -> int:
        """Prompts, one an option."""
        return sum(
            len(cell.options) * (1 if cell.unconditional is None else 2) for row in self.rows for cell in row.cells
        ) + len(self.prompts)

    @property
    def shown(self) -> list[str]:
        """The prompts as the model gets them, one each that it answers."""
        return [row.shared + cell.text for row in self.rows for cell in row.cells] + self.prompts

    @property
    def digests(self) -> list[str]:
        """By `digest_of` what the model was given, each at the place of its prompt in `shown`."""
        scored = [_digest_at(row, cell) for row in self.rows for cell in row.cells]
        written = [
            digest_of(prompt, picture=picture) for prompt, picture in zip(self.prompts, self._pictures, strict=True)
        ]
        return scored + written


def _digest_at(row: RowPrompt, cell: CellPrompt) -> str:
    return digest_of(row.shared + cell.text, cell.options, cell.unconditional or "")


def _no_scores(options: Sequence[str]) -> tuple[OptionScore, ...]:
    return tuple(OptionScore(-1.0 - place, 1, len(option), -1.0) for place, option in enumerate(options))


def _letters(row: RowPrompt, *, shares: bool) -> int:
    if shares:
        asked = [cell.text + option[:-_LAST] for cell in row.cells for option in cell.options]
        without = [(cell.unconditional, cell.options) for cell in row.cells if cell.unconditional is not None]
        return (
            len(row.shared)
            + _letters_once(asked)
            + _letters_once([text + option[:-_LAST] for text, options in without for option in options])
        )
    return sum(
        sum(len(option) + 2 for option in cell.options) + len(before) * len(cell.options)
        for cell in row.cells
        for before in (row.shared + cell.text, cell.unconditional)
        if before is not None
    )


def _letters_once(texts: Iterable[str]) -> int:
    """What texts begin with alike is read once; sorted, those are side by side."""
    total, previous = 0, ""
    for text in sorted(texts):
        total += len(text) - len(os.path.commonprefix([previous, text]))  # noqa: RUF071  # letter by letter, as is meant
        previous = text
    return total
