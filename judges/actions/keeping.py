"""Judges and extractors renamed, put away, taken back, and deleted while nothing rests on them. What they have made
stays theirs."""

from __future__ import annotations

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import Refused, note
from annotation.models import AuditEvent, Membership, Rater, Role, Study, User
from judges import doors
from judges.lineage.queries import is_unused, weighed
from judges.methods import Method
from judges.models import Extractor, Judge
from llm.models import LanguageModel, Prompt
from work.states import RunState


def hold(tool: Judge | Extractor) -> Judge | Extractor:
    """A judge or an extractor as it is now, which nobody renames or deletes before this transaction has ended. It is
    held before its study: who deletes it writes that down in the study last.

    Raises:
        Refused: it is deleted.
    """
    held = type(tool)._default_manager.select_for_update().filter(pk=tool.pk).first()
    if held is None:
        raise Refused(_("“%(name)s” is deleted.") % {"name": tool.name})
    return held


def hold_model(model: LanguageModel) -> None:
    """Nobody deletes a stored model before this transaction has ended, in which something is made of it.

    Raises:
        Refused: it is deleted.
    """
    held = LanguageModel.objects.select_for_update(no_key=True).filter(pk=model.pk)
    if not held.values_list("pk").first():
        raise Refused(_("“%(name)s” is deleted.") % {"name": model.name})


def forget_prompt(judge: Judge) -> None:
    """After a judge is gone that was known in one study alone: its prompt has lines of that study's documents, and goes
    too where nothing else asks it."""
    if judge.study_id is not None:
        Prompt.objects.filter(pk=judge.prompt_id, judges=None, generations=None).delete()


def _names_known() -> set[str]:
    """Of judges, and of those whose labels came from a file."""
    return {*Judge.objects.values_list("name", flat=True), *Rater.objects.values_list("code", flat=True)}


def _refuse_if_weighed(name: str, study: Study) -> None:
    """A stacker knows the judges that it weighs by their names. One that is not known in `study` is not named."""
    for judge in Judge.objects.filter(method=Method.STACKER, archived_at=None).select_related("prompt"):
        if name in weighed(judge):
            if judge.study_id not in (None, study.pk):
                raise Refused(_("A judge of another study weighs this judge by its name."))
            raise Refused(_("“%(other)s” weighs this judge by its name. Archive it first.") % {"other": judge.name})


def _refuse_if_others(studies: Collection[int], by: User | None) -> None:
    """Codes of raters stand in reports and programs of a study, which its managers alone change."""
    if by is None or by.is_superuser:
        return
    managed = Membership.objects.filter(user=by, role=Role.MANAGER, study__in=studies).values("study")
    if managed.distinct().count() < len(studies):
        raise Refused(_("It has worked in a study that you do not manage: copy it, or ask an owner to rename it."))


@transaction.atomic
def rename(tool: Judge | Extractor, *, name: str, study: Study, by: User | None = None) -> None:
    """Give a judge or an extractor another name; a judge's raters get it as their code. Refusals name nothing that is
    not known in `study`.

    Raises:
        Refused: it is no name, somebody has it, the tool is at work, or a judge has worked in a study that `by` does
            not manage.
    """
    made = type(tool)
    locked = hold(tool)
    if name == locked.name:
        return
    try:
        validate_slug(name)
    except ValidationError:
        raise Refused(_("A name has letters, digits, hyphens and underscores, and no spaces.")) from None
    if len(name) > 60:
        raise Refused(_("A name has at most 60 characters."))
    if made._default_manager.filter(name=name).exists():
        raise Refused(_("“%(name)s” is taken.") % {"name": name})
    if tool.runs.filter(state=RunState.RUNNING).exists():
        raise Refused(_("“%(name)s” is at work. Rename it when its run has ended.") % {"name": locked.name})
    if isinstance(tool, Judge):
        _refuse_if_weighed(locked.name, study)
        # A plan may have given a judge work that it has not begun.
        raters = Rater.objects.filter(
            Q(runs__judge=tool) | Q(assignments__plan__isnull=False), kind=Rater.Kind.JUDGE, code=locked.name
        ).distinct()
        taken = Rater.objects.filter(study__in=raters.values("study"), code=name).select_related("study").first()
        if taken is not None:
            if taken.study_id != study.pk:
                raise Refused(_("A rater of another study has the code “%(name)s”.") % {"name": name})
            raise Refused(
                _("Another rater of the study “%(study)s” has the code “%(name)s”.")
                % {"study": taken.study.title, "name": name}
            )
        studies = dict(raters.values_list("pk", "study"))
        _refuse_if_others(set(studies.values()), by)
        Rater.objects.filter(pk__in=list(studies)).update(code=name)
        doors.tell_renamed(set(studies.values()), locked.name, name)
        for changed in Study.objects.filter(pk__in=studies.values()):
            note(AuditEvent.Kind.ADMIN, by=by, study=changed, what=f"judge renamed: {locked.name} → {name}")
    made._default_manager.filter(pk=tool.pk).update(name=name)
    tool.name = name


def refuse_archived(tool: Judge | Extractor) -> None:
    """
    Raises:
        Refused: it is archived.
    """
    if tool.archived_at is not None:
        raise Refused(_("“%(tool)s” is archived. Take it back first.") % {"tool": tool.name})


@transaction.atomic
def archive(tool: Judge | Extractor) -> None:
    """Offer a judge or an extractor no more; its runs, labels and lists stay.

    Raises:
        Refused: it is at work.
    """
    if tool.runs.filter(state=RunState.RUNNING).exists():
        raise Refused(_("“%(name)s” is at work. Cancel its run first.") % {"name": tool.name})
    type(tool)._default_manager.filter(pk=tool.pk).update(archived_at=timezone.now())


def take_back(tool: Judge | Extractor) -> None:
    """Offer it again.

    Raises:
        Refused: it weighs a judge by a name that none has any more.
    """
    if isinstance(tool, Judge) and tool.method == Method.STACKER and (gone := set(weighed(tool)) - _names_known()):
        raise Refused(
            _("“%(name)s” weighs “%(gone)s”, and no judge is called so any more.")
            % {"name": tool.name, "gone": sorted(gone)[0]}
        )
    type(tool)._default_manager.filter(pk=tool.pk).update(archived_at=None)


@transaction.atomic
def delete(tool: Judge | Extractor, *, study: Study, by: User | None = None) -> None:
    """Delete a judge or an extractor that nothing rests on, such as one made by mistake.

    Raises:
        Refused: it has worked or has been given work, or another one was made from it; or it is deleted.
    """
    locked = hold(tool)
    if not is_unused(locked):
        raise Refused(
            _("“%(name)s” has worked, was given work, or has others made from it: archive it.") % {"name": locked.name}
        )
    note(AuditEvent.Kind.DELETION, by=by, study=study, what=f"{tool._meta.model_name} {locked.name}")
    locked.delete()
