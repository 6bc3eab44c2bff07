"""The reader of extracted lists: what is read, what is mended and said, what is refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.extraction.answers import (
    MAX_CHARACTERS,
    MAX_ITEM_CHARACTERS,
    MAX_ITEMS,
    ExtractionRefused,
    Repair,
    Shape,
    read,
    write,
)

LIST = Shape("ingredient")
TASKS = Shape("task", ("name", "tool", "ingredients"))


def texts(answer: str) -> tuple[list[str], dict[str, int]]:
    extracted = read(answer, LIST)
    return [item["ingredient"] for item in extracted.items], {str(key): n for key, n in extracted.repairs.items()}


FLOUR = "<ingredient>2 cups flour</ingredient>"
EGGS = "<ingredient>3 eggs</ingredient>"
BOTH = ["2 cups flour", "3 eggs"]


@pytest.mark.parametrize(
    ("answer", "items", "repairs"),
    [
        pytest.param(f"<ingredients>{FLOUR}{EGGS}</ingredients>", BOTH, {}, id="as asked"),
        pytest.param(
            f'<?xml version="1.0"?>\n<ingredients>\n  {FLOUR}\n  <!-- yes -->{EGGS}\n</ingredients>\n',
            BOTH,
            {},
            id="XML",
        ),
        pytest.param(
            "<ingredients><ingredient>salt &amp; pepper &lt;x&gt;</ingredient></ingredients>",
            ["salt & pepper <x>"],
            {},
            id="XML's own entities",
        ),
        pytest.param(
            "<ingredients><ingredient><![CDATA[a & b]]></ingredient></ingredients>", ["a & b"], {}, id="CDATA"
        ),
        pytest.param(
            "<ingredients><ingredient>salt & pepper</ingredient><ingredient>&frac12; l, < 1</ingredient></ingredients>",
            ["salt & pepper", "½ l, < 1"],
            {"entities": 3},
            id="a bare &, an HTML entity, a bare <",
        ),
        pytest.param(
            f"```xml\n<ingredients>{FLOUR}{EGGS}</ingredients>\n```", BOTH, {"fence": 1}, id="a Markdown fence"
        ),
        pytest.param(
            f"Sure! Here you are:\n<ingredients>{FLOUR}{EGGS}</ingredients>\nEnjoy your <b>meal</b>!",
            BOTH,
            {"around": 1},
            id="talk around it",
        ),
        pytest.param(
            f"<think>is it <ingredient>this</ingredient>?</think><ingredients>{FLOUR}{EGGS}</ingredients>",
            BOTH,
            {"thoughts": 1},
            id="thoughts",
        ),
        pytest.param(
            f"<ingredients>For the dough:{FLOUR}and{EGGS}</ingredients>", BOTH, {"between": 2}, id="text between items"
        ),
        pytest.param(f"{FLOUR}\n{EGGS}", BOTH, {"no-list": 1}, id="without the list's tags"),
        pytest.param(
            "<ingredients><ingredient>2 cups flour\n<ingredient>3 eggs\n</ingredients>",
            BOTH,
            {"unclosed": 2},
            id="items not closed",
        ),
        pytest.param(
            f"<ingredients>{FLOUR}</ingredient>{EGGS}</ingredients></ingredients>",
            BOTH,
            {"extra-closing": 2},
            id="closed twice",
        ),
        pytest.param(
            "<Ingredients><INGREDIENT>2 cups flour</ingredient><ingredient class='x'>3 eggs</Ingredient></ingredients>",
            BOTH,
            {},
            id="letter case and attributes",
        ),
        pytest.param(
            "<ingredients><ingredient><q>2</q><unit>cups</unit> <b>flour</b></ingredient></ingredients>",
            ["2 cups flour"],
            {"unknown-tags": 3},
            id="tags that were not asked for",
        ),
        pytest.param(
            f"<ingredients>{FLOUR}{EGGS}</ingredients>\n<ingredients>{FLOUR}{EGGS}</ingredients>",
            BOTH,
            {"same-list": 1},
            id="the same list again",
        ),
        pytest.param(
            f"<ingredients>{FLOUR}{EGGS}{EGGS}{EGGS}</ingredients>",
            BOTH,
            {"same-item": 2},
            id="an item again and again",
        ),
        pytest.param(
            f"<ingredients>{FLOUR}<ingredient> </ingredient><ingredient/>{EGGS}</ingredients>",
            BOTH,
            {"empty-items": 2},
            id="empty items",
        ),
        pytest.param(f"<ingredients>{FLOUR}{EGGS}<ingredient>1 cup mi", BOTH, {"cut-off": 1}, id="cut off in an item"),
        pytest.param(f"<ingredients>{FLOUR}{EGGS}<ingre", BOTH, {"around": 1, "cut-off": 1}, id="cut off in a tag"),
        pytest.param(f"<ingredients>{FLOUR}{EGGS}", BOTH, {"cut-off": 1}, id="cut off between items"),
        pytest.param(
            "<ingredients><ingredient>2 cups\x00 flour</ingredient></ingredients>",
            ["2 cups flour"],
            {"controls": 1},
            id="control characters",
        ),
    ],
)
def test_what_is_read_and_what_was_mended(answer: str, items: list[str], repairs: dict[str, int]) -> None:
    assert texts(answer) == (items, repairs)


@pytest.mark.parametrize(
    ("answer", "item", "repairs"),
    [
        pytest.param(
            "<tasks><task><name>whisk</name><tool>bowl</tool><ingredients>eggs, milk</ingredients></task></tasks>",
            {"name": "whisk", "tool": "bowl", "ingredients": "eggs, milk"},
            {},
            id="as asked",
        ),
        pytest.param("<tasks><task><name>rest</name><tool/></task></tasks>", {"name": "rest"}, {}, id="no tool"),
        pytest.param(
            "<tasks><task><name>whisk<tool>bowl</task></tasks>",
            {"name": "whisk", "tool": "bowl"},
            {"unclosed": 2},
            id="fields not closed",
        ),
        pytest.param(
            "<tasks><task><name>whisk</name><ingredients><ingredient>eggs</ingredient><ingredient>milk</ingredient>"
            "</ingredients></task></tasks>",
            {"name": "whisk", "ingredients": "eggs, milk"},
            {"unknown-tags": 2},
            id="a list in a field",
        ),
        pytest.param(
            "<tasks><task><name>whisk</name><tool>bowl</tool><tool>whisk</tool></task></tasks>",
            {"name": "whisk", "tool": "bowl, whisk"},
            {"repeated-fields": 1},
            id="a field twice",
        ),
        pytest.param(
            "<tasks><task><tool>bowl</tool></task><task><name>stir</name></task></tasks>",
            {"name": "stir"},
            {"nameless": 1},
            id="a task without a name",
        ),
        pytest.param(
            "<tasks><task>whisk <name>whisk</name></task></tasks>", {"name": "whisk"}, {"between": 1}, id="loose text"
        ),
    ],
)
def test_items_with_fields(answer: str, item: dict[str, str], repairs: dict[str, int]) -> None:
    extracted = read(answer, TASKS)
    assert extracted.items == (item,)
    assert {str(key): n for key, n in extracted.repairs.items()} == repairs


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no-items"),
        ("I cannot do that.", "no-items"),
        ("- flour\n- eggs", "no-items"),
        ("<ingredients></ingredients>", "no-items"),
        ("<ingredients>flour, eggs</ingredients>", "no-items"),
        ("</ingredient></ingredients>", "no-items"),
        ("<ingredient>cut o", "no-items"),
        (f"<ingredients>{FLOUR}</ingredients><ingredients>{EGGS}</ingredients>", "two-lists"),
        (f'<!DOCTYPE x [<!ENTITY a "aaaa">]><ingredients>{FLOUR}</ingredients>', "declares"),
        (
            f"<ingredients>{'<ingredient>a</ingredient><ingredient>b</ingredient>' * 251}</ingredients>",
            "too-many-items",
        ),
        (f"<ingredients><ingredient>{'a' * (MAX_ITEM_CHARACTERS + 1)}</ingredient></ingredients>", "long-item"),
        (" " * (MAX_CHARACTERS + 1), "too-long"),
        (f"<think>\nPerhaps <ingredients>{FLOUR}</ingredients>? Or", "no-answer"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_what_is_refused(answer: str, reason: str) -> None:
    with pytest.raises(ExtractionRefused) as refused:
        read(answer, LIST)
    assert refused.value.reason == reason
    assert str(refused.value).endswith(".")


def test_the_most_items_that_are_taken() -> None:
    items = [{"ingredient": str(n)} for n in range(MAX_ITEMS)]
    assert read(write(items, LIST), LIST).items == tuple(items)


@pytest.mark.parametrize(
    "answer",
    ["<!--" * 45_000, "<?" * 90_000, "<ingredient " * 15_000, "<" * 190_000, "&" * 190_000, "<a>" * 60_000,
     "<ingredient>" * 16_000, "]]>" * 60_000, "```\n" * 45_000],
    ids=lambda answer: answer[:12].strip(),
)  # fmt: skip
@pytest.mark.no_cover
def test_no_answer_takes_long(answer: str) -> None:
    begin = time.process_time()
    with pytest.raises(ExtractionRefused):
        read(f"<ingredients>{answer}"[:MAX_CHARACTERS], LIST)
    assert time.process_time() - begin < 5


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]), min_size=1, max_size=30).map(
    lambda text: " ".join(text.split())
)
TEXT = WORDS.filter(bool)


def _without_neighbours(items: list[dict[str, str]]) -> list[dict[str, str]]:
    return [item for n, item in enumerate(items) if n == 0 or item != items[n - 1]]


@given(st.lists(st.fixed_dictionaries({"name": TEXT}, optional={"tool": TEXT, "ingredients": TEXT}), min_size=1))
def test_what_is_written_is_read_without_a_repair(items: list[dict[str, str]]) -> None:
    items = _without_neighbours(items)
    extracted = read(write(items, TASKS), TASKS)
    assert extracted.items == tuple({field: item[field] for field in TASKS.fields if field in item} for item in items)
    assert extracted.repairs == {}


@given(st.text(alphabet="<>/&;! ab", max_size=60), st.booleans())
def test_whatever_is_written_is_read_or_refused_and_no_word_is_made_up(noise: str, at_the_end: bool) -> None:
    answer = f"<ingredients>{FLOUR}{noise}{EGGS}</ingredients>" if at_the_end else f"{noise}{FLOUR}"
    try:
        extracted = read(answer, LIST)
    except ExtractionRefused:
        return
    for item in extracted.items:
        assert set(item["ingredient"]) <= set("2 cups flour3 eggs") | set(noise) | {"<", "&"}
    assert set(extracted.repairs) <= set(Repair)
