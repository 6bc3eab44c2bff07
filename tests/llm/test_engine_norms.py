"""The kernel of norms, interpreted by Triton on the CPU, and compiled for the cards of some years."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from llm.backends.transformers import use_norms
from tests.llm import tiny

if os.environ["TRITON_INTERPRET"] != "1":
    pytest.skip("it is tried on the card itself, by test_engine_gpu", allow_module_level=True)
pytest.importorskip("triton", reason="Triton is not installed: `make triton`")

from llm.engine import norms
from llm.engine.norms import Rounding

# Interpreted it has no bfloat16.
HALF = torch.float16
ROUNDINGS = {
    "llama": Rounding.FIRST,
    "qwen3": Rounding.FIRST,
    "gemma2": Rounding.LAST_OF_ONE_MORE,
}


@pytest.fixture(autouse=True)
def _of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row takes a millisecond, interpreted."""
    monkeypatch.setattr(norms, "_ROWS", 8)
    monkeypatch.setattr(norms, "_LEAST_ROWS", 8)


class LastRMSNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(dim)), 1e-5

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        over = states.float() * torch.rsqrt(states.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (over * self.weight.float()).type_as(states)


class OtherRMSNorm(LastRMSNorm):
    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return super().forward(states) * 1.01


class GatedRMSNorm(LastRMSNorm):
    def forward(self, states: torch.Tensor, gate: torch.Tensor | None = None) -> torch.Tensor:  # type: ignore[override]
        return super().forward(states if gate is None else states * gate)


def in_half_precision(family: str) -> Any:
    model = copy.deepcopy(tiny.model(family)).to(HALF)
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        if "norm" in name:
            weight.data = torch.rand_like(weight) + 0.5
    return model


@pytest.mark.parametrize("family", ROUNDINGS)
@pytest.mark.sample(1)
def test_each_norm_of_a_family_gives_what_it_gave(family: str) -> None:
    model = in_half_precision(family)
    found = [module for module in model.modules() if norms._epsilon_of(module) is not None]
    own = [module.forward for module in found]
    assert norms.use_kernel(model) == len(found) > 0
    torch.manual_seed(1)
    for module, forward in zip(found, own, strict=True):
        width = len(module.weight)
        # As layers hand them on: heads behind tokens.
        states = torch.randn(1, norms._LEAST_ROWS, 3, width, dtype=HALF).transpose(1, 2)
        with torch.inference_mode():
            made, expected = module(states), forward(states)
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        assert float((made != expected).float().mean()) < 0.01
        assert torch.allclose(made.float(), expected.float(), rtol=2e-3, atol=0)
        assert norms._rounding_of(module, 1e-6) == ROUNDINGS[family]


def test_the_model_says_what_it_said() -> None:
    model = in_half_precision("gemma2")
    ids = torch.randint(20, (1, norms._LEAST_ROWS), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        before = model(input_ids=ids).logits.float().log_softmax(-1)
        assert norms.use_kernel(model)
        after = model(input_ids=ids).logits.float().log_softmax(-1)
    assert (after - before).abs().max() < 0.05


def test_states_in_float32_of_a_model_in_half_precision_stay_so() -> None:
    module = LastRMSNorm(40).to(HALF)
    states = torch.randn(norms._LEAST_ROWS, 40)
    for rounding in Rounding:
        made = norms.normed(states, module.weight, module.eps, rounding)
        assert made.dtype == torch.float32
    with torch.inference_mode():
        made = norms.normed(states, module.weight, module.eps, Rounding.LAST)
        assert torch.allclose(made, module(states), rtol=1e-5, atol=0)


def test_few_rows_are_normed_as_they_were() -> None:
    model = nn.Sequential(LastRMSNorm(40).to(HALF))
    assert norms.use_kernel(model) == 1
    asked: list[int] = []
    module: Any = model[0]
    given = module.forward.args
    module.forward.__setstate__((module.forward.func, (lambda states: asked.append(len(states)), *given[1:]), {}, None))
    module(torch.randn(norms._LEAST_ROWS - 1, 40, dtype=HALF))
    module(torch.randn(norms._LEAST_ROWS, 40, dtype=HALF))
    assert asked == [norms._LEAST_ROWS - 1]


@pytest.mark.parametrize(
    "norm",
    [OtherRMSNorm(40), GatedRMSNorm(40), nn.RMSNorm(40), nn.LayerNorm(40), LastRMSNorm(norms._WIDEST + 1)],
    ids=["of other numbers", "with a gate", "torch's own", "of another kind", "too wide"],
)
def test_a_norm_that_the_kernel_does_not_give_keeps_its_own_way(norm: nn.Module) -> None:
    assert norms.use_kernel(nn.Sequential(norm.to(HALF))) == 0
    assert "forward" not in vars(norm)


def test_a_kernel_that_does_not_run_leaves_the_norms_alone_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_given: object) -> None:
        raise RuntimeError("no C compiler")

    monkeypatch.setattr(norms, "normed", fails)
    with caplog.at_level("WARNING", logger=norms.__name__):
        assert norms.use_kernel(in_half_precision("llama")) == 0
    assert "Norms of LlamaForCausalLM keep their own way: RuntimeError: no C compiler" in caplog.text


def test_on_a_cpu_nothing_is_changed() -> None:
    model = in_half_precision("llama")
    assert use_norms(model) == 0
    assert not any("forward" in vars(module) for module in model.modules())


@pytest.mark.slow
def test_it_compiles_for_the_cards_of_some_years() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    told = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == ["True"] * 6


COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from llm.engine import norms

for card, states, weights, made, rounding in (
    (80, "bf16", "bf16", "bf16", 0), (86, "fp16", "fp16", "fp16", 2), (89, "fp32", "bf16", "fp32", 2),
    (90, "bf16", "bf16", "bf16", 2), (100, "bf16", "fp32", "fp32", 0), (120, "bf16", "bf16", "bf16", 1),
):
    kinds = {"states": f"*{states}", "weights": f"*{weights}", "made": f"*{made}", "width": "i32", "epsilon": "fp32",
             "ROUNDING": "constexpr", "BLOCK": "constexpr"}
    compiled = triton.compile(
        ASTSource(norms._norm, kinds, {"ROUNDING": rounding, "BLOCK": 4096}), target=GPUTarget("cuda", card, 32),
        options={"num_warps": 8},
    )
    print("rsqrt" in compiled.asm["ptx"])
"""
