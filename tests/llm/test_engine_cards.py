"""Models over several cards. The cards are pretended (`pretended_cards`), in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from llm.engine import cards
from llm.engine.attention import cut, mask_of
from tests.llm import tiny
from tests.llm.test_engine_kernel import tree_of_many_branches


def over_cards(family: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.llm.pretended_cards", family, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_model_over_two_cards_scores_as_on_the_cpu() -> None:
    told = over_cards("gemma2")  # windows, a softcap, and a head that is its embedding
    assert told["cards"]["devices"] == ["card:0", "card:1"]
    assert (told["cards"]["mode"], told["cards"]["attention"]) == ("tree", "blocks")
    assert told["cards"]["scores"] == pytest.approx(told["cpu"]["scores"], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["llama", "gemma3", "qwen3", "mixtral", "bloom", "lfm2", "mamba", "gpt2"])
def test_it_writes_as_on_the_cpu_too(family: str) -> None:
    told = over_cards(family, "--writes")
    assert len(told["cards"]["devices"]) > 1
    assert told["cards"]["mode"] == told["cpu"]["mode"]
    assert told["cards"]["scores"] == pytest.approx(told["cpu"]["scores"], abs=1e-3)
    assert (told["cards"]["alone"], told["cards"]["answers"]) == (told["cpu"]["alone"], told["cpu"]["answers"])


class TestPlaced:
    """`placed` on a machine with two cards."""

    @pytest.fixture
    def seen(self, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
        seen = SimpleNamespace(free={0: 0, 1: 0}, spread=None)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(seen.free))
        monkeypatch.setattr(cards, "free_bytes", lambda device: seen.free[device.index])
        monkeypatch.setattr(cards, "spread", lambda model, room: setattr(seen, "spread", room) or model)
        monkeypatch.setattr(torch.nn.Module, "to", lambda model, device: f"on {device}")
        return seen

    def test_what_the_first_card_holds_is_there(self, seen: SimpleNamespace) -> None:
        model = tiny.model("llama")
        seen.free = {0: 2 * cards.bytes_of(model), 1: 0}
        assert cards.placed(model, "cuda") == "on cuda:0"
        assert seen.spread is None

    def test_what_it_does_not_hold_is_spread(self, seen: SimpleNamespace) -> None:
        model = tiny.model("llama")
        seen.free = {0: cards.bytes_of(model), 1: 10**9}  # nothing would be left for what layers compute
        assert cards.placed(model, "cuda") is model
        assert seen.spread == {"cuda:0": cards.bytes_of(model), "cuda:1": 10**9}

    @pytest.mark.parametrize("device", ["cuda:1", "cpu"])
    def test_a_card_that_is_named_is_taken(self, device: str, seen: SimpleNamespace) -> None:
        assert cards.placed(tiny.model("llama"), device) == f"on {device}"
        assert seen.spread is None


def test_cards_that_do_not_hold_it_together_are_out_of_memory() -> None:
    model = tiny.model("llama")
    with pytest.raises(torch.OutOfMemoryError, match="do not fit 2 cards"):
        cards.spread(model, dict.fromkeys(["card:0", "card:1"], cards.bytes_of(model) // 2))


def test_a_mask_that_is_sent_on_holds_the_same_there() -> None:
    tree = tree_of_many_branches()
    nodes = torch.arange(len(tree.tokens))
    mask = mask_of(cut(tree, nodes, nodes, None, groups=2), len(nodes), len(nodes), torch.float32)
    there: Any = mask.to("meta", non_blocking=True)
    assert (there.shape, there.device.type) == (mask.shape, "meta")
    assert [block.rows for block in there.seen] == [block.rows for block in mask.seen]  # type: ignore[attr-defined]
    assert {block.mask.device.type for block in there.seen if block.mask is not None} == {"meta"}
    assert mask.to("meta").seen is there.seen  # type: ignore[attr-defined]
    assert there.to("cpu").seen is mask.seen  # type: ignore[attr-defined]
