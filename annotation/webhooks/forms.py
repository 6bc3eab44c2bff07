from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.models import Webhook
from annotation.webhooks import posting
from base.web.addresses import AddressRefused


class WebhookForm(forms.Form):
    """Whom to call, and of what."""

    address = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("It begins with https://. Your program answers there with 200 to 299 within ten seconds."),
        widget=forms.TextInput(attrs={"placeholder": "https://", "spellcheck": "false", "inputmode": "url"}),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[(event.value, format_lazy("{} ({})", event.label, event.value)) for event in Webhook.Event],
        initial=Webhook.Event.values,
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"].strip()
        try:
            posting.readable(address, inside=settings.PALATE_WEBHOOK_HOSTS)
        except AddressRefused as refused:
            raise forms.ValidationError(str(refused)) from refused
        return address

    @classmethod
    def of(cls, hook: Webhook, data: Mapping[str, Any] | None) -> WebhookForm:
        return cls(data, initial={"address": hook.address, "events": hook.events})
