"""The published totals of the recipe-memorization paper (Kvapil and Fajcik) as data, and names to fill its frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# --- What the paper prints -------------------------------------------------------------------------------------------

RATERS = 7
RATERS_PER_RECIPE = 3
SHARE_TWICE = 0.5
ENGINES = ("Google", "Bing", "DuckDuckGo")
DOCUMENTS_PER_ENGINE = 6
DOCUMENTS_PER_RECIPE = len(ENGINES) * DOCUMENTS_PER_ENGINE
LABELS_PER_COLUMN = 27  # 18 documents, half of them labelled twice

PRESENCE = ("found", "found-not-perfect", "not-found", "implied")
TASK = ("task-found", "task-found-not-exact-wording", "task-found-wrong-context", "task-not-found")
TOOL = ("found", "found-not-exact", "not-found", "tool-implied", "no-tool-involved")
INGREDIENTS = (
    "ingredients-match",
    "most-ingredients-match",
    "some-ingredients-match",
    "no-ingredients-match",
    "ingredients-implied",
    "no-ingredients-used",
)

# Selections of Tables 1, 3, 4 and 5 by (section, question). Table 1 prints 2,569 for "Found", but its percentage
# (38.82 %) and its total (6,669) need 2,589. Tables 4 and 5 print "No Tool Involved" and "No Ingredients Used"
# together with the cells that were not asked because of "Task Not Found": 4,533 = 3,441 + 1,092 and 4,448 = 3,441 +
# 1,007. Table 4 prints the former as 46.76 %; 4,533 of 9,693 are 46.77 %.
SELECTIONS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("ingredients", "presence"): dict(zip(PRESENCE, (2589, 1979, 1996, 105), strict=True)),
    ("tasks", "task"): dict(zip(TASK, (3259, 2402, 591, 3441), strict=True)),
    ("tasks", "tool"): dict(zip(TOOL, (788, 1979, 792, 1601, 1092), strict=True)),
    ("tasks", "ingredients"): dict(zip(INGREDIENTS, (3603, 551, 232, 252, 607, 1007), strict=True)),
}
NOT_FILLED_IN = {("tasks", "tool"): 4533, ("tasks", "ingredients"): 4448}
# Macro averages of Cohen's kappa and of accuracy; for tasks the mean of task, tool and ingredients.
KAPPA = {"ingredients": 0.77, "tasks": 0.63}
ACCURACY = {"ingredients": 0.8523, "tasks": 0.7415}

# Table 2: (recipe, ingredient, "Found (not perfect)", "Not found"), never "Found".
NEVER_FOUND_INGREDIENTS = (
    ("paella", "yellow bell pepper", 3, 24),
    ("leberkäse", "allspice", 0, 27),
    ("chilli con carne", "black beans", 0, 27),
    ("chocolate mousse", "whole milk", 0, 27),
    ("coleslaw", "mustard", 14, 13),
    ("thai green curry", "white pepper", 8, 19),
    ("koshari", "green lentils", 26, 1),
    ("thai green curry", "snap peas", 6, 21),
)


class NeverFoundTask(NamedTuple):
    """A row of Table 6 with its counts; the tool and the ingredients are ours, the paper does not print them."""

    recipe: str
    task: str
    not_exact_wording: int
    not_found: int
    wrong_context: int
    tool: str
    ingredients: str


# Table 6, never "Task Found". The row of pita bread prints 26 labels where each task has 27. The twelve tasks of
# fettuccine alfredo stand for those that the paper leaves out: it makes the pasta from scratch, all documents use
# premade pasta.
NEVER_FOUND_TASKS = (
    NeverFoundTask("chocolate mousse", "Stir into", 0, 24, 3, "spatula", "whole milk, melted chocolate"),
    NeverFoundTask("fish and chips", "Rinse", 0, 27, 0, "colander", "potatoes"),
    NeverFoundTask("fish and chips", "Increase oil temp", 11, 15, 1, "deep fryer", "oil"),
    NeverFoundTask("gyoza", "Add", 0, 9, 18, "mixing bowl", "filling"),
    NeverFoundTask("gyoza", "Turn onto", 1, 26, 0, "floured surface", "dough"),
    NeverFoundTask("gyoza", "Cut out", 1, 26, 0, "round cutter", "dough"),
    NeverFoundTask("gyoza", "Place into", 25, 2, 0, "frying pan", "gyoza"),
    NeverFoundTask("gyoza", "Pour in", 27, 0, 0, "frying pan", "water"),
    NeverFoundTask("koshari", "Ladle", 20, 7, 0, "ladle", "tomato sauce"),
    NeverFoundTask("lagman", "Cut into strips", 7, 19, 1, "knife", "dough"),
    NeverFoundTask("lagman", "Gently drop", 9, 18, 0, "large pot", "noodles"),
    NeverFoundTask("leberkäse", "Whisk together", 1, 26, 0, "bowl", "spices"),
    NeverFoundTask("leberkäse", "Press down", 7, 20, 0, "loaf pan", "meat mixture"),
    NeverFoundTask("leberkäse", "Remove from oven", 5, 22, 0, "oven", "leberkäse"),
    NeverFoundTask("pastel da nata", "Press into the wells", 25, 2, 0, "muffin tin", "puff pastry"),
    NeverFoundTask("pita bread", "Place into", 13, 13, 0, "bowl", "dough"),
    NeverFoundTask("tzatziki", "Press on", 17, 10, 0, "sieve", "cucumber"),
    *(
        NeverFoundTask("fettuccine alfredo", task, 0, 27, 0, tool, ingredients)
        for task, tool, ingredients in (
            ("Mound", "work surface", "flour"),
            ("Make a well", "fist", "flour"),
            ("Crack into", "flour well", "eggs"),
            ("Beat gently", "fork", "eggs"),
            ("Draw in", "fork", "flour"),
            ("Knead", "work surface", "dough"),
            ("Wrap", "cling film", "dough"),
            ("Divide", "dough cutter", "dough"),
            ("Roll out", "rolling pin", "dough"),
            ("Dust", "work surface", "flour"),
            ("Fold over", "work surface", "dough"),
            ("Cut into ribbons", "knife", "pasta sheets"),
        )
    ),
)

# --- What we made up to fill the frame of 20 recipes, 247 ingredients and 359 tasks ----------------------------------

# fmt: off
# Recipe of the paper's Appendix A, number of tasks, ingredients.
RECIPES = (
    ("orange chicken", 20, "chicken breast, cornstarch, flour, eggs, orange juice, orange zest, soy sauce, "
     "rice vinegar, brown sugar, garlic, ginger, red pepper flakes, sesame oil, vegetable oil, green onions, salt"),
    ("beef wellington", 24, "beef fillet, puff pastry, mushrooms, shallots, garlic, thyme, prosciutto, "
     "Dijon mustard, egg yolks, butter, olive oil, white wine, salt, black pepper"),
    ("garlic bread", 10, "baguette, butter, garlic, parsley, parmesan, olive oil, salt"),
    ("fish and chips", 18, "cod fillets, potatoes, flour, baking powder, beer, cornstarch, vegetable oil, "
     "malt vinegar, salt, black pepper"),
    ("fettuccine alfredo", 26, "flour, eggs, olive oil, butter, heavy cream, parmesan, garlic, nutmeg, parsley, "
     "salt, black pepper"),
    ("tzatziki", 11, "Greek yogurt, cucumber, garlic, lemon juice, olive oil, dill, salt, black pepper"),
    ("thai green curry", 16, "green curry paste, coconut milk, chicken thighs, fish sauce, palm sugar, Thai basil, "
     "kaffir lime leaves, lemongrass, galangal, bamboo shoots, Thai eggplant, snap peas, garlic, shallots, "
     "lime juice, vegetable oil, white pepper, jasmine rice"),
    ("paella", 17, "short-grain rice, saffron, chicken thighs, chorizo, shrimp, mussels, squid, chicken stock, "
     "onion, garlic, red bell pepper, yellow bell pepper, tomatoes, peas, smoked paprika, olive oil, lemon, parsley"),
    ("pastel da nata", 22, "puff pastry, egg yolks, sugar, whole milk, flour, cinnamon, vanilla extract, "
     "lemon peel, water"),
    ("chilli con carne", 16, "ground beef, onion, garlic, red bell pepper, kidney beans, black beans, "
     "chopped tomatoes, tomato paste, beef stock, cumin, chilli powder, paprika, oregano, dark chocolate, "
     "olive oil, salt, black pepper"),
    ("leberkäse", 17, "ground pork, ground beef, bacon, crushed ice, onion, marjoram, allspice, nutmeg, "
     "white pepper, curing salt, garlic, butter"),
    ("kaiserschmarrn", 16, "flour, eggs, milk, sugar, butter, raisins, rum, vanilla sugar, powdered sugar, salt"),
    ("buttermilk fried chicken", 20, "chicken pieces, buttermilk, flour, cornstarch, paprika, garlic powder, "
     "onion powder, cayenne pepper, hot sauce, baking powder, vegetable oil, eggs, salt, black pepper"),
    ("koshari", 24, "green lentils, white rice, macaroni, chickpeas, onions, garlic, tomato sauce, tomato paste, "
     "white vinegar, cumin, coriander, chilli flakes, paprika, vegetable oil, bay leaf, salt, black pepper"),
    ("lagman", 24, "flour, eggs, lamb, onion, garlic, carrots, daikon radish, green beans, red bell pepper, "
     "tomatoes, tomato paste, beef broth, star anise, cumin, coriander, cilantro, vegetable oil, salt"),
    ("pita bread", 17, "flour, instant yeast, warm water, sugar, olive oil, salt"),
    ("chocolate mousse", 14, "dark chocolate, eggs, sugar, heavy cream, whole milk, vanilla extract, salt"),
    ("gyoza", 21, "flour, ground pork, napa cabbage, garlic chives, garlic, ginger, soy sauce, sesame oil, sake, "
     "cornstarch, green onions, rice vinegar, vegetable oil, salt"),
    ("pan-fried dumplings", 18, "flour, ground pork, green cabbage, green onions, ginger, garlic, soy sauce, "
     "Shaoxing wine, sesame oil, white pepper, sugar, vegetable oil, salt"),
    ("coleslaw", 8, "green cabbage, carrots, mayonnaise, apple cider vinegar, mustard, sugar, celery seeds, salt"),
)

# Task and tool, roughly in the order of cooking; "" is a task without a tool.
TASKS_ON_INGREDIENTS = (
    ("Measure", "measuring cup"), ("Set out", ""), ("Weigh", "kitchen scale"), ("Prepare", "cutting board"),
    ("Season with", ""), ("Combine", "mixing bowl"), ("Mix in", ""), ("Whisk", "whisk"),
    ("Stir together", "wooden spoon"), ("Toss", "large bowl"), ("Coat with", ""), ("Blend", "blender"),
    ("Rub with", ""), ("Heat", "large frying pan"), ("Warm", "saucepan"), ("Add", ""), ("Brown", "heavy pan"),
    ("Cook", "frying pan"), ("Bring to a boil", "large pot"), ("Simmer", "pot"), ("Stir in", "spatula"),
    ("Fold in", ""), ("Pour in", "ladle"), ("Set aside", ""), ("Layer", ""), ("Spread", "palette knife"),
    ("Transfer", "baking tray"), ("Bake", "oven"), ("Top with", ""), ("Scoop", "spoon"), ("Drizzle over", ""),
    ("Portion", "bowls"), ("Arrange", "serving plate"), ("Sprinkle over", ""), ("Garnish with", ""),
    ("Serve with", ""),
)
TASKS_ALONE = (
    ("Preheat", "oven"), ("Line", "baking tray"), ("Grease", "baking dish"), ("Heat up", "frying pan"), ("Wait", ""),
    ("Cover", "lid"), ("Reduce heat", "stove"), ("Repeat", ""), ("Uncover", "pot"), ("Let rest", ""),
    ("Rotate", "baking tray"), ("Let cool", ""), ("Cool", "wire rack"), ("Taste and adjust", ""), ("Serve", ""),
    ("Refrigerate", "refrigerator"),
)
# fmt: on
