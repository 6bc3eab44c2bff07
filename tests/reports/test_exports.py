"""Downloads, opened with the programs that people open them with."""

from __future__ import annotations

import csv
import io
import math
import tracemalloc
import uuid
from collections.abc import Iterator

import openpyxl
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from openpyxl.worksheet.worksheet import Worksheet

from annotation import actions
from annotation.actions import Answer
from annotation.exchange.exports import label_header
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.tables import open_table, unsafe_cell
from annotation.models import Label, Option, Row, Study
from reports import exported_labels, exports, queries
from reports.contents import Contents, contents_of
from reports.data.arrays import Filters
from reports.exports import spreadsheets
from reports.numbers.report import compute
from tests import builders
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, sheet

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RISKY = ("=1+1", "+1+1", "-A1", "@SUM(A1)", "\t=1", "\r=1")
FIRST_OF_A_FORMULA = tuple("=+-@\t\r")


def made(study: Study) -> Contents:
    return contents_of(compute(queries.load(study, Filters()), Filters()))


def unmarked(text: str) -> str:
    """A downloaded file as programs read it that know the byte order mark."""
    assert text.startswith("\ufeff")
    return text.encode().decode("utf-8-sig")


def report_csv(study: Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(unmarked(exports.report_csv(made(study))), newline="")))


def labels_csv(study: Study) -> list[dict[str, str]]:
    lines = exports.labels_csv(label_header(study), exported_labels.lines(study, Filters()))
    return list(csv.DictReader(io.StringIO(unmarked("".join(lines)), newline="")))


def workbook(study: Study) -> openpyxl.Workbook:
    content = exports.report_xlsx(made(study), label_header(study), exported_labels.lines(study, Filters()))
    return openpyxl.load_workbook(io.BytesIO(content))


def rows(sheet: Worksheet) -> list[tuple[object, ...]]:
    return list(sheet.iter_rows(values_only=True))


def two_people(study: Study) -> None:
    soup = sheet(study, "Svíčková", items=3)
    answered(rater(study, "A1"), soup, ["fna"])
    answered(rater(study, "A2"), soup, ["ffa"])
    answered(judge(study), soup, ["fnn"])


def test_labels_of_some_sheets_are_read_without_those_of_others(study: Study) -> None:
    soup, bread = sheet(study, "Soup", items=2), sheet(study, "Bread", items=2)
    person = rater(study, "A1")
    [first] = answered(person, soup, ["fn"])
    answered(person, bread, ["ff"])
    actions.submit(assignment=first, allow_open=True)
    every = list(exported_labels.lines(study, Filters()))
    for filters, wanted in (
        (Filters(sheets=(bread.pk,)), [label for label in every if label[0] == "Bread"]),
        (Filters(submitted_only=True), [label for label in every if label[0] == "Soup"]),
        (Filters(sheets=(bread.pk,), submitted_only=True), []),
    ):
        with CaptureQueriesContext(connection) as captured:
            assert list(exported_labels.lines(study, filters)) == wanted
        [asked] = [one["sql"] for one in captured if 'FROM "annotation_label"' in one["sql"]]
        assert ('"sheet_id" IN' in asked, "submitted" in asked) == (bool(filters.sheets), filters.submitted_only)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_csv_has_a_line_for_each_number_to_ten_digits(study: Study) -> None:
    two_people(study)
    value = {(line["table"], line["row"], line["statistic"]): line["value"] for line in report_csv(study)}

    # f/f, n/f, a/a: two of three
    assert value["items.presence.agreement", "Percent agreement", "Value"] == "0.6666666667"
    assert value["items.presence.selections", "Found", "Count"] == "3"
    assert value["items.presence.selections", "Found", "Percentage"] == "0.5"
    assert value["items.presence.judges", "J1", "A_m"] == "0.6666666667"
    assert value["items.presence.confusion.J1", "Found", "J1 chose: Found (not perfect)"] == "1"


def test_each_number_of_the_csv_has_a_name_of_its_own(study: Study) -> None:
    two_people(study)
    names = [(line["table"], line["row"], line["statistic"]) for line in report_csv(study)]

    assert len(set(names)) == len(names)


def test_a_row_without_a_text_goes_by_its_first_number(study: Study) -> None:
    """Else nobody could tell of how many documents a share is."""
    soup = sheet(study, "Borscht", items=2, rows=3)
    answered(rater(study, "A5"), soup, ["fa", "aa", "af"])

    shares = {
        line["row"]: line["value"]
        for line in report_csv(study)
        if (line["table"], line["statistic"]) == ("items.presence.coverage", "All items alike")
    }
    assert list(shares) == ["1", "2", "3"]
    names = [(line["table"], line["row"], line["statistic"]) for line in report_csv(study)]
    assert len(set(names)) == len(names)


def test_negative_numbers_of_the_csv_are_numbers(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["fn"])
    answered(rater(study, "A2"), soup, ["nf"])
    value = {(line["table"], line["row"]): line["value"] for line in report_csv(study)}

    # f/n, n/f. Observed 0, expected 1/2: kappa (0 - 1/2) / (1 - 1/2). Four answers, two of each option: of their 12
    # ordered pairs 8 differ, so alpha is 1 - 1 / (8/12).
    assert value["items.presence.agreement", "Cohen's κ, macro average"] == "-1.0"
    assert float(value["items.presence.agreement", "Krippendorff's α, nominal"]) == pytest.approx(-1 / 2)


def test_csv_says_what_numbers_rest_on_and_why_some_are_not_defined(study: Study) -> None:
    soup = sheet(study, items=2)
    for code in ("A1", "A2"):
        answered(rater(study, code), soup, ["ff"])
    lines = {(line["table"], line["row"]): line for line in report_csv(study)}

    kappa = lines["items.presence.agreement", "Cohen's κ, macro average"]
    assert (kappa["value"], kappa["note"]) == ("", "0 recipe-pairs; everyone chose “Found”")


def test_xlsx_has_a_sheet_a_table_with_numbers(study: Study) -> None:
    two_people(study)
    book = workbook(study)

    assert book.sheetnames[0] == "Contents"
    assert book.sheetnames[-1] == "Labels"
    agreement = rows(book["items.presence.agreement"])
    assert agreement[0] == ("Statistic", "Value", "Rests on", "Not defined because")
    assert ("Percent agreement", 0.6666666667, "3 comparisons", None) in agreement
    assert book["items.presence.selections"]["C2"].number_format == "0.00%"
    # 3 labels of each of the three
    assert len(rows(book["Labels"])) == 1 + 9


def test_titles_of_the_workbook_are_translated(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    two_people(study)
    german = {"Contents": "Inhalt", "Labels": "Antworten"}
    monkeypatch.setattr(spreadsheets, "_", lambda text: german.get(text, text))
    titles = workbook(study).sheetnames

    assert (titles[0], titles[-1]) == ("Inhalt", "Antworten")


def test_the_contents_name_every_sheet(study: Study) -> None:
    two_people(study)
    book = workbook(study)

    contents = rows(book["Contents"])
    assert contents[0][:2] == ("Study", "Letters")
    start = contents.index(("sheet", "table", "how to read it"))
    assert [line[0] for line in contents[start + 1 :]] == book.sheetnames[1:-1]


def test_titles_of_xlsx_sheets_are_short_and_different(study: Study) -> None:
    soup = sheet(study, items=1)
    answered(rater(study, "A1"), soup, ["f"])
    for code in (f"judge-with-a-rather-long-name-{'x' * 30}-1", f"another-{'x' * 60}-1", "bad[]:*?/\\'=chars"):
        answered(judge(study, code), soup, ["f"])
    titles = workbook(study).sheetnames

    assert max(len(title) for title in titles) <= 31
    assert len({title.lower() for title in titles}) == len(titles)
    assert "presence.confusion.bad=chars" in titles


def test_too_many_labels_for_a_workbook_are_left_to_the_csv(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    two_people(study)
    monkeypatch.setattr(spreadsheets, "MAX_LABELS", 8)
    book = workbook(study)

    # 9 labels
    assert "Labels" not in book.sheetnames
    assert "Labels (CSV)" in str(rows(book["Contents"])[-1])


# --- cells that could do harm -----------------------------------------------------------------------------------------


@pytest.fixture(params=RISKY, ids=repr)
def risky(request: pytest.FixtureRequest, study: Study) -> str:
    """A study in which sheet, rater, judge, and a note begin so; a column does where it can."""
    text = str(request.param)
    soup = sheet(study, text, items=1)
    soup.columns.filter(section__key="items").update(name=text)
    for who in (rater(study, text), rater(study, "A2"), judge(study, f"{text} judge")):
        [page] = actions.assign(rater=who, rows=soup.rows.all())
        option = Option.objects.get(question__key="presence", key="found")
        column = soup.columns.get(section__key="items")
        note = Answer(column=column, question=option.question, option=option, note=text)
        actions.record(assignment=page, answers=[note], key=uuid.uuid4())
    return text


def test_no_cell_of_the_csv_files_is_a_formula(study: Study, risky: str) -> None:
    for name, lines in (("report", report_csv(study)), ("labels", labels_csv(study))):
        cells = {cell for line in lines for column, cell in line.items() if (name, column) != ("report", "value")}
        assert not [cell for cell in cells if cell.startswith(FIRST_OF_A_FORMULA)]
        assert any(risky.strip() in cell for cell in cells)


def test_the_values_of_the_report_csv_are_numbers_or_empty(study: Study, risky: str) -> None:
    values = [line["value"] for line in report_csv(study) if line["value"]]

    assert values
    assert all(math.isfinite(float(value)) for value in values)


@pytest.mark.sample(3)
def test_no_cell_of_the_workbook_is_a_formula(study: Study, risky: str) -> None:
    for of_table in workbook(study):
        for line in of_table.iter_rows():
            for cell in line:
                assert cell.data_type != "f"
                assert not str(cell.value or "").startswith(FIRST_OF_A_FORMULA) or cell.data_type == "n"


def test_the_apostrophe_can_be_taken_off_again(study: Study, risky: str) -> None:
    [line] = [line for line in labels_csv(study) if unsafe_cell(line["rater"]) == risky]

    assert unsafe_cell(line["note"]) == risky
    assert unsafe_cell(line["sheet"]) == risky
    assert unsafe_cell(line["column"]) == risky


def test_what_xml_cannot_hold_is_left_out_of_the_workbook(study: Study) -> None:
    soup = sheet(study, "Soup\x0b", items=1)
    answered(rater(study, "A\x1f1\ufffe"), soup, ["f"])
    labels = rows(workbook(study)["Labels"])

    header, line = labels
    assert dict(zip(header, line, strict=True))["rater"] == "A1"
    assert dict(zip(header, line, strict=True))["sheet"] == "Soup"


def test_other_scripts_come_through(study: Study) -> None:
    two_people(study)

    assert {line["sheet"] for line in labels_csv(study)} == {"Svíčková"}
    assert "Cohen's κ, macro average" in {line["row"] for line in report_csv(study)}


def test_lines_within_a_text_stay_in_its_cell(study: Study) -> None:
    soup = sheet(study, items=1)
    [page] = answered(rater(study, "A1"), soup, ["f"])
    Label.objects.filter(assignment=page).update(note='first\nsecond, "third"')

    assert [line["note"] for line in labels_csv(study)] == ['first\nsecond, "third"']


# --- little and much --------------------------------------------------------------------------------------------------


def test_a_study_without_labels_has_headings_alone(study: Study) -> None:
    lines = list(exports.labels_csv(label_header(study), exported_labels.lines(study, Filters())))
    book = workbook(study)

    assert unmarked("".join(lines)).splitlines() == [",".join(label_header(study))]
    assert rows(book["Labels"]) == [tuple(label_header(study))]
    assert {line["value"] for line in report_csv(study) if line["table"] == "items.presence.selections"} == {"0", ""}


def test_the_labels_download_is_what_the_import_reads(study: Study) -> None:
    """The same headings, so that what is downloaded here can be imported there."""
    two_people(study)
    lines = labels_csv(study)

    assert tuple(lines[0]) == label_header(study)
    assert {line["simulated"] for line in lines} == {"no"}

    file = "".join(exports.labels_csv(label_header(study), exported_labels.lines(study, Filters()))).encode()
    other = builders.study("other", of=study.scheme)
    table = open_table(io.BytesIO(file), name="labels.csv", max_bytes=2**20)
    import_labels(study=other, table=table, how=LabelImport(create=True))
    assert studies.raw(other, "presence") != []
    assert [(s, r, o) for s, r, _cell, o in sorted(studies.raw(other, "presence"))] == [
        (s, r, o) for s, r, _cell, o in sorted(studies.raw(study, "presence"))
    ]


def test_the_labels_download_says_what_was_labelled(study: Study) -> None:
    """An import gives titles and addresses to rows that it makes, and leaves those that stand as they are."""
    two_people(study)
    page = ("Soup, and how", "https://cooking.example/soup")
    Row.objects.filter(sheet__study=study).update(title=page[0], url=page[1])
    lines = labels_csv(study)
    file = "".join(exports.labels_csv(label_header(study), exported_labels.lines(study, Filters()))).encode()
    assert {(line["row_title"], line["row_url"]) for line in lines} == {page}

    other = builders.study("other", of=study.scheme)
    for title in ("", "Its own"):
        Row.objects.filter(sheet__study=other).update(title=title)
        table = open_table(io.BytesIO(file), name="labels.csv", max_bytes=2**20)
        import_labels(study=other, table=table, how=LabelImport(create=True))
    assert set(Row.objects.filter(sheet__study=other).values_list("title", "url")) == {("Its own", page[1])}


def test_simulated_raters_are_marked_in_every_file(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "S1", simulated=True), soup, ["fn"])
    answered(judge(study, "J1", simulated=True), soup, ["fn"])
    lines, book = report_csv(study), workbook(study)

    assert {line["simulated"] for line in labels_csv(study)} == {"yes"}
    named = [text for line in lines for text in (line["row"], line["statistic"]) if "S1" in text or "J1" in text]
    assert named
    assert all("(simulated)" in text for text in named)
    assert ("J1 (simulated)", 1, 1) in {line[:3] for line in rows(book["items.presence.judges"])}
    assert ("Simulated raters", "S1, J1", None) in rows(book["Contents"])


@pytest.mark.slow
def test_a_hundred_thousand_labels_stream(study: Study) -> None:
    """Memory while streaming does not depend on how many labels there are."""
    soup = sheet(study, items=100)
    column_ids = list(soup.columns.filter(section__key="items").values_list("pk", flat=True))
    option = Option.objects.get(question__key="presence", key="found")
    pages = [actions.assign(rater=rater(study, f"A{n}"), rows=soup.rows.all())[0] for n in range(1000)]

    def label(first: int, last: int) -> None:
        Label.objects.bulk_create(
            (
                Label(assignment=page, column_id=column, question_id=option.question_id, option=option)
                for page in pages[first:last]
                for column in column_ids
            ),
            batch_size=5000,
        )

    def peak() -> tuple[int, int]:
        tracemalloc.start()
        lines = sum(block.count("\n") for block in streamed(study))
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return lines, most

    label(0, 100)
    n_few, few = peak()
    label(100, 1000)
    n_many, many = peak()

    assert (n_few, n_many) == (10_001, 100_001)
    assert many < 1.5 * few


def streamed(study: Study) -> Iterator[str]:
    return exports.labels_csv(label_header(study), exported_labels.lines(study, Filters()))
