"""A table's rows as lines of JSON and back, the same on every database, and their digest."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection, models
from django.db.models import BinaryField, F, JSONField, Model, TextField
from django.db.models.functions import Cast
from django.utils.duration import duration_string

# Who is logged in is not restored: sessions that have been ended since would come alive again.
LEFT_OUT = {"sessions.session", "usersessions.usersession"}
_ROWS = 500  # of one INSERT
_CHUNK = 500  # of one read


def every() -> dict[str, type[Model]]:
    """All tables of Django's models by their labels, those between two models included."""
    found = apps.get_models(include_auto_created=True)
    tables = {model._meta.label_lower: model for model in found if model._meta.managed and not model._meta.proxy}
    return {label: tables[label] for label in sorted(tables.keys() - LEFT_OUT)}


def columns(model: type[Model]) -> list[models.Field[Any, Any]]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def lines(model: type[Model]) -> Iterator[tuple[bytes, bytes]]:
    """Each row, by its key: the line that a backup has, and the one that the digest is taken of.

    JSON stands in a line as the text that the database has. PostgreSQL orders keys its own way and writes 1e16 as an
    integer; in the line of the digest neither makes a difference.
    """
    fields, json_at = columns(model), _json_at(model)
    read = [
        Cast(F(field.attname), TextField()) if _is_text(field) or isinstance(field, JSONField) else field.attname
        for field in fields
    ]
    rows = model._base_manager.order_by("pk").values_list(*read)
    for row in rows.iterator(chunk_size=_CHUNK):
        line = [_written(value) for value in row]
        stored = _dumped(line).encode() + b"\n"
        yield stored, _counted(line, json_at) if json_at else stored


def counted(model: type[Model], stored: bytes) -> bytes:
    """Of a line that a backup has, the one that the digest is taken of. Raises ValueError: it is no row of these."""
    if not (json_at := _json_at(model)):
        return stored
    line = json.loads(stored)
    if not isinstance(line, list) or len(line) != len(columns(model)):
        raise ValueError("The line is no row of this table.")
    return _counted(line, json_at)


def _json_at(model: type[Model]) -> list[int]:
    return [place for place, field in enumerate(columns(model)) if isinstance(field, JSONField)]


def _counted(line: list[Any], json_at: Sequence[int]) -> bytes:
    for place in json_at:
        if line[place] is not None:
            line[place] = _dumped(_plain(json.loads(str(line[place]))), sort_keys=True)
    return _dumped(line).encode() + b"\n"


def insert(model: type[Model], stored: Iterator[bytes]) -> None:
    """Write rows that `lines` has made, with the keys they had. Nothing of Django's own happens to them on the way."""
    fields = columns(model)
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in fields)
    places = ", ".join("%s" for _field in fields)
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({places})"  # noqa: S608  # names of our tables
    with connection.cursor() as cursor:
        while batch := list(islice(stored, _ROWS)):
            cursor.executemany(sql, [_read(fields, json.loads(line)) for line in batch])


def _read(fields: Sequence[models.Field[Any, Any]], row: Sequence[Any]) -> list[Any]:
    return [value if value is None else _stored(field, value) for field, value in zip(fields, row, strict=True)]


def _stored(field: models.Field[Any, Any], value: Any) -> Any:
    if _is_text(field):
        return value
    if isinstance(field, JSONField):
        return connection.ops.adapt_json_value(json.loads(value), field.encoder)
    value = base64.b64decode(value) if isinstance(field, BinaryField) else field.to_python(value)
    return field.get_db_prep_save(value, connection)


def _written(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat()
        case date() | time():
            return value.isoformat()
        case timedelta():
            return duration_string(value)
        case Decimal() | UUID():
            return str(value)
        case bytes() | memoryview():
            return base64.b64encode(value).decode()
    raise TypeError(f"A backup has no way to write {type(value).__name__}.")


def _is_text(field: models.Field[Any, Any]) -> bool:
    """Whether a field makes something of a text that the database has; the text itself is kept."""
    return isinstance(field, TextField) and hasattr(field, "from_db_value")


def _dumped(value: Any, *, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def _plain(value: Any) -> Any:
    """JSON whose numbers are written in one way."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
