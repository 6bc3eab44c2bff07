"""Pages that look like recipes and are none, and recipes that hardly look like one."""

from __future__ import annotations

import json
import time

import pytest

from recipes.cooking.pages import Page, PageRefused, read_page
from tests.recipes.test_documents import LINES, STEPS, items, page, script

SCHEMA = {"@context": "https://schema.org"}


def cards(teaser: str) -> str:
    """Thirty cards of a category page, each with a teaser in which {n} is its number."""
    return "".join(
        f"<div class='recipe-card'><h3><a href='/{n}'>Cake {n}</a></h3>{teaser.replace('{n}', str(n))}</div>"
        for n in range(1, 31)
    )


TEASER = "<ul class='recipe-card__ingredients'><li>{n} eggs</li><li>{n}0 g butter {n}</li></ul>"
STATE = [{"name": f"Cake {n}", "ingredients": [f"{n} eggs", f"{n} g salt"], "steps": ["Mix."]} for n in range(30)]
CARDS = [{"@type": "ListItem", "position": n, "item": {"@type": "Recipe", "name": f"Cake {n}"}} for n in range(1, 31)]
NO_RECIPE = {
    "category with data": (cards("<i>20 min</i>"), script({**SCHEMA, "@type": "ItemList", "itemListElement": CARDS})),
    "category with ingredients": (cards("<p class='ingredients'>{n} eggs, flour, {n}0 g butter</p>"), ""),
    "category with lists": (cards(TEASER), ""),
    "category in scripts": (f"<script type='application/json'>{json.dumps({'recipes': STATE})}</script>", ""),
    "article": (
        "<h2>Four reasons to visit</h2>"
        + items(["300 days of sun", "12 beaches of white sand", "5 museums that cost nothing", "2 airports"])
        + "<p>Add to this the friendly people, and you will want to stay.</p><p>Take the train from the airport.</p>",
        "",
    ),
    "shop": (
        "<h2>Product details</h2>"
        + items(["Weight 500 g", "Length 30 cm", "2 years of warranty", "Material: steel"])
        + "<h2>Ingredients</h2><p>Wheat flour, sugar, palm oil, salt, milk powder (2%).</p><p>Add to cart.</p>",
        script({**SCHEMA, "@type": "Product", "name": "Biscuits"}),
    ),
    "forum": ("".join(f"<p>{n} days ago</p><p>I use {n} cups of flour, do you?</p>" for n in range(1, 9)), ""),
    "error": ("<h1>404</h1><p>The page was not found.</p><ul><li><a href='/'>Home</a></li></ul>", ""),
    "consent": ("<p>We and our partners store data.</p>" + items(["Necessary (12)", "Statistics (34)"]), ""),
    "paywall": (
        "<h2>Ingredients</h2><p>Subscribe to read this recipe.</p>"
        + items(["4 weeks free", "12000 recipes", "Cancel any time"])
        + "<h2>Method</h2><p>Log in to see the method.</p>",
        script({**SCHEMA, "@type": "Recipe", "name": "Plain cake", "isAccessibleForFree": False}),
    ),
    "nutrition": (
        "<table><tr><td>Energy</td><td>200 kcal</td></tr><tr><td>Fat</td><td>10 g</td></tr><tr><td>Salt</td>"
        "<td>1 g</td></tr></table><p>Add more vegetables to your diet and drink enough water.</p>",
        "",
    ),
    "news": ("".join(f"<p>In {1990 + n} it sold {n} million units and opened {n} stores.</p>" for n in range(12)), ""),
    "hours": ("<h2>Opening hours</h2>" + items(["Monday 9-17", "Tuesday 9-17"]) + "<p>Call us first.</p>", ""),
}  # fmt: skip


@pytest.mark.parametrize(("body", "head"), NO_RECIPE.values(), ids=NO_RECIPE)
def test_page_without_a_recipe_is_refused(body: str, head: str):
    with pytest.raises(PageRefused, match=r"^a\.html holds no recipe: "):
        read_page("a.html", page(body, head=head))


DOUGH, FILLING = ("250 g flour", "125 g butter", "1 egg"), ("500 g apples", "50 g sugar")
BUTTERED = "Fry the bread in butter and break the eggs over it."
RECIPES = {
    "very short": (("2 eggs", "1 slice of bread", "Butter"), (BUTTERED,), "<h2>Ingredients</h2>{0}<h2>Method</h2>{1}"),
    "drink": (
        ("5 cl gin", "10 cl tonic", "1 lime"),
        ("Fill a glass with ice, pour in the gin and top up with tonic.",),
        "<h2>Ingredients</h2>{0}<h2>How to make it</h2>{1}",
    ),
    "no amounts": (("Flour", "Eggs", "Salt", "Butter"), STEPS, "<h2>Ingredients</h2>{0}<h2>Method</h2>{1}"),
    "related cards": (
        LINES,
        STEPS,
        "<h2>Ingredients</h2>{0}<h2>Method</h2>{1}<h2>Related recipes</h2>" + cards(TEASER),
    ),
    "AMP": (
        LINES,
        STEPS,
        "<amp-img src='x'></amp-img><section><header>Ingredients</header>{0}</section><amp-ad>Buy</amp-ad>"
        "<section><header>Directions</header>{1}</section>",
    ),
}


@pytest.mark.parametrize(("lines", "steps", "body"), RECIPES.values(), ids=RECIPES)
def test_unusual_recipe_is_read(lines: tuple[str, ...], steps: tuple[str, ...], body: str):
    ordered = items(steps, "ol") if len(steps) > 1 else f"<p>{steps[0]}</p>"
    found = read_page("a.html", page(body.format(items(lines), ordered)))
    assert (found.ingredients, found.steps) == (lines, steps)


def test_recipe_of_two_components_is_read_whole():
    body = (
        f"<h2>Ingredients</h2><h3>Dough</h3>{items(DOUGH)}<h3>Filling</h3>{items(FILLING)}"
        f"<h2>Preparation</h2><h3>Dough</h3>{items(STEPS, 'ol')}<h3>Filling</h3><p>Peel and slice the apples.</p>"
    )
    found = read_page("a.html", page(body))
    assert found.ingredients == (*DOUGH, *FILLING)
    assert found.steps == ("Dough", *STEPS, "Filling", "Peel and slice the apples.")


SOUP = (
    "<h2>Ingredients</h2><ul><li>2 cups of flour</li><li>1 onion</li></ul><h2>Directions</h2><ol><li>Boil it.</li></ol>"
)
DEEP = 100_000


def raw(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


HOSTILE = {
    "tables in tables": SOUP + "<table><tr><td>" * 10_000,
    "lists in lists": SOUP + "<ul><li>1 cup of sugar" * 5000,
    "nested data": SOUP + raw("[" * DEEP + "]" * DEEP),
    "nested objects": SOUP + raw('{"a":' * DEEP + "1" + "}" * DEEP),
    "nested sections": SOUP
    + raw(
        '{"@type":"Recipe","name":"x","recipeIngredient":["2 cups of flour"],"recipeInstructions":'
        + '{"@type":"HowToSection","itemListElement":[' * 20_000
        + '"Boil."'
        + "]}" * 20_000
        + "}"
    ),
    "a crowded tag": SOUP + "<p " + " ".join(f"a{n}=1" for n in range(DEEP)) + ">",
    "a crowded tag with signs": SOUP + "<p " + " ".join(f"a{n}='>'" for n in range(DEEP)) + ">",
    "a crowded tag behind a script": SOUP
    + '<script>"<p x="</script><p '
    + " ".join(f"a{n}" for n in range(DEEP))
    + ' y=">">x</p>',
    "comments that never end": SOUP + "<!--" * DEEP,
    "one long line": SOUP + "<ul><li>" + "1 cup of flour " * DEEP + "</ul>",
    "fractions": SOUP + "<ul><li>" + "1/" * DEEP + " cups</ul>",
    "scopes in scopes": SOUP + '<div itemscope itemtype="http://schema.org/Recipe" itemprop="isPartOf">' * 10_000,
    "properties in scopes in scopes": SOUP
    + '<div itemscope itemprop="isPartOf">' * 200
    + '<span itemprop="recipeIngredient">1 onion</span>' * 1000,
    "references to everything": SOUP
    + "<p id=a>"
    + '<span itemprop="recipeIngredient">1 onion</span>' * 4000
    + '</p><div itemscope itemtype="http://schema.org/Recipe" itemref="a"></div>' * 200,
    "properties of one line": '<div itemscope itemtype="http://schema.org/Recipe">'
    + '<div itemscope itemprop="x">'
    + '<span itemprop="recipeIngredient">1 onion</span>' * 10_000,
    "a list of everything": SOUP + "<ul>" + "<li>1 cup of flour</li>" * DEEP + "</ul>",
    "signs that turn the line round": SOUP.replace("onion", "on\u202eoni\u2066"),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_no_page_holds_a_reader_up(body: str) -> None:
    """Read or refused with a sentence, in little time of the processor."""
    began = time.process_time()
    try:
        found: Page | PageRefused = read_page("a.html", page(body))
    except PageRefused as refused:
        found = refused
    assert str(found).startswith("a.html ") if isinstance(found, PageRefused) else found.ingredients
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "hex", "rot13", "undefined", "zz-none", "utf-16", "unicode_escape"]
)
def test_a_charset_that_is_none_is_not_believed(charset: str) -> None:
    began = time.process_time()
    body = SOUP + "<p>crème brûlée</p>" * 20_000
    found = read_page("a.html", page(body).decode().replace("utf-8", charset).encode("windows-1252"))
    assert found.ingredients == ("2 cups of flour", "1 onion")
    assert time.process_time() - began < 5


def test_signs_that_turn_the_line_round_and_spaces_before_commas_are_in_no_line() -> None:
    found = read_page("a.html", page(SOUP.replace("1 onion", "1 on\u202eion\u2066 , chopped")))
    assert found.ingredients == ("2 cups of flour", "1 onion, chopped")
