"""Text metrics against their reference implementations: 10,000 pairs, one run, and memory at ten times as many.

    python -m benchmarks.text_metrics [--pairs 10000]

Pairs are of sentences made of words of kitchens, no two alike, with one to three references. Both sides begin with
nothing kept from before (tokens, stems). pycocoevalcap, where it is installed, and NLTK get tokens that are made here,
within their time; pycocoevalcap's own come from a Java program. Exits with 1 where a figure differs by more than
1e-6, a metric is slower than its reference, or the metrics of ten times the pairs take more memory than a fixed amount.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from reports.stats.text import meteor, tokens
from reports.stats.text.metrics import metric_of
from reports.stats.text.pairs import Pairs

WORDS = [
    "dough",
    "kneaded",
    "warm",
    "water",
    "flour",
    "salt",
    "olive",
    "oil",
    "mozzarella",
    "grated",
    "cheese",
    "sauce",
    "tomatoes",
    "baked",
    "baking",
    "pizza",
    "crust",
    "rolled",
    "mixed",
    "toppings",
    "onions",
    "sliced",
    "yeast",
    "mixture",
    "half",
    "the",
    "of",
    "with",
    "and",
    "into",
    "on",
    "a",
    "until",
    "golden",
]
TOLERANCE = 1e-6
MIB_A_TENFOLD = 400  # texts, pairs and sums of 100,000 pairs; what is worked on at a time must not grow

Texts = tuple[list[str], list[list[str]]]


def made(n: int, seed: int = 1) -> Texts:
    rng = random.Random(seed)

    def sentence(number: int) -> str:
        return " ".join([*(rng.choice(WORDS) for _ in range(rng.randint(2, 14))), f"step{number}"])

    candidates, references = [], []
    for number in range(n):
        text = sentence(number)
        words = text.split()
        words.pop(rng.randrange(len(words)))
        candidates.append(text)
        references.append([" ".join(words), *(sentence(number) for _ in range(rng.randint(0, 2)))])
    return candidates, references


def forget() -> None:
    tokens._penn.cache_clear()
    meteor._stem.cache_clear()


def ours(key: str, texts: Texts) -> np.ndarray[Any, Any]:
    forget()
    metric = metric_of(key, separator=";")
    return metric.each(metric.of(Pairs.of(*texts)))


def rouge_score(texts: Texts) -> list[float]:
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(["rougeL"])
    return [scorer.score_multi(of, text)["rougeL"].fmeasure for text, of in zip(*texts, strict=True)]


def sacre(texts: Texts) -> list[float]:
    import sacrebleu

    return [sacrebleu.sentence_bleu(text, of).score / 100 for text, of in zip(*texts, strict=True)]


class NoSynonyms:
    def synsets(self, word: str) -> list[str]:
        return []


def nltk_meteor(texts: Texts) -> list[float]:
    from nltk.translate.meteor_score import meteor_score

    return [
        meteor_score([tokens.penn(one) for one in of], tokens.penn(text), wordnet=NoSynonyms())
        for text, of in zip(*texts, strict=True)
    ]


def coco(texts: Texts) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """As pycocoevalcap takes them: tokens between blanks."""
    said = {n: [" ".join(tokens.penn(text))] for n, text in enumerate(texts[0])}
    return {n: [" ".join(tokens.penn(one)) for one in of] for n, of in enumerate(texts[1])}, said


def coco_rouge(texts: Texts) -> list[float]:
    from pycocoevalcap.rouge.rouge import Rouge

    return [float(score) for score in Rouge().compute_score(*coco(texts))[1]]


def coco_bleu(texts: Texts) -> list[float]:
    from pycocoevalcap.bleu.bleu import Bleu

    with contextlib.redirect_stdout(io.StringIO()):
        return [float(score) for score in Bleu(4).compute_score(*coco(texts))[1][3]]


def plain_exact(texts: Texts) -> list[float]:
    return [float(any(text == one for one in of)) for text, of in zip(*texts, strict=True)]


REFERENCES: tuple[tuple[str, str, str, Callable[[Texts], Sequence[float]]], ...] = (
    ("exact", "a loop", "", plain_exact),
    ("rouge-l", "pycocoevalcap", "pycocoevalcap", coco_rouge),
    ("rouge-l-f1", "rouge-score", "rouge_score", rouge_score),
    ("bleu-4", "pycocoevalcap", "pycocoevalcap", coco_bleu),
    ("bleu-sacre", "sacrebleu, by sentence", "sacrebleu", sacre),
    ("meteor-stems", "NLTK", "nltk", nltk_meteor),
)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def peak() -> int:
    """MiB that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=10_000)
    n = parser.parse_args().pairs
    failed = []
    few = made(50, seed=2)
    texts = made(n)
    print(f"{n:,} pairs, {sum(map(len, texts[1])):,} references; seconds of CPU, nothing kept from before")
    print(f"{'metric':<14} {'here':>7} {'reference':>10} {'times':>7}  largest difference")
    for key, name, package, reference in REFERENCES:
        if package and find_spec(package) is None:
            print(f"{key:<14} {name} is not installed")
            continue
        ours(key, few), reference(few)  # what is loaded with the first pair is not counted
        mine, found = timed(partial(ours, key, texts))
        forget()
        theirs, expected = timed(partial(reference, texts))
        apart = float(np.abs(np.asarray(found) - np.asarray(expected)).max())
        slow = mine > theirs and key != "exact"  # which takes milliseconds in any way
        failed += [key] * (slow or apart > TOLERANCE)
        print(
            f"{key:<14} {mine:>7.2f} {theirs:>10.2f} {theirs / max(mine, 1e-9):>7.1f}  {apart:.1e}  {name}"
            f"{'  FAILED' if key in failed else ''}"
        )
    before = peak()
    many = made(10 * n, seed=3)
    of_texts = peak()
    for key, *_rest in REFERENCES:
        ours(key, many)
    grown = peak() - of_texts
    print(f"Peak {before} MiB; the texts of {10 * n:,} pairs make it {of_texts}, their metrics {peak()} (+{grown})")
    if grown > MIB_A_TENFOLD:
        failed.append("memory")
    print(f"Failed: {', '.join(failed)}" if failed else "As fast and the same, and memory does not follow the pairs")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
