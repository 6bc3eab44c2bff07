"""Tables of recipes: files in and out, their rules, splits, and what is derived from them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from openpyxl import load_workbook

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.deriving.actions import derive_study
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.exchange.row_imports import ImportRefused
from annotation.models import (
    Assignment,
    AuditEvent,
    Label,
    LabelEvent,
    Lineage,
    Look,
    Rater,
    Role,
    Row,
    Scheme,
    Study,
    User,
)
from annotation.queries import setup
from annotation.queries.warnings import warned
from annotation.views import paging
from benchmarks.pizza_rules import count
from judges.actions import start_run
from judges.methods import prompting
from recipes.pizza_commonsense import (
    actions,
    clusters,
    corpus,
    examples,
    exchange,
    exporting,
    queries,
    records,
    serialised,
    sheets,
    splitting,
    training,
)
from recipes.pizza_commonsense.exporting import Wanted
from recipes.pizza_commonsense.forms import pasted, read_tables
from recipes.pizza_commonsense.records import Table, TablesRefused, json_line, json_lines, names, plain, read_json_lines
from recipes.pizza_commonsense.training import Masks
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import StudyReport, compute
from reports.queries import load
from tests import builders, workbooks
from tests.annotation.importing import labels_in
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.judges.test_writing import ScriptedBackend, scripted, writing_judge
from work import actions as work

__all__ = ["scripted"]  # a fixture

SHARED = Path(os.environ.get("PALATE_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
PUBLISHED = SHARED / "pizza-commonsense"
FILES = ("train.jsonl.gz", "val.jsonl.gz")


def line(
    title: str, id_: str, rows: list[tuple[str, ...]], *, plural: bool = True, ingredients: str = "flour|water"
) -> str:
    """A table in the published form, in either spelling of its keys."""
    keys = ("instructions", "input", "actions" if plural else "action", "output")
    record = {
        "title": title,
        "id": id_,
        "table": [dict(zip(keys, row, strict=True)) for row in rows],
        "ingredients": [{"text": text} for text in ingredients.split("|")],
        "recipe": [{"text": "Make it."}],
    }
    return json.dumps(record, ensure_ascii=False)


FLAT = line(
    "flat_bread", "a1",
    [
        ("preheat oven to 200 degrees .", "NA", "preheat", "NA"),
        ("mix flour and water .", "(flour; water)", "mix", "bread_dough"),
        ("place on a stone .", "bread_dough", "place", "bread dough"),
        ("bake .", "bread dough", "bake", "flat bread"),
    ],
)  # fmt: skip
PIZZA = line(
    "pizza", "b2",
    [("top with cheese .", "(dough ; cheese)", "top", "pizza"), ("serve .", "", "serve", "pizza")],
    plural=False, ingredients="1 cup dough|2 oz. grated cheese (any)",
)  # fmt: skip


def tables() -> list[Table]:
    return read_json_lines(f"{FLAT}\n{PIZZA}\n")


def scheme_of(name: str) -> Scheme:
    return builders.scheme(doors.shipped_schemes()[name].read_text(encoding="utf-8"))


@made_once
def study() -> Study:
    return builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))


# --- files ------------------------------------------------------------------------------------------------------------


def test_both_spellings_are_read_and_written_again() -> None:
    flat, pizza = tables()
    assert flat.title == "flat bread"
    assert flat.said(1, "input") == "flour; water"
    assert flat.said(1, "output") == "bread dough"
    assert pizza.said(0, "action") == "top"
    assert (1, "input") not in pizza.cells  # an empty cell is open
    assert json_lines([flat, pizza]) == f"{FLAT}\n{PIZZA}\n"
    changed = json.loads(json_line(pizza.with_cells({**pizza.cells, (1, "input"): "pizza; salad"})))
    assert changed["table"][0]["input"] == "(dough ; cheese)"  # what is the same stays as it stood
    assert changed["table"][1] == {
        "instructions": "serve .",
        "input": "(pizza; salad)",
        "action": "serve",
        "output": "pizza",
    }


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("(a; b)", "a; b"),
        ("n/a", "NA"),
        ("a_b", "a b"),
        ("(a;)", "a"),
        ("(a) and (b)", "(a) and (b)"),
        ("(a; b", "a; b"),
    ],
)
def test_cells_as_they_were_published(cell: str, said: str) -> None:
    assert plain(cell) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Line 1 is no JSON"),
        ("[1, 2", "no JSON"),
        ('{"title": "x"}', "no “table”"),
        ('{"title": "x", "table": [{"input": "a"}]}', "no “instructions”"),
        ('{"title": "x", "table": [{"instructions": "mix", "input": 3}]}', "no text"),
        ('{"table": [{"instructions": "mix"}]}', "no “title”"),
        ('{"title": "x", "table": [{"instructions": "mix\\ud800"}]}', "a character that is no text"),
        ('[{"title": "x\\u0000", "table": [{"instructions": "mix"}]}]', "a character that is no text"),
        ("recipe,output\nx,y", "no column “instruction”"),
        ("recipe,instruction\nx,", "no recipe or no instruction"),
        ("recipe,instruction\n_,mix", "no recipe or no instruction"),
        ("row,evidence\nx,hello\ny,again\n", "no column “recipe”"),
        ("rater;row;answer\nann;x;5", "no column “recipe”"),
        ('worker\ttext\nA2\t"two\n\nlines"\n', "no column “recipe”"),
        ("recipe,title,instruction\nx,y,z", "mean the same"),
        ("recipe,instruction,input\nPizza,mix flour, water and salt,flour", "Line 2: This line has 4 cells"),
        ("recipe|instruction|input\nPizza|mix|flour", "separated by “|”"),
        (
            "recipe,line,instruction\nPizza,1,mix\nPizza,2,bake\nPizza,1,mix",
            "Line 4: .* 1 on line 2 already",
        ),
        ("recipe,line,instruction\nPizza,1,mix\nPizza,3,bake", "Line 3: “Pizza” has an instruction 3 and none 2"),
        ("recipe,line,instruction\nPizza,1,mix\nPizza,,bake", "Line 3: “” in the column “line” is no number"),
        ("row\trow\n\x00\t\x01\n", "a character that is no text"),
        ("recipe,instruction\nx,mix\x00\n", "a character that is no text"),
        ("Only a title", "no instructions"),
        (" \n", "nothing to read"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(text: str, said: str) -> None:
    with pytest.raises(TablesRefused, match=said):
        read_tables(text.encode())


def test_a_title_with_a_comma_is_no_table() -> None:
    read = read_tables(b"Pizza, white\nMix flour, water.\nBake, then serve.\n\nPizza;red\nMix.\nBake; serve.")
    assert [(table.title, len(table.instructions)) for table in read] == [("Pizza, white", 2), ("Pizza;red", 2)]


def test_bytes_that_are_no_text_or_no_workbook() -> None:
    with pytest.raises(TablesRefused, match="UTF-8"):
        read_tables(b"\xff\xfe\x00")
    with pytest.raises(TablesRefused, match="workbook"):
        read_tables(b"PK\x03\x04 no book")


@pytest.mark.django_db
def test_the_first_steps_of_a_study_lead_to_the_tables(study: Study, client_of: ClientOf) -> None:
    client = client_of(study.memberships.first().user)  # type: ignore[union-attr]
    first = setup.steps(study)[0]
    assert (str(first.step.label), first.next) == ("Tables", True)
    for page in ("", "documents/", "plan/"):
        below_the_tabs = client.get(f"/studies/pizzas/{page}").content.decode().split("</nav>")[-1]
        assert 'href="/studies/pizzas/tables/"' in below_the_tabs
    actions.import_tables(study=study, tables=tables(), example=True)
    done = {str(one.step.label): one.done for one in setup.steps(study)}
    assert done["Tables"]
    assert not done["Board"]  # the example of the file is nobody's work


def test_a_gzipped_file_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"Pizza, white\nMix flour, water.")
    assert read_tables(packed) == read_tables(b"Pizza, white\nMix flour, water.")
    for damaged in (packed[:-12], packed[:12] + b"\xff" * 20):
        with pytest.raises(TablesRefused, match="damaged"):
            read_tables(damaged)
    monkeypatch.setattr(records, "MOST_UNPACKED", 20)
    with pytest.raises(TablesRefused, match="too large"):
        read_tables(packed)


@pytest.mark.parametrize("lines", ['<row r="x"/>', '<row r="1"><c r="A1" t="s"><v>9</v></c></row>'])
def test_a_workbook_that_is_broken_inside(lines: str) -> None:
    with pytest.raises(TablesRefused, match="workbook"):
        sheets.read(workbooks.of_sheet(lines))


def test_a_line_of_a_workbook_that_says_it_is_the_billionth() -> None:
    told = workbooks.line(1, {"A": "recipe", "B": "instruction"}) + workbooks.line(10**12, {"A": "Pizza", "B": "Bake."})

    assert [table.title for table in sheets.read(workbooks.of_sheet(told))] == ["Pizza"]


def test_csv_and_workbooks_come_back_as_they_went() -> None:
    made = tables()
    for data in (sheets.csv_text(made).encode("utf-8-sig"), sheets.workbook(made)):
        again = read_tables(data)
        assert [(one.title, one.id, one.instructions, one.cells, one.ingredients) for one in again] == [
            (one.title, one.id, one.instructions, one.cells, one.ingredients) for one in made
        ]
    book = load_workbook(io.BytesIO(sheets.workbook([Table("=1+1", "", ("mix",), {})])))
    assert book.worksheets[0]["A2"].value == "'=1+1"


@pytest.mark.parametrize("first", [0, 1])
def test_lines_of_a_recipe_are_in_their_order(first: int) -> None:
    """Whatever somebody sorted the file by."""
    rows = [f"{recipe},{n + first},{text}" for n, text in enumerate(("mix", "wait", "bake")) for recipe in ("B", "A")]
    (a, b) = read_tables("\n".join(["recipe,step,instruction", *sorted(rows, key=lambda row: row[4:])]).encode())
    assert (a.instructions, b.instructions) == (("mix", "wait", "bake"), ("mix", "wait", "bake"))


def test_files_are_read_as_any_table_is() -> None:
    """In UTF-16, as Excel's “Unicode text” is, and the sheet of a workbook that has the headings."""
    text = sheets.csv_text(tables())
    assert read_tables(text.encode("utf-16")) == read_tables(text.encode()) == tables_without_recipes()
    assert read_tables(f"{FLAT}\n".encode("utf-16")) == tables()[:1]
    book = load_workbook(io.BytesIO(sheets.workbook(tables())))
    book.create_sheet("About", 0).append(["What this is"])
    out = io.BytesIO()
    book.save(out)
    assert read_tables(out.getvalue()) == tables_without_recipes()
    book["tables"]["A1"], book["tables"]["D1"] = "Title", "Instructions"
    book.save(out := io.BytesIO())
    assert read_tables(out.getvalue()) == tables_without_recipes()


def tables_without_recipes() -> list[Table]:
    """As CSV and workbooks have them."""
    return [replace(table, recipe=()) for table in tables()]


def test_a_recipe_is_the_same_in_every_form() -> None:
    bare = [one.with_cells({}) for one in tables_without_recipes()]
    text = "recipe,id,instruction,ingredients\nflat_bread,a1,preheat_oven,flour"
    (read,) = read_tables(text.encode())
    (typed,) = read_tables(b"flat_bread\npreheat_oven\n- flour")
    assert (read.title, read.instructions) == (typed.title, typed.instructions) == (bare[0].title, ("preheat oven",))


def test_recipes_as_they_are_typed() -> None:
    (bread, pizza) = pasted("Bread\n- 1 cup flour\n– salt\n— oil\nMix the flour.\nBake.\n\nPizza\r\nTop it.")
    assert (bread.title, bread.ingredients, bread.instructions) == (
        "Bread",
        ("1 cup flour", "salt", "oil"),
        ("Mix the flour.", "Bake."),
    )
    assert pizza.instructions == ("Top it.",)
    assert names(["1/2 c. whole-wheat flour, stirred", "1 (14 ounce) jar pizza sauce", "salt to taste", "2 eggs"]) == [
        "whole-wheat flour", "pizza sauce", "salt", "eggs",
    ]  # fmt: skip


# --- as models read them ----------------------------------------------------------------------------------------------


def test_a_table_as_models_read_it() -> None:
    flat = tables()[0]
    assert serialised.serialise(flat).splitlines()[:3] == [
        "instructions <s> input <s> actions <s> output <n>",
        "preheat oven to 200 degrees . <s> NA <s> preheat <s> NA",
        "mix flour and water . <s> (flour; water) <s> mix <s> bread dough",
    ]
    masked = serialised.serialise(flat, {(1, "input"), (3, "output")}).splitlines()
    assert masked[2] == "mix flour and water . <s> <in 1> <s> mix <s> bread dough"
    assert masked[4] == "bake . <s> bread dough <s> bake <s> <out 3>"
    assert serialised.target(flat, {(1, "input"), (3, "output")}) == "<in 1> (flour; water) <out 3> flat bread"
    assert serialised.some(flat, 3, seed=1) == serialised.some(flat, 3, seed=1) != serialised.some(flat, 3, seed=2)


@pytest.mark.parametrize(
    "text",
    [
        "<in 1>: (flour; water)\n- <out 1>: bread_dough\nThat is all.",
        "<in 1> (flour; water) <out 1> bread dough",
        "Here it is:\n <s> <in 0> <s> preheat <s>\n2. <s> flour; water <s> <act 1> <s> bread dough <n>",
        "Mix flour, and water! <s> (flour; water) <s> <act 1> <s> bread dough",
    ],
)
def test_what_a_model_wrote_of_a_table_is_read(text: str) -> None:
    found = serialised.read(text, tables()[0])
    assert {place: said for place, said in found.cells.items() if place[1] != "action"} == {
        (1, "input"): "flour; water", (1, "output"): "bread dough",
    }  # fmt: skip


# The recipe of Appendix E of the paper, and what GPT-4 wrote of it (Appendix L): its fourth row runs into the fifth.
CRACKERS = Table(
    "Crackers", "c1",
    (
        "preheat oven to 350 degrees .",
        "mix broccoli , cheeses and seasonings .",
        "spread 1 teaspoons of the cheese mixture onto each of the 48 crackers .",
        "place on baking sheet .",
        "bake 5 minutes or until hot and bubbly .",
        "serve warm .",
    ),
    {},
)  # fmt: skip
BY_GPT4 = """instructions <s> input <s> action <s> output <n>
preheat oven to 350 degrees <s> oven <s> preheat <s> preheated oven
mix broccoli , cheeses and seasonings <s> broccoli, cheeses, seasonings <s> mix <s> broccoli cheese mix
spread 1 teaspoons of the cheese mixture onto each of the 48 crackers <s> cheese mixture, crackers <s> spread <s> cheese-topped crackers
place on baking sheet <s> cheese-topped crackers <s> place <s> cheese-topped crackers on baking sheet bake 5 minutes or until hot and bubbly <s> cheese-topped crackers on baking sheet <s> bake <s> baked cheese-topped crackers
serve warm <s> baked cheese-topped crackers <s> serve <s> served baked cheese-topped crackers"""  # noqa: E501
OUTPUTS = (
    "preheated oven",
    "broccoli cheese mix",
    "cheese-topped crackers",
    "cheese-topped crackers on baking sheet",
    "baked cheese-topped crackers",
    "served baked cheese-topped crackers",
)


def outputs(found: serialised.Reading) -> dict[int, str]:
    return {line: said for (line, cell), said in sorted(found.cells.items()) if cell == "output"}


def test_a_row_that_runs_into_the_next_is_told_apart() -> None:
    found = serialised.read(BY_GPT4, CRACKERS)
    assert outputs(found) == dict(enumerate(OUTPUTS))
    assert found.cells[4, "input"] == "cheese-topped crackers on baking sheet"
    assert (found.rowless, found.strays, found.broken) == (frozenset(), 0, 0)
    # As models whose tokens have no line break write it: all rows on one line, the head too.
    assert serialised.read(" ".join(BY_GPT4.split("\n")), CRACKERS) == found
    assert serialised.read(" ".join(BY_GPT4.replace("<n>", "").split()), CRACKERS) == found


@pytest.mark.parametrize("left_out", range(6))
def test_a_row_that_is_missing_moves_no_other(left_out: int) -> None:
    rows = [f"{text} <s> x <s> y <s> {said}" for text, said in zip(CRACKERS.instructions, OUTPUTS, strict=True)]
    found = serialised.read("\n".join([*rows[:left_out], *rows[left_out + 1 :]]), CRACKERS)
    assert outputs(found) == {line: said for line, said in enumerate(OUTPUTS) if line != left_out}
    assert (found.rowless, found.strays) == ({left_out}, 0)


def test_a_row_about_no_line_is_left_out() -> None:
    rows = [f"{text} <s> x <s> y <s> {said}" for text, said in zip(CRACKERS.instructions, OUTPUTS, strict=True)]
    rows.insert(2, "grate the cheese <s> cheese <s> grate <s> grated cheese")
    rows[4] = "put all of it in a pan <s> x <s> put <s> pan"  # for “place on baking sheet”
    found = serialised.read("\n".join(rows), CRACKERS)
    assert outputs(found) == {line: said for line, said in enumerate(OUTPUTS) if line != 3}
    assert (found.rowless, found.strays, found.broken) == ({3}, 2, 0)


def test_rows_that_cannot_be_told_apart() -> None:
    twice = replace(CRACKERS, instructions=("mix", "place and bake", "bake"))
    run_in = "stir <s> a <s> b <s> dough place and bake <s> c <s> d <s> bread"
    # “place and bake” ends with “bake”, and what comes after “stir” nobody knows.
    found = serialised.read(f"mix <s> a <s> b <s> dough\n{run_in}\nbake <s> dough <s> ba", twice)
    assert (outputs(found), found.rowless, found.broken) == ({0: "dough"}, {1, 2}, 2 + 1)
    # After “mix” comes “place and bake”.
    found = serialised.read(run_in.replace("stir", "mix"), twice)
    assert outputs(found) == {0: "dough", 1: "bread"}


def test_instructions_that_are_there_twice() -> None:
    flat = replace(CRACKERS, instructions=("mix", "bake", "cool", "bake", "serve"))
    rows = [f"{text} <s> x <s> y <s> {n}" for n, text in enumerate(("mix", "cool", "bake", "serve it"))]
    # “serve it” is too far from “serve”: 2 · 5 of 5 + 8 characters, 0.77. “cool” says which of the two “bake” it is.
    found = serialised.read("\n".join(rows), flat)
    assert (outputs(found), found.rowless, found.strays) == ({0: "0", 2: "1", 3: "2"}, {1, 4}, 1)


def test_what_a_system_left_open_is_counted() -> None:
    bread = Table("bread", "b1", ("mix", "wait", "bake"), {})
    told = [
        {"id": "c1", "output": "\n".join(BY_GPT4.split("\n")[2:]) + "\nsing <s> a <s> b <s> c\n<s>"},  # no first row
        {"id": "b1", "output": "<in 0> flour"},
        {"id": "b1", "output": "<out 0> dough <out 2> bread"},
        {"id": "b1", "output": "I cannot."},
    ]
    found = exporting.predictions("\n".join(map(json.dumps, told)), [CRACKERS, bread])
    assert (found.rowless, found.blank, found.strays, found.broken, found.unread) == (1, 1, 1, 1, ["b1"])
    assert found.tables[1].cells == {(0, "input"): "flour", (0, "output"): "dough", (2, "output"): "bread"}


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TablesRefused, match="flat bread"):
        serialised.read("I cannot do this. <in> x", tables()[0])


def masks(*said: tuple[int, str], id_: str = "a1") -> str:
    """What a system wrote of a table: outputs behind their masks."""
    return json.dumps({"id": id_, "output": " ".join(f"<out {line}> {answer}" for line, answer in said)})


def test_masks_of_lines_that_a_table_has_not_are_counted() -> None:
    four_lines = [(n, f"dough {n}") for n in range(4)]
    found = exporting.predictions(masks(*four_lines, (7, "more"), (9, "")), tables())
    assert (found.beyond, found.blank, found.from_one) == (1, 0, False)
    found = exporting.predictions(masks((12, "more")), tables())
    assert (found.beyond, found.unread, found.tables, found.from_one) == (1, ["a1"], [], False)


@pytest.mark.parametrize("apart", [False, True], ids=["whole tables", "cell by cell"])
def test_masks_that_are_counted_from_one_are_told(apart: bool) -> None:
    said = [(n, f"dough {n}") for n in (1, 2, 3, 4)]
    text = "\n".join(masks(one) for one in said) if apart else masks(*said)
    found = exporting.predictions(f"{text}\n{masks((1, 'pizza'), id_='b2')}", tables())
    assert (found.beyond, found.from_one) == (1, True)
    assert "The masks fit if the first line is 1" in exchange.sentences(actions.ImportedTables(0, 1, None), found)[-1]


def test_an_output_that_contradicts_another_is_refused() -> None:
    with pytest.raises(TablesRefused, match="Line 3: instruction 2 of “a1” .* “paste” already .line 1.*“dough” here"):
        exporting.predictions("\n".join([masks((1, "paste")), masks((2, "x")), masks((1, "dough"))]), tables())
    said = exporting.predictions("\n".join([masks((1, "paste")), masks((1, "paste"), (2, "x"))]), tables())
    assert outputs_of(said.tables[0]) == {1: "paste", 2: "x"}


def outputs_of(table: Table) -> dict[int, str]:
    return {line: said for (line, cell), said in sorted(table.cells.items()) if cell == "output"}


def test_training_data() -> None:
    flat = tables()[0]
    (whole,) = map(json.loads, training.examples([flat], masks=Masks.ALL, chat=True))
    assert [one["role"] for one in whole["messages"]] == ["system", "user", "assistant"]
    assert serialised.read(whole["messages"][2]["content"], flat).cells == {
        place: said for place, said in flat.cells.items() if place[1] != "action"
    }
    steps = list(map(json.loads, training.examples([flat], masks=Masks.LINES, chat=False)))
    assert [one["target"] for one in steps][1] == "<in 1> (flour; water) <out 1> bread dough"
    assert "<s> NA <s> preheat <s> NA\n" in steps[1]["input"]  # what came before stands there
    assert "<in 3>" in steps[1]["input"]  # and what comes later does not
    assert len(list(training.examples([flat], masks=Masks.CELLS, chat=False))) == 8
    (asked,) = map(json.loads, training.examples([flat], masks=Masks.INPUTS, chat=True, targets=False))
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    bare = flat.with_cells({})
    for masks, n in ((Masks.CELLS, 8), (Masks.SOME, 1), (Masks.LINES, 4)):
        requests = list(training.examples([bare], masks=masks, chat=True, targets=False))
        assert len(requests) == n
        assert all("<in" in one or "<out" in one for one in requests)


def test_t5_has_masks_of_its_own_and_is_read_by_them() -> None:
    table = Table("Dough", "d", ("mix", "bake"), {(0, "input"): "flour; water", (0, "output"): "dough",
                  (0, "action"): "mix", (1, "input"): "dough", (1, "output"): "bread"})  # fmt: skip
    (line,) = exporting.exported([table], exporting.Wanted("t5")).decode().splitlines()
    told = json.loads(line)
    assert told["input"].splitlines()[1:] == [
        "mix <s> <extra_id_0> <s> mix <s> <extra_id_1>",
        "bake <s> <extra_id_2> <s>  <s> <extra_id_3>",
    ]
    assert told["target"] == "<extra_id_0> (flour; water) <extra_id_1> dough <extra_id_2> dough <extra_id_3> bread"
    # Whatever is masked, a mask says which cell it is: what comes back needs nothing else to be read.
    answers = {place: answer for place, answer in table.cells.items() if place[1] != "action"}
    for masks in (Masks.ALL, Masks.OUTPUTS, Masks.LINES, Masks.CELLS):
        made = exporting.exported([table], exporting.Wanted("t5", masks=masks)).decode().splitlines()
        (read,) = exporting.predictions("\n".join(made), [table]).tables
        assert read.cells == {
            place: said for place, said in answers.items() if masks != Masks.OUTPUTS or place[1] == "output"
        }
    # T5 ends what it writes with the next mask.
    assert serialised.read("<extra_id_0> (flour; water) <extra_id_1> dough <extra_id_2>", table).cells == {
        (0, "input"): "flour; water",
        (0, "output"): "dough",
    }
    long = Table("Long", "l", ("stir",) * 51, {})
    with pytest.raises(TablesRefused, match="“Long” has 51 instructions; T5 has masks for 50"):
        exporting.exported([long], exporting.Wanted("t5"))


@pytest.mark.parametrize("form", ["text", "t5"])
def test_a_model_that_takes_text_is_asked_about_open_tables(form: str) -> None:
    table = Table("Dough", "d", ("mix", "bake"), {})
    (line,) = exporting.exported([table], exporting.Wanted(form)).decode().splitlines()
    assert json.loads(line).keys() == {"id", "n", "input"}


# --- demonstrations, thoughts, parts --------------------------------------------------------------------------------


def breads(n: int) -> list[Table]:
    """So many tables of two lines, each with food of its own and with all answers."""
    return [
        Table(
            f"bread {i}", f"id{i}", (f"mix {i} .", "bake ."),
            {(0, "input"): f"flour{i}; water", (0, "action"): "mix", (0, "output"): f"dough{i}",
             (1, "input"): f"dough{i}", (1, "action"): "bake", (1, "output"): f"bread{i}"},
            (f"{i} cups flour",),
        )
        for i in range(n)
    ]  # fmt: skip


def asked_of(made: list[Table], **how: Any) -> list[dict[str, Any]]:
    return list(map(json.loads, exporting.exported(made, Wanted("requests", **how)).decode().splitlines()))


def ids_in(made: list[Table], part: str, **how: Any) -> set[str]:
    return {table.id for table in clusters.in_part(made, part, **{"way": clusters.WITHIN, "seed": 1} | how)}


@pytest.mark.parametrize("part", ["train", "dev", "test"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "txt", "chat", "text", "requests"])
def test_a_part_is_downloaded_in_every_form(part: str, form: str) -> None:
    made = breads(20)
    split = json.loads(clusters.split(made, seed=4, way=clusters.CHANCE).as_json(made))
    content = exporting.exported(made, Wanted(form, part=part, way=clusters.CHANCE, split_seed=4)).decode("utf-8-sig")
    there = {table.id for table in made if f"mix {table.id.removeprefix('id')} ." in content}
    assert there == set(split[part])
    assert sum(len(split[one]) for one in clusters.PARTS) == 20
    assert there != {table.id for table in made}


def test_demonstrations_are_drawn_for_each_table_from_the_part_for_training() -> None:
    made = breads(40)
    train, test = ids_in(made, "train"), ids_in(made, "test")
    asked = asked_of(made, part="test", demonstrations=2)
    assert {one["id"] for one in asked} == test
    drawn: dict[str, list[str]] = {}
    for one in asked:
        roles = [message["role"] for message in one["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
        shown, target = one["messages"][1]["content"], one["messages"][2]["content"]
        n = shown.splitlines()[1].split()[1]  # “mix 7 . <s> …”
        assert shown == serialised.serialise(made[int(n)], serialised.mask(made[int(n)]))
        assert target == f"<in 0> (flour{n}; water) <out 0> dough{n} <in 1> dough{n} <out 1> bread{n}"
        drawn[one["id"]] = [f"id{one['messages'][k]['content'].splitlines()[1].split()[1]}" for k in (1, 3)]
    assert {id_ for ids in drawn.values() for id_ in ids} <= train
    assert all(len(set(ids)) == 2 for ids in drawn.values())
    assert len(set(map(tuple, drawn.values()))) > 1  # not one for all
    assert asked == asked_of(made, part="test", demonstrations=2)
    assert asked != asked_of(made, part="test", demonstrations=2, seed=2)
    # The draw is of the table alone: another split of the rest leaves it, and so does what is asked beside it.
    assert asked == [one for one in asked_of(made, demonstrations=2) if one["id"] in test]


def test_a_table_is_no_demonstration_of_itself() -> None:
    made = breads(12)
    again = replace(made[0], id="", title="the same")  # no id, the same text
    for one in asked_of([*made, again], part="train", demonstrations=1):
        own = one["messages"][-1]["content"].splitlines()[1].split()[1]
        other = one["messages"][1]["content"].splitlines()[1].split()[1]
        assert own != other
    with pytest.raises(TablesRefused, match="“bread 0” there are only"):
        exporting.exported([replace(one, cells={}) for one in made], Wanted("requests", demonstrations=1))
    with pytest.raises(TablesRefused, match="fewer recipes than parts"):
        exporting.exported(made[:2], Wanted("requests", part="test"))


@pytest.mark.parametrize("masks", list(Masks))
def test_a_demonstration_is_masked_as_the_table_is(masks: Masks) -> None:
    made = breads(12)
    made[3] = replace(made[3], cells={(0, "input"): "flour"})  # too little is known of it
    for one in asked_of(made, masks=masks, demonstrations=1):
        n = int(one["messages"][1]["content"].splitlines()[1].split()[1])
        sets = training.masked(made[n], masks, seed=1)
        assert one["messages"][1]["content"] in [serialised.serialise(made[n], places) for places in sets]
        found = serialised.read(one["messages"][2]["content"], made[n]).cells
        assert found.items() <= made[n].cells.items()
        assert n != 3 or masks in (Masks.CELLS, Masks.SOME)


def test_requests_that_ask_to_think_first() -> None:
    made = breads(12)
    for how, ends in (({}, "Write each mask and behind it what it stands for."),
                      ({"thinking": True}, "below it each mask and behind it what it stands for.")):  # fmt: skip
        system = asked_of(made, **how)[0]["messages"][0]["content"]
        assert system.endswith(ends)
        assert ("Think step by step first" in system) == bool(how)
    shown = asked_of(made, thinking=True, demonstrations=1)[0]["messages"][2]["content"]
    assert shown.startswith("ANSWER\n<in 0> (flour")
    thoughts = "For <in 0>, flour and water go in.\nmix 0 . <s> <in 0> <s> mix <s> <out 0>\n"
    for answer in (
        f"{thoughts}**ANSWER**\n<in 0> (flour0; water) <out 0> dough0",
        f"<think>{thoughts}</think><in 0> (flour0; water) <out 0> dough0",
        f"{thoughts}ANSWER:\nmix 0 . <s> (flour0; water) <s> mix <s> dough0",
        "mix 0 . <s> <in 0> <s> mix <s> <out 0>\nbake . <s> <in 1> <s> bake <s> <out 1>\n\n"
        "ANSWER\nmix 0 . <s> <in 0> <s> mix <s> <out 0>\n- <in 0>: (flour0; water)\n- <out 0>: dough0",
    ):
        cells = serialised.read(answer, made[0]).cells
        said = {place: text for place, text in cells.items() if place[1] != "action"}
        assert said == {(0, "input"): "flour0; water", (0, "output"): "dough0"}, answer


# --- atomic instructions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("long", "atomic"),
    [
        ("Heat and stir to mix evenly", ["Heat", "Stir to mix evenly"]),
        ("After you heat, stir to mix evenly.", ["After you heat, stir to mix evenly."]),
        ("Mix flour, salt and oil, then knead and let rest.", ["Mix flour, salt and oil", "Knead", "Let rest."]),
        ("Bake 10 min. at 450. Serve.", ["Bake 10 min. at 450.", "Serve."]),
        ("Add salt and mix until you can roll and cut it.", ["Add salt", "Mix until you can roll and cut it."]),
        ("Makes 4.", ["Makes 4."]),
        ("", []),
    ],
)  # fmt: skip
def test_long_instructions_are_split(long: str, atomic: list[str]) -> None:
    assert splitting.atomic(long) == atomic


@pytest.mark.parametrize("gap", [" ", "\t", " \u00a0"])
def test_white_space_without_end_keeps_nobody_waiting(gap: str) -> None:
    """A line of 400 spaces took half a second, and of 1,000 seven: of each line of a study, while somebody waits."""
    began = time.process_time()
    assert splitting.atomic(f"Mix flour{gap * 50_000}and{gap * 50_000}knead") == ["Mix flour", "Knead"]
    assert time.process_time() - began < 5


def test_a_verb_without_food() -> None:
    assert splitting.foodless("Preheat the oven to 200.") == "preheat"
    assert splitting.foodless("Grease a baking pan") == "grease"
    assert splitting.foodless("Heat the milk in a pan") == splitting.foodless("Mix flour") == ""


# --- parts ------------------------------------------------------------------------------------------------------------


def recipes_like(n: int) -> list[Table]:
    foods = ["cheese tomato basil", "chocolate sugar banana", "beef bean corn", "shrimp garlic lemon"]
    return [
        Table(f"t{i}", f"id{i}", ("mix",), {}, tuple(f"{i} cups {food}" for food in foods[i % 4].split()))
        for i in range(n)
    ]


def test_each_cluster_gives_to_each_part() -> None:
    made = recipes_like(80)
    found = clusters.split(made, seed=3, shares={"train": 2, "dev": 1, "test": 1})
    assert {part: len(places) for part, places in found.parts.items()} == {"train": 40, "dev": 20, "test": 20}
    assert sorted(place for places in found.parts.values() for place in places) == list(range(80))
    for places in found.parts.values():
        of_part = [found.clusters[place] for place in places]
        assert {of_part.count(cluster) for cluster in set(of_part)} == {len(places) // 4}
    assert clusters.split(made, seed=3, shares={"train": 2, "dev": 1, "test": 1}) == found
    assert clusters.split(made, seed=4, shares={"train": 2, "dev": 1, "test": 1}).parts != found.parts


def test_whole_clusters_go_to_one_part() -> None:
    made = recipes_like(80)
    found = clusters.split(made, seed=3, way=clusters.APART, shares={"train": 2, "dev": 1, "test": 1})
    of_parts = [{found.clusters[place] for place in places} for places in found.parts.values()]
    assert sum(map(len, of_parts)) == 4 == len(set.union(*of_parts))
    told = json.loads(found.as_json(made))
    assert (told["seed"], told["way"], told["clusters"]) == (3, "apart", 4)
    assert len(told["train"]) == 40


def test_one_recipe_is_never_in_two_parts() -> None:
    made = [*recipes_like(12), Table("again", "id3", ("bake",), {}, ("beans",))]
    found = clusters.split(made, seed=1, way=clusters.CHANCE)
    assert any({3, 12} <= set(places) for places in found.parts.values())
    with pytest.raises(TablesRefused):
        clusters.split(made[:2], seed=1)


# --- in a study -------------------------------------------------------------------------------------------------------


def test_tables_go_into_a_study_and_come_out_as_they_were(study: Study) -> None:
    made = actions.import_tables(study=study, tables=tables(), example=True)
    assert (made.new, made.known) == (2, 0)
    assert made.answers is not None
    assert made.answers.labels == 12 + 5 + 3  # the gold's, and the example's NA, preheat, NA
    row = Row.objects.get(sheet__title="pizza")
    assert row.facets == {"ingredients": ["dough", "grated cheese"]}
    assert exporting.exported(queries.tables_of(study, rater="gold"), Wanted("jsonl")).decode() == f"{FLAT}\n{PIZZA}\n"
    again = actions.import_tables(study=study, tables=tables())
    assert (again.new, again.known) == (0, 2)
    assert again.answers is not None
    assert again.answers.nothing_new
    system = [table.with_cells({(0, "output"): "cake"}) for table in tables()]
    actions.import_tables(study=study, tables=system, rater="gpt", kind=Rater.Kind.JUDGE)
    assert queries.tables_of(study, rater="gpt")[0].cells == {(0, "output"): "cake"}
    assert {one.rater.code: one.answers for one in queries.who_answered(study)} == {"gold": 17, "example": 3, "gpt": 2}


def test_the_first_line_is_an_example_to_start_from(study: Study) -> None:
    (bare,) = pasted("Bread\nPreheat the oven.\nBake.")
    actions.import_tables(study=study, tables=[bare], example=True)
    labels = Label.objects.filter(assignment__rater__code="example")
    assert sorted(labels.values_list("question__key", "value")) == [
        ("action", "preheat"),
        ("input", "NA"),
        ("output", "NA"),
    ]
    anna = builders.rater(study, builders.user("anna"))
    (work,) = builders.assignments(anna, study.sheets.get())
    annotating.start_from(assignments=[work], rater=study.raters.get(code="example"))
    assert work.labels.filter(drafted_from__code="example").count() == 3


def test_the_example_is_no_judge_of_a_report(study: Study) -> None:
    actions.import_tables(study=study, tables=tables(), rater="gpt", kind=Rater.Kind.JUDGE, example=True)
    found = load(study, Filters())
    assert [judge.code for judge in found.judges] == ["gpt"]
    assert {found.table.raters[place].code for place in found.table.assignments.rater.tolist()} == {"gpt"}
    assert [judge.code for judge in load(study, Filters(judges=("example",))).judges] == ["example"]


@pytest.mark.parametrize(
    ("cells", "given"),
    [
        (("preheat the oven .", "NA", "heat up", "NA"), {"input": "NA", "action": "preheat", "output": "NA"}),
        (("get a fork .", "NA", "get", "NA"), {"input": "NA", "output": "NA"}),
        (("mix flour and water .", "(flour; water)", "mix", "dough"), {}),
        (("heat the pan with oil in it .", "NA", "heat", "hot oil"), {}),
        (("preheat the oven .", "NA", "preheat", ""), {}),
        (("line the pan .", "", "line", ""), {"input": "NA", "action": "line", "output": "NA"}),
        (("stir .", "", "stir", ""), {}),
    ],
)
def test_an_example_gives_no_answer_away_but_na(study: Study, cells: tuple[str, ...], given: dict[str, str]) -> None:
    actions.import_tables(study=study, tables=read_tables(line("bread", "a1", [cells]).encode()), example=True)
    labels = Label.objects.filter(assignment__rater__code="example")
    assert dict(labels.values_list("question__key", "value")) == given


def test_a_recipe_that_is_there_twice_is_one_problem(study: Study) -> None:
    other = FLAT.replace('"output": "flat bread"', '"output": "cake"')
    with pytest.raises(ImportRefused) as refused:
        actions.import_tables(study=study, tables=read_tables(f"\n{FLAT}\n{PIZZA}\n{other}".encode()))
    assert refused.value.problems == [
        "“flat bread”: It is there twice (line 2; line 4), with answers that differ. Leave out one of them. "
        "4 output: “flat bread”, “cake”"
    ]
    with pytest.raises(ImportRefused, match="1 problem") as refused:
        actions.import_tables(study=study, tables=[*tables(), *tables()[:1]])
    assert "with the same answers" in refused.value.problems[0]
    assert not study.sheets.exists()


def test_a_recipe_that_a_study_has_with_underscores_is_known(study: Study) -> None:
    spelt = replace(tables()[0], title="flat_bread", instructions=("preheat_oven", "mix", "place", "bake"))
    actions.import_tables(study=study, tables=[spelt])
    again = read_tables(sheets.csv_text([spelt]).encode())
    made = actions.import_tables(study=study, tables=again)
    assert (again[0].title, made.new, made.known) == ("flat bread", 0, 1)


def test_a_refused_answer_writes_nothing(study: Study) -> None:
    wrong = tables()[0].with_cells({(0, "input"): "NA; flour"})
    with pytest.raises(Refused) as refused:
        actions.import_tables(study=study, tables=[wrong])
    assert "NA stands alone" in " ".join(refused.value.problems)  # type: ignore[attr-defined]
    assert not study.sheets.exists()
    actions.import_tables(study=study, tables=tables())
    other = Table("flat bread", "", ("something else",), {})
    with pytest.raises(Refused, match="other instructions"):
        actions.import_tables(study=study, tables=[other])
    with pytest.raises(Refused, match="no tables"):
        actions.import_tables(study=builders.study("leases"), tables=tables())


def test_what_a_system_wrote_is_taken_though_it_breaks_rules(study: Study, client_of: ClientOf) -> None:
    """Whether it is valid is what is measured (section 5 of the paper)."""
    actions.import_tables(study=study, tables=tables())
    page = client_of(study.memberships.get(role=Role.MANAGER).user)
    broken = {
        (0, "input"): "NA; flour",
        (1, "input"): "2 cups flour; water",
        (1, "output"): "x" * 500,
        (2, "input"): "8 oz cheese",
    }
    written = json.dumps({"id": "a1", "output": serialised.target(tables()[0].with_cells(broken), set(broken))})
    told = page.post(
        "/studies/pizzas/tables/add-system/", {"system": "t5", "predictions": io.BytesIO(written.encode())}, follow=True
    ).content.decode()
    assert "4 answers break rules that people have to keep, and were taken as they are:" in told
    assert "“Write no amounts.” (2) “NA stands alone: it says that there is nothing.” (1)" in told
    assert queries.tables_of(study, rater="t5")[0].cells == broken
    # Each of the four is warned of; “2 cups flour; water” for its number, too, and is one cell.
    assert {one.rater.code: one.warned for one in queries.who_answered(study)}["t5"] == 4
    assert "Labels that a check of the scheme warns of: 4." in told
    sheet = study.sheets.get(title="flat bread")
    lines = "/studies/pizzas/tables/examples/?truth=gold&systems=t5&which=any&n=9&seed=1"
    for path in (f"/sheets/{sheet.pk}/lens/", "/studies/pizzas/report/", "/studies/pizzas/report/judges/", lines):
        assert page.get(path).status_code == 200, path
    again = actions.import_tables(
        study=study, tables=[tables()[0].with_cells(broken)], rater="t5", kind=Rater.Kind.JUDGE
    )
    assert (sum(again.broken.values()), again.answers and again.answers.unchanged) == (4, 4)
    for place, answer in broken.items():  # of people, and the gold, it stays refused
        for rater, kind in (("gold", Rater.Kind.GOLD), ("ben", Rater.Kind.PERSON)):
            with pytest.raises(ImportRefused):
                actions.import_tables(
                    study=study, tables=[tables()[0].with_cells({place: answer})], rater=rater, kind=kind, replace=True
                )


def test_labels_of_a_system_that_break_rules_come_back_from_a_file(study: Study) -> None:
    actions.import_tables(study=study, tables=tables())
    said = tables()[0].with_cells({(0, "input"): "NA; flour"})
    actions.import_tables(study=study, tables=[said], rater="t5", kind=Rater.Kind.JUDGE)
    text = "".join(safe_lines(label_header(study), exported_labels(study)))
    other = builders.study("others", of=study.scheme)
    labels_in(other, text)
    (label,) = Label.objects.filter(assignment__rater__code="t5", assignment__rater__study=other)
    assert label.value == "NA; flour"
    with pytest.raises(ImportRefused) as refused:
        labels_in(other, text.replace("t5,judge", "ben,person"))
    assert "NA stands alone" in " ".join(refused.value.problems)


def test_whoever_starts_from_a_system_gets_what_a_person_may_write(study: Study) -> None:
    actions.import_tables(study=study, tables=tables())
    said = tables()[0].with_cells({(0, "input"): "NA; flour", (3, "output"): "bread"})
    actions.import_tables(study=study, tables=[said], rater="t5", kind=Rater.Kind.JUDGE)
    anna = builders.rater(study, builders.user("anna"))
    (work,) = builders.assignments(anna, study.sheets.get(title="flat bread"))
    annotating.start_from(assignments=[work], rater=study.raters.get(code="t5"))
    assert list(work.labels.values_list("value", flat=True)) == ["bread"]


def test_warnings_are_counted_by_rater(study: Study) -> None:
    actions.import_tables(study=study, tables=tables())
    broken = tables()[0]
    broken = broken.with_cells({**broken.cells, (2, "output"): "bread dough on a stone", (1, "input"): "flour; 3 eggs"})
    made = actions.import_tables(study=study, tables=[broken], rater="gpt", kind=Rater.Kind.JUDGE)
    assert {one.rater.code: one.cells for one in warned(study)} == {"gpt": 3 - 1}
    assert made.answers is not None
    assert made.answers.warned == 2  # as the page counts them: one is warned of twice
    found = {one.rater.code: one.warned for one in queries.who_answered(study)}
    assert found["gpt"] == 2
    with CaptureQueriesContext(connection) as captured:  # what is kept is not read again
        assert {one.rater.code: one.warned for one in queries.who_answered(study)} == found
    assert not any('"annotation_label"."value"' in query["sql"] for query in captured)
    broken = broken.with_cells({**broken.cells, (1, "input"): "flour; water"})
    actions.import_tables(study=study, tables=[broken], rater="gpt", kind=Rater.Kind.JUDGE, replace=True)
    assert {one.rater.code: one.warned for one in queries.who_answered(study)}["gpt"] == 1


TWINS = [  # one id, as seven pairs of the published recipes have
    line("hat", "c3", [("mix .", "flour", "mix", "dough"), ("bake .", "dough", "bake", "hat")]),
    line("hat_2", "c3", [("mix .", "rye", "mix", "rye dough"), ("bake .", "rye dough", "bake", "hat")]),
]


def test_tables_of_one_id_are_asked_and_answered_apart(study: Study) -> None:
    found = read_json_lines("\n".join([FLAT, *TWINS]))
    actions.import_tables(study=study, tables=found)
    asked = [json.loads(one) for one in training.examples(found, masks=Masks.ALL, chat=False)]
    assert [one["id"] for one in asked] == ["a1", "hat (c3)", "hat 2 (c3)"]
    told = "\n".join(json.dumps({"id": one["id"], "output": one["target"]}) for one in asked)
    said = exporting.predictions(told, queries.tables_of(study))
    assert [(one.title, one.said(0, "output")) for one in said.tables] == [
        ("flat bread", "NA"),
        ("hat", "dough"),
        ("hat 2", "rye dough"),
    ]
    with pytest.raises(TablesRefused, match="several tables have the id “c3”.*“hat \\(c3\\)”, “hat 2 \\(c3\\)”"):
        exporting.predictions('{"id": "c3", "output": "<in 0> flour"}', queries.tables_of(study))


def test_a_line_separator_in_what_a_system_wrote_ends_no_line() -> None:
    told = json.dumps({"id": "b2", "output": "<in 0> dough\u2028<out 0> pizza"}, ensure_ascii=False)
    assert exporting.predictions(told, tables()).tables[0].said(0, "output") == "pizza"


def test_a_recipe_that_is_two_others_keeps_them_in_one_part() -> None:
    one, other = tables()
    both = replace(other, id=one.id)
    assert clusters._units([one, other, both]) == [[0, 1, 2]]
    assert clusters._units([one, other]) == [[0], [1]]


def test_chains_of_recipes_keep_together_whatever_joins_them_last() -> None:
    one, other = tables()
    made = [
        replace(
            one if n % 3 else other, id=("", "a", "b", "c", "d")[n * 7 % 5], title=f"{n}", ingredients=(f"{n % 4}",)
        )
        for n in range(12)
    ]
    for size in range(len(made) + 1):
        joined = [{place} for place in range(size)]
        for _step in range(size):  # as long as two units have a key in common
            for unit in joined:
                keys = {key for place in unit for key in clusters.keys_of(made[place])}
                unit |= {place for place in range(size) if keys & set(clusters.keys_of(made[place]))}
        assert clusters._units(made[:size]) == sorted({tuple(sorted(unit)): sorted(unit) for unit in joined}.values())


@pytest.mark.no_cover
def test_thousands_of_tables_of_one_recipe_are_joined_at_once() -> None:
    one, _other = tables()
    made = [replace(one, id=f"{n}") for n in range(5000)]
    start = time.process_time()

    assert clusters._units(made) == [list(range(5000))]

    assert time.process_time() - start < 1  # 6.7 s while each went through all before it


def test_a_system_goes_on_in_a_second_file(study: Study, client_of: ClientOf, api_of: ApiOf, tmp_path: Path) -> None:
    """In parts, and corrected: by page, API and command."""
    actions.import_tables(study=study, tables=tables())
    mara = study.memberships.get(role=Role.MANAGER).user

    def told(id_: str, output: str) -> str:
        return json.dumps({"id": id_, "output": output})

    def said() -> tuple[str, str]:
        flat, pizza = queries.tables_of(study, rater="t5")
        return flat.said(1, "output"), pizza.said(0, "output")

    def sent(text: str, **more: str) -> str:
        form = {"system": "t5", "predictions": io.BytesIO(text.encode()), **more}
        page = client_of(mara).post("/studies/pizzas/tables/add-system/", form, follow=True)
        return page.content.decode()

    sent(told("a1", "<out 1> paste"))
    assert "1 label." in sent(told("b2", "<out 0> pizza"))
    assert said() == ("paste", "pizza")
    assert "A finished answer is kept" in sent(told("a1", "<out 1> dough"))
    assert said() == ("paste", "pizza")
    sent(told("a1", "<out 1> dough"), replace="on")
    assert said() == ("dough", "pizza")

    api = api_of(mara)
    address = "/api/v1/studies/pizzas/tables/add-system/"
    kept = api.post(address, {"system": "t5", "text": told("b2", "<out 0> pie")}, format="json")
    assert (kept.status_code, said()) == (409, ("dough", "pizza"))
    made = api.post(address, {"system": "t5", "text": told("b2", "<out 0> pie"), "replace": True}, format="json")
    assert (made.status_code, made.json()["known"], said()) == (201, 1, ("dough", "pie"))
    unread = api.post(address, {"system": "t5", "text": told("zz", "x")}, format="json")
    assert (unread.status_code, "no table “zz”" in unread.json()["text"][0]) == (400, True)
    assert api_of(builders.user("sam")).post(address, {"system": "t5", "text": "x"}, format="json").status_code == 404

    file = tmp_path / "t5.jsonl.gz"
    file.write_bytes(gzip.compress(told("b2", "<out 0> tart").encode()))
    out = io.StringIO()
    call_command("pizza_tables", "system", "pizzas", str(file), "--system", "t5", "--replace", stdout=out)
    assert "1 was in the study already." in out.getvalue()
    assert said() == ("dough", "tart")


def test_what_replaces_a_system_leaves_nothing_of_its_earlier_run(study: Study, client_of: ClientOf) -> None:
    actions.import_tables(study=study, tables=tables())
    page = client_of(study.memberships.get(role=Role.MANAGER).user)

    def sent(*lines: str, replace: bool = True, system: str = "t5") -> str:
        form = {"system": system, "predictions": io.BytesIO("\n".join(lines).encode())}
        form |= {"replace": "on"} if replace else {}
        return page.post("/studies/pizzas/tables/add-system/", form, follow=True).content.decode()

    def said(rater: str = "t5") -> list[dict[int, str]]:
        return [outputs_of(table) for table in queries.tables_of(study, rater=rater)]

    whole = json.dumps({"id": "a1", "output": serialised.serialise(tables()[0])})
    before = [whole, masks((0, "pizza"), (1, "pizza"), id_="b2")]
    for system in ("t5", "t6"):
        sent(*before, system=system)
    assert "2 lines stayed open" in (told := sent(masks((1, "mud"), (2, "mud"))))
    assert "2 earlier answers were cleared: the file leaves their cells open." in told
    assert said() == [{1: "mud", 2: "mud"}, {0: "pizza", 1: "pizza"}]
    # Its inputs and actions stand: the file says nothing of any.
    assert len(queries.tables_of(study, rater="t5")[0].cells) == 2 + 4 + 4
    sent(masks((0, "clay"), (1, "mud")), replace=False)
    assert said()[0] == {0: "clay", 1: "mud", 2: "mud"}
    # Of “b2” nothing can be read.
    assert "2 earlier answers" in sent(
        masks((0, "clay"), (1, "mud"), (2, "mud")), json.dumps({"id": "b2", "output": "?"})
    )
    assert said() == [{0: "clay", 1: "mud", 2: "mud"}, {}]
    assert said("t6") == [outputs_of(tables()[0]), {0: "pizza", 1: "pizza"}]
    assert [len(one.cells) for one in queries.tables_of(study, rater="gold")] == [12, 5]
    assert LabelEvent.objects.filter(assignment__rater__code="t5", value_after=None).count() == 2 + 2


def test_several_files_that_replace_are_one_run(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actions.import_tables(study=study, tables=tables())
    actions.import_tables(study=study, tables=tables(), rater="t5", kind=Rater.Kind.JUDGE)
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    how = ["--system", "t5", "--replace"]
    for file, line_ in zip(files, (0, 1), strict=True):
        file.write_text(masks((line_, "mud")))
    call_command("pizza_tables", "system", "pizzas", *map(str, files), *how)
    assert "2 earlier answers were cleared" in capsys.readouterr().out
    assert outputs_of(queries.tables_of(study, rater="t5")[0]) == {0: "mud", 1: "mud"}
    files[1].write_text(masks((0, "clay")))
    with pytest.raises(CommandError, match=r"two\.jsonl: Line 1: .*one\.jsonl, line 1.*Nothing was imported"):
        call_command("pizza_tables", "system", "pizzas", *map(str, files), *how)


def test_what_a_judge_wrote_here_is_not_cleared_by_a_file(study: Study, scripted: ScriptedBackend) -> None:
    from judges import doors as judge_doors

    actions.import_tables(study=study, tables=tables())
    scripted.says = "INPUT: dough\nOUTPUT: bread"
    text = judge_doors.shipped_prompts()["pizza-writing-given-action"].read_text(encoding="utf-8")
    run = start_run(study=study, judge=writing_judge(text), by=None)
    work.take_up(run)
    code, n = run.rater.code, Label.objects.filter(assignment__rater=run.rater).count()
    left = [tables()[0].with_cells({(0, "output"): "bread"})]  # as it says itself
    made = actions.import_tables(study=study, tables=left, rater=code, kind=Rater.Kind.JUDGE, replace=True)
    assert (made.cleared, Label.objects.filter(assignment__rater=run.rater).count()) == (0, n)


def test_a_system_that_was_imported_is_removed(study: Study, client_of: ClientOf) -> None:
    mara, rene = study.memberships.get(role=Role.MANAGER).user, builders.user("rene")
    annotating.add_member(study=study, user=rene, role=Role.RESEARCHER)
    page, address = client_of(mara), "/studies/pizzas/tables/remove-system/"
    actions.import_tables(study=study, tables=tables())
    before = contents_of(compute(load(study, Filters()), Filters()))
    for system in ("t5", "t6"):
        actions.import_tables(study=study, tables=tables(), rater=system, kind=Rater.Kind.JUDGE)
    assert "Remove 17 answers of “t5”?" in page.get("/studies/pizzas/tables/").content.decode()
    assert "answers of “t5”?" not in client_of(rene).get("/studies/pizzas/tables/").content.decode()
    assert client_of(rene).post(address, {"system": "t5"}).status_code in (403, 404)

    assert "Removed 17 answers of “t5”." in page.post(address, {"system": "t5"}, follow=True).content.decode()

    assert [one.rater.code for one in queries.who_answered(study)] == ["gold", "t6"]
    event = AuditEvent.objects.get(kind=AuditEvent.Kind.DELETION)
    assert (event.by, event.what) == (mara.pk, "rater t5 in pizzas: 17 labels")
    page.post(address, {"system": "t6"})
    for path in ("tables/", "report/", "report/judges/", "tables/statistics/", "tables/examples/"):
        assert page.get(f"/studies/pizzas/{path}").status_code == 200, path
    assert contents_of(compute(load(study, Filters()), Filters())) == before
    again = actions.import_tables(study=study, tables=tables(), rater="t5", kind=Rater.Kind.JUDGE)
    assert again.answers is not None
    assert again.answers.labels == 17
    for other in ("gold", "nobody"):  # what the gold says stays
        assert "is no system" in page.post(address, {"system": other}, follow=True).content.decode()
    assert {one.rater.code: one.answers for one in queries.who_answered(study)} == {"gold": 17, "t5": 17}


def test_a_program_removes_a_system_that_was_imported(study: Study, api_of: ApiOf) -> None:
    """There was no door for it: who had sent a wrong file could only send a right one."""
    api, address = api_of(study.memberships.get(role=Role.MANAGER).user), "/api/v1/studies/pizzas/tables/remove-system/"
    actions.import_tables(study=study, tables=tables())
    actions.import_tables(study=study, tables=tables(), rater="t5", kind=Rater.Kind.JUDGE)
    removed = api.post(address, {"system": "t5"}, format="json")
    assert (removed.status_code, removed.json()) == (200, {"removed": 17})
    assert [one.rater.code for one in queries.who_answered(study)] == ["gold"]
    again = api.post(address, {"system": "t5"}, format="json")
    assert (again.status_code, "is no system" in again.json()["detail"]) == (409, True)
    assert api_of(builders.user("sam")).post(address, {"system": "gold"}, format="json").status_code == 404


def test_a_system_on_whose_answers_something_rests_stays(study: Study) -> None:
    actions.import_tables(study=study, tables=tables())
    for system in ("t5", "t6"):
        actions.import_tables(study=study, tables=tables(), rater=system, kind=Rater.Kind.JUDGE)
    compared(study)
    anna = builders.rater(study, builders.user("anna"))
    annotating.start_from(
        assignments=builders.assignments(anna, study.sheets.get(title="pizza")), rater=study.raters.get(code="t6")
    )
    for system in ("t5", "t6"):
        with pytest.raises(Refused, match="stays"):
            actions.remove_system(study=study, code=system, by=None)
    assert {one.rater.code: one.answers for one in queries.who_answered(study)} == {
        anna.code: 5, "gold": 17, "t5": 17, "t6": 17,
    }  # fmt: skip


def test_the_command_asks_before_it_removes_a_system(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for system in ("t5", "t6"):
        actions.import_tables(study=study, tables=tables(), rater=system, kind=Rater.Kind.JUDGE)
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with pytest.raises(CommandError, match="Nothing was removed"):
        call_command("pizza_tables", "remove", "pizzas", "--system", "t5")
    assert asked == ["Remove 17 labels of “t5” from “pizzas”? [y/N] "]
    monkeypatch.setattr("builtins.input", lambda _question: "y")
    call_command("pizza_tables", "remove", "pizzas", "--system", "t5")
    call_command("pizza_tables", "remove", "pizzas", "--system", "t6", "--noinput")
    assert capsys.readouterr().out == "Removed 17 answers of “t5”.\nRemoved 17 answers of “t6”.\n"
    assert not Label.objects.exists()
    with pytest.raises(CommandError, match="is no system"):
        call_command("pizza_tables", "remove", "pizzas", "--system", "t7")


def test_recipes_that_come_later_are_split_and_filled_in_too(study: Study) -> None:
    flat, hat = read_json_lines("\n".join([FLAT, TWINS[0].replace("mix .", "preheat the oven .")]))
    long = builders.study("long", of=scheme_of("pizza-instructions"), by=builders.user("lena"))
    actions.import_tables(study=long, tables=[flat])
    assert actions.split_by_rule(study=long) == 1
    actions.import_tables(study=long, tables=[hat])
    assert actions.split_by_rule(study=long) == 1
    assert Assignment.objects.filter(rater__study=long, rater__code="rule").count() == 2

    for table in (flat, hat):
        actions.import_tables(study=study, tables=[table.with_cells({})], example=True)
    assert [one.cells.get((0, "input")) for one in queries.tables_of(study, rater="example")] == ["NA", "NA"]


def test_the_page(study: Study, client_of: ClientOf) -> None:
    mara = study.raters.none() or study.memberships.first().user  # type: ignore[union-attr]
    page = client_of(mara)
    assert "paste them" in page.get("/studies/pizzas/tables/").content.decode()
    told = page.post("/studies/pizzas/tables/add/", {"text": FLAT, "rater": "gold", "example": "on"}, follow=True)
    assert "1 recipe added." in told.content.decode()
    assert "flat bread" in told.content.decode()
    wrong = page.post("/studies/pizzas/tables/add/", {"text": "{", "rater": "gold"}).content.decode()
    assert "no JSON" in wrong
    twice = page.post("/studies/pizzas/tables/add/", {"rater": "gold"}).content.decode()
    assert "one of the two" in twice
    down = page.get("/studies/pizzas/tables/export/", {"rater": "gold", "form": "jsonl"})
    assert down.content.decode() == f"{FLAT}\n"
    assert "attachment" in down["Content-Disposition"]
    masked = page.get(
        "/studies/pizzas/tables/export/", {"rater": "gold", "form": "txt", "masks": "outputs"}
    ).content.decode()
    assert "bake . <s> bread dough <s> bake <s> <out 3>" in masked
    parts = page.get("/studies/pizzas/tables/split/", {"way": "within", "seed": 1}).content.decode()
    assert "fewer recipes than parts" in parts
    written = json.dumps({"id": "a1", "output": serialised.target(tables()[0], {(1, "input"), (1, "output")})})
    file = io.BytesIO(f"{written}\n{json.dumps({'id': 'a1', 'output': 'no'})}".encode())
    told = page.post("/studies/pizzas/tables/add-system/", {"system": "t5", "predictions": file}, follow=True)
    assert "Of 1 text nothing can be read." in told.content.decode()
    assert "3 lines stayed open: nothing, or a mask, stands there." in told.content.decode()
    assert queries.tables_of(study, rater="t5")[0].cells == {(1, "input"): "flour; water", (1, "output"): "bread dough"}
    bad = page.post(
        "/studies/pizzas/tables/add-system/",
        {"system": "t5", "predictions": io.BytesIO(b'{"id": "zz", "output": "x"}')},
    )
    assert "no table “zz”" in bad.content.decode()


def test_tables_whose_answers_are_held_back(study: Study, client_of: ClientOf) -> None:
    """As the test part is published: instructions alone. What systems wrote goes in, is compared, and comes out."""
    bare = [one.with_cells({}) for one in tables()]
    page = client_of(study.memberships.filter(role=Role.MANAGER).get().user)
    told = page.post("/studies/pizzas/tables/add/", {"text": json_lines(bare), "rater": "gold"}, follow=True)
    assert "2 recipes added." in told.content.decode()
    assert not Label.objects.exists()
    asked = page.get(
        "/studies/pizzas/tables/export/", {"form": "requests", "masks": "all", "rater": ""}
    ).content.decode()
    assert asked.count("<in 0>") == 2
    for code, cell in (("a", "dough"), ("b", "bread")):
        cells = {(n, of): cell for n in range(len(bare[0].instructions)) for of in ("input", "output")}
        written = json.dumps({"id": "a1", "output": serialised.target(bare[0].with_cells(cells), set(cells))})
        page.post("/studies/pizzas/tables/add-system/", {"system": code, "predictions": io.BytesIO(written.encode())})
    assert queries.tables_of(study, rater="a")[0].said(0, "output") == "dough"
    for path in ("tables/", "tables/statistics/", "tables/examples/", "report/", "report/questions/", "report/judges/"):
        assert page.get(f"/studies/pizzas/{path}").status_code == 200, path
    down = page.get("/studies/pizzas/tables/export/", {"rater": "b", "form": "jsonl"}).content.decode()
    assert read_json_lines(down)[0].said(3, "output") == "bread"


def test_many_recipes_come_in_pages(study: Study, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "SHEETS_A_PAGE", 1)
    actions.import_tables(study=study, tables=tables())
    client = client_of(User.objects.get(username="mara"))
    page = reverse("pizza_commonsense:tables", args=[study.slug])
    first, second = (client.get(page, {"page": number}).content.decode() for number in (1, 2))
    assert ["flat bread</a>" in one for one in (first, second)] == [True, False]
    assert ["pizza</a>" in one for one in (first, second)] == [False, True]
    assert all('Recipes <span class="quiet n">2</span>' in one and "of 2" in one for one in (first, second))
    # Files have all of them, whatever page is open.
    exported = client.get(reverse("pizza_commonsense:export", args=[study.slug]), {"form": "jsonl", "page": 2})
    assert "flat bread" in exported.content.decode().replace("_", " ")


def test_recipes_of_the_page_lead_to_what_its_readers_may_open(judged: Study, client_of: ClientOf) -> None:
    """A sheet's grid is there for who labels it alone."""
    manager, researcher = judged.memberships.filter(role=Role.MANAGER).get().user, builders.user("rene")
    annotating.add_member(study=judged, user=researcher, role=Role.RESEARCHER)
    for user in (manager, researcher):
        client = client_of(user)
        page = client.get("/studies/pizzas/tables/").content.decode()
        addresses = re.findall(r'<th scope="row"><a href="(/[^"]+)">', page)
        assert len(addresses) == 2
        assert [client.get(address).status_code for address in addresses] == [200, 200]


def test_programs_have_the_same_door(study: Study, api_of: ApiOf) -> None:
    api = api_of(study.memberships.first().user)  # type: ignore[union-attr]
    made = api.post("/api/v1/studies/pizzas/tables/add/", {"text": f"{FLAT}\n{PIZZA}"}, format="json")
    assert (made.status_code, made.json()["new"]) == (201, 2)
    refused = api.post("/api/v1/studies/pizzas/tables/add/", {"text": "{"}, format="json")
    assert (refused.status_code, "no JSON" in refused.json()["text"][0]) == (400, True)
    assert api.get("/api/v1/studies/pizzas/tables/export/?rater=gold").content.decode() == f"{FLAT}\n{PIZZA}\n"
    assert api.get("/api/v1/studies/pizzas/tables/split/").status_code == 400
    lines = api.get("/api/v1/studies/pizzas/tables/examples/?systems=gold")
    assert list(csv.reader(lines.content.decode().splitlines())) == [
        ["recipe", "id", "line", "instruction", "system", "input", "output", "wrong"]
    ]
    unknown = api.get("/api/v1/studies/pizzas/tables/examples/?systems=nobody")
    assert (unknown.status_code, "no rater “nobody”" in unknown.json()["detail"][0]) == (400, True)
    stranger = api_of(builders.user("sam"))
    assert stranger.get("/api/v1/studies/pizzas/tables/export/").status_code == 404


def test_a_part_with_demonstrations_by_page_program_and_command(
    study: Study, client_of: ClientOf, api_of: ApiOf, tmp_path: Path
) -> None:
    actions.import_tables(study=study, tables=breads(12))
    made = queries.tables_of(study, rater="gold")
    mara = study.memberships.get(role=Role.MANAGER).user
    page, api = client_of(mara), api_of(mara)
    how = {"part": "test", "way": "chance", "split_seed": 5, "demonstrations": 1, "thinking": True, "seed": 2}
    content = exporting.exported(made, Wanted("requests", **how))  # type: ignore[arg-type]
    asked = {"rater": "gold", "form": "requests", "masks": "all", **how, "thinking": "on"}
    down = page.get("/studies/pizzas/tables/export/", asked)
    assert down.content == content
    assert "pizzas-gold-requests-test.jsonl" in down["Content-Disposition"]
    assert api.get("/api/v1/studies/pizzas/tables/export/", {**asked, "thinking": "true"}).content == content
    out = tmp_path / "out.jsonl"
    call_command("pizza_tables", "export", "pizzas", str(out), "--form", "requests", "--part", "test", "--way",
                 "chance", "--split-seed", "5", "--demonstrations", "1", "--thinking", "--seed", "2")  # fmt: skip
    assert out.read_bytes() == content
    assert AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, by=None).get().what == "pizza_tables"
    split = api.get("/api/v1/studies/pizzas/tables/split/?way=chance&seed=5").json()
    assert {json.loads(one)["id"] for one in content.decode().splitlines()} == set(split["test"])
    # Whoever has no answers has no demonstrations; and nobody has looked at any by asking.
    looks = Look.objects.count()
    told = page.get("/studies/pizzas/tables/export/", {**asked, "rater": ""}).content.decode()
    assert "only 0 tables with all answers" in told
    refused = api.get("/api/v1/studies/pizzas/tables/export/", {**asked, "rater": "", "thinking": "true"})
    assert (refused.status_code, "only 0 tables" in refused.json()["detail"][0]) == (400, True)
    with pytest.raises(CommandError, match="only 0 tables"):
        call_command("pizza_tables", "export", "pizzas", str(out), "--rater", "", "--form", "requests",
                     "--demonstrations", "1")  # fmt: skip
    assert Look.objects.count() == looks
    assert api.get("/api/v1/studies/pizzas/tables/export/?part=some").status_code == 400


def test_who_takes_a_raters_tables_along_has_looked_and_is_in_the_log(
    study: Study, client_of: ClientOf, api_of: ApiOf
) -> None:
    """On the page and by a program alike; tables without answers show nothing."""
    mara = study.memberships.get(role=Role.MANAGER).user
    actions.import_tables(study=study, tables=read_tables(PIZZA.encode()), rater="gold", kind=Rater.Kind.GOLD)
    page, api = client_of(mara), api_of(mara)

    page.get("/studies/pizzas/tables/export/", {"rater": "", "form": "jsonl"})
    api.get("/api/v1/studies/pizzas/tables/export/")
    assert not Look.objects.exists()

    page.get("/studies/pizzas/tables/export/", {"rater": "gold", "form": "jsonl"})
    assert Look.objects.filter(user=mara).count() == study.sheets.count()
    api.get("/api/v1/studies/pizzas/tables/export/?rater=gold")
    assert Look.objects.filter(user=mara).count() == 2 * study.sheets.count()
    api.get("/api/v1/studies/pizzas/tables/examples/?systems=gold")
    exported = AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, by=mara.pk).order_by("pk")
    assert [event.what for event in exported] == [
        "pizzas-open-jsonl.jsonl", "API: tables", "pizzas-gold-jsonl.jsonl", "API: tables", "API: lines apart",
    ]  # fmt: skip


def test_the_command(db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tables.jsonl.gz"
    file.write_bytes(gzip.compress(f"{FLAT}\n{PIZZA}\n".encode()))
    call_command("pizza_tables", "import", "made", str(file))
    assert "2 recipes added. New: 1 rater, 17 labels. /studies/made/" in capsys.readouterr().out
    (tmp_path / "one.csv").write_text("recipe,instruction\nBread,bake\n")
    call_command("pizza_tables", "import", "one", str(tmp_path / "one.csv"))
    assert capsys.readouterr().out == "1 recipe added. /studies/one/\n"
    (tmp_path / "again.jsonl").write_text(FLAT)
    with pytest.raises(CommandError, match=r"tables\.jsonl\.gz, line 1; .*again\.jsonl, line 1"):
        call_command("pizza_tables", "import", "one", str(file), str(tmp_path / "again.jsonl"))
    out = tmp_path / "out.jsonl"
    call_command("pizza_tables", "export", "made", str(out))
    assert out.read_text() == f"{FLAT}\n{PIZZA}\n"
    for wrong in (
        ["export", "made", str(out), "--rater", "nobody"],
        ["export", "none", str(out)],
        ["split", "made", "x"],
    ):
        with pytest.raises(CommandError):
            call_command("pizza_tables", *wrong)
    (tmp_path / "bad.jsonl").write_text("{")
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("pizza_tables", "import", "other", str(tmp_path / "bad.jsonl"))
    assert not Study.objects.filter(slug="other").exists()


# --- derived ----------------------------------------------------------------------------------------------------------


def test_long_instructions_become_tables(db: None, client_of: ClientOf) -> None:
    mara = builders.user("mara")
    long = builders.study("long", of=scheme_of("pizza-instructions"), by=mara)
    page = client_of(mara)
    text = "Bread\n- flour\nMix flour and knead. Bake.\nServe and enjoy it."
    page.post("/studies/long/tables/add/", {"text": text, "rater": "gold"})
    assert (
        "The rule has split 1 recipe."
        in page.post("/studies/long/tables/split-instructions/", follow=True).content.decode()
    )
    assert actions.split_by_rule(study=long) == 0
    anna = builders.rater(long, builders.user("anna"))
    (work,) = builders.assignments(anna, long.sheets.get())
    annotating.start_from(assignments=[work], rater=long.raters.get(code="rule"))
    builders.label(work, {("Serve and enjoy it.", "parts"): ':"Serve."'})
    annotating.confirm(assignment=work, key=uuid.uuid4())
    made = derive_study(
        source=long,
        deriver="atomic-instructions",
        scheme=scheme_of("pizza-commonsense"),
        slug="made",
        title="Made",
        by=mara,
    )
    (table,) = queries.tables_of(made)
    assert table.instructions == ("Mix flour", "Knead.", "Bake.", "Serve.")
    assert Lineage.objects.filter(study=made, made_column__isnull=False, assignment=work).count() == 4


@pytest.fixture
def judged(study: Study) -> Study:
    actions.import_tables(study=study, tables=tables())
    cells = {(n, cell): f"{cell} of t5" for n in range(4) for cell in ("input", "output")}
    actions.import_tables(study=study, tables=[tables()[0].with_cells(cells)], rater="t5", kind=Rater.Kind.JUDGE)
    return study


def compared(judged: Study, slug: str = "compared", **settings: Any) -> Study:
    return derive_study(
        source=judged, deriver="two-systems", scheme=scheme_of("pizza-systems"), slug=slug, title=slug,
        settings={"systems": ["gold", "t5"], **settings}, by=judged.memberships.first().user,  # type: ignore[union-attr]
    )  # fmt: skip


def test_two_systems_side_by_side(judged: Study) -> None:
    made = compared(judged)
    rows = list(Row.objects.filter(sheet__study=made).order_by("position"))
    assert [row.name for row in rows] == ["1", "2", "3", "4"]
    for row in rows:
        left, right = row.facets["systems"]
        assert {left, right} == {"gold", "t5"}
        shown = [block.text for block in row.blocks]
        mine = shown[: shown.index("Right")], shown[shown.index("Right") : shown.index("The recipe up to here")]
        assert any("of t5" in text for text in mine[(left, right).index("t5")])
        assert not any("of t5" in text for text in mine[(left, right).index("gold")])
    seed = made.derivation["settings"]["seed"]
    assert [row.facets for row in Row.objects.filter(sheet__study=compared(judged, "again", seed=seed))] == [
        row.facets for row in rows
    ]
    orders = {
        tuple(
            row.facets["systems"][0]
            for row in Row.objects.filter(sheet__study=compared(judged, f"s{n}", seed=[str(n)]))
        )
        for n in range(8)
    }
    assert len(orders) > 2
    assert Lineage.objects.filter(made_row=rows[0]).count() == 1 + 4


def test_who_stands_where_is_drawn_by_what_nobody_knows_beforehand(judged: Study) -> None:
    """By the seed 1 whoever judged had all of them by the names of the two, a line's number and a digest."""
    seeds = {compared(judged, f"s{n}").derivation["settings"]["seed"][0] for n in range(3)}
    assert len(seeds) == 3
    assert all(len(seed) == 32 for seed in seeds)
    assert compared(judged, "said", seed=["2"]).derivation["settings"]["seed"] == ["2"]


def test_lines_that_one_of_both_left_out_are_judged(study: Study) -> None:
    """t5 has two of four lines of the one table, and nothing of the other."""
    actions.import_tables(study=study, tables=[bread("mass", "dough", "risen dough", "bread"), tables()[1]])
    actions.import_tables(study=study, tables=[bread("mass", "dough")], rater="t5", kind=Rater.Kind.JUDGE)
    rows = Row.objects.filter(sheet__study=compared(study)).order_by("position")
    assert [row.name for row in rows] == ["1", "2", "3", "4"]
    side = "Left" if rows[3].facets["systems"][0] == "t5" else "Right"
    shown = [block.text for block in rows[3].blocks]
    assert shown[shown.index(side) + 1 : shown.index(side) + 3] == ["Input: –", "Output: –"]
    assert rows[3].facets[side.lower()] == "⟶"
    both = compared(study, "both", open=["drop"])
    assert [row.name for row in Row.objects.filter(sheet__study=both).order_by("position")] == ["1", "2"]


def test_nobody_who_judges_sees_who_wrote(judged: Study, client_of: ClientOf) -> None:
    made = compared(judged)
    anna = builders.user("anna")
    sheet = made.sheets.get()
    work = builders.assignments(builders.rater(made, anna), sheet)
    page = client_of(anna).get(f"/sheets/{sheet.pk}/").content.decode()
    assert "gold" not in page
    assert "systems" not in page
    assert "Written by" not in page
    builders.label(
        work[0],
        {**{(side, key): "yes" for side in ("Left", "Right") for key in ("complete", "valid", "consistent")}},
    )
    assert work[0].labels.count() == 6
    shown = (
        doors.shipped_schemes()["pizza-systems"].read_text(encoding="utf-8").replace("hidden: true", "hidden: false")
    )
    with pytest.raises(Refused, match="hide the facet “systems”"):
        derive_study(
            source=judged, deriver="two-systems", scheme=builders.scheme(shown.replace("version: 2", "version: 9")),
            slug="x", title="x", settings={"systems": ["gold", "t5"]}, by=None,
        )  # fmt: skip
    for wrong, said in (
        ({"systems": ["gold"]}, "Choose the two"),
        ({"systems": ["gold", "nobody"]}, "no line of a table that both"),
    ):
        with pytest.raises(Refused, match=said):
            compared(judged, "y", **wrong)
    assert len(Row.objects.filter(sheet__study=compared(judged, "few", lines=["2"]))) == 2


def test_the_form_offers_the_raters(judged: Study, client_of: ClientOf) -> None:
    mara = judged.memberships.first().user  # type: ignore[union-attr]
    from django.contrib.auth.models import Permission

    mara.user_permissions.set(Permission.objects.filter(codename="add_study"))
    page = client_of(mara).get("/studies/pizzas/derive/?deriver=two-systems").content.decode()
    assert 'value="t5"' in page
    assert 'name="rater"' not in page  # it is asked whose tables these are, and nothing is chosen
    chosen = re.search(r'<option value="([^"]+)" selected>Two systems', page)
    assert chosen, "the scheme that such a study has is chosen beforehand"
    made = client_of(mara).post(
        "/studies/pizzas/derive/?deriver=two-systems",
        {
            "title": "Judged",
            "slug": "judged",
            "scheme": chosen[1],
            "set_systems": ["gold", "t5"],
            "set_lines": "all",
            "set_open": "count",
        },
    )
    assert made["Location"].endswith("/studies/judged/")
    assert Role.MANAGER
    assert Assignment.objects.exists()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("pizza-writing", "pizza-commonsense"),
        ("pizza-writing-bound", "pizza-commonsense"),
        ("pizza-writing-zero-shot", "pizza-commonsense"),
        ("pizza-writing-zero-shot-bound", "pizza-commonsense"),
        ("pizza-writing-thinking", "pizza-commonsense"),
        ("pizza-writing-given-action", "pizza-commonsense"),
        ("pizza-writing-given-action-thinking", "pizza-commonsense"),
        ("pizza-table", "pizza-commonsense"),
        ("pizza-table-zero-shot", "pizza-commonsense"),
        ("pizza-table-thinking", "pizza-commonsense"),
        ("pizza-table-bound", "pizza-commonsense"),
        ("instructions-writing", "pizza-instructions"),
    ],
)
def test_the_prompts_fit_their_schemes(name: str, scheme: str, db: None) -> None:
    from judges import doors as judge_doors

    spec = prompting.load_prompt(judge_doors.shipped_prompts()[name].read_text(encoding="utf-8"))
    prompting.check_against(spec, scheme_of(scheme).parsed, "writing")
    assert spec.grammar == name.endswith("-bound")
    assert bool(spec.thinking) == name.endswith("-thinking")


def test_a_judge_is_given_the_actions_of_the_gold(study: Study, scripted: ScriptedBackend, client_of: ClientOf) -> None:
    bare, flat = pasted("Bread\nBake it.")[0], tables()[0]
    said = flat.with_cells({**flat.cells, (3, "action"): "toast"})
    actions.import_tables(study=study, tables=[bare, said])
    assert [column.facets for column in study.sheets.get(title="flat bread").columns.order_by("position")] == [
        {"instruction": "preheat oven to 200 degrees .", "action": "preheat"},
        {"instruction": "mix flour and water .", "action": "mix"},
        {"instruction": "place on a stone .", "action": "place"},
        {"instruction": "bake .", "action": "toast"},
    ]
    assert study.sheets.get(title="Bread").columns.get().facets == {"instruction": "Bake it."}
    assert study.sheets.get(title="flat bread").columns.get(position=3).name == "bake ."  # it names no line

    from judges import doors as judge_doors

    scripted.says = "INPUT: dough\nOUTPUT: bread"
    text = judge_doors.shipped_prompts()["pizza-writing-given-action"].read_text(encoding="utf-8")
    run = start_run(study=study, judge=writing_judge(text), by=None)
    work.take_up(run)
    asked = [prompt for prompt, _how in scripted.asked]
    assert len(asked) == 1 + 4
    assert sum("Which food goes into the step “bake .”, whose action is “toast”?" in prompt for prompt in asked) == 1
    assert sum("the step “Bake it.”, whose action is “”?" in prompt for prompt in asked) == 1  # nobody has said it
    labels = Label.objects.filter(assignment__rater=run.rater)
    assert set(labels.values_list("question__key", flat=True)) == {"input", "output"}
    # Whoever answers is shown no action, on the page or by what marks words of the text.
    anna = builders.user("anna")
    builders.assignments(builders.rater(study, anna), study.sheets.get(title="flat bread"))
    assert "toast" not in client_of(anna).get(f"/sheets/{study.sheets.get(title='flat bread').pk}/").content.decode()


def test_rows_that_are_taken_on_keep_what_is_set_aside(study: Study) -> None:
    actions.import_tables(study=study, tables=tables())
    made = derive_study(
        source=study, deriver="selected-rows", scheme=study.scheme, slug="again", title="Again",
        settings={"answers": ['steps.output=:"pizza"'], "columns": ["any"]}, by=None,
    )  # fmt: skip
    assert [column.facets.get("action") for column in made.sheets.get(title="pizza").columns.order_by("position")] == [
        "top",
        "serve",
    ]


def test_a_system_says_no_actions_and_studies_from_before_keep_none(study: Study) -> None:
    actions.import_tables(study=study, tables=tables(), rater="t5", kind=Rater.Kind.JUDGE)
    assert not any("action" in column.facets for sheet in study.sheets.all() for column in sheet.columns.all())
    source = doors.shipped_schemes()["pizza-commonsense"].read_text(encoding="utf-8")
    before = source.replace("version: 3", "version: 2").replace(", aside: [action]", "")
    old = builders.study("old", of=builders.scheme(before))
    actions.import_tables(study=old, tables=tables())
    assert not any("action" in column.facets for sheet in old.sheets.all() for column in sheet.columns.all())
    from judges import doors as judge_doors

    text = judge_doors.shipped_prompts()["pizza-writing-given-action"].read_text(encoding="utf-8")
    with pytest.raises(prompting.PromptError, match="facet_action"):
        prompting.check_against(prompting.load_prompt(text), old.scheme.parsed, "writing")


# --- the published tables ---------------------------------------------------------------------------------------------


def published(name: str) -> str:
    if not (PUBLISHED / name).exists():
        pytest.skip("the published tables are not here")
    return gzip.decompress((PUBLISHED / name).read_bytes()).decode()


@pytest.mark.parametrize("name", FILES)
def test_published_tables_come_back_byte_by_byte(name: str) -> None:
    text = published(name)
    found = read_json_lines(text)
    assert json_lines(found) == text
    assert [one.cells for one in sheets.read(sheets.csv_text(found).encode())] == [one.cells for one in found]
    for table in found:
        assert serialised.read(serialised.serialise(table), table).cells == table.cells
        assert serialised.read(serialised.target(table, set(table.cells)), table).cells == table.cells


@pytest.mark.parametrize("name", FILES)
def test_no_published_cell_is_refused(name: str) -> None:
    counts = count(read_json_lines(published(name)))
    assert not counts.refused
    assert counts.warned


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", FILES)
def test_published_tables_go_through_a_study(name: str, tmp_path: Path) -> None:
    text = published(name)
    (tmp_path / "in.jsonl").write_text(text, encoding="utf-8")
    call_command("pizza_tables", "import", "whole", str(tmp_path / "in.jsonl"))
    call_command("pizza_tables", "export", "whole", str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == text


# --- sizes and overlaps -----------------------------------------------------------------------------------------------


def test_sizes_and_what_parts_have_in_common() -> None:
    flat, pizza = tables()
    found = corpus.corpus([flat])
    sizes = {size.key: (size.mean, size.median, size.n) for size in found.sizes}
    assert (found.n_recipes, found.n_instructions) == (1, 4)
    # 5, 4, 4 and 1 words: the full stop that stands alone is none.
    assert sizes[corpus.WORDS] == (3.5, 4, 4)
    assert sizes[corpus.INPUT_THINGS] == (1.25, 1, 4)  # NA; flour and water; bread dough; bread dough
    assert sizes[corpus.OUTPUT_WORDS] == (1.75, 2, 4)

    other = Table("again", "c3", ("Bake.", "Bake!", "Cool it."), {(2, "output"): "Flat  bread"}, ("flour", "oil"))
    told = {one.key: one for one in corpus.overlaps({"train": [flat], "test": [other]})}
    assert (told[corpus.OF_INSTRUCTIONS].of_all, told[corpus.OF_INSTRUCTIONS].of_different) == (2 / 3, 1 / 2)
    assert told[corpus.OF_INGREDIENTS].of_all == 1 / 2
    assert told[corpus.OF_DISHES].of_all == 1
    assert {one.of_all for one in corpus.overlaps({"train": [pizza], "test": []})} == {None}


def test_published_sizes_are_those_of_the_paper() -> None:
    """Printed of all three parts, of which two are published: 12.5 / 11, 7.45 / 6, 1.6 / 1 and 1.1 / 1."""
    found = corpus.corpus([table for name in FILES for table in read_json_lines(published(name))])
    sizes = {size.key: (round(size.mean or 0, 2), size.median) for size in found.sizes}
    assert (found.n_recipes, found.n_instructions) == (828, 10066)
    assert sizes[corpus.INSTRUCTIONS] == (12.16, 11)
    assert sizes[corpus.WORDS] == (7.29, 6)
    assert (sizes[corpus.INPUT_THINGS], sizes[corpus.OUTPUT_THINGS]) == ((1.57, 1), (1.01, 1))


def test_the_page_of_sizes(judged: Study, client_of: ClientOf) -> None:
    page = client_of(judged.memberships.filter(role=Role.MANAGER).get().user)
    told = page.get("/studies/pizzas/tables/statistics/", {"rater": "t5", "way": "chance", "seed": 3}).content.decode()
    assert "Things in an output" in told
    few = page.get("/studies/pizzas/tables/statistics/").content.decode()
    assert "Words of an instruction" in few
    assert "What parts have in common" not in few  # two recipes, three parts


def test_sizes_and_overlaps_are_files_and_the_api_has_them(
    judged: Study, client_of: ClientOf, api_of: ApiOf, tmp_path: Path
) -> None:
    user = judged.memberships.filter(role=Role.MANAGER).get().user
    breads = [FLAT.replace("a1", f"a{n}").replace("flour", f"flour {n}") for n in range(20, 32)]
    actions.import_tables(study=judged, tables=read_json_lines("\n".join(breads)))
    client, asked = client_of(user), {"rater": "gold", "way": "chance", "seed": 3}
    page = client.get("/studies/pizzas/tables/statistics/", asked).content.decode()
    for ending in ("xlsx", "csv", "json", "tex"):
        assert f"/studies/pizzas/tables/statistics.{ending}?rater=gold&amp;way=chance&amp;seed=3" in page

    def file(ending: str) -> bytes:
        answer = client.get(f"/studies/pizzas/tables/statistics.{ending}", asked)
        assert f"pizzas-statistics-gold.{ending}" in answer["Content-Disposition"]
        return answer.content

    api = api_of(user).get(reverse("api:pizza-statistics", args=["pizzas"]), asked).json()
    assert (api["recipes"], sum(api["parts"].values())) == (14, 14)
    sizes, overlaps = api["tables"]
    [said] = [row for row in sizes["rows"] if row["of"] == "Things in an input"]
    assert str(said["n"]) in page
    lines = list(csv.DictReader(io.StringIO(file("csv").decode("utf-8-sig"))))
    means = {line["row"]: float(line["value"]) for line in lines if line["statistic"] == "Mean"}
    assert means["Things in an input"] == said["mean"]
    shares = [line for line in lines if line["statistic"] == "Of the different ones"]
    assert [float(line["value"]) for line in shares] == [row["of_different"] for row in overlaps["rows"]]
    assert {"Study", "Answers of", "Recipes", "Seed", "Part “train”"} <= {line["row"] for line in lines}
    [part] = json.loads(file("json"))["parts"]
    assert [table["key"] for table in part["tables"]] == ["corpus.sizes", "corpus.overlaps"]
    assert load_workbook(io.BytesIO(file("xlsx"))).sheetnames == ["Contents", "corpus.sizes", "corpus.overlaps"]
    assert r"\caption{What parts have in common" in file("tex").decode()
    assert client.get("/studies/pizzas/tables/statistics.csv", {"seed": "x", "way": "chance"}).status_code == 400
    assert client.get("/studies/pizzas/tables/statistics.doc").status_code == 404
    nobody = api_of(user).get(reverse("api:pizza-statistics", args=["pizzas"]), {"rater": "t9"})
    assert nobody.json() == {"rater": ["The study has no rater “t9”."]}
    address = reverse("api:pizza-statistics", args=["pizzas"])
    assert api_of(user).get(address).json() == api_of(user).get(address, {"rater": "gold"}).json()

    out = tmp_path / "sizes.csv"
    call_command("pizza_tables", "statistics", "pizzas", str(out), "--way", "chance", "--seed", "3")
    assert out.read_bytes() == file("csv")
    with pytest.raises(CommandError, match="has no rater “t9”"):
        call_command("pizza_tables", "statistics", "pizzas", str(out), "--rater", "t9")
    with pytest.raises(CommandError, match="should end in one of"):
        call_command("pizza_tables", "statistics", "pizzas", str(tmp_path / "a.doc"))

    Rater.objects.filter(study=judged, code="gold").update(code="right")
    assert len(api_of(user).get(address).json()["tables"][0]["rows"]) == 2  # of open tables, as on the page


def test_a_published_split_is_taken_from_its_files(study: Study, tmp_path: Path) -> None:
    """What is in none of its parts is in none here."""
    actions.import_tables(study=study, tables=breads(6))
    lines = [json.loads(line) for line in records.json_lines(queries.tables_of(study, rater="gold")).splitlines()]
    files = {"train": tmp_path / "train.jsonl", "dev": tmp_path / "val.jsonl"}
    for file, some in zip(files.values(), (lines[:3], lines[3:5]), strict=True):
        file.write_text("".join(json.dumps(line) + "\n" for line in some), encoding="utf-8")
    given = ["--given", *(f"{part}={file}" for part, file in files.items())]
    out = tmp_path / "out.jsonl"
    how = ["export", "pizzas", str(out), "--form", "requests", "--demonstrations", "1", "--part"]
    call_command("pizza_tables", *how, "dev", *given)
    asked = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [one["id"] for one in asked] == [line["id"] for line in lines[3:5]]
    sizes = tmp_path / "sizes.csv"
    call_command("pizza_tables", "statistics", "pizzas", str(sizes), *given)
    said = list(csv.DictReader(io.StringIO(sizes.read_text(encoding="utf-8-sig"))))
    about = {line["row"]: line["note"] for line in said if line["table"] == "about"}
    assert (about["Part “train”"], about["Part “dev”"], about["Way"]) == ("3", "2", "given")
    assert "Seed" not in about

    for wrong, why in (
        (["--given", f"dev={files['dev']}"], "Name the file of the part “train”"),
        (["--given", f"val={files['dev']}"], "“val” is none of the parts"),
        (["--given", f"train={files['dev']}", f"dev={files['dev']}"], "is in two parts"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("pizza_tables", "statistics", "pizzas", str(sizes), *wrong)
    with pytest.raises(CommandError, match="There is no part “test”"):
        call_command("pizza_tables", *how, "test", *given)


# --- lines on which systems are wrong ---------------------------------------------------------------------------------


def test_lines_on_which_systems_are_wrong() -> None:
    flat, _pizza = tables()
    cells = {**flat.cells, (1, "input"): "Water; flour", (1, "output"): "paste"}
    one = flat.with_cells(cells)
    other = flat.with_cells({place: said for place, said in cells.items() if place[0] == 1 and place[1] != "input"})
    found = examples.lines([flat], {"one": [one]})
    assert [(line.number, line.instruction) for line in found] == [(2, flat.instructions[1])]
    found = examples.lines([flat], {"one": [one], "other": [other]})
    assert [line.number for line in found] == [1, 2, 3, 4]
    assert [(said.system, sorted(said.wrong)) for said in found[1].said] == [
        ("one", ["output"]),  # the parts of an input have no order
        ("other", ["input", "output"]),
    ]
    assert examples.lines([flat], {"one": [flat], "other": [other]}, which=examples.ALL) == []
    # Lines of which it left one cell open, and those that it left out as a whole.
    left_open = examples.lines([flat], {"other": [other]}, which=examples.OPEN)
    assert [(line.number, line.said[0].input, line.said[0].output) for line in left_open] == [
        (1, "", ""), (2, "", "paste"), (3, "", ""), (4, "", ""),
    ]  # fmt: skip
    assert examples.lines([flat], {"other": [flat.with_cells({})]}, which=examples.OPEN) == []  # not asked of it
    many = [replace(found[0], number=n) for n in range(30)]
    assert examples.drawn(many, 5, seed=1) == examples.drawn(many, 5, seed=1) != examples.drawn(many, 5, seed=2)
    assert examples.drawn(many, 50, seed=1) == many


def test_the_page_of_lines_side_by_side(judged: Study, client_of: ClientOf) -> None:
    page = client_of(judged.memberships.filter(role=Role.MANAGER).get().user)
    assert "Choose whose answers are right" in page.get("/studies/pizzas/tables/examples/").content.decode()
    assert not Look.objects.exists()
    asked = {"truth": "gold", "systems": ["t5"], "which": "any", "n": 3, "seed": 1}
    told = page.get("/studies/pizzas/tables/examples/", asked).content.decode()
    assert "4 such lines; 3 shown." in told
    assert told.count("output of t5") == 3
    assert Look.objects.count() == judged.sheets.count()  # who has seen everybody's answers
    rows = list(
        csv.reader(page.get("/studies/pizzas/tables/examples/", {**asked, "csv": 1}).content.decode().splitlines())
    )
    assert len(rows) == 1 + 2 * 3
    assert rows[2][4:] == ["t5", rows[2][5], rows[2][6], "input output"]
    same = page.get("/studies/pizzas/tables/examples/", {**asked, "systems": ["gold"]}).content.decode()
    assert "cannot be held against it as well" in same


# --- cells that a system left out -------------------------------------------------------------------------------------


def bread(*outputs: str) -> Table:
    """A table of four lines; an output that is empty is open."""
    cells = {(line, "output"): said for line, said in enumerate(outputs) if said}
    return Table("bread", "c3", ("mix .", "knead .", "proof .", "bake ."), cells)


def everything(study: Study, **filters: Any) -> StudyReport:
    chosen = Filters(**filters)
    return compute(load(study, chosen), chosen)


def text_figures(study: Study, question: str = "output", **filters: Any) -> dict[str, tuple[Any, ...]]:
    """By rater exact match, cells, and how many have no text."""
    made = {of.key: of for of in contents_of(everything(study, metrics=("exact",), **filters)).tables}
    return {str(row[0]): row[1:] for row in made[f"steps.{question}.texts"].rows}


@pytest.fixture
def left_out(study: Study) -> Study:
    """Of four lines t5 answers two, rightly; flan all four, the same two rightly."""
    right = ("mass", "dough", "risen dough", "bread")
    actions.import_tables(study=study, tables=[bread(*right)])
    actions.import_tables(study=study, tables=[bread("mass", "dough")], rater="t5", kind=Rater.Kind.JUDGE)
    actions.import_tables(
        study=study, tables=[bread("mass", "dough", "cake", "cake")], rater="flan", kind=Rater.Kind.JUDGE
    )
    return study


def test_what_a_system_left_out_is_counted(left_out: Study) -> None:
    assert text_figures(left_out) == {"t5": (1.0, 2, 2), "flan": (0.5, 4, 0)}


def test_what_a_system_left_out_counts_as_empty_where_asked_for(left_out: Study) -> None:
    assert text_figures(left_out, unanswered=True) == {"t5": (0.5, 4, 2), "flan": (0.5, 4, 0)}  # 2 of 4 both


def test_a_system_is_not_asked_of_tables_that_it_has_nothing_of(left_out: Study) -> None:
    """Nor of cells that the reference has not: t5 has nothing of the second table, gold one cell of it."""
    other = Table("cake", "d4", ("stir .", "bake ."), {(0, "output"): "batter"})
    actions.import_tables(study=left_out, tables=[other])
    said = [bread("mass", "dough", "cake", "cake"), other.with_cells({(1, "output"): "cake"})]
    actions.import_tables(study=left_out, tables=said, rater="bart", kind=Rater.Kind.JUDGE)
    assert text_figures(left_out)["t5"] == (1.0, 2, 2)
    assert text_figures(left_out)["bart"] == (0.5, 4, 1)
    assert text_figures(left_out, unanswered=True)["bart"] == (0.4, 5, 1)  # 2 of 4 + 1


def test_a_system_that_left_out_a_whole_column_is_told(left_out: Study) -> None:
    gold = bread("mass", "dough", "risen dough", "bread")
    actions.import_tables(study=left_out, tables=[gold.with_cells({(0, "input"): "flour", (1, "input"): "mass"})])
    said = bread("mass").with_cells({(0, "output"): "mass", (1, "input"): "mass"})
    actions.import_tables(study=left_out, tables=[said], rater="bart", kind=Rater.Kind.JUDGE)
    assert text_figures(left_out, "input") == {"bart": (1.0, 1, 1), "t5": (None, 0, 2), "flan": (None, 0, 2)}
    assert text_figures(left_out, "input", unanswered=True) == {
        "bart": (0.5, 2, 1), "t5": (0.0, 2, 2), "flan": (0.0, 2, 2),
    }  # fmt: skip
    assert "steps.input.texts" in {of.key for of in contents_of(everything(left_out, by="sheet", n_draws=20)).tables}


def test_reports_frozen_before_do_not_know_what_was_left_out(left_out: Study) -> None:
    for unanswered in (False, True):
        assert text_figures(left_out, methods=5, unanswered=unanswered)["t5"] == (1.0, 2, 0)


def test_a_judge_that_has_not_run_yet_has_left_nothing_out(left_out: Study) -> None:
    """A plan gave it the table, and nothing came of that yet."""
    waiting = Rater.objects.create(study=left_out, kind=Rater.Kind.JUDGE, code="later")
    annotating.assign(rater=waiting, rows=Row.objects.filter(sheet__study=left_out))
    assert set(text_figures(left_out)) == {"t5", "flan"}


# --- several runs of one system ---------------------------------------------------------------------------------------

RIGHT = ("mass", "dough", "risen dough", "bread")


def ran(study: Study, code: str, *runs: tuple[str, ...]) -> None:
    """A judge whose repeats write these outputs of the table “bread”; “” is open."""
    judge = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=code)
    rows = Row.objects.filter(sheet__study=study, sheet__title="bread")
    for repeat, outputs in enumerate(runs, 1):
        [work] = annotating.assign(rater=judge, rows=rows, repeat=repeat)
        lines = zip(bread().instructions, outputs, strict=True)
        builders.label(work, {(name, "output"): f":{json.dumps(said)}" for name, said in lines if said})


def runs_told(study: Study, **filters: Any) -> list[dict[str, Any]]:
    made = {of.key: of for of in contents_of(everything(study, metrics=("exact",), **filters)).tables}
    of = made.get("steps.output.texts.runs")
    return [dict(zip((head.key for head in of.heads), row, strict=True)) for row in of.rows] if of else []


def test_the_mean_over_three_runs_of_a_judge(study: Study) -> None:
    actions.import_tables(study=study, tables=[bread(*RIGHT)])
    ran(study, "J1", ("mass", "dough", "cake", "cake"), RIGHT, (*RIGHT[:3], ""))

    [told] = runs_told(study, unanswered=True)

    # 2, 4 and 3 of 4: (0.5 + 1 + 0.75) / 3; the squares of the distances add up to 2 · 0.25², over n − 1 = 2.
    assert told == {
        "rater": "J1", "metric": "Exact match", "first": 0.5, "mean": 0.75, "deviation": 0.25, "lowest": 0.5,
        "highest": 1, "runs": 3, "cells": 4,
    }  # fmt: skip
    [told] = runs_told(study)  # what the third left open is left out: 3 of 3
    assert (told["mean"], told["highest"], told["cells"]) == (pytest.approx(2.5 / 3), 1, 3)
    # The figure of before is that of the first run.
    assert text_figures(study)["J1"] == (0.5, 4, 0)
    assert runs_told(study, methods=5) == []


def test_runs_are_held_on_the_rows_that_all_of_them_have(study: Study) -> None:
    """The first run also wrote a second table, and that wrongly."""
    other = Table("cake", "d4", ("stir .",), {(0, "output"): "batter"})
    actions.import_tables(study=study, tables=[bread(*RIGHT), other])
    ran(study, "J1", ("mass", "dough", "risen dough", "cake"), RIGHT)
    [work] = annotating.assign(rater=study.raters.get(code="J1"), rows=Row.objects.filter(sheet__title="cake"))
    builders.label(work, {("stir .", "output"): ':"soup"'})

    [told] = runs_told(study)

    assert text_figures(study)["J1"] == (0.6, 5, 0)
    assert (told["first"], told["mean"], told["cells"]) == (0.75, 0.875, 4)


def test_systems_whose_names_say_so_are_runs_of_one(study: Study) -> None:
    actions.import_tables(study=study, tables=[bread(*RIGHT)])
    for code, right in (("t5-run-2", 2), ("t5-run-1", 4), ("flan-run-1", 1), ("overrun2", 1)):
        said = bread(*RIGHT[:right], *["cake"] * (4 - right))
        actions.import_tables(study=study, tables=[said], rater=code, kind=Rater.Kind.JUDGE)

    [told] = runs_told(study)

    assert (told["rater"], told["first"], told["mean"], told["runs"]) == ("t5", 1, 0.75, 2)
    assert set(text_figures(study)) == {"t5-run-1", "t5-run-2", "flan-run-1", "overrun2"}


def test_a_judge_that_wrote_once_has_no_mean_over_runs(left_out: Study) -> None:
    assert runs_told(left_out) == []


def test_each_system_has_one_line_for_inputs_and_outputs(study: Study) -> None:
    """As the paper's Tables 1, 2, 4 and 7; of runs and of people the mean stands below them."""

    def said(inputs: int, outputs: int) -> Table:
        """So many of the first inputs and outputs are right."""
        cells = {(line, "input"): "flour" if line < inputs else "cake" for line in range(4)}
        with_outputs = bread(*RIGHT[:outputs], *["cake"] * (4 - outputs))
        return with_outputs.with_cells({**with_outputs.cells, **cells})

    actions.import_tables(study=study, tables=[said(4, 4)])
    for code, right, kind in (
        ("flan", (1, 2), Rater.Kind.JUDGE), ("t5-run-1", (4, 4), Rater.Kind.JUDGE),
        ("t5-run-2", (2, 0), Rater.Kind.JUDGE), ("P1", (4, 3), Rater.Kind.PERSON), ("P2", (3, 3), Rater.Kind.PERSON),
    ):  # fmt: skip
        actions.import_tables(study=study, tables=[said(*right)], rater=code, kind=kind)
    made = {of.key: of for of in contents_of(everything(study, metrics=("exact",))).tables}
    of_all = made["steps.scored"]
    assert [head.key for head in of_all.heads] == [
        "rater", "input_exact", "input_cells", "output_exact", "output_cells",
    ]  # fmt: skip
    assert {str(row[0]): row[1:] for row in of_all.rows} == {
        "flan": (0.25, 4, 0.5, 4),
        "t5-run-1": (1.0, 4, 1.0, 4),
        "t5-run-2": (0.5, 4, 0.0, 4),
        "t5, mean of 2 runs": (0.75, 4, 0.5, 4),
        "P1": (1.0, 4, 0.75, 4),
        "P2": (0.75, 4, 0.75, 4),
        "people, mean of 2": (0.875, 4, 0.75, 4),
    }
    before = {of.key for of in contents_of(everything(study, metrics=("exact",), methods=10)).tables}
    assert "steps.scored" not in before  # what was frozen is computed again as it was
