"""Steps in buffers that stay where they are, against batches with padding; that they are captured only a GPU shows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from llm.engine import batch_probing, captured
from llm.engine.captured import Steps
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.prompt import Sampling
from tests.llm import tiny
from tests.llm.test_engine_prefixes import ANSWERS, LEFT, begun

FAMILIES = ["llama", "mistral", "qwen2", "qwen2-sliding", "qwen3", "mixtral", "gemma2", "gemma3"]


def logits(model: Any, own: Steps | None) -> list[torch.Tensor]:
    """The logits after what is fed to the answers which are left: one token, or two, of which one is taken back."""
    with torch.inference_mode():
        forwards = begun(model)
        if own is None:
            forwards.keep(torch.tensor(ANSWERS))
        else:
            forwards.by_steps(own, torch.tensor(ANSWERS), room=12)
        found, next_ids = [], torch.arange(60, 60 + len(ANSWERS))
        for number, left in enumerate(LEFT):
            forwards.keep(torch.tensor(left))
            next_ids = next_ids[left] + 1
            fed = next_ids[:, None].tolist()
            if number % 2 and own is not None:
                forwards.go([[*tokens, 7] if line % 2 else tokens for line, tokens in enumerate(fed)])
                forwards.take_back([0] * len(fed))
            found.append(forwards.go(fed))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_as_with_padding(family: str) -> None:
    model = tiny.model(family)
    own = Steps(model)
    for _again in range(2):  # the buffers are used again
        for one, other in zip(logits(model, own), logits(model, None), strict=True):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_which_models_take_it_is_tried_out(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not batch_probing.takes_steps(tiny.model(family)), "it is for GPUs"
    monkeypatch.setattr(captured, "fits", lambda _model: True)
    assert batch_probing.takes_steps(tiny.model(family))


def test_a_model_that_does_something_else_with_what_it_sees_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "fits", lambda _model: True)
    model = tiny.model("llama")
    as_usual = captured.Steps._mask
    monkeypatch.setattr(captured.Steps, "_mask", lambda *args: torch.zeros_like(as_usual(*args)))
    assert not batch_probing.takes_steps(model)


@pytest.mark.parametrize("family", ["llama", "gemma2", "qwen2-sliding"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.sample(3)
def test_answers_are_the_same(family: str, temperature: float) -> None:
    prompts = ["a list of", "a list of eggs and flour and butter", "whisk the eggs", "a", "a list of"]

    def answers(*, by_steps: bool) -> list[Any]:
        encoder = PromptEncoder(tiny.tokenizer())
        made = AnswerGenerator(tiny.model(family), encoder, token_budget=64, cache_budget=4096)
        made.by_steps = by_steps
        found = made.generate(prompts, Sampling(temperature=temperature, max_new_tokens=24), seeds=range(len(prompts)))
        again = made.generate(prompts[:2], Sampling(temperature=temperature, max_new_tokens=40), seeds=range(2))
        return [*found, *again]

    assert answers(by_steps=True) == answers(by_steps=False)


def test_buffers_hold_what_a_batch_needs_and_are_used_again() -> None:
    model = tiny.model("llama")
    own = Steps(model)
    layers = [(torch.randn(3, 2, 5, 4), torch.randn(3, 2, 5, 4))]
    seen = torch.ones(3, 5, dtype=torch.long)
    own.begin(layers, seen, torch.tensor([0, 0, 1, 2, 2]), room=10)
    line: Any = own._cache.layers[0]
    kept = line._buffers[0]
    assert kept.shape == (8, 2, 32, 4)
    assert torch.equal(kept[:5, :, 1:6], layers[0][0][[0, 0, 1, 2, 2]])
    assert not kept[:, :, 6:].any()
    own.begin(layers, seen, torch.tensor([2]), room=26)
    assert own._lines == 1
    assert line._buffers[0] is kept
    own.begin(layers, seen, torch.tensor([2]), room=900)
    assert own._cache.layers[0]._buffers[0].shape == (1, 2, 1024, 4)  # type: ignore[union-attr]
    own.release()
    assert not own._cache.layers


@pytest.mark.parametrize("family", ["llama", "qwen2-sliding"])
def test_buffers_hold_no_more_than_a_batch_may(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that may take more, since it is alone, is written with padding: its buffers would take a second time as
    much. Short ones have columns that they do not need."""
    prompts = ["a list of " + "eggs " * n for n in (100, 40, 9, 6, 3, 1, 0)]
    held, as_usual = [], Steps.begin

    def begin(self: Steps, *args: Any) -> None:
        as_usual(self, *args)
        held.append(self._size[0] * self._size[1])

    monkeypatch.setattr(Steps, "begin", begin)

    def answers(*, by_steps: bool) -> list[Any]:
        model = tiny.model(family, max_position_embeddings=1024)
        made = AnswerGenerator(model, PromptEncoder(tiny.tokenizer()), token_budget=64, cache_budget=600)
        made.by_steps = by_steps
        return made.generate(prompts, Sampling(max_new_tokens=24))

    found = answers(by_steps=True)
    assert held
    assert max(held) <= 600
    assert found == answers(by_steps=False)


def test_a_card_that_is_full_is_no_error_of_what_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "fits", lambda _model: True)

    def full(self: Steps, *args: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(Steps, "begin", full)
    assert not batch_probing.takes_steps(tiny.model("llama"))


def test_lines_move_when_half_of_them_are_idle() -> None:
    own = Steps(tiny.model("llama"))
    states = torch.arange(8.0)[:, None, None, None].expand(8, 2, 3, 4).clone()
    own.begin([(states, states)], torch.ones(8, 3, dtype=torch.long), torch.arange(8), room=4)
    own.keep(torch.tensor([1, 3, 4, 6, 7]))
    assert own._lines == 8
    assert own._slots.tolist() == [1, 3, 4, 6, 7]
    own.keep(torch.tensor([0, 2, 4]))
    assert own._lines == 4
    buffer = own._cache.layers[0]._buffers[0]  # type: ignore[union-attr]
    assert buffer[own._slots, 0, 1, 0].tolist() == [1, 4, 7]
