from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from benchmarks import model_families
from llm.engine import attention, forwards, probing
from llm.engine.cloze import ClozeScorer
from llm.engine.tree import TokenSequence, build, visible
from tests.llm import tiny
from tests.llm.test_engine_cloze import ROWS, assert_same

TRUNK, HEADS, SHARING, SIZE = 300, 3, 2, 8


def tree_of_many_branches() -> Any:
    """A long trunk, branches that part early, and another document."""
    draw = random.Random(1)
    tokens = [draw.randrange(9) for _ in range(TRUNK)]
    sequences = [
        TokenSequence((*tokens[:at], *(draw.randrange(9) for _ in range(12))), start=at) for at in [40, *[TRUNK] * 15]
    ]
    sequences.append(TokenSequence(tuple(draw.randrange(9) for _ in range(60)), start=50))
    return build(sequences)


def ancestors(tree: Any, node: int) -> torch.Tensor:
    nodes = torch.arange(node)
    return nodes[tree.ends[:node] > node]


@pytest.fixture(params=["a CPU", "a GPU"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is computed on a GPU, computed here."""
    monkeypatch.setattr(attention, "_on_a_gpu", lambda tensor: request.param == "a GPU")
    monkeypatch.setattr(attention, "_ROWS_OF_A_GPU", 64)
    return str(request.param)


@pytest.mark.parametrize("value_size", [SIZE, SIZE + 1])
@pytest.mark.parametrize(("softcap", "window"), [(None, None), (2.0, None), (None, 25)])
@pytest.mark.parametrize("rows", [16, 128])
def test_blocks_attend_as_one_mask_of_all_does(
    monkeypatch: pytest.MonkeyPatch,
    softcap: float | None,
    window: int | None,
    rows: int,
    value_size: int,
    device: str,
) -> None:
    monkeypatch.setattr(attention, "_ROWS", rows)
    tree = tree_of_many_branches()
    torch.manual_seed(0)
    for begin in (0, 37, 290, len(tree.tokens) - 90):
        nodes = torch.arange(begin, min(begin + 150, len(tree.tokens)))
        keys = torch.cat([ancestors(tree, begin), nodes])
        query = torch.randn(1, HEADS * SHARING, len(nodes), SIZE)
        key, value = torch.randn(1, HEADS, len(keys), SIZE), torch.randn(1, HEADS, len(keys), value_size)
        blocks = attention.cut(tree, nodes, keys, window, groups=SHARING)
        mask = attention.mask_of(blocks, len(nodes), len(keys), torch.float32)
        made, _weights = attention.tree_attention(None, query, key, value, mask, scaling=0.4, softcap=softcap)

        scores = 0.4 * query @ key.repeat_interleave(SHARING, 1).transpose(2, 3)
        scores = scores if softcap is None else softcap * (scores / softcap).tanh()
        scores = scores.masked_fill(~visible(tree, nodes, keys, window), float("-inf"))
        expected = (scores.softmax(-1) @ value.repeat_interleave(SHARING, 1)).transpose(1, 2)
        assert made.shape == expected.shape
        assert (made - expected).abs().max() < 1e-5


@pytest.mark.parametrize("window", [None, 25])
def test_blocks_by_tiles_attend_as_those_in_float32_do(monkeypatch: pytest.MonkeyPatch, window: int | None) -> None:
    tree = tree_of_many_branches()
    torch.manual_seed(0)
    for begin in (0, 37, 290, len(tree.tokens) - 90):
        nodes = torch.arange(begin, min(begin + 150, len(tree.tokens)))
        keys = torch.cat([ancestors(tree, begin), nodes])
        query = torch.randn(1, HEADS * SHARING, len(nodes), SIZE).to(torch.bfloat16)
        key, value = (torch.randn(1, HEADS, len(keys), SIZE).to(torch.bfloat16) for _ in range(2))
        made = []
        for tiled in (False, True):
            monkeypatch.setattr(attention, "_has_tiles", lambda tiled=tiled: tiled)
            blocks = attention.cut(tree, nodes, keys, window, groups=SHARING)
            mask = attention.mask_of(blocks, len(nodes), len(keys), torch.bfloat16)
            made.append(attention.tree_attention(None, query, key, value, mask, scaling=0.4)[0].float())
        assert made[0].shape == made[1].shape
        assert (made[0] - made[1]).abs().max() < 0.03  # answers of about 1, in eight bits


def test_keys_of_other_documents_are_left_out() -> None:
    tree = tree_of_many_branches()
    root_of_last = max(node for node in range(len(tree.tokens)) if tree.positions[node] == 0)
    roots = [node for node in range(len(tree.tokens)) if tree.positions[node] == 0]
    assert len(roots) == 2
    begin = root_of_last - 10
    nodes = torch.arange(begin, len(tree.tokens))
    keys = torch.cat([ancestors(tree, begin), nodes])
    needed = [len(keys[block.keys]) for block in attention.cut(tree, nodes, keys, None, groups=10_000)]
    assert needed[-1] <= 60 + 16 < len(keys)


def test_keys_that_all_queries_see_take_no_mask() -> None:
    tree = tree_of_many_branches()
    nodes = torch.arange(TRUNK, TRUNK + 20)
    [block, *_] = attention.cut(tree, nodes, torch.arange(TRUNK + 20), None, groups=1)
    assert block.masked_from >= 40
    assert block.mask is not None
    assert block.mask.shape[1] <= TRUNK + 20 - 40


def test_a_model_that_wants_more_than_a_mask_is_refused() -> None:
    states = torch.randn(1, 2, 3, 4)
    with pytest.raises(NotImplementedError):
        attention.tree_attention(None, states, states, states, torch.zeros(1, 1, 3, 3))
    mask = attention.mask_of(attention.Blocks(), 3, 3, torch.float32)
    with pytest.raises(NotImplementedError):
        attention.tree_attention(None, states, states, states, mask, s_aux=torch.zeros(2))


def test_whoever_reads_the_mask_itself_gets_no_number() -> None:
    states = torch.randn(1, 2, 3, 4)
    mask = attention.mask_of(attention.Blocks(), 3, 3, torch.float32)
    assert F.scaled_dot_product_attention(states, states, states, attn_mask=mask).isnan().all()


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2-sliding", "qwen3", "gemma2", "gemma3", "gpt2"])
def test_usual_families_take_it_and_keep_their_own_otherwise(family: str) -> None:
    model = model_families.built(family) if family == "gpt2" else tiny.model(family)
    before = model.config._attn_implementation
    assert probing.our_attention(model)
    assert model.config._attn_implementation == before
    assert {module.config._attn_implementation for module in model.modules() if hasattr(module, "config")} == {before}


def test_a_model_whose_attention_is_its_own_affair_keeps_it() -> None:
    """GPT-OSS adds a sink to its softmax."""
    model = model_families.built("gpt_oss")
    assert not probing.our_attention(model)
    assert probing.why_not_a_tree(model) is None


def test_a_window_that_is_not_heeded_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwards, "attention_windows", lambda config: {"sliding_attention": None})
    assert not probing.our_attention(tiny.model("mistral"))


def test_half_numbers_are_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "takes_kernels", lambda model: False)
    for dtype in (torch.bfloat16, torch.float16):
        assert attention.Way.BLOCKS in attention.ways_for(SimpleNamespace(device=torch.device("cuda"), dtype=dtype))
    assert attention.ways_for(SimpleNamespace(device=torch.device("cpu"), dtype=torch.bfloat16))
    assert not attention.ways_for(SimpleNamespace(device=torch.device("cpu"), dtype=torch.float16))


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gemma3"])
def test_scores_are_those_of_the_models_own_attention(family: str, device: str) -> None:
    engine = ClozeScorer(tiny.model(family), tiny.tokenizer(), token_budget=50)
    assert engine.own_attention == attention.Way.BLOCKS
    ours = engine.score(ROWS)
    engine.own_attention = None
    assert_same(ours, engine.score(ROWS))
