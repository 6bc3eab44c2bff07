"""Labels of simulated raters that have exactly the totals of the recipe-memorization paper.

Kvapil and Fajcik publish how often each option was chosen, not the labels. `simulate_paper` invents recipes, documents
and labels of the same size whose selection counts equal Tables 1, 3, 4 and 5, and whose columns without a "found" are
those of Tables 2 and 6. Everything else about them is made up: names where the paper gives none, which document holds
what, and who answered what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recipes.memorization.paper_counts import (
    DOCUMENTS_PER_ENGINE,
    DOCUMENTS_PER_RECIPE,
    ENGINES,
    INGREDIENTS,
    LABELS_PER_COLUMN,
    NEVER_FOUND_INGREDIENTS,
    NEVER_FOUND_TASKS,
    PRESENCE,
    RECIPES,
    SELECTIONS,
    TASK,
    TASKS_ALONE,
    TASKS_ON_INGREDIENTS,
    TOOL,
    NeverFoundTask,
)

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TaskTriple:
    """One column of the tasks section; `tool` and `ingredients` are empty where the task has none."""

    task: str
    tool: str
    ingredients: str


@dataclass(frozen=True)
class SimulatedRecipe:
    """One sheet: its columns."""

    name: str
    ingredients: tuple[str, ...]
    tasks: tuple[TaskTriple, ...]


@dataclass(frozen=True)
class SimulatedDocument:
    """One row: the rank-th result (from 1) of a search engine; the address does not exist."""

    recipe: int
    document: int
    engine: str
    rank: int
    title: str
    url: str


class SimulatedLabel(NamedTuple):
    """The option that a rater chose. Everything is counted from 0, columns within their recipe and section."""

    recipe: int
    document: int
    rater: int
    section: str
    column: int
    question: str
    option: str


@dataclass(frozen=True)
class SimulatedStudy:
    """The whole study; a cell of tool or ingredients without a label was not asked, its task was not found."""

    recipes: tuple[SimulatedRecipe, ...]
    documents: tuple[SimulatedDocument, ...]
    labels: tuple[SimulatedLabel, ...]


# --- Simulation -----------------------------------------------------------------------------------------------------

# Chance that a rater does not copy what the document holds but draws from the column's distribution; chosen so that the
# macro averages of kappa come out near the paper's.
_NOISE = {"presence": 0.16, "task": 0.33, "tool": 0.29, "ingredients": 0.3}
# How alike the columns' distributions of options are (of the Dirichlet distribution that they are drawn from).
_CONCENTRATION = 2.5


def simulate_paper(assignments: Iterable[tuple[int, int, int]], *, seed: int = 0) -> SimulatedStudy:
    """Recipes, documents and labels of the paper's size and with its selection counts; the same for the same arguments.

    Args:
        assignments: (recipe, document, rater) of the paper's design, from 0: 20 recipes of 18 documents, each document
            labelled once or twice, 27 assignments a recipe.
    Raises:
        ValueError: the assignments are not of that size.
    """
    rng = np.random.default_rng(seed)
    slots = _slots(assignments)
    names = [tuple(ingredients.split(", ")) for _, _, ingredients in RECIPES]
    recipe_of_ingredient = np.repeat(np.arange(len(RECIPES)), [len(recipe_names) for recipe_names in names])
    recipe_of_task = np.repeat(np.arange(len(RECIPES)), [n_tasks for _, n_tasks, _ in RECIPES])
    never_found_tasks = _columns_of_never_found_tasks(recipe_of_task, rng)

    presence = _with_fixed_columns(
        "presence",
        SELECTIONS["ingredients", "presence"],
        slots.of(recipe_of_ingredient),
        _fixed_ingredients(names),
        rng,
    )
    # What is left of the 27 labels was not found: so the row that prints 26 is complete.
    fixed_tasks = {
        column: (
            0,
            row.not_exact_wording,
            row.wrong_context,
            LABELS_PER_COLUMN - row.not_exact_wording - row.wrong_context,
        )
        for column, row in never_found_tasks.items()
    }
    task = _with_fixed_columns("task", SELECTIONS["tasks", "task"], slots.of(recipe_of_task), fixed_tasks, rng)

    asked = task != TASK.index("task-not-found")
    tool, has_tool = _facet("tool", asked, slots.of(recipe_of_task), set(never_found_tasks), rng)
    used, has_ingredients = _facet("ingredients", asked, slots.of(recipe_of_task), set(never_found_tasks), rng)

    triples = _task_triples(recipe_of_task, names, has_tool, has_ingredients, never_found_tasks, rng)
    labels = [
        *_labels(slots, recipe_of_ingredient, "ingredients", "presence", PRESENCE, presence),
        *_labels(slots, recipe_of_task, "tasks", "task", TASK, task),
        *_labels(slots, recipe_of_task, "tasks", "tool", TOOL, tool),
        *_labels(slots, recipe_of_task, "tasks", "ingredients", INGREDIENTS, used),
    ]
    recipes = [
        SimulatedRecipe(name, names[i], tuple(triples[column] for column in np.flatnonzero(recipe_of_task == i)))
        for i, (name, _, _) in enumerate(RECIPES)
    ]
    return SimulatedStudy(recipes=tuple(recipes), documents=tuple(_documents()), labels=tuple(labels))


@dataclass(frozen=True, eq=False)
class _Slots:
    """Who labels what: document and rater of the 27 labels that each column of a recipe gets, shape (n_recipes, 27)."""

    document: IntArray
    rater: IntArray
    once: BoolArray  # the document has no other rater

    def of(self, recipe: IntArray) -> _Slots:
        """The slots of each of the recipes, shape (n, 27)."""
        return _Slots(self.document[recipe], self.rater[recipe], self.once[recipe])


def _slots(assignments: Iterable[tuple[int, int, int]]) -> _Slots:
    table = np.array(sorted(set(assignments)), dtype=np.int64).reshape(-1, 3)
    documents, labelled = np.unique(table[:, :2], axis=0, return_counts=True)
    of_recipe = np.bincount(table[:, 0])
    if (
        len(documents) != len(RECIPES) * DOCUMENTS_PER_RECIPE
        or documents[:, 1].max() >= DOCUMENTS_PER_RECIPE
        or of_recipe.tolist() != [LABELS_PER_COLUMN] * len(RECIPES)
        or labelled.max() > 2
    ):
        raise ValueError(
            f"the simulation needs the paper's design: {len(RECIPES)} recipes of {DOCUMENTS_PER_RECIPE} documents, "
            f"each labelled once or twice, {LABELS_PER_COLUMN} assignments a recipe"
        )
    shape = (len(RECIPES), LABELS_PER_COLUMN)
    return _Slots(
        document=table[:, 1].reshape(shape),
        rater=table[:, 2].reshape(shape),
        once=np.repeat(labelled == 1, labelled).reshape(shape),
    )


def _with_fixed_columns(
    question: str,
    selections: Mapping[str, int],
    slots: _Slots,
    fixed: Mapping[int, Sequence[int]],
    rng: np.random.Generator,
) -> IntArray:
    """Codes of every column and slot, shape (n_columns, 27).

    Fixed columns have the counts given; every other column has the first option at least once.
    """
    free = np.ones(slots.document.shape, dtype=bool)
    free[list(fixed)] = False
    targets = np.array(list(selections.values())) - np.sum(list(fixed.values()), axis=0)
    codes = _drawn(question, targets, free, slots, rng, everywhere=0)
    for column, counts in fixed.items():
        # Document by document, so that two raters of a document agree save where one count ends and the next begins.
        order = np.argsort(rng.permutation(DOCUMENTS_PER_RECIPE)[slots.document[column]], kind="stable")
        codes[column, order] = np.repeat(np.arange(len(counts)), counts)
    return codes


def _facet(
    question: str, asked: BoolArray, slots: _Slots, kept: Collection[int], rng: np.random.Generator
) -> tuple[IntArray, BoolArray]:
    """Codes of the tool or the ingredients of every task, -1 where it is not asked, and which columns have that facet.

    Columns without the facet get the last option (the preset "No ...") wherever the task was found. They are chosen,
    none of them among `kept`, so that this option comes out exactly as often as the paper has it.
    """
    *counts, absent = SELECTIONS["tasks", question].values()
    without = _columns_with_sum(asked.sum(axis=1), absent, kept, rng)
    has_facet = np.ones(len(asked), dtype=bool)
    has_facet[without] = False
    codes = _drawn(question, np.array(counts), asked & has_facet[:, np.newaxis], slots, rng)
    codes[asked & ~has_facet[:, np.newaxis]] = len(counts)
    return codes, has_facet


def _columns_with_sum(found: IntArray, total: int, kept: Collection[int], rng: np.random.Generator) -> list[int]:
    """Some columns, none of `kept`, whose `found` sum to `total` exactly (dynamic programming in random order)."""
    reached_by: dict[int, tuple[int, int]] = {0: (-1, -1)}  # sum -> (the last column added, the sum before it)
    for column in rng.permutation(len(found)).tolist():
        if total in reached_by:
            break
        if column in kept or found[column] == 0:
            continue
        for before in list(reached_by):
            reached_by.setdefault(before + int(found[column]), (column, before))
    columns = []
    while total:
        column, total = reached_by[total]
        columns.append(column)
    return columns


def _drawn(
    question: str,
    targets: IntArray,
    free: BoolArray,
    slots: _Slots,
    rng: np.random.Generator,
    *,
    everywhere: int | None = None,
) -> IntArray:
    """Random codes in the free cells, -1 elsewhere, shape (n_columns, 27), with every option exactly `targets` times.

    Each document holds something in each column, drawn from the column's own distribution; raters copy it with some
    noise. Then as few labels as possible are changed until the counts are right, first those that nobody else gave
    too, which leaves the agreement as it is. With `everywhere`, each column that has free cells keeps that option once.
    """
    weights = free.sum(axis=1)
    shares = rng.dirichlet(_CONCENTRATION * targets / targets.sum(), size=len(free))
    for _ in range(50):  # rake: columns sum to 1, options to their targets
        shares *= targets / (weights @ shares)
        shares /= shares.sum(axis=1, keepdims=True)

    def draw(size: int) -> IntArray:
        codes: IntArray = (rng.random((len(free), size, 1)) > shares.cumsum(axis=1)[:, np.newaxis, :-1]).sum(axis=2)
        return codes

    copied = np.take_along_axis(draw(DOCUMENTS_PER_RECIPE), slots.document, axis=1)
    codes = np.where(rng.random(free.shape) < _NOISE[question], draw(LABELS_PER_COLUMN), copied)

    movable = free.copy()
    if everywhere is not None:
        for column in np.flatnonzero(weights):
            chosen = np.flatnonzero(codes[column] == everywhere)
            slot = rng.choice(chosen if chosen.size else LABELS_PER_COLUMN)
            codes[column, slot] = everywhere
            movable[column, slot] = False

    surplus = np.bincount(codes[free], minlength=len(targets)) - targets
    changed: list[int] = []
    for option in np.flatnonzero(surplus > 0):
        cells = rng.permutation(np.flatnonzero(movable & (codes == option)))
        alone_first = np.argsort(~slots.once.ravel()[cells], kind="stable")
        changed += cells[alone_first][: surplus[option]].tolist()
    codes.ravel()[changed] = rng.permutation(np.repeat(np.arange(len(targets)), np.maximum(-surplus, 0)))
    return np.where(free, codes, -1)


# --- Names ----------------------------------------------------------------------------------------------------------


def _fixed_ingredients(names: Sequence[Sequence[str]]) -> dict[int, tuple[int, int, int, int]]:
    """Counts of the columns of Table 2, by the column's place among all ingredients."""
    recipes = [name for name, _, _ in RECIPES]
    first = np.cumsum([0, *map(len, names)]).tolist()
    fixed = {}
    for recipe, ingredient, not_perfect, not_found in NEVER_FOUND_INGREDIENTS:
        i = recipes.index(recipe)
        fixed[first[i] + names[i].index(ingredient)] = (0, not_perfect, not_found, 0)
    return fixed


def _columns_of_never_found_tasks(recipe_of_task: IntArray, rng: np.random.Generator) -> dict[int, NeverFoundTask]:
    """A place among all tasks for each row of Table 6, at random within its recipe and in the order of the table."""
    columns: dict[int, NeverFoundTask] = {}
    for i, (recipe, _, _) in enumerate(RECIPES):
        rows = [row for row in NEVER_FOUND_TASKS if row.recipe == recipe]
        places = rng.choice(np.flatnonzero(recipe_of_task == i), size=len(rows), replace=False)
        columns.update(zip(sorted(places.tolist()), rows, strict=True))
    return columns


def _task_triples(
    recipe_of_task: IntArray,
    names: Sequence[Sequence[str]],
    has_tool: BoolArray,
    has_ingredients: BoolArray,
    never_found: Mapping[int, NeverFoundTask],
    rng: np.random.Generator,
) -> list[TaskTriple]:
    """A name for every task that fits what it has, in each recipe roughly in the order of cooking."""
    triples: dict[int, TaskTriple] = {
        column: TaskTriple(row.task, row.tool, row.ingredients) for column, row in never_found.items()
    }
    for i, recipe_names in enumerate(names):
        of_kind: dict[tuple[bool, bool], list[int]] = {}
        for column in np.flatnonzero(recipe_of_task == i).tolist():
            if column not in triples:
                of_kind.setdefault((bool(has_tool[column]), bool(has_ingredients[column])), []).append(column)
        for (tool, ingredients), columns in of_kind.items():
            fitting = [pair for pair in (TASKS_ON_INGREDIENTS if ingredients else TASKS_ALONE) if bool(pair[1]) == tool]
            places = np.sort(rng.choice(len(fitting), size=len(columns), replace=len(columns) > len(fitting)))
            for column, place in zip(columns, places.tolist(), strict=True):
                some = rng.choice(recipe_names, size=rng.integers(1, 4), replace=False) if ingredients else ()
                task_name, tool_name = fitting[place]
                triples[column] = TaskTriple(task_name, tool_name, ", ".join(some))
    return [triples[column] for column in range(len(recipe_of_task))]


def _documents() -> Iterable[SimulatedDocument]:
    for i, (name, _, _) in enumerate(RECIPES):
        for document in range(DOCUMENTS_PER_RECIPE):
            engine, rank = ENGINES[document // DOCUMENTS_PER_ENGINE], document % DOCUMENTS_PER_ENGINE + 1
            yield SimulatedDocument(
                recipe=i,
                document=document,
                engine=engine,
                rank=rank,
                title=f"{engine} {rank}: {name} (simulated)",
                url=f"https://simulated.example/recipe-{i + 1}/{engine.lower()}-{rank}",
            )


def _labels(
    slots: _Slots, recipe_of_column: IntArray, section: str, question: str, options: Sequence[str], codes: IntArray
) -> Iterable[SimulatedLabel]:
    """The labels of one question, those of a column together; -1 is no label."""
    first = np.searchsorted(recipe_of_column, np.arange(len(RECIPES)))
    for column, slot in np.argwhere(codes >= 0).tolist():
        recipe = int(recipe_of_column[column])
        yield SimulatedLabel(
            recipe=recipe,
            document=int(slots.document[recipe, slot]),
            rater=int(slots.rater[recipe, slot]),
            section=section,
            column=column - int(first[recipe]),
            question=question,
            option=options[codes[column, slot]],
        )
