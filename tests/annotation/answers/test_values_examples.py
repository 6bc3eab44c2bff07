"""The table of examples that the scripts are held to as well: tests/rules/values.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.answers import AnswerRefused, kind_of
from annotation.answers.codes import value_code
from annotation.scheme.checks import parts
from annotation.scheme.spec import QuestionSpec
from annotation.views.palette import question_for_script, value_messages

TABLE = json.loads((Path(__file__).parents[2] / "rules" / "values.json").read_text(encoding="utf-8"))
QUESTIONS = {name: QuestionSpec.model_validate(one["scheme"]) for name, one in TABLE["questions"].items()}


@pytest.mark.parametrize(
    "example", TABLE["examples"], ids=lambda example: f"{example['question']}: {example['typed'][:30]!r}"
)
def test_what_is_typed(example: dict[str, Any]) -> None:
    spec = QUESTIONS[example["question"]]
    kind = kind_of(spec)
    if "refused" in example:
        with pytest.raises(AnswerRefused) as refused:
            kind.read(spec, example["typed"])
        assert example["refused"] in str(refused.value)
        return
    value = kind.read(spec, example["typed"])
    if value is None:
        assert example["nothing"]
        return
    says = {
        "code": value_code(value),
        "shown": kind.shown(spec, value),
        "written": kind.written(spec, value),
        "sign": kind.sign(spec, value),
        "parts": parts(spec, value),
        "warnings": kind.warnings(spec, value),
    }
    assert {name: says[name] for name in says if name in example} == {
        name: said for name, said in example.items() if name in says
    }


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_the_script_is_told_of_a_question(name: str) -> None:
    told = json.loads(json.dumps(question_for_script(QUESTIONS[name])))
    assert told | {"options": []} == TABLE["questions"][name]["script"] | {"options": []}


def test_the_script_says_the_same_sentences() -> None:
    assert value_messages() == TABLE["words"]
