"""A task set becomes a study: each recipe a sheet, each instance a row with the recipe as its evidence. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from annotation.answers import kind_of, transitions
from annotation.answers.states import StateGraph, graph_of
from annotation.deriving.making import (
    Answered,
    DerivingRefused,
    MadeRow,
    MadeSheet,
    Setting,
    Settings,
    Source,
    SourceRow,
    SourceSheet,
)
from annotation.scheme.spec import Kind, QuestionSpec, SchemeSpec, SectionSpec
from base.sentences import gettext as _
from recipes.ingredient_states.probing.evidence import evidence
from recipes.ingredient_states.probing.parts import Part, Split, UnknownRecipes, part_of
from recipes.ingredient_states.probing.tasks import LETTERS, Instance, Recipe, Task, instances

E = TypeVar("E", bound=StrEnum)
MOST_CHOICES = 10  # options of a question
SEEDS = tuple(range(10))


@dataclass(frozen=True)
class Form:
    """How a task is answered. `each`: a row a thing, yes or no, instead of a row an instance."""

    task: Task
    each: bool = False
    choices: bool = False


# By the key of the scheme of the new study.
FORMS: Mapping[str, Form] = {
    "probing-step-number": Form(Task.STEP_REFERENCE),
    "probing-step-choice": Form(Task.STEP_REFERENCE, choices=True),
    "probing-usage": Form(Task.USAGE),
    "probing-tracing": Form(Task.TRACING),
    "probing-tracing-each": Form(Task.TRACING, each=True),
}


@dataclass(frozen=True)
class Told:
    """A recipe of the source, and the answers that its graph was made of."""

    recipe: Recipe
    row: SourceRow
    answers: Sequence[Answered]


def probing_tasks(source: Source, scheme: SchemeSpec, settings: Settings) -> Iterator[MadeSheet]:
    """The instances of the task that the scheme of the new study is for, by `settings`: seed, which part, how
    the parts are drawn (`split`) or which recipes are for training (`training`, by their names)."""
    form = FORMS.get(scheme.key)
    if form is None:
        raise DerivingRefused(
            _("The scheme “%(scheme)s” asks none of the tasks; take one of: %(known)s.")
            % {"scheme": scheme.key, "known": ", ".join(FORMS)}
        )
    told = recipes_of(source)
    if form.task != Task.STEP_REFERENCE and not any(one.recipe.graph for one in told):
        raise DerivingRefused(
            _(
                "No recipe has one answer at each of its steps. Decide the cells on which people differ, or choose "
                "whose answers count."
            )
        )
    seed = _seed(settings)
    asked = {recipe.key for recipe in _part([one.recipe for one in told], seed, settings)}
    n = 0
    for one in told:
        if one.recipe.key not in asked:
            continue
        rows = [row for instance in instances([one.recipe], form.task, seed=seed) for row in _rows(instance, one, form)]
        n += len(rows)
        if rows:
            yield MadeSheet(one.recipe.key, (), rows)
    if not n:
        raise DerivingRefused(_("No recipe gives an instance of this task."))


def asks(scheme: SchemeSpec) -> Sequence[Setting]:
    return (
        Setting("seed", _("Seed"), [(str(seed), str(seed)) for seed in SEEDS]),
        Setting(
            "part",
            _("Recipes"),
            [
                (Part.ALL, _("all")),
                (Part.TEST, _("the annotated ones that are not for training (40 in 100)")),
                (Part.UNTRAINED, _("all but those for training")),
                (Part.TRAINING, _("those for training (60 in 100)")),
            ],
            help=_("Drawn by the seed; training data are exported with the same one."),
        ),
        Setting(
            "split",
            _("Split"),
            [
                (Split.COUNTED, _("60 in 100 of the annotated recipes, counted out")),
                (Split.EACH, _("each recipe by itself, with a chance of 0.6")),
            ],
            help=_("The second is how parts were drawn before; take it beside what was made so."),
        ),
    )


def recipes_of(source: Source) -> list[Told]:
    """The recipes of a study that annotates states: each row with its steps, and its graph where every step has one
    answer and uses nothing that is not there.

    Raises:
        DerivingRefused: the scheme has no question that is answered by transitions.
    """
    section, question = _asked(source.scheme)
    told = []
    for sheet in source.sheets:
        columns = [column for column in sheet.columns if column.section == section.key]
        steps = tuple(next((text for text in column.facets.values() if text), "") for column in columns)
        for row in sheet.rows:
            given = {answer.column: answer for answer in row.of(f"{section.key}.{question.key}")}
            answers = [given[column.number] for column in columns if column.number in given]
            start = transitions.start(question, row.facets)
            whole = bool(columns) and len(answers) == len(columns)
            recipe = Recipe(
                key=_key(sheet, row),
                title=row.title or sheet.title,
                language=row.language,
                ingredients=tuple(start),
                steps=steps,
                graph=_graph(question, start, answers) if whole else None,
            )
            told.append(Told(recipe, row, answers if recipe.graph else ()))
    return told


def _graph(question: QuestionSpec, start: Sequence[str], answers: Sequence[Answered]) -> StateGraph | None:
    kind = kind_of(question)
    graph = graph_of(start, [kind.value(question, answer.code) for answer in answers])  # type: ignore[misc]
    return None if graph.lost else graph


def _asked(scheme: SchemeSpec) -> tuple[SectionSpec, QuestionSpec]:
    for section in scheme.sections:
        for question in section.questions:
            if question.kind == Kind.TRANSITIONS:
                return section, question
    raise DerivingRefused(_("“%(scheme)s” has no question that is answered by transitions.") % {"scheme": scheme.key})


def _key(sheet: SourceSheet, row: SourceRow) -> str:
    return sheet.title if len(sheet.rows) == 1 else f"{sheet.title} · {row.name}"


def _part(recipes: Sequence[Recipe], seed: int, settings: Settings) -> list[Recipe]:
    part, split = _said(settings, "part", Part.ALL), _said(settings, "split", Split.COUNTED)
    try:
        return part_of(recipes, part, seed=seed, split=split, training=settings.get("training", ()))
    except UnknownRecipes as error:
        raise DerivingRefused(str(error)) from error


def _said(settings: Settings, key: str, default: E) -> E:
    said = next(iter(settings.get(key, ())), default)
    known = list(type(default))
    if said not in known:
        raise DerivingRefused(_("“%(said)s” is none of: %(words)s.") % {"said": said[:40], "words": ", ".join(known)})
    return type(default)(said)


def _seed(settings: Settings) -> int:
    said = next(iter(settings.get("seed", ())), "0")
    if not said.isdecimal() or len(said) > 18:
        raise DerivingRefused(_("“%(seed)s” is no seed, which is a whole number.") % {"seed": said[:40]})
    return int(said)


def _rows(instance: Instance, told: Told, form: Form) -> Iterator[MadeRow]:
    if form.choices and not 2 <= instance.candidates <= MOST_CHOICES:
        return
    facets: dict[str, object] = {"step": str(instance.step)}
    if instance.target:
        facets["ingredient"] = instance.target
    if form.choices:
        facets["offered"] = [str(number) for number in range(1, instance.candidates + 1)]
    hidden = {"answer": instance.answer, "candidates": str(instance.candidates), "instance": instance.name}
    if not form.each:
        if instance.things:
            facets["things"] = [f"{letter}) {name}" for letter, name in zip(LETTERS, instance.things, strict=False)]
        yield _row(instance, told, instance.name, facets | hidden)
        return
    right = instance.answer.split(", ")
    for letter, thing in zip(LETTERS, instance.things, strict=False):
        answer = {"answer": "yes" if letter in right else "no"}
        yield _row(instance, told, f"{instance.name} {letter}", facets | {"thing": thing} | hidden | answer)


def _row(instance: Instance, told: Told, name: str, facets: Mapping[str, object]) -> MadeRow:
    return MadeRow(
        name=name,
        title=instance.title,
        url=told.row.url,
        language=instance.language,
        evidence=evidence(instance.ingredients, instance.steps),
        facets=facets,  # type: ignore[arg-type]  # a facet may be a list of texts
        answers=told.answers,
        of=told.row.number,
    )
