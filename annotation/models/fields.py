"""A field for answers that are values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models

from annotation.answers.codes import dumps


class ValueField(models.TextField):  # type: ignore[type-arg]
    """A canonical value of an answer, None for none; stored as its canonical JSON.

    As text, not as the database's own JSON: PostgreSQL would give the keys of a record in another order. So a code is
    ":" and what is stored, in SQL too, and equal answers are equal there.
    """

    if TYPE_CHECKING:
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any
        _pyi_lookup_exact_type: Any

    def from_db_value(self, stored: str | None, *args: Any) -> Any:
        return None if stored is None else json.loads(stored)

    def get_prep_value(self, value: Any) -> Any:
        return value if value is None or hasattr(value, "resolve_expression") else dumps(value)

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        value = self.value_from_object(obj)
        return "" if value is None else dumps(value)
