"""The published tables: one recipe a line of JSON, and what of their cells is an answer here. Pure.

    {"title": …, "id": …, "table": [{"instructions": …, "input": …, "actions": …, "output": …}, …],
     "ingredients": [{"text": …}, …], "recipe": [{"text": …}, …]}

Some lines of the published files say "action" and some "actions"; "instruction" is read too. A file is written
again with the keys, the order and the spelling that it had: a cell whose answer is still what was read stays as it
stood."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from base.sentences import gettext as _
from base.text import UNSTORABLE

CELLS = ("input", "action", "output")
NOTHING = "NA"
SCHEME = "pizza-commonsense"
EXAMPLE = "example"  # the rater from whom people start
MOST_TABLES = 5_000
MOST_LINES = 200
MOST_UNPACKED = 64_000_000  # bytes of a file that came gzipped
_GZIP = b"\x1f\x8b"
_KEYS = {"instruction": ("instructions", "instruction"), "input": ("input", "inputs"),
         "action": ("actions", "action"), "output": ("output", "outputs")}  # fmt: skip
_NO_FOOD = frozenset({"na", "n/a", "n.a.", "none", "nothing", "-", "–"})

Place = tuple[int, str]  # the line, from 0, and one of `CELLS`
Cells = Mapping[Place, str]  # the answers; what is open is missing


class TablesRefused(ValueError):
    """A file cannot be read; `str()` is a sentence that says where and why."""


@dataclass(frozen=True)
class Table:
    """A recipe, its instructions, and what stands in their cells. `source`: the line of the file that it came from;
    `where`: in words, which line that is."""

    title: str
    id: str
    instructions: tuple[str, ...]
    cells: Cells
    ingredients: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    source: str = field(default="", compare=False)
    where: str = field(default="", compare=False)

    def with_cells(self, cells: Cells) -> Table:
        return replace(self, cells=dict(cells))

    def said(self, line: int, cell: str) -> str:
        return self.cells.get((line, cell), "")


def called(tables: Sequence[Table]) -> list[str]:
    """What each table is called by where models elsewhere are asked about it: its id, or its title where it has none;
    of several with one id, which the published files have, the title with it.

    >>> called([Table("Bread", "a", (), {}), Table("Pizza", "b", (), {}), Table("Pizza 2", "b", (), {})])
    ['a', 'Pizza (b)', 'Pizza 2 (b)']
    """
    plainly = [table.id or table.title for table in tables]
    n = Counter(plainly)
    return [name if n[name] == 1 else f"{table.title} ({name})" for table, name in zip(tables, plainly, strict=True)]


def without_underscores(text: str) -> str:
    """A title or an instruction of a file: with blanks for “_”, which the published files have.

    >>> without_underscores("10_year  pizza")
    '10 year pizza'
    """
    return " ".join(text.replace("_", " ").split())


# --- cells ------------------------------------------------------------------------------------------------------------


def plain(cell: str) -> str:
    """The answer that a published cell is: without the brackets around a list and with blanks for “_”; “” for an
    open one.

    >>> plain("(pizza_shell; olive oil)"), plain("n/a"), plain(" ")
    ('pizza shell; olive oil', 'NA', '')
    """
    text = without_underscores(cell)
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].strip()
    if text.startswith("(") and _closes_at_end(text):
        text = text[1:-1].strip()
    elif text.startswith("(") and text.count("(") > text.count(")"):
        text = text[1:].strip()
    if text.casefold() in _NO_FOOD:
        return NOTHING
    parts = [part.strip() for part in text.split(";")]
    return "; ".join(part for part in parts if part)


def _closes_at_end(text: str) -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place == len(text) - 1
    return False


def written(answer: str) -> str:
    """An answer as the published tables have it: several things in brackets.

    >>> written("flour; water"), written("dough")
    ('(flour; water)', 'dough')
    """
    return f"({answer})" if ";" in answer else answer


# --- ingredients ------------------------------------------------------------------------------------------------------

_AMOUNT = re.compile(r"^[\s\d½¼¾⅓⅔⅛⅜⅝⅞./–-]+")
_UNIT = re.compile(
    r"^(?:c|cups?|tbsps?|tbs|tsps?|teaspoons?|tablespoons?|ounces?|oz|lbs?|pounds?|g|grams?|kg|ml|l|liters?|litres?|"
    r"pkts?|pkgs?|"
    r"packages?|packets?|cans?|jars?|lrg|large|med|medium|sm|small|x|pinch(?:es)?|dash(?:es)?|cloves?|slices?|sticks?|bags?|"
    r"boxe?s?|containers?|tubes?|bunch(?:es)?|heads?|quarts?|pints?|inch(?:es)?|fluid|of)\b\.?\s+",
    re.IGNORECASE,
)


def ingredient_name(line: str) -> str:
    """What of a line of a list of ingredients names the food: without amounts, units, and what stands in brackets.

    >>> ingredient_name("1/4 c. grated Parmigiano or possibly Romano"), ingredient_name("2 (8 oz) cans tomatoes, diced")
    ('grated Parmigiano', 'tomatoes')
    """
    text = re.sub(r"\([^()]*\)", " ", line.replace("_", " "))
    text = re.split(r",| - | or (?:possibly )?| divided\b| to taste\b| for \w+ing\b", text)[0].strip()
    before = None
    while before != text:
        before = text
        text = _UNIT.sub("", _AMOUNT.sub("", text)).strip()
    return " ".join(text.split())


def names(ingredients: Iterable[str]) -> list[str]:
    """The foods of a list, each once, in its order."""
    found = {name.casefold(): name for line in ingredients if (name := ingredient_name(line)) and not name.isdigit()}
    return list(found.values())


# --- files ------------------------------------------------------------------------------------------------------------


def read_json_lines(text: str) -> list[Table]:
    """The tables of a file with one JSON object a line, or of one JSON list.

    Raises:
        TablesRefused: with the line that cannot be read.
    """
    if UNSTORABLE.search(text):
        raise TablesRefused(_("The file holds a character that is no text."))
    stripped = text.lstrip("\ufeff").strip()
    if stripped.startswith("["):
        lines = [json.dumps(one, ensure_ascii=False) for one in _list(stripped)]
    else:
        lines = text.lstrip("\ufeff").split("\n")
    tables = [_table(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    if not tables:
        raise TablesRefused(_("The file has no table in it."))
    if len(tables) > MOST_TABLES:
        raise TablesRefused(
            _("These are %(n)s tables; at most %(most)s are read at once.") % {"n": len(tables), "most": MOST_TABLES}
        )
    return tables


def text_of(data: bytes) -> str:
    """The text of a file: UTF-8 with or without a byte order mark, UTF-16 with one; gzipped or not.

    Raises:
        TablesRefused: it is neither.
    """
    if data.startswith(_GZIP):
        data = _unpacked(data)
    try:
        return data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise TablesRefused(_("The file is no UTF-8 text. Save it as UTF-8.")) from error


def _unpacked(data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            text = file.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TablesRefused(_("The file is packed (gzip), and damaged.")) from error
    if len(text) > MOST_UNPACKED:
        raise TablesRefused(_("The file is too large once it is unpacked."))
    return text


def _list(text: str) -> list[Any]:
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError, TypeError) as error:
        raise TablesRefused(_("The file is no JSON: %(error)s") % {"error": error}) from error


def _strings(record: Any) -> Iterator[str]:
    """All texts in what was JSON, keys included."""
    waiting = [record]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


def _table(line: str, number: int) -> Table:
    line = line.rstrip("\r")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TablesRefused(_("Line %(line)s is no JSON: %(error)s") % {"line": number, "error": error}) from error
    if any(UNSTORABLE.search(text) for text in _strings(record)):  # written as \u0000, which the text itself has not
        raise TablesRefused(_("The file holds a character that is no text."))
    if not isinstance(record, dict) or not isinstance(record.get("table"), list) or not record["table"]:
        raise TablesRefused(_("Line %(line)s has no “table” with lines in it.") % {"line": number})
    if len(record["table"]) > MOST_LINES:
        raise TablesRefused(
            _("The table of line %(line)s has %(n)s instructions; at most %(most)s are read.")
            % {"line": number, "n": len(record["table"]), "most": MOST_LINES}
        )
    instructions: list[str] = []
    cells: dict[Place, str] = {}
    for place, row in enumerate(record["table"]):
        said = {cell: _said(row, cell, number) for cell in _KEYS}
        if not said["instruction"].strip():
            raise TablesRefused(
                _("Line %(line)s: step %(step)s of the table has no “instructions”.")
                % {"line": number, "step": place + 1}
            )
        instructions.append(without_underscores(said["instruction"]))
        cells |= {(place, cell): answer for cell in CELLS if (answer := plain(said[cell]))}
    title = without_underscores(str(record.get("title") or ""))
    if not title:
        raise TablesRefused(_("Line %(line)s has no “title”.") % {"line": number})
    return Table(
        title,
        str(record.get("id") or ""),
        tuple(instructions),
        cells,
        _texts(record.get("ingredients")),
        _texts(record.get("recipe")),
        line,
        at_line(number),
    )


def at_line(number: int) -> str:
    return _("line %(line)s") % {"line": number}


def _said(row: Any, cell: str, number: int) -> str:
    key = key_of(row, cell) if isinstance(row, dict) else None
    value = row.get(key, "") if key is not None else ""
    if value is not None and not isinstance(value, str):
        raise TablesRefused(_("Line %(line)s: “%(key)s” of the table is no text.") % {"line": number, "key": cell})
    return value or ""


def key_of(row: Mapping[str, Any], cell: str) -> str | None:
    """How a line of a published table spells the key of a cell."""
    return next((key for key in _KEYS[cell] if key in row), None)


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of [{"text": …}, …] or of a list of texts."""
    if not isinstance(value, list):
        return ()
    found = (one.get("text") if isinstance(one, dict) else one for one in value)
    return tuple(" ".join(one.split()) for one in found if isinstance(one, str) and one.strip())


def json_line(table: Table) -> str:
    """A table as a line of JSON: in the form that it came in, else in that of the published files."""
    if not table.source:
        return json.dumps(_record(table), ensure_ascii=False)
    record = json.loads(table.source)
    changed = False
    for place, row in enumerate(record["table"]):
        for cell in CELLS:
            key, answer = key_of(row, cell) or _KEYS[cell][0], table.said(place, cell)
            if answer != plain(row.get(key) or ""):
                row[key], changed = written(answer), True
    return json.dumps(record, ensure_ascii=False) if changed else table.source


def _record(table: Table) -> dict[str, Any]:
    lines = [
        {"instructions": text, **{_KEYS[cell][0]: written(table.said(place, cell)) for cell in CELLS}}
        for place, text in enumerate(table.instructions)
    ]
    return {
        "title": table.title,
        "id": table.id,
        "table": lines,
        "ingredients": [{"text": text} for text in table.ingredients],
        "recipe": [{"text": text} for text in table.recipe],
    }


def json_lines(tables: Sequence[Table]) -> str:
    return "".join(f"{json_line(table)}\n" for table in tables)
