"""What the owner of an installation looks after. Owners are superusers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import actions, owner_queries, queries
from accounts.forms import EraseForm
from accounts.models import ApiToken
from annotation.actions import Refused, note
from annotation.models import AuditEvent, User
from annotation.people.access import AppRequest
from annotation.views.audit import log_csv, log_page
from llm.models import LanguageModel

_PEOPLE = 100  # a page
View = Callable[..., HttpResponseBase]


def for_owners(view: View) -> View:
    @wraps(view)
    def wrapper(request: AppRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_superuser:
            raise PermissionDenied(_("This page is for owners of the installation."))
        return view(request, *args, **kwargs)

    return wrapper


@require_GET
@for_owners
def overview(request: AppRequest) -> HttpResponse:
    """Models, prompts, keys, storage, queue, versions."""
    context = {
        "models": owner_queries.models(),
        "prompts": owner_queries.prompts(),
        "n_prompts": owner_queries.n_prompts(),
        "keys": owner_queries.keys(),
        "storage": owner_queries.storage(),
        "queue": owner_queries.queue(),
        "standing": owner_queries.standing(),
        "versions": owner_queries.versions(),
    }
    return render(request, "accounts/owner.html", context)


@require_GET
@for_owners
def people(request: AppRequest) -> HttpResponse:
    from allauth.mfa.models import Authenticator

    asked = request.GET.get("q", "").strip()
    found = User.objects.filter(Q(username__icontains=asked) | Q(email__icontains=asked)).annotate(
        n_studies=Count("memberships__study", distinct=True),
        has_factor=Exists(Authenticator.objects.filter(user=OuterRef("pk"), type__in=["totp", "webauthn"])),
        has_tokens=Exists(ApiToken.objects.live().filter(user=OuterRef("pk"))),
    )
    page = Paginator(found.order_by("username"), _PEOPLE).get_page(request.GET.get("page"))
    return render(request, "accounts/owner_people.html", {"page": page, "q": asked})


@require_http_methods(["GET", "POST"])
@for_owners
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator]
def person(request: AppRequest, pk: int) -> HttpResponse:
    """One account, and what an owner may do with it: POST `do`."""
    who = get_object_or_404(User, pk=pk)
    form = EraseForm(user=who)
    if request.method == "POST":
        try:
            match request.POST.get("do"):
                case "close" | "open" as asked:
                    actions.set_active(user=who, active=asked == "open", by=request.user)
                case "owner" | "no-owner" as asked:
                    actions.make_owner(user=who, owner=asked == "owner", by=request.user)
                case "end-sessions":
                    actions.end_sessions(user=who)
                    note(AuditEvent.Kind.LOGOUT, by=request.user, of=who, what="everywhere")
                case "reset-factors":
                    actions.reset_factors(user=who, by=request.user)
                case "erase":
                    form = EraseForm(request.POST, user=who)
                    if form.is_valid():
                        actions.erase(user=who, by=request.user)
                        messages.success(request, _("The account is erased. The labels stay."))
                        return redirect("accounts:owner-people")
        except Refused as refusal:
            messages.error(request, str(refusal))
            return redirect("accounts:owner-person", who.pk)
        if not form.is_bound:
            messages.success(request, _("Done."))
            return redirect("accounts:owner-person", who.pk)
    context = {
        "who": who,
        "form": form,
        "memberships": who.memberships.select_related("study"),
        "tokens": ApiToken.objects.live().filter(user=who),
        "raters": who.raters.select_related("study"),
        "contact_of": queries.contact_of(who),
    }
    return render(request, "accounts/owner_person.html", context)


@require_POST
@for_owners
def delete_model(request: AppRequest, pk: int) -> HttpResponse:
    model = get_object_or_404(LanguageModel, pk=pk)
    try:
        actions.delete_model(model=model, by=request.user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("“%(name)s” is deleted.") % {"name": model.name})
    return redirect("accounts:owner")


@require_POST
@for_owners
def withdraw_token(request: AppRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=pk)
    actions.withdraw_token(token=token, by=request.user)
    return redirect("accounts:owner-person", token.user_id)


@require_GET
@for_owners
def log(request: AppRequest) -> HttpResponse:
    return log_page(request, AuditEvent.objects.all(), "accounts/owner_log.html", {"studies": True})


@require_GET
@for_owners
def whole_log_csv(request: AppRequest) -> HttpResponseBase:
    note(AuditEvent.Kind.EXPORT, by=request.user, what="audit log")
    return log_csv(AuditEvent.objects.all(), "audit-log.csv")
