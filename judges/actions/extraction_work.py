"""What an extraction run does to one document: its lists are taken out, or its item says why not."""

from __future__ import annotations

from django.db.models import Q
from django.utils.translation import gettext_lazy

from judges.actions.work import loaded, telling_of_backends
from judges.extraction import extracting
from judges.models import Extraction, ExtractionItem
from llm.backends.base import Backend
from work.actions import Held
from work.kinds import Kind
from work.outcomes import NotWanted


def extract(held: Held[ExtractionItem]) -> None:
    """Take the lists out of the document of an item, in one transaction."""
    extractor, row = held.item.run.extractor, held.item.row
    if row.withdrawn_at:
        raise NotWanted
    with telling_of_backends():
        backend: Backend | None = None
        if extractor.model is not None:
            backend = extracting.backend_of(extractor)
            identity = loaded(held, backend)
        else:
            identity = {"parser": extractor.parser}
        held.note_worker(identity)
        taken = extracting.extract(extractor, row, backend, held.beat)
    with held.finishing():
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


EXTRACTING = Kind(
    ExtractionItem,
    extract,
    name=lambda item: f"{item.row.sheet.title} · {item.row.name}",
    order=("attempts", "row__sheet__position", "row__position"),
    related=("run__extractor__model", "run__study", "row__sheet"),
    batch=4,
    died=gettext_lazy("%(n)s workers died at this document, or fell silent."),
    is_void=Q(row__withdrawn_at__isnull=False),
)
