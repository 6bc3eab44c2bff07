"""The code of an answer as the database tells it."""

from __future__ import annotations

from django.db.models import Case, CharField, F, TextField, Value, When
from django.db.models.functions import Coalesce, Concat

from annotation.answers.codes import DRAFT, PRESET


def code_of(option: str = "option", value: str = "value") -> Coalesce:
    """The code of an option or a value, by the names of their fields; of a label if no others are given."""
    told = Concat(Value(":"), F(value), output_field=TextField())
    return Coalesce(F(f"{option}__key"), told, output_field=TextField())


CODE = code_of()

# How a label came about, as a prefix of its code.
PREFIX = Case(
    When(preset=True, then=Value(PRESET)),
    When(drafted_from__isnull=False, confirmed_at=None, then=Value(DRAFT)),
    default=Value(""),
    output_field=CharField(),
)
