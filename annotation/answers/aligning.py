"""Two lists of records held against each other: which entries are the same, changed, added, dropped. Pure.

Entries are paired one to one, the most alike first, of equally alike ones those whose places in their lists are near.
Two entries are a pair when they have half of what they say in common or more: of each field that one of them fills, a
text the words that both have (Dice's coefficient), a list its texts. The order of the lists does not count, nor does
letter case; places of words are no part of what an entry says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from annotation.scheme.values import ItemsSpec

Record = Mapping[str, Any]
LEAST_ALIKE = 0.5


@dataclass(frozen=True)
class Alignment:
    """Places in the two lists, a and b. `same` and `changed`: pairs, in the order of a; `dropped`: of a alone, `added`:
    of b alone."""

    same: tuple[tuple[int, int], ...]
    changed: tuple[tuple[int, int], ...]
    dropped: tuple[int, ...]
    added: tuple[int, ...]

    @property
    def n_edits(self) -> int:
        return len(self.changed) + len(self.dropped) + len(self.added)

    @property
    def n_entries(self) -> int:
        """Entries of both lists together, a pair once."""
        return len(self.same) + self.n_edits


def aligned(own: ItemsSpec, a: Sequence[Record], b: Sequence[Record]) -> Alignment:
    """
    >>> own = ItemsSpec.model_validate({"fields": [{"key": "task"}]})
    >>> aligned(own, [{"task": "mix well"}, {"task": "bake"}], [{"task": "Bake"}, {"task": "mix"}])
    Alignment(same=((1, 0),), changed=((0, 1),), dropped=(), added=())
    """
    keys = [field.key for field in own.said]
    of_a, of_b = ([_folded(record, keys) for record in of] for of in (a, b))
    found = sorted(
        (-alike, abs(x * max(len(b), 1) - y * max(len(a), 1)), x, y)
        for x, one in enumerate(of_a)
        for y, other in enumerate(of_b)
        if (alike := _alike(one, other)) >= LEAST_ALIKE
    )
    pair_of: dict[int, int] = {}
    taken: set[int] = set()
    for _alikeness, _apart, x, y in found:
        if x not in pair_of and y not in taken:
            pair_of[x] = y
            taken.add(y)
    pairs = sorted(pair_of.items())
    return Alignment(
        same=tuple((x, y) for x, y in pairs if _is_same(of_a[x], of_b[y])),
        changed=tuple((x, y) for x, y in pairs if not _is_same(of_a[x], of_b[y])),
        dropped=tuple(x for x in range(len(a)) if x not in pair_of),
        added=tuple(y for y in range(len(b)) if y not in taken),
    )


def same_fields(own: ItemsSpec, a: Record, b: Record) -> list[bool]:
    """Of each field, whether two records say the same in it."""
    keys = [field.key for field in own.said]
    return [_same(one, other) for one, other in zip(_folded(a, keys), _folded(b, keys), strict=True)]


Field = str | tuple[str, ...]


def _folded(record: Record, keys: Sequence[str]) -> list[Field]:
    fields = (record.get(key) or "" for key in keys)
    return [_fold(field) if isinstance(field, str) else tuple(map(_fold, field)) for field in fields]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_same(a: Sequence[Field], b: Sequence[Field]) -> bool:
    return all(_same(one, other) for one, other in zip(a, b, strict=True))


def _same(a: Field, b: Field) -> bool:
    """Two lists are the same in any order."""
    if not a and not b:
        return True
    return a == b if isinstance(a, str) or isinstance(b, str) else Counter(a) == Counter(b)


def _alike(a: Sequence[Field], b: Sequence[Field]) -> float:
    """From 0 to 1: the mean over the fields that one of the two fills."""
    shares = [_in_common(one, other) for one, other in zip(a, b, strict=True) if one or other]
    return fmean(shares) if shares else 1.0


def _in_common(a: Field, b: Field) -> float:
    parts = [Counter(field.split() if isinstance(field, str) else field) for field in (a, b)]
    return 2 * (parts[0] & parts[1]).total() / (parts[0].total() + parts[1].total())
