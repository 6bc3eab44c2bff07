"""Answers that are transitions, as the graphs that statistics take: one of each rater and row. Pure: no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.answers import transitions
from annotation.answers.states import StateGraph, graph_of
from annotation.scheme.spec import QuestionSpec
from reports.data.label_table import LabelTable
from reports.data.values import ValueWords
from reports.stats.answers import IntArray
from reports.stats.graph.states import UNKNOWN, Drawn


@dataclass(frozen=True, eq=False)
class GraphData:
    """of: {(place of the rater, place of the row): its graph}; unanswered: of those that lack some, how many steps have
    no answer."""

    of: Mapping[tuple[int, int], Drawn]
    unanswered: Mapping[tuple[int, int], int] = field(default_factory=dict)


def drawn(graph: StateGraph) -> Drawn:
    """A graph as arrays. Each use of what is not there becomes a node of the step `UNKNOWN` with its edges: nobody else
    has them, so that they count against whoever drew them.

    >>> drawn(graph_of(["egg"], [[{"from": ["egg"], "to": ["yolk", "white"]}]])).edges.tolist()
    [[0, 1], [0, 2]]
    """
    place = {state.id: at for at, state in enumerate(graph.states)}
    nodes = [(state.name, state.step) for state in graph.states]
    edges = [(place[edge.source], place[edge.target]) for edge in graph.edges]
    for lost in graph.lost:
        edges += [(len(nodes), place[made]) for made in lost.made]
        nodes.append((lost.name, UNKNOWN))
    return Drawn.of(nodes, edges)


def graphs(
    table: LabelTable,
    spec: QuestionSpec,
    columns: Mapping[int, Sequence[int]],
    labels: IntArray,
    words: ValueWords,
) -> GraphData:
    """
    Args:
        columns: of each sheet the places of the question's columns, in their order: its steps.
        labels: shape (n_labels, 3): places of assignment and column, number of the answer in `words`.
    """
    answers: dict[int, dict[int, int]] = {}
    for assignment, column, code in labels.tolist():
        answers.setdefault(assignment, {})[column] = code
    of: dict[tuple[int, int], Drawn] = {}
    unanswered: dict[tuple[int, int], int] = {}
    for assignment, given in answers.items():
        work = table.assignments[assignment]
        row = table.rows[work.row]
        steps = [words.examples[given[column]] if column in given else None for column in columns[row.sheet]]
        graph = graph_of(transitions.start(spec, row.facets), steps)
        of[work.rater, work.row] = drawn(graph)
        if graph.unanswered:
            unanswered[work.rater, work.row] = len(graph.unanswered)
    return GraphData(of, unanswered)
