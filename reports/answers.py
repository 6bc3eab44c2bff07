"""What a report answers: how far people agree, how far judges do, and whether one may stand in for a person.

Numbers and names alone, taken out of a computed report; `reports.sentences` says them. They are kept beside the
contents of a live report and are no part of what is frozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports import doors
from reports.comparison_sentences import told_of_comparison
from reports.data.arrays import QuestionData
from reports.data.label_table import LabelTable
from reports.numbers.graphs import GraphReport
from reports.numbers.judge import JudgeResult
from reports.numbers.report import PeopleAgreement, QuestionReport, SectionReport, StudyReport
from reports.numbers.values import ValueJudge, ValueReport
from reports.stats.alternative import TOO_FEW_DOCUMENTS, TOO_FEW_PEOPLE, AlternativeTest
from reports.stats.answers import IntArray
from reports.stats.bootstrap import Interval
from reports.stats.distinct import distinct
from reports.tables.rounding import rounded
from reports.words import UNDEFINED, code_of, count, n_pairs, name_of, said_as, undefined

Measure = Literal["kappa", "weighted-kappa", "alpha", "node-f1"]
KAPPAS: frozenset[Measure] = frozenset({"kappa", "weighted-kappa"})
Verdict = Literal["may", "may-not", "not-enough", "unknown"]
# Below this, kappa moves by tenths with every few answers more.
ENOUGH_CELLS = 30


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval. `reason`: why there is no value; `no_interval`: why there is no interval, ""
    where there is one or none was asked for."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    no_interval: str = ""


@dataclass(frozen=True)
class JudgeAnswer:
    """One judge on one question.

    accuracy: A_m; baseline: always the most frequent option, on the same cells. of_person: the human ceiling, what
    people reach under the judge's rule, each left out in turn; beside_person: the judge on the same cells against the
    same people, both against each of these by themselves where they are more than `MOST_OTHERS` (`n_others`, else 0);
    baseline_beside: always the most frequent option, on these; n_cells, in n_documents: how many these are. `verdict`
    is of the Alternative Annotator Test; "unknown" where the question has none.
    """

    code: str
    name: str
    accuracy: Estimate
    pairwise: float | None
    of_person: Estimate
    beside_person: Estimate
    baseline: float | None
    verdict: Verdict
    baseline_beside: float | None = None
    n_cells: int = 0
    n_documents: int = 0
    winning_rate: float | None = None
    n_people: int = 0
    n_left_out: int = 0
    epsilon: float = 0.0
    reason: str = ""
    n_others: float = 0.0

    @property
    def ceiling(self) -> float | None:
        return self.of_person.value

    @property
    def beside_ceiling(self) -> float | None:
        return self.beside_person.value

    @property
    def gap(self) -> float | None:
        """How far below the human ceiling it lies; negative where it is above."""
        if self.ceiling is None or self.beside_ceiling is None:
            return None
        return self.ceiling - self.beside_ceiling


@dataclass(frozen=True)
class Line:
    """A question, or the mean of a section's questions (`is_mean`). `table`: the key of the table that it rests on;
    n_comparisons: pairs of answers to a cell, of a mean 0; answered: by anybody, a person or a judge; has_options: it
    is answered by options; by_single_rows: most sheets have a single row, so that agreement is told of all sheets
    together. ac1, majority: Gwet's AC1 and the share of the most frequent option, by which κ is to be read; ac2: of
    scales, in place of AC1; None of means and of values."""

    key: str
    name: str
    table: str
    is_mean: bool
    measure: Measure
    agreement: Estimate
    rests_on: str
    accuracy: Estimate
    n_comparisons: int = 0
    judges: tuple[JudgeAnswer, ...] = ()
    answered: bool = True
    has_options: bool = True
    by_single_rows: bool = False
    ac1: float | None = None
    ac2: float | None = None
    majority: float | None = None

    @property
    def is_few(self) -> bool:
        return not self.is_mean and self.n_comparisons < ENOUGH_CELLS


@dataclass(frozen=True)
class Answers:
    """`lines`: questions in the order of the scheme, each mean after those that it is of. `n_sheets`, `n_rows`,
    `n_twice`: those in which a person has labelled something, and the rows in which two or more have. `drawn`: what
    intervals draw, "" where none were asked for. `row`, `rows`, `sheets`: what the scheme calls them. `told`: what
    is said before it of a comparison, and by packs."""

    lines: tuple[Line, ...]
    n_people: int
    judges: tuple[tuple[str, str], ...]
    simulated: bool
    n_labels: int
    n_sheets: int
    n_rows: int
    n_twice: int
    drawn: str
    n_draws: int
    seed: int
    row: str
    rows: str
    sheets: str
    told: tuple[doors.Told, ...] = ()

    @property
    def questions(self) -> list[Line]:
        """Those that somebody has answered."""
        return [line for line in self.lines if not line.is_mean and line.answered]

    @property
    def unanswered(self) -> list[Line]:
        return [line for line in self.lines if not line.answered]

    def nearest(self) -> tuple[str, str] | None:
        """Code and name of the judge that lies nearest to the human ceiling, over all questions where there is one; of
        equal ones the first. Where there is no ceiling, the judge with the highest mean A_m."""
        best: tuple[tuple[int, float], tuple[str, str]] | None = None
        for code, name in self.judges:
            of = [judge for line in self.questions for judge in line.judges if judge.code == code]
            gaps = [judge.gap for judge in of if judge.gap is not None]
            shares = [judge.accuracy.value for judge in of if judge.accuracy.value is not None]
            if gaps:
                rank = (1, -sum(gaps) / len(gaps))
            elif shares:
                rank = (0, sum(shares) / len(shares))
            else:
                continue
            if best is None or rank > best[0]:
                best = rank, (code, name)
        return best[1] if best else None


def answers_of(report: StudyReport) -> Answers:
    """The answers of a report."""
    with said_as(report.filters, report.data.scheme):
        return _answers_of(report)


def _answers_of(report: StudyReport) -> Answers:
    data, how = report.data, report.filters.intervals
    labelled = _labelled(data.table)
    lines: list[Line] = []
    for section in report.sections:
        lines += [
            _of_values(report, question) if isinstance(question, ValueReport) else _of_options(report, question)
            for question in section.in_order
        ]
        if section.kappa is not None and section.accuracy is not None:
            single_rows = any(line.by_single_rows for line in lines[-len(section.in_order) :])
            lines.append(_of_section(section, single_rows=single_rows))
    named = {judge.code: judge.name for line in lines for judge in line.judges if judge.accuracy.value is not None}
    return Answers(
        lines=tuple(lines),
        n_people=len(
            {rater for q in (*data.questions, *data.value_questions) for rater in set(q.people.rater.tolist())}
        ),
        judges=tuple(named.items()),
        simulated=bool(data.simulated),
        n_labels=data.n_labels,
        n_sheets=len({data.table.rows[row].sheet for row in np.flatnonzero(labelled).tolist()}),
        n_rows=int((labelled > 0).sum()),
        n_twice=int((labelled > 1).sum()),
        drawn=how.by,
        n_draws=how.n_draws,
        seed=how.seed,
        row=data.scheme.words.row,
        rows=data.scheme.words.rows,
        sheets=data.scheme.words.sheets,
        told=(*told_of_comparison(report), *doors.told_of(report)),
    )


def _labelled(table: LabelTable) -> IntArray:
    """How many people have labelled something in each row: not what follows from a column, nor drafts that nobody has
    confirmed. Shape (n_rows,)."""
    counts = table.labels[:, 4] == 0
    counts[[draft.label for draft in table.drafts if not draft.confirmed]] = False
    assignment = table.labels[counts, 0]
    rater, row = table.assignments.rater[assignment], table.assignments.row[assignment].astype(np.int64)
    is_person = np.array([of.kind == "person" for of in table.raters], dtype=bool)
    n_raters = max(len(table.raters), 1)
    has = distinct((row * n_raters + rater)[is_person[rater]])
    return np.bincount(has // n_raters, minlength=len(table.rows))


def estimate(value: float | None, interval: Interval | None, reason: str = "") -> Estimate:
    """`interval`: None where none was asked for; `reason`: why there is no value."""
    if interval is None:
        return Estimate(value, reason=reason)
    no_interval = "" if interval.low is not None or value is None else str(UNDEFINED.get(interval.reason, ""))
    return Estimate(value, interval.low, interval.high, reason, no_interval)


def _of_options(report: StudyReport, question: QuestionReport) -> Line:
    agreement = question.agreement
    kappa, macro = agreement.kappa, agreement.macro
    line = Line(
        key=question.data.name,
        name=name_of(question),
        table=f"{question.data.name}.agreement",
        is_mean=False,
        measure="weighted-kappa" if question.spec.kind == "scale" else "kappa",
        agreement=estimate(kappa.value, macro.kappa if macro else None, undefined(question, agreement, kappa.reason)),
        rests_on=n_pairs(report.data.scheme.words, kappa.n_pairs),
        accuracy=_accuracy(agreement),
        n_comparisons=kappa.n_comparisons,
        judges=tuple(_judge(result) for result in question.judges),
        answered=_is_answered(question.data),
        ac1=agreement.among.ac1.value,
        ac2=agreement.among.ac2.value if agreement.among.ac2 else None,
        majority=agreement.among.prevalence.majority_share,
    )
    if not report.by_single_rows(question):
        return line
    alpha = agreement.alpha
    return replace(
        line,
        measure="alpha",
        agreement=estimate(alpha.value, agreement.intervals.get("alpha"), undefined(question, agreement, alpha.reason)),
        rests_on=_n_cells(alpha.n_cells),
        by_single_rows=True,
    )


def _n_cells(n: int) -> str:
    return ngettext("%(n)s cell with two answers or more", "%(n)s cells with two answers or more", n) % {"n": count(n)}


def _accuracy(agreement: PeopleAgreement) -> Estimate:
    of = agreement.accuracy
    return estimate(of.value, agreement.macro.accuracy if agreement.macro else None, str(UNDEFINED[of.reason]))


def _of_values(report: StudyReport, question: ValueReport) -> Line:
    exact, intervals = question.exact, question.exact_intervals
    line = Line(
        key=question.data.name,
        name=name_of(question),
        table=f"{question.data.name}.agreement",
        is_mean=False,
        measure="alpha",
        agreement=estimate(
            exact.alpha, intervals.get("alpha"), str(UNDEFINED.get(exact.alpha_reason, exact.alpha_reason))
        ),
        rests_on=_n_cells(exact.n_shared),
        accuracy=estimate(question.accuracy.value, None, str(UNDEFINED[question.accuracy.reason])),
        n_comparisons=exact.n_comparisons,
        judges=tuple(_value_judge(judge) for judge in question.judges),
        answered=_is_answered(question.data),
        has_options=False,
    )
    if question.graphs is None or report.filters.before_graphs_first:
        return line
    return _of_graphs(report, line, question.graphs)


def _of_graphs(report: StudyReport, line: Line, graphs: GraphReport) -> Line:
    """How far people agree on graphs, where two drew one: free descriptions are seldom the same letter by letter, so
    that equal answers say next to nothing."""
    at, people = graphs.shown, graphs.people
    nodes = people.means.get((at, "nodes")) if people else None
    if people is None or nodes is None or nodes.value is None:
        return line
    words = report.data.scheme.words
    edges = [people.means[at, measure].value for measure in ("matched", "all")]
    matched, every = ("–" if of is None else number_format(rounded(of, 2)) for of in edges)
    rests_on = _(
        "threshold %(threshold)s; Edge F1 %(matched)s between matched states, %(all)s over all; "
        "%(rows)s compared: %(n)s"
    ) % {
        "threshold": number_format(at, 2),
        "matched": matched,
        "all": every,
        "rows": words.rows,
        "n": count(people.n_compared),
    }
    return replace(
        line,
        table=f"{line.key}.graphs",
        measure="node-f1",
        agreement=estimate(nodes.value, nodes.interval),
        rests_on=rests_on,
        accuracy=Estimate(None),
    )


def _is_answered(data: QuestionData) -> bool:
    of_people = data.people.cell.size > 0 or bool((data.selections >= 0).any())
    return of_people or any(answers.cell.size for answers in data.judges.values())


def _of_section(section: SectionReport, *, single_rows: bool) -> Line:
    """single_rows: some of its questions are told of all sheets together, and no mean is taken of that."""
    assert section.kappa is not None
    assert section.accuracy is not None
    kappa, macro = section.kappa, section.macro
    return Line(
        key=section.key,
        name=section.title,
        table=f"{section.key}.agreement",
        is_mean=True,
        measure="kappa",
        agreement=Estimate(None)
        if single_rows
        else estimate(kappa.value, macro.kappa if macro else None, str(UNDEFINED[kappa.reason])),
        rests_on="",
        accuracy=estimate(
            section.accuracy.value, macro.accuracy if macro else None, str(UNDEFINED[section.accuracy.reason])
        ),
    )


def _judge(result: JudgeResult) -> JudgeAnswer:
    test, ceiling = result.alternative, result.ceiling_of_each if result.crowded else result.ceiling
    intervals, reason = result.ceiling_intervals, str(UNDEFINED.get(ceiling.reason, ceiling.reason))
    return JudgeAnswer(
        code=result.judge.code,
        name=code_of(result.judge),
        accuracy=estimate(result.accuracy.value, result.accuracy_interval, str(UNDEFINED[result.accuracy.reason])),
        pairwise=result.pairwise.value if result.pairwise else None,
        of_person=estimate(ceiling.person, intervals.person if intervals else None, reason),
        beside_person=estimate(ceiling.judge, intervals.judge if intervals else None, reason),
        baseline_beside=result.ceiling_baseline,
        n_cells=ceiling.n_cells,
        n_documents=ceiling.n_documents,
        baseline=result.baseline.accuracy.value,
        verdict=_verdict(test),
        winning_rate=test.winning_rate,
        n_people=test.n_people,
        n_left_out=test.n_left_out,
        epsilon=test.epsilon,
        reason=str(UNDEFINED.get(test.reason, test.reason)),
        n_others=ceiling.others if result.crowded else 0.0,
    )


def _verdict(test: AlternativeTest) -> Verdict:
    if test.passed is None:
        return "not-enough" if test.reason in (TOO_FEW_PEOPLE, TOO_FEW_DOCUMENTS) else "unknown"
    return "may" if test.passed else "may-not"


def _value_judge(of: ValueJudge) -> JudgeAnswer:
    return JudgeAnswer(
        code=of.judge.code,
        name=code_of(of.judge),
        accuracy=estimate(of.accuracy.value, of.accuracy_interval, str(UNDEFINED[of.accuracy.reason])),
        pairwise=of.pairwise.value,
        of_person=Estimate(
            None, reason=_("the human ceiling is of options and scales, and this is answered by values")
        ),
        beside_person=Estimate(None),
        baseline=None,
        verdict="unknown",
    )


def published_of(scheme: str, answers: Answers) -> Sequence[tuple[Line, doors.Published]]:
    """What was published of a study under this scheme, beside the lines of this one."""
    known = {line.key: line for line in answers.lines}
    return [(known[of.key], of) for of in doors.published_for(scheme) if of.key in known]
