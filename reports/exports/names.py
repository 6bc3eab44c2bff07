"""What files of a report are called: by the keys of tables and figures, in which names of raters stand. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable


def file_name(key: str) -> str:
    """A name that is one everywhere: what a rater's code holds may end a folder, or a header.

    >>> file_name('acts.confusion-of.google/gemma "2"')
    'acts.confusion-of.google-gemma--2-'
    """
    return re.sub(r"[^\w.-]", "-", key, flags=re.ASCII)


def file_names(keys: Iterable[str]) -> list[str]:
    """`file_name` of each, each once, also where “A” and “a” are one file.

    >>> file_names(["a/b", "a-b", "A b"])
    ['a-b', 'a-b-2', 'A-b-3']
    """
    names: list[str] = []
    taken: set[str] = set()
    for key in keys:
        name, n = file_name(key), 1
        while (said := name if n == 1 else f"{name}-{n}").lower() in taken:
            n += 1
        taken.add(said.lower())
        names.append(said)
    return names
