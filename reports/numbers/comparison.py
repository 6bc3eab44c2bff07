"""A comparison's numbers: of people together and of each judge, who is preferred, systems in order, place and
length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from annotation.scheme.spec import ComparisonSpec, facet_word
from reports.data.arrays import Filters, QuestionData, StudyData
from reports.data.label_table import RaterEntry
from reports.stats.answers import Answers, IntArray
from reports.stats.paired_comparisons import Comparisons, OrderedAlike, Standing, ordered_alike, standings
from reports.stats.pairs import FloatArray
from reports.stats.ratings.arrays import Draws, Estimate
from reports.stats.spa import Spa


@dataclass(frozen=True)
class OfRater:
    """`judge`: None of people together. longer: None where nobody knows how long the texts are. alike: how far the
    order is that of people; None of people themselves, and where either has no order."""

    judge: RaterEntry | None
    comparisons: Comparisons
    standings: tuple[Standing, ...]
    left: Estimate
    longer: Spa | None
    alike: OrderedAlike | None = None

    @property
    def has_order(self) -> bool:
        """Comparisons connect all systems."""
        return all(standing.strength.value is not None for standing in self.standings)


@dataclass(frozen=True)
class ComparisonReport:
    """`name`: of the question, section.question. raters: people first, then judges that answered; of people without an
    answer none. n_items: those that anybody compared texts for. by_columns: a row was compared in several columns."""

    name: str
    systems: tuple[str, ...]
    raters: tuple[OfRater, ...]
    n_items: int
    n_draws: int
    seed: int
    by_columns: bool = False


def comparison_report(data: StudyData, filters: Filters) -> ComparisonReport | None:
    """None where rows are no pairs, or nobody has compared two systems."""
    spec = data.scheme.comparison
    question = next((of for of in data.questions if spec is not None and of.name == spec.question), None)
    if spec is None or question is None:
        return None
    rows = _Rows(data, spec)
    told = [_of_rater(judge, answers, question, rows, filters) for judge, answers in _answers(data, question)]
    made = [of for of, _items in told if of is not None]
    if not made:
        return None
    cells = np.unique(np.concatenate([answers.cell for _judge, answers in _answers(data, question)]))
    return ComparisonReport(
        name=question.name,
        systems=rows.systems,
        raters=tuple(_beside_people(made)),
        n_items=int(np.unique(np.concatenate([items for _of, items in told])).size),
        n_draws=filters.n_draws,
        seed=filters.seed,
        by_columns=np.unique(cells // rows.n_columns).size < cells.size,
    )


def _answers(data: StudyData, question: QuestionData) -> Iterator[tuple[RaterEntry | None, Answers]]:
    yield None, question.people
    for judge in data.judges:
        if judge.code in question.judges:
            yield judge, question.judges[judge.code]


class _Rows:
    """The rows of a table as pairs of texts."""

    def __init__(self, data: StudyData, spec: ComparisonSpec) -> None:
        said = [{key: facet_word(words) for key, words in row.facets.items()} for row in data.table.rows]
        left, right = spec.systems
        names = {name for of in said for name in (of.get(left, ""), of.get(right, "")) if name}
        self.systems = tuple(sorted(names))
        self.n_columns = data.n_columns
        place = {name: number for number, name in enumerate(self.systems)}
        self.left, self.right = (
            np.array([place.get(of.get(side, ""), -1) for of in said], dtype=np.int64) for side in spec.systems
        )
        keys = [(0, of[spec.item]) if spec.item and of.get(spec.item) else (1, str(at)) for at, of in enumerate(said)]
        number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        self.item = np.array([number[key] for key in keys], dtype=np.int64)
        self.words: tuple[FloatArray, FloatArray] | None = None
        if spec.words:
            on_left, on_right = (np.array([_number(of.get(side, "")) for of in said]) for side in spec.words)
            self.words = (on_left, on_right) if not np.isnan(on_left + on_right).all() else None
        self.prefers = spec.options

    def compared(self, answers: Answers, value: FloatArray) -> tuple[Comparisons, np.ndarray]:
        """And the row of each. What is no pair of two systems is left out."""
        row = answers.cell // self.n_columns
        left, right = self.left[row], self.right[row]
        kept = (left >= 0) & (right >= 0) & (left != right)
        of = Comparisons(left, right, value, self.item[row], answers.rater)
        return of.only(kept), row[kept]


def _number(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        return np.nan


def _of_rater(
    judge: RaterEntry | None, answers: Answers, question: QuestionData, rows: _Rows, filters: Filters
) -> tuple[OfRater | None, IntArray]:
    """None where nothing was compared; and the items that were. These are drawn: a few of many would else have an
    interval as if they were many."""
    left, right = rows.prefers
    means = {left: 1.0, right: 0.0}
    value = np.array([means.get(option.key, 0.5) for option in question.spec.options])[answers.code]
    compared, row = rows.compared(answers, value)
    items, own = np.unique(compared.item, return_inverse=True)
    if not compared.n:
        return None, items
    compared = replace(compared, item=own)
    draws = Draws.of(items.size, n_draws=filters.n_draws, seed=filters.seed)
    made = OfRater(
        judge=judge,
        comparisons=compared,
        standings=standings(compared, len(rows.systems), draws),
        left=compared.of_left(),
        longer=compared.of_longer(rows.words[0][row], rows.words[1][row]) if rows.words else None,
    )
    return made, items


def _beside_people(made: list[OfRater]) -> Iterator[OfRater]:
    people = next((of for of in made if of.judge is None), None)
    for of in made:
        if people is None or of is people or not (of.has_order and people.has_order):
            yield of
        else:
            yield replace(of, alike=ordered_alike(people.standings, of.standings))
