"""Lists of dish names with their regions, as people paste them or keep them in files. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from base.sentences import gettext as _
from base.text import UNSTORABLE

SCHEME = "recipe-names"
LONGEST = 200  # characters of a name
MOST = 5_000
_HEADINGS = {"name", "dish", "recipe", "recipe name", "dish name", "row"}
_REGIONS = {"region", "country", "cuisine", "origin"}


class NamesRefused(ValueError):
    """The list cannot be read; `str()` is a sentence that says why."""


@dataclass(frozen=True)
class DishName:
    name: str
    region: str = ""


def read_names(text: str) -> list[DishName]:
    """A name a line; behind a tab or a semicolon its region. With headings (name, region) the columns are found by
    them, and commas separate too. A name that comes twice, in whatever letters, is there once.

    >>> read_names("Koshari; Egypt\\nColeslaw")
    [DishName(name='Koshari', region='Egypt'), DishName(name='Coleslaw', region='')]

    Raises:
        NamesRefused: no name, too many, or one that is too long.
    """
    if UNSTORABLE.search(text):
        raise NamesRefused(_("The list holds a character that is no text."))
    found: dict[str, DishName] = {}
    for number, pair in _lines(text.lstrip("\ufeff")):
        name, region = (" ".join(each.split()) for each in pair)
        if not name:
            if region:
                raise NamesRefused(_("Line %(line)s has a region and no name.") % {"line": number})
            continue
        if max(len(name), len(region)) > LONGEST:
            raise NamesRefused(
                _("Line %(line)s: a name or region has at most %(longest)s characters.")
                % {"line": number, "longest": LONGEST}
            )
        found.setdefault(name.casefold(), DishName(name, region))
    if not found:
        raise NamesRefused(_("Write a name on each line."))
    if len(found) > MOST:
        raise NamesRefused(
            _("These are %(n)s names; at most %(most)s are read at once.") % {"n": len(found), "most": MOST}
        )
    return list(found.values())


def _lines(text: str) -> Iterable[tuple[int, tuple[str, str]]]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    for delimiter in "\t;,":
        headings = [cell.strip().strip('"').casefold() for cell in first.split(delimiter)]
        if set(headings) & _HEADINGS and (len(headings) > 1 or headings[0] in _HEADINGS):
            return _from_table(lines, delimiter, headings)
    return ((number, _pair(line)) for number, line in enumerate(lines, start=1))


def _pair(line: str) -> tuple[str, str]:
    mark = "\t" if "\t" in line else ";"
    name, _mark, region = line.partition(mark)
    return name, region


def _from_table(lines: list[str], delimiter: str, headings: list[str]) -> Iterable[tuple[int, tuple[str, str]]]:
    name = next(place for place, heading in enumerate(headings) if heading in _HEADINGS)
    region = next((place for place, heading in enumerate(headings) if heading in _REGIONS), None)
    table = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
    seen_headings = False
    for cells in table:
        if not any(cell.strip() for cell in cells):
            continue
        if not seen_headings:
            seen_headings = True
            continue
        padded = [*cells, *[""] * len(headings)]
        yield table.line_num, (padded[name], padded[region] if region is not None else "")
