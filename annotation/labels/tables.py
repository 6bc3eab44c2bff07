"""The checks of a section, held against the answers of one assignment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from annotation import queries
from annotation.answers import kind_of
from annotation.models import Assignment, Column, Label, Section, Skip
from annotation.scheme.checks import Finding, findings
from annotation.scheme.rule_specs import OF_STATES
from annotation.scheme.spec import Level

CellKey = tuple[int, int]  # column, question


class TableChecks:
    """One table: a section's columns of one sheet, with what one assignment answers in them.

    Two queries, and one more where the answers of columns that are not `known` matter.
    """

    def __init__(self, assignment: Assignment, section: Section, known: Collection[int] = ()) -> None:
        self.assignment = assignment
        self.section = section
        self.spec = section.spec
        self.columns: dict[int, Column] = {
            column.pk: column
            for column in Column.objects.filter(sheet=assignment.row.sheet_id, section=section).order_by("position")
        }
        self.questions = {question.pk: question for question in section.questions.all()}
        self.options = {o.pk: o.key for question in self.questions.values() for o in question.options.all()}
        self.others: dict[CellKey, Any] = {}
        if unknown := self.columns.keys() - set(known):
            labels = Label.objects.filter(assignment=assignment, column__in=unknown).order_by()
            self.others = self._values((label.column_id, label.question_id, label) for label in labels)
        names_row = any(
            check.rule in OF_STATES or any(source.startswith("row.") for source in check.in_)
            for check in self.spec.checks
        )
        self.row = assignment.row.facets if names_row else {}

    def _values(self, labels: Iterable[tuple[int, int, Label]]) -> dict[CellKey, Any]:
        return {
            (column, question): self.options[label.option_id] if label.option_id is not None else label.value
            for column, question, label in labels
        }

    def found(self, standing: Mapping[CellKey, Label | Skip | None]) -> dict[CellKey, list[Finding]]:
        """What the checks find where `standing` is added to what the other columns have."""
        values = self.others | self._values(
            (*cell, label) for cell, label in standing.items() if cell[0] in self.columns and isinstance(label, Label)
        )
        places = {(self.columns[c].position, self.questions[q].key): (c, q) for c, q in values}
        table = {place: values[cell] for place, cell in places.items()}
        facets = {column.position: column.facets for column in self.columns.values()}
        found: dict[CellKey, list[Finding]] = {}
        for finding in findings(self.spec, table, row=self.row, columns=facets):
            found.setdefault(places[finding.position, finding.question], []).append(finding)
        return found

    def changed(
        self, before: Mapping[CellKey, Label | Skip | None], after: Mapping[CellKey, Label | Skip | None]
    ) -> tuple[list[str], dict[CellKey, list[str]]]:
        """Sentences of what is refused since a change, and the sentences of what is warned of after it."""
        found = self.found(after)
        refused = [(cell, f) for cell, of_cell in found.items() for f in of_cell if f.level == Level.REFUSE]
        if refused:
            stood = {(cell, f) for cell, of_cell in self.found(before).items() for f in of_cell}
            refused = [one for one in refused if one not in stood]
        return (
            [f"{self.columns[cell[0]].name}: {finding.message}" for cell, finding in refused],
            {cell: [finding.message for finding in of_cell] for cell, of_cell in found.items()},
        )


def warnings_of(assignment: Assignment) -> dict[CellKey, list[str]]:
    """What the scheme warns of in the answers of an assignment: {(column, question): sentences}.

    Three queries, and three more for each section that has checks.
    """
    sections = [
        section
        for section in queries.whole_scheme(assignment.row.sheet.study.scheme).sections.all()
        if assignment.asks(section) and not section.spec.never_warns
    ]
    specs = {q.pk: s.spec.question(q.key) for s in sections for q in s.questions.all()}
    labels = Label.objects.filter(assignment=assignment, question__in=specs, value__isnull=False).order_by()
    warnings: dict[CellKey, list[str]] = {}
    for label in labels:
        spec = specs[label.question_id]
        if said := kind_of(spec).warnings(spec, label.value):
            warnings[label.column_id, label.question_id] = said
    for section in sections:
        if section.spec.checks:
            for cell, found in TableChecks(assignment, section).found({}).items():
                warnings.setdefault(cell, []).extend(finding.message for finding in found)
    return warnings
