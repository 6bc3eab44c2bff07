"""Conversations in files of rows: messages become the row's text, whoever wrote them down."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotation.exchange.conversations import NoConversation, conversation
from annotation.exchange.json_tables import open_rows
from annotation.exchange.row_imports import ImportRefused
from annotation.exchange.rows_and_columns import import_rows
from annotation.models import Row, Study
from tests import builders
from tests.annotation.importing import rows_in
from tests.databases import made_once

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is 2 + 2?\n\nAnd why?"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 2}'}}]},
    {"role": "tool", "content": [{"type": "text", "text": "4"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    {"role": "assistant", "content": "Four 😀."},
]
SAID = [
    ("heading", "System"), ("paragraph", "Be brief."),
    ("heading", "User"), ("paragraph", "What is 2 + 2?"), ("paragraph", "\nAnd why?"),
    ("heading", "Assistant"), ("paragraph", 'add({"a": 2})'),
    ("heading", "Tool"), ("paragraph", "4"), ("paragraph", "[image_url]"),
    ("heading", "Assistant"), ("paragraph", "Four 😀."),
]  # fmt: skip

pytestmark = pytest.mark.once


@made_once
def study() -> Study:
    return builders.study()


def brought(study: Study, text: str) -> list[list[tuple[str, str]]]:
    import_rows(study=study, rows=open_rows(io.BytesIO(text.encode()), name="rows.jsonl", max_bytes=2**20))
    return [
        [(block.kind, block.text) for block in row.blocks]
        for row in Row.objects.filter(sheet__study=study).order_by("position")
    ]


@pytest.mark.parametrize("heading", ["messages", "conversation", "text"])
def test_messages_of_a_chat_are_the_text_of_a_row(study: Study, heading: str) -> None:
    assert brought(study, json.dumps({"id": 1, heading: CHAT}) + "\n") == [SAID]


@pytest.mark.parametrize(
    "message",
    [
        {"from": "human", "value": "Why?"},
        {"author": "Human", "text": "Why?"},
        {"speaker": "human", "content": ["Why?"]},
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
    ],
    ids=["ShareGPT", "Label Studio", "speaker", "parts"],
)
def test_other_programs_forms(message: dict[str, Any]) -> None:
    assert conversation(json.dumps([message])) == [("User", "Why?")]


def test_people_are_called_by_their_names() -> None:
    assert conversation(json.dumps([{"speaker": "Anna Nováková", "text": "Dobrý den."}])) == [
        ("Anna Nováková", "Dobrý den.")
    ]


def test_a_cell_of_a_csv_file_may_be_json_too(study: Study) -> None:
    cell = json.dumps(CHAT[:1]).replace('"', '""')
    rows_in(study, f'row,messages\n1,"{cell}"\n2,[1] is no conversation\n')
    first, second = Row.objects.filter(sheet__study=study).order_by("position")
    assert [block.text for block in first.blocks] == ["System", "Be brief."]
    assert [block.text for block in second.blocks] == ["[1] is no conversation"]


def test_a_side_of_a_comparison_may_be_a_conversation(study: Study) -> None:
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello.\nHow are you?"}]
    line = json.dumps({"id": 1, "evidence_list": said})
    assert brought(study, line) == [[("list", "User: Hi."), ("list", "Assistant: Hello."), ("list", "How are you?")]]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user"}],
        [{"content": "Who said that?"}],
        [{"role": "", "content": "Who?"}],
        [{"role": "user", "content": 7}],
        [{"role": "user", "content": [7]}],
        [{"role": "user", "content": "Why?"}, "and then?"],
    ],
    ids=["nothing said", "nobody", "an empty name", "a number", "parts", "no object"],
)
def test_what_is_no_conversation_is_refused_with_its_line(study: Study, messages: list[Any]) -> None:
    text = json.dumps({"id": 1, "messages": CHAT}) + "\n" + json.dumps({"id": 2, "messages": messages})
    with pytest.raises(NoConversation):
        conversation(json.dumps(messages))
    with pytest.raises(ImportRefused) as refused:
        brought(study, text)
    [problem] = refused.value.problems
    assert problem.startswith("rows.jsonl, line 2: This is no conversation")
    assert not Row.objects.exists()


def test_lists_of_texts_and_of_numbers_are_none() -> None:
    assert conversation('["one", "two"]') is None
    assert conversation("[1, 2]") is None
    assert conversation("[") is None
    assert conversation("[" * 100_000) is None


@pytest.mark.parametrize("heading", ["text", "evidence_list"])
def test_a_text_that_is_json_stays_one(study: Study, heading: str) -> None:
    """As where the outputs of programs are labelled; where some are messages, the others are a problem."""
    text = json.dumps([{"name": "Ann", "from": "Brno", "value": 7}, 3])
    [[(_kind, said)]] = brought(study, json.dumps({"id": 1, heading: text}))
    assert said == text
    with pytest.raises(ImportRefused):
        brought(study, json.dumps({"id": 2, heading: [*CHAT, {"content": "Who said that?"}]}))
    with pytest.raises(ImportRefused):
        brought(study, json.dumps({"id": 2, "chat": text}))


def test_beside_a_text_messages_may_be_a_number_of_them(study: Study) -> None:
    imported = rows_in(study, "row,text,messages,chat\n1,Hello.,,\n2,Bye.,5,yes\n")
    assert [[block.text for block in row.blocks] for row in Row.objects.order_by("position")] == [["Hello."], ["Bye."]]
    assert set(imported.unread) == {"messages", "chat"}
    cell = json.dumps(CHAT[:1]).replace('"', '""')
    rows_in(study, f'row,text,messages\n3,Hello.,"{cell}"\n')
    assert [block.text for block in Row.objects.get(name="3").blocks] == ["Hello.", "System", "Be brief."]
    rows_in(study, "row,chat\n4,We spoke.\n")
    assert [block.text for block in Row.objects.get(name="4").blocks] == ["We spoke."]
