"""The pages of a manager: studies, a new one, its overview, the plan, its people."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, queries
from annotation.access import AppRequest, for_roles
from annotation.forms import InviteForm, PlanForm, StudyForm
from annotation.models import Membership, Rater, Role, Sheet, Study, User
from annotation.overlap import Design, ImpossibleDesign, OverlapRequest, balanced_design
from annotation.sentences import Sentence

logger = logging.getLogger(__name__)

# Backends behind which there is no mail: what they get is printed to the log, or lost.
_NOT_SENDING = {f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")}


@require_GET
def studies(request: AppRequest) -> HttpResponse:
    mine = Study.objects.visible_to(request.user).select_related("scheme")
    return render(request, "annotation/studies.html", {"studies": mine})


@permission_required("annotation.add_study", raise_exception=True)
@require_http_methods(["GET", "POST"])
def new_study(request: AppRequest) -> HttpResponse:
    form = StudyForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            with transaction.atomic():
                scheme = data["scheme"] or actions.store_scheme(
                    spec=data["scheme_file"][0], source=data["scheme_file"][1]
                )
                study = actions.create_study(
                    slug=data["slug"], title=data["title"], scheme=scheme, guideline=data["guideline"], by=request.user
                )
        except actions.Refused as refusal:
            form.add_error("scheme_file", str(refusal))
        else:
            return redirect("annotation:study", study.slug)
    return render(request, "annotation/new_study.html", {"form": form})


@require_GET
@for_roles(*Role)
def study(request: AppRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "sheets": queries.sheets_with_counts(study),
        "raters": queries.rater_progress(study) if study.roles & {Role.MANAGER, Role.RESEARCHER} else None,
    }
    return render(request, "annotation/study.html", context)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def plan(request: AppRequest, study: Study) -> HttpResponse:
    """Show the design for the numbers of the form (GET, again at each change of them); apply it (POST).

    Only what was shown is applied: the drawn plan carries a digest of all that it follows from, which comes back.
    """
    data = request.POST if request.method == "POST" else request.GET
    form = PlanForm(data or None, study=study)
    context: dict[str, Any] = {"study": study, "form": form, "scheme": study.scheme.parsed}
    if form.is_valid():
        raters, sheets = list(form.cleaned_data["raters"]), list(form.cleaned_data["sheets"])
        overlap = form.overlap_request()
        try:
            design = balanced_design(overlap)
        except ImpossibleDesign as impossible:
            form.add_error(None, _in_words_of(study, impossible.sentence))
        else:
            if request.method == "POST" and request.POST.get("drawn") == form.digest:
                return _apply(request, study, design, form)
            context["changed"] = request.method == "POST"
            context["preview"] = {
                **_preview(design, overlap, raters, sheets),
                "notes": [_in_words_of(study, note) for note in design.notes],
                "digest": form.digest,
            }
    template = "annotation/_plan_preview.html" if request.htmx else "annotation/plan.html"
    return render(request, template, context)


def _in_words_of(study: Study, sentence: Sentence) -> str:
    return _(sentence.template) % {**study.scheme.parsed.words.model_dump(), **dict(sentence.numbers)}


def _apply(request: AppRequest, study: Study, design: Design, form: PlanForm) -> HttpResponse:
    try:
        actions.apply_design(
            study=study,
            design=design,
            request=form.overlap_request(),
            raters=list(form.cleaned_data["raters"]),
            sheets=list(form.cleaned_data["sheets"]),
            by=request.user,
            rows=form.rows,
        )
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:plan", study.slug)
    n = len(design.assignments)
    words = study.scheme.parsed.words.model_dump()
    messages.success(request, ngettext("%(n)s %(row)s assigned.", "%(n)s %(rows)s assigned.", n) % {"n": n, **words})
    return redirect("annotation:study", study.slug)


def _preview(design: Design, overlap: OverlapRequest, raters: list[Rater], sheets: list[Sheet]) -> dict[str, Any]:
    """What the plan page draws: per rater and sheet the documents labelled alone and with somebody, and the sums."""
    cells = queries.labels_a_row(sheets)
    once, twice = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for (sheet, _document), there in design.raters_of.items():
        (once if len(there) == 1 else twice).update((sheet, rater) for rater in there)
    matrix = [
        {
            "rater": rater,
            "documents": design.documents_of_rater[number],
            "labels": sum(
                cells.get(sheet.pk, 0) * (once[position, number] + twice[position, number])
                for position, sheet in enumerate(sheets)
            ),
            "sheets": [
                {"once": once[position, number], "twice": twice[position, number]} for position in range(len(sheets))
            ],
        }
        for number, rater in enumerate(raters)
    ]
    sheets_shared = design.sheets_shared
    return {
        "sheets": sheets,
        "matrix": matrix,
        "documents": sum(overlap.sheets),
        "twice": design.labelled_twice,
        "labels": sum(line["labels"] for line in matrix),
        "pairs": [
            {"a": raters[a], "b": raters[b], "documents": n, "sheets": sheets_shared[a, b]}
            for (a, b), n in design.documents_shared.items()
        ],
    }


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def people(request: AppRequest, study: Study) -> HttpResponse:
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            user, created = actions.invite(
                study=study, username=data["username"], email=data["email"], role=Role(data["role"])
            )
        except actions.Refused as refusal:
            form.add_error("username", str(refusal))
        else:
            messages.success(request, _is_in(user, created=created))
            if created:
                _give_link(request, study, user)
            return redirect("annotation:people", study.slug)
    members = study.memberships.select_related("user").order_by("user__username", "role")
    codes = dict(study.raters.filter(user__isnull=False).values_list("user_id", "code"))
    unfinished = queries.unfinished(study)
    linked = User.objects.filter(pk=request.session.pop("linked", None)).first()
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "form": form,
        "members": [
            {
                "membership": m,
                "code": codes.get(m.user_id, "") if m.role == Role.ANNOTATOR else "",
                "unfinished": unfinished.get(m.user_id, 0) if m.role == Role.ANNOTATOR else 0,
                "has_password": m.user.has_usable_password(),
            }
            for m in members
        ],
        "link": {"username": linked.username, "url": _first_login_link(request, linked)}
        if linked and not linked.has_usable_password()
        else None,
    }
    return render(request, "annotation/people.html", context)


def _is_in(user: User, *, created: bool) -> str:
    if created:
        return _("%(name)s is in.") % {"name": user.username}
    # The name may be somebody else's than the manager thought.
    if known := ", ".join(part for part in (user.get_full_name(), user.email) if part):
        return _("“%(name)s” has an account already (%(known)s) and is in now.") % {
            "name": user.username,
            "known": known,
        }
    return _("“%(name)s” has an account already and is in now.") % {"name": user.username}


@require_POST
@for_roles(Role.MANAGER)
def new_link(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Show the link for a first login again, to whoever is let in by this study alone."""
    user = get_object_or_404(Membership.objects.select_related("user"), study=study, pk=pk).user
    if user.has_usable_password():
        messages.error(request, _("%(name)s has a password already.") % {"name": user.username})
    elif user.is_staff or user.is_superuser or user.memberships.exclude(study=study).exists():
        messages.error(
            request,
            _("%(name)s is let into more than this study. Ask an administrator for the link.")
            % {"name": user.username},
        )
    else:
        _give_link(request, study, user)
    return redirect("annotation:people", study.slug)


def _give_link(request: AppRequest, study: Study, user: User) -> None:
    """Let the next page show the link for a first login, and send it where there is a way to."""
    request.session["linked"] = user.pk
    if user.email and settings.EMAIL_BACKEND not in _NOT_SENDING:
        transaction.on_commit(lambda: _send_link(request, study, user))


def _send_link(request: AppRequest, study: Study, user: User) -> None:
    subject = _("Your account for “%(study)s”") % {"study": " ".join(study.title.split())}
    text = _("Choose a password with this link, which works once:\n\n%(link)s\n\nYour user name is: %(name)s") % {
        "link": _first_login_link(request, user),
        "name": user.username,
    }
    try:
        send_mail(subject, text, None, [user.email])
    except Exception:  # a backend may raise whatever it likes, and the link is on the page in any case
        logger.exception("The link for user %s could not be sent", user.pk)
        messages.error(
            request,
            _("The e-mail to %(address)s could not be sent. Give them the link yourself.") % {"address": user.email},
        )
    else:
        messages.success(request, _("The link was sent to %(address)s too.") % {"address": user.email})


def _first_login_link(request: AppRequest, user: User) -> str:
    """The link by which an account without a password chooses one."""
    path = reverse(
        "password_reset_confirm",
        kwargs={
            "uidb64": urlsafe_base64_encode(force_bytes(user.pk)),
            "token": default_token_generator.make_token(user),
        },
    )
    return request.build_absolute_uri(path)


@require_POST
@for_roles(Role.MANAGER)
def remove_member(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    membership = get_object_or_404(Membership.objects.select_related("study", "user"), study=study, pk=pk)
    try:
        withdrawn = actions.remove_member(membership=membership)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
    else:
        said = _("%(name)s lost that role; the labels stay.") % {"name": membership.user.username}
        if withdrawn:
            said += " " + ngettext(
                "%(n)s %(row)s that was not submitted is taken back.",
                "%(n)s %(rows)s that were not submitted are taken back.",
                withdrawn,
            ) % {"n": withdrawn, **study.scheme.parsed.words.model_dump()}
        messages.success(request, said)
    return redirect("annotation:people", study.slug)
