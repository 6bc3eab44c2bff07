"""How well the page reader finds ingredients and steps on real pages, against the lines that recipe-scrapers finds.

    python -m benchmarks.documents FOLDER [--pages 5] [--degrade]
    python -m benchmarks.documents --made [--pages 5]

FOLDER holds `<dish>/<nn>-<host>.html.gz` and beside each `<nn>-<host>.expected.json`. Lines are compared after folding
white space and HTML entities; line F1 also folds case and compatibility forms (½ = 1⁄2) and counts lines as a multiset,
per page, then takes the mean over pages. Exits with 1 when a target is missed. `--degrade` adds the same figures with
the host hidden and one kind of sign taken from every page, so that one sees what carries the result.

`--made` reads the pages of `benchmarks.made_pages` and `made_others`, written for this project in 15 languages: how
well each language, layout and way of stating is read, what share of all is refused, marked, or wrong (a list of a line
F1 below ½) without a mark, and the seconds a page.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lxml import etree
from lxml import html as lxml_html
from recipe_scrapers import scrape_html

from benchmarks import degrade, made_others, made_pages
from benchmarks.made_pages import MadePage
from recipes.cooking.pages import Page, PageRefused, finding, outline, read_page, structured
from recipes.cooking.pages.head import Head
from recipes.cooking.pages.structured import Extract

UNKNOWN = "https://unknown.example/"
TARGETS = {
    "host known": {"exact": (0.95, 0.90)},
    "host hidden": {"f1": (0.93, 0.90)},
}


@dataclass(frozen=True)
class Expected:
    name: str
    data: bytes
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """Of one page: exact lists, line F1 and F1 of the words alone, each for (ingredients, steps); seconds."""

    name: str
    exact: tuple[bool, bool]
    f1: tuple[float, float]
    words: tuple[float, float]
    seconds: float
    note: str


def load(folder: Path) -> list[Expected]:
    """The pages of `folder` that have their expected lines beside them."""
    pages = []
    for path in sorted(folder.rglob("*.html.gz")):
        expected = json.loads(path.with_name(path.name.removesuffix(".html.gz") + ".expected.json").read_text("utf-8"))
        pages.append(
            Expected(
                name=path.relative_to(folder).as_posix(),
                data=gzip.decompress(path.read_bytes()),
                ingredients=tuple(outline.fold(line) for line in expected["ingredients"]),
                steps=tuple(outline.fold(line) for line in expected["instructions_list"]),
            )
        )
    return pages


def known(page: Expected) -> Extract:
    """The product's own way: `read_page`."""
    try:
        found = read_page(page.name, page.data)
    except PageRefused as refused:
        return Extract(parser=refused.reason)
    return _extract(found)


def hidden(page: Expected) -> Extract:
    """`read_page` as if no site were known."""
    return _hidden(page, strip=False)


def shown(page: Expected) -> Extract:
    """`read_page` as if no site were known and pages stated nothing for machines."""
    return _hidden(page, strip=True)


def library(page: Expected) -> Extract:
    """recipe-scrapers alone, with an address that it does not know."""

    def attempt(call: Callable[[], Iterable[str]]) -> tuple[str, ...]:
        try:
            return tuple(outline.fold(line) for line in call())
        except Exception:  # whatever the library meets is a miss here
            return ()

    try:
        scraper = scrape_html(page.data.decode("utf-8", "replace"), org_url=UNKNOWN, supported_only=False)
    except Exception as error:
        return Extract(parser=type(error).__name__)
    return Extract(attempt(scraper.ingredients), attempt(scraper.instructions_list), parser="recipe-scrapers:wild")


def _extract(page: Page) -> Extract:
    return Extract(page.ingredients, page.steps, page.title, page.language, page.parser)


def _hidden(page: Expected, *, strip: bool) -> Extract:
    root = tree_of(page)
    if strip:
        degrade.shown_only(root)
    return read_tree(root)


def tree_of(page: Expected) -> etree._Element:
    root = outline.parse(page.data.decode("utf-8", "replace"))
    assert root is not None
    return root


def read_tree(root: etree._Element) -> Extract:
    """The recipe of a changed page: its text is what the tree now holds."""
    text = lxml_html.tostring(root, encoding="unicode")
    found = finding.read_recipe(text, root, Head(text), structured.json_nodes(root), urls=[])
    return Extract(parser=found) if isinstance(found, str) else found.extract


def degraded(name: str, pages: Sequence[Expected]) -> Callable[[Expected], Extract]:
    """`hidden` after the change `name` of `benchmarks.degrade`."""
    others = {page.name: other for page, other in zip(pages, [*pages[1:], pages[0]], strict=True)}

    def read(page: Expected) -> Extract:
        root = tree_of(page)
        degrade.CHANGES[name](root, tree_of(others[page.name]) if name in degrade.NEED_ANOTHER else root)
        return read_tree(root)

    return read


def line_f1(expected: Sequence[str], found: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over lines, repeated lines counted; 1 if both are empty."""
    a, b = (
        Counter(" ".join(unicodedata.normalize("NFKC", line).casefold().split()) for line in lines)
        for lines in (expected, found)
    )
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def word_f1(expected: Sequence[str], found: Sequence[str]) -> float:
    """`line_f1` of letters and numbers alone: what is left of it are lines truly lost, added or cut elsewhere."""
    return line_f1([_bare(line) for line in expected], [_bare(line) for line in found])


def _bare(line: str) -> str:
    spaced = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", line)
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", spaced)))


def measure(pages: Sequence[Expected], read: Callable[[Expected], Extract]) -> list[Score]:
    scores = []
    for page in pages:
        start = time.perf_counter()
        found = read(page)
        seconds = time.perf_counter() - start
        scores.append(
            Score(
                name=page.name,
                exact=(page.ingredients == found.ingredients, page.steps == found.steps),
                f1=(line_f1(page.ingredients, found.ingredients), line_f1(page.steps, found.steps)),
                words=(word_f1(page.ingredients, found.ingredients), word_f1(page.steps, found.steps)),
                seconds=seconds,
                note=found.parser,
            )
        )
    return scores


@dataclass(frozen=True)
class Outcome:
    """What came of a made page: line F1 of both lists, whether it was refused, or marked as doubtful; seconds."""

    page: MadePage
    f1: tuple[float, float]
    refused: bool
    marked: bool
    seconds: float

    @property
    def wrong(self) -> bool:
        """Accepted without a mark, and a list of it is mostly not that of the page (or the page has none)."""
        return not self.refused and not self.marked and (not self.page.lines or min(self.f1) < 0.5)


def outcome(page: MadePage) -> Outcome:
    start = time.perf_counter()
    try:
        found = read_page(page.name, page.html)
    except PageRefused:
        return Outcome(page, (0.0, 0.0), refused=True, marked=False, seconds=time.perf_counter() - start)
    seconds = time.perf_counter() - start
    f1 = (line_f1(page.lines, found.ingredients), line_f1(page.steps, found.steps))
    # A reader of before knows no marks.
    return Outcome(page, f1, refused=False, marked=bool(getattr(found, "doubts", ())), seconds=seconds)


def report_made(worst: int) -> int:
    """Print how the made pages are read; 1 where one of them is wrong without a mark."""
    recipes = [outcome(page) for page in made_pages.recipes()]
    others = [outcome(page) for page in made_others.others()]
    groups: dict[str, list[Outcome]] = {"all recipes": recipes, "English": [], "other languages": []}
    for each in recipes:
        language, *rest = each.page.name.split(", ")
        for name in ("English" if language == "en" else "other languages", f"  in {language}", *rest):
            groups.setdefault(name, []).append(each)
    groups["no recipe"] = others
    print(f"{'':34}{'pages':>6}{'F1 ingr.':>10}{'steps':>8}{'refused':>9}{'marked':>8}{'wrong':>7}{'s a page':>10}")
    for name, of in groups.items():
        f1 = (
            "".join(f"{fmean(each.f1[k] for each in of):>{10 - 2 * k}.3f}" for k in (0, 1))
            if of is not others
            else " " * 18
        )
        shares = [fmean(value) for value in zip(*((each.refused, each.marked, each.wrong) for each in of), strict=True)]
        print(
            f"{name:34}{len(of):>6}{f1}{shares[0]:>9.1%}{shares[1]:>8.1%}{shares[2]:>7.1%}"
            f"{fmean(each.seconds for each in of):>10.4f}"
        )
    for each in sorted((each for each in recipes if sum(each.f1) < 2), key=lambda each: sum(each.f1))[:worst]:
        print(f"  {each.f1[0]:.2f} {each.f1[1]:.2f}  {each.page.name}{'  marked' if each.marked else ''}")
    for each in others:
        if not each.refused:
            print(f"  read: {each.page.name}{', marked' if each.marked else ''}")
    return int(any(each.wrong for each in [*recipes, *others]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the page reader on a folder of recipe pages.")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--made", action="store_true", help="read the pages written for this project instead")
    parser.add_argument("--pages", type=int, default=5, help="how many of the worst pages to name for each route")
    parser.add_argument(
        "--degrade", action="store_true", help="also measure with one kind of sign taken from each page"
    )
    options = parser.parse_args(arguments)
    if options.made:
        return report_made(options.pages)
    if options.folder is None:
        parser.error("name a folder of pages, or --made")
    pages = load(options.folder)
    if not pages:
        parser.error(f"{options.folder} holds no *.html.gz page")
    missed = False
    print(f"{len(pages)} pages{'exact lists':>38}{'mean line F1':>18}{'of words alone':>18}{'seconds a page':>18}")
    print(f"{'':34}{'ingr.':>8}{'steps':>8}" + f"{'ingr.':>10}{'steps':>8}" * 2 + f"{'mean':>10}{'most':>8}  target")
    worst = []
    routes: list[tuple[str, Callable[[Expected], Extract]]] = [
        ("recipe-scrapers alone", library),
        ("host known", known),
        ("host hidden", hidden),
        ("shown text alone", shown),
    ]
    if options.degrade:
        routes += [(f"hidden, {name}", degraded(name, pages)) for name in degrade.CHANGES]
    for name, read in routes:
        scores = measure(pages, read)
        exact = tuple(sum(score.exact[k] for score in scores) for k in (0, 1))
        f1 = tuple(fmean(score.f1[k] for score in scores) for k in (0, 1))
        bare = tuple(fmean(score.words[k] for score in scores) for k in (0, 1))
        verdicts = []
        for kind, target in TARGETS.get(name, {}).items():
            reached = f1 if kind == "f1" else tuple(count / len(pages) for count in exact)
            met = all(value >= bound for value, bound in zip(reached, target, strict=True))
            missed |= not met
            verdicts.append(f"{kind} {target[0]:.2f}, {target[1]:.2f}: {'met' if met else 'MISSED'}")
        print(
            f"{name:34}{exact[0]:>8}{exact[1]:>8}{f1[0]:>10.3f}{f1[1]:>8.3f}{bare[0]:>10.3f}{bare[1]:>8.3f}"
            f"{fmean(s.seconds for s in scores):>10.3f}{max(s.seconds for s in scores):>8.3f}  {'; '.join(verdicts)}"
        )
        if name.startswith("hidden, "):
            continue
        worst.append((name, sorted(scores, key=lambda score: sum(score.words))[: options.pages]))
    for name, scores in worst:
        print(f"\nworst pages, {name} (F1 of the words of ingredients, steps)")
        for score in scores:
            if sum(score.words) < 2:
                print(f"  {score.words[0]:.2f} {score.words[1]:.2f}  {score.name}  {score.note}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
