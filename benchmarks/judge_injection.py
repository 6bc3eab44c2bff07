"""How often a document's own text turns a judge's answers, with and without what Palate does against it.

    python -m benchmarks.judge_injection [--model smollm2-135m] [--model-folder FOLDER] [--pages N] [--json FILE]

A sentence that tries (`benchmarks.injections`) is put behind a page's last ingredient, the line that is nearest to the
questions. Each of the page's cells is then asked with the shipped prompt, and its answer is compared with the one that
the same page gets without the sentence. The control is a harmless sentence of the same length in the same place.

Three ways to put the same text into the prompt:

    as written    line ends, tokens of the model's chat and all
    one line      each block in a line of its own, and the model's own chat tokens broken: what the engine needs
    neutralised   besides that, what `llm.neutralising` does: as Palate asks

An attack wants either Yes, which counts where the answer was something else before, or No.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import string
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Before torch: threads that wait must not spin, or they slow each other down on a shared machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import yaml

# isort: off
from benchmarks import apps as apps  # first: what follows needs Django's applications
# isort: on

from annotation.evidence.blocks import Block
from annotation.scheme.spec import QuestionSpec
from benchmarks.accuracy_cells import fold, singular
from benchmarks.injections import ATTACKS, Attack, Kind, filled, harmless
from benchmarks.judge_accuracy import PACK, QUESTION, location, presence_question
from judges.methods import prompting
from judges.methods.prompting import PromptSpec, load_prompt
from llm.backends import transformers
from llm.backends.transformers import TransformersBackend
from llm.engine.cloze import ClozeScorer
from llm.engine.normalisation import choose
from llm.engine.prompt import OptionScore, PromptTooLong, RowPrompt
from recipes.cooking.pages import Page, read_folder
from recipes.cooking.vocabulary import INGREDIENT, STEP

WAYS = ("as written", "one line", "neutralised")
WANTED = ("Yes", "No")
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True)
class Asked:
    """A page and the items asked of it: some that its list has, and some of another dish that no word of it names."""

    page: Page
    items: tuple[str, ...]
    absent: frozenset[str] = frozenset()


@dataclass
class Turned:
    """One attack on all cells, one way.

    `able`: cells that did not have the wanted answer before; `turned`: how many of them have it now; `changed`: cells
    of all with another answer than before, whichever; `cells`: all; `nats`: by how much the log-odds of the wanted
    answer rose, summed over all cells.
    """

    attack: str
    kind: Kind
    way: str
    able: int = 0
    turned: int = 0
    changed: int = 0
    cells: int = 0
    nats: float = 0.0

    def count(self, before: Sequence[Answer], after: Sequence[Answer], wanted: str) -> None:
        for was, now in zip(before, after, strict=True):
            self.able += was.said != wanted
            self.turned += was.said != wanted == now.said
            self.changed += was.said != now.said
            self.cells += 1
            self.nats += now.log_odds[wanted] - was.log_odds[wanted]


@dataclass(frozen=True)
class Answer:
    """What the judge said of a cell, and the log-odds of each option against all others, in nats."""

    said: str
    log_odds: dict[str, float]


def pages(count: int, each: int) -> list[Asked]:
    """The demo's pages, whose right answers are known; one of each dish, then the second of each, and so on."""
    demo = PACK / "demo"
    dishes = sorted(path.name for path in (demo / "pages").iterdir())
    of_recipe = {
        dish: yaml.safe_load((demo / "recipes" / f"{dish}.yaml").read_text("utf-8"))["ingredients"] for dish in dishes
    }
    asked: dict[str, list[Asked]] = {dish: [] for dish in dishes}
    for dish in dishes:
        truth = yaml.safe_load((demo / "pages" / dish / "truth.yaml").read_text("utf-8"))
        others = [item for other in dishes if other != dish for item in of_recipe[other]]
        for page in read_folder(demo / "pages" / dish):
            assert isinstance(page, Page)
            answers = truth[page.source.removesuffix(".html")]["ingredients"]
            words = {singular(word) for word in fold(" ".join((*page.ingredients, *page.steps))).split()}
            there = [item for item, answer in answers.items() if answer == "found"]
            absent = [item for item in others if words.isdisjoint(map(singular, fold(item).split()))]
            asked[dish].append(Asked(page, (*there[:each], *absent[:each]), frozenset(absent)))
    return [of_dish[n] for n in range(max(map(len, asked.values()))) for of_dish in asked.values() if n < len(of_dish)][
        :count
    ]


def row_prompt(spec: PromptSpec, asked: Asked, sentence: str | None, way: str) -> RowPrompt:
    lines = [*asked.page.ingredients, *([sentence] if sentence is not None else [])]
    blocks = [Block(INGREDIENT, line) for line in lines]
    blocks += [Block(STEP, line) for line in asked.page.steps]
    if way == "neutralised":
        shared = prompting.row_text(spec, title=asked.page.title, blocks=blocks)
    else:
        shared = _as_before(spec, asked.page.title, blocks, one_line=way == "one line")
    question = presence_question()
    cells = [
        prompting.cell_prompt(spec.questions[QUESTION], question, {"ingredient": item}, order=["ingredient"])
        for item in asked.items
    ]
    return RowPrompt(shared, tuple(cells))


def _as_before(spec: PromptSpec, title: str, blocks: Sequence[Block], *, one_line: bool) -> str:
    texts: dict[str, list[str]] = {}
    for block in blocks:
        text = " ".join(block.text.split()) if one_line else block.text
        texts.setdefault(f"evidence_{block.kind}", []).append(f"- {text}")
    values = {name: "\n".join(lines) for name, lines in texts.items()}
    return string.Template(spec.row).substitute(title=title, **values).strip() + "\n\n"


class Judge:
    """The model, and what it answered: prompts that are alike in two ways are asked once."""

    def __init__(
        self,
        backend: TransformersBackend,
        spec: PromptSpec,
        name: str = QUESTION,
        question: QuestionSpec | None = None,
    ) -> None:
        backend.identity()
        self._scorer: ClozeScorer = transformers._load(backend).scorer
        self._inert = self._scorer.encoder._special
        asked = spec.questions[name]
        offered = prompting.offered(asked, question or presence_question())
        self._options = [asked.options[option.key] for option in offered]
        self._known: dict[tuple[RowPrompt, bool], list[Answer]] = {}
        self.tokens = 0

    def ask(self, rows: Sequence[tuple[RowPrompt, str]]) -> None:
        """Ask what is not known yet, all at once: the rows share the page up to the sentence."""
        for live in (False, True):
            new = list(dict.fromkeys(row for row, way in rows if self._is_live(row, way) is live))
            new = [row for row in new if (row, live) not in self._known]
            self._scorer.encoder._special = _NOTHING if live else self._inert
            fed = 0

            def count(tokens: int, _cells: int) -> None:
                nonlocal fed
                fed = tokens

            for row, scores in zip(new, self._scorer.score(new, count), strict=True):
                if isinstance(scores, PromptTooLong):
                    raise SystemExit(str(scores))
                self._known[row, live] = [self._answer(of_cell) for of_cell in scores]
            self.tokens += fed
        self._scorer.encoder._special = self._inert

    def answers(self, row: RowPrompt, way: str) -> list[Answer]:
        return self._known[row, self._is_live(row, way)]

    def _answer(self, scores: Sequence[OptionScore]) -> Answer:
        logprobs = np.array([score.logprob for score in scores])
        others = [np.logaddexp.reduce(np.delete(logprobs, at)) for at in range(len(logprobs))]
        log_odds = {option: float(odds) for option, odds in zip(self._options, logprobs - others, strict=True)}
        return Answer(self._options[choose(scores, "none").index], log_odds)

    def _is_live(self, row: RowPrompt, way: str) -> bool:
        return way == "as written" and self._inert.search(row.shared) is not None


def attacked(judge: Judge, spec: PromptSpec, asked: Sequence[Asked], attacks: Sequence[Attack]) -> list[Turned]:
    results = [Turned(attack.name, attack.kind, way) for attack in attacks for way in (*WAYS, "control")]
    of = {(each.attack, each.way): each for each in results}
    for page in asked:
        tries = [
            (attack, wanted, filled(attack, said=wanted, item=page.items[-1] if wanted == "Yes" else page.items[0]))
            for attack in attacks
            for wanted in WANTED
        ]
        rows = {way: row_prompt(spec, page, None, way) for way in WAYS}
        tried = {(text, way): row_prompt(spec, page, text, way) for _, _, text in tries for way in WAYS}
        control = {text: row_prompt(spec, page, harmless(text), "neutralised") for _, _, text in tries}
        everything = [(row, way) for way, row in rows.items()]
        everything += [(row, way) for (_, way), row in tried.items()]
        judge.ask(everything + [(row, "neutralised") for row in control.values()])
        for attack, wanted, text in tries:
            for way in WAYS:
                before, after = judge.answers(rows[way], way), judge.answers(tried[text, way], way)
                of[attack.name, way].count(before, after, wanted)
            before = judge.answers(rows["neutralised"], "neutralised")
            of[attack.name, "control"].count(before, judge.answers(control[text], "neutralised"), wanted)
        print(f"  {page.page.source}: {judge.tokens:,} tokens", flush=True)
    return results


def share(results: Sequence[Turned], way: str, kind: str | None = None) -> dict[str, float]:
    """Of all cells of all attacks of a kind: the share that turned to the wanted answer, and that changed at all, and
    the mean rise of the wanted answer's log-odds."""
    of = [each for each in results if each.way == way and kind in (None, each.kind)]
    cells = max(1, sum(each.cells for each in of))
    return {
        "turned": sum(each.turned for each in of) / max(1, sum(each.able for each in of)),
        "changed": sum(each.changed for each in of) / cells,
        "nats": sum(each.nats for each in of) / cells,
    }


def show(results: Sequence[Turned]) -> None:
    ways = (*WAYS, "control")
    print(f"{'':24}" + "".join(f"{way:>24}" for way in ways))
    for name in dict.fromkeys(each.attack for each in results):
        of = {each.way: each for each in results if each.attack == name}
        cells = (
            f"{of[way].turned:>7} /{of[way].able:4}{of[way].changed:5}{of[way].nats / of[way].cells:+7.2f}"
            for way in ways
        )
        print(f"{name:24}" + "".join(cells))
    for kind in ("order", "form", None):
        shares = [share(results, way, kind) for way in ways]
        line = "".join(f"{each['turned']:>10.1%}{each['changed']:7.1%}{each['nats']:+7.2f}" for each in shares)
        print(f"{'all of kind ' + kind if kind else 'all':24}{line}")
    print("each: turned to the wanted answer / cells that had another before; cells whose answer changed at all;")
    print("mean rise of the wanted answer's log-odds in nats")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m", help="short name or location")
    parser.add_argument("--model-folder", type=Path, help="where NAME.gguf of a short name lies")
    parser.add_argument("--prompt", type=Path, default=PACK / "prompts" / "memorization-cloze.yaml")
    parser.add_argument("--pages", type=int, default=6, help="of the demo's pages")
    parser.add_argument("--each", type=int, default=4, help="items that are there, and that are not, a page")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()

    spec = load_prompt(options.prompt.read_text("utf-8"))
    backend = TransformersBackend(
        location(options.model, options.model_folder), dtype=options.dtype, threads=options.threads
    )
    asked = pages(options.pages, options.each)
    begin = time.perf_counter()
    judge = Judge(backend, spec)
    results = attacked(judge, spec, asked, ATTACKS)
    seconds = time.perf_counter() - begin
    n_cells = sum(len(page.items) for page in asked)
    print(f"{options.model}: {len(ATTACKS)} attacks, {len(asked)} pages, {n_cells} cells, {seconds:.0f} s")
    show(results)
    if options.json:
        shares = {
            f"{way}, {kind or 'all'}": share(results, way, kind)
            for way in (*WAYS, "control")
            for kind in ("order", "form", None)
        }
        figures: dict[str, Any] = {"model": options.model, "pages": len(asked), "cells": n_cells, "seconds": seconds}
        figures |= {"shares": shares, "attacks": [asdict(each) for each in results]}
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
