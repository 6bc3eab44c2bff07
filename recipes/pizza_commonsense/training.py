"""Training data and requests for models elsewhere: tables with masked cells, and what stands behind the masks. Pure.

Text-to-text: {"id", "input": the masked table, "target": what is behind the masks}. Chat: {"id", "messages":
[...]}, the masked table as the user's message and the target as the assistant's; without targets it is what a model
is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum

from recipes.pizza_commonsense import serialised
from recipes.pizza_commonsense.records import CELLS, Place, Table

_SYSTEM = (
    "You fill tables of recipes. Of each step say which food goes in and which food comes out: NA where there is none, "
    "several things in brackets with a semicolon between them, no numbers. Write each mask and behind it what it "
    "stands for."
)


class Masks(StrEnum):
    """Which cells are masked at a time."""

    ALL = "all"  # inputs and outputs of the whole table
    INPUTS = "inputs"
    OUTPUTS = "outputs"
    LINES = "lines"  # an example a line: its input and output, with the lines above it filled and those below masked
    CELLS = "cells"  # an example a cell
    SOME = "some"  # a share of the cells, drawn


def masked(table: Table, masks: Masks, *, seed: int = 1) -> Iterator[frozenset[Place]]:
    """The sets of cells that are masked together; of a table with answers only cells that have one are asked for."""
    every = [(line, cell) for line in range(len(table.instructions)) for cell in CELLS if cell != "action"]
    match masks:
        case Masks.ALL:
            yield frozenset(every)
        case Masks.INPUTS:
            yield serialised.mask(table, ("input",))
        case Masks.OUTPUTS:
            yield serialised.mask(table, ("output",))
        case Masks.LINES:
            for line in range(len(table.instructions)):
                yield frozenset(place for place in every if place[0] >= line)
        case Masks.CELLS:
            yield from (frozenset({place}) for place in every if place in table.cells or not table.cells)
        case Masks.SOME:
            yield serialised.some(table, max(1, len(every) // 4), seed=seed)


def examples(
    tables: Sequence[Table], *, masks: Masks, chat: bool, targets: bool = True, seed: int = 1
) -> Iterator[str]:
    """JSON lines."""
    for table in tables:
        for n, places in enumerate(masked(table, masks, seed=seed)):
            asked = places
            if masks == Masks.LINES:  # what is asked is the first line that is masked
                first = min(place[0] for place in places)
                asked = frozenset(place for place in places if place[0] == first)
            known = frozenset(place for place in asked if place in table.cells)
            if targets and not known:
                continue
            told = {"id": table.id or table.title, "n": n}
            shown, target = serialised.serialise(table, places), serialised.target(table, known)
            if chat:
                messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": shown}]
                messages += [{"role": "assistant", "content": target}] if targets else []
                yield json.dumps(told | {"messages": messages}, ensure_ascii=False) + "\n"
            else:
                pair = {"input": shown, **({"target": target} if targets else {})}
                yield json.dumps(told | pair, ensure_ascii=False) + "\n"
