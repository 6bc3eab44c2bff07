"""A recipe's text taken apart by rules: its ingredients, and its tasks with tool and ingredients. English. Pure."""
