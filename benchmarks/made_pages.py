# ruff: noqa: E501  (markup is easier to read in one line)
"""Pages written for `benchmarks.documents --made`: recipes of many languages in many layouts, and pages of no recipe.

Each recipe of `made_recipes` is laid out in each way of `LAYOUTS`, and states for machines what each of `STATED` makes
of it: nothing, the truth, or one of the mistakes that sites make. What a person would copy from the page is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from benchmarks.made_recipes import RECIPES, Made


class MadePage(NamedTuple):
    """`lines`, `steps`: what stands in it; both empty where it is the page of no recipe."""

    name: str
    language: str
    html: bytes
    lines: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


def _all(parts: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...]:
    return parts[0] + parts[1]


def _list(lines: Sequence[str], tag: str = "ul", attributes: str = "") -> str:
    return f"<{tag}{attributes}>" + "".join(f"<li>{escape(line, quote=False)}</li>" for line in lines) + f"</{tag}>"


def _each(lines: Sequence[str], pattern: str) -> str:
    return "".join(pattern.format(escape(line, quote=False), n=n) for n, line in enumerate(lines, start=1))


def _split(line: str) -> tuple[str, str]:
    """Amount and name, for layouts that put them into boxes; ("", line) where it begins with no number."""
    words = line.split(" ")
    return (words[0], " ".join(words[1:])) if words[0][:1].isdigit() else ("", line)


# --- layouts: what the page shows


def parts_under_headings(made: Made) -> str:
    listed = "".join(f"<h3>{part}</h3>{_list(lines)}" for part, lines in zip(made.parts, made.lines, strict=True))
    ordered = _list(_all(made.steps), "ol")
    return f"<p>{made.servings}</p><h2>{made.headings[0]}</h2>{listed}<h2>{made.headings[1]}</h2>{ordered}{_tips(made)}"


def bold_titles_and_breaks(made: Made) -> str:
    listed = "".join(
        f"<p><strong>{part}:</strong><br>{'<br>'.join(lines)}</p>"
        for part, lines in zip(made.parts, made.lines, strict=True)
    )
    ordered = _each(_all(made.steps), "<p>{}</p>")
    return (
        f"<p><strong>{made.headings[0]} ({made.servings})</strong></p>{listed}"
        f"<p><strong>{made.headings[1]}:</strong></p>{ordered}<p><strong>{made.hint[0]}:</strong> {made.hint[1]}</p>"
    )


def boxes(made: Made) -> str:
    rows = "".join(
        f"<div class='x-{n % 2} row'><div class='q'>{amount}</div><div class='n'>{name}</div></div>"
        for n, (amount, name) in enumerate(_split(line) for line in _all(made.lines))
    )
    ordered = _each(_all(made.steps), "<div class='bx'><span class='no'>{n}</span><p>{0}</p></div>")
    return (
        f"<section><h4>{made.headings[0]}</h4><div>{made.servings}</div>{rows}</section><section><h4>{made.headings[1]}</h4>"
        f"{ordered}</section>{_tips(made)}"
    )


def table_and_paragraphs(made: Made) -> str:
    rows = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in map(_split, _all(made.lines)))
    ordered = _each(_all(made.steps), "<p><b>{n}</b> {0}</p>")
    return f"<h3>{made.headings[0]}</h3><table>{rows}</table><h3>{made.headings[1]}</h3>{ordered}<h3>{made.hint[0]}</h3><p>{made.hint[1]}</p>"


def steps_with_names(made: Made) -> str:
    named = "".join(
        f"<h3>{' '.join(step.split()[:2]).rstrip(',.').title()}</h3><p>{step}</p>" for step in _all(made.steps)
    )
    return f"<h2>{made.headings[0]}</h2>{_list(_all(made.lines))}<h2>{made.headings[1]}</h2>{named}<h2>{made.hint[0]}</h2><p>{made.hint[1]}</p>"


def twice(made: Made) -> str:
    """The list of ingredients once for narrow screens and once for wide ones."""
    listed = _list(_all(made.lines))
    return (
        f"<div class='mobile'><h2>{made.headings[0]}</h2>{listed}</div><div class='desktop'><h2>{made.headings[0]}</h2>{listed}</div>"
        f"<h2>{made.headings[1]}</h2>{_list(_all(made.steps), 'ol')}{_tips(made)}"
    )


def among_teasers(made: Made) -> str:
    """Lines around the recipe: time and servings in the list, a button, an advertisement, other recipes below."""
    listed = _list([made.servings, made.time, *_all(made.lines)])
    others = "".join(
        f"<article><a href='/{n}'><h3>{made.more} {n}</h3><p>{n * 5} min</p></a></article>" for n in range(1, 7)
    )
    return (
        f"<div class='meta'>{made.time}</div><h2>{made.headings[0]}</h2>{listed}<button>Print</button><div>Advertisement</div>"
        f"<h2>{made.headings[1]}</h2>{_list(_all(made.steps), 'ol')}{_tips(made)}<h2>{made.more}</h2>{others}"
    )


def no_headings(made: Made) -> str:
    return f"{_list(_all(made.lines))}{_each(_all(made.steps), '<p>{}</p>')}<p>{made.hint[1]}</p>{_tips(made)}"


def check_boxes(made: Made) -> str:
    boxes = "".join(
        f"<div><input type='checkbox' id='c{n}'><label for='c{n}'>{line}</label></div>"
        for n, line in enumerate(_all(made.lines))
    )
    ordered = _each(_all(made.steps), "<div class='s'><i>{n}</i><div>{0}</div></div>")
    return f"<div><h2>{made.headings[0]}</h2>{boxes}</div><div><h2>{made.headings[1]}</h2>{ordered}</div>{_tips(made)}"


def after_a_story(made: Made) -> str:
    story = "".join(
        f"<h2>{made.dish} {n}</h2><p>{made.hint[1]} {made.steps[0][0]}</p>{_list([made.hint[1]] * 3)}" for n in (1, 2)
    )
    return f"{story}{parts_under_headings(made)}<div id='comments'>{_each([made.hint[1]] * 5, '<p>{}</p>')}</div>"


def as_definitions(made: Made) -> str:
    terms = "".join(f"<dt>{a}</dt><dd>{b}</dd>" for a, b in map(_split, _all(made.lines)))
    return f"<h2>{made.headings[0]}</h2><dl>{terms}</dl><h2>{made.headings[1]}</h2>{_list(_all(made.steps), 'ol')}"


def two_units(made: Made) -> str:
    """The list in two systems of units, one of which a tab hides."""
    other = [re.sub(r"^[\d.,/]+ (?:k?g|[cdm]?l)\b", "7 oz", line) for line in _all(made.lines)]
    tabs = f"<div class='tab'>{_list(_all(made.lines))}</div><div class='tab' hidden>{_list(other)}</div>"
    return f"<h2>{made.headings[0]}</h2>{tabs}<h2>{made.headings[1]}</h2>{_list(_all(made.steps), 'ol')}{_tips(made)}"


# What sites must say of a link that earns them money, behind the link.
_DISCLOSURES = {
    "de": "(Affiliate-Link)", "fr": "(lien affilié)", "es": "(enlace de afiliado)", "it": "(link affiliato)",
    "nl": "(affiliate link)", "pt": "(link de afiliado)", "cs": "(affiliate odkaz)", "sv": "(annonslänk)",
    "da": "(reklamelink)", "nb": "(annonselenke)",
}  # fmt: skip


def paid_links(made: Made) -> str:
    """Words that link to a shop, in lines and steps, each with its disclosure."""
    told = _DISCLOSURES.get(made.language, "[paid link]")

    def linked(lines: Sequence[str]) -> str:
        return "".join(
            f"<li>{line[:-1]}<a rel='sponsored' href='/shop/{n}'>{line[-1]}</a> <span class='d'>{told}</span></li>"
            if n % 2
            else f"<li>{escape(line, quote=False)}</li>"
            for n, line in enumerate(lines)
        )

    listed, ordered = linked(_all(made.lines)), linked(_all(made.steps))
    return f"<h2>{made.headings[0]}</h2><ul>{listed}</ul><h2>{made.headings[1]}</h2><ol>{ordered}</ol>{_tips(made)}"


def remarks(made: Made) -> str:
    """Ingredients of which every second goes on in a whole sentence (`with_remarks`)."""
    listed = _list(_all(made.lines), attributes=" class='c1'")
    return f"<h3>{made.headings[0]}</h3>{listed}<h3>{made.headings[1]}</h3>{_list(_all(made.steps), 'ol')}{_tips(made)}"


def with_remarks(made: Made) -> Made:
    remarked = [f"{line}. {made.hint[1]}" if n % 2 else line for n, line in enumerate(_all(made.lines))]
    first = len(made.lines[0])
    return made._replace(lines=(tuple(remarked[:first]), tuple(remarked[first:])))


def _tips(made: Made) -> str:
    return f"<h2>{made.hint[0]}</h2><p>{made.hint[1]}</p><h2>{made.more}</h2>{_list([f'<a href=/{n}>{made.dish} {n}</a>' for n in (2, 3, 4)]).replace('&lt;', '<').replace('&gt;', '>')}"


LAYOUTS: dict[str, Callable[[Made], str]] = {
    "parts under headings": parts_under_headings,
    "bold titles and breaks": bold_titles_and_breaks,
    "boxes": boxes,
    "table and paragraphs": table_and_paragraphs,
    "steps with names": steps_with_names,
    "twice": twice,
    "among teasers": among_teasers,
    "no headings": no_headings,
    "check boxes": check_boxes,
    "after a story": after_a_story,
    "definitions": as_definitions,
    "two units": two_units,
    "paid links": paid_links,
    "remarks": remarks,
}
# Layouts of recipes that are written otherwise.
CHANGED: dict[str, Callable[[Made], Made]] = {"remarks": with_remarks}


# --- what the page states


def _node(made: Made, **changed: Any) -> str:
    node = {
        "@context": "https://schema.org",
        "@type": "Recipe",
        "name": made.dish,
        "recipeIngredient": list(_all(made.lines)),
        "recipeInstructions": [{"@type": "HowToStep", "text": step} for step in _all(made.steps)],
        **changed,
    }
    return f"<script type='application/ld+json'>{json.dumps(node)}</script>"


def truth(made: Made) -> str:
    return _node(made)


def names_alone(made: Made) -> str:
    """Ingredients without their amounts."""
    return _node(made, recipeIngredient=[_split(line)[1] for line in _all(made.lines)])


def first_part_alone(made: Made) -> str:
    return _node(
        made, recipeIngredient=list(made.lines[0]), recipeInstructions=[{"text": step} for step in made.steps[0]]
    )


def run_together(made: Made) -> str:
    return _node(made, recipeIngredient=[", ".join(_all(made.lines))], recipeInstructions=" ".join(_all(made.steps)))


def a_category(made: Made) -> str:
    return _node(made, recipeIngredient=[made.more], recipeInstructions=[made.hint[1]])


def every_line_twice(made: Made) -> str:
    steps = [{"text": step} for step in _all(made.steps)]
    return _node(made, recipeIngredient=[*_all(made.lines)] * 2, recipeInstructions=steps * 2)


def with_titles(made: Made) -> str:
    return _node(
        made,
        recipeIngredient=[line for part, lines in zip(made.parts, made.lines, strict=True) for line in (part, *lines)],
        recipeInstructions=[
            {"@type": "HowToStep", "name": f"{made.headings[1]} {n}", "text": step}
            for n, step in enumerate(_all(made.steps), start=1)
        ],
    )


def routes(made: Made) -> str:
    """No recipe at all, but the routes of the site's program."""
    ways = {
        "ingredients.index": {"uri": "ingredients", "methods": ["GET", "HEAD"]},
        "ingredients.show": {"uri": "ingredients/{id}", "methods": ["GET", "HEAD"], "ingredients": ["id", "name"]},
    }
    return f"<script>const Ziggy = {json.dumps({'url': '/', 'ingredients': ['web', 'auth'], 'methods': ['GET', 'HEAD'], 'routes': ways})};</script>"


def soft_hyphens(made: Made) -> str:
    def broken(lines: Sequence[str]) -> list[str]:
        return [
            "\ufeff" + " ".join(w[:4] + "\xad" + w[4:] if len(w) > 7 else w for w in line.split()) for line in lines
        ]

    return _node(made, recipeIngredient=broken(_all(made.lines)), recipeInstructions=broken(_all(made.steps)))


STATED: dict[str, Callable[[Made], str]] = {
    "nothing": lambda made: "",
    "the truth": truth,
    "no amounts": names_alone,
    "the first part": first_part_alone,
    "run together": run_together,
    "a category": a_category,
    "every line twice": every_line_twice,
    "titles and names": with_titles,
    "code words": routes,
    "soft hyphens": soft_hyphens,
}


def page(language: str, title: str, body: str, head: str = "") -> bytes:
    return (
        f"<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>{title} | Example</title>{head}</head>"
        f"<body><header><a href='/'>Example</a></header><nav><ul><li><a href='/a'>A</a></li></ul></nav>"
        f"<main><h1>{title}</h1>{body}</main><footer><p>© Example</p></footer></body></html>"
    ).encode()


def recipes() -> Iterator[MadePage]:
    """Every recipe in every layout; each states something else, all ways in turn."""
    ways = list(STATED.items())
    for i, plain in enumerate(RECIPES):
        for j, (layout, show) in enumerate(LAYOUTS.items()):
            made = CHANGED[layout](plain) if layout in CHANGED else plain
            for k in (0, 1 + (i + j) % (len(ways) - 1)):
                way, state = ways[k]
                html = page(made.language, made.dish, show(made), state(made))
                name = f"{made.language}, {layout}, states {way}"
                yield MadePage(name, made.language, html, _all(made.lines), _all(made.steps))
