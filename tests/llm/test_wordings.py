"""Files of prompt types: YAML and tables, and what they are refused for."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm.generating import wordings
from llm.generating.wordings import WordingsRefused

YAML = """\
types:
  - {key: general, title: General, wordings: ["How is $name made?", "Cook $name."]}
  - {key: bare, wordings: [$name]}
"""
TABLE = (
    'type,wording\nGeneral,How do you make [recipe name]?\nGeneral,"Well, cook [Name]."\nMore detail,$name of $region\n'
)


def test_yaml_and_tables_give_types_with_their_wordings() -> None:
    of_yaml = wordings.read(YAML)
    assert [(each.key, each.title, each.wordings) for each in of_yaml] == [
        ("general", "General", ("How is $name made?", "Cook $name.")),
        ("bare", "bare", ("$name",)),
    ]
    general, detail = wordings.read(TABLE, known=["region"])
    assert (general.key, general.wordings) == ("general", ("How do you make $name?", "Well, cook $name."))
    assert (detail.key, detail.title) == ("more-detail", "More detail")
    (pasted,) = wordings.read("Type\tWording\nLetter\tDear cook, how is $name made?\n")
    assert pasted.wordings == ("Dear cook, how is $name made?",)


def test_wordings_come_one_after_the_other_and_are_filled() -> None:
    general = wordings.read(YAML)[0]
    assert [general.wording(number) for number in range(3)] == [
        "How is $name made?",
        "Cook $name.",
        "How is $name made?",
    ]
    assert (
        wordings.fill("$name of $region, $$5", {"name": " Fish\nand chips", "region": "UK"})
        == "Fish and chips of UK, $5"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "headings"),
        ("Cook $name.", "headings"),
        ("types: []", "types"),
        ("types:\n  - {key: a, wordings: [$name]}\n  - {key: a, wordings: [$name]}", "two types"),
        ("types:\n  - {key: a, wordings: [Cook it.]}", "where the name goes"),
        ("types:\n  - {key: a, wordings: [$name in $town]}", "$town"),
        ("types:\n  - {key: a, wordings: ['$name costs $ 5']}", "single \\$"),
        ("types: &a [*a]", "line 1"),
        ("type,wording\na,", "Line 2"),
        ("type,wording\na,Well, cook $name.", "more cells than headings"),
        ("type,wording\n", "no wording"),
        ("type,wording\na,\x00$name", "no text"),
    ],
)
def test_what_is_no_file_of_prompts_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(WordingsRefused, match=said.replace("$town", r"\$town")):
        wordings.read(text)


def test_the_papers_five_types_have_a_wording_for_each_of_five_texts() -> None:
    file = Path("recipes/memorization/prompts/generation/recipes.yaml")
    types = wordings.read(file.read_text(encoding="utf-8"), known=["region"])
    assert [each.key for each in types] == ["general", "more-detail", "less-detail", "origin", "freestyle"]
    assert [len(each.wordings) for each in types] == [5, 5, 5, 5, 1]  # freestyle is the name alone
