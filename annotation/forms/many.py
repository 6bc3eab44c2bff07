"""Several things chosen at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class ManyField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Where somebody sends a number that is too large for any key, SQLite would fail; it is no choice."""

    def _check_values(self, value: Any) -> Any:
        try:
            return super()._check_values(value)  # type: ignore[misc]  # a hook that the stubs leave out
        except OverflowError as error:
            longest = max(map(str, value), key=len)
            raise ValidationError(
                self.error_messages["invalid_choice"], code="invalid_choice", params={"value": longest}
            ) from error
