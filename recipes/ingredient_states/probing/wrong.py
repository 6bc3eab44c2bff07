"""Instances of a probing task that somebody got wrong, beside what is right (figures 5 and 6 of the paper). Pure.

The paper chose its two by hand; here they are drawn.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.exchange.tables import safe_cell
from annotation.scheme.spec import QuestionSpec
from recipes.ingredient_states.probing.drawing import shuffled
from recipes.ingredient_states.probing.scores import Asked, asked_in, said_in, scores
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable
from reports.words import code_of


@dataclass(frozen=True)
class Said:
    """What one rater says of an instance; `answer`: "" where that cannot be read."""

    rater: str
    answer: str
    is_right: bool


@dataclass(frozen=True)
class Told:
    """An instance with what all say who were asked. `recipe`: the sheet. ingredient, things: where the task has them,
    what there is after the step with its letters. right: the right answer."""

    recipe: str
    instance: str
    step: str
    ingredient: str
    things: str
    right: str
    said: tuple[Said, ...]


def told_in(table: LabelTable, *, rater: str = "") -> list[Told]:
    """The instances that a rater has answered, or any of them where none is named, in the order of the study."""
    section, question = table.questions[0]
    name, filters = f"{section.key}.{question.key}", Filters()
    asked = asked_in(table)
    said = said_in(table, name, filters)
    of_instance: list[list[Said]] = [[] for _one in asked]
    for score in scores(table, name, asked, filters):
        at = table.raters.index(score.rater)
        for n, is_right in zip(score.instances.tolist(), score.right.tolist(), strict=True):
            codes = [said.get((at, row)) for row in asked[n].rows]
            answer = "" if None in codes else _told(table, question, asked[n], [code or "" for code in codes])
            of_instance[n].append(Said(code_of(score.rater), answer, is_right))
    return [
        _made(table, question, one, tuple(of))
        for one, of in zip(asked, of_instance, strict=True)
        if any(each.rater == (rater or each.rater) for each in of)
    ]


def wrong_among(told: Iterable[Told], *, rater: str = "") -> list[Told]:
    """Those that the rater got wrong, or any of them where none is named."""
    return [one for one in told if any(not each.is_right and each.rater == (rater or each.rater) for each in one.said)]


def drawn(found: Sequence[Told], n: int, *, seed: int) -> list[Told]:
    """`n` of them, the same ones of the same seed, in their order."""
    return [found[place] for place in sorted(shuffled(range(len(found)), seed, "wrong")[:n])]


def as_csv(found: Iterable[Told]) -> bytes:
    """A row a rater and instance."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["recipe", "instance", "step", "ingredient", "things", "right", "rater", "answer", "is_right"])
    for one in found:
        of = (one.recipe, one.instance, one.step, one.ingredient, one.things, one.right)
        for said in one.said:
            told = (*of, said.rater, said.answer, "yes" if said.is_right else "no")
            writer.writerow([safe_cell(cell) for cell in told])
    return out.getvalue().encode("utf-8-sig")  # with its mark: Excel would take it for another encoding


def _made(table: LabelTable, question: QuestionSpec, asked: Asked, said: tuple[Said, ...]) -> Told:
    rows = [table.rows[place] for place in asked.rows]
    facets = rows[0].facets
    return Told(
        recipe=table.sheets[asked.sheet],
        instance=facets.get("instance") or rows[0].name,
        step=facets.get("step", ""),
        ingredient=facets.get("ingredient", ""),
        things="; ".join(row.facets.get("thing", "") for row in rows)
        if "thing" in facets
        else facets.get("things", ""),
        right=_told(table, question, asked, [row.facets["answer"] for row in rows]),
        said=said,
    )


def _told(table: LabelTable, question: QuestionSpec, asked: Asked, codes: Sequence[str]) -> str:
    """Answers in words; where each thing is a row, the things that are said to contain the ingredient."""
    things = [table.rows[place].facets.get("thing", "") for place in asked.rows]
    if things[0]:
        return "; ".join(thing for thing, code in zip(things, codes, strict=True) if code == "yes") or "–"
    return "; ".join(_in_words(question, code) for code in codes)


def _in_words(question: QuestionSpec, code: str) -> str:
    if code.startswith(":"):
        return str(json.loads(code[1:]))
    return next((option.label for option in question.options if option.key == code), code)
