from __future__ import annotations

from reports.frozen.commands import RecomputeCommand
from reports.frozen.recomputing import recompute
from reports.models import Report


class Command(RecomputeCommand):
    help = "Compute a frozen report again from its own labels, and say whether every number comes out the same."
    model, what = Report, "report"
    recompute = staticmethod(recompute)
