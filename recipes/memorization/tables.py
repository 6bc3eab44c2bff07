"""Tables of the report of candidates: the best of each dish, and which prompts and generators are preferred (SPA)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from recipes.memorization import best
from recipes.memorization.best import Candidate, Criterion
from recipes.memorization.candidates import CORRECTNESS, FAULTS, PREFERENCE
from reports.data.arrays import QuestionData
from reports.data.label_table import RaterEntry, RowEntry
from reports.numbers.report import QuestionReport, StudyReport
from reports.stats import spa
from reports.stats.answers import Answers
from reports.tables.base import Head, ReportTable, Value
from reports.words import UNDEFINED, code_of, name_of

_OF_EACH = 5  # the first methods by which raters are compared one by one

_CRITERIA: dict[Criterion, Promise | str] = {
    Criterion.FAULTS: gettext_lazy("faults"),
    Criterion.CORRECTNESS: gettext_lazy("correctness"),
    Criterion.PREFERENCE: gettext_lazy("preference"),
}


def tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    if question.data.name != PREFERENCE:
        return
    yield _best(report, question)
    for facet, title in (
        ("prompt", _("Types of prompts compared (SPA)")),
        ("generator", _("Generators compared (SPA)")),
    ):
        if len(_words(report, facet)) > 1:
            yield _compared(report, question, facet, title)
            if report.filters.methods >= _OF_EACH:
                yield from _of_each(report, question, facet)


# --- who answered what ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """People together, or one judge; `said`: {question: {row: the numbers of its raters}}."""

    name: str
    said: Mapping[str, Mapping[int, Sequence[float]]]

    def candidate(self, row: int) -> Candidate:
        def mean(question: str) -> float | None:
            numbers = self.said[question].get(row)
            return float(np.mean(numbers)) if numbers else None

        return Candidate(row, mean(FAULTS), mean(CORRECTNESS), mean(PREFERENCE))


def _sides(report: StudyReport) -> list[_Side]:
    data = {of.name: of for of in (*report.data.questions, *report.data.value_questions)}
    asked = [data[name] for name in (FAULTS, CORRECTNESS, PREFERENCE) if name in data]
    if len(asked) < 3:
        return []
    people = _Side(_("People"), {of.name: _numbers(report, of, of.people) for of in asked})
    judges = [
        _Side(judge.code, {of.name: _numbers(report, of, of.judges.get(judge.code)) for of in asked})
        for judge in report.data.judges
    ]
    return [side for side in (people, *judges) if any(side.said.values())]


def _numbers(report: StudyReport, question: QuestionData, answers: Answers | None) -> dict[int, list[float]]:
    found: dict[int, list[float]] = defaultdict(list)
    if answers is not None:
        numbers = _number_of(question)
        for cell, code in zip(answers.cell.tolist(), answers.code.tolist(), strict=True):
            found[cell // report.data.n_columns].append(numbers[code])
    return dict(found)


def _number_of(question: QuestionData) -> list[float]:
    """What each code of an answer counts: entries of a list, else the number on a scale."""
    if question.values is not None:
        return [float(len(records)) for records in question.values.examples]
    return [float(option.value or 0) for option in question.spec.options]


def _rows_of_sheets(report: StudyReport) -> list[tuple[str, list[int]]]:
    by_sheet: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(report.data.table.rows):
        by_sheet[row.sheet].append(place)
    return [(report.data.sheets[sheet], rows) for sheet, rows in sorted(by_sheet.items())]


def _words(report: StudyReport, facet: str) -> list[str]:
    return sorted({row.facets.get(facet, "") for row in report.data.table.rows} - {""})


# --- the best ---------------------------------------------------------------------------------------------------------


def _best(report: StudyReport, question: QuestionReport) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    sides, table = _sides(report), report.data.table.rows
    for title, of_sheet in _rows_of_sheets(report):
        for side in sides:
            choice = best.choose([side.candidate(row) for row in of_sheet])
            if choice.best:
                rows.append((title, side.name, *_line(choice, table), len(choice.unsaid)))
    return ReportTable(
        key=f"{question.data.name}.best",
        about="",
        title=_("The best candidate of each dish"),
        heads=(
            Head("dish", _("Dish")),
            Head("by", _("By")),
            Head("best", _("Best")),
            Head("generator", _("Written by")),
            Head("prompt", _("Type of prompt")),
            Head("faults", _("Faults"), "number"),
            Head("correctness", _("Correctness"), "number"),
            Head("preference", _("Preference"), "number"),
            Head("decided", _("Decided by"), "note"),
            Head("unsaid", _("Not compared"), "count"),
        ),
        rows=tuple(rows),
        how=_(
            "Fewest objective faults first; among equals the most correct; among equals the one that is liked best. Of "
            "several raters the means count. Candidates with the same three numbers tie, and all of them are named; "
            "those that lack an answer are not compared."
        ),
    )


def _line(choice: best.Choice, table: Sequence[RowEntry]) -> tuple[Value, ...]:
    first = choice.best[0]
    if choice.is_tied:
        decided = _("a tie of %(n)s") % {"n": len(choice.best)}
    elif choice.decided_by is None:
        decided = _("the only one")
    else:
        decided = str(_CRITERIA[choice.decided_by])
    rows = [table[candidate.key] for candidate in choice.best]
    return (
        ", ".join(row.name for row in rows),
        ", ".join(dict.fromkeys(row.facets.get("generator", "–") for row in rows)),
        ", ".join(dict.fromkeys(row.facets.get("prompt", "–") for row in rows)),
        first.faults,
        first.correctness,
        first.preference,
        decided,
    )


# --- SPA --------------------------------------------------------------------------------------------------------------


def _compared(report: StudyReport, question: QuestionReport, facet: str, title: str) -> ReportTable:
    words = _words(report, facet)
    data = question.data
    sides = [(_("People"), data.people), *((code, answers) for code, answers in data.judges.items())]
    rows: list[tuple[Value, ...]] = []
    for first, second in itertools.combinations(range(len(words)), 2):
        for name, answers in sides:
            found = spa.spa(_assessments(report, data, facet, answers, first, second))
            bounds, paper = found.clustered, found.independent
            rows.append(
                (
                    words[first],
                    words[second],
                    name,
                    found.probability,
                    bounds.low if bounds else None,
                    bounds.high if bounds else None,
                    paper.low if paper else None,
                    paper.high if paper else None,
                    found.n,
                    found.n_inputs,
                    str(UNDEFINED.get(found.reason, found.reason)),
                )
            )
    clustered, independent = _("95 % interval, by dishes"), _("95 % interval, each assessment by itself")
    return ReportTable(
        key=f"{data.name}.spa.{facet}",
        about=name_of(question),
        title=title,
        heads=(
            Head("first", _("The first")),
            Head("second", _("The second")),
            Head("by", _("By")),
            Head("probability", _("The first is preferred"), "number"),
            Head("low", _("from"), "number", clustered),
            Head("high", _("to"), "number", clustered),
            Head("independent_low", _("from"), "number", independent),
            Head("independent_high", _("to"), "number", independent),
            Head("n", _("Assessments"), "count"),
            Head("dishes", _("Dishes"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "System-level probabilistic assessment (Ethayarajh and Jurafsky 2022): the probability that a rater "
            "prefers a text of the first to one of the second, 0.5 where neither is preferred; the mean over raters "
            "and dishes. In that paper raters state the probability. Here each rater's is estimated from that rater's "
            "own preferences: of all pairs of texts for a dish, one of each, the share in which the first is "
            "preferred, a tie counting half. Numbers of different raters are never set against each other. Where the "
            "interval by dishes leaves 0.5 out, the difference is more than the choice of dishes would make. Of many "
            "comparisons one in twenty leaves it out by chance."
        ),
    )


def _of_each(report: StudyReport, question: QuestionReport, facet: str) -> Iterator[ReportTable]:
    """What each rater by themselves prefers, and how far they agree; nothing of a single rater."""
    words, raters = _words(report, facet), report.data.table.raters
    said: dict[int, dict[Hashable, float]] = {}
    rows: list[tuple[Value, ...]] = []
    for first, second in itertools.combinations(range(len(words)), 2):
        found = [_assessments(report, question.data, facet, answers, first, second) for answers in _all(question.data)]
        for of in found:
            for rater in np.unique(of.rater).tolist():
                mine = of.rater == rater
                own = spa.spa(spa.Assessments(of.probability[mine], of.input[mine], of.rater[mine]))
                bounds = own.clustered
                rows.append(
                    (
                        words[first],
                        words[second],
                        code_of(raters[rater]),
                        own.probability,
                        bounds.low if bounds else None,
                        bounds.high if bounds else None,
                        own.n_inputs,
                        str(UNDEFINED.get(own.reason, own.reason)),
                    )
                )
                kept = said.setdefault(rater, {})
                for place, value in zip(of.input[mine].tolist(), of.probability[mine].tolist(), strict=True):
                    kept[first, second, place] = value
    if len(said) < 2:
        return
    of_types = facet == "prompt"
    interval = _("95 % interval, by dishes")
    yield ReportTable(
        key=f"{question.data.name}.spa.{facet}.raters",
        about=name_of(question),
        title=_("What each rater prefers: types of prompts") if of_types else _("What each rater prefers: generators"),
        heads=(
            Head("first", _("The first")),
            Head("second", _("The second")),
            Head("by", _("By")),
            Head("probability", _("The first is preferred"), "number"),
            Head("low", _("from"), "number", interval),
            Head("high", _("to"), "number", interval),
            Head("dishes", _("Dishes"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_("The same of each rater alone: the probability over that rater's own dishes, and an interval of these."),
    )
    yield ReportTable(
        key=f"{question.data.name}.spa.{facet}.agreement",
        about=name_of(question),
        title=_("Do raters prefer the same types of prompts?")
        if of_types
        else _("Do raters prefer the same generators?"),
        heads=(
            Head("first", _("The first")),
            Head("second", _("The second")),
            Head("same", _("Same preferred"), "share"),
            Head("difference", _("Mean difference"), "number"),
            Head("alpha", _("Krippendorff's α"), "number"),
            Head("n", _("Assessments of both"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(_agreed(raters, said)),
        how=_(
            "Of the assessments that both made (the same two in the same dish): the share in which both prefer the "
            "same one, or neither prefers any; how far their probabilities are apart on average; and α of the "
            "probabilities at the interval level, 0 as chance would give. Of all people, each two of them count."
        ),
    )


def _agreed(raters: Sequence[RaterEntry], said: Mapping[int, Mapping[Hashable, float]]) -> Iterator[tuple[Value, ...]]:
    """All people together, where there are three or more; then each two raters."""
    people = [rater for rater in sorted(said) if raters[rater].kind == "person"]
    groups = [(_("all people"), "", people)] if len(people) > 2 else []
    for one, other in itertools.combinations(sorted(said), 2):
        groups.append((code_of(raters[one]), code_of(raters[other]), [one, other]))
    for first, second, members in groups:
        of = spa.agreement([said[member] for member in members])
        reason = str(UNDEFINED.get(of.reason, of.reason))
        yield (first, second, of.same, of.difference, of.alpha, of.n, reason)


def _all(data: QuestionData) -> Iterator[Answers]:
    yield data.people
    yield from data.judges.values()


def _assessments(
    report: StudyReport, data: QuestionData, facet: str, answers: Answers, first: int, second: int
) -> spa.Assessments:
    words = _words(report, facet)
    of_row = np.array(
        [words.index(word) if (word := row.facets.get(facet, "")) in words else -1 for row in report.data.table.rows]
    )
    return spa.from_preferences(
        value=np.array(_number_of(data))[answers.code],
        system=of_row[answers.cell // report.data.n_columns],
        input=answers.sheet,
        rater=answers.rater,
        first=first,
        second=second,
    )
