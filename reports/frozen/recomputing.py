"""A frozen report computed again from the labels that are frozen with it, by the code that is installed now."""

from __future__ import annotations

from dataclasses import dataclass

from reports.contents import contents_from, read_contents
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable, unpacked
from reports.frozen.comparison import Comparison, compare
from reports.frozen.versions import code_version, library_versions
from reports.models import Report


@dataclass(frozen=True)
class Recomputed:
    """`equal`: every text and number came out as the same bytes. Else `comparison` has the numbers that differ, which
    may be none, where only words do. `other_code`, `other_libraries`: what is not as it was, then and now.
    """

    equal: bool
    labels_intact: bool
    digest: str
    comparison: Comparison
    other_code: tuple[str, str] | None
    other_libraries: tuple[tuple[str, str, str], ...]


def recompute(report: Report) -> Recomputed:
    """Raises `label_table.UnknownFormat` when the frozen labels cannot be read."""
    table = labels_of(report)
    contents = contents_from(table, Filters.from_json(report.filters), report.language)
    now = library_versions()
    return Recomputed(
        equal=contents.content == report.results.encode(),
        labels_intact=table.digest == report.data_digest,
        digest=contents.digest,
        comparison=compare(read_contents(report.results), read_contents(contents.content.decode())),
        other_code=None if report.code_version == code_version() else (report.code_version, code_version()),
        other_libraries=tuple(
            (name, then, now.get(name, "")) for name, then in report.libraries.items() if now.get(name) != then
        ),
    )


def labels_of(report: Report) -> LabelTable:
    return unpacked(bytes(report.labels))
