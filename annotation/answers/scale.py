"""A step of a scale: an option with a whole number. Pure."""

from __future__ import annotations

from typing import Any, cast

from annotation.answers.codes import Value
from annotation.answers.options import OptionAnswer
from annotation.scheme.spec import QuestionSpec


class Scale(OptionAnswer):
    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """The steps between two answers, as a share of the whole scale."""
        numbers = [_number(spec, option.key) for option in spec.options]
        return abs(_number(spec, cast(str, a)) - _number(spec, cast(str, b))) / (max(numbers) - min(numbers))

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "rating", "value": {"rating": _number(spec, cast(str, value))}}


def _number(spec: QuestionSpec, key: str) -> int:
    number = spec.option(key).value
    assert number is not None  # options of a scale have one
    return number
