"""Which numbers differ between two reports, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from reports.contents import Contents
from reports.tables import Head, ReportTable, Value
from reports.words import renamed

Number = int | float
Ends = tuple[Number | None, Number | None]


@dataclass(frozen=True)
class NumberChange:
    """One number in both reports. None: not defined; or not there at all, and `only_in` says "first" or "second".

    first_ends, second_ends: the ends of its interval, None without one, or where ends are numbers by themselves. An
    interval that is of no number of its table has no number either.
    """

    table: ReportTable
    row: str
    head: Head
    first: Number | None
    second: Number | None
    only_in: str = ""
    first_ends: Ends | None = None
    second_ends: Ends | None = None

    @property
    def difference(self) -> Number | None:
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True)
class Comparison:
    n_numbers: int  # in either report
    changes: tuple[NumberChange, ...]

    @property
    def equal(self) -> bool:
        return not self.changes


@dataclass(frozen=True)
class _Number:
    table: ReportTable
    row: str
    head: Head
    value: Number | None
    ends: Ends | None = None


Key = tuple[str, str, str]


def compare(first: Contents, second: Contents) -> Comparison:
    """Numbers that are not equal, in the order of the first report; then those that the second alone has."""
    return _compared(dict(_numbers(first)), dict(_numbers(second)))


def compare_with_intervals(first: Contents, second: Contents) -> Comparison:
    """The same as people read it: a number and its interval are one."""
    return _compared(dict(_with_intervals(first)), dict(_with_intervals(second)))


def _compared(one: Mapping[Key, _Number], other: Mapping[Key, _Number]) -> Comparison:
    changes = []
    for key, of in one.items():
        then = other.get(key)
        if then is None:
            changes.append(NumberChange(of.table, of.row, of.head, of.value, None, "first", of.ends))
        elif (then.value, then.ends) != (of.value, of.ends):
            changes.append(NumberChange(of.table, of.row, of.head, of.value, then.value, "", of.ends, then.ends))
    for key, of in other.items():
        if key not in one:
            changes.append(NumberChange(of.table, of.row, of.head, None, of.value, "second", None, of.ends))
    return Comparison(len(one.keys() | other.keys()), tuple(changes))


def _numbers(contents: Contents) -> Iterator[tuple[Key, _Number]]:
    for table in contents.tables:
        for unique, name, line in _lines(table):
            for head, value in zip(table.heads, line, strict=True):
                if _is_number(head):
                    yield (table.key, unique, head.key), _Number(table, name, head, _number(value))


def _with_intervals(contents: Contents) -> Iterator[tuple[Key, _Number]]:
    for table in contents.tables:
        lows = intervals_of(table.heads)
        low_of = {estimate: low for low, estimate in lows.items() if estimate is not None}
        ends = {place for low in lows for place in (low, low + 1)}
        for unique, name, line in _lines(table):
            for place, head in enumerate(table.heads):
                if place in lows and lows[place] is None:
                    alone = Head(head.key, head.group or head.title, head.kind)
                    yield (table.key, unique, head.key), _Number(table, name, alone, None, _ends(line, place))
                elif place in low_of:
                    of, named = _ends(line, low_of[place]), _with_heading(head, table.heads[low_of[place]].group)
                    yield (table.key, unique, head.key), _Number(table, name, named, _number(line[place]), of)
                elif _is_number(head) and place not in ends:
                    yield (table.key, unique, head.key), _Number(table, name, head, _number(line[place]))


def intervals_of(heads: Sequence[Head]) -> dict[int, int | None]:
    """The places of the columns in which intervals begin (the next is their other end), each with the place of what the
    interval is of: the column that its key names, or the one before it under its own heading or under none. None where
    there is no such column, as of limits of agreement. Fields of a list, and judges, may be called by such keys too:
    their columns have titles of their own.

    >>> names = ("value", "low", "high", "kappa", "n", "kappa_low", "kappa_high", "bias", "limit_low", "limit_high")
    >>> ends = {"low": "from", "high": "to"}
    >>> intervals_of([Head(name, ends.get(name.split("_")[-1], name), "number") for name in names])
    {1: 0, 5: 3, 8: None}
    """
    found: dict[int, int | None] = {}
    for place, (low, high) in enumerate(pairwise(heads)):
        of = low.key.removesuffix("low")
        named = low.key != of and high.key == f"{of}high" and (not of or of.endswith("_"))
        if not named or (low.title, high.title) not in _titles_of_ends() or not _is_number(low):
            continue
        before = place - 1
        is_beside = (
            before >= 0
            and before - 1 not in found
            and _is_number(heads[before])
            and (not of or bool(heads[place].group and heads[before].group == heads[place].group))
        )
        named_by = next((at for at, head in enumerate(heads) if head.key == of[:-1] and _is_number(head)), None)
        found[place] = named_by if named_by is not None else before if is_beside else None
    return found


def _with_heading(head: Head, of_interval: str) -> Head:
    """A number's head that says what its interval is of, where that is not its own heading: not all hold 95 %."""
    return head if of_interval in ("", head.group) else replace(head, title=f"{head.title} [{of_interval}]")


@cache
def _titles_of_ends() -> frozenset[tuple[str, str]]:
    """What the two columns of an interval are called, in each language that a report may be in."""
    said = []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            said.append((_("from"), _("to")))
    return frozenset(said)


def _ends(line: Sequence[Value], low: int) -> Ends | None:
    """None where there is no interval in this line."""
    ends = _number(line[low]), _number(line[low + 1])
    return None if ends == (None, None) else ends


def _lines(table: ReportTable) -> Iterable[tuple[str, str, Sequence[Value]]]:
    """Each line of a table with a name that no other one has, and with the one by which it goes."""
    met: Counter[str] = Counter()
    for line, called in zip(table.rows, table.row_names(), strict=True):
        name = renamed(called)
        met[name] += 1
        yield name if met[name] == 1 else f"{name} ({met[name]})", name, line


def _is_number(head: Head) -> bool:
    return head.kind not in ("text", "note")


def _number(value: Value) -> Number | None:
    assert not isinstance(value, str)
    return value
