"""How much of what was drafted people changed, and how far: the edit rate."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from annotation.answers import AnswerRefused, kind_of
from reports.data.arrays import Filters, StudyData
from reports.stats.bootstrap import Interval, resampling_of
from reports.stats.pairs import FloatArray


@dataclass(frozen=True)
class EditRate:
    """One rater's answers to one question that began as those of another rater, by their code.

    n: drafted answers that stand; n_confirmed: those that were looked at; n_changed: of them, not the same answer any
    more; rate: n_changed / n_confirmed; distance: the mean over confirmed ones of how far each was changed, 0 not at
    all, 1 nothing in common. n_unknown: confirmed ones of whose draft nothing is known, left out of both.
    """

    question: str
    rater: str
    drafted_by: str
    n: int
    n_confirmed: int
    n_changed: int
    n_unknown: int
    rate: float | None
    distance: float | None
    rate_interval: Interval | None
    distance_interval: Interval | None


def edit_rates(data: StudyData, filters: Filters) -> tuple[EditRate, ...]:
    table = data.table
    wanted = {question.name for question in (*data.questions, *data.value_questions)}
    found: dict[tuple[int, str, str], list[tuple[int, bool, float | None]]] = defaultdict(list)
    for draft in table.drafts:
        assignment, _column, number = table.labels[draft.label, :3].tolist()
        section, spec = table.questions[number]
        if f"{section.key}.{spec.key}" not in wanted:
            continue
        work = table.assignments[assignment]
        key = (number, table.raters[work.rater].code, draft.drafted_by)
        distance = _distance(data, number, draft.answer, draft.label) if draft.confirmed and draft.answer else None
        found[key].append((work.row, draft.confirmed, distance))
    return tuple(_rate(data, key, found[key], filters) for key in sorted(found))


def _distance(data: StudyData, number: int, before: str, label: int) -> float | None:
    spec = data.table.questions[number][1]
    kind = kind_of(spec)
    try:
        a, b = kind.value(spec, before), kind.value(spec, data.table.code_of(label))
    except AnswerRefused:  # what was drafted is no answer any more
        return None
    return kind.distance(spec, a, b)


def _rate(
    data: StudyData, key: tuple[int, str, str], lines: list[tuple[int, bool, float | None]], filters: Filters
) -> EditRate:
    section, spec = data.table.questions[key[0]]
    known = [(row, distance) for row, confirmed, distance in lines if confirmed and distance is not None]
    changed = [distance > 0 for _row, distance in known]
    confirmed = sum(confirmed for _row, confirmed, _distance in lines)
    intervals = _intervals(known, changed, filters)
    return EditRate(
        question=f"{section.key}.{spec.key}",
        rater=key[1],
        drafted_by=key[2],
        n=len(lines),
        n_confirmed=confirmed,
        n_changed=sum(changed),
        n_unknown=confirmed - len(known),
        rate=sum(changed) / len(known) if known else None,
        distance=sum(distance for _row, distance in known) / len(known) if known else None,
        rate_interval=intervals[0],
        distance_interval=intervals[1],
    )


def _intervals(
    known: list[tuple[int, float]], changed: list[bool], filters: Filters
) -> tuple[Interval | None, Interval | None]:
    """Drawn by document, whatever the report draws: a rater's drafts lie in few sheets."""
    if not filters.by or not known:
        return None, None
    rows, cluster = np.unique([row for row, _distance in known], return_inverse=True)
    draws = resampling_of(rows, "document", n_draws=filters.n_draws, seed=filters.seed, group_many=True)
    if draws.too_few:
        return draws.without_draws(), draws.without_draws()
    sums = np.zeros((rows.size, 3))
    np.add.at(sums, cluster, [[1.0, float(c), d] for c, (_row, d) in zip(changed, known, strict=True)])

    def means(features: FloatArray) -> FloatArray:
        means: FloatArray = features[:, 1:] / features[:, :1]
        return means

    drawn = draws.draw(sums, means)
    return draws.interval(drawn[:, 0]), draws.interval(drawn[:, 1])
