"""A verdict as a file."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from django.http import HttpResponse

from reports.contents import Contents
from reports.data.label_table import LabelTable
from reports.data.rows import RowAbout
from reports.exports import labels, report_csv, report_xlsx
from reports.exports.archive import write_archive
from reports.exports.latex import latex
from reports.exports.texts import Origin

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "tex": "application/x-tex; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
}
ENDINGS = ("xlsx", "csv", "json", "tex")  # beside the ZIP


def content(
    ending: str, contents: Contents, table: LabelTable, origin: Origin, about: Sequence[RowAbout] = ()
) -> str | bytes:
    """`ending`: one of `TYPES`. The ZIP has everything, figures and labels too. `about`: what each row of the table is
    called, and where it is found."""
    if ending == "csv":
        return report_csv(contents)
    if ending == "json":
        return json.dumps(json.loads(contents.content), ensure_ascii=False, indent=1)
    if ending == "tex":
        return "\n".join(latex(shown) for shown in contents.tables)
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
