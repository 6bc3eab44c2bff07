"""What models wrote for instructions becomes the rows that are rated. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from annotation.deriving.making import (
    DerivingRefused,
    MadeRow,
    MadeSheet,
    Setting,
    Settings,
    Source,
    SourceRow,
    SourceText,
)
from annotation.evidence.lines import paragraphs_of
from annotation.scheme.spec import BenchmarkSpec, SchemeSpec
from base.sentences import gettext as _

KEY = "rated-texts"
ALL, SOUND = "all", "sound"
GENERATION = "generation"  # the facet that has the number of a text's record, where the scheme has it
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def n_words(text: str) -> int:
    """
    >>> n_words("Add 2 cloves of day-old garlic.")
    6
    """
    return len(_WORD.findall(text))


def rated_texts(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """Each sheet of instructions becomes a sheet of texts: for each instruction one of each generator, the last that it
    wrote.

    The texts of an instruction are numbered in an order drawn by `settings["seed"]`, so that neither name nor place
    says who wrote them; that stands in hidden facets. `settings["texts"]`: all, or those alone that came to their end
    and show no sign.
    """
    of = scheme.benchmark
    if of is None:
        raise DerivingRefused(_("The new scheme has no key “benchmark”, which says what an instruction is."))
    sound = list(settings.get("texts", ())) == [SOUND]
    seed = next(iter(settings.get("seed", ())), "1")
    made = [
        MadeSheet(sheet.title, rows=rows)
        for sheet in source.sheets
        if (rows := [made for row in sheet.rows for made in _rows(row, scheme, of, seed=seed, sound=sound)])
    ]
    if not made:
        raise DerivingRefused(_("No text has been written for these instructions yet; or all of them show a sign."))
    yield from made


def _rows(row: SourceRow, scheme: SchemeSpec, of: BenchmarkSpec, *, seed: str, sound: bool) -> list[MadeRow]:
    if lacks := next((facet for facet in of.instruction if not row.facets.get(facet)), None):
        raise DerivingRefused(
            _("“%(row)s” has no “%(facet)s”, which is a part of an instruction.") % {"row": row.name, "facet": lacks}
        )
    last = {text.generator: text for text in row.texts if text.text.strip() and (not sound or _is_sound(text))}
    drawn = f"{seed}:{':'.join(row.facets[facet] for facet in of.instruction)}"
    texts = sorted(last.values(), key=lambda text: hashlib.sha256(f"{drawn}:{text.generator}".encode()).digest())
    return [
        MadeRow(
            name=f"{row.name} {place}",
            title=row.title or row.name,
            language=row.language,
            evidence=paragraphs_of(text.text),
            facets=_facets(row, text, scheme, of),
            of=row.number,
        )
        for place, text in enumerate(texts, start=1)
    ]


def _is_sound(text: SourceText) -> bool:
    return text.finish == "stop" and not text.signs


def _facets(row: SourceRow, text: SourceText, scheme: SchemeSpec, of: BenchmarkSpec) -> Mapping[str, str]:
    said = {key: word for key, word in row.facets.items() if key in scheme.row.keys}
    said[of.generator] = text.generator
    if of.length:
        said[of.length] = str(n_words(text.text))
    if GENERATION in scheme.row.keys:
        said[GENERATION] = str(text.number)
    return said


def told_apart(scheme: SchemeSpec, facets: Mapping[str, str]) -> str:
    """Of what was written for one instruction, who wrote it."""
    return facets.get(scheme.benchmark.generator, "") if scheme.benchmark else ""


def asks(scheme: SchemeSpec) -> Sequence[Setting]:
    return (
        Setting(
            "texts",
            _("Texts"),
            [(ALL, _("all that were written")), (SOUND, _("those without a sign that came to their end"))],
            help=_("Signs: a refusal, the prompt taken as a prefix, an endless loop."),
        ),
    )
