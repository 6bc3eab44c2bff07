"""Scoring and writing with a model in this process: token tree, cloze scores, generation. Pure torch."""
