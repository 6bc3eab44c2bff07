"""Knowing a file of marked words by its first signs."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import BinaryIO

from annotation.exchange.marked import archives
from annotation.exchange.marked.cas_json import is_cas
from annotation.exchange.marked.conll import ConllSource, is_conll
from annotation.exchange.marked.documents import Source
from annotation.exchange.marked.json_objects import JsonSource, Program, objects, program_of
from annotation.exchange.marked.tables import MarkedLabels, MarkedRows, MarkedTable, opened
from annotation.exchange.marked.webanno_tsv import is_webanno
from annotation.exchange.tables import FileTable, TableError, check_size
from annotation.exchange.zips import SIGNATURE

_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*([\[{])")
_FIRST = 4000  # bytes, by which a file is known
# What doccano calls a file of everybody's work, and what browsers put behind a name that is there already.
_ALL, _AGAIN = "all", re.compile(r"\s*\(\d+\)\Z")


def open_marked_labels(stream: BinaryIO, *, name: str, max_bytes: int) -> MarkedTable | None:
    """The labels of a file with marked words; None if it is none. Raises TableError as `open_table`."""
    return _opened(stream, MarkedLabels, name=name, max_bytes=max_bytes)


def open_marked_rows(stream: BinaryIO, *, name: str, max_bytes: int) -> MarkedTable | None:
    """The texts of a file with marked words; None if it is none. Raises TableError as `open_table`."""
    return _opened(stream, MarkedRows, name=name, max_bytes=max_bytes)


def _opened(stream: BinaryIO, of: type[MarkedTable], *, name: str, max_bytes: int) -> MarkedTable | None:
    stream.seek(0)
    start = stream.read(_FIRST)
    source: Source | None
    if start.startswith(SIGNATURE):
        source = archives.source_of(stream, name, _of_one, max_bytes=max_bytes)
    elif is_webanno(start) or is_cas(start):
        check_size(stream, name=name, max_bytes=max_bytes)
        source = archives.InceptionSource(stream, name)
    elif is_conll(start, name):  # whose first token may be a bracket
        check_size(stream, name=name, max_bytes=max_bytes)
        source = ConllSource(stream, name)
    elif _JSON.match(start):
        check_size(stream, name=name, max_bytes=max_bytes)
        source = _of_json(stream, name)
    else:
        return None
    return opened(source, of, FileTable(stream, name, "utf-8", "", ())) if source is not None else None


def _of_one(stream: BinaryIO, name: str, told: archives.Told) -> Source | None:
    """A file of a ZIP."""
    stream.seek(0)
    if is_conll(stream.read(_FIRST), name):
        return ConllSource(stream, name, _who(name), told)
    return _of_json(stream, name)


def _who(name: str) -> str:
    """Whose a file is by its name; "" for everybody's."""
    rater = _AGAIN.sub("", PurePosixPath(name).stem)
    return "" if rater == _ALL else rater


def _of_json(stream: BinaryIO, name: str) -> Source | None:
    stream.seek(0)
    first = _JSON.match(stream.read(400))
    if first is None:
        return None
    is_list = first[1] == b"["
    try:
        program = _program_of(stream, name, is_list=is_list)
    except TableError:  # who reads it says what is wrong
        return None
    if program is None:
        return None
    return JsonSource(stream, name, is_list, program, "" if program == Program.PRODIGY else _who(name))


def _program_of(stream: BinaryIO, name: str, *, is_list: bool) -> Program | None:
    """By the first object that tells. Where no text has a label, somebody marked nothing in doccano."""
    nothing = None
    for _line, of in objects(stream, name, is_list=is_list):
        program = program_of(of)
        if program != "either":
            return program or None
        nothing = Program.SPANS
    return nothing
