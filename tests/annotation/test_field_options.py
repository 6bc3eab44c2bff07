"""A field of a list that takes some words only: on every way that an answer comes in by."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from annotation.actions import Refused
from annotation.models import Label
from tests.annotation.importing import labels_in, problems_of
from tests.annotation.test_lens_values import decide, place
from tests.annotation.test_values import save
from tests.annotation.workshop import CUT, SCHEME, Workshop, fill, workshop
from tests.builders import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

OWN = "{key: tool, required: true}"
TOOLS = (CUT, "tools")
WRONG, MEANT = ':[{"tool":"axe","parts":[]}]', ':[{"tool":"SAW","parts":["plank"]}]'
SENTENCE = "“Tool” of “Tools” is one of these, not “axe”: saw, file."


@pytest.fixture
def wood() -> Workshop:
    assert OWN in SCHEME
    return workshop(SCHEME.replace(OWN, "{key: tool, required: true, options: [saw, file]}"))


def stored() -> list[Any]:
    return list(Label.objects.filter(question__key="tools").values_list("value", flat=True))


def test_an_action_takes_the_options_alone(wood: Workshop) -> None:
    """Any word was taken for one of those that were offered."""
    with pytest.raises(Refused, match="not “axe”"):
        fill(wood.stool, {TOOLS: WRONG})
    fill(wood.stool, {TOOLS: MEANT})
    assert stored() == [[{"tool": "saw", "parts": ["plank"]}]]


def test_the_grid_takes_the_options_alone(wood: Workshop, client_of: ClientOf) -> None:
    client = client_of(wood.anna)
    assert SENTENCE in json.dumps(save(client, wood, (*TOOLS, WRONG, "")).json(), ensure_ascii=False)
    assert stored() == []
    assert save(client, wood, (*TOOLS, MEANT, "")).status_code == 200
    assert stored() == [[{"tool": "saw", "parts": ["plank"]}]]


def test_the_lens_decides_for_the_options_alone(wood: Workshop, client_of: ClientOf, api_of: ApiOf) -> None:
    url = reverse("annotation:lens-decide", args=[wood.sheet.pk])
    refused = client_of(wood.manager).post(url, place(wood, TOOLS, text="axe | plank"))
    assert (refused.status_code, refused.json()["message"]) == (409, SENTENCE)
    decisions = reverse("api:decisions", args=[wood.sheet.pk])
    of = place(wood, TOOLS, question="tools", value=[{"tool": "axe"}])  # type: ignore[arg-type]
    assert SENTENCE in json.dumps(api_of(wood.manager).post(decisions, of, format="json").json(), ensure_ascii=False)
    assert stored() == []
    decide(wood, TOOLS, [{"tool": "File"}])
    assert stored() == [[{"tool": "file", "parts": []}]]


@pytest.mark.parametrize("kind", ["person", "judge", "gold"])
def test_a_file_brings_the_options_alone(wood: Workshop, kind: str) -> None:
    head = "sheet,row,section,column,question,rater,kind,answer\n"
    line = f"Wood,Stool,steps,{CUT},tools,one,{kind},"
    (problem,) = problems_of(wood.study, f"{head}{line}axe | plank\n")
    assert SENTENCE in problem
    labels_in(wood.study, f"{head}{line}SAW | plank\n")
    assert stored() == [[{"tool": "saw", "parts": ["plank"]}]]
