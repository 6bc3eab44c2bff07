from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmarks import model_families
from llm.engine import stopping
from llm.engine.cloze import ClozeScorer
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.prompt import Generated, PromptTooLong, Sampling
from tests.llm import tiny
from tests.llm.test_engine_cloze import OutOfMemoryBeyond

PROMPTS = [
    "Recipe: 2 cups flour, 1 pinch of salt, olive oil for the pan.\nAUTHENTICITY:",
    "Recipe: 3 onions.\nHARMONY:",
    "Rate it:",
    "Recipe: 1 lb beef fillet, half a teaspoon of pepper, 2 tbsp cream, and a sprig of thyme.\nSENSITIVITY:",
    "Recipe: 3 onions.\nSENSITIVITY:",
]
GREEDY = Sampling(max_new_tokens=20)
# The quick tests take what differs: windows in some layers, in all, chunks, and a model that takes no positions.
_QUICK = {"llama", "mistral", "gemma3", "llama4", "bloom"}
EACH_FAMILY = [
    pytest.param(family, marks=[] if family in _QUICK else [pytest.mark.slow]) for family in sorted(tiny.FAMILIES)
]


def generator(family: str = "llama", *, chat: bool = False, **settings: Any) -> AnswerGenerator:
    encoder = PromptEncoder(tiny.tokenizer(chat=chat), chat_template=chat)
    budgets = {"token_budget": 64, "cache_budget": 400, **settings}
    return AnswerGenerator(tiny.model(family), encoder, **budgets)


def written(results: list[Generated | PromptTooLong]) -> list[Generated]:
    assert not any(isinstance(result, PromptTooLong) for result in results)
    return [result for result in results if isinstance(result, Generated)]


def by_hand(family: str, prompt: str, *, max_new_tokens: int) -> Generated:
    """The greedy answer as a textbook has it: the whole text through the model for each token, nothing kept."""
    model, tokenizer = tiny.model(family), tiny.tokenizer()
    ids = tokenizer(prompt)["input_ids"]
    answer: list[int] = []
    while len(answer) < max_new_tokens:
        with torch.inference_mode():
            token = int(model(torch.tensor([ids + answer])).logits[0, -1].argmax())
        if token == tokenizer.eos_token_id:
            return Generated(tokenizer.decode(answer, skip_special_tokens=True), cut=False)
        answer.append(token)
    return Generated(tokenizer.decode(answer, skip_special_tokens=True), cut=True)


@pytest.mark.parametrize("family", EACH_FAMILY)
@pytest.mark.sample(2)
def test_a_batch_answers_as_each_prompt_alone(family: str) -> None:
    """Sliding windows, and models that take no batch, included."""
    expected = [by_hand(family, prompt, max_new_tokens=20) for prompt in PROMPTS]
    assert written(generator(family).generate(PROMPTS, GREEDY)) == expected
    assert [written(generator(family).generate([prompt], GREEDY))[0] for prompt in PROMPTS] == expected


def test_the_answers_end_at_different_places() -> None:
    """Else the test before this one would not see what becomes of a batch that shrinks."""
    model = tiny.model("llama")
    with torch.inference_mode():  # the end of text, made likely
        model.lm_head.weight[1] *= 1.5
    made = AnswerGenerator(model, PromptEncoder(tiny.tokenizer()), token_budget=64, cache_budget=1000)
    together = written(made.generate(PROMPTS, Sampling(max_new_tokens=40)))
    assert len({(len(answer.text), answer.cut) for answer in together}) > 2
    assert {answer.cut for answer in together} == {True, False}
    assert together == [written(made.generate([prompt], Sampling(max_new_tokens=40)))[0] for prompt in PROMPTS]


@pytest.mark.parametrize(("token_budget", "cache_budget"), [(1, 1), (7, 250), (10_000, 10_000)])
def test_budgets_bound_the_work_and_change_no_answer(token_budget: int, cache_budget: int) -> None:
    made = generator(token_budget=token_budget, cache_budget=cache_budget)
    fed: list[int] = []
    results = written(made.generate(PROMPTS, GREEDY, lambda tokens, _answers: fed.append(tokens)))
    assert results == written(generator().generate(PROMPTS, GREEDY))
    largest = max(after - before for before, after in zip([0, *fed], fed, strict=False))
    assert largest <= max(token_budget, len(PROMPTS))


def test_a_batch_holds_no_more_keys_than_its_budget() -> None:
    made = generator(cache_budget=150)
    sizes = []
    for batch in made._batches([_answer(n) for n in (30, 100, 20, 130, 40)], Sampling(max_new_tokens=10)):
        longest = max(len(answer.prompt) for answer in batch) + 10
        sizes.append(len(batch))
        assert len(batch) == 1 or longest * len(batch) <= 150
    assert sizes == [1, 1, 3]  # 140; 110; 50, 40 and 30, which take 3 x 50


def _answer(n: int) -> Any:
    from llm.engine.generation import _Answer

    return _Answer(0, (5,) * n, torch.zeros(1))


@pytest.mark.parametrize("family", EACH_FAMILY)
@pytest.mark.sample(2)
def test_an_answer_ends_before_a_string_and_is_the_same_up_to_it(family: str) -> None:
    """Models that take no batch included; the strings lie across tokens."""
    whole = written(generator(family).generate(PROMPTS, GREEDY))
    stop = (whole[0].text[4:7], whole[3].text[9:11])
    fed: list[int] = []
    ends = replace(GREEDY, stop=stop)
    found = written(generator(family).generate(PROMPTS, ends, lambda tokens, _answers: fed.append(tokens)))
    at = [stopping.first(one.text, stop) for one in whole]
    assert at[0] is not None
    assert at[3] is not None
    for one, end, long in zip(found, at, whole, strict=True):
        if end is None:
            assert (one, one.stop, one.tokens) == (long, "", long.tokens)
        else:
            assert (one.text, one.cut, one.stop) == (long.text[: end.place], False, end.string)
            assert one.tokens is not None
            assert one.tokens <= (long.tokens or 0)
    all_fed: list[int] = []
    generator(family).generate(PROMPTS, GREEDY, lambda tokens, _answers: all_fed.append(tokens))
    assert fed[-1] < all_fed[-1]
    assert [written(generator(family).generate([prompt], ends))[0] for prompt in PROMPTS] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\n\n4\nReason: so\n\nAnd on", 14),  # nothing is said before the first
        ("<think>4?\n\n5?</think>\n\n4\n\nmore", 24),  # nor in a thought, nor right behind it
        ("<think>4?\n\n5", None),
        ("4\n", None),
        ("", None),
    ],
)
def test_where_an_answer_ends(text: str, found: int | None) -> None:
    at = stopping.first(text, ("\n\n", "Never"))
    assert (at and at.place) == found


def test_a_string_is_found_at_the_token_that_completes_it() -> None:
    letters = "Café\n\nBar"
    watch = stopping.Watch(("é\n", "zz"), lambda ids: bytes(ids).decode(errors="replace"))
    written = list(letters.encode())
    assert next(n for n in range(1, len(written) + 1) if watch.ends(written[:n])) == len("Café\n".encode())
    assert stopping.Watch((), lambda ids: "").ends(written) is None


def test_a_cut_answer_says_so() -> None:
    (answer,) = written(generator().generate(PROMPTS[:1], Sampling(max_new_tokens=3)))
    assert answer.cut
    assert 0 < len(answer.text) <= 3  # a token is a character here


def test_a_prompt_that_leaves_no_room_is_refused_and_the_others_are_answered() -> None:
    """The context is 512 characters, of which the BOS takes one and the answer 20."""
    fits, too_long = "x" * 491, "x" * 492
    first, second = generator().generate([too_long, fits], GREEDY)
    assert isinstance(first, PromptTooLong)
    assert first.tokens_over == 1
    assert "493 tokens and 20 more are kept free for the answer, the model takes 512" in str(first)
    assert isinstance(second, Generated)


def test_nothing_is_asked() -> None:
    assert generator().generate([], GREEDY) == []


# --- draws ------------------------------------------------------------------------------------------------------------


def drawn(prompts: list[str], seed: int, **settings: Any) -> list[str]:
    results = generator(**settings).generate(prompts, Sampling(max_new_tokens=20, temperature=1.0, seed=seed))
    return [answer.text for answer in written(results)]


def test_a_prompt_draws_the_same_whatever_comes_with_it() -> None:
    together = drawn(PROMPTS, seed=2)
    assert together == drawn(PROMPTS, seed=2)
    assert together == list(reversed(drawn(list(reversed(PROMPTS)), seed=2)))
    assert together == [drawn([prompt], seed=2)[0] for prompt in PROMPTS]
    assert together == drawn(PROMPTS, seed=2, cache_budget=1)


def test_another_seed_and_another_prompt_draw_anew() -> None:
    assert drawn(PROMPTS, seed=1) != drawn(PROMPTS, seed=2)
    first, second = drawn(["Rate it:", "Rate it :"], seed=1)
    assert first != second


def test_draws_follow_the_models_probabilities() -> None:
    """The first token of 400 seeds against its probabilities, at temperature 2."""
    model, tokenizer = tiny.model("llama"), tiny.tokenizer()
    with torch.inference_mode():
        logits = model(torch.tensor([tokenizer("Rate it:")["input_ids"]])).logits[0, -1]
    expected = (logits / 2).softmax(-1)
    made = AnswerGenerator(model, PromptEncoder(tokenizer), token_budget=64, cache_budget=400)
    counts: Counter[str] = Counter()
    for seed in range(400):
        (answer,) = written(made.generate(["Rate it:"], Sampling(max_new_tokens=1, temperature=2.0, seed=seed)))
        counts[answer.text] += 1
    best = int(expected.argmax())
    p = float(expected[best])
    assert 0.02 < p < 0.98
    # Four standard deviations of a binomial count.
    assert counts[tokenizer.decode([best])] == pytest.approx(400 * p, abs=4 * (400 * p * (1 - p)) ** 0.5)


# --- texts ------------------------------------------------------------------------------------------------------------


def test_special_tokens_in_evidence_are_inert() -> None:
    made = generator(chat=True)
    ids = made._encoder.encode_prompt("salt</s><|assistant|>AUTHENTICITY: 5")
    assert ids.count(1) == 1  # the end of the user's own turn
    assert ids.count(3) == 1  # where the reply begins
    assert "salt< /s>< |assistant|>AUTHENTICITY: 5" in tiny.tokenizer().decode(ids)


def test_the_chat_form_ends_where_the_turn_ends() -> None:
    made = generator(chat=True)
    assert made._encoder.ends_of_answers == {1}
    ids = made._encoder.encode_prompt("Q")
    assert tiny.tokenizer().decode(ids) == "<s><|user|>Q</s><|assistant|>"


def test_a_model_may_name_several_ends() -> None:
    model = tiny.model("llama")
    model.generation_config.eos_token_id = [7, 9]
    made = AnswerGenerator(model, PromptEncoder(tiny.tokenizer()), token_budget=64, cache_budget=400)
    assert made._stops == {1, 7, 9}


# --- progress and failure ---------------------------------------------------------------------------------------------


def test_progress_grows_and_may_cancel() -> None:
    told: list[tuple[int, int]] = []
    generator().generate(PROMPTS, GREEDY, lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert told[-1][1] == len(PROMPTS)

    def cancel(_tokens: int, _answers: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generator().generate(PROMPTS, GREEDY, cancel)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_not_a_number_is_no_answer(temperature: float) -> None:
    made = generator()
    torch.nn.init.constant_(made._model.lm_head.weight, float("nan"))
    with pytest.raises(FloatingPointError):
        made.generate(PROMPTS, Sampling(max_new_tokens=5, temperature=temperature))


def test_where_a_batch_does_not_fit_the_budgets_are_halved_for_good() -> None:
    engine = generator(token_budget=512, cache_budget=4000)
    expected = engine.generate(PROMPTS, GREEDY)
    memory = OutOfMemoryBeyond(engine._model, limit=130)
    assert engine.generate(PROMPTS, GREEDY) == expected
    assert memory.failed == 2  # 512, 256
    assert engine.generate(PROMPTS, GREEDY) == expected
    assert memory.failed == 2  # it was remembered


def test_a_model_that_fills_the_memory_by_itself_says_so() -> None:
    engine = generator()
    memory = OutOfMemoryBeyond(engine._model, limit=0)
    with pytest.raises(torch.OutOfMemoryError):
        engine.generate(PROMPTS, GREEDY)
    assert memory.fed == 0


# --- shared beginnings ------------------------------------------------------------------------------------------------

RECIPES = ["Recipe: 2 cups flour, 1 pinch of salt, olive oil.\n", "Recipe: 2 cups rye, an onion, half a lemon, dill.\n"]
SHARING = [recipe + asked for recipe in RECIPES for asked in ("AUTHENTICITY:", "HARMONY of all:", "SENSITIVITY:")]


@pytest.mark.parametrize("family", EACH_FAMILY)
@pytest.mark.sample(2)
def test_prompts_that_begin_alike_are_answered_as_each_alone(family: str) -> None:
    expected = [by_hand(family, prompt, max_new_tokens=12) for prompt in SHARING]
    greedy = Sampling(max_new_tokens=12)
    assert written(generator(family, cache_budget=4000).generate(SHARING, greedy)) == expected
    made = generator(family)  # call by call, each with what the one before it has kept
    assert [written(made.generate([prompt], greedy))[0] for prompt in SHARING] == expected


@pytest.mark.parametrize(
    ("family", "settings"),
    [("mllama", {}), ("gemma4_text", {"layer_types": ["full_attention"] * 4, "num_kv_shared_layers": 2})],
)
@pytest.mark.filterwarnings("ignore")
def test_layers_that_keep_no_keys_are_passed_over(family: str, settings: dict[str, Any]) -> None:
    """Of pictures that are not there; and those that attend to another layer's."""
    model = model_families.built(family, **settings)
    scorer = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    made = AnswerGenerator(model, scorer.encoder, token_budget=64, cache_budget=2000)
    prompts = [*SHARING, SHARING[0], *PROMPTS]
    greedy = Sampling(max_new_tokens=9)
    each = [made.generate([prompt], greedy)[0] for prompt in prompts]
    assert made.generate(prompts, greedy) == each
    assert made.alone_because is None


def test_a_beginning_is_fed_once() -> None:
    made, fed = generator(cache_budget=4000, token_budget=1000), [0]
    greedy = Sampling(max_new_tokens=1)
    made.generate(SHARING, greedy, lambda tokens, _answers: fed.append(tokens))
    whole = sum(len(prompt) + 1 for prompt in SHARING)
    assert fed[-1] < whole / 1.7
    again = [0]
    made.generate(SHARING[:3], greedy, lambda tokens, _answers: again.append(tokens))
    first = again[-1]
    made.generate(SHARING[:3], greedy, lambda tokens, _answers: again.append(tokens))
    assert again[-1] < first  # the recipe was kept
    made.generate(SHARING[:1] * 3, greedy, lambda tokens, answers: again.append(answers))
    assert again[-1] == 1  # one prompt without draws has one answer


def test_of_what_the_last_call_was_asked_the_pieces_that_are_alike_are_not_read_again() -> None:
    """Fewer tokens than a forward of many prompts takes: a table is asked for line by line."""
    made, fed = generator(token_budget=1024), [0]
    text, greedy = "Fold. " * 60, Sampling(max_new_tokens=1)
    made.generate([f"{text}1 dice: tool"], greedy)
    made.generate([f"{text}2 boil: pot"], greedy, lambda tokens, _answers: fed.append(tokens))
    assert len(text) - 256 <= fed[-1] <= len(text) + 40 - 256


def test_repeats_of_a_prompt_draw_as_in_calls_of_their_own() -> None:
    sampling = Sampling(max_new_tokens=12, temperature=1.0)
    prompts, seeds = [prompt for prompt in SHARING for _repeat in range(3)], [1, 2, 3] * len(SHARING)
    together = written(generator(cache_budget=8000).generate(prompts, sampling, seeds=seeds))
    assert len({answer.text for answer in together[:3]}) == 3
    alone = [
        written(generator().generate([prompt], Sampling(max_new_tokens=12, temperature=1.0, seed=seed)))[0]
        for prompt, seed in zip(prompts, seeds, strict=True)
    ]
    assert together == alone
