"""What a report calls its things, in sentences that people read."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Rater
from annotation.scheme import Words
from reports.compute import Agreement, QuestionReport
from reports.label_table import RaterEntry
from reports.stats import agreement as agreement_stats
from reports.stats import judge as judge_stats
from reports.stats.summary import Empty

# Why a cell is empty.
EMPTY: dict[int, Promise] = {
    Empty.NOT_REACHED: gettext_lazy("not reached"),
    Empty.NOT_ASKED: gettext_lazy("not asked"),
}
# Why a number is not defined.
UNDEFINED: dict[str, Promise | str] = {
    "": "",
    agreement_stats.NO_TWO_ANSWERS: gettext_lazy("no cell was answered by two people"),
    agreement_stats.NO_PAIR_DEFINED: gettext_lazy(
        "in every pair, both raters chose one and the same option everywhere"
    ),
    agreement_stats.NO_QUESTION_DEFINED: gettext_lazy("none of the questions has a value"),
    judge_stats.NO_COMMON_CELL: gettext_lazy("there is no label in any cell that people answered"),
    judge_stats.NO_PEOPLE: gettext_lazy("no person has answered a cell"),
}


def undefined(question: QuestionReport, agreement: Agreement, reason: str) -> str:
    """Why a statistic of people's agreement is not defined."""
    chosen = set(agreement.both_chose)
    if reason in (agreement_stats.ALWAYS_THE_SAME, agreement_stats.NO_PAIR_DEFINED) and len(chosen) == 1:
        return _("everyone chose “%(option)s”") % {"option": question.spec.options[chosen.pop()].label}
    return str(UNDEFINED[reason])


def code_of(rater: RaterEntry | Rater) -> str:
    """A rater as reports name it."""
    said = [_("simulated")] if rater.simulated else []
    if isinstance(rater, RaterEntry) and rater.anew:
        said.append(_("chosen anew: %(normalisation)s") % {"normalisation": rater.normalisation})
    return f"{rater.code} ({', '.join(said)})" if said else rater.code


def name_of(question: QuestionReport) -> str:
    section = question.data.section
    return f"{section.title}: {question.spec.title}" if len(section.questions) > 1 else section.title


def pairs_of(words: Words) -> str:
    """A sheet and two of its raters: "recipe-pairs"."""
    return _("%(sheet)s-pairs") % {"sheet": words.sheet}


def n_pairs(words: Words, n: int) -> str:
    return ngettext("%(n)s %(sheet)s-pair", "%(n)s %(sheet)s-pairs", n) % {"n": count(n), "sheet": words.sheet}


def cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def count(number: int) -> str:
    return str(number_format(number, force_grouping=True))
