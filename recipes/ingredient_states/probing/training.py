"""Training data of annotated recipes: after each step a model is to say what there is. Pure.

Source: Toyooka, Aizawa and Yamakata, section 5.1.3: an example for each world state, and loss on the answer alone. The
wording is our own; `wording` takes another one, such as a paper's, from a file with the same placeholders.

A recipe is told by the code that makes judges' prompts of it, and up to the step that somebody has just finished in the
words of the shipped prompts of the tasks: what a model is trained on is what it is asked about. What is asked then is
not the same, as in the paper: in training all that there is, in a task one question about it.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from base.sentences import gettext as _
from judges.methods.prompt_files import PromptSpec, QuestionPrompt
from judges.methods.prompt_texts import row_text
from recipes.ingredient_states.probing.evidence import evidence
from recipes.ingredient_states.probing.tasks import Recipe

WORDING = """\
A recipe: $title

What it takes:
$ingredients

What is done:
$steps

Somebody cooks by it and has just finished step $step. Say what food there is now, one thing a line, each with a hyphen before it and as it is by then."""  # noqa: E501
# What a wording may name -> the placeholder of a judge's prompt that it is.
_PLACES = {"title": "title", "ingredients": "evidence_list", "steps": "evidence_paragraph", "step": "row_step"}


class WordingRefused(ValueError):
    """A wording that cannot be filled; `str()` says why."""


@dataclass(frozen=True)
class StateExample:
    """W_t of one recipe, t = `step`."""

    recipe: str
    language: str
    step: int
    prompt: str
    answer: str

    @property
    def line(self) -> str:
        """As JSON, the same bytes for the same example."""
        return json.dumps(vars(self), ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def chat(example: StateExample, picture: str) -> str:
    """An example as a chat, the form in which trainers of models take pictures; `picture`: a data: address, "" for
    none. Its line of JSON, the same bytes for the same example."""
    asked: object = example.prompt
    if picture:
        asked = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": example.prompt}]
    told = {
        "recipe": example.recipe,
        "language": example.language,
        "step": example.step,
        "messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": example.answer}],
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def check_wording(wording: str) -> None:
    """
    Raises:
        WordingRefused: it lacks a placeholder, or has one that nothing fills.
    """
    found = set(string.Template(wording).get_identifiers())
    if unknown := sorted(found - _PLACES.keys()):
        raise WordingRefused(
            _("The wording has the placeholder $%(name)s, which nothing fills.") % {"name": unknown[0]}
        )
    if missing := sorted(_PLACES.keys() - found):
        raise WordingRefused(_("The wording lacks the placeholder $%(name)s.") % {"name": missing[0]})


def examples(recipes: Iterable[Recipe], *, wording: str = WORDING) -> Iterator[StateExample]:
    """One for each step of each recipe with a graph, recipes in the order given. Raises as `check_wording`."""
    check_wording(wording)
    spec = PromptSpec(row=_as_row(wording), questions={"states.there": QuestionPrompt()})
    for recipe in recipes:
        if recipe.graph is None:
            continue
        blocks = evidence(recipe.ingredients, recipe.steps)
        for step in range(1, recipe.graph.steps + 1):
            world = [state.name for state in recipe.graph.world(step)]
            if world:
                prompt = row_text(spec, title=recipe.title, blocks=blocks, facets={"step": str(step)}).strip()
                answer = "\n".join(f"- {name}" for name in world)
                yield StateExample(recipe.key, recipe.language, step, prompt, answer)


def _as_row(wording: str) -> str:
    """A wording as the `row` of a judge's prompt, so that a recipe is told here letter by letter as it is there."""

    def named(found: re.Match[str]) -> str:
        name = found["named"] or found["braced"]
        return f"${{{_PLACES[name]}}}" if name else found[0]

    return string.Template.pattern.sub(named, wording)
