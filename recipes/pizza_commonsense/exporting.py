"""Tables in every form that is downloaded. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from base.sentences import gettext as _
from recipes.pizza_commonsense import clusters, serialised, sheets, training
from recipes.pizza_commonsense.records import Place, Table, TablesRefused, called, json_lines
from recipes.pizza_commonsense.training import Asking, Masks

TYPES = {
    "jsonl": ("application/jsonl", "jsonl"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "txt": ("text/plain; charset=utf-8", "txt"),
    "chat": ("application/jsonl", "jsonl"),
    "text": ("application/jsonl", "jsonl"),
    "requests": ("application/jsonl", "jsonl"),
}


@dataclass(frozen=True)
class Wanted:
    """What is downloaded.

    Attributes:
        form: a key of `TYPES`.
        masks: of serialised tables, training data and requests.
        seed: by which masks and demonstrations are drawn.
        part: which tables: a part of the split that `way` and `split_seed` say (`clusters.split`), or `clusters.ALL`.
        demonstrations: of requests: how many tables stand before each, drawn for it from the part for training.
        thinking: of requests: whether the model is to think first.
    """

    form: str
    masks: str = Masks.ALL
    seed: int = 1
    part: str = clusters.ALL
    way: str = clusters.WITHIN
    split_seed: int = 1
    demonstrations: int = 0
    thinking: bool = False


def exported(tables: Sequence[Table], wanted: Wanted) -> bytes:
    """The content of a file.

    Raises:
        TablesRefused: there are fewer recipes than parts, or too few tables to draw demonstrations from.
    """
    form, masks, seed = wanted.form, wanted.masks, wanted.seed
    asking = Asking()
    if form == "requests":
        few = wanted.demonstrations
        pool = _part_of(tables, clusters.TRAIN, wanted) if few else []
        asking = Asking(thinking=wanted.thinking, demonstrations=few, pool=pool)
    tables = _part_of(tables, wanted.part, wanted)
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
        asking=asking,
    )
    return "".join(lines).encode()


def _part_of(tables: Sequence[Table], part: str, wanted: Wanted) -> list[Table]:
    return clusters.in_part(tables, part, way=wanted.way, seed=wanted.split_seed)


def _serialised(table: Table, masks: str, seed: int) -> str:
    if masks not in set(Masks):
        return serialised.serialise(table)
    sets = training.masked(table, Masks(masks), seed=seed)
    return "\n\n".join(serialised.serialise(table, places) for places in sets)


@dataclass
class Predicted:
    """What a system wrote of the tables of a study, and what of it came to nothing.

    Attributes:
        tables: with its cells alone.
        unread: ids of the texts of which nothing can be read.
        rowless: lines without an answer that no row of the texts is about.
        blank: lines without an answer otherwise: the texts have them, or leave all rows out, and say nothing there.
        strays: rows that are about no line of their table.
        broken: rows that have not four cells.
    """

    tables: list[Table] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    rowless: int = 0
    blank: int = 0
    strays: int = 0
    broken: int = 0


def predictions(text: str, tables: Sequence[Table]) -> Predicted:
    """What a system wrote.

    Each line is {"id": …, "output": the text}, with the id that requests have (`records.called`); of several of one
    table, as of cells asked one by one, all count.

    Raises:
        TablesRefused: a line is no such object, or its id is that of no table, or of several.
    """
    by_id = dict(zip(called(tables), tables, strict=True))
    said = Predicted()
    found: dict[str, dict[Place, str]] = {}
    rowless: dict[str, set[int]] = {}
    for name, output in _outputs(text, by_id):
        try:
            one = serialised.read(output, by_id[name])
        except TablesRefused:
            said.unread.append(name)
            continue
        found.setdefault(name, {}).update(one.cells)
        rowless.setdefault(name, set()).update(one.rowless)
        said.strays += one.strays
        said.broken += one.broken
    for name, cells in found.items():
        table = by_id[name].with_cells(cells)
        said.tables.append(table)
        lines = range(len(table.instructions))
        left = {line for line in lines if not table.said(line, "input") and not table.said(line, "output")}
        said.rowless += len(left & rowless[name])
        said.blank += len(left - rowless[name])
    return said


def _outputs(text: str, by_id: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    shared: dict[str, list[str]] = {}
    for name, table in by_id.items():
        shared.setdefault(table.id or table.title, []).append(name)
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            name, said = str(told["id"]), told.get("output", told.get("target", told.get("prediction")))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise TablesRefused(_("Line %(line)s has no “id” with an “output”.") % {"line": number}) from error
        if name not in by_id and len(names := shared.get(name, [])) > 1:
            raise TablesRefused(
                _("Line %(line)s: several tables have the id “%(id)s”. Put there which one is meant: %(names)s.")
                % {"line": number, "id": name[:60], "names": ", ".join(f"“{one}”" for one in names)}
            )
        if name not in by_id or not isinstance(said, str):
            raise TablesRefused(
                _("Line %(line)s: there is no table “%(id)s” here.") % {"line": number, "id": name[:60]}
            )
        yield name, said
