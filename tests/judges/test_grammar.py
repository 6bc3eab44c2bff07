"""Answers that are bound to a grammar: whatever a model writes under it is read, by every kind of answer."""

from __future__ import annotations

import json
import random
import unicodedata
from functools import cache
from typing import Any

import pytest
import torch
from llguidance.gbnf_to_lark import gbnf_to_lark
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from annotation.actions import Refused
from annotation.models import Label
from annotation.scheme.spec import Kind, SchemeSpec, load_scheme
from judges import actions
from judges.methods import grammar, prompting, writing
from judges.methods.writing import Asking, Written
from judges.models import UnreadableAnswer
from llm import grammars
from llm.backends.openai import OpenAIBackend
from llm.engine.prompt import Generated, Grammar, Sampling
from tests.judges.test_writing import PROMPT, SCHEME, ScriptedBackend, done, says, scripted, study, writing_judge
from tests.llm import tiny

__all__ = ["scripted", "study"]  # fixtures

MORE = """\
      - {key: share, title: Share, kind: number, number: {min: -1.5, step: 0.25}}
      - {key: sure, title: Sure, kind: scale, min: 1, max: 3}
      - {key: hot, title: Hot, kind: flag}
      - {key: told, title: Told, kind: text, text: {longest: 30}}
"""


@cache
def scheme() -> SchemeSpec:
    return load_scheme(SCHEME.replace("  - key: whole", MORE + "  - key: whole"))


def asked(*, reason: bool = False) -> list[Asking]:
    questions = [question for section in scheme().sections for question in section.questions]
    return [Asking(question.key.upper(), "?", "", question, reason=reason) for question in questions]


@cache
def engine() -> Any:
    """An engine, and its tokeniser of bytes with some merges, as those of large models are."""
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("d", "o"), ("do", "u"), ("Ġ", "-"), (";", "Ġ"), ("Ċ", "R"), (":", "Ġ"), ("1", "2"), ("<", "a")]
    vocab = {piece: place for place, piece in enumerate(["</s>", *signs, *("".join(merge) for merge in merges)])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="</s>")
    made = grammars.engine_class()(tokenizer, n_vocab=len(tokenizer) + 8, stops=[tokenizer.eos_token_id])
    return made, tokenizer


def written_by_chance(text: str, seed: int) -> str:
    """An answer whose tokens are drawn evenly among those that the grammar allows."""
    made, tokenizer = engine()
    bound, drawn, ids = made.begin(text), random.Random(seed), []
    for _ in range(5000):
        allowed = torch.nonzero(bound.allowed())[:, 0].tolist()
        assert max(allowed) < len(tokenizer)  # none of the model's spare places
        token = drawn.choice(allowed)
        bound.take(token)
        if token == tokenizer.eos_token_id:
            return str(tokenizer.decode(ids))
        ids.append(token)
    raise AssertionError("no end of it")


def in_notation(of: Grammar, notation: str) -> str:
    """As llguidance takes it."""
    return gbnf_to_lark(of.gbnf) if notation == "gbnf" else of.lark


def as_json(of: Grammar) -> str:
    return "start: %json " + of.schema


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("room", [100, 600])
@pytest.mark.parametrize("notation", ["lark", "gbnf"])
@pytest.mark.sample(6)
def test_whatever_the_grammar_allows_is_read(seed: int, room: int, notation: str) -> None:
    of = asked(reason=bool(seed % 2))
    answer = written_by_chance(in_notation(grammar.of(of, room=room, digitless={"output"}), notation), seed)
    read = writing.read(answer, of)
    assert [one for one in read if not isinstance(one, Written)] == [], answer
    output = read[1]
    assert isinstance(output, Written)
    digits = [sign for sign in str(output.value) if unicodedata.category(sign).startswith("N")]
    # GBNF has no classes of digits: those of other scripts are left to the reading.
    assert not digits or (notation == "gbnf" and not set("".join(digits)) & set("0123456789½¼¾²³"))


def test_an_answer_as_people_would_write_it_is_allowed() -> None:
    made, tokenizer = engine()
    answer = "OUTPUT: rolled-out dough; crème fraîche\nMINUTES: 40\nVERDICT: Fine\nReason: All is there."
    of = [one for one in asked() if one.name in ("OUTPUT", "MINUTES", "VERDICT")]
    of[2] = Asking("VERDICT", "?", "", of[2].spec, reason=True)
    bound = made.begin(grammar.of(of, room=300).lark)
    for token in tokenizer(answer)["input_ids"]:
        assert bound.allowed()[token], tokenizer.decode([token])
        bound.take(token)
    assert bound.allowed()[tokenizer.eos_token_id]


@pytest.mark.parametrize("notation", ["lark", "gbnf"])
def test_an_answer_in_plain_letters_fits_its_tokens(notation: str) -> None:
    of = [one for one in asked() if one.name in ("INPUT", "OUTPUT")]
    made, tokenizer = engine()
    bound, n = made.begin(in_notation(grammar.of(of, room=200), notation)), 0
    letter = tokenizer("a")["input_ids"][0]
    while not bound.allowed()[tokenizer.eos_token_id] or bound.allowed()[letter]:
        allowed = bound.allowed()
        bound.take(letter if allowed[letter] else int(torch.nonzero(allowed)[0, 0]))
        n += 1
    assert n <= 200


SIGNS = """\
key: signs
version: 1
title: Signs
sections:
  - key: whole
    title: Whole
    column: {title: Part, facets: [part]}
    questions:
      - key: said
        title: Said
        kind: text
        text:
          longest: 40
          patterns: [{pattern: "[a-ru-z0-8A-Z]", message: Those signs are not wanted., level: refuse}]
      - key: listed
        title: Listed
        kind: text
        text: {longest: 40, separator: ";", patterns: [{pattern: "[a-m0-9]", message: Not those., level: refuse}]}
"""


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("notation", ["lark", "gbnf"])
def test_no_answer_begins_with_a_sign_that_is_refused(seed: int, notation: str) -> None:
    questions = load_scheme(SIGNS).sections[0].questions
    of = [Asking(question.key.upper(), "?", "", question) for question in questions]
    answer = written_by_chance(in_notation(grammar.of(of, room=90), notation), seed)
    said, listed = writing.read(answer, of)
    assert isinstance(said, Written), answer
    assert isinstance(listed, Written), answer


LISTED = """\
key: names
version: 1
title: Names
sections:
  - key: whole
    title: Whole
    questions:
      - key: names
        title: Names
        kind: items
        items:
          fields:
            - {key: words, required: true}
            - {key: type, options: [person, "C++ (or C#)", a|b, "in/out"]}
            - {key: roles, list: true, options: [buyer, "seller, alone"]}
            - {key: place, place: true}
"""


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("notation", ["lark", "gbnf", "json"])
def test_a_record_has_options_alone_and_no_place(seed: int, notation: str) -> None:
    """What stood in a field with options was any word, and a place was asked of the model, which knows none."""
    (question,) = load_scheme(LISTED).sections[0].questions
    of = [Asking("NAMES", "?", "", question)]
    bound = grammar.of(of, room=200)
    answer = written_by_chance(as_json(bound) if notation == "json" else in_notation(bound, notation), seed)
    (read,) = writing.read(answer, of)
    if notation == "json" and not isinstance(read, Written):
        return  # a text of nothing but blanks
    assert isinstance(read, Written), answer
    for record in read.value:  # type: ignore[union-attr]
        assert record["place"] == ""  # type: ignore[index, call-overload]


@pytest.mark.parametrize("notation", ["lark", "gbnf"])
def test_a_slash_separates_as_any_sign_does(notation: str) -> None:
    """It ended the expression that it stood in, and the grammar was refused."""
    question = load_scheme(SIGNS.replace('separator: ";"', 'separator: "/"')).sections[0].questions[1]
    of = [Asking("LISTED", "?", "", question)]
    answer = written_by_chance(in_notation(grammar.of(of, room=90), notation), 1)
    assert isinstance(writing.read(answer, of)[0], Written), answer


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("{min: 0, max: 1000, step: 5}", {"type": "integer", "minimum": 0, "maximum": 1000, "multipleOf": 5}),
        ("{min: 0, step: 1}", {"type": "integer", "minimum": 0}),
        ("{min: 0.3, max: 90, step: 0.1}", {"type": "number", "minimum": 0.3, "maximum": 90, "multipleOf": 0.1}),
        ("{max: 0, step: 0.5}", {"type": "number", "maximum": 0, "multipleOf": 0.5}),
        ("{min: 1, max: 9, step: 4}", {"enum": [1, 5, 9]}),
    ],
    ids=["fives", "whole", "tenths", "no least", "from one"],
)
def test_a_schema_keeps_to_the_steps_of_a_number(number: str, expected: dict[str, Any]) -> None:
    (question,) = (
        load_scheme(
            SIGNS[: SIGNS.index("      - key: said")]
            + f"      - {{key: much, title: Much, kind: number, number: {number}}}\n"
        )
        .sections[0]
        .questions
    )
    schema = json.loads(grammar.of([Asking("MUCH", "?", "", question)], room=90).schema)
    assert schema["properties"]["MUCH"] == expected


def test_a_schema_writes_out_steps_that_begin_beside_nought() -> None:
    (question,) = (
        load_scheme(
            SIGNS[: SIGNS.index("      - key: said")]
            + "      - {key: much, title: Much, kind: number, number: {min: 1, step: 4}}\n"
        )
        .sections[0]
        .questions
    )
    schema = json.loads(grammar.of([Asking("MUCH", "?", "", question)], room=90).schema)["properties"]["MUCH"]
    assert schema["enum"][:3] == [1, 5, 9]
    assert len(schema["enum"]) == 1000


def bound_by(scripted: ScriptedBackend) -> list[tuple[str, Grammar]]:
    return [(prompt, sampling.grammar) for prompt, sampling in scripted.asked if sampling.grammar is not None]


def test_a_schema_says_what_each_answer_is_in_json() -> None:
    """Whatever llguidance lets through by it is read, but for texts that a kind refuses for their signs."""
    of = [one for one in asked() if one.spec.kind not in (Kind.TEXT, Kind.ITEMS, Kind.TRANSITIONS)]
    for seed in range(4):
        answer = written_by_chance(as_json(grammar.of(of, room=200)), seed)
        assert [one for one in writing.read(answer, of) if not isinstance(one, Written)] == [], answer
    every = grammar.of(asked(), room=600)
    names = list(json.loads(every.schema)["properties"])
    assert names == [one.name for one in asked()]
    told = {
        "INPUT": "flour; water", "OUTPUT": "dough", "CHANGE": [{"from": ["flour"], "to": ["dough"]}], "MINUTES": 20,
        "VERDICT": "Fine", "SHARE": 0.25, "SURE": "2", "HOT": "Yes", "TOLD": "soft",
        "TASKS": [{"task": "knead", "tools": ["bowl"]}],
    }  # fmt: skip
    made, tokenizer = engine()
    bound = made.begin(as_json(every))
    answer = json.dumps({name: told[name] for name in names})
    for token in tokenizer(answer)["input_ids"]:
        bound.take(token)
    assert [one for one in writing.read(answer, asked()) if not isinstance(one, Written)] == []


@pytest.mark.django_db
def test_a_judge_passes_the_grammar_of_what_it_asks(study: Any, scripted: ScriptedBackend) -> None:
    run = done(study, writing_judge(PROMPT + "grammar: true\n"))
    line, *_rest = [bound.lark for prompt, bound in bound_by(scripted) if "“Mix”" in prompt]
    assert '"OUTPUT: "' in line
    assert '"\\nMINUTES: "' in line
    verdict = next(bound.lark for prompt, bound in bound_by(scripted) if "VERDICT" in prompt)
    assert '"Fine" | "Nonsense"' in verdict
    assert Label.objects.filter(assignment__rater=run.rater).count() == 8
    assert not UnreadableAnswer.objects.exists()
    assert says("VERDICT", 1)
    scripted.asked.clear()
    done(study, writing_judge(name="unbound"))
    assert {sampling.grammar for _prompt, sampling in scripted.asked} == {None}


@pytest.mark.django_db
def test_a_judge_is_refused_where_nothing_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "ENGINES", {"no_such_library": "nowhere.Engine"})
    with pytest.raises(Refused, match="Install one of these Python packages: no_such_library"):
        writing_judge(PROMPT + "grammar: true\n")
    with pytest.raises(grammars.GrammarRefused, match="no_such_library"):
        grammars.engine_class()
    # A server binds by itself, whatever is installed here.
    actions.create_judge(
        name="served", method="writing", backend="openai", location="http://127.0.0.1:9/v1", served_name="m",
        prompt_text=PROMPT + "grammar: true\n", chat_template=True,
    )  # fmt: skip
    monkeypatch.setattr(OpenAIBackend, "binds", False)
    with pytest.raises(Refused, match="Take “grammar” out of the prompt"):
        actions.create_judge(
            name="another", method="writing", backend="openai", location="http://127.0.0.1:9/v1", served_name="m",
            prompt_text=PROMPT + "grammar: true\n", chat_template=True,
        )  # fmt: skip


def test_a_prompt_that_says_nothing_of_a_grammar_binds_none() -> None:
    assert not prompting.load_prompt(PROMPT).grammar


def test_a_tokeniser_that_cannot_be_bound_is_told() -> None:
    with pytest.raises(grammars.GrammarRefused, match="cannot be bound"):
        grammars.engine_class()(object(), n_vocab=10, stops=[1])
    with pytest.raises(grammars.GrammarRefused, match="cannot be used"):
        engine()[0].begin("start: nothing such(")


class _Digits:
    """An engine of a test: three digits and the end. `tests/llm/tiny.py` has a token a character."""

    is_whole = False

    def __init__(self, digits: list[int], stop: int, n_vocab: int) -> None:
        self.digits, self.stop, self.n_vocab, self.left = digits, stop, n_vocab, 3

    def allowed(self) -> torch.Tensor:
        mask = torch.zeros(self.n_vocab, dtype=torch.bool)
        mask[self.digits if self.left else [self.stop]] = True
        return mask

    def forced(self) -> list[int]:
        return [] if self.left else [self.stop]

    def fitting(self, tokens: list[int]) -> int:
        whole = [token in self.digits for token in tokens[: self.left]] + [
            token == self.stop for token in tokens[self.left :][:1]
        ]
        return next((place for place, fits in enumerate(whole) if not fits), len(whole))

    def take(self, token: int) -> None:
        self.left -= 1


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_generator_takes_allowed_tokens_alone_in_any_batch(temperature: float) -> None:
    from llm.engine.encoding import PromptEncoder
    from llm.engine.generation import AnswerGenerator

    tokenizer = tiny.tokenizer()
    digits = [tokenizer(sign, add_special_tokens=False)["input_ids"][0] for sign in "0123456789"]
    made = AnswerGenerator(
        tiny.model("llama"), PromptEncoder(tokenizer), token_budget=64, cache_budget=1000,
        bind=lambda text, stops: _Digits(digits, min(stops), 128),
    )  # fmt: skip
    sampling = Sampling(max_new_tokens=20, temperature=temperature, grammar=Grammar("three digits"))
    prompts = ["How many?", "And how many of the other ones?", "x"]
    together = made.generate(prompts, sampling)
    for answer in together:
        assert isinstance(answer, Generated)
        assert answer.text.isdecimal()
        assert (len(answer.text), answer.cut) == (3, False)
    assert together == [made.generate([prompt], sampling)[0] for prompt in prompts]
    unbound = AnswerGenerator(tiny.model("llama"), PromptEncoder(tokenizer), token_budget=64, cache_budget=1000)
    with pytest.raises(grammars.GrammarRefused):
        unbound.generate(prompts, sampling)
