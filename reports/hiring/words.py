"""What pages of hiring say in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Question, Rater, Study
from annotation.scheme.words import Words
from reports.hiring import cells, queries
from reports.hiring.queries import SeenRows, TestSize
from reports.models import Split

SCORES: dict[str, Promise] = {
    cells.MARGIN: gettext_lazy("lead of the first option, as probabilities"),
    cells.REPEATS: gettext_lazy("share of repeats that say the same"),
    cells.NONE: gettext_lazy("none: all cells or none"),
}


def reasons() -> dict[str, str]:
    """Why nothing is shown: what the statistics say, in sentences. They are asked for when a page needs them, since
    SciPy comes with them."""
    from reports.stats.hiring import certificate, planning, shares, supervision

    return {
        "": "",
        certificate.NO_DEVELOPMENT: _("Nothing of the development part has a label of the judge and of a person."),
        certificate.NO_TEST: _("Nothing of the test part has a label of the judge and of a person."),
        certificate.NO_THRESHOLD: _("On the development part no threshold keeps the error as low as is asked."),
        certificate.NOTHING_ACCEPTED: _("The judge is sure enough of no cell of the test part."),
        certificate.TOO_FEW_CLUSTERS: _("The test part is too small: even without a wrong cell it could not show it."),
        certificate.TOO_MANY_WRONG: _("More of the accepted cells are wrong than is asked."),
        certificate.NOT_SHOWN: _("So few are wrong in the test part, but it is too small to show it."),
        planning.ERROR_TOO_HIGH: _(
            "The expected error is not below what is asked: no test part is large enough to show it."
        ),
        planning.TOO_MANY: _("A larger test part would be needed than was tried."),
        supervision.NO_AUDIT: _("People have finished nothing yet of what was drawn for them."),
        shares.NO_LABEL: _("People have labelled no cell of what the judge accepts, or of the rest."),
        shares.TOO_FEW_CLUSTERS: _("Too little has people's labels for an interval."),
        shares.NO_CELLS: _("There is no cell."),
    }


def drawn_as(unit: str, words: Words) -> str:
    """What a split draws as a whole, of `Split.Unit`; tests and supervision count these."""
    named = {Split.Unit.ROW: words.rows, Split.Unit.ITEM: _("items"), Split.Unit.SHEET: words.sheets}
    return named[Split.Unit(unit)]


def not_answered(judge: str, question: Question) -> str:
    """Why a judge is not tested on a question that it does not answer."""
    return _("“%(judge)s” does not answer “%(question)s”, so that there is nothing to certify.") % {
        "judge": judge,
        "question": question.title,
    }


def why_not_tested(rater: Rater, question: Question, split: Split, size: TestSize) -> str:
    """Why a judge is not tested now, which would be a look at the test part for nothing; "" where it may be."""
    if queries.question_name(question) not in queries.answered_questions(split.study, rater):
        return not_answered(rater.code, question)
    judge = queries.judge_behind(rater)
    if judge is not None and (seen := queries.seen_test_rows(judge, split)).all:
        return was_fitted(rater.code, seen, split.study.scheme.parsed.words.translated())
    return "" if size.labelled else no_test_label()


def was_fitted(judge: str, seen: SeenRows, words: Words) -> str:
    """Why a judge is not tested: documents of the test part are among those that it was fitted to."""
    if seen.kept:
        said = ngettext(
            "“%(judge)s”, or a judge that it was made of, was fitted to %(n)s %(row)s of the test part or has it as "
            "an example, so that a test would flatter it.",
            "“%(judge)s”, or a judge that it was made of, was fitted to %(n)s %(rows)s of the test part or has them "
            "as examples, so that a test would flatter it.",
            seen.kept,
        )
    else:
        said = ngettext(
            "What “%(judge)s”, or a judge that it was made of, was fitted to was not kept when it was made: %(n)s "
            "%(row)s of the test part, which people had labelled by then, may be among it.",
            "What “%(judge)s”, or a judge that it was made of, was fitted to was not kept when it was made: %(n)s "
            "%(rows)s of the test part, which people had labelled by then, may be among it.",
            seen.all,
        )
    way_out = _(
        "Draw the split again while nobody has looked at the test part, or fit a judge to the development part."
    )
    told = {"judge": judge, "n": seen.kept or seen.all, "row": words.row, "rows": words.rows}
    return f"{said % told} {way_out}"


def no_test_label() -> str:
    """Why nothing is tested."""
    return _(
        "Nothing of the test part has a label of the judge and of a person yet: a test would show nothing, and would "
        "count. Have people label some of it first."
    )


@dataclass(frozen=True)
class Told:
    """The document of a test, as a page shows it."""

    document: dict[str, Any]
    reason: str
    score: str
    question: str

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["result"]
        return found

    @property
    def percent(self) -> dict[str, str]:
        """Shares as per cent with one digit after the point, "–" where there is none; what holds "at most" is not made
        less by it, nor the confidence more."""
        most = {name: self.result[name] for name in ("upper", "betting", "design", "binomial")}
        most["epsilon"] = self.document["epsilon"]
        return {
            **{name: percent(self.result[name]) for name in ("coverage", "error")},
            **{name: percent(share, ROUND_CEILING) for name, share in most.items()},
            "confidence": percent(self.document["confidence"], ROUND_FLOOR),
        }


def percent(share: float | None, rounding: str = ROUND_HALF_EVEN) -> str:
    """A share as a number of per cent with a digit after the point, as the language writes it; "–" for none."""
    if share is None:
        return "–"
    exact = Decimal(f"{share * 100:.9f}" if rounding != ROUND_HALF_EVEN else share * 100)
    return str(number_format(str(exact.quantize(Decimal("0.1"), rounding)).removesuffix(".0")))


def told(study: Study, document: dict[str, Any]) -> Told:
    return Told(
        document=document,
        reason=reasons().get(document["result"]["reason"], document["result"]["reason"]),
        score=str(SCORES[document["score"]]),
        question=title_of(study, document["question"]),
    )


def title_of(study: Study, question: str) -> str:
    """A question as people know it."""
    section, key = question.split(".", 1)
    return study.scheme.parsed.title_of(section, key)
