"""The answers of a report as paragraphs that can go into a paper: how it was measured, and what came out."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Words
from reports.answers import KAPPAS, Answers, Estimate
from reports.sentences import (
    VERDICTS,
    beside_kappa,
    beside_published,
    between,
    level_of,
    nobody_has_answered,
    number,
    percent,
    quoted,
    rests_on,
    sign,
    with_interval,
)
from reports.words import count


def methods(answers: Answers, words: Words) -> str:
    """How it was measured, as a paper says it."""
    if not answers.n_people:
        return _("No annotator has labelled anything yet.")
    said = [
        ngettext(
            "%(people)s annotator labelled %(rows)s %(of_rows)s in %(sheets)s %(of_sheets)s.",
            "%(people)s annotators labelled %(rows)s %(of_rows)s in %(sheets)s %(of_sheets)s.",
            answers.n_people,
        )
        % {
            "people": count(answers.n_people),
            "rows": count(answers.n_rows),
            "of_rows": words.row if answers.n_rows == 1 else words.rows,
            "sheets": count(answers.n_sheets),
            "of_sheets": words.sheet if answers.n_sheets == 1 else words.sheets,
        },
        ngettext(
            "%(n)s %(rows)s was labelled by two or more.",
            "%(n)s %(rows)s were labelled by two or more.",
            answers.n_twice,
        )
        % {"n": count(answers.n_twice), "rows": words.row if answers.n_twice == 1 else words.rows},
    ]
    said += [*_about_agreement(answers, words), *_about_judges(answers, words)]
    if answers.drawn and any(estimate.low is not None for estimate in _estimates(answers)):
        said.append(
            _("Intervals are 95 %% bootstrap intervals from %(draws)s resamples of whole %(drawn)s (seed %(seed)s).")
            % {
                "draws": count(answers.n_draws),
                "drawn": words.rows if answers.drawn == "document" else words.sheets,
                "seed": answers.seed,
            }
        )
    if answers.simulated:
        said.append(_("Some raters are simulated: a program made their labels up."))
    return " ".join(said)


def _about_agreement(answers: Answers, words: Words) -> Iterator[str]:
    lines = answers.questions
    if any(line.measure in KAPPAS for line in lines):
        yield _(
            "Inter-annotator agreement is Cohen’s κ (Cohen, 1960), the mean over all pairs of annotators of each "
            "%(sheet)s, and the macro accuracy A_h, the share of equal answers averaged over %(sheets)s and then "
            "over pairs."
        ) % {"sheet": words.sheet, "sheets": words.sheets}
    if any(line.measure == "weighted-kappa" for line in lines):
        yield _("Scales have quadratic weights (Cohen, 1968).")
    if single := [line for line in lines if line.by_single_rows]:
        yield _(
            "Since most %(sheets)s have a single %(row)s, agreement on %(questions)s is Krippendorff’s α over all "
            "%(sheets)s together (Krippendorff, 2011)."
        ) % {
            "row": words.row,
            "sheets": words.sheets,
            "questions": ", ".join(quoted(line.name) for line in single),
        }
    if any(beside_kappa(line) for line in lines):
        yield (
            _(
                "Where one option has most answers, κ and α are low whatever annotators do; AC1 (Gwet, 2008), for "
                "scales AC2 with ordinal weights (Gwet, 2014), and the share of the most frequent option stand beside "
                "them."
            )
            if any(line.ac2 is not None for line in lines)
            else _(
                "Where one option has most answers, κ and α are low whatever annotators do; AC1 (Gwet, 2008) and the "
                "share of the most frequent option stand beside them."
            )
        )
    if any(line.measure == "alpha" and not line.has_options for line in lines):
        yield _("Questions without options are given Krippendorff’s α (Krippendorff, 2011).")
    if any(line.measure == "node-f1" for line in lines):
        yield _(
            "Graphs are compared by Node F1 and Edge F1 as Toyooka, Aizawa and Yamakata define them: the states of "
            "each step are matched by the cosine of their names."
        )


def _about_judges(answers: Answers, words: Words) -> Iterator[str]:
    lines = answers.questions
    if answers.judges:
        yield _(
            "A judge’s accuracy A_m is the share of cells in which it chose what one of the annotators chose, "
            "averaged over %(sheets)s."
        ) % {"sheets": words.sheets}
    if any(judge.ceiling is not None for line in lines for judge in line.judges):
        yield _(
            "The human ceiling leaves each annotator out in turn and measures them by the same rule against the others."
        )
    tested = [judge for line in lines for judge in line.judges if judge.verdict in ("may", "may-not")]
    epsilons = sorted({judge.epsilon for judge in tested})
    if epsilons:
        yield _(
            "Whether a judge may replace an annotator was tested by the Alternative Annotator Test (Calderon et "
            "al., 2025) with ε = %(epsilon)s and at least 30 cells for each of three or more annotators."
        ) % {"epsilon": ", ".join(number(of) for of in epsilons)}


def _estimates(answers: Answers) -> Iterator[Estimate]:
    for line in answers.lines:
        yield from (line.agreement, line.accuracy)
        for judge in line.judges:
            yield from (judge.accuracy, judge.of_person, judge.beside_person)


def results(answers: Answers, scheme: str) -> str:
    """What came out, as a paper says it."""
    said = [sentence.text for told in answers.told for sentence in told.sentences]
    for line in answers.lines:
        if not line.answered:
            continue
        accuracy = line.accuracy
        of_accuracy = ""
        if accuracy.value is not None:
            of_accuracy = f"; A_h = {percent(accuracy.value)}{between(accuracy, as_percent=True)}"
        if beside := beside_kappa(line):
            of_accuracy += f"; {beside}"
        if line.agreement.value is None and line.agreement.reason:
            text = (
                _("The mean of the questions of “%(question)s”: %(measure)s is not defined (%(reason)s)%(accuracy)s.")
                if line.is_mean
                else _("On “%(question)s” %(measure)s is not defined (%(reason)s)%(accuracy)s.")
            )
            values = {"measure": sign(line), "reason": line.agreement.reason, "accuracy": of_accuracy}
            said.append(text % {"question": line.name, **values})
            continue
        figures = ""
        if line.agreement.value is not None:
            figures = f"{sign(line)} = {number(line.agreement.value)}{between(line.agreement)}"
        if line.is_mean:
            text = _("As the mean of the questions of “%(question)s”, %(figures)s.")
        elif level := level_of(line):
            text = _("On “%(question)s” annotators reached %(figures)s.")
            figures += " " + _("(%(level)s agreement by Landis and Koch, 1977)") % {"level": level}
        else:
            text = _("On “%(question)s” annotators reached %(figures)s.")
        said.append(text % {"question": line.name, "figures": (figures + of_accuracy).removeprefix("; ")})
    said += [sentence.text for sentence in (*nobody_has_answered(answers), *beside_published(scheme, answers))]
    for code, name in answers.judges:
        said += _results_of(answers, code, name)
    return " ".join(said)


def _results_of(answers: Answers, code: str, name: str) -> list[str]:
    said = []
    for line in answers.questions:
        judge = next((judge for judge in line.judges if judge.code == code), None)
        if judge is None or judge.accuracy.value is None:
            continue
        text = _("%(judge)s on “%(question)s”: A_m = %(accuracy)s") % {
            "judge": name,
            "question": line.name,
            "accuracy": f"{percent(judge.accuracy.value)}{between(judge.accuracy, as_percent=True)}",
        }
        if judge.gap is not None:
            text += "; " + _("human ceiling %(ceiling)s, the judge beside it %(beside)s") % {
                "ceiling": with_interval(judge.of_person),
                "beside": with_interval(judge.beside_person),
            }
            text += f" ({rests_on(answers, [judge])})"
        if judge.baseline is not None:
            text += "; " + _("majority-class baseline %(share)s") % {"share": percent(judge.baseline)}
        if judge.winning_rate is not None:
            text += "; " + _("ω = %(rate)s, %(verdict)s a person") % {
                "rate": number(judge.winning_rate),
                "verdict": VERDICTS[judge.verdict],
            }
        elif judge.verdict == "not-enough":
            text += "; " + _("not enough annotators for the Alternative Annotator Test")
        said.append(text + ".")
    return said
