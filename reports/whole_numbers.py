"""Many rows of whole numbers out of the database into one array, without an object for each.

PostgreSQL sends them as they lie in memory, by COPY. It also plans a COPY for all rows; a cursor's query it plans for
the first ones, which took a hundred times as long for the labels of a study that had just been imported.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

IntArray = npt.NDArray[np.int64]

_AT_ONCE = 20_000
_HEADER = 19  # bytes: a signature, flags, and the length of an extension, which is 0
_END = b"\xff\xff"


def whole_numbers(found: QuerySet[Any, Any], *names: str) -> IntArray:
    """The values of fields or annotations, each a whole number or a truth value and never null: shape (n, len(names)).

    One query.
    """
    try:
        sql, values = found.values_list(*names).query.sql_with_params()
    except EmptyResultSet:  # an empty list stands in it
        return np.zeros((0, len(names)), dtype=np.int64)
    read = _copied(sql, values, len(names)) if connection.vendor == "postgresql" else _fetched(sql, values)
    parts = [_small(part) for part in read]
    whole = np.empty((sum(len(part) for part in parts), len(names)), dtype=np.int64)
    end = len(whole)
    while parts:  # each part goes as soon as it has been put into its place
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


def _small(part: IntArray) -> npt.NDArray[np.int32] | IntArray:
    """In half the room where the numbers allow it."""
    small = part.astype(np.int32)
    return small if (small == part).all() else part


def _fetched(sql: str, values: tuple[Any, ...]) -> Iterator[IntArray]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        many = False
        while rows := cursor.fetchmany(_AT_ONCE):
            many |= len(rows) == _AT_ONCE
            yield np.array(rows, dtype=np.int64)
        if many:  # of the pages that were read, SQLite keeps 20 MB, and nobody will read them again
            cursor.execute("PRAGMA shrink_memory")


def _copied(sql: str, values: tuple[Any, ...], width: int) -> Iterator[IntArray]:
    written: Any = connection.ops
    sql = written.compose_sql(f"COPY ({sql}) TO STDOUT (FORMAT binary)", values)
    with connection.cursor() as cursor, cursor.copy(sql) as copy:
        held = bytearray()
        record: np.dtype[Any] | None = None
        header = False
        for block in copy:
            held += block
            if not header:
                if len(held) < _HEADER:
                    continue
                del held[:_HEADER]
                header = True
            if record is None:
                record = _record(held, width)
            if record is not None and len(held) >= _AT_ONCE * record.itemsize:
                n = len(held) // record.itemsize
                yield _numbers(held, record, n, width)
                del held[: n * record.itemsize]
        assert held.endswith(_END)
        if record is not None and (n := (len(held) - len(_END)) // record.itemsize):
            yield _numbers(held, record, n, width)


def _record(held: bytearray, width: int) -> np.dtype[Any] | None:
    """How a row lies in memory, as the first one tells: its number of fields, then of each its length and its value."""
    if held[:2] == _END:
        return None
    fields: list[tuple[str, str]] = [("n", ">i2")]
    at = 2
    for place in range(width):
        if len(held) < at + 4:
            return None
        (length,) = struct.unpack_from(">i", held, at)
        fields += [(f"length{place}", ">i4"), (f"value{place}", f">i{length}")]
        at += 4 + length
    return np.dtype(fields) if len(held) >= at else None


def _numbers(held: bytearray, record: np.dtype[Any], n: int, width: int) -> IntArray:
    rows = np.frombuffer(bytes(held[: n * record.itemsize]), dtype=record, count=n)
    numbers = np.empty((n, width), dtype=np.int64)
    for place in range(width):
        numbers[:, place] = rows[f"value{place}"]
    return numbers
