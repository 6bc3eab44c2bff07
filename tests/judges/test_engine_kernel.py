"""The kernel that attends on a GPU, interpreted by Triton on the CPU, and compiled for the cards of some years."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from llm.engine import attention, probing
from llm.engine.attention import Way
from llm.engine.cloze import ClozeScorer
from llm.engine.tree import visible
from tests.judges import tiny
from tests.judges.test_engine_attention import HEADS, SHARING, ancestors, tree_of_many_branches
from tests.judges.test_engine_cloze import ROWS, assert_same

pytest.importorskip("triton", reason="Triton is not installed: `make triton`")

# What a program may hold in a card's fast memory, by its architecture: of a T4, an A100, an RTX 3090 and 4090, an H100.
SHARED_BYTES = {75: 64 << 10, 80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 90: 227 << 10}


def on_a_gpu(dtype: torch.dtype) -> Any:
    return SimpleNamespace(device=torch.device("cuda"), dtype=dtype)


@pytest.mark.parametrize(("softcap", "window"), [(None, None), (2.0, None), (None, 25)])
@pytest.mark.parametrize(
    ("size", "value_size", "dtype"),
    [(8, 8, torch.float32), (16, 24, torch.float32), (80, 80, torch.float16)],
    ids=["of 8", "of 16 and 24", "of 80, in half precision"],
)
def test_it_attends_as_one_mask_of_all_does(
    softcap: float | None, window: int | None, size: int, value_size: int, dtype: torch.dtype
) -> None:
    tree = tree_of_many_branches()
    torch.manual_seed(0)
    for begin in (0, 37, 290, len(tree.tokens) - 90):
        nodes = torch.arange(begin, min(begin + 150, len(tree.tokens)))
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
    from llm.engine.kernel import Seen, Tile

    tree = tree_of_many_branches()
    root_of_last = max(node for node in range(len(tree.tokens)) if tree.positions[node] == 0)
    nodes = torch.arange(root_of_last, len(tree.tokens))
    seen = attention.seen_by(Way.KERNEL, tree, nodes, torch.arange(len(tree.tokens)), None, groups=1)
    assert isinstance(seen, Seen)
    n_listed, listed = seen.listed(Tile(64, 32, 4, 2))
    assert n_listed.tolist() == [3]  # of its 60 tokens, which begin within a block
    assert sorted(listed[0, :3].tolist()) == [root_of_last // 32 + n for n in range(3)]
    assert listed.shape == (1, -(-len(tree.tokens) // 32))


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gemma3"])
def test_scores_are_those_of_the_models_own_attention(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "ways_for", lambda model: (Way.KERNEL, Way.BLOCKS))
    monkeypatch.setattr(probing, "SEEDS", 1)
    engine = ClozeScorer(tiny.model(family), tiny.tokenizer(), token_budget=50)
    assert engine.own_attention == Way.KERNEL
    ours = engine.score(ROWS[:2])
    engine.own_attention = None
    assert_same(ours, engine.score(ROWS[:2]))


def test_where_it_does_not_compile_blocks_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from llm.engine import kernel

    def no_compiler(_query: Any, *_given: Any, **_named: Any) -> Any:
        raise RuntimeError("Failed to find C compiler.")

    monkeypatch.setattr(attention, "ways_for", lambda model: (Way.KERNEL, Way.BLOCKS))
    monkeypatch.setattr(kernel.Seen, "attend", no_compiler)
    assert ClozeScorer(tiny.model("llama"), tiny.tokenizer(), token_budget=50).own_attention == Way.BLOCKS


def test_it_is_for_half_precision_and_for_where_triton_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attention.ways_for(on_a_gpu(torch.bfloat16)) == (Way.KERNEL, Way.BLOCKS)
    assert attention.ways_for(on_a_gpu(torch.float16)) == (Way.KERNEL, Way.BLOCKS)
    assert attention.ways_for(on_a_gpu(torch.float32)) == (Way.BLOCKS,)
    monkeypatch.setattr(attention, "_has_triton", lambda: False)
    assert attention.ways_for(on_a_gpu(torch.bfloat16)) == (Way.BLOCKS,)


def test_it_compiles_for_cards_of_some_years_and_fits_their_memory() -> None:
    """Without a GPU: Triton compiles for one that is named."""
    shapes = [(64, "bf16", 0), (80, "bf16", 0), (128, "bf16", 0), (256, "bf16", 1), (512, "bf16", 0)]
    wanted = [("fp16", 96, 0, 75), *((dtype, size, cap, arch) for arch in (80, 86, 90) for size, dtype, cap in shapes)]
    asked = [f"{dtype} {size} {cap} {arch}" for dtype, size, cap, arch in wanted]
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    told = subprocess.run(
        [sys.executable, "-c", COMPILE, *asked], env=environment, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    held = [int(line) for line in told.stdout.split()]
    assert len(held) == len(wanted)
    for (dtype, size, _cap, arch), n_bytes in zip(wanted, held, strict=True):
        assert 0 < n_bytes <= SHARED_BYTES[arch], (dtype, size, arch)


COMPILE = """
import sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from llm.engine import kernel

POINTERS = {"queries": 0, "keys": 0, "values": 0, "answers": 0, "query_nodes": "i32", "reaches": "i32",
            "key_nodes": "i32", "ends": "i32", "positions": "i32", "n_listed": "i32", "listed": "i32"}
for dtype, size, cap, arch in (argument.split() for argument in sys.argv[1:]):
    size = int(size)
    tile = kernel.tile_for(size, 2)
    constants = {"SIZE": size, "VALUE_SIZE": size, "WIDTH": kernel._width(size), "VALUE_WIDTH": kernel._width(size),
                 "ROWS": tile.rows, "COLUMNS": tile.columns, "CAPPED": cap == "1"}
    kinds = {
        name: f"*{POINTERS[name] or dtype}" if name in POINTERS else "constexpr" if name in constants
        else "fp32" if name in ("scaling", "softcap") else "i32"
        for name in kernel._attend.arg_names
    }
    made = triton.compile(ASTSource(kernel._attend, kinds, constants), target=GPUTarget("cuda", int(arch), 32),
                          options={"num_warps": tile.warps, "num_stages": tile.stages})
    print(made.metadata.shared)
"""
