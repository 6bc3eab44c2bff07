"""Queries whose SQL is made once.

Django makes the SQL of a query anew each time, which for a small one takes ten times as long as SQLite takes to answer
it; and PostgreSQL plans it anew each time. What the server does most, saving a choice, reads through these instead: the
query is written as any other, with a `Param` wherever a value comes later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, Field, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

M = TypeVar("M", bound=Model)

# Queries with longer lists are made anew each time, so that not every length of a list is kept.
MOST_KEPT = 8


class Param(Expression):
    """A value that a `Prepared` query is given each time; `stored_as` turns it into what the database stores."""

    def __init__(self, name: str, *, stored_as: Field[Any, Any] | None = None, place: int | None = None) -> None:
        super().__init__()
        self.name = name
        self.stored_as = stored_as
        self.place = place

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)

    def bind(self, values: dict[str, Any]) -> Any:
        value = values[self.name] if self.place is None else values[self.name][self.place]
        return value if self.stored_as is None else self.stored_as.get_db_prep_value(value, connection)


class _Made(NamedTuple, Generic[M]):
    queryset: QuerySet[M]
    compiler: SQLCompiler
    sql: str
    params: Sequence[Any]
    keep: bool


class Prepared(Generic[M]):
    """A query that is called with its values and returns the objects.

    `build` gets a `Param` for each value, and a list of them for a value that is a list, and returns a queryset
    of objects (no `values()`), in which what is not a `Param` stays as it was the first time. `stored_as` names the
    fields of values that a database stores otherwise than Python does, such as times.
    """

    def __init__(self, build: Callable[..., QuerySet[M]], **stored_as: Field[Any, Any]) -> None:
        self.build = build
        self.stored_as = stored_as
        self._kept = threading.local()  # what is kept is changed while it is used

    def __call__(self, **values: Any) -> list[M]:
        lengths = [len(value) for value in values.values() if isinstance(value, list)]
        kept, kind = self._kept.__dict__, f"{connection.vendor} {lengths}"
        made: _Made[M] | None = kept.get(kind)
        if made is None:
            made = self._make(values, keep=all(length <= MOST_KEPT for length in lengths))
            if made.keep:
                kept[kind] = made
        if not made.sql:
            return []
        bound = [param.bind(values) if isinstance(param, Param) else param for param in made.params]
        prepared_cursor = getattr(connection, "prepared_cursor", connection.cursor) if made.keep else connection.cursor
        with prepared_cursor() as cursor:
            cursor.execute(made.sql, bound)
            rows = cursor.fetchall()
        made.compiler.execute_sql = lambda *args, **kwargs: [rows]  # type: ignore[method-assign,assignment]
        found: Iterable[M] = made.queryset._iterable_class(made.queryset)  # type: ignore[assignment]
        return list(found)

    def _make(self, values: dict[str, Any], *, keep: bool) -> _Made[M]:
        params = {
            name: [Param(name, stored_as=self.stored_as.get(name), place=place) for place in range(len(value))]
            if isinstance(value, list)
            else Param(name, stored_as=self.stored_as.get(name))
            for name, value in values.items()
        }
        queryset = self.build(**params)
        compiler = queryset.query.get_compiler(connection=connection)
        try:
            sql, with_params = compiler.as_sql()
        except EmptyResultSet:  # nothing can be in an empty list
            sql, with_params = "", ()
        queryset.query.get_compiler = lambda *args, **kwargs: compiler  # type: ignore[method-assign]
        return _Made(queryset, compiler, sql, with_params, keep)
