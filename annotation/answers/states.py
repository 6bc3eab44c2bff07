"""The graph of states that transitions make: what exists after each step, what became of what, what cannot be. Pure.

A *state* is a thing as it is for a while: each that is there at the beginning (step 0), and each that a step makes. An
*edge* says that a step made one state of another. The *world* after step t is the set of the states that exist then,
W(t) = (W(t-1) without what the step used up) and what it made, with W(0) what is there at the beginning
(Toyooka, Aizawa and Yamakata, section 3.2).

Of a thing a part of which stays as it was, that part is the same state still: no edge leads from it to itself, so that
the graph has no cycle. What is thrown away ends without an edge, also in the step that made it. A name means what is
called so when the step begins, without regard to case; where two things have it, both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

Given = Mapping[str, Sequence[str]]  # a transition: "from" and "to" -> names


class State(NamedTuple):
    """`step`: the step that made it, 0 for what is there at the beginning. `id` is “step.number”, such as “3.1”."""

    id: str
    name: str
    step: int


class Edge(NamedTuple):
    """A step made the state `target` of the state `source`; both are ids."""

    source: str
    target: str
    step: int


class Fault(StrEnum):
    UNKNOWN = "unknown"  # used, and nothing is ever called so
    EARLY = "early"  # used before it exists
    SAME_STEP = "same-step"  # used in the step that makes it
    CONSUMED = "consumed"  # used after it was used up
    ALIKE = "alike"  # made, or there, beside another thing of its name
    UNREACHED = "unreached"  # there at the beginning, and no step uses it
    CREATED = "created"  # made of nothing
    CYCLE = "cycle"  # becomes itself by a detour; of graphs that come from elsewhere


class Problem(NamedTuple):
    """`step`: where it shows. `other`: the step that used it up or makes it later, where there is one."""

    step: int
    fault: Fault
    name: str
    other: int = 0


class Lost(NamedTuple):
    """What a step uses though it is not there, and the ids of what it makes of it: kept, though it has no place."""

    step: int
    name: str
    made: tuple[str, ...]


@dataclass(frozen=True)
class StateGraph:
    """What the answers of one rater say of one table.

    Attributes:
        steps: how many steps the table has (T).
        states: in the order in which they come about.
        edges: without repetition, in the order of their steps.
        worlds: T + 1 tuples of ids: what exists at the beginning and after each step.
        thrown: {id: the step that threw it away}
        stayed: {step: ids of which a part stays as it was}
        unanswered: the steps that have no answer; nothing changes there.
        lost: what is used though it is not there.
        problems: what cannot be, in the order of the steps.
    """

    steps: int
    states: tuple[State, ...]
    edges: tuple[Edge, ...]
    worlds: tuple[tuple[str, ...], ...]
    thrown: Mapping[str, int]
    stayed: Mapping[int, tuple[str, ...]]
    unanswered: tuple[int, ...]
    lost: tuple[Lost, ...]
    problems: tuple[Problem, ...]

    @property
    def by_id(self) -> dict[str, State]:
        return {state.id: state for state in self.states}

    @property
    def initial(self) -> tuple[State, ...]:
        """What is there at the beginning (the W of the paper's appendix B)."""
        return tuple(state for state in self.states if state.step == 0)

    def made_at(self, step: int) -> tuple[State, ...]:
        return tuple(state for state in self.states if state.step == step)

    def world(self, step: int) -> tuple[State, ...]:
        """What exists after a step; of 0 what is there at the beginning."""
        known = self.by_id
        return tuple(known[of] for of in self.worlds[step])

    def first_use(self, of: str) -> int | None:
        """The first step that uses a state, wholly or a part of it, or throws it away; None where none does."""
        steps = [edge.step for edge in self.edges if edge.source == of]
        return min([*steps, self.thrown[of]] if of in self.thrown else steps, default=None)

    def descendants(self, of: str) -> frozenset[str]:
        """The ids of what has come of a state, itself among them: what contains it."""
        found = {of}
        for edge in self.edges:  # in the order of steps, so once is enough
            if edge.source in found:
                found.add(edge.target)
        return frozenset(found)


def graph_of(start: Iterable[str], answers: Sequence[Sequence[Given] | None]) -> StateGraph:
    """The graph of a table.

    Args:
        start: names of what is there at the beginning.
        answers: the transitions of each step from the first one on; None for a step without an answer.

    >>> made = graph_of(["flour", "water", "salt"], [[{"from": ["flour", "water"], "to": ["dough"]}]])
    >>> [state.name for state in made.world(1)]
    ['salt', 'dough']
    >>> [(edge.source, edge.target) for edge in made.edges]
    [('0.1', '1.1'), ('0.2', '1.1')]
    """
    building = _Building(start, answers)
    for step, answer in enumerate(answers, start=1):
        building.take(step, answer)
    return building.graph()


class _Building:
    def __init__(self, start: Iterable[str], answers: Sequence[Sequence[Given] | None]) -> None:
        self.states: list[State] = []
        self.edges: dict[Edge, None] = {}
        self.worlds: list[tuple[str, ...]] = []
        self.thrown: dict[str, int] = {}
        self.stayed: dict[int, tuple[str, ...]] = {}
        self.unanswered: list[int] = []
        self.lost: list[Lost] = []
        self.problems: list[Problem] = []
        self.alive: dict[str, list[State]] = {}  # folded name -> what is called so
        self.gone: dict[str, int] = {}  # folded name -> the step that used it up last
        self.makers = [
            {name.casefold() for one in answer or () for name in one["to"] if name.casefold() != _stays(one)}
            for answer in answers
        ]
        for name in start:
            if name.casefold() in self.alive:
                self.problems.append(Problem(0, Fault.ALIKE, name))
            self._add(name, 0)
        self._close()

    def _add(self, name: str, step: int) -> State:
        number = sum(state.step == step for state in self.states) + 1
        state = State(f"{step}.{number}", name, step)
        self.states.append(state)
        self.alive.setdefault(name.casefold(), []).append(state)
        return state

    def _close(self) -> None:
        self.worlds.append(tuple(s.id for s in self.states if s in self.alive.get(s.name.casefold(), ())))

    def take(self, step: int, answer: Sequence[Given] | None) -> None:
        if answer is None:
            self.unanswered.append(step)
            self._close()
            return
        before = {name: list(states) for name, states in self.alive.items()}
        self._use_up(step, answer)
        made: dict[str, State] = {}  # folded name -> what this step makes
        thrown_here: dict[str, None] = {}  # made and thrown away in one step, as peel is
        for one in answer:
            ids = self._make(step, one, made)
            for name in one["from"]:
                sources = before.get(name.casefold(), [])
                if not sources and not one["to"] and name.casefold() in self.makers[step - 1]:
                    thrown_here[name.casefold()] = None
                elif not sources:
                    self._miss(step, name, ids)
                for source in sources:
                    self.edges.update((Edge(source.id, target, step), None) for target in ids)
                    if not one["to"]:
                        self.thrown[source.id] = step
        for name in thrown_here:
            self.alive[name].remove(made[name])
            self.thrown[made[name].id] = self.gone[name] = step
            if not self.alive[name]:
                del self.alive[name]
        self._close()

    def _use_up(self, step: int, answer: Sequence[Given]) -> None:
        """What the step is made from is there no longer, but for that of which a part stays as it was."""
        staying = {stays for one in answer if (stays := _stays(one)) is not None}
        if parts := tuple(state.id for name in staying for state in self.alive.get(name, ())):
            self.stayed[step] = tuple(sorted(parts, key=_place))
        used = {name.casefold() for one in answer for name in one["from"]} - staying
        for name in used & self.alive.keys():
            del self.alive[name]
            self.gone[name] = step

    def _make(self, step: int, one: Given, made: dict[str, State]) -> tuple[str, ...]:
        """The ids of what a transition makes, which is put into `made` where another of the step has not made it."""
        names = [name for name in dict.fromkeys(one["to"]) if name.casefold() != _stays(one)]
        for name in names:
            folded = name.casefold()
            if folded not in made:
                if folded in self.alive:
                    self.problems.append(Problem(step, Fault.ALIKE, name))
                made[folded] = self._add(name, step)
            if not one["from"]:
                self.problems.append(Problem(step, Fault.CREATED, name))
        return tuple(dict.fromkeys(made[name.casefold()].id for name in names))

    def _miss(self, step: int, name: str, made: tuple[str, ...]) -> None:
        self.lost.append(Lost(step, name, made))
        folded = name.casefold()
        later = next((n for n, names in enumerate(self.makers, start=1) if n > step and folded in names), 0)
        if folded in self.gone:
            problem = Problem(step, Fault.CONSUMED, name, self.gone[folded])
        elif folded in self.makers[step - 1]:
            problem = Problem(step, Fault.SAME_STEP, name, step)
        else:
            problem = Problem(step, Fault.EARLY if later else Fault.UNKNOWN, name, later)
        if problem not in self.problems:
            self.problems.append(problem)

    def graph(self) -> StateGraph:
        steps = len(self.worlds) - 1
        used = {edge.source for edge in self.edges} | self.thrown.keys()
        if steps and not self.unanswered:
            unreached = (state for state in self.states if state.step == 0 and state.id not in used)
            self.problems += [Problem(steps, Fault.UNREACHED, state.name) for state in unreached]
        return StateGraph(
            steps,
            tuple(self.states),
            tuple(self.edges),
            tuple(self.worlds),
            self.thrown,
            self.stayed,
            tuple(self.unanswered),
            tuple(self.lost),
            tuple(self.problems),
        )


def cycle(edges: Iterable[tuple[str, str]]) -> list[str]:
    """The states of one cycle among some edges, the first one again at the end; none where there is no cycle.

    >>> cycle([("dough", "bread"), ("bread", "crumbs"), ("crumbs", "bread")])
    ['bread', 'crumbs', 'bread']
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, target in edges:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def transitions_of(graph: StateGraph) -> list[list[dict[str, list[str]]]]:
    """The transitions of each step again, in their shortest form: `graph_of` makes the same graph of them.

    States of one step that are made of the same states stand in one transition; where several become several, each that
    is made has one.
    """
    names = {state.id: state.name for state in graph.states}
    found: list[list[dict[str, list[str]]]] = []
    for step in range(1, graph.steps + 1):
        sources: dict[str, list[str]] = {state.id: [] for state in graph.made_at(step)}
        for edge in graph.edges:
            if edge.step == step:
                sources[edge.target].append(edge.source)
        by_sources: dict[tuple[str, ...], list[str]] = {}
        for target, made_of in sources.items():
            by_sources.setdefault(tuple(made_of), []).append(target)
        found.append([])
        for of, made in by_sources.items():
            one_by_one = [[target] for target in made] if len(of) > 1 else [made]
            found[-1] += [{"from": [names[s] for s in of], "to": [names[t] for t in some]} for some in one_by_one]
        found[-1] += [{"from": [names[of]], "to": []} for of, at in graph.thrown.items() if at == step]
        found[-1] += [{"from": [names[of]], "to": [names[of]]} for of in graph.stayed.get(step, ())]
    return found


def _stays(one: Given) -> str | None:
    """The folded name of the one thing that a transition uses, where it says that a part of it stays as it was."""
    if len(one["from"]) != 1:
        return None
    name = one["from"][0].casefold()
    return name if name in {made.casefold() for made in one["to"]} else None


def _place(of: str) -> tuple[int, int]:
    step, _dot, number = of.partition(".")
    return int(step), int(number)
