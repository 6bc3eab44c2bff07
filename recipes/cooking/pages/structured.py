"""Recipes that a page states for machines: schema.org as JSON-LD, microdata or RDFa.

More tolerant than a library that expects well-formed data: broken JSON, recipes nested anywhere, lists written as one
string, a property that wraps a whole HTML list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from lxml import etree
from lxml import html as lxml_html

from recipes.cooking.pages import outline, words
from recipes.cooking.pages.head import Head

_INGREDIENT_KEYS = ("recipeIngredient", "ingredients", "ingredient", "recipeIngredients")
_STEP_KEYS = ("recipeInstructions", "instructions", "RecipeInstructions", "recipeInstruction", "step", "steps")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")
_LINES = ["li", "p", "div", "ol", "ul", "h1", "h2", "h3", "h4", "h5", "h6", "br"]
_MAX_DEPTH = 30
_NAME_WORDS = 4
# Of a recipe's ingredients or steps, in characters. Parts of one line each give the whole line.
_LONGEST = 200_000

Node = dict[str, Any]
"""An object of a page's JSON-LD."""


@dataclass(frozen=True)
class Extract:
    """What one route found in a page; empty where it found nothing."""

    ingredients: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    title: str = ""
    language: str = ""
    parser: str = ""
    signs: tuple[int, int] = (0, 0)  # of a shown reading: what spoke for each list, see `fallback.Candidate`


def find(root: etree._Element, lines: outline.Outline, nodes: Iterable[Node]) -> list[Extract]:
    """The recipes with ingredients or steps that the page states, in page order, each name once.

    `nodes`: the objects of its JSON-LD, as `json_nodes` gives them.
    """
    read = (_from_json(node) for node in nodes if _is_a(node, "recipe"))
    found = [extract for extract in read if extract.ingredients or extract.steps]
    if not any(extract.ingredients for extract in found):
        found += _from_attributes(root, lines)
    by_name: dict[str, Extract] = {}
    for extract in found:
        known = by_name.get(extract.title.casefold())
        if known is None or (len(known.ingredients) == 0) > (len(extract.ingredients) == 0):
            by_name[extract.title.casefold()] = extract
    return list(by_name.values())


def tidied(extract: Extract) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ingredients without the titles of parts ("For the sauce:"), steps without their bare numbers ("Step 3")."""
    ingredients = tuple(
        line for line in extract.ingredients if not line.endswith((":", "：")) or words.has_quantity(line)
    )
    return ingredients or extract.ingredients, tuple(step for step in extract.steps if not words.is_step_label(step))


def names_of_steps(nodes: Iterable[Node]) -> frozenset[str]:
    """Short names that a page's data give each of the steps beside its text ("Mix", "Bake"): no lines of their own."""
    told = [node for node in nodes if _is_a(node, "howtostep") and _plain(node.get("text"))]
    named = [
        name
        for node in told
        if (name := _plain(node.get("name"))) and not _plain(node["text"]).startswith(name.rstrip(".…"))
    ]
    each = len(named) >= max(2, 0.8 * len(told)) and all(words.count(name) <= _NAME_WORDS for name in named)
    return frozenset(named) if each else frozenset()


def addresses(text: str, root: etree._Element, head: Head, nodes: Sequence[Node]) -> list[str]:
    """The addresses that a page states as its own, the most trustworthy first, relative ones resolved."""
    stated = [
        *head.addresses,
        # Browsers and extensions that save pages note the address in a comment before the page.
        *re.findall(r"(?:saved from url=\(\d+\)|^\s*url:\s*)(https?://\S+)", text[:4096], re.MULTILINE),
    ]
    for node in [*(node for node in nodes if _is_a(node, "recipe")), *(node for node in nodes if _is_a(node, "web"))]:
        main = node.get("mainEntityOfPage")
        stated += [node.get("url"), node.get("@id"), main.get("@id") if isinstance(main, dict) else main]
    stated += root.xpath("descendant::*[@itemprop][@content][@itemprop='url' or @itemprop='mainEntityOfPage']/@content")
    stated += [*head.bases, *head.other_addresses]
    absolute = re.compile(r"(?:https?:)?//[^/\s]+\.", re.IGNORECASE)
    texts = [str(url).strip() for url in stated if isinstance(url, str)]
    base = next((url for url in [*head.bases, *texts] if absolute.match(url)), "")
    resolved = (_joined(base, url) for url in texts if url)
    return list(dict.fromkeys(url for url in resolved if absolute.match(url)))


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base or "https:", url)
    except ValueError:
        return ""


def json_nodes(root: etree._Element) -> list[Node]:
    """All objects of the page's JSON-LD, in page order."""
    nodes: list[Node] = []
    for script in root.iter("script"):
        if "ld+json" in (script.get("type") or "").casefold() and script.text:
            nodes += [node for value in _loads(script.text) for node in _objects_in(value, 0)]
    return nodes


def _is_a(node: Node, kind: str) -> bool:
    """Whether one of the node's types is `kind` (casefolded), or begins with it: "web" takes WebPage and WebSite."""
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    last = (re.split(r"[/:#]", name)[-1].casefold() for name in names if isinstance(name, str))
    return any(name == kind or (kind == "web" and name.startswith(kind)) for name in last)


def _loads(text: str) -> list[Any]:
    """The JSON values in a script, read as far as they can be."""
    text = (
        re.sub(r"^\s*(?:<!--|//<!\[CDATA\[|<!\[CDATA\[)|(?://)?(?:-->|\]\]>)\s*$", "", text.strip()).strip().rstrip(";")
    )
    if '"' not in text:
        text = text.replace("&quot;", '"')
    for candidate in (text, re.sub(r",(\s*[}\]])", r"\1", text)):
        try:
            # strict=False: raw line ends inside strings are the most common mistake in such scripts
            return [json.loads(candidate, strict=False)]
        except (ValueError, RecursionError):
            continue
    return _salvage(text)


def _salvage(text: str) -> list[Any]:
    """Name, ingredients and instructions out of JSON that is broken elsewhere."""
    decoder = json.JSONDecoder(strict=False)
    node: Node = {"@type": "Recipe"}
    for key in ("recipeIngredient", "recipeInstructions"):
        for match in islice(re.finditer(rf'"{key}"\s*:\s*', text), 10):
            try:
                node[key] = decoder.raw_decode(text, match.end())[0]
                break
            except (ValueError, RecursionError):
                continue
    return [node] if len(node) > 1 else []


def _objects_in(value: Any, depth: int) -> Iterator[Node]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _objects_in(item, depth + 1)
    elif isinstance(value, dict):
        yield value
        for item in value.values():
            if isinstance(item, list | dict):
                yield from _objects_in(item, depth + 1)


def _from_json(node: Node) -> Extract:
    ingredients = next((lines for key in _INGREDIENT_KEYS if (lines := _ingredients(node.get(key)))), [])
    steps = next((lines for key in _STEP_KEYS if (lines := _steps(node.get(key), 0))), [])
    listed, ordered = tidied(Extract(tuple(ingredients), tuple(steps)))
    return Extract(
        ingredients=listed,
        steps=ordered,
        title=_plain(node.get("name") or node.get("headline")),
        language=node["inLanguage"] if isinstance(node.get("inLanguage"), str) else "",
        parser="schema.org",
    )


def _plain(value: Any) -> str:
    """Text of a JSON string without its markup, folded; "" for anything else."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, str):
        return ""
    text = outline.fold(_MARKUP.sub("", outline.fold(value)))
    # A plugin's own parentheses around a note that the author had put into parentheses.
    return text.replace("((", "(").replace("))", ")") if "((" in text and "))" in text else text


def split(value: str) -> list[str]:
    """The lines of one string that holds several (an HTML list, paragraphs, line ends)."""
    text = value.replace("&lt;", "<").replace("&gt;", ">")
    if _MARKUP.search(text):
        soup = BeautifulSoup(text, "lxml")
        for element in soup(_LINES):
            element.insert_before("\n")
            element.insert_after("\n")
        text = soup.get_text()
    return [line for part in text.splitlines() if (line := _plain(part))]


def _ingredients(value: Any) -> list[str]:
    if isinstance(value, str):
        return split(value)
    if isinstance(value, dict):
        if isinstance(value.get("itemListElement"), list):
            return _ingredients(value["itemListElement"])
        parts = [value.get(key) for key in ("amount", "value", "unitText", "unitCode", "name", "text", "item")]
        line = _plain(" ".join(str(part) for part in parts if isinstance(part, str | int | float)))
        return [line] if line else []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], str):
            return split(value[0])
        return [
            line for item in value for line in ([_plain(item)] if isinstance(item, str) else _ingredients(item)) if line
        ]
    return []


def _steps(value: Any, depth: int) -> list[str]:
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, str):
        return split(value)
    if isinstance(value, list):
        if len(value) == 1:
            return _steps(value[0], depth + 1)
        return [
            line
            for item in value
            for line in ([_plain(item)] if isinstance(item, str) else _steps(item, depth + 1))
            if line
        ]
    if not isinstance(value, dict):
        return []
    name, text = _plain(value.get("name") or value.get("Name")), _plain(value.get("text") or value.get("description"))
    inner = value.get("itemListElement") or value.get("steps") or value.get("step") or value.get("recipeInstructions")
    item = value.get("item")
    if not text and not inner and isinstance(item, dict):
        return _steps(item, depth + 1)
    lines = [name] if name and not text.startswith(name.rstrip(".…")) else []
    if inner:
        return lines + _steps(inner, depth + 1)
    if text and (len(split(str(value.get("text") or ""))) > 1) and "<" in str(value.get("text")):
        return lines + split(str(value["text"]))
    return lines + ([text] if text else [])


def _from_attributes(root: etree._Element, lines: outline.Outline) -> list[Extract]:
    """Microdata (itemprop) and RDFa (property), in one walk since both name the same schema.org properties."""
    properties: dict[str, list[etree._Element]] = {}
    for element in root.xpath("//*[@itemprop or @property]"):
        for name in (element.get("itemprop") or element.get("property") or "").split():
            properties.setdefault(re.split(r"[/:#]", name)[-1].casefold(), []).append(element)

    def texts(keys: tuple[str, ...], *, headings: bool) -> list[str]:
        elements = next((properties[key.casefold()] for key in keys if key.casefold() in properties), [])
        known = set(elements)
        outer = [element for element in elements if known.isdisjoint(element.iterancestors())]
        found: list[str] = []
        length = 0
        for element in outer:
            content = element.get("content")
            within = [line.text for line in lines.within(element) if headings or not line.level]
            found += [outline.fold(content)] if content and not within else within
            length += sum(map(len, within))
            if length > _LONGEST:
                return []
        return [text for text in found if text and not words.is_noise(text) and not words.is_step_label(text)]

    def announces(text: str) -> bool:
        return words.section_of(text, heading=False) is not None

    extract = Extract(
        ingredients=tuple(text for text in texts(_INGREDIENT_KEYS, headings=False) if not announces(text)),
        steps=tuple(
            words.without_step_label(text) for text in texts(_STEP_KEYS[:3], headings=True) if not announces(text)
        ),
        parser="schema.org",
    )
    return [extract] if extract.ingredients or extract.steps else []


def heading_of(root: etree._Element, head: Head) -> str:
    """The page's own title: its only h1, else og:title or <title> without the site's name."""
    headings = [
        text
        for h1 in root.iter("h1")
        if (text := outline.fold(str(lxml_html.tostring(h1, method="text", encoding="unicode", with_tail=False))))
    ]
    if len(headings) == 1:
        return headings[0]
    titles = [text for value in [*head.titles, *headings] if (text := outline.fold(value))]
    return re.split(r"\s[|–—-]\s", titles[0])[0] if titles else ""


def language_of(root: etree._Element, head: Head) -> str:
    """The language tag that the page states ("en-GB"), "" if none."""
    stated = [root.get("lang") or "", *head.languages]
    return next((tag.split(",")[0].strip().replace("_", "-") for tag in stated if tag.strip()), "")
