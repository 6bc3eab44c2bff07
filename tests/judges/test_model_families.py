"""docs/models.md says what each family of models does: minutes of work, so the quick tests take a few of them."""

from __future__ import annotations

import pytest

from benchmarks import model_families
from tests.judges import tiny

QUICK = ["xlstm", "whisper", "reformer", "mamba", "phi3, longrope"]


def said() -> dict[str, str]:
    lines = model_families.PAGE.read_text(encoding="utf-8").splitlines()
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def test_the_page_has_every_family_and_none_is_wrong() -> None:
    table = said()
    assert set(model_families.FAMILIES) <= set(table)
    assert not [line for line in table.values() if "wrong" in line]


@pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=[] if family in QUICK else [pytest.mark.slow]) for family in model_families.FAMILIES],
)
@pytest.mark.filterwarnings("ignore")  # other people's, of families that nobody loads by accident
def test_a_family_is_right_or_refused_as_the_page_says(family: str) -> None:
    found = model_families.finding(family, tiny.tokenizer())
    assert "wrong" not in (found.scored, found.written)
    cells = said()[family].split(" | ")
    assert [found.scored, found.written] == [cells[1], cells[2].removesuffix("(1)").strip()]
