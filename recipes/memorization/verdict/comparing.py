"""Two verdicts held against each other, item by item: by hand against by models, or one chain against another."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from recipes.memorization.verdict.contents import NAMES
from recipes.memorization.verdict.outcomes import OUTCOMES, Item, Outcome
from recipes.memorization.verdict.queries import SectionItems, VerdictData
from reports.contents import Contents, ContentsPart
from reports.data.arrays import MAJORITY, WEIGHED
from reports.stats.agreement import UndefinedStatistic, cohen_kappa
from reports.tables import Head, ReportTable, Value
from reports.words import UNDEFINED, cap

NOBODY = -1  # in the place of a rater: of answers that several gave together


@dataclass(frozen=True)
class Pair:
    """An item of a recipe on both sides, None on the one that does not have it (or nobody answered for it there)."""

    recipe: str
    name: str
    first: Item | None
    second: Item | None

    @property
    def alike(self) -> bool:
        return self.first is not None and self.second is not None and self.first.outcome == self.second.outcome

    @property
    def sides(self) -> tuple[Item | None, Item | None]:
        return self.first, self.second


@dataclass(frozen=True)
class Compared:
    """One section of both verdicts.

    n, same: items that both have, and those with the same verdict; kappa: Cohen's of the verdicts, None (and `reason`)
    where it is not defined. answers, same_answers: answers to one cell, one of each side, and those that are the same;
    None where the sides are of two studies, whose documents are others.
    """

    key: str
    title: str
    column: str
    pairs: Sequence[Pair]
    kappa: float | None
    reason: str
    answers: int | None
    same_answers: int | None

    @property
    def n(self) -> int:
        return sum(pair.first is not None and pair.second is not None for pair in self.pairs)

    @property
    def same(self) -> int:
        return sum(pair.alike for pair in self.pairs)

    @property
    def one_sided(self) -> tuple[int, int]:
        """Items that the first alone has, and the second alone."""
        return (
            sum(pair.second is None for pair in self.pairs),
            sum(pair.first is None for pair in self.pairs),
        )


def compared(first: VerdictData, second: VerdictData, *, recipe: str = "") -> list[Compared]:
    """Section by section; items are the same by recipe, section and name, case aside. `recipe`: that one alone."""
    others = {of.section.key: of for of in second.sections}
    return [
        _section(first, of, second, others[of.section.key], recipe)
        for of in first.sections
        if of.section.key in others and (of.items or others[of.section.key].items)
    ]


def _section(first: VerdictData, of: SectionItems, second: VerdictData, other: SectionItems, recipe: str) -> Compared:
    mine, theirs = dict(_named(first, of, recipe)), dict(_named(second, other, recipe))
    pairs = [Pair(*key[:2], mine.get(key), theirs.get(key)) for key in dict.fromkeys((*mine, *theirs))]
    table = np.zeros((len(OUTCOMES), len(OUTCOMES)), dtype=np.int64)
    for pair in pairs:
        if pair.first is not None and pair.second is not None:
            table[OUTCOMES.index(pair.first.outcome), OUTCOMES.index(pair.second.outcome)] += 1
    kappa, reason = None, ""
    try:
        kappa = cohen_kappa(table)
    except UndefinedStatistic as undefined:
        reason = str(undefined)
    answers, same = (
        _answers(first, of, other, recipe) if first.data.table.slug == second.data.table.slug else (None, None)
    )
    section = of.section
    return Compared(section.key, section.title, section.column.title, pairs, kappa, reason, answers, same)


def _named(verdict: VerdictData, of: SectionItems, recipe: str) -> Iterator[tuple[tuple[str, str, int], Item]]:
    """By recipe, name, and which of that name it is."""
    seen: dict[tuple[str, str], int] = {}
    names: dict[tuple[str, str], str] = {}
    for item in of.items:
        sheet, name = verdict.data.sheets[item.recipe], verdict.data.table.columns[item.column].name
        if recipe and sheet != recipe:
            continue
        key = sheet, name.casefold()
        shown = names.setdefault(key, name.casefold())
        seen[key] = seen.get(key, 0) + 1
        yield (sheet, shown, seen[key]), item


def _answers(verdict: VerdictData, of: SectionItems, other: SectionItems, recipe: str) -> tuple[int, int]:
    """Pairs of answers of two raters to one cell, one of each side, and those that are the same."""
    n = same = 0
    theirs = _by_cell(verdict, other, recipe)
    for cell, mine in _by_cell(verdict, of, recipe).items():
        for (rater, code), (other_rater, other_code) in itertools.product(mine, theirs.get(cell, [])):
            if rater != other_rater or rater == NOBODY:
                n, same = n + 1, same + (code == other_code)
    return n, same


def _by_cell(verdict: VerdictData, of: SectionItems, recipe: str) -> dict[int, list[tuple[int, int]]]:
    """(rater, code) of each answer by its cell, without cells that were not asked. Of several together: `NOBODY`."""
    answers, found = of.voice.answers, defaultdict(list)
    together = of.voice.name in (MAJORITY, *WEIGHED)
    columns = (answers.cell, answers.rater, answers.code, answers.sheet)
    for cell, rater, code, sheet in zip(*(column.tolist() for column in columns), strict=True):
        if code < len(of.data.spec.options) and (not recipe or verdict.data.sheets[sheet] == recipe):
            found[cell].append((NOBODY if together else rater, code))
    return found


# --- as tables --------------------------------------------------------------------------------------------------------


def contents_of(sections: Sequence[Compared], names: tuple[str, str], about: Sequence[tuple[str, str]]) -> Contents:
    parts = [
        ContentsPart(of.key, of.title, 1, (agreement_table(of), cross_table(of, names), _items_table(of, names)))
        for of in sections
    ]
    return Contents(tuple(about), 0, tuple(parts)).rounded


def agreement_table(of: Compared) -> ReportTable:
    only = of.one_sided
    rows: list[tuple[Value, ...]] = [
        (
            _("verdicts of items"),
            of.n,
            of.same / of.n if of.n else None,
            of.kappa,
            *only,
            str(UNDEFINED.get(of.reason, of.reason)) if of.n else _("no item is on both sides"),
        )
    ]
    if of.answers is not None and of.same_answers is not None:
        share = of.same_answers / of.answers if of.answers else None
        rows.append((_("answers, document by document"), of.answers, share, None, None, None, ""))
    return ReportTable(
        key=f"{of.key}.compared",
        about=of.title,
        title=_("Agreement"),
        heads=(
            Head("what", _("Of")),
            Head("n", _("On both sides"), "count"),
            Head("same", _("Percent agreement"), "share"),
            Head("kappa", _("Cohen's κ"), "number"),
            Head("first_only", _("First alone"), "count"),
            Head("second_only", _("Second alone"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_("Items are the same by their dish and name. κ: 1 is full agreement, 0 as chance would give."),
    )


def cross_table(of: Compared, names: tuple[str, str]) -> ReportTable:
    shown = [
        outcome
        for outcome in OUTCOMES
        if any(side and side.outcome == outcome for pair in of.pairs for side in pair.sides)
    ]

    def n(first: Outcome, second: Outcome) -> int:
        return sum(
            pair.first is not None
            and pair.second is not None
            and (pair.first.outcome, pair.second.outcome) == (first, second)
            for pair in of.pairs
        )

    return ReportTable(
        key=f"{of.key}.compared-verdicts",
        about=of.title,
        title=_("The verdict of both"),
        heads=(
            Head("first", names[0]),
            *(Head(str(outcome), str(NAMES[outcome]), "count", names[1]) for outcome in shown),
        ),
        rows=tuple((str(NAMES[first]), *(n(first, second) for second in shown)) for first in shown),
        how=_("How many items have each verdict on the one side and on the other."),
    )


def _items_table(of: Compared, names: tuple[str, str]) -> ReportTable:
    def told(item: Item | None) -> tuple[Value, ...]:
        if item is None:
            return "", None, None, ""
        return str(NAMES[item.outcome]), len(item.exact), len(item.inexact), item.why

    return ReportTable(
        key=f"{of.key}.compared-items",
        about=of.title,
        title=_("Item by item"),
        heads=(
            Head("recipe", _("Dish")),
            Head("item", cap(of.column)),
            *(
                head
                for side, name in zip(("first", "second"), names, strict=True)
                for head in (
                    Head(f"{side}_verdict", _("Verdict"), "note", name),
                    Head(f"{side}_exact", _("exactly"), "count", name),
                    Head(f"{side}_inexact", _("inexactly"), "count", name),
                    Head(f"{side}_reason", _("Reason"), "note", name),
                )
            ),
            Head("alike", _("Same"), "note"),
        ),
        rows=tuple(
            (pair.recipe, pair.name, *told(pair.first), *told(pair.second), _("yes") if pair.alike else _("no"))
            for pair in of.pairs
        ),
        how=_("In how many documents each was found, by each side."),
    )
