"""A judge is tested, and gets a certificate or not; what a certificate says; computed again; revoked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from judges.models import Origin
from reports.data.label_table import UnknownFormat
from reports.hiring import actions, queries
from reports.hiring.forms import CertifyForm, RevokeForm, WorkForm, question_called
from reports.hiring.recomputing import Recomputed
from reports.hiring.recomputing import recompute as computed_again
from reports.hiring.words import drawn_as, percent, reasons, told, why_not_tested
from reports.models import Accepted, Certificate, Revocation, Split, TestLook


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def certify(request: AppRequest, study: Study) -> HttpResponse:
    """What it would cost to certify a judge (GET), and the test itself (POST)."""
    split = queries.split_of(study)
    if request.method == "POST":
        form = CertifyForm(request.POST, study=study)
        if form.is_valid():
            return _test(request, study, form)
    else:
        asked = request.GET
        initial: dict[str, Any] = {name: asked[name] for name in ("judge", "epsilon") if asked.get(name)}
        if question := question_called(study, asked.get("question", "")):
            initial["question"] = question
        given = "until" in asked
        form = CertifyForm.changed(asked, study=study) if given else CertifyForm(study=study, initial=initial)
    context: dict[str, Any] = {"study": study, "scheme": study.scheme.parsed, "split": split, "form": form}
    if split is not None and form.is_bound and form.is_valid():
        context["cost"] = _cost(study, split, form)
    if request.htmx:
        context["question"] = form["question"].as_widget(attrs={"hx-swap-oob": "true"})  # as the judge answers it
        return render(request, "reports/hiring/_cost.html", context)
    return render(request, "reports/hiring/certify.html", context)


@dataclass(frozen=True)
class CostLine:
    """A threshold, what it accepts and errs on development documents, and what a certificate of it would cost."""

    threshold: float
    coverage: str
    error: str
    documents: int | None
    labels: int | None
    reason: str


def _cost(study: Study, split: Split, form: CertifyForm) -> dict[str, Any]:
    """Before anything is paid for: how many documents have to be labelled, by what development documents tell."""
    rater, question = form.cleaned_data["judge"], form.cleaned_data["question"]
    epsilon, confidence = form.shares
    bound = form.cleaned_data["bound"]
    cost = queries.cost_of(split, rater, question, epsilon=epsilon, confidence=confidence, bound=bound)
    lines = [
        CostLine(
            threshold=option.point.threshold,
            coverage=percent(option.point.coverage),
            error=percent(option.point.error),
            documents=option.needed.n_documents,
            labels=option.needed.n_labels,
            reason=reasons().get(option.needed.reason, option.needed.reason),
        )
        for option in cost.planned.options
    ]
    return {
        "lines": lines,
        "reason": reasons().get(cost.planned.reason, cost.planned.reason),
        "development": cost.development,
        "size": cost.size,
        "least": cost.least,
        "enough": cost.least is not None and not cost.lacking,
        "lacking": cost.lacking,
        "tests": cost.tests,
        "looks": queries.looks_at(study),
        "refusal": why_not_tested(rater, question, split, cost.size),
    }


def _test(request: AppRequest, study: Study, form: CertifyForm) -> HttpResponse:
    epsilon, confidence = form.shares
    try:
        came = actions.certify(
            study=study,
            rater=form.cleaned_data["judge"],
            question=form.cleaned_data["question"],
            epsilon=epsilon,
            confidence=confidence,
            until=form.cleaned_data["until"],
            bound=form.cleaned_data["bound"],
            by=request.user,
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("reports:hiring", study.slug)
    if came.certificate is not None:
        messages.success(request, _("It holds. The certificate is given, and stays as it is."))
        return redirect("reports:certificate", study.slug, came.certificate.name)
    return redirect("reports:test-outcome", study.slug, came.look.pk)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def outcome(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """What a test came to that gave no certificate."""
    look = get_object_or_404(TestLook.objects.select_related("by"), study=study, what=TestLook.What.TEST, pk=pk)
    certificate = Certificate.objects.filter(look=look).select_related("study").first()
    if certificate is not None:
        return redirect(certificate)
    document = json.loads(look.outcome["document"])
    context = {"study": study, "scheme": study.scheme.parsed, "look": look, "told": told(study, document)}
    return render(request, "reports/hiring/outcome.html", context)


def called(study: Study, name: str) -> Certificate:
    found = Certificate.objects.filter(study=study, digest__startswith=name).select_related(
        "study__scheme", "rater", "question__section__scheme", "created_by"
    )
    return get_object_or_404(found.defer("labels"))


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def certificate(request: AppRequest, study: Study, name: str) -> HttpResponse:
    return page(request, study, called(study, name))


def page(
    request: AppRequest,
    study: Study,
    certificate: Certificate,
    again: Recomputed | None = None,
    revoking: RevokeForm | None = None,
) -> HttpResponse:
    supervision = queries.supervision_of(certificate)
    watched = supervision.watch
    takeovers = certificate.takeovers.select_related("by", "plan")
    context: dict[str, Any] = {
        "study": study,
        "scheme": study.scheme.parsed,
        "may_write": Role.MANAGER in study.roles,
        "certificate": certificate,
        "told": told(study, json.loads(certificate.document)),
        "identity": _identity(certificate.request["identity"]),
        "chain": [_version(version) for version in certificate.request.get("lineage", ())],
        "standing": queries.standing_of(certificate, watched),
        "revocation": Revocation.objects.filter(certificate=certificate).select_related("by").first(),
        "again": again,
        "revoke_form": revoking or RevokeForm(),
        "work_form": WorkForm(study=study),
        "takeovers": takeovers,
        "n_accepted": Accepted.objects.filter(takeover__certificate=certificate).count(),
        "n_drawn": supervision.n_drawn,
        "drawn_as": drawn_as(certificate.request["split"]["unit"], study.scheme.parsed.words),
        "watched": watched,
        "watched_percent": {
            name: percent(getattr(watched, name)) for name in ("error", "error_at_most", "low", "high", "epsilon")
        },
        "to_give_back": len(queries.to_give_back(certificate)),
    }
    if takeovers:
        context["shares"] = [
            {
                "label": one.label,
                "judge": percent(one.share.judge),
                "powered": _interval(one.share.powered),
                "classical": _interval(one.share.classical),
                "reason": reasons().get(one.share.reason, one.share.reason),
            }
            for one in queries.option_shares(certificate)
        ]
    return render(request, "reports/hiring/certificate.html", context)


def _interval(estimate: Any) -> str:
    if estimate.value is None:
        return "–"
    if estimate.low is None:
        return percent(estimate.value)
    return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"


def _identity(identity: dict[str, Any]) -> list[tuple[str, str]]:
    """Titles and texts for the card."""
    if identity.get("origin") == "file":
        return [(_("Origin"), _("labels from a file: a change of what made them cannot be seen"))]
    model = identity.get("model") or {}
    found = [
        (_("Method"), identity["method"]),
        (_("Normalisation"), identity["normalisation"]),
        (
            _("Model"),
            " · ".join(str(model[name]) for name in ("location", "revision", "served_name") if model.get(name)),
        ),
        (_("Weights"), ", ".join(identity["weights"])),
        (_("Prompt"), f"SHA-256 {identity['prompt_sha256']}"),
        (_("Extractor"), (identity["extractor"] or {}).get("extractor", "")),
        (_("Reader of the evidence"), ", ".join(f"{k} {v}" for k, v in sorted(identity["evidence_readers"].items()))),
    ]
    return [(title, text) for title, text in found if text]


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def certificate_json(request: AppRequest, study: Study, name: str) -> HttpResponse:
    """The document as it was given, byte by byte."""
    found = called(study, name)
    response = HttpResponse(found.document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-certificate-{found.name}.json"'
    return response


@for_roles(Role.MANAGER, Role.RESEARCHER, archived=True)
@posted_from("reports:certificate")
def recompute(request: AppRequest, study: Study, name: str) -> HttpResponse:
    found = called(study, name)
    try:
        again = computed_again(found)
    except UnknownFormat:
        messages.error(request, _("The labels of this certificate cannot be read by this version of Palate."))
        return redirect(found)
    return page(request, study, found, again)


@for_roles(Role.MANAGER, archived=True)
@posted_from("reports:certificate")
def revoke(request: AppRequest, study: Study, name: str) -> HttpResponse:
    found = called(study, name)
    form = RevokeForm(request.POST)
    if not form.is_valid():
        return page(request, study, found, revoking=form)
    actions.revoke(certificate=found, why=Revocation.Why.HAND, reason=form.cleaned_data["reason"], by=request.user)
    messages.success(request, _("Revoked. What was accepted under it stays marked; nothing more is accepted."))
    return redirect(found)


def _version(version: dict[str, Any]) -> dict[str, Any]:
    """A version of the judge as the document has it, in words."""
    development = version["development"]
    return {
        **version,
        "said": str(Origin.How(version["how"]).label) if version["how"] else "",
        "percent": percent(development["accuracy"]) if development else "",
    }
