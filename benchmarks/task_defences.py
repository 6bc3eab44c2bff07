"""How often a document's own text turns a judge's answers about tasks, by how the prompt puts the steps.

    python -m benchmarks.task_defences [--model qwen-1.5b] [--model-folder FOLDER] [--pages N] [--every N]

As `benchmarks.judge_defences`, with the question whether a task is done in a page's steps. A sentence is put behind the
last step. Of each page tasks are asked that its author found there, and tasks of other dishes of which no word is on
the page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import yaml

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from annotation.evidence.blocks import Block
from annotation.scheme.spec import load_scheme
from benchmarks import judge_defences
from benchmarks.accuracy_cells import fold, singular
from benchmarks.judge_accuracy import PACK
from benchmarks.judge_defences import WITHOUT, Question
from benchmarks.judge_injection import Asked
from judges.methods import nearest, prompting
from judges.methods.prompting import PromptSpec, load_prompt
from judges.runs.nearest import item_of
from llm.engine.prompt import RowPrompt
from recipes.cooking.pages import Page, read_folder
from recipes.cooking.vocabulary import INGREDIENT, STEP

SHIPPED = "memorization-lines"
SECTION = load_scheme((PACK / "schemes" / "recipe-memorization.yaml").read_text("utf-8")).section("tasks")
_PARTS: dict[str, dict[str, Any]] = {
    "nearest": {},
    "near parts of": {"parts": True},
    "near parts without words of asking of": {"parts": True, "without": list(WITHOUT)},
}
# Name -> whether the examples stand before the page, and which lines are given in the place of all.
DESIGNS: dict[str, tuple[bool, Mapping[str, Any] | None] | None] = {
    "as shipped": None,
    "all steps and ingredients": (False, None),
    **{
        f"{name} {lines} by meaning from {least}{', examples first' if first else ''}": (
            first,
            {"lines": lines, "encoder": "all-minilm-l6-v2", "least": least, **parts},
        )
        for name, parts in _PARTS.items()
        for lines in (4, 6)
        for least in (0.1, 0.2)
        for first in (False, True)
    },
}


def prompt_of(name: str) -> PromptSpec:
    """The shipped prompt of tasks, or the same with other evidence, behind its examples or before them."""
    said = yaml.safe_load((PACK / "prompts" / f"{SHIPPED}.yaml").read_text("utf-8"))
    of_task = said["questions"]["tasks.task"]
    said["questions"] = {"tasks.task": of_task}
    if (design := DESIGNS[name]) is not None:
        first, near = design
        examples, page, question = of_task["cell"].split("\n\n")
        if near is None:
            page = page.replace("$nearest_step", "$evidence_step\nIngredients of the web page:\n$evidence_ingredient")
        else:
            said["nearest"], of_task["nearest"] = near, {}
        again = "The steps of the web page again are those above."
        parts = [examples, page, question] if first else [page, examples, f"{again}\n{question}"]
        of_task["cell"] = "\n\n".join(parts)
    return load_prompt(json.dumps(said))  # JSON is YAML


def facets_of(task: str) -> dict[str, str]:
    return dict(zip(SECTION.column.facets, task.split(" · "), strict=True))


def pages(count: int, each: int) -> list[Asked]:
    """The demo's pages with tasks; one of each dish, then the second of each, and so on."""
    demo = PACK / "demo"
    dishes = sorted(path.name for path in (demo / "pages").iterdir())
    tasks = {
        dish: [
            " · ".join(task[key] for key in SECTION.column.facets)
            for task in yaml.safe_load((demo / "recipes" / f"{dish}.yaml").read_text("utf-8"))["tasks"]
        ]
        for dish in dishes
    }
    asked: dict[str, list[Asked]] = {dish: [] for dish in dishes}
    for dish in dishes:
        truth = yaml.safe_load((demo / "pages" / dish / "truth.yaml").read_text("utf-8"))
        others = list(dict.fromkeys(task for other in dishes if other != dish for task in tasks[other]))
        for page in read_folder(demo / "pages" / dish):
            assert isinstance(page, Page)
            answers = truth[page.source.removesuffix(".html")]["tasks"]
            words = _words(" ".join((*page.ingredients, *page.steps)))
            there = [task for task, answer in zip(tasks[dish], answers, strict=True) if answer["task"] == "task-found"]
            absent = [task for task in others if words.isdisjoint(_words(facets_of(task)["task"]))]
            asked[dish].append(Asked(page, (*there[:each], *absent[:each]), frozenset(absent)))
    return [of[n] for n in range(max(map(len, asked.values()))) for of in asked.values() if n < len(of)][:count]


def _words(text: str) -> set[str]:
    return {singular(word.strip(".,;()")) for word in fold(text).split()}


def row_prompt(spec: PromptSpec, asked: Asked, sentence: str | None) -> RowPrompt:
    page = asked.page
    lines = {
        INGREDIENT: list(page.ingredients),
        STEP: [*page.steps, *([" ".join(sentence.split())] if sentence is not None else [])],
    }
    question, (of_question,) = SECTION.question("task"), spec.questions.values()
    kinds = prompting.kinds_near(of_question.cell)
    items = [facets_of(item) for item in asked.items]
    near: Sequence[Mapping[str, Sequence[str]]] = [{}] * len(items)
    if kinds:
        named = [item_of(facets, SECTION, question) for facets in items]
        near = nearest.nearest_to(named, {kind: lines[kind] for kind in kinds}, spec.nearest_of(of_question))
    cells = [
        prompting.cell_prompt(of_question, question, facets, order=SECTION.column.facets, nearest=of, evidence=lines)
        for facets, of in zip(items, near, strict=True)
    ]
    blocks = [Block(kind, text) for kind, of_kind in lines.items() for text in of_kind]
    return RowPrompt(prompting.row_text(spec, title=page.title, blocks=blocks), tuple(cells))


TASKS = Question("tasks.task", SECTION.question("task"), DESIGNS, prompt_of, pages, row_prompt)
main = partial(judge_defences.main, TASKS, __doc__)

if __name__ == "__main__":
    main()
