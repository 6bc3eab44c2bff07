"""Everything of a report in one ZIP. Equal contents and labels give equal bytes: its files bear no time."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

from django.utils.translation import gettext as _

from annotation.exchange.exports import safe_lines
from reports.contents import Contents
from reports.data.label_table import LabelTable
from reports.data.rows import RowAbout, RowText
from reports.exports import labels as long_form
from reports.exports import memory, texts
from reports.exports.latex import document, latex
from reports.exports.names import file_names
from reports.exports.spreadsheets import MAX_LABELS, labels_csv, report_lines, write_workbook
from reports.exports.texts import Origin

_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP can hold
_AT_ONCE = 1 << 20
# Per cent done, and what comes now.
Progress = Callable[[int, str], None]


def write_archive(
    out: BinaryIO,
    contents: Contents,
    table: LabelTable,
    origin: Origin,
    *,
    about: Sequence[RowAbout] = (),
) -> None:
    """Write the ZIP: `write_report`, then `write_labels`."""
    with opened(out) as files:
        card = write_report(files, contents, table, origin, about=about)
        write_labels(files, table, card, computed=table, about=about)


@contextmanager
def opened(out: BinaryIO) -> Iterator[Files]:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        yield Files(archive)


def write_report(
    files: Files,
    contents: Contents,
    table: LabelTable,
    origin: Origin,
    *,
    about: Sequence[RowAbout] = (),
    questions: Sequence[str] = (),
    progress: Progress = lambda done, step: None,
) -> str:
    """The files that are made of the contents; those of the labels alone follow, when a caller may have let them go.

    Args:
        about: what each row of the table is called, and where it is found.
        questions: whose labels go in, as "section.question"; none means all.
        progress: is told what comes next, and may raise to stop.

    Returns:
        The dataset's card, which `write_labels` puts in.
    """
    progress(1, _("tables"))
    files.add("README.md", texts.readme(contents, table, origin))
    files.add("report.json", contents.indented())
    files.add("report.csv", report_lines(contents))
    small = len(table.labels) <= MAX_LABELS
    records = _lines(table, questions, about) if small else ()
    with tempfile.TemporaryFile() as book:
        write_workbook(book, contents, long_form.header(table), records)
        files.add("report.xlsx", _undated(book))
    keys = file_names(shown.key for shown in contents.tables)
    for key, shown in zip(keys, contents.tables, strict=True):
        files.add(f"tables/{key}.tex", latex(shown))
    files.add("tables/all.tex", document(keys))

    from reports.figures.svg import drawn  # matplotlib comes with it

    figures = list(contents.figures)
    for number, key in enumerate(file_names(figure.key for figure in figures)):
        progress(10 + 50 * number // len(figures), _("figures"))
        name, figure = f"figures/{key}", figures[number]
        light, dark = drawn(figure, ("svg", "pdf")), drawn(figure, ("svg",), "dark")
        files.add(f"{name}.svg", light["svg"])
        files.add(f"{name}-dark.svg", dark["svg"])
        files.add(f"{name}.pdf", light["pdf"])
    return texts.dataset_card(contents, table, origin)


def write_labels(
    files: Files,
    table: LabelTable,
    card: str,
    *,
    computed: LabelTable,
    about: Sequence[RowAbout] = (),
    questions: Sequence[str] = (),
    certificates: Mapping[str, str] | None = None,
    judges: Mapping[str, str] | None = None,
    background: Iterable[str] = (),
    row_texts: Iterable[RowText] | None = None,
    blocks: Iterable[Sequence[str]] | None = None,
    progress: Progress = lambda done, step: None,
) -> None:
    """The labels in all their forms, and what else there is.

    Args:
        card: what `write_report` gave.
        computed: the table as the contents were made of it.
        about: what each row of the table is called, and where it is found; a file of their own where it is known.
        questions: whose labels go in, as "section.question"; none means all.
        certificates: file name -> content, of the study's judges.
        judges: name -> content, what each of them is and the records of its runs.
        background: lines of a CSV file, what raters told about themselves under their codes.
        row_texts: the texts that were labelled; without them there is no file.
        blocks: the same as the texts of the blocks of each row of the table, for Label Studio's tasks.
        progress: is told what comes next, and may raise to stop.
    """
    progress(60, _("labels"))
    files.add("labels/labels.csv", labels_csv(long_form.header(table), _lines(table, questions, about)))
    files.add("labels/labels-wide.csv", long_form.wide_csv(table, questions, about))
    files.add("labels/codebook.csv", "".join(safe_lines(texts.CODEBOOK_HEADER, texts.codebook(table))))
    progress(70, _("labels"))
    files.add("labels/labels.parquet", long_form.parquet(table, questions, about))
    memory.give_back()
    progress(75, _("labels"))
    files.add("labels/labels.jsonl", long_form.jsonl(table, questions, about))
    files.add("labels/README.md", card)
    progress(85, _("labels"))
    files.add("labels/label-studio.json", long_form.label_studio(table, questions, about, blocks))
    files.add("labels/label-studio.xml", texts.labelling_config(table, has_texts=blocks is not None))
    progress(95, _("labels"))
    files.add("label-table.json", computed.content_parts())
    if about:
        files.add("rows.csv", labels_csv(long_form.rows_header(table), long_form.row_records(table, about)))
    for name, content in (certificates or {}).items():
        files.add(f"certificates/{name}", content)
    judges = judges or {}
    for name, content in zip(file_names(judges), judges.values(), strict=True):
        files.add(f"judges/{name}.json", content)
    if row_texts is not None:
        files.add("labels/texts.jsonl", long_form.texts_jsonl(row_texts))
    if told := list(background):
        files.add("labels/background.csv", told)


def _lines(table: LabelTable, questions: Sequence[str], about: Sequence[RowAbout]) -> Iterator[tuple[str, ...]]:
    """All labels, then all skipped cells."""
    yield from long_form.records(table, questions, about)
    yield from long_form.skipped(table, questions, about)


class Files:
    """What goes into an archive, one file after the other."""

    def __init__(self, archive: zipfile.ZipFile, *, large: bool = True) -> None:
        """Args: whether a file may have 2 GiB and more, which not all that reads workbooks can read."""
        self._archive, self._large = archive, large

    def add(self, name: str, content: str | bytes | Iterable[str] | Iterable[bytes]) -> None:
        entry = zipfile.ZipInfo(name, _TIME)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        if isinstance(content, str | bytes):
            self._archive.writestr(entry, content)
            return
        with self._archive.open(entry, "w", force_zip64=self._large) as file:
            held: list[bytes] = []
            size = 0
            for piece in content:
                held.append(piece.encode() if isinstance(piece, str) else piece)
                size += len(piece)
                if size > _AT_ONCE:
                    file.write(b"".join(held))
                    held, size = [], 0
            file.write(b"".join(held))


def _undated(book: BinaryIO) -> Iterator[bytes]:
    """A workbook without the time at which it was made."""
    with tempfile.TemporaryFile() as out:
        with zipfile.ZipFile(book) as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            files = Files(archive, large=False)
            for name in made.namelist():
                if name == "docProps/core.xml":
                    content = made.read(name)
                    files.add(name, re.sub(rb"(<dcterms:\w+[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", content))
                else:
                    with made.open(name) as content_of:
                        files.add(name, iter(partial(content_of.read, _AT_ONCE), b""))
        out.seek(0)
        yield from iter(partial(out.read, _AT_ONCE), b"")
