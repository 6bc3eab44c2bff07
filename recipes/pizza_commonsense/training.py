"""Training data and requests for models elsewhere: tables with masked cells, and what stands behind the masks. Pure.

Text-to-text: {"id", "input": the masked table, "target": what is behind the masks}, with the masks of this pack or with
T5's; of a table without answers the input alone, which is what a model is asked. Chat: {"id", "messages":
[...]}, the masked table as the user's message and the target as the assistant's; without targets it is what a model
is asked. Demonstrations can stand before it, other tables with their targets, and it can be asked to think first."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from base.sentences import gettext as _
from recipes.pizza_commonsense import serialised
from recipes.pizza_commonsense.clusters import keys_of
from recipes.pizza_commonsense.records import CELLS, Place, Table, TablesRefused, called

MOST_DEMONSTRATIONS = 8
_TASK = (
    "You fill tables of recipes. Of each step say which food goes in and which food comes out: NA where there is none, "
    "several things in brackets with a semicolon between them, no numbers."
)
_FORM = " Write each mask and behind it what it stands for."
_THINKING = (
    " Think step by step first, in a few short sentences. Then write the word ANSWER on a line of its own, and below "
    "it each mask and behind it what it stands for."
)
_ANSWER = "ANSWER\n"


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


@dataclass(frozen=True)
class Asking:
    """How a model is asked. `thinking`: it is to think before it answers; `demonstrations`: so many tables of `pool`,
    drawn anew for each table, stand before it with what is right."""

    thinking: bool = False
    demonstrations: int = 0
    pool: Sequence[Table] = ()


def examples(
    tables: Sequence[Table],
    *,
    masks: Masks,
    chat: bool,
    targets: bool = True,
    seed: int = 1,
    asking: Asking | None = None,
    sentinels: bool = False,
) -> Iterator[str]:
    """JSON lines, in which each table is called as `records.called` says. `asking`: of requests, which are in the chat
    form and without targets. `sentinels`: with T5's masks.

    Raises:
        TablesRefused: the pool has fewer tables that can be demonstrations of another than are wanted; a table has more
            cells than T5 has sentinels.
    """
    asking = asking or Asking()
    system = _TASK + (_THINKING if asking.thinking else _FORM)
    pool = [(one, sets) for one in asking.pool if (sets := _complete(one, masks, seed=seed))]
    for table, name in zip(tables, called(tables), strict=True):
        if sentinels and 2 * len(table.instructions) > serialised.SENTINELS:
            raise TablesRefused(
                _("“%(title)s” has %(n)s instructions; T5 has masks for %(most)s.")
                % {"title": table.title, "n": len(table.instructions), "most": serialised.SENTINELS // 2}
            )
        before = list(_demonstrated(table, pool, asking, masks, seed=seed))
        for n, places in enumerate(masked(table, masks, seed=seed)):
            asked = _asked(places, masks)
            known = frozenset(place for place in asked if place in table.cells)
            if targets and not known and (chat or table.cells):
                continue
            told = {"id": name, "n": n}
            shown = serialised.serialise(table, places, sentinels=sentinels)
            target = serialised.target(table, known, sentinels=sentinels)
            if chat:
                messages = [{"role": "system", "content": system}, *before, {"role": "user", "content": shown}]
                messages += [{"role": "assistant", "content": target}] if targets else []
                yield json.dumps(told | {"messages": messages}, ensure_ascii=False) + "\n"
            else:
                pair = {"input": shown, **({"target": target} if targets and known else {})}
                yield json.dumps(told | pair, ensure_ascii=False) + "\n"


def _asked(places: frozenset[Place], masks: Masks) -> frozenset[Place]:
    """What is asked for of cells that are masked together: step by step it is the first line."""
    if masks != Masks.LINES:
        return places
    first = min(line for line, _cell in places)
    return frozenset(place for place in places if place[0] == first)


def _demonstrated(
    table: Table, pool: Sequence[tuple[Table, list[frozenset[Place]]]], asking: Asking, masks: Masks, *, seed: int
) -> Iterator[dict[str, str]]:
    """Messages of other tables of the pool with what is right, masked as the table will be: the same ones for the same
    table and seed (for each sample tables are drawn, section 4.1 of the paper)."""
    if not asking.demonstrations:
        return
    draw = random.Random(f"{seed}:{table.id}:{table.title}:demonstrations")  # noqa: S311
    own = set(keys_of(table))
    others = [(one, sets) for one, sets in pool if own.isdisjoint(keys_of(one))]
    if len(others) < asking.demonstrations:
        raise TablesRefused(
            _("For “%(title)s” there are only %(n)s tables with all answers to draw demonstrations from.")
            % {"title": table.title, "n": len(others)}
        )
    for one, sets in draw.sample(others, asking.demonstrations):
        places = draw.choice(sets)
        target = serialised.target(one, _asked(places, masks))
        yield {"role": "user", "content": serialised.serialise(one, places)}
        yield {"role": "assistant", "content": (_ANSWER if asking.thinking else "") + target}


def _complete(table: Table, masks: Masks, *, seed: int) -> list[frozenset[Place]]:
    """The sets of cells that can be masked of a table and of which all that is asked has an answer."""
    return [places for places in masked(table, masks, seed=seed) if _asked(places, masks) <= table.cells.keys()]
