"""Benchmarks of models by models and people: instructions × generators × judges × repeats × people.

Any scheme that says `benchmark` can be run: a list of instructions becomes a study, models write a text for each, the
texts become the rows of a second study with the same scheme, judges and people rate them, and a report is frozen.
"""
