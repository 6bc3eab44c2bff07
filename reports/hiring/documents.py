"""The document of a certificate: a function of a label table and a request, as the same bytes on every day. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reports.data.label_table import IntArray, LabelTable, canonical_json
from reports.hiring.cells import JudgeCells, judge_cells, part_of, score_kind

if TYPE_CHECKING:
    from reports.stats.hiring.certificate import Certificate as Result

FORMAT = 1
BY_ROW, BY_ITEM, BY_SHEET = "row", "item", "sheet"
# The bound that decides, as the statistics call it.
APPROXIMATE: Literal["design"] = "design"
EXACT: Literal["betting"] = "betting"
BOUNDS = (APPROXIMATE, EXACT)
# So that the last digits of another processor change no byte.
_DIGITS = 12


@dataclass(frozen=True)
class Tested:
    """`cells`: how many had a label of people, in both parts; `tested`: of these, in the test part; `divided`: where
    people were divided."""

    content: bytes
    result: Result
    cells: int
    tested: int
    divided: int


def test_judge(table: LabelTable, request: Mapping[str, Any]) -> Tested:
    """Test a judge as the request says.

    Args:
        request: judge, question, epsilon, confidence, bound (which decides: `APPROXIMATE`, also where it is missing,
            as in documents from before there was a choice, or `EXACT`), most (cells of a document), unit, split (unit,
            share, seed and the `test` rows as [sheet, row]), left_out (rows that say nothing of the others, since a
            judge took them over and they were not drawn, or has seen them); all else goes into the document as it is.
    """
    from reports.stats.hiring.certificate import certify

    cells = used_cells(table, request)
    names = {(sheet, row) for sheet, row in request["split"]["test"]}
    in_test = part_of(cells.row, table, names)
    judged = judged_of(cells, request["split"]["unit"])
    result = certify(
        judged.only(~in_test),
        judged.only(in_test),
        epsilon=request["epsilon"],
        delta=round(1 - request["confidence"], _DIGITS),
        method=request.get("bound", APPROXIMATE),
        most=request["most"],
    )
    # The result names the bound.
    kept = {key: value for key, value in request.items() if key not in ("split", "left_out", "bound")}
    told = asdict(result)
    del told["points"]  # of the development part alone; `recompute` has them
    content = canonical_json(
        _rounded(
            {
                "format": FORMAT,
                **kept,
                "data_sha256": table.digest,
                "study": {"slug": table.slug, "title": table.title},
                "score": score_kind(table, request["judge"], request["question"]),
                "split": {key: request["split"][key] for key in ("unit", "share", "seed")},
                "n_left_out": len(request["left_out"]),
                "n_divided": cells.ties,
                "result": told,
            }
        )
    )
    return Tested(content, result, int(cells.row.size), int(in_test.sum()), cells.ties)


test_judge.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def used_cells(table: LabelTable, request: Mapping[str, Any]) -> JudgeCells:
    """The cells that a test rests on: those that people answered, but for the rows that are left out."""
    cells = judge_cells(table, request["judge"], request["question"])
    left_out = part_of(cells.row, table, {(sheet, row) for sheet, row in request["left_out"]})
    return cells.at(cells.known & ~left_out)


def clusters_of(cells: JudgeCells, unit: str) -> IntArray:
    """What is drawn as a whole: rows, items of two texts, or sheets."""
    return {BY_SHEET: cells.sheet, BY_ITEM: cells.item}.get(unit, cells.row)


def judged_of(cells: JudgeCells, unit: str) -> Any:
    """As `reports.stats.hiring.clusters.Judged`."""
    from reports.stats.hiring.clusters import Judged

    return Judged.of(cells.wrong, cells.score, clusters_of(cells, unit))


def _rounded(value: Any) -> Any:
    """Numbers of NumPy as Python's, floats to twelve digits."""
    if isinstance(value, dict):
        return {key: _rounded(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(of) for of in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
