"""How often a document's own text turns a judge's answers about tasks, by how the prompt puts the steps.

    python -m benchmarks.task_defences [--of task|tool|ingredients] [--model qwen-1.5b] [--model-folder FOLDER]

As `benchmarks.judge_defences`, with the question whether a task is done in a page's steps, by what tool, or with how
many of its ingredients. A sentence is put behind the last step. Of each page what is asked is what its author found
there, and tasks of other dishes of which no word is on the page; of tools and ingredients the page's own tasks, with
those of such tasks in the place of theirs. The right answers to these are found or not, and most or none.
"""

from __future__ import annotations

import argparse
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
from benchmarks.judge_defences import PRESENCE, SHIPPED, Question
from benchmarks.judge_injection import Asked
from judges.methods import nearest, prompting
from judges.methods.prompting import PromptSpec, load_prompt
from llm.engine.prompt import RowPrompt
from recipes.cooking.pages import Page, read_folder
from recipes.cooking.vocabulary import INGREDIENT, STEP

SECTION = load_scheme((PACK / "schemes" / "recipe-memorization.yaml").read_text("utf-8")).section("tasks")
ENCODER = "all-minilm-l6-v2"
_WORDS = {"parts": True, "without": list(SHIPPED.nearest.without)}
_PARTS: dict[str, dict[str, Any]] = {
    "nearest": {},
    "near parts of": {"parts": True},
    "near parts without words of asking of": _WORDS,
    "near parts without words of asking or answers of": _WORDS | {"without_answers": True},
    "lines without words of asking or answers of": _WORDS | {"without_answers": True, "parts": False},
}
# Name -> whether the examples stand before the page, and which lines are given in the place of all.
DESIGNS: dict[str, tuple[bool, Mapping[str, Any] | None] | None] = {
    "as shipped": None,
    "all steps and ingredients": (False, None),
    "all steps and ingredients, examples first": (True, None),
    **{
        f"{name} {lines} by meaning from {least}{', examples first' if first else ''}": (
            first,
            {"lines": lines, "encoder": ENCODER, "least": least, **parts},
        )
        for name, parts in _PARTS.items()
        for lines in (4, 6, 50)
        for least in (-1.0, 0.0, 0.1, 0.2, 0.3)
        for first in (False, True)
    },
}
_ALL = "$evidence_step\nIngredients of the web page:\n$evidence_ingredient"
# What stands between the examples and the question where the page is above both.
_AGAIN = "The steps of the web page again are those above."


def prompt_of(key: str, name: str) -> PromptSpec:
    """The shipped prompt of a question, or the same with other evidence, behind its examples or before them."""
    said = yaml.safe_load((PACK / "prompts" / "memorization-lines.yaml").read_text("utf-8"))
    asked = said["questions"][f"tasks.{key}"]
    said["questions"] = {f"tasks.{key}": asked}
    if (design := DESIGNS[name]) is not None:
        first, near = design
        parts = asked["cell"].replace(f"{_AGAIN}\n", "").strip().split("\n\n")
        page = next(part for part in parts if part.startswith("Web page: a recipe"))
        examples = next(part for part in parts if part.startswith("Examples"))
        page = page.replace(_ALL, "$nearest_step").replace("$nearest_step", _ALL if near is None else "$nearest_step")
        if near is not None:
            said["nearest"], asked["nearest"] = near, {} if key == "task" else {"item": ITEM}
        asked["cell"] = "\n\n".join(
            [examples, page, parts[-1]] if first else [page, examples, f"{_AGAIN}\n{parts[-1]}"]
        )
    return load_prompt(json.dumps(said))  # JSON is YAML


ITEM = "$facet_task $about"


def facets_of(task: str) -> dict[str, str]:
    return dict(zip(SECTION.column.facets, task.split(" · "), strict=True))


def pages(key: str, count: int, each: int) -> list[Asked]:
    """The demo's pages with tasks; one of each dish, then the second of each, and so on."""
    demo = PACK / "demo"
    dishes = sorted(path.name for path in (demo / "pages").iterdir())
    recipes = {dish: yaml.safe_load((demo / "recipes" / f"{dish}.yaml").read_text("utf-8")) for dish in dishes}
    tasks = {dish: recipe["tasks"] for dish, recipe in recipes.items()}
    foods = {food for recipe in recipes.values() for food in recipe["ingredients"]}
    asked: dict[str, list[Asked]] = {dish: [] for dish in dishes}
    for dish in dishes:
        truth = yaml.safe_load((demo / "pages" / dish / "truth.yaml").read_text("utf-8"))
        others = [task for other in dishes if other != dish for task in tasks[other] if task[key]]
        if key == "ingredients":  # every recipe has a “mixture”
            others = [task for task in others if foods.issuperset(task[key].split(", "))]
        for page in read_folder(demo / "pages" / dish):
            assert isinstance(page, Page)
            answers = zip(tasks[dish], truth[page.source.removesuffix(".html")]["tasks"], strict=True)
            words = _words(" ".join((*page.ingredients, *page.steps)))
            there = [task for task, answer in answers if answer["task"] == "task-found" and answer[key] in FOUND[key]]
            absent = [task for task in others if words.isdisjoint(_words(task[key]))]
            if key != "task":  # what is not there is asked of a task that is
                absent = [there[at % len(there)] | {key: task[key]} for at, task in enumerate(absent)] if there else []
            known, unknown = list(dict.fromkeys(map(_said, there))), list(dict.fromkeys(map(_said, absent)))
            if known and unknown:
                asked[dish].append(Asked(page, (*known[:each], *unknown[:each]), frozenset(unknown)))
    return [of[n] for n in range(max(map(len, asked.values()))) for of in asked.values() if n < len(of)][:count]


def _said(task: Mapping[str, str]) -> str:
    return " · ".join(task[facet] for facet in SECTION.column.facets)


def _words(text: str) -> set[str]:
    return {singular(word.strip(".,;()")) for word in fold(text).split()}


def row_prompt(key: str, spec: PromptSpec, asked: Asked, sentence: str | None) -> RowPrompt:
    page = asked.page
    lines = {
        INGREDIENT: list(page.ingredients),
        STEP: [*page.steps, *([" ".join(sentence.split())] if sentence is not None else [])],
    }
    question, (of_question,) = SECTION.question(key), spec.questions.values()
    kinds = prompting.kinds_near(of_question.cell)
    items, order = [facets_of(item) for item in asked.items], SECTION.column.facets
    near: Sequence[Mapping[str, Sequence[str]]] = [{}] * len(items)
    if kinds:
        by, answers = spec.nearest_of(of_question), prompting.answers_said(of_question, question)
        named = [prompting.nearest_item(by, question, facets, order=order) for facets in items]
        near = nearest.nearest_to(named, {kind: lines[kind] for kind in kinds}, by, answers=answers)
    cells = [
        prompting.cell_prompt(of_question, question, facets, order=order, nearest=of, evidence=lines)
        for facets, of in zip(items, near, strict=True)
    ]
    blocks = [Block(kind, text) for kind, of_kind in lines.items() for text in of_kind]
    return RowPrompt(prompting.row_text(spec, title=page.title, blocks=blocks), tuple(cells))


# The options by which the author of a page says that what is asked for is there.
FOUND = {
    "task": frozenset({"task-found"}),
    "tool": frozenset({"found", "found-not-exact"}),
    "ingredients": frozenset({"ingredients-match"}),
}
_WANTED = {"task": ("Yes", "No"), "tool": ("Yes", "No"), "ingredients": ("All", "None")}
_AGREEING = {
    "task": PRESENCE.agreeing,
    "tool": frozenset({"Yes", "Similar"}),
    "ingredients": frozenset({"All", "Most"}),
}


def question_of(key: str) -> Question:
    return Question(
        f"tasks.{key}",
        SECTION.question(key),
        DESIGNS,
        partial(prompt_of, key),
        partial(pages, key),
        partial(row_prompt, key),
        wanted=_WANTED[key],
        agreeing=_AGREEING[key],
        named=lambda item: item if key == "task" else facets_of(item)[key],
    )


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--of", default="task", choices=list(FOUND), help="which question is asked")
    options, others = parser.parse_known_args()
    judge_defences.main(question_of(options.of), __doc__, others)


if __name__ == "__main__":
    main()
