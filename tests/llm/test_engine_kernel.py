"""The kernel that attends on a GPU, interpreted by Triton on the CPU, and compiled for the cards of some years.

Interpreted it has no bfloat16, whose products Triton makes of the bits there; `kernel.why_not` tries that on a card.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from llm.engine import attention, probing
from llm.engine.attention import Way
from llm.engine.cloze import ClozeScorer
from llm.engine.tree import visible
from tests.llm import tiny
from tests.llm.test_engine_attention import HEADS, SHARING, ancestors, tree_of_many_branches
from tests.llm.test_engine_cloze import ROWS, assert_same

if os.environ["TRITON_INTERPRET"] != "1":
    pytest.skip("it is tried on the card itself, by test_engine_gpu", allow_module_level=True)
pytest.importorskip("triton", reason="Triton is not installed: `make triton`")

from llm.engine import kernel

# What a program may hold in a card's fast memory: of an A100, RTX 3090 and 4090, H100, B200 and RTX 5090.
SHARED_BYTES = {80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 90: 227 << 10, 100: 227 << 10, 120: 99 << 10}


def slowly(value: object) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


def on_a_gpu(dtype: torch.dtype) -> Any:
    device = torch.device("cuda")
    return SimpleNamespace(device=device, dtype=dtype, parameters=lambda: [SimpleNamespace(device=device)])


@pytest.mark.parametrize(("softcap", "window"), [(None, None), (2.0, None), (None, 25)])
@pytest.mark.parametrize(
    ("size", "value_size", "dtype"),
    [(8, 8, torch.float32), (16, 24, torch.float32), (80, 80, torch.float16)],
    ids=["of 8", "of 16 and 24", "of 80, in half precision"],
)
@pytest.mark.sample(3)
def test_it_attends_as_one_mask_of_all_does(
    softcap: float | None, window: int | None, size: int, value_size: int, dtype: torch.dtype
) -> None:
    tree = tree_of_many_branches()
    torch.manual_seed(0)
    for begin in (37, 290):  # within the trunk, and where branches part, the end of a block in them
        nodes = torch.arange(begin, begin + 100)
        keys = torch.cat([ancestors(tree, begin), nodes])
        # As layers hand them on: heads behind tokens.
        query = torch.randn(1, len(nodes), HEADS * SHARING, size).to(dtype).transpose(1, 2)
        key, value = (torch.randn(1, HEADS, len(keys), each).to(dtype) for each in (size, value_size))
        seen = attention.seen_by(Way.KERNEL, tree, nodes, keys, window, groups=SHARING)
        mask = attention.mask_of(seen, len(nodes), len(keys), dtype)
        made, _weights = attention.tree_attention(None, query, key, value, mask, scaling=0.4, softcap=softcap)

        scores = 0.4 * query.double() @ key.double().repeat_interleave(SHARING, 1).transpose(2, 3)
        scores = scores if softcap is None else softcap * (scores / softcap).tanh()
        scores = scores.masked_fill(~visible(tree, nodes, keys, window), float("-inf"))
        expected = (scores.softmax(-1) @ value.double().repeat_interleave(SHARING, 1)).transpose(1, 2)
        assert made.shape == expected.shape
        assert (made - expected).abs().max() < (1e-5 if dtype == torch.float32 else 4e-3)


def test_keys_of_other_documents_are_not_looked_at() -> None:
    tree = tree_of_many_branches()
    root_of_last = max(node for node in range(len(tree.tokens)) if tree.positions[node] == 0)
    nodes = torch.arange(root_of_last, len(tree.tokens))
    seen = attention.seen_by(Way.KERNEL, tree, nodes, torch.arange(len(tree.tokens)), None, groups=1)
    assert isinstance(seen, kernel.Seen)
    n_listed, listed = seen.listed(kernel.Tile(64, 32, 4, 2))
    assert n_listed.tolist() == [3]  # of its 60 tokens, which begin within a block
    assert sorted(listed[0, :3].tolist()) == [root_of_last // 32 + n for n in range(3)]
    assert listed.shape == (1, -(-len(tree.tokens) // 32))


@pytest.mark.parametrize("family", ["gemma2", *(slowly(family) for family in ("llama", "mistral", "gemma3"))])
@pytest.mark.slow
def test_scores_are_those_of_the_models_own_attention(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "ways_for", lambda model: (Way.KERNEL, Way.BLOCKS))
    monkeypatch.setattr(probing, "SEEDS", 1)
    engine = ClozeScorer(tiny.model(family), tiny.tokenizer(), token_budget=50)
    assert engine.own_attention == Way.KERNEL
    ours = engine.score(ROWS[:2])
    engine.own_attention = None
    assert_same(ours, engine.score(ROWS[:2]))


def test_where_it_does_not_compile_blocks_are_taken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_compiler(_query: Any, *_given: Any, **_named: Any) -> Any:
        raise RuntimeError("Failed to find C compiler.")

    monkeypatch.setattr(attention, "ways_for", lambda model: (Way.KERNEL, Way.BLOCKS))
    monkeypatch.setattr(kernel.Seen, "attend", no_compiler)
    with caplog.at_level("INFO", logger=probing.__name__):
        assert ClozeScorer(tiny.model("llama"), tiny.tokenizer(), token_budget=50).own_attention == Way.BLOCKS
    assert "LlamaForCausalLM does not attend by kernel: RuntimeError: Failed to find C compiler." in caplog.text


@pytest.mark.parametrize("family", ["llama", slowly("gemma2")])
@pytest.mark.slow
def test_a_card_that_computes_something_else_is_found_out(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, attend = tiny.model(family), kernel.Seen.attend
    assert kernel.why_not(model) is None

    def wrong_behind_the_first_block(self: kernel.Seen, *given: Any, **named: Any) -> torch.Tensor:
        made = attend(self, *given, **named)
        made[:, 64:80] = 0
        return made

    monkeypatch.setattr(kernel.Seen, "attend", wrong_behind_the_first_block)
    told = kernel.why_not(model)
    assert told is not None
    assert told.startswith("It came out 0.")


def test_it_is_for_half_precision_and_for_cards_that_it_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    ampere, turing = (8, 0), (7, 5)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: ampere)
    assert attention.ways_for(on_a_gpu(torch.bfloat16)) == (Way.KERNEL, Way.BLOCKS)
    assert attention.ways_for(on_a_gpu(torch.float16)) == (Way.KERNEL, Way.BLOCKS)
    assert attention.ways_for(on_a_gpu(torch.float32)) == (Way.BLOCKS,)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: turing)
    assert attention.ways_for(on_a_gpu(torch.float16)) == (Way.BLOCKS,)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: ampere)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert attention.ways_for(on_a_gpu(torch.bfloat16)) == (Way.BLOCKS,)


@pytest.mark.slow
@pytest.mark.parametrize("each", [False, True])
def test_it_compiles_for_the_cards_of_some_years_to_their_matrix_units_and_memory(each: bool) -> None:
    """Without a GPU: Triton compiles for one that is named, pointers and strides as they are when it runs. `each`:
    every shape for every card, else each shape for one card, the largest for two of those with the least memory."""
    shapes = [("bf16", 64, 0), ("bf16", 80, 0), ("fp16", 128, 0), ("bf16", 256, 1), ("bf16", 512, 0)]
    one_each = zip((80, 86, 89, 90, 100, 120), (*shapes[3:], *shapes[:3], shapes[-1]), strict=True)
    wanted = [(*shape, card) for card, shape in (product(SHARED_BYTES, shapes) if each else one_each)]
    asked = [" ".join(map(str, each)) for each in wanted]
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    told = subprocess.run(
        [sys.executable, "-c", COMPILE, *asked], env=environment, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    lines = [line.split() for line in told.stdout.splitlines()]
    assert len(lines) == len(wanted)
    for (dtype, size, _capped, card), (n_bytes, matrix_units) in zip(wanted, lines, strict=True):
        assert 0 < int(n_bytes) <= SHARED_BYTES[card], (dtype, size, card)
        assert matrix_units == "True", (dtype, size, card)


COMPILE = """
import sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from llm.engine import kernel

POINTERS = {"queries": 0, "keys": 0, "values": 0, "answers": 0, "query_nodes": "i32", "reaches": "i32",
            "key_nodes": "i32", "ends": "i32", "positions": "i32", "n_listed": "i32", "listed": "i32"}
for dtype, size, capped, card in (argument.split() for argument in sys.argv[1:]):
    size = int(size)
    tile = kernel.tile_for(size, 2)
    constants = {"SIZE": size, "VALUE_SIZE": size, "WIDTH": kernel._width(size), "VALUE_WIDTH": kernel._width(size),
                 "ROWS": tile.rows, "COLUMNS": tile.columns, "CAPPED": capped == "1"}
    names = kernel._attend.arg_names
    kinds = {
        name: f"*{POINTERS[name] or dtype}" if name in POINTERS else "constexpr" if name in constants
        else "fp32" if name in ("scaling", "softcap") else "i32"
        for name in names
    }
    by_16 = {
        (place,): [["tt.divisibility", 16]]
        for place, name in enumerate(names) if name in POINTERS or name.endswith(("_head", "_row"))
    }
    made = triton.compile(
        ASTSource(kernel._attend, kinds, constants, by_16), target=GPUTarget("cuda", int(card), 32),
        options={"num_warps": tile.warps, "num_stages": tile.stages},
    )
    units = ("mma.sync", "wgmma.mma_async", "tcgen05.mma")
    print(made.metadata.shared, any(unit in made.asm["ptx"] for unit in units))
"""
