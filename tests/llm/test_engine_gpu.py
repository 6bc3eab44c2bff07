"""What only a GPU can show: `TRITON_INTERPRET=0 python -m pytest tests/llm/test_engine_gpu.py`, where one is."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from benchmarks import model_families
from llm.backends.transformers import use_norms
from llm.engine import attention
from llm.engine.attention import Way
from llm.engine.cloze import ClozeScorer
from llm.engine.prompt import PromptTooLong, RowScores
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
    assert furthest(engine.score(ROWS), engine.score_each_prompt_alone(ROWS)) < nats


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
