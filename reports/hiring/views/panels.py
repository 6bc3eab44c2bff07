"""Pieces of other pages: what supervision says, on the board; the split, on the plan."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from reports.hiring import queries
from reports.hiring.forms import SplitForm
from reports.hiring.words import percent, title_of
from reports.models import Certificate, Split, Takeover


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def board_panel(request: AppRequest, study: Study) -> HttpResponse:
    """Each certificate under which something was accepted, with the error as supervision finds it."""
    lines = []
    at_work = Certificate.objects.filter(study=study, pk__in=Takeover.objects.values("certificate"))
    for certificate in at_work.select_related("study__scheme", "rater", "question__section__scheme").defer("labels"):
        supervision = queries.supervision_of(certificate)
        watched = supervision.watch
        lines.append(
            {
                "certificate": certificate,
                "question": title_of(study, queries.question_name(certificate.question)),
                "standing": queries.standing_of(certificate, watched),
                "watched": watched,
                "error": percent(watched.error),
                "low": percent(watched.low),
                "high": percent(watched.high),
                "epsilon": percent(certificate.epsilon),
                "n_drawn": supervision.n_drawn,
            }
        )
    context = {"study": study, "lines": lines, "scheme": study.scheme.parsed}
    return render(request, "reports/hiring/_board.html", context)


def of_split(study: Study, split: Split | None) -> dict[str, Any]:
    """What `_split.html` says of the parts, beside its form. share: per cent of the documents that are for the test."""
    parts = queries.part_counts(study, split) if split else None
    return {
        "split": split,
        "parts": parts,
        "share": parts[1].share_of(parts[0]) if parts else 0,
        "fitted": queries.fitted_count(study, split),
        "n_looks": queries.looks_at(study),
    }


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def split_panel(request: AppRequest, study: Study) -> HttpResponse:
    split = queries.split_of(study)
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        **of_split(study, split),
        "may_write": Role.MANAGER in study.roles,
        "form": SplitForm.showing(split, study=study, auto_id="split_%s"),
    }
    return render(request, "reports/hiring/_split.html", context)
