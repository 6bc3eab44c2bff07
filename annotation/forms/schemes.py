"""A choice among the schemes that are stored and those that come with packs."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Scheme
from annotation.queries.schemes import shipped
from annotation.scheme.spec import SchemeSpec


class SchemeText(NamedTuple):
    """A scheme that is not stored yet, as `actions.store_scheme` takes it."""

    spec: SchemeSpec
    source: str


class SchemeField(forms.ChoiceField):
    """`cleaned_data` is a stored `Scheme`, a `SchemeText` of a pack, or None."""

    def __init__(self, *, empty_label: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.empty_label = empty_label

    def offer(self) -> None:
        """Look up what there is; to be called where a form is made. One query."""
        stored = list(Scheme.objects.defer("spec", "source"))
        have = {(scheme.slug, scheme.version) for scheme in stored}
        texts = {key: text for key, text in shipped().items() if (text[0].key, text[0].version) not in have}
        self._texts = {key: SchemeText(*text) for key, text in texts.items()}
        choices: list[Any] = [("", self.empty_label)] if self.empty_label is not None else []
        choices += [(str(scheme.pk), str(scheme)) for scheme in stored]
        if self._texts:
            choices.append((_("Come with Palate"), [(key, text.spec.title) for key, text in self._texts.items()]))
        self.choices = choices

    def clean(self, value: Any) -> Scheme | SchemeText | None:
        chosen: str = super().clean(value)
        if not chosen:
            return None
        return self._texts.get(chosen) or Scheme.objects.get(pk=int(chosen))
