"""A verdict as sentences, tables and figures: what the page shows and the downloads hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.scheme.spec import Words
from recipes.cooking.web import optouts
from recipes.memorization.verdict.outcomes import (
    OUTCOMES,
    Curve,
    Group,
    Item,
    Outcome,
    covered,
    curve,
    group,
    groups,
)
from recipes.memorization.verdict.queries import ORIGINS, WHOLE, Examination, SectionItems, VerdictData
from reports.contents import Contents, ContentsPart
from reports.data.arrays import MAJORITY
from reports.figures.base import Figure
from reports.tables import Head, ReportTable, Value
from reports.tables.overview import scheme_of
from reports.words import UNDEFINED, cap, count, heard

NAMES: dict[Outcome, Promise] = {
    Outcome.MEMORISED: gettext_lazy("memorised"),
    Outcome.INEXACT: gettext_lazy("found inexactly"),
    Outcome.CREATIVE: gettext_lazy("creative"),
    Outcome.NONSENSE: gettext_lazy("nonsense"),
    Outcome.UNEXAMINED: gettext_lazy("never found, not examined"),
}
MEANINGS: dict[Outcome, Promise] = {
    Outcome.MEMORISED: gettext_lazy("stands in at least one of the documents in the same words"),
    Outcome.INEXACT: gettext_lazy("stands in at least one of them, but nowhere in the same words"),
    Outcome.CREATIVE: gettext_lazy("stands in none of them, and makes sense"),
    Outcome.NONSENSE: gettext_lazy("stands in none of them, and makes no sense"),
    Outcome.UNEXAMINED: gettext_lazy("stands in none of them; nobody has said whether it makes sense"),
}
ORIGIN_NAMES: dict[str, Promise] = {"generator": gettext_lazy("Generator"), "prompt": gettext_lazy("Prompt")}
_MOST_BARS = 40


@dataclass(frozen=True)
class Told:
    """One section of the page: what is true of it in sentences, and its shares."""

    of: SectionItems
    group: Group
    sentences: tuple[str, ...]


def told(verdict: VerdictData, *, seed: int = 0) -> list[Told]:
    """The sections that have an item with an answer, in sentences."""
    words = verdict.data.scheme.words
    return [
        Told(of, all_items, (*_sentences(of, all_items, words), *_reserved_sentences(verdict, of)))
        for of in verdict.sections
        if of.items
        for all_items in [group("", of.items, seed=seed)]
    ]


def _sentences(of: SectionItems, all_items: Group, words: Words) -> Iterator[str]:
    said = {outcome: all_items.share(outcome).n for outcome in OUTCOMES}
    names = {
        "n": count(all_items.n_items),
        "items": of.section.title.lower(),
        "found": count(said[Outcome.MEMORISED]),
        "share": _per_cent(all_items.share(Outcome.MEMORISED).share),
        "inexact": count(said[Outcome.INEXACT]),
        "never": count(sum(said[outcome] for outcome in OUTCOMES[2:])),
        "rows": words.rows,
        "row": words.row,
    }
    yield (
        _(
            "Of %(n)s %(items)s, %(found)s (%(share)s) stand in at least one %(row)s in the same words: the model may "
            "well have read them there."
        )
        % names
    )
    yield _("In another form only: %(inexact)s. In none of the %(rows)s: %(never)s.") % names
    if said[Outcome.CREATIVE] or said[Outcome.NONSENSE]:
        yield _("Of those in none, %(creative)s: creative, since they make sense; %(nonsense)s: nonsense.") % {
            "creative": count(said[Outcome.CREATIVE]),
            "nonsense": count(said[Outcome.NONSENSE]),
        }
    n_set_off = sum(bool(item.set_off) and not item.exact and not item.inexact for item in of.items)
    if n_set_off:
        yield ngettext(
            "Of those in none, %(n)s was answered %(options)s in a %(row)s, which counts as not found.",
            "Of those in none, %(n)s were answered %(options)s in a %(row)s, which counts as not found.",
            n_set_off,
        ) % {"n": count(n_set_off), "options": " / ".join(f"“{label}”" for label in of.set_off), "row": words.row}
    if said[Outcome.UNEXAMINED]:
        yield ngettext(
            "Whether it makes sense nobody has said yet of %(n)s of them: it may be creative or nonsense.",
            "Whether they make sense nobody has said yet of %(n)s of them: they may be creative or nonsense.",
            said[Outcome.UNEXAMINED],
        ) % {"n": count(said[Outcome.UNEXAMINED])}
    shares = curve(of.items)
    if (end := _end_of(shares)) > 0:
        first, last = (_per_cent(shares.shares[0, place]) for place in (0, end))
        yield _(
            "A single %(row)s has %(first)s of them in the same words, %(n)s together have %(last)s. Who looks at "
            "more %(rows)s finds more: “in none” means in none of these."
        ) % {"row": words.row, "rows": words.rows, "first": first, "last": last, "n": count(end + 1)}
    if all_items.n_found_nonsense:
        yield ngettext(
            "%(n)s item was called nonsense although it stands in a document.",
            "%(n)s items were called nonsense although they stand in a document.",
            all_items.n_found_nonsense,
        ) % {"n": count(all_items.n_found_nonsense)}
    if of.n_open:
        yield ngettext(
            "%(n)s item has no answer yet and is left out.",
            "%(n)s items have no answer yet and are left out.",
            of.n_open,
        ) % {"n": count(of.n_open)}


def _reserved_sentences(verdict: VerdictData, of: SectionItems) -> Iterator[str]:
    """What an opt-out covers: potential plagiarism hangs on it (the paper's footnote 1)."""
    if verdict.reserved and (found := covered(of.items, Outcome.MEMORISED, verdict.reserved)).n:
        yield ngettext(
            "Sites have reserved %(documents)s of the %(rows)s against use by such programs: of the memorised, %(n)s "
            "stands in those alone, and %(too)s in those and in others.",
            "Sites have reserved %(documents)s of the %(rows)s against use by such programs: of the memorised, %(n)s "
            "stand in those alone, and %(too)s in those and in others.",
            found.alone,
        ) % {
            "documents": count(len(verdict.reserved)),
            "rows": verdict.data.scheme.words.rows,
            "n": count(found.alone),
            "too": count(found.too),
        }


def closest_sentence(verdict: VerdictData) -> str:
    """Which recipe a single document comes closest to; nothing where no document has anything of one."""
    if not verdict.closest:
        return ""
    most = max(verdict.closest, key=lambda each: each.mean)
    words, table = verdict.data.scheme.words, verdict.data.table
    shares = [
        _("%(share)s of “%(section)s”") % {"share": _per_cent(share), "section": of.section.title}
        for of, share in zip(verdict.filled, most.somehow, strict=True)
        if share is not None
    ]
    return _(
        "“%(sheet)s” comes closest to a single %(row)s: what %(name)s alone has of it, in some form, is %(shares)s."
    ) % {
        "row": words.row,
        "sheet": table.sheets[most.recipe],
        "name": table.rows[most.rows[0]].name,
        "shares": ", ".join(shares),
    }


def _end_of(shares: Curve) -> int:
    """The last place of a curve that still rests on all items: what has fewer documents drops out behind it, and the
    shares there are of other items."""
    return int((shares.n_items == shares.n_items[0]).sum()) - 1 if shares.n_items.size else 0


def _per_cent(share: float) -> str:
    return _("%(n).0f %%") % {"n": 100 * share}


# --- tables and figures -----------------------------------------------------------------------------------------------


def contents_of(verdict: VerdictData, *, seed: int = 0) -> Contents:
    """All tables and figures, numbers as a report keeps them."""
    parts = [
        ContentsPart(
            of.section.key,
            of.section.title,
            1,
            tuple(_tables(verdict, of, seed)),
            tuple(_figures(verdict, of, seed)),
        )
        for of in verdict.sections
        if of.items
    ]
    words = verdict.data.scheme.words
    tables = [_single(verdict)] if verdict.closest else []
    if verdict.examination and verdict.examination.whole:
        tables.append(_whole(verdict.examination, words))
    if tables:
        parts.append(ContentsPart(WHOLE, cap(words.sheets), 1, tuple(tables), ()))
    return Contents(tuple(_about(verdict)), verdict.data.n_labels, tuple(parts)).rounded


def _about(verdict: VerdictData) -> Iterator[tuple[str, str]]:
    data = verdict.data
    yield _("Study"), data.table.title
    yield _("Scheme"), scheme_of(data.scheme)
    if data.simulated:
        yield _("Simulated raters"), ", ".join(rater.code for rater in data.simulated)
    if verdict.sections:
        yield _("Found, as answered by"), heard(verdict.sections[0].voice)
    if verdict.examination:
        yield _("Nonsense, as said in"), verdict.examination.title


def _groupings(verdict: VerdictData, of: SectionItems, seed: int) -> Iterator[tuple[str, str, list[Group]]]:
    """Key, name and groups of each way to tell the items apart."""
    by_recipe = groups(of.items, partial(_word, verdict.data.sheets), seed=seed)
    yield "recipe", cap(verdict.data.scheme.words.sheet), by_recipe
    for origin in ORIGINS:
        if any(of_recipe.words.get(origin) for of_recipe in verdict.origins):
            words = [of_recipe.words.get(origin, "–") for of_recipe in verdict.origins]
            found = groups(of.items, partial(_word, words), seed=seed)
            yield origin, str(ORIGIN_NAMES[origin]), found


def _word(words: Sequence[str], item: Item) -> str:
    return words[item.recipe]


def _tables(verdict: VerdictData, of: SectionItems, seed: int) -> Iterator[ReportTable]:
    words, all_items = verdict.data.scheme.words, group("", of.items, seed=seed)
    interval = _("95 % interval")
    yield ReportTable(
        key=f"{of.section.key}.verdict",
        about=of.section.title,
        title=_("The verdict"),
        heads=(
            Head("verdict", _("Verdict")),
            Head("items", _("Items"), "count"),
            Head("share", _("Share"), "share"),
            Head("low", _("from"), "share", interval),
            Head("high", _("to"), "share", interval),
            Head("meaning", _("It"), "note"),
        ),
        rows=tuple(
            (str(NAMES[of_all.outcome]), of_all.n, of_all.share, of_all.low, of_all.high, str(MEANINGS[of_all.outcome]))
            for of_all in all_items.shares
            if of_all.n or of_all.outcome != Outcome.UNEXAMINED
        ),
        how=_how(all_items, words),
    )
    for key, name, found in _groupings(verdict, of, seed):
        yield _by(of, key, name, found, words)
    yield _by_documents(of, words)
    if verdict.reserved:
        yield _covered(verdict, of)
    yield _items(verdict, of)


def _how(all_items: Group, words: Words) -> str:
    said = _("Found exactly and inexactly are as the annotation says; documents come before sense.")
    if all_items.n_recipes == 1:
        return (
            said
            + " "
            + _("Intervals: Wilson, as if the items of the one %(sheet)s were independent.") % {"sheet": words.sheet}
        )
    if all_items.interval:
        because = str(UNDEFINED.get(all_items.interval, all_items.interval))
        return (
            said
            + " "
            + _("No intervals: %(because)s (%(n)s %(sheets)s).")
            % {
                "because": because,
                "n": count(all_items.n_recipes),
                "sheets": words.sheets,
            }
        )
    return (
        said
        + " "
        + _("Intervals: %(n)s %(sheets)s drawn again and again, since the items of one are alike.")
        % {
            "n": count(all_items.n_recipes),
            "sheets": words.sheets,
        }
    )


def _by(of: SectionItems, key: str, name: str, found: Sequence[Group], words: Words) -> ReportTable:
    shown = [outcome for outcome in OUTCOMES if any(each.share(outcome).n for each in found)]
    rows: list[tuple[Value, ...]] = []
    for each in found:
        row: list[Value] = [each.name, each.n_recipes, each.n_items]
        for outcome in shown:
            share = each.share(outcome)
            row += [share.share, share.low, share.high]
        rows.append((*row, str(UNDEFINED.get(each.interval, each.interval))))
    return ReportTable(
        key=f"{of.section.key}.verdict-by-{key}",
        about=of.section.title,
        title=_("By %(what)s") % {"what": name[:1].lower() + name[1:]},
        heads=(
            Head("name", name),
            Head("recipes", cap(words.sheets), "count"),
            Head("items", _("Items"), "count"),
            *(
                head
                for outcome in shown
                for head in (
                    Head(f"{outcome}", _("Share"), "share", str(NAMES[outcome])),
                    Head(f"{outcome}_low", _("from"), "share", str(NAMES[outcome])),
                    Head(f"{outcome}_high", _("to"), "share", str(NAMES[outcome])),
                )
            ),
            Head("because", _("No interval because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "95 %% intervals. Of several %(sheets)s they are drawn again and again, ten at least; of a single one they "
            "are Wilson's, as if its items were independent."
        )
        % {"sheets": words.sheets},
        folded=len(rows) > 8,
    )


def _by_documents(of: SectionItems, words: Words) -> ReportTable:
    shares = curve(of.items)
    return ReportTable(
        key=f"{of.section.key}.verdict-by-documents",
        about=of.section.title,
        title=_("By the number of %(rows)s") % {"rows": words.rows},
        heads=(
            Head("documents", cap(words.rows), "count"),
            *(Head(f"{outcome}", cap(str(NAMES[outcome])), "share") for outcome in OUTCOMES),
            Head("items", _("Items"), "count"),
        ),
        rows=tuple(
            (place + 1, *shares.shares[:, place].tolist(), int(shares.n_items[place]))
            for place in range(shares.n_items.size)
        ),
        how=_("What to expect of n %(rows)s drawn from those of the %(sheet)s, exactly (hypergeometric).")
        % {"rows": words.rows, "sheet": words.sheet},
        folded=True,
    )


def _covered(verdict: VerdictData, of: SectionItems) -> ReportTable:
    words, found = verdict.data.scheme.words, (Outcome.MEMORISED, Outcome.INEXACT)
    by_kind = {_("any of these"): set(verdict.reserved)}
    for kind, said in optouts.KINDS.items():
        if of_kind := {row for row, kinds in verdict.reserved.items() if kind in kinds}:
            by_kind[str(_(said))] = of_kind
    rows: list[tuple[Value, ...]] = []
    for name, reserved in by_kind.items():
        row: list[Value] = [name, len(reserved)]
        for outcome in found:
            of_outcome = covered(of.items, outcome, reserved)
            row += [of_outcome.alone, of_outcome.too, of_outcome.n - of_outcome.alone - of_outcome.too]
        rows.append(tuple(row))
    return ReportTable(
        key=f"{of.section.key}.verdict-reserved",
        about=of.section.title,
        title=_("What an opt-out covers"),
        heads=(
            Head("kind", _("What its site says")),
            Head("documents", cap(words.rows), "count"),
            *(
                head
                for outcome in found
                for head in (
                    Head(f"{outcome}_alone", _("in these alone"), "count", cap(str(NAMES[outcome]))),
                    Head(f"{outcome}_too", _("in these and others"), "count", cap(str(NAMES[outcome]))),
                    Head(f"{outcome}_others", _("in others alone"), "count", cap(str(NAMES[outcome]))),
                )
            ),
        ),
        rows=tuple(rows),
        how=_(
            "Items by the %(rows)s that have them, as they were reserved when they were fetched: of saved %(rows)s "
            "nothing is known, and they count as others. That none is found does not say that none was meant."
        )
        % {"rows": words.rows},
    )


def _items(verdict: VerdictData, of: SectionItems) -> ReportTable:
    table, words = verdict.data.table, verdict.data.scheme.words
    origins = [key for key in ORIGINS if any(each.words.get(key) for each in verdict.origins)]
    senses = {True: _("sensible"), False: _("nonsense"), None: ""}
    return ReportTable(
        key=f"{of.section.key}.verdict-items",
        about=of.section.title,
        title=_("Each item"),
        heads=(
            Head("recipe", cap(words.sheet)),
            Head("item", of.section.column.title),
            Head("verdict", _("Verdict")),
            Head("exact", _("exactly"), "count", cap(words.rows)),
            Head("inexact", _("inexactly"), "count", cap(words.rows)),
            Head("documents", _("looked at"), "count", cap(words.rows)),
            Head("sense", _("Examined"), "note"),
            Head("reason", _("Reason"), "note"),
            *(Head(key, str(ORIGIN_NAMES[key]), "note") for key in origins),
        ),
        rows=tuple(
            (
                table.sheets[item.recipe],
                table.columns[item.column].name,
                str(NAMES[item.outcome]),
                len(item.exact),
                len(item.inexact),
                item.n_documents,
                senses[item.sensible],
                item.reason,
                *(verdict.origins[item.recipe].words.get(key, "") for key in origins),
            )
            for item in of.items
        ),
        how=_("In how many %(rows)s it stands in the same words, and in how many only in another form.")
        % {"rows": words.rows},
        folded=True,
    )


def _single(verdict: VerdictData) -> ReportTable:
    """The paper's potential plagiarism (its footnote 1): ingredients and steps closely matching one that is public."""
    table, words = verdict.data.table, verdict.data.scheme.words
    rows: list[tuple[Value, ...]] = []
    for each in verdict.closest:
        row: list[Value] = [table.sheets[each.recipe], ", ".join(table.rows[at].name for at in each.rows)]
        for exact, somehow in zip(each.exact, each.somehow, strict=True):
            row += [exact, somehow]
        if verdict.reserved:
            kinds = {kind for at in each.rows for kind in verdict.reserved.get(at, ())}
            row.append("; ".join(str(_(said)) for kind, said in optouts.KINDS.items() if kind in kinds))
        rows.append(tuple(row))
    return ReportTable(
        key=f"{WHOLE}.closest",
        about="",
        title=_("The %(row)s that comes closest to each %(sheet)s") % {"row": words.row, "sheet": words.sheet},
        heads=(
            Head("recipe", cap(words.sheet)),
            Head("document", cap(words.row)),
            *(
                head
                for of in verdict.filled
                for head in (
                    Head(f"{of.section.key}_exact", _("in the same words"), "share", of.section.title),
                    Head(f"{of.section.key}_somehow", _("in any form"), "share", of.section.title),
                )
            ),
            *((Head("reserved", _("What its site says"), "note"),) if verdict.reserved else ()),
        ),
        rows=tuple(rows),
        how=_(
            "How much of a %(sheet)s one %(row)s alone has: the one with most of it in any form, sections counting "
            "alike; of several with as much all are named. The memorization paper calls a recipe potential plagiarism "
            "where its ingredients and steps closely match one that is public; how close that is, it does not say."
        )
        % {"sheet": words.sheet, "row": words.row},
    )


def _whole(examination: Examination, words: Words) -> ReportTable:
    senses = {True: _("sensible"), False: _("nonsense")}
    return ReportTable(
        key=f"{WHOLE}.sense",
        about="",
        title=_("Each %(sheet)s as a whole") % {"sheet": words.sheet},
        heads=(Head("recipe", cap(words.sheet)), Head("sense", _("Examined")), Head("reason", _("Reason"), "note")),
        rows=tuple((sheet, senses[sense], reason) for sheet, (sense, reason) in sorted(examination.whole.items())),
        how=_("As said in “%(study)s”. The verdicts of its parts do not depend on it.") % {"study": examination.title},
    )


def _figures(verdict: VerdictData, of: SectionItems, seed: int) -> Iterator[Figure]:
    words, shares = verdict.data.scheme.words, curve(of.items)
    shown = [place for place, outcome in enumerate(OUTCOMES) if shares.shares[place].any()]
    voice = heard(of.voice) if of.voice.rater or of.voice.name == MAJORITY else _("anybody")
    if shares.n_items.size > 1:
        yield Figure(
            key=f"{of.section.key}.verdict-documents",
            kind="areas",
            about=of.section.title,
            title=_("The verdict, by the number of %(rows)s") % {"rows": words.rows},
            data={
                "parts": [
                    {"name": str(NAMES[OUTCOMES[place]]), "values": shares.shares[place].tolist()} for place in shown
                ],
                "x_title": cap(words.rows),
                "y_title": _("Share of items"),
            },
            how=_(
                "What to expect of n %(rows)s drawn from those of the %(sheet)s. Found means found by %(voice)s. "
                "Rests on %(n)s items."
            )
            % {"rows": words.rows, "sheet": words.sheet, "voice": voice, "n": count(len(of.items))},
            alt=_("With one %(row)s %(first)s are memorised, with %(n)s %(last)s.")
            % {
                "row": words.row,
                "first": _per_cent(shares.shares[0, 0]),
                "last": _per_cent(shares.shares[0, _end_of(shares)]),
                "n": count(_end_of(shares) + 1),
            },
        )
    for key, name, found in _groupings(verdict, of, seed):
        if 1 < len(found) <= _MOST_BARS:
            yield Figure(
                key=f"{of.section.key}.verdict-{key}",
                kind="bars",
                about=of.section.title,
                title=_("The verdict, by %(what)s") % {"what": name[:1].lower() + name[1:]},
                data={
                    "names": [each.name for each in found],
                    "parts": [
                        {
                            "name": str(NAMES[OUTCOMES[place]]),
                            "values": [each.shares[place].share for each in found],
                        }
                        for place in shown
                    ],
                    "x_title": _("Share of items"),
                },
                how=_("A line each; its parts are the shares of its items. Rests on %(n)s items.")
                % {"n": count(len(of.items))},
                alt=_("Bars of %(n)s: %(names)s.")
                % {"n": count(len(found)), "names": ", ".join(each.name for each in found)},
            )
