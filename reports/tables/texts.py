"""Texts measured against references: by rater, by line, by sheet, people against each other, and two by two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Words
from reports.numbers.report import StudyReport
from reports.numbers.texts import MOST_TESTED, Part, Score, TextReport
from reports.numbers.values import ValueReport
from reports.tables.base import Head, ReportTable, Value, words_of
from reports.tables.coefficients import ends, interval_how
from reports.tables.graphs import encoder_told
from reports.words import METRICS, UNDEFINED, cap, code_of, count, name_of, naming_gold


def text_tables(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    texts = question.texts
    if texts is None or not texts.references:
        return
    if texts.scores:
        yield _against(question, texts, words_of(report))
    if texts.runs:
        yield _runs(question, texts, words_of(report))
    if texts.among:
        yield _among(question, texts, words_of(report))
    if texts.tests:
        yield _tests(question, texts, words_of(report))
    if texts.by_line and any(len(score.lines) > 1 for score in texts.scores):
        yield _lines(question, texts)
    if any(len(score.sheets) > 1 for score in texts.scores):
        yield _sheets(report, question, texts)


def short(metric: str) -> str:
    return str(METRICS[metric][0])


def _against(question: ValueReport, texts: TextReport, words: Words) -> ReportTable:
    shown = any(score.intervals for score in texts.scores)
    empty = any(score.n_empty for score in texts.scores)
    rows = [
        line
        for score in texts.scores
        for line in _written_out(
            texts,
            score,
            code_of(score.rater) if score.rater else "",
            (score.n_cells, score.n_empty if empty else score.n_left_out),
            shown=shown,
        )
    ]
    interval = next((of for score in texts.scores for of in score.intervals.values()), None)
    return ReportTable(
        key=f"{question.data.name}.texts",
        about=name_of(question),
        title=_title(texts),
        heads=(
            Head("rater", _("Whose texts")),
            *_heads(texts.metrics, shown=shown),
            Head("cells", _("Cells"), "count"),
            Head("unlabelled", _("No text: counted as empty") if empty else _("Left out: no text"), "count"),
        ),
        rows=tuple(rows),
        how=" ".join(
            filter(
                None,
                [
                    _("Over all cells that both wrote, each cell alike."),
                    _references_how(texts),
                    *_variants_how(texts.metrics),
                    *_encoder_how(texts),
                    *missing_how(texts.missing),
                    interval_how(interval, words),
                ],
            )
        ),
    )


def _title(texts: TextReport) -> str:
    names = ", ".join(code_of(rater) for rater in texts.references)
    if texts.of_gold:
        return naming_gold(_("Text metrics against gold %(rater)s"), names)
    if len(texts.references) == 1:
        return _("Text metrics against %(rater)s") % {"rater": names}
    return _("Text metrics against what people wrote")


def _references_how(texts: TextReport) -> str:
    if not texts.several:
        return ""
    return _(
        "Where there are several references, the one that fits best counts; nobody's text is a reference of itself."
    )


def _variants_how(metrics: Sequence[str]) -> Iterator[str]:
    for metric in metrics:
        name, variant = METRICS[metric]
        yield _("%(metric)s: %(variant)s.") % {"metric": name, "variant": variant}


def _encoder_how(texts: TextReport) -> Iterator[str]:
    if texts.encoder:
        yield _("Encoder: %(encoder)s.") % {"encoder": ", ".join(encoder_told(texts.encoder))}


def missing_how(missing: Mapping[str, str]) -> Iterator[str]:
    for metric, reason in missing.items():
        yield _("%(metric)s is not computed: %(reason)s.") % {
            "metric": short(metric),
            "reason": UNDEFINED.get(reason, reason),
        }


def _heads(metrics: Sequence[str], *, shown: bool = False) -> Iterator[Head]:
    """A column a metric; with intervals there is a line a metric instead, which fits on a page."""
    if shown:
        interval = _("95 % interval")
        yield Head("metric", _("Metric"))
        yield Head("value", _("Value"), "number")
        yield Head("low", _("from"), "number", interval)
        yield Head("high", _("to"), "number", interval)
        return
    for metric in metrics:
        yield Head(metric, short(metric), "number")


def _written_out(
    texts: TextReport, score: Score, name: str, counts: tuple[Value, ...], *, shown: bool
) -> Iterator[tuple[Value, ...]]:
    if not shown:
        yield (name, *_figures(texts, score), *counts)
        return
    for metric in texts.metrics:
        yield (name, short(metric), score.figures[metric], *ends(score.intervals.get(metric), shown=True), *counts)


def _figures(texts: TextReport, score: Score | Part) -> Iterator[Value]:
    for metric in texts.metrics:
        yield score.figures[metric]


def _runs(question: ValueReport, texts: TextReport, words: Words) -> ReportTable:
    return ReportTable(
        key=f"{question.data.name}.texts.runs",
        about=name_of(question),
        title=_("Text metrics: means over runs"),
        heads=(
            Head("rater", _("Whose texts")),
            Head("metric", _("Metric")),
            Head("first", _("First run"), "number"),
            Head("mean", _("Mean"), "number"),
            Head("deviation", "SD", "number"),
            Head("lowest", _("lowest"), "number"),
            Head("highest", _("highest"), "number"),
            Head("runs", _("Runs"), "count"),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(
            (
                code_of(of.rater) if of.rater else of.name,
                short(metric),
                *(figures[metric] for figures in (of.first, of.mean, of.deviation, of.lowest, of.highest)),
                *(of.n, of.n_cells),
            )
            for of in texts.runs
            for metric in texts.metrics
        ),
        how=_(
            "Each run's figure is of its own texts, on the %(rows)s that all runs have; cells are those of the run "
            "with the fewest. The SD is that of the runs (n − 1), and says nothing of other %(rows)s. Runs are a "
            "judge's repeats, of which other tables have the first, or systems from files whose names end in “-run-1”, "
            "“-run-2”."
        )
        % {"rows": words.rows},
    )


def _among(question: ValueReport, texts: TextReport, words: Words) -> ReportTable:
    shown = any(score.intervals for score in texts.among)

    def name(score: Score) -> str:
        if score.rater is not None:
            return _("%(judge)s – people") % {"judge": code_of(score.rater)}
        return f"    {' – '.join(score.names)}" if score.names else _("people against each other")

    interval = next((of for score in texts.among for of in score.intervals.values()), None)
    return ReportTable(
        key=f"{question.data.name}.texts.people",
        about=name_of(question),
        title=_("Text metrics: people against each other"),
        heads=(
            Head("who", _("Who")),
            *_heads(texts.metrics, shown=shown),
            Head("cells", _("Cells"), "count"),
            Head("pairs", _("Pairs of texts"), "count"),
        ),
        rows=tuple(
            line
            for score in texts.among
            for line in _written_out(texts, score, name(score), (score.n_cells, score.n_pairs), shown=shown)
        ),
        how=" ".join(
            filter(
                None,
                [
                    _(
                        "Where several people wrote a cell. Of two people each is once the reference of the other, so "
                        "that both ways count alike; a judge is held against one person at a time, and its figures are "
                        "to be read beside those of people."
                    ),
                    interval_how(interval, words),
                ],
            )
        ),
    )


def _tests(question: ValueReport, texts: TextReport, words: Words) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    for test in texts.tests:
        for metric, found in test.differences.items():
            because = ""
            if found.value is None:
                because = _("the value itself is not defined")
            elif found.interval.reason:
                because = str(UNDEFINED.get(found.interval.reason, found.interval.reason))
            rows.append(
                (
                    *(code_of(test.first), code_of(test.second), short(metric)),
                    *(found.value, found.interval.low, found.interval.high),
                    *(found.p_bootstrap, found.p_randomisation, test.n_cells, found.n_clusters, because),
                )
            )
    interval = _("95 % interval")
    drawn = next((of.interval for test in texts.tests for of in test.differences.values()), None)
    what = words.rows if drawn is not None and drawn.by == "document" else words.sheets
    n = count(len(rows))
    return ReportTable(
        key=f"{question.data.name}.texts.tests",
        about=name_of(question),
        title=_("Text metrics: two by two on the same cells"),
        heads=(
            Head("first", _("First")),
            Head("second", _("Second")),
            Head("metric", _("Metric")),
            Head("difference", _("First less second"), "number"),
            Head("low", _("from"), "number", interval),
            Head("high", _("to"), "number", interval),
            Head("p_bootstrap", _("paired bootstrap"), "number", "p"),
            Head("p_randomisation", _("approximate randomisation"), "number", "p"),
            Head("cells", _("Cells"), "count"),
            Head("clusters", cap(what), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=" ".join(
            filter(
                None,
                [
                    _(
                        "On the cells that both wrote. Both tests take whole %(what)s and are two-sided: the paired "
                        "bootstrap draws them with replacement (Koehn 2004), approximate randomisation exchanges the "
                        "two raters' texts of each at random (Riezler and Maxwell 2005). These are %(n)s tests, and no "
                        "p is corrected for their number."
                    )
                    % {"what": what, "n": n},
                    _("With more than %(n)s raters only judges are tested.") % {"n": MOST_TESTED}
                    if len(texts.scores) > MOST_TESTED
                    else "",
                    interval_how(drawn, words),
                ],
            )
        ),
    )


def _lines(question: ValueReport, texts: TextReport) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    line = _("line %(n)s")
    for score in texts.scores:
        rows.append((code_of(score.rater) if score.rater else "", *_figures(texts, score), score.n_cells))
        rows += [(f"    {line % {'n': part.number + 1}}", *_figures(texts, part), part.n_cells) for part in score.lines]
    return ReportTable(
        key=f"{question.data.name}.texts.lines",
        about=name_of(question),
        title=_("Text metrics by line of the table"),
        heads=(
            Head("rater", _("Whose texts")),
            *_heads(texts.metrics),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(rows),
        how=_("Lines by their place from the top, over all tables that have so many."),
        folded=True,
    )


def _sheets(report: StudyReport, question: ValueReport, texts: TextReport) -> ReportTable:
    words = words_of(report)
    rows: list[tuple[Value, ...]] = []
    for score in texts.scores:
        rows.append((code_of(score.rater) if score.rater else "", *_figures(texts, score), score.n_cells))
        rows += [
            (f"    {report.data.sheets[part.number]}", *_figures(texts, part), part.n_cells) for part in score.sheets
        ]
    n = max(len(score.sheets) for score in texts.scores)
    return ReportTable(
        key=f"{question.data.name}.texts.sheets",
        about=name_of(question),
        title=_("Text metrics by %(sheet)s") % {"sheet": words.sheet},
        heads=(
            Head("rater", _("Whose texts")),
            *_heads(texts.metrics),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(rows),
        how=ngettext("Of each rater up to %(n)s %(sheet)s.", "Of each rater up to %(n)s %(sheets)s.", n)
        % {"n": count(n), "sheet": words.sheet, "sheets": words.sheets},
        folded=True,
    )
