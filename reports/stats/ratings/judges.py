"""What is peculiar to each judge: leniency, spread, favour for its own family, how equal its repeats are; and judges
against people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.pairs import FloatArray
from reports.stats.ratings.agreement import concordance, correlation, moments, one_way
from reports.stats.ratings.arrays import (
    NOTHING,
    BoolArray,
    Draws,
    Estimate,
    Ratings,
    column_means,
    difference,
    mean,
)
from reports.stats.ratios import signed_ratio

_ROUNDS = 100


@dataclass(frozen=True)
class JudgeTraits:
    """leniency: by how much it rates higher than the mean of all judges would, of the same texts; spread: the standard
    deviation of its means of repeats. same: share of texts whose repeats are all equal; within: standard deviation of
    the repeats of a text; repeats: ICC(1,1) of its repeats, as a single rating's reliability. The last three are None
    of a judge that rated once."""

    leniency: Estimate
    spread: Estimate
    same: Estimate | None
    within: Estimate | None
    repeats: Estimate | None


def additive(x: FloatArray, *, exact: bool = True) -> tuple[FloatArray, FloatArray]:
    """a_j and b_i of x_ji = a_j + b_i, fitted by least squares where some are missing; the a_j sum to nothing.

    Args:
        exact: solved; before methods 7 both were fitted in turns, a hundred times, which is too seldom where judges
            have few texts in common.
    """
    if not exact:
        return _in_turns(x)
    known = ~np.isnan(x)
    each = known.astype(np.float64)
    # The normal equations of the a_j, from which the b_i are gone: each is the mean of what is left of its text.
    crossed = np.diag(each.sum(axis=1)) - (each / np.maximum(each.sum(axis=0), 1)) @ each.T
    over = np.where(known, x - column_means(x), 0.0).sum(axis=1)
    a: FloatArray = np.linalg.pinv(crossed, rcond=1e-10, hermitian=True) @ over
    a -= a.mean() if a.size else 0.0  # nobody may have rated
    return a, column_means(x - a[:, np.newaxis])


def _in_turns(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    a = np.zeros(x.shape[0])
    b = column_means(x)
    for _round in range(_ROUNDS):
        new = np.nan_to_num(column_means((x - b).T))
        new -= new.mean() if new.size else 0.0  # nobody may have rated
        b = column_means(x - new[:, np.newaxis])
        if np.abs(new - a).max(initial=0) < 1e-10:
            break
        a = new
    return new, b


def is_connected(x: FloatArray) -> bool:
    """Whether all judges of x (n_raters, n_items) can be compared: by texts that two of them rated, and these with
    others. Where they cannot, the a_j of `additive` are not known to each other: two judges that rate only the texts of
    each other's family have none in common.

    >>> is_connected(np.array([[1.0, 2, np.nan], [np.nan, 3, 4]])), is_connected(np.array([[1.0, np.nan], [np.nan, 4]]))
    (True, False)
    """
    known = ~np.isnan(x)
    rating = known.any(axis=1)
    seen = rating & (np.cumsum(rating) == 1)
    while True:
        more = known[:, known[seen].any(axis=0)].any(axis=1)
        if (more == seen).all():
            return bool((seen == rating).all())
        seen = more


def traits(ratings: Ratings, draws: Draws, *, exact: bool = True) -> list[JudgeTraits]:
    """`exact`: as of `additive`."""
    if not ratings.raters:
        return []
    x, cluster = ratings.means, ratings.cluster
    _a, b = additive(x, exact=exact)
    found = []
    for judge in range(len(ratings.raters)):
        mine = x[judge]
        known = ~np.isnan(mine)
        features = np.column_stack([np.ones(known.sum()), mine[known], mine[known] ** 2])

        def deviation(sums: FloatArray) -> FloatArray:
            n, s, s2 = sums.T
            return np.sqrt(np.maximum(signed_ratio(s2 - signed_ratio(s**2, n), n - 1), 0))

        again = ratings.counts[judge] >= 2
        same = within = repeats = None
        if again.any():
            of_texts = ratings.values[judge][again]
            low, high = np.nanmin(of_texts, axis=1), np.nanmax(of_texts, axis=1)
            same = mean((low == high).astype(np.float64), cluster[again]).within(0, 1)
            variance = np.nanvar(of_texts, axis=1, ddof=1)
            within = draws.estimate(
                np.column_stack([np.ones(variance.size), variance]),
                cluster[again],
                lambda sums: np.sqrt(signed_ratio(sums[:, 1], sums[:, 0])),
                n=int(again.sum()),
            )
            repeats = one_way(of_texts.T, cluster[again], draws)
        found.append(
            JudgeTraits(
                leniency=mean(mine - b, cluster).within(-ratings.width, ratings.width),
                spread=draws.estimate(features, cluster[known], deviation, n=int(known.sum())),
                same=same,
                within=within,
                repeats=repeats,
            )
        )
    return found


def own_texts(ratings: Ratings, judges: Sequence[str], generators: Sequence[str]) -> BoolArray:
    """Which texts were written by a judge's own family, shape (n_raters, n_items); `judges`, `generators`: families."""
    writer = np.array([*generators, ""])[ratings.generator]
    found: BoolArray = np.array(judges)[:, np.newaxis] == writer
    return found


def corrected(ratings: Ratings, own: BoolArray, *, connected: bool = True, exact: bool = True) -> FloatArray:
    """Means of repeats as they would be if all judges were equally lenient and spread their ratings alike.

    Leniency is that of `additive` without the texts of a judge's own family, `own`; what is left is made as wide around
    the mean of all as the judges' ratings are on average. All are NaN where these texts do not connect the judges
    (`is_connected`); reports before methods 5 did not ask (`connected`). `exact`: as of `additive`. Shape
    (n_raters, n_items).
    """
    x = ratings.means
    fitted = np.where(own, np.nan, x)
    if connected and not is_connected(fitted):
        return np.full_like(x, np.nan)
    leniency, b = additive(fitted, exact=exact)
    with np.errstate(invalid="ignore"):
        spread = np.array([np.nanstd(row) if (~np.isnan(row)).any() else np.nan for row in fitted])
    known = spread[spread > 1e-9]
    if not known.size or not (~np.isnan(b)).any():
        return x
    wide = np.where(spread > 1e-9, spread, known.mean())
    middle = float(np.nanmean(b))
    alike: FloatArray = middle + (x - leniency[:, np.newaxis] - middle) / wide[:, np.newaxis] * known.mean()
    return alike


def self_preference(
    ratings: Ratings,
    judges: Sequence[str],
    generators: Sequence[str],
    *,
    connected: bool = True,
    exact: bool = True,
) -> list[Estimate | None]:
    """Of each judge: by how much it rates texts of its own family higher than others do, beyond its leniency.

    Leniency and the texts' worth are fitted without any judge's ratings of its own family (`additive`); the figure
    is the mean of what is left of its ratings of its own family, less that of its other ratings. None where nobody of
    its family wrote, nobody else rated, or these ratings do not connect the judges (`is_connected`).

    Args:
        judges, generators: the families of each.
        connected: whether the last is asked, as it was not before methods 5.
        exact: as of `additive`.
    """
    own = own_texts(ratings, judges, generators)
    of_others = np.where(own, np.nan, ratings.means)
    if connected and not is_connected(of_others):
        return [None] * len(judges)
    leniency, b = additive(of_others, exact=exact)
    left = ratings.means - leniency[:, np.newaxis] - b
    found: list[Estimate | None] = []
    for of_judge, mine in zip(left, own, strict=True):
        known = ~np.isnan(of_judge)
        if not (mine & known).any() or not (~mine & known).any():
            found.append(None)
            continue
        apart = difference(of_judge[mine], of_judge[~mine], ratings.cluster[mine], ratings.cluster[~mine])
        found.append(apart.within(-ratings.width, ratings.width))
    return found


# --- against people ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgainstPeople:
    """One rater (its mean of repeats) and people's mean of the same text.

    absolute: mean absolute difference; single: the same of each single rating and each single person's; root: root mean
    square difference; bias: rater less people; apart: absolute difference of the two means; intercept, slope: of the
    rater on people (least squares; people's own noise makes the slope flatter); concordance: Lin's; pearson.
    """

    absolute: Estimate
    single: Estimate
    root: Estimate
    bias: Estimate
    apart: float | None
    intercept: Estimate
    slope: Estimate
    concordance: Estimate
    pearson: Estimate


def against_people(
    mine: FloatArray, repeats: FloatArray, people: FloatArray, ratings: Ratings, draws: Draws
) -> AgainstPeople | None:
    """
    Args:
        mine: shape (n_items,); repeats: (n_items, n_repeats); people: (n_people, n_items).
    """
    theirs = column_means(people)
    both = ~np.isnan(mine) & ~np.isnan(theirs)
    if not both.any():
        return None
    cluster, width, n = ratings.cluster, ratings.width, int(both.sum())
    apart = mine - theirs
    each = np.abs(repeats[np.newaxis, :, :] - people[:, :, np.newaxis])
    of_text = column_means(np.moveaxis(each, 1, 2).reshape(-1, each.shape[1]))
    bias = mean(apart, cluster).within(-width, width)
    x, y, g = theirs[both], mine[both], cluster[both]
    sums, clusters = draws.sums(moments(x, y), g), int(np.unique(g).size)
    count, sx, sy, sxx, _syy, sxy = sums.T
    steep = signed_ratio(sxy - sx * sy / count, np.where(np.ptp(x) > 0, sxx - sx**2 / count, 0.0))
    return AgainstPeople(
        absolute=mean(np.abs(apart), cluster).within(0, width),
        single=mean(of_text, cluster).within(0, width),
        root=draws.estimate(
            np.column_stack([np.ones(n), apart[both] ** 2]),
            g,
            lambda of: np.sqrt(signed_ratio(of[:, 1], of[:, 0])),
            n=n,
        ),
        bias=bias,
        apart=None if bias.value is None else abs(bias.value),
        intercept=draws.read((sy - steep * sx) / count, n=n, n_clusters=clusters),
        slope=draws.read(steep, n=n, n_clusters=clusters),
        concordance=concordance(mine, theirs, cluster, draws),
        pearson=correlation(mine, theirs, cluster, draws),
    )


def people_among_themselves(people: Ratings, draws: Draws) -> AgainstPeople | None:
    """Each person as if a judge against the other people, all persons' texts together: what a judge can be held to."""
    n = len(people.raters)
    if n < 2:
        return None
    x = people.means
    mine = np.concatenate(x)
    others = np.concatenate([column_means(np.delete(x, one, axis=0)) for one in range(n)])
    whole = Ratings(
        raters=people.raters,
        values=people.values,
        cluster=np.tile(people.cluster, n),
        generator=np.tile(people.generator, n),
        position=np.tile(people.position, n),
        words=np.tile(people.words, n),
        ends=people.ends,
    )
    found = against_people(mine, mine[:, np.newaxis], others[np.newaxis], whole, draws)
    return found if found is not None and found.absolute is not NOTHING else None
