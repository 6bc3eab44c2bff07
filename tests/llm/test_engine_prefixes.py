"""Answers that go on with their prompts' keys as they were read, against answers that have a copy of them each."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from llm.engine import batch_probing, padded
from tests.llm import tiny

# The texts of a batch, of different lengths; which answers go on with which; and which of those are left, step by step:
# of the first text all answers end at once, then half of the texts are left, and last a single answer.
TEXTS = [(2, 3, 5, 7, 11, 13, 17), (19, 23), (29, 31, 37, 41), (43, 47, 53)]
ANSWERS = [0, 2, 2, 1, 3, 0, 2, 3]
LEFT = [[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 6, 7], [0, 1, 3, 4], [2]]
FITS = {"llama": {}, "qwen2": {}, "mixtral": {}, "qwen3": {}, "gemma2": {"layer_types": ["full_attention"] * 4}}


def begun(model: Any) -> padded.Padded:
    forwards = padded.Padded(model)
    longest = max(map(len, TEXTS))
    forwards.feed(
        torch.tensor([[0] * (longest - len(text)) + list(text) for text in TEXTS]),
        torch.tensor([[0] * (longest - len(text)) + [1] * len(text) for text in TEXTS]),
    )
    return forwards


def steps(model: Any, *, share: bool) -> list[torch.Tensor]:
    """The logits after each token that is fed to the answers which are left."""
    with torch.inference_mode():
        forwards = begun(model)
        (forwards.go_on if share else forwards.keep)(torch.tensor(ANSWERS))
        found, next_ids = [], torch.arange(60, 60 + len(ANSWERS))
        for left in LEFT:
            forwards.keep(torch.tensor(left))
            next_ids = next_ids[left] + 1
            found.append(forwards.go(next_ids[:, None].tolist()))
    return found


@pytest.mark.parametrize("family", sorted(FITS))
def test_the_same_as_with_copies(family: str) -> None:
    model = tiny.model(family, **{"num_hidden_layers": 4, **FITS[family]} if FITS[family] else {})
    assert batch_probing.takes_prefixes(model)
    for one, other in zip(steps(model, share=True), steps(model, share=False), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


def test_nothing_is_copied_but_when_half_of_the_texts_are_done() -> None:
    forwards = padded.Padded(tiny.model("llama"))
    with torch.inference_mode():
        forwards.feed(torch.tensor([[2, 3], [5, 7], [11, 13], [17, 19]]))
    layer: Any = forwards._cache.layers[0]
    read = layer.keys
    forwards.go_on(torch.tensor([0, 0, 1, 2, 3]))
    prefixes = forwards._prefixes
    assert prefixes is not None
    assert prefixes.layers[0][0] is read
    forwards.keep(torch.tensor([0, 1, 2, 3]))
    assert prefixes.layers[0][0] is read
    forwards.keep(torch.tensor([0, 2]))
    assert prefixes.layers[0][0].shape[0] == 2


@pytest.mark.parametrize("family", ["bloom", "llama4"])
def test_a_model_that_does_not_heed_it_is_found_out(family: str) -> None:
    assert not batch_probing.takes_prefixes(tiny.model(family))


def test_it_is_for_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not batch_probing.takes_prefixes(tiny.model("llama").bfloat16())
    model = tiny.model("llama")
    monkeypatch.setattr(type(model), "device", torch.device("cuda"))
    assert not batch_probing.takes_prefixes(model)


def test_the_models_own_attention_is_as_it_was() -> None:
    model = tiny.model("llama")
    before = model.config._attn_implementation
    steps(model, share=True)
    assert model.config._attn_implementation == before
