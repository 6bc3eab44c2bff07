"""Two judges as a rule of triage: where they agree their answer is taken, the rest goes to people."""

from __future__ import annotations

from dataclasses import dataclass

from reports.stats.answers import MISSING, Answers
from reports.stats.hiring.means import ShareBounds, bounds_by_clusters
from reports.stats.judge import judge_codes, judged_cells


@dataclass(frozen=True)
class Agreeing:
    """Of the n cells that people and both judges answered, the n_agreed in which the judges chose the same.

    agreed: their share. right: the share of them in which one of the people chose it too, with its 95 % interval; first
    and second: the same share of each judge in the other cells. None without cells.
    """

    n: int
    n_agreed: int
    agreed: float | None
    right: float | None
    right_low: float | None
    right_high: float | None
    first: float | None
    second: float | None


def agreeing(people: Answers, first: Answers, second: Answers, *, bounds: ShareBounds = ShareBounds.LATEST) -> Agreeing:
    """How much of the work two judges take off people where they agree, and how right they are there; judges that err
    alike agree in their errors, which is why they should be unlike (a model and a rule, say). Intervals are by
    documents (`hiring.means.bounds_by_clusters`).
    """
    codes = judge_codes(people, first), judge_codes(people, second)
    both = (codes[0] != MISSING) & (codes[1] != MISSING)
    same = both & (codes[0] == codes[1])
    agreed, other = people.where(same), people.where(both & ~same)
    taken = judged_cells(agreed, first)
    right = taken.right
    apart = judged_cells(other, first).right, judged_cells(other, second).right
    n_agreed = int(right.size)
    n = n_agreed + int(apart[0].size)
    low, high = None, None
    if n_agreed:
        low, high = bounds_by_clusters(right, taken.document, bounds=bounds)
    return Agreeing(
        n=n,
        n_agreed=n_agreed,
        agreed=n_agreed / n if n else None,
        right=float(right.mean()) if n_agreed else None,
        right_low=low,
        right_high=high,
        first=float(apart[0].mean()) if apart[0].size else None,
        second=float(apart[1].mean()) if apart[1].size else None,
    )
