"""The rules of a scheme, by the table that the browser's scripts are held to as well: `tests/rules/examples.json`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotation import actions, queries
from annotation.actions import Answer, Refused
from annotation.models import Assignment, Column, Question
from annotation.scheme.spec import SectionSpec
from tests import builders

pytestmark = pytest.mark.once

TABLE = json.loads((Path(__file__).parent.parent / "rules" / "examples.json").read_text(encoding="utf-8"))
EXAMPLES = [pytest.param(example, id=example["name"]) for example in TABLE["examples"]]


def section_of(example: Mapping[str, Any]) -> SectionSpec:
    return SectionSpec.model_validate(TABLE["sections"][example["section"]])


def answers_in(codes: Mapping[str, str]) -> dict[str, str]:
    """Question -> option; without skips, which answer nothing."""
    return {question: code.removeprefix("=") for question, code in codes.items() if not code.startswith("!")}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_asked(example: dict[str, Any]) -> None:
    assert [question.key for question in section_of(example).asked(answers_in(example["after"]))] == example["asked"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_the_column_presets(example: dict[str, Any]) -> None:
    assert section_of(example).presets(example["facets"]) == example.get("presets", {})


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_stands_after_changes(example: dict[str, Any], db: None) -> None:
    assignment, column = a_column(example)
    reached = example.get("reached", [(q, code) for q, code in example["before"].items() if not code.startswith("=")])
    for change in reached:
        record(assignment, column, [change])
    assert codes(assignment, column) == example["before"]

    if "left" in example:
        with pytest.raises(Refused):
            record(assignment, column, example["changes"])
    else:
        record(assignment, column, example["changes"])

    assert codes(assignment, column) == example["after"]


def a_column(example: Mapping[str, Any]) -> tuple[Assignment, Column]:
    """An assignment to a row whose sheet has one column, with the example's facets."""
    section = TABLE["sections"][example["section"]]
    text = yaml.safe_dump({"key": "rules", "version": 1, "title": "Rules", "sections": [section]}, sort_keys=False)
    study = builders.study(of=builders.scheme(text))
    facets = dict.fromkeys(section["column"]["facets"], "") | example["facets"]
    sheet = actions.add_sheet(study=study, title="Sheet", columns={section["key"]: [facets]})
    row = builders.row(sheet, "Row")
    rater = builders.rater(study, builders.user("anna"))
    (assignment,) = actions.assign(rater=rater, rows=[row])
    return assignment, sheet.columns.get()


def record(assignment: Assignment, column: Column, changes: Iterable[tuple[str, str]]) -> None:
    questions = {question.key: question for question in Question.objects.filter(section=column.section)}
    answers = []
    for key, code in changes:
        question, skip = questions[key], code.removeprefix("!") if code.startswith("!") else ""
        option = question.options.get(key=code) if code and not skip else None
        answers.append(Answer(column, question, option, skip=skip))
    actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())


def codes(assignment: Assignment, column: Column) -> dict[str, str]:
    keys = dict(Question.objects.filter(section=column.section).values_list("pk", "key"))
    standing = queries.cell_values([assignment.pk], [column.pk])[assignment.pk, column.pk]
    return {keys[question]: code for question, code in standing.items()}
