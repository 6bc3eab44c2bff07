"""What a spreadsheet's users try: ranges, filling, the clipboard, undoing, finding."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.models import LabelEvent, Skip, User
from tests.journeys.conftest import Browsing
from tests.journeys.pages import TO, Coleslaw, Grid

pytestmark = pytest.mark.once

SHRED, STIR, SERVE = "shred · knife · white cabbage", "stir · carrots, mayonnaise", "serve"
INGREDIENTS = ("white cabbage", "carrots", "mayonnaise", "mustard")
CLIPBOARD = ["clipboard-read", "clipboard-write"]  # what the browser may do


@pytest.fixture
def grid(slaw: Coleslaw, browsing: Browsing) -> Grid:
    page = browsing.person("anna", permissions=CLIPBOARD)
    return Grid(page, slaw.sheet).open()


def line(grid: Grid, row: str) -> str:
    """The signs of a document's ingredients, a dot for none."""
    return "".join(grid.sign(row, column) or "." for column in INGREDIENTS)


def selected(grid: Grid) -> int:
    return grid.page.locator("td[aria-selected=true]").count()


def clipboard(grid: Grid) -> str:
    return str(grid.page.evaluate("() => navigator.clipboard.readText()"))


def paste(grid: Grid, text: str) -> None:
    """Text that was copied in a spreadsheet."""
    grid.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    grid.keys("Control+v")


def n_changes() -> int:
    """How many changes Anna's browser sent, whatever number of cells each had."""
    return LabelEvent.objects.filter(assignment__rater__user__username="anna").values("key").distinct().count()


# --- ranges ---------------------------------------------------------------------------------------------------------


def test_a_range_is_selected_filled_with_one_key_and_undone_as_one_step(grid: Grid, slaw: Coleslaw) -> None:
    grid.keys("Shift+ArrowRight", "Shift+ArrowDown")
    assert selected(grid) == 4
    expect(grid.page.locator("#selected")).to_have_text("Cells selected: 4 (Esc lets go)")
    assert grid.where() == "Google 1 › Presence › white cabbage"  # the focus stays where the range began
    grid.keys("3")
    assert [line(grid, row) for row in ("Google 1", "Google 2", "Bing 1")] == ["––..", "––..", "...."]
    grid.settle()
    assert len(slaw.standing("anna")) == 4
    assert n_changes() == 1

    grid.keys("Delete")
    grid.settle()
    assert slaw.standing("anna") == {}
    grid.keys("Control+z")
    assert line(grid, "Google 2") == "––.."
    grid.keys("Control+z")
    assert line(grid, "Google 2") == "...."
    grid.keys("Control+y", "Control+Shift+z", "Control+Shift+z")
    grid.expect_refusal("There is nothing to redo.")
    assert line(grid, "Google 1") == "...."
    grid.settle()
    assert slaw.standing("anna") == {}

    # Home, End, pages, the mouse and Ctrl+A select as well; a move without Shift lets go.
    grid.keys("Control+Home", "Shift+End", "Shift+PageDown")
    assert selected(grid) == 12  # the range ends with the table
    grid.keys("ArrowRight")
    assert selected(grid) == 0
    grid.keys("Control+a")
    assert selected(grid) == 12
    grid.keys("Escape")
    grid.go("Google 1", "carrots")
    mouse, page = grid.page.mouse, grid.page
    box = page.locator(f"#{grid.id('Bing 1', 'mayonnaise')}").bounding_box()
    assert box is not None
    page.keyboard.down("Shift")
    mouse.click(box["x"] + 5, box["y"] + 5)
    page.keyboard.up("Shift")
    assert selected(grid) == 6
    grid.go("Google 1", "carrots")
    mouse.down()
    mouse.move(box["x"] + 5, box["y"] - 20, steps=4)
    mouse.up()
    assert selected(grid) == 4


def test_tab_and_enter_go_through_a_range_until_it_is_let_go(grid: Grid, slaw: Coleslaw) -> None:
    def walk(key: str, times: int) -> str:
        """Where a key leads, step by step: a letter for the document, one for the ingredient."""
        steps = []
        for _ in range(times):
            grid.keys(key)
            row, _question, column = grid.where().split(" › ")
            steps.append(f"{ {'Google 1': 'G', 'Google 2': 'H', 'Bing 1': 'B'}[row] }{column[:2]}")
        return " ".join(steps)

    grid.go("Google 1", "carrots")
    grid.keys("Shift+ArrowDown", "Shift+ArrowRight")
    assert walk("Tab", 4) == "Gma Hca Hma Gca"  # line by line, and from the last one to the first
    assert walk("Shift+Tab", 3) == "Hma Hca Gma"
    assert walk("Enter", 4) == "Hma Gca Hca Gma"  # column by column
    assert walk("Shift+Enter", 2) == "Hca Gca"
    assert walk("Tab", 1) == "Gma"
    assert selected(grid) == 4
    expect(grid.page.locator("#selected")).to_have_text("Cells selected: 4 (Esc lets go)")
    # Everything is about the whole range still, wherever the focus is in it.
    grid.keys("2")
    assert [line(grid, row) for row in ("Google 1", "Google 2", "Bing 1")] == [".~~.", ".~~.", "...."]
    grid.keys("Control+c")
    assert clipboard(grid) == "\n".join(["Found (not perfect)\tFound (not perfect)"] * 2)
    assert selected(grid) == 4
    # A dialog, too, gives it back; Shift begins a new range at the focus; the focus stays where it is.
    grid.keys("?", "Escape")
    expect(grid.page.get_by_role("dialog")).to_be_hidden()
    assert grid.focused == grid.id("Google 1", "mayonnaise")
    assert selected(grid) == 4
    grid.keys("Shift+ArrowRight")
    assert selected(grid) == 2
    # An arrow or Esc lets go, and Tab leads on through the lines as before.
    assert walk("ArrowLeft", 1) == "Gca"
    assert selected(grid) == 0
    grid.keys("Shift+ArrowRight")
    assert walk("Tab", 1) == "Gma"
    grid.keys("Escape")
    assert selected(grid) == 0
    assert grid.focused == grid.id("Google 1", "mayonnaise")
    assert walk("Tab", 2) == "Gmu Hwh"
    grid.settle()
    assert len(slaw.standing("anna")) == 4


def test_a_range_is_no_trap(grid: Grid) -> None:
    """Esc and Tab lead out of the grid, also where all of the last table is selected (WCAG 2.1.2)."""
    grid.keys("Control+End", "Control+a", "Tab", "Shift+Tab")
    assert selected(grid) == 27
    assert grid.focused == grid.id("Bing 1", SERVE, "ingredients")
    grid.keys("Escape", "Tab")
    assert grid.page.evaluate("document.activeElement.closest('table')") is None
    grid.page.get_by_role("button", name="Keys").click()
    expect(grid.page.get_by_role("dialog", name="Keys")).to_contain_text(
        "in a range Tab and Enter go through it until Esc or an arrow lets go of it"
    )


def test_the_table_a_line_a_column_and_all_to_an_edge_are_selected_at_once(grid: Grid, slaw: Coleslaw) -> None:
    def range_of(*keys: str) -> tuple[int, str]:
        grid.go("Google 2", STIR, "tool")
        grid.keys(*keys)
        assert grid.focused == grid.id("Google 2", STIR, "tool")  # what a number means does not change
        return selected(grid), grid.page.locator("td[aria-selected=true]").first.get_attribute("id") or ""

    first = grid.id("Google 1", SHRED, "task")
    assert range_of("Control+a") == (27, first)  # three documents × three questions × three tasks
    assert range_of("Shift+Space") == (3, grid.id("Google 2", SHRED, "tool"))
    assert range_of("Control+Space") == (9, grid.id("Google 1", STIR, "task"))
    assert range_of("Control+Shift+ArrowRight") == (2, grid.id("Google 2", STIR, "tool"))
    assert range_of("Control+Shift+ArrowUp") == (5, grid.id("Google 1", STIR, "task"))
    assert range_of("Control+Shift+ArrowUp", "Control+Shift+ArrowLeft") == (10, first)
    assert range_of("Control+Shift+ArrowDown", "Control+Shift+ArrowRight") == (10, grid.id("Google 2", STIR, "tool"))
    grid.keys("1")  # “Found”, as the focused tool has it
    grid.settle()
    assert slaw.standing("anna")["Bing 1", SERVE, "tool"] == "found"
    assert ("Bing 1", SERVE, "task") not in slaw.standing("anna")


def test_headings_select_what_they_name(grid: Grid, slaw: Coleslaw) -> None:
    table = grid.page.get_by_role("grid", name="Tasks")
    grid.go("Google 2", STIR, "tool")
    table.get_by_role("columnheader", name="serve").click()
    assert selected(grid) == 9
    assert grid.focused == grid.id("Google 2", SERVE, "tool")  # the document beside the grid stays
    table.get_by_role("rowheader", name="Google 1").click()
    assert selected(grid) == 9
    assert grid.focused == grid.id("Google 1", SERVE, "task")
    table.get_by_role("rowheader", name="Tool").nth(2).click()
    assert selected(grid) == 3
    assert grid.focused == grid.id("Bing 1", SERVE, "tool")
    grid.keys("1")
    table.locator(".corner").first.click()
    assert selected(grid) == 27
    assert grid.focused == grid.id("Bing 1", SERVE, "tool")
    grid.settle()
    assert {row for row, _, question in slaw.standing("anna") if question == "tool"} == {"Bing 1"}


def test_a_fill_takes_only_cells_that_are_asked_and_have_that_answer(grid: Grid, slaw: Coleslaw) -> None:
    """Down the three questions of two documents, with the first one's task absent."""
    grid.go("Google 1", SHRED, "task")
    grid.keys("4")
    grid.go("Google 2", SHRED, "tool")
    grid.keys("Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp", "1")
    # Of “Found” in the tool's line: Google 1's tool is not asked, the ingredients and the task have no such answer.
    grid.expect_refusal("Cells filled: 1. Left out, not asked: 1. Left out, “Found” is no answer there: 2.")
    assert grid.sign("Google 2", SHRED, "tool") == "F"
    grid.settle()
    assert slaw.standing("anna") == {
        ("Google 1", SHRED, "task"): "task-not-found",
        ("Google 2", SHRED, "tool"): "found",
    }


def test_filling_down(grid: Grid, slaw: Coleslaw) -> None:
    grid.keys("1", "2", "3", "4")  # Google 1's ingredients
    grid.keys(*TO["Google 2"], "Control+d")  # its white cabbage, from the document above
    assert line(grid, "Google 2") == "F..."
    grid.keys("Control+Home", "Shift+End", "Shift+ArrowDown", "Shift+ArrowDown", "Control+d")
    assert [line(grid, row) for row in ("Google 2", "Bing 1")] == ["F~–i", "F~–i"]
    # In the tasks each question takes its own answers; the rules follow.
    grid.go("Google 1", SHRED, "task")
    grid.keys("1", "1", "1")
    grid.go("Google 1", SHRED, "task")
    grid.keys("Shift+PageDown", "Control+d")
    for row in ("Google 2", "Bing 1"):
        assert [grid.sign(row, SHRED, question) for question in ("task", "tool", "ingredients")] == ["F", "F", "="]
    grid.settle()
    assert slaw.standing("anna")["Bing 1", SHRED, "ingredients"] == "ingredients-match"


# --- the clipboard --------------------------------------------------------------------------------------------------


def test_copying_cutting_and_pasting_between_cells(grid: Grid, slaw: Coleslaw) -> None:
    grid.keys("1", "2")
    grid.go("Google 1", "white cabbage")
    grid.keys("Shift+ArrowRight", "Shift+ArrowRight", "Control+c")
    assert clipboard(grid) == "Found\tFound (not perfect)\t"
    grid.go("Google 2", "carrots")
    grid.keys("Control+v")
    assert line(grid, "Google 2") == ".F~."
    # A single word fills the range; a block goes in again and again where it fits.
    grid.go("Google 1", "carrots")
    grid.keys("Control+x")
    assert line(grid, "Google 1") == "F..."
    grid.go("Bing 1", "white cabbage")
    grid.keys("Shift+End", "Control+v")
    assert line(grid, "Bing 1") == "~~~~"
    grid.keys("Control+z", "Control+z", "Control+z")
    assert [line(grid, row) for row in ("Google 1", "Google 2", "Bing 1")] == ["F~..", "....", "...."]
    grid.settle()
    assert len(slaw.standing("anna")) == 2


def test_pasting_from_a_spreadsheet(grid: Grid, slaw: Coleslaw) -> None:
    """By label, key or number key, in any case; what is unknown is told by cell, and the rest goes in."""
    actions.submit(assignment=slaw.assignment("anna", "Bing 1"), allow_open=True)
    grid.open()
    paste(grid, 'FOUND\t" found (not perfect) "\r\nnot-found\tmaybe\r\n1\t2\r\n\t3\r\n')
    dialog = grid.page.get_by_role("dialog", name="Some of it was left out")
    expect(dialog.locator("p")).to_have_text("Cells filled: 3.")
    expect(dialog.get_by_role("listitem")).to_have_text(
        [
            "Google 2 › Presence › carrots: “maybe” is no answer here",
            "Bing 1 › Presence › white cabbage: submitted",
            "Bing 1 › Presence › carrots: submitted",
            "Left out, beyond the end of the table: 2.",
        ]
    )
    grid.keys("Escape")
    assert grid.focused == grid.id("Google 1", "white cabbage")
    assert [line(grid, row) for row in ("Google 1", "Google 2", "Bing 1")] == ["F~..", "–...", "...."]
    grid.settle()
    assert set(slaw.standing("anna").values()) == {"found", "found-not-perfect", "not-found"}

    # The three questions of a document in one block: the tool that the task's answer switches off is left out.
    grid.go("Google 1", SHRED, "task")
    paste(grid, "Task Not Found\nFound\n")
    grid.expect_refusal("Cells filled: 1. Left out, not asked: 1.")
    grid.settle()
    assert slaw.standing("anna")["Google 1", SHRED, "task"] == "task-not-found"

    # A whole column of a large spreadsheet: what fits goes in.
    grid.go("Google 1", SERVE, "ingredients")
    paste(grid, "Ingredients Implied\n" * 150_000)
    expect(dialog.get_by_text("Left out, beyond the end of the table: 149993.")).to_be_visible()
    grid.settle()
    assert slaw.standing("anna")["Google 1", SERVE, "ingredients"] == "ingredients-implied"


def test_a_skip_travels_with_its_reason(grid: Grid, slaw: Coleslaw, browsing: Browsing) -> None:
    """As in the workbook: “Skipped: ” and the reason, which comes in again, here and from a spreadsheet."""
    page = grid.page

    def skips() -> dict[tuple[str, str], str]:
        grid.settle()
        cells = Skip.objects.values_list("assignment__row__name", "column__name", "reason")
        return {(row, column): reason for row, column, reason in cells}

    grid.keys("3", "x")
    page.keyboard.type("page is cut & costs $&")
    grid.keys("Enter", "2", *TO["Google 1"], "Shift+ArrowRight", "Shift+ArrowRight", "Control+c")
    assert clipboard(grid) == "Not found\tSkipped: page is cut & costs $&\tFound (not perfect)"
    grid.keys("Control+v")  # in place: nothing changes
    assert line(grid, "Google 1") == "–?~."
    expect(page.locator("#refusal")).to_be_hidden()
    grid.settle()
    assert n_changes() == 3
    grid.go("Google 2", "white cabbage")
    grid.keys("Control+v")
    assert line(grid, "Google 2") == "–?~."
    assert skips() == {(row, "carrots"): "page is cut & costs $&" for row in ("Google 1", "Google 2")}

    # From a spreadsheet, a reason of two lines too; a reason of none is no answer.
    grid.go("Bing 1", "white cabbage")
    paste(grid, 'SKIPPED:  smudged\t"Skipped: one ""line""\ntwo"\tSkipped: ')
    dialog = page.get_by_role("dialog", name="Some of it was left out")
    expect(dialog.get_by_role("listitem")).to_have_text(
        ["Bing 1 › Presence › mayonnaise: “Skipped:” is no answer here"]
    )
    grid.keys("Escape")
    assert skips()["Bing 1", "white cabbage"] == "smudged"
    assert skips()["Bing 1", "carrots"] == 'one "line"\ntwo'
    grid.go("Bing 1", "carrots")
    grid.keys("Control+c")
    assert clipboard(grid) == '"Skipped: one ""line""\ntwo"'
    grid.go("Bing 1", "mustard")
    grid.keys("Control+v")
    assert skips()["Bing 1", "mustard"] == skips()["Bing 1", "carrots"]

    # The word is that of the page's language.
    czech = Grid(browsing.person("anna", locale="cs", permissions=CLIPBOARD), slaw.sheet).open()
    czech.keys("Control+Home")
    paste(czech, "Přeskočeno: rozmazané")
    czech.settle()
    assert skips()["Google 1", "white cabbage"] == "rozmazané"


def test_pasting_nothing_over_something_clears_it_and_says_so(grid: Grid, slaw: Coleslaw) -> None:
    grid.keys("1", "x")
    grid.page.keyboard.type("page is cut")
    grid.keys("Enter", *TO["Google 1"])
    paste(grid, "\t\tFound\t")
    grid.expect_refusal("Cells filled: 1. Cells cleared: 2.")
    assert line(grid, "Google 1") == "..F."
    paste(grid, "\t\t\t")
    expect(grid.page.locator("#refusal")).to_have_text("Cells cleared: 1.")
    grid.keys("Control+z", "Control+z")
    assert line(grid, "Google 1") == "F?.."
    grid.settle()
    assert Skip.objects.get().reason == "page is cut"
    # Of what is cleared on purpose nothing is said, but of what could not be.
    grid.keys(*TO["Google 1"], "Shift+End", "Delete")
    assert line(grid, "Google 1") == "...."
    expect(grid.page.locator("#refusal")).to_be_hidden()
    grid.settle()
    actions.submit(assignment=slaw.assignment("anna", "Google 2"), allow_open=True)
    grid.open()
    grid.keys("1", *TO["Google 1"], "Shift+ArrowDown", "Delete")
    grid.expect_refusal("Cells cleared: 1. Left out, submitted: 1.")


# --- undoing --------------------------------------------------------------------------------------------------------


def test_undo_brings_back_what_a_rule_cleared_also_after_a_reload(grid: Grid, slaw: Coleslaw) -> None:
    grid.go("Google 1", SHRED, "task")
    grid.keys("1", "1", "1")
    grid.go("Google 1", STIR, "task")
    grid.keys("1")  # presets its tool
    grid.settle()
    before = slaw.standing("anna")
    grid.go("Google 1", SHRED, "task")
    grid.keys("4")
    grid.settle()
    assert len(slaw.standing("anna")) == len(before) - 2

    grid.open()
    grid.keys("Control+z")
    assert grid.focused == grid.id("Google 1", SHRED, "task")  # the focus goes to where it happened
    assert [grid.sign("Google 1", SHRED, q) for q in ("task", "tool", "ingredients")] == ["F", "F", "="]
    grid.settle()
    assert slaw.standing("anna") == before

    grid.keys("Control+z")
    grid.settle()
    assert {key for key in slaw.standing("anna") if key[1] == STIR} == set()
    grid.open()
    grid.keys("Control+Shift+z", "Control+Shift+z")
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", SHRED, "task"): "task-not-found"} | {
        key: option for key, option in before.items() if key[1] == STIR
    }
    stir = slaw.assignment("anna", "Google 1").labels.get(question__key="tool")
    assert stir.preset  # nobody has chosen it, now as before


def test_a_step_is_left_when_its_cells_were_changed_elsewhere(grid: Grid, slaw: Coleslaw, browsing: Browsing) -> None:
    grid.keys("1", "1")
    grid.settle()
    other = Grid(browsing.person("anna"), slaw.sheet).open()  # another browser
    other.go("Google 1", "carrots")
    other.keys("3")
    other.settle()
    grid.keys("Control+z")
    grid.expect_refusal("That step was left as it is")
    assert line(grid, "Google 1") == "F–.."  # and this page shows what stands there
    grid.keys("Control+z")
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", "carrots", "presence"): "not-found"}


def test_a_step_waits_until_its_document_is_taken_back(grid: Grid, slaw: Coleslaw) -> None:
    grid.go("Google 2", "carrots")
    grid.keys("3")
    grid.go("Google 1", "carrots")
    grid.keys("1")
    grid.settle()
    actions.submit(assignment=slaw.assignment("anna", "Google 1"), allow_open=True)
    grid.open()
    grid.keys("Control+z")
    grid.expect_refusal("That step waits: “Google 1” is submitted. Take it back first.")
    assert line(grid, "Google 1") == ".F.."
    # Once that is said, it does not keep the one before it waiting.
    grid.keys("Control+z")
    assert line(grid, "Google 2") == "...."
    grid.keys("Control+z")
    grid.expect_refusal("That step waits: “Google 1” is submitted.")
    grid.keys("Control+y")
    assert line(grid, "Google 2") == ".–.."
    grid.settle()
    grid.open()
    grid.keys("Control+z", "Control+z")
    grid.expect_refusal("That step waits: “Google 1” is submitted.")
    grid.go("Google 1", "carrots")
    grid.keys("s")
    expect(grid.page.locator(f"#{grid.focused}")).not_to_have_attribute("aria-readonly", "true")
    grid.keys("Control+z")
    assert [line(grid, row) for row in ("Google 1", "Google 2")] == ["....", "...."]
    grid.settle()
    assert slaw.standing("anna") == {}

    # Doing again waits as well.
    actions.submit(assignment=slaw.assignment("anna", "Google 1"), allow_open=True)
    grid.open()
    grid.keys("Control+y")
    grid.keys("Control+y")
    assert [line(grid, row) for row in ("Google 1", "Google 2")] == ["....", ".–.."]
    grid.go("Google 1", "carrots")
    grid.keys("s")
    expect(grid.page.locator(f"#{grid.focused}")).not_to_have_attribute("aria-readonly", "true")
    grid.keys("Control+y")
    assert line(grid, "Google 1") == ".F.."


def test_a_step_that_the_server_refuses_waits_as_well(grid: Grid, slaw: Coleslaw, browsing: Browsing) -> None:
    """The page does not know yet that the document was submitted in another browser, or that the sheet was closed."""
    browsing.expect("ERR_INTERNET_DISCONNECTED")
    grid.keys("1", "2", "3")
    grid.settle()
    mine = slaw.assignment("anna", "Google 1")
    actions.submit(assignment=mine, allow_open=True)
    grid.page.context.set_offline(True)
    grid.keys("Control+z", "Control+z")
    assert line(grid, "Google 1") == "F..."
    grid.page.context.set_offline(False)
    grid.settle()
    grid.expect_refusal("“Google 1” is submitted; take it back first to change it.")
    assert line(grid, "Google 1") == "F~–."
    mine.refresh_from_db()
    actions.reopen(assignment=mine)
    grid.open()
    grid.keys("Control+z")
    assert line(grid, "Google 1") == "F~.."  # the last step first
    grid.settle()

    actions.close_sheet(sheet=slaw.sheet, by=User.objects.get(username="mara"))
    grid.keys("Control+z")
    grid.expect_refusal("“Coleslaw” is closed: its work is finished.")
    grid.settle()
    assert line(grid, "Google 1") == "F~.."
    grid.open()
    grid.keys("Control+z")
    grid.expect_refusal("That step waits: this sheet is closed.")
    slaw.sheet.refresh_from_db()
    actions.open_sheet(sheet=slaw.sheet)
    grid.open()
    grid.keys("Control+z")
    assert line(grid, "Google 1") == "F..."
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", "white cabbage", "presence"): "found"}


# --- finding, and other people's keys ------------------------------------------------------------------------------


def test_an_item_is_found_by_its_letters(grid: Grid) -> None:
    page = grid.page
    grid.keys("ArrowDown", "/")
    page.keyboard.type("MAY")
    expect(page.locator("#find output")).to_have_text("1 of 2")
    assert grid.where() == "Google 2 › Presence › mayonnaise"
    grid.keys("Enter")
    assert grid.where() == f"Google 2 › Task › {STIR}"
    grid.keys("Escape")
    assert grid.focused == grid.id("Google 2", "white cabbage")  # back
    grid.keys("/")
    page.keyboard.type("must1")
    expect(page.locator("#find output")).to_have_text("not found")
    grid.keys("Backspace", "ArrowDown", "1")  # into the grid, and on with the work
    assert grid.sign("Google 2", "mustard") == "F"


def test_letters_are_keys_only_where_nothing_else_takes_them(grid: Grid) -> None:
    page = grid.page
    for place in ("#divider", "#open-help", "#undo", "#original", "#evidence [data-submit]", ".brand"):
        page.locator(place).focus()
        for key in ("n", "g", "?", "s", "1", "/", "Control+z", "Control+a"):
            grid.keys(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#guide")).to_be_hidden()
    assert page.locator("#n-submitted").inner_text() == "0"
    # In a dialog neither, wherever one clicks in it.
    grid.keys("Control+Home")
    page.locator("#open-help").click()
    page.get_by_role("heading", name="Keys").click()
    page.locator("#help dd").first.click()
    grid.keys("1", "n")
    grid.keys("Escape")
    # Nor while one types.
    grid.go("Google 1", "white cabbage")
    grid.keys("/", "1", "x", "Escape")
    assert grid.where() == "Google 1 › Presence › white cabbage"
    assert line(grid, "Google 1") == "...."
    # And in the grid the browser keeps its own: nothing of ours answers to these.
    taken = page.evaluate(
        """() => ["f", "l", "t", "w", "r", "p", "s", "n"].filter((key) => {
            const event = new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, cancelable: true });
            document.querySelector("td[tabindex]").dispatchEvent(event);
            return event.defaultPrevented;
        })"""
    )
    assert taken == []


def test_a_screen_reader_finds_a_grid(grid: Grid) -> None:
    grid.keys("1")
    snapshot = grid.page.locator("table").first.aria_snapshot()
    assert '- grid "Ingredients"' in snapshot
    assert "- columnheader" in snapshot
    assert '- rowheader "Google 1 ' in snapshot
    assert '- gridcell "Found"' in snapshot
    assert '- gridcell "empty"' in snapshot
