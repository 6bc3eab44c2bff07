"""Answers that are values, out and in again: as a file of labels, and over HTTP."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.answers import dumps
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.models import Label, Study
from tests import builders
from tests.annotation import workshop as made
from tests.annotation.importing import labels_in, problems_of
from tests.annotation.workshop import CUT, GLUE, Workshop
from tests.builders import ApiOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def wood() -> Workshop:
    return made.workshop()


def exported(study: Study) -> str:
    return "".join(safe_lines(label_header(study), exported_labels(study)))


def in_words(lines: Iterable[tuple[str, ...]], study: Study) -> set[tuple[str, ...]]:
    kept = [
        label_header(study).index(name) for name in ("row", "rater", "column", "question", "answer", "answer_label")
    ]
    return {tuple(line[at] for at in kept) for line in lines}


def test_labels_of_all_kinds_come_back_from_a_file(wood: Workshop) -> None:
    made.fill(wood.stool)
    text = exported(wood.study)
    assert "'=" not in text
    other = builders.study("another", of=wood.study.scheme)
    labels_in(other, text)
    stands = {
        (label.column.name, label.question.key): label.code
        for label in Label.objects.filter(assignment__rater__study=other).select_related("column", "question", "option")
    }
    assert stands == made.STOOL
    assert in_words(exported_labels(other), other) == in_words(exported_labels(wood.study), wood.study)


def test_signs_and_lines_of_a_text_survive_a_file(wood: Workshop) -> None:
    said = '=1+1, "quoted"; \\ | ž\n\n+44'
    made.fill(wood.stool, {(CUT, "remark"): f":{dumps(said)}"})
    other = builders.study("another", of=wood.study.scheme)
    labels_in(other, exported(wood.study))
    assert Label.objects.get(assignment__rater__study=other, question__key="remark").value == said


def test_a_decimal_comma_comes_in_and_what_may_be_thousands_is_refused(wood: Workshop) -> None:
    made.fill(wood.stool)
    text = exported(wood.study)
    assert text.count(",2.5,") == 1
    other = builders.study("another", of=wood.study.scheme)
    [problem] = problems_of(other, text.replace(",2.5,", ',"1,234",'))
    assert "“1,234” may be 1.234 or 1234. Write one of the two for “Minutes”." in problem
    labels_in(other, text.replace(",2.5,", ',"12,5",'))
    of_cut = Label.objects.filter(assignment__rater__study=other, column__name=CUT)
    assert of_cut.get(question__key="minutes").value == 12.5


# --- over HTTP ------------------------------------------------------------------------------------------------------


def post(api: APIClient, wood: Workshop, *answers: dict[str, Any]) -> Any:
    columns = dict(wood.sheet.columns.values_list("name", "pk"))
    body = {"key": str(uuid.uuid4()), "answers": [{**a, "column": columns[a["column"]]} for a in answers]}
    url = reverse("api:assignment-labels", args=[wood.stool.pk])
    return api.post(url, json.dumps(body), content_type="application/json")


def test_values_are_recorded_and_read_over_http(wood: Workshop, api_of: ApiOf) -> None:
    api = api_of(wood.anna)
    tools = [{"tool": "saw", "parts": ["plank"]}]
    reply = post(
        api,
        wood,
        {"column": CUT, "question": "work", "option": "cut"},
        {"column": CUT, "question": "minutes", "value": "2.50 min"},
        {"column": CUT, "question": "tools", "value": tools},
    )
    assert reply.status_code == 200, reply.json()
    cells = {cell["question"]: (cell["option"], cell["value"]) for cell in reply.json()["cells"]}
    assert (cells["work"], cells["minutes"], cells["tools"]) == (("cut", None), (None, 2.5), (None, tools))
    lines = api.get(reverse("api:assignment-labels", args=[wood.stool.pk])).json()
    said = {line["question"]: (line["option"], line["option_label"], line["value"]) for line in lines}
    assert said == {"work": ("cut", "Cut", None), "minutes": (None, None, 2.5), "tools": (None, None, tools)}
    cleared = post(api, wood, {"column": CUT, "question": "minutes", "value": None})
    assert cleared.status_code == 200
    assert not Label.objects.filter(question__key="minutes").exists()


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({"question": "minutes", "value": "long"}, "value"),
        ({"question": "minutes", "value": 61}, "value"),
        ({"question": "minutes", "option": "cut"}, "option"),
        ({"question": "work", "value": "cut"}, "value"),
        ({"question": "work", "value": "cut", "option": "cut"}, "value"),
        ({"question": "minutes", "value": 3, "skip": "smudged"}, "skip"),
        ({"question": "minutes"}, "option"),
        ({"question": "minutes", "value": "\ud800"}, "value"),
        ({"question": "tools", "value": [{"\ud800": ""}]}, "value"),
    ],
)
@pytest.mark.sample(4)
def test_what_is_no_answer_is_refused_over_http(
    wood: Workshop, api_of: ApiOf, answer: dict[str, Any], field: str
) -> None:
    reply = post(api_of(wood.anna), wood, {"column": GLUE, **answer})
    told = reply.json()["answers"]
    [problem] = told.values() if isinstance(told, dict) else told
    assert (reply.status_code, list(problem)) == (400, [field])
    assert not Label.objects.exists()
