"""A judge, its model, its extractor or the wording of a scheme was changed: certificates are looked at in the same
transaction's end. A judge was renamed: its tests go by its new code. A plan is taken back: so is what a judge took over
with it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models.signals import post_save, pre_delete

if TYPE_CHECKING:
    from annotation.models import Plan


def connect() -> None:
    from annotation.models import Plan, Scheme
    from judges import doors
    from judges.models import Extractor, Judge
    from llm.models import LanguageModel

    for model in (Judge, LanguageModel, Extractor, Scheme):
        post_save.connect(_look, sender=model, dispatch_uid=f"certificates-{model.__name__}")
    doors.register_renamed(_renamed)
    pre_delete.connect(_plan_goes, sender=Plan, dispatch_uid="takeovers-of-plan")


def _plan_goes(instance: Plan, **_signal: Any) -> None:
    from reports.hiring import actions

    actions.undo_takeovers(plan=instance)


def _renamed(studies: Collection[int], old: str, new: str) -> None:
    from reports.hiring import actions

    actions.rename_tests(studies=studies, old=old, new=new)


def _look(created: bool, raw: bool = False, **_signal: Any) -> None:
    if not created and not raw:
        from reports.hiring import actions

        transaction.on_commit(lambda: actions.watch() and None)
