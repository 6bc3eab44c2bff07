"""Which numbers differ between two reports, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from reports.contents import Contents
from reports.tables import Head, ReportTable
from reports.words import renamed

Number = int | float


@dataclass(frozen=True)
class NumberChange:
    """One number in both reports. None: not defined; or not there at all, and `only_in` says "first" or "second"."""

    table: ReportTable
    row: str
    head: Head
    first: Number | None
    second: Number | None
    only_in: str = ""

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


Key = tuple[str, str, str]


def compare(first: Contents, second: Contents) -> Comparison:
    """Numbers that are not equal, in the order of the first report; then those that the second alone has."""
    one, other = dict(_numbers(first)), dict(_numbers(second))
    changes = []
    for key, (table, row, head, value) in one.items():
        if key not in other:
            changes.append(NumberChange(table, row, head, value, None, "first"))
        elif (then := other[key][3]) != value:
            changes.append(NumberChange(table, row, head, value, then))
    for key, (table, row, head, value) in other.items():
        if key not in one:
            changes.append(NumberChange(table, row, head, None, value, "second"))
    return Comparison(len(one.keys() | other.keys()), tuple(changes))


def _numbers(contents: Contents) -> Iterator[tuple[Key, tuple[ReportTable, str, Head, Number | None]]]:
    for table in contents.tables:
        met: Counter[str] = Counter()
        for line, called in zip(table.rows, table.row_names(), strict=True):
            name = renamed(called)
            met[name] += 1
            unique = name if met[name] == 1 else f"{name} ({met[name]})"
            for head, value in zip(table.heads, line, strict=True):
                if head.kind not in ("text", "note"):
                    assert not isinstance(value, str)
                    yield (table.key, unique, head.key), (table, name, head, value)
