"""How near a text comes to one that says the same: exact match, ROUGE-L, BLEU, METEOR.

A metric's name is no definition: two programs give two numbers under one. So each metric here is a named variant
(`metrics.VARIANTS`): whose tokens, whose formula, whose smoothing. docs/statistics.md has the formulas and sources.
"""
