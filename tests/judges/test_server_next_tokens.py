"""Options scored by what a server says of given next tokens: as vLLM, SGLang and llama.cpp do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from llm.backends import openai_memory, openai_next
from llm.backends.base import BackendError
from llm.backends.openai_http import Session
from llm.engine.cloze import ClozeScorer
from llm.engine.prompt import CellPrompt, PromptTooLong, RowPrompt, RowScores
from tests.judges.serving import Running
from tests.judges.test_backends_openai import ROWS, assert_same, by_the_engine, fitting
from tests.llm import tiny

pytestmark = pytest.mark.usefixtures("servers_forgotten")

SINGLE = [
    RowPrompt(
        f"Recipe:\n{evidence}\n",
        tuple(
            CellPrompt(f"Item: {item}\nAnswer:", ("Y", "N"), unconditional=f"Item: {item}\nAnswer:") for item in items
        ),
    )
    for evidence, items in [("2 cups flour\n1 pinch of salt", ["flour", "sea salt"]), ("3 onions, chopped", ["leek"])]
]
WAYS = ["logprob_token_ids", "score", "n_probs"]


def engine(rows: list[RowPrompt]) -> list[RowScores | PromptTooLong]:
    tokenizer = tiny.tokenizer(merges=((" ", "Y"), (" ", "N")))
    return ClozeScorer(tiny.model("llama"), tokenizer, token_budget=200).score(rows)


@pytest.mark.parametrize("way", WAYS)
def test_single_tokens_are_scored_as_by_the_engine(server: Running, way: str) -> None:
    server.tell(next_tokens=[way], only="words")
    backend = server.backend("words")
    found = backend.score(SINGLE)
    assert_same(found, engine(SINGLE))
    assert {score.n_tokens for row in fitting(found) for cell in row for score in cell} == {2}  # its terminator too
    identity = backend.identity()
    assert identity["single_token_options"].startswith(f"{way}:")
    assert identity["prompt_logprobs"] == "prompt_logprobs"


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_question_takes_one_request(server: Running, way: str) -> None:
    server.tell(next_tokens=[way])
    backend = server.backend("words")
    backend.identity()  # tries the server
    backend.score(SINGLE[:1])
    before = len(server.seen())
    more = [RowPrompt("Recipe:\n1 leek\n", tuple(CellPrompt(f"Item: {n}\nAnswer:", ("Y", "N")) for n in range(5)))]
    backend.score(more)
    asked = [seen["path"] for seen in server.seen()][before:]
    each = ["/tokenize", "/v1/completions" if way == "logprob_token_ids" else "/v1/score"]
    assert sorted(asked) == sorted([*each * 5, "/tokenize"])  # once it looks whether options are still cut so


def test_another_model_behind_the_same_name_is_not_scored_by_the_tokens_of_the_first(server: Running) -> None:
    server.tell(next_tokens=["logprob_token_ids"], only="words")
    backend = server.backend("words")
    backend.score(SINGLE)
    remembered = openai_memory._memories[backend.base_url, backend.model].endings
    assert remembered
    for key, endings in list(remembered.items()):
        remembered[key] = tuple((ids[0] + 1, *ids[1:]) for ids in endings)
    with pytest.raises(BackendError, match="another model has taken its place") as caught:
        backend.score(SINGLE)
    assert caught.value.permanent
    assert_same(backend.score(SINGLE), engine(SINGLE))  # resumed: it is tried anew, and the record says it


def test_options_of_several_tokens_are_scored_in_their_prompts(server: Running) -> None:
    server.tell(next_tokens=["logprob_token_ids"])
    backend = server.backend("llama")
    assert_same(backend.score(ROWS), by_the_engine("llama", ROWS))
    assert not any("logprob_token_ids" in seen["body"] for seen in server.seen()[4:])  # after it was tried


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", ["llama", "merging"])
@pytest.mark.sample(3)
def test_a_server_without_prompt_logprobs_scores_all_options(server: Running, way: str, model: str) -> None:
    """Prefixes of one another, and a token that crosses the join, included."""
    server.tell(forms=[], next_tokens=[way], only=model)
    backend = server.backend(model)
    assert_same(backend.score(ROWS), by_the_engine(model, ROWS))
    identity = backend.identity()
    assert (identity["prompt_logprobs"], identity["options"].split(":")[0]) == ("none", way)


def test_a_router_is_told_which_model(server: Running) -> None:
    """llama.cpp's server over several models refuses a request that names none."""
    server.tell(forms=[], next_tokens=["n_probs"], only="")
    assert_same(server.backend("words").score(SINGLE), engine(SINGLE))


def test_special_tokens_are_inert_there_too(server: Running) -> None:
    server.tell(forms=[], next_tokens=["n_probs"])
    row = RowPrompt("Page: salt</s><|im_end|>Y\n", (CellPrompt("Item: flour\nAnswer:", ("Yes", "No")),))
    (scores,) = fitting(server.backend().score([row]))
    (expected,) = fitting(by_the_engine("llama", [row]))
    assert [score.logprob for score in scores[0]] == pytest.approx([s.logprob for s in expected[0]], abs=1e-3)
    assert any("salt< /s><|im_end|>Y" in str(seen["body"].get("content")) for seen in server.seen())


def test_numbers_that_are_not_the_prompts_own_are_not_used(server: Running) -> None:
    server.tell(next_tokens=WAYS, tempered=0.5)  # as after a temperature
    backend = server.backend("words")
    assert_same(backend.score(SINGLE), engine(SINGLE))
    assert "single_token_options" not in backend.identity()


@pytest.mark.parametrize("biased", [False, True])
def test_an_option_that_is_not_listed_is_asked_for_by_itself(
    server: Running, monkeypatch: pytest.MonkeyPatch, biased: bool
) -> None:
    """As the token that is drawn, whose number comes with it; in the longest of lists, a vocabulary of megabytes, only
    where a server counts what draws it."""
    monkeypatch.setattr(openai_next, "_LISTED", (2, 3, 1_000_000))
    server.tell(forms=[], next_tokens=["n_probs"], only="words", biased=biased)
    assert_same(server.backend("words").score(SINGLE), engine(SINGLE))
    assert max(seen["body"].get("n_probs", 0) for seen in server.seen()) == (1_000_000 if biased else 2)


def test_the_first_byte_of_a_character_has_a_number(server: Running) -> None:
    """llama.cpp says nothing of next tokens where the one that it draws is no whole character."""
    rows = [RowPrompt("Pur\u00e9e\n", (CellPrompt("Item: flour\nAnswer:", ("\u00e9", "Yes", "N\u00e9"), "Answer:"),))]
    server.tell(forms=[], next_tokens=["n_probs"], only="bytes", draws="<0xC3>")
    assert_same(server.backend("bytes").score(rows), by_the_engine("bytes", rows))


def test_a_probability_that_is_0_in_float32_is_the_least_of_them(server: Running) -> None:
    server.tell(forms=[], next_tokens=["n_probs"], only="words", tempered=40.0)
    (scores, _) = fitting(server.backend("words").score(SINGLE))
    assert min(score.logprob for cell in scores for score in cell) <= -103
    assert all(score.logprob > -300 for cell in scores for score in cell)


def test_a_prompt_that_just_fits_is_read_whole(server: Running) -> None:
    """llama.cpp says of it, too, that it was truncated: nothing more could be written behind it."""
    cell = CellPrompt("Item: flour\nAnswer:", ("Y", "N"), unconditional="Answer:")
    longest = 512 - len(cell.text) - 4  # the BOS, a line end, an option's token, and room for one that is written
    rows = [RowPrompt("x" * n + "\n", (cell,)) for n in (longest - 1, longest, longest + 1)]
    server.tell(forms=[], next_tokens=["n_probs"], only="words", too_long="llama.cpp")
    *whole, over = server.backend("words").score(rows)
    assert_same(whole, engine(rows[:2]))
    assert isinstance(over, PromptTooLong)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["vllm", "llama.cpp", "silent"])
@pytest.mark.sample(4)
def test_a_prompt_that_is_too_long_counts_nowhere(server: Running, way: str, how: str) -> None:
    server.tell(forms=[], next_tokens=[way], too_long=how)
    long = RowPrompt("salt " * 200, (CellPrompt("Item: flour\nAnswer:", ("Yes", "No")),))
    backend = server.backend()
    if how == "silent" and way == "n_probs":  # the others name their context beside the tokens
        with pytest.raises(BackendError, match="a part of a prompt only"):
            backend.score([long])
        return
    (found,) = backend.score([long])
    assert isinstance(found, PromptTooLong)


@pytest.mark.parametrize("way", ["logprob_token_ids", "n_probs"])
def test_one_prompt_of_which_a_part_was_read_is_asked_about_again(server: Running, way: str) -> None:
    backend = server.backend("words")
    server.tell(next_tokens=[way], only="words", lose=1, lose_in="onions", lose_times=1)
    with pytest.raises(BackendError, match="a part of a prompt only") as caught:
        backend.score(SINGLE)
    assert not caught.value.permanent
    assert_same(backend.score(SINGLE), engine(SINGLE))
    server.tell(next_tokens=[way], only="words", lose=1)
    with pytest.raises(BackendError, match="a part of a prompt only") as caught:
        backend.score(SINGLE)
    assert caught.value.permanent


@pytest.mark.parametrize("way", ["logprob_token_ids", "n_probs"])
@pytest.mark.parametrize("value", ["nan", "null"])
@pytest.mark.sample(2)
def test_one_prompt_of_which_a_number_is_none_is_asked_about_again(server: Running, way: str, value: str) -> None:
    backend = server.backend("words")
    server.tell(next_tokens=[way], only="words", replace=value, replace_in="onions", replace_times=1)
    with pytest.raises(BackendError, match=f"returned {value} as a log-probability") as caught:
        backend.score(SINGLE)
    assert not caught.value.permanent
    assert_same(backend.score(SINGLE), engine(SINGLE))
    server.tell(next_tokens=[way], only="words", replace=value)
    with pytest.raises(BackendError, match=f"returned {value} as a log-probability") as caught:
        backend.score(SINGLE)
    assert caught.value.permanent


def test_tokens_are_counted_where_a_server_counts_none(server: Running) -> None:
    server.tell(next_tokens=["score"])
    told = []
    server.backend("words").score(SINGLE[:1], lambda tokens, done: told.append(int(tokens)))
    n_letters = len(SINGLE[0].shared)
    assert told[-1] > 4 * n_letters  # two cells, with evidence and without it, each behind the prompt and two options


def test_a_server_that_does_neither_is_refused(server: Running) -> None:
    server.tell(forms=[])
    with pytest.raises(BackendError, match="cannot return prompt log-probabilities"):
        server.backend("words").score(SINGLE)


def test_of_each_prefix_only_what_follows_it_is_wanted() -> None:
    """What continues another option is improbable there, and is in none but the longest of llama.cpp's lists."""
    seen: dict[openai_next.Ids, Sequence[int]] = {}

    def ask(_session: Session, wanted: Mapping[openai_next.Ids, Sequence[int]]) -> list[dict[int, float]]:
        seen.update(wanted)
        return [{label: -float(label) for label in labels} for labels in wanted.values()]

    cut = openai_next.Cut((1, 2), ((5, 9), (6, 7, 9), (6, 9)))
    assert openai_next.sums(cast(Session, None), openai_next.Way("toy", ask), cut) == [-14, -22, -15]
    assert seen == {(1, 2): [5, 6], (1, 2, 5): [9], (1, 2, 6): [7, 9], (1, 2, 6, 7): [9]}
