"""Splits of recipes into parts for training and testing, by clusters of their ingredients (section 3 of the paper).
Pure.

Foods without their amounts are counted as words, weighted by how few recipes have them; recipes are merged step by
step into clusters by the mean cosine between them. Then either each cluster gives its share to each part, so that
all parts have the same foods (`within`, the paper's), or whole clusters go to one part, so that what is tested was
not trained (`apart`)."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from base.sentences import gettext as _
from recipes.pizza_commonsense.records import Table, TablesRefused, names

PARTS = TRAIN, DEV, TEST = ("train", "dev", "test")
ALL = "all"
WAYS = WITHIN, APART, CHANCE = ("within", "apart", "chance")
GIVEN = "given"  # drawn by nobody here
# As the published parts: 744 and 84 of the 1087 recipes, and the rest.
SHARES = {"train": 744 / 1087, "dev": 84 / 1087, "test": 259 / 1087}
_CLOSE = 0.75  # cosine distance at which clusters are merged no more


@dataclass(frozen=True)
class Split:
    """`parts`: the places of the tables in each part; `clusters`: the cluster of each table."""

    parts: Mapping[str, tuple[int, ...]]
    clusters: tuple[int, ...]
    way: str
    seed: int

    def as_json(self, tables: Sequence[Table]) -> str:
        ids = {
            part: [tables[place].id or tables[place].title for place in places] for part, places in self.parts.items()
        }
        told = {"seed": self.seed, "way": self.way, "clusters": len(set(self.clusters)), **ids}
        return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def split(tables: Sequence[Table], *, seed: int, way: str = WITHIN, shares: Mapping[str, float] | None = None) -> Split:
    """Split tables. Those with one id, or the same ingredients and instructions, stay together.

    Raises:
        TablesRefused: fewer tables than parts, or shares that are none.
    """
    shares = shares or SHARES
    if min(shares.values()) < 0 or sum(shares.values()) <= 0:
        raise TablesRefused(_("Shares are positive numbers."))
    if len(tables) < len(shares):
        raise TablesRefused(_("These are fewer recipes than parts."))
    if way not in WAYS:
        raise TablesRefused(_("There is no way “%(way)s” to split.") % {"way": way})
    units = _units(tables)
    of_units = clusters_of([tables[unit[0]] for unit in units]) if way != CHANCE else [0] * len(units)
    draw = random.Random(seed)  # noqa: S311
    groups: dict[int, list[int]] = {}
    for unit, cluster in enumerate(of_units):
        groups.setdefault(cluster, []).append(unit)
    blocks = [list(groups[cluster]) for cluster in sorted(groups)]
    for block in blocks:
        draw.shuffle(block)
    draw.shuffle(blocks)
    if way == APART:
        blocks.sort(key=len, reverse=True)  # large ones first, else they do not fit any more
        pieces = blocks
    else:
        pieces = [[unit] for block in blocks for unit in block]
    total = sum(shares.values())
    wanted = {part: share / total * len(tables) for part, share in shares.items()}
    parts: dict[str, list[int]] = {part: [] for part in shares}
    for piece in pieces:
        places = [place for unit in piece for place in units[unit]]
        # The part that is furthest behind its share; within a cluster its members so go round all parts.
        part = min(parts, key=lambda name: (len(parts[name]) + len(places) / 2) / max(wanted[name], 1e-9))
        parts[part] += places
    cluster_of = {place: of_units[unit] for unit, places in enumerate(units) for place in places}
    return Split(
        {part: tuple(sorted(places)) for part, places in parts.items()},
        tuple(cluster_of[place] for place in range(len(tables))),
        way,
        seed,
    )


def given(tables: Sequence[Table], parts: Mapping[str, Sequence[Table]]) -> Split:
    """The split that published files make: a table is in the part that has it, by its id, or where it has none by its
    ingredients and instructions; one that no part has is in none.

    Raises:
        TablesRefused: two parts have a table, or none has any.
    """
    part_of: dict[object, str] = {}
    for part, known in parts.items():
        for table in known:
            if part_of.setdefault(_key(table), part) != part:
                raise TablesRefused(_("“%(title)s” is in two parts.") % {"title": table.title[:80]})
    places = {part: tuple(n for n, one in enumerate(tables) if part_of.get(_key(one)) == part) for part in parts}
    if not any(places.values()):
        raise TablesRefused(_("None of the tables is in any of these parts."))
    return Split(places, (1,) * len(tables), GIVEN, 0)


def _key(table: Table) -> object:
    return keys_of(table)[0]


def in_part(tables: Sequence[Table], part: str, *, way: str, seed: int, made: Split | None = None) -> list[Table]:
    """The tables of a part of a split, or of `ALL`. `made`: the split, where it is not to be drawn.

    Raises:
        TablesRefused: as from `split`, or there is no such part.
    """
    if part == ALL:
        return list(tables)
    if part not in PARTS or (made is not None and part not in made.parts):
        raise TablesRefused(_("There is no part “%(part)s”.") % {"part": part})
    return [tables[place] for place in (made or split(tables, seed=seed, way=way)).parts[part]]


def keys_of(table: Table) -> list[object]:
    """By each of these a table is the same recipe as another."""
    return [*([("id", table.id)] if table.id else []), ("text", (table.ingredients, table.instructions))]


def _units(tables: Sequence[Table]) -> list[list[int]]:
    """Tables that must stay together, by their places.

    A unit that another one joins goes into the larger of the two, so that a thousand tables of one recipe are not gone
    through anew for each of them.
    """
    unit_of: list[list[int]] = []
    first: dict[object, int] = {}  # by each key the first table that has it
    for place, table in enumerate(tables):
        unit_of.append([place])
        for key in keys_of(table):
            small, large = sorted((unit_of[place], unit_of[first.setdefault(key, place)]), key=len)
            if small is not large:
                large += small
                for one in small:
                    unit_of[one] = large
    return sorted({id(unit): sorted(unit) for unit in unit_of}.values())


def clusters_of(tables: Sequence[Table]) -> list[int]:
    """The cluster of each table, numbered from 1 by the first table in each."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    if len(tables) < 2:
        return [1] * len(tables)
    distances = np.clip(np.nan_to_num(pdist(_vectors(tables), "cosine"), nan=1.0), 0, 2)
    found = fcluster(linkage(distances, "average"), _CLOSE, "distance").tolist()
    order = {cluster: n for n, cluster in enumerate(dict.fromkeys(found), start=1)}
    return [order[cluster] for cluster in found]


def _vectors(tables: Sequence[Table]) -> NDArray[np.float64]:
    words = [Counter(_words(table)) for table in tables]
    within = Counter(word for of_table in words for word in of_table)
    vocabulary = {word: n for n, word in enumerate(sorted(within))}
    matrix = np.zeros((len(tables), max(len(vocabulary), 1)))
    for row, of_table in enumerate(words):
        for word in of_table:
            matrix[row, vocabulary[word]] = np.log((1 + len(tables)) / (1 + within[word])) + 1
    return matrix


def _words(table: Table) -> list[str]:
    said = " ".join(names(table.ingredients)) or " ".join(table.instructions)
    return [word.removesuffix("s") for word in re.findall(r"[^\W\d_]{3,}", said.casefold())]
