"""The checks of a scheme, by the table that the browser's scripts are held to as well: `tests/rules/checks.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.scheme.checks import SENTENCES, findings
from annotation.scheme.rule_specs import Rule
from annotation.scheme.spec import Level, SectionSpec
from annotation.views.palette import check_messages, question_for_script

TABLE = json.loads((Path(__file__).parent.parent / "rules" / "checks.json").read_text(encoding="utf-8"))
TABLES = {name: SectionSpec.model_validate(table["scheme"]) for name, table in TABLE["tables"].items()}


@pytest.mark.parametrize("example", TABLE["examples"], ids=[example["name"] for example in TABLE["examples"]])
def test_findings(example: dict[str, Any]) -> None:
    answers = {(position, question): value for position, question, value in example["answers"]}
    columns = {int(position): facets for position, facets in example["columns"].items()}

    found = findings(TABLES[example["table"]], answers, row=example["row"], columns=columns)

    assert [list(finding) for finding in found] == example["findings"]


def test_the_table_has_each_rule_refusing_and_warning() -> None:
    found = {(rule, level) for example in TABLE["examples"] for _p, _q, rule, level, _said in example["findings"]}
    assert found == {(rule, level) for rule in Rule for level in Level}
    assert SENTENCES.keys() == set(Rule)


@pytest.mark.parametrize("name", TABLES)
def test_what_the_script_is_told_of_a_table(name: str) -> None:
    script, spec = TABLE["tables"][name]["script"], TABLES[name]
    assert [check.model_dump(mode="json", by_alias=True) for check in spec.checks] == script["checks"]
    for question in spec.questions:
        told = json.loads(json.dumps(question_for_script(question)))
        options = [{"key": option["key"], "blank": option["blank"]} for option in told["options"]]
        assert told | {"options": options} == script["questions"][question.key]


def test_the_script_says_the_same_sentences() -> None:
    assert check_messages() == TABLE["words"]
