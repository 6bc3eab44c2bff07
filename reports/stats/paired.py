"""Two systems on the same cells: by how much a figure differs, and whether the choice of cells alone would do that.

Cells of one document are alike, so both tests take whole clusters: the paired bootstrap draws them with replacement
(Koehn 2004), approximate randomisation exchanges the two systems' outputs of a cluster at random (Noreen 1989; Riezler
and Maxwell 2005). Both work on any figure that is a function of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reports.stats.bootstrap import Interval, Resampling
from reports.stats.pairs import FloatArray

Figure = Callable[[FloatArray], FloatArray]
_EXCHANGES_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Difference:
    """The first less the second. None: not defined. interval and p_bootstrap: by drawing clusters, p_randomisation: by
    exchanging; both two-sided, (1 + as far or further) / (1 + draws), so that none is 0."""

    value: float | None
    interval: Interval
    p_bootstrap: float | None
    p_randomisation: float | None
    n_clusters: int


def difference(first: FloatArray, second: FloatArray, figure: Figure, draws: Resampling) -> Difference:
    """
    Args:
        first, second: sums of each cluster on the same cells, shape (n_clusters, n_features).
        figure: from sums, shape (n, n_features), to figures, shape (n,), NaN where not defined.
        draws: of these clusters.

    >>> from reports.stats.bootstrap import resampling_of
    >>> draws = resampling_of(np.arange(12), "sheet", n_draws=999, seed=1, group_many=True)
    >>> ones, zeros = np.ones((12, 1)), np.zeros((12, 1))
    >>> found = difference(ones, zeros, lambda sums: sums[:, 0] / 12, draws)
    >>> found.value, found.p_bootstrap  # exchanging all 12 or none is as far: 2 of 4,096
    (1.0, 0.001)
    """
    n = first.shape[1]

    def apart(sums: FloatArray) -> FloatArray:
        return figure(sums[:, :n]) - figure(sums[:, n:])

    both = np.hstack([first, second])
    value = float(apart(both.sum(axis=0)[np.newaxis])[0]) if len(both) else float("nan")
    defined = not np.isnan(value)
    p_bootstrap = None
    interval = draws.without_draws()
    if defined and not draws.too_few:
        drawn = draws.draw(both, apart)
        interval = draws.interval(drawn)
        p_bootstrap = _two_sided(drawn[1:][~np.isnan(drawn[1:])])
    return Difference(
        value=value if defined else None,
        interval=interval,
        p_bootstrap=p_bootstrap,
        p_randomisation=_randomised(first, second, figure, value, draws) if defined and len(both) > 1 else None,
        n_clusters=len(both),
    )


def _two_sided(drawn: FloatArray) -> float | None:
    if not drawn.size:
        return None
    side = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(2 * (side + 1) / (drawn.size + 1), 1.0) if side else 1 / (drawn.size + 1)


def _randomised(first: FloatArray, second: FloatArray, figure: Figure, value: float, draws: Resampling) -> float:
    rng = np.random.default_rng([draws.seed, 1])
    gap, n_clusters = first - second, len(first)
    total = second.sum(axis=0)
    both = total + first.sum(axis=0)
    step = max(1, _EXCHANGES_AT_ONCE // max(n_clusters, 1))
    further = 0
    for start in range(0, draws.n_draws, step):
        stays = rng.integers(2, size=(min(step, draws.n_draws - start), n_clusters)).astype(np.float64)
        ours = total + stays @ gap
        apart = figure(ours) - figure(both - ours)
        further += int((np.abs(apart) >= abs(value) - 1e-12).sum())
    return (further + 1) / (draws.n_draws + 1)
