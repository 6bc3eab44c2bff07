"""Reads for stackers: what several judges of a study said of the same cells, with people's labels beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet

from annotation.models import Assignment, Label, Rater, Study
from annotation.scheme.spec import QuestionSpec
from base.proportions import wilson_interval
from judges.calibrations.queries import counted_as, peoples_labels, rows_to_fit, sha256_of
from judges.lineage.queries import examples_of
from judges.methods import fitting, stacking
from judges.methods.fitting import Cells, FloatArray, IntArray
from judges.models import Judge

_CELL = ("assignment__row_id", "column_id", "question__section__key", "question__key")


@dataclass(frozen=True)
class Agreed:
    """Two judges, by their codes: the share of cells in which they choose the same, which are `n`, and the share of
    these in which one of the people chose it too, with its 95 % interval; None where there is no such cell."""

    one: str
    other: str
    same: float
    n: int
    right: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Weighed:
    """A question's judges, fitted together.

    Attributes:
        weights: by the judge's code; `options`: of each option that is chosen among, its bias in nats.
        candidates: (accuracy, macro-F1) of each judge in the order of `weights`, and last of all together; of what is
            fitted, in documents left out one by one.
        agreements: of each two judges.
    """

    name: str
    weights: dict[str, float]
    options: dict[str, float]
    n_cells: int
    n_documents: int
    candidates: list[tuple[float, float]]
    agreements: list[Agreed]

    @property
    def together(self) -> tuple[float, float]:
        return self.candidates[-1]

    @property
    def best_alone(self) -> float:
        """The highest accuracy of a judge alone."""
        return max(accuracy for accuracy, _f1 in self.candidates[:-1])


@dataclass(frozen=True)
class Stack:
    """All questions that could be fitted, and digests of what they were fitted to. `left_out`: documents that would be
    among `rows`, were they no examples in the prompt of one of the judges."""

    questions: list[Weighed]
    rows: tuple[int, ...]
    labels_sha256: str
    scores_sha256: str
    left_out: tuple[int, ...] = ()


def stackable(study: Study) -> QuerySet[Rater]:
    """The judges of a study that chose options, with `n_cells`, the cells in which they did. One query."""
    chose = Q(
        assignments__state=Assignment.State.SUBMITTED,
        assignments__repeat=1,
        assignments__labels__option__isnull=False,
        assignments__labels__preset=False,
    )
    return (
        study.raters.filter(kind=Rater.Kind.JUDGE)
        .annotate(n_cells=Count("assignments__labels", filter=chose))
        .filter(n_cells__gt=0)
        .order_by("code")
    )


def stacked(study: Study, raters: Sequence[Rater], rows: Collection[int]) -> Stack:
    """The judges `raters`, fitted together to people's labels on those of `rows` that are `rows_to_fit`: each question
    that all of them have answered in cells which people answered on two documents. Four queries, and those
    of `examples_of`, which says what documents are left out.

    A cell counts where every judge has an answer. Options are those that a judge was offered or chose.
    """
    spec = study.scheme.parsed
    questions = {f"{s.key}.{q.key}": q for s in spec.sections for q in s.questions if q.options}
    codes = [rater.code for rater in raters]
    rows = rows_to_fit(study, rows)
    submitted = Label.objects.filter(
        assignment__rater__in=raters,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat=1,
        assignment__row__in=rows,
        option__isnull=False,
        preset=False,
    ).order_by()
    said: dict[str, dict[tuple[int, int], dict[str, tuple[Any, str]]]] = {}
    for row, column, section, key, scores, option, code in submitted.values_list(
        *_CELL, "scores", "option__key", "assignment__rater__code"
    ):
        said.setdefault(f"{section}.{key}", {}).setdefault((row, column), {})[code] = (scores, option)
    chose: dict[str, dict[tuple[int, int], list[str]]] = {}
    labels: list[list[Any]] = []
    shown, left_out = shown_to(raters), set[int]()
    for row, column, section, key, option, person in peoples_labels(study, rows).values_list(
        *_CELL, "option__key", "assignment__rater__code"
    ):
        name = f"{section}.{key}"
        if len(said.get(name, {}).get((row, column), ())) != len(codes):
            continue
        if row in shown:
            left_out.add(row)
        else:
            chose.setdefault(name, {}).setdefault((row, column), []).append(option)
            labels.append([row, column, name, person, option])
    found = [
        weighed
        for name in questions
        if name in chose and (weighed := _weighed(name, questions[name], codes, said[name], chose[name])) is not None
    ]
    used = [[*cell, name, said[name][cell]] for name, cells in chose.items() for cell in cells]
    fitted_to = tuple(sorted({line[0] for line in labels}))
    return Stack(found, fitted_to, sha256_of(labels), sha256_of(used), tuple(sorted(left_out)))


def shown_to(raters: Sequence[Rater]) -> set[int]:
    """The rows that are examples in the prompt of one of these judges. One query, and those of `examples_of`."""
    return examples_of(Judge.objects.filter(name__in=[rater.code for rater in raters]).select_related("prompt"))


def _weighed(
    name: str,
    question: QuestionSpec,
    codes: Sequence[str],
    said: dict[tuple[int, int], dict[str, tuple[Any, str]]],
    chose: dict[tuple[int, int], list[str]],
) -> Weighed | None:
    """None where there is too little to fit to."""
    cells = sorted(chose)
    offered = {key for cell in cells for scores, option in said[cell].values() for key in _offered(scores, option)}
    keys = [option.key for option in question.options if option.key in offered]
    people: IntArray = np.zeros((len(cells), len(keys)), dtype=np.int64)
    for at, cell in enumerate(cells):
        for option in chose[cell]:
            counted = counted_as(question, option, keys)
            if counted in keys:
                people[at, keys.index(counted)] += 1
    kept = np.flatnonzero(people.sum(axis=1))
    document: IntArray = np.array([cells[at][0] for at in kept.tolist()], dtype=np.int64)
    if len(keys) < 2 or np.unique(document).size < fitting.FEWEST_DOCUMENTS:
        return None
    scores: FloatArray = np.array(
        [[stacking.numbers(*said[cells[at]][code], keys) for code in codes] for at in kept.tolist()]
    )
    of = Cells(np.empty((kept.size, len(keys), 0)), people[kept], document)
    weights = fitting.fit(scores, of.people)
    return Weighed(
        name=name,
        weights=dict(zip(codes, np.round(weights.weight, 6).tolist(), strict=True)),
        options=dict(zip(keys, np.round(weights.bias, 6).tolist(), strict=True)),
        n_cells=int(kept.size),
        n_documents=int(np.unique(document).size),
        candidates=stacking.candidates(scores, of, weights),
        agreements=[
            _agreed(codes[a], codes[b], same, right, int(kept.size))
            for a, b, same, right in stacking.agreements(scores, of)
        ],
    )


def _agreed(one: str, other: str, same: float, right: float, n_cells: int) -> Agreed:
    n = round(same * n_cells)
    return Agreed(one, other, same, n, *((right, *wilson_interval(round(right * n), n)) if n else (None, None, None)))


def lacking(study: Study, raters: Sequence[Rater], rows: Collection[int]) -> dict[str, int]:
    """The judges that have chosen options on fewer documents than a fit needs, of those that people have labelled of
    these rows, and on how many. Three queries."""
    to_fit = rows_to_fit(study, rows) - shown_to(raters)
    labelled = set(peoples_labels(study, to_fit).values_list("assignment__row_id", flat=True))
    chose = Label.objects.filter(
        assignment__rater__in=raters,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat=1,
        assignment__row__in=labelled,
        option__isnull=False,
        preset=False,
    )
    counted = dict(
        chose.order_by().values_list("assignment__rater__code").annotate(n=Count("assignment__row", distinct=True))
    )
    found = {rater.code: counted.get(rater.code, 0) for rater in raters}
    return {code: n for code, n in found.items() if n < fitting.FEWEST_DOCUMENTS}


def _offered(scores: Any, option: str) -> list[str]:
    return [option, *(scores["options"] if isinstance(scores, dict) and "options" in scores else ())]
