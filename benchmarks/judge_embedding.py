"""How right the judge by embeddings is, by encoder, beside the lexical one; fitted to one part, tried on another.

    python -m benchmarks.judge_embedding                   # the demo's pages, whose answers were set by hand
    python -m benchmarks.judge_embedding --folder FOLDER   # real pages; cells and truth as in benchmarks.judge_accuracy

On the demo's pages thresholds are fitted to the pancakes and tried on the two other dishes; on real pages to the first
eight and tried on the next twenty, the pages on which the rows of judge_accuracy were measured.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import django
import numpy as np
import yaml

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from benchmarks.accuracy_cells import ask  # noqa: E402
from benchmarks.judge_accuracy import PACK, read_pages  # noqa: E402
from judges.methods import embedding, fitting  # noqa: E402
from judges.methods.lexical import LexicalJudge  # noqa: E402
from judges.methods.prompting import load_prompt  # noqa: E402
from llm import encoders  # noqa: E402
from recipes.cooking.pages import Page, read_folder  # noqa: E402
from recipes.cooking.vocabulary import LEXICON  # noqa: E402

OPTIONS = ("found", "found-not-perfect", "not-found")
FIRST_DISH = "pancakes"


@dataclass(frozen=True)
class Cell:
    """`document`: its page's number; `fits`: whether thresholds are fitted to it."""

    item: str
    lines: Sequence[str]
    truth: str
    document: int
    fits: bool


def of_demo() -> Iterable[Cell]:
    """What the pages' author says of each ingredient; “implied” is no answer to a question about the list."""
    number = 0
    for folder in sorted((PACK / "demo" / "pages").iterdir()):
        truth = yaml.safe_load((folder / "truth.yaml").read_text("utf-8"))
        for page in read_folder(folder):
            assert isinstance(page, Page)
            number += 1
            for item, said in truth[page.source.removesuffix(".html")]["ingredients"].items():
                counted = said if said in OPTIONS else "not-found"
                yield Cell(item, page.ingredients, counted, number, folder.name == FIRST_DISH)


def of_folder(folder: Path) -> Iterable[Cell]:
    for number, asked in enumerate(ask(read_pages(folder), each=3, seed=0)[:28]):
        for cell in asked.cells:
            yield Cell(cell.ingredient, asked.page.ingredients, cell.truth, number, number < 8)


def cosines(name: str, cells: Sequence[Cell], forms: Callable[[str], list[str]]) -> np.ndarray:
    """The highest of each cell, page by page as a run asks."""
    found = np.zeros(len(cells))
    for document in {cell.document for cell in cells}:
        mine = [n for n, cell in enumerate(cells) if cell.document == document]
        lines = [form for line in cells[mine[0]].lines for form in forms(line)]
        texts = list(dict.fromkeys([*(cells[n].item for n in mine), *lines]))
        place = {text: at for at, text in enumerate(texts)}
        vectors = encoders.encoder(name).encode(texts)
        for n in mine:
            product = vectors[[place[line] for line in lines]] @ vectors[[place[cells[n].item]]].T
            found[n] = (product.toarray() if hasattr(product, "toarray") else product).max() if lines else 0.0
    return found


def people(cells: Sequence[Cell]) -> np.ndarray:
    return np.array([[cell.truth == option for option in OPTIONS] for cell in cells], dtype=np.int64)


def line(name: str, chosen: np.ndarray, cells: Sequence[Cell], seconds: float, said: str = "") -> None:
    of = np.array([not cell.fits for cell in cells])
    truth = people(cells)[of]
    accuracy, f1 = fitting.scored_by(chosen[of], truth)
    two = float(((chosen[of] == 2) == (truth[:, 2] > 0)).mean())
    print(f"{name:46}{accuracy:9.3f}{f1:9.3f}{two:9.3f}{seconds:8.1f} s  {said}", flush=True)


WAYS: dict[str, Callable[[LexicalJudge, str], list[str]]] = {
    "whole lines": lambda words, text: [text],
    "and phrases": lambda words, text: embedding.forms_of(text, words),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="saved recipe pages, a sub-folder a dish")
    parser.add_argument("--encoders", default="characters,all-minilm-l6-v2")
    options = parser.parse_args()
    cells = list(of_folder(options.folder) if options.folder else of_demo())
    fits = np.array([cell.fits for cell in cells])
    print(f"{fits.sum()} cells to fit to, {(~fits).sum()} to try on")
    print(f"{'judge':46}{'accuracy':>9}{'macro-F1':>9}{'2 class':>9}{'time':>8}")
    words = LexicalJudge(lexicon=LEXICON)
    begin = time.perf_counter()
    number = {"same": 0, "part": 1, "none": 2}
    chosen = np.array([number[words.judge(cell.item, cell.lines).match] for cell in cells])
    line("lexical", chosen, cells, time.perf_counter() - begin)
    lexical = chosen
    shipped = load_prompt((PACK / "prompts" / "memorization-embedding.yaml").read_text("utf-8"))
    rule = shipped.questions["ingredients.presence"].embedding
    assert rule is not None
    for name in options.encoders.split(","):
        for how, forms in WAYS.items():
            begin = time.perf_counter()
            found = cosines(name, cells, partial(forms, words))
            seconds = time.perf_counter() - begin
            of_options = [embedding.option_scores(cosine, rule) for cosine in found.tolist()]
            scores = np.array([[of[key].logprob for key in OPTIONS] for of in of_options])
            bias = fitting.most_right(scores[fits], people([cell for cell in cells if cell.fits]))
            least = [rule.thresholds[b] - (bias[n] - bias[n + 1]) * rule.scale for n, b in enumerate(OPTIONS[:2])]
            thresholds = f"thresholds {least[0]:.2f}, {least[1]:.2f}"
            chosen = (scores + bias).argmax(axis=1)
            line(f"{name}, {how}, fitted", chosen, cells, seconds, thresholds)
        if name == shipped.encoder:
            line(f"{name}, as shipped", scores.argmax(axis=1), cells, seconds)
            chosen = scores.argmax(axis=1)
        same = (chosen == lexical) & ~fits
        truth = people(cells)
        right = truth[np.arange(len(cells)), chosen][same].mean()
        print(f"    agrees with the lexical judge in {same.sum() / (~fits).sum():.1%}, right there in {right:.1%}")


if __name__ == "__main__":
    main()
