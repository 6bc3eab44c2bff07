"""What the first page says of a comparison: who is preferred, whether judges put systems in the same order, and whether
a place alone is liked."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.doors import Sentence, Told
from reports.numbers.comparison import ComparisonReport, OfRater
from reports.numbers.report import StudyReport
from reports.stats.paired_comparisons import Standing
from reports.stats.spa import EVEN
from reports.tables.rounding import rounded
from reports.words import bracketed, compared_by

_NAMED = 5  # systems that a sentence names
_ENOUGH_ITEMS = 30
_ROUNDING = 1e-9
_ALWAYS = 6  # items: that the same side is the better one in all of them has a probability of 2 · 0.5⁶, 3 %


def told_of_comparison(report: StudyReport) -> Iterator[Told]:
    if report.comparison is not None:
        yield Told(_("Which system is preferred?"), tuple(_sentences(report.comparison)))


def _sentences(of: ComparisonReport) -> Iterator[Sentence]:
    order, place = f"{of.name}.order", f"{of.name}.place-and-length"
    first = of.raters[0]
    who = _("People") if first.judge is None else _("The judge “%(judge)s”") % {"judge": compared_by(first)}
    yield Sentence(_("%(who)s: %(systems)s.") % {"who": who, "systems": _ranked(of, first.standings)}, order)
    if known := _known_best(of, first.standings):
        yield Sentence(known, order)
    n_items = max(standing.share.n_clusters for standing in first.standings)
    if n_items < _ENOUGH_ITEMS:
        said = ngettext(
            "So far it rests on %(n)s item, and a few more can change the order.",
            "So far it rests on %(n)s items, and a few more can change the order.",
            n_items,
        )
        yield Sentence(said % {"n": n_items}, order, warns=True)
    for one in of.raters:
        if one.alike is not None and one.alike.n and not _likes_one_side_alone(one):
            yield Sentence(_alike(one), f"{of.name}.orders-alike")
    for one in of.raters:
        if said := _of_place(one):
            yield Sentence(said, place, warns=True)


def _ranked(of: ComparisonReport, standings: tuple[Standing, ...]) -> str:
    said = [
        _("“%(system)s” is preferred in %(share)s") % {"system": of.systems[one.system], "share": _of(one)}
        if place == 0
        else _("“%(system)s” in %(share)s") % {"system": of.systems[one.system], "share": _of(one)}
        for place, one in enumerate(standings[:_NAMED])
    ]
    more = len(standings) - _NAMED
    if more > 0:
        said.append(ngettext("and %(n)s more", "and %(n)s more", more) % {"n": more})
    return ", ".join(said)


def _of(standing: Standing) -> str:
    return _share(standing.share.value or 0.0, standing.share.low, standing.share.high)


def _share(value: float, low: float | None, high: float | None) -> str:
    said = _("%(n)s %%") % {"n": rounded(value, 1, per_cent=True)}
    if low is None or high is None:
        return said
    return f"{said} {bracketed([str(rounded(end, 1, per_cent=True)) for end in (low, high)])}"


def _known_best(of: ComparisonReport, standings: tuple[Standing, ...]) -> str:
    """Whether the first is first in nearly all draws. Of two that have nothing between them none is."""
    best = standings[0]
    if best.rank_high is None or len(standings) < 2 or standings[1].rank == best.rank:
        return ""
    if best.rank_high == 1:
        return _("That “%(system)s” is first holds in 95 %% of the draws of items.") % {
            "system": of.systems[best.system]
        }
    return _("Which is first is not known: “%(system)s” lies between the places %(low)s and %(high)s.") % {
        "system": of.systems[best.system],
        "low": best.rank_low,
        "high": best.rank_high,
    }


def _alike(one: OfRater) -> str:
    assert one.alike is not None
    if one.alike.alike == one.alike.n:
        return _("The judge “%(judge)s” puts the systems in the same order.") % {"judge": compared_by(one)}
    return _("The judge “%(judge)s” puts %(alike)s of %(n)s pairs of systems in the order of people.") % {
        "judge": compared_by(one),
        "alike": one.alike.alike,
        "n": one.alike.n,
    }


def _likes_one_side_alone(one: OfRater) -> bool:
    """The same side is the better one in all of enough items, both systems having stood there. An order of systems is
    then chance. Of two systems that always stood on the same sides nothing is known of the place, and they may have
    been judged otherwise."""
    left, value = one.left, one.comparisons.value
    return (
        left.value is not None and left.n_clusters >= _ALWAYS and bool((value == value[0]).all() and value[0] != EVEN)
    )


def _of_place(one: OfRater) -> str:
    """That a rater likes a side; "" where chance may be all of it."""
    left = one.left
    if left.value is None:
        return ""
    who = _("The judge “%(judge)s”") % {"judge": compared_by(one)} if one.judge else _("The group of people")
    on_left = left.value > EVEN
    if min(left.value, 1 - left.value) < _ROUNDING:
        if not _likes_one_side_alone(one):
            return ""
        said = (
            _("%(who)s always prefers the left text, whoever wrote it: these answers say nothing of the texts.")
            if on_left
            else _("%(who)s always prefers the right text, whoever wrote it: these answers say nothing of the texts.")
        )
        return said % {"who": who}
    if left.low is None or left.high is None or left.low <= EVEN <= left.high:
        return ""
    said = (
        _("%(who)s prefers the left text in %(share)s, whoever wrote it: the place decides in part.")
        if on_left
        else _("%(who)s prefers the right text in %(share)s, whoever wrote it: the place decides in part.")
    )
    return said % {"who": who, "share": _share(max(left.value, 1 - left.value), None, None)}
