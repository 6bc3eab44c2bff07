from __future__ import annotations

from typing import Any

import pytest
import torch

from llm.engine.cloze import ClozeScorer
from llm.engine.onednn import OneDNNLinear, PackedLinear, gated_in_products, pack, use_onednn
from tests.llm import tiny
from tests.llm.test_engine_cloze import ROWS, assert_same

has_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN")


@has_onednn
@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma2", "mixtral"])  # qwen2 has biases
@pytest.mark.sample(2)
def test_scores_are_the_same(family: str) -> None:
    model = tiny.model(family)
    before = ClozeScorer(model, tiny.tokenizer(), token_budget=50).score(ROWS)
    assert use_onednn(model)
    assert any(type(module) is PackedLinear for module in model.modules())
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert engine.alone_because is None
    assert_same(engine.score(ROWS), before)


@has_onednn
@pytest.mark.parametrize("shape", [(1, 1, 5), (1, 7, 5), (3, 2, 5), (0, 5)], ids=str)
def test_a_product_of_any_shape(shape: tuple[int, ...]) -> None:
    linear = torch.nn.Linear(5, 3)
    inputs = torch.randn(shape)
    with torch.inference_mode():
        expected = linear(inputs)
        linear.__class__ = OneDNNLinear
        torch.testing.assert_close(linear(inputs), expected)


@has_onednn
@pytest.mark.parametrize("shape", [(1, 1, 5), (1, 7, 5), (3, 2, 5), (0, 5)], ids=str)
def test_a_packed_weight_multiplies_and_is_there_as_it_was(shape: tuple[int, ...]) -> None:
    linear = torch.nn.Linear(5, 3)
    inputs, weight = torch.randn(shape), linear.weight.detach().clone()
    with torch.inference_mode():
        expected = linear(inputs)
        pack(linear)
        torch.testing.assert_close(linear(inputs), expected)
        assert torch.equal(linear.weight, weight)


@has_onednn
def test_a_weight_that_the_embedding_shares_stays_its_own() -> None:
    model = tiny.model("llama", tie_word_embeddings=True)
    assert use_onednn(model)
    assert type(model.lm_head) is OneDNNLinear
    assert model.lm_head.weight is model.model.embed_tokens.weight


@has_onednn
@pytest.mark.skipif(not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="the processor has no bfloat16")
def test_a_packed_weight_in_bfloat16_gives_what_torch_gives() -> None:
    linear = torch.nn.Linear(64, 48).to(torch.bfloat16)
    inputs, weight = torch.randn(1, 20, 64).to(torch.bfloat16), linear.weight.detach().clone()
    with torch.inference_mode():
        expected = linear(inputs)
        pack(linear)
        made = linear(inputs)
        torch.testing.assert_close(made, expected, rtol=2**-7, atol=2**-8)
        assert torch.equal(linear.weight, weight)


@has_onednn
def test_bfloat16_is_packed_where_the_processor_has_it() -> None:
    model = tiny.model("llama").to(torch.bfloat16)
    kept = model.model.layers[0].mlp.gate_proj.to(torch.float32)  # as some families keep a router
    is_supported = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    assert use_onednn(model) == is_supported
    assert model.dtype == torch.bfloat16
    assert (type(model.model.layers[1].mlp.gate_proj) is PackedLinear) == is_supported
    assert type(kept) is torch.nn.Linear


@has_onednn
@pytest.mark.skipif(not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="the processor has no bfloat16")
def test_a_head_in_bfloat16_that_the_embedding_shares_gives_what_torch_gives() -> None:
    model = tiny.model("llama", tie_word_embeddings=True).to(torch.bfloat16)
    with torch.inference_mode():
        states = model.model(torch.tensor([[3, 14, 15, 92, 65]])).last_hidden_state
        expected = model.lm_head(states)
        assert use_onednn(model)
        torch.testing.assert_close(model.lm_head(states), expected, rtol=2**-7, atol=2**-7)


@has_onednn
@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma2"])
def test_a_gated_unit_is_computed_in_its_products(family: str) -> None:
    model = tiny.model(family)
    states = torch.randn(2, 7, model.config.hidden_size)
    units = [module for module in model.modules() if type(module).__name__.endswith("MLP")]
    assert units
    with torch.inference_mode():
        expected = [unit(states) for unit in units]
        assert use_onednn(model)
        assert gated_in_products(model) == len(units)
        for unit, made in zip(units, expected, strict=True):
            torch.testing.assert_close(unit(states), made, rtol=1e-4, atol=1e-6)


@has_onednn
def test_a_unit_of_another_function_or_with_more_to_it_keeps_its_own_way() -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * torch.nn.functional.silu(x)

    def bounded(unit: Any, x: torch.Tensor) -> torch.Tensor:
        """As DeepSeek V4's and GLM 5's, which small states do not tell."""
        made: torch.Tensor = unit.down_proj(unit.act_fn(unit.gate_proj(x).clamp(max=7)) * unit.up_proj(x).clamp(-7, 7))
        return made

    model = tiny.model("llama", num_hidden_layers=4)
    first, second, third, fourth = (layer.mlp for layer in model.model.layers)
    fourth.__class__ = type("BoundedMLP", (type(fourth),), {"forward": bounded})
    first.act_fn = Doubled()
    own = type(third).forward
    third.__class__ = type("ScaledMLP", (type(third),), {"forward": lambda self, x: 1.5 * own(self, x)})
    states = torch.randn(5, model.config.hidden_size)
    with torch.inference_mode():
        expected = [unit(states) for unit in (first, second, third)]
        assert use_onednn(model)
        assert ["forward" in vars(unit) for unit in (first, second, third, fourth)] == [False, True, False, False]
        for unit, made in zip((first, second, third), expected, strict=True):
            torch.testing.assert_close(unit(x=states), made, rtol=1e-4, atol=1e-6)


def test_other_dtypes_are_left_to_torch() -> None:
    assert not use_onednn(tiny.model("llama").to(torch.float16))
