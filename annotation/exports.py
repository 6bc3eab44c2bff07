"""Labels in long form, one a line, as `annotation.label_imports` reads them back. docs/import.md lists the columns."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.models import Assignment, Label, Study
from annotation.tables import safe_cell

COLUMNS = (
    "sheet",
    "row",
    "rater",
    "rater_kind",
    "simulated",
    "repeat",
    "section",
    "column",
    "column_number",
    "question",
    "answer",
    "answer_label",
    "preset",
    "note",
    "state",
    "updated_at",
    "exposed",
)
_CHUNK = 2000


def facet_names(study: Study) -> tuple[str, ...]:
    """All facets of the study's sections, in their order, each once."""
    return tuple(dict.fromkeys(f for section in study.scheme.parsed.sections for f in section.column.facets))


def label_header(study: Study) -> tuple[str, ...]:
    """The headings of `exported_labels`: `COLUMNS`, then a column `facet_…` for each facet of the scheme."""
    return (*COLUMNS, *(f"facet_{name}" for name in facet_names(study)))


def exported_labels(study: Study) -> Iterator[tuple[str, ...]]:
    """All labels of a study, withdrawn work left out, in the order of the sheets. One query, read in parts.

    Raters go by their codes; who the person behind one is stands nowhere. The cells are not yet made harmless for
    spreadsheets: `safe_lines` does that.
    """
    facets = facet_names(study)
    labels = (
        Label.objects.filter(assignment__row__sheet__study=study)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .order_by(
            "assignment__row__sheet__position",
            "assignment__row__position",
            "assignment__rater__code",
            "assignment__repeat",
            "column__section__position",
            "column__position",
            "question__position",
        )
        .values_list(
            "assignment__row__sheet__title",
            "assignment__row__name",
            "assignment__rater__code",
            "assignment__rater__kind",
            "assignment__rater__simulated",
            "assignment__repeat",
            "column__section__key",
            "column__name",
            "column__position",
            "question__key",
            "option__key",
            "option__label",
            "preset",
            "note",
            "assignment__state",
            "updated_at",
            "exposed",
            "column__facets",
        )
    )
    record: Any  # eighteen values of as many types
    for record in labels.iterator(chunk_size=_CHUNK):
        sheet, row, rater, kind, simulated, repeat, section, column, position, *answer, at, exposed, said = record
        question, option, label, preset, note, state = answer
        yield (
            *(sheet, row, rater, kind, _yes(simulated), str(repeat)),
            *(section, column, str(position + 1), question, option, label, _yes(preset), note),
            *(state, at.isoformat(timespec="seconds"), _yes(exposed)),
            *(str(said.get(name, "")) for name in facets),
        )


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


class _Echo:
    """A file for the csv module that hands back what is written."""

    def write(self, line: str) -> str:
        return line


def safe_lines(header: Iterable[str], records: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lines of CSV for a file or a streamed download; what a spreadsheet would take for a formula is made harmless."""
    writer = csv.writer(_Echo())
    for record in itertools.chain([header], records):
        yield writer.writerow([safe_cell(cell) for cell in record])
