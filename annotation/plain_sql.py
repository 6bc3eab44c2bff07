"""Plain SQL, for the few queries that every request or every save asks.

Django makes the SQL of a query anew each time, which for a small one takes ten times as long as SQLite takes to answer
it; and PostgreSQL plans it anew each time. So these are written out. Names are the models' own, checked when a
statement is first used; values are parameters, never text; and rows become objects as Django's do by `Model.from_db`.

    label = Shape(Label)
    labels = Statement(
        "SELECT {label} FROM {label.table} WHERE {label.assignment} = %s AND {label.column} IN (%s)", label=label
    )
    [label(row) for row in labels(assignment.pk, column_ids)]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.models import (
    BigAutoField,
    BooleanField,
    CharField,
    Expression,
    Field,
    ForeignKey,
    Model,
    PositiveIntegerField,
    TextField,
)
from django.db.models.base import ModelState

M = TypeVar("M", bound=Model)

# The plans of queries with longer lists are not kept, so that not every length of a list is.
MOST_KEPT = 8


class Shape(Generic[M]):
    """The fields of a model that a query selects, all unless some are named, and how a row of it becomes an object.

    In a statement `{name}` stands for its columns, `{name.table}` for its table, `{name.field}` for one column.
    """

    def __init__(self, model: type[M], *names: str) -> None:
        fields: Sequence[Field[Any, Any]] = model._meta.concrete_fields
        known = {name for field in fields for name in (field.name, field.attname)}
        assert set(names) <= known, f"{model.__name__} has no {set(names) - known}"
        self.model = model
        self.fields = [field for field in fields if not names or {field.name, field.attname} & set(names)]
        self.names = [field.attname for field in self.fields]
        self._readers: dict[str, list[tuple[int, Callable[[Any], Any]]]] = {}

    def __len__(self) -> int:
        return len(self.fields)

    def __call__(self, row: Sequence[Any], *, start: int = 0) -> M:
        """The object whose columns begin at `start` of a row."""
        here = connections[DEFAULT_DB_ALIAS]
        values = list(row[start : start + len(self.fields)])
        readers = self._readers.get(here.vendor)
        if readers is None:
            readers = self._readers[here.vendor] = list(self._made_readers())
        for place, read in readers:
            values[place] = read(values[place])
        # What `Model.from_db` does, but for what it asks of every field and tells of every object: a tenth of a save.
        found = self.model.__new__(self.model)
        found._state = ModelState()
        found._state.adding, found._state.db = False, here.alias
        found.__dict__.update(zip(self.names, values, strict=True))
        return found

    def _made_readers(self) -> Sequence[tuple[int, Callable[[Any], Any]]]:
        """What turns a stored value into Python's, as this database and each field say: times, JSON, keys, booleans."""
        return [
            (place, _reader(column, convert))
            for place, field in enumerate(self.fields)
            for column in [field.get_col(self.model._meta.db_table)]
            for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection))
        ]


def _reader(column: Expression, convert: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda value: convert(value, column, connection)


class _Named:
    """A shape under its name in one statement, for `str.format`."""

    def __init__(self, shape: Shape[Any], name: str) -> None:
        self._shape, self._name = shape, connection.ops.quote_name(name)

    def __str__(self) -> str:
        return ", ".join(f"{self._name}.{connection.ops.quote_name(str(field.column))}" for field in self._shape.fields)

    def __getattr__(self, name: str) -> str:
        meta = self._shape.model._meta
        if name == "table":
            return f"{connection.ops.quote_name(meta.db_table)} AS {self._name}"
        return f"{self._name}.{connection.ops.quote_name(str(meta.get_field(name).column))}"


class Statement:
    """A query that is called with its values, one for each `%s`; a list is written as so many. Returns the rows.

    `lock`: the name of the shape whose rows stay locked to the end of the transaction, where the database has locks of
    rows; elsewhere the transaction itself is the lock.
    """

    def __init__(self, text: str, *, lock: str = "", **shapes: Shape[Any]) -> None:
        self.text = text
        self.lock = lock
        self.shapes = shapes
        self._made: dict[str, list[str]] = {}

    def __call__(self, *values: Any) -> list[tuple[Any, ...]]:
        here = connections[DEFAULT_DB_ALIAS]
        between = self._made.get(here.vendor)
        if between is None:
            between = self._made[here.vendor] = self._make()
        assert len(values) == len(between) - 1
        assert here.in_atomic_block or not self.lock
        sql, bound, keep = between[0], [], True
        for value, after in zip(values, between[1:], strict=True):
            if not isinstance(value, list):
                sql += "%s" + after
                bound.append(value)
                continue
            if not value:
                return []  # nothing is in an empty list, for which SQL has no words
            sql += ", ".join(["%s"] * len(value)) + after
            bound += value
            keep &= len(value) <= MOST_KEPT
        open_cursor = getattr(here, "prepared_cursor", here.cursor) if keep else here.cursor
        with open_cursor() as cursor:
            cursor.execute(sql, bound)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def _make(self) -> list[str]:
        """The SQL in the words of this database, in pieces: values stand between them."""
        sql = self.text.format(**{name: _Named(shape, name) for name, shape in self.shapes.items()})
        if self.lock and connection.features.has_select_for_update_of:
            sql += f" FOR UPDATE OF {connection.ops.quote_name(self.lock)}"
        return " ".join(sql.split()).split("%s")


def stored(model: type[Model], field: str, value: Any) -> Any:
    """A value as this database stores it in a field: what differs from Python's are times and UUIDs, on SQLite."""
    found: Any = model._meta.get_field(field)
    return found.get_db_prep_value(value, connection)


# Fields whose values are written as Python has them; times, keys, JSON and the like are not.
_ALIKE = {BigAutoField, CharField, TextField, BooleanField, PositiveIntegerField, ForeignKey}


class Insert:
    """Rows into the table of a model: `insert(rows)`, each with a value for each of the names, in their order.

    `bulk_create` spends most of its time on making objects and the words of a statement; nothing here is made but the
    statement, once. Fields that are not named get what the database says.
    """

    def __init__(self, model: type[Model], *names: str) -> None:
        self.table = model._meta.db_table
        self.fields: list[Any] = [model._meta.get_field(name) for name in names]
        self.prepared = [place for place, field in enumerate(self.fields) if type(field) not in _ALIKE]

    def __call__(self, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in self.fields)
        table = connection.ops.quote_name(self.table)
        bound = self._bound(rows) if self.prepared else rows
        if connection.vendor == "postgresql" and len(rows) >= _COPIED:
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                copy.write("".join(_copied(bound)))
            return
        group = f"({', '.join(['%s'] * len(self.fields))})"
        into = f"INSERT INTO {table} ({columns}) VALUES "  # noqa: S608 - names of models
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.executemany(into + group, bound)  # one statement, again and again
                return
            for some in (bound[start : start + 1000] for start in range(0, len(bound), 1000)):  # one journey each
                cursor.execute(into + ", ".join([group] * len(some)), [value for row in some for value in row])

    def _bound(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The rows with times, JSON and keys as this database takes them."""
        last: dict[int, tuple[Any, Any]] = {}  # one moment, and one key, stand in all rows of a change
        bound = []
        for row in rows:
            values = list(row)
            for place in self.prepared:
                value = values[place]
                if value is None:
                    continue
                if place not in last or last[place][0] is not value:
                    last[place] = value, self.fields[place].get_db_prep_save(value, connection)
                values[place] = last[place][1]
            bound.append(values)
        return bound


class Update:
    """One row of the table of a model: `update(key, values)`, with a value for each of the names, in their order.

    Raises:
        DatabaseError: there is no row with that key.
    """

    def __init__(self, model: type[Model], *names: str) -> None:
        self.model = model
        self.fields: list[Any] = [model._meta.get_field(name) for name in names]
        self._made: dict[str, str] = {}

    def __call__(self, key: Any, values: Sequence[Any]) -> None:
        sql = self._made.get(connection.vendor)
        if sql is None:
            sql = self._made[connection.vendor] = self._make()
        bound = [
            value if value is None or type(field) in _ALIKE else field.get_db_prep_save(value, connection)
            for field, value in zip(self.fields, values, strict=True)
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql, [*bound, key])
            if cursor.rowcount != 1:
                raise DatabaseError(f"{self.model.__name__} {key} was not updated: there is none.")

    def _make(self) -> str:
        quoted = connection.ops.quote_name
        table, pk = quoted(self.model._meta.db_table), quoted(str(self.model._meta.pk.column))
        values = ", ".join(f"{quoted(str(field.column))} = %s" for field in self.fields)
        return f"UPDATE {table} SET {values} WHERE {pk} = %s"  # noqa: S608 - names of models


# From how many rows on PostgreSQL gets them as one text: no statement is made of them, bound and parsed.
_COPIED = 200
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _copied(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """The lines of PostgreSQL's COPY, in its text format."""
    for line in zip(*map(_copied_column, zip(*rows, strict=True)), strict=True):
        yield "\t".join(line) + "\n"


def _copied_column(values: Sequence[Any]) -> list[str]:
    """Each object is written once: in most columns of many rows there are few."""
    written = {key: _copied_value(value) for key, value in {id(value): value for value in values}.items()}
    return [written[id(value)] for value in values]


def _copied_value(value: Any) -> str:
    if type(value) is int:
        return str(value)
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "obj"):  # JSON, as psycopg wraps it
        value = (value.dumps or json.dumps)(value.obj)
    return str(value).translate(_ESCAPED)


def reserved(model: type[Model], n: int) -> Sequence[int]:
    """As many keys of a table, rising, that no other row will get, whatever becomes of them."""
    if not n:
        return []
    table, key = model._meta.db_table, str(model._meta.pk.column)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [connection.ops.quote_name(table), key, n],
            )
            return sorted(row[0] for row in cursor.fetchall())
        cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s RETURNING seq", [n, table])
        if (row := cursor.fetchone()) is None:  # a table that never had a row
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, n])
            row = (n,)
    return range(row[0] - n + 1, row[0] + 1)


def counted_anew(*models: type[Model]) -> None:
    """Have PostgreSQL look at tables after much has come into them. It does so by itself a minute or more later; until
    then it plans for what they held before, and a report of a million new labels took three times as long."""
    if connection.vendor == "postgresql":
        tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
        # What came is there: that it may not be looked at now, or took too long, is no failure of it.
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")
