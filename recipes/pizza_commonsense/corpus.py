"""Sizes of a corpus of tables (Table 6 of the paper), and what parts for training and testing have in common
(its Appendix D). Pure.

The paper's “words” of inputs and outputs are the things between semicolons: of the two published parts these are 1.57
and 1.01 on average (printed: 1.6 and 1.1), and words 4.7 and 4.9. Both are given. How it compared parts it does not
say; here texts are the same whose letters and digits are, in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from recipes.pizza_commonsense.records import Table

INSTRUCTIONS, WORDS, INPUT_THINGS, INPUT_WORDS, OUTPUT_THINGS, OUTPUT_WORDS = (
    "instructions",
    "instruction-words",
    "input-things",
    "input-words",
    "output-things",
    "output-words",
)
OF_INSTRUCTIONS, OF_INGREDIENTS, OF_DISHES = "instruction", "ingredient", "dish"


@dataclass(frozen=True)
class Size:
    """`n`: recipes, instructions or answered cells that were counted; mean and median are None where there is none."""

    key: str
    mean: float | None
    median: float | None
    n: int


@dataclass(frozen=True)
class Corpus:
    n_recipes: int
    n_instructions: int
    sizes: tuple[Size, ...]


@dataclass(frozen=True)
class Overlap:
    """How much of a part stands in the part that is trained on. `of_all`: of its texts, each as often as it is there;
    `of_different`: of its different texts. None where it has none."""

    part: str
    key: str
    of_all: float | None
    of_different: float | None
    n: int


def corpus(tables: Sequence[Table]) -> Corpus:
    inputs = [said for table in tables for (_line, cell), said in table.cells.items() if cell == "input" and said]
    outputs = [said for table in tables for (_line, cell), said in table.cells.items() if cell == "output" and said]
    instructions = [instruction for table in tables for instruction in table.instructions]
    return Corpus(
        len(tables),
        len(instructions),
        (
            _size(INSTRUCTIONS, [len(table.instructions) for table in tables]),
            _size(WORDS, map(_words, instructions)),
            _size(INPUT_THINGS, map(_things, inputs)),
            _size(INPUT_WORDS, map(_words, inputs)),
            _size(OUTPUT_THINGS, map(_things, outputs)),
            _size(OUTPUT_WORDS, map(_words, outputs)),
        ),
    )


def overlaps(parts: Mapping[str, Sequence[Table]]) -> tuple[Overlap, ...]:
    """The first part is the one that is trained on; the others are held against it. A dish is the last output."""
    trained, *others = parts
    found = []
    for key, texts in _TEXTS.items():
        known = {plain for table in parts[trained] for plain in texts(table)}
        for part in others:
            said = [plain for table in parts[part] for plain in texts(table)]
            different = set(said)
            found.append(
                Overlap(
                    part,
                    key,
                    sum(plain in known for plain in said) / len(said) if said else None,
                    len(different & known) / len(different) if said else None,
                    len(said),
                )
            )
    return tuple(found)


def _size(key: str, counts: Iterable[int]) -> Size:
    said = list(counts)
    return Size(key, mean(said) if said else None, median(said) if said else None, len(said))


def _words(text: str) -> int:
    return len(re.findall(r"\S*\w\S*", text))


def _things(text: str) -> int:
    return sum(bool(part.strip()) for part in text.split(";"))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _dish(table: Table) -> list[str]:
    last = table.said(len(table.instructions) - 1, "output")
    return [_plain(last)] if last else []


_TEXTS: dict[str, Callable[[Table], list[str]]] = {
    OF_INSTRUCTIONS: lambda table: [_plain(text) for text in table.instructions],
    OF_INGREDIENTS: lambda table: [_plain(text) for text in table.ingredients],
    OF_DISHES: _dish,
}
