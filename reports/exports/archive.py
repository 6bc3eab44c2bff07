"""Everything of a report in one ZIP. Equal contents and labels give equal bytes: its files bear no time."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

from django.utils.translation import gettext as _

from annotation.exchange.exports import safe_lines
from reports.contents import Contents
from reports.data.label_table import LabelTable
from reports.exports import labels as long_form
from reports.exports import texts
from reports.exports.latex import document, latex
from reports.exports.spreadsheets import MAX_LABELS, labels_csv, report_csv, report_xlsx
from reports.exports.texts import Origin
from reports.figures.svg import draw

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
    questions: Sequence[str] = (),
    progress: Progress = lambda done, step: None,
) -> None:
    """Write the ZIP.

    Args:
        questions: whose labels go in, as "section.question"; none means all.
        progress: is told what comes next, and may raise to stop.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        files = _Files(archive)
        progress(1, _("tables"))
        files.add("README.md", texts.readme(contents, table, origin))
        files.add("report.json", json.dumps(json.loads(contents.content), ensure_ascii=False, indent=1))
        files.add("report.csv", report_csv(contents))
        small = len(table.labels) <= MAX_LABELS
        records = _lines(table, questions) if small else ()
        files.add("report.xlsx", _undated(report_xlsx(contents, long_form.header(table), records)))
        keys = []
        for shown in contents.tables:
            keys.append(_name(shown.key))
            files.add(f"tables/{keys[-1]}.tex", latex(shown))
        files.add("tables/all.tex", document(keys))

        figures = list(contents.figures)
        for number, figure in enumerate(figures):
            progress(10 + 50 * number // len(figures), _("figures"))
            name = f"figures/{_name(figure.key)}"
            files.add(f"{name}.svg", draw(figure, "svg", "light"))
            files.add(f"{name}-dark.svg", draw(figure, "svg", "dark"))
            files.add(f"{name}.pdf", draw(figure, "pdf", "light"))

        progress(60, _("labels"))
        files.add("labels/labels.csv", labels_csv(long_form.header(table), _lines(table, questions)))
        files.add("labels/codebook.csv", "".join(safe_lines(texts.CODEBOOK_HEADER, texts.codebook(table))))
        progress(70, _("labels"))
        files.add("labels/labels.parquet", long_form.parquet(table, questions))
        progress(75, _("labels"))
        files.add("labels/labels.jsonl", long_form.jsonl(table, questions))
        files.add("labels/README.md", texts.dataset_card(contents, table, origin))
        progress(85, _("labels"))
        files.add("labels/label-studio.json", long_form.label_studio(table, questions))
        files.add("labels/label-studio.xml", texts.labelling_config(table.scheme))
        progress(95, _("labels"))
        files.add("label-table.json", table.content)


def _lines(table: LabelTable, questions: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All labels, then all skipped cells."""
    yield from long_form.records(table, questions)
    yield from long_form.skipped(table, questions)


class _Files:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, content: str | bytes | Iterable[str]) -> None:
        entry = zipfile.ZipInfo(name, _TIME)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        if isinstance(content, str | bytes):
            self._archive.writestr(entry, content)
            return
        with self._archive.open(entry, "w", force_zip64=True) as file:
            held: list[str] = []
            size = 0
            for piece in content:
                held.append(piece)
                size += len(piece)
                if size > _AT_ONCE:
                    file.write("".join(held).encode())
                    held, size = [], 0
            file.write("".join(held).encode())


def _undated(book: bytes) -> bytes:
    """A workbook without the time at which it was made."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        files = _Files(archive)
        for name in made.namelist():
            content = made.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:\w+[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", content)
            files.add(name, content)
    return out.getvalue()


def _name(key: str) -> str:
    """A file name of a table or figure: what a rater's code holds may be no file name."""
    return re.sub(r"[^\w.-]", "-", key, flags=re.ASCII)
