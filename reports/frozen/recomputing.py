"""A frozen report computed again from the labels that are frozen with it, by the code that is installed now."""

from __future__ import annotations

from dataclasses import dataclass

from reports.contents import Contents, contents_from, read_contents
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable, unpacked
from reports.frozen.comparison import Comparison, compare
from reports.frozen.versions import code_version, library_versions
from reports.models import Frozen, Report


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
    return held_against(report, contents, digest=table.digest, code=code_version())


def held_against(frozen: Frozen, contents: Contents, *, digest: str, code: str) -> Recomputed:
    """What was frozen against what its labels give now: `digest` of these labels, `code` that computed them now."""
    now = library_versions()
    return Recomputed(
        equal=contents.content == frozen.results.encode(),
        labels_intact=digest == frozen.data_digest,
        digest=contents.digest,
        comparison=compare(read_contents(frozen.results), read_contents(contents.content.decode())),
        other_code=None if frozen.code_version == code else (frozen.code_version, code),
        other_libraries=tuple(
            (name, then, now.get(name, "")) for name, then in frozen.libraries.items() if now.get(name) != then
        ),
    )


def labels_of(report: Report) -> LabelTable:
    return unpacked(bytes(report.labels))
