"""Three probing tasks made of recipes and their graphs of states, the same ones from the same seed. Pure.

Source: Toyooka, Aizawa and Yamakata, A Highly Clean Recipe Dataset with Ingredient States Annotation for State Probing
Task, section 4 and Appendix C. What they leave open is decided here and said in `docs/probing.md`.

Chance is drawn of the seed, the task, the recipe and the ingredient, so that a recipe gives the same instances whatever
other recipes are there.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.answers.states import State, StateGraph
from base.step_references import all_references, masked
from recipes.ingredient_states.probing.drawing import drawn, one_of, shuffled
from recipes.ingredient_states.probing.overlap import overlaps

MASK = "[masked]"  # a sign that no chat template knows
LETTERS = string.ascii_lowercase


class Task(StrEnum):
    STEP_REFERENCE = "step-reference"
    USAGE = "usage"
    TRACING = "tracing"


@dataclass(frozen=True)
class Recipe:
    """`key`: what tells it from the others, and what chance is drawn by. `graph`: where it is annotated whole."""

    key: str
    title: str
    language: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]
    graph: StateGraph | None = None


@dataclass(frozen=True)
class Instance:
    """One question about a recipe.

    name: unlike that of any other of the recipe. step: τ, the step that is asked about, or in which the number is
    masked. target: the ingredient. things: what there is after the step, in the order of the letters. steps: of the
    recipe, one masked. answer: a number of a step, "yes" or "no", or letters with commas. candidates: how many answers
    there are to choose among; what is right by chance is 1 / candidates.
    """

    task: Task
    recipe: str
    name: str
    title: str
    language: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]
    step: int
    answer: str
    candidates: int
    target: str = ""
    things: tuple[str, ...] = ()

    @property
    def chance(self) -> float:
        return 1 / self.candidates


@dataclass(frozen=True)
class Chance:
    """What guessing gets right. of_each: the mean of 1 / candidates over instances; of_mean: 1 / the mean number of
    candidates, which is never more. They are equal where all have as many candidates."""

    of_each: float
    of_mean: float
    n: int


def chance_of(candidates: Sequence[int]) -> Chance | None:
    """
    >>> chance_of([1, 2, 3])
    Chance(of_each=0.611111111111111, of_mean=0.5, n=3)
    """
    if not candidates:
        return None
    n = len(candidates)
    return Chance(sum(1 / of for of in candidates) / n, n / sum(candidates), n)


def instances(recipes: Iterable[Recipe], task: Task, *, seed: int) -> Iterator[Instance]:
    """The instances of a task, recipe by recipe in the order given. Recipes without a graph have no others than those
    of step references."""
    make = {Task.STEP_REFERENCE: _references, Task.USAGE: _usages, Task.TRACING: _tracings}[task]
    for recipe in recipes:
        yield from make(recipe, seed)


def jsonl(made: Iterable[Instance], pictures: Mapping[str, str] | None = None) -> Iterator[str]:
    """A line of JSON each, the same bytes for the same instances; `pictures`: data: addresses by the recipe's key, that
    go with the instances of these recipes."""
    for one in made:
        picture = (pictures or {}).get(one.recipe)
        told = {**vars(one), "picture": picture} if picture else vars(one)
        yield json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _references(recipe: Recipe, seed: int) -> Iterator[Instance]:
    """One instance for each reference to an earlier step; the others stay readable."""
    met: dict[int, int] = {}
    for number, reference in all_references(recipe.steps):
        met[number] = met.get(number, 0) + 1
        steps = list(recipe.steps)
        steps[number - 1] = masked(steps[number - 1], reference, mask=MASK)
        yield _instance(
            recipe,
            Task.STEP_REFERENCE,
            name=f"{number}.{met[number]}",
            steps=tuple(steps),
            step=number,
            answer=str(reference.step),
            candidates=number - 1,
        )


def _usages(recipe: Recipe, seed: int) -> Iterator[Instance]:
    """One for each ingredient that some step uses: first one of the ranges before and from its first use is drawn, then
    a step of it. Of an ingredient that the first step uses there is only the second range."""
    graph = recipe.graph
    if graph is None:
        return
    for state in graph.initial:
        first = graph.first_use(state.id)
        if first is None:
            continue
        before, after = range(1, first), range(first, graph.steps + 1)
        among = after if not before or drawn(seed, "range", recipe.key, state.id) < 0.5 else before
        step = one_of(among, seed, "usage", recipe.key, state.id)
        yield _instance(
            recipe,
            Task.USAGE,
            name=f"{state.id} {step}",
            step=step,
            answer="yes" if step < first else "no",
            candidates=2,
            target=state.name,
        )


def _tracings(recipe: Recipe, seed: int) -> Iterator[Instance]:
    """One for each ingredient of which some step from its first use on is no trivial case."""
    graph = recipe.graph
    if graph is None:
        return
    for state in graph.initial:
        first = graph.first_use(state.id)
        if first is None:
            continue
        tracing = Tracing.of(graph, state)
        steps = shuffled(range(first, graph.steps + 1), seed, "tracing", recipe.key, state.id)
        step = next((step for step in steps if not tracing.is_trivial(step)), None)
        if step is None:
            continue
        world = shuffled(graph.world(step), seed, "letters", recipe.key, state.id)
        letters = [letter for letter, one in zip(LETTERS, world, strict=False) if one.id in tracing.descendants]
        yield _instance(
            recipe,
            Task.TRACING,
            name=f"{state.id} {step}",
            step=step,
            answer=", ".join(letters),
            candidates=len(world),
            target=state.name,
            things=tuple(one.name for one in world),
        )


@dataclass(frozen=True)
class Tracing:
    """Where an ingredient went: the ids of what contains it, of all times, and the names of all states."""

    graph: StateGraph
    name: str
    descendants: frozenset[str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, graph: StateGraph, state: State) -> Tracing:
        return cls(graph, state.name, graph.descendants(state.id), {one.id: one.name for one in graph.states})

    def is_trivial(self, step: int) -> bool:
        """Whether nothing has to be known to trace it here: there is one thing only, none that contains it, or those
        that contain it are just those whose names have a word of its own. And where there are more than letters."""
        world = self.graph.worlds[step]
        holding = [one in self.descendants for one in world]
        if not 1 < len(world) <= len(LETTERS) or not any(holding):
            return True
        return all(holds == overlaps(self.name, self.names[one]) for one, holds in zip(world, holding, strict=True))


def _instance(
    recipe: Recipe,
    task: Task,
    *,
    name: str,
    step: int,
    answer: str,
    candidates: int,
    steps: tuple[str, ...] = (),
    target: str = "",
    things: tuple[str, ...] = (),
) -> Instance:
    return Instance(
        task=task,
        recipe=recipe.key,
        name=name,
        title=recipe.title,
        language=recipe.language,
        ingredients=recipe.ingredients,
        steps=steps or recipe.steps,
        step=step,
        answer=answer,
        candidates=candidates,
        target=target,
        things=things,
    )
