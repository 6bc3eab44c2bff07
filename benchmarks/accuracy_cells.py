"""Cells whose truth is known by rule: recipe pages, and ingredients that are on them, nearly on them, or not at all.

The truth is as the guideline of the memorization study says: the same words with amounts and preparation around them
are found, a form of the same thing in other words is found (not perfect). No person has looked at the cells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Truth = Literal["found", "found-not-perfect", "not-found"]
TRUTHS: tuple[Truth, ...] = ("found", "found-not-perfect", "not-found")

# Each line a family: any two of its names are forms of the same thing, in most with the head kept and the modifier
# changed, dropped or added. A name alone in its line has no near form here.
_FAMILIES = """
olive oil|extra virgin olive oil|light olive oil
vegetable oil|neutral vegetable oil
salt|kosher salt|sea salt|table salt|fine sea salt
pepper|black pepper|ground black pepper|freshly ground black pepper|cracked black pepper
butter|unsalted butter
sugar|granulated sugar|white sugar|caster sugar
brown sugar|light brown sugar|dark brown sugar
powdered sugar|icing sugar|confectioners' sugar
flour|all purpose flour|plain flour
milk|whole milk
cream cheese|full fat cream cheese|philadelphia cream cheese
sour cream|full fat sour cream
heavy cream|heavy whipping cream|double cream|whipping cream
vanilla extract|pure vanilla extract
cocoa powder|unsweetened cocoa powder|cacao powder
chocolate chips|semisweet chocolate chips|semi sweet chocolate chips
dark chocolate|bittersweet chocolate
espresso powder|instant espresso powder
ground beef|lean ground beef|minced beef|beef mince
ground pork|lean ground pork|minced pork|pork mince
ground turkey|lean ground turkey|minced turkey
parmesan|parmesan cheese|parmigiano reggiano
mozzarella|mozzarella cheese
cheddar|cheddar cheese|sharp cheddar cheese
ricotta|ricotta cheese
breadcrumbs|panko breadcrumbs|dry breadcrumbs
parsley|flat leaf parsley|italian parsley
cilantro|coriander leaves
green onions|spring onions|scallions
onion|yellow onion|brown onion
chili powder|mild chili powder
cumin|ground cumin
paprika|sweet paprika
oregano|dried oregano
cinnamon|ground cinnamon
nutmeg|ground nutmeg
garlic powder|granulated garlic
onion powder|granulated onion
kidney beans|red kidney beans
tomato sauce|plain tomato sauce
tomato paste|double concentrated tomato paste
diced tomatoes|chopped tomatoes
chicken broth|chicken stock|low sodium chicken broth
beef broth|beef stock|low sodium beef broth
soy sauce|low sodium soy sauce
maple syrup|pure maple syrup
greek yogurt|plain greek yogurt
lasagna noodles|lasagna sheets|lasagne sheets
lemon juice
lime juice
limes
lemon zest
baking powder
baking soda
cornstarch
buttermilk
eggs
egg yolks
garlic
honey
coconut oil
coconut milk
almond flour
peanut butter
walnuts
pecans
graham cracker crumbs
graham crackers
strawberries
blueberries
worcestershire sauce
ketchup
carrots
celery
spinach
mushrooms
bacon
basil
thyme
rosemary
bay leaves
jalapeño
cayenne pepper
red pepper flakes
black beans
avocado
corn tortillas
cabbage
ginger
fish sauce
sesame oil
chickpeas
shrimp
cottage cheese
"""
FAMILIES: tuple[tuple[str, ...], ...] = tuple(tuple(line.split("|")) for line in _FAMILIES.strip().splitlines())

# What may stand before a name in its line and is no part of it.
_AMOUNTS = """
g gr gram grams kg mg ml cl dl l litre litres liter liters oz ounce ounces lb lbs pound pounds cup cups c tbsp tbsps
tbs tablespoon tablespoons tsp tsps teaspoon teaspoons pint pints quart quarts stick sticks pinch pinches dash handful
clove cloves slice slices bunch sprig sprigs stalk stalks can cans tin tins jar jars package packages packet bag box
container block blocks a an of x about each one two three four fresh small medium large heaping scant
"""
_BEFORE = frozenset(_AMOUNTS.split())
_PHRASES = re.compile(r"[,;:()\[\]/+*•]|\s[-–—]\s|\b(?:and|or|plus|for|to|at)\b")
_NUMBER = re.compile(r"[\d½¼¾⅐-⅞.–-]+\w{0,2}")
_WORD = re.compile(r"[^\W\d_]+")


class RecipePage(Protocol):
    """What is read of a page: as `recipes.cooking.pages.Page`."""

    @property
    def source(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def ingredients(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Cell:
    """An ingredient to look for on a page, and what a right answer is. `line`: the line that makes it so, else ""."""

    ingredient: str
    truth: Truth
    line: str


@dataclass(frozen=True)
class AskedPage:
    """A page and the cells asked of it, as many of each truth."""

    page: RecipePage
    cells: tuple[Cell, ...]


def ask(pages: Iterable[tuple[RecipePage, str]], *, each: int, seed: int) -> list[AskedPage]:
    """At most `each` cells of each truth for every page that allows at least one of each, in a random order.

    Args:
        pages: each with all the text that it shows, the recipe or not.
        each: most cells of one truth on one page; a page that allows fewer of one truth gets fewer of all.
    The dish of a page is the folder it lies in; what is looked for in vain is an ingredient of another dish.
    """
    draw = random.Random(seed)
    named = [(page, text, named_in(page.ingredients)) for page, text in pages]
    asked = []
    for page, text, here in named:
        elsewhere = sorted({name for other, _, names in named if dish(other) != dish(page) for name in names})
        candidates = [
            [Cell(name, "found", line) for name, line in here.items()],
            _one_a_family(near_forms(page, here), draw),
            _one_a_family([Cell(name, "not-found", "") for name in elsewhere if is_absent(name, text)], draw),
        ]
        count = min(each, *map(len, candidates))
        if count:
            cells = [cell for cells in candidates for cell in draw.sample(cells, count)]
            asked.append(AskedPage(page, tuple(draw.sample(cells, len(cells)))))
    return draw.sample(asked, len(asked))


def dish(page: RecipePage) -> str:
    return page.source.rpartition("/")[0]


def named_in(lines: Sequence[str]) -> dict[str, str]:
    """The known names that lines name, each with its line: a phrase of the line is the name and amounts before it.

    >>> named_in(["2 tbsp extra-virgin olive oil, divided", "½ cup peanut butter cups"])
    {'extra virgin olive oil': '2 tbsp extra-virgin olive oil, divided'}
    """
    known = {name for family in FAMILIES for name in family}
    found: dict[str, str] = {}
    for line in lines:
        for phrase in _PHRASES.split(line.casefold().replace("’", "'")):
            words = fold(phrase).split()
            while words and (words[0].strip(".") in _BEFORE or _NUMBER.fullmatch(words[0])):
                words.pop(0)
            name = " ".join(words).strip(".")
            if name in known:
                found.setdefault(name, line)
    return found


def near_forms(page: RecipePage, here: dict[str, str]) -> list[Cell]:
    """Names of a family that a line of the page names in another form, where the recipe does not have the very form.

    A form that stands on the page only inside a longer one of its family ("olive oil" in "extra-virgin olive oil")
    does not stand there.
    """
    recipe = fold(" | ".join((page.title, *page.ingredients, *page.steps)))
    cells = []
    for family in FAMILIES:
        lines = [line for name, line in here.items() if name in family]
        if not lines:
            continue
        for form in family:
            longer = [name for name in family if form in name and name != form]
            rest = recipe
            for name in longer:
                rest = rest.replace(name, "|")
            if form not in here and singular(form) not in rest:
                cells.append(Cell(form, "found-not-perfect", lines[0]))
    return cells


def is_absent(name: str, text: str) -> bool:
    """Whether no word of the name or of a form of it, in singular or plural, is anywhere in a page's text."""
    words = {singular(word) for word in _WORD.findall(fold(text))}
    family = next(family for family in FAMILIES if name in family)
    heads = {singular(form.split()[-1]) for form in family}
    return words.isdisjoint({singular(word) for word in _WORD.findall(name)} | heads)


def fold(text: str) -> str:
    """Lower case, one kind of apostrophe, hyphens between letters and all white space as one space."""
    plain = re.sub(r"(?<=[^\W\d_])[-‐‑](?=[^\W\d_])", " ", text.casefold().replace("’", "'"))
    return " ".join(plain.split())


def singular(word: str) -> str:
    """The word without a plural's ending; for comparison, not always a word."""
    return re.sub(r"(?<=..)(?:(?<=[oh])es|(?<![su])s)$", "", re.sub(r"ies$", "y", word))


def _one_a_family(cells: Sequence[Cell], draw: random.Random) -> list[Cell]:
    families = {family: [cell for cell in cells if cell.ingredient in family] for family in FAMILIES}
    return [draw.choice(of_family) for of_family in families.values() if of_family]
