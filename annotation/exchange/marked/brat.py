"""Documents of brat: a text and what is marked in it, side by side in a ZIP. Offsets are code points, among which brat
counts a byte order mark.

    doc1.txt     Lech came to Gdansk.
    doc1.ann     T1	PER 0 4	Lech

Nobody is named in them.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from annotation.exchange.decoding import decoded
from annotation.exchange.marked.documents import Document, Given, Span
from annotation.exchange.tables import Problems
from annotation.exchange.zips import Zip
from base.sentences import gettext_noop

TEXT, MARKS = ".txt", ".ann"
_MARKED = re.compile(r"T\d+\t(\S+) (\d{1,9}) (\d{1,9})\t(.*)")
# What else a line of brat may be: relations, events, attributes and what is normalised or equal; notes are passed over.
_MORE = {"R": "relations", "*": "relations", "E": "events", "A": "attributes", "M": "attributes", "N": "normalisations"}


@dataclass(frozen=True)
class BratSource:
    """Pairs of files of a ZIP. `stems`: their paths without an ending."""

    stream: BinaryIO
    name: str
    stems: tuple[str, ...]

    @property
    def raters_of_files(self) -> tuple[str, ...]:
        return ()

    def documents(self, problems: Problems) -> Iterator[Document]:
        with Zip(self.stream, self.name) as packed:
            before = 0
            for stem in self.stems:
                data = packed.read(stem + TEXT)
                text, marks = decoded(data, stem + TEXT), decoded(packed.read(stem + MARKS), stem + MARKS)
                problems.begin_part(before, stem + MARKS)
                yield _document(text, marks, stem, before, problems, has_bom=data.startswith(BOM_UTF8))
                before += marks.count("\n") + 1


class _Mark(NamedTuple):
    line: int
    span: Span
    words: list[str]

    def is_in(self, text: str, by: int) -> bool:
        """Whether the words stand there, where all offsets are so much smaller."""
        start, end = self.span.start - by, self.span.end - by
        return start >= 0 and self.words == text[start:end].split()


def _document(text: str, marks: str, stem: str, before: int, problems: Problems, *, has_bom: bool) -> Document:
    found, more = list[_Mark](), dict[str, str]()
    for number, line in enumerate(marks.split("\n"), before + 1):
        if match := _MARKED.fullmatch(line.rstrip("\r")):
            span = Span(int(match[2]), int(match[3]), match[1])
            found.append(_Mark(number, span, match[4].split()))
        elif line.startswith("T"):
            problems.add(
                number, gettext_noop("“%(mark)s” is no single stretch as brat has them."), mark=line.strip()[:80]
            )
        elif line[:1] in _MORE:
            more[_MORE[line[0]]] = "-"  # a column that nothing reads, so that it is named
    by = 0
    if has_bom:
        by = max((1, 0), key=lambda by: sum(mark.is_in(text, by) for mark in found))
    spans = []
    for mark in found:
        start, end, label = mark.span
        if mark.is_in(text, by):
            spans.append(Span(start - by, end - by, label))
        else:
            problems.add(
                mark.line,
                gettext_noop("From %(start)s to %(end)s “%(row)s” has not “%(words)s”, as is said here."),
                start=start,
                end=end,
                row=stem,
                words=" ".join(mark.words)[:80],
            )
    return Document(before, stem, text, (Given(spans=tuple(spans)),), known=more)
