"""Tables that are no whole report as one file, in the forms that a report has."""

from __future__ import annotations

import json

from reports.contents import Contents
from reports.exports.latex import latex
from reports.exports.spreadsheets import report_csv, report_xlsx

TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "tex": "application/x-tex; charset=utf-8",
}


def tables_file(contents: Contents, ending: str) -> str | bytes:
    """`ending`: one of `TYPES`. A workbook has no sheet of labels."""
    if ending == "xlsx":
        return report_xlsx(contents)
    if ending == "csv":
        return report_csv(contents)
    if ending == "json":
        return json.dumps(json.loads(contents.content), ensure_ascii=False, indent=1)
    return "\n".join(latex(table) for table in contents.tables)
