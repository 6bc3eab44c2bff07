"""Labels as JSON: what becomes which column, and what is wrong, by its line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotation.json_tables import open_labels
from annotation.tables import Problems, TableError


def read(text: str) -> tuple[list[dict[str, str]], Problems, list[int]]:
    """The lines by their headings, what is wrong, and their numbers in the file."""
    table = open_labels(io.BytesIO(text.encode()), name="labels", max_bytes=10_000)
    problems = Problems("labels")
    lines = list(table.lines(problems))
    return (
        [{k: v for k, v in zip(table.header, line.cells, strict=True) if v} for line in lines],
        problems,
        [line.number for line in lines],
    )


def result(name: str, value: dict[str, Any], kind: str = "choices", **more: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value, **more}


def task(**of: Any) -> str:
    return json.dumps([{"id": 7, "data": {"text": "A text."}, **of}])


def test_json_lines_are_read_as_a_table() -> None:
    text = '{"rater": "A", "row": 7, "answer": "yes", "preset": false, "scores": [1]}\n\n{"rater": "B", "note": null}\n'
    lines, _problems, numbers = read("\ufeff" + text)

    assert lines == [{"rater": "A", "row": "7", "answer": "yes", "preset": "no"}, {"rater": "B"}]
    assert numbers == [1, 3]


def test_csv_is_still_read() -> None:
    assert read("rater,row,answer\nA,7,yes\n")[0] == [{"rater": "A", "row": "7", "answer": "yes"}]


def test_a_task_of_another_project() -> None:
    """People by who completed them, gold, a prediction; the row is the task where its data name none."""
    text = task(
        annotations=[
            {"completed_by": 3, "result": [result("mood", {"choices": ["Glad"]})]},
            {"completed_by": {"email": "b@example.org"}, "result": [result("mood", {"rating": 4}, "rating")]},
            {"was_cancelled": True, "result": [result("mood", {"choices": ["Sad"]})]},
            {"ground_truth": True, "result": [result("mood", {"choices": ["Sad"]})]},
        ],
        predictions=[{"model_version": "m1", "result": [result("mood", {"choices": ["Sad"]})]}, 12],
    )
    lines, problems, _numbers = read(text)

    assert [(line["row"], line["rater"], line.get("rater_kind", ""), line["answer"]) for line in lines] == [
        ("7", "3", "", "Glad"),
        ("7", "b@example.org", "", "4"),
        ("7", "gold", "gold", "Sad"),
        ("7", "m1", "judge", "Sad"),
    ]
    assert problems.total == 0


def test_our_own_names_and_remarks_come_back() -> None:
    meta = {"rater": "A1", "rater_kind": "person", "repeat": 2, "preset": True, "text": ["why"]}
    [line] = read(task(annotations=[{"result": [result("items__presence", {"choices": ["Found"]}, meta=meta)]}]))[0]

    assert {**line, "text": ""} == {
        "text": "", "row": "7", "rater": "A1", "rater_kind": "person", "section": "items", "question": "presence",
        "answer": "Found", "repeat": "2", "preset": "yes", "note": "why",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ([result("mood", {"choices": ["Glad", "Sad"]})], "“mood” has several answers (Glad, Sad)"),
        ([result("box", {"x": 1}, "rectanglelabels")], "“box” is of the type “rectanglelabels”"),
    ],
)
def test_what_a_question_cannot_take_is_named_by_its_line(results: list[Any], sentence: str) -> None:
    other = json.dumps({"id": 8, "data": {}, "annotations": []})
    text = f"[\n{other},\n{task(annotations=[{'completed_by': 1, 'result': results}])[1:-1]}\n]"
    _lines, problems, _numbers = read(text)
    [(said, where)] = problems.shown.items()

    assert sentence in str(said)
    assert where.first == [3]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"rater": "A"}\n{"rater": ', "Line 2 of “labels” is no JSON object"),
        ('{"rater": "A"}\n[1]\n', "Line 2 of “labels” is no JSON object"),
        ("[\n 1\n]", "Line 2 of “labels” is no task of Label Studio"),
        ('[\n{"data": {}},\n{"data": ', "“labels” is no JSON from line 3 on"),
        ('[{"data": {"row": "1"}}', "ends in the middle"),
        ("[]", "“labels” is empty"),
        ("{" + " " * 11_000, "MB go in at once"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        read(text)
