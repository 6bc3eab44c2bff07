"""Recipes out of small files: both forms, and a sentence for whatever is none."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from recipes.cooking.forms import RecipeForm
from recipes.cooking.parsing import MAX_ITEMS, RecipeRefused, Task, parse_recipe
from tests.translations import speaking_german

YAML = """\
name: Coleslaw
ingredients: [white cabbage, carrots]
steps:
  - Shred the cabbage.
tasks:
  - {task: shred, tool: knife, ingredients: cabbage}
  - {task: mix, ingredients: [cabbage, carrots]}
"""
TEXT = """\
Coleslaw

Ingredients
- white cabbage
- carrots

Steps
1. Shred the cabbage.

Tasks
shred | knife | cabbage
mix | - | cabbage, carrots
"""
# Each list holds the one before it nine times: 9**8 = 43 046 721 entries in 8 lines.
BOMB = 'a: &a ["x", "x", "x", "x", "x", "x", "x", "x", "x"]\n' + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def refusal(text: str) -> str:
    with pytest.raises(RecipeRefused) as refused:
        parse_recipe(text)
    return str(refused.value)


@pytest.mark.parametrize("text", [YAML, TEXT, "\ufeff" + YAML], ids=["yaml", "text", "yaml with a byte order mark"])
def test_both_forms_hold_the_same_recipe(text: str) -> None:
    recipe = parse_recipe(text)

    assert recipe.name == "Coleslaw"
    assert recipe.ingredients == ("white cabbage", "carrots")
    assert recipe.steps == ("Shred the cabbage.",)
    assert recipe.tasks == (Task("shred", "knife", "cabbage"), Task("mix", "", "cabbage, carrots"))


def test_dashes_of_a_word_processor_are_hyphens() -> None:
    recipe = parse_recipe(TEXT.replace("- white", "– white").replace("- carrots", "— carrots"))

    assert recipe.ingredients == ("white cabbage", "carrots")


def test_numbers_are_text() -> None:
    assert parse_recipe("name: 7\ningredients: [1.5, 00 flour]").ingredients == ("1.5", "00 flour")


ENTRIES = {
    "a list": ("[[white cabbage], carrots]", "Entry 1 of “ingredients” should be plain text."),
    "a mapping": ("[carrots, {cabbage: 1 kg}]", "Entry 2 of “ingredients” should be plain text."),
    "yes": ("[yes]", "Entry 1 of “ingredients” should be plain text."),
    "a date": ("[2024-01-01]", "Entry 1 of “ingredients” should be plain text."),
    "nothing": ("[carrots, ~]", "Entry 2 of “ingredients” should be plain text."),
}


@pytest.mark.parametrize(("entries", "said"), ENTRIES.values(), ids=ENTRIES.keys())
def test_an_ingredient_is_a_text_or_a_number(entries: str, said: str) -> None:
    assert refusal(f"name: Slaw\ningredients: {entries}").startswith(said)


def test_steps_and_tasks_hold_texts_as_well() -> None:
    assert "Entry 1 of “steps”" in refusal("name: S\ningredients: [a]\nsteps: [[x]]")
    assert "Entry 1 of “tasks”" in refusal("name: S\ningredients: [a]\ntasks: [{task: {a: b}}]")
    assert "Entry 1 of “tasks”" in refusal("name: S\ningredients: [a]\ntasks: [{task: x, ingredients: [[y]]}]")
    assert "Entry 1 of “name”" in refusal("name: [S]\ningredients: [a]")


# --- files that would take all day, or break the reader ---------------------------------------------------------------

ODD = {
    "nested aliases": (f"name: x\n{BOMB}ingredients: *i", "line 2: write this out; an alias (*) or anchor (&)"),
    "depth": ("name: x\ningredients: " + "[" * 3000, "line 2: lists and mappings are nested too deep"),
    "depth without a name": ("[" * 3000, "The name of the recipe is longer than 200 characters."),
    "a huge number": ("name: x\ningredients: [1" + ":59" * 60_000 + "]", "line 2: a number has at most 40 digits"),
    "many entries": ("name: x\ningredients: {" + "a," * 90_000 + "}", "too many entries; at most 20000 are read"),
    "a tag": ("name: x\ningredients: !!timestamp x", "a tag (!) is not read here"),
    "no date": ("name: x\ningredients: [2024-99-99]", "line 2: a value cannot be read"),
    "NUL as an escape": ('name: x\ningredients: ["a\\u0000b"]', "line 2: this holds a character that is no text"),
    "half a pair as an escape": ('name: x\ningredients: ["\\ud83d"]', "line 2: this holds a character that is no text"),
    "NUL in text": ("Slaw\nIngredients\ncab\x00bage", "The recipe holds characters that are no text."),
    "broken YAML": ("name: x\ningredients: [a", "The recipe cannot be read as YAML, line 2: this is not valid YAML"),
    "a heading of many spaces": (f"Slaw\nIngredients{' ' * 190_000}x", "“Slaw” lists no ingredients"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), ODD.values(), ids=ODD.keys())
@pytest.mark.no_cover
def test_an_odd_file_is_refused_with_a_sentence_and_soon(text: str, said: str) -> None:
    start = time.process_time()

    assert said in refusal(text)
    assert time.process_time() - start < 3  # each of them took longer, or raised something else


def test_too_many_are_counted() -> None:
    many = "".join(f"- item {n}\n" for n in range(MAX_ITEMS + 1))
    assert refusal(f"Slaw\nIngredients\n{many}") == "“Slaw” has 201 ingredients; at most 200 fit on a sheet."


# --- the form ---------------------------------------------------------------------------------------------------------


def form_with(data: bytes, name: str = "slaw.yaml") -> RecipeForm:
    return RecipeForm({}, {"file": SimpleUploadedFile(name, data)})


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    form = form_with(b"\xef\xbb\xbf" + TEXT.encode(), "slaw.txt")

    assert form.is_valid(), form.errors
    assert form.cleaned_data["recipe"].name == "Coleslaw"


def test_a_file_that_is_too_large_is_refused() -> None:
    form = form_with(YAML.encode() + b"#" * RecipeForm.MAX_BYTES)

    assert form.errors == {"file": ["“slaw.yaml” has more than 200 kB. Give a file with the recipe alone."]}


def test_a_file_that_is_no_utf_8_is_refused() -> None:
    form = form_with("name: Crème\ningredients: [crème]".encode("latin-1"))

    assert form.errors == {"file": ["“slaw.yaml” is not UTF-8 text. Save it as UTF-8 and try again."]}


def test_a_sentence_is_translated_where_it_is_shown(tmp_path: Path) -> None:
    german = {"“%(key)s” should be a list.": "„%(key)s“ soll eine Liste sein."}
    with speaking_german(tmp_path, german):
        form = RecipeForm({"text": "name: Slaw\ningredients: cabbage"})

        assert form.non_field_errors() == ["„ingredients“ soll eine Liste sein."]
