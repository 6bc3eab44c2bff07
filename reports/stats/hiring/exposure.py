"""Does a judge's suggestion move people? An experiment: whether it is shown is drawn for each person and document.

Without the draw people who look at suggestions differ from those who do not, and documents where they look differ too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.answers import IntArray
from reports.stats.hiring.clusters import BoolArray
from reports.stats.hiring.means import CONFIDENCE, summed_squares
from reports.stats.pairs import FloatArray

SHIFT, POWER = 0.05, 0.8

NOT_BOTH = "nobody answered both with and without the suggestion"
NO_TIMES = "no time was recorded"
TOO_FEW = "too few documents or raters for an interval"
RATERS_DIFFER = "the raters differ too much in how far they follow: more raters are needed, not more documents"
TOO_MANY = "more documents would be needed than were tried"


@dataclass(frozen=True)
class Effect:
    """With the suggestion less without it.

    value: mean difference within raters. low, high: 95 % for these raters and other documents, by documents;
    wide_low, wide_high: for other raters too, by documents and raters. p_value: of no difference, by documents.
    shown, hidden: the plain means. n_raters: who answered in both ways; others tell nothing and are left out.
    Bounds and p are None with a `reason`.
    """

    value: float | None
    low: float | None
    high: float | None
    wide_low: float | None
    wide_high: float | None
    p_value: float | None
    shown: float | None
    hidden: float | None
    reason: str
    n: int
    n_raters: int
    n_documents: int


@dataclass(frozen=True)
class Exposure:
    """What the suggestion did.

    shift: in the share of answers that are the judge's. followed_right, followed_wrong: the same where the judge is
    right, and where it is wrong. accuracy: in the share of right answers; these three are None where nobody knows what
    is right. time: as a ratio, 0.9 for a tenth less time; None without times.
    """

    shift: Effect
    followed_right: Effect | None
    followed_wrong: Effect | None
    accuracy: Effect | None
    time: Effect | None


def exposure(
    answer: npt.ArrayLike,
    judge: npt.ArrayLike,
    shown: npt.ArrayLike,
    rater: npt.ArrayLike,
    document: npt.ArrayLike,
    *,
    right: npt.ArrayLike | None = None,
    seconds: npt.ArrayLike | None = None,
) -> Exposure:
    """All effects, from one entry for each answer of a person, shape (n_answers,).

    Args:
        answer, judge: options; a judge's of -1 is none, and the answer is left out of the shift.
        shown: whether this person was shown the suggestions in this document.
        right: the option that counts as right, -1 where nobody knows. Answers of people who saw no suggestion, or of
            others than those of the experiment: what was shown must not decide what is right.
        seconds: what the answer took, above 0, NaN where it is not known. The ratio is of geometric means.
    """
    said, its = (np.asarray(part, dtype=np.int64).ravel() for part in (answer, judge))
    was_shown = np.asarray(shown, dtype=bool).ravel()
    who, where = (np.asarray(part, dtype=np.int64).ravel() for part in (rater, document))
    if not said.shape == its.shape == was_shown.shape == who.shape == where.shape:
        raise ValueError("each answer needs a judge's option, whether it was shown, a rater and a document")

    def of(outcome: FloatArray, counts: BoolArray) -> Effect:
        return _of_shares(effect(outcome[counts], was_shown[counts], who[counts], where[counts]))

    same = (said == its).astype(np.float64)
    judged = its >= 0
    followed_right = followed_wrong = accuracy = time = None
    if right is not None:
        truth = np.asarray(right, dtype=np.int64).ravel()
        known = truth >= 0
        followed_right = of(same, judged & known & (its == truth))
        followed_wrong = of(same, judged & known & (its != truth))
        accuracy = of((said == truth).astype(np.float64), known)
    if seconds is not None:
        time = time_ratio(seconds, was_shown, who, where)
    return Exposure(of(same, judged), followed_right, followed_wrong, accuracy, time)


def time_ratio(seconds: npt.ArrayLike, shown: BoolArray, rater: IntArray, document: IntArray) -> Effect:
    """The ratio of the geometric mean of the times with the judge's answers shown to that without. All of shape
    (n_answers,); `seconds` that are not finite or not above 0 are left out."""
    took = np.asarray(seconds, dtype=np.float64).ravel()
    timed = np.isfinite(took) & (took > 0)
    found = _ratio(effect(np.log(took[timed]), shown[timed], rater[timed], document[timed]))
    return found if timed.any() else replace(found, reason=NO_TIMES)


def _of_shares(found: Effect) -> Effect:
    """Two shares differ by no more than 1."""

    def within(end: float | None) -> float | None:
        return None if end is None else min(max(end, -1.0), 1.0)

    return replace(
        found,
        low=within(found.low),
        high=within(found.high),
        wide_low=within(found.wide_low),
        wide_high=within(found.wide_high),
    )


def effect(outcome: FloatArray, shown: BoolArray, rater: IntArray, document: IntArray) -> Effect:
    """Least squares of the outcome on "shown" with a level of its own for each rater. All of shape (n_answers,).

    Errors are summed within documents (t, G - 1 degrees of freedom), and for the wide interval within documents and
    within raters (Cameron, Gelbach and Miller 2011; t with the smaller number of clusters less one).
    """
    raters, who = np.unique(rater, return_inverse=True)
    answers = np.bincount(who, minlength=raters.size)
    with_it = np.bincount(who, shown, minlength=raters.size)
    both = ((with_it > 0) & (with_it < answers))[who]
    outcome, shown, document = outcome[both], shown[both], document[both]
    _, who = np.unique(who[both], return_inverse=True)
    n = outcome.size
    if not n:
        return Effect(None, None, None, None, None, None, None, None, NOT_BOTH, 0, 0, 0)
    answers = np.bincount(who)
    z = shown - (np.bincount(who, shown) / answers)[who]
    y = outcome - (np.bincount(who, outcome) / answers)[who]
    spread = float((z**2).sum())
    value = float((z * y).sum()) / spread
    scores = z * (y - value * z)
    by_document, n_documents = summed_squares(scores, document)
    by_rater, n_raters = summed_squares(scores, who)
    by_both, _ = summed_squares(scores, document, who)
    found = Effect(
        value=value,
        low=None,
        high=None,
        wide_low=None,
        wide_high=None,
        p_value=None,
        shown=float(outcome[shown].mean()),
        hidden=float(outcome[~shown].mean()),
        reason=TOO_FEW,
        n=n,
        n_raters=n_raters,
        n_documents=n_documents,
    )
    if n_documents < 2 or by_document <= 0:
        return found
    error = np.sqrt(by_document) / spread
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n_documents - 1) * error)
    p_value = float(2 * stats.t.sf(abs(value) / error, n_documents - 1))
    found = replace(found, low=value - half, high=value + half, p_value=p_value, reason="")
    if n_raters < 2:
        return found
    wide = np.sqrt(max(by_document + by_rater - by_both, by_document)) / spread
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, min(n_documents, n_raters) - 1) * wide)
    return replace(found, wide_low=value - half, wide_high=value + half)


def _ratio(logs: Effect) -> Effect:
    def up(value: float | None) -> float | None:
        return None if value is None else float(np.exp(value))

    return replace(
        logs,
        value=up(logs.value),
        low=up(logs.low),
        high=up(logs.high),
        wide_low=up(logs.wide_low),
        wide_high=up(logs.wide_high),
        shown=up(logs.shown),
        hidden=up(logs.hidden),
    )


def detectable_shift(
    *,
    n_raters: int,
    n_documents: int,
    cells: float,
    agreement: float = 0.7,
    icc: float = 0.2,
    raters_differ: float = 0.0,
    power: float = POWER,
) -> float:
    """The shift that is found with this power at 5 %, two-sided.

    Half of each rater's documents are shown. Its standard error is the root of
    4 p (1 - p) (1 + (m - 1) icc) / (R D m) + s^2 / R for R raters, D documents each, m cells a document.

    Args:
        n_documents: of each rater; agreement: p, the share of answers that are the judge's without its being shown;
        icc: correlation of agreement within a rater's document; raters_differ: s, the standard deviation between
        raters of how far they follow. Above 0 the question is about raters like these, and the t of R - 1 is used.

    Raises:
        ValueError: fewer than two raters where they differ, fewer than two documents, shares outside 0 to 1.
    """
    if not (0 < agreement < 1 and 0 <= icc <= 1 and 0 < power < 1) or cells < 1 or raters_differ < 0:
        raise ValueError("shares lie between 0 and 1, and a document has a cell at least")
    if n_raters < (2 if raters_differ else 1) or n_documents < 2:
        raise ValueError("an effect needs two documents, and two raters where they differ")
    units = n_raters * n_documents
    variance = 4 * agreement * (1 - agreement) * (1 + (cells - 1) * icc) / (units * cells)
    variance += raters_differ**2 / n_raters
    degrees = n_raters - 1 if raters_differ else n_documents - 1
    return float((stats.t.ppf((1 + CONFIDENCE) / 2, degrees) + stats.t.ppf(power, degrees)) * np.sqrt(variance))


@dataclass(frozen=True)
class ExposureSize:
    """n_documents: that each rater needs, None with a `reason`; detectable: the shift that is then found."""

    n_documents: int | None
    detectable: float | None
    reason: str


def documents_for_shift(
    *,
    n_raters: int,
    cells: float,
    shift: float = SHIFT,
    agreement: float = 0.7,
    icc: float = 0.2,
    raters_differ: float = 0.0,
    power: float = POWER,
    largest: int = 10_000,
) -> ExposureSize:
    """The least number of documents for each rater with which `detectable_shift` is `shift` or less."""

    def found(n_documents: int) -> float:
        return detectable_shift(
            n_raters=n_raters,
            n_documents=n_documents,
            cells=cells,
            agreement=agreement,
            icc=icc,
            raters_differ=raters_differ,
            power=power,
        )

    low, high = 2, largest
    if found(high) > shift:
        return ExposureSize(None, found(high), RATERS_DIFFER if raters_differ else TOO_MANY)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) <= shift else (middle + 1, high)
    return ExposureSize(low, found(low), "")
