"""A judge's versions and arms: a piece of its page, and what can be made there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from judges import actions
from judges.lineage import queries as lineage
from judges.lineage.models import Origin
from judges.methods.prompting import PromptError
from judges.models import Judge


def piece(study: Study, judge: Judge) -> dict[str, Any]:
    """What the judge's page says of its versions and arms."""
    origin = Origin.objects.filter(judge=judge).select_related("parent").first()
    is_arm = origin is not None and origin.how == Origin.How.ARM
    arms = lineage.arms_of(judge)
    places = max((len(keys) for keys in lineage.ordered_options(judge, study).values()), default=0)
    turns = {arm.prompt_spec.turn for arm in arms} | {judge.prompt_spec.turn}
    candidates = None if is_arm else lineage.candidates_of(judge, study)
    return {
        "chain": lineage.chain(study, judge),
        "versions": lineage.versions_of(study, judge),
        "arms": arms,
        "average": lineage.average_of(judge),
        "may_be_arm": origin is not None and origin.how == Origin.How.COPY and not arms,
        "arm_of": origin.parent if origin is not None and is_arm else None,
        "n_orders": max(places - len(turns), 0) if not is_arm else 0,
        "candidates": candidates,
        "n_candidate_orders": len(candidates.names) - len(lineage.shifts(judge)) if candidates else 0,
    }


@require_POST
@for_roles(Role.MANAGER)
def make_arms(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Judges that read the options in the other orders."""
    return _made(request, study, pk, lambda judge: _arms_made(actions.create_arms(judge=judge, study=study)))


@require_POST
@for_roles(Role.MANAGER)
def make_candidate_arms(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Judges that read the candidates of the evidence in the other orders."""
    return _made(request, study, pk, lambda judge: _arms_made(actions.create_candidate_arms(judge=judge, study=study)))


def _arms_made(arms: Sequence[Judge]) -> str:
    n = len(arms)
    return ngettext("%(n)s arm is made. Start it.", "%(n)s arms are made. Start each of them.", n) % {"n": n}


@require_POST
@for_roles(Role.MANAGER)
def count_as_arm(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A copy in other words becomes an arm of what it was copied from."""

    def make(judge: Judge) -> str:
        actions.count_as_arm(judge=judge)
        return _("“%(name)s” counts as an arm.") % {"name": judge.name}

    return _made(request, study, pk, make)


@require_POST
@for_roles(Role.MANAGER)
def average(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A judge whose labels are the mean of the arms'."""

    def make(judge: Judge) -> str:
        made = actions.create_average(judge=judge, study=study)
        return _("“%(name)s” can be started once the arms have labelled.") % {"name": made.name}

    return _made(request, study, pk, make)


def _made(request: AppRequest, study: Study, pk: int, make: Callable[[Judge], str]) -> HttpResponse:
    if not request.user.has_perm("judges.add_judge"):
        raise PermissionDenied
    judge = get_object_or_404(Judge.objects.known_in(study).select_related("model", "prompt", "evidence"), pk=pk)
    try:
        messages.success(request, make(judge))
    except (Refused, PromptError) as refused:
        messages.error(request, str(refused))
    return redirect("judges:judge", study.slug, pk)
