"""What the headings of files of rows and of columns mean, and the typed records below them.

Pure Python: no Django, no database. What becomes of them is decided in `rows_and_columns` beside this; docs/import.md
describes the files for those who write them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH, BlockKind
from annotation.evidence.lines import lines_of
from annotation.exchange import conversations
from annotation.exchange.records import FACET, fold_heading, is_readable, names_rows
from annotation.exchange.tables import FileTable, Problems, TableError
from annotation.scheme.basis import first_repeated
from base.sentences import gettext_noop

# --- rows -------------------------------------------------------------------------------------------------------------


class RowRecord(NamedTuple):
    """A row as the file gives it. `given`: those of its fields that the file has a column for."""

    line: int
    sheet: str | None
    name: str
    title: str
    url: str
    language: str
    blocks: tuple[Block, ...]
    facets: Mapping[str, str]  # those that the file has a column for
    given: frozenset[str]


_ROW_FIELDS = ("sheet", "row", "title", "url", "language")
_PARAGRAPHS = re.compile(r"(evidence|text)(_\w+)?")


@dataclass(frozen=True)
class RowHeadings:
    at: Mapping[str, int]
    blocks: tuple[tuple[int, str], ...]  # in the order of the file, which is the order of reading
    facets: Mapping[str, int]
    unread: tuple[str, ...]
    conversations: frozenset[int] = frozenset()  # columns in which a list is nothing else
    running: frozenset[str] = (
        frozenset()
    )  # kinds of block whose lines keep their blanks, and the empty lines before them


def row_headings(header: Sequence[str], kinds: Mapping[str, BlockKind], facets: Collection[str] = ()) -> RowHeadings:
    """Recognise the headings of a file of rows; docs/import.md says which columns become evidence.

    Args:
        kinds: the kinds of evidence block that are known, by their keys.
        facets: of rows, by their keys, which head a column as they are or as “facet_…” and “row_facet_…”.

    Raises:
        TableError: no heading that names the rows, several, or one that stands there twice.
    """
    at: dict[str, int] = {}
    blocks, unread, said = [], [], set[int]()
    facets_at: dict[str, int] = {}
    for i, heading in enumerate(header):
        folded = fold_heading(heading)
        kind = folded.removeprefix("evidence_")
        facet = folded.removeprefix("row_").removeprefix(FACET)
        if folded in _ROW_FIELDS:
            if folded in at:
                raise TableError(gettext_noop("Two columns are headed “%(heading)s”."), heading=heading)
            at[folded] = i
        elif facet in facets:
            if facet in facets_at:
                raise TableError(gettext_noop("Two columns are headed “%(heading)s”."), heading=heading)
            facets_at[facet] = i
        elif kind in kinds:
            blocks.append((i, kind))
        elif _PARAGRAPHS.fullmatch(folded) or folded in conversations.HEADINGS:
            blocks.append((i, PARAGRAPH))
            said |= {i} if folded in conversations.HEADINGS else set()
        elif heading:
            unread.append(heading)
    if {"rater", "answer"} <= {fold_heading(heading) for heading in unread}:
        raise TableError(
            gettext_noop("This is a file of labels: it has the columns “rater” and “answer”. Give it under “Labels”.")
        )
    ids = [i for i, heading in enumerate(header) if heading in unread and names_rows(heading)]
    if "row" not in at and len(ids) == 1:
        at["row"] = ids[0]
        unread.remove(header[ids[0]])
    if "row" not in at:
        raise TableError(
            gettext_noop(
                "A file of rows needs a column headed “row” or “id”, with the name of each. This one has: %(headings)s."
            ),
            headings=", ".join(text for text in header if text),
        )
    running = frozenset(key for key, kind in kinds.items() if kind.running)
    return RowHeadings(at, tuple(blocks), facets_at, tuple(unread), frozenset(said), running)


_ENOUGH = 1000  # lines in which the first cell of a column is looked for


def told_apart(table: FileTable, headings: RowHeadings) -> RowHeadings:
    """The headings without those of conversations that are beside texts and have none: “messages” may be how many there
    are, “chat” where a text is from. These are not read. The first lines are read where there is such a heading.

    Raises:
        TableError: the file is not readable.
    """
    open_ = set(headings.conversations)
    if not {i for i, _kind in headings.blocks} - open_:
        return headings
    others = set[int]()
    lines = itertools.islice(table.lines(Problems(table.name)), _ENOUGH) if open_ else ()
    for line in lines:
        for i in {i for i in open_ if line.cells[i]}:
            open_.remove(i)
            if not line.cells[i].startswith("["):
                others.add(i)
        if not open_:
            break
    return replace(
        headings,
        blocks=tuple((i, kind) for i, kind in headings.blocks if i not in others),
        unread=(*headings.unread, *(table.header[i] for i in sorted(others))),
        conversations=headings.conversations - others,
    )


def row_records(table: FileTable, headings: RowHeadings, problems: Problems) -> Iterator[RowRecord]:
    at = headings.at
    given = frozenset({*at, *(["blocks"] if headings.blocks else [])})
    names = [at[name] for name in ("row", "sheet") if name in at]
    read = [*at.values(), *headings.facets.values(), *(place for place, _kind in headings.blocks)]
    plain = {i for i, heading in enumerate(table.header) if heading in table.plain}
    for line in table.lines(problems):
        if not is_readable(line, names, read, problems):
            continue
        cells = {name: line.cells[i] for name, i in at.items()}
        if not cells["row"]:
            problems.add(line.number, gettext_noop("This line names no row."))
            continue
        try:
            blocks = [
                block
                for i, kind in headings.blocks
                for block in _blocks(
                    line.cells[i],
                    kind,
                    is_plain=i in plain,
                    is_said=i in headings.conversations,
                    is_running=kind in headings.running,
                )
            ]
        except conversations.NoConversation:
            problems.add(
                line.number,
                gettext_noop(
                    "This is no conversation: each message says who speaks (“role”, “from”, “author” or “speaker”) and "
                    "what (“content”, “value” or “text”)."
                ),
            )
            continue
        yield RowRecord(
            line=line.number,
            sheet=cells.get("sheet"),
            name=cells["row"],
            title=cells.get("title", ""),
            url=cells.get("url", ""),
            language=cells.get("language", ""),
            blocks=tuple(blocks),
            facets={facet: line.cells[i] for facet, i in headings.facets.items()},
            given=given,
        )


def _blocks(cell: str, kind: str, *, is_plain: bool, is_said: bool, is_running: bool) -> Iterator[Block]:
    """A conversation, or a text of which each line is a block.

    Args:
        is_plain: the cell is a text, whatever it looks like.
        is_said: a list of objects in it is a conversation. Elsewhere it may be a text that is JSON.
        is_running: lines of a text keep the blanks that they begin with, and the empty lines before them.
    """
    try:
        said = None if is_plain else conversations.conversation(cell)
    except conversations.NoConversation as error:
        if is_said or error.partly:
            raise
        said = None
    if said is not None:
        return conversations.blocks_of(said, kind, gaps=is_running)
    lines = lines_of(cell, gaps=is_running)
    return (Block(kind, line if is_running else line.lstrip()) for line in lines)


# --- columns ----------------------------------------------------------------------------------------------------------


class ColumnRecord(NamedTuple):
    line: int
    sheet: str | None
    section: str | None
    facets: tuple[tuple[str, str], ...]


def column_records(table: FileTable, problems: Problems) -> Iterator[ColumnRecord]:
    """Columns of a file `sheet,section,<facets…>`; which facets there are is the scheme's to say.

    Raises:
        TableError: a heading that stands there twice.
    """
    folded = [fold_heading(heading).removeprefix(FACET) for heading in table.header]
    if twice := first_repeated(folded):
        raise TableError(gettext_noop("Two columns are headed “%(heading)s”."), heading=twice)
    for line in table.lines(problems):
        cells = dict(zip(folded, line.cells, strict=True))
        sheet, section = cells.pop("sheet", None), cells.pop("section", None)
        yield ColumnRecord(line.number, sheet, section, tuple((name, text) for name, text in cells.items() if name))
