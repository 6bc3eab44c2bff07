"""Models in bfloat16 whose layers are added up in float32."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmarks import model_families
from llm.engine import attention, probing
from llm.engine.cloze import ClozeScorer
from llm.engine.onednn import use_onednn
from llm.engine.widened import widen
from tests.llm import tiny
from tests.llm.test_engine_cloze import ROWS

# The few of `ROWS` come nearer or not by luck.
MANY_ROWS = [replace(row, shared=f"{row.shared}{amount} cups milk\n") for row in ROWS for amount in range(1, 4)]


def rounded(model: Any, dtype: torch.dtype) -> Any:
    """A model with weights that bfloat16 holds, in this dtype; positions stay as they are, as where it is read so."""
    made = copy.deepcopy(model)
    for weight in made.parameters():
        weight.data = weight.data.to(torch.bfloat16).to(dtype)
    return made


def both(model: Any) -> tuple[Any, Any]:
    return rounded(model, torch.float32), rounded(model, torch.bfloat16)


def sums(model: Any) -> torch.Tensor:
    engine = ClozeScorer(model, tiny.tokenizer(), token_budget=50)
    assert (engine.mode, engine.own_attention) == ("tree", attention.Way.BLOCKS)
    rows: Any = engine.score(MANY_ROWS)
    return torch.tensor([option.logprob for row in rows for cell in row for option in cell])


@pytest.mark.parametrize("packed", [False, True], ids=["as loaded", "packed for oneDNN"])
@pytest.mark.parametrize(
    "family", ["llama", *(pytest.param(family, marks=pytest.mark.slow) for family in ("gemma2", "mistral", "qwen3"))]
)
@pytest.mark.sample(1)
def test_scores_come_nearer_to_those_of_float32(family: str, packed: bool) -> None:
    whole, half = both(tiny.model(family, num_hidden_layers=24, initializer_range=0.05))
    wide = copy.deepcopy(half)
    for model in (half, wide, whole) if packed else ():
        use_onednn(model)
    assert widen(wide, whole) < 0.9
    exact = sums(whole)
    assert (sums(wide) - exact).abs().mean() < 0.9 * (sums(half) - exact).abs().mean()


def test_a_family_that_takes_no_other_numbers_is_left_as_it_was() -> None:
    whole, half = both(model_families.built("gpt2"))
    tried = copy.deepcopy(half)
    assert widen(tried, whole) == 1
    ids = torch.arange(12)[None]
    with torch.inference_mode():
        assert torch.equal(half(input_ids=ids).logits, tried(input_ids=ids).logits)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in tried.modules())


def test_a_model_that_comes_no_nearer_is_left_as_it_was() -> None:
    """As of one that is no model in bfloat16 at all."""
    whole = tiny.model("llama")
    assert widen(copy.deepcopy(whole), whole) == 1


def test_how_far_roundings_move_it_is_told_by_those_of_its_weights() -> None:
    whole, half = both(tiny.model("llama", num_hidden_layers=24, initializer_range=0.05))
    assert widen(half, whole) < 1
    read = half.get_input_embeddings()
    ids = torch.arange(20, 60)
    plain = read(ids).detach()
    assert plain.dtype == torch.float32
    with torch.inference_mode(), probing.shaken(half, 0):
        by = ((read(ids) - plain) / plain).abs().max()
    assert 0.9 < float(by) / torch.finfo(torch.bfloat16).eps <= 1


def test_that_a_card_rounds_longer_texts_otherwise_is_not_the_models_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, half = both(tiny.model("llama"))
    widen(half, whole)
    as_usual = probing._predictions

    def rounded_by_length(model: Any, ids: Sequence[int], n: int) -> torch.Tensor:
        return as_usual(model, ids, n) + (len(ids) / 10 if model.dtype == torch.bfloat16 else 0)

    monkeypatch.setattr(probing, "_predictions", rounded_by_length)
    assert probing.depends_on_length(half)
    exact = ClozeScorer(whole, tiny.tokenizer(), token_budget=50).feeding
    assert ClozeScorer(half, tiny.tokenizer(), token_budget=50, exact=exact).mode == "tree"
