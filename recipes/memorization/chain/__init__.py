"""The paper's steps in a row, from a list of names to a verdict, by models alone; and what anybody did at each step.

`settings` says who does what (pure), `making` does it: each step is the same action that a page does for a person,
and looks first at what is there, so that the same call goes on where another one ended. A recipe is taken apart by a
model or by the rules of `recipes.cooking.taking_apart`. `queries` tells whose work each step was, of any study that
stands in such a row.
"""

from __future__ import annotations

from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.names import SCHEME as NAMES
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict import SCHEME as RECIPES

PARSING = "recipe-parsing"
SCHEMES = (NAMES, CANDIDATES, PARSING, RECIPES, NONSENSE)  # of the studies that stand in such a row
