"""Which figures a computed report has, with the sentence that says how to read each and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Kind
from reports.figures.base import Figure
from reports.numbers.arms import ArmsResult
from reports.numbers.judge import JudgeResult
from reports.numbers.report import CoverageResult, QuestionReport, StudyReport, VoiceReport
from reports.stats.by_sheet import OfSheet
from reports.stats.pairs import FloatArray
from reports.words import COEFFICIENTS, cap, code_of, count, heard, n_pairs, name_of, not_asked_how, worded

_POINTS = 200  # of a curve; more would not be seen
_PANELS = 60  # of small multiples; more would not be read


def question_figures(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    if question.agreement.kappa.rows:
        yield _matrix(report, question)
        yield _by_sheet(report, question)
    yield from _panels_by_sheet(report, question)
    heard_of = [(of, of.coverage) for of in question.voices if of.coverage and of.coverage.curve.n.size > 1]
    if heard_of:
        yield (_first_coverage if report.filters.first_coverage else _coverage)(report, question, heard_of)
        if not report.filters.before_each and 1 < heard_of[0][1].curve.sheets.size <= _PANELS:
            yield _coverage_by_sheet(report, question, heard_of[0])
    for result in question.judges:
        if result.confusion.n_comparisons:
            yield _confusion(question, result)
        if result.sureness:
            yield _reliability(report, question, result)
            yield _precision_recall(question, result)
    sure = [result for result in question.judges if result.sureness and result.sureness.selective.kept.size > 1]
    if sure and not report.filters.before_selective_curves:
        yield _selective(report, question, sure)
    for of_arms in question.arms:
        yield _flips(report, question, of_arms)


def _matrix(report: StudyReport, question: QuestionReport) -> Figure:
    """Cohen's κ of each two raters: people with each other, then each judge with each person."""
    people = report.data.people
    judges = [result for result in question.judges if result.with_people]
    weighted = question.spec.kind == Kind.SCALE and not report.filters.before_weighted_judges
    pairs = [(p.rater_a, p.rater_b, p.kappa(weighted=weighted), p.n) for p in question.agreement.among.pairs]
    for number, result in enumerate(judges):
        pairs += [(p.rater_a, len(people) + number, p.kappa(weighted=weighted), p.n) for p in result.with_people]
    at_work = sorted({rater for pair in pairs for rater in pair[:2]})
    place = {rater: n for n, rater in enumerate(at_work)}
    names = [*(code_of(rater) for rater in people), *(code_of(result.judge) for result in judges)]
    values: list[list[float | None]] = [[None] * len(at_work) for _rater in at_work]
    for a, b, kappa, _n in pairs:
        values[place[a]][place[b]] = values[place[b]][place[a]] = kappa
    known = [kappa for _a, _b, kappa, _n in pairs if kappa is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    return Figure(
        key=f"{question.data.name}.matrix",
        kind="matrix",
        about=name_of(question),
        title=_("Agreement of each two raters"),
        data={
            "names": [names[rater] for rater in at_work],
            "values": values,
            "label": str(COEFFICIENTS["cohen_quadratic"]) if weighted else "Cohen's κ",
        },
        how=" ".join(
            [
                *([_("κ has quadratic weights.")] if weighted else []),
                _(
                    "Cohen's κ over the cells that both answered, %(low)s to %(high)s cells a pair; a stronger tint is "
                    "more agreement, an empty field a pair that shares no cell or whose κ is not defined."
                )
                % {"low": count(min(n for *_x, n in pairs)), "high": count(max(n for *_x, n in pairs))},
            ]
        ),
        alt=_("A matrix of %(raters)s raters; κ lies between %(low).2f and %(high).2f.")
        % {"raters": len(at_work), "low": low, "high": high},
    )


def _by_sheet(report: StudyReport, question: QuestionReport) -> Figure:
    """κ of each sheet: the mean over its pairs of raters."""
    agreement, words = question.agreement, report.data.scheme.words
    of_sheet: dict[int, list[float]] = {}
    for row in agreement.kappa.rows:
        of_sheet.setdefault(row.sheet, []).extend([] if row.value is None else [row.value])
    sheets = sorted(of_sheet)
    means = [sum(of_sheet[s]) / len(of_sheet[s]) if of_sheet[s] else None for s in sheets]
    intervals = [agreement.of_sheets.get(sheet) for sheet in sheets]
    how = _("The mean κ of the pairs of raters of each %(sheet)s; the dashed line is the mean over %(pairs)s.") % {
        "sheet": words.sheet,
        "pairs": n_pairs(words, agreement.kappa.n_pairs),
    }
    given = next((of for of in intervals if of and of.low is not None), None)
    if given:
        how += " " + _("Lines: 95 %% intervals, drawing the %(rows)s of the %(sheet)s %(draws)s times.") % {
            "rows": words.rows,
            "sheet": words.sheet,
            "draws": count(given.n_draws),
        }
    elif any(intervals):
        how += " " + _("No intervals: a %(sheet)s has too few %(rows)s to draw from.") % {
            "sheet": words.sheet,
            "rows": words.rows,
        }
    value = agreement.kappa.value
    return Figure(
        key=f"{question.data.name}.kappa-by-sheet",
        kind="intervals",
        about=name_of(question),
        title=_("κ of each %(sheet)s") % {"sheet": words.sheet},
        data={
            "names": [report.data.sheets[sheet] for sheet in sheets],
            "values": means,
            "low": [of.low if of else None for of in intervals],
            "high": [of.high if of else None for of in intervals],
            "line": value,
            "line_title": _("macro average"),
            "x_title": "Cohen's κ",
        },
        how=how,
        alt=_("κ of %(n)s %(sheets)s around %(mean)s.")
        % {"n": len(sheets), "sheets": words.sheets, "mean": "–" if value is None else f"{value:.2f}"},
    )


def _panels_by_sheet(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    """A panel a sheet: people with each other and each judge with them, as kappa and as the share of equal answers."""
    words = report.data.scheme.words
    of_people = question.ceiling.by_sheet
    sides = [(_("people with each other"), of_people)] if of_people else []
    sides += [(code_of(result.judge), result.by_sheet) for result in question.judges if result.by_sheet]
    sheets = sorted({sheet for _name, of in sides for sheet in of})
    if len(sheets) < 2:
        return
    names = [name for name, _of in sides]
    kappas, shares = (
        [_panel(report.data.sheets[sheet], [part(of.get(sheet)) for _name, of in sides]) for sheet in sheets]
        for part in (_kappa_of, _share_of)
    )
    whole = _("the dashed line is that of people over all %(sheets)s") % {"sheets": words.sheets}
    how = _("A panel a %(sheet)s, each judge held against one person at a time; %(whole)s.") % {
        "sheet": words.sheet,
        "whole": whole,
    }
    if question.judges:
        how = " ".join([how, *_of_merge(question)])
    by_rows = (
        _("Lines: 95 %% intervals by %(rows)s (t).")
        if report.filters.said_by_t
        else _("Lines: 95 %% intervals by %(rows)s.")
    )
    of_shares = by_rows % {"rows": words.rows}
    of_kappas = _(
        "Lines: 95 %% intervals, drawing the %(rows)s of the %(sheet)s; where it has too few, there are none."
    )
    of_kappas = of_kappas % {"rows": words.rows, "sheet": words.sheet}
    for key, panels, title, x_title, line, lines in (
        (
            "kappa-panels",
            kappas,
            _("κ in each %(sheet)s: people and judges") % {"sheet": words.sheet},
            "Cohen's κ",
            question.ceiling.kappa.value,
            of_kappas,
        ),
        (
            "accuracy-panels",
            shares,
            _("Accuracy in each %(sheet)s: people and judges") % {"sheet": words.sheet},
            _("Percent agreement"),
            question.ceiling.accuracy.value,
            of_shares,
        ),
    ):
        values = [value for panel in panels for value in panel["values"] if value is not None]
        ends = [value for panel in panels for value in panel["low"] if value is not None]
        if not values:
            continue
        yield Figure(
            key=f"{question.data.name}.{key}",
            kind="panels",
            about=name_of(question),
            title=title,
            data={
                "names": names,
                "panels": panels,
                "line": line if of_people else None,
                "line_title": _("macro average"),
                "x_title": x_title,
                "x_low": min([-0.04, *(value - 0.04 for value in (*values, *ends))]),
            },
            how=f"{how} {lines}",
            alt=_("%(n)s panels; values lie between %(low).2f and %(high).2f. %(first)s")
            % {"n": len(panels), "low": min(values), "high": max(values), "first": _ends(names[0], panels)},
        )


_Drawn = tuple[float | None, float | None, float | None]  # a value with the ends of its interval


def _kappa_of(sheet: OfSheet | None) -> _Drawn:
    if sheet is None:
        return None, None, None
    interval = sheet.interval
    return sheet.kappa, interval.low if interval else None, interval.high if interval else None


def _share_of(sheet: OfSheet | None) -> _Drawn:
    return (sheet.alike.value, sheet.alike.low, sheet.alike.high) if sheet else (None, None, None)


def _panel(name: str, drawn: Sequence[_Drawn]) -> dict[str, Any]:
    values, low, high = map(list, zip(*drawn, strict=True))
    return {"name": name, "values": values, "low": low, "high": high}


def _of_merge(question: QuestionReport) -> Iterator[str]:
    if question.ceiling.merge is not None:
        yield _("Options as judges are held against people: %(merge)s.") % {"merge": question.ceiling.merge.title}


def _ends(name: str, panels: Sequence[dict[str, Any]]) -> str:
    """In which panels the first line has its lowest and highest value."""
    known = sorted(
        (float(panel["values"][0]), str(panel["name"])) for panel in panels if panel["values"][0] is not None
    )
    if not known:
        return ""
    (low, lowest), (high, highest) = known[0], known[-1]
    return _("%(name)s: lowest in %(lowest)s (%(low).2f), highest in %(highest)s (%(high).2f).") % {
        "name": cap(name),
        "lowest": lowest,
        "low": low,
        "highest": highest,
        "high": high,
    }


Heard = Sequence[tuple[VoiceReport, CoverageResult]]


def _coverage(report: StudyReport, question: QuestionReport, heard_of: Heard) -> Figure:
    """The paper's Figures 1 to 4: all items alike; beside it, of a single voice, the mean over sheets with its band."""
    words, options = report.data.scheme.words, question.spec.options
    curves: list[dict[str, Any]] = []
    for of, result in heard_of:
        name = _("all items alike") if len(heard_of) == 1 else heard(of.voice)
        curves.append({"name": name, "mean": result.curve.pooled.tolist(), "low": [], "high": []})
    first, longest = heard_of[0][1], max((result for _of, result in heard_of), key=lambda result: result.curve.n.size)
    how = _("The expected share of items found in n %(rows)s drawn from those of their %(sheet)s.") % {
        "rows": words.rows,
        "sheet": words.sheet,
    }
    how += " " + _("Found means: %(options)s.") % {
        "options": ", ".join(_("“%(option)s”") % {"option": options[code].label} for code in first.covers)
    }
    if len(heard_of) == 1:
        curve = first.curve
        curves.append(
            {
                "name": _("mean over %(sheets)s") % {"sheets": words.sheets},
                "mean": curve.mean.tolist(),
                "low": curve.low.tolist(),
                "high": curve.high.tolist(),
            }
        )
        how += " " + _("The band holds the middle %(band)s %% of the %(sheets)s.") % {
            "band": round(100 * curve.band),
            "sheets": words.sheets,
        }
        if heard_of[0][0].voice.rater is not None:
            how += " " + _("As %(rater)s answered.") % {"rater": heard(heard_of[0][0].voice)}
    if first.n_not_asked:
        how += " " + not_asked_how(words, first.n_not_asked)
    rests = ngettext("Rests on %(n)s item.", "Rests on %(n)s items.", first.curve.n_items)
    return Figure(
        key=f"{question.data.name}.coverage-curve",
        kind="coverage",
        about=name_of(question),
        title=_("Share found in at least one of n %(rows)s") % {"rows": words.rows},
        data={"curves": curves, "x_title": cap(words.rows), "y_title": _("Share of items found")},
        how=f"{how} " + rests % {"n": count(first.curve.n_items)},
        alt=_("A curve that rises from %(first).0f %% with one to %(last).0f %% with %(n)s %(rows)s.")
        % {
            "first": 100 * first.curve.pooled[0],
            "last": 100 * first.curve.pooled[-1],
            "n": longest.curve.n.size,
            "rows": words.rows,
        },
    )


def _first_coverage(report: StudyReport, question: QuestionReport, heard_of: Heard) -> Figure:
    """As reports of the first two methods have it."""
    words, curve = report.data.scheme.words, heard_of[0][1].curve
    last = curve.mean[-1]
    return Figure(
        key=f"{question.data.name}.coverage-curve",
        kind="coverage",
        about=name_of(question),
        title=_("Share found in at least one of n %(rows)s") % {"rows": words.rows},
        data={
            "curves": [
                {
                    "name": name_of(question),
                    "mean": curve.mean.tolist(),
                    "low": curve.low.tolist(),
                    "high": curve.high.tolist(),
                }
            ],
            "x_title": cap(words.rows),
            "y_title": _("Share of items found"),
        },
        how=_(
            "The expected share of items found in n %(rows)s drawn from those of their %(sheet)s, mean over "
            "%(sheets)s; the band holds the middle %(band)s %% of them. Rests on %(n)s items."
        )
        % {
            "rows": words.rows,
            "sheet": words.sheet,
            "sheets": words.sheets,
            "band": round(100 * curve.band),
            "n": count(curve.n_items),
        },
        alt=_("A curve that rises from %(first).0f %% with one to %(last).0f %% with %(n)s %(rows)s.")
        % {"first": 100 * curve.mean[0], "last": 100 * last, "n": curve.n.size, "rows": words.rows},
    )


def _coverage_by_sheet(report: StudyReport, question: QuestionReport, of: tuple[VoiceReport, CoverageResult]) -> Figure:
    """The same of each sheet by itself, beside the mean over sheets."""
    words, curve = report.data.scheme.words, of[1].curve
    values = [[float(share) for share in line[~np.isnan(line)]] for line in curve.by_sheet]
    last = [line[-1] for line in values]
    return Figure(
        key=f"{question.data.name}.coverage-by-sheet",
        kind="multiples",
        about=name_of(question),
        title=_("Share found in at least one of n %(rows)s, each %(sheet)s by itself")
        % {"rows": words.rows, "sheet": words.sheet},
        data={
            "panels": [
                {"name": report.data.sheets[sheet], "values": line}
                for sheet, line in zip(curve.sheets.tolist(), values, strict=True)
            ],
            "mean": curve.mean.tolist(),
            "x_title": cap(words.rows),
            "y_title": _("Share of items found"),
        },
        how=_("A panel a %(sheet)s; the dashed line in each is the mean over %(sheets)s.")
        % {"sheet": words.sheet, "sheets": words.sheets},
        alt=_("%(n)s curves that end between %(low).0f and %(high).0f %%.")
        % {"n": len(values), "low": 100 * min(last), "high": 100 * max(last)},
    )


def _flips(report: StudyReport, question: QuestionReport, result: ArmsResult) -> Figure:
    words = report.data.scheme.words
    means = [*result.flips.against_first, result.flips.pairwise, result.flips.any]
    names = [*(code_of(arm.judge) for arm in result.arms[1:]), _("two arms at random"), _("any two arms of a cell")]
    known = [of.value for of in means if of.value is not None]
    return Figure(
        key=f"{question.data.name}.flips.{result.arms[0].judge.code}",
        kind="intervals",
        about=name_of(question),
        title=_("Flip rates of %(judge)s by arm") % {"judge": code_of(result.arms[0].judge)},
        data={
            "names": names,
            "values": [of.value for of in means],
            "low": [of.low for of in means],
            "high": [of.high for of in means],
            "line": None,
            "line_title": "",
            "x_title": _("Share of cells whose label changes"),
        },
        how=_("The share of cells with another label than in the first arm. Lines: 95 %% intervals by %(clusters)s.")
        % {"clusters": words.sheets if result.by == "sheet" else words.rows},
        alt=_("Flip rates of %(n)s arms, the highest %(high).0f %%.")
        % {"n": len(result.arms) - 1, "high": 100 * max(known, default=0.0)},
    )


def _confusion(question: QuestionReport, result: JudgeResult) -> Figure:
    options, judge = question.spec.options, code_of(result.judge)
    rows = [code for code in result.options if not options[code].blank]
    counts = result.confusion.table[np.ix_(rows, result.options)]
    equal = result.classification.accuracy or 0.0
    return Figure(
        key=f"{question.data.name}.confusion-of.{result.judge.code}",
        kind="confusion",
        about=name_of(question),
        title=worded(_("People against %(judge)s"), _("Confusion matrix: people and %(judge)s")) % {"judge": judge},
        data={
            "rows": [options[code].label for code in rows],
            "columns": [options[code].label for code in result.options],
            "counts": counts.tolist(),
            "row_title": _("People chose"),
            "column_title": _("%(judge)s chose") % {"judge": judge},
        },
        how=_("Every person's answer is one of %(n)s comparisons; a stronger tint is a larger share of its row.")
        % {"n": count(result.confusion.n_comparisons)},
        alt=_("A table of %(rows)s by %(columns)s options; %(equal).0f %% of the comparisons are equal.")
        % {"rows": len(rows), "columns": len(result.options), "equal": 100 * equal},
    )


def _reliability(report: StudyReport, question: QuestionReport, result: JudgeResult) -> Figure:
    assert result.sureness is not None
    of, judge = result.sureness.calibration, code_of(result.judge)
    return Figure(
        key=f"{question.data.name}.reliability.{result.judge.code}",
        kind="reliability",
        about=name_of(question),
        title=worded(_("How sure %(judge)s is, and how often right"), _("Calibration of %(judge)s")) % {"judge": judge},
        data={
            "bins": [[b.confidence, b.accuracy, b.accuracy_low, b.accuracy_high, b.n] for b in of.bins],
            "x_title": _("Confidence: the probability of what it chose"),
            "y_title": worded(_("Share right"), _("Accuracy")),
            "n_title": _("Cells"),
        },
        how=(
            _(
                "On the dashed line the judge is right as often as it is sure; below it, it is too sure. Bars: 95 %% "
                "Wilson intervals; below, how many of the %(n)s cells are how sure. Calibration error %(ece).3f."
            )
            if report.filters.before_share_bounds
            else _(
                "On the dashed line the judge is right as often as it is sure; below it, it is too sure. Bars: 95 %% "
                "intervals by documents; below, how many of the %(n)s cells are how sure. Calibration error %(ece).3f."
            )
        )
        % {"n": count(of.n), "ece": of.expected_error or 0.0},
        alt=_("A curve of %(bins)s points; mean confidence %(sure).2f, share right %(right).2f.")
        % {"bins": len(of.bins), "sure": of.mean_confidence or 0.0, "right": of.accuracy or 0.0},
    )


def _precision_recall(question: QuestionReport, result: JudgeResult) -> Figure:
    assert result.sureness is not None
    curves: list[dict[str, Any]] = []
    for option, curve in result.sureness.curves:
        kept = _thinned(curve.recall)
        name = question.spec.options[option].label
        curves.append(
            {
                "name": f"{name} ({curve.average_precision:.2f})" if curve.average_precision is not None else name,
                "precision": curve.precision[kept].tolist(),
                "recall": curve.recall[kept].tolist(),
            }
        )
    n = result.sureness.curves[0][1].n if result.sureness.curves else 0
    return Figure(
        key=f"{question.data.name}.precision-recall.{result.judge.code}",
        kind="precision-recall",
        about=name_of(question),
        title=worded(
            _("What a threshold on the scores of %(judge)s buys"),
            _("Precision and recall of %(judge)s over its thresholds"),
        )
        % {"judge": code_of(result.judge)},
        data={"curves": curves, "x_title": _("Recall"), "y_title": _("Precision")},
        how=_(
            "Each option found by its probability being at least a threshold, from the highest (left) down; in "
            "brackets the average precision. Rests on %(n)s comparisons."
        )
        % {"n": count(n)},
        alt=_("Curves of %(n)s options: %(names)s.")
        % {"n": len(curves), "names": ", ".join(c["name"] for c in curves)},
    )


def _selective(report: StudyReport, question: QuestionReport, sure: Sequence[JudgeResult]) -> Figure:
    """Accuracy over coverage, of all judges together: which one keeps more at the same accuracy."""
    curves: list[dict[str, Any]] = []
    told = []
    for result in sure:
        assert result.sureness is not None
        of, judge = result.sureness.selective, code_of(result.judge)
        kept = _thinned(of.kept)
        name = ngettext("%(judge)s, %(n)s cell", "%(judge)s, %(n)s cells", of.n) % {"judge": judge, "n": count(of.n)}
        curves.append({"name": name, "kept": of.kept[kept].tolist(), "accuracy": of.accuracy[kept].tolist()})
        half = np.searchsorted(of.kept, 0.5)  # the fewest cells that are half of them or more
        sentence = (
            _("%(judge)s is right in %(half).0f %% of the half of which it is surest, in %(all).0f %% of all.")
            if report.filters.before_share_kept
            else _(
                "%(judge)s is right in %(half).0f %% of the %(kept).0f %% of cells of which it is surest, in "
                "%(all).0f %% of all."
            )
        )
        rates = {"half": of.accuracy[half], "kept": of.kept[half], "all": of.accuracy[-1]}
        told.append(sentence % {"judge": judge, **{name: 100 * rate for name, rate in rates.items()}})
    return Figure(
        key=f"{question.data.name}.selective",
        kind="selective",
        about=name_of(question),
        title=_("Accuracy over coverage"),
        data={
            "curves": curves,
            "x_title": _("Coverage: the share of cells that the judge keeps"),
            "y_title": _("Accuracy"),
        },
        how=" ".join(
            [
                _(
                    "Each judge keeps the cells of which it is surest, the fewest at the left, and people get the "
                    "others. What at least one person chose is right. The left end rests on few cells."
                ),
                *_of_merge(question),
            ]
        ),
        alt=" ".join(told),
    )


def _thinned(shares: FloatArray) -> Sequence[int]:
    """Places of at most `_POINTS` points, spread evenly over these ascending shares."""
    if shares.size <= _POINTS:
        return range(shares.size)
    kept: list[int] = np.unique(np.searchsorted(shares, np.linspace(shares[0], shares[-1], _POINTS))).tolist()
    return kept
