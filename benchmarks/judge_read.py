"""Judges on cells whose truth two readings of real pages made: each alone, calibrated, and stacked.

    python -m benchmarks.judge_read FOLDER [--unseen] [--model qwen-1.5b] [--model-folder MODELS] [--designs A;B]

FOLDER holds saved recipe pages, a sub-folder a dish; `benchmarks/read_cells.yaml` has 300 cells of 25 of them. Whatever
is fitted or chosen (a calibration, the weights of a stacker) is fitted and chosen on its development pages; the figures
are those of the other pages. With `--unseen` all of these 300 are for fitting, and the figures are of the 648 cells of
54 further pages in `benchmarks/unseen_cells.yaml`. A design is a way to put the evidence
(`benchmarks.judge_defences`), or the prompt that reads the whole page.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from annotation.evidence.blocks import Block
from benchmarks.judge_accuracy import PACK, QUESTION, interval, location, presence_question
from benchmarks.judge_defences import DESIGNS, prompt_of
from benchmarks.read_cells import FILE, UNSEEN, ReadPage, content, differing, read_pages
from judges.methods import embedding, fitting, nearest, prompting
from judges.methods.fitting import Cells, FloatArray, IntArray
from judges.methods.lexical import LexicalJudge
from judges.methods.prompting import PromptSpec, load_prompt
from llm import encoders
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import CellPrompt, OptionScore, PromptTooLong, RowPrompt
from recipes.cooking.vocabulary import INGREDIENT, LEXICON, STEP

OPTIONS = ("found", "found-not-perfect", "not-found")
WHOLE_PAGE = "the whole page"  # by memorization-cloze.yaml


@dataclass(frozen=True, eq=False)
class Asked:
    """The cells of all pages, page by page: truth as a number of `OPTIONS`, the page's number, and whether it is one of
    the development pages; each of shape (n_cells,)."""

    pages: Sequence[ReadPage]
    truth: IntArray
    document: IntArray
    fits: np.ndarray

    @property
    def people(self) -> IntArray:
        made: IntArray = (self.truth[:, None] == np.arange(len(OPTIONS))).astype(np.int64)
        return made


def asked_of(pages: Sequence[ReadPage]) -> Asked:
    each = [(OPTIONS.index(truth), n, page.development) for n, page in enumerate(pages) for truth in page.truths]
    truth, document, fits = (np.array(column) for column in zip(*each, strict=True))
    return Asked(pages, truth, document, fits)


def by_words(pages: Sequence[ReadPage]) -> FloatArray:
    """One nat for what it chose; it has no scores."""
    judge, number = LexicalJudge(lexicon=LEXICON), {"same": 0, "part": 1, "none": 2}
    chosen = [number[judge.judge(item, page.page.ingredients).match] for page in pages for item in page.items]
    made: FloatArray = np.eye(len(OPTIONS))[chosen]
    return made


def by_embedding(pages: Sequence[ReadPage], name: str) -> FloatArray:
    words = LexicalJudge(lexicon=LEXICON)
    rule = (
        load_prompt((PACK / "prompts" / "memorization-embedding.yaml").read_text("utf-8")).questions[QUESTION].embedding
    )
    assert rule is not None
    scores = []
    for page in pages:
        forms = [form for line in page.page.ingredients for form in embedding.forms_of(line, words)]
        vectors: Any = encoders.encoder(name).encode([*page.items, *forms])
        product = vectors[: len(page.items)] @ vectors[len(page.items) :].T
        cosines = (product.toarray() if hasattr(product, "toarray") else product).max(axis=1)
        scores += [[embedding.option_scores(float(c), rule)[key].logprob for key in OPTIONS] for c in cosines]
    return np.array(scores)


def row_prompt(spec: PromptSpec, page: ReadPage) -> RowPrompt:
    of_question, lines = spec.questions[QUESTION], list(page.page.ingredients)
    blocks = [Block(INGREDIENT, line) for line in lines] + [Block(STEP, line) for line in page.page.steps]
    kinds = prompting.kinds_near(of_question.cell)
    answers = prompting.answers_said(of_question, presence_question())
    near = nearest.nearest_to(page.items, dict.fromkeys(kinds, lines), spec.nearest_of(of_question), answers=answers)
    cells = [
        prompting.cell_prompt(of_question, presence_question(), {"ingredient": item}, order=["ingredient"], nearest=of)
        for item, of in zip(page.items, near, strict=True)
    ]
    return RowPrompt(prompting.row_text(spec, title=page.page.title, blocks=blocks), tuple(cells))


@dataclass
class Known:
    """The scores of cells by their whole prompt: designs that differ in what they leave out agree in many cells."""

    backend: TransformersBackend
    scores: dict[tuple[str, CellPrompt], Sequence[OptionScore]] = field(default_factory=dict)

    def by_model(self, spec: PromptSpec, pages: Sequence[ReadPage]) -> tuple[FloatArray, int]:
        """What is stored of each option, shape (n_cells, n_options, 4), and the tokens fed."""
        rows = [row_prompt(spec, page) for page in pages]
        new = [
            RowPrompt(row.shared, tuple(cell for cell in row.cells if (row.shared, cell) not in self.scores))
            for row in rows
        ]
        new = [row for row in new if row.cells]
        fed = 0

        def count(tokens: int, _cells: int) -> None:
            nonlocal fed
            fed = tokens

        for row, scores in zip(new, self.backend.score(new, count) if new else [], strict=True):
            if isinstance(scores, PromptTooLong):
                raise SystemExit(str(scores))
            self.scores |= {(row.shared, cell): of for cell, of in zip(row.cells, scores, strict=True)}
        values = [
            [[s.logprob, s.n_tokens, s.n_characters, np.nan] for s in self.scores[row.shared, cell]]
            for row in rows
            for cell in row.cells
        ]
        return np.array(values), fed


def line(name: str, chosen: IntArray, asked: Asked, said: str = "") -> dict[str, float]:
    out = ~asked.fits
    accuracy, f1 = fitting.scored_by(chosen[out], asked.people[out])
    right = (chosen == asked.truth)[out]
    low, high = interval(np.unique(asked.document[out], return_counts=True)[1].tolist(), right.tolist())
    two = float(((chosen == 2) == (asked.truth == 2))[out].mean())
    of_development = fitting.scored_by(chosen[~out], asked.people[~out])[0]
    print(f"{name:58}{accuracy:9.3f}{low:7.2f}–{high:.2f}{f1:9.3f}{two:9.3f}{of_development:13.3f}  {said}", flush=True)
    return {"accuracy": accuracy, "macro_f1": f1, "two_classes": two, "development": of_development}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unseen", action="store_true", help="measure on the pages of unseen_cells.yaml")
    parser.add_argument("--model", help="short name or location; without one no language model is asked")
    parser.add_argument("--model-folder", type=Path, help="where NAME.gguf of a short name lies")
    parser.add_argument(
        "--designs", default="the whole page;nearest 4", help="those whose name begins with one of these"
    )
    parser.add_argument("--encoders", default="characters,all-minilm-l6-v2")
    parser.add_argument("--dtype", default="bfloat16", choices=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()

    pages = read_pages(options.folder)
    if options.unseen:
        pages = [replace(page, development=True) for page in pages] + read_pages(options.folder, UNSEEN)
    asked = asked_of(pages)
    differ = sum(len(differing(content(file))) for file in ((FILE, UNSEEN) if options.unseen else (FILE,)))
    counts = np.bincount(asked.truth[~asked.fits], minlength=3)
    print(
        f"{len(asked.pages)} pages, {asked.truth.size} cells, {differ} read otherwise by another; "
        f"measured on {(~asked.fits).sum()} cells of other pages than those fitted to: {' / '.join(map(str, counts))}"
    )
    print(f"{'judge':58}{'accuracy':>9}{'95 %':>12}{'macro-F1':>9}{'2 class':>9}{'development':>13}")
    figures: dict[str, Any] = {}
    stackable: dict[str, FloatArray] = {}
    stackable["lexical"] = by_words(asked.pages)
    figures["lexical"] = line("lexical", stackable["lexical"].argmax(axis=1), asked)
    for name in options.encoders.split(","):
        scores = by_embedding(asked.pages, name)
        if name == "all-minilm-l6-v2":
            figures[f"{name}, as shipped"] = line(f"{name}, as shipped", scores.argmax(axis=1), asked)
        bias = fitting.most_right(scores[asked.fits], asked.people[asked.fits])
        figures[f"{name}, thresholds"] = line(f"{name}, thresholds", (scores + bias).argmax(axis=1), asked)
        stackable[name] = fitting.as_scores(scores)
    if options.model:
        backend = TransformersBackend(
            location(options.model, options.model_folder), dtype=options.dtype, threads=options.threads
        )
        backend.identity()
        known = Known(backend)
        shipped = load_prompt((PACK / "prompts" / "memorization-cloze.yaml").read_text("utf-8"))
        for name in (WHOLE_PAGE, *DESIGNS):
            if not name.startswith(tuple(options.designs.split(";"))):
                continue
            begin = time.perf_counter()
            values, fed = known.by_model(shipped if name == WHOLE_PAGE else prompt_of(name), asked.pages)
            said = f"{fed:,} tokens not fed before, {time.perf_counter() - begin:.0f} s"
            people = np.where(asked.fits[:, None], asked.people, 0)
            cells = Cells(values, people, asked.document)
            fitted = fitting.calibrate(cells, OPTIONS, "none")
            for candidate in sorted(fitted.candidates, key=lambda each: fitting.HOW.index(each.how)):
                by = candidate.calibration
                if by.normalisation != "none" and candidate is not fitted.best:
                    continue
                bias = np.array([by.bias.get(key, 0.0) for key in OPTIONS])
                of = f"{options.model}, {name}, {candidate.how}" + (
                    f", {by.normalisation}" if by.normalisation != "none" else ""
                )
                best = " best on development" if candidate is fitted.best else ""
                figures[of] = line(of, (cells.scores(by.normalisation) + bias).argmax(axis=1), asked, said + best)
                figures[of]["left_out"] = candidate.accuracy
            stackable[f"{options.model}, {name}"] = fitting.as_scores(values[..., 0])
    _stacked(stackable, asked, figures)
    _agreeing(stackable, asked, figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


def _stacked(stackable: dict[str, FloatArray], asked: Asked, figures: dict[str, Any]) -> None:
    """Every two and more of the judges, best on development first; documents left out in turn there."""
    names = list(stackable)
    sets = [[n for at, n in enumerate(names) if bits >> at & 1] for bits in range(1, 2 ** len(names))]
    tried = []
    for chosen in sets:
        if len(chosen) < 2:
            continue
        scores = np.stack([stackable[name] for name in chosen], axis=1)
        inside, people, document = scores[asked.fits], asked.people[asked.fits], asked.document[asked.fits]
        guessed = np.zeros(len(inside), dtype=np.int64)
        for keep, leave in fitting.left_out(document):
            guessed[leave] = fitting.fit(inside[keep], people[keep]).values(inside[leave]).argmax(axis=1)
        accuracy, f1 = fitting.scored_by(guessed, people)
        tried.append((round(f1, 9), -len(chosen), chosen, accuracy))
    for f1, _size, chosen, _accuracy in sorted(tried, key=lambda each: each[:2], reverse=True)[:5]:
        scores = np.stack([stackable[name] for name in chosen], axis=1)
        weights = fitting.fit(scores[asked.fits], asked.people[asked.fits])
        name, answers = f"stacked: {' + '.join(chosen)}", weights.values(scores).argmax(axis=1)
        low, high = over(answers, stackable["lexical"].argmax(axis=1), asked)
        said = f"left out {f1:.3f}; macro-F1 over lexical: {low:+.3f} to {high:+.3f} (95 %)"
        figures[name] = {**line(name, answers, asked, said), "left_out_f1": f1, "over_lexical": [low, high]}


def over(first: IntArray, second: IntArray, asked: Asked, *, draws: int = 2000) -> tuple[float, float]:
    """By how much the first answers' macro-F1 is over the second's: 95 % of draws of whole pages."""
    rng, pages = np.random.default_rng(0), np.unique(asked.document[~asked.fits])
    cells = [np.flatnonzero(asked.document == page) for page in pages]
    found = []
    for _draw in range(draws):
        of = np.concatenate([cells[n] for n in rng.integers(len(cells), size=len(cells))])
        one, other = (fitting.scored_by(answers[of], asked.people[of])[1] for answers in (first, second))
        found.append(one - other)
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _agreeing(stackable: dict[str, FloatArray], asked: Asked, figures: dict[str, Any]) -> None:
    """In how many cells judges agree, and how often they are right in those; one with scores is mean-centred, over
    the cells that are measured and over the others."""
    answers = {}
    for name, scores in stackable.items():
        centred = scores.copy()
        if name not in ("lexical", *encoders.names()):
            for part in (asked.fits, ~asked.fits):
                centred[part] -= scores[part].mean(axis=0)
        answers[name] = centred.argmax(axis=1)[~asked.fits]
    truth = asked.truth[~asked.fits]
    for n in (2, 3):
        for names in combinations(answers, n):
            first, *others = (answers[name] for name in names)
            agree = np.all([first == other for other in others], axis=0)
            share, right = float(agree.mean()), float((first == truth)[agree].mean())
            print(f"agree: {' + '.join(names):70}{share:8.3f} of the cells, right in {right:.3f} of those")
            figures[f"agree: {' + '.join(names)}"] = {"share": share, "right": right}


if __name__ == "__main__":
    main()
