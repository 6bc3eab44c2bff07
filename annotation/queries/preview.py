"""A sheet as a rater would see it under a scheme that is stored nowhere: one row, for whoever writes the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotation.evidence.blocks import Block, blocks_to_json
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.models import Assignment, Column, Question, Rater, Row, Scheme, Section, Sheet, Study
from annotation.queries.grid import Drawing, Grid, GridTable
from annotation.scheme.spec import SchemeSpec, SectionSpec

# Ids from here on belong to nothing that is stored; a script reads them as whole numbers.
UNUSED = 10**15
MOST_COLUMNS = 6  # of a section, and facets of two examples where there are none


class Preview(NamedTuple):
    """`columns`: those of all tables. `is_example`: the row was made up, as the study has none."""

    grid: Grid
    columns: Sequence[Column]
    is_example: bool

    @property
    def row(self) -> Row:
        return self.grid.assignments[0].row


def preview(spec: SchemeSpec, study: Study | None = None) -> Preview:
    """The first row of a study's first sheet, with the columns that fit, or an example; nothing is stored.

    Two queries for a study, none without one.
    """
    scheme = Scheme(pk=UNUSED, slug=spec.key, version=spec.version, title=spec.title)
    scheme.parsed = spec
    of = Study(
        pk=UNUSED,
        scheme=scheme,
        guideline=study.guideline if study else "",
        submit_complete=study.submit_complete if study else False,
        contact=study.contact if study else "",
        contact_address=study.contact_address if study else "",
    )
    of.has_simulated_raters = False
    found = _first_row(study) if study else None
    sheet = Sheet(pk=UNUSED, study=of, title=found.sheet.title if found else f"{capfirst(spec.words.sheet)} 1")
    row = _row(sheet, found, spec)
    assignment = Assignment(pk=UNUSED, row=row, rater=Rater(pk=UNUSED, study=of))
    stored: dict[str, list[Column]] = {}
    if found:
        for column in found.sheet.columns.select_related("section").order_by("position"):
            stored.setdefault(column.section.key, []).append(column)
    tables, columns = [], list[Column]()
    questions = 0
    for number, one in enumerate(spec.sections):
        section = Section(pk=UNUSED + number, scheme=scheme, key=one.key, title=one.title, position=number)
        asked = [
            Question(pk=UNUSED + questions + n, section=section, key=q.key, title=q.title, kind=q.kind, position=n)
            for n, q in enumerate(one.questions)
        ]
        questions += len(asked)
        of_section = [
            Column(pk=UNUSED + len(columns) + n, sheet=sheet, section=section, position=n, name=name, facets=facets)
            for n, (name, facets) in enumerate(_columns(one, stored.get(one.key, [])))
        ]
        columns += of_section
        lines = Drawing(of_section, asked, one, {}, closed=False).lines(assignment, {})
        tables.append(GridTable(section, one, tuple(of_section), tuple(asked), tuple(lines)))
    return Preview(Grid(sheet, (assignment,), tuple(tables)), columns, found is None)


def _first_row(study: Study) -> Row | None:
    rows = Row.objects.filter(sheet__study=study, sheet__archived_at=None, withdrawn_at=None)
    return rows.select_related("sheet").order_by("sheet__position", "position").first()


def _row(sheet: Sheet, found: Row | None, spec: SchemeSpec) -> Row:
    if found:
        same = {name: getattr(found, name) for name in ("name", "title", "url", "language", "evidence")}
        return Row(pk=UNUSED, sheet=sheet, facets={k: v for k, v in found.facets.items() if k in spec.row.keys}, **same)
    text = [
        Block(HEADING, _("An example")),
        Block(PARAGRAPH, _("Here stands what is labelled. Its words can be marked where a question asks for that.")),
        *(
            Block(one.evidence[0] if one.evidence else PARAGRAPH, text)
            for one in spec.sections
            for _name, facets in _columns(one, [])
            if (text := ", ".join(filter(None, facets.values())))
        ),
        *_sides(spec),
    ]
    name = f"{capfirst(spec.words.row)} 1"
    facets = {facet.key: facet.name for facet in spec.row.facets}
    return Row(pk=UNUSED, sheet=sheet, name=name, evidence=blocks_to_json(text), facets=facets)


def _sides(spec: SchemeSpec) -> list[Block]:
    """The two texts of a comparison."""
    kinds, blocks = {block.key for block in spec.blocks}, list[Block]()
    for key, label in spec.sides:
        text = _("The text of one system.")
        blocks += [Block(key, text)] if key in kinds else [Block(HEADING, label), Block(PARAGRAPH, text)]
    return blocks


def _columns(section: SectionSpec, stored: Sequence[Column]) -> list[tuple[str, dict[str, str]]]:
    """Names and facets of the columns of a section: those that are stored and fit, else two examples."""
    facets = section.column.facets
    fitting = [(one.name, one.facets) for one in stored if set(one.facets) - set(section.column.aside) == set(facets)]
    if fitting:
        return fitting[:MOST_COLUMNS]
    if section.is_one_form:
        return [("", dict.fromkeys(facets, ""))]
    examples = [{facet: f"{facet.replace('_', ' ').capitalize()} {n}" for facet in facets} for n in (1, 2)]
    return [(" · ".join(one.values()), one) for one in examples]
