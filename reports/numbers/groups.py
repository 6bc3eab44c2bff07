"""Agreement told apart by a facet of rows, such as the engine that found a page; hidden facets too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reports.data.arrays import Filters, StudyData
from reports.data.label_table import FloatArray, RaterEntry
from reports.stats.agreement import Statistic, alpha
from reports.stats.answers import Answers
from reports.stats.bootstrap import Interval
from reports.stats.coefficients import Level
from reports.stats.intervals import agreement_intervals
from reports.stats.judge import judge_accuracy
from reports.stats.numeric import NumericAgreement, numeric_agreement, numeric_intervals
from reports.stats.values import ExactAgreement, exact_agreement, exact_intervals


@dataclass(frozen=True)
class Group:
    """The rows that have one word at the facet, "" where they have none. `alpha`: Krippendorff's, at the level of the
    question. judges: A_m of each, in the order of the report's judges. Intervals are empty where none were asked for.
    """

    word: str
    n_rows: int
    n_answers: int
    exact: ExactAgreement
    alpha: float | None
    alpha_reason: str
    intervals: Mapping[str, Interval]
    judges: tuple[float | None, ...]


def groups(
    of: StudyData,
    people: Answers,
    judges: Sequence[tuple[RaterEntry, Answers]],
    filters: Filters,
    *,
    level: Level = "nominal",
    numbers: FloatArray | None = None,
) -> tuple[Group, ...]:
    """
    Args:
        people, judges: as they are compared with each other; the document of an answer is the place of its row.
        numbers: of a `number` question, what its codes stand for.
    """
    words = [str(row.facets.get(filters.group, "")) for row in of.table.rows]
    found = []
    for word in sorted(set(words)):
        rows = [place for place, of_row in enumerate(words) if of_row == word]
        mine = people.where(np.isin(people.document, rows))
        found.append(
            _group(
                word,
                len(rows),
                mine,
                tuple(judge_accuracy(mine, said.where(np.isin(said.document, rows))).value for _judge, said in judges),
                filters,
                level=level,
                numbers=numbers,
            )
        )
    return tuple(found)


def _group(
    word: str,
    n_rows: int,
    people: Answers,
    judges: tuple[float | None, ...],
    filters: Filters,
    *,
    level: Level,
    numbers: FloatArray | None,
) -> Group:
    arguments = filters.intervals.of_agreement
    exact = exact_agreement(people)
    intervals: dict[str, Interval] = {}
    of_alpha: Statistic | NumericAgreement | None = None
    own_means = not filters.before_own_means
    if numbers is not None:
        of_alpha = numeric_agreement(people, numbers, own_means=own_means)
        value, reason = of_alpha.alpha, of_alpha.reason
    elif level == "nominal":
        value, reason = exact.alpha, exact.alpha_reason
    else:
        of_alpha = alpha(people, level)
        value, reason = of_alpha.value, of_alpha.reason
    if arguments:
        intervals = exact_intervals(people, **arguments)
        if numbers is not None:
            intervals["alpha"] = numeric_intervals(people, numbers, own_means=own_means, **arguments)["alpha"]
        elif level != "nominal":
            intervals["alpha"] = agreement_intervals(people, level=level, **arguments)["alpha"]
    return Group(word, n_rows, people.cell.size, exact, value, reason, intervals, judges)
