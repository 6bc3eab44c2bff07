"""The audit log of a study, and the consent of who labels in it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation import actions
from annotation.exchange.tables import safe_cell
from annotation.models import AuditEvent, Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries.log import lines
from annotation.views.going_on import go_on

PAGE = 100
_HEAD = ("at", "event", "by", "of", "study", "what", "address")


def log_page(
    request: HttpRequest, events: QuerySet[AuditEvent], template: str, context: dict[str, Any]
) -> HttpResponse:
    """A hundred events a page, of one kind if the query names one. Four queries."""
    kind = request.GET.get("kind", "")
    if kind in AuditEvent.Kind.values:
        events = events.filter(kind=kind)
    page = Paginator(events.order_by("-pk"), PAGE).get_page(request.GET.get("page"))
    context |= {"page": page, "lines": lines(page.object_list), "kinds": AuditEvent.Kind.choices, "kind": kind}
    return render(request, template, context)


class _Echo:
    def write(self, text: str) -> str:
        return text


def log_csv(events: QuerySet[AuditEvent], name: str) -> HttpResponseBase:
    """All events as CSV, the oldest first, a page at a time."""

    def written() -> Iterator[str]:
        writer = csv.writer(_Echo())
        yield writer.writerow(_HEAD)
        after = 0
        while some := list(events.filter(pk__gt=after).order_by("pk")[:1000]):
            for event, by, of, study in lines(some):
                cells = [event.at.isoformat(), event.kind, by, of, study, event.what, event.address or ""]
                yield writer.writerow([safe_cell(cell) for cell in cells])
            after = some[-1].pk

    response = StreamingHttpResponse(written(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_GET
@for_roles(Role.MANAGER)
def of_study(request: AppRequest, study: Study) -> HttpResponse:
    return log_page(request, study.audit_events.all(), "annotation/log.html", {"study": study})


@require_GET
@for_roles(Role.MANAGER)
def of_study_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    return log_csv(study.audit_events.all(), f"{study.slug}-log.csv")


@require_http_methods(["GET", "POST"])
@for_roles(*Role, archived=True)
def consent(request: AppRequest, study: Study) -> HttpResponse:
    """What who labels agrees to; managers and researchers read it, and who has agreed when."""
    agreed = actions.has_agreed(study=study, user=request.user)
    labels = study.raters.filter(user=request.user, active=True).exists()
    if request.method == "POST" and labels and study.consent.strip():
        if request.POST.get("agree") != "yes":
            problem = _("Tick the box if you agree. If you do not, close the page: nothing is recorded.")
            context = {"study": study, "agreed": agreed, "labels": labels, "problem": problem}
            return render(request, "annotation/consent.html", context, status=400)
        actions.agree(study=study, user=request.user)
        return go_on(request)
    context = {"study": study, "agreed": agreed, "labels": labels}
    if study.roles & {Role.MANAGER, Role.RESEARCHER}:
        raters = study.raters.people().filter(user__isnull=False).select_related("user")
        standing = {c.user_id: c for c in study.consents.filter(withdrawn_at=None, text=study.consent)}
        context["people"] = [(rater, standing.get(rater.user_id or 0)) for rater in raters]
    return render(request, "annotation/consent.html", context)
