"""Extractors for the study of `tests.builders`, and a model that writes what it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from judges import actions
from judges.extraction import extracting
from judges.models import Extraction, Extractor
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling
from tests.judges.helpers import ended

PROMPT = """\
lists:
  paragraph:
    ask: |
      <page>
      $document
      </page>
      Write its clauses: <paragraphs><paragraph>clause</paragraph></paragraphs>
"""
# The rows of the leases say "The tenant pays the rent monthly and gives notice in writing."
RENT = "<paragraphs><paragraph>The tenant pays the rent</paragraph></paragraphs>"


class Written:
    """A backend that answers from a list, the last answer again and again, and keeps what it was asked."""

    asks_outside = is_loaded = False

    def __init__(self, *answers: str | Exception | PromptTooLong, cut: bool = False) -> None:
        self.answers = list(answers)
        self.cut = cut
        self.asked: list[str] = []
        self.before_each: Callable[[], None] = lambda: None

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        written: list[Generated | PromptTooLong] = []
        for prompt in prompts:
            self.asked.append(prompt)
            self.before_each()
            if on_progress is not None:
                on_progress(len(prompt), len(written))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, PromptTooLong):
                written.append(answer)
            elif isinstance(answer, Exception):
                raise answer
            else:
                written.append(ended(Generated(answer, cut=self.cut), sampling))
        return written

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        raise NotImplementedError

    def identity(self) -> dict[str, str]:
        return {"model": "written"}


def extractor(location: str = "/models/writer", *, name: str = "writer", prompt: str = PROMPT) -> Extractor:
    """An extractor with a model that is said to lie on the GPU's machine, where this process does not look."""
    return actions.create_extractor(name=name, location=location, device="cuda", prompt_text=prompt, chat_template=True)


def writes(monkeypatch: pytest.MonkeyPatch, *answers: str | Exception | PromptTooLong, cut: bool = False) -> Written:
    backend = Written(*answers, cut=cut)
    monkeypatch.setattr(extracting, "backend_of", lambda _extractor: backend)
    return backend


def taken(extractor: Extractor) -> dict[str, Extraction]:
    """{row: what was taken out}"""
    return {one.row.name: one for one in Extraction.objects.filter(extractor=extractor).select_related("row")}
