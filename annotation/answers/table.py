"""What a scheme warns of in one table: the answers of one assignment to one section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.answers import kind_of
from annotation.scheme.checks import findings
from annotation.scheme.spec import SectionSpec

Place = tuple[int, str]  # position of the column, question key


def warnings(
    section: SectionSpec,
    table: Mapping[Place, Any],
    *,
    row: Mapping[str, Any],
    columns: Mapping[int, Mapping[str, str]],
) -> dict[Place, list[str]]:
    """Sentences by the place of the answer: of its kind, as a pattern of a text, then of the checks of the section.

    Args:
        table: the answers; of an option its key.
        row: the facets of the row.
        columns: the facets of the columns by their position.
    """
    found = warnings_alone(section, table)
    for finding in findings(section, table, row=row, columns=columns) if section.checks else ():
        found.setdefault((finding.position, finding.question), []).append(finding.message)
    return found


def warnings_alone(section: SectionSpec, table: Mapping[Place, Any]) -> dict[Place, list[str]]:
    """Those of `warnings` that are of an answer by itself, whatever else the table has."""
    found: dict[Place, list[str]] = {}
    for (position, key), value in table.items():
        question = section.question(key)
        if not question.has_options and (said := kind_of(question).warnings(question, value)):
            found[position, key] = said
    return found
