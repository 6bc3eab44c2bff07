"""Files of INCEpTION, alone or many in a ZIP, and ZIPs as doccano and brat have them.

    annotation/doc1.txt/anna.json           what anna marked in doc1.txt (INCEpTION, a project with a secondary format)
    curation/doc1.txt/CURATION_USER.json    what was decided: the gold
    anna.jsonl                              what anna marked in all texts (doccano)
    doc1.txt, doc1.ann                      a text, and what somebody marked in it (brat)
    anna.conll                              what anna marked in all texts (CoNLL)
    palate.jsonl                            of each document of our own whose it is, and what it answers

What else is in a ZIP is passed over.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from annotation.exchange.json_reading import objects_of_lines, text_of
from annotation.exchange.marked import cas_json, webanno_tsv
from annotation.exchange.marked.brat import MARKS, TEXT, BratSource
from annotation.exchange.marked.conll import ENDING
from annotation.exchange.marked.documents import Document, Source
from annotation.exchange.marked.json_objects import document_as_told
from annotation.exchange.marked.layers import Layered, Layers, given_of
from annotation.exchange.records import GOLD
from annotation.exchange.tables import Problems, TableError
from annotation.exchange.zips import Broken, Zip, is_hidden
from base.sentences import gettext_noop

NOBODY = "INITIAL_CAS"  # the document before anybody marked anything
CURATED = "CURATION_USER"
TOLD = "palate.jsonl"
Told = Sequence[Mapping[str, Any]]  # what our own ZIP says of each document of a file, in their order
Opened = Callable[[BinaryIO, str, Told], Source | None]  # makes a source of a file of a ZIP; None for no marked words
_MOST_FILES = 20_000
NO_FORMAT = gettext_noop(
    "“%(file)s” has no document of INCEpTION that can be read here: export the project with the secondary format "
    "“UIMA CAS JSON 0.4” or “WebAnno TSV v3.3”."
)


@dataclass(frozen=True)
class Member:
    """One document of one person. `path`: in its ZIP; `told`: what our own ZIP says of it."""

    path: str
    row: str
    rater: str
    kind: str = ""
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class InceptionSource:
    """Documents of INCEpTION: one, or those of a ZIP."""

    stream: BinaryIO
    name: str
    members: tuple[Member, ...] = ()  # of a ZIP
    raters_of_files: tuple[str, ...] = ()

    def documents(self, problems: Problems) -> Iterator[Document]:
        unread = dict.fromkeys(self.layers.unread, "-")  # columns that nothing reads, so that they are named
        for line, member, document in self._each(problems):
            name = member.row or document.title or PurePosixPath(self.name).stem
            given = given_of(document, self.layers, line=line, name=name, problems=problems)
            if member.told:
                told = document_as_told(line, member.told, document.text, given)
                yield replace(told, known={**told.known, **unread})
                continue
            yield Document(
                line=line,
                name=name,
                text=document.text,
                given=given,
                rater=member.rater,
                known={"rater_kind": member.kind, **unread} if member.kind else unread,
            )

    @cached_property
    def layers(self) -> Layers:
        """Those that are used anywhere in the file."""
        found = Layers()
        for _line, _member, document in self._each(Problems(self.name)):
            found.add(document)
        return found

    def _each(self, problems: Problems) -> Iterator[tuple[int, Member, Layered]]:
        """Each document by its number in the ZIP, which stands for a line; 0 of one alone."""
        self.stream.seek(0)
        if not self.members:
            yield 0, Member(self.name, "", ""), read_document(self.stream.read(), self.name)
            return
        with Zip(self.stream, self.name) as packed:
            for number, member in enumerate(self.members, 1):
                problems.begin_part(number, member.path)
                yield number, member, read_document(packed.read(member.path), member.path)


def read_document(data: bytes, name: str) -> Layered:
    """
    Raises:
        TableError: it is none of INCEpTION's.
    """
    if webanno_tsv.is_webanno(data[:100]):
        return webanno_tsv.read(data, name)
    if cas_json.is_cas(data[:400]):
        return cas_json.read(data, name)
    raise TableError(NO_FORMAT, file=name)


@dataclass(frozen=True)
class SeveralSource:
    """Files of JSON or CoNLL in a ZIP, one a person. `told`: what our own says of each."""

    stream: BinaryIO
    name: str
    paths: tuple[str, ...]
    opened: Opened
    raters_of_files: tuple[str, ...]
    told: Mapping[str, Told]

    def documents(self, problems: Problems) -> Iterator[Document]:
        with Zip(self.stream, self.name) as packed:
            before = 0
            for path in self.paths:
                data = packed.read(path)
                problems.begin_part(before, path)
                source = self.opened(io.BytesIO(data), path, self.told.get(path, ()))
                if source is None and data.strip():  # an empty file is of somebody who has finished nothing
                    raise TableError(
                        gettext_noop(
                            "“%(part)s” of “%(file)s” has no texts with what somebody marked or chose in them, or is "
                            "broken. Leave it out, or mend it."
                        ),
                        part=path,
                        file=self.name,
                    )
                if source is not None:
                    for document in source.documents(_Further(self.name, of=problems, by=before)):
                        yield replace(document, line=document.line + before)
                before += data.count(b"\n") + 1


@dataclass
class _Further(Problems):
    """The problems `of` a ZIP, told by one of its files whose lines come behind `by` others."""

    of: Problems = field(kw_only=True)
    by: int = 0

    def add(self, line: int, template: str, **values: int | str) -> None:
        self.of.add(line + self.by, template, **values)


# --- what is in a ZIP ------------------------------------------------------------------------------------------------

_OF_INCEPTION = re.compile(r"(?:.*/)?(annotation|curation)/([^/]+)/([^/]+)\.(\w+)")


def source_of(stream: BinaryIO, name: str, opened: Opened, *, max_bytes: int) -> Source | None:
    """The documents in a ZIP; None where it has none of these programs.

    Raises:
        TableError: it is broken or too large, or INCEpTION's in another format.
    """
    try:
        with Zip(stream, name) as packed:
            return _source_in(packed, stream, opened, max_bytes)
    except Broken as error:
        if not name.lower().endswith(".zip"):  # who reads it as what it is called says what is wrong
            return None
        raise TableError(
            gettext_noop("“%(file)s” is no ZIP that can be unpacked: it is broken, or has not arrived whole."),
            file=name,
        ) from error


def _source_in(packed: Zip, stream: BinaryIO, opened: Opened, max_bytes: int) -> Source | None:
    name, paths = packed.name, [path for path in packed.paths if not is_hidden(path)]
    check = partial(packed.check, max_bytes=max_bytes, max_files=_MOST_FILES)
    if found := [match for path in paths if (match := _OF_INCEPTION.fullmatch(path))]:
        check([match[0] for match in found] + [path for path in paths if path == TOLD])
        return _inception(stream, name, found, _told(packed))
    there = set(paths)
    marked = sorted(path.removesuffix(MARKS) for path in paths if path.endswith(MARKS))
    if stems := [stem for stem in marked if stem + TEXT in there]:
        if alone := [stem for stem in marked if stem + TEXT not in there]:
            raise TableError(
                gettext_noop("“%(part)s” of “%(file)s” has no text “%(text)s” beside it. Add it, or leave it out."),
                part=alone[0] + MARKS,
                file=name,
                text=alone[0] + TEXT,
            )
        check([stem + ending for stem in stems for ending in (TEXT, MARKS)])
        return BratSource(stream, name, tuple(stems))
    check(paths := [path for path in paths if path.endswith((".json", ".jsonl", ENDING))])
    is_conll = any(path.endswith(ENDING) for path in paths)
    paths = [path for path in paths if path != TOLD or not is_conll]  # else it is of somebody who is called so
    sources = [source for path in paths if (source := opened(io.BytesIO(packed.read(path)), path, ()))]
    if not sources:
        return None
    raters = dict.fromkeys(rater for source in sources for rater in source.raters_of_files)
    return SeveralSource(stream, name, tuple(paths), opened, tuple(raters), _told(packed) if is_conll else {})


def _told(packed: Zip) -> Mapping[str, Told]:
    """What our own ZIP says of its documents, by their files and in their order there; nothing of another one."""
    data = packed.read(TOLD) if TOLD in packed.paths else b""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for _line, of in objects_of_lines(io.BytesIO(data), TOLD, '{"file": "annotation/7/anna.json", "row": "7"}'):
        if isinstance(of.get("origin"), dict):
            found.setdefault(text_of(of.pop("file", None)), []).append(of)
    return found


def _inception(stream: BinaryIO, name: str, found: list[re.Match[str]], told: Mapping[str, Told]) -> InceptionSource:
    members = []
    for match in found:
        path, folder, row, who, ending = match[0], *match.groups()
        if ending not in ("json", "tsv") or who == NOBODY or (folder == "curation") != (who == CURATED):
            continue
        if ours := told.get(path):
            members.append(Member(path, row, text_of(ours[0]["origin"].get("rater", who)), told=ours[0]))
        else:
            members.append(Member(path, row, GOLD, GOLD) if who == CURATED else Member(path, row, who))
    if not members:
        raise TableError(NO_FORMAT, file=name)
    raters = dict.fromkeys(member.rater for member in members)
    return InceptionSource(stream, name, tuple(members), tuple(raters))
