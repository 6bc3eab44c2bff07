"""Recipes as such: pages read as evidence, generated recipes read as items."""
