"""A document of WebAnno or INCEpTION as “WebAnno TSV 3”: a token a line, below the sentence that it stands in.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value

    #Text=Lech came to Gdansk .
    1-1	0-4	Lech	*	PER

Offsets are units of UTF-16. What stood between two sentences is not in the file: it becomes line breaks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.exchange.marked.layers import Layered, Stretch, is_of_tokens
from annotation.exchange.marked.texts import Utf16
from annotation.exchange.tables import TableError
from base.sentences import gettext_noop

_FORMAT, _TEXT, _SPANS = "#FORMAT=WebAnno TSV 3", "#Text=", "#T_SP="
_RELATIONS = ("#T_RL=", "#T_CH=")
_TOKEN = re.compile(r"\d+-\d+(\.\d+)?")
_OFFSETS = re.compile(r"(\d+)-(\d+)")
_STACKED = re.compile(r"((?:[^\\|]|\\.)*)(?:\||\Z)", re.DOTALL)
_NUMBERED = re.compile(r"(.*?)(?<!\\)\[(\d+)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}


def is_webanno(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").startswith(_FORMAT.encode())


class _Layer(NamedTuple):
    name: str
    features: tuple[str, ...]
    at: int  # of its first column
    counts: bool


@dataclass
class _Reading:
    text: str = ""
    units: int = 0  # of the text, in UTF-16
    sentence: list[str] = field(default_factory=list)
    # Of each layer its spans, by their numbers, or by the token where they have none.
    spans: dict[str, dict[tuple[str, int], Stretch]] = field(default_factory=dict)


def read(data: bytes, name: str) -> Layered:
    """
    Raises:
        TableError: it is no such document, or broken.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(
            gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text."),
            line=data[: error.start].count(b"\n") + 1,
            file=name,
        ) from error
    layers, width = list[_Layer](), 3
    reading, passed_over = _Reading(), set[str]()
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith((_SPANS, *_RELATIONS)):
            layer, *features = line.partition("=")[2].split("|")
            is_spans = line.startswith(_SPANS)
            layers.append(_Layer(layer, tuple(features), width, is_spans and not is_of_tokens(layer)))
            if not is_spans and not is_of_tokens(layer):
                passed_over.add(layer)
            width += max(len(features), 1)
        elif line.startswith(_TEXT):
            reading.sentence.append(_plain(line.removeprefix(_TEXT)))
        elif line and line[0] != "#":
            cells = line.split("\t")
            offsets = _OFFSETS.fullmatch(cells[1]) if len(cells) >= 3 and _TOKEN.fullmatch(cells[0]) else None
            if offsets is None:
                raise TableError(
                    gettext_noop("Line %(line)s of “%(file)s” is no token as WebAnno TSV 3 has them."),
                    line=number,
                    file=name,
                )
            begin, end = int(offsets[1]), int(offsets[2])
            _begin_sentence(reading, begin)
            for layer_of in layers:
                if layer_of.counts:
                    _add(reading, layer_of, cells, begin, end)
    found = Layered(reading.text, passed_over=passed_over)
    found.layers = {layer: list(of.values()) for layer, of in reading.spans.items()}
    return found


def _begin_sentence(reading: _Reading, begin: int) -> None:
    """Put a sentence where its first token begins."""
    if not reading.sentence:
        return
    sentence = "\n".join(reading.sentence)
    gap = "\n" * max(begin - reading.units, 0)
    reading.text += gap + sentence
    reading.units += len(gap) + Utf16.of(sentence).length
    reading.sentence = []


def _add(reading: _Reading, layer: _Layer, cells: list[str], begin: int, end: int) -> None:
    """The spans of a layer at a token, or at a part of one."""
    columns = [_stacked(cells[at]) if at < len(cells) else [] for at in range(layer.at, layer.at + _width(layer))]
    spans = reading.spans.setdefault(layer.name, {}) if columns[0] else {}
    for place, (_said, number) in enumerate(columns[0]):
        said = {
            feature: column[place][0]
            for feature, column in zip(layer.features, columns, strict=False)
            if place < len(column) and column[place][0] and not feature.startswith("ROLE_")
        }
        key = ("", number) if number else (cells[0], place)
        before = spans.get(key)
        if before is None:
            spans[key] = Stretch(begin, end, said)
        else:
            spans[key] = before._replace(begin=min(before.begin, begin), end=max(before.end, end))


def _width(layer: _Layer) -> int:
    return max(len(layer.features), 1)


def _stacked(cell: str) -> list[tuple[str, int]]:
    """The values of a cell, each with its number or 0: “PER[1]|ORG[2]”; none for “_”, "" for “*”."""
    if cell in ("", "_"):
        return []
    found = []
    for value in _STACKED.findall(cell)[:-1] if cell else ():
        numbered = _NUMBERED.fullmatch(value)
        said, number = (numbered[1], int(numbered[2])) if numbered else (value, 0)
        found.append(("" if said == "*" else _plain(said), number))
    return found


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: _SIGNS.get(found[1], found[1]), text)
