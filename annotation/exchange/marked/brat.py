"""Documents of brat: a text and what is marked in it, side by side in a ZIP. Offsets are code points.

    doc1.txt     Lech came to Gdansk.
    doc1.ann     T1	PER 0 4	Lech

Nobody is named in them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from annotation.exchange.marked.documents import Document, Given, Span, unpacked
from annotation.exchange.tables import Problems, TableError
from base.sentences import gettext_noop

TEXT, MARKS = ".txt", ".ann"
_MARKED = re.compile(r"T\d+\t(\S+) (\d+) (\d+)\t.*")
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
        self.stream.seek(0)
        with zipfile.ZipFile(self.stream) as packed:
            before = 0
            for stem in self.stems:
                text, marks = (
                    _decoded(unpacked(packed, stem + ending, self.name), stem + ending) for ending in (TEXT, MARKS)
                )
                problems.begin_part(before, stem + MARKS)
                lines = marks.split("\n")
                spans, more = [], dict[str, str]()
                for number, line in enumerate(lines, before + 1):
                    if found := _MARKED.fullmatch(line.rstrip("\r")):
                        spans.append(Span(int(found[2]), int(found[3]), found[1]))
                    elif line.startswith("T"):
                        problems.add(
                            number,
                            gettext_noop("“%(mark)s” is no single stretch as brat has them."),
                            mark=line.strip()[:80],
                        )
                    elif line[:1] in _MORE:
                        more[_MORE[line[0]]] = "-"  # a column that nothing reads, so that it is named
                yield Document(before, stem, text, (Given(spans=tuple(spans)),), known=more)
                before += len(lines)


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(
            gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text."),
            line=data[: error.start].count(b"\n") + 1,
            file=path,
        ) from error
