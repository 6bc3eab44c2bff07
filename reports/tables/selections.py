"""How often each option was chosen."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.data.arrays import ABILITIES, MAJORITY, PEOPLE, WEIGHED
from reports.numbers.report import QuestionReport, VoiceReport
from reports.tables.base import Head, ReportTable, Value, key_of_voice
from reports.words import EMPTY, code_of, count, heard, name_of


def selections(question: QuestionReport, of: VoiceReport) -> ReportTable:
    summary, options = of.summary, question.spec.options
    rows: list[tuple[Value, ...]] = [(options[row.code].label, row.count, row.share) for row in summary.options]
    if of.voice.name == PEOPLE:
        title = _("Selections")
        how = _("Every cell that a person was to fill counts once for each person.")
    elif of.voice.name == MAJORITY:
        title = _("Selections: what most people said")
        how = _("Every cell that a person was to fill counts once.") + " " + ties_how(of)
    elif of.voice.name in WEIGHED:
        title = _("Selections: %(heard)s") % {"heard": heard(of.voice)}
        how = _("Every cell that a person was to fill counts once.")
    else:
        title = _("Selections of %(rater)s") % {"rater": heard(of.voice)}
        how = _("Every cell that %(rater)s was to fill counts once.") % {"rater": heard(of.voice)}
    if summary.n_not_filled:
        rows.append((_("Not filled in"), summary.n_not_filled, summary.share_not_filled))
        for part in summary.not_filled:
            if part.count:
                label = options[part.code].label if part.code >= 0 else str(EMPTY[part.code])
                rows.append((f"    {label}", part.count, part.share))
        how += " " + _("Below “Not filled in” stands what it is made of.")
    rows.append((_("Total"), summary.n, 1.0 if summary.n else None))
    return ReportTable(
        key=key_of_voice(question, "selections", of.voice),
        about=name_of(question),
        title=title,
        heads=(
            Head("selection", _("Selection")),
            Head("count", _("Count"), "count"),
            Head("share", _("Percentage"), "share"),
        ),
        rows=tuple(rows),
        how=how,
    )


def weights(question: QuestionReport, of: VoiceReport) -> ReportTable:
    """What a model makes of each person."""
    able = of.voice.name == ABILITIES
    if able:
        how = (
            _(
                "Ability and the ease of each document are estimated together (GLAD, Whitehill et al. 2009): who "
                "guesses has 0, 1 is expected beforehand. Right: the expected share, 95 %% interval by documents."
            )
            % {}
        )
    else:
        how = _(
            "Each person's table of errors and the true options are estimated together (Dawid and Skene 1979). Right: "
            "the expected share of right answers, weighed by the estimated shares of the options."
        )
    return ReportTable(
        key=key_of_voice(question, "weights", of.voice),
        about=name_of(question),
        title=_("Weights of raters: %(heard)s") % {"heard": heard(of.voice)},
        heads=(
            Head("rater", _("Rater")),
            *((Head("ability", _("Ability"), "number"),) if able else ()),
            Head("right", _("Right"), "share"),
            *((Head("low", _("from"), "share"), Head("high", _("to"), "share")) if able else ()),
            Head("answers", _("Answers"), "count"),
        ),
        rows=tuple(
            (
                code_of(one.rater),
                *((one.ability,) if able else ()),
                one.right,
                *((one.low, one.high) if able else ()),
                one.n,
            )
            for one in of.voice.weights
        ),
        how=how,
    )


def ties_how(of: VoiceReport) -> str:
    """What a majority takes where there is none."""
    return ngettext(
        "Of several equally frequent answers the first option is taken, in %(n)s cell.",
        "Of several equally frequent answers the first option is taken, in %(n)s cells.",
        of.voice.n_ties,
    ) % {"n": count(of.voice.n_ties)}
