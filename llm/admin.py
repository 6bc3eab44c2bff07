"""Language models for an administrator. A model's place can be edited: a folder moves.

What a run was made with is in its record, whatever is edited here.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from llm import doors, registry
from llm.backends.base import BackendError, Chat, Use
from llm.models import LanguageModel


class LanguageModelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A model may lie where this process cannot see it, but none may be one that could never work."""

    class Meta:
        model = LanguageModel
        fields = ["name", "backend", "location", "revision", "gguf_file", "dtype", "device", "served_name",
                  "api_key_env", "requests_per_minute", "price_read", "price_written"]  # fmt: skip

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                # For any of its uses: which one will be wanted is not known here.
                use, chat = next(iter(registry.class_of(cleaned["backend"]).uses.items()))
                registry.refuse(LanguageModel(**cleaned), Use(use), chat_template=chat == Chat.ALWAYS)
            except BackendError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned


@admin.register(LanguageModel)
class LanguageModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = LanguageModelForm
    list_display = ["name", "backend", "location", "served_name", "revision", "dtype", "device"]
    list_filter = ["backend"]
    search_fields = ["name", "location", "served_name"]

    def save_model(self, request: HttpRequest, obj: LanguageModel, form: Any, change: bool) -> None:
        """In the page's own transaction."""
        before = LanguageModel.objects.select_for_update().get(pk=obj.pk).prices if change else None
        super().save_model(request, obj, form, change)
        if change:
            doors.tell_new_price(obj, before, by=request.user)
