"""Answers that are values, typed into their cells: by keys alone, as in a spreadsheet."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, LabelEvent, Question, Sheet
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

SCHEME = """\
key: weighing
version: 1
title: Weighing
sections:
  - key: things
    title: Things
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: there, title: Is there, kind: flag}
      - {key: weight, title: Weight, kind: number, number: {min: 0, max: 500, step: 0.5, unit: g}}
      - key: made-of
        title: Made of
        kind: text
        text:
          longest: 60
          special: [NA]
          separator: ";"
          completions: [flour, water]
          patterns: [{pattern: "\\\\d", message: No numbers here.}]
      - key: parts
        title: Parts
        kind: items
        items: {most: 5, fields: [{key: part, required: true}, {key: words, list: true}]}
"""


def weighing(text: str = SCHEME) -> Sheet:
    scheme = actions.store_scheme(spec=load_scheme(text), source=text)
    study = actions.create_study(slug="weighing", title="Weighing", scheme=scheme, by=None)
    columns = {"things": [{"thing": "bread"}, {"thing": "butter"}]}
    sheet = actions.add_sheet(study=study, title="Kitchen", columns=columns)
    for name in ("Page 1", "Page 2"):
        actions.add_row(sheet=sheet, name=name, evidence=[Block("paragraph", "A loaf of bread with butter.")])
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return sheet


@pytest.fixture
def grid(browsing: Browsing) -> Grid:
    sheet = weighing()
    return Grid(browsing.person("anna"), sheet).open()


@pytest.fixture
def prose(browsing: Browsing) -> Grid:
    text = SCHEME + "      - {key: remark, title: Remark, kind: text, text: {longest: 2000, lines: true}}\n"
    sheet = weighing(text)
    return Grid(browsing.person("anna"), sheet).open()


@pytest.fixture
def numbers(browsing: Browsing) -> Grid:
    """A flag and a number of each thing: the number's line is the last of its document."""
    sheet = weighing(SCHEME.partition("      - key: made-of")[0])
    return Grid(browsing.person("anna"), sheet).open()


def stands(grid: Grid) -> dict[tuple[str, str, str], object]:
    grid.settle()
    labels = Label.objects.filter(assignment__rater__user__username="anna")
    return {
        (label.assignment.row.name, label.column.name, label.question.key): label.value
        if label.option is None
        else label.option.key
        for label in labels.select_related("assignment__row", "column", "question", "option")
    }


def test_what_is_typed_leads_to_no_other_document(numbers: Grid) -> None:
    """Whose next digits would be answers there."""
    page = numbers.page
    numbers.go("Page 1", "bread", "weight")
    page.keyboard.type("240")
    numbers.keys("Enter")
    expect(
        page.locator(f"#{numbers.id('Page 1', 'butter', 'there')}")
    ).to_be_focused()  # the next open one, to the right and above
    numbers.keys("1")
    page.keyboard.type("14")
    numbers.keys("Enter")
    expect(page.locator(f"#{numbers.id('Page 1', 'bread', 'there')}")).to_be_focused()
    numbers.keys("1")
    # The document is complete: the focus stays, and the bottom line says so.
    numbers.go("Page 1", "butter", "weight")
    page.keyboard.type("15")
    numbers.keys("Enter")
    expect(page.locator(f"#{numbers.id('Page 1', 'butter', 'weight')}")).to_be_focused()
    numbers.keys("Shift+Enter")
    expect(page.locator(f"#{numbers.id('Page 1', 'butter', 'there')}")).to_be_focused()
    assert stands(numbers) == {
        ("Page 1", "bread", "there"): "yes",
        ("Page 1", "bread", "weight"): 240,
        ("Page 1", "butter", "there"): "yes",
        ("Page 1", "butter", "weight"): 15,
    }


def expect_commands(grid: Grid, alt: str) -> None:
    """The hints of commands, all with `alt` before the key."""
    page = grid.page
    for button, key in (("#open-skip", "x"), ("#open-ask", "m"), ("#open-guide", "g"), ("#open-help", "?")):
        expect(page.locator(f"{button} kbd")).to_have_text(alt + key, use_inner_text=True)
        expect(page.locator(button)).to_have_attribute("aria-keyshortcuts", alt + key)
    expect(page.locator("[data-submit] kbd")).to_have_text(f"{alt}s", use_inner_text=True)


def test_the_hints_are_what_the_keys_do_at_the_cell(grid: Grid) -> None:
    page = grid.page
    expect_commands(grid, "")
    grid.keys("x")
    expect(page.locator("#skip")).to_be_visible()
    grid.keys("Escape")
    left = page.locator("#open-guide").bounding_box()
    grid.go("Page 1", "bread", "weight")
    expect_commands(grid, "Alt+")
    assert page.locator("#open-guide").bounding_box() == left  # nothing jumps
    for key, dialog in (("Alt+x", "#skip"), ("Alt+m", "#ask"), ("Alt+?", "#help")):
        grid.keys(key)
        expect(page.locator(dialog)).to_be_visible()
        grid.keys("Escape")
        expect(page.locator(dialog)).to_be_hidden()
    # In a range no letter is typed.
    grid.keys("Shift+ArrowRight")
    expect_commands(grid, "")
    expect(page.locator("#choices")).not_to_contain_text("Type a number")
    grid.keys("x")
    expect(page.locator("#skip")).to_be_visible()
    grid.keys("Escape", "Escape")
    expect_commands(grid, "Alt+")
    expect(page.locator("#choices")).to_contain_text("Type a number")
    # A document that comes with buttons of its own has the hints of the cell.
    grid.go("Page 2", "bread", "weight")
    expect(page.locator("#evidence h2")).to_have_text("Page 2")
    expect_commands(grid, "Alt+")
    # Nor is it typed into what is read beside the tables: a command takes there what its hint says.
    page.locator("#evidence").click()
    grid.keys("Alt+x")
    expect(page.locator("#skip")).to_be_visible()
    grid.keys("Escape")
    grid.go("Page 2", "bread", "there")
    expect_commands(grid, "")


def test_a_document_is_filled_in_by_keys_alone(grid: Grid) -> None:
    grid.keys("1")
    grid.go("Page 1", "bread", "weight")
    page = grid.page
    expect(page.locator("#choices .taken")).to_have_text("0 to 500 · steps of 0.5 · g")
    page.keyboard.type("1,250")
    grid.keys("Enter")
    grid.expect_refusal("“1,250” may be 1.250 or 1250.")
    grid.keys("ArrowLeft", "Backspace", "Backspace", "Backspace", "Delete")
    page.keyboard.type("2,5")
    grid.keys("Tab")
    page.keyboard.type("250 g")
    grid.keys("Enter")
    grid.go("Page 1", "bread", "made-of")
    page.keyboard.type("fl")
    expect(page.locator(".offers li")).to_have_text(["flour"])
    grid.keys("ArrowDown", "Enter")
    page.keyboard.type("; salt 2")
    grid.keys("Enter")
    page.keyboard.type("crust")
    grid.keys("Tab")
    page.keyboard.type("hard, brown")
    grid.keys("Enter")
    page.keyboard.type("crumb")
    grid.keys("Control+Enter")

    assert stands(grid) == {
        ("Page 1", "bread", "there"): "yes",
        ("Page 1", "bread", "weight"): 12.5,
        ("Page 1", "butter", "weight"): 250,
        ("Page 1", "bread", "made-of"): "flour; salt 2",
        ("Page 1", "bread", "parts"): [
            {"part": "crust", "words": ["hard", "brown"]},
            {"part": "crumb", "words": []},
        ],
    }
    grid.go("Page 1", "bread", "made-of")
    assert "No numbers here." in grid.where()


def test_the_mark_of_an_option_stands_inside_its_cell_as_that_of_a_value(grid: Grid, browsing: Browsing) -> None:
    browsing.expect("Failed to load resource")
    page = grid.page
    page.route("**/record/", lambda route: route.abort())
    grid.keys("1")
    grid.go("Page 1", "bread", "weight")
    page.keyboard.type("240")
    grid.keys("Enter")
    heights = set()
    for question in ("there", "weight"):
        cell = page.locator(f"#{grid.id('Page 1', 'bread', question)}")
        expect(cell).to_have_attribute("data-state", "failed")
        heights.add(cell.evaluate("(td) => getComputedStyle(td, '::after').lineHeight"))
    assert heights == {"20px"}


def test_a_number_that_can_be_read_in_two_ways_is_chosen_by_keys(browsing: Browsing) -> None:
    sheet = weighing(SCHEME.replace("max: 500, step: 0.5", "max: 5000"))
    numbers = Grid(browsing.person("anna"), sheet).open()
    offered = numbers.page.locator(".offers li")
    numbers.go("Page 1", "bread", "weight")
    numbers.page.keyboard.type("1,234")
    expect(offered).to_have_text(["1.234", "1234"])
    numbers.keys("Enter")
    numbers.expect_refusal("“1,234” may be 1.234 or 1234.")
    expect(offered).to_have_text(["1.234", "1234"])
    numbers.keys("ArrowDown", "ArrowDown", "Enter", "Enter")
    numbers.go("Page 1", "butter", "weight")
    numbers.page.keyboard.type("6,234")
    expect(offered).to_have_text(["6.234"])
    numbers.keys("ArrowDown", "Enter", "Enter")

    assert stands(numbers) == {("Page 1", "bread", "weight"): 1234, ("Page 1", "butter", "weight"): 6.234}


def test_undo_and_escape_bring_back_what_stood_there(grid: Grid) -> None:
    grid.go("Page 1", "bread", "weight")
    grid.page.keyboard.type("7")
    grid.keys("Enter", "ArrowUp")
    grid.page.keyboard.type("8")
    grid.keys("Escape")
    assert stands(grid) == {("Page 1", "bread", "weight"): 7}
    grid.keys("F2", "Backspace")
    grid.page.keyboard.type("9")
    grid.keys("Enter", "ArrowUp")
    assert stands(grid) == {("Page 1", "bread", "weight"): 9}
    grid.keys("Control+z", "Control+z")
    assert stands(grid) == {}
    grid.keys("Control+Shift+z")
    assert stands(grid) == {("Page 1", "bread", "weight"): 7}


def test_nothing_that_was_typed_is_lost_by_a_reload(grid: Grid) -> None:
    grid.go("Page 2", "butter", "made-of")
    grid.page.keyboard.type("cream; sa")
    grid.page.reload()
    field = grid.page.locator(".typed")
    expect(field).to_be_focused()
    expect(field).to_have_value("cream; sa")
    grid.page.keyboard.type("lt")
    grid.keys("Enter")
    assert stands(grid) == {("Page 2", "butter", "made-of"): "cream; salt"}
    grid.open()
    expect(grid.page.locator(".typing")).to_be_hidden()
    expect(grid.page.locator(f"#{grid.id('Page 2', 'butter', 'made-of')}")).to_have_text("cream; salt")


def test_what_was_half_typed_never_writes_over_what_was_saved_since(grid: Grid) -> None:
    here = ("Page 1", "bread", "weight")
    grid.go(*here)
    grid.page.keyboard.type("12")
    # Another tab of this browser offers it, and takes it back when this one has done with it.
    other = Grid(grid.page.context.new_page(), grid.sheet)
    other.page.goto(grid.page.url)
    typed = other.page.locator(".typed")
    expect(typed).to_have_value("12")
    grid.page.bring_to_front()
    grid.page.keyboard.type("3")
    grid.keys("Enter")
    assert stands(grid) == {here: 123}
    expect(typed).to_be_hidden()
    other.page.bring_to_front()
    other.page.locator(f"#{other.id('Page 2', 'butter', 'weight')}").click()
    other.settle()
    assert stands(grid) == {here: 123}
    # Who goes on with it in both gives two answers.
    grid.page.bring_to_front()
    grid.go(*here)
    grid.page.keyboard.type("7")
    other.page.reload()
    expect(typed).to_have_value("7")
    other.page.keyboard.type("0")
    grid.page.keyboard.type("1")
    grid.keys("Enter")
    assert stands(grid) == {here: 71}
    other.keys("Enter")
    other.settle()
    other.go(*here)
    answers = other.page.locator("#choices .answer")
    expect(answers).to_have_text(["Alt+Csaved elsewhere meanwhile: 71 g", "Enterchosen here: 70 g"])
    assert stands(grid) == {here: 71}


def test_what_an_earlier_visit_has_typed_is_taken_by_a_key_alone(grid: Grid) -> None:
    here = ("Page 1", "bread", "weight")
    grid.go(*here)
    grid.page.keyboard.type("12")
    grid.page.reload()
    field = grid.page.locator(".typed")
    expect(field).to_have_value("12")
    grid.page.locator(f"#{grid.id('Page 2', 'butter', 'weight')}").click()
    assert stands(grid) == {}
    # Answered since in another browser: the editor does not open by itself, and a key makes two answers of it.
    builders.label(Assignment.objects.get(row__name="Page 1"), {("bread", "weight"): ":20"})
    grid.open()
    expect(field).to_be_hidden()
    grid.go(*here)
    grid.keys("F2")
    expect(field).to_have_value("12")
    grid.expect_refusal("This was typed before the page was left. Enter takes it, Esc throws it away.")
    grid.keys("Enter")
    grid.settle()
    grid.go(*here)
    answers = grid.page.locator("#choices .answer")
    expect(answers).to_have_text(["Alt+Csaved elsewhere meanwhile: 20 g", "Enterchosen here: 12 g"])
    assert stands(grid) == {here: 20}


def test_values_are_copied_pasted_and_cleared(grid: Grid) -> None:
    grid.go("Page 1", "bread", "parts")
    grid.page.keyboard.type("crust")
    grid.keys("Tab")
    grid.page.keyboard.type("hard")
    grid.keys("Control+Enter")
    grid.go("Page 1", "bread", "parts")
    grid.keys("Control+c", "ArrowRight", "Control+v")
    value = [{"part": "crust", "words": ["hard"]}]
    assert stands(grid) == {("Page 1", "bread", "parts"): value, ("Page 1", "butter", "parts"): value}
    grid.keys("Delete")
    assert stands(grid) == {("Page 1", "bread", "parts"): value}


def paste(grid: Grid, text: str, html: str = "") -> None:
    grid.page.evaluate(
        """([text, html]) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            if (html) data.setData("text/html", html);
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
        }""",
        [text, html],
    )


def test_a_paragraph_is_pasted_into_one_cell_and_a_column_of_a_spreadsheet_into_many(grid: Grid) -> None:
    here, below = ("Page 1", "bread", "made-of"), ("Page 1", "bread", "parts")
    grid.go(*below)
    paste(grid, "crust | hard\ncrumb | soft")
    expect(grid.page.locator(".typed")).to_have_value("crust | hard\ncrumb | soft")
    grid.keys("Control+Enter")
    parts = [{"part": "crust", "words": ["hard"]}, {"part": "crumb", "words": ["soft"]}]
    grid.go(*here)
    paste(grid, "flour\nof rye\n")
    grid.page.locator(f"#{grid.id('Page 2', 'bread', 'weight')}").click()
    assert stands(grid) == {here: "flour of rye", below: parts}
    grid.go(*here)
    paste(grid, "one\ntwo", "<table><tr><td>one</td></tr><tr><td>two</td></tr></table>")
    grid.expect_refusal("Cells filled: 2. Answers replaced: 2.")
    assert stands(grid) == {here: "one", below: [{"part": "two", "words": []}]}


def test_a_command_takes_what_was_typed_first(grid: Grid) -> None:
    grid.go("Page 1", "bread", "weight")
    grid.page.keyboard.type("12")
    grid.keys("Alt+m")
    expect(grid.page.locator(".typed")).to_be_hidden()
    expect(grid.page.get_by_role("dialog")).to_be_visible()
    assert stands(grid) == {("Page 1", "bread", "weight"): 12}


def test_what_was_answered_elsewhere_meanwhile_is_shown_with_both_values(grid: Grid) -> None:
    assignment = Assignment.objects.get(row__name="Page 1")
    column = assignment.row.sheet.columns.get(name="bread")
    weight = Question.objects.get(key="weight")
    builders.label(assignment, {("bread", "weight"): ":3"})
    grid.go("Page 1", "bread", "weight")
    grid.page.keyboard.type("4")
    grid.keys("Enter")
    grid.settle()
    grid.go("Page 1", "bread", "weight")
    answers = grid.page.locator("#choices .answer")
    expect(answers).to_have_text(["Alt+Csaved elsewhere meanwhile: 3 g", "Enterchosen here: 4 g"])
    grid.reload()
    grid.go("Page 1", "bread", "weight")
    grid.keys("Enter")
    expect(grid.page.locator(".typed")).to_have_value("4")
    grid.keys("Enter")
    assert stands(grid) == {("Page 1", "bread", "weight"): 4}
    assert LabelEvent.objects.filter(column=column, question=weight).count() == 2


LONG = "It rises in a warm place, and " * 20 + "it is a ball."


def test_of_two_long_texts_one_is_kept_by_a_key(prose: Grid) -> None:
    assignment = Assignment.objects.get(row__name="Page 1")
    builders.label(assignment, {("bread", "remark"): f':"{LONG}"'})
    prose.go("Page 1", "bread", "remark")
    prose.page.keyboard.type("It is flat.")
    prose.keys("Enter")
    prose.settle()
    prose.go("Page 1", "bread", "remark")
    expect(prose.page.locator("#choices .answer .text")).to_have_text([LONG, "It is flat."])
    prose.keys("Alt+c")
    assert stands(prose) == {("Page 1", "bread", "remark"): LONG}
    expect(prose.page.locator("td[data-state=conflict]")).to_have_count(0)


def test_a_long_text_is_written_beside_the_tables_found_and_taken_to_a_spreadsheet(prose: Grid) -> None:
    page, panel, field = prose.page, prose.page.locator("#writing"), prose.page.locator(".typed")
    cell = page.locator(f"#{prose.id('Page 1', 'bread', 'remark')}")
    prose.go("Page 1", "bread", "remark")
    page.keyboard.type("First line")
    prose.keys("F2")
    expect(panel).to_be_visible()
    expect(field).to_be_focused()
    prose.keys("Enter")
    page.keyboard.type(LONG)
    page.reload()
    expect(panel).to_be_visible()
    expect(field).to_have_value(f"First line\n{LONG}")
    prose.keys("Control+Enter")
    expect(panel).to_be_hidden()
    assert stands(prose) == {("Page 1", "bread", "remark"): f"First line\n{LONG}"}
    high, whole = cell.evaluate("(td) => [td.firstChild.clientHeight, td.firstChild.scrollHeight]")
    assert high == 6 * 20 < whole  # it grows, but not without end

    prose.go("Page 2", "butter", "remark")
    prose.keys("Alt+/")
    page.locator("#find-item").fill("WARM place")
    prose.keys("ArrowDown")
    assert prose.focused == cell.get_attribute("id")

    # There and back, as a spreadsheet has it: a cell of two lines between quotation marks.
    prose.keys("Control+c")
    prose.go("Page 2", "bread", "remark")
    prose.keys("Control+v")
    prose.go("Page 2", "butter", "remark")
    prose.keys("F2", "Escape", "Alt+x")
    page.keyboard.type("torn")
    prose.keys("Enter")
    prose.settle()
    prose.keys("Control+z", "Control+z")
    prose.reload()
    expect(cell).to_contain_text("First line")
    prose.keys("Control+y")
    assert stands(prose)["Page 2", "bread", "remark"] == f"First line\n{LONG}"
    expect(page.locator("td[data-skip]")).to_have_count(0)


def test_what_a_check_refuses_is_left_out_of_a_paste_and_it_warns_without_the_server(
    table: Grid, browsing: Browsing
) -> None:
    first, second, third = INSTRUCTIONS
    table.go("Recipe", first, "output")
    paste(table, "dough\n2 balls\nball", "<table></table>")
    expect(table.page.locator("#left-out")).to_contain_text("“Output” should have no number in it.")
    table.keys("Escape")
    assert stands(table) == {("Recipe", first, "output"): "dough", ("Recipe", third, "output"): "ball"}
    table.go("Recipe", second, "input")
    table.page.keyboard.type("sugar")
    with table.page.expect_request("**/record/"):
        browsing.expect("ERR_INTERNET_DISCONNECTED")
        table.page.context.set_offline(True)
        table.keys("Enter")
    table.go("Recipe", second, "input")
    assert "This comes from nowhere: sugar." in table.where()  # without the server
    table.page.context.set_offline(False)
    assert stands(table)["Recipe", second, "input"] == "sugar"


def test_commands_take_alt_where_letters_are_typed(grid: Grid) -> None:
    grid.go("Page 1", "bread", "weight")
    grid.keys("Alt+x")
    expect(grid.page.locator("#skip")).to_be_visible()
    grid.page.keyboard.type("No scales")
    grid.keys("Enter")
    expect(grid.page.locator(f"#{grid.id('Page 1', 'bread', 'weight')}")).to_have_attribute("data-skip", "No scales")


STEPS = """\
key: dough
version: 1
title: Dough
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [instruction]}
    questions:
      - {key: input, title: Input, kind: text, text: {special: [NA], separator: ";", from: [output]}}
      - {key: moves, title: Moves only, kind: flag}
      - {key: output, title: Output, kind: text, text: {separator: ";"}}
    checks:
      - {rule: no-number, question: output, level: refuse}
      - {rule: contained-in, question: input, in: [above.output, column.instruction]}
"""
INSTRUCTIONS = [
    "Mix the flour with the water and the yeast until no dry flour is left at the bottom of the bowl.",
    "Knead the dough for ten minutes.",
    "Put it into a warm place.",
]


@pytest.fixture
def table(browsing: Browsing) -> Grid:
    scheme = actions.store_scheme(spec=load_scheme(STEPS), source=STEPS)
    study = actions.create_study(slug="dough", title="Dough", scheme=scheme, by=None)
    columns = {"steps": [{"instruction": text} for text in INSTRUCTIONS]}
    sheet = actions.add_sheet(study=study, title="Pizza", columns=columns)
    actions.add_row(sheet=sheet, name="Recipe", evidence=[Block("paragraph", "Flour, water, yeast.")])
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return Grid(browsing.person("anna"), sheet).open()


def test_a_table_is_written_from_top_to_bottom_by_keys_alone(table: Grid) -> None:
    keyboard = table.page.keyboard
    keyboard.type("flour; water")
    table.keys("Tab", "2")
    keyboard.type("dough")
    table.keys("Tab")
    keyboard.type("do")
    expect(table.page.locator(".offers li")).to_have_text(["dough"])
    table.keys("ArrowDown", "Tab", "Tab", "2")
    keyboard.type("smooth dough")
    table.keys("Enter")
    table.keys("Home")
    keyboard.type("smo")
    table.keys("ArrowDown", "Enter", "Enter")

    first, second, third = INSTRUCTIONS
    assert stands(table) == {
        ("Recipe", first, "input"): "flour; water",
        ("Recipe", first, "moves"): "no",
        ("Recipe", first, "output"): "dough",
        ("Recipe", second, "input"): "dough",
        ("Recipe", second, "moves"): "no",
        ("Recipe", second, "output"): "smooth dough",
        ("Recipe", third, "input"): "smooth dough",
    }
    table.keys("Control+Home", "Control+ArrowRight")
    assert table.focused == table.id("Recipe", third, "moves")


def test_checks_warn_and_refuse_while_one_writes(table: Grid) -> None:
    first, _second, _third = INSTRUCTIONS
    table.page.keyboard.type("flour; sugar")
    table.keys("Enter")
    assert stands(table) == {("Recipe", first, "input"): "flour; sugar"}
    table.go("Recipe", first, "input")
    expect(table.page.locator("#where")).to_contain_text("This comes from nowhere: sugar.")
    table.go("Recipe", first, "output")
    table.page.keyboard.type("2 doughs")
    table.keys("Enter")
    table.expect_refusal("“Output” should have no number in it.")
    field = table.page.locator(".typed")
    expect(field).to_be_focused()
    expect(field).to_have_value("2 doughs")
    assert stands(table) == {("Recipe", first, "input"): "flour; sugar"}
    table.keys("Escape")
    table.open()
    table.go("Recipe", first, "input")
    expect(table.page.locator("#where")).to_contain_text("This comes from nowhere: sugar.")


def drafted(table: Grid) -> Assignment:
    """Anna's work on the recipe, drafted from Boris's."""
    boris = builders.rater(table.sheet.study, pages.person("boris"))
    (theirs,) = builders.assignments(boris, table.sheet)
    said = {(text, question): code for text in INSTRUCTIONS for question, code in DRAFTED.items()}
    builders.label(theirs, said)
    actions.submit(assignment=theirs)
    mine = Assignment.objects.get(rater__user__username="anna")
    actions.draft(assignment=mine, rater=boris, key=uuid.uuid4())
    table.open()
    return mine


def test_a_draft_is_taken_by_a_key(table: Grid) -> None:
    first, second, _third = INSTRUCTIONS
    mine = drafted(table)
    expect(table.page.locator(f"#{table.id('Recipe', first, 'output')}")).to_have_attribute("data-draft", "")
    table.go("Recipe", first, "moves")
    table.keys("c")
    table.settle()
    assert not Label.objects.get(assignment=mine, column__name=first, question__key="moves").is_draft
    table.go("Recipe", second, "moves")
    table.keys("Shift+C")
    table.settle()
    assert not any(label.is_draft for label in Label.objects.filter(assignment=mine))
    assert not table.page.locator("td[data-draft]").count()


def test_a_draft_is_taken_where_letters_are_typed(table: Grid) -> None:
    """By the keys that the bottom line says."""
    first, second, _third = INSTRUCTIONS
    mine = drafted(table)
    table.go("Recipe", first, "input")
    expect(table.page.locator("#where")).to_contain_text("Alt+C takes it as it is, Alt+Shift+C all of this document")
    table.keys("Alt+c")
    table.settle()
    assert not Label.objects.get(assignment=mine, column__name=first, question__key="input").is_draft
    assert Label.objects.get(assignment=mine, column__name=second, question__key="input").is_draft
    table.go("Recipe", second, "moves")
    expect(table.page.locator("#where")).to_contain_text(": c takes it as it is, Shift+C all of this document")
    table.go("Recipe", second, "input")
    table.keys("Alt+Shift+C")
    expect(table.page.locator("td[data-draft]")).to_have_count(0)
    table.settle()
    assert not any(label.is_draft for label in Label.objects.filter(assignment=mine))


DRAFTED = {"input": ':"flour"', "moves": "no", "output": ':"dough"'}
