"""The answers of a report in sentences, for its first page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.answers import KAPPAS, Answers, Estimate, JudgeAnswer, Line, Measure, published_of
from reports.doors import Sentence
from reports.stats.alternative import MINIMUM_PEOPLE, TOO_FEW_PEOPLE
from reports.stats.bootstrap import EVERY_DRAW_THE_SAME
from reports.stats.levels import landis_koch
from reports.tables.rounding import rounded
from reports.words import UNDEFINED, bracketed, count

LEVELS: dict[str, Promise] = {
    "almost-perfect": gettext_lazy("almost perfect"),
    "substantial": gettext_lazy("substantial"),
    "moderate": gettext_lazy("moderate"),
    "fair": gettext_lazy("fair"),
    "slight": gettext_lazy("slight"),
    "poor": gettext_lazy("poor"),
}
MEASURES: dict[Measure, Promise | str] = {
    "kappa": gettext_lazy("Cohen’s κ"),
    "weighted-kappa": gettext_lazy("weighted κ"),
    "alpha": gettext_lazy("Krippendorff’s α"),
    "node-f1": gettext_lazy("Node F1"),
}
VERDICTS: dict[str, Promise] = {
    "may": gettext_lazy("may replace"),
    "may-not": gettext_lazy("may not replace"),
    "not-enough": gettext_lazy("not enough annotators"),
    "unknown": gettext_lazy("not tested"),
}
_MOST_NAMED = 4  # questions in one sentence


@dataclass(frozen=True)
class Tile:
    """One of the three figures that are read first. known: the data say it."""

    title: str
    value: str
    under: str
    table: str
    known: bool = True


def number(value: float, digits: int = 2) -> str:
    return str(number_format(rounded(value, digits)))


def percent(value: float) -> str:
    """A share, as "85.2 %"."""
    return _("%(n)s %%") % {"n": number_format(rounded(value, 1, per_cent=True))}


def span(values: Sequence[float]) -> str:
    """Shares from the least to the greatest: "66.4 to 77.9 %"; a dash would look like an interval."""
    low, high = (number_format(rounded(end, 1, per_cent=True)) for end in (min(values), max(values)))
    return percent(values[0]) if low == high else _("%(low)s to %(high)s %%") % {"low": low, "high": high}


def quoted(name: str) -> str:
    return _("“%(name)s”") % {"name": name}


def between(of: Estimate, *, as_percent: bool = False) -> str:
    """An interval, as " [0.71, 0.82]" or " [83.6, 86.6]" of per cent, or nothing."""
    if of.low is None or of.high is None:
        return ""
    ends = (number_format(rounded(end, 1 if as_percent else 2, per_cent=as_percent)) for end in (of.low, of.high))
    return f" {bracketed(ends)}"


def level_of(line: Line) -> str:
    """What Landis and Koch call the line's kappa; "" of another measure, which they did not write of."""
    if line.agreement.value is None or line.measure not in KAPPAS:
        return ""
    return str(LEVELS[landis_koch(line.agreement.value)])


def levels_of(line: Line) -> str:
    """The same, with the levels of both ends of the interval where they differ."""
    if not (level := level_of(line)):
        return ""
    low, high = line.agreement.low, line.agreement.high
    if low is None or high is None or landis_koch(low) == landis_koch(high):
        return level
    return _("%(level)s (interval: %(low)s to %(high)s)") % {
        "level": level,
        "low": LEVELS[landis_koch(low)],
        "high": LEVELS[landis_koch(high)],
    }


# --- the first page ---------------------------------------------------------------------------------------------------


def tiles(answers: Answers) -> list[Tile]:
    """How far people agree; the human ceiling, which is the most that is asked of a judge, beside the nearest judge;
    whether that may replace a person."""
    return [_of_people(answers), _of_ceiling(answers), _of_verdict(answers)]


def _of_people(answers: Answers) -> Tile:
    title = _("People agree")
    known = _main(answers)
    if not known:
        if not answers.n_people or not answers.lines:
            return Tile(title, _("Cannot be said"), _("no person has labelled: it takes two people"), "overview")
        if alike := _alike(answers):
            under = _("the share of equal answers; %(measure)s is not defined: %(reason)s")
            under %= {"measure": sign(alike[0]), "reason": alike[0].agreement.reason}
            return Tile(title, f"A_h {span([line.accuracy.value or 0.0 for line in alike])}", under, alike[0].table)
        first = answers.questions[0]
        return Tile(title, _("Cannot be said"), first.agreement.reason, first.table)
    if len(known) == 1:
        [line] = known
        value = f"{sign(line)} {number(line.agreement.value or 0)}{between(line.agreement)}"
        return Tile(title, value, _few_yet(levels_of(line) or line.rests_on, known), line.table)
    low, high = _ends(known)
    values = {"low": number(low.agreement.value or 0), "high": number(high.agreement.value or 0)}
    if sign(high) != sign(low):
        values["high"] = f"{sign(high)} {values['high']}"
    under = _("least on %(low)s, most on %(high)s; questions: %(n)s") % {
        "n": len(known),
        **{name: f"{quoted(line.name)} ({level})" if (level := level_of(line)) else quoted(line.name)
           for name, line in (("low", low), ("high", high))},
    }  # fmt: skip
    return Tile(title, f"{sign(low)} " + _("%(low)s to %(high)s") % values, _few_yet(under, known), "overview")


def _few_yet(under: str, lines: Sequence[Line]) -> str:
    if not any(line.is_few for line in lines):
        return under
    return _("%(what)s; of few answers yet") % {"what": under}


def _main(answers: Answers) -> list[Line]:
    """The questions by which agreement is said: those with options; where there is none, those with values. Where two
    people have answered enough of some, these alone."""
    known = [line for line in answers.questions if line.agreement.value is not None]
    of_kind = [line for line in known if line.has_options] or known
    return [line for line in of_kind if not line.is_few] or of_kind


def _alike(answers: Answers) -> list[Line]:
    """The questions in which it is known how often two people agree, if not how much more often than by chance."""
    return [line for line in answers.questions if line.accuracy.value is not None]


def sign(line: Line) -> str:
    """What stands before a line's figure."""
    return {"alpha": "α", "node-f1": str(MEASURES["node-f1"])}.get(line.measure, "κ")


def gwet(line: Line) -> str:
    """AC1, or of a scale AC2, which is to AC1 what weighted κ is to κ; "" where there is none."""
    if line.ac2 is not None:
        return f"AC2 {number(line.ac2)}"
    return f"AC1 {number(line.ac1)}" if line.ac1 is not None else ""


def beside_kappa(line: Line) -> str:
    """By what κ is to be read, which is low where one option has most answers; "" of means and of values."""
    coefficient = gwet(line)
    if not coefficient or line.majority is None:
        return ""
    return _("%(coefficient)s, most frequent option %(share)s") % {
        "coefficient": coefficient,
        "share": percent(line.majority),
    }


def _ends(lines: Sequence[Line]) -> tuple[Line, Line]:
    in_order = sorted(lines, key=lambda line: line.agreement.value or 0.0)
    return in_order[0], in_order[-1]


def _of_judge(answers: Answers, code: str) -> list[tuple[Line, JudgeAnswer]]:
    """The questions in which the judge and people have answered a cell."""
    return [
        (line, judge)
        for line in answers.questions
        for judge in line.judges
        if judge.code == code and judge.accuracy.value is not None
    ]


def _with_ceiling(answers: Answers, code: str) -> list[tuple[Line, JudgeAnswer]]:
    return [
        (line, judge)
        for line in answers.questions
        for judge in line.judges
        if judge.code == code and judge.ceiling is not None and judge.beside_ceiling is not None
    ]


def _of_ceiling(answers: Answers) -> Tile:
    title = _("The human ceiling of judges")
    nearest = answers.nearest()
    if nearest is None:
        return Tile(title, _("Cannot be said"), _no_judge(answers), "overview", known=False)
    code, name = nearest
    found = _with_ceiling(answers, code)
    if not found:
        why = {judge.of_person.reason for _line, judge in _of_judge(answers, code)}
        under = why.pop() if len(why) == 1 else _("No cell has the judge’s label and two people’s answers.")
        return Tile(title, _("Cannot be said"), under, "overview")
    values = {"judge": name, "share": span([judge.beside_ceiling or 0.0 for _line, judge in found])}
    ceiling = span([judge.ceiling or 0.0 for _line, judge in found])
    if len(found) == 1:
        of_judge = found[0][1]
        values["share"] += between(of_judge.beside_person, as_percent=True)
        ceiling += between(of_judge.of_person, as_percent=True)
        under = _("so often a person agrees with people; the judge “%(judge)s”, which comes nearest, in %(share)s")
    else:
        under = _(
            "so often a person agrees with people, by question; the judge “%(judge)s”, which comes nearest, in "
            "%(share)s: on “%(question)s” in %(worst)s where a person does in %(ceiling)s"
        )
        worst, of_worst = _worst(found)
        values["question"] = worst.name
        values["worst"], values["ceiling"] = with_interval(of_worst.beside_person), with_interval(of_worst.of_person)
    under = f"{under % values}; {rests_on(answers, [judge for _line, judge in found])}"
    return Tile(title, ceiling, under, f"{found[0][0].key}.judge-figures")


def with_interval(of: Estimate) -> str:
    return f"{percent(of.value or 0.0)}{between(of, as_percent=True)}"


def rests_on(answers: Answers, judges: Sequence[JudgeAnswer]) -> str:
    """What figures beside the human ceiling rest on, and what answering always the same would reach there: "31 to 33
    cells of 3 documents; majority-class baseline 60.6 to 67.7 %; no interval: too little data to draw from"."""
    cells, documents = [judge.n_cells for judge in judges], [judge.n_documents for judge in judges]
    told = _("%(cells)s of %(n)s %(rows)s") % {
        "cells": ngettext("%(n)s cell", "%(n)s cells", max(cells)) % {"n": _counts(cells)},
        "n": _counts(documents),
        "rows": answers.row if max(documents) == 1 else answers.rows,
    }
    baselines = [judge.baseline_beside for judge in judges if judge.baseline_beside is not None]
    if baselines:
        told += "; " + _("majority-class baseline there %(share)s") % {"share": span(baselines)}
    if reason := next((judge.beside_person.no_interval for judge in judges if judge.beside_person.no_interval), ""):
        told += "; " + _("no interval: %(reason)s") % {"reason": reason}
    return told


def _counts(of: Sequence[int]) -> str:
    """From the least to the greatest."""
    low, high = count(min(of)), count(max(of))
    return low if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}


def _worst(found: Sequence[tuple[Line, JudgeAnswer]]) -> tuple[Line, JudgeAnswer]:
    """Where a judge stands farthest below the human ceiling."""
    return max(found, key=lambda each: each[1].gap or 0.0)


def _of_verdict(answers: Answers) -> Tile:
    title = _("May a judge replace a person?")
    nearest = answers.nearest()
    if nearest is None:
        return Tile(title, _("Cannot be said"), _no_judge(answers), "overview", known=False)
    code, name = nearest
    of = _of_judge(answers, code)
    tested = [(line, judge) for line, judge in of if judge.verdict in ("may", "may-not")]
    if not tested:
        line, judge = of[0]
        few = next((judge.reason for _line, judge in of if judge.verdict == "not-enough" and judge.reason), "")
        if not few and answers.n_people < MINIMUM_PEOPLE and any(judge.epsilon for _line, judge in of):
            few = str(UNDEFINED[TOO_FEW_PEOPLE])
        why = few or next((judge.reason for _line, judge in of if judge.reason), "")
        why = why or _("the test is for options and scales, and it answers none")
        under = _("the judge “%(judge)s” comes nearest: %(reason)s") % {"judge": name, "reason": why}
        return Tile(title, _("Cannot be said"), under, table_of_test(line, judge), known=False)
    n = sum(judge.verdict == "may" for _line, judge in tested)
    table = table_of_test(*tested[0])
    if n == len(of) and _no_better(answers, code, name):
        under = _(
            "the judge “%(judge)s” passes the Alternative Annotator Test, but always answering the most frequent "
            "option does as well"
        )
        return Tile(title, _("By the test alone"), under % {"judge": name}, table)
    if n == len(of):
        under = _("the judge “%(judge)s” passes the Alternative Annotator Test") % {"judge": name}
        return Tile(title, _("Yes"), under, table)
    if not n and len(tested) == len(of):
        under = _("the judge “%(judge)s”, which comes nearest, fails the Alternative Annotator Test") % {"judge": name}
        return Tile(title, _("No"), under, table)
    under = (
        _("the judge “%(judge)s”, by the Alternative Annotator Test; failed on %(failed)s, the rest is not tested")
        if len(tested) < len(of)
        else _("the judge “%(judge)s”, by the Alternative Annotator Test; failed on %(failed)s")
    )
    value = _("On %(n)s of %(all)s questions") % {"n": n, "all": len(of)}
    return Tile(title, value, under % {"judge": name, "failed": len(tested) - n}, table)


def _no_judge(answers: Answers) -> str:
    if not answers.n_people:
        return _("No person has labelled: judges are measured by people's labels.")
    return _("No judge has labelled a cell that people answered.")


def table_of_test(line: Line, judge: JudgeAnswer) -> str:
    """The key of the table with the judge's test; a question that nobody and the judge have both answered has none."""
    if judge.accuracy.value is None:
        return "overview"
    return f"{line.key}.{'alternative' if judge.epsilon else 'judges'}"


def about_people(answers: Answers, scheme: str) -> list[Sentence]:
    """How far people agree, in words and beside what was published."""
    known = _main(answers)
    said: list[Sentence] = []
    if not known and not answers.n_people:
        text = _("No person has labelled. It takes two people to say how far people agree, and three to test a judge.")
        return [Sentence(text, "raters", warns=True)]
    if not known:
        for line in (_alike(answers) or answers.questions)[:1]:
            text = _("How far people agree cannot be said: %(reason)s.")
            if line.accuracy.value is not None:
                text = _(
                    "Two people agree in %(share)s of the cells of “%(question)s” (A_h); how much more often than by "
                    "chance cannot be said: %(reason)s."
                )
            values = {
                "reason": line.agreement.reason,
                "question": line.name,
                "share": percent(line.accuracy.value or 0),
            }
            said.append(Sentence(text % values, line.table, warns=True))
        return said + nobody_has_answered(answers)
    if len(known) == 1:
        said.append(Sentence(_agreement(known[0]), known[0].table))
    else:
        low, high = _ends(known)
        text = _("People agree least on “%(low)s” (%(of_low)s) and most on “%(high)s” (%(of_high)s).") % {
            "low": low.name,
            "of_low": _figure(low),
            "high": high.name,
            "of_high": _figure(high),
        }
        said.append(Sentence(text, "overview"))
    said += [*_few(answers), *_by_single_rows(answers), *_without_interval(known), *_undefined(answers)]
    return [*said, *nobody_has_answered(answers), *beside_published(scheme, answers)]


def _few(answers: Answers) -> Iterator[Sentence]:
    few = [line for line in answers.questions if line.agreement.value is not None and line.is_few]
    if few:
        text = _(
            "Few cells have been answered by two people yet, and a few more can move the figure: %(questions)s."
        ) % {
            "questions": _listed(
                ngettext(
                    "%(question)s (%(n)s pair of answers)", "%(question)s (%(n)s pairs of answers)", line.n_comparisons
                )
                % {"question": quoted(line.name), "n": count(line.n_comparisons)}
                for line in few
            )
        }
        yield Sentence(text, few[0].table, warns=True)


def _by_single_rows(answers: Answers) -> Iterator[Sentence]:
    if single := [line for line in answers.questions if line.by_single_rows]:
        text = _(
            "Most %(sheets)s have a single %(row)s, of which κ says nothing by itself. So agreement on %(questions)s "
            "is told of all %(sheets)s together: Krippendorff’s α."
        ) % {"sheets": answers.sheets, "row": answers.row, "questions": _quoted(single)}
        yield Sentence(text, single[0].table)


def _without_interval(known: Sequence[Line]) -> Iterator[Sentence]:
    by_reason: dict[str, list[Line]] = {}
    for line in known:
        if line.agreement.no_interval:
            by_reason.setdefault(line.agreement.no_interval, []).append(line)
    for reason, lines in by_reason.items():
        text = (
            _("No interval, since every resample gives the same value: %(questions)s.")
            if reason == UNDEFINED[EVERY_DRAW_THE_SAME]
            else _("Without an interval, since there is %(reason)s: %(questions)s.")
        )
        text %= {"reason": reason, "questions": _listed(line.name for line in lines)}
        yield Sentence(text, lines[0].table, warns=True)


def _undefined(answers: Answers) -> Iterator[Sentence]:
    undefined: dict[tuple[str, str], list[Line]] = {}
    for line in (line for line in answers.questions if line.agreement.value is None):
        undefined.setdefault((sign(line), line.agreement.reason), []).append(line)
    for (measure, reason), lines in undefined.items():
        values = {"questions": _quoted(lines), "measure": measure, "reason": reason}
        text = _("On %(questions)s %(measure)s is not defined: %(reason)s.") % values
        yield Sentence(text, lines[0].table, warns=True)


def nobody_has_answered(answers: Answers) -> list[Sentence]:
    """One sentence for all questions of which nothing else is said."""
    if not (lines := answers.unanswered):
        return []
    return [Sentence(_("Nobody has answered %(questions)s.") % {"questions": _quoted(lines)}, lines[0].table)]


def _figure(line: Line) -> str:
    """A line's agreement: "κ 0.63 [0.60, 0.66], substantial"."""
    assert line.agreement.value is not None
    text = f"{sign(line)} {number(line.agreement.value)}{between(line.agreement)}"
    return f"{text}, {level}" if (level := level_of(line)) else text


def _agreement(line: Line) -> str:
    assert line.agreement.value is not None
    values = {
        "measure": MEASURES[line.measure],
        "value": f"{number(line.agreement.value)}{between(line.agreement)}",
        "level": levels_of(line),
        "rests_on": line.rests_on,
    }
    if not values["level"]:
        return _("People agree with %(measure)s = %(value)s (%(rests_on)s).") % values
    return _("Agreement between people is %(level)s: %(measure)s = %(value)s (%(rests_on)s).") % values


def beside_published(scheme: str, answers: Answers) -> list[Sentence]:
    said = []
    for line, of in published_of(scheme, answers):
        if of.kappa is not None and line.agreement.value is not None and line.measure in KAPPAS:
            text = _("Published κ of “%(question)s” (%(source)s): %(theirs)s; here it is %(ours)s: %(how)s.") % {
                "source": of.source,
                "theirs": number(of.kappa),
                "question": line.name,
                "ours": f"{number(line.agreement.value)}{between(line.agreement)}",
                "how": _held_against(line.agreement, of.kappa, number),
            }
            said.append(Sentence(text, line.table))
        if of.accuracy is not None and line.accuracy.value is not None:
            text = _(
                "Published share of cells in which two people agree (A_h) on “%(question)s” (%(source)s): %(theirs)s; "
                "here it is %(ours)s: %(how)s."
            ) % {
                "source": of.source,
                "theirs": percent(of.accuracy),
                "question": line.name,
                "ours": f"{percent(line.accuracy.value)}{between(line.accuracy, as_percent=True)}",
                "how": _held_against(line.accuracy, of.accuracy, percent),
            }
            said.append(Sentence(text, line.table))
    return said


def _held_against(ours: Estimate, theirs: float, shown: Callable[[float], str]) -> str:
    assert ours.value is not None
    if ours.low is not None and ours.high is not None:
        if ours.low <= theirs <= ours.high:
            return _("the published value lies within the interval")
        return (
            _("lower, and the interval does not hold it")
            if ours.high < theirs
            else _("higher, and the interval does not hold it")
        )
    if shown(ours.value) == shown(theirs):
        return _("the same")
    return _("lower") if ours.value < theirs else _("higher")


def about_judges(answers: Answers) -> list[Sentence]:
    """What a judge could reach, which comes nearest, and whether it may stand in for a person: where, where not,
    why."""
    nearest = answers.nearest()
    if nearest is None:
        return [Sentence(_no_judge(answers), "raters")]
    said = [_nearest(answers, *nearest), *_no_better(answers, *nearest)]
    others = [judge for judge in answers.judges if judge[0] != nearest[0]]
    named = [nearest, *others[: _MOST_NAMED - 1]]
    for code, name in named:
        said.extend(_may_replace(answers, code, name))
    said.extend(_cannot_be_said(answers, named))
    if len(others) >= _MOST_NAMED:
        n = len(others) - _MOST_NAMED + 1
        text = ngettext("%(n)s more judge is in the table.", "%(n)s more judges are in the table.", n) % {"n": n}
        tables = [table_of_test(line, judge) for line in answers.questions for judge in line.judges]
        said.append(Sentence(text, next((table for table in tables if table != "overview"), "overview")))
    return said


def _nearest(answers: Answers, code: str, name: str) -> Sentence:
    found = _with_ceiling(answers, code)
    if not found:
        line, judge = _of_judge(answers, code)[0]
        text = _(
            "%(judge)s agrees with people in %(share)s of the cells of “%(question)s”; how far a person would is not "
            "known: %(reason)s."
        ) % {
            "judge": quoted(name),
            "share": percent(judge.accuracy.value or 0.0),
            "question": line.name,
            "reason": judge.of_person.reason,
        }
        return Sentence(text, f"{line.key}.judges", warns=True)
    worst, of_worst = _worst(found)
    values = {
        "judge": quoted(name),
        "share": with_interval(of_worst.beside_person),
        "ceiling": with_interval(of_worst.of_person),
        "question": worst.name,
    }
    if len(answers.judges) == 1:
        text = _(
            "Of the cells of “%(question)s”, %(judge)s agrees with people in %(share)s, where a person does in "
            "%(ceiling)s: that is the human ceiling."
        )
    elif len(found) == 1:
        text = _(
            "%(judge)s comes nearest to people: it agrees with them in %(share)s of the cells of “%(question)s”, where "
            "a person does in %(ceiling)s, the human ceiling."
        )
    else:
        text = _(
            "%(judge)s comes nearest to people. It is farthest from them on “%(question)s”: it agrees with people in "
            "%(share)s of the cells, where a person does in %(ceiling)s, the human ceiling."
        )
    text %= values
    text += " " + _("Both are of the cells that it and two people have answered: %(rests_on)s.") % {
        "rests_on": rests_on(answers, [of_worst])
    }
    if of_worst.n_others:
        text += " " + _(
            "Each is held against one person after the other, since one of many agrees with nearly any answer (%(n)s "
            "others in a cell)."
        ) % {"n": number(of_worst.n_others, 1)}
    return Sentence(text, f"{worst.key}.judge-figures")


def _no_better(answers: Answers, code: str, name: str) -> list[Sentence]:
    """Where the judge reaches no more than always the most frequent option does in the same cells."""
    worse = [
        (line, judge)
        for line, judge in _with_ceiling(answers, code)
        if judge.baseline_beside is not None and (judge.beside_ceiling or 0.0) <= judge.baseline_beside
    ]
    if not worse:
        return []
    text = _("On %(questions)s %(judge)s is no better than always answering the most frequent option (%(shares)s).") % {
        "questions": _quoted(line for line, _judge in worse),
        "judge": quoted(name),
        "shares": _listed(
            ngettext(
                "%(share)s beside %(baseline)s; %(n)s cell", "%(share)s beside %(baseline)s; %(n)s cells", judge.n_cells
            )
            % {
                "share": percent(judge.beside_ceiling or 0.0),
                "baseline": percent(judge.baseline_beside or 0.0),
                "n": count(judge.n_cells),
            }
            for _line, judge in worse
        ),
    }
    return [Sentence(text, f"{worse[0][0].key}.judge-figures", warns=True)]


def _may_replace(answers: Answers, code: str, name: str) -> list[Sentence]:
    """One sentence for each verdict that the judge has, with the questions that have it."""
    of = [(line, judge) for line in answers.questions for judge in line.judges if judge.code == code]
    said = []
    for verdict in ("may", "may-not", "unknown"):
        here = [(line, judge) for line, judge in of if judge.verdict == verdict]
        if verdict == "unknown":  # what has a reason is told of all judges together
            here = [(line, judge) for line, judge in here if not judge.reason]
        if not here:
            continue
        line, judge = here[0]
        values = {
            "judge": quoted(name),
            "questions": _quoted(line for line, _judge in here),
            "epsilon": number(judge.epsilon),
            "rates": _rates(here),
        }
        if verdict == "may":
            text = _(
                "%(judge)s may stand in for a person on %(questions)s: for at least half of the people it is not worse "
                "than they are by more than %(epsilon)s (%(rates)s)."
            )
        elif verdict == "may-not":
            text = _(
                "%(judge)s may not stand in for a person on %(questions)s: for less than half of the people it is not "
                "worse than they are by more than %(epsilon)s (%(rates)s)."
            )
        else:
            text = _(
                "Whether %(judge)s may stand in for a person on %(questions)s is not tested: the test is for options "
                "and scales, and these are answered by values."
            )
        said.append(Sentence(text % values, table_of_test(line, judge), warns=verdict == "unknown"))
    return said


def _cannot_be_said(answers: Answers, judges: Sequence[tuple[str, str]]) -> list[Sentence]:
    """Why the test says nothing of a judge: one sentence for each reason, with all the judges that share it."""
    by_reason: dict[tuple[str, int, tuple[str, ...]], list[tuple[str, list[Line], JudgeAnswer]]] = {}
    for code, name in judges:
        reasons: dict[tuple[str, int], list[tuple[Line, JudgeAnswer]]] = {}
        for line in answers.questions:
            for judge in line.judges:
                if judge.code == code and judge.verdict in ("not-enough", "unknown") and judge.reason:
                    reasons.setdefault((judge.reason, judge.n_people), []).append((line, judge))
        for (reason, n_people), here in reasons.items():
            lines = [line for line, _judge in here]
            key = (reason, n_people, tuple(line.key for line in lines))
            by_reason.setdefault(key, []).append((name, lines, here[0][1]))
    said = []
    for (reason, n_people, _keys), alike in by_reason.items():
        name, lines, judge = alike[0]
        values = {"judge": quoted(name), "questions": _quoted(lines), "reason": reason, "n": n_people}
        if len(alike) > 1:
            values["judges"] = _listed(quoted(each) for each, _lines, _judge in alike)
            text = _("Whether any of %(judges)s may stand in for a person on %(questions)s cannot be said: %(reason)s.")
        elif reason == UNDEFINED[TOO_FEW_PEOPLE]:
            text = ngettext(
                "Whether %(judge)s may stand in for a person on %(questions)s cannot be said: not enough annotators. "
                "The test needs three with at least 30 cells that the judge and somebody else answered; there is "
                "%(n)s.",
                "Whether %(judge)s may stand in for a person on %(questions)s cannot be said: not enough annotators. "
                "The test needs three with at least 30 cells that the judge and somebody else answered; there are "
                "%(n)s.",
                n_people,
            )
        else:
            text = _("Whether %(judge)s may stand in for a person on %(questions)s cannot be said: %(reason)s.")
        said.append(Sentence(text % values, table_of_test(lines[0], judge), warns=True))
    return said


def _quoted(lines: Iterable[Line]) -> str:
    return _listed(quoted(line.name) for line in lines)


def _rates(of: Sequence[tuple[Line, JudgeAnswer]]) -> str:
    """The winning rates: one as it is, several as their range."""
    rates = [judge.winning_rate for _line, judge in of if judge.winning_rate is not None]
    if not rates:
        return ""
    low, high = min(rates), max(rates)
    if low == high:
        return f"ω {number(low)}"
    return "ω " + _("%(low)s to %(high)s") % {"low": number(low), "high": number(high)}


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    if len(every) <= _MOST_NAMED:
        return ", ".join(every)
    more = len(every) - _MOST_NAMED
    return ngettext("%(names)s and %(n)s more", "%(names)s and %(n)s more", more) % {
        "names": ", ".join(every[:_MOST_NAMED]),
        "n": more,
    }
