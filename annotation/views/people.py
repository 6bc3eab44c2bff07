"""Who is in a study: inviting by a link that works once, joining by it, taking roles away."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import actions, queries
from annotation.forms.people import InviteForm, JoinForm
from annotation.models import Invite, Membership, Role, Study, User
from annotation.people import bound_invites, mail
from annotation.people.access import AppRequest, for_roles


@never_cache  # it may show the link of an invitation, which lets in whoever has it
@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def people(request: AppRequest, study: Study) -> HttpResponse:
    form = InviteForm(request.POST or None, can_bind=mail.is_set_up())
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        invite, token = actions.invite(
            study=study,
            role=Role(data["role"]),
            email=data["email"],
            days=data["days"],
            bound=data["bound"],
            by=request.user,
        )
        link = request.build_absolute_uri(reverse("annotation:join", args=[token]))
        # Shown by the next page, and by no other.
        request.session["invite"] = {"url": link, "role": invite.get_role_display()}
        if invite.email and mail.is_set_up():
            _send_link(request, invite, link)
        return redirect("annotation:people", study.slug)
    members = queries.members(study)
    raters = {rater.user_id: rater for rater in study.raters.filter(user__in=[one.user_id for one in members])}
    unfinished = queries.unfinished(study, [one.user_id for one in members])
    links = Counter(queries.links(study).values_list("created_by", flat=True))

    def told(membership: Membership) -> dict[str, Any]:
        labels = membership.role == Role.ANNOTATOR
        return {
            "membership": membership,
            "rater": raters.get(membership.user_id) if labels else None,
            "unfinished": unfinished.get(membership.user_id, 0) if labels else 0,
            "links": links[membership.user_id] if membership.role == Role.MANAGER else 0,
        }

    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "form": form,
        "members": [told(one) for one in members],
        "crowd": queries.crowd_links(study),
        "invites": study.invites.select_related("created_by", "used_by")[:50],
        "link": request.session.pop("invite", None),
    }
    return render(request, "annotation/people.html", context)


def _send_link(request: AppRequest, invite: Invite, link: str) -> None:
    if mail.send_invite(invite, link):
        messages.success(request, _("The link was sent to %(address)s too.") % {"address": invite.email})
    else:
        messages.error(
            request,
            _("The e-mail to %(address)s could not be sent. Give them the link yourself.") % {"address": invite.email},
        )


@require_POST
@for_roles(Role.MANAGER, archived=True)
def revoke_invite(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    invite = get_object_or_404(Invite, study=study, pk=pk)
    if actions.revoke_invite(invite=invite, by=request.user):
        messages.success(request, _("The link does not work any more."))
    else:
        messages.error(request, actions.why_not_revoked(invite))
    return redirect("annotation:people", study.slug)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Where an invitation leads: join with the account that is logged in, or make one."""
    invite = get_object_or_404(Invite.objects.select_related("study"), digest=actions.token_digest(token))
    context = {"invite": invite, "here": request.path}
    if invite.state != "open":
        return render(request, "annotation/join.html", context | {"problem": _problem(invite)}, status=410)
    if refusal := actions.why_nobody_joins(invite):
        return render(request, "annotation/join.html", context | {"problem": refusal, "is_archived": True}, status=403)
    shown = not invite.bound or bound_invites.is_shown(request, invite)
    if not shown:
        return _ask_for_code(request, invite, context)
    form = None if isinstance(request.user, User) else JoinForm(request.POST or None)
    try:
        if request.method == "POST" and isinstance(request.user, User):
            actions.join(invite=invite, user=request.user, shown=shown)
            return _welcome(request, invite)
        if request.method == "POST" and form is not None and form.is_valid():
            data = form.cleaned_data
            user = actions.sign_up(invite=invite, username=data["username"], password=data["password1"], shown=shown)
            login(request, user)
            return _welcome(request, invite)
    except actions.Refused as refusal:
        context["problem"] = str(refusal)
    return render(request, "annotation/join.html", context | {"form": form})


def _ask_for_code(request: HttpRequest, invite: Invite, context: dict[str, Any]) -> HttpResponse:
    """The invitation is bound to an address: a code is mailed there, and typed here."""
    if request.method == "POST":
        try:
            if "code" in request.POST:
                bound_invites.show(request, invite, request.POST["code"])
                return redirect(request.path)
            bound_invites.send(request, invite)
        except actions.Refused as refusal:
            context["problem"] = str(refusal)
    context["waits_for_code"] = bound_invites.is_sent(request, invite)
    return render(request, "annotation/join_bound.html", context)


def _problem(invite: Invite) -> str:
    if invite.state == "used":
        return _("This link was used already. If that was you, log in; if not, ask for a new one.")
    if invite.state == "revoked":
        return _("This link was taken back. Ask for a new one.")
    return _("This link is too old. Ask for a new one.")


def _welcome(request: HttpRequest, invite: Invite) -> HttpResponse:
    said = _("You are in “%(study)s” as %(role)s.") % {
        "study": invite.study.title,
        "role": invite.get_role_display(),
    }
    if invite.role == Role.ANNOTATOR:
        then = _("What is given to you to label comes here.")
        messages.success(request, f"{said} {then}")
        return redirect("annotation:home")
    messages.success(request, said)
    return redirect("annotation:study", invite.study.slug)


@require_POST
@for_roles(Role.MANAGER, archived=True)
def remove_member(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    membership = get_object_or_404(Membership.objects.select_related("study", "user"), study=study, pk=pk)
    is_manager = membership.role == Role.MANAGER
    links = queries.links(study).filter(created_by=membership.user).count() if is_manager else 0
    try:
        withdrawn = actions.remove_member(membership=membership, by=request.user)
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
            said += " " + _("Reassign them from the plan.")
        if links:
            said += " " + ngettext(
                "%(n)s invitation of theirs that nobody has used is taken back.",
                "%(n)s invitations of theirs that nobody has used are taken back.",
                links,
            ) % {"n": links}
        messages.success(request, said)
    if (link := request.POST.get("crowd", "")).isdecimal() and study.crowd_links.filter(pk=link[:18]).exists():
        return redirect("annotation:crowd-people", study.slug, int(link))
    return redirect("annotation:people", study.slug)
