"""Lists of instructions: what models are asked to write about, described by facets. Pure.

Either YAML, in which facets are crossed, each word of the one with each of the others,

    cross:
      style: [sonnet, haiku]
      topic:
        - {kind: weather, of: [snow, rain]}      # further facets of some of the words
        - love

or a table (CSV, TSV, semicolons) with a facet a column and an instruction a line.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.scheme.spec import BenchmarkSpec, SchemeSpec
from base import yaml_reading
from base.sentences import gettext as _
from base.text import UNSTORABLE
from base.yaml_reading import YamlRefused

LONGEST = 120  # characters of a word
MOST = 20_000
ALL = "Instructions"  # the sheet where the scheme names none


class InstructionsRefused(ValueError):
    """The list cannot be read; `str()` is a sentence that says why."""


@dataclass(frozen=True)
class Instruction:
    """`sheet`: on which it stands; `name`: unique there; `facets`: all that the list says of it."""

    sheet: str
    name: str
    facets: Mapping[str, str]


def benchmark_of(scheme: SchemeSpec) -> BenchmarkSpec:
    """
    Raises:
        InstructionsRefused: the scheme is of no benchmark.
    """
    if scheme.benchmark is None:
        raise InstructionsRefused(
            _("The scheme “%(key)s” has no key “benchmark”, which says what an instruction is.") % {"key": scheme.key}
        )
    return scheme.benchmark


def read_instructions(text: str, scheme: SchemeSpec) -> list[Instruction]:
    """The instructions of a list, each once, in its order.

    Raises:
        InstructionsRefused: it is no list; it has a facet that the scheme has not, or that models fill in; an
            instruction lacks one of the facets that make it, or comes twice with other words beside.
    """
    of = benchmark_of(scheme)
    if UNSTORABLE.search(text):
        raise InstructionsRefused(_("The list holds a character that is no text."))
    found: dict[tuple[str, ...], Instruction] = {}
    for place, given in enumerate(_lines(text.lstrip("\ufeff")), start=1):
        facets = {key: " ".join(word.split()) for key, word in given.items() if word.strip()}
        _check(facets, scheme, of, place)
        key = tuple(facets[facet] for facet in of.instruction)
        one = Instruction(
            sheet=facets[of.sheets] if of.sheets else ALL,
            name=" · ".join(facets[facet] for facet in of.by_name),
            facets=facets,
        )
        if found.setdefault(key, one).facets != facets:
            raise InstructionsRefused(
                _("Instruction %(n)s, “%(name)s”, comes twice and is described otherwise.")
                % {"n": place, "name": " · ".join(key)}
            )
        if len(found) > MOST:
            raise InstructionsRefused(_("A list has at most %(most)s instructions.") % {"most": f"{MOST:,}"})
    if not found:
        raise InstructionsRefused(_("There is no instruction in the list."))
    return list(found.values())


def _check(facets: Mapping[str, str], scheme: SchemeSpec, of: BenchmarkSpec, place: int) -> None:
    filled = {of.generator, of.length}
    for key, word in facets.items():
        if key not in scheme.row.keys:
            raise InstructionsRefused(
                _("“%(facet)s” is no facet of rows of this scheme. It has: %(known)s.")
                % {"facet": key, "known": ", ".join(k for k in scheme.row.keys if k not in filled)}
            )
        if key in filled:
            raise InstructionsRefused(
                _("“%(facet)s” is filled in when models have written; leave it out of the list.") % {"facet": key}
            )
        if len(word) > LONGEST:
            raise InstructionsRefused(
                _("Instruction %(n)s: a word has at most %(longest)s characters.") % {"n": place, "longest": LONGEST}
            )
    for key in of.instruction:
        if key not in facets:
            raise InstructionsRefused(_("Instruction %(n)s has no “%(facet)s”.") % {"n": place, "facet": key})


def _lines(text: str) -> Iterable[Mapping[str, str]]:
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return _crossed(text) if re.match(r"\w+\s*:", first) else _table(text)


def _crossed(text: str) -> Iterable[Mapping[str, str]]:
    try:
        data = yaml_reading.load(text)
    except YamlRefused as refused:
        raise InstructionsRefused(
            _("The list cannot be read, line %(line)s: %(reason)s") % {"line": refused.line, "reason": refused.reason}
        ) from refused
    cross = data.get("cross") if isinstance(data, dict) and set(data) == {"cross"} else None
    if not isinstance(cross, dict) or not all(isinstance(of, list) and of for of in cross.values()):
        raise InstructionsRefused(_("A list in YAML begins with “cross:”, and has a list of words for each facet."))
    parts = [[described for entry in entries for described in _entry(facet, entry)] for facet, entries in cross.items()]
    n = 1
    for of_facet in parts:
        n *= len(of_facet)
    if n > MOST:
        raise InstructionsRefused(_("A list has at most %(most)s instructions.") % {"most": f"{MOST:,}"})
    for together in itertools.product(*parts):
        crossed: dict[str, str] = {}
        for part in together:
            if twice := crossed.keys() & part.keys():
                raise InstructionsRefused(_("Two lists say “%(facet)s” of an instruction.") % {"facet": min(twice)})
            crossed |= part
        yield crossed


def _entry(facet: str, entry: Any) -> list[dict[str, str]]:
    if not isinstance(entry, dict):
        return [{facet: str(entry)}]
    further = {str(key): str(word) for key, word in entry.items() if key != "of"}
    words = entry.get("of")
    if not isinstance(words, list) or not words or facet in further:
        raise InstructionsRefused(
            _("An entry of “%(facet)s” with further facets has its words under “of”.") % {"facet": facet}
        )
    return [{facet: str(word), **further} for word in words]


def _table(text: str) -> Iterable[Mapping[str, str]]:
    heading = next((line for line in text.splitlines() if line.strip()), "")
    table = list(csv.reader(io.StringIO(text), delimiter=max("\t;,", key=heading.count)))
    lines = [cells for cells in table if any(cell.strip() for cell in cells)]
    if not lines:
        return
    heads = [cell.strip() for cell in lines[0]]
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) > len(heads):
            raise InstructionsRefused(_("Line %(line)s has more cells than headings.") % {"line": number})
        yield dict(zip(heads, [*cells, *[""] * (len(heads) - len(cells))], strict=True))
