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

from annotation.exchange.decoding import decoded
from annotation.exchange.marked.layers import Layered, Stretch, is_of_tokens
from annotation.exchange.marked.texts import Utf16
from annotation.exchange.tables import TableError
from base.sentences import gettext_noop

_FORMAT, _TEXT, _SPANS = "#FORMAT=WebAnno TSV 3", "#Text=", "#T_SP="
_RELATIONS = ("#T_RL=", "#T_CH=")
_TOKEN = re.compile(r"\d+-\d+(\.\d+)?")
_OFFSETS = re.compile(r"(\d{1,9})-(\d{1,9})")
_BETWEEN = re.compile(r"\\.|\|", re.DOTALL)  # an escaped sign, or what stands between stacked values
_NUMBER = re.compile(r"\[(\d{1,9})\]\Z")
# Up to version 3.1 texts are escaped as Java does, who writes all but ASCII by numbers.
_ESCAPED = re.compile(r"\\(->|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}
# Units between two sentences, of which the file says nothing but how many they are: more are none of a document's.
_MOST_BETWEEN = 100_000


def is_webanno(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").startswith(_FORMAT.encode())


class _Layer(NamedTuple):
    name: str
    features: tuple[str, ...]
    at: int  # of its first column
    counts: bool


@dataclass
class _Reading:
    """`text` and `units` (of UTF-16): up to the end of the sentence that was begun last: `last`, from `begins`.
    `sentence`: lines of one whose first token is still to come."""

    text: list[str] = field(default_factory=list)
    units: int = 0
    last: str = ""
    last_units: Utf16 = field(default_factory=lambda: Utf16.of(""))
    begins: int = 0
    sentence: list[str] = field(default_factory=list)
    # Of each layer its spans, by their numbers, or by the token where they have none.
    spans: dict[str, dict[tuple[str, int], Stretch]] = field(default_factory=dict)


def read(data: bytes, name: str) -> Layered:
    """
    Raises:
        TableError: it is no such document, or broken.
    """
    text = decoded(data, name)
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
            token = _plain(cells[2])
            if not _begin_sentence(reading, begin, token) or not _has(reading, begin, end, token):
                raise TableError(
                    gettext_noop(
                        "Line %(line)s of “%(file)s”: from %(start)s to %(end)s of the sentences above it there is no "
                        "“%(words)s”."
                    ),
                    line=number,
                    file=name,
                    start=begin,
                    end=end,
                    words=token[:80],
                )
            for layer_of in layers:
                if layer_of.counts:
                    _add(reading, layer_of, cells, begin, end)
    found = Layered("".join(reading.text), passed_over=passed_over)
    found.layers = {layer: list(of.values()) for layer, of in reading.spans.items()}
    return found


def _begin_sentence(reading: _Reading, begin: int, token: str) -> bool:
    """Put a sentence where its first token says that it is; whether it has a place there."""
    if not reading.sentence:
        return True
    sentence = "\n".join(reading.sentence)
    units = Utf16.of(sentence)
    begins = begin - Utf16.of(sentence[: max(sentence.find(token), 0)]).length
    between = begins - reading.units
    if not 0 <= between <= _MOST_BETWEEN:
        return False
    reading.text += ["\n" * between, sentence]
    reading.units = begins + units.length
    reading.last, reading.last_units, reading.begins, reading.sentence = sentence, units, begins, []
    return True


def _has(reading: _Reading, begin: int, end: int, token: str) -> bool:
    """Whether a token stands where it says: else all that is marked would be somewhere else."""
    start, stop = (reading.last_units.code_point(at - reading.begins) for at in (begin, end))
    return start is not None and stop is not None and reading.last[start:stop] == token


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
    found, at = [], 0
    for end in [*(one.start() for one in _BETWEEN.finditer(cell) if one[0] == "|"), len(cell)]:
        said, number = cell[at:end], 0
        if (numbered := _NUMBER.search(said)) and not _is_escaped(said, numbered.start()):
            said, number = said[: numbered.start()], int(numbered[1])
        found.append(("" if said == "*" else _plain(said), number))
        at = end + 1
    return found


def _is_escaped(text: str, at: int) -> bool:
    """Whether the backslashes before a sign, each of which escapes the next one, leave one for it."""
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPED.sub(_sign, text)
    # Two numbers of Java may be one character.
    return _joined(plain) if "\\u" in text else plain


def _sign(found: re.Match[str]) -> str:
    said = found[1]
    return chr(int(said[1:], 16)) if len(said) == 5 else _SIGNS.get(said, said)


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
