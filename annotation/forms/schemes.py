"""Schemes as forms take them: one of those that are stored or come with packs, a file, a text, another wording."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Scheme
from annotation.queries.schemes import shipped
from annotation.scheme.spec import SchemeError, SchemeSpec, load_scheme


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
        self._newest = {scheme.slug: str(scheme.pk) for scheme in sorted(stored, key=lambda scheme: scheme.version)}
        self._newest |= {text.spec.key: key for key, text in self._texts.items()}

    def newest(self, slug: str) -> str:
        """What stands for the newest version of a scheme, once it is offered; "" where there is none."""
        return self._newest.get(slug, "")

    def clean(self, value: Any) -> Scheme | SchemeText | None:
        chosen: str = super().clean(value)
        if not chosen:
            return None
        return self._texts.get(chosen) or Scheme.objects.get(pk=int(chosen))


class SchemeFileField(forms.FileField):
    """A YAML file, turned into a checked scheme: `cleaned_data` holds (spec, source text)."""

    MAX_BYTES = 1_000_000

    def clean(self, data: Any, initial: Any = None) -> tuple[SchemeSpec, str] | None:
        file = super().clean(data, initial)
        if not file:
            return None
        if file.size > self.MAX_BYTES:
            raise forms.ValidationError(_("“%(name)s” is too large to be a scheme file.") % {"name": file.name})
        try:
            source = file.read().decode("utf-8-sig")
            return load_scheme(source), source
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("“%(name)s” is not UTF-8 text.") % {"name": file.name}) from error
        except SchemeError as error:
            raise forms.ValidationError([f"{file.name}, {problem}" for problem in error.problems]) from error


class SchemeTextField(forms.CharField):
    """The text of a scheme file, written or pasted; `cleaned_data` as of `SchemeFileField`."""

    # Its lines are as long as they are: their numbers stand beside them. The placeholder tells an empty one.
    widget = forms.Textarea(
        attrs={
            "rows": 8,
            "spellcheck": "false",
            "class": "code",
            "wrap": "off",
            "placeholder": " ",
            "autocomplete": "off",
        }
    )

    def clean(self, value: Any) -> tuple[SchemeSpec, str] | None:
        source: str = super().clean(value).replace("\r\n", "\n")  # as a browser sends it
        if not source:
            return None
        try:
            return load_scheme(source), source
        except SchemeError as error:
            raise forms.ValidationError([str(problem) for problem in error.problems]) from error


class NewSchemeForm(forms.Form):
    """Another scheme for a study that has no answers yet: a file or a text."""

    scheme_file = SchemeFileField(label=_("Scheme file"), required=False)
    scheme_text = SchemeTextField(
        label=_("or its text"), required=False, max_length=SchemeFileField.MAX_BYTES, strip=False
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and bool(cleaned.get("scheme_file")) == bool(cleaned.get("scheme_text")):
            raise forms.ValidationError(_("Give a file or write the scheme below: one of the two."))
        return cleaned

    @property
    def chosen(self) -> tuple[SchemeSpec, str]:
        given: tuple[SchemeSpec, str] = self.cleaned_data["scheme_file"] or self.cleaned_data["scheme_text"]
        return given


class RewordForm(forms.Form):
    """Another wording of a scheme under answers: the whole of its text, and why it is changed. `looked_at` is the
    digest of the text whose differences were shown."""

    scheme_text = SchemeTextField(label=_("The scheme"), max_length=SchemeFileField.MAX_BYTES, strip=False)
    reason = forms.CharField(
        label=_("Why"),
        required=False,
        max_length=500,
        help_text=_("Raters are told, with what changed; it stands in the list of wordings and in downloads."),
    )
    looked_at = forms.CharField(required=False, widget=forms.HiddenInput)

    @property
    def is_looked_at(self) -> bool:
        """Whether the differences of this very text were shown."""
        looked_at: str = self.cleaned_data["looked_at"]
        return looked_at == self.digest

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.cleaned_data["scheme_text"][1].encode()).hexdigest()
