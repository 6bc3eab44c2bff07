"""Between this pack's studies: atomic instructions become the lines of tables; two raters' tables are judged. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from annotation.deriving import blinding
from annotation.deriving.making import (
    Answered,
    DerivingRefused,
    Given,
    MadeColumn,
    MadeRow,
    MadeSheet,
    Setting,
    Settings,
    Source,
    SourceRow,
    SourceSheet,
)
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.scheme.spec import SchemeSpec
from base.sentences import gettext as _
from recipes.cooking.vocabulary import STEP
from recipes.pizza_commonsense import pairs

SYSTEMS = "pizza-systems"
PARTS = "instructions.parts"
SIDES = ("Left", "Right")
CELLS = ("input", "output")
ALL = "all"
COUNT, DROP = "count", "drop"  # what becomes of lines that one of both left out


# --- split instructions become tables ---------------------------------------------------------------------------------


def atomic_instructions(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each recipe becomes a table: the lines of the chosen answers to “atomic instructions” are its instructions.

    A long instruction that nobody has split becomes a line as it is; one answered with a hyphen becomes none.
    """
    section = next((one for one in scheme.sections if "instruction" in one.column.facets), None)
    if section is None:
        raise DerivingRefused(_("The new scheme has no section whose lines are instructions."))
    if not any(row.of(PARTS) for sheet in source.sheets for row in sheet.rows):
        raise DerivingRefused(_("No instruction has been split yet: there is no chosen answer."))
    for sheet in source.sheets:
        for row in sheet.rows:
            columns = list(_lines(sheet, row, section.key))
            if columns:
                yield MadeSheet(sheet.title, columns, [_same(row, scheme)])


def _lines(sheet: SourceSheet, row: SourceRow, section: str) -> Iterator[MadeColumn]:
    said: Mapping[int, Answered] = {answer.column: answer for answer in row.of(PARTS)}
    for column in sheet.columns:
        answer = said.get(column.number)
        text = _text(answer.code) if answer else column.facets.get("instruction", "")
        for line in text.splitlines():
            if line.strip() and line.strip() != "-":
                yield MadeColumn(section, {"instruction": line.strip()}, [answer] if answer else [])


def _same(row: SourceRow, scheme: SchemeSpec) -> MadeRow:
    facets = {key: said for key, said in row.facets.items() if key in scheme.row.keys}
    return MadeRow(row.name, row.title, row.url, row.language, row.evidence, facets, of=row.number)


def _text(code: str) -> str:
    said = json.loads(code[1:]) if code.startswith(":") else code
    return said if isinstance(said, str) else ""


# --- two systems side by side -----------------------------------------------------------------------------------------


_Couple = tuple[str, str]  # two raters
_Line = Mapping[str, Mapping[str, Given]]  # rater -> question -> what it says


def has_tables(scheme: SchemeSpec) -> bool:
    """Its lines are instructions with what goes in and what comes out."""
    return any({"input", "output"} <= {question.key for question in one.questions} for one in scheme.sections)


def two_systems(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each line that two raters answered becomes a row, with their input and output side by side. Of more than two, one
    of whom is the gold, each other one stands beside it, in a row of its own for each line.

    A line that one of them left out, in a table of which it has others, is a row with nothing on its side; where
    `settings["open"]` says so, it is none.
    Which of them stands left is drawn for each row by `settings["seed"]`, and so are the lines where
    `settings["lines"]` wants only so many, the same of each two. Who stands where is in the facet `systems`, left
    first; what each wrote in `left` and `right`; and what gold has there in `gold`, whose code is in `reference`. All
    of them have to be hidden from raters, and those that a scheme has not are left out."""
    couples = _couples(source, list(dict.fromkeys(settings.get("systems", ()))))
    blinding.refuse_shown(scheme, ["systems", "left", "right", "reference", "gold"])
    if missing := [key for key in ("side", "better") if key not in {section.key for section in scheme.sections}]:
        raise DerivingRefused(_("The new scheme has no section “%(section)s”.") % {"section": missing[0]})
    seed = blinding.seed_of(settings)
    wanting = next(iter(settings.get("open", ())), COUNT) != DROP
    found: dict[tuple[int, int], dict[_Couple, _Line]] = {}
    for place, sheet in enumerate(source.sheets):
        for row in sheet.rows:
            asked = [couple for couple in couples if _both_answered(row, couple)]
            for column in sheet.columns:
                lines = {couple: _line(row, column.number, couple, wanting=wanting) for couple in asked}
                if kept_lines := {couple: line for couple, line in lines.items() if line is not None}:
                    found[place, column.number] = kept_lines
    wanted = next(iter(settings.get("lines", ())), ALL)
    if wanted != ALL and not (wanted.isdecimal() and len(wanted) < 19):
        raise DerivingRefused(_("“%(n)s” is no number of lines.") % {"n": wanted})
    order = blinding.drawn(((f"{source.sheets[p].title}:{c}", (p, c)) for p, c in found), seed=seed)
    kept = set(order if wanted == ALL else order[: int(wanted)])
    if not kept:
        raise DerivingRefused(_("There is no line of a table that both have answered."))
    for place, sheet in enumerate(source.sheets):
        rows = [
            made
            for row in sheet.rows
            for number, column in enumerate(sheet.columns, start=1)
            if (place, column.number) in kept
            for made in _of_line(sheet, row, number, found[place, column.number], seed, scheme, len(couples) > 1)
        ]
        if rows:
            yield MadeSheet(sheet.title, _columns(scheme), rows)


def _couples(source: Source, systems: Sequence[str]) -> list[_Couple]:
    """Who stands beside whom."""
    if len(systems) < 2:
        raise DerivingRefused(_("Choose the two whose tables are compared."))
    if len(systems) == 2:
        return [(systems[0], systems[1])]
    every = (given for sheet in source.sheets for row in sheet.rows for given in row.given)
    golds = {given.rater for given in every if given.rater in systems and given.choice.votes[0].kind == "gold"}
    if len(golds) != 1:
        raise DerivingRefused(_("Of more than two one has to be the gold, beside which each of the others stands."))
    (gold,) = golds
    return [(gold, system) for system in systems if system != gold]


def _of_line(
    sheet: SourceSheet,
    row: SourceRow,
    number: int,
    lines: Mapping[_Couple, _Line],
    seed: str,
    scheme: SchemeSpec,
    several: bool,
) -> Iterator[MadeRow]:
    """The rows of a line; of several the order is drawn, so that a number tells nobody who stands there."""
    if not several:
        for couple, line in lines.items():
            yield _beside(sheet, row, number, line, couple, seed, scheme)
        return
    name = f"{sheet.title}:{row.name}:{number}"
    drawn = blinding.drawn(((f"{name}:row:{couple[1]}", couple) for couple in lines), seed=seed)
    for place, couple in enumerate(drawn, start=1):
        yield _beside(sheet, row, number, lines[couple], couple, seed, scheme, among=f".{place}")


def _columns(scheme: SchemeSpec) -> list[MadeColumn]:
    facet = scheme.section("side").column.facets[0]
    pair = scheme.section("better").column.facets[0]
    return [*(MadeColumn("side", {facet: side}) for side in SIDES), MadeColumn("better", {pair: " or ".join(SIDES)})]


def _both_answered(row: SourceRow, couple: _Couple) -> bool:
    """Whether each of them answered something of the table."""
    return set(couple) <= {given.rater for given in row.given if given.question in CELLS}


def _line(row: SourceRow, column: int, systems: Sequence[str], *, wanting: bool) -> _Line | None:
    said: dict[str, dict[str, Given]] = {system: {} for system in systems}
    for given in row.given:
        if given.column == column and given.rater in said and given.question in CELLS:
            said[given.rater][given.question] = given
    kept = any(said.values()) if wanting else bool(said) and all(said.values())
    return said if kept else None


def _beside(
    sheet: SourceSheet,
    row: SourceRow,
    number: int,
    line: _Line,
    systems: _Couple,
    seed: str,
    scheme: SchemeSpec,
    *,
    among: str = "",
) -> MadeRow:
    """`among`: which of the rows of a line, where it has several."""
    name = f"{sheet.title}:{row.name}:{number}" + (f":{systems[1]}" if among else "")
    order = blinding.drawn(((f"{name}:{system}", system) for system in sorted(systems)), seed=seed)
    column = sheet.columns[number - 1]
    blocks = []
    for side, system in zip(SIDES, order, strict=True):
        blocks.append(Block(HEADING, side))
        blocks += [
            Block(PARAGRAPH, f"{question.capitalize()}: {_said(line[system], question) or '–'}") for question in CELLS
        ]
    blocks.append(Block(HEADING, "The recipe up to here"))
    blocks += [Block(STEP, one.facets.get("instruction", "")) for one in sheet.columns[:number]]
    instruction = column.facets.get("instruction", "")
    answers = [
        Answered(row.number, given.column, given.section, given.question, given.choice)
        for of_system in line.values()
        for given in of_system.values()
    ]
    reference, gold = _gold(row, column.number, systems)
    facets: dict[str, object] = {
        "instruction": instruction,
        "systems": order,
        **{side.lower(): pairs.joined(*_both(line[system])) for side, system in zip(SIDES, order, strict=True)},
        "reference": reference,
        "gold": pairs.joined(*_both(gold)) if gold else "",
    }
    return MadeRow(
        name=f"{number}{among}",
        title=f"{number}{among}. {instruction}",
        language=row.language,
        evidence=blocks,
        facets={key: said for key, said in facets.items() if key in scheme.row.keys},  # type: ignore[misc]
        answers=answers,
        of=row.number,
    )


def _said(of_cell: Mapping[str, Given], question: str) -> str:
    return _text(of_cell[question].choice.code) if question in of_cell else ""


def _both(of_cell: Mapping[str, Given]) -> tuple[str, str]:
    return _said(of_cell, "input"), _said(of_cell, "output")


def _gold(row: SourceRow, column: int, systems: Sequence[str]) -> tuple[str, Mapping[str, Given]]:
    """Who is right in a line, and what they say there: of several golds one that is compared, also where it left the
    line open, else the first that has an answer there."""
    golds: dict[str, dict[str, Given]] = {}
    for given in row.given:
        if given.question in CELLS and given.choice.votes[0].kind == "gold":
            said = golds.setdefault(given.rater, {})
            if given.column == column:
                said[given.question] = given
    found = [code for code, said in golds.items() if said or code in systems]
    rater = min(found, key=lambda code: (code not in systems, code), default="")
    return rater, golds.get(rater, {})


def two_systems_ask(scheme: SchemeSpec) -> Sequence[Setting]:
    return (
        Setting(
            "systems",
            _("Whose tables"),
            (),
            several=True,
            of_raters=True,
            help=_("Two of them; or the gold and several others, each of which stands beside it."),
        ),
        Setting(
            "lines",
            _("Lines"),
            [
                (ALL, _("all of them")),
                *((str(n), _("%(n)s, drawn") % {"n": n}) for n in (50, 100, 200, 500)),
            ],
        ),
        Setting(
            "open",
            _("Lines that one of them left out"),
            [(COUNT, _("are judged, with nothing on its side")), (DROP, _("are left out"))],
        ),
    )
