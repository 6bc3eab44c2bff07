"""Tables in every form that is downloaded. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from base.sentences import gettext as _
from recipes.pizza_commonsense import clusters, serialised, sheets, training
from recipes.pizza_commonsense.records import Cells, Place, Table, TablesRefused, at_line, called, json_lines
from recipes.pizza_commonsense.training import Asking, Masks

TYPES = {
    "jsonl": ("application/jsonl", "jsonl"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "txt": ("text/plain; charset=utf-8", "txt"),
    "chat": ("application/jsonl", "jsonl"),
    "text": ("application/jsonl", "jsonl"),
    "t5": ("application/jsonl", "jsonl"),
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
        made: the split of the tables, in place of the one that `way` and `split_seed` say.
    """

    form: str
    masks: str = Masks.ALL
    seed: int = 1
    part: str = clusters.ALL
    way: str = clusters.WITHIN
    split_seed: int = 1
    demonstrations: int = 0
    thinking: bool = False
    made: clusters.Split | None = None


def exported(tables: Sequence[Table], wanted: Wanted) -> bytes:
    """The content of a file.

    Raises:
        TablesRefused: there are fewer recipes than parts, too few tables to draw demonstrations from, or more
            instructions than T5 has masks for.
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
        chat=form not in ("text", "t5"),
        targets=form != "requests",
        seed=seed,
        asking=asking,
        sentinels=form == "t5",
    )
    return "".join(lines).encode()


def _part_of(tables: Sequence[Table], part: str, wanted: Wanted) -> list[Table]:
    return clusters.in_part(tables, part, way=wanted.way, seed=wanted.split_seed, made=wanted.made)


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
        silent: those of which it wrote nothing that can be read.
        unread: ids of the texts of which nothing can be read.
        rowless: lines without an answer that no row of the texts is about.
        blank: lines without an answer otherwise: the texts have them, or leave all rows out, and say nothing there.
        strays: rows that are about no line of their table.
        broken: rows that have not four cells.
        beyond: answers behind masks of lines that their table has not.
        from_one: all masks are of lines of their table, if its first line is 1; and some are not, since it is 0.
    """

    tables: list[Table] = field(default_factory=list)
    silent: list[Table] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    rowless: int = 0
    blank: int = 0
    strays: int = 0
    broken: int = 0
    beyond: int = 0
    from_one: bool = False


class Predictions:
    """What a system wrote, file after file.

    Each line is {"id": …, "output": the text}, with the id that requests have (`records.called`); of several of one
    table, as of cells asked one by one, all count.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self._by_id = dict(zip(called(tables), tables, strict=True))
        self._said = Predicted()
        self._found: dict[str, dict[Place, tuple[str, str]]] = {}  # name -> cell -> what it says, and where
        self._rowless: dict[str, set[int]] = {}
        self._masked: dict[str, set[int]] = {}

    def add(self, text: str, *, file: str = "") -> None:
        """The lines of a file; `file`: what sentences call it, where there are several.

        Raises:
            TablesRefused: a line is no such object, its id is that of no table, or of several, or a cell has another
                answer already.
        """
        for number, name, output in _outputs(text, self._by_id):
            try:
                one = serialised.read(output, self._by_id[name])
            except TablesRefused:
                self._said.unread.append(name)
                continue
            self._said.beyond += one.beyond
            self._masked.setdefault(name, set()).update(one.masked)
            if not one.cells:
                self._said.unread.append(name)
                continue
            self._put(number, name, one.cells, f"{file}, {at_line(number)}" if file else at_line(number))
            self._rowless.setdefault(name, set()).update(one.rowless)
            self._said.strays += one.strays
            self._said.broken += one.broken

    def _put(self, number: int, name: str, cells: Cells, where: str) -> None:
        found = self._found.setdefault(name, {})
        for (line, cell), answer in cells.items():
            before, first = found.setdefault((line, cell), (answer, where))
            if before != answer:
                raise TablesRefused(
                    _(
                        "Line %(line)s: instruction %(n)s of “%(id)s” has the %(cell)s “%(before)s” already "
                        "(%(first)s), and “%(answer)s” here. Import each run of a system under a name of its own."
                    )
                    % {"line": number, "n": line + 1, "id": name[:60], "cell": cell, "before": before[:80],
                       "first": first, "answer": answer[:80]}
                )  # fmt: skip

    def predicted(self) -> Predicted:
        """All that was added."""
        said, n_lines = self._said, {name: len(table.instructions) for name, table in self._by_id.items()}
        for name, found in self._found.items():
            table = self._by_id[name].with_cells({place: answer for place, (answer, _where) in found.items()})
            said.tables.append(table)
            lines = range(n_lines[name])
            left = {line for line in lines if not table.said(line, "input") and not table.said(line, "output")}
            said.rowless += len(left & self._rowless[name])
            said.blank += len(left - self._rowless[name])
        silent = (name for name in dict.fromkeys(said.unread) if name not in self._found)
        said.silent = [self._by_id[name].with_cells({}) for name in silent]
        said.from_one = said.beyond > 0 and all(
            1 <= line <= n_lines[name] for name, lines in self._masked.items() for line in lines
        )
        return said


def predictions(text: str, tables: Sequence[Table]) -> Predicted:
    """What a system wrote in one file; raises as `Predictions.add`."""
    read = Predictions(tables)
    read.add(text)
    return read.predicted()


def _outputs(text: str, by_id: Mapping[str, Table]) -> Iterator[tuple[int, str, str]]:
    """The line, the name of the table, and the text, of each output."""
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
        yield number, name, said
