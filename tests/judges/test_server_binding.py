"""Answers that a server binds to a grammar: in which of the ways it does so is tried out, and told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from judges.methods import grammar, writing
from judges.methods.writing import Written
from llm.backends.base import BackendError
from llm.engine.prompt import Generated, Sampling
from tests.judges.completion_server import THOUGHT
from tests.judges.serving import Running
from tests.judges.test_grammar import asked as questions

pytestmark = pytest.mark.usefixtures("servers_forgotten")

PROMPT = "Recipe: 3 onions."
ASKED = [one for one in questions() if one.name in ("OUTPUT", "MINUTES", "VERDICT")]
BOUND = Sampling(max_new_tokens=200, grammar=grammar.of(ASKED, room=90, digitless={"output"}))
WAYS = ["structured_outputs", "grammar", "ebnf", "guided_grammar", "response_format"]


def asked(server: Running) -> list[dict[str, Any]]:
    return [seen["body"] for seen in server.seen() if seen["path"] == "/v1/chat/completions"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.sample(3)
def test_a_server_is_asked_in_the_way_that_it_obeys(server: Running, way: str, *, strict: bool) -> None:
    server.tell(binds=[way], strict=strict)
    backend = server.backend("chat")
    assert backend.binding() == f"the server's, {way}"
    tried = [body for body in asked(server) if "colour" in body["messages"][0]["content"]]
    assert len(tried) == WAYS.index(way) + 1
    (answer,) = backend.generate([PROMPT], BOUND)
    assert isinstance(answer, Generated)
    assert not answer.cut
    assert [one for one in writing.read(answer.text, ASKED) if not isinstance(one, Written)] == [], answer.text
    backend.generate([PROMPT], BOUND)
    assert len(asked(server)) <= len(tried) + 3  # tried out once; and whether a prompt is read whole


def test_the_random_model_alone_writes_nothing_that_can_be_read(server: Running) -> None:
    (answer,) = server.backend("chat").generate([PROMPT], Sampling(max_new_tokens=200))
    assert isinstance(answer, Generated)
    assert not any(isinstance(one, Written) for one in writing.read(answer.text, ASKED, cut=answer.cut))


@pytest.mark.parametrize(
    ("behaviour", "way"),
    [
        # vLLM with a parser of thoughts binds what follows them.
        ({"thinks": "reasoning", "binds": ["structured_outputs"]}, "structured_outputs"),
        # llama.cpp binds thoughts by its grammar, and what follows them by a schema; in its text, only the former.
        (
            {"thinks": "reasoning_content", "binds": ["grammar", "response_format"], "binds_thoughts": ["grammar"]},
            "response_format",
        ),
        ({"thinks": "text", "binds": ["grammar"], "binds_thoughts": ["grammar"]}, "grammar, thoughts off"),
    ],
    ids=["vLLM", "llama.cpp", "llama.cpp, thoughts in the text"],
)
@pytest.mark.sample(1)
def test_a_model_that_thinks_is_bound_in_its_answer(server: Running, behaviour: dict[str, Any], way: str) -> None:
    server.tell(**behaviour)
    backend = server.backend("chat")
    assert backend.binding() == f"the server's, {way}"
    (answer,) = backend.generate([PROMPT], replace(BOUND, max_new_tokens=BOUND.max_new_tokens + len(THOUGHT)))
    assert isinstance(answer, Generated)
    assert [one for one in writing.read(answer.text, ASKED) if not isinstance(one, Written)] == [], answer.text


def test_a_model_whose_thoughts_are_bound_and_stay_is_refused(server: Running) -> None:
    server.tell(thinks="text", thinks_always=True, binds=["grammar"], binds_thoughts=["grammar"])
    with pytest.raises(BackendError, match="it thinks first, and its thoughts cannot be turned off"):
        server.backend("chat").binding()


@pytest.mark.parametrize("strict", [False, True])
def test_a_server_that_obeys_no_way_is_refused(server: Running, *, strict: bool) -> None:
    server.tell(strict=strict)
    backend = server.backend("chat")
    with pytest.raises(BackendError, match="binds no answer to a grammar: it obeys none of structured_outputs, gramm"):
        backend.generate([PROMPT], BOUND)
    with pytest.raises(BackendError, match="Take “grammar” out of the prompt"):
        backend.binding()
    assert isinstance(backend.generate([PROMPT], Sampling(max_new_tokens=5))[0], Generated)


def test_a_key_that_is_refused_is_no_way_that_is_not_obeyed(server: Running) -> None:
    server.tell(key="secret", binds=["grammar"])
    with pytest.raises(BackendError, match="asks for a key"):
        server.backend("chat").binding()


def test_a_model_that_is_unknown_is_no_way_that_is_not_obeyed(server: Running) -> None:
    server.tell(binds=["grammar"])
    with pytest.raises(BackendError, match="nosuch"):
        server.backend("nosuch").binding()
    assert len(asked(server)) == 1


def test_what_is_refused_without_a_grammar_too_is_said_in_the_servers_words(server: Running) -> None:
    server.tell(binds=["grammar"], no_temperature=True)
    with pytest.raises(BackendError, match="Unsupported value: temperature"):
        server.backend("chat").binding()
    assert len(asked(server)) == len(WAYS) + 1
