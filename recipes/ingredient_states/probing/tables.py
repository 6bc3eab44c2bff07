"""Tables of a probing task: accuracy beside chance, and which of two is better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.utils.translation import gettext as _

from recipes.ingredient_states.probing.scores import Asked, Score, asked_in, better, interval, scores
from recipes.ingredient_states.probing.tasks import chance_of
from reports.numbers.report import QuestionReport, StudyReport
from reports.numbers.values import ValueReport
from reports.stats.bootstrap import Interval
from reports.stats.comparison import NEVER_APART
from reports.tables.base import Head, ReportTable, Value, interval_heads, words_of
from reports.tables.coefficients import ends, interval_how
from reports.words import UNDEFINED, code_of, name_of


@dataclass(frozen=True, eq=False)
class Found:
    """Who is right in which of the instances that were asked, each with the interval of the accuracy; None where none
    was asked for."""

    asked: list[Asked]
    scores: list[tuple[Score, Interval | None]]


def found_in(report: StudyReport, question: str) -> Found:
    """Of a question, as "section.question"; computed once for a report."""
    key = f"probing.{question}"
    if key not in report.of_packs:
        asked, filters = asked_in(report.data.table), report.filters
        with filters.as_then():
            report.of_packs[key] = Found(
                asked,
                [
                    (score, interval(score, asked, filters))
                    for score in scores(report.data.table, question, asked, filters)
                ],
            )
    found: Found = report.of_packs[key]
    return found


def tables(report: StudyReport, question: QuestionReport | ValueReport) -> Iterator[ReportTable]:
    found = found_in(report, question.data.name)
    if not found.asked:
        return
    yield _accuracy(report, question, found)
    if len(found.scores) > 1:
        yield _better(question, [score for score, _interval in found.scores])


def _accuracy(report: StudyReport, question: QuestionReport | ValueReport, found: Found) -> ReportTable:
    shown = bool(report.filters.by)
    asked = found.asked
    rows: list[tuple[Value, ...]] = []
    for score, of in found.scores:
        chance = chance_of([asked[n].candidates for n in score.instances.tolist()])
        assert chance is not None
        n_right = int(score.right.sum())
        rows.append(
            (
                code_of(score.rater),
                score.accuracy,
                *ends(of, shown=shown),
                n_right,
                score.right.size,
                score.n_without,
                chance.of_each,
                chance.of_mean,
            )
        )
    everything = chance_of([one.candidates for one in asked])
    assert everything is not None
    rows.append(
        (
            _("all instances"),
            None,
            *ends(None, shown=shown),
            None,
            everything.n,
            None,
            everything.of_each,
            everything.of_mean,
        )
    )
    how = [
        _("An instance is right where its whole answer is; one without a readable answer is wrong."),
        _(
            "By chance, each: the mean over instances of 1 / candidates. By chance, mean: 1 / the mean number of "
            "candidates, which is less where instances have different numbers of them. Published rates are now the "
            "one, now the other."
        ),
        interval_how(next((of for _score, of in found.scores if of is not None), None), words_of(report)),
    ]
    chance_title = _("By chance")
    return ReportTable(
        key=f"{question.data.name}.probing",
        about=name_of(question),
        title=_("How often they are right"),
        heads=(
            Head("rater", _("Who")),
            Head("accuracy", _("Accuracy"), "number"),
            *interval_heads(shown),
            Head("right", _("Right"), "count"),
            Head("instances", _("Instances"), "count"),
            Head("without", _("No answer"), "count"),
            Head("chance_each", _("each"), "number", chance_title),
            Head("chance_mean", _("mean"), "number", chance_title),
        ),
        rows=tuple(rows),
        how=" ".join(filter(None, how)),
    )


def _better(question: QuestionReport | ValueReport, found: Sequence[Score]) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    for first, second in combinations(found, 2):
        of = better(first, second)
        if of is None:
            continue
        because = "" if of.first_better is not None else str(UNDEFINED.get(NEVER_APART, NEVER_APART))
        rows.append(
            (
                code_of(of.first),
                code_of(of.second),
                of.both,
                of.only_first,
                of.only_second,
                of.neither,
                of.first_better,
                of.second_better,
                because,
            )
        )
    right, better_title = _("Right"), _("p, McNemar, one-sided")
    return ReportTable(
        key=f"{question.data.name}.probing.better",
        about=name_of(question),
        title=_("Which of two is better"),
        heads=(
            Head("first", _("First")),
            Head("second", _("Second")),
            Head("both", _("both"), "count", right),
            Head("only_first", _("only the first"), "count", right),
            Head("only_second", _("only the second"), "count", right),
            Head("neither", _("neither"), "count", right),
            Head("first_better", _("first is better"), "number", better_title),
            Head("second_better", _("second is better"), "number", better_title),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "Exact, on the instances that both were asked. It takes instances as independent, which those of one "
            "recipe are not quite."
        ),
    )
