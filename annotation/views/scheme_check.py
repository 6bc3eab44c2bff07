"""What is wrong in a scheme, or what it asks and how that looks, while somebody writes it. Nothing is stored."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import permission_required
from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST

from annotation import actions, queries
from annotation.models import Role, Study, User
from annotation.people.access import AppRequest, for_roles
from annotation.scheme.problems import Problem
from annotation.scheme.rewording import Difference, differences, refusals
from annotation.scheme.spec import SchemeError, SchemeSpec, load_scheme
from annotation.views.palette import checks_for_script, grid_messages, palette
from annotation.views.work import beginnings, evidence_of

MOST = 100_000  # characters; the longest scheme that comes with Palate has a tenth. More takes a server seconds.
SHOWN = 20  # problems, and changes
MOST_A_MINUTE = 120  # checks of one person; the page asks for one 0.6 seconds after a key, and no sooner


@require_POST
@permission_required("annotation.add_study", raise_exception=True)
@gzip_page
def check_new_study(request: AppRequest) -> HttpResponse:
    return _checked(request, None)


@require_POST
@for_roles(Role.MANAGER)
@gzip_page
def check_study(request: AppRequest, study: Study) -> HttpResponse:
    return _checked(request, study)


def _checked(request: AppRequest, study: Study | None) -> HttpResponse:
    """The piece below the text, and the preview where it is another one than `shown`."""
    if _is_too_often(request.user):
        return HttpResponse(status=429, headers={"Retry-After": "60"})
    text = request.POST.get("scheme_text", "").replace("\r\n", "\n")
    context: dict[str, Any] = {"is_empty": not text.strip(), "most": SHOWN}
    spec = None
    if len(text) > MOST:
        context["problems"] = [
            Problem(1, "", _("This is too long to be checked while it is written; it is checked when it is sent."))
        ]
    elif text.strip():
        try:
            spec = load_scheme(text)
        except SchemeError as error:
            context |= {"problems": error.problems, "column": error.column}
    if spec is not None:
        digest = _digest(spec, study)
        context |= {"scheme": spec, "change": _change(spec, text, study, request.user), "digest": digest}
        context["n_questions"] = sum(len(section.questions) for section in spec.sections)
        if digest != request.POST.get("shown"):
            context["preview"] = _preview(request, spec, study)
    return render(request, "annotation/_scheme_checked.html", context)


def _is_too_often(user: User) -> bool:
    """Whether somebody has had all checks of this minute. Counted where it costs little, so of several at the same
    moment one may not be; nobody is kept from checking while the cache is away."""
    key = f"scheme-checks:{user.pk}:{int(time.time() // 60)}"
    n = (cache.get(key) or 0) + 1
    cache.set(key, n, 120)
    return n > MOST_A_MINUTE


@dataclass(frozen=True)
class Change:
    """What it means to take a scheme now. `refusals`: why it would not be taken. `found`: what differs from what a
    study with answers asks; None where it has none."""

    refusals: Sequence[str]
    found: Sequence[Difference] | None = None


def _change(spec: SchemeSpec, source: str, study: Study | None, user: User) -> Change:
    if study is None or not actions.has_answers(study):
        why = queries.why_not_stored(queries.stored_version(spec), spec, source)
        unfit = queries.why_unfit(study, spec) if study else ""
        return Change([one for one in (why, unfit) if one])
    asked = queries.asked_by(study.scheme, user)
    found = differences(study.scheme.parsed, spec)
    told = [asked.why_not] if asked.why_not else refusals(found)
    if found and spec.version < asked.next_version:
        told.append(_("Give it the version %(version)s or a higher one.") % {"version": asked.next_version})
    return Change(told, found)


def _digest(spec: SchemeSpec, study: Study | None) -> str:
    """What a preview is of: the same one is not drawn anew."""
    told = f"{get_language()} {study.pk if study else ''} {spec.model_dump_json()}"
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _preview(request: AppRequest, spec: SchemeSpec, study: Study | None) -> str:
    """The page of a sheet, whole, with one row."""
    found = queries.preview(spec, study)
    grid = found.grid
    context = {
        "sheet": grid.sheet,
        "study": grid.sheet.study,
        "scheme": spec,
        "grid": grid,
        "seconds": {found.row.pk: 0},
        "n_rows": 1,
        "n_submitted": 0,
        "warnings": [],
        "palette": palette(grid),
        "checks": checks_for_script(grid),
        "beginnings": beginnings(grid),
        "has_states": False,
        "sentences": grid_messages(closed=False),
        "evidence": evidence_of(found.row, columns=found.columns),
        "messages": [],
    }
    return render_to_string("annotation/preview.html", context, request)
