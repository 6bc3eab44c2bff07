"""Several things chosen at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


class ManyField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Where somebody sends a number that is too large for any key, or more of them than a page's form may have, SQLite
    would fail; it is no choice."""

    def _check_values(self, value: Any) -> Any:
        if len(value) > settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
            most = {"n": settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}
            raise ValidationError(_("At most %(n)s can be chosen."), code="too_many", params=most)
        try:
            return super()._check_values(value)  # type: ignore[misc]  # a hook that the stubs leave out
        except OverflowError as error:
            longest = max(map(str, value), key=len)
            raise ValidationError(
                self.error_messages["invalid_choice"], code="invalid_choice", params={"value": longest}
            ) from error
