"""What a report calls its things, in sentences that people read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Rater
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec, Words
from reports.data.arrays import ABILITIES, DAWID_SKENE, MAJORITY, Filters, Voice
from reports.data.label_table import RaterEntry
from reports.numbers.comparison import ComparisonReport, OfRater
from reports.numbers.ratings import Criterion, RatingsReport
from reports.numbers.report import PeopleAgreement, QuestionReport
from reports.numbers.values import ValueReport
from reports.stats import agreement as agreement_stats
from reports.stats import alternative as alternative_stats
from reports.stats import among as among_stats
from reports.stats import bootstrap as bootstrap_stats
from reports.stats import calibration as calibration_stats
from reports.stats import classification as classification_stats
from reports.stats import comparison as comparison_stats
from reports.stats import consensus as consensus_stats
from reports.stats import coverage as coverage_stats
from reports.stats import estimates as estimate_stats
from reports.stats import judge as judge_stats
from reports.stats import numeric as numeric_stats
from reports.stats import places as place_stats
from reports.stats import small_sheets as small_sheets_stats
from reports.stats import spa as spa_stats
from reports.stats import systems as system_stats
from reports.stats import thresholds as threshold_stats
from reports.stats.bootstrap import is_as_before
from reports.stats.coverage import Verdict
from reports.stats.hiring import means as means_stats
from reports.stats.summary import Empty
from reports.stats.text import bertscore as bertscore_stats
from reports.stats.text import meteor as meteor_stats
from reports.stats.text import meteor_java as meteor_java_stats

# Why a cell is empty.
EMPTY: dict[int, Promise] = {
    Empty.NOT_REACHED: gettext_lazy("not reached"),
    Empty.NOT_ASKED: gettext_lazy("not asked"),
    Empty.SKIPPED: gettext_lazy("skipped: the person could not tell"),
    Empty.LEFT_OPEN: gettext_lazy("left open: the question is optional"),
}
# Why a number is not defined.
UNDEFINED: dict[str, Promise | str] = {
    "": "",
    means_stats.NOTHING: gettext_lazy("there is nothing to count"),
    means_stats.ONE_CLUSTER: gettext_lazy("of one document there is no interval"),
    agreement_stats.NO_TWO_ANSWERS: gettext_lazy("no cell was answered by two people"),
    agreement_stats.NO_PAIR_DEFINED: gettext_lazy(
        "in every pair, both raters chose one and the same option everywhere"
    ),
    small_sheets_stats.ONE_DOCUMENT: gettext_lazy(
        "it takes chance between two documents, and pairs of raters share single ones"
    ),
    agreement_stats.NO_QUESTION_DEFINED: gettext_lazy("none of the questions has a value"),
    judge_stats.NO_COMMON_CELL: gettext_lazy("there is no label in any cell that people answered"),
    judge_stats.NO_PEOPLE: gettext_lazy("no person has answered a cell"),
    agreement_stats.ALWAYS_THE_SAME: gettext_lazy("everyone always chose the same option"),
    among_stats.ONE_OPTION: gettext_lazy("there is only one option"),
    among_stats.NEVER_CHOSEN: gettext_lazy("nobody chose this option in a cell with two answers"),
    alternative_stats.TOO_FEW_PEOPLE: gettext_lazy("not enough annotators: the test needs three with enough cells"),
    alternative_stats.TOO_FEW_DOCUMENTS: gettext_lazy(
        "not enough annotators: the test needs three with enough cells in ten documents or more"
    ),
    alternative_stats.TOO_FEW_CELLS: gettext_lazy("no person has enough cells that the judge and another answered"),
    comparison_stats.NO_COMMON_CELL: gettext_lazy("no cell has a label of both judges and a person's answer"),
    comparison_stats.NEVER_APART: gettext_lazy("the judges are right and wrong in the same cells"),
    estimate_stats.NO_BOTH: gettext_lazy("no cell has the judge's label and a person's answer"),
    estimate_stats.NO_OTHER: gettext_lazy("the judge has no label in a cell without a person's answer"),
    classification_stats.NO_COMPARISON: gettext_lazy("there is no label in any cell that people answered"),
    classification_stats.NO_THIRD_ANSWER: gettext_lazy("no cell has the judge's label and two people's answers"),
    calibration_stats.NO_SCORES: gettext_lazy("the judge has no scores in a cell that a person answered"),
    consensus_stats.NO_REPEATS: gettext_lazy("no cell has labels of two repeats"),
    consensus_stats.NO_ANSWERS: gettext_lazy("nobody has answered a cell"),
    coverage_stats.NO_ITEM: gettext_lazy("no item has an answer"),
    threshold_stats.NO_CELL: gettext_lazy("there is no scored cell that a person answered"),
    threshold_stats.NO_POSITIVE: gettext_lazy("nobody chose this option in a scored cell"),
    threshold_stats.NEVER_REACHED: gettext_lazy("no threshold reaches this precision"),
    threshold_stats.ALL_RIGHT_OR_WRONG: gettext_lazy("the judge is right everywhere, or nowhere"),
    bootstrap_stats.TOO_FEW_CLUSTERS: gettext_lazy("too little data to draw from"),
    bootstrap_stats.TOO_MANY_UNDEFINED: gettext_lazy("too little data: not defined in too many draws"),
    numeric_stats.ALL_EQUAL: gettext_lazy("all numbers are the same"),
    numeric_stats.TOO_FEW_SHARED: gettext_lazy("no two raters share three cells with different numbers"),
    place_stats.NO_SPANS: gettext_lazy("neither rater marked any words"),
    bootstrap_stats.TOO_MANY_COMPARISONS: gettext_lazy("too many pairs of answers: not computed"),
    bootstrap_stats.NOT_DEFINED: gettext_lazy("the value itself is not defined"),
    bootstrap_stats.EVERY_DRAW_THE_SAME: gettext_lazy("every resample gives the same value"),
    meteor_stats.NO_WORDNET: gettext_lazy(
        "WordNet is not installed: NLTK finds no “wordnet” among its data (NLTK_DATA)"
    ),
    meteor_java_stats.NO_JAVA: gettext_lazy("METEOR 1.5 needs Java, and the Python package pycocoevalcap"),
    bertscore_stats.NO_ENCODER: gettext_lazy("it needs an encoder that gives vectors of tokens, and none is chosen"),
    bertscore_stats.TOO_MANY_TEXTS: gettext_lazy("there are more than 20,000 different texts: filter them"),
    spa_stats.NO_ASSESSMENT: gettext_lazy("nobody compared both for one input"),
    spa_stats.ONE_INPUT: gettext_lazy("both are compared for one input alone"),
    spa_stats.ALL_THE_SAME: gettext_lazy(
        "all assessments are the same: nothing is known of how far others would stray"
    ),
}
COEFFICIENTS: dict[str, Promise] = {
    "percent": gettext_lazy("Share of equal answers, each cell alike"),
    "percent_of_comparisons": gettext_lazy("Share of equal answers, each pair alike"),
    "cohen": gettext_lazy("Cohen's κ, mean over pairs of raters"),
    "cohen_linear": gettext_lazy("Cohen's κ, linear weights"),
    "cohen_quadratic": gettext_lazy("Cohen's κ, quadratic weights"),
    "scott": gettext_lazy("Scott's π"),
    "fleiss": gettext_lazy("Fleiss' κ"),
    "alpha": gettext_lazy("Krippendorff's α"),
    "ac1": gettext_lazy("Gwet's AC1"),
    "ac2": gettext_lazy("Gwet's AC2"),
    "pabak": gettext_lazy("PABAK"),
}
# What each coefficient does where answers are missing.
MISSING: dict[str, Promise] = {
    "percent": gettext_lazy("cells with two answers or more"),
    "percent_of_comparisons": gettext_lazy("every pair of answers to a cell"),
    "cohen": gettext_lazy("for each two raters the cells that both answered"),
    "cohen_linear": gettext_lazy("for each two raters the cells that both answered"),
    "cohen_quadratic": gettext_lazy("for each two raters the cells that both answered"),
    "scott": gettext_lazy("every pair of answers to a cell"),
    "fleiss": gettext_lazy("agreement: cells with two answers or more; chance: all cells"),
    "alpha": gettext_lazy("every answer in a cell with two answers or more"),
    "ac1": gettext_lazy("agreement: cells with two answers or more; chance: all cells"),
    "ac2": gettext_lazy("agreement: cells with two answers or more; chance: all cells"),
    "pabak": gettext_lazy("cells with two answers or more"),
    "specific": gettext_lazy("every pair of answers to a cell"),
}
WEIGHTS: dict[str, Promise] = {
    "linear": gettext_lazy("linear weights"),
    "quadratic": gettext_lazy("quadratic weights"),
    "ordinal": gettext_lazy("ordinal weights"),
}
VERDICTS: dict[str, Promise] = {
    Verdict.FOUND: gettext_lazy("found somewhere"),
    Verdict.INEXACTLY: gettext_lazy("found only inexactly"),
    Verdict.NEVER: gettext_lazy("never found"),
}


# Why a metric is not held against people's judgement.
SYSTEMS: dict[str, Promise | str] = {
    "": "",
    system_stats.TOO_FEW: gettext_lazy("too few judged outputs, or too few sheets they come from"),
    system_stats.NEVER_APART: gettext_lazy("the metric, or what people said, is the same everywhere"),
}
# Text metrics: as a column is headed, and which variant it is.
METRICS: dict[str, tuple[Promise | str, Promise]] = {
    "exact": (gettext_lazy("Exact match"), gettext_lazy("the same text, letter by letter")),
    "exact-sets": (
        gettext_lazy("Exact match, as sets"),
        gettext_lazy("the same parts of the list, whatever their order and case"),
    ),
    "parts-f1": (
        gettext_lazy("F1 of parts"),
        gettext_lazy("parts of the list in common, whatever their order and case"),
    ),
    "rouge-l": ("ROUGE-L", gettext_lazy("F with β = 1.2 of the longest common subsequence, as pycocoevalcap has it")),
    "rouge-l-f1": ("ROUGE-L F1", gettext_lazy("F1 of the longest common subsequence, as rouge-score has it")),
    "bleu-4": ("BLEU-4", gettext_lazy("of the corpus, without smoothing, as pycocoevalcap has it")),
    "bleu-1": ("BLEU-1", gettext_lazy("of the corpus, without smoothing, as pycocoevalcap has it")),
    "bleu-sacre": ("sacreBLEU", gettext_lazy("of the corpus, tokens 13a, smoothing “exp”, as sacrebleu has it")),
    "meteor-stems": (
        "METEOR",
        gettext_lazy(
            "words and stems, NLTK's formula, without synonyms; a text of n words against itself has 1 − 0.5/n³"
        ),
    ),
    "meteor-wordnet": (
        "METEOR, WordNet",
        gettext_lazy("words, stems and WordNet's synonyms, as NLTK has it; needs NLTK's data “wordnet”"),
    ),
    "meteor-1.5": (
        "METEOR 1.5",
        gettext_lazy(
            "of the corpus, by the Java program that pycocoevalcap brings; needs both, and half a minute the first time"
        ),
    ),
    "bertscore": (
        "BERTScore",
        gettext_lazy("F1 of tokens matched by the cosine of their last hidden states, without IDF or rescaling"),
    ),
}


_in_first_words: ContextVar[bool] = ContextVar("_in_first_words", default=False)
_by_questions_alone: ContextVar[bool] = ContextVar("_by_questions_alone", default=False)
# Lines of tables that were called otherwise once, and how they are called now.
RENAMED: tuple[tuple[Promise, Promise], ...] = (
    (gettext_lazy("Share of equal answers"), gettext_lazy("Percent agreement")),
    (COEFFICIENTS["percent"], gettext_lazy("Percent agreement, each cell alike")),
    (COEFFICIENTS["percent_of_comparisons"], gettext_lazy("Percent agreement, each pair alike")),
)


@contextmanager
def said_as(filters: Filters, scheme: SchemeSpec) -> Iterator[None]:
    """In here, `worded` and `name_of` call things as a report of these filters does: one that was frozen with words
    before is said in these again."""
    first = _in_first_words.set(filters.first_words)
    alone = _by_questions_alone.set(len(scheme.sections) == 1 and not filters.names_only_section)
    try:
        yield
    finally:
        _in_first_words.reset(first)
        _by_questions_alone.reset(alone)


def worded(first: str, now: str) -> str:
    """How a thing is called: a report that was frozen when it was called otherwise is said again as it was."""
    return first if _in_first_words.get() else now


def naming_gold(title: str, rater: str) -> str:
    """A title that is of gold with its code, where that says more than “gold”; before methods 10 always."""
    code = "" if rater.casefold() == "gold" and not is_as_before() else rater
    return (title % {"rater": code}).strip()


def renamed(name: str) -> str:
    """A line's name as it is now."""
    return next((str(now) for first, now in RENAMED if name == str(first)), name)


def coefficient(key: str) -> str:
    """A coefficient by its name."""
    return worded(str(COEFFICIENTS[key]), renamed(str(COEFFICIENTS[key])))


def undefined(question: QuestionReport, agreement: PeopleAgreement, reason: str) -> str:
    """Why a statistic of people's agreement is not defined."""
    chosen = set(agreement.both_chose)
    if reason in (agreement_stats.ALWAYS_THE_SAME, agreement_stats.NO_PAIR_DEFINED) and len(chosen) == 1:
        return _("everyone chose “%(option)s”") % {"option": question.spec.options[chosen.pop()].label}
    return str(UNDEFINED.get(reason, reason))


def code_of(rater: RaterEntry | Rater) -> str:
    """A rater as reports name it."""
    said = [_("simulated")] if rater.simulated else []
    if isinstance(rater, RaterEntry) and rater.anew:
        said.append(_("chosen anew: %(normalisation)s") % {"normalisation": rater.normalisation})
    return f"{rater.code} ({', '.join(said)})" if said else rater.code


def not_asked_how(words: Words, n: int) -> str:
    """What coverage makes of the `n` cells in which a question was not asked."""
    if not n:
        return ""
    return _(
        "Where the question was not asked since the one that it depends on says no, the %(row)s counts as one without "
        "the item; items that have nothing to look for are left out."
    ) % {"row": words.row}


_TOGETHER = {
    MAJORITY: gettext_lazy("most people"),
    DAWID_SKENE: gettext_lazy("people weighed by their errors"),
    ABILITIES: gettext_lazy("people weighed by ability"),
}


def heard(voice: Voice) -> str:
    """Whose answers are read."""
    if voice.rater is not None:
        return code_of(voice.rater)
    return str(_TOGETHER.get(voice.name, gettext_lazy("anybody")))


def name_of(question: QuestionReport | ValueReport) -> str:
    """Of a report that is `said_as`."""
    return question.spec.title if _by_questions_alone.get() else _among(question.data.section, question.spec)


def part_name(section: str, only: QuestionReport | ValueReport | None) -> str:
    """Of a section's part of a report that is `said_as`; `only`: the question that is all of it."""
    return only.spec.title if only and _by_questions_alone.get() else section


def asked_name(scheme: SchemeSpec, section: SectionSpec, question: QuestionSpec) -> str:
    """The name of a question among all of its scheme: sections may ask alike."""
    return question.title if len(scheme.sections) == 1 else _among(section, question)


def _among(section: SectionSpec, question: QuestionSpec) -> str:
    return f"{section.title}: {question.title}" if len(section.questions) > 1 else section.title


def pairs_of(words: Words) -> str:
    """A sheet and two of its raters: "sheet-pairs"."""
    return _("%(sheet)s-pairs") % {"sheet": words.sheet}


def n_pairs(words: Words, n: int) -> str:
    return ngettext("%(n)s %(sheet)s-pair", "%(n)s %(sheet)s-pairs", n) % {"n": count(n), "sheet": words.sheet}


def cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def with_unit(title: str, unit: str) -> str:
    """What numbers are of, with what they are counted in."""
    return f"{title} ({unit})" if unit else title


def count(number: int) -> str:
    return str(number_format(number, force_grouping=True))


def bracketed(ends: Iterable[str]) -> str:
    """The ends of an interval, as they are read: "[0.71, 0.82]"; "[0,71; 0,82]" where a comma is decimal."""
    both = list(ends)
    return f"[{('; ' if any(',' in end for end in both) else ', ').join(both)}]"


# --- benchmarks -------------------------------------------------------------------------------------------------------


def evaluators(report: RatingsReport, of: Criterion) -> list[str]:
    """The names of the lines of `Criterion.cells`."""
    return [*(judge.code for judge in report.judges), *([_("People")] if len(of.cells) > len(report.judges) else [])]


def by_instructions(report: RatingsReport) -> str:
    if report.bounded:
        said = _(
            "Intervals: 95 %%, by instructions (%(n)s), whose texts belong together; of means and differences "
            "cluster-robust and no wider than the scale, of all else by %(draws)s draws of instructions, from ten "
            "instructions on. What does not vary has none."
        )
    else:
        said = _(
            "Intervals: 95 %%, by instructions (%(n)s), whose texts belong together; of means and differences "
            "cluster-robust, of all else by %(draws)s draws of instructions."
        )
    return said % {"n": count(report.n_instructions), "draws": count(report.n_draws)}


def compared_by(of: OfRater) -> str:
    """Who compared texts: people together, or a judge."""
    return code_of(of.judge) if of.judge else _("People")


def by_items(report: ComparisonReport) -> str:
    said = _(
        "Intervals: 95 %%, by items (%(n)s), whose comparisons belong together; of shares cluster-robust and within 0 "
        "and 1, of strengths and ranks by %(draws)s draws of items, from ten items on."
    )
    return said % {"n": count(report.n_items), "draws": count(report.n_draws)}
