"""People judge systems: rates by system, who is preferred to whom, and which metric goes with people's judgement.

A pack says by `Judged` how its scheme names systems and texts, and registers `system_tables` at `reports.doors`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from llm.encoders import EncoderError
from reports.data.arrays import QuestionData
from reports.numbers.report import QuestionReport, StudyReport
from reports.numbers.texts import bert_score
from reports.stats import spa
from reports.stats.answers import Answers, IntArray
from reports.stats.pairs import FloatArray
from reports.stats.systems import Correlation, correlation, rate
from reports.stats.text.meteor import DataMissing
from reports.stats.text.metrics import BERTSCORE, DEFAULT, OF_LISTS, metric_of
from reports.stats.text.pairs import Pairs
from reports.tables.base import Head, ReportTable, Value, words_of
from reports.tables.texts import missing_how, short
from reports.words import SYSTEMS, UNDEFINED, cap, code_of, name_of

Facets = Mapping[str, str]
# What an output says, by what it is called: the text that is judged, and its references.
Texts = Mapping[str, tuple[str, tuple[str, ...]]]


def _nothing(row: Facets, column: Facets) -> Texts:
    return {}


@dataclass(frozen=True)
class Fault:
    """What may be wrong with an output. option: the one that says that it is; not_asked: what counts where a rule
    switches the question off, 1 it is wrong, 0 it is not; title: of both together, where it is not the question's."""

    option: str
    not_asked: float = 0.0
    title: Promise | str = ""


@dataclass(frozen=True)
class Judged:
    """Of a scheme in which people judge outputs of systems, one output or two side by side a row.

    flags: by question the option that counts as 1. faults: by question, of which rates are told beside those of flags,
    though no metric is held against them. beside: by question what each option says of the left one: 1 it is
    better, 0 the right one is, 0.5 a tie. system: whose output a cell is about, by the facets of its row and column; ""
    where nobody's. sides: the systems left and right, of a row's facets. reference: that system of a row which others
    are held against; "" where there is none. texts, left, right: the texts of a cell's output, and of the two sides of
    a row. separator: between the parts of such a text.
    """

    flags: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, Fault] = field(default_factory=dict)
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    system: Callable[[Facets, Facets], str] = lambda row, column: row.get("system", "")
    sides: Callable[[Facets], tuple[str, str]] = lambda row: (row.get("first", ""), row.get("second", ""))
    reference: Callable[[Facets], str] = lambda row: ""
    texts: Callable[[Facets, Facets], Texts] = _nothing
    left: Callable[[Facets], Texts] = lambda row: {}
    right: Callable[[Facets], Texts] = lambda row: {}
    separator: str = ""


def system_tables(report: StudyReport, question: QuestionReport, judged: Judged) -> Iterator[ReportTable]:
    """After the first of the flags the rates of all of them, with wins and losses; after a comparison who is preferred;
    after each, which metric goes with it, where the texts are known. None in reports of methods before 6."""
    if report.filters.before_systems:
        return
    name = question.data.name
    if name in judged.flags:
        if name == next((of.data.name for of in _flags(report, judged)), ""):
            yield _rates(report, judged)
        yield from _predictors(report, question, _flagged(report, question.data, judged), judged)
    if name in judged.beside:
        yield _preferred(report, question, judged)
        yield from _predictors(report, question, _compared(report, question.data, judged), judged)


def _flags(report: StudyReport, judged: Judged) -> list[QuestionReport]:
    return [of for of in _questions(report) if of.data.name in judged.flags]


def _faults(report: StudyReport, judged: Judged) -> list[QuestionReport]:
    """Those of which it is known where they are not asked."""
    known = {of.data.name for of in _questions(report)}
    return [
        of
        for of in _questions(report)
        if of.data.name in judged.faults and {f"{of.data.section.key}.{key}" for key in of.spec.ask_unless} <= known
    ]


def _comparisons(report: StudyReport, judged: Judged) -> list[QuestionReport]:
    return [of for of in _questions(report) if of.data.name in judged.beside]


def _questions(report: StudyReport) -> list[QuestionReport]:
    return [of for section in report.sections for of in section.questions]


def _sides_of(data: QuestionData) -> Iterator[tuple[str, Answers]]:
    """People together, then each judge."""
    yield _("People"), data.people
    yield from data.judges.items()


class _Places:
    """Facets of a cell's row and column."""

    def __init__(self, report: StudyReport) -> None:
        self.table, self.n_columns = report.data.table, report.data.n_columns

    def row(self, cell: int) -> Facets:
        return self.table.rows[cell // self.n_columns].facets

    def column(self, cell: int) -> Facets:
        return self.table.columns[cell % self.n_columns].facets


# --- rates ------------------------------------------------------------------------------------------------------------


def _rates(report: StudyReport, judged: Judged) -> ReportTable:
    places, questions = _Places(report), [*_flags(report, judged), *_faults(report, judged)]
    systems: dict[str, None] = {}
    found: dict[tuple[str, str], dict[str, tuple[Value, ...]]] = defaultdict(dict)
    for question in questions:
        for by, value, cells, sheets in _said(report, question, judged):
            of = np.array(
                [judged.system(places.row(cell), places.column(cell)) for cell in cells.tolist()], dtype=object
            )
            for system in sorted(set(of.tolist()) - {""}):
                mine = of == system
                known = rate(value[mine], sheets[mine], bounds=report.filters.share_bounds)
                systems.setdefault(system)
                found[system, by][question.data.name] = (known.value, known.low, known.high, known.n)
    raters = [_("People"), *(code_of(judge) for judge in report.data.judges)]
    codes = [_("People"), *(judge.code for judge in report.data.judges)]
    none: tuple[Value, ...] = (None, None, None, 0)
    beside = [(of, _stood(report, of, judged)) for of in _comparisons(report, judged)]
    rows = [
        (
            system,
            shown,
            *(number for of in questions for number in found[system, by].get(of.data.name, none)),
            *(number for _of, stood in beside for number in stood.get((system, by), ("", None, None, None, 0))),
        )
        for system in sorted(systems)
        for by, shown in zip(codes, raters, strict=True)
        if (system, by) in found
    ]
    return ReportTable(
        key=f"{questions[0].data.name}.systems",
        about=questions[0].data.section.title,
        title=_("Systems as they were judged"),
        heads=(
            Head("system", _("System")),
            Head("by", _("By")),
            *(
                head
                for of in questions
                for title in [_title(of, judged)]
                for head in (
                    Head(of.data.name, _("Share"), "number", title),
                    Head(f"{of.data.name}_low", _("from"), "number", title),
                    Head(f"{of.data.name}_high", _("to"), "number", title),
                    Head(f"{of.data.name}_n", _("Judgements"), "count", title),
                )
            ),
            *(
                head
                for of, _stood_there in beside
                for head in (
                    Head(f"{of.data.name}_against", _("Against"), "text", of.spec.title),
                    Head(f"{of.data.name}_wins", _("Wins"), "number", of.spec.title),
                    Head(f"{of.data.name}_ties", _("Ties"), "number", of.spec.title),
                    Head(f"{of.data.name}_loses", _("Loses"), "number", of.spec.title),
                    Head(f"{of.data.name}_n", _("Judgements"), "count", of.spec.title),
                )
            ),
        ),
        rows=tuple(rows),
        how=" ".join(
            [
                (
                    _(
                        "The share of judgements that say so, each judgement alike. Judgements of one %(sheet)s belong "
                        "together: the 95 %% intervals are cluster-robust (Student's t); where all say the same, "
                        "Wilson's, each %(sheet)s counting once."
                    )
                    if report.filters.before_share_bounds
                    else _(
                        "The share of judgements that say so, each judgement alike. Judgements of one %(sheet)s belong "
                        "together: the 95 %% intervals are cluster-robust (Korn and Graubard's)."
                    )
                )
                % {"sheet": words_of(report).sheet},
                *([_("Wins and losses are the system's own, whatever side it stood on.")] if beside else []),
            ]
        ),
    )


def _title(question: QuestionReport, judged: Judged) -> str:
    fault = judged.faults.get(question.data.name)
    return str(fault.title if fault and fault.title else question.spec.title)


def _said(
    report: StudyReport, question: QuestionReport, judged: Judged
) -> Iterator[tuple[str, FloatArray, IntArray, IntArray]]:
    """Of people and each judge what every judgement says, 0 or 1, with its cell and its sheet; of a fault also the
    judgements by which it was not asked."""
    fault = judged.faults.get(question.data.name)
    yes = _code(question, fault.option if fault else judged.flags[question.data.name])
    section = question.data.section.key
    above = {of.spec.key: of for of in _questions(report) if of.data.section.key == section}
    for by, answers in _sides_of(question.data):
        parts = [((answers.code == yes).astype(np.float64), answers.cell, answers.sheet)]
        if fault:
            for key, words in question.spec.ask_unless.items():
                said = dict(_sides_of(above[key].data)).get(by)
                if said is not None:
                    gone = np.isin(said.code, [_code(above[key], word) for word in words])
                    parts.append((np.full(int(gone.sum()), fault.not_asked), said.cell[gone], said.sheet[gone]))
        value, cells, sheets = (np.concatenate(part) for part in zip(*parts, strict=True))
        yield by, value, cells, sheets


def _code(question: QuestionReport, option: str) -> int:
    return [of.key for of in question.spec.options].index(option)


def _stood(report: StudyReport, question: QuestionReport, judged: Judged) -> dict[tuple[str, str], tuple[Value, ...]]:
    """By system and who judged: against whom it stood, shares of wins, ties and losses, and their number.

    Against the reference alone, where it ever stood against it."""
    places, left_better = _Places(report), _left_better(question.data, judged)
    found: dict[tuple[str, str], tuple[Value, ...]] = {}
    for by, answers in _sides_of(question.data):
        # system -> the other, whether that is the reference, and 1 where the system is preferred, 0.5 a tie
        said: dict[str, list[tuple[str, bool, float]]] = defaultdict(list)
        for cell, value in zip(answers.cell.tolist(), left_better[answers.code].tolist(), strict=True):
            row = places.row(cell)
            left, right = judged.sides(row)
            if left and right and left != right:
                said[left].append((right, right == judged.reference(row), value))
                said[right].append((left, left == judged.reference(row), 1 - value))
        for system, stood in said.items():
            kept = [one for one in stood if one[1]] or stood
            value = np.array([one[2] for one in kept])
            others = "; ".join(sorted({one[0] for one in kept}))
            found[system, by] = (others, *_shares(value), value.size)
    return found


def _shares(value: FloatArray) -> tuple[float, float, float]:
    """Wins, ties and losses of values that are 1, 0.5 or 0."""
    n = max(value.size, 1)
    return float((value > 0.5).sum() / n), float((value == 0.5).sum() / n), float((value < 0.5).sum() / n)


# --- side by side -----------------------------------------------------------------------------------------------------


def _preferred(report: StudyReport, question: QuestionReport, judged: Judged) -> ReportTable:
    """Of each two systems; and of left and right, whoever stood there."""
    data, places = question.data, _Places(report)
    left_better = _left_better(data, judged)
    rows: list[tuple[Value, ...]] = []
    said: dict[str, tuple[Answers, list[tuple[str, str]]]] = {}
    pairs: set[tuple[str, str]] = set()
    references: set[str] = set()
    for by, answers in _sides_of(data):
        sides = [judged.sides(places.row(cell)) for cell in answers.cell.tolist()]
        said[by] = answers, sides
        pairs |= {(min(both), max(both)) for both in sides if all(both) and both[0] != both[1]}
        references |= {judged.reference(places.row(cell)) for cell in answers.cell.tolist()}
    # Others are held against the reference, which stands second.
    for first, second in sorted(pair[::-1] if pair[0] in references else pair for pair in pairs):
        for by, (answers, sides) in said.items():
            chosen = np.array([set(both) == {first, second} for both in sides], dtype=bool)
            turned = np.array([both[0] == second for both in sides], dtype=bool)[chosen]
            value = left_better[answers.code[chosen]]
            value = np.where(turned, 1 - value, value)
            rows.append((first, second, by, *_line(value, answers.where(chosen))))
    for by, (answers, _sides) in said.items():
        if answers.cell.size:
            rows.append((_("left side"), _("right side"), by, *_line(left_better[answers.code], answers)))
    return ReportTable(
        key=f"{data.name}.systems",
        about=name_of(question),
        title=_("Systems side by side"),
        heads=beside_heads(Head("sheets", cap(words_of(report).sheets), "count")),
        rows=tuple(rows),
        how=_(
            "Who wrote which and the order of the two were hidden; a tie counts half. 0.5 means that neither is "
            "preferred, and p is that of 0.5 (two-sided, not corrected for the number of comparisons). The interval "
            "takes the judgements of one %(sheet)s together (cluster-robust, Student's t). The last lines say whether "
            "the place alone was preferred."
        )
        % {"sheet": words_of(report).sheet},
    )


def _left_better(data: QuestionData, judged: Judged) -> FloatArray:
    means = judged.beside[data.name]
    return np.array([means.get(option.key, 0.5) for option in data.spec.options], dtype=np.float64)


def _line(value: FloatArray, answers: Answers) -> tuple[Value, ...]:
    shares = _shares(value) if value.size else (None, None, None)
    return *shares, *held(spa.spa(spa.Assessments(value, answers.sheet, answers.rater)))


def beside_heads(inputs: Head) -> tuple[Head, ...]:
    """Of a table of each two systems. `inputs`: how many of what the judgements are of."""
    interval = _("95 % interval")
    return (
        Head("first", _("First")),
        Head("second", _("Second")),
        Head("by", _("By")),
        Head("wins", _("First wins"), "share"),
        Head("ties", _("Ties"), "share"),
        Head("loses", _("First loses"), "share"),
        Head("probability", _("First is preferred"), "number"),
        Head("low", _("from"), "number", interval),
        Head("high", _("to"), "number", interval),
        Head("p", "p", "number"),
        Head("n", _("Judgements"), "count"),
        inputs,
        Head("because", _("Not defined because"), "note"),
    )


def held(found: spa.Spa) -> tuple[Value, ...]:
    """The last seven of these."""
    bounds = found.clustered
    return (
        found.probability,
        *((bounds.low, bounds.high, bounds.p_value) if bounds else (None, None, None)),
        found.n,
        found.n_inputs,
        str(UNDEFINED.get(found.reason, found.reason)),
    )


# --- which metric goes with people ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Output:
    """One judged output: people's mean score of it, its sheet, its texts, and those it stands against, if it does."""

    score: float
    sheet: int
    texts: Texts
    other: Texts | None = None


def _flagged(report: StudyReport, data: QuestionData, judged: Judged) -> list[_Output]:
    yes = [option.key for option in data.spec.options].index(judged.flags[data.name])
    places = _Places(report)
    return [
        _Output(score, sheet, judged.texts(places.row(cell), places.column(cell)))
        for cell, sheet, score in _mean_of_cells(data.people, (data.people.code == yes).astype(np.float64))
    ]


def _compared(report: StudyReport, data: QuestionData, judged: Judged) -> list[_Output]:
    places = _Places(report)
    return [
        _Output(score, sheet, judged.left(places.row(cell)), judged.right(places.row(cell)))
        for cell, sheet, score in _mean_of_cells(data.people, _left_better(data, judged)[data.people.code])
    ]


def _mean_of_cells(answers: Answers, value: FloatArray) -> Iterator[tuple[int, int, float]]:
    cells = answers.by_cell
    means = np.bincount(cells.index, value, minlength=cells.size) / np.bincount(cells.index, minlength=cells.size)
    yield from zip(cells.cell.tolist(), answers.sheet[cells.first].tolist(), means.tolist(), strict=True)


def _predictors(
    report: StudyReport, question: QuestionReport, outputs: Sequence[_Output], judged: Judged
) -> Iterator[ReportTable]:
    named = list(dict.fromkeys(name for output in outputs for name in output.texts))
    if not named:
        return
    asked = [key for key in (report.filters.metrics or DEFAULT) if judged.separator or key not in OF_LISTS]
    found: list[tuple[str, str, Correlation]] = []
    missing: dict[str, str] = {}
    for name in named:
        known = [of for of in outputs if name in of.texts and (of.other is None or name in of.other)]
        cluster = np.array([of.sheet for of in known], dtype=np.int64)
        human = np.array([of.score for of in known])
        for key in asked:
            others = [of.other[name] for of in known if of.other is not None]
            try:
                score = _scores(key, [of.texts[name] for of in known], judged.separator, report.filters.encoder)
                if others:
                    score = score - _scores(key, others, judged.separator, report.filters.encoder)
            except (DataMissing, EncoderError) as reason:
                missing[key] = str(reason)
                continue
            found.append((name, key, correlation(score, human, cluster)))
    report.missed.update(missing)
    found.sort(key=lambda line: -2.0 if line[2].kendall is None else line[2].kendall, reverse=True)
    beside = question.data.name in judged.beside
    kendall, spearman = _("Kendall's τ_b"), _("Spearman's ρ")
    yield ReportTable(
        key=f"{question.data.name}.metrics",
        about=name_of(question),
        title=_("Which metric goes with people's judgement"),
        heads=(
            Head("metric", _("Metric")),
            Head("text", _("Of")),
            Head("kendall", _("Value"), "number", kendall),
            Head("kendall_low", _("from"), "number", kendall),
            Head("kendall_high", _("to"), "number", kendall),
            Head("spearman", _("Value"), "number", spearman),
            Head("spearman_low", _("from"), "number", spearman),
            Head("spearman_high", _("to"), "number", spearman),
            Head("n", _("Comparisons") if beside else _("Outputs"), "count"),
            Head("sheets", cap(words_of(report).sheets), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (
                short(key),
                name,
                *(of.kendall, of.kendall_low, of.kendall_high, of.spearman, of.spearman_low, of.spearman_high),
                *(of.n, of.n_clusters, str(SYSTEMS.get(of.reason, ""))),
            )
            for name, key, of in found
        ),
        how=(
            _(
                "The metric of the left text less that of the right one, each against the reference, beside how far "
                "people preferred the left one."
            )
            if beside
            else _("The metric of each output against its reference, beside the share of people who said so of it.")
        )
        + " "
        + _(
            "The best comes first. 95 %% intervals by leaving out each %(sheet)s in turn (jackknife on Fisher's scale)."
        )
        % {"sheet": words_of(report).sheet}
        + "".join(f" {sentence}" for sentence in missing_how(missing)),
    )


def _scores(key: str, texts: Iterable[tuple[str, tuple[str, ...]]], separator: str, encoder: str) -> FloatArray:
    listed = list(texts)
    pairs = Pairs.of([text for text, _references in listed], [references for _text, references in listed])
    bert = bert_score(encoder, pairs) if key == BERTSCORE else None
    metric = metric_of(key, separator=separator, bert=bert)
    return np.nan_to_num(metric.each(metric.of(pairs)))
