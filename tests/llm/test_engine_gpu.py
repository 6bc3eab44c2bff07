"""What only a GPU can show: `TRITON_INTERPRET=0 python -m pytest tests/llm/test_engine_gpu.py`, where one is."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from benchmarks import model_families
from benchmarks.judge_throughput import each_prompt_alone
from llm.backends.transformers import use_norms
from llm.engine import attention, cards
from llm.engine.attention import Way
from llm.engine.captured import Steps
from llm.engine.cloze import ClozeScorer
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.prompt import PromptTooLong, RowScores, Sampling
from tests.llm import tiny
from tests.llm.test_engine_cloze import ROWS

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.skipif(os.environ["TRITON_INTERPRET"] == "1", reason="Triton interprets: set TRITON_INTERPRET=0"),
]

FAMILIES = ["llama", "mistral", "qwen2-sliding", "qwen3", "gemma2", "gemma3"]


def scorer(family: str, dtype: torch.dtype, **settings: Any) -> ClozeScorer:
    model = tiny.model(family) if family != "gpt2" else model_families.built(family)
    there = copy.deepcopy(model).to("cuda", dtype).eval()
    use_norms(there)
    return ClozeScorer(there, tiny.tokenizer(), **{"token_budget": 50, **settings})


def furthest(some: list[RowScores | PromptTooLong], others: list[RowScores | PromptTooLong]) -> float:
    def options(rows: list[RowScores | PromptTooLong]) -> Iterator[float]:
        for row in rows:
            assert not isinstance(row, PromptTooLong)
            yield from (option.logprob for cell in row for option in cell)

    return max(abs(one - other) for one, other in zip(options(some), options(others), strict=True))


@pytest.mark.parametrize("family", [*FAMILIES, "gpt2"])
def test_the_tree_in_float32_scores_as_on_a_cpu(family: str) -> None:
    engine = scorer(family, torch.float32)
    assert (engine.mode, engine.own_attention) == ("tree", Way.BLOCKS)
    model = tiny.model(family) if family != "gpt2" else model_families.built(family)
    assert furthest(engine.score(ROWS), ClozeScorer(model, tiny.tokenizer(), token_budget=50).score(ROWS)) < 1e-3


# These models' weights are so large that roundings of bfloat16 move their scores by a nat: whether the kernel computes
# what it should is looked at by `kernel.why_not`, which every model goes through, not by them.
@pytest.mark.parametrize(("dtype", "nats"), [(torch.bfloat16, 2.0), (torch.float16, 0.2)], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_half_precision_has_the_kernel_and_scores_as_each_prompt_alone(
    family: str, dtype: torch.dtype, nats: float
) -> None:
    engine = scorer(family, dtype)
    takes = torch.cuda.get_device_capability() >= (8, 0)
    assert (engine.mode, engine.own_attention) == ("tree", Way.KERNEL if takes else Way.BLOCKS)
    assert furthest(engine.score(ROWS), each_prompt_alone(engine, ROWS)) < nats


@pytest.mark.parametrize("family", FAMILIES)
def test_norms_in_one_kernel_give_what_they_gave(family: str) -> None:
    model = copy.deepcopy(tiny.model(family)).to("cuda", torch.bfloat16).eval()
    ids = torch.randint(20, (4, 300), generator=torch.Generator().manual_seed(0), device="cpu").to("cuda")
    found = [module for module in model.modules() if type(module).__name__.endswith("RMSNorm")]
    states = {module: torch.randn(512, len(module.weight), device="cuda").bfloat16() for module in found}
    with torch.inference_mode():
        expected = {module: module(states[module]) for module in found}
        predicted = model(input_ids=ids).logits
        assert use_norms(model) == (len(found) if torch.cuda.get_device_capability() >= (8, 0) else 0)
        for module in found:
            made = module(states[module])
            assert float((made != expected[module]).float().mean()) < 0.01
        assert model(input_ids=ids).logits.shape == predicted.shape


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
@pytest.mark.parametrize("way", [Way.KERNEL, None], ids=["the kernel", "torch's own attention"])
def test_nothing_waits_for_the_card_before_the_next_forward_is_prepared(way: Way | None) -> None:
    engine = scorer("gemma2", torch.bfloat16)
    if way is not None and way not in attention.ways_for(engine._model):
        pytest.skip("this card has no kernel")
    engine.own_attention = way
    expected = engine.score(ROWS)
    try:
        torch.cuda.set_sync_debug_mode("error")
        assert furthest(engine.score(ROWS), expected) == 0
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_full_card_halves_the_forwards_and_scores_the_same() -> None:
    engine = scorer("llama", torch.float32, token_budget=2**20)
    rows = [row for row in ROWS for _ in range(200)]
    rows = [type(row)(f"{number} {row.shared}", row.cells) for number, row in enumerate(rows)]
    expected = engine.score(rows)
    torch.cuda.empty_cache()
    free, _all = torch.cuda.mem_get_info()
    held = torch.empty(free - (96 << 20), dtype=torch.int8, device="cuda")
    try:
        again = engine.score(rows)
    finally:
        del held
        torch.cuda.empty_cache()
    assert engine.token_budget < 2**20
    assert furthest(again, expected) < 1e-3


@pytest.mark.parametrize("family", ["llama", "gemma2", "mixtral"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_model_that_is_spread_scores_and_writes_as_on_one_card(family: str, dtype: torch.dtype) -> None:
    """Over two cards where they are, else placed by the same hooks on the one."""
    seen = range(torch.cuda.device_count())
    model = tiny.model(family).to(dtype)
    room = cards.bytes_of(model) * (1.0 if len(seen) > 1 else 3.0)
    there = cards.spread(copy.deepcopy(model), {f"cuda:{number}": int(room) for number in seen})
    assert len(cards.devices_of(there)) == min(2, len(seen))
    use_norms(there)
    engine = ClozeScorer(there, tiny.tokenizer(), token_budget=50)
    alone = scorer(family, dtype)
    assert (engine.mode, engine.own_attention) == ("tree", alone.own_attention)
    assert furthest(engine.score(ROWS), alone.score(ROWS)) < 1e-3
    if dtype == torch.float32:
        made = AnswerGenerator(there, PromptEncoder(tiny.tokenizer()), token_budget=64, cache_budget=10_000)
        found = made.generate(PROMPTS, Sampling(max_new_tokens=40))
        assert found == answers(family, "cpu")[1][: len(PROMPTS)]


# Texts of different lengths that begin alike, one of them twice: some are finished before others.
PROMPTS = [*("a list of " + "eggs and flour " * n for n in range(9)), "whisk", "whisk the eggs", "a list of "]


def answers(family: str, device: str, **settings: Any) -> tuple[AnswerGenerator, list[Any]]:
    model = copy.deepcopy(tiny.model(family)).to(device).eval()
    made = AnswerGenerator(model, PromptEncoder(tiny.tokenizer()), token_budget=64, cache_budget=10_000)
    sampling = Sampling(max_new_tokens=40, **settings)
    found = made.generate(PROMPTS, sampling, seeds=range(len(PROMPTS)))
    return made, [*found, *made.generate(PROMPTS[:3], sampling, seeds=range(3))]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_captured_steps_write_what_a_cpu_writes(family: str, temperature: float) -> None:
    made, found = answers(family, "cuda", temperature=temperature)
    assert made.by_steps
    assert made._steps._graphs, "no step was captured"
    assert found == answers(family, "cpu", temperature=temperature)[1]


def test_a_step_that_cannot_be_captured_is_started_product_by_product() -> None:
    as_usual = Steps._forward

    def asks(self: Steps, inputs: torch.Tensor, columns: int) -> torch.Tensor:
        assert inputs.sum().item() >= 0  # the card is asked for a number
        return as_usual(self, inputs, columns)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Steps, "_forward", asks)
        made, found = answers("llama", "cuda")
        assert made.by_steps
        assert not made._steps._captures
        assert not made._steps._graphs
    assert found == answers("llama", "cpu")[1]
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.empty_cache()  # which refuses while a capture is underway


def test_where_memory_runs_out_the_buffers_go() -> None:
    model = copy.deepcopy(tiny.model("llama")).to("cuda").eval()
    made = AnswerGenerator(model, PromptEncoder(tiny.tokenizer()), token_budget=256, cache_budget=10_000)
    expected = made.generate(PROMPTS, Sampling(max_new_tokens=20))
    as_usual, calls = Steps.go, []

    def go(self: Steps, fed: Any) -> torch.Tensor:
        calls.append(self._size)
        if len(calls) == 5:
            raise torch.OutOfMemoryError
        return as_usual(self, fed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Steps, "go", go)
        assert made.generate(PROMPTS, Sampling(max_new_tokens=20)) == expected
    assert made.token_budget == 128
