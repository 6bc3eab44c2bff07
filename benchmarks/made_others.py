# ruff: noqa: E501  (markup is easier to read in one line)
"""Pages that are no recipe and have something of one, for `benchmarks.documents --made`: to be refused, or marked."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks.made_pages import MadePage, page


def _items(*lines: str, tag: str = "ul") -> str:
    return f"<{tag}>" + "".join(f"<li>{line}</li>" for line in lines) + f"</{tag}>"


_TOOLS = _items("4 screws M6", "1 hex key 5 mm", "2 side panels 40 cm", "1 tube of wood glue")
_BUILD = _items(
    "Place the side panels on a soft blanket.",
    "Put the screws into the holes and turn them with the key.",
    "Add the glue and press the parts together for 10 minutes.",
    tag="ol",
)
_MENU = "".join(
    f"<div class='dish'><h3>Dish {n}</h3><p>beef, 2 eggs, onions</p><span>{n},50 €</span></div>" for n in range(8, 20)
)
_CARDS = "".join(
    f"<article class='recipe-card'><a href='/{n}'><h3>Soup {n}</h3></a><p>{n} carrots, {n}00 g leeks</p></article>"
    for n in range(1, 20)
)
_ROUTES = {"ingredients": ["web", "auth"], "methods": ["GET", "HEAD"], "steps": ["PUT", "POST"], "name": "api"}
_LISTING = {"@type": "ItemList", "itemListElement": [{"@type": "Recipe", "name": f"Soup {n}"} for n in range(9)]}

OTHERS = {
    "manual of a program": ("en", "Installing the server",
        "<h2>Requirements</h2>" + _items("2 CPU cores", "4 GB of memory", "1 network card", "Version 3.9 or later")
        + "<h2>Procedure</h2>" + _items("Add the repository to the list.", "Open a shell and run the installer.",
                                        "Set the port in the file and return to the shell.", tag="ol"), ""),
    "manual with code": ("en", "bake: build images",
        "<h2>Method</h2><p>Combine several files with the option below.</p><h3>Steps</h3>"
        + _items("Add a target named app.", "Cover each stage with a test.", "Remove the cache before 2 builds.", tag="ol")
        + "<h3>Arguments</h3><dl><dt>depth</dt><dd>3 levels</dd><dt>cup</dt><dd>1 c</dd></dl>", ""),
    "manual of furniture": ("en", "Shelf 40", f"<h2>What you need</h2>{_TOOLS}<h2>Instructions</h2>{_BUILD}", ""),
    "manual of a machine": ("de", "Bedienungsanleitung Kaffeemaschine",
        "<h2>Technische Daten</h2>" + _items("1,2 l Wassertank", "1450 W Leistung", "2 kg Gewicht", "30 x 20 x 40 cm")
        + "<h2>Zubereitung von Kaffee</h2>" + _items("Wasser in den Tank füllen.", "Die Tasse unter den Auslauf stellen.",
                                                     "Taste drücken und warten.", tag="ol"), ""),
    "reference of an interface": ("en", "Ingredients API",
        "<h2>Ingredients endpoint</h2><table><tr><th>Method</th><th>Path</th></tr>"
        "<tr><td>GET</td><td>/ingredients</td></tr><tr><td>POST</td><td>/ingredients/1</td></tr></table>"
        "<h2>Method parameters</h2>" + _items("limit: 1 to 100", "page: 2", "sort: 3 keys"), ""),
    "category": ("en", "All soups", f"<h2>Ingredients</h2><p>Filter</p>{_CARDS}", ""),
    "category with data": ("en", "Soups", _CARDS, f"<script type='application/ld+json'>{json.dumps(_LISTING)}</script>"),
    "menu of a restaurant": ("de", "Speisekarte", f"<h2>Zubereitung nach Wunsch</h2>{_MENU}", ""),
    "product with a label": ("en", "Tomato ketchup 500 g",
        "<h2>Ingredients</h2><p>Tomatoes (148 g per 100 g), vinegar, sugar, salt 2 g, spices.</p><h2>Directions</h2>"
        "<p>Shake well before use. Keep cool.</p><p>2,49 €</p>", ""),
    "article": ("en", "Five towns to see",
        _items("300 days of sun", "12 beaches", "5 museums", "2 airports") + "<p>Take the train from the airport.</p>"
        "<p>Serve yourself to the view and stay for a week, at the least.</p>", ""),
    "knitting": ("en", "A warm scarf",
        "<h2>Materials</h2>" + _items("200 g wool", "1 pair of needles 5 mm", "2 m ribbon")
        + "<h2>Directions</h2>" + _items("Cast on 40 stitches.", "Knit each row until it is 150 cm long.", tag="ol"), ""),
    "login page": ("en", "Log in", "<form><label>Name</label><input><button>Log in</button></form>",
                   f"<script>window.app = {json.dumps(_ROUTES)};</script>"),
    "news with data": ("fr", "Le marché du dimanche",
        "<p>Il y avait 200 personnes et 12 étals.</p><h2>Préparation de la fête</h2><p>La mairie prévoit 3 jours.</p>",
        "<script type='application/ld+json'>{\"@type\": \"NewsArticle\", \"headline\": \"Le marché\"}</script>"),
    "recipe without its lists": ("en", "Members only", "<p>Subscribe to read this recipe.</p>",
        "<script type='application/ld+json'>{\"@type\": \"Recipe\", \"name\": \"Cake\", \"recipeIngredient\": [\"Dessert\"],"
        " \"recipeInstructions\": \"Subscribe to read on.\"}</script>"),
    "code words as data": ("en", "Loading",
        "<div id='app'></div>", f"<script id='__NEXT_DATA__' type='application/json'>{json.dumps({'p': _ROUTES})}</script>"),
    "forum": ("cs", "Kolik mouky?",
        "".join(f"<div class='post'><b>Host {n}</b><p>Dávám {n}00 g mouky a {n} vejce, je to moc?</p></div>" for n in range(1, 9)), ""),
}  # fmt: skip


def others() -> Iterator[MadePage]:
    for name, (language, title, body, head) in OTHERS.items():
        yield MadePage(f"no recipe: {name}", language, page(language, title, body, head))
