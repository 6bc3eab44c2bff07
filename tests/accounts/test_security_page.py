"""What docs/security.md says is held by a test is: each file and each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.once
def test_each_test_that_the_page_names_is_there() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    files = set(re.findall(r"`((?:tests|annotation|judges|recipes|templates|requirements)/[\w/.-]+\.\w+)", page))
    names = set(re.findall(r"\b(test_[a-z0-9_]{12,})\b(?!\.py)", page)) - {Path(file).stem for file in files}

    assert len(files) > 10
    assert len(names) > 80
    assert sorted(file for file in files if not (ROOT / file).exists()) == []
    assert sorted(name for name in names if f"def {name}" not in tests) == []


# How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; they come first in it. WebRTC is not used.
SECTIONS = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2, "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1, "3.2": 2, "3.3": 4,
    "3.4": 6, "3.5": 5, "3.7": 2, "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4, "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3,
    "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4, "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5,
    "7.5": 2, "7.6": 2, "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1, "9.1": 3, "9.2": 4, "10.1": 2, "10.2": 2, "10.3": 4,
    "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3, "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
    "12.1": 3, "12.2": 2, "12.3": 4, "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5, "14.1": 2, "14.2": 4, "14.3": 3,
    "15.1": 3, "15.2": 3, "15.3": 7, "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3,
}  # fmt: skip


@pytest.mark.once
def test_each_requirement_of_levels_1_and_2_stands_once_in_the_table() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    heads = [line.split("|")[1] for line in page.splitlines() if re.match(r"\| \d+\.\d+\.\d+", line)]
    found: list[str] = []
    for head in heads:
        for section, first, last in re.findall(r"\b(\d+\.\d+)\.(\d+)(?: to \1\.(\d+))?", head):
            found += [f"{section}.{number}" for number in range(int(first), int(last or first) + 1)]

    assert sum(SECTIONS.values()) + 7 == 253  # with those of WebRTC, as the standard counts them
    assert sorted(found) == sorted(f"{key}.{n}" for key, most in SECTIONS.items() for n in range(1, most + 1))


def test_each_row_names_a_test_or_says_why_there_is_none() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| (?:\d+\.\d+\.\d+|\*\*V17)", line)]
    said = re.compile(r"`(?:test_|tests/)|\*(?:no|none|operator|checked|untested)\*")

    assert len(rows) > 160
    assert [row for row in rows if not said.search(row.rsplit(" | ", 1)[1])] == []
