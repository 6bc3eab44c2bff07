"""Texts of several systems become pairs of which people and judges choose the better one. Pure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.deriving import blinding
from annotation.deriving.making import DerivingRefused, MadeRow, MadeSheet, Setting, Settings, Source, SourceRow
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.evidence.lines import paragraphs_of
from annotation.scheme.spec import ComparisonSpec, SchemeSpec
from base.sentences import gettext as _
from recipes.benchmark.deriver import n_words

TEXTS, SCHEME = "system-texts", "text-pairs"
OF_ROWS, OF_WRITTEN = "text-pairs", "written-pairs"
GIVEN = "asked"  # the kind of block that has what was asked, where the rows of texts have it
ALL, NONE, SHEET = "all", "none", "sheet"
PROMPT, ASKED = "prompt", "What was asked"  # the kind of evidence where a scheme has it, else the heading
NO_TEXT = "(no text)"  # what stands for a text that is empty
_NUMBERS = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class _Text:
    system: str
    blocks: Sequence[Block]
    row: SourceRow

    @property
    def words(self) -> int:
        return sum(n_words(block.text) for block in self.blocks)


@dataclass(frozen=True)
class _Item:
    """What texts were written for. `title`: what may be shown of it where nothing stands above the texts; `asked`: what
    stands above these two."""

    name: str
    title: str
    texts: Sequence[_Text]
    asked: Callable[[Sequence[_Text]], Sequence[Block]]


def of_rows(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Rows that are texts become pairs: of each two systems their texts for the same item.

    `settings["who"]`: the facet of rows that says who wrote a text; `settings["same"]`: the one that says what for, or
    “sheet” where all texts of a sheet belong together; `settings["asked"]`: the one that is shown above them, unless
    rows have blocks of the kind “asked”, which keep their lines. In a benchmark all three are known. Rows that do not
    say who wrote them, or what for, are left out. See `_paired`.
    """
    of = source.scheme.benchmark
    who = of.generator if of else _one(settings, "who", "")
    same = of.instruction if of else tuple(key for key in (_one(settings, "same", SHEET),) if key != SHEET)
    asked = of.instruction if of else tuple(key for key in (_one(settings, "asked", NONE),) if key != NONE)
    if not who or who in same:
        raise DerivingRefused(_("Choose the facet that says who wrote a text, and another one that says what for."))
    if who in asked:
        raise DerivingRefused(_("Shown above both must not be who wrote them."))
    titles = {facet.key: facet.name for facet in source.scheme.row.facets}
    shown = {facet.key for facet in source.scheme.row.shown}

    def asked_of(texts: Sequence[_Text]) -> Sequence[Block]:
        own = ([block for block in text.row.evidence if block.kind == GIVEN] for text in texts)
        return next(filter(None, own), None) or _asked([text.row for text in texts], asked, titles)

    found: dict[str, list[_Item]] = {}
    for sheet in source.sheets:
        texts: dict[tuple[str, ...], list[_Text]] = {}
        for row in sheet.rows:
            key = tuple(row.facets.get(facet, "") for facet in same)
            if (system := row.facets.get(who, "").strip()) and (any(key) or not same):
                body = [block for block in row.evidence if block.kind != GIVEN]
                texts.setdefault(key, []).append(_Text(system, _body(body), row))
        found[sheet.title] = [
            _Item(
                " · ".join(key) if same else sheet.title,
                " · ".join(said for facet, said in zip(same, key, strict=True) if facet in shown),
                of_item,
                asked_of,
            )
            for key, of_item in texts.items()
        ]
    return _paired(found, scheme, settings)


def of_written(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """What models wrote for the same row becomes pairs; of each model the text that it wrote last. See `_paired`."""
    titles = {facet.key: facet.name for facet in source.scheme.row.facets}
    shown = [facet.key for facet in source.scheme.row.shown]
    called = Counter(row.title or row.name for sheet in source.sheets for row in sheet.rows)
    found = {
        sheet.title: [
            _Item(
                _told_apart(row.title or row.name, sheet.title, called),
                row.title or row.name,
                [
                    _Text(system, paragraphs_of(text.text), row)
                    for system, text in {text.generator: text for text in row.texts if text.text.strip()}.items()
                ],
                lambda texts: _of_row(texts[0].row, shown, titles),
            )
            for row in sheet.rows
        ]
        for sheet in source.sheets
    }
    return _paired(found, scheme, settings)


def _told_apart(name: str, sheet: str, called: Mapping[str, int]) -> str:
    """What a row is called among those of all sheets: rows of two sheets that have the same number are two items."""
    return f"{sheet} · {name}" if called[name] > 1 else name


def _paired(found: Mapping[str, Sequence[_Item]], scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """A row for each two systems that wrote for an item, both texts side by side.

    Which of them stands left is drawn by `settings["seed"]`, and so is the order of the pairs of an item, and which of
    them are taken where `settings["pairs"]` wants only so many of each. `settings["beside"]`: the one system that all
    others are held against. Who stands where, and how long it is, is in the facets that the scheme's `comparison`
    names."""
    of = scheme.comparison
    if of is None:
        raise DerivingRefused(_("The new scheme has no key “comparison”, which says what is chosen between."))
    blinding.refuse_shown(scheme, of.systems)
    seed, beside, most = blinding.seed_of(settings), _one(settings, "beside", ""), _one(settings, "pairs", ALL)
    if most != ALL and not (most.isdecimal() and 0 < len(most) < 10 and int(most)):
        raise DerivingRefused(_("“%(n)s” is no number of pairs.") % {"n": most})
    systems = {text.system for items in found.values() for item in items for text in item.texts}
    if beside and beside not in systems:
        raise DerivingRefused(
            _("Nothing here was written by “%(system)s”. There are: %(systems)s.")
            % {"system": beside, "systems": ", ".join(sorted(systems)) or "–"}
        )
    n_made = 0
    for title, items in found.items():
        rows: list[MadeRow] = []
        for number, item in enumerate(items, start=1):
            name = f"{title}:{number}:{item.name}"
            couples = _couples(item.texts, beside)
            drawn = blinding.drawn(((f"{name}:{_named(couple)}", couple) for couple in couples), seed=seed)
            kept = drawn if most == ALL else drawn[: int(most)]
            for place, couple in enumerate(kept, start=1):
                sides = blinding.drawn(((f"{name}:{_named(couple)}:{text.system}", text) for text in couple), seed=seed)
                called = str(number) if len(kept) == 1 else f"{number}.{place}"
                rows.append(_row(called, item, sides, scheme, of))
        if rows:
            n_made += len(rows)
            yield MadeSheet(title, rows=rows)
    if not n_made:
        raise DerivingRefused(_("No two systems have written for the same item."))


def _couples(texts: Sequence[_Text], beside: str) -> list[tuple[_Text, _Text]]:
    """Of each two systems the texts that stand first, unless both are empty; in the order of the systems' names, which
    says nothing."""
    first = {text.system: text for text in reversed(texts)}
    return [
        (first[a], first[b])
        for a, b in itertools.combinations(sorted(first), 2)
        if (not beside or beside in (a, b)) and (first[a].blocks or first[b].blocks)
    ]


def _named(couple: Iterable[_Text]) -> str:
    return ":".join(sorted(text.system for text in couple))


def _row(
    called: str,
    item: _Item,
    sides: Sequence[_Text],
    scheme: SchemeSpec,
    of: ComparisonSpec,
) -> MadeRow:
    kinds = {block.key for block in scheme.blocks}
    asked = item.asked(sides)
    blocks = _of_kind(PROMPT, ASKED, asked, kinds)
    for (key, label), text in zip(scheme.sides, sides, strict=True):
        blocks += _of_kind(key, label, text.blocks or [Block(PARAGRAPH, NO_TEXT)], kinds)
    languages = {text.row.language for text in sides}
    facets = {key: said for key, said in sides[0].row.facets.items() if _is_of_both(key, sides, scheme)}
    facets |= dict(zip(of.systems, (text.system for text in sides), strict=True))
    if of.item:
        facets[of.item] = item.name
    if of.words:
        facets |= dict(zip(of.words, (str(text.words) for text in sides), strict=True))
    return MadeRow(
        name=called,
        title="" if asked else item.title,
        language=languages.pop() if len(languages) == 1 else "",
        evidence=blocks,
        facets=facets,
        of=min(sides, key=lambda text: text.system).row.number,
    )


def _is_of_both(facet: str, sides: Sequence[_Text], scheme: SchemeSpec) -> bool:
    """A facet of the new scheme's rows that says the same of both texts."""
    said = {text.row.facets.get(facet, "") for text in sides}
    return facet in scheme.row.keys and len(said) == 1


def _of_kind(key: str, heading: str, blocks: Sequence[Block], kinds: Collection[str]) -> list[Block]:
    """Blocks as evidence of a kind that the scheme has, else below a heading."""
    if not blocks:
        return []
    return [Block(key, block.text) for block in blocks] if key in kinds else [Block(HEADING, heading), *blocks]


def _one(settings: Settings, key: str, otherwise: str) -> str:
    return next(iter(settings.get(key, ())), otherwise)


# --- what is shown ----------------------------------------------------------------------------------------------------


def _asked(rows: Sequence[SourceRow], facets: Sequence[str], titles: Mapping[str, str]) -> list[Block]:
    """What these facets say, those in which the rows are alike: another one would be of one text alone."""
    words = {facet: {row.facets.get(facet, "") for row in rows} for facet in facets}
    said = [(titles[facet], of.pop()) for facet, of in words.items() if len(of) == 1 and any(of)]
    lines = [said[0][1]] if len(said) == 1 else [f"{title}: {words}" for title, words in said]
    return [Block(PARAGRAPH, line) for line in lines]


def _of_row(row: SourceRow, facets: Sequence[str], titles: Mapping[str, str]) -> list[Block]:
    """What a row says to whoever writes for it: its text, else its facets, else its name."""
    return _body(row.evidence) or _asked([row], facets, titles) or [Block(PARAGRAPH, row.title or row.name)]


def _body(blocks: Sequence[Block]) -> list[Block]:
    """A text's own headings are paragraphs: a heading begins the text of the other side."""
    return [Block(PARAGRAPH, block.text) if block.kind == HEADING else block for block in blocks]


# --- settings ---------------------------------------------------------------------------------------------------------


def has_texts(scheme: SchemeSpec) -> bool:
    """Its rows can say who wrote them without telling it to raters."""
    return scheme.comparison is None and any(facet.hidden for facet in scheme.row.facets)


def rows_ask(scheme: SchemeSpec) -> Sequence[Setting]:
    """What is likely comes first: a hidden facet says who wrote a text, one that is shown what for."""
    if scheme.benchmark is not None:
        return (_pairs(),)
    shown = [(facet.key, facet.name) for facet in scheme.row.shown]
    hidden = [(facet.key, facet.name) for facet in scheme.row.facets if facet.hidden]
    same = [(key, _("have the same “%(facet)s”") % {"facet": name}) for key, name in [*shown, *hidden]]
    of_sheet, nothing = (SHEET, _("are those of a sheet")), (NONE, _("nothing"))
    return (
        Setting("who", _("Who wrote a text"), [*hidden, *shown], help=_("The facet of rows that names the system.")),
        Setting(
            "same",
            _("Texts for the same item"),
            [*same[: len(shown)], of_sheet, *same[len(shown) :]],
            help=_("Of each two systems, their texts for the same item stand side by side."),
        ),
        Setting(
            "asked",
            _("Shown above both"),
            [*shown, nothing, *hidden],
            help=_("What the texts were written for, such as the prompt."),
        ),
        _pairs(),
    )


def written_ask(scheme: SchemeSpec) -> Sequence[Setting]:
    return (_pairs(),)


def _pairs() -> Setting:
    return Setting(
        "pairs",
        _("Pairs of an item"),
        [(ALL, _("each two systems")), *((str(n), _("%(n)s, drawn") % {"n": n}) for n in _NUMBERS)],
    )
