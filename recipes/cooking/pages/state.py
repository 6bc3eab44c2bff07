"""A recipe in the data that a page's scripts would show: __NEXT_DATA__, window.__STATE__, data attributes.

For pages that are empty until a browser runs their scripts. No two sites name their data alike; what they share is an
object with a list of ingredients beside a list of steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from recipes.cooking.pages import outline, structured
from recipes.cooking.pages.structured import Extract

_INGREDIENTS = re.compile(r"ingredient|zutat|ingrédient|składnik|skladnik|surovin", re.IGNORECASE)
_STEPS = re.compile(r"instruction|direction|step|method|preparation|zubereitung|procedure|preparo", re.IGNORECASE)
_NAMES = ("name", "title", "label", "ingredient", "ingredientName", "description", "text", "food", "product")
_AMOUNTS = ("quantity", "amount", "qty", "value", "displayQuantity", "quantityText", "amountText")
_UNITS = ("unit", "measure", "unitText", "unitName", "measurement", "uom")
_TEXTS = ("text", "instruction", "description", "body", "content", "html", "value", "step", "name", "title")
_START = re.compile(r"(?:=|\()\s*(?=[{\[])")
_ATTRIBUTES = ("data-page", "data-props", "data-state", "data-recipe", "data-react-props", "wire:snapshot", "props")
_MAX_SCRIPT = 4 * 2**20
_MAX_DEPTH = 40


def find(root: etree._Element) -> list[Extract]:
    """The recipes with both ingredients and steps in the page's embedded data, each list of ingredients once."""
    found: dict[tuple[str, ...], Extract] = {}
    for value in _values(root):
        for node in _recipes_in(value, 0):
            extract = _read(node)
            if len(extract.ingredients) > 1 and extract.steps:
                found.setdefault(extract.ingredients, extract)
    return list(found.values())


def _values(root: etree._Element) -> Iterator[Any]:
    """JSON values in scripts and attributes, as far as they mention ingredients."""
    decoder = json.JSONDecoder(strict=False)
    pushed = []
    for script in root.iter("script"):
        text = script.text or ""
        if "ld+json" in (script.get("type") or "") or len(text) > _MAX_SCRIPT:
            continue
        if "__next_f.push" in text:
            # React sends its tree as strings, cut anywhere.
            pushed += re.findall(r'__next_f\.push\(\[\d+,("(?:[^"\\]|\\.)*")\]\)', text)
        elif _INGREDIENTS.search(text):
            text = text.strip()
            starts = [0] if text[:1] in {"{", "["} else [match.end() for match in _START.finditer(text)]
            yield from _decoded(decoder, text, starts)
    stream = "".join(json.loads(piece, strict=False) for piece in pushed)
    yield from _decoded(decoder, stream, [match.end() for match in re.finditer(r"(?m)^[0-9a-f]+:(?=[\[{])", stream)])
    for element in root.iter():
        for name in _ATTRIBUTES:
            text = element.get(name) or ""
            if text[:1] in {"{", "["} and _INGREDIENTS.search(text):
                yield from _decoded(decoder, text, [0])


def _decoded(decoder: json.JSONDecoder, text: str, starts: list[int]) -> Iterator[Any]:
    end = 0
    for start in islice(starts, 200):
        if start < end:
            continue  # inside the value before
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value


def _recipes_in(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _recipes_in(item, depth + 1)
    elif isinstance(value, dict):
        if any(_INGREDIENTS.search(key) for key in value) and any(_STEPS.search(key) for key in value):
            yield value
        for item in value.values():
            if isinstance(item, dict | list):
                yield from _recipes_in(item, depth + 1)


def _read(node: dict[str, Any]) -> Extract:
    def longest(wanted: re.Pattern[str], names: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        lists = [_lines(item, names, 0) for key, item in node.items() if wanted.search(key)]
        return max(map(tuple, lists), key=len, default=())

    return Extract(
        ingredients=longest(_INGREDIENTS, (_AMOUNTS, _UNITS, _NAMES)),
        steps=longest(_STEPS, (_TEXTS,)),
        title=next((outline.fold(node[key]) for key in ("name", "title") if isinstance(node.get(key), str)), ""),
        parser="page state",
    )


def _lines(value: Any, names: tuple[tuple[str, ...], ...], depth: int) -> list[str]:
    """The lines of a list of strings, of objects, or of groups of them; of one string with markup."""
    if depth > 4:
        return []
    if isinstance(value, str):
        return structured.split(value)
    if isinstance(value, list):
        return [line for item in value for line in _lines(item, names, depth + 1)]
    if not isinstance(value, dict):
        return []
    nested = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict | str)]
    parts = [_first(value, keys) for keys in names]
    if parts[-1] and (not nested or len(names) == 1 or parts[0]):
        return structured.split(" ".join(part for part in parts if part))
    return [line for item in nested for line in _lines(item, names, depth + 1)]


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The first of the keys that holds a text or number, or an object with one of its own."""
    for key in keys:
        item = value.get(key)
        if isinstance(item, dict):
            item = next(
                (item[name] for name in (*keys, *_NAMES) if isinstance(item.get(name), str | int | float)), None
            )
        if isinstance(item, str | int | float) and not isinstance(item, bool) and item != "":
            return f"{item:g}" if isinstance(item, float) else str(item)
    return ""
