"""Derivers between the texts that models wrote and the recipe that is taken apart. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from statistics import fmean

from annotation.deriving import blinding
from annotation.deriving.choosing import How
from annotation.deriving.making import (
    Answered,
    DerivingRefused,
    MadeRow,
    MadeSheet,
    Setting,
    Settings,
    Source,
    SourceRow,
    SourceSheet,
    SourceText,
)
from annotation.evidence.lines import paragraphs_of
from annotation.scheme.spec import SchemeSpec
from base.sentences import gettext as _
from recipes.memorization import best
from recipes.memorization.best import Candidate

SCHEME = "recipe-candidates"
FACETS = ("region", "generator", "prompt", "generation")
ALL, SOUND = "all", "sound"
KEEP = "keep"  # a dish without a text is a sheet to which recipes can be pasted
LEAVE, FIRST = "leave", "first"  # what becomes of a dish of which no candidate can be compared
CORRECT = ("1", "2", "3", "4", "5")
FAULTS, CORRECTNESS, PREFERENCE = "candidate.faults", "candidate.correctness", "candidate.preference"


# --- texts become candidates ------------------------------------------------------------------------------------------


def candidates(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each row with texts becomes a sheet, and each of its texts a row of it.

    The rows are called 1, 2, … in an order drawn by `settings["seed"]`, so that neither name nor place says who wrote
    them; that stands in their facets generator, prompt and generation (the number of the text's record), as far as the
    new scheme has them. `settings["texts"]`: all, or those alone that came to their end and show no sign.
    `settings["types"]` and `["generators"]`: of these alone, where any are named. `settings["bare"]`: dishes without a
    text are left out, or become sheets without rows, to which recipes are pasted.
    """
    keep = list(settings.get("bare", ())) == [KEEP]
    texts = [text for sheet in source.sheets for row in sheet.rows for text in row.texts]
    _refuse_unknown(settings.get("types", ()), {text.prompt_type for text in texts})
    _refuse_unknown(settings.get("generators", ()), {text.generator for text in texts})
    seed = blinding.seed_of(settings)
    known = [facet for facet in FACETS if facet in scheme.row.keys]
    blinding.refuse_shown(scheme, ["generator"])
    made = [
        MadeSheet(title, rows=rows)
        for sheet in source.sheets
        for row in sheet.rows
        if (rows := _rows(row, _wanted(row, settings), known, seed=seed)) or keep
        for title in [_title(source, sheet, row)]
    ]
    if not made:
        raise DerivingRefused(
            _("No text has been written for the rows of this study yet; or none that is wanted here.")
        )
    yield from made


def _title(source: Source, sheet: SourceSheet, row: SourceRow) -> str:
    """The dish; where two lists have it, with its list."""
    several = sum(other.name == row.name for each in source.sheets for other in each.rows) > 1
    return f"{row.name} · {sheet.title}" if several else row.name


def _refuse_unknown(named: Sequence[str], known: Collection[str]) -> None:
    """
    Raises:
        DerivingRefused: a word is none of those that the texts have, if there are any.
    """
    if known and (unknown := sorted(set(named) - set(known))):
        raise DerivingRefused(
            _("“%(said)s” is none of: %(words)s.") % {"said": unknown[0][:120], "words": ", ".join(sorted(known))}
        )


def _wanted(row: SourceRow, settings: Settings) -> list[SourceText]:
    sound = list(settings.get("texts", ())) == [SOUND]
    types, generators = set(settings.get("types", ())), set(settings.get("generators", ()))
    return [
        text
        for text in row.texts
        if text.text.strip()
        and (not sound or _is_sound(text))
        and (not types or text.prompt_type in types)
        and (not generators or text.generator in generators)
    ]


def _rows(row: SourceRow, texts: Sequence[SourceText], known: Sequence[str], *, seed: str) -> list[MadeRow]:
    return [
        MadeRow(
            name=str(place),
            title=row.title or row.name,
            language=row.language,
            evidence=paragraphs_of(text.text),
            facets={facet: said for facet, said in _facets(row, text).items() if facet in known and said},
            of=row.number,
        )
        for place, text in enumerate(blinding.drawn(((text.number, text) for text in texts), seed=seed), start=1)
    ]


def _is_sound(text: SourceText) -> bool:
    return text.finish == "stop" and not text.signs


def _facets(row: SourceRow, text: SourceText) -> dict[str, str]:
    region = row.facets.get("region", "")
    return {
        "region": region if isinstance(region, str) else ", ".join(region),
        "generator": text.generator,
        "prompt": text.prompt_type,
        "generation": str(text.number),
    }


def candidates_ask(scheme: SchemeSpec) -> Sequence[Setting]:
    return (
        Setting(
            "texts",
            _("Texts"),
            [(ALL, _("all that were written")), (SOUND, _("those without a sign that came to their end"))],
            help=_("Signs: a refusal, the prompt taken as a prefix, an endless loop."),
        ),
        Setting(
            "types",
            _("Types of prompts"),
            (),
            several=True,
            of_texts="prompt_type",
            help=_("Only texts of these, such as the type that was preferred; none ticked: all."),
        ),
        Setting(
            "generators",
            _("Written by"),
            (),
            several=True,
            of_texts="generator",
            help=_("Only texts of these models; none ticked: all."),
        ),
        Setting(
            "bare",
            _("Dishes without a text"),
            [(LEAVE, _("are left out")), (KEEP, _("become sheets to which you paste recipes"))],
        ),
    )


# --- the best candidates are taken apart next -------------------------------------------------------------------------


def best_candidates(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Of each sheet the best candidate becomes the only row, with its text; of several that tie the first of the sheet.

    A candidate counts where somebody has answered faults, correctness and preference each. Gold counts, else the named
    rater, else the means over people, as in the report's table of the best. `settings["unsaid"]`: a sheet without such
    a candidate is left out, or gives its first one, whose place was drawn by lot. `settings["least"]`: what is less
    correct is no candidate, and a sheet that has nothing else is left out.
    """
    known = scheme.row.keys
    first = list(settings.get("unsaid", ())) == [FIRST]
    least = _least(settings)
    made = [sheet for each in source.sheets if (sheet := _best(each, known, first=first, least=least)) is not None]
    if not made:
        raise DerivingRefused(
            _("No candidate has an answer of a person, or of the rater that is named, to each of its three questions.")
            if least == 1
            else _("No candidate that has an answer to each of its three questions is as correct as is asked.")
        )
    yield from made


def _least(settings: Settings) -> int:
    """
    Raises:
        DerivingRefused: it is no number of the scale.
    """
    said = next(iter(settings.get("least", ())), "1")
    if said not in CORRECT:
        raise DerivingRefused(
            _("“%(said)s” is none of: %(words)s.") % {"said": said[:120], "words": ", ".join(CORRECT)}
        )
    return int(said)


def best_candidates_ask(scheme: SchemeSpec) -> Sequence[Setting]:
    return (
        Setting(
            "unsaid",
            _("Dishes without a candidate that has all three answers"),
            [(LEAVE, _("are left out")), (FIRST, _("give their first candidate, whose place was drawn by lot"))],
            help=_("A judge whose answers could not be read leaves such dishes."),
        ),
        Setting(
            "least",
            _("As correct as this at least"),
            [("1", _("any")), *((number, number) for number in CORRECT[1:])],
            help=_("1 is no recipe of the dish at all. A dish of which all candidates are less correct is left out."),
        ),
    )


def _best(sheet: SourceSheet, known: Collection[str], *, first: bool, least: int) -> MadeSheet | None:
    rows = {row.number: row for row in sheet.rows}
    candidates = [_candidate(row) for row in sheet.rows]
    standing = [of for of in candidates if of.correctness is None or of.correctness >= least]
    chosen = best.choose(standing).best or (standing if first else ())
    if not chosen:
        return None
    row = rows[chosen[0].key]
    asked = (FAULTS, CORRECTNESS, PREFERENCE)
    return MadeSheet(
        sheet.title,
        rows=[
            MadeRow(
                name=row.name,
                title=row.title,
                url=row.url,
                language=row.language,
                evidence=row.evidence,
                facets={key: said for key, said in row.facets.items() if key in known},
                answers=[answer for question in asked for answer in _said(row, question)],
                of=row.number,
            )
        ],
    )


def _candidate(row: SourceRow) -> Candidate:
    return Candidate(
        row.number,
        faults=_mean(row, FAULTS, lambda code: len(json.loads(code.removeprefix(":")))),
        correctness=_mean(row, CORRECTNESS, float),
        preference=_mean(row, PREFERENCE, float),
    )


def _mean(row: SourceRow, question: str, number: Callable[[str], float]) -> float | None:
    said = [number(answer.choice.code) for answer in _said(row, question)]
    return fmean(said) if said else None


def _said(row: SourceRow, question: str) -> list[Answered]:
    """What counts: the gold's answer, else that of the rater who was named, else what each person says."""
    chosen = row.of(question)
    if any(answer.choice.how in (How.GOLD, How.RATER) for answer in chosen):
        return chosen
    people = [
        Answered(row.number, given.column, given.section, given.question, given.choice)
        for given in row.given
        if f"{given.section}.{given.question}" == question and given.choice.votes[0].kind == "person"
    ]
    return chosen if len({answer.choice.votes[0].key for answer in people}) == 1 else people
