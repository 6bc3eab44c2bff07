"""Who is right in which instance of a probing task: from a label table and hidden facets to arrays. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from reports.data.arrays import Filters
from reports.data.label_table import LabelTable, RaterEntry, SkipEntry, UnreadableEntry
from reports.stats.bootstrap import Interval, resampling_of
from reports.stats.comparison import one_sided_mcnemar

_JOINED = re.compile(r"[,;、と]|\band\b", re.IGNORECASE)
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """An instance: rows by their places, of which there are several where each thing is a row. sheet: the recipe."""

    rows: tuple[int, ...]
    sheet: int
    candidates: int


@dataclass(frozen=True, eq=False)
class Score:
    """One rater. right: shape (n,), of the instances that it was to answer and did, or could not; instances: their
    numbers, shape (n,). n_without: of them, those without a readable answer, which count as wrong."""

    rater: RaterEntry
    instances: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]
    n_without: int

    @property
    def accuracy(self) -> float | None:
        return float(self.right.mean()) if self.right.size else None


@dataclass(frozen=True)
class Better:
    """Two raters on the instances that both have. first_better, second_better: one-sided exact p of McNemar's test."""

    first: RaterEntry
    second: RaterEntry
    both: int
    only_first: int
    only_second: int
    neither: int
    first_better: float | None
    second_better: float | None


def asked_in(table: LabelTable) -> list[Asked]:
    """The instances of a study, in its order; rows without a right answer are none."""
    found: dict[tuple[int, str], list[int]] = {}
    for place, row in enumerate(table.rows):
        if row.facets.get("answer"):
            found.setdefault((row.sheet, row.facets.get("instance") or row.name), []).append(place)
    return [
        Asked(tuple(rows), sheet, int(table.rows[rows[0]].facets.get("candidates") or 1))
        for (sheet, _name), rows in found.items()
    ]


def said_in(table: LabelTable, question: str, filters: Filters) -> dict[tuple[int, int], str]:
    """The code of what each rater says of each row, by their places. Of repeats the first counts."""
    number = next(n for n, (section, spec) in enumerate(table.questions) if f"{section.key}.{spec.key}" == question)
    said: dict[tuple[int, int], str] = {}
    drafts = {draft.label for draft in table.drafts if not draft.confirmed}
    for place, (assignment, _column, of, *_rest) in enumerate(table.labels.tolist()):
        work = table.assignments[assignment]
        counts = work.repeat == 1 and (work.state == "submitted" or not filters.submitted_only)
        if of == number and counts and place not in drafts:
            said[work.rater, work.row] = table.code_of(place)
    return said


def scores(table: LabelTable, question: str, asked: list[Asked], filters: Filters) -> list[Score]:
    """Of each rater with answers, gold left out, in the order of the table. Of repeats the first counts."""
    number = next(n for n, (section, spec) in enumerate(table.questions) if f"{section.key}.{spec.key}" == question)
    facets = [row.facets for row in table.rows]
    verdict = {
        (rater, row): same(
            code, facets[row].get("answer", ""), facets[row].get("things", ""), joined=not filters.before_joined_letters
        )
        for (rater, row), code in said_in(table, question, filters).items()
    }
    without_answer: tuple[SkipEntry | UnreadableEntry, ...] = (*table.unreadable, *table.skips)
    tried = {
        (table.assignments[one.assignment].rater, table.assignments[one.assignment].row)
        for one in without_answer
        if one.question == number and table.assignments[one.assignment].repeat == 1
    }
    tried |= {(work.rater, work.row) for work in table.assignments if work.state == "failed" and work.repeat == 1}
    found = []
    for at, rater in enumerate(table.raters):
        if rater.kind == "gold":
            continue
        mine = []
        for n, one in enumerate(asked):
            cells = [(at, row) for row in one.rows]
            if all(cell in verdict or cell in tried for cell in cells):
                without = any(cell not in verdict for cell in cells)
                mine.append((n, all(verdict.get(cell, False) for cell in cells), without))
        if mine:
            found.append(
                Score(
                    rater,
                    np.array([n for n, _right, _without in mine], dtype=np.int64),
                    np.array([right for _n, right, _without in mine], dtype=bool),
                    sum(without for _n, _right, without in mine),
                )
            )
    return found


def same(code: str, answer: str, things: str = "", *, joined: bool = True) -> bool:
    """Whether an answer is the right one: a number by its value, letters in any order, an option by its key.

    Args:
        things: what the letters stand for, "a) yolk; b) egg". A letter may have its own thing behind it, and no other
            words: "a) no" is no letter.
        joined: as since methods 12, also “and”, “と”, 、 or a semicolon stands between letters, as a comma does.

    >>> same(':"b, A"', "a, b"), same(":3", "3"), same("yes", "no")
    (True, True, False)
    >>> same(':"a) yolk and b) egg"', "a, b", "a) yolk; b) egg"), same(':"a) no, b) egg"', "a, b", "a) yolk; b) egg")
    (True, False)
    """
    if not code.startswith(":"):
        return code == answer
    value = json.loads(code[1:])
    if isinstance(value, str):
        return (_letters(value, things) if joined else _parts(value)) == _parts(answer)
    return bool(float(value) == float(answer)) if isinstance(value, int | float) else False


def _parts(text: str) -> set[str]:
    return {part.strip().casefold().rstrip(").") for part in text.split(",") if part.strip()}


def _letters(text: str, things: str) -> set[str]:
    """Japanese has no spaces that would end a name, so that only Latin letters go on with one."""
    text = normalize("NFKC", text)
    for listed in normalize("NFKC", things).split("; "):
        letter, _sign, name = listed.partition(") ")
        if name:
            named = rf"(?<![a-z]){re.escape(letter)}[).:]?\s*{re.escape(name)}(?![a-z])"
            text = re.sub(named, f"{letter},".replace("\\", r"\\"), text, flags=re.IGNORECASE)
    return {part.strip(" ().:").casefold() for part in _JOINED.split(text) if part.strip(" ().:")}


def interval(score: Score, asked: list[Asked], filters: Filters) -> Interval | None:
    """By drawing recipes, whatever the report draws: the instances of one recipe are alike."""
    if not filters.by:
        return None
    return _of_mean([(score, [asked[n].sheet for n in score.instances.tolist()])], filters)


def mean_interval(of_tasks: Sequence[tuple[Score, Sequence[str]]], filters: Filters) -> Interval:
    """Of the mean of one rater's accuracies, by drawing recipes with what each task asks of them.

    Args:
        of_tasks: of each task the score, and of each instance of the task its recipe's title.
    """
    titles = dict.fromkeys(title for _score, recipes in of_tasks for title in recipes)
    place = {title: n for n, title in enumerate(titles)}
    return _of_mean(
        [(score, [place[recipes[n]] for n in score.instances.tolist()]) for score, recipes in of_tasks], filters
    )


def _of_mean(scores: Sequence[tuple[Score, Sequence[int]]], filters: Filters) -> Interval:
    """scores: each with the recipe of each of its answers."""
    recipes = np.array([recipe for _score, of in scores for recipe in of], dtype=np.int64)
    clusters, place = np.unique(recipes, return_inverse=True)
    draws = resampling_of(clusters, "sheet", n_draws=filters.n_draws, seed=filters.seed, group_many=True)
    sums = np.zeros((clusters.size, 2 * len(scores)))
    start = 0
    for task, (score, of) in enumerate(scores):
        some = place[start : start + len(of)]
        start += len(of)
        np.add.at(sums[:, 2 * task], some, score.right)
        np.add.at(sums[:, 2 * task + 1], some, 1)

    def mean(features: FloatArray) -> FloatArray:
        right, n = features[:, ::2], features[:, 1::2]
        shares = np.divide(right, n, out=np.full(n.shape, np.nan), where=n > 0)
        means: FloatArray = shares.mean(axis=1)
        return means

    return draws.bootstrap(sums, mean)


def better(first: Score, second: Score) -> Better | None:
    """None where they share no instance."""
    one: Mapping[int, bool] = dict(zip(first.instances.tolist(), first.right.tolist(), strict=True))
    other: Mapping[int, bool] = dict(zip(second.instances.tolist(), second.right.tolist(), strict=True))
    shared = [(one[n], other[n]) for n in one if n in other]
    if not shared:
        return None
    only_first, only_second = shared.count((True, False)), shared.count((False, True))
    return Better(
        first=first.rater,
        second=second.rater,
        both=shared.count((True, True)),
        only_first=only_first,
        only_second=only_second,
        neither=shared.count((False, False)),
        first_better=one_sided_mcnemar(only_second, only_first),
        second_better=one_sided_mcnemar(only_first, only_second),
    )
