"""Judges for the study of `tests.builders`, and what they leave behind."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.db.models import F
from django.utils import timezone

from annotation.models import Label, LabelEvent, Rater, Study
from judges import actions
from judges.models import ExtractionRun, Judge, Run, WorkItem
from llm.backends.base import BackendError
from llm.engine import stopping
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, Sampling, Tokens
from llm.models import LanguageModel
from tests import builders
from tests.llm import tiny
from work import actions as machine
from work.actions import Held

OTHER_HOST = "elsewhere/1:4711"
LEXICAL = """\
questions:
  duties.stated:
    lexical: {in: [paragraph], same: stated, part: implied, none: absent}
  acts.act:
    lexical: {in: [paragraph], same: found, part: reworded, none: absent}
  acts.party:
    lexical: {in: [paragraph], same: same, part: other, none: other}
"""
# What the lexical judge says of a row of the leases, "The tenant pays the rent monthly and gives notice in writing.":
# "rent" is there but not "pay rent" in a row; "insure" and "inspect" are not; "give(s) notice" and "tenant" are. The
# party of an act that is absent is not asked; the strictness is not in the prompt.
LEXICAL_SAYS = {
    ("Pay rent", "stated"): "implied",
    ("Insure", "stated"): "absent",
    ("Give notice · tenant", "act"): "found",
    ("Give notice · tenant", "party"): "same",
    ("Inspect", "act"): "absent",
}
# Of ASCII letters alone: the tiny tokeniser knows no others.
CLOZE = """\
row: |
  $evidence_paragraph
questions:
  duties.stated:
    cell: |
      Duty: $about
      Answer:
    unconditional: "Answer:"
  acts.act:
    cell: |
      Act: $about
      Answer:
    unconditional: "Answer:"
  acts.party:
    cell: |
      Party of $facet_act: $about
      Answer:
    unconditional: "Answer:"
"""
# Two cells a row: the strictness of “Give notice” and of “Inspect”.
RATING = """\
row: |
  $evidence_paragraph
questions:
  acts.strictness:
    rating: {criterion: STRICTNESS, wording: "How strictly must $facet_act be done?"}
"""


def lexical_judge(name: str = "words") -> Judge:
    return actions.create_judge(name=name, method=Judge.Method.LEXICAL, prompt_text=LEXICAL)


def cloze_judge(location: str, *, name: str = "tiny", **options: Any) -> Judge:
    return actions.create_judge(
        name=name, method=Judge.Method.CLOZE, location=location, **{"prompt_text": CLOZE, **options}
    )


def rating_judge(location: str, *, name: str = "rates", temperature: float = 0.7, **options: Any) -> Judge:
    options = {"prompt_text": RATING, "max_new_tokens": 12, **options}
    return actions.create_judge(
        name=name, method=Judge.Method.RATING, location=location, temperature=temperature, **options
    )


def served_judge(address: str, *, name: str = "served", served_name: str = "llama", **options: Any) -> Judge:
    return cloze_judge(address, name=name, backend="openai", served_name=served_name, **options)


def gpu_judge(location: str) -> Judge:
    """A judge whose model this process does not look for: it may lie on the disk of the GPU's machine."""
    return cloze_judge(location, name="far", device=LanguageModel.Device.CUDA)


def save_tiny_model(folder: Path) -> str:
    """The place of a Llama with random weights; its context is 512 characters."""
    tiny.model("llama").save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return str(folder)


def study_of_leases(*, n_rows: int = 3, slug: str = "leases") -> Study:
    made = builders.study(slug, by=builders.user(f"manager-of-{slug}"))
    builders.sheet(made, n_rows=n_rows)
    return made


def work(run: Run) -> int:
    """What a worker does that takes up all of a run at once."""
    return actions.score_items(item_ids=list(run.items.values_list("pk", flat=True)))


def later(run: Run | ExtractionRun, seconds: float) -> None:
    """Let time pass: everything that a run's clocks say lies that much further back."""
    back = timedelta(seconds=seconds)
    for field in ("lease_until", "not_before", "done_at"):
        run.items.exclude(**{field: None}).update(**{field: F(field) - back})
    for field in ("queued_at", "enqueued_at", "started_at", "rest_until"):
        type(run).objects.filter(pk=run.pk).exclude(**{field: None}).update(**{field: F(field) - back})


def held(item: WorkItem) -> Held[WorkItem]:
    """As a worker that has just taken it."""
    taken = machine.claim(actions.JUDGING, item.pk)
    assert taken is not None
    return taken


def sent(callbacks: Iterable[Callable[[], object]]) -> list[list[int]]:
    """The batches of work items that would go to the queue at the end of the transaction."""
    return [batch for callback in callbacks if isinstance(callback, partial) for batch in callback.keywords["batches"]]


def states(run: Run) -> dict[str, int]:
    return dict(Counter(run.items.values_list("state", flat=True)))


def items(run: Run) -> list[WorkItem]:
    return list(run.items.order_by("pk"))


def labels_of(rater: Rater) -> dict[tuple[str, str, str], str]:
    """{(row, column, question): option}"""
    labels = Label.objects.filter(assignment__rater=rater)
    return {
        (label.assignment.row.name, label.column.name, label.question.key): label.option.key
        for label in labels.select_related("assignment__row", "column", "question", "option")
    }


def n_events(rater: Rater) -> int:
    """How many changes of labels the history has."""
    return LabelEvent.objects.filter(assignment__rater=rater).exclude(before=None, after=None).count()


def fresh(run: Run) -> Run:
    return Run.objects.select_related("judge", "rater", "study").get(pk=run.pk)


def claim(item: WorkItem, *, worker: str = OTHER_HOST, attempts: int = 1, **changes: Any) -> WorkItem:
    """As a worker that holds the item leaves it when it is killed."""
    WorkItem.objects.filter(pk=item.pk).update(
        **{
            "state": WorkItem.State.CLAIMED,
            "token": uuid.uuid4(),
            "worker": worker,
            "lease_until": timezone.now() + timedelta(seconds=90),
            "attempts": attempts,
            **changes,
        }
    )
    item.refresh_from_db()
    return item


class FailingBackend:
    """Fails as it is told; what a GPU out of memory does."""

    asks_outside = is_loaded = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    def score(self, rows: Sequence[Any], on_progress: Callable[[int, int], None] | None = None) -> list[Any]:
        raise self.error

    def identity(self) -> dict[str, str]:
        return {"model": "failing"}


def ended(answer: Generated, sampling: Sampling) -> Generated:
    """The answer as a model leaves it that is to end at a string."""
    at = stopping.first(answer.text, sampling.stops_at)
    return answer if at is None else Generated(answer.text[: at.place], cut=False, stop=at.string)


class ScriptedBackend:
    """Writes what it is told to: a text, or a function of (prompt, seed) to one."""

    asks_outside = is_loaded = False

    def __init__(self, says: str | Callable[[str, int], str], *, cut: bool = False) -> None:
        self.says = says
        self.cut = cut
        self.asked: list[tuple[str, Sampling]] = []

    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        of = [replace(sampling, seed=seed) for seed in seeds or [sampling.seed] * len(prompts)]
        self.asked += list(zip(prompts, of, strict=True))
        if on_progress is not None:
            on_progress(100 * len(prompts), len(prompts))
        say = self.says if callable(self.says) else lambda _prompt, _seed: str(self.says)
        return [ended(Generated(say(prompt, its.seed), self.cut), its) for prompt, its in zip(prompts, of, strict=True)]

    def binding(self) -> str:
        return "scripted"

    def identity(self) -> dict[str, str]:
        return {"model": "scripted"}


class CountingBackend(ScriptedBackend):
    """Reads 90 tokens a prompt and writes 10, as a server counts; fails at as many calls as it is told."""

    failing = 0

    def generate(self, prompts: Any, sampling: Any, on_progress: Any = None, *, seeds: Any = None) -> Any:
        answers = super().generate(prompts, sampling, seeds=seeds)
        on_progress(Tokens(read=90 * len(prompts), written=10 * len(prompts)), len(prompts))
        if self.failing:
            self.failing -= 1
            raise BackendError("Out of memory.", permanent=False)
        return answers
