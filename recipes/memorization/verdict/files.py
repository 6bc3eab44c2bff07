"""A verdict as a file."""

from __future__ import annotations

import io
from collections.abc import Sequence

from django.http import HttpResponse

from reports.contents import Contents
from reports.data.label_table import LabelTable
from reports.data.rows import RowAbout
from reports.exports import files as of_tables
from reports.exports import labels, report_xlsx
from reports.exports.archive import write_archive
from reports.exports.files import tables_file
from reports.exports.texts import Origin

TYPES = {**of_tables.TYPES, "zip": "application/zip"}
ENDINGS = tuple(of_tables.TYPES)  # beside the ZIP


def content(
    ending: str, contents: Contents, table: LabelTable, origin: Origin, about: Sequence[RowAbout] = ()
) -> str | bytes:
    """`ending`: one of `TYPES`. The ZIP has everything, figures and labels too. `about`: what each row of the table is
    called, and where it is found."""
    if ending in ("csv", "json", "tex"):
        return tables_file(contents, ending)
    if ending == "xlsx":
        lines = [*labels.records(table, about=about), *labels.skipped(table, about=about)]
        return report_xlsx(contents, labels.header(table), lines)
    out = io.BytesIO()
    write_archive(out, contents, table, origin, about=about)
    return out.getvalue()


def response(content: str | bytes, ending: str, name: str) -> HttpResponse:
    found = HttpResponse(content, content_type=TYPES[ending])
    found["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return found
