"""One's own account: what protects it, the tokens of one's programs, what is kept about oneself."""

from __future__ import annotations

import json
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.db.models import Count, ForeignObjectRel, Max, Min, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import actions, queries
from accounts.forms import EraseForm, TokenForm
from accounts.models import ApiToken
from accounts.views.entrance import single_sign_on
from annotation.actions import Refused, note
from annotation.models import AuditEvent, Invite, Label, LabelEvent, Note, PastSubmission, Skip, User
from annotation.people.access import AppRequest


@never_cache
@require_http_methods(["GET", "POST"])
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator]
def account(request: AppRequest) -> HttpResponse:
    """The whole of it on one page; POST makes a token, whose key the answer shows, and no later page."""
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if queries.needs_second_factor(request.user) and not queries.has_second_factor(request.user):
            return redirect("mfa_index")
        try:
            _token, key = actions.make_token(
                user=request.user, name=form.cleaned_data["name"], days=form.cleaned_data["days"] or None
            )
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            request.session["token"] = key
            return redirect("accounts:account")
    from allauth.socialaccount.models import SocialAccount
    from allauth.usersessions.models import UserSession

    context = {
        "form": form,
        "key": request.session.pop("token", None),
        "tokens": ApiToken.objects.filter(user=request.user)[:50],
        "has_second_factor": queries.has_second_factor(request.user),
        "needs_second_factor": queries.needs_second_factor(request.user),
        "n_sessions": len(UserSession.objects.purge_and_list(request.user)),
        "sso": single_sign_on(),
        "connected": SocialAccount.objects.filter(user=request.user).exists(),
    }
    return render(request, "accounts/account.html", context)


@require_POST
def withdraw_token(request: AppRequest, pk: int) -> HttpResponse:
    actions.withdraw_token(token=get_object_or_404(ApiToken, user=request.user, pk=pk), by=request.user)
    messages.success(request, _("The token opens nothing any more."))
    return redirect("accounts:account")


# --- personal data ----------------------------------------------------------------------------------------------------


@never_cache
@require_GET
def my_data(request: AppRequest) -> HttpResponse:
    """All that is kept about the person who asks, as one JSON file."""
    response = HttpResponse(
        json.dumps(personal_data(request.user), indent=2, ensure_ascii=False, default=str),
        content_type="application/json",
    )
    response["Content-Disposition"] = 'attachment; filename="my-data.json"'
    note(AuditEvent.Kind.EXPORT, by=request.user, of=request.user, what="personal data")
    return response


@never_cache
@require_http_methods(["GET", "POST"])
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator]
def leave(request: AppRequest) -> HttpResponse:
    """Have oneself forgotten."""
    form = EraseForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            actions.erase(user=request.user, by=request.user)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            logout(request)
            messages.success(request, _("Your account is erased. Your labels stay, and nothing links them to you."))
            return redirect("login")
    return render(request, "accounts/leave.html", {"form": form, "contact_of": queries.contact_of(request.user)})


# Where it stands what somebody answered.
_ROW = ("assignment__rater__study__title", "assignment__row__sheet__title", "assignment__row__name")
_CELL = (*_ROW, "column__name", "question__title")


def personal_data(user: User) -> dict[str, object]:
    """What is kept about a person, with all that they have answered. Two dozen queries, and one for each kind of thing
    that can name them otherwise."""
    from allauth.account.models import EmailAddress
    from allauth.mfa.models import Authenticator
    from allauth.socialaccount.models import SocialAccount
    from allauth.usersessions.models import UserSession

    raters = user.raters.select_related("study")
    theirs = Q(assignment__rater__in=raters)
    history = LabelEvent.objects.filter(theirs).order_by("pk")
    labels = Label.objects.filter(theirs).order_by("pk")
    taken_back = PastSubmission.objects.filter(theirs).order_by("pk")
    skips = Skip.objects.filter(theirs).order_by("pk")
    notes = Note.objects.filter(theirs | Q(author=user)).order_by("pk")
    events = LabelEvent.objects.filter(assignment__rater__in=raters)
    counted: dict[int, dict[str, Any]] = {
        found["assignment__rater"]: dict(found)
        for found in events.values("assignment__rater").annotate(n=Count("pk"), first=Min("at"), last=Max("at"))
    }
    return {
        "made_at": timezone.now().isoformat(),
        "account": {
            name: getattr(user, name)
            for name in ("id", "username", "email", "first_name", "last_name", "date_joined", "last_login")
        },
        "email_addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")),
        "single_sign_on": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "extra_data", "date_joined")
        ),
        "sessions": list(
            UserSession.objects.filter(user=user).values("ip", "user_agent", "created_at", "last_seen_at")
        ),
        "api_tokens": list(user.api_tokens.values("name", "beginning", "created_at", "expires_at", "last_used_at")),
        "roles": [
            {"study": membership.study.title, "role": membership.role}
            for membership in user.memberships.select_related("study")
        ],
        "raters": [
            {
                "study": rater.study.title,
                "code": rater.code,
                "assignments": list(
                    rater.assignments.values(
                        "row__sheet__title", "row__name", "state", "started_at", "submitted_at", "active_seconds"
                    )
                ),
                "label_events": {
                    "count": counted.get(rater.pk, {}).get("n", 0),
                    "first": counted.get(rater.pk, {}).get("first"),
                    "last": counted.get(rater.pk, {}).get("last"),
                },
            }
            for rater in raters
        ],
        "labels": list(labels.values(*_CELL, "option__key", "value", "note", "updated_at")),
        "submissions_taken_back": list(taken_back.values(*_ROW, "submitted_at", "until")),
        "skips": list(skips.values(*_CELL, "reason", "at")),
        "history": list(history.values(*_CELL, "at", "after__key", "value_after", "skip_after", "note")),
        "notes": list(notes.values(*_CELL, "text", "at", "answer", "answered_at")),
        "looks": list(user.looks.order_by("pk").values("sheet__study__title", "sheet__title", "at")),
        "invitations": list(
            Invite.objects.filter(used_by=user).values("study__title", "role", "email", "created_at", "used_at")
        ),
        "crowd": list(user.participations.values("link__study__title", "link__title", "number", "came_at")),
        "consents": list(user.consents.values("study__title", "text", "agreed_at", "withdrawn_at")),
        "contact_of": list(queries.contact_of(user).values("title", "contact", "contact_address")),
        "backgrounds": list(user.backgrounds.values("study__title", "answers", "told_at")),
        "named_by": _named_by(user),
        # From where somebody else did it is that person's.
        "audit_log": [
            {"at": event.at, "kind": event.kind, "what": event.what}
            | ({"address": event.address} if event.by == user.pk else {})
            for event in AuditEvent.objects.filter(Q(by=user.pk) | Q(of=user.pk)).order_by("pk")
        ],
    }


# What is listed above, by the column in which the account stands.
_LISTED = {
    "account.EmailAddress.user", "accounts.ApiToken.user", "annotation.Background.user", "annotation.Consent.user",
    "annotation.Look.user", "annotation.Membership.user", "annotation.Participant.user", "annotation.Rater.user",
    "mfa.Authenticator.user", "socialaccount.SocialAccount.user", "usersessions.UserSession.user",
}  # fmt: skip


def _named_by(user: User) -> dict[str, int]:
    """How many things of each kind name them otherwise, such as plans that they applied: {table and column: number}."""
    found = {}
    for relation in user._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.field.model._meta.auto_created:
            continue
        model, column = relation.field.model, relation.field.name
        where = f"{model._meta.label}.{column}"
        if where not in _LISTED and (n := model._base_manager.filter(**{column: user}).count()):
            found[where] = n
    return found
