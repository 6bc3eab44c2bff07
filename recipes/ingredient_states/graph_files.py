"""Graphs of states as files: states and edges for JSON, GraphML and DOT; GraphML is read as well. Pure.

A state has its `id`, `name`, `step` (0: there at the beginning), `until`, the last step after which it exists, and
`thrown`, the step that throws it away, where one does. An edge has `source`, `target` and `step`. Of a state that a
step uses and that exists afterwards, that step took a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lxml import etree

from annotation.answers.states import Edge, State, StateGraph, cycle, graph_of, transitions_of
from base.sentences import SentenceError, gettext_noop

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


class GraphRefused(SentenceError, ValueError):
    """No graph of states; its text is a sentence."""


def until(graph: StateGraph) -> dict[str, int]:
    """{id: the last step after which the state exists}; of what the step that makes it throws away, the one before."""
    found = {state.id: state.step - 1 for state in graph.states}
    for step, world in enumerate(graph.worlds):
        found |= dict.fromkeys(world, step)
    return found


def to_states(graph: StateGraph) -> dict[str, Any]:
    """For JSON: states, edges, worlds (the ids of what exists at the beginning and after each step) and problems."""
    last = until(graph)
    states: list[dict[str, Any]] = []
    for state in graph.states:
        told = {"id": state.id, "name": state.name, "step": state.step, "until": last[state.id]}
        states.append(told | ({"thrown": graph.thrown[state.id]} if state.id in graph.thrown else {}))
    return {
        "states": states,
        "edges": [{"source": edge.source, "target": edge.target, "step": edge.step} for edge in graph.edges],
        "worlds": [list(world) for world in graph.worlds],
        "problems": [
            {"step": one.step, "fault": str(one.fault), "name": one.name} | ({"other": one.other} if one.other else {})
            for one in graph.problems
        ],
    }


def from_states(states: Any, edges: Any, steps: int) -> StateGraph:
    """The graph of states and edges that come from elsewhere; `until` and the steps of edges may be missing.

    Raises:
        GraphRefused: a state or an edge is none; an edge leads to nowhere, back in time or in a circle; something is
            used after it is over; two things that exist at once have one name.
    """
    nodes = _nodes(states, steps)
    links = _links(edges, nodes)
    if found := cycle((edge.source, edge.target) for edge in links):
        names = " → ".join(nodes[of]["name"] for of in found)
        raise GraphRefused(gettext_noop("It goes in a circle: %(names)s."), names=names)
    for edge in links:
        source, target = nodes[edge.source], nodes[edge.target]
        told = {"source": source["name"], "target": target["name"]}
        if edge.step != target["step"] or source["step"] >= edge.step:
            raise GraphRefused(
                gettext_noop("The edge from “%(source)s” to “%(target)s” does not lead to a later step."), **told
            )
        if source["until"] is not None and source["until"] < edge.step - 1:
            raise GraphRefused(
                gettext_noop("“%(source)s” is over before step %(n)s uses it."), source=source["name"], n=edge.step
            )
    uses: dict[str, list[int]] = {}
    for edge in links:
        uses.setdefault(edge.source, []).append(edge.step)
    stayed: dict[int, tuple[str, ...]] = {}
    for of, node in nodes.items():
        used = sorted({*uses.get(of, []), *([node["thrown"]] if node["thrown"] else [])})
        last = node["until"] if node["until"] is not None else (used[-1] - 1 if used else steps)
        node["until"] = last
        for step in used:
            if last >= step:
                stayed[step] = (*stayed.get(step, ()), of)
    given = StateGraph(
        steps,
        tuple(State(of, node["name"], node["step"]) for of, node in nodes.items()),
        tuple(sorted(links, key=lambda edge: edge.step)),
        tuple(tuple(of for of, n in nodes.items() if n["step"] <= t <= n["until"]) for t in range(steps + 1)),
        {of: node["thrown"] for of, node in nodes.items() if node["thrown"]},
        stayed,
        (),
        (),
        (),
    )
    made = graph_of([state.name for state in given.initial], transitions_of(given))
    called = [{of: (s.step, s.name) for of, s in graph.by_id.items()} for graph in (given, made)]
    pairs = [
        {(of[e.source], of[e.target]) for e in graph.edges} for of, graph in zip(called, (given, made), strict=True)
    ]
    worlds = [
        [sorted(of[state] for state in world) for world in graph.worlds]
        for of, graph in zip(called, (given, made), strict=True)
    ]
    if pairs[0] != pairs[1] or worlds[0] != worlds[1]:
        raise GraphRefused(
            gettext_noop("Its states cannot be told apart by their names, or one is over though no step uses it.")
        )
    return made


def _nodes(states: Any, steps: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for told in states if isinstance(states, list) else []:
        try:
            of, name, step = str(told["id"]), " ".join(str(told["name"]).split()), int(told["step"])
            last, thrown = told.get("until"), told.get("thrown")
            node = {"name": name, "step": step, "until": None if last in (None, "") else int(last)}
            node["thrown"] = None if thrown in (None, "") else int(thrown)
        except (TypeError, KeyError, ValueError, AttributeError):
            raise GraphRefused(gettext_noop("A state has not an id, a name and the number of its step.")) from None
        if not name or of in found or not 0 <= step <= steps:
            raise GraphRefused(
                gettext_noop("The state “%(id)s” has no name, comes twice, or is of no step from 0 to %(n)s."),
                id=of,
                n=steps,
            )
        found[of] = node
    if not found:
        raise GraphRefused(gettext_noop("It has no states."))
    return found


def _links(edges: Any, nodes: Mapping[str, Mapping[str, Any]]) -> list[Edge]:
    found: dict[Edge, None] = {}
    for told in edges if isinstance(edges, list) else []:
        try:
            source, target = str(told["source"]), str(told["target"])
            step = told.get("step")
            edge = Edge(source, target, nodes[target]["step"] if step in (None, "") else int(step))
            nodes[source]
        except (TypeError, KeyError, ValueError, AttributeError):
            raise GraphRefused(gettext_noop("An edge does not lead from one of the states to another.")) from None
        found[edge] = None
    return list(found)


# --- GraphML ----------------------------------------------------------------------------------------------------------

_KEYS = (
    ("graph", "title", "string"),
    ("graph", "rater", "string"),
    ("graph", "kind", "string"),
    ("graph", "steps", "int"),
    ("node", "name", "string"),
    ("node", "step", "int"),
    ("node", "until", "int"),
    ("node", "thrown", "int"),
    ("edge", "step", "int"),
)


def to_graphml(graphs: Iterable[tuple[str, str, str, StateGraph]]) -> str:
    """(title, rater, kind of rater, graph) of each as one GraphML file."""
    root = etree.Element(f"{{{NAMESPACE}}}graphml", nsmap={None: NAMESPACE})
    for of, name, kind in _KEYS:
        etree.SubElement(root, "key", {"id": f"{of}-{name}", "for": of, "attr.name": name, "attr.type": kind})

    def put(parent: etree._Element, of: str, name: str, value: object) -> None:
        etree.SubElement(parent, "data", {"key": f"{of}-{name}"}).text = str(value)

    for number, (title, rater, kind, graph) in enumerate(graphs, start=1):
        drawn = etree.SubElement(root, "graph", {"id": f"g{number}", "edgedefault": "directed"})
        for name, value in (("title", title), ("rater", rater), ("kind", kind), ("steps", graph.steps)):
            put(drawn, "graph", name, value)
        last = until(graph)
        for state in graph.states:
            node = etree.SubElement(drawn, "node", {"id": f"g{number}:{state.id}"})
            for name, value in (("name", state.name), ("step", state.step), ("until", last[state.id])):
                put(node, "node", name, value)
            if state.id in graph.thrown:
                put(node, "node", "thrown", graph.thrown[state.id])
        for edge in graph.edges:
            ends = {"source": f"g{number}:{edge.source}", "target": f"g{number}:{edge.target}"}
            put(etree.SubElement(drawn, "edge", ends), "edge", "step", edge.step)
    etree.indent(root)
    written: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'


def read_graphml(text: str) -> list[tuple[str, str, str, StateGraph]]:
    """(title, rater, kind, graph) of each graph of a GraphML file; keys are known by their `attr.name`.

    Raises:
        GraphRefused: no GraphML, or a graph that is none of states; the sentence names it.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        raise GraphRefused(gettext_noop("This is no XML: %(why)s."), why=str(error)) from None
    names = {one.get("id"): one.get("attr.name") for one in root.iter("{*}key")}

    def data(of: etree._Element) -> dict[str, str]:
        return {names.get(one.get("key"), ""): (one.text or "").strip() for one in of.findall("{*}data")}

    found = []
    for number, graph in enumerate(root.iter("{*}graph"), start=1):
        own = data(graph)
        states = [data(node) | {"id": node.get("id")} for node in graph.findall("{*}node")]
        edges = [
            data(edge) | {"source": edge.get("source"), "target": edge.get("target")}
            for edge in graph.findall("{*}edge")
        ]
        try:
            told = [int(state["step"]) for state in states]
            steps = int(own.get("steps") or max(told, default=0))
            made = from_states(states, edges, steps)
        except (GraphRefused, KeyError, ValueError) as why:
            raise GraphRefused(
                gettext_noop("Graph %(n)s (%(title)s): %(why)s"), n=number, title=own.get("title", "?"), why=str(why)
            ) from None
        found.append((own.get("title", ""), own.get("rater", ""), own.get("kind") or "person", made))
    if not found:
        raise GraphRefused(gettext_noop("There is no graph in it."))
    return found


# --- DOT --------------------------------------------------------------------------------------------------------------


def to_dot(graphs: Sequence[tuple[str, str, str, StateGraph]]) -> str:
    """Graphs as DOT, each a cluster of its own; states of one step stand at one rank."""
    lines = ["digraph states {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for number, (title, rater, _kind, graph) in enumerate(graphs, start=1):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(f'{title} · {rater}')};")
        for step in range(graph.steps + 1):
            of_step = [state for state in graph.states if state.step == step]
            for state in of_step:
                shape = ", shape=ellipse" if step == 0 else ""
                thrown = ", style=dashed" if state.id in graph.thrown else ""
                lines.append(f'    "g{number}:{state.id}" [label={_quoted(state.name)}{shape}{thrown}];')
            if of_step:
                same = " ".join(f'"g{number}:{state.id}";' for state in of_step)
                lines.append(f"    {{ rank=same; {same} }}")
        lines += [
            f'    "g{number}:{edge.source}" -> "g{number}:{edge.target}" [label="{edge.step}"];' for edge in graph.edges
        ]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
