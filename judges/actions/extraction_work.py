"""What an extraction run does to one document: its lists are taken out, or its item says why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Q
from django.utils.translation import gettext_lazy

from judges.actions import spending
from judges.actions.work import loaded, telling_of_backends
from judges.extraction import extracting
from judges.extraction.extracting import Asked, Taken
from judges.models import Extraction, ExtractionItem, ExtractionRun
from judges.spending.queries import divided, written_in
from llm import registry
from llm.backends.base import BackendError
from llm.engine.prompt import Generated, PromptTooLong, Tokens
from work.actions import Held
from work.kinds import Kind
from work.outcomes import NotWanted


@dataclass(frozen=True)
class _Found:
    """What was asked about one document together with others, what was answered, and its share of the tokens."""

    asked: Asked
    answers: Sequence[Generated | PromptTooLong]
    tokens: Tokens


def extract(held: Held[ExtractionItem]) -> None:
    """Take the lists out of the document of an item, in one transaction."""
    extractor, row = held.item.run.extractor, held.item.row
    if row.withdrawn_at:
        raise NotWanted
    spending.pause_if_spent(held.item.run)
    with telling_of_backends(held), spending.counted(held) as counter:
        if extractor.model is None:
            held.note_worker({"parser": extractor.parser})
            taken = extracting.by_parser(extractor, row)
        else:
            taken = _by_model(held, counter)
        _finish(held, counter, taken)


def _by_model(held: Held[ExtractionItem], counter: spending.Counter) -> list[Taken]:
    extractor, row = held.item.run.extractor, held.item.row
    backend = extracting.backend_of(extractor)
    held.note_worker(loaded(held, backend))
    if isinstance(held.found, _Found):
        counter(held.found.tokens, len(held.found.answers))
        return extracting.by_model(extractor, row, held.found.asked, held.found.answers)
    asked = extracting.asked_of(extractor, row)
    answers: list[Generated | PromptTooLong] = []
    if asked.prompts:
        answers = backend.generate(list(asked.prompts.values()), extracting.sampling_of(extractor), counter)
        counter.counted(written_in(answers))
    return extracting.by_model(extractor, row, asked, answers)


def _finish(held: Held[ExtractionItem], counter: spending.Counter, taken: Sequence[Taken]) -> None:
    extractor, row = held.item.run.extractor, held.item.row
    with held.finishing(**counter.added):
        # What was taken out first stands: judges may have read it.
        Extraction.objects.bulk_create(
            (
                Extraction(
                    extractor=extractor,
                    row=row,
                    kind=one.kind,
                    items=one.items,
                    raw=one.raw,
                    repairs=one.repairs,
                    refused=one.refused,
                    unsupported=one.unsupported,
                )
                for one in taken
            ),
            ignore_conflicts=True,
        )


def ask_together(helds: Sequence[Held[ExtractionItem]]) -> None:
    """Have the lists of several documents of a run written in one call, and leave each with its item."""
    first = helds[0]
    extractor = first.item.run.extractor
    due = [held for held in helds if not held.item.row.withdrawn_at]
    asked = [extracting.asked_of(extractor, held.item.row) for held in due]
    backend = extracting.backend_of(extractor)
    loaded(first, backend)
    prompts = [prompt for one in asked for prompt in one.prompts.values()]
    with spending.counted(first) as counter:
        answers = backend.generate(prompts, extracting.sampling_of(extractor), counter) if prompts else []
        counter.counted(written_in(answers))
    left = iter(answers)
    of_each = [list(islice(left, len(one.prompts))) for one in asked]
    tokens = divided(counter.tokens, counter.written, of_each)
    for held, its, written, of_it in zip(due, asked, of_each, tokens, strict=True):
        held.found = _Found(its, written, of_it)


def _together(run: ExtractionRun) -> int:
    """How many documents are better asked about in one call. A run with a limit takes one after the other, so that it
    stops at it."""
    model = run.extractor.model
    if model is None or run.is_limited:
        return 1
    try:
        return registry.class_of(model.backend).together
    except BackendError:
        return 1


EXTRACTING = Kind(
    ExtractionItem,
    extract,
    name=lambda item: f"{item.row.sheet.title} · {item.row.name}",
    order=("attempts", "row__sheet__position", "row__position"),
    related=("run__extractor__model", "run__study", "row__sheet"),
    batch=4,
    together=_together,
    ahead=ask_together,
    died=gettext_lazy("%(n)s workers died at this document, or fell silent."),
    is_void=Q(row__withdrawn_at__isnull=False),
    leaving=spending.keep,
)
