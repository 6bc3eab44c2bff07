"""How long graphs of states take: scoring two annotators' ones, and making probing tasks of a large collection.

    PALATE_ENV=test python -m benchmarks.states

Prints seconds of CPU and wall-clock, and exits with 1 when a limit is passed. Graphs and recipes are made here, of
the size of real ones: 8 steps and 10 ingredients, and a reference to an earlier step in every second step or so.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from annotation.answers.states import StateGraph, graph_of
from llm import encoders
from recipes.ingredient_states.probing.tasks import Recipe, Task, instances, jsonl
from reports.data.graphs import drawn
from reports.stats.graph.agreement import THRESHOLDS, compare, mean_agreement

RECIPES, TASKS = 300, 25_000
LIMITS = {"graphs": 1.0, "tasks": 60.0}
STEPS, INGREDIENTS = 8, 10
_WORDS = """flour butter sugar egg milk lemon cream onion leek carrot potato rice bean tomato pepper salt oil stock
chopped fried boiled mixed whisked baked peeled grated soaked drained"""
_FOODS, _DOINGS = (line.split() for line in _WORDS.splitlines())


def main() -> int:
    found = {"graphs": graphs(), "tasks": tasks()}
    return int(any(seconds > LIMITS[name] for name, seconds in found.items()))


def graphs() -> float:
    """Seconds of Node F1 and Edge F1 of 300 recipes, three thresholds, 2,000 draws; the encoder is timed apart."""
    pairs = [(drawn(made_graph(n, 0)), drawn(made_graph(n, 1))) for n in range(RECIPES)]
    texts = sorted({text for pair in pairs for graph in pair for text in graph.texts})
    place = {text: at for at, text in enumerate(texts)}
    vectors, of_encoder = timed(lambda: encoders.encoder(encoders.FALLBACK).encode(texts))
    dense = np.asarray(vectors.toarray())
    dense = dense @ np.random.default_rng(0).standard_normal((dense.shape[1], 384))  # as wide as a model's
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)

    def score() -> Any:
        compared = []
        for n, (first, second) in enumerate(pairs):
            a, b = (dense[[place[text] for text in graph.texts]] for graph in (first, second))
            similarity = a @ b.T
            compared.append((n, n, {at: compare(first, second, similarity, at) for at in THRESHOLDS}))
        return mean_agreement(compared, {"by": "document", "n_draws": 2000, "seed": 0, "expanded": True})

    score()
    agreement, seconds = timed(score)
    nodes = sum(graph.n_made for pair in pairs for graph in pair)
    print(f"Graphs of {RECIPES} recipes x 2 annotators: {nodes:,} nodes, {len(texts):,} different names")
    limit = f"(limit {LIMITS['graphs']:.0f})"
    print(f"  Node F1 and Edge F1 at {len(THRESHOLDS)} thresholds, 2,000 draws {seconds:6.2f} s {limit}")
    print(f"  TF-IDF of characters, apart                    {of_encoder:6.2f} s")
    mean = agreement.means[THRESHOLDS[1], "nodes"]
    print(f"  Node F1 at {THRESHOLDS[1]}: {mean.value:.3f} ({mean.interval.low:.3f} to {mean.interval.high:.3f})")
    return seconds


def tasks() -> float:
    """Seconds of all three tasks of 25,000 recipes, as JSON lines; the recipes themselves are not counted."""
    recipes = [made_recipe(n) for n in range(TASKS)]
    total, digests = 0.0, []
    print(f"Tasks of {TASKS:,} recipes")
    for task in Task:
        lines, seconds = timed(partial(lines_of, recipes, task))
        total += seconds
        digests.append(hashlib.sha256("".join(lines).encode()).hexdigest()[:12])
        print(f"  {task.value:<15} {len(lines):>8,} instances {seconds:6.2f} s  sha256 {digests[-1]}")
    again = hashlib.sha256("".join(jsonl(instances(recipes, Task.USAGE, seed=0))).encode()).hexdigest()[:12]
    same = "the same" if again == digests[1] else "OTHERS"
    print(f"  in all {total:6.2f} s (limit {LIMITS['tasks']:.0f}); made again the bytes are {same}")
    return total if again == digests[1] else float("inf")


def lines_of(recipes: Sequence[Recipe], task: Task) -> list[str]:
    return list(jsonl(instances(recipes, task, seed=0)))


def made_graph(recipe: int, rater: int) -> StateGraph:
    """Two raters change the same things in the same steps, and call one in four of what comes of it otherwise."""
    shared, own = random.Random(recipe), random.Random(recipe * 2 + rater + 1_000_000)
    there = [f"{shared.choice(_FOODS)} {n}" for n in range(INGREDIENTS)]
    called = {name: name for name in there}
    start, answers = list(there), []
    for step in range(1, STEPS + 1):
        answer = []
        for change in range(shared.randint(1, 3)):
            if not there:
                break
            of = shared.sample(there, min(len(there), shared.randint(1, 3)))
            name = f"{shared.choice(_DOINGS)} {shared.choice(_FOODS)} {step}{change}"
            there = [one for one in there if one not in of] + [name]
            own_name = f"{own.choice(_DOINGS)} {name}" if own.random() < 0.25 else name
            answer.append({"from": [called[one] for one in of if called[one] != own_name], "to": [own_name]})
            called[name] = own_name
        answers.append([one for one in answer if one["from"]])
    return graph_of(start, answers)


def made_recipe(n: int) -> Recipe:
    drawn_ = random.Random(n)
    steps = []
    for step in range(1, STEPS + 1):
        text = f"{drawn_.choice(_DOINGS).capitalize()} the {drawn_.choice(_FOODS)} for {drawn_.randint(2, 40)} minutes"
        if step > 1 and drawn_.random() < 0.3:
            text += f" and add it to step {drawn_.randint(1, step - 1)}"
        if step > 1 and drawn_.random() < 0.1:
            text = f"{drawn_.randint(1, step - 1)}に卵2個を加えて5分煮る"
        steps.append(text + ".")
    graph = made_graph(n, 0)
    return Recipe(f"recipe {n}", f"Dish {n}", "en", tuple(s.name for s in graph.initial), tuple(steps), graph)


def timed(do: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    made = do()
    return made, time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
