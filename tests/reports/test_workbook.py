"""The workbook of a report: its contents lead to the tables, and heads stay while one scrolls."""

from __future__ import annotations

import io

import pytest
from openpyxl import load_workbook

from annotation.models import Study
from reports.contents import contents_of
from reports.exports import report_xlsx
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, sheet

pytestmark = pytest.mark.once


def test_the_contents_lead_to_each_table_and_heads_stay(study: Study) -> None:
    soup = sheet(study, items=3)
    answered(rater(study, "A1"), soup, ["ffn"])
    answered(rater(study, "A2"), soup, ["ffa"])
    answered(judge(study), soup, ["fan"])
    contents = contents_of(studies.report(study))
    book = load_workbook(io.BytesIO(report_xlsx(contents, ["sheet"], [])))
    first = book[book.sheetnames[0]]
    links = [cell.hyperlink.location for row in first.iter_rows(max_col=1) for cell in row if cell.hyperlink]

    assert len(links) == len(list(contents.tables))
    for link in links:
        title = link.removesuffix("!A1").strip("'")
        assert book[title].freeze_panes == "B2"
        assert book[title]["A1"].font.bold
