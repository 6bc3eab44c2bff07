from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from transformers import DynamicCache

from benchmarks import model_families
from benchmarks.judge_throughput import each_prompt_alone
from llm.engine import branches, forwards, probing
from llm.engine.cloze import LEAST_TOKEN_BUDGET, ClozeScorer
from llm.engine.forwards import Forward
from llm.engine.normalisation import choose
from llm.engine.onednn import use_onednn
from llm.engine.probing import NotCausal, NotOfText, why_not_a_tree
from llm.engine.prompt import CellPrompt, OptionScore, OptionsNotPrefixFree, PromptTooLong, RowPrompt, RowScores
from llm.engine.tree import TokenSequence, build
from tests.llm import tiny

OPTIONS = ("Found", "Found (not perfect)", "Not found")
INSTRUCTION = "Which of these does the recipe use?\n"
ROWS = [
    RowPrompt(
        shared=f"{INSTRUCTION}Recipe:\n{evidence}\n",
        cells=tuple(
            CellPrompt(f"Item: {item}\nAnswer:", OPTIONS, unconditional=f"Item: {item}\nAnswer:") for item in items
        ),
    )
    for evidence, items in [
        ("2 cups flour\n1 pinch of salt\nOlive oil for the pan", ["flour", "salt", "sea salt"]),
        ("3 onions, chopped", ["onion"]),
        ("1 lb beef fillet\n1/2 tsp pepper\n2 tbsp cream", ["beef fillets", "pepper"]),
    ]
]
# Tokens, one a character, of the longest prompt that is fed: BOS counts, the terminator is only predicted.
LONGEST = max(len(f"{row.shared}{cell.text} Found (not perfect)") + 1 for row in ROWS for cell in row.cells)


def scorer(family: str = "llama", **settings: Any) -> ClozeScorer:
    return ClozeScorer(tiny.model(family), tiny.tokenizer(), **{"token_budget": 50, **settings})


def flat(results: list[RowScores | PromptTooLong]) -> Iterator[OptionScore]:
    for row in results:
        assert not isinstance(row, PromptTooLong)
        for cell in row:
            yield from cell


def assert_same(first: list[RowScores | PromptTooLong], second: list[RowScores | PromptTooLong]) -> None:
    for one, other in zip(flat(first), flat(second), strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert one.unconditional == pytest.approx(other.unconditional, abs=1e-4)
        assert (one.n_tokens, one.n_characters) == (other.n_tokens, other.n_characters)


def directly(model: Any, tokenizer: Any, prompt: str, option: str) -> float:
    """log P(option | prompt) as a textbook has it, for a tokeniser of one token a character."""
    ids = torch.tensor([tokenizer(prompt + option)["input_ids"]])
    with torch.inference_mode():
        logprobs = model(ids).logits[0].log_softmax(-1)
    begin = ids.shape[1] - len(option)
    return sum(float(logprobs[at - 1, ids[0, at]]) for at in range(begin, ids.shape[1]))


@pytest.mark.parametrize(
    "family", ["llama", "mistral", "mixtral", "qwen2", "qwen2-sliding", "qwen3", "gemma2", "gemma3"]
)
def test_a_tree_scores_as_each_prompt_alone(family: str) -> None:
    engine = scorer(family)
    assert engine.alone_because is None
    alone = each_prompt_alone(engine, ROWS, token_budget=1)
    tree = engine.score(ROWS)
    assert_same(tree, alone)
    for one, other in zip(tree, alone, strict=True):
        assert not isinstance(one, PromptTooLong)
        assert not isinstance(other, PromptTooLong)
        assert [choose(cell, "none").index for cell in one] == [choose(cell, "none").index for cell in other]


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_a_prompt_alone_scores_as_the_textbook_has_it(family: str) -> None:
    engine, model, tokenizer = scorer(family), tiny.model(family), tiny.tokenizer()
    scores = list(flat(each_prompt_alone(engine, ROWS[:1], token_budget=1)))[3:6]  # the second cell
    prompt = ROWS[0].shared + "Item: salt\nAnswer:"
    for option, score in zip(OPTIONS, scores, strict=True):
        assert score.logprob == pytest.approx(directly(model, tokenizer, prompt, f" {option}\n"), abs=1e-4)
        assert score.unconditional == pytest.approx(
            directly(model, tokenizer, "Item: salt\nAnswer:", f" {option}\n"), abs=1e-4
        )
        assert (score.n_tokens, score.n_characters) == (len(option) + 2, len(option))


def test_the_sliding_window_is_shorter_than_the_prompts_and_matters() -> None:
    wide = ClozeScorer(tiny.model("mistral", sliding_window=400), tiny.tokenizer(), token_budget=50)
    narrow = list(flat(scorer("mistral").score(ROWS)))
    differences = [abs(a.logprob - b.logprob) for a, b in zip(narrow, flat(wide.score(ROWS)), strict=True)]
    assert min(differences) > 0.01


@pytest.mark.parametrize("token_budget", [pytest.param(1, marks=pytest.mark.slow), 7, 64, 4096])
def test_the_token_budget_changes_no_score(token_budget: int) -> None:
    assert_same(scorer("gemma3", token_budget=token_budget).score(ROWS), scorer("gemma3").score(ROWS))


def test_no_forward_is_larger_than_the_token_budget() -> None:
    fed = [0]
    scorer(token_budget=20).score(ROWS, lambda tokens, cells: fed.append(tokens))
    steps = [after - before for before, after in pairwise(fed)]
    assert set(steps[:-1]) == {20}
    assert 0 < steps[-1] <= 20


def test_between_forwards_the_cache_holds_one_path_only() -> None:
    sizes: list[int] = []
    model = tiny.model("llama")

    def spy(module: Any, args: Any, kwargs: dict[str, Any]) -> None:
        if kwargs.get("past_key_values") is not None:
            sizes.append(kwargs["past_key_values"].get_seq_length())

    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=20)
    model.register_forward_pre_hook(spy, with_kwargs=True)
    engine.score(ROWS)
    assert len(sizes) > 15
    assert max(sizes) <= LONGEST


def test_each_token_is_fed_once_and_only_scored_positions_reach_the_head() -> None:
    model = tiny.model("llama")
    fed, headed = [], []
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    model.model.embed_tokens.register_forward_hook(lambda module, args, output: fed.append(args[0].numel()))
    model.lm_head.register_forward_hook(lambda module, args, output: headed.append(args[0].shape[-2]))
    engine.score(ROWS)
    prompts = [
        "B" + prompt + f" {option}\n"
        for row in ROWS
        for cell in row.cells
        for prompt in (row.shared + cell.text, cell.unconditional or "")
        for option in cell.options
    ]
    assert sum(fed) == len({prompt[:length] for prompt in prompts for length in range(1, len(prompt))})
    predictors = {prompt[:length] for prompt in prompts for length in range(prompt.rindex(":") + 1, len(prompt))}
    assert sum(headed) == len(predictors)


def test_rows_and_options_may_come_in_any_order() -> None:
    engine = scorer()
    backwards = [
        RowPrompt(
            row.shared,
            tuple(CellPrompt(cell.text, cell.options[::-1], cell.unconditional) for cell in row.cells[::-1]),
        )
        for row in ROWS[::-1]
    ]
    results = [
        tuple(cell[::-1] for cell in row[::-1])
        for row in engine.score(backwards)[::-1]
        if not isinstance(row, PromptTooLong)
    ]
    assert_same(list(results), engine.score(ROWS))


def test_progress_counts_tokens_and_finished_cells() -> None:
    calls: list[tuple[int, int]] = []
    scorer(token_budget=30).score(ROWS, lambda tokens, cells: calls.append((tokens, cells)))
    assert calls == sorted(calls)
    assert calls[0] == (30, 0)
    assert calls[-1][1] == 6


def test_progress_may_cancel() -> None:
    class Cancelled(Exception):
        pass

    calls = []

    def cancel(tokens: int, cells: int) -> None:
        calls.append(tokens)
        raise Cancelled

    with pytest.raises(Cancelled):
        scorer().score(ROWS, cancel)
    assert len(calls) == 1


@pytest.mark.parametrize(("context", "fits"), [(LONGEST, True), (LONGEST - 1, False)])
def test_evidence_up_to_the_context_fits(context: int, fits: bool) -> None:
    engine = ClozeScorer(tiny.model("llama", max_position_embeddings=context), tiny.tokenizer(), token_budget=50)
    assert any(isinstance(result, PromptTooLong) for result in engine.score(ROWS)) is not fits


def test_a_row_too_long_says_by_how_much_and_the_others_are_scored() -> None:
    engine = ClozeScorer(tiny.model("llama", max_position_embeddings=LONGEST), tiny.tokenizer(), token_budget=50)
    longer = RowPrompt("x" * 400 + ROWS[1].shared, ROWS[1].cells)
    whole = f"<{longer.shared}Item: onion\nAnswer: Found (not perfect)"  # "<" stands for the BOS token
    results = engine.score([ROWS[0], longer, ROWS[2]])
    assert isinstance(results[1], PromptTooLong)
    assert results[1].tokens_over == len(whole) - LONGEST
    assert f"{len(whole) - LONGEST} tokens over the model's context" in str(results[1])
    assert_same([results[0], results[2]], scorer().score([ROWS[0], ROWS[2]]))


def test_options_that_begin_each_other_are_refused_before_anything_is_computed() -> None:
    with pytest.raises(OptionsNotPrefixFree):
        scorer(terminator="").score(ROWS, lambda tokens, cells: pytest.fail("something was fed"))


def test_a_merge_across_the_join_scores_as_each_prompt_alone() -> None:
    tokenizer = tiny.tokenizer(merges=((":", " "), (": ", "F"), ("\n", "I")))
    engine = ClozeScorer(tiny.model("llama"), tokenizer, token_budget=50)
    assert_same(engine.score(ROWS), each_prompt_alone(engine, ROWS, token_budget=1))


def test_a_chat_template_scores_as_each_prompt_alone() -> None:
    engine = ClozeScorer(tiny.model("llama"), tiny.tokenizer(chat=True), token_budget=50, chat_template=True)
    assert_same(engine.score(ROWS), each_prompt_alone(engine, ROWS, token_budget=1))


def test_batches_of_whole_prompts_score_as_each_prompt_alone() -> None:
    engine = scorer("mistral")
    assert_same(each_prompt_alone(engine, ROWS, token_budget=1000), each_prompt_alone(engine, ROWS, token_budget=1))


@pytest.mark.parametrize(("family", "reason"), [("llama4", "chunked_attention")])
def test_models_that_take_no_tree_are_scored_prompt_by_prompt(family: str, reason: str) -> None:
    engine = scorer(family)
    assert engine.alone_because is not None
    assert re.search(reason, engine.alone_because)
    assert_same(engine.score(ROWS), each_prompt_alone(engine, ROWS, token_budget=1))


@pytest.mark.parametrize("family", ["qwen3_next", "lfm2_moe", "granitemoehybrid", "bamba", "bloom"])
@pytest.mark.filterwarnings("ignore")  # of slower paths that these families take without kernels
@pytest.mark.sample(2)
def test_models_with_a_state_of_their_own_are_fed_branch_by_branch(family: str) -> None:
    model = model_families.built(family)
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert engine.branches
    assert engine.mode.startswith("branch by branch: ")
    fed: list[int] = []
    found = engine.score(ROWS, lambda tokens, cells: fed.append(tokens))
    assert_near(found, each_prompt_alone(engine, ROWS, token_budget=1))
    sequences = [sequence for row in ROWS for cell in engine.encoder.encode(row) for part in cell for sequence in part]
    assert fed[-1] == len(build(sequences).tokens)  # each token once
    assert fed[-1] * 3 < sum(len(sequence.ids) - 1 for sequence in sequences)


@pytest.mark.parametrize("family", ["nemotron_h", pytest.param("zamba2", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_computes_single_tokens_otherwise_is_fed_none(family: str) -> None:
    """Time steps have a least length in forwards of several tokens alone. The options below part at single tokens, at
    ones below which others part, and at ones that end a prompt."""
    model = model_families.built(family)
    assert "nats off" in (probing.why_no_branches(model) or "")
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert engine.branches
    items = ("salt", "leek", "s")
    cells = [CellPrompt(item, ("a!b", "a?b", "ac", "b!", "b?", "cd", "e")) for item in items]
    rows = [*ROWS[:2], RowPrompt("2 cups of flour, ", tuple(cells)), RowPrompt("", tuple(cells[:1]))]
    lengths: list[int] = []
    hook = model.register_forward_pre_hook(
        lambda module, given, named: lengths.append(named["input_ids"].shape[1]), with_kwargs=True
    )
    for budget in (50, 13, 1):
        engine.token_budget = budget
        lengths.clear()
        found = engine.score(rows)
        assert min(lengths) > 1
        assert_near(found, each_prompt_alone(engine, rows, token_budget=1))
    hook.remove()


@pytest.mark.parametrize(
    ("family", "dtype"), [("mpt", torch.bfloat16), ("marian", torch.bfloat16), ("marian", torch.float16)]
)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sample(2)
def test_what_float32_refuses_half_precision_does_not_hide(family: str, dtype: torch.dtype, packed: bool) -> None:
    """These heed no positions of ours: by up to 3 nats, and by less than the rounding of some models."""
    model = model_families.built(family)
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.1)
    model = model.to(dtype)
    if packed:
        use_onednn(model)
    before = {name: tensor.clone() for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert "nats off" in (engine.alone_because or "")
    found = engine.score(ROWS)
    for one, other in zip(flat(found), flat(each_prompt_alone(engine, ROWS, token_budget=1)), strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=0.1)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        assert (tensor.dtype, torch.equal(tensor, before[name])) == (before[name].dtype, True)


def test_without_room_for_float32_half_precision_is_held_against_its_own_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "free_bytes", lambda _device: 0)
    model = model_families.built("marian")
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.1)
    engine = ClozeScorer(model.to(torch.bfloat16), tiny.tokenizer(), token_budget=50)
    assert "nats off" in (engine.alone_because or "")
    assert ClozeScorer(tiny.model("llama").to(torch.bfloat16), tiny.tokenizer(), token_budget=50).mode == "tree"


@pytest.mark.parametrize(("spare", "is_tried"), [(2.0, False), (4.0, True)])
def test_packed_weights_need_room_beside_their_copies(
    monkeypatch: pytest.MonkeyPatch, spare: float, is_tried: bool
) -> None:
    model = tiny.model("llama").to(torch.bfloat16)
    whole = sum(parameter.nbytes for parameter in model.parameters())
    if not use_onednn(model):
        pytest.skip("this processor has no products of bfloat16")
    monkeypatch.setattr(probing, "free_bytes", lambda _device: spare * whole)
    with probing._in_float32(model) as runs:
        assert runs is is_tried


def test_float32_that_runs_out_of_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = probing._tried

    def full(model: Any, **known: bool) -> probing.Feeding:
        if model.dtype == torch.float32:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return tried(model, **known)

    monkeypatch.setattr(probing, "_tried", full)
    assert ClozeScorer(tiny.model("llama").to(torch.bfloat16), tiny.tokenizer(), token_budget=50).mode == "tree"


LONG = [
    RowPrompt("2 cups of flour, " * n, (CellPrompt("Item: salt\nAnswer:", ("Yes", "No")),)) for n in (1, 4, 7, 9, 12)
]


@pytest.mark.parametrize("family", ["llama", "phi3"])
def test_texts_on_both_sides_of_an_encodings_border_are_not_padded_together(family: str) -> None:
    rope = {"rope_type": "longrope", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 150}
    rope |= {"short_factor": [1.0] * 6, "long_factor": [4.0] * 6}
    own = {"original_max_position_embeddings": 150} if family == "phi3" else {}
    model = model_families.built(family, rope_parameters=rope, **own)
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert "depends on the length" in (engine.alone_because or "")
    alone = each_prompt_alone(engine, LONG, token_budget=1)
    assert_same(each_prompt_alone(engine, LONG, token_budget=2000), alone)
    fed: list[int] = []
    each_prompt_alone(engine, LONG, lambda tokens, _cells: fed.append(tokens), token_budget=2000)
    assert len(fed) == 2  # the short ones together, and the long ones


@pytest.mark.parametrize("family", ["doge", "deepseek_v4"])
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_predicts_by_the_length_of_a_text_is_fed_whole_texts_alone(family: str) -> None:
    """Where the end of a text is cut off, not where it is changed, predictions before it are others."""
    model = model_families.built(family)
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=700)
    assert "how long the text is" in (engine.alone_because or "")
    assert engine.mode.startswith("each prompt alone")
    assert_near(engine.score(LONG), each_prompt_alone(engine, LONG, token_budget=1))


@pytest.mark.parametrize(
    ("family", "limit", "named"),
    [("whisper", 64, "max_target_positions"), ("mpt", 64, "max_seq_len"), ("roberta", 58, "max_position_embeddings")],
)
@pytest.mark.filterwarnings("ignore")
def test_a_context_is_found_whatever_it_is_called(family: str, limit: int, named: str) -> None:
    """Positions of RoBERTa begin behind that of its padding, so that a table of 60 takes 58."""
    settings: dict[str, Any] = {named: limit + 2 * (family == "roberta")}
    model = model_families.built(family, **settings, **({"is_decoder": True} if family == "roberta" else {}))
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    rows = [RowPrompt("x" * n, (CellPrompt("-", ("y", "n")),)) for n in range(limit - 8, limit + 4)]
    found = engine.score(rows)
    fits = [not isinstance(one, PromptTooLong) for one in found]
    longest = [
        max(len(s.ids) - 1 for cell in engine.encoder.encode(row) for part in cell for s in part) for row in rows
    ]
    assert fits == [n <= limit for n in longest]
    assert True in fits
    assert False in fits


def assert_near(first: list[RowScores | PromptTooLong], second: list[RowScores | PromptTooLong]) -> None:
    for one, other in zip(flat(first), flat(second), strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-3)
        assert one.unconditional is None or one.unconditional == pytest.approx(other.unconditional, abs=1e-3)


@pytest.mark.slow
def test_a_model_that_loses_its_state_is_fed_no_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_families.built("qwen3_next")
    lost = SimpleNamespace(deepcopy=lambda cache: DynamicCache(config=model.config))
    monkeypatch.setattr(branches, "copy", lost)
    assert "nats off" in (probing.why_no_branches(model) or "")
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert engine.mode.startswith("each prompt alone: ")


@pytest.mark.parametrize(
    ("family", "n"),
    [
        pytest.param("mistral", 8_000, marks=pytest.mark.slow),
        pytest.param("llama", 8_000, marks=pytest.mark.slow),
        pytest.param("qwen3_next", 8_000, marks=pytest.mark.slow),
        pytest.param("llama", 32_000, marks=pytest.mark.slow),
        pytest.param("mistral", 32_000, marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_long_prompt_scores_as_alone(family: str, n: int) -> None:
    """`n` tokens, one a character, as good as fill the context."""
    longer = {"max_position_embeddings": n + 40}
    model = tiny.model(family, **longer) if family in tiny.FAMILIES else model_families.built(family, **longer)
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=512)
    words = " ".join(f"{number} cups of flour, sifted" for number in range(n))
    cells = (CellPrompt("Item: salt\nAnswer:", ("Yes", "No")), CellPrompt("Item: leek\nAnswer:", ("Yes", "No")))
    row = RowPrompt(words[: n - 20], cells)
    fed: list[int] = []
    found = engine.score([row], lambda tokens, done: fed.append(tokens))
    assert_near(found, each_prompt_alone(engine, [row], token_budget=1))
    assert n < fed[-1] < n + 100


def test_a_model_that_heeds_no_positions_takes_no_tree() -> None:
    model = tiny.model("llama")
    model.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {**kwargs, "position_ids": None}), with_kwargs=True
    )
    assert "nats off" in (why_not_a_tree(model) or "")


def test_position_encodings_that_depend_on_length_take_no_tree() -> None:
    model = tiny.model("llama", rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0})
    assert "depends on the length" in (why_not_a_tree(model) or "")


def test_a_model_that_ignores_its_own_window_takes_no_tree() -> None:
    model = tiny.model("llama")
    model.config.sliding_window = 500  # no Llama looks at it, and no short prompt reaches it
    assert "window" in (why_not_a_tree(model) or "")
    assert model.config.sliding_window == 500


def test_a_window_that_is_heeded_is_found_to_be() -> None:
    model = tiny.model("mistral", sliding_window=500)
    assert why_not_a_tree(model) is None


def test_what_rounding_does_to_a_model_is_no_reason_against_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some trees of a model in bfloat16 are further off than the bound, by bad luck; or most, as its scores are."""
    off = iter([0.7, 0.2, 0.6, 0.1, 0.3])
    monkeypatch.setattr(
        probing, "tree_forwards", lambda *args, **how: _moved(probing.alone_forwards(*args, **how), off)
    )
    model = tiny.model("llama").to(torch.bfloat16)
    assert why_not_a_tree(model) is None
    off = iter([0.7, 0.8, 0.6, 0.1, 0.9])
    assert why_not_a_tree(model) is None  # its own move by 0.3
    off = iter([1.7, 1.8, 1.6, 0.1, 1.9])
    assert "1.9 nats off" in (why_not_a_tree(model) or "")
    monkeypatch.setattr(probing, "_noise", lambda *_: 0.0)
    off = iter([0.7, 0.8, 0.6, 0.1, 0.9])
    assert "0.9 nats off" in (why_not_a_tree(model) or "")
    monkeypatch.setattr(probing, "_noise", lambda *_: 3.0)  # no model is so much at rounding's mercy
    off = iter([2.7, 2.8, 2.6, 0.1, 2.9])
    assert "2.9 nats off" in (why_not_a_tree(model) or "")


@pytest.mark.parametrize(("dtype", "least", "most"), [(torch.bfloat16, 0.05, 2.0), (torch.float32, 1e-6, 1e-4)])
def test_a_models_own_noise_is_that_of_its_rounding(dtype: torch.dtype, least: float, most: float) -> None:
    """Batches alone would show none: each of their lines comes out as alone."""
    model = tiny.model("llama").to(dtype)
    for seed in range(3):
        sequences = probing._sequences(model, seed)
        with torch.inference_mode():
            alone = probing._scores(probing.alone_forwards(model, sequences, token_budget=1))
            assert least < probing._noise(model, sequences, alone, seed) < most
            again = probing._scores(probing.alone_forwards(model, sequences, token_budget=1))
        assert again == alone  # and the model is left as it was


def _moved(forwards: Iterator[Forward], off: Iterator[float]) -> Iterator[Forward]:
    by = next(off)
    for forward in forwards:
        yield Forward(forward.tokens, {index: score + by for index, score in forward.finished.items()})


def test_a_model_that_looks_ahead_is_refused() -> None:
    config = transformers.BertConfig(
        vocab_size=128, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        initializer_range=0.3, is_decoder=False,
    )  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with pytest.raises(NotCausal, match="no causal language model"):
        ClozeScorer(model, tiny.tokenizer(), token_budget=50)


def test_a_model_that_fails_at_a_plain_text_is_refused() -> None:
    text = transformers.Gemma4UnifiedTextConfig(
        vocab_size=128, hidden_size=48, intermediate_size=96, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, head_dim=12, num_kv_shared_layers=2,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )  # fmt: skip
    config = transformers.Gemma4UnifiedAssistantConfig(text_config=text, backbone_hidden_size=48)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with pytest.raises(NotOfText, match="drafts for another one"):
        ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    with pytest.raises(NotOfText, match="cannot be fed a plain text: .* shared_kv_states cannot be None"):
        probing.refuse_unless_causal(model)


def test_half_precision_keeps_options_apart() -> None:
    model = tiny.model("llama").to(torch.bfloat16)
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert engine.alone_because is None
    sums = [score.logprob for score in flat(engine.score(ROWS))]
    assert len(set(sums)) == len(sums)


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_what_is_not_a_number_is_an_error(weight: float) -> None:
    model = tiny.model("llama")
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    torch.nn.init.constant_(model.lm_head.weight, weight)
    with pytest.raises(FloatingPointError, match="not a number"):
        engine.score(ROWS)


def test_nothing_to_score() -> None:
    assert scorer().score([]) == []
    assert scorer().score([RowPrompt("x", ())]) == [()]


def test_rows_are_cut_into_tokens_while_the_model_is_at_work_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, expected, turn = scorer(), scorer().score(ROWS), threading.Lock()
    encoded, cut = threading.Event(), engine.encoder.encode

    def encode(row: RowPrompt) -> Any:
        if threading.current_thread() is not threading.main_thread():
            encoded.set()
        return cut(row)

    monkeypatch.setattr(engine.encoder, "encode", encode)
    with ThreadPoolExecutor(1) as other:
        beside: list[Any] = []

        def told(tokens: int, _cells: int) -> None:
            assert turn.locked()
            if tokens and not beside:
                beside.append(other.submit(engine.score, ROWS, turn=turn))
                assert encoded.wait(30)  # it would not come where all of a call waited for its turn
                assert not beside[0].done()

        assert_same(engine.score(ROWS, told, turn=turn), expected)
        assert_same(beside[0].result(30), expected)
    assert not turn.locked()


def test_who_gave_up_waiting_for_a_turn_feeds_nothing() -> None:
    engine, turn = scorer(), threading.Lock()
    fed: list[int] = []
    engine._model.register_forward_pre_hook(lambda *given: fed.append(1))
    stopped = threading.Event()

    def told(_tokens: int, _cells: int) -> None:
        if stopped.is_set():
            raise InterruptedError

    with ThreadPoolExecutor(1) as other:
        with turn:
            waiting = other.submit(engine.score, ROWS, told, turn=turn)
            assert not wait([waiting], timeout=0.5).done
            stopped.set()
        with pytest.raises(InterruptedError):
            waiting.result(30)
    assert fed == []
    assert not turn.locked()


def test_what_one_call_finds_out_of_the_memory_the_one_that_waits_knows() -> None:
    engine, expected, turn = scorer(token_budget=400), scorer().score(ROWS), threading.Lock()
    memory = OutOfMemoryBeyond(engine._model, limit=60)
    with ThreadPoolExecutor(2) as threads:
        for scores in threads.map(lambda _each: engine.score(ROWS, turn=turn), range(2)):
            assert_same(scores, expected)
    assert (engine.token_budget, memory.failed) == (50, 3)  # 400, 200, 100


def test_what_a_gpu_has_computed_is_read_one_forward_later() -> None:
    tree = build([TokenSequence((1, 2, 3, 4), start=1), TokenSequence((1, 2, 5, 6), start=2)])
    results = forwards._Results(tree)
    results.add(0, 3, tree.scored_for[:4], torch.tensor([-1.0, -2.0, -3.0, -4.0], dtype=torch.float64))
    assert list(results.read(all_but=1)) == []
    results.add(3, 4, tree.scored_for[4:], torch.tensor([-5.0], dtype=torch.float64))
    assert list(results.read(all_but=1)) == [Forward(tokens=3, finished={0: -7.0})]
    assert list(results.read()) == [Forward(tokens=1, finished={1: -8.0})]


class OutOfMemoryBeyond:
    """Makes a model's forwards of more than `limit` tokens fail as a full GPU makes them, and counts the tokens."""

    def __init__(self, model: Any, limit: int) -> None:
        self.limit, self.fed, self.failed = limit, 0, 0
        model.register_forward_pre_hook(self._before, with_kwargs=True)

    def _before(self, _model: Any, _args: Any, kwargs: Any) -> None:
        if kwargs["input_ids"].numel() > self.limit:
            self.failed += 1
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.fed += kwargs["input_ids"].numel()


def test_where_a_forward_does_not_fit_the_budget_is_halved_for_good() -> None:
    engine = scorer(token_budget=400)
    expected = engine.score(ROWS)
    memory = OutOfMemoryBeyond(engine._model, limit=60)
    assert_same(engine.score(ROWS), expected)
    assert engine.token_budget == 50
    assert memory.failed == 3  # 400, 200, 100
    assert_same(engine.score(ROWS), expected)
    assert memory.failed == 3  # it was remembered


def test_a_model_that_fills_the_memory_by_itself_says_so() -> None:
    engine = scorer(token_budget=400)
    memory = OutOfMemoryBeyond(engine._model, limit=LEAST_TOKEN_BUDGET - 1)
    with pytest.raises(torch.OutOfMemoryError):
        engine.score(ROWS)
    assert (memory.fed, engine.token_budget) == (0, LEAST_TOKEN_BUDGET)


def test_where_copies_of_the_state_do_not_fit_prompts_are_fed_alone_for_good() -> None:
    engine = scorer(token_budget=64)
    expected = engine.score(ROWS)
    engine.branches, engine.alone_because = True, "It is tried."
    assert engine.mode == "branch by branch: It is tried."
    real, failed = branches.branch_forwards, []

    def full(*given: Any, token_budget: int, **named: Any) -> Any:
        yield next(real(*given, token_budget=token_budget, **named))
        failed.append(token_budget)
        raise torch.OutOfMemoryError("CUDA out of memory.")

    engine.feeding = replace(engine.feeding, branches=full)
    assert_near(engine.score(ROWS), expected)
    assert failed == [64, LEAST_TOKEN_BUDGET]
    assert engine.mode == "each prompt alone: It is tried. Branches did not fit the memory."
    assert_near(engine.score(ROWS), expected)
    assert failed == [64, LEAST_TOKEN_BUDGET]  # it was remembered
