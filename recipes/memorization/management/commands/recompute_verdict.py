from __future__ import annotations

from recipes.memorization.models import FrozenVerdict
from recipes.memorization.verdict.freezing import recompute
from reports.frozen.commands import RecomputeCommand


class Command(RecomputeCommand):
    help = "Compute a frozen verdict again from its own labels, and say whether every number comes out the same."
    model, what = FrozenVerdict, "verdict"
    recompute = staticmethod(recompute)
