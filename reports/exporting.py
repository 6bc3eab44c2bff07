"""The making of downloads as a kind of work. What makes them is loaded with the first one: it takes 130 MiB, which the
processes that serve pages and record labels do without.
"""

from __future__ import annotations

from reports.models import ExportPart
from work.actions import Held
from work.kinds import Kind
from work.states import SHORT_WORK_PRIORITY


def _make(held: Held[ExportPart]) -> None:
    from reports.actions import make_part

    make_part(held)


EXPORTING = Kind(
    ExportPart,
    _make,
    name=lambda part: f"Download {part.run_id}",
    related=("run__study__scheme", "run__report"),
    priority=SHORT_WORK_PRIORITY,
    fails_the_run=True,
)
