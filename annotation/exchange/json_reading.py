"""JSON that people bring, piece by piece: objects of lines, elements of a list, and what a value is as a cell.

Pure Python: no Django, no database.
"""

from __future__ import annotations

import codecs
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from annotation.exchange.decoding import decoded
from annotation.exchange.tables import FileLine, FileTable, Gaps, Problems, TableError, check_size
from base.sentences import gettext_noop
from base.text import storable

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Json(str):
    """A list or an object that stands in a line, as JSON: no text, though it is read as a cell."""

    __slots__ = ()


class Record(NamedTuple):
    """One label or item: the line of the file where it begins, and its values by column."""

    line: int
    values: Mapping[str, str]


@dataclass(frozen=True)
class RecordTable(FileTable, ABC):
    """A table whose lines are made of records."""

    def lines(self, problems: Problems) -> Iterator[FileLine]:
        """See `FileTable.lines`.

        Raises:
            TableError: from here on the file is not readable.
        """
        gaps = Gaps(self.name, len(self.header))
        for record in self.records(problems):
            gaps.add(len(record.values))
            cells = (record.values.get(name, "") for name in self.header)
            yield FileLine(record.line, [cell if isinstance(cell, Json) else cell.strip() for cell in cells])

    @abstractmethod
    def records(self, problems: Problems) -> Iterator[Record]:
        """What the lines are made of, in the order of the file."""


def in_utf_8(stream: BinaryIO, *, name: str, max_bytes: int) -> BinaryIO:
    """The file itself, but for JSON in UTF-16, as Windows writes what programs print: a copy of it.

    Raises:
        TableError: it is too large, or broken.
    """
    stream.seek(0)
    start = stream.read(200)
    if not start.startswith(_UTF_16) or start.decode("utf-16", "replace").lstrip()[:1] not in ("{", "["):
        return stream
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    try:
        return io.BytesIO(stream.read().decode("utf-16").encode())
    except UnicodeDecodeError as error:
        raise TableError(gettext_noop("“%(file)s” is no UTF-16 text, as it begins."), file=name) from error


def objects_of_lines(stream: BinaryIO, name: str, example: str) -> Iterator[tuple[int, dict[str, Any]]]:
    stream.seek(0)
    for number, line in enumerate(stream, 1):
        text = decoded(line, name, number).strip()
        if not text:
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TableError(
                gettext_noop("Line %(line)s of “%(file)s” is no JSON object; each line is one, such as %(example)s."),
                line=number,
                file=name,
                example=example,
            ) from error
        if not isinstance(record, dict):
            raise TableError(gettext_noop("Line %(line)s of “%(file)s” is no JSON object."), line=number, file=name)
        yield number, record


def text_of(value: Any) -> str:
    """A value as a cell of a CSV file would have it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):  # some programs write “nothing” so
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
    # JSON can say what no text file holds: the zero character, half of a pair of UTF-16.
    return storable(value) if isinstance(value, str) else Json(storable(json.dumps(value, ensure_ascii=False)))


def cell_of_row(value: Any) -> str:
    """A value as a cell of a file of rows, in which a list of texts is a line each."""
    is_of_texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return text_of("\n".join(value) if is_of_texts else value)


def whole(stream: BinaryIO, name: str) -> str:
    stream.seek(0)
    return decoded(stream.read(), name)


def elements(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list, each with the line where it begins."""
    decoder = json.JSONDecoder()
    at, line = text.index("[") + 1, 1

    def skip(at: int, signs: str) -> int:
        while at < len(text) and text[at] in signs:
            at += 1
        return at

    counted = 0
    while (at := skip(at, " \t\r\n,")) < len(text) and text[at] != "]":
        line += text.count("\n", counted, at)
        counted = at
        try:
            element, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            broken = line + text.count("\n", counted, getattr(error, "pos", at))
            raise TableError(
                gettext_noop("“%(file)s” is no JSON from line %(line)s on."), file=name, line=broken
            ) from error
        yield line, element
    if at >= len(text):
        raise TableError(gettext_noop("“%(file)s” ends in the middle of its list."), file=name)
