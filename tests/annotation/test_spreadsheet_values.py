"""Answers that are values, and tables that are read downwards, on their way through a workbook and back."""

from __future__ import annotations

import datetime
import io
import re
import uuid
from typing import Any

import pytest
from django.test import Client
from openpyxl import load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from annotation import actions, queries
from annotation.actions import Answer
from annotation.exchange.spreadsheet.hints import hint
from annotation.exchange.spreadsheet.reading import Problem, Reading, read
from annotation.exchange.spreadsheet.writing import workbook
from annotation.exchange.workbooks import fits, fitting
from annotation.models import Assignment, Column, Label, Question, Sheet, Skip, User
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.annotation.answers import specs

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SCHEME = """\
key: baking
version: 1
title: Baking
row: {facets: [engine, {key: generator, hidden: true}]}
sections:
  - key: things
    title: Things
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: there, title: Is there, kind: flag}
      - {key: sure, title: How sure, kind: scale, min: 1, max: 3}
      - {key: weight, title: Weight, kind: number, number: {min: -5, max: 500, step: 0.5, unit: g}}
      - key: made-of
        title: Made of
        kind: text
        text: {longest: 60, special: [NA], separator: ";"}
      - {key: says, title: Says, kind: text, text: {lines: true, longest: 20000}, ask_unless: {made-of: [NA]}}
      - key: parts
        title: Parts
        kind: items
        items: {most: 5, fields: [{key: part}, {key: words, list: true}]}
      - {key: change, title: Change, kind: transitions}
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [instruction]}
    questions:
      - {key: kind, title: Kind, options: [{key: mix, label: Mix}, {key: none, label: Nothing}]}
      - {key: input, title: Input, kind: text, text: {special: [NA]}, ask_unless: {kind: [none]}}
      - {key: grams, title: Grams, kind: number, ask_unless: {input: [NA]}}
"""
# Bread's answers: line 2 Is there · 3 How sure · 4 Weight · 5 Made of · 6 Says · 7 Parts · 8 Change; soup's 9 to 15.
# 16 black · 17 heads · 18 stir, 19 bake for bread · 20, 21 for soup; C Kind, D Input, E Grams.
THERE, SURE, WEIGHT, MADE_OF, SAYS, PARTS, CHANGE = (f"C{n}" for n in range(2, 9))
KIND, INPUT, GRAMS = "C18", "D18", "E18"

VALUES: dict[str, Any] = {
    "weight": -0.5,
    "made-of": "flour; =1+1 | ,\\",
    "says": "=cmd()\n\n“ž” 🍞 <b>&\n_x0041_ 'x",
    "parts": [{"part": "a | b", "words": ["c, d", "e \\n f"]}, {"part": "", "words": ["-x"]}],
    "change": [{"from": ["flour, fine", "water"], "to": ["dough -> x"]}, {"from": ["shell"], "to": []}],
}


@pytest.fixture
def anna() -> User:
    return builders.user("anna")


@pytest.fixture
def sheet(anna: User) -> Sheet:
    study = builders.study("baking", of=builders.scheme(SCHEME))
    columns = {
        "things": [{"thing": "bread"}],
        "steps": [{"instruction": "Stir."}, {"instruction": "Bake."}],
    }
    made = actions.add_sheet(study=study, title="Kitchen", columns=columns)
    for name in ("Bread", "Soup"):
        actions.add_row(sheet=made, name=name, facets={"engine": "Google", "generator": "secret-model"}, evidence=[])
    builders.assignments(builders.rater(study, anna), made)
    return made


def bread() -> Assignment:
    return Assignment.objects.get(row__name="Bread")


def say(column: str, question: str, value: Any, **more: Any) -> None:
    of = Question.objects.get(key=question)
    answer = Answer(Column.objects.get(name=column), of, value=value, **more)
    actions.record(assignment=bread(), answers=[answer], key=uuid.uuid4())


def grid(sheet: Sheet, of: User) -> queries.Grid:
    return queries.grid(sheet, Assignment.objects.of_user(of))


def page(data: bytes) -> Worksheet:
    return load_workbook(io.BytesIO(data)).worksheets[0]


def filled(data: bytes, changes: dict[str, Any]) -> bytes:
    """A workbook after somebody wrote into it; what begins with "=" as the text that Excel takes in cells for texts."""
    book = load_workbook(io.BytesIO(data))
    for cell, value in changes.items():
        book.worksheets[0][cell].value = value
        if isinstance(value, str):
            book.worksheets[0][cell].data_type = "s"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(sheet: Sheet, of: User, changes: dict[str, Any]) -> Reading:
    return read(filled(workbook(grid(sheet, of)), changes), grid(sheet, of))


def bring(client: Client, sheet: Sheet, data: bytes) -> str:
    upload = io.BytesIO(data)
    upload.name = "kitchen.xlsx"
    return client.post(f"/sheets/{sheet.pk}/spreadsheet/", {"workbook": upload}, follow=True).content.decode()


def standing(row: str = "Bread") -> dict[tuple[str, str], Any]:
    labels = Label.objects.filter(assignment__row__name=row).select_related("column", "question", "option")
    return {
        (label.column.name, label.question.key): label.option.key if label.option else label.value for label in labels
    }


def test_a_section_that_is_read_downwards_has_a_line_a_step(sheet: Sheet, anna: User) -> None:
    made = page(workbook(grid(sheet, anna)))
    assert [[cell.value for cell in line] for line in made["A17:E21"]] == [
        [None, "Step", "Kind", "Input", "Grams"],
        ["Bread", "Stir.", None, None, None],
        ["Bread", "Bake.", None, None, None],
        ["Soup", "Stir.", None, None, None],
        ["Soup", "Bake.", None, None, None],
    ]


def test_options_have_menus_and_values_have_hints(sheet: Sheet, anna: User) -> None:
    menus, hints = set(), {}
    for rule in page(workbook(grid(sheet, anna))).data_validations.dataValidation:
        cells = str(rule.sqref).split()
        if rule.type == "list":
            menus.update(cells)
        else:
            assert rule.type in (None, "none")
            hints |= dict.fromkeys(cells, rule.prompt)
    assert menus == {"C2", "C9", "C3", "C10", "C18:C21"}
    assert "from -5 to 500" in hints["C4"]
    assert "g" in hints["C4"]
    assert "NA" in hints["D18:D21"]
    assert all(hint(spec) for spec in specs.ALL.values() if not spec.has_options)
    assert "A bar (|) alone: there is nothing to list." in hint(specs.ALL["items"])
    assert "alone" not in hint(specs.NAMED)  # which takes one entry at least


def test_values_of_all_kinds_come_back_as_they_went(client: Client, sheet: Sheet, anna: User) -> None:
    for question, value in VALUES.items():
        say("bread", question, value)
    say("Stir.", "input", "flour")
    before = standing()
    assert before == {("bread", question): value for question, value in VALUES.items()} | {("Stir.", "input"): "flour"}
    first = workbook(grid(sheet, anna))
    made = page(first)
    assert made[WEIGHT].value == -0.5
    assert [made[cell].data_type for cell in (MADE_OF, SAYS, PARTS, CHANGE)] == ["s"] * 4
    assert all(made[cell].alignment.wrap_text for cell in (MADE_OF, SAYS, PARTS, CHANGE, INPUT))
    unchanged = read(filled(first, {}), grid(sheet, anna))
    assert (unchanged.answers, unchanged.problems) == ({}, [])

    # The same texts, copied into the lines of the other row and brought back, are the same answers there.
    copied = {f"C{n + 7}": made[f"C{n}"].value for n in range(4, 9)} | {"D20": made[INPUT].value}
    client.force_login(anna)
    assert "6 changed cells were taken in." in bring(client, sheet, filled(first, copied))
    assert standing("Soup") == before == standing()


def test_what_is_typed_goes_in_and_comes_out(client: Client, sheet: Sheet, anna: User) -> None:
    data = filled(
        workbook(grid(sheet, anna)),
        {
            THERE: "yes",
            SURE: 2.0,
            WEIGHT: "12.5 g",
            MADE_OF: "flour ;  water",
            SAYS: "one\r\ntwo",
            PARTS: "crust | hard, brown\ncrumb",
            CHANGE: "flour, water -> dough",
            KIND: "Mix",
            INPUT: "-1 egg",
            GRAMS: 7.25,
        },
    )
    client.force_login(anna)
    assert "10 changed cells were taken in." in bring(client, sheet, data)
    assert standing() == {
        ("bread", "there"): "yes",
        ("bread", "sure"): "2",
        ("bread", "weight"): 12.5,
        ("bread", "made-of"): "flour; water",
        ("bread", "says"): "one\ntwo",
        ("bread", "parts"): [{"part": "crust", "words": ["hard", "brown"]}, {"part": "crumb", "words": []}],
        ("bread", "change"): [{"from": ["flour", "water"], "to": ["dough"]}],
        ("Stir.", "kind"): "mix",
        ("Stir.", "input"): "-1 egg",
        ("Stir.", "grams"): 7.25,
    }
    assert "Nothing in this workbook differs" in bring(client, sheet, data)
    emptied = filled(workbook(grid(sheet, anna)), {WEIGHT: None, GRAMS: None, CHANGE: "  "})
    assert "3 changed cells were taken in." in bring(client, sheet, emptied)
    assert {("bread", "weight"), ("bread", "change"), ("Stir.", "grams")}.isdisjoint(standing())


@pytest.mark.parametrize(
    ("changes", "cell", "said"),
    [
        ({WEIGHT: "heavy"}, WEIGHT, "“heavy” is no number"),
        ({WEIGHT: 501}, WEIGHT, "from -5 to 500"),
        ({PARTS: "a | b | c"}, PARTS, "more than the 2 fields"),
        ({CHANGE: "flour"}, CHANGE, "“flour” is no transition"),
        ({MADE_OF: datetime.datetime(2026, 2, 1)}, MADE_OF, "made a date of this"),
        ({MADE_OF: "NA", SAYS: "bread"}, SAYS, "This is not asked"),
        ({KIND: "Nothing", INPUT: "flour"}, INPUT, "This is not asked"),
        ({INPUT: "na", GRAMS: 3}, GRAMS, "This is not asked"),
        ({"D17": "Grams", "E17": "Input", INPUT: "flour"}, "D17", "“Input” stood here, and now “Grams”"),
        ({"B18": "Bake.", "B19": "Stir.", INPUT: "flour"}, "B18", "“Stir.” stood here, and now “Bake.”"),
    ],
)
def test_what_is_no_answer_is_named_by_its_cell(
    client: Client, sheet: Sheet, anna: User, changes: dict[str, Any], cell: str, said: str
) -> None:
    data = filled(workbook(grid(sheet, anna)), {**changes, THERE: "Yes"})
    problems = read(data, grid(sheet, anna)).problems
    assert any(problem.cell == cell and said in problem.sentence for problem in problems), problems
    client.force_login(anna)
    assert f"<code>{cell}</code>" in bring(client, sheet, data)
    assert standing() == {}


@pytest.mark.parametrize("formula", ["=1+1", "#NAME?"])
def test_a_formula_is_no_answer(sheet: Sheet, anna: User, formula: str) -> None:
    book = load_workbook(io.BytesIO(workbook(grid(sheet, anna))))
    book.worksheets[0][SAYS] = formula
    file = io.BytesIO()
    book.save(file)
    (problem,) = read(file.getvalue(), grid(sheet, anna)).problems
    assert (problem.cell, problem.sentence[:9]) == (SAYS, "A formula")


def test_a_skip_stays_and_its_copy_is_no_answer(sheet: Sheet, anna: User) -> None:
    say("bread", "says", None, skip="smudged")
    made = page(workbook(grid(sheet, anna)))
    assert made[SAYS].value == "Skipped: smudged"
    (problem,) = changed(sheet, anna, {MADE_OF: made[SAYS].value}).problems
    assert (problem.cell, "skipped" in problem.sentence) == (MADE_OF, True)
    reading = changed(sheet, anna, {SAYS: "bread"})
    actions.change(answers=reading.answers, key=uuid.uuid4(), whole=True)
    assert standing() == {("bread", "says"): "bread"}
    assert not Skip.objects.exists()


def test_what_was_written_in_the_browser_since_is_not_overwritten(sheet: Sheet, anna: User) -> None:
    say("bread", "says", "one")
    data = filled(workbook(grid(sheet, anna)), {SAYS: "two"})
    say("bread", "says", "three")
    (problem,) = read(data, grid(sheet, anna)).problems
    assert problem == Problem(
        SAYS, "You chose “two” here; “three” was chosen in the browser since. Make the two alike first."
    )
    say("bread", "says", "two")
    alike = read(data, grid(sheet, anna))
    assert (alike.answers, alike.problems) == ({}, [])


def test_a_draft_stays_one_until_it_is_changed(sheet: Sheet, anna: User) -> None:
    say("bread", "says", "one")
    boris = builders.rater(sheet.study, builders.user("boris"))
    Label.objects.update(drafted_from=boris, exposed=True, confirmed_at=None)
    made = page(workbook(grid(sheet, anna)))
    assert made[SAYS].font.italic
    assert "draft" in made[SAYS].comment.text
    assert changed(sheet, anna, {}).answers == {}
    reading = changed(sheet, anna, {SAYS: "two"})
    actions.change(answers=reading.answers, key=uuid.uuid4(), whole=True)
    label = Label.objects.get()
    assert (label.value, label.is_draft, label.drafted_from) == ("two", False, boris)


def test_nothing_of_a_hidden_facet_goes_along(sheet: Sheet, anna: User) -> None:
    book = load_workbook(io.BytesIO(workbook(grid(sheet, anna))))
    words = {str(cell.value) for one in book.worksheets for line in one.iter_rows() for cell in line}
    assert "Bread" in words
    assert not any("secret-model" in word for word in words)


def test_an_answer_too_long_for_a_cell_is_changed_in_the_browser_only(sheet: Sheet, anna: User) -> None:
    text = "🍞" * 20_000
    assert (fits(text), fits(fitting(text))) == (False, True)
    say("bread", "says", text)
    assert page(workbook(grid(sheet, anna)))[SAYS].protection.locked
    assert changed(sheet, anna, {WEIGHT: 3}).n_cells == 1
    (problem,) = changed(sheet, anna, {SAYS: "🍞"}).problems
    assert (problem.cell, "too long" in problem.sentence) == (SAYS, True)


@pytest.mark.parametrize("word", ["NaN", "nan", "N/A", "#N/A", "None", "null", "inf", "1e5", "007"])
@pytest.mark.sample(4)
def test_words_that_programs_take_for_nothing_or_a_number_are_texts(sheet: Sheet, anna: User, word: str) -> None:
    [answer] = changed(sheet, anna, {SAYS: word}).answers[bread()]
    assert answer.value == word
    actions.record(assignment=bread(), answers=[answer], key=uuid.uuid4())
    made = workbook(grid(sheet, anna))
    assert (page(made)[SAYS].value, page(made)[SAYS].data_type) == (word, "s")
    assert read(made, grid(sheet, anna)) == Reading()


# --- a workbook from before the wording of what is asked was changed ---


def reworded(sheet: Sheet, *changes: tuple[str, str]) -> Sheet:
    """The same sheet after another wording; each change is of a text that stands in the scheme once."""
    scheme = sheet.study.scheme
    text = re.sub(r"version: \d+", f"version: {scheme.version + 1}", scheme.source)
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    by = User.objects.filter(is_superuser=True).first() or builders.user("root", superuser=True)
    actions.reword_scheme(study=sheet.study, spec=load_scheme(text), source=text, reason="Plainer.", by=by)
    return Sheet.objects.get(pk=sheet.pk)


TITLE = ("{key: input, title: Input,", "{key: input, title: Goes in,")


def test_what_was_called_otherwise_when_a_workbook_was_made_is_read(client: Client, sheet: Sheet, anna: User) -> None:
    """Headings of columns, those of lines, and the words of the menus, whichever wording they are of."""
    made = filled(workbook(grid(sheet, anna)), {KIND: "mix", INPUT: "flour", GRAMS: 250, MADE_OF: "flour"})
    sheet = reworded(sheet, TITLE, ("title: Made of", "title: Consists of"), ("label: Mix}", "label: Stir}"))
    between = filled(workbook(grid(sheet, anna)), {"C19": "Stir", "D19": "dough"})
    sheet = reworded(sheet, ("title: Goes in,", "title: Taken,"), ("label: Stir}", "label: Blend}"))
    client.force_login(anna)
    assert "4 changed cells were taken in." in bring(client, sheet, made)
    assert "2 changed cells were taken in." in bring(client, sheet, between)
    assert standing() == {
        ("bread", "made-of"): "flour",
        ("Stir.", "kind"): "mix",
        ("Stir.", "input"): "flour",
        ("Stir.", "grams"): 250,
        ("Bake.", "kind"): "mix",
        ("Bake.", "input"): "dough",
    }


def test_a_column_that_was_moved_is_none_that_was_called_otherwise(sheet: Sheet, anna: User) -> None:
    made = workbook(grid(sheet, anna))
    changes = {"D17": "Grams", "E17": "Input", INPUT: "flour"}
    sheet = reworded(sheet, TITLE)
    assert read(filled(made, changes), grid(sheet, anna)).problems == [
        Problem("D17", "“Goes in” stood here, and now “Grams”: was the column moved?"),
        Problem("E17", "“Grams” stood here, and now “Input”: was the column moved?"),
    ]


def test_titles_that_changed_places_are_the_columns_of_neither(sheet: Sheet, anna: User) -> None:
    """Whether the columns or the titles changed places cannot be known."""
    made = workbook(grid(sheet, anna))
    sheet = reworded(
        sheet, ("title: Kind,", "title: Grams,"), ("title: Grams, kind: number", "title: Kind, kind: number")
    )
    reading = read(filled(made, {KIND: "Mix"}), grid(sheet, anna))
    assert [problem.cell for problem in reading.problems] == ["C17", "E17"]
    assert not reading.answers


def test_a_label_that_two_options_had_is_none_of_them(sheet: Sheet, anna: User) -> None:
    made = filled(workbook(grid(sheet, anna)), {KIND: "Mix"})
    sheet = reworded(sheet, ("label: Mix}", "label: Stir}"))
    sheet = reworded(sheet, ("label: Nothing}", "label: Mix}"))
    sheet = reworded(sheet, ("label: Mix}", "label: None}"))
    assert read(made, grid(sheet, anna)).problems == [Problem(KIND, "“Mix” is none of: Stir, None.")]
