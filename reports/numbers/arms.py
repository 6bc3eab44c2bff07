"""What a judge's label has to do with the arm: the order in which options were said, or the words. Arrays in, frozen
results out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from reports.data.arrays import Intervals, QuestionData
from reports.data.label_table import ArmEntry, LabelTable, RaterEntry
from reports.numbers.judge import JudgeResult
from reports.stats.answers import MISSING, IntArray
from reports.stats.hiring.arms import Flips, Swapped, flips, place_shares, swapped
from reports.stats.hiring.means import Mean, ShareBounds


@dataclass(frozen=True)
class Arm:
    """One arm of a judge, the judge itself among them. turn: how many options stand last that would stand first; shift:
    the same of the candidates in the evidence; reworded: its words are others; accuracy: A_m, None where it has none;
    n_cells: cells with a label."""

    judge: RaterEntry
    turn: int
    shift: int
    reworded: bool
    accuracy: float | None
    n_cells: int


@dataclass(frozen=True)
class ArmsResult:
    """The arms of one judge on one question, the judge first. flips: see there. by: what intervals take as one, the
    document or the sheet. places: how often what stood at each place was chosen, empty where not every option stood at
    every place equally often, or where an option stood at none. standing: the same of the candidates in the evidence,
    of all verdicts for one of them. swapped: of two candidates, shown in both orders."""

    arms: tuple[Arm, ...]
    flips: Flips
    by: str
    places: tuple[Mean, ...]
    standing: tuple[Mean, ...] = ()
    swapped: Swapped | None = None


def arms_results(
    data: QuestionData, table: LabelTable, judges: Sequence[JudgeResult], how: Intervals
) -> tuple[ArmsResult, ...]:
    """Of each judge that has another arm with labels here."""
    result_of = {result.judge.code: result for result in judges}
    found = []
    for base in dict.fromkeys(entry.of for entry in table.arms):
        entries = [
            entry
            for entry in table.arms
            if entry.of == base and entry.code in result_of and data.judges[entry.code].cell.size
        ]
        if len(entries) > 1 and entries[0].code == base:
            found.append(_result(data, entries, [result_of[entry.code] for entry in entries], how))
    return tuple(found)


def _result(
    data: QuestionData, entries: Sequence[ArmEntry], results: Sequence[JudgeResult], how: Intervals
) -> ArmsResult:
    of_arms = [data.judges[entry.code] for entry in entries]
    cells, first = np.unique(np.concatenate([of.cell for of in of_arms]), return_index=True)
    by_sheet = how.by == "sheet"
    cluster = np.concatenate([of.sheet if by_sheet else of.document for of in of_arms])[first]
    codes: IntArray = np.full((len(entries), cells.size), MISSING, dtype=np.int64)
    for place, of in enumerate(of_arms):
        codes[place, np.searchsorted(cells, of.cell)] = of.code
    return ArmsResult(
        arms=tuple(
            Arm(result.judge, entry.turn, entry.shift, entry.reworded, result.accuracy.value, of.cell.size)
            for entry, result, of in zip(entries, results, of_arms, strict=True)
        ),
        flips=flips(codes, cluster, bounds=how.shares),
        by="sheet" if by_sheet else "document",
        places=_places(data, *_alike(entries, codes, "shift"), cluster, bounds=how.shares),
        **_candidates(data, entries, codes, cluster, bounds=how.shares),
    )


def _alike(entries: Sequence[ArmEntry], codes: IntArray, what: str) -> tuple[list[ArmEntry], IntArray]:
    """The arms that have this as the first one has it, and their labels."""
    kept = [place for place, entry in enumerate(entries) if getattr(entry, what) == getattr(entries[0], what)]
    return [entries[place] for place in kept], codes[kept]


class _OfCandidates(TypedDict, total=False):
    standing: tuple[Mean, ...]
    swapped: Swapped


def _candidates(
    data: QuestionData, entries: Sequence[ArmEntry], codes: IntArray, cluster: IntArray, *, bounds: ShareBounds
) -> _OfCandidates:
    """Where each candidate stood at each place once, in the same words and with the options in the same order."""
    entries, codes = _alike(entries, codes, "turn")
    kept = [place for place, entry in enumerate(entries) if not entry.reworded]
    entries, codes = [entries[place] for place in kept], codes[kept]
    number = {option.key: place for place, option in enumerate(data.spec.options)}
    shown = [entry.stood.get(data.name, ()) for entry in entries]
    k = len(shown[0][0]) if shown[0] else 0
    if k < 2 or len(entries) != k or len({entry.shift for entry in entries}) != k or not all(shown):
        return {}
    places: IntArray = np.full(codes.shape, MISSING, dtype=np.int64)
    for arm, rows in enumerate(shown):
        # Behind the options stands what is no label; no candidate, a tie, is k.
        place_of = np.array([*[k] * len(number), MISSING], dtype=np.int64)
        for row in rows:
            place_of[[number[key] for key in row]] = np.arange(k)
        places[arm] = place_of[codes[arm]]
    whole = (places != MISSING).all(axis=0)
    decided = np.where(whole & (places < k), places, MISSING)
    found = _OfCandidates(standing=place_shares(decided, cluster, n_places=k, bounds=bounds))
    if k == 2:
        found["swapped"] = swapped(places[0], places[1], cluster, bounds=bounds)
    return found


def _places(
    data: QuestionData, entries: Sequence[ArmEntry], codes: IntArray, cluster: IntArray, *, bounds: ShareBounds
) -> tuple[Mean, ...]:
    number = {option.key: place for place, option in enumerate(data.spec.options)}
    orders = [[number[key] for key in entry.orders.get(data.name, ()) if key in number] for entry in entries]
    k = len(orders[0])
    stood = Counter((option, place) for order in orders for place, option in enumerate(order))
    if k < 2 or any(sorted(order) != sorted(orders[0]) for order in orders) or len(stood) < k * k:
        return ()
    if len(set(stood.values())) > 1 or not set(np.unique(codes).tolist()) <= {MISSING, *orders[0]}:
        return ()
    places: IntArray = np.full(codes.shape, MISSING, dtype=np.int64)
    # Only cells with a label of every arm: else an option would stand at one place more often than at another.
    whole = (codes != MISSING).all(axis=0)
    for arm, order in enumerate(orders):
        place_of = np.full(len(number) + 1, MISSING, dtype=np.int64)
        place_of[order] = np.arange(k)
        places[arm, whole] = place_of[codes[arm, whole]]
    return place_shares(places, cluster, n_places=k, bounds=bounds)
