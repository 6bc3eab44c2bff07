"""The kinds of work that this installation has. Each app registers its own when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from work.models import Item, Run
from work.states import LONG_WORK_PRIORITY, RunState

I = TypeVar("I", bound=Item)  # noqa: E741


_DIED = _("%(n)s workers died at this, or fell silent.")


def _nothing(*_of: Any) -> None:
    pass


def _one(_run: Any) -> int:
    return 1


@dataclass(frozen=True, eq=False)
class Kind(Generic[I]):
    """A kind of work: a table of items, and how one of them is done.

    Attributes:
        item: the table; its foreign key `run` leads to the table of runs.
        do: does one item; gets a `work.actions.Held` of it. See `work` for what it may raise.
        name: of an item, for the log and for people who use a command.
        order: in which items are taken up. What workers died at comes last: the others are done then, whatever is
            wrong with it.
        related: what is selected with an item for `do`.
        batch: how many items go into one message to the queue. Short items are better sent together.
        together: how many items of a run a worker takes up at once.
        groups: how many times as many go into one message, where `ahead` works while others are done.
        ahead: gets several that were taken up together, before they are done one after the other, each by itself: what
            takes less for all than for each is found here and left in `Held.found`. What it raises is no item's end;
            each then does without. The last attempt at an item is alone, so that one at which workers die takes no
            other with it. What works beside this thread is a generator: what stands before its `yield` begins it, what
            follows waits for its end. The next items of the message are taken up and begun before the end is waited
            for, so that it works at those while these are done; the generator is closed where nobody wants them.
        died: the sentence of an item at which workers died, with %(n)s.
        is_void: of items that a resumed run does no more.
        leaving: what else is written when items leave their run, in the same transaction; gets the run, and them.
        failed: what else is written when an item fails, in the same transaction.
        ended: what else is written when a run ends by itself, in the same transaction; gets the run, and its state by
            then. Not of one that somebody cancels.
        waits: before the second attempt at an item, before the third, and so on; after so many and one it fails.
        awaited: whether people wait for the end of a run: its study's board shows it, is neither archived nor deleted
            before, and other runs say that they come after it.
        fails_the_run: a run is as good as its one item.
        priority: of its messages; `SHORT_WORK_PRIORITY` where somebody waits for one item.
    """

    item: type[I]
    do: Callable[[Any], None]
    name: Callable[[I], str] = str
    order: tuple[str, ...] = ("attempts", "pk")
    related: tuple[str, ...] = ("run",)
    batch: int = 1
    together: Callable[[Any], int] = _one
    groups: Callable[[Any], int] = _one
    ahead: Callable[[Sequence[Any]], Iterator[None] | None] = _nothing
    died: str | Promise = _DIED
    is_void: Q | None = None
    leaving: Callable[[Any, QuerySet[Any]], None] = _nothing
    failed: Callable[[I, str], None] = _nothing
    ended: Callable[[Any, RunState], None] = _nothing
    waits: Sequence[timedelta] = (timedelta(seconds=20), timedelta(seconds=40))
    awaited: bool = True
    fails_the_run: bool = False
    priority: int = LONG_WORK_PRIORITY

    @property
    def key(self) -> str:
        """Its name in messages to the queue."""
        return self.item._meta.label_lower

    @property
    def most_attempts(self) -> int:
        return len(self.waits) + 1

    def in_a_message(self, run: Run) -> int:
        return max(self.batch, self.together(run) * self.groups(run))

    @property
    def run(self) -> type[Run]:
        made = self.item._meta.get_field("run").related_model
        assert isinstance(made, type)
        assert issubclass(made, Run)
        return made


_kinds: dict[str, Kind[Any]] = {}


def register(kind: Kind[Any]) -> None:
    _kinds[kind.key] = kind


def every() -> list[Kind[Any]]:
    return list(_kinds.values())


def called(key: str) -> Kind[Any]:
    """Raises KeyError where no app has registered it."""
    return _kinds[key]


def of(run: Run) -> Kind[Any]:
    """The kind of a run's work."""
    return next(kind for kind in _kinds.values() if kind.run is type(run))
