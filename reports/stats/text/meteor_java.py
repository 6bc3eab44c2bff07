"""METEOR 1.5 (Denkowski and Lavie 2014), the program that pycocoevalcap brings, where it and Java are installed.

The program aligns the words, by synonyms and a table of paraphrases of its own. What it counts of a pair is summed, and
the score of a sum is computed here, so that a corpus, a resample and one pair are scored by one formula.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from reports.stats.pairs import FloatArray
from reports.stats.text.meteor import DataMissing
from reports.stats.text.pairs import Pair
from reports.stats.text.tokens import penn

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75  # of English, tuned to rankings of translations
WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])  # words, stems, synonyms, paraphrases
# Tokens of candidate and reference, function words of both; of each of four stages the matched content words of both
# and matched function words of both; chunks, matched words of both.
N_COUNTS = 23
NO_JAVA = "METEOR 1.5 needs Java and the package pycocoevalcap"
_SECONDS = 600
# The program needs half a minute to read its tables: what it counted is kept for the next report of the same texts.
_KEPT = 100_000
_known: dict[Pair, FloatArray] = {}


def counts(block: Sequence[Pair]) -> FloatArray:
    """What METEOR 1.5 counts in each pair; of several references that with the best score. Shape (n_pairs, 23).

    Raises:
        DataMissing: there is no Java, or no program.
    """
    unknown = [pair for pair in block if pair not in _known]
    if len(_known) + len(unknown) > _KEPT:
        _known.clear()
        unknown = list(block)
    if unknown:
        _known.update(zip(unknown, _counted(unknown), strict=True))
    return np.array([_known[pair] for pair in block]).reshape(-1, N_COUNTS)


def _counted(block: Sequence[Pair]) -> FloatArray:
    lines = [
        " ||| ".join(["SCORE", *(_line(text) for text in pair.references), _line(pair.candidate)]) for pair in block
    ]
    command = [_java(), "-Xmx2G", "-jar", program().name, "-", "-", "-stdio", "-l", "en", "-norm"]
    done = subprocess.run(  # noqa: S603 the program is an installed package's, the texts go in as lines
        command, cwd=program().parent, input="\n".join(lines) + "\n", capture_output=True, text=True, encoding="utf-8",
        timeout=_SECONDS, check=False,
    )  # fmt: skip
    found = [line.split() for line in done.stdout.splitlines()]
    if len(found) != len(block) or any(len(line) != N_COUNTS for line in found):
        raise DataMissing(NO_JAVA)
    return without_whole(np.array(found, dtype=np.float64))


def without_whole(counted: FloatArray) -> FloatArray:
    """`counts`, shape (n_pairs, 23), in which a pair whose words are all matched in one piece has no chunk, as the
    program sums it."""
    whole = (counted[:, 21] == counted[:, 0]) & (counted[:, 22] == counted[:, 1]) & (counted[:, 20] == 1)
    return np.where(whole[:, np.newaxis] & (np.arange(N_COUNTS) == 20), 0.0, counted)


def score(sums: FloatArray) -> FloatArray:
    """The score of summed `counts`, shape (…, 23)."""
    sums = np.asarray(sums, dtype=np.float64)
    stages = sums[..., 4:20].reshape(*sums.shape[:-1], 4, 4)
    sides = []
    for side in (0, 1):
        matched = (WEIGHTS * (DELTA * stages[..., side] + (1 - DELTA) * stages[..., 2 + side])).sum(axis=-1)
        length, function = sums[..., side], sums[..., 2 + side]
        weight = DELTA * (length - function) + (1 - DELTA) * function
        sides.append(np.divide(matched, weight, out=np.zeros(weight.shape), where=weight > 0))
    precision, recall = sides
    below = ALPHA * precision + (1 - ALPHA) * recall
    mean = np.divide(precision * recall, below, out=np.zeros(below.shape), where=below > 0)
    chunks, ours, theirs = sums[..., 20], sums[..., 21], sums[..., 22]
    words = (ours + theirs) / 2
    fragments = np.divide(chunks, words, out=np.zeros(words.shape), where=words > 0)
    found: FloatArray = mean * (1 - GAMMA * fragments**BETA)
    return found


def program() -> Path:
    spec = find_spec("pycocoevalcap")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    jars = [jar for place in places if (jar := Path(place, "meteor", "meteor-1.5.jar")).is_file()]
    if not jars:
        raise DataMissing(NO_JAVA)
    return jars[0]


def _java() -> str:
    java = shutil.which("java")
    if java is None:
        raise DataMissing(NO_JAVA)
    return java


def _line(text: str) -> str:
    return " ".join(penn(text)).replace("|||", "")
