from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart
from openpyxl.worksheet.worksheet import Worksheet

from annotation import actions, queries
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.exchange.spreadsheet.layout import PLACES
from annotation.exchange.spreadsheet.reading import Problem, read
from annotation.exchange.spreadsheet.writing import workbook
from annotation.models import Assignment, Label, LabelEvent, Sheet, User
from tests import builders, workbooks

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# The sheet's cells in the workbook, for Clause 1; those of Clause 2 are in line 3 and lines 10 to 12.
#   line 1 Duty · 2, 3 clauses · 4 black · 5 Act · 6 Party · 7 to 9 Clause 1: act, party, strictness · 10 to 12 Clause 2
PAY_RENT, INSURE = "C2", "D2"
GIVE, GIVE_PARTY, GIVE_STRICT = "C7", "C8", "C9"
INSPECT, INSPECT_PARTY = "D7", "D8"


@pytest.fixture
def anna() -> User:
    return builders.user("anna")


@pytest.fixture
def sheet(anna: User) -> Sheet:
    study = builders.study()
    made = builders.sheet(study)
    builders.assignments(builders.rater(study, anna), made)
    return made


def grid(sheet: Sheet, of: User) -> queries.Grid:
    return queries.grid(sheet, Assignment.objects.of_user(of))


def filled(sheet: Sheet, of: User, changes: dict[str, Any]) -> bytes:
    """The workbook as its user brings it back."""
    book = load_workbook(io.BytesIO(workbook(grid(sheet, of))))
    for cell, value in changes.items():
        book.worksheets[0][cell] = value
    return saved(book)


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def page(sheet: Sheet, of: User) -> Worksheet:
    return load_workbook(io.BytesIO(workbook(grid(sheet, of)))).worksheets[0]


def standing() -> dict[tuple[str, str, str], str]:
    labels = Label.objects.values_list("assignment__row__name", "column__name", "question__key", "option__key")
    return {(row, column, question): option for row, column, question, option in labels}


def bring(client: Client, sheet: Sheet, data: bytes) -> str:
    upload = io.BytesIO(data)
    upload.name = "lease.xlsx"
    return client.post(f"/sheets/{sheet.pk}/spreadsheet/", {"workbook": upload}, follow=True).content.decode()


def test_the_layout_is_the_papers(sheet: Sheet, anna: User) -> None:
    lines = [[cell.value for cell in line] for line in page(sheet, anna)["A1:D10"]]
    assert lines == [
        [None, "Duty:", "Pay rent", "Insure"],
        ["Clause 1", "https://law.example/", None, None],
        ["Clause 2", "https://law.example/", None, None],
        [None, None, None, None],
        [None, "Act:", "Give notice", "Inspect"],
        [None, "Party:", "tenant", None],
        ["Clause 1", "Act", None, None],
        ["Clause 1", "Party", None, None],
        ["Clause 1", "Strictness", None, None],
        ["Clause 2", "Act", None, None],
    ]


def test_each_cell_has_the_menu_of_its_question(sheet: Sheet, anna: User) -> None:
    book = load_workbook(io.BytesIO(workbook(grid(sheet, anna))))
    menus = {}
    for choice in book.worksheets[0].data_validations.dataValidation:
        (name, area) = choice.formula1.lstrip("=").split("!")
        words = [cell.value for (cell,) in book[name][area.replace("$", "")]]
        menus |= {cell: words for ranges in choice.sqref.ranges for row in ranges.rows for cell in _names(row)}
    assert menus[PAY_RENT] == ["Stated", "Implied", "Not stated"]
    assert menus[GIVE] == menus["D10"] == ["Found", "Other words", "Absent"]
    assert menus[GIVE_STRICT] == ["1", "2", "3"]
    assert len(menus) == 2 * 2 + 2 * 6


def _names(row: Any) -> list[str]:
    from openpyxl.utils import get_column_letter

    return [f"{get_column_letter(column)}{line}" for line, column in row]


def test_answers_stand_in_it_and_submitted_rows_are_locked(sheet: Sheet, anna: User) -> None:
    first, second = Assignment.objects.order_by("row__position")
    builders.label(first, builders.COMPLETE)
    actions.submit(assignment=first)
    made = page(sheet, anna)
    assert [made[cell].value for cell in (PAY_RENT, INSURE, GIVE, GIVE_STRICT)] == ["Stated", "Implied", "Found", "2"]
    assert [made[cell].protection.locked for cell in (PAY_RENT, "C3", "A2")] == [True, False, True]
    assert second.labels.count() == 0


def test_what_was_changed_goes_in_and_nothing_else_is_touched(client: Client, sheet: Sheet, anna: User) -> None:
    first = Assignment.objects.order_by("row__position")[0]
    builders.label(first, {("Pay rent", "stated"): "stated", ("Insure", "stated"): "implied"})
    before = Label.objects.get(column__name="Insure").updated_at
    data = filled(sheet, anna, {PAY_RENT: "not stated", GIVE: "Found", GIVE_STRICT: 3.0, "D10": "Absent"})
    client.force_login(anna)
    assert "4 changed cells were taken in." in bring(client, sheet, data)
    assert standing() == {
        ("Clause 1", "Pay rent", "stated"): "absent",
        ("Clause 1", "Insure", "stated"): "implied",
        ("Clause 1", "Give notice · tenant", "act"): "found",
        ("Clause 1", "Give notice · tenant", "strictness"): "3",
        ("Clause 2", "Inspect", "act"): "absent",
    }
    assert Label.objects.get(column__name="Insure").updated_at == before
    n_events = LabelEvent.objects.count()
    assert "Nothing in this workbook differs" in bring(client, sheet, data)
    assert LabelEvent.objects.count() == n_events


def test_a_workbook_brought_again_after_a_change_of_mind_goes_in_again(
    client: Client, sheet: Sheet, anna: User
) -> None:
    data = filled(sheet, anna, {PAY_RENT: "Implied"})
    client.force_login(anna)
    bring(client, sheet, data)
    builders.label(Assignment.objects.order_by("row__position")[0], {("Pay rent", "stated"): None})
    assert standing() == {}
    assert "1 changed cell was taken in." in bring(client, sheet, data)
    assert standing() == {("Clause 1", "Pay rent", "stated"): "implied"}


def test_an_emptied_cell_is_cleared_and_rules_follow(client: Client, sheet: Sheet, anna: User) -> None:
    first = Assignment.objects.order_by("row__position")[0]
    builders.label(first, builders.COMPLETE)
    client.force_login(anna)
    bring(client, sheet, filled(sheet, anna, {PAY_RENT: None, GIVE: "Absent"}))
    assert standing() == {
        ("Clause 1", "Insure", "stated"): "implied",
        ("Clause 1", "Give notice · tenant", "act"): "absent",
        ("Clause 1", "Inspect", "act"): "absent",
    }


@pytest.mark.parametrize(
    ("changes", "cell", "said"),
    [
        ({PAY_RENT: "Sated"}, PAY_RENT, "“Sated” is none of: Stated, Implied, Not stated."),
        ({GIVE: "Absent", GIVE_PARTY: "Same"}, GIVE_PARTY, "This is not asked"),
        ({"A2": "Clause 2", "A3": "Clause 1", PAY_RENT: "Stated"}, "A2", "“Clause 1” stood here, and now “Clause 2”"),
        ({"B8": "Strictness", "B9": "Party"}, "B8", "“Party” stood here"),
        ({"C1": "Insure", "D1": "Pay rent", PAY_RENT: "Stated"}, "C1", "“Pay rent” stood here, and now “Insure”"),
        ({"C6": None, GIVE: "Found"}, "C6", "“tenant” stood here, and now “”"),
        ({GIVE_STRICT: 2.5}, GIVE_STRICT, "“2.5” is none of: 1, 2, 3."),
    ],
    ids=[
        "a wrong word",
        "not asked",
        "moved rows",
        "moved questions",
        "moved columns",
        "another heading",
        "no whole number",
    ],
)
def test_what_cannot_be_taken_in_is_named_by_its_cell_and_nothing_goes_in(
    client: Client, sheet: Sheet, anna: User, changes: dict[str, Any], cell: str, said: str
) -> None:
    data = filled(sheet, anna, {**changes, INSURE: "Implied"})
    reading = read(data, grid(sheet, anna))
    assert any(problem.cell == cell and said in problem.sentence for problem in reading.problems), reading.problems
    client.force_login(anna)
    assert f"<code>{cell}</code>" in bring(client, sheet, data)
    assert standing() == {}


def test_what_was_chosen_in_the_browser_since_is_not_overwritten(sheet: Sheet, anna: User) -> None:
    data = filled(sheet, anna, {PAY_RENT: "Implied", INSURE: "Implied"})
    first = Assignment.objects.order_by("row__position")[0]
    builders.label(first, {("Pay rent", "stated"): "stated", ("Insure", "stated"): "implied"})
    (problem,) = read(data, grid(sheet, anna)).problems
    assert problem == Problem(
        PAY_RENT, "You chose “Implied” here; “Stated” was chosen in the browser since. Make the two alike first."
    )


def test_a_row_that_was_submitted_since_is_left_alone(sheet: Sheet, anna: User) -> None:
    data = filled(sheet, anna, {PAY_RENT: "Implied"})
    first = Assignment.objects.order_by("row__position")[0]
    builders.label(first, builders.COMPLETE)
    actions.submit(assignment=first)
    (problem,) = read(data, grid(sheet, anna)).problems
    assert problem == Problem(PAY_RENT, "“Clause 1” is submitted or closed: nothing in it is changed.")


def test_texts_that_look_like_formulas_stay_texts(anna: User) -> None:
    study = builders.study()
    made = builders.sheet(study, duties=["=1+1", "+44"], acts=[("@x", "")])
    builders.assignments(builders.rater(study, anna), made)
    cells = page(made, anna)["C1:D1"][0]
    assert [(cell.value, cell.data_type) for cell in cells] == [("=1+1", "s"), ("+44", "s")]


def other_workbook(_sheet: Sheet, _anna: User) -> bytes:
    return saved(Workbook())


def of_another_sheet(sheet: Sheet, anna: User) -> bytes:
    other = builders.sheet(sheet.study, "Annex")
    builders.assignments(anna.raters.get(), other)
    return workbook(grid(other, anna))


def of_somebody_else(sheet: Sheet, _anna: User) -> bytes:
    boris = builders.user("boris")
    builders.assignments(builders.rater(sheet.study, boris), sheet)
    return workbook(grid(sheet, boris))


def with_entities(sheet: Sheet, anna: User) -> bytes:
    """Of a few letters in the file, text without end in the memory."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(grid(sheet, anna)))) as before, zipfile.ZipFile(made, "w") as after:
        for name in before.namelist():
            declared = b'<!DOCTYPE worksheet [<!ENTITY e "text">]>' if name.startswith("xl/worksheets/") else b""
            after.writestr(name, declared + before.read(name))
    return made.getvalue()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda *_: b"", "empty"),
        (lambda *_: b"sheet,row\n", "This is no workbook"),
        (lambda *_: b"PK\x03\x04 and then nothing", "This is no workbook"),
        (other_workbook, "did not come from Palate"),
        (of_another_sheet, "of another sheet than “Lease”"),
        (of_somebody_else, "somebody else"),
        (with_entities, "This is no workbook"),
    ],
    ids=["empty", "CSV", "damaged", "another workbook", "another sheet", "another rater", "entities"],
)
def test_other_files_are_refused(
    client: Client, sheet: Sheet, anna: User, make: Callable[[Sheet, User], bytes], said: str
) -> None:
    client.force_login(anna)
    assert said in bring(client, sheet, make(sheet, anna))
    assert standing() == {}


def no_page(book: Workbook) -> None:
    book.create_chartsheet("Picture").add_chart(BarChart())
    book.worksheets[0].sheet_state = "hidden"


def no_cell(book: Workbook) -> None:
    book[PLACES]["A2"] = "A1:B2"


@pytest.mark.parametrize("spoil", [no_page, no_cell])
def test_a_workbook_whose_hidden_sheets_were_changed_is_refused(
    client: Client, sheet: Sheet, anna: User, spoil: Callable[[Workbook], None]
) -> None:
    client.force_login(anna)
    book = load_workbook(io.BytesIO(workbook(grid(sheet, anna))))
    spoil(book)
    assert "keeps for Palate was changed" in bring(client, sheet, saved(book))


def test_half_a_letter_by_its_number_is_no_answer(client: Client, sheet: Sheet, anna: User) -> None:
    client.force_login(anna)
    assert "“No.” is none of: " in bring(client, sheet, filled(sheet, anna, {PAY_RENT: "_xD800_No."}))


def test_who_has_no_work_on_the_sheet_finds_nothing(client: Client, sheet: Sheet) -> None:
    client.force_login(builders.user("carl"))
    assert client.get(f"/sheets/{sheet.pk}/spreadsheet/").status_code == 404
    assert client.get(f"/sheets/{sheet.pk}/spreadsheet/file/").status_code == 404


FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
EVERYWHERE = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'


@pytest.mark.parametrize("number", [1, 3])  # the page, and the places of its cells
@pytest.mark.parametrize("lines", [FAR, f'{FAR.replace("1048576", "1")}<row r="{10**12}"/>', '<row r="x"/>'])
def test_a_workbook_that_seems_endless_is_refused_soon(
    client: Client, sheet: Sheet, anna: User, number: int, lines: str
) -> None:
    name = f"xl/worksheets/sheet{number}.xml"
    data = workbooks.with_sheet(workbook(grid(sheet, anna)), name, lines, behind=EVERYWHERE)
    client.force_login(anna)
    begin = time.process_time()

    said = bring(client, sheet, data)

    assert time.process_time() - begin < 5
    assert "message error" in said or "errorlist" in said or "stood here" in said


def test_the_text_of_a_row_without_an_address_stands_beside_its_answers(client: Client, anna: User) -> None:
    text = """\
key: reviews
version: 1
title: Reviews
words: {sheet: shop, sheets: shops, row: review, rows: reviews}
row: {facets: [stars, {key: writer, hidden: true}]}
sections:
  - key: review
    title: Review
    questions:
      - {key: rude, title: Rude, kind: flag}
      - {key: reason, title: Reason, kind: text}
"""
    shop = actions.add_sheet(study=builders.study("reviews", of=builders.scheme(text)), title="Shop", columns={})
    facets, blocks = {"stars": "4", "writer": "a model"}, [Block(PARAGRAPH, "=It broke."), Block(PARAGRAPH, "Sorry.")]
    actions.add_row(sheet=shop, name="r1", evidence=blocks, facets=facets)
    actions.add_row(sheet=shop, name="r2", evidence=blocks, url="https://shop.example/r2")
    builders.assignments(builders.rater(shop.study, anna), shop)

    lines = [[cell.value for cell in line] for line in page(shop, anna)["A1:D5"]]

    assert lines == [
        [None, None, None, "Review"],  # no heading of columns: there are none
        ["r1", "Rude", None, "Stars: 4\n=It broke.\nSorry."],
        ["r1", "Reason", None, None],
        ["r2", "Rude", None, None],
        ["r2", "Reason", None, None],
    ]
    client.force_login(anna)
    data = filled(shop, anna, {"C2": "Yes", "C3": "It is fair.", "D2": "what stands here is not read"})
    assert "2 changed cells were taken in." in bring(client, shop, data)
    assert sorted(label.code for label in Label.objects.all()) == [':"It is fair."', "yes"]
