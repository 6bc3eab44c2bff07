"""The recipe of one page: each route asked for what it can give, and the readings weighed by the arbiter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lxml import etree

from base.sentences import gettext as _
from recipes.cooking.pages import arbiter, doubts, fallback, foods, library, outline, state, structured
from recipes.cooking.pages.arbiter import Judgement
from recipes.cooking.pages.head import Head
from recipes.cooking.pages.structured import Extract

# A page of this many different complete recipes is a collection, whichever of them a reader would pick.
_COLLECTION = 4


def read_recipe(
    text: str, root: etree._Element, head: Head, nodes: Sequence[structured.Node], *, urls: Iterable[str]
) -> Judgement | str:
    """The recipe of a page with the reasons to doubt it, or why there is none (the end of a sentence).

    The scraper of the page's site is believed where it finds both lists. Elsewhere what the page states for machines is
    weighed against what it shows to people, and what its scripts would show is asked for what both leave open.

    Args:
        text: the page as text.
        root: the same page as a tree.
        head: what it states about itself.
        nodes: the objects of its JSON-LD.
        urls: addresses of the page, the most trustworthy first; none hides its host.
    """
    language = structured.language_of(root, head)
    known = library.by_host(text, urls)
    if known.ingredients and known.steps:
        return _doubted(Judgement(known), language)
    general = _read_general(text, root, head, nodes, language)
    if not known.ingredients and not known.steps:
        return general if isinstance(general, str) else _doubted(general, language)
    if isinstance(general, str):
        return _doubted(Judgement(known), language)
    found = general.extract
    filled = replace(found, parser=general.routes[bool(known.ingredients)])
    extract = _combined(known, filled, known.ingredients or found.ingredients, known.steps or found.steps)
    return _doubted(Judgement(extract, general.doubts), language)


def _doubted(judgement: Judgement, language: str) -> Judgement:
    """With what the lists themselves give reason to doubt, each reason once."""
    extract = judgement.extract
    own = doubts.of(extract.ingredients, extract.steps, language or extract.language)
    return replace(judgement, doubts=tuple(dict.fromkeys([*own, *judgement.doubts])))


def _read_general(
    text: str, root: etree._Element, head: Head, nodes: Sequence[structured.Node], language: str
) -> Judgement | str:
    """The recipe of a page whose site is not known, as `read_recipe` gives it."""
    lines = outline.read(root)
    heading = structured.heading_of(root, head)
    stated = structured.find(root, lines, nodes)
    main = main_recipe(stated, heading)
    if main is None:
        return _several(len(stated))
    several = len([each for each in stated if each.ingredients]) > 1
    given = _as_the_library(text, main, nodes, several=several)
    if not given.ingredients and (count := fallback.count_recipes(lines)) >= _COLLECTION:
        return _several(count)
    shown = fallback.find(lines)
    if several and given.title.casefold() not in heading.casefold():
        shown = Extract()  # which of the recipes it shows the data are about is not known
    judged = arbiter.weigh(given, shown, lines)
    found, marks = judged.extract, [*judged.doubts, *(["several"] if several else [])]
    if not found.ingredients or not found.steps:
        scripts = main_recipe(list(filter(is_recipe, state.find(root))), heading) or Extract()
        if scripts.ingredients:
            whole = arbiter.weigh(found, scripts, lines)
            marks += ["scripts"] if not found.ingredients else []
            found, judged = whole.extract, whole
    if why := _refused(found, language or found.language, stated=bool(given.ingredients)):
        return why
    if found.parser == "text" and not any(shown.signs):
        marks.append("unnamed")
    return Judgement(found, tuple(marks), judged.routes)


def _refused(found: Extract, language: str, *, stated: bool) -> str:
    """Why a reading is no recipe at all, "" if it may be one."""
    whole = [*found.ingredients, *found.steps]
    nothing = _("holds no recipe: no ingredient list was found in it. Is it the page of one recipe?")
    if not whole:
        return nothing
    if sum(map(doubts.is_code, whole)) >= 0.5 * len(whole):
        return _("holds no recipe: what looks like its lists are words of a program.")
    if arbiter.is_poor("ingredients", found.ingredients) and arbiter.is_poor("steps", found.steps):
        return nothing
    if (
        not stated
        and foods.is_covered(language, whole)
        and not foods.measured(whole)
        and not foods.count(found.ingredients)
    ):
        return _(
            "holds no recipe: it has lists with numbers, and none of their lines names a food. It may be a manual."
        )
    return ""


def is_recipe(extract: Extract) -> bool:
    """Whether lists out of a script's data are for cooks: sentences to follow, and foods or amounts to use."""
    whole = [*extract.ingredients, *extract.steps]
    if any(map(doubts.is_code, whole)) or arbiter.is_poor("steps", extract.steps):
        return False
    return bool(foods.count(extract.ingredients)) or fallback.amounts_in(extract.ingredients) >= 2


def _several(count: int) -> str:
    return _("holds %(count)s recipes; save the page of each recipe and import those.") % {"count": count}


def _as_the_library(text: str, main: Extract, nodes: Sequence[structured.Node], *, several: bool) -> Extract:
    """What the page states, in the library's lines where it understands the data.

    Its lists of one line are none: it runs together what stands in one string with markup, and takes the markup out.
    """
    names = structured.names_of_steps(nodes)
    main = replace(main, steps=tuple(step for step in main.steps if step not in names))
    read = library.by_schema(text)
    if several and read.title.casefold() != main.title.casefold():
        return main
    ingredients, steps = structured.tidied(read)
    steps = tuple(step for step in steps if step not in names)
    return _combined(
        main,
        read,
        ingredients if len(ingredients) > 1 else main.ingredients or ingredients,
        steps if len(steps) > 1 else main.steps or steps,
    )


def main_recipe(stated: list[Extract], heading: str) -> Extract | None:
    """The recipe that a page is about among those it states, None if it is a collection of them."""
    full = [extract for extract in stated if extract.ingredients]
    if len(full) <= 1:
        return full[0] if full else next(iter(stated), Extract())
    names = {extract.title.casefold(): extract for extract in reversed(full) if extract.title}
    folded = heading.casefold()
    for name, extract in names.items():
        if name in folded or (folded and folded in name):
            return extract
    return None if len(full) >= _COLLECTION else full[0]


def _combined(first: Extract, second: Extract, ingredients: tuple[str, ...], steps: tuple[str, ...]) -> Extract:
    used = [
        extract.parser
        for extract in (first, second)
        if extract.parser and {extract.ingredients, extract.steps} & {ingredients, steps} - {()}
    ]
    return Extract(
        ingredients=ingredients,
        steps=steps,
        title=first.title or second.title,
        language=first.language or second.language,
        parser=" + ".join(dict.fromkeys(used)),
    )
