"""The webhooks of a study: the manager's list, and the page of each with its latest calls."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions import Refused
from annotation.models import Delivery, Role, Study, Webhook
from annotation.people.access import AppRequest, for_roles
from annotation.webhooks import actions, queries
from annotation.webhooks.addresses import origin_of
from annotation.webhooks.forms import WebhookForm


def _of(study: Study, pk: int) -> Webhook:
    return get_object_or_404(study.webhooks.select_related("study", "started_by"), pk=pk)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def webhooks(request: AppRequest, study: Study) -> HttpResponse:
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = actions.make_webhook(
                study=study, origin=origin_of(request), by=request.user, **form.cleaned_data
            )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            _show_once(request, made, secret)
            return redirect(made)
    context = {"study": study, "form": form, "hooks": queries.webhooks(study), "most": actions.MOST}
    return render(request, "annotation/webhooks.html", context)


@never_cache  # it may show a secret
@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def webhook(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Its calls are fetched again while one of them is on its way."""
    hook = _of(study, pk)
    form = WebhookForm.of(hook, request.POST or None)
    if request.method == "POST" and form.is_valid():
        actions.change_webhook(hook=hook, origin=origin_of(request), by=request.user, **form.cleaned_data)
        messages.success(request, _("The webhook is changed."))
        return redirect(hook)
    context = {"study": study, "hook": hook, "form": form, "latest": queries.latest(hook), "days": actions.KEPT_DAYS}
    if request.htmx:
        return render(request, "annotation/_deliveries.html", context)
    shown = request.session.pop("webhook", None)
    context["secret"] = shown["secret"] if shown and shown["pk"] == hook.pk else None
    return render(request, "annotation/webhook.html", context)


def _show_once(request: AppRequest, hook: Webhook, secret: str) -> None:
    """By the next page, and by no other."""
    request.session["webhook"] = {"pk": hook.pk, "secret": secret}


@require_POST
@for_roles(Role.MANAGER)
def make_secret(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    hook = _of(study, pk)
    _show_once(request, hook, actions.make_secret(hook=hook, by=request.user))
    return redirect(hook)


@require_POST
@for_roles(Role.MANAGER)
def switch(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """On or off, as the button said: pressed twice, it is so once."""
    hook, on = _of(study, pk), request.POST.get("on") == "yes"
    actions.switch(hook=hook, on=on, by=request.user)
    messages.success(request, _("The webhook is on.") if on else _("The webhook is off: nothing is sent."))
    return redirect(hook)


@require_POST
@for_roles(Role.MANAGER)
def delete(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    hook = _of(study, pk)
    actions.delete_webhook(hook=hook, by=request.user)
    messages.success(request, _("The webhook for %(host)s is deleted.") % {"host": str(hook)})
    return redirect("annotation:webhooks", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def try_it(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    hook = _of(study, pk)
    try:
        actions.try_webhook(hook=hook)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(f"{hook.get_absolute_url()}#deliveries")


@require_POST
@for_roles(Role.MANAGER)
def send_again(request: AppRequest, study: Study, pk: int, number: int) -> HttpResponse:
    hook = _of(study, pk)
    delivery = get_object_or_404(Delivery.objects.select_related("run"), run=hook, pk=number)
    try:
        actions.send_again(delivery=delivery)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(f"{hook.get_absolute_url()}#deliveries")
