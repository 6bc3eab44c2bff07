"""Greedy answers that go on by guesses, against `transformers.generate`, which writes them token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from llm.engine import batch_probing, generation, lookup, padded, prefixes
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.lookup import Guess, Lookup, Text
from llm.engine.prompt import Generated, Grammar, Sampling
from tests.judges import test_grammar
from tests.llm import tiny
from tests.llm.test_engine_generation import PROMPTS, SHARING, generator, written

ALL = [*PROMPTS, *SHARING]
N = 40


def by_transformers(model: Any, tokenizer: Any, prompts: Sequence[str], n: int, ends: Sequence[int]) -> list[list[int]]:
    """The tokens of each answer, written in one batch that is padded at the left, without those that end it."""
    ids = [tokenizer(prompt)["input_ids"] for prompt in prompts]
    longest = max(map(len, ids))
    with torch.inference_mode():
        out = model.generate(
            torch.tensor([[1] * (longest - len(one)) + one for one in ids]),
            attention_mask=torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in ids]),
            max_new_tokens=n,
            do_sample=False,
            eos_token_id=list(ends),
            pad_token_id=1,
        )
    found = []
    for line in out[:, longest:].tolist():
        end = next((place for place, token in enumerate(line) if token in ends), len(line))
        found.append(line[:end])
    return found


def expected(prompts: Sequence[str], n: int, *, family: str = "llama", ends: Sequence[int] = (1,)) -> list[Generated]:
    tokenizer = tiny.tokenizer()
    return [
        Generated(tokenizer.decode(tokens, skip_special_tokens=True), cut=len(tokens) == n, tokens=len(tokens))
        for tokens in by_transformers(tiny.model(family), tokenizer, prompts, n, ends)
    ]


def tokens_of(answers: list[Generated]) -> list[tuple[str, int | None, bool]]:
    return [(answer.text, answer.tokens, answer.cut) for answer in answers]


def forwards(model: Any) -> list[int]:
    """How many tokens each forward of the model is fed, from now on."""
    fed: list[int] = []
    model.register_forward_pre_hook(
        lambda _module, _args, given: fed.append(given["input_ids"].numel()), with_kwargs=True
    )
    return fed


@pytest.fixture(params=["beside", "padded"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """On a CPU in float32 lines stand beside their prompts; elsewhere they are padded, and gaps are closed."""
    if request.param == "padded":
        monkeypatch.setattr(prefixes, "fits", lambda model: False)
        monkeypatch.setattr(padded, "_GAPS", 2)
    return str(request.param)


@pytest.mark.parametrize(
    "family", ["llama", *(pytest.param(family, marks=pytest.mark.slow) for family in ("mixtral", "qwen2", "qwen3"))]
)
@pytest.mark.parametrize("cache_budget", [1, 400, 8000])
@pytest.mark.sample(2)
def test_the_tokens_are_those_of_transformers(family: str, cache_budget: int, way: str) -> None:
    """Alone, in batches of some, and all in one; prompts of mixed lengths, some with a common beginning."""
    made = generator(family, cache_budget=cache_budget)
    assert made.looks_up
    assert made.keeps_prefixes == (way == "beside")
    fed = forwards(made._model)
    found = written(made.generate(ALL, Sampling(max_new_tokens=N)))
    assert tokens_of(found) == tokens_of(expected(ALL, N, family=family))
    with_guesses = len(fed)
    made.looks_up = False
    assert written(made.generate(ALL, Sampling(max_new_tokens=N))) == found
    if cache_budget == 1:  # guesses of these models are seldom right; to an answer alone they cost least
        assert with_guesses < len(fed) - with_guesses


class Oracle(Lookup):
    """Guesses what it is told that each prompt is answered, and spoils some of it."""

    answers: dict[tuple[int, ...], list[int]] = {}
    spoiled: tuple[int, ...] = ()  # places of a guess that are wrong
    length = 5
    room: list[int] = []

    def begin(self, prompt: Sequence[int]) -> Text:
        text = super().begin(prompt)
        text.prompt = tuple(prompt)  # type: ignore[attr-defined]
        return text

    def guess(self, texts: Sequence[Text], room: Sequence[int], *, most: int, padded: bool) -> list[Guess]:
        found = []
        for line, (text, n) in enumerate(zip(texts, room, strict=True)):
            prompt = text.prompt  # type: ignore[attr-defined]
            at = len(text.tokens) - len(prompt)
            guess = self.answers[prompt][at : at + min(n, self.length + line % 3)]
            found.append(
                Guess([(token + 1) % 128 if at in self.spoiled else token for at, token in enumerate(guess)], 3)
            )
        return found


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> type[Oracle]:
    class Told(Oracle):
        answers = {
            tuple(tiny.tokenizer()(prompt)["input_ids"]): answer
            for prompt, answer in zip(
                ALL, by_transformers(tiny.model("llama"), tiny.tokenizer(), ALL, N, [1]), strict=True
            )
        }

    monkeypatch.setattr(generation, "Lookup", Told)
    return Told


@pytest.mark.parametrize("spoiled", [(), (0,), (1,), (2, 4), tuple(range(9))])
@pytest.mark.sample(4)
def test_what_the_model_would_not_have_written_is_dropped(spoiled: tuple[int, ...], way: str, oracle: Any) -> None:
    oracle.spoiled = spoiled
    made = generator(cache_budget=8000, token_budget=2000)
    made.looks_up  # noqa: B018 (tried out before forwards are counted)
    fed = forwards(made._model)
    assert tokens_of(written(made.generate(ALL, Sampling(max_new_tokens=N)))) == tokens_of(expected(ALL, N))
    if not spoiled:
        assert len(fed) < N / 2
    elif 0 in spoiled:
        assert len(fed) >= N


def test_a_token_that_ends_answers_within_a_guess(way: str, oracle: Any) -> None:
    """The oracle goes on beyond it, as another answer may have."""
    (first, *_others) = oracle.answers.values()
    ends = [1, first[7], first[12]]
    oracle.length = 9
    made = generator(cache_budget=8000)
    made._stops = frozenset(ends)
    found = written(made.generate(ALL, Sampling(max_new_tokens=N)))
    assert tokens_of(found) == tokens_of(expected(ALL, N, ends=ends))
    assert not found[0].cut
    assert found[0].tokens is not None
    assert found[0].tokens <= 7


def test_a_string_that_ends_answers_within_a_guess(way: str, oracle: Any) -> None:
    oracle.length = 9
    whole = written(generator(cache_budget=8000).generate(ALL, Sampling(max_new_tokens=N)))
    ends = Sampling(max_new_tokens=N, stop=(whole[0].text[6:8], whole[3].text[13:15]))
    made = generator(cache_budget=8000)
    found = written(made.generate(ALL, ends))
    assert {one.stop for one in found} >= set(ends.stop)
    made.looks_up = False
    assert written(made.generate(ALL, ends)) == found


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 19])
@pytest.mark.sample(4)
def test_the_longest_length_within_a_guess(n: int, way: str, oracle: Any) -> None:
    oracle.length = 30
    made = generator(cache_budget=8000)
    assert tokens_of(written(made.generate(ALL, Sampling(max_new_tokens=n)))) == tokens_of(expected(ALL, n))


def test_no_forward_is_fed_more_than_its_budget(way: str) -> None:
    made = generator(cache_budget=8000, token_budget=20)
    made.looks_up  # noqa: B018
    fed = forwards(made._model)
    made.generate(ALL, Sampling(max_new_tokens=N))
    assert len(ALL) < max(fed) <= 20


def test_drawn_answers_go_on_token_by_token() -> None:
    made = generator(cache_budget=8000)
    fed = forwards(made._model)
    made.generate(PROMPTS[:1], Sampling(max_new_tokens=N, temperature=0.7))
    assert fed[-1] == 1
    assert fed.count(1) >= N - 1


@pytest.mark.parametrize("family", ["mistral", "gemma3", "llama4", "bloom"])
def test_a_model_whose_keys_cannot_be_taken_back_goes_without(family: str) -> None:
    assert not generator(family).looks_up


def test_a_model_that_cannot_be_fed_guesses_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose rejected tokens stay in sight."""
    assert batch_probing.takes_guesses(tiny.model("llama"))
    monkeypatch.setattr(padded.Padded, "take_back", lambda self, kept: None)
    assert not batch_probing.takes_guesses(tiny.model("llama"))
    assert not batch_probing.takes_prefixes(tiny.model("llama"))


# --- grammars ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache_budget", [1, 8000])
@pytest.mark.sample(2)
def test_answers_that_are_bound_to_a_grammar(cache_budget: int, way: str) -> None:
    """What a grammar leaves no choice about is a guess; as other tokens may spell it too, the model has its say."""
    _engine, tokenizer = test_grammar.engine()
    model = tiny.model("llama", vocab_size=512)
    bound = Grammar('start: "OUTPUT: " WORD "; " WORD "\\nREASON: all of it is there: " WORD\nWORD: /[a-f]{2,9}/')
    prompts = ["Mix: a; b\n", "Bake the dough, all of it\n", "Rest\n"]

    def answers(*, looks_up: bool) -> tuple[list[Any], int]:
        from llm import grammars

        stops = [tokenizer.eos_token_id]
        engine = grammars.engine_class()(tokenizer, n_vocab=512, stops=stops)
        made = AnswerGenerator(
            model, PromptEncoder(tokenizer), token_budget=256, cache_budget=cache_budget,
            bind=lambda text, _stops: engine.begin(text),
        )  # fmt: skip
        made._stops = frozenset(stops)
        assert made.looks_up
        made.looks_up = looks_up
        fed = forwards(model)
        return made.generate(prompts, Sampling(max_new_tokens=80, grammar=bound)), len(fed)

    guessed, few = answers(looks_up=True)
    one_by_one, many = answers(looks_up=False)
    assert guessed == one_by_one
    assert all(answer.text.startswith("OUTPUT: ") for answer in guessed)
    assert few < many / 1.5


# --- guesses ----------------------------------------------------------------------------------------------------------


def guesses(
    prompts: Sequence[Sequence[int]], *, price: int = 1000, room: int = 50, most: int = 1000, padded: bool = False
) -> list[list[int]]:
    made = Lookup(price)
    texts = [made.begin(prompt) for prompt in prompts]
    return [guess.tokens for guess in made.guess(texts, [room] * len(texts), most=most, padded=padded)]


def test_what_followed_the_longest_alike_is_guessed() -> None:
    assert guesses([[1, 2, 3, 7, 7, 0, 2, 3, 8, 8, 1, 2, 3]], room=4) == [[7, 7, 0, 2]]
    assert guesses([[5, 6, 7]]) == [[]]
    assert guesses([[5, 6, 7, 8]], room=0) == [[]]


def test_what_repeats_goes_on_repeating() -> None:
    assert guesses([[1, 2, 1, 2, 1, 2]], room=5) == [[1, 2, 1, 2, 1]]


def test_other_answers_are_looked_up_and_other_prompts_are_not() -> None:
    made = Lookup(1000)
    one, other = made.begin([1, 2, 3]), made.begin([9, 1, 2, 3])
    assert made.guess([other], [3], most=100, padded=False)[0].tokens == []
    made.write(one, [4, 5, 6])
    assert made.guess([other], [3], most=100, padded=False)[0].tokens == [4, 5, 6]


def test_forced_tokens_come_first_and_are_not_counted() -> None:
    made = Lookup(1000)
    text = made.begin([1, 2, 3, 4, 9])
    text.forced = [2, 3]
    (guess,) = made.guess([text], [3], most=100, padded=False)
    assert (guess.tokens, guess.forced) == ([2, 3, 4], 2)
    before = list(made._tried)
    made.learn(replace(guess, tokens=[2, 3]), 2)
    assert made._tried == before


def test_a_guess_that_was_never_right_is_made_no_more() -> None:
    made = Lookup(20)
    texts = [made.begin([1, 2, 3, 4, 1, 2]) for _line in range(8)]
    for _time in range(20):
        for guess in made.guess(texts, [8] * 8, most=100, padded=False):
            made.learn(guess, 0)
    assert [guess.tokens for guess in made.guess(texts, [8] * 8, most=100, padded=False)] == [[]] * 8


def test_fewer_are_guessed_where_forwards_are_dearer_by_the_token() -> None:
    prompts = [[1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]] * 4
    cheap, dear = guesses(prompts, price=200), guesses(prompts, price=4)
    assert 0 < sum(map(len, dear)) < sum(map(len, cheap))


@pytest.mark.parametrize("padded", [False, True])
def test_a_forward_has_no_more_tokens_than_it_may(padded: bool) -> None:
    prompts = [[1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3], [1, 2], [5, 5, 5]]
    found = guesses(prompts, most=9, padded=padded)
    assert (max(map(len, found)) + 1) * 3 <= 9 if padded else sum(map(len, found)) + 3 <= 9
    assert found[1] == []
    assert 9 < max(map(len, guesses(prompts, padded=padded))) <= lookup.LONGEST
