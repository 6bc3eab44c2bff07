"""A study about marked names and a mood, and files of it as other programs write them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.exchange.json_tables import open_labels, open_rows
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import Imported
from annotation.exchange.rows_and_columns import import_rows
from annotation.models import Label, Study
from tests import builders

FILES = Path(__file__).parent / "files"
SCHEME = """\
key: news
version: 1
title: News
sections:
  - key: text
    title: The text
    questions:
      - {key: mood, title: Mood, options: [{key: glad, label: Glad}, {key: sad, label: Sad}]}
      - key: names
        title: Names
        kind: items
        items:
          fields:
            - {key: words, required: true}
            - {key: type, options: [PER, ORG, LOC]}
            - {key: at, place: true}
"""
# An emoji of two units of UTF-16, a line break of two characters, a letter with a sign that combines, right to left.
_DAVID, _CAIRO = "\u05d3\u05d5\u05d3", "\u0627\u0644\u0642\u0627\u0647\u0631\u0629"
TEXT = f"🙂 Lech met Ann.\r\n\r\n  In Gdan\u0301sk, {_DAVID} heard {_CAIRO} 🙂🙂 IBM."
WORDS = {"Lech": "PER", "Ann": "PER", "Gdan\u0301sk": "LOC", _DAVID: "PER", _CAIRO: "LOC", "IBM": "ORG"}
SPANS = [[TEXT.index(word), TEXT.index(word) + len(word), label] for word, label in WORDS.items()]
# The same as doccano counts, in units of UTF-16.
UNITS = [[*(len(TEXT[:at].encode("utf-16-le")) // 2 for at in (start, end)), label] for start, end, label in SPANS]
# The blocks that a row has of it, and where the words stand in these.
BLOCKS = [TEXT[:15], TEXT[19:]]
ENTRIES = [
    {"words": "Lech", "type": "PER", "at": "0:2-6"},
    {"words": "Ann", "type": "PER", "at": "0:11-14"},
    {"words": "Gdańsk", "type": "LOC", "at": "1:5-12"},  # composed: what an entry says is as people compare it
    {"words": "דוד", "type": "PER", "at": "1:14-17"},
    {"words": "القاهرة", "type": "LOC", "at": "1:24-31"},
    {"words": "IBM", "type": "ORG", "at": "1:35-38"},
]


def study(slug: str = "news", scheme: str = SCHEME) -> Study:
    return builders.study(slug, of=builders.scheme(scheme))


def lines(*objects: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(of, ensure_ascii=False) + "\n" for of in objects).encode()


def packed(files: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return out.getvalue()


def many_files(n: int) -> bytes:
    """A ZIP whose list has so many files, and says that it has none."""
    one = packed({"a": b""})
    at, end = one.index(b"PK\x01\x02"), one.index(b"PK\x05\x06")
    listed = one[at:end] * n
    return one[:at] + listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0, 0, len(listed), at, 0)


def bring_rows(to: Study, data: bytes, name: str = "anna.jsonl") -> Imported:
    return import_rows(study=to, rows=open_rows(io.BytesIO(data), name=name, max_bytes=2**20))


def bring(to: Study, data: bytes, name: str = "anna.jsonl", **how: Any) -> Imported:
    table = open_labels(io.BytesIO(data), name=name, max_bytes=2**20)
    return import_labels(study=to, table=table, how=LabelImport(**{"create": True, **how}))


def said(of: Study) -> dict[tuple[str, str, str], Any]:
    """(row, rater, question): the answer; of an option its key."""
    found = Label.objects.filter(assignment__rater__study=of).select_related("option", "question")
    return {
        (label.assignment.row.name, label.assignment.rater.code, label.question.key): (
            label.option.key if label.option else label.value
        )
        for label in found.select_related("assignment__row", "assignment__rater")
    }
