"""Workbooks that no program would write, made of the XML of their sheets."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from openpyxl import Workbook

SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def line(number: int, cells: Mapping[str, str]) -> str:
    """A line of a sheet: texts by column."""
    texts = "".join(
        f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>' for column, text in cells.items()
    )
    return f'<row r="{number}">{texts}</row>'


def of_sheet(lines: str, *, behind: str = "") -> bytes:
    """A workbook of one sheet; `behind` stands after its cells."""
    return with_sheet(_empty(), "xl/worksheets/sheet1.xml", lines, behind=behind)


def with_sheet(data: bytes, name: str, lines: str, *, behind: str = "") -> bytes:
    """A workbook in which another sheet stands in the place of the one called `name` inside."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
        for member in before.namelist():
            content = before.read(member)
            if member == name:
                content = f"<worksheet {SPACE}><sheetData>{lines}</sheetData>{behind}</worksheet>".encode()
            after.writestr(member, content)
    return made.getvalue()


def _empty() -> bytes:
    made = io.BytesIO()
    Workbook().save(made)
    return made.getvalue()
