"""What versions before froze comes out as the same bytes, each report by the methods of its day."""

from __future__ import annotations

import base64
import json
import lzma
from typing import Any

import pytest

from reports.contents import contents_from
from reports.data.arrays import METHODS, Filters
from reports.data.label_table import LabelTable, unpacked
from tests.reports.make_frozen import file_of

MADE: dict[int, dict[str, Any]] = {n: json.loads(lzma.decompress(file_of(n).read_bytes())) for n in range(1, METHODS)}
EACH_TIME = 2  # reports of each methods; the others are slow


@pytest.fixture(scope="module")
def tables() -> dict[tuple[int, str], LabelTable]:
    return {(n, name): unpacked(base64.b64decode(packed)) for n in MADE for name, packed in MADE[n]["tables"].items()}


@pytest.mark.parametrize(("methods", "name"), [(n, name) for n in MADE for name in MADE[n]["tables"]])
def test_a_label_table_keeps_its_digest(methods: int, name: str, tables: dict[tuple[int, str], LabelTable]) -> None:
    assert tables[methods, name].packed() == base64.b64decode(MADE[methods]["tables"][name])


@pytest.mark.parametrize(
    ("methods", "number"),
    [
        pytest.param(n, place, marks=[pytest.mark.slow] if place >= EACH_TIME else [])
        for n in MADE
        for place in range(len(MADE[n]["reports"]))
    ],
)
def test_a_report_of_earlier_methods_is_the_same_bytes(
    methods: int, number: int, tables: dict[tuple[int, str], LabelTable]
) -> None:
    frozen = MADE[methods]["reports"][number]
    contents = contents_from(tables[methods, frozen["table"]], Filters.from_json(frozen["filters"]), frozen["language"])

    made = contents.content.decode()
    if made != frozen["results"] and methods in (2, 3):
        # Before methods 4 a processor's rounding decided whether a draw was a tie, which moves ends of intervals by
        # some thousandths: another processor than the one that froze them makes others, and nothing else.
        assert_alike(json.loads(made), json.loads(frozen["results"]))
    else:
        assert made == frozen["results"]


def assert_alike(made: Any, frozen: Any, *, is_end: bool = False) -> None:
    """Equal but for the ends of intervals, which are near each other."""
    if isinstance(frozen, dict):
        assert made.keys() == frozen.keys()
        if "heads" in frozen and "rows" in frozen:
            ends = [
                head["key"].endswith(("_low", "_high")) or head["key"] in ("low", "high") for head in frozen["heads"]
            ]
            assert made["heads"] == frozen["heads"]
            assert len(made["rows"]) == len(frozen["rows"])
            for row, before in zip(made["rows"], frozen["rows"], strict=True):
                for value, was, end in zip(row, before, ends, strict=True):
                    assert_alike(value, was, is_end=end)
        for key, was in frozen.items():
            if key not in ("heads", "rows"):
                assert_alike(made[key], was)
    elif isinstance(frozen, list):
        assert len(made) == len(frozen)
        for one, was in zip(made, frozen, strict=True):
            assert_alike(one, was)
    elif is_end and isinstance(frozen, float):
        assert made == pytest.approx(frozen, abs=0.02)
    else:
        assert made == frozen
