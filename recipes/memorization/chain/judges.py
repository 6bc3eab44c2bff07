"""The judges of a chain: one model in all roles, by the prompts that come with Palate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count

from judges import actions as judging
from judges.models import Judge
from llm.models import LanguageModel
from recipes.memorization import cloze
from recipes.memorization.chain.settings import RULES
from recipes.memorization.demo_study import ROOT, shipped_judges

CHOOSES, PARSES, LOOKS, EXAMINES = "chooses", "parses", "looks", "examines"
_PROMPTS = {
    CHOOSES: "candidates-writing",
    PARSES: "parsing-writing",
    EXAMINES: "nonsense-writing",
}
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_-]+")
_LONGEST = {CHOOSES: 300, PARSES: 900, EXAMINES: 60}  # tokens of an answer


def of_model(
    model: LanguageModel, *, chat_form: bool = True, longest: Mapping[str, int] | None = None
) -> dict[str, Judge]:
    """{role: judge} of one model, each stored once and called `MODEL-ROLE`, of a model on a server by its name there,
    in what a judge's name may have. They write at temperature 0.

    `longest`: tokens of an answer, of roles that are to have others than usual.

    Raises:
        annotation.actions.Refused: the model could never do it.
    """
    made = {}
    for role, file in {**_PROMPTS, LOOKS: cloze.prompt_name()}.items():
        models = (model.served_name or model.name, model.name)
        names = [f"{_NOT_IN_NAMES.sub('-', name[-50:]).strip('-')}-{role}" for name in models]
        before = [f"{name[-50:]}-{role}" for name in models]  # as they were called at first: their chains go on
        known = Judge.objects.filter(name__in=[*names, *before], model=model).select_related("model", "prompt")
        made[role] = known.order_by("pk").first() or _made(
            model, role, _free(names), file, chat_form=chat_form, longest={**_LONGEST, **(longest or {})}
        )
    return made


def _free(names: Sequence[str]) -> str:
    """The first that no judge has: another server may have a model of the same name."""
    numbered = (f"{names[-1]}-{n}" for n in count(2))
    return next(name for name in chain(names, numbered) if not Judge.objects.filter(name=name).exists())


def _made(
    model: LanguageModel, role: str, name: str, file: str, *, chat_form: bool, longest: Mapping[str, int]
) -> Judge:
    prompt = judging.store_prompt(name=file, text=(ROOT / "prompts" / f"{file}.yaml").read_text(encoding="utf-8"))
    if role == LOOKS:
        return judging.create_judge(name=name, method=Judge.Method.CLOZE, model=model, prompt=prompt)
    return judging.create_judge(
        name=name,
        method=Judge.Method.WRITING,
        model=model,
        prompt=prompt,
        chat_template=chat_form,
        temperature=0,
        max_new_tokens=longest[role],
    )


def lexical() -> Judge:
    """The judge without a model."""
    return next(judge for judge in shipped_judges() if judge.method == Judge.Method.LEXICAL)


def rules() -> Judge:
    """The judge that takes recipes apart by rules (`recipes.cooking.taking_apart`)."""
    file = ROOT / "prompts" / "parsing-lexical.yaml"
    return Judge.objects.filter(name=RULES).first() or judging.create_judge(
        name=RULES,
        method=Judge.Method.LEXICAL,
        prompt=judging.store_prompt(name=file.stem, text=file.read_text(encoding="utf-8")),
    )
