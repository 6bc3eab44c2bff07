"""What a prompt file may fill in, for who writes one. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.evidence import kinds
from annotation.scheme.spec import SchemeSpec
from base.sentences import gettext as _


@dataclass(frozen=True)
class Placeholder:
    """`name`: as it is written; `meaning`: a sentence."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Place:
    """A part of the file, and what may stand in it."""

    title: str
    placeholders: tuple[Placeholder, ...]


def places(scheme: SchemeSpec) -> list[Place]:
    """By part of the file: `row`, then the questions of each section."""
    known = kinds.known(scheme.block_kinds).values()
    nearest = _("the blocks of the kind “%(kind)s” that are nearest to the cell; of a judge that scores options alone")
    all_of = _("the blocks of the kind “%(kind)s”; of a judge that scores options alone")
    of_row = [
        Placeholder("$title", _("the title of the document")),
        Placeholder("$evidence", _("all evidence, a block a line")),
        *(
            Placeholder(f"$evidence_{kind.key}", _("the blocks of the kind “%(kind)s”") % {"kind": kind.title})
            for kind in known
        ),
        *(Placeholder(f"$row_{facet.key}", str(facet.title or facet.key)) for facet in scheme.row.shown),
        *(
            Placeholder(f"$lines_{facet.key}", _("“%(facet)s”, a text a line") % {"facet": facet.title or facet.key})
            for facet in scheme.row.shown
        ),
    ]
    found = [Place(_("In “row”"), tuple(of_row))]
    for section in scheme.sections:
        names = ", ".join(f"{section.key}.{question.key}" for question in section.questions)
        of_cell = [
            Placeholder("$column", _("the column, with all its facets")),
            Placeholder("$about", _("the facet that the question is about")),
            *(Placeholder(f"$facet_{facet}", _("the facet “%(facet)s” of the column") % {"facet": facet})
              for facet in (*section.column.facets, *section.column.aside)),
            Placeholder("$question", _("the question's title")),
            Placeholder("$options", _("the options that are offered; of a judge that scores them alone")),
            *(Placeholder(f"$nearest_{kind.key}", nearest % {"kind": kind.title}) for kind in known),
            *(Placeholder(f"$evidence_{kind.key}", all_of % {"kind": kind.title}) for kind in known),
        ]  # fmt: skip
        found.append(Place(_("In “questions”: %(names)s") % {"names": names}, tuple(of_cell)))
    return found
