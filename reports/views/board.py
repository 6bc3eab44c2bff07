"""The panels of the board that say how far people agree so far, pair by pair, and how often each is right by gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Label, Rater, Role, Sheet, Study
from annotation.people.access import AppRequest, for_roles
from annotation.scheme.spec import Kind
from reports import queries
from reports.answers import ENOUGH_CELLS
from reports.data.arrays import Filters, QuestionData
from reports.stats.agreement import UndefinedStatistic, cohen_kappa
from reports.stats.answers import IntArray
from reports.stats.pairs import Weights, pair_tables

# 40 people are 780 pairs. Those that share most cells are shown; the report has all.
MOST_PAIRS = 45


@dataclass(frozen=True)
class PairAgreement:
    """How far two people agree in the cells that both answered; `same` is a share, `kappa` None where undefined, and
    where answers are values, `by_value`, which have none."""

    cells: int
    same: float
    kappa: float | None
    by_value: bool = False

    @property
    def percent(self) -> int:
        return round(100 * self.same)

    @property
    def too_few(self) -> bool:
        return self.cells < ENOUGH_CELLS


@dataclass(frozen=True)
class Rightness:
    """In how many of the cells with gold that a rater answered the answer is the gold's."""

    cells: int
    right: int

    @property
    def percent(self) -> int:
        return round(100 * self.right / self.cells)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def panel(request: AppRequest, study: Study) -> HttpResponse:
    data = queries.load(study, Filters())
    questions = [*data.questions, *data.value_questions]
    found = [dict(_pairs(question)) for question in questions]
    cells: Counter[tuple[int, int]] = Counter()
    for of_question in found:
        cells.update({pair: agreement.cells for pair, agreement in of_question.items()})
    pairs = sorted(sorted(cells, key=lambda pair: (-cells[pair], pair))[:MOST_PAIRS])
    context = {
        "questions": [_title(study, question) for question in questions],
        "lines": [
            (data.people[a], data.people[b], [of_question.get((a, b)) for of_question in found]) for a, b in pairs
        ],
        "study": study,
        "n_more": len(cells) - len(pairs),
        "enough": ENOUGH_CELLS,
        "n_exposed": sum(question.n_exposed for question in questions),
    }
    return render(request, "reports/_board.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def gold_panel(request: AppRequest, study: Study) -> HttpResponse:
    """How often each person says what the gold says, question by question; of one sheet, where one is named."""
    golden = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind=Rater.Kind.GOLD)
    sheets = Sheet.objects.filter(pk__in=golden.values("assignment__row__sheet")).order_by("position", "pk")
    named = request.GET.get("sheet", "")
    sheet = next((one for one in sheets if str(one.pk) == named), None)
    if named and sheet is None:
        raise Http404
    if not sheets:
        return render(request, "reports/_board_gold.html", {"study": study, "scheme": study.scheme.parsed})
    data = queries.load(study, Filters(sheets=(sheet.pk,) if sheet else ()))
    found = [(question, _right(question)) for question in (*data.questions, *data.value_questions)]
    with_gold = [(question, right) for question, right in found if _has_gold(question)]
    lines = [(person, [right.get(i) for _of, right in with_gold]) for i, person in enumerate(data.people)]
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "questions": [_title(study, question) for question, _of in with_gold],
        "lines": [(person, cells) for person, cells in lines if any(cells)],
        "sheets": sheets,
        "sheet": sheet,
    }
    return render(request, "reports/_board_gold.html", context)


def _title(study: Study, question: QuestionData) -> str:
    return study.scheme.parsed.title_of(question.section.key, question.spec.key)


def _has_gold(question: QuestionData) -> bool:
    return any((~np.isin(gold.code, question.blanks)).any() for gold in question.golds.values())


def _right(question: QuestionData) -> dict[int, Rightness]:
    """By the places of the people who answered cells that have gold; nothing to answer is none, as above."""
    of_gold = [gold.where(~np.isin(gold.code, question.blanks)) for gold in question.golds.values()]
    if not of_gold:
        return {}
    cell, code = (np.concatenate([getattr(gold, name) for gold in of_gold]) for name in ("cell", "code"))
    said = question.people.where(np.isin(question.people.cell, cell))
    # With several golds a cell has the answer of each, and any of them is right.
    keys = code.max(initial=0) + said.code.max(initial=0) + 1
    right = np.isin(said.cell * keys + said.code, cell * keys + code)
    return {
        int(person): Rightness(cells=int((said.rater == person).sum()), right=int(right[said.rater == person].sum()))
        for person in np.unique(said.rater)
    }


def _pairs(question: QuestionData) -> Iterator[tuple[tuple[int, int], PairAgreement]]:
    if question.values is not None:
        yield from _pairs_of_values(question)
        return
    tables: dict[tuple[int, int], IntArray] = {}
    # As in the report: where an option says that there was nothing to answer, nobody decided anything.
    decided = ~np.isin(question.people.code, question.blanks)
    for of_sheet in pair_tables(question.people.where(decided)):
        pair = (of_sheet.rater_a, of_sheet.rater_b)
        tables[pair] = tables.get(pair, np.zeros_like(of_sheet.table)) + of_sheet.table
    weights: Weights | None = "quadratic" if question.spec.kind == Kind.SCALE else None  # as in the report
    for pair, table in tables.items():
        cells = int(table.sum())
        try:
            kappa: float | None = cohen_kappa(table, weights)
        except UndefinedStatistic:
            kappa = None
        yield pair, PairAgreement(cells=cells, same=float(np.trace(table)) / cells, kappa=kappa)


def _pairs_of_values(question: QuestionData) -> Iterator[tuple[tuple[int, int], PairAgreement]]:
    tables = pair_tables(question.people)
    cells: Counter[tuple[int, int]] = Counter()
    same: Counter[tuple[int, int]] = Counter()
    for a, b, agreed, n in zip(
        *(of.tolist() for of in (tables.rater_a, tables.rater_b, tables.agreed, tables.n)), strict=True
    ):
        cells[a, b] += n
        same[a, b] += agreed
    for pair, n in cells.items():
        yield pair, PairAgreement(cells=n, same=same[pair] / n, kappa=None, by_value=True)
