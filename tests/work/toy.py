"""How a number is written down, and what a test can put in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from tests.work.models import Batch, Piece, Written
from work import actions
from work.actions import Held
from work.kinds import Kind
from work.outcomes import NotWanted


def _nothing(_held: Held[Piece]) -> None:
    pass


meanwhile: list[Callable[[Held[Piece]], None]] = [_nothing]


def write_down(held: Held[Piece]) -> None:
    held.note_worker({"pen": "blue"})
    meanwhile[-1](held)
    held.beat()
    if held.item.void:
        raise NotWanted
    with held.finishing(weight=10):
        Written.objects.create(number=held.item.number, key=held.key)


def failed(piece: Piece, error: str) -> None:
    Written.objects.create(number=piece.number, key=piece.token, note=error)


PIECES = Kind(
    Piece,
    write_down,
    name=lambda piece: f"Number {piece.number}",
    batch=2,
    is_void=Q(void=True),
    failed=failed,
)


def started(n: int = 3, *, queue: str = "cpu", enqueue: bool = True) -> Batch:
    run = Batch.objects.create(wanted=queue)
    actions.start(run, [Piece(run=run, number=number) for number in range(1, n + 1)], enqueue=enqueue)
    return run


def work(run: Batch) -> int:
    """What a worker does that takes up all of a run at once."""
    return actions.do_items(kind=PIECES, item_ids=list(run.items.order_by("pk").values_list("pk", flat=True)))


def later(run: Batch, seconds: float) -> None:
    """Let time pass: everything that a run's clocks say lies that much further back."""
    back = timedelta(seconds=seconds)
    for field in ("lease_until", "not_before", "done_at"):
        run.items.exclude(**{field: None}).update(**{field: F(field) - back})
    for field in ("queued_at", "enqueued_at", "started_at", "rest_until"):
        Batch.objects.filter(pk=run.pk).exclude(**{field: None}).update(**{field: F(field) - back})


def states(run: Batch) -> list[str]:
    return list(run.items.order_by("pk").values_list("state", flat=True))


def written() -> list[int]:
    return list(Written.objects.filter(note="").order_by("number").values_list("number", flat=True))


def fresh(run: Batch) -> Batch:
    return Batch.objects.get(pk=run.pk)


def sent(callbacks: Iterable[Any]) -> list[list[int]]:
    """The batches of items that would go to the queue at the end of the transaction."""
    return [batch for callback in callbacks for batch in callback.keywords["batches"]]


def claim(piece: Piece, *, worker: str, seconds: float = 90, attempts: int = 1) -> Piece:
    """As a worker that holds it leaves it when it is killed."""
    Piece.objects.filter(pk=piece.pk).update(
        state="claimed", token="00000000-0000-4000-8000-000000000000", worker=worker, attempts=attempts,
        lease_until=timezone.now() + timedelta(seconds=seconds),
    )  # fmt: skip
    piece.refresh_from_db()
    return piece
