"""Fields of forms, with their types."""

from __future__ import annotations

from typing import TypeVar

from django import forms

F = TypeVar("F", bound=forms.Field)


def field_of(form: forms.BaseForm, name: str, kind: type[F]) -> F:
    """A form's field as what it was declared to be: for Django's types each is a plain `Field`, without choices."""
    field = form.fields[name]
    assert isinstance(field, kind), name
    return field
