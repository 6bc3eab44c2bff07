"""Where the states of a graph stand in a drawing that is read from top to bottom, a line a state. Pure.

Each step has a heading; under it stand the things from the beginning that it is the first to use, then what it makes.
Left of the lines runs a lane for each state from where it comes about to where it is used up, and curves lead from the
lanes into what was made. So fifteen steps are as readable as three, and no name has to be cut short for its neighbour.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from annotation.answers.states import StateGraph

LINE = 22  # height of a line in pixels
LANE = 14  # from one lane to the next
LEFT = 10  # of the first lane
LETTER = 6.6  # width of a letter at 12 pixels; East Asian wide ones count twice
_GAP = 8


class Line(StrEnum):
    STEP = "step"  # the heading of a step
    GIVEN = "given"  # a state that is there at the beginning
    MADE = "made"
    GONE = "gone"  # something is thrown away
    LOST = "lost"  # something is used that is not there
    OPEN = "open"  # the step has no answer
    SAME = "same"  # the step changes nothing
    UNUSED = "unused"  # the heading of what no step uses


@dataclass(frozen=True)
class Place:
    """A line of the drawing. `y`: its middle. `x`: of its dot. `step`: the one that it leads to, from 1 on.

    `text` may be cut short, `name` is all of it. `last`: a state that is there in the end.
    """

    kind: Line
    y: float
    x: float
    step: int
    name: str = ""
    text: str = ""
    text_x: float = 0.0
    id: str = ""
    last: bool = False
    parts: int = 0  # so many steps take a part of it and leave the rest


@dataclass(frozen=True)
class Curve:
    """A path of the drawing from one state to another, or to where it is thrown away. `d` as SVG has it."""

    d: str
    step: int
    gone: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Band:
    """The lines of one step, to be lit as a whole."""

    step: int
    y: float
    height: float


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    lanes: int
    places: Sequence[Place]
    curves: Sequence[Curve]
    bands: Sequence[Band] = field(default_factory=tuple)


def drawn(graph: StateGraph, *, width: int = 420) -> Drawing:
    """The drawing of a graph, at least `width` pixels wide."""
    lines = _lines(graph)
    rows = {of: row for row, (_kind, _step, of, _name) in enumerate(lines) if of}
    used_at = _used_at(graph, rows)
    lanes = _lanes(graph, lines, rows, used_at)
    n_lanes = max(lanes.values(), default=0) + 1
    text_x = LEFT + n_lanes * LANE + 6
    room = max(width - text_x - _GAP, 120)
    final = set(graph.worlds[-1])
    stays: dict[str, int] = {}
    for ids in graph.stayed.values():
        for of in ids:
            stays[of] = stays.get(of, 0) + 1
    places: list[Place] = []
    curves: list[Curve] = []
    bands: list[Band] = []
    for row, (kind, step, of, name) in enumerate(lines):
        y = LINE * row + LINE / 2
        is_state = kind in (Line.GIVEN, Line.MADE)
        x = _x(lanes[of]) if of in lanes else _x(0)
        parts = stays.get(of, 0) if is_state else 0
        text = _cut(name, room)
        places.append(Place(kind, y, x, step, name, text, text_x, of, is_state and of in final, parts))
        if kind == Line.STEP and bands and bands[-1].step != step:
            bands[-1] = Band(bands[-1].step, bands[-1].y, y - LINE / 2 - bands[-1].y)
        if kind == Line.STEP:
            bands.append(Band(step, y - LINE / 2, 0))
        if kind == Line.UNUSED and bands:
            bands[-1] = Band(bands[-1].step, bands[-1].y, y - LINE / 2 - bands[-1].y)
    height = LINE * len(lines)
    if bands and bands[-1].height == 0:
        bands[-1] = Band(bands[-1].step, bands[-1].y, height - bands[-1].y)
    for edge in graph.edges:
        ends = (_x(lanes[edge.source]), _y(rows[edge.source])), (_x(lanes[edge.target]), _y(rows[edge.target]))
        curves.append(Curve(_path(*ends), edge.step))
    for of, step in graph.thrown.items():
        row = rows[f"gone {of}"]
        curves.append(Curve(_path((_x(lanes[of]), _y(rows[of])), (_x(lanes[f"gone {of}"]), _y(row))), step, gone=True))
    for number, lost in enumerate(graph.lost):
        source = f"lost {number}"
        for target in lost.made:
            ends = (_x(lanes[source]), _y(rows[source])), (_x(lanes[target]), _y(rows[target]))
            curves.append(Curve(_path(*ends), lost.step, lost=True))
    return Drawing(width, height, n_lanes, places, curves, bands)


_Line = tuple[Line, int, str, str]  # kind, step, id (of lines with a dot), text


def _lines(graph: StateGraph) -> list[_Line]:
    names = graph.by_id
    first: dict[int, list[str]] = {}
    unused = []
    for state in graph.initial:
        step = graph.first_use(state.id)
        if step is None:
            unused.append(state)
        else:
            first.setdefault(step, []).append(state.id)
    lines: list[_Line] = []
    for step in range(1, graph.steps + 1):
        lines.append((Line.STEP, step, "", str(step)))
        lines += [(Line.GIVEN, step, of, names[of].name) for of in first.get(step, [])]
        missed = [(number, lost) for number, lost in enumerate(graph.lost) if lost.step == step]
        lines += [(Line.LOST, step, f"lost {number}", lost.name) for number, lost in missed]
        lines += [(Line.MADE, step, state.id, state.name) for state in graph.made_at(step)]
        gone = [of for of, at in graph.thrown.items() if at == step]
        lines += [(Line.GONE, step, f"gone {of}", names[of].name) for of in gone]
        if step in graph.unanswered:
            lines.append((Line.OPEN, step, "", ""))
        elif lines[-1][0] == Line.STEP:
            lines.append((Line.SAME, step, "", ""))
    if unused:
        lines.append((Line.UNUSED, 1, "", ""))
        lines += [(Line.GIVEN, 1, state.id, state.name) for state in unused]
    return lines


def _used_at(graph: StateGraph, rows: dict[str, int]) -> dict[str, int]:
    """{id: the last line to which its lane leads}. What is there in the end has no lane below its dot."""
    last: dict[str, int] = {}
    for edge in graph.edges:
        last[edge.source] = max(last.get(edge.source, 0), rows[edge.target])
    for of in graph.thrown:
        last[of] = max(last.get(of, 0), rows[f"gone {of}"])
    for number, lost in enumerate(graph.lost):
        last[f"lost {number}"] = max((rows[target] for target in lost.made), default=rows[f"lost {number}"])
    return last


def _lanes(graph: StateGraph, lines: Sequence[_Line], rows: dict[str, int], used_at: dict[str, int]) -> dict[str, int]:
    """{id: its lane}. What is made takes over the lane of what is used up for the last time in its line."""
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    for number, lost in enumerate(graph.lost):
        for target in lost.made:
            sources.setdefault(target, []).append(f"lost {number}")
    for of in graph.thrown:
        sources[f"gone {of}"] = [of]
    lanes: dict[str, int] = {}
    free_from: list[int] = []  # of each lane: the first line in which it is free
    for row, (_kind, _step, of, _name) in enumerate(lines):
        if not of:
            continue
        handed = sorted(lanes[s] for s in sources.get(of, []) if s in lanes and used_at.get(s, rows[s]) == row)
        lane = handed[0] if handed else next((n for n, until in enumerate(free_from) if until <= row), len(free_from))
        if lane == len(free_from):
            free_from.append(0)
        lanes[of] = lane
        free_from[lane] = max(used_at.get(of, row), row) + (0 if of in used_at else 1)
        for other in handed[1:]:
            free_from[other] = row + 1
        # Until its line is over, nothing else begins in a lane that ends there.
        free_from[lane] = max(free_from[lane], row + 1)
    return lanes


def _x(lane: int) -> float:
    return LEFT + lane * LANE


def _y(row: int) -> float:
    return LINE * row + LINE / 2


def _path(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Down the lane of the source, then a curve into the line of the target."""
    (x1, y1), (x2, y2) = start, end
    if x1 == x2:
        return f"M{x1:g} {y1:g}V{y2:g}"
    bend = y2 - LINE * 0.8
    return f"M{x1:g} {y1:g}V{bend:g}C{x1:g} {y2:g} {x1:g} {y2:g} {x2:g} {y2:g}"


def _cut(text: str, room: float) -> str:
    """As much of a text as there is room for.

    >>> _cut("finely chopped onion", 80), _cut("みじん切りの玉ねぎ", 80)
    ('finely cho…', 'みじん切…')
    """
    width = 0.0
    for place, sign in enumerate(text):
        width += LETTER * (1.9 if unicodedata.east_asian_width(sign) in "WF" else 1)
        if width > room:
            used, end = width, place
            while end and used > room - LETTER:
                end -= 1
                used -= LETTER * (1.9 if unicodedata.east_asian_width(text[end]) in "WF" else 1)
            return text[:end].rstrip() + "…"
    return text
