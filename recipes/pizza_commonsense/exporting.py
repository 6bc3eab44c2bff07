"""Tables in every form that is downloaded. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from base.sentences import gettext as _
from recipes.pizza_commonsense import serialised, sheets, training
from recipes.pizza_commonsense.records import Place, Table, TablesRefused, json_lines
from recipes.pizza_commonsense.training import Masks

TYPES = {
    "jsonl": ("application/jsonl", "jsonl"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "txt": ("text/plain; charset=utf-8", "txt"),
    "chat": ("application/jsonl", "jsonl"),
    "text": ("application/jsonl", "jsonl"),
    "requests": ("application/jsonl", "jsonl"),
}


def exported(tables: Sequence[Table], form: str, *, masks: str = Masks.ALL, seed: int = 1) -> bytes:
    """The content of a file of this form, a key of `TYPES`."""
    match form:
        case "jsonl":
            return json_lines(tables).encode()
        case "csv":
            return sheets.csv_text(tables).encode("utf-8-sig")
        case "xlsx":
            return sheets.workbook(tables)
        case "txt":
            return "\n\n".join(_serialised(table, masks, seed) for table in tables).encode() + b"\n"
    lines = training.examples(
        tables,
        masks=Masks(masks if masks in set(Masks) else Masks.ALL),
        chat=form != "text",
        targets=form != "requests",
        seed=seed,
    )
    return "".join(lines).encode()


def _serialised(table: Table, masks: str, seed: int) -> str:
    if masks not in set(Masks):
        return serialised.serialise(table)
    sets = training.masked(table, Masks(masks), seed=seed)
    return "\n\n".join(serialised.serialise(table, places) for places in sets)


def predictions(text: str, tables: Sequence[Table]) -> tuple[list[Table], list[str]]:
    """What a system wrote: the tables with its cells, and ids of which nothing could be read.

    Each line is {"id": …, "output": the text}; of several of one table, as of cells asked one by one, all count.

    Raises:
        TablesRefused: a line is no such object, or no id is one of the tables.
    """
    by_id = {table.id or table.title: table for table in tables}
    found: dict[str, dict[Place, str]] = {}
    unread: list[str] = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            name, said = str(told["id"]), told.get("output", told.get("target", told.get("prediction")))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise TablesRefused(_("Line %(line)s has no “id” with an “output”.") % {"line": number}) from error
        if name not in by_id or not isinstance(said, str):
            raise TablesRefused(
                _("Line %(line)s: there is no table “%(id)s” here.") % {"line": number, "id": name[:60]}
            )
        try:
            found.setdefault(name, {}).update(serialised.read(said, by_id[name]))
        except TablesRefused:
            unread.append(name)
    return [by_id[name].with_cells(cells) for name, cells in found.items() if cells], unread
