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
    names = FileNames()
    return [names.new(key) for key in keys]


class FileNames:
    """As `file_names`, one after the other."""

    def __init__(self) -> None:
        self._taken = set[str]()

    def new(self, key: str) -> str:
        name, n = file_name(key), 1
        while (said := name if n == 1 else f"{name}-{n}").lower() in self._taken:
            n += 1
        self._taken.add(said.lower())
        return said
