"""The work of one task: items claimed, done, given back or failed."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from base import logs
from work import kinds, queries
from work.actions.holding import DATABASE_ERRORS, Held, claim, claim_all, held, let_go, release, release_strays
from work.actions.runs import end, finish, leave, send_items
from work.kinds import Kind
from work.models import Item, Run
from work.outcomes import Away, GiveUp, ItemFailed, NotWanted, RunFailed, TryAgain
from work.states import SHORT_WORK_PRIORITY, ItemState, RunState

log = logging.getLogger(__name__)

I = TypeVar("I", bound=Item)  # noqa: E741
T = TypeVar("T")

# A run fails that finds nobody there (`outcomes.Away`) so many times in a row.
MAX_RESTS = 3
# Seconds for which a worker goes on asking a database that is away, and seconds between two tries at most.
_PATIENCE, _LONGEST_PAUSE = 600, 10
# Seconds between two looks whether somebody waits for short work.
_LOOKS_EVERY = 1
# Seconds between two looks after items that this process holds in the database alone.
_STRAYS_EVERY = 15
_strays_seen = 0.0

# Errors of a full disk, where room may be made meanwhile.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def is_passing(error: Exception) -> bool:
    """Whether an error says nothing of the work that met it: the same may go well a minute later."""
    return isinstance(error, DATABASE_ERRORS) or (isinstance(error, OSError) and error.errno in _NO_ROOM)


def do_items(*, kind: Kind[Any], item_ids: Sequence[int], gives_way: bool = False) -> int:
    """Do some items, one after the other. Those that somebody else has are passed over.

    `gives_way`: where somebody waits for short work on the same queue, the rest goes back there, right behind that.

    Returns how many were done. What goes wrong with one is written to it, and a mistake of ours to the log as well; the
    others go on.
    """
    give_back_strays()
    done = 0
    left = list(item_ids)
    group, following = _Group(kind), _Group(kind)
    looked = time.monotonic()
    try:
        group.take(left)
        while group:
            if group.is_under_way:
                following.take(left, fresh=True)
            done += group.do(following)
            run, group, following = group.run, following, _Group(kind)
            if gives_way and left and time.monotonic() - looked > _LOOKS_EVERY:
                looked = time.monotonic()
                if _insist(partial(queries.somebody_waits, kind, run.queue)):
                    send_items(run, run.items.filter(pk__in=left), priority=SHORT_WORK_PRIORITY)
                    left.clear()
            if not group:
                group.take(left)
            if group.run != run:  # else it goes on
                _insist(partial(finish, run))
    finally:
        for one in (group, following):  # this process is told to stop
            one.give_back()
    return done


class _Group:
    """Items of one run that were claimed together, and what was begun for them ahead. False where there are none."""

    def __init__(self, kind: Kind[Any]) -> None:
        self._kind = kind
        self.run: Any = None
        self._waiting: list[Held[Any]] = []
        self._ahead: Iterator[None] | None = None
        self._spent = 0.0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def is_under_way(self) -> bool:
        """Whether what was begun ahead goes on beside this thread."""
        return self._ahead is not None

    def take(self, left: list[int], *, fresh: bool = False) -> None:
        """Claim the first that is to be had of those that are left, and what is to be taken up together with it, and
        begin what they share. `fresh`: claim nothing where that first one was tried before."""
        items = self._kind.item._default_manager
        while left and not self._waiting:
            if fresh and not _insist(items.filter(pk=left[0], attempts=0).exists):
                return
            if (first := _insist(partial(claim, self._kind, left.pop(0)))) is not None:
                self.run = first.item.run
                self._waiting.append(first)
                self._take_others(first.item, left)
        if len(self._waiting) > 1:
            self._waiting[0].beside = self._waiting[1:]
            self._try(self._begin)

    def _take_others(self, first: Item, left: list[int]) -> None:
        if is_last_attempt(first) or (n := self._kind.together(first.run)) < 2:
            return
        items = self._kind.item._default_manager.filter(
            pk__in=left, run=first.run_id, attempts__lt=self._kind.most_attempts - 1
        )
        fresh = set(items.values_list("pk", flat=True))
        wanted = [pk for pk in left if pk in fresh][: n - 1]
        left[:] = [pk for pk in left if pk not in wanted]
        self._waiting += _insist(partial(claim_all, self._kind, wanted, known=self.run))

    def do(self, following: _Group) -> int:
        """Do them one after the other, once what they share was found; how many were done. The leases of those that
        follow are renewed with theirs."""
        done, n = 0, len(self._waiting)
        if self._ahead is not None:
            self._waiting[0].beside = [*self._waiting[1:], *following._waiting]
            self._try(self._end)
        while self._waiting:
            holder = self._waiting.pop(0)
            holder.beside = [*self._waiting, *following._waiting]
            holder.begin(spent=self._spent / n)
            done += do_held(holder)
        return done

    def _begin(self) -> None:
        ahead = self._kind.ahead(list(self._waiting))
        if ahead is not None and next(ahead, ahead) is None:
            self._ahead = ahead

    def _end(self) -> None:
        ahead, self._ahead = self._ahead, None
        for _more in ahead or ():
            raise AssertionError(f"what {self._kind.key} does ahead has one yield")

    def _try(self, step: Callable[[], None]) -> None:
        begun = time.monotonic()
        try:
            step()
        except GiveUp:
            log.info("%s and %s others are given up", self._kind.key, len(self._waiting) - 1)
        except Exception as error:  # each is then done by itself, and says what is wrong with it
            log.warning("%s items could not be prepared together: %s", len(self._waiting), error)
        self._spent += time.monotonic() - begun

    def give_back(self) -> None:
        """What is not done yet."""
        if isinstance(self._ahead, Generator):
            self._ahead.close()
        for holder in self._waiting:
            let_go(holder)
            release(holder.item)
        self._waiting = []


def take_up(run: Run) -> bool:
    """Do the next item of a run in this process, or the next ones where they are taken up together; False when none is
    to be had at the moment."""
    kind = kinds.of(run)
    due = run.items.filter(queries.due(timezone.now()), run__state=RunState.RUNNING)
    n = kind.together(run) * kind.groups(run)
    pks = list(due.order_by(*kind.order).values_list("pk", flat=True)[:n])
    if not pks:
        return False
    do_items(kind=kind, item_ids=pks)
    return True


def give_back_strays(*, at_once: bool = False) -> None:
    """Look after items that this process holds in the database alone; see `release_strays`."""
    global _strays_seen
    if not at_once and time.monotonic() - _strays_seen < _STRAYS_EVERY:
        return
    _strays_seen = time.monotonic()
    for kind in kinds.every():
        if n := release_strays(kind):
            log.warning("%s: %s items that this process had lost are given back", kind.key, n)


def do_held(holder: Held[Any]) -> bool:
    """Do a claimed item. True: it is done; False: its item says why not."""
    try:
        with logs.about(kind=holder.kind.key, run=str(holder.item.run_id), item=str(holder.item.pk)):
            return _do(holder)
    finally:
        let_go(holder)


def _do(holder: Held[Any]) -> bool:
    kind, item = holder.kind, holder.item
    try:
        kind.do(holder)
        assert holder.is_finished, f"{kind.key} was left unfinished"
    except GiveUp:
        _insist(partial(release, item))
    except NotWanted:
        _insist(partial(leave, item.run, held(item)))
    except ItemFailed as failure:
        _insist(partial(fail, kind, item, str(failure)))
    except Away as failure:
        _insist(partial(_rest, item, str(failure)))
    except RunFailed as failure:
        _insist(partial(_fail_run, item, str(failure)))
    except TryAgain as failure:
        _insist(partial(_retry, kind, item, str(failure)))
    except DATABASE_ERRORS as error:  # locked or away
        log.warning("%s: %s", name_of(holder), error)
        sentence = _("The database did not answer: %(error)s") % {"error": error}
        _insist(partial(_retry, kind, item, sentence))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            log.warning("%s: %s", name_of(holder), error)
            _insist(partial(_retry, kind, item, _("No room is left on the disk.")))
        else:
            log.exception("%s could not be done", name_of(holder))
            mistake = _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"}
            _insist(partial(fail, kind, item, mistake))
    except BaseException:  # this process is told to stop
        release(item)
        raise
    else:
        if item.run.rests:
            _insist(partial(_rested, item.run))
        return True
    return False


def name_of(holder: Held[Any]) -> str:
    """For the log, also where the database, which may have to be asked for it, is away."""
    try:
        return holder.kind.name(holder.item)
    except DATABASE_ERRORS:
        return f"{holder.kind.key} {holder.item.pk}"


def _rested(run: Run) -> None:
    type(run)._default_manager.filter(pk=run.pk).update(rests=0, rest_until=None)


def _insist(write: Callable[[], T]) -> T:
    """Ask the database, however long it is away: nobody else knows what became of an item.

    Raises:
        OperationalError, InterfaceError: it stayed away for very long. The item is then found by `release_strays`.
    """
    pause, deadline = 0.25, time.monotonic() + _PATIENCE
    while True:
        try:
            return write()
        except DATABASE_ERRORS as error:
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            log.warning("The database is away or locked, asked again in %.1f s: %s", pause, error)
            connection.close()
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


@transaction.atomic
def fail(kind: Kind[I], item: I, error: str, *, unrenewed_since: datetime | None = None) -> None:
    """`unrenewed_since`: the lease as it was read; who has renewed it meanwhile is alive and keeps the item."""
    mine = held(item)
    if unrenewed_since is not None:
        mine = mine.filter(lease_until=unrenewed_since)
    if mine.update(state=ItemState.FAILED, lease_until=None, error=error, done_at=timezone.now()):
        kind.failed(item, error)


def is_last_attempt(item: Item) -> bool:
    """Whether an item that fails now is not tried again."""
    return item.attempts >= kinds.of(item.run).most_attempts


def _retry(kind: Kind[I], item: I, error: str) -> None:
    """Try again later, at the distances of its kind. The recovery sends it when it is due."""
    if item.attempts >= kind.most_attempts:
        fail(kind, item, error)
        return
    wait = kind.waits[item.attempts - 1]
    held(item).update(state=ItemState.QUEUED, lease_until=None, error=error, not_before=timezone.now() + wait)


@transaction.atomic
def _fail_run(item: Item, error: str) -> None:
    release(item)
    end(item.run, RunState.FAILED, error=error)


def _rest(item: Item, error: str) -> None:
    """The whole run waits, at growing distances; the third time it fails."""
    runs = type(item.run)._default_manager
    run, now = runs.get(pk=item.run_id), timezone.now()
    until = run.rest_until
    if until is None or until <= now:
        if run.rests + 1 >= MAX_RESTS:
            _fail_run(item, error)
            return
        until = now + timedelta(seconds=10 * 2 ** (run.rests + 1))
        # Of several workers that find nobody at the same time one counts.
        runs.filter(pk=run.pk, rests=run.rests).update(rests=F("rests") + 1, rest_until=until)
    held(item).update(
        state=ItemState.QUEUED, lease_until=None, error=error, not_before=until, attempts=F("attempts") - 1
    )
    waiting = run.items.filter(state=ItemState.QUEUED)
    waiting.filter(Q(not_before=None) | Q(not_before__lt=until)).update(not_before=until)
