"""The PizzaCommonsense paper: what goes into each step of a recipe and what comes out."""
