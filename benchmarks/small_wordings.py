"""Whether SmolLM2-135M tells what is there from what is not on the demo's pages: short wordings, the nearest lines.

    python -m benchmarks.small_wordings

Thresholds are fitted to the pancakes and tried on the two other dishes. `centred`: the threshold is the mean
log-odds of the dishes tried on.
"""

from __future__ import annotations

import time
from typing import Any

# isort: off
from benchmarks.judge_embedding import Cell, of_demo  # sets Django up
# isort: on

import numpy as np
from sklearn.metrics import roc_auc_score

from llm import encoders
from llm.backends.transformers import SMALLEST, TransformersBackend
from llm.engine.prompt import CellPrompt, PromptTooLong, RowPrompt

EXAMPLES = """\
- 3 leeks, sliced
- 2 tbsp red wine vinegar
- 200 g brown rice
Is "saffron" in the list? No
Is "leeks" in the list? Yes
Is "beer" in the list? No
Is "brown rice" in the list? Yes

"""
PAIRS = """\
leeks: 3 leeks, sliced. Same
saffron: 200 g brown rice. Different
vinegar: 2 tbsp vinegar. Same
beer: 1 onion, chopped. Different
butter: 50 g butter, melted. Same
cashews: salt and pepper. Different
"""
# Name -> lines, text of a cell, its two options.
WORDINGS = {
    "short question, 4 lines": (
        4,
        'Ingredients:\n{lines}\n\nQuestion: Is "{item}" in this list of ingredients?\nAnswer:',
        ("Yes", "No"),
    ),
    "examples, 4 lines": (4, EXAMPLES + '{lines}\nIs "{item}" in the list?', ("Yes", "No")),
    "pairs, the nearest line": (1, PAIRS + "{item}: {line}.", ("Same", "Different")),
}


def nearest(cells: list[Cell], k: int) -> list[list[str]]:
    """Of the cells of one page, their nearest lines in the page's order."""
    lines = list(cells[0].lines)
    vectors: Any = encoders.encoder("characters").encode([*(cell.item for cell in cells), *lines])
    vectors = vectors.toarray()
    cosines = vectors[: len(cells)] @ vectors[len(cells) :].T
    return [[lines[at] for at in np.sort(np.argsort(-row, kind="stable")[:k])] for row in cosines]


def main() -> None:
    cells = list(of_demo())
    pages = [[cell for cell in cells if cell.document == n] for n in sorted({cell.document for cell in cells})]
    backend = TransformersBackend(SMALLEST, dtype="float32", threads=1)
    backend.identity()
    there = np.array([cell.truth != "not-found" for cell in cells])
    fits = np.array([cell.fits for cell in cells])
    always = max(there[~fits].mean(), 1 - there[~fits].mean())
    print(f"{len(cells)} cells; always the same answer: {always:.3f}")
    print(f"{'wording':28}{'AUC':>7}{'as it is':>10}{'threshold':>10}{'centred':>10}{'seconds':>9}")
    for name, (k, text, options) in WORDINGS.items():
        rows = []
        for page in pages:
            asked = [
                text.format(item=cell.item, lines="\n".join(f"- {line}" for line in near), line=near[0] if near else "")
                for cell, near in zip(page, nearest(page, k), strict=True)
            ]
            rows.append(RowPrompt("Recipe\n\n", tuple(CellPrompt(one, options) for one in asked)))
        begin = time.perf_counter()
        odds = []
        for scores in backend.score(rows):
            assert not isinstance(scores, PromptTooLong)
            odds += [yes.logprob - no.logprob for yes, no in scores]
        seconds, of = time.perf_counter() - begin, np.array(odds)
        least = max(of.tolist(), key=lambda at: ((of[fits] >= at) == there[fits]).mean())
        tried = [((of > at) == there)[~fits].mean() for at in (0, least, of[~fits].mean())]
        auc = roc_auc_score(there[~fits], of[~fits])
        print(f"{name:28}{auc:7.3f}{tried[0]:10.3f}{tried[1]:10.3f}{tried[2]:10.3f}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    main()
