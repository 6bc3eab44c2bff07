"""The graph of states: by hand, and by properties that hold for any answers."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from annotation.answers.states import Fault, Lost, Problem, StateGraph, cycle, graph_of, transitions_of
from annotation.answers.states_drawing import LINE, Line, drawn
from annotation.answers.transitions import after

# flour ─┬─ dough ─┬─ rolls ── baked rolls        the rest of the flour dusts the rolls; the dough's rest is frozen
# water ─┘  flour ─┘  dough ── frozen dough       the egg is separated and its shell thrown away at once
START = ["flour", "water", "egg", "salt"]
STEPS = [
    [{"from": ["flour", "water"], "to": ["dough"]}, {"from": ["flour"], "to": ["flour"]}],
    [{"from": ["egg"], "to": ["yolk", "white", "shell"]}, {"from": ["shell"], "to": []}],
    [{"from": ["dough", "flour"], "to": ["rolls"]}, {"from": ["dough"], "to": ["dough"]}],
    [{"from": ["rolls", "yolk"], "to": ["baked rolls"]}, {"from": ["dough"], "to": ["frozen dough"]}],
    [{"from": ["white"], "to": []}],
]


def names(graph: StateGraph, step: int) -> list[str]:
    return [state.name for state in graph.world(step)]


def pairs(graph: StateGraph) -> set[tuple[str, str, int]]:
    known = graph.by_id
    return {(known[edge.source].name, known[edge.target].name, edge.step) for edge in graph.edges}


def test_worlds_and_edges_by_hand() -> None:
    graph = graph_of(START, STEPS)

    assert [names(graph, step) for step in range(6)] == [
        ["flour", "water", "egg", "salt"],
        ["flour", "egg", "salt", "dough"],
        ["flour", "salt", "dough", "yolk", "white"],
        ["salt", "dough", "yolk", "white", "rolls"],
        ["salt", "white", "baked rolls", "frozen dough"],
        ["salt", "baked rolls", "frozen dough"],
    ]
    assert pairs(graph) == {
        ("flour", "dough", 1),
        ("water", "dough", 1),
        ("egg", "yolk", 2),
        ("egg", "white", 2),
        ("egg", "shell", 2),
        ("dough", "rolls", 3),
        ("flour", "rolls", 3),
        ("rolls", "baked rolls", 4),
        ("yolk", "baked rolls", 4),
        ("dough", "frozen dough", 4),
    }
    assert {graph.by_id[of].name: step for of, step in graph.thrown.items()} == {"shell": 2, "white": 5}
    assert graph.problems == (Problem(5, Fault.UNREACHED, "salt"),)


def test_what_the_tasks_ask_of_a_graph() -> None:
    graph = graph_of(START, STEPS)
    ids = {state.name: state.id for state in graph.states}
    assert [graph.first_use(ids[name]) for name in ("flour", "egg", "white", "salt")] == [1, 2, 5, None]
    of_flour = graph.descendants(ids["flour"])
    assert [state.name for state in graph.world(3) if state.id in of_flour] == ["dough", "rolls"]
    assert [state.name for state in graph.world(4) if state.id in of_flour] == ["baked rolls", "frozen dough"]


def test_what_cannot_be_is_told_and_nothing_is_lost() -> None:
    graph = graph_of(
        ["egg", "milk", "Milk"],
        [
            [{"from": ["egg"], "to": ["yolk"]}, {"from": ["sugar"], "to": ["syrup"]}],
            [{"from": ["egg", "cream"], "to": ["yolk"]}, {"from": ["foam"], "to": ["cake"]}],
            [{"from": ["yolk"], "to": ["foam"]}, {"from": [], "to": ["water"]}],
            [{"from": ["a"], "to": ["b"]}, {"from": ["b"], "to": ["a"]}],
        ],
    )
    assert set(graph.problems) == {
        Problem(0, Fault.ALIKE, "Milk"),
        Problem(1, Fault.UNKNOWN, "sugar"),
        Problem(2, Fault.CONSUMED, "egg", 1),
        Problem(2, Fault.UNKNOWN, "cream"),
        Problem(2, Fault.ALIKE, "yolk"),
        Problem(2, Fault.EARLY, "foam", 3),
        Problem(3, Fault.CREATED, "water"),
        Problem(4, Fault.SAME_STEP, "a", 4),
        Problem(4, Fault.SAME_STEP, "b", 4),
        Problem(4, Fault.UNREACHED, "milk"),
        Problem(4, Fault.UNREACHED, "Milk"),
    }
    made = {state.name: state.id for state in graph.made_at(2)}
    assert Lost(2, "egg", (made["yolk"],)) in graph.lost
    # Both yolks go into the foam: a name means all that is called so.
    assert [edge.source for edge in graph.edges if edge.step == 3] == ["1.1", "2.1"]


def test_a_step_without_an_answer_changes_nothing_and_the_end_is_not_judged() -> None:
    graph = graph_of(["egg", "salt"], [None, [{"from": ["egg"], "to": ["boiled egg"]}]])
    assert graph.unanswered == (1,)
    assert names(graph, 1) == ["egg", "salt"]
    assert graph.problems == ()
    assert graph_of(["egg"], []).worlds == (("0.1",),)


def test_cycles_are_found() -> None:
    assert cycle([("a", "b"), ("b", "c")]) == []
    assert set(cycle([("a", "b"), ("b", "c"), ("c", "b")])) == {"b", "c"}


THINGS = st.sampled_from(["a", "b", "c", "d", "e"])
SIDE = st.lists(THINGS, max_size=2, unique=True)
ANSWERS = st.lists(
    st.one_of(st.none(), st.lists(st.fixed_dictionaries({"from": SIDE, "to": SIDE}), max_size=3)), max_size=5
)


@given(st.lists(THINGS, max_size=4, unique=True), ANSWERS)
@example([], [[{"from": [], "to": ["a"]}, {"from": ["a"], "to": []}, {"from": ["a"], "to": ["a"]}]])
def test_any_answers_make_a_graph_without_cycles_that_follows_equation_1(
    start: list[str], answers: list[list[dict[str, list[str]]] | None]
) -> None:
    graph = graph_of(start, answers)
    step_of = {state.id: state.step for state in graph.states}
    assert cycle((edge.source, edge.target) for edge in graph.edges) == []
    for edge in graph.edges:
        assert step_of[edge.source] < step_of[edge.target] == edge.step
        assert edge.source in graph.worlds[edge.step - 1]
    for step in range(1, graph.steps + 1):
        before, now = set(graph.worlds[step - 1]), set(graph.worlds[step])
        assert now - before <= {state.id for state in graph.made_at(step)}
        if (answer := answers[step - 1]) is not None:
            there = [state.name for state in graph.world(step - 1)]
            assert {state.name for state in graph.world(step)} == set(after(there, answer))
    drawing = drawn(graph)
    assert sum(place.kind in (Line.GIVEN, Line.MADE) for place in drawing.places) == len(graph.states)
    assert len(drawing.curves) == len(graph.edges) + len(graph.thrown) + sum(len(one.made) for one in graph.lost)


def test_a_graph_gives_its_transitions_again() -> None:
    graph = graph_of(START, STEPS)
    again = graph_of(START, transitions_of(graph))
    assert again.worlds == graph.worlds
    assert set(again.edges) == set(graph.edges)
    assert again.thrown == graph.thrown


def test_no_two_lines_of_a_drawing_meet_in_one_place() -> None:
    graph = graph_of(START, STEPS)
    drawing = drawn(graph)
    assert len({place.y for place in drawing.places}) == len(drawing.places)
    assert drawing.height == LINE * len(drawing.places)
    # No lane runs through the dot of another state.
    dots = {(place.x, place.y): place.id for place in drawing.places if place.id}
    ends = {place.id: (place.x, place.y) for place in drawing.places if place.id}
    for edge in graph.edges:
        x, y = ends[edge.source]
        _x, bottom = ends[edge.target]
        passed = {of for (at, height), of in dots.items() if at == x and y < height < bottom}
        assert not passed, (edge, passed)
