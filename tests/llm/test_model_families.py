"""docs/models.md says what each family of models does: minutes of work, so the quick tests take a few of them."""

from __future__ import annotations

import pytest

from benchmarks import model_families
from tests.llm import tiny

QUICK = [
    "xlstm",
    "whisper",
    "reformer",
    "mamba",
    "phi3, longrope",
    "blt",
    "dots3_note",
    "gemma4_assistant",
    "gemma4_unified_assistant",
    "musicgen",
    "musicgen_melody",
    "gpt_neo, short window",
]


def said() -> dict[str, str]:
    lines = model_families.PAGE.read_text(encoding="utf-8").splitlines()
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def test_the_page_has_every_family_and_none_is_wrong() -> None:
    table = said()
    assert set(model_families.FAMILIES) <= set(table)
    assert not [line for line in table.values() if "wrong" in line or model_families.NOT_BUILT in line.split(" | ")]


def test_a_row_of_the_page_is_read_as_it_was_written() -> None:
    rows = [line for family, line in said().items() if family in model_families.FAMILIES]
    assert [model_families.Finding.of_line(line).line() for line in rows] == rows


@pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=[] if family in QUICK else [pytest.mark.slow]) for family in model_families.FAMILIES],
)
@pytest.mark.filterwarnings("ignore")  # other people's, of families that nobody loads by accident
def test_a_family_is_right_or_refused_as_the_page_says(family: str) -> None:
    if not model_families.can_be_tried(family):
        pytest.skip(f"needs {model_families.NEEDS[family]}")
    found = model_families.finding(family, tiny.tokenizer())
    assert "wrong" not in (found.scored, found.written)
    cells = said()[family].split(" | ")
    assert [found.scored, found.written] == [cells[1], cells[2].removesuffix("(1)").strip()]
