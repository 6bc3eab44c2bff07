"""What versions before froze comes out as the same bytes, each report by the methods of its day."""

from __future__ import annotations

import base64
import json
import lzma
from typing import Any

import pytest

from reports.contents import contents_from
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable, unpacked
from tests.reports.make_frozen import file_of

MADE: dict[int, dict[str, Any]] = {n: json.loads(lzma.decompress(file_of(n).read_bytes())) for n in (1, 2, 3)}


@pytest.fixture(scope="module")
def tables() -> dict[tuple[int, str], LabelTable]:
    return {(n, name): unpacked(base64.b64decode(packed)) for n in MADE for name, packed in MADE[n]["tables"].items()}


@pytest.mark.parametrize(("methods", "name"), [(n, name) for n in MADE for name in MADE[n]["tables"]])
def test_a_label_table_keeps_its_digest(methods: int, name: str, tables: dict[tuple[int, str], LabelTable]) -> None:
    assert tables[methods, name].packed() == base64.b64decode(MADE[methods]["tables"][name])


@pytest.mark.parametrize(("methods", "number"), [(n, place) for n in MADE for place in range(len(MADE[n]["reports"]))])
def test_a_report_of_earlier_methods_is_the_same_bytes(
    methods: int, number: int, tables: dict[tuple[int, str], LabelTable]
) -> None:
    frozen = MADE[methods]["reports"][number]
    contents = contents_from(tables[methods, frozen["table"]], Filters.from_json(frozen["filters"]), frozen["language"])

    assert contents.content.decode() == frozen["results"]
